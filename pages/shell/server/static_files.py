"""Streamlit's own scripts, styles and fonts, answered from memory: a page loads a hundred of them before it is there.

From disk each is read in pieces, every piece by another thread: a page's files cost the server more than its script.
"""

from __future__ import annotations

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shell.server.streamlit_internals import STATIC_FOLDER

SLICE = 1 << 18
"""Bytes sent at once: a browser that does not read holds up no more."""
CONDITIONS = frozenset({b"range", b"if-range", b"if-none-match", b"if-modified-since"})


class StaticFilesMiddleware:
    """Middleware that keeps the first complete answer for each of Streamlit's static files, and for nothing else.

    The files are the same for all users, and named by their content: an answer never changes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        folder, base = STATIC_FOLDER, st.get_option("server.baseUrlPath").strip("/")
        files = [each for each in (folder / "static").rglob("*") if each.is_file()]
        prefix = f"/{base}/" if base else "/"
        self.sizes = {prefix + each.relative_to(folder).as_posix(): each.stat().st_size for each in files}
        self.answers: dict[str, tuple[list[tuple[bytes, bytes]], bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory if there is an answer; else pass the request on and store its answer."""
        is_static = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in self.sizes
        if not is_static or any(name in CONDITIONS for name, _ in scope["headers"]):
            return await self.app(scope, receive, send)
        path: str = scope["path"]
        if path in self.answers:
            headers, body = self.answers[path]
            await send({"type": "http.response.start", "status": 200, "headers": list(headers)})
            for start in range(0, max(1, len(body)), SLICE):
                more = start + SLICE < len(body)
                await send({"type": "http.response.body", "body": body[start : start + SLICE], "more_body": more})
            return None
        headers, pieces = [], []

        async def store(message: Message) -> None:
            # What was compressed for one browser, or names its session, is not for another.
            if message["type"] == "http.response.start" and message["status"] == 200:
                own = any(name in (b"content-encoding", b"set-cookie") for name, _ in message["headers"])
                headers.extend([] if own else message["headers"])
            elif message["type"] == "http.response.body" and headers:
                pieces.append(message.get("body", b""))
                if not message.get("more_body", False) and sum(map(len, pieces)) == self.sizes[path]:
                    self.answers[path] = headers, b"".join(pieces)
            await send(message)

        await self.app(scope, receive, store)
