"""Keys of browsers: who gets one, who is the steward, and what a session's id is worth without its key."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send
from streamlit import config, runtime

from pages.shell.server import access
from pages.shell.server.access import (
    COOKIE,
    FIRST_REQUEST,
    HEADER,
    PARAMETER,
    USER,
    BrowserKeys,
    StewardKeys,
    address_without_code,
    cookie_name,
    digest,
    key_of,
    take_code,
)
from pages.shell.server.host_origin import UPLOADS
from tests.pages.asgi import messages

CODE, KEY = "a-code", "k" * 43


class App:
    """Answers everything with 200; `scopes` are what it was asked."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def asked(
    middleware: BrowserKeys,
    path: str = "/",
    *,
    query: str = "",
    method: str = "GET",
    kind: str = "http",
    **headers: str,
) -> tuple[int, Headers]:
    """Status and headers of an answer."""
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    start, *_ = messages(middleware, path, query=query, method=method, kind=kind, headers=named)
    return start["status"], Headers(raw=start["headers"])


def brought(key: str) -> str:
    return f"{cookie_name()}={key}"


@pytest.fixture
def steward_keys() -> StewardKeys:
    return StewardKeys(CODE)


@pytest.fixture
def middleware(steward_keys: StewardKeys) -> BrowserKeys:
    return BrowserKeys(App(), steward_keys)


def test_the_code_is_worth_a_key_once(middleware: BrowserKeys, steward_keys: StewardKeys) -> None:
    status, headers = asked(middleware, "/release", query=f"data=adult.age&{PARAMETER}={CODE}")
    assert (status, headers["location"], headers["cache-control"]) == (303, "./release?data=adult.age", "no-store")
    name, _, value = headers["set-cookie"].partition("=")
    key, *attributes = value.split("; ")
    assert name == f"{COOKIE}-{config.get_option('server.port')}"
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"], "kept until the browser is closed"
    assert steward_keys.know(digest(key)) and not steward_keys.know(digest(KEY)) and not steward_keys.know("")
    for query in (f"{PARAMETER}={CODE}", f"{PARAMETER}=", f"{PARAMETER}={key}"):
        status, headers = asked(middleware, query=query)
        assert (status, headers["location"]) == (303, "./") and "set-cookie" not in headers
    assert isinstance(middleware.app, App) and not middleware.app.scopes


@pytest.mark.parametrize("code", ["", "a-cod", "a-code ", "A-CODE", "a-code&", "ключ"])
def test_a_wrong_code_is_worth_nothing_and_leaves_the_right_one(
    code: str, middleware: BrowserKeys, steward_keys: StewardKeys
) -> None:
    status, headers = asked(middleware, query=f"{PARAMETER}={quote(code)}")
    assert status == 303 and "set-cookie" not in headers
    assert asked(middleware, query=f"{PARAMETER}={CODE}", method="HEAD")[1].get("set-cookie") is None
    assert asked(middleware, query=f"{PARAMETER}={CODE}")[1]["set-cookie"]


def test_without_a_code_there_is_no_steward() -> None:
    for code in ("", "a"):
        assert StewardKeys("").redeem(code) is None


def test_a_key_that_somebody_planted_does_not_become_the_steward_s(
    middleware: BrowserKeys, steward_keys: StewardKeys
) -> None:
    _, headers = asked(middleware, query=f"{PARAMETER}={CODE}", cookie=brought(KEY))
    assert key_of(Headers({"cookie": headers["set-cookie"]})) not in ("", KEY) and not steward_keys.know(digest(KEY))


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "/a/../..", "/a:b", "/%2f%2fevil.example"])
def test_the_redirect_stays_on_this_server(path: str) -> None:
    address = address_without_code(path, [(PARAMETER, CODE), ("x", "//evil.example")])
    assert address.startswith("./") and "//" not in address and "\\" not in address and CODE not in address


def test_a_browser_gets_one_key_from_a_request_that_carries_it_again(middleware: BrowserKeys) -> None:
    first, second = (asked(middleware, FIRST_REQUEST)[1]["set-cookie"] for _ in range(2))
    assert first != second
    assert "set-cookie" not in asked(middleware, FIRST_REQUEST, cookie=f"theme=dark; {brought(KEY)}")[1]
    for path in ("/", "/release", "/_stcore/health", "/static/js/index.js"):
        assert "set-cookie" not in asked(middleware, path)[1], "a link of another site does not bring its key"
    assert "; Secure" in asked(middleware, FIRST_REQUEST, x_forwarded_proto="https")[1]["set-cookie"]


@pytest.mark.parametrize(
    "cookie", ["", "dpscope-1=" + "k" * 43, brought("k" * 42), brought("k" * 43 + "k"), "x" + brought("k" * 43)]
)
def test_what_is_no_key_of_this_server_is_none(cookie: str) -> None:
    assert key_of(Headers({"cookie": cookie})) == ""


def test_a_socket_is_named_by_its_cookie_and_by_nothing_it_says(middleware: BrowserKeys) -> None:
    def named(**headers: str) -> str:
        asked(middleware, "/_stcore/stream", kind="websocket", **headers)
        assert isinstance(middleware.app, App)
        [value] = [value for name, value in middleware.app.scopes[-1]["headers"] if name == HEADER]
        return str(value.decode())

    assert named(cookie=brought(KEY)) == named(cookie=brought(KEY), x_dpscope_browser="0") == digest(KEY)
    assert len({named(), named(), named(x_dpscope_browser=digest(KEY)), digest(KEY)}) == 4, "nobody is it twice"


def test_streamlit_compares_the_key_besides_what_a_deployment_has_it_compare(
    middleware: BrowserKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: dict[str, Any] = {"server.port": 1}
    monkeypatch.setattr(config, "get_option", held.__getitem__)
    monkeypatch.setattr(config, "set_option", held.__setitem__)
    for given in ({"x-user": "email"}, {}, {}):  # its settings are read anew while it runs
        held["server.trustedUserHeaders"] = given
        asked(middleware, "/_stcore/stream", kind="websocket")
        assert held["server.trustedUserHeaders"] == {**given, HEADER.decode(): USER}


def test_the_environment_holds_the_code_no_longer() -> None:
    variables = {access.CODE_VARIABLE: CODE}
    assert take_code(variables) == CODE and not variables and take_code(variables) == ""


class Runtime:
    """A server with one session, of the browser with the key."""

    def get_client(self, session_id: str) -> Runtime | None:
        return self if session_id == "tab" else None

    @property
    def client_context(self) -> Runtime:
        return self

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie_name(): KEY}


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_session_takes_files_from_its_own_browser_alone(
    method: str, middleware: BrowserKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "get_instance", Runtime)
    path = f"/app{UPLOADS}tab/1"
    assert asked(middleware, path, method=method, cookie=brought(KEY))[0] == 200
    assert asked(middleware, path, method=method, cookie=brought("l" * 43))[0] == 403
    assert asked(middleware, path, method=method)[0] == 403
    assert asked(middleware, path.replace("tab", "other"), method=method, cookie=brought(KEY))[0] == 403
