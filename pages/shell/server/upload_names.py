"""A file's name that is too long for the server is cut, its ending kept: the file is then read like any other.

The server answers such an upload with a bare 400, of which the page shows the number.
"""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_NAME = 255
"""Bytes, as most file systems have it."""
LONGEST_HEAD = 1 << 16
TOO_LONG = "The file's name is too long to be read."
# Browsers escape quotation marks and line ends in it. Streamlit's page sends it twice, as name= and as filename=.
NAME = re.compile(rb'(?<=name=")[^"\r\n]*(?=")')


def cut(name: bytes) -> bytes:
    """The name's start and end, at most so many bytes, without half a character.

    >>> len(cut(b"n" * 5_000 + b".csv")), cut(b"n" * 5_000 + b".csv")[-6:], cut(b"short.csv")
    (255, b'nn.csv', b'short.csv')
    """
    if len(name) <= LONGEST_NAME:
        return name
    ending = name[-20:].decode(errors="ignore").encode()
    return name[: LONGEST_NAME - len(ending)].decode(errors="ignore").encode() + ending


class UploadNames:
    """The middleware; it holds back an upload's first bytes until its name is complete."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Cut the name of an upload."""
        if scope["type"] != "http" or scope["method"] != "PUT" or "/_stcore/upload_file/" not in scope["path"]:
            return await self.app(scope, receive, send)
        first = await receive()
        while b"\r\n\r\n" not in first.get("body", b"") and first.get("more_body"):
            if len(first["body"]) > LONGEST_HEAD:
                return await PlainTextResponse(TOO_LONG, status_code=400)(scope, receive, send)
            following = await receive()
            if following["type"] != "http.request":
                first = following
                break
            following["body"] = first["body"] + following.get("body", b"")
            first = following
        if first["type"] == "http.request":
            head, gap, rest = first.get("body", b"").partition(b"\r\n\r\n")
            first["body"] = NAME.sub(lambda name: cut(name[0]), head) + gap + rest
        waiting: list[Message] = [first]

        async def receive_cut() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, receive_cut, send)
