"""All that the app uses of Streamlit beyond its documented interface: a new version of Streamlit may break this file.

No other file imports Streamlit's internals (`tests/test_layers.py`). The imports, and why there is no public way:

- `config`: Streamlit compares a header when a session is resumed only if `server.trustedUserHeaders` names it, and
  `st.set_option` refuses that option. Without it, a session's id alone lets another browser resume the session. It
  also refuses `server.allowedHosts`; without it, a public demonstration shows an empty page under its host's name.
- `runtime`: only the server's runtime knows which sessions are connected and which files they hold, and it alone can
  close a session or run a page without a browser. Without it, the files of closed tabs stay in memory, uploads have no
  common limit and go to any session, and the first visitor waits for the rehearsal's work. Its `SafeSessionState` has
  a lock for each run, not for each session. Without one for all, a run that was stopped changes the state while the
  next one reads it, and a key typed just then is lost.
- `BackMsg`: the runtime runs a page only for such a message. Without it there is no rehearsal.
- `get_script_run_ctx`: a run learns its session's id, and whether Back or Forward began it, only here. Without it,
  files and draws belong to no session, and Back does not restore the controls.

The static folder is found by its place beside Streamlit's own code, which nothing documents either. Without its
index.html the server does not start; without the rest, each file is read from disk for each visitor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import parse_qs
from weakref import WeakValueDictionary

import streamlit as st
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from typing_extensions import override

STATIC_FOLDER = Path(st.__file__).resolve().parent / "static"
"""The page, scripts, styles and fonts that Streamlit serves."""


@runtime_checkable
class UploadsInMemory(Protocol):
    """The store of uploaded files of Streamlit's own server."""

    file_storage: dict[str, dict[str, Any]]

    def remove_file(self, session_id: str, file_id: str) -> None:
        """Delete one file of a session."""


class Received(Protocol):
    """A file in memory, as `st.file_uploader` returns it."""

    name: str
    file_id: str

    def getvalue(self) -> bytes:
        """Return the bytes of the file."""


# Of this run.


def session_id() -> str:
    """Return the id of the session whose script runs here, or an empty text where none does."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def is_history_navigation() -> bool:
    """Return whether Back or Forward began this run."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def requested_parameters() -> dict[str, list[str]]:
    """Return the parameters of the address that the browser asked for, also those that Streamlit has removed."""
    context = get_script_run_ctx()
    return parse_qs(context.query_string, keep_blank_values=True) if context is not None else {}


def restore_parameters(parameters: Mapping[str, list[str]]) -> None:
    """Set parameters of the address so that controls bound to them begin with these values."""
    context = get_script_run_ctx()
    st.query_params.update(parameters)
    if context is not None:
        with context.session_state.query_params() as current:
            current.set_initial_query_params_from_current()  # bound controls read the initial ones


def remove_parameters(names: Collection[str]) -> None:
    """Remove parameters from the address before controls bound to them read it."""
    context = get_script_run_ctx()
    for name in names:
        st.query_params.pop(name, None)
    if names and context is not None:
        with context.session_state.query_params() as current:
            current.set_initial_query_params_from_current()


def remove_own_uploads() -> None:
    """Delete the bytes of every file that this session uploaded."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)


def remove_own_upload(file: Received) -> None:
    """Delete the bytes of one file that this session uploaded, which Streamlit would keep until the session ends."""
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, UploadsInMemory):
        context.uploaded_file_mgr.remove_file(session_id=context.session_id, file_id=file.file_id)


# Of all runs of a session.


class SessionLock:
    """A session's lock, as one of its runs takes it.

    Attributes:
        lock: the same for all runs of the session.
        checkpoint: raises if the run was stopped.
    """

    def __init__(self, lock: threading.RLock, checkpoint: Callable[[], None]) -> None:
        self.lock, self.checkpoint = lock, checkpoint

    def __enter__(self) -> None:
        self.lock.acquire()
        try:
            self.checkpoint()  # a run that was stopped while it waited changes nothing
        except BaseException:
            self.lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        self.lock.release()


_session_locks: WeakValueDictionary[int, threading.RLock] = WeakValueDictionary()
"""Locks by the identity of the state that they protect; a lock lives as long as a run that uses it."""


def _share_lock(run: Any, state: Any, yield_callback: Callable[[], None]) -> None:
    """Prepare a run's view of the session's state, in place of Streamlit's `SafeSessionState.__init__`."""
    lock = SessionLock(_session_locks.setdefault(id(state), threading.RLock()), yield_callback)
    for name, value in {"_state": state, "_lock": lock, "_yield_callback": lambda: None}.items():
        object.__setattr__(run, name, value)


def share_session_locks() -> None:
    """Have all runs of a session take turns with its state."""
    vars(runtime)["state"].SafeSessionState.__init__ = _share_lock


# Of the server.


def has_server() -> bool:
    """Return whether a server runs; under test, pages run without one."""
    return runtime.exists()


def is_connected(session: str) -> bool:
    """Return whether a session's browser is connected."""
    return runtime.get_instance().is_active_session(session)


def close_session(session: str) -> None:
    """End a session and forget its state."""
    runtime.get_instance().close_session(session)


def remove_uploads(session: str) -> None:
    """Delete the files that a session uploaded."""
    runtime.get_instance().uploaded_file_mgr.remove_session_files(session)


def upload_sizes() -> dict[str, list[int]]:
    """Return the bytes of each file that Streamlit holds, by session."""
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, UploadsInMemory)
    return {
        session: [len(file.data) for file in list(files.values())]
        for session, files in list(manager.file_storage.items())
    }


def session_cookies(session: str) -> Mapping[str, str]:
    """Return the cookies that a connected session's socket brought; none where it is not connected."""
    client = runtime.get_instance().get_client(session)
    context = client.client_context if client is not None else None
    return context.cookies if context is not None else {}


def compare_on_resume(header: str, name: str) -> None:
    """Have Streamlit resume a session only for a browser with the same value of a header, under a name in `st.user`.

    Streamlit reads its settings again when their file changes and forgets what was set: call this for each socket.
    """
    option = config.get_option("server.trustedUserHeaders")
    mapping = option if isinstance(option, dict) else {}
    if header not in mapping:
        config.set_option("server.trustedUserHeaders", {**mapping, header: name})


def allow_any_host() -> None:
    """Have Streamlit accept sockets under any host name, as a public demonstration does.

    Streamlit reads its settings again when their file changes and forgets what was set: call this for each socket.
    """
    if config.get_option("server.allowedHosts") != ["*"]:
        config.set_option("server.allowedHosts", ["*"])


class NullClient(runtime.SessionClient):
    """Takes the messages of a session that has no browser.

    Attributes:
        finished: the page has run to its end.
    """

    def __init__(self) -> None:
        self.finished = False

    @override
    def write_forward_msg(self, msg: Any) -> None:
        self.finished |= msg.WhichOneof("type") == "script_finished"


def begin_page(client: NullClient, page: str) -> str:
    """Begin to run a page, by its address, in a new session without a browser; return the session's id."""
    server, message = runtime.get_instance(), BackMsg()
    message.rerun_script.page_name = page
    session = server.connect_session(client, {})
    server.handle_backmsg(session, message)
    return session
