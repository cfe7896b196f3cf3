"""Refuses requests and sockets of foreign hosts and origins before Streamlit sees them.

Streamlit would look such a socket's origin up: it asks the internet for its own address, and all users wait meanwhile.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.shell.server.streamlit_internals import allow_any_host

HOST = re.compile(r"(\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]*[a-z0-9_-])\.?)(:\d{1,5})?")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
FOREIGN_HOST = "This app is not served under that name. Add the name to the setting server.allowedHosts."
FOREIGN_ORIGIN = "This app does not answer requests from other sites."
POLICY_VIOLATION = 1008
DEMONSTRATION = "DPSCOPE_PUBLIC_DEMO"
NO_FILES = "This is a public demonstration that accepts no files. On your own machine the app does."
UPLOADS = "/_stcore/upload_file/"
METRICS = "/_stcore/metrics"
NO_METRICS = "This app publishes no metrics of its sessions, because their sizes depend on private rows."
"""Streamlit would tell every caller the bytes of all uploads, and of what sessions hold."""


def is_public_demo(variables: Mapping[str, str] = os.environ) -> bool:
    """Return whether the app runs as a public demonstration: under any host name, and without users' files.

    Raises:
        ValueError: the variable is neither 0 nor 1.

    >>> is_public_demo({}), is_public_demo({"DPSCOPE_PUBLIC_DEMO": "0"}), is_public_demo({"DPSCOPE_PUBLIC_DEMO": "1"})
    (False, False, True)
    """
    setting = variables.get(DEMONSTRATION, "0")
    if setting not in ("0", "1"):
        raise ValueError(f"{DEMONSTRATION} must be 0 or 1.")
    return setting == "1"


def is_own_host(host: str, allowed: Sequence[str]) -> bool:
    """Return whether a Host header names this machine or an allowed host, where ``*.`` stands for any prefix.

    >>> [is_own_host(host, ["*.example.org"]) for host in ("localhost:8501", "[::1]", "a.example.org", "example.org")]
    [True, True, True, False]
    """
    match = HOST.fullmatch(host.lower())
    name = (match["name"] or match["six"]) if match else ""
    patterns = [pattern.strip().lower().rstrip(".") for pattern in (*LOCAL_HOSTS, *allowed)]
    return bool(name) and any(
        name.endswith(pattern[1:]) if pattern.startswith("*.") else pattern in ("*", name) for pattern in patterns
    )


def refusal(hosts: Sequence[str], origins: Sequence[str], allowed: Sequence[str]) -> str | None:
    """Return why a request with these headers is refused; None if it names our host once, and no other origin.

    >>> refusal(["127.0.0.1:8501"], ["http://127.0.0.1:8501"], []), refusal(["127.0.0.1:8501"], ["null"], [])
    (None, 'This app does not answer requests from other sites.')
    """
    if len(hosts) != 1 or not is_own_host(hosts[0], allowed):
        return FOREIGN_HOST
    return (
        None if all(origin in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins) else FOREIGN_ORIGIN
    )


class HostOriginMiddleware:
    """Middleware that refuses foreign hosts and origins, before any other reads the request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.demo = is_public_demo()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app's own requests through; of a public demonstration, none that brings a file."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        pairs = [(name, value.decode("latin-1")) for name, value in scope["headers"] if name in (b"host", b"origin")]
        hosts = [value for name, value in pairs if name == b"host"]
        origins = [value for name, value in pairs if name == b"origin"]
        reason = refusal(hosts, origins, ["*"] if self.demo else st.get_option("server.allowedHosts"))
        if self.demo and UPLOADS in scope["path"]:
            reason = NO_FILES
        if METRICS in scope["path"]:
            reason = reason or NO_METRICS
        if self.demo and scope["type"] == "websocket":
            allow_any_host()  # Streamlit compares once more
        if reason and scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason})
        if reason:
            return await PlainTextResponse(reason, status_code=403)(scope, receive, send)
        if scope["type"] == "http":
            # It says nothing more, and from the name of a proxy Streamlit would look it up as well.
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"origin"]
        await self.app(scope, receive, send)
