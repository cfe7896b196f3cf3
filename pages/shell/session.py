"""A user's session: the gate that the router opens, the file that was uploaded, and the end of abandoned sessions.

Nothing derived from data goes into a cache that sessions share: everything here is in the session's state.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any, Protocol

import streamlit as st

from dpcore.data.sources import Source
from pages.shell.releasable import ELSEWHERE, SHOWN
from pages.shell.server import streamlit_internals
from pages.shell.server.upload_limits import sessions_with_uploads
from pages.shell.state import SessionKey, drop
from pages.shell.tasks.memory import MEMORY

GATE, OPENED_AT = SessionKey("gate", False), SessionKey("opened_at", 0.0)
"""The router ran; and when it first did."""
FILE, FILE_TURN = SessionKey[Any]("file", None), SessionKey("file_turn", 0)
"""The held file (`pages.data.upload.SessionFile`), and the number of files so far."""
DATA = SessionKey("data", "")
"""The control that picks the data."""
UPLOAD = SessionKey[Source | None]("upload", None)
"""The uploaded and declared data."""
OPENING, PAUSE = 1.5, 0.25
"""Seconds in which a new browser draws its first pictures; and between two checks of the controls."""
GRACE, CHECK_EVERY = 60.0, 15.0
"""Seconds that a session with a file may be without its browser, as when a connection is lost; and between checks."""


class File(Protocol):
    """A file of a session: a table, or what is to become one."""

    def forget(self) -> None:
        """Release its memory now."""


_last_connected: dict[str, tuple[float, tuple[weakref.ref[File], ...]]] = {}
"""Sessions with a file: when each was last seen connected, and its files while they exist."""
_awaited: weakref.WeakValueDictionary[tuple[str, int], Future[Any]] = weakref.WeakValueDictionary()
"""Work under way that a session asked for."""


def open_gate() -> None:
    """Open the gate; called by the router alone, on every run."""
    GATE.value = True
    OPENED_AT.setdefault(time.monotonic())


def wait_for_first_pictures() -> Generator[float, None, None]:
    """Wait until a new browser has had time to draw the pictures above; work in blocks, of which none is done.

    A session without a browser does not wait, nor one that has been here longer.
    """
    while st.context.headers and time.monotonic() - OPENED_AT.value < OPENING:
        yield 0.0
        time.sleep(PAUSE)


def require_gate() -> None:
    """Stop unless the router ran: a page entered any other way shows nothing."""
    if not GATE.value:
        st.error("Open this page through the app's own address.")
        st.stop()


def upload() -> Source | None:
    """Return the uploaded and declared data, if any."""
    return UPLOAD.value


def remember_upload(source: Source | None) -> None:
    """Store the uploaded data, or None, and remove everything computed from earlier data."""
    drop(UPLOAD, MEMORY, SHOWN, ELSEWHERE)  # first: a new value would keep the old one alive until the next run
    UPLOAD.value = source


def has_file(file: File) -> None:
    """Note that this session has a file, so that the file goes when the session ends."""
    if own := streamlit_internals.session_id():
        _, before = _last_connected.get(own, (0.0, ()))
        alive = tuple(each for each in before if each() is not None)
        _last_connected[own] = time.monotonic(), (*alive, weakref.ref(file))


async def end_abandoned_sessions() -> None:
    """End the sessions with a file whose tab was closed, and their files with them; never returns.

    Streamlit keeps a closed tab's session until another visit makes it check. This runs in the server's own loop, where
    its sessions may be closed.
    """
    while True:
        await asyncio.sleep(CHECK_EVERY)
        end_abandoned(time.monotonic())


def end_abandoned(now: float) -> None:
    """End the sessions that were last connected too long ago."""
    for session_id in sessions_with_uploads():  # also files that no page asked for, or none could read in time
        _last_connected.setdefault(session_id, (now, ()))
    for session_id, (connected, files) in list(_last_connected.items()):
        if streamlit_internals.is_connected(session_id) or _work_of(session_id):
            _last_connected[session_id] = now, files
        elif now - connected > GRACE:
            del _last_connected[session_id]
            streamlit_internals.close_session(session_id)
            streamlit_internals.remove_uploads(session_id)
            for each in files:
                file = each()
                if file is not None:  # the server's loop still holds the last session it served
                    file.forget()


def wait_for(work: Future[Any], *, session_id: str = "") -> None:
    """Keep a session's file while this work needs it, also after its tab is closed; this session's by default."""
    if name := session_id or streamlit_internals.session_id():
        _awaited[name, id(work)] = work


def _work_of(session_id: str) -> list[Future[Any]]:
    """Return a session's work under way."""
    works = [(owner, work) for (owner, _), work in list(_awaited.items())]
    return [work for owner, work in works if owner == session_id and not work.done()]


def forget_when_idle(file: File) -> None:
    """Forget a file once this session's draws are over: without the file they would fail, and still be charged."""
    works = _work_of(streamlit_internals.session_id())
    for work in works:
        work.add_done_callback(lambda _: file.forget() if all(each.done() for each in works) else None)
    if not works:
        file.forget()
