"""One person's session: the gate, what was uploaded, and a small memory of computed things.

Nothing derived from data goes into a cache that sessions share: everything here lives in ``st.session_state``.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.sources import Uploaded
from dpcore.tables import Table

Result = TypeVar("Result")

REMEMBERED = 12
"""Computed things kept a session; the oldest goes first."""
GRACE, LOOK_EVERY = 60.0, 15.0
"""Seconds that a session with a file may be without its browser, as when a connection is lost; and between looks."""
_last_seen: dict[str, tuple[float, weakref.ref[Table]]] = {}
"""Sessions that took a file: when each was last seen connected, and the file while it is there."""


def open_gate() -> None:
    """Called by the router alone, on every run; pages check it."""
    st.session_state["gate"] = True


def require_gate() -> None:
    """Stop unless the router ran: a page entered any other way shows nothing."""
    if not st.session_state.get("gate"):
        st.error("This page must be opened through the app's own address.")
        st.stop()


def carry_link(page: str) -> None:
    """On a new page, give controls what the link said on the last: Streamlit drops what nobody has touched."""
    if st.session_state.get("page") != page:
        st.session_state["page"] = page
        for key, value in st.session_state.get("carried", {}).items():
            if key not in st.query_params:
                st.session_state[key] = value


def keep_link() -> None:
    """Remember the controls that now stand in the link; called after the page."""
    carried = st.session_state.setdefault("carried", {})
    for key in st.session_state:
        if key in st.query_params:
            carried[key] = st.session_state[key]
        else:
            carried.pop(key, None)


def upload() -> Uploaded | None:
    """What this session uploaded and declared, if anything."""
    found: Uploaded | None = st.session_state.get("upload")
    return found


def remember_upload(source: Uploaded | None) -> None:
    """Keep (or forget) the uploaded source, and drop everything computed from an earlier one."""
    for key in ("upload", "memory"):
        st.session_state.pop(key, None)  # first: a new value would leave the old one alive until the next run
    st.session_state["upload"] = source


def has_file(table: Table) -> None:
    """Remember that this session took a file, so that its end is noticed."""
    context = get_script_run_ctx()
    if context is not None:
        _last_seen[context.session_id] = time.monotonic(), weakref.ref(table)


async def end_abandoned_sessions() -> None:
    """For ever: end the sessions with a file whose tab was closed, and with them the file.

    Streamlit keeps a closed tab's session until somebody else's visit makes it look. Runs in the server's own loop,
    where its sessions may be closed.
    """
    while True:
        await asyncio.sleep(LOOK_EVERY)
        end_abandoned(time.monotonic())


def end_abandoned(now: float) -> None:
    """End the sessions that were last seen too long ago."""
    server = runtime.get_instance()
    for session_id, (seen, file) in list(_last_seen.items()):
        if server.is_active_session(session_id):
            _last_seen[session_id] = now, file
        elif now - seen > GRACE:
            del _last_seen[session_id]
            server.close_session(session_id)
            table = file()
            if table is not None:  # the server's loop still holds the last session it served
                table.forget()


def is_steward() -> bool:
    """Whether the person said they may see true values of their private data."""
    return bool(st.session_state.get("steward_choice"))


def remembered(key: str, compute: Callable[[], Result]) -> Result:
    """This session's value under a key, computed at most once while it is remembered."""
    memory: dict[str, Any] = st.session_state.setdefault("memory", {})
    if key not in memory:
        value = compute()
        while len(memory) >= REMEMBERED:
            memory.pop(next(iter(memory)))
        memory[key] = value
    else:
        memory[key] = memory.pop(key)  # now the newest
    result: Result = memory[key]
    return result


def with_progress(key: str, work: Callable[[], Generator[float, None, Result]], *, label: str) -> Result:
    """Remembered work in blocks, with a progress bar; moving any control interrupts it between blocks."""
    memory: dict[str, Any] = st.session_state.setdefault("memory", {})
    slot = st.empty()  # always: an element less would shift those below, and charts that shift are drawn anew
    if key in memory:
        found: Result = memory[key]
        return remembered(key, lambda: found)
    generator = work()
    while True:
        try:
            share = next(generator)
        except StopIteration as done:
            result: Result = done.value
            break
        slot.progress(min(share, 1.0), text=f"{label} Move any control to stop it.")
    slot.empty()
    return remembered(key, lambda: result)


def fresh_seed() -> int:
    """A new preview seed, short enough for a link."""
    return secrets.randbelow(10**6)
