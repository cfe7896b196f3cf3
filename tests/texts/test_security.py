"""SECURITY.md against the program: its numbers, header values and names are those of the code and of real answers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from dprelease.downloads import MAX_UNPACKED
from dprelease.downloads.uploads import MAX_MEMORY, MAX_SECONDS
from dprelease.release import FEW
from pages.data.upload import LIMITS
from pages.learn.lecture import rooms
from pages.release.verify import MAX_WAITING
from pages.shell.server import access, headers, host_origin, upload_limits
from tests import PACKAGES, ROOT
from tests.pages.asgi import messages


def words_of(name: str) -> str:
    """Return the text of a document, with one blank between words."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


TEXT, README = words_of("SECURITY.md"), words_of("README.md")
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    """The app behind the server's own layers: it answers every request."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def answer(layer: Callable[[ASGIApp], Any], path: str, *, query: str = "") -> tuple[int, Headers]:
    """Return status and headers with which one layer of the server answers."""
    start, *_ = messages(layer(page), path, query=query, headers=[(b"host", b"localhost")])
    return start["status"], Headers(raw=start["headers"])


def test_a_class_guess_has_the_limits_that_are_named() -> None:
    assert f"has {8 * rooms.NAME_BYTES} random bits" in TEXT
    assert f"at most {rooms.MAX_GUESSES} guesses, a server at most {rooms.MAX_ROOMS} rooms" in TEXT
    assert rooms.MAX_SECONDS == 3600 and "an hour after the room was opened" in TEXT


def test_every_answer_carries_the_referrer_policy_that_is_named() -> None:
    _, found = answer(headers.Headers, "/")
    assert re.findall(r"`Referrer-Policy: ([\w-]+)`", TEXT) == [found["referrer-policy"]]


def test_metrics_are_refused_as_is_said() -> None:
    [status] = re.findall(r"metrics are refused with status (\d+)", TEXT)
    assert answer(host_origin.HostOriginMiddleware, "/_stcore/metrics")[0] == int(status)
    assert answer(host_origin.HostOriginMiddleware, "/_stcore/health")[0] == 200, "the control"


def test_the_code_is_of_one_use_and_its_cookie_has_the_flags_that_are_named() -> None:
    keys = access.StewardKeys("the-code")

    def layer(app: ASGIApp) -> access.BrowserKeys:
        return access.BrowserKeys(app, keys)

    query = f"{access.PARAMETER}=the-code"
    _, first = answer(layer, "/", query=query)
    _, second = answer(layer, "/", query=query)
    _, *flags = first["set-cookie"].split("; ")
    [named] = re.findall(r"cannot send \(([^)]+)\)", TEXT)
    assert [f"`{flag}`" for flag in flags if not flag.startswith("Path=")] == named.split(", ")
    assert "The first browser that brings it gets a key" in TEXT and "the code then opens nothing" in TEXT
    assert "set-cookie" not in second and "max-age" not in first["set-cookie"].lower()


def test_the_app_listens_on_this_machine_alone_and_sends_no_statistics() -> None:
    told = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert ip_address(SETTINGS["address"]).is_loopback and told["browser"]["gatherUsageStats"] is False
    assert "listens on this machine only, sends no usage statistics" in TEXT
    assert "The app listens on this machine only." in README


LARGEST = SETTINGS["maxUploadSize"]
FILES, SESSION, SERVER = (
    upload_limits.SESSION_FILES,
    f"{upload_limits.SESSION_SIZES * LARGEST:,} MB",
    f"{upload_limits.SERVER_SIZES * LARGEST:,} MB",
)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (TEXT, f"may take {LARGEST} MB a file, {FILES} files and {SESSION} a session, and {SERVER} for all sessions"),
        (README, f"may take at most {FILES} files and {SESSION} per session, and {SERVER} in all sessions"),
        (README, f"A session may use {LIMITS.session_bytes >> 20:,} MB of memory for its file"),
        (TEXT, f"or {FEW:,} rows if that is more"),
        (TEXT, f"At most {MAX_UNPACKED} MB are unpacked"),
        (TEXT, {8: "Eight more wait for one of them"}[MAX_WAITING]),
        (TEXT, f"at most {MAX_MEMORY >> 20:,} MB of memory on top of the program's and {MAX_SECONDS} seconds"),
    ],
    ids=[
        *("uploads", "uploads in README", "memory of a session", "rows opened to analysts", "unpacked to be verified"),
        *("waiting verifications", "verification"),
    ],
)
def test_a_limit_is_that_of_the_code(text: str, statement: str) -> None:
    assert statement in text


def test_every_variable_that_is_named_is_read_somewhere() -> None:
    files = [ROOT / "app.py", *(file for top in (*PACKAGES, "pages") for file in (ROOT / top).rglob("*.py"))]
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    named = set(re.findall(r"`(DPSCOPE_\w+)`", TEXT))
    assert "DPSCOPE_TOKEN" in named and not [each for each in named if f'"{each}"' not in code]
