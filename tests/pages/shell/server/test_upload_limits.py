"""Uploads of a session and of a server have a ceiling, by what arrives and not by what is announced."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest
import streamlit as st
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.shell.server.host_origin import UPLOADS
from pages.shell.server.upload_limits import SERVER_SIZES, SESSION_FILES, SESSION_SIZES, UploadLimits
from tests import ROOT
from tests.pages.asgi import messages

LARGEST = 1 << 20
"""Bytes of one file, as the server is set here."""


class Server:
    """The runtime and Streamlit's part of an upload: a file is kept once it has arrived whole."""

    def __init__(self) -> None:
        self.uploaded_file_mgr, self.active = MemoryUploadedFileManager("/files"), {"a", "b", "c", "d"}
        self.limits, self.ending = UploadLimits(self), ""

    def is_active_session(self, session_id: str) -> bool:
        return session_id in self.active

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        data = await Request(scope, receive).body()
        session_id, file_id = scope["path"].rpartition(UPLOADS)[2].split("/")
        self.active.discard(self.ending)
        file = UploadedFileRec(file_id=file_id, name="x.csv", type="text/csv", data=data)
        self.uploaded_file_mgr.add_file(session_id=session_id, file=file)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    def put(self, place: str, sizes: Iterable[int], *, announced: int | None = None) -> int:
        """The status of an upload that arrives in pieces; what is raised in between is answered further inside."""
        headers = [] if announced is None else [(b"content-length", str(announced).encode())]
        body = [*map(bytes, sizes), b""]
        try:
            start, *_ = messages(self.limits, f"{UPLOADS}{place}", method="PUT", headers=headers, body=body)
        except HTTPException as refused:
            return refused.status_code
        return int(start["status"])

    @property
    def held(self) -> int:
        return sum(len(file.data) for files in self.uploaded_file_mgr.file_storage.values() for file in files.values())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr("streamlit.get_option", {"server.maxUploadSize": LARGEST >> 20}.__getitem__)
    found = Server()
    monkeypatch.setattr(runtime, "get_instance", lambda: found)
    return found


@pytest.mark.parametrize("announced", [None, 0, 1])
def test_a_session_holds_two_largest_files_and_no_more(announced: int | None, server: Server) -> None:
    pieces = [LARGEST // 4] * 4
    assert [server.put(f"a/{place}", pieces, announced=announced) for place in range(4)] == [204, 204, 413, 413]
    assert server.held == SESSION_SIZES * LARGEST and not server.limits.arriving and not server.limits.requests
    assert server.put("a/5", [1]) == 413 and server.put("b/5", [1]) == 204
    server.uploaded_file_mgr.remove_session_files("a")  # as when it ends
    assert server.put("a/5", pieces) == 204


def test_what_is_announced_to_be_too_large_is_refused_before_it_comes(server: Server) -> None:
    assert server.put("a/1", [], announced=SESSION_SIZES * LARGEST + 1) == 413
    assert server.put("a/1", [1], announced=SESSION_SIZES * LARGEST) == 204


def test_a_refused_file_is_freed(server: Server) -> None:
    assert server.put("a/1", [LARGEST] * (SESSION_SIZES + 1)) == 413
    assert server.held == 0 and not server.limits.arriving and not server.limits.requests
    assert server.put("a/1", [LARGEST]) == 204


def test_all_sessions_together_hold_no_more_than_the_server_may(server: Server) -> None:
    statuses = [server.put(f"{session}/{place}", [LARGEST]) for session in "abcd" for place in range(SESSION_SIZES)]
    assert statuses == [204] * SERVER_SIZES + [413] * (4 * SESSION_SIZES - SERVER_SIZES)
    assert server.held == SERVER_SIZES * LARGEST


def test_a_session_holds_few_files_however_small(server: Server) -> None:
    statuses = [server.put(f"a/{place}", [1]) for place in range(SESSION_FILES + 2)]
    assert statuses == [204] * SESSION_FILES + [413] * 2
    assert server.put("b/1", [1]) == 204


def test_uploads_under_way_count(server: Server) -> None:
    server.limits.arriving["a"] = SESSION_SIZES * LARGEST
    assert server.put("a/1", [1]) == 413
    server.limits.arriving.clear()
    server.limits.requests["a"] = SESSION_FILES
    assert server.put("a/1", [1]) == 413


def test_a_file_whose_session_ended_meanwhile_goes_with_it(server: Server) -> None:
    server.ending = "a"
    assert server.put("a/1", [1]) == 204
    assert server.held == 0


def test_the_readme_has_these_numbers() -> None:
    largest = int(st.get_option("server.maxUploadSize"))
    told = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    session, everybody = SESSION_SIZES * largest, SERVER_SIZES * largest
    assert (
        f"Uploads may take at most {SESSION_FILES} files and {session:,} MB per session, and {everybody:,} MB in all"
        in told
    )


def test_the_app_has_every_guard_and_the_limits_last() -> None:
    """What a guard does is tested alone; that a request meets it is written in one place."""
    calls = [node for node in ast.walk(ast.parse((ROOT / "app.py").read_text())) if isinstance(node, ast.Call)]
    guards = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Middleware"]
    names = [guard.id for guard in guards if isinstance(guard, ast.Name)]
    assert names[:2] == ["Headers", "HostOriginMiddleware"] and names[-1] == "UploadLimits" and "BrowserKeys" in names
