"""A ceiling of bytes and files that the uploads of one session, and of all sessions, may take in memory together.

Streamlit limits the size of one file alone, takes any number of them, also on a page that asks for none, and keeps
each until its session ends.
"""

from __future__ import annotations

from collections import Counter

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shell.server.host_origin import UPLOADS
from pages.shell.server.streamlit_internals import is_connected, remove_uploads, upload_sizes

SESSION_FILES = 16
"""Files that a session may have at a time. A page asks for one, reads it, and lets go of it."""
SESSION_SIZES, SERVER_SIZES = 2, 5
"""Bytes of a session's uploads, and of all sessions', as multiples of the largest file that the server takes."""
TOO_MANY_FILES = "This session has the maximum number of files. Reload the page to remove them."
TOO_MANY_BYTES = "The files of this session use the maximum memory. Reload the page to remove them."
SERVER_FULL = "The server's memory for files is used up. Try again later."


class UploadLimits:
    """The middleware; it counts what arrives, whatever a request announces.

    Attributes:
        arriving: bytes of uploads under way, by session.
        requests: uploads under way, by session.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.arriving, self.requests = Counter[str](), Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse an upload, before or while it arrives; what arrived of it counts no more once it is over."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOADS not in scope["path"]:
            return await self.app(scope, receive, send)
        session_id = scope["path"].partition(UPLOADS)[2].partition("/")[0]
        announced = Headers(scope=scope).get("content-length", "")
        reason = self._refusal(session_id, int(announced) if announced.isascii() and announced.isdecimal() else 0)
        if self.requests[session_id] + len(upload_sizes().get(session_id, ())) >= SESSION_FILES:
            reason = TOO_MANY_FILES
        if reason:
            return await PlainTextResponse(reason, status_code=413)(scope, receive, send)
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            size = len(message.get("body", b""))
            problem = self._refusal(session_id, size)
            if problem:
                raise HTTPException(status_code=413, detail=problem)
            received += size
            self.arriving[session_id] += size
            return message

        self.requests[session_id] += 1
        try:
            await self.app(scope, receive_counted, send)
        finally:
            for counter, part in ((self.arriving, received), (self.requests, 1)):
                counter[session_id] -= part
                if not counter[session_id]:
                    del counter[session_id]
            if not is_connected(session_id):  # it ended meanwhile, and will not end again
                remove_uploads(session_id)

    def _refusal(self, session_id: str, more: int) -> str:
        """Return why so many more bytes of a session are not taken; empty if they are."""
        largest = st.get_option("server.maxUploadSize") << 20
        sizes = upload_sizes()
        of_session = self.arriving[session_id] + sum(sizes.get(session_id, ()))
        if of_session + more > SESSION_SIZES * largest:
            return TOO_MANY_BYTES
        of_all = self.arriving.total() + sum(map(sum, sizes.values()))
        return SERVER_FULL if of_all + more > SERVER_SIZES * largest else ""


def sessions_with_uploads() -> set[str]:
    """Return the ids of the sessions of which Streamlit holds a file, whether or not a page ever asked for it."""
    return {session_id for session_id, sizes in upload_sizes().items() if sizes}
