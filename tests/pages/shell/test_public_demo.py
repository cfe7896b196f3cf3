"""A public demonstration: any host's name, nobody's file, and frames of its own host alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from streamlit import config

from pages.shell.server.headers import content_policy
from pages.shell.server.host_origin import DEMONSTRATION, NO_FILES, HostOriginMiddleware, is_public_demo
from tests.pages.asgi import messages
from tests.pages.opening import opened, sound

HOST = "teacher.example.org"


def answer(method: str, path: str, *, host: str = HOST, origin: str = "") -> tuple[int, str]:
    """Status and text of the app behind its doors."""
    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
    start, body = messages(HostOriginMiddleware(PlainTextResponse("the app")), path, method=method, headers=headers)
    return start["status"], body["body"].decode()


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEMONSTRATION, "1")


def test_it_answers_under_any_name_and_its_own_origin_alone(demo: None) -> None:
    assert answer("GET", "/") == (200, "the app")
    assert answer("GET", "/", origin=f"https://{HOST}")[0] == 200
    assert answer("GET", "/", origin="https://evil.example")[0] == 403
    assert "frame-ancestors 'self'" in content_policy("")


@pytest.fixture
def usual_hosts() -> Iterator[list[str]]:
    """The host names that the settings allow, and again after the test."""
    usual = st.get_option("server.allowedHosts")
    yield usual
    config.set_option("server.allowedHosts", usual)


def socket_under(host: str) -> list[str]:
    """Names that Streamlit itself allows once a socket under this name comes in; none where it does not."""
    allowed: list[str] = []

    async def inside(_: Scope, __: Receive, ___: Send) -> None:
        allowed.extend(st.get_option("server.allowedHosts"))

    messages(HostOriginMiddleware(inside), "/_stcore/stream", kind="websocket", headers=[(b"host", host.encode())])
    return allowed


def test_streamlit_takes_its_sockets_under_any_name_too(demo: None, usual_hosts: list[str]) -> None:
    """It compares the name with its own setting, after the middleware: the page once stayed empty."""
    assert "*" not in usual_hosts
    assert socket_under(HOST) == ["*"]


def test_an_app_that_is_none_keeps_the_names_of_its_settings(usual_hosts: list[str]) -> None:
    assert socket_under(HOST) == [] and socket_under("localhost") == usual_hosts


def test_no_file_comes_in(demo: None) -> None:
    for method in ("PUT", "POST", "DELETE"):
        assert answer(method, "/_stcore/upload_file/session/file") == (403, NO_FILES)
    app = opened("data/page.py", way="My own file")
    assert [each.value for each in app.info] == [NO_FILES] and not app.file_uploader
    plan = opened("plan/page.py")
    assert all(each.disabled for each in plan.file_uploader) and plan.file_uploader


def test_without_the_setting_nothing_of_that_holds() -> None:
    assert not is_public_demo({})
    assert answer("GET", "/")[0] == 403
    assert answer("PUT", "/_stcore/upload_file/session/file", host="localhost") == (200, "the app")
    assert "frame-ancestors 'none'" in content_policy("")
    assert sound(opened("data/page.py", way="My own file")).file_uploader


@pytest.mark.parametrize("told", ["", "yes", "true", "2"])
def test_any_other_word_is_refused(told: str) -> None:
    with pytest.raises(ValueError, match="must be 0 or 1"):
        is_public_demo({DEMONSTRATION: told})
