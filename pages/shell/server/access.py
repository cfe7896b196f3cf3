"""Each browser has a key, in a cookie that no script can read; the steward's browser gets one for a code of one use.

`run.py` puts the code into the address that it opens. The server answers with a redirect to the address without the
code, and with a new key. Other programs of the machine may serve pages on other ports of the same host: such a page
receives the cookie when the steward opens it, as browsers do not tell cookies apart by port.

A session is bound to the key of the browser that began it: Streamlit resumes it, and takes files for it, from the
same browser only. Its id alone gives no right.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import threading
from collections.abc import Iterable, MutableMapping
from urllib.parse import parse_qsl, quote, urlencode

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shell.server.host_origin import UPLOADS
from pages.shell.server.streamlit_internals import compare_on_resume, session_cookies

CODE_VARIABLE = "DPSCOPE_CODE"
"""Of the server's environment."""
PARAMETER = "access_code"
"""In the address that `run.py` opens."""
COOKIE = "dpscope"
"""The cookie's name, before the port."""
HEADER, USER = b"x-dpscope-browser", "browser"
"""The digest of a browser's key, on its way to Streamlit, which compares it; and its name in `st.user`."""
KEY = re.compile(r"[A-Za-z0-9_-]{43}")
FIRST_REQUEST = "/_stcore/host-config"
"""A script of the page asks for this before it opens its socket. A request by a script of this origin carries the
cookie; a page that a link of another site opens does not, and a new key would replace the steward's."""
OTHER_BROWSER = "This session belongs to another browser."


def digest(key: str) -> str:
    """Return the digest that stands for a browser's key."""
    return hashlib.sha256(key.encode()).hexdigest()


class StewardKeys:
    """The code of one use, and the digests of the keys that were given for it, for the life of this process.

    Attributes:
        has_code: this server was started with a code, used or not.
    """

    def __init__(self, code: str) -> None:
        self.has_code = bool(code)
        self._code, self._digests, self._lock = code, list[str](), threading.Lock()

    def redeem(self, code: str) -> str | None:
        """Return a new key for the right code, and forget the code; None for any other."""
        with self._lock:
            if not (self._code and hmac.compare_digest(code.encode(), self._code.encode())):
                return None
            self._code = ""
            return self.new_key()

    def new_key(self) -> str:
        """Return the key of one more browser that is the steward's."""
        key = secrets.token_urlsafe(32)
        self._digests.append(digest(key))
        return key

    def know(self, key_digest: str) -> bool:
        """Return whether a digest is that of a steward's key, in time that does not depend on where they differ."""
        return any([hmac.compare_digest(key_digest.encode(), each.encode()) for each in self._digests])


def take_code(variables: MutableMapping[str, str] = os.environ) -> str:
    """Return the code of the environment, and remove it there: no program that the server starts inherits it."""
    return variables.pop(CODE_VARIABLE, "")


STEWARD_KEYS = StewardKeys(take_code())


def cookie_name() -> str:
    """Return the name of this server's cookie: servers on other ports of this machine have their own."""
    return f"{COOKIE}-{st.get_option('server.port')}"


def bind_sessions_to_keys() -> None:
    """Have Streamlit compare the browser's key when a session is resumed, besides what a deployment has it compare."""
    compare_on_resume(HEADER.decode(), USER)


def key_of(headers: Headers) -> str:
    """Return the key that a request's cookie holds, or an empty text; of several, the first."""
    pairs = [each.strip().partition("=") for each in headers.get("cookie", "").split(";")]
    keys = [value for name, _, value in pairs if name == cookie_name() and KEY.fullmatch(value)]
    return keys[0] if keys else ""


def cookie(key: str, headers: Headers) -> str:
    """Return the header that stores a key in a browser until it is closed; on HTTPS alone if the page came by it."""
    secure = "; Secure" if headers.get("x-forwarded-proto", "") == "https" else ""
    return f"{cookie_name()}={key}; Path=/; HttpOnly; SameSite=Strict{secure}"


def address_without_code(path: str, parameters: Iterable[tuple[str, str]]) -> str:
    """Return the address relative to the one asked for, so that a proxy may serve the app below another path.

    >>> address_without_code("/release", [("access_code", "abc"), ("data", "adult.age")]), address_without_code("/", [])
    ('./release?data=adult.age', './')
    """
    query = urlencode([(name, value) for name, value in parameters if name != PARAMETER])
    return f"./{quote(path.rpartition('/')[2])}{'?' if query else ''}{query}"


class BrowserKeys:
    """The middleware that gives keys to browsers and binds sessions to them."""

    def __init__(self, app: ASGIApp, steward_keys: StewardKeys = STEWARD_KEYS) -> None:
        self.app, self.steward_keys = app, steward_keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an address with a code, refuse uploads of other browsers, name the key on sockets."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        key = key_of(headers)
        # A client cannot name a key's digest itself. Without a cookie it is bound to a key that nothing brings again.
        scope["headers"] = [each for each in scope["headers"] if each[0].lower() != HEADER]
        if scope["type"] == "websocket":
            bind_sessions_to_keys()
            scope["headers"].append((HEADER, digest(key or secrets.token_urlsafe(32)).encode()))
            return await self.app(scope, receive, send)
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        code = next((value for name, value in parameters if name == PARAMETER), None)
        if code is not None and scope["method"] in ("GET", "HEAD"):
            return await self._redirect(code if scope["method"] == "GET" else "", parameters)(scope, receive, send)
        if UPLOADS in scope["path"] and scope["method"] != "OPTIONS" and not began_with(key, scope["path"]):
            return await PlainTextResponse(OTHER_BROWSER, status_code=403)(scope, receive, send)
        if key or not scope["path"].endswith(FIRST_REQUEST):
            return await self.app(scope, receive, send)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = MutableHeaders(scope=message)
                added.append("Set-Cookie", cookie(secrets.token_urlsafe(32), headers))
                added["Cache-Control"] = "no-store"
            await send(message)

        await self.app(scope, receive, send_with_cookie)

    def _redirect(self, code: str, parameters: list[tuple[str, str]]) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            response = Response(status_code=303, headers={"Cache-Control": "no-store"})
            response.headers["Location"] = address_without_code(scope["path"], parameters)
            key = self.steward_keys.redeem(code)
            if key is not None:
                response.headers["Set-Cookie"] = cookie(key, Headers(scope=scope))
            await response(scope, receive, send)

        return answer


def began_with(key: str, path: str) -> bool:
    """Return whether the session that an upload's path names is connected, by a socket that brought this key."""
    session_id = path.partition(UPLOADS)[2].partition("/")[0]
    known = str(session_cookies(session_id).get(cookie_name(), ""))
    return bool(key) and hmac.compare_digest(known.encode(), key.encode())
