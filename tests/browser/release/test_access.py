"""Who is the steward: the browser that `run.py` opened, once; and where neither code nor key is left."""

from __future__ import annotations

import http.client
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from launch import opened_in_browser
from pages.shell.ledger.roles import CLOSED
from pages.shell.server.access import PARAMETER
from run import find_chromium
from tests.kit.browser import CHROMIUM_FLAGS, Server, running_server, watched_page
from tests.kit.rest import settled

CODE = "Xk3-a-code-of-a-test-0123456789"
START = "Register"


def requested(server: Server, path: str, *, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    """The answer, of which the body is read."""
    address = urlsplit(server.url)
    with closing(http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)) as connection:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer


def cookie_in(answer: http.client.HTTPResponse) -> str:
    """Name and value of this app's cookie, as a browser sends them; empty without one."""
    set_cookie = [value for name, value in answer.getheaders() if name.lower() == "set-cookie"]
    return next((value.partition(";")[0] for value in set_cookie if value.startswith("dpscope-")), "")


def begun(server: Server, *, cookie: str = "", resumes: str = "") -> str:
    """The id of the session that a socket begins, or resumes."""
    protocols = [Subprotocol(each) for each in ("streamlit", "none", resumes) if each]
    address = f"{server.url.replace('http', 'ws')}/_stcore/stream"
    with connect(address, subprotocols=protocols, additional_headers={"Cookie": cookie} if cookie else {}) as socket:
        asked = BackMsg()
        asked.rerun_script.query_string = ""
        socket.send(asked.SerializeToString())
        while True:
            message = ForwardMsg()
            received = socket.recv(timeout=60)
            assert isinstance(received, bytes)
            message.ParseFromString(received)
            if message.WhichOneof("type") == "new_session":
                return message.new_session.initialize.session_id


@contextmanager
def profile_of(browser: Browser, folder: Path) -> Iterator[BrowserContext]:
    """A browser that keeps what it does in a folder, as a reader's own does."""
    context = browser.browser_type.launch_persistent_context(
        folder, executable_path=find_chromium(), headless=True, args=[*CHROMIUM_FLAGS, "--password-store=basic"]
    )
    yield context
    context.close()


def places_of(text: str, folder: Path) -> set[str]:
    """Names of the files of a profile that hold a text."""
    return {each.name for each in folder.rglob("*") if each.is_file() and text.encode() in each.read_bytes()}


def test_the_browser_that_run_py_opens_is_the_steward_s_and_keeps_nothing_that_gives_a_right(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chromium writes down each address of a redirect, so the code is found; but it was used."""
    opened, sent, profile = list[str](), list[dict[str, str]](), tmp_path / "profile"
    monkeypatch.setattr("webbrowser.open", opened.append)
    with running_server(code=CODE) as server:
        address, name = f"{server.url}/?{PARAMETER}={CODE}", f"dpscope-{urlsplit(server.url).port}"
        with opened_in_browser(address), profile_of(browser, profile) as context:
            context.on("request", lambda request: sent.append(request.all_headers()))
            page = context.new_page()
            page.goto(opened[0])
            page.wait_for_url(f"{server.url}/")
            settled(page)
            page.goto(f"{server.url}/release?data=penguins.body_mass_g")  # the same browser, another session
            expect(settled(page).get_by_role("button", name=START)).to_be_visible()
            [key] = [each["value"] for each in context.cookies() if each["name"] == name]
            stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
            assert CODE not in page.content() + stored and key not in page.content() + stored
            other = context.new_page()
            other.goto(f"{server.url}/release?{PARAMETER}={CODE}x")  # somebody's link takes no right away
            expect(settled(other).get_by_role("button", name=START)).to_be_visible()
            assert PARAMETER not in other.url
        assert len(sent) > 100 and not any(head.get("referer") for head in sent)
        assert not any(CODE in value for head in sent for value in head.values())
        assert not places_of(key, profile), "the cookie is on disk in cipher at most"
        assert {"History", "Cookies"} <= {each.name for each in profile.rglob("*")}
        with closing(sqlite3.connect(profile / "Default" / "History")) as history:
            addresses = [address for (address,) in history.execute("SELECT url FROM urls")]
        assert f"{server.url}/" in addresses
        assert not cookie_in(requested(server, f"/?{PARAMETER}={CODE}")), "what stands in the history opens nothing"
        assert CODE not in server.log.read_text() and key not in server.log.read_text()


def test_another_browser_is_not_let_in(browser: Browser) -> None:
    with running_server(code=CODE) as server, watched_page(browser) as page, watched_page(browser) as other:
        page.goto(f"{server.url}/release?data=penguins.body_mass_g&{PARAMETER}={CODE}")
        expect(settled(page).get_by_role("button", name=START)).to_be_visible()
        assert page.url == f"{server.url}/release?data=penguins.body_mass_g"
        page.get_by_role("button", name="Copy link").click()
        assert CODE not in page.content()
        page.reload()
        expect(settled(page).get_by_role("button", name=START)).to_be_visible()
        for address in ("release", f"release?{PARAMETER}={CODE}", f"release?token={CODE}"):
            other.goto(f"{server.url}/{address}")
            expect(settled(other).get_by_text(CLOSED.split("`")[0])).to_be_visible()
            expect(other.get_by_role("button", name=START)).to_have_count(0)


def test_a_session_s_id_is_worth_nothing_without_its_key_and_stands_in_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIT_LOGGER_LEVEL", "debug")
    with running_server(code=CODE) as server:
        steward = cookie_in(requested(server, f"/?{PARAMETER}={CODE}"))
        stranger = cookie_in(requested(server, "/_stcore/host-config"))
        assert steward and stranger and steward != stranger
        sessions = [begun(server, cookie=steward), begun(server, cookie=stranger), begun(server)]
        for session_id, cookie in zip(sessions[:2], (steward, stranger), strict=True):
            assert begun(server, cookie=cookie, resumes=session_id) == session_id, "the control"
            for brought in {steward, stranger, ""} - {cookie}:
                fresh = begun(server, cookie=brought, resumes=session_id)
                assert fresh not in sessions
                sessions.append(fresh)
        assert begun(server, resumes=sessions[2]) not in sessions, "without a cookie nothing is resumed"
        path = f"/_stcore/upload_file/{sessions[0]}/file"
        for method in ("PUT", "DELETE"):
            assert requested(server, path, method=method, Cookie=stranger).status == 403
        for address in ("/", "/release", path, "/_stcore/health", "/none", f"/?{PARAMETER}=x", "/start"):
            assert requested(server, address).getheader("referrer-policy") == "no-referrer", address
        assert requested(server, "/", Host="evil.example").getheader("referrer-policy") == "no-referrer"
        told = server.log.read_text()
        assert "Session ID" in told and "(withheld)" in told, "the log says what happened"
        for secret in (CODE, *sessions, *(each.partition("=")[2] for each in (steward, stranger))):
            assert secret not in told
