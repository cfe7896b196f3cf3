"""Pages are rehearsed while nobody is served: all of them, one at a time, and never beside a visitor."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.shell.server import rehearsal
from pages.shell.server.rehearsal import REHEARSED, ActivityMiddleware, LastActivity, rehearse
from pages.shell.server.streamlit_internals import NullClient
from tests import ROOT
from tests.kit import ran
from tests.pages.opening import FILES

CLOCK = count(0.0)
"""Each look at it is a second."""


class Stage:
    """A server whose pages run to their end at once, but for one visitor who comes during some."""

    def __init__(self, heard: LastActivity, *, disturbed: tuple[str, ...] = ()) -> None:
        self.heard, self.disturbed = heard, list(disturbed)
        self.clients: dict[str, NullClient] = {}
        self.asked: list[str] = []

    def connect_session(self, client: NullClient, _: dict[str, Any]) -> str:
        """One at a time, and only in front of nobody."""
        assert not self.clients and self.heard.is_idle()
        self.clients["session"] = client
        return "session"

    def handle_backmsg(self, session: str, asks: BackMsg) -> None:
        """Run the page that is asked for."""
        page = asks.rerun_script.page_name
        self.asked.append(page)
        if page in self.disturbed:
            self.disturbed.remove(page)
            self.heard.at = next(CLOCK)
        else:
            self.clients[session].write_forward_msg(ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY))

    def close_session(self, session: str) -> None:
        """The rehearsal is over."""
        del self.clients[session]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "time", SimpleNamespace(monotonic=CLOCK.__next__))
    monkeypatch.setattr(rehearsal, "CHECK_EVERY", 0.0)


def test_each_page_runs_once_and_one_that_was_disturbed_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(heard := LastActivity(), disturbed=("tables",))
    monkeypatch.setattr(runtime, "get_instance", lambda: stage)
    ran(rehearse(heard))
    assert stage.asked == [REHEARSED[0], "tables", *REHEARSED[1:]] and not stage.clients


def test_whoever_starts_the_server_has_the_processor_first(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, begun = Stage(heard := LastActivity()), next(CLOCK)
    monkeypatch.setattr(runtime, "get_instance", lambda: stage)
    ran(rehearse(heard))
    assert begun < heard.at < begun + 3  # and the stage is asked in front of nobody alone


def test_nothing_runs_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rehearsal.VARIABLE, "0")
    stage = Stage(heard := LastActivity())
    monkeypatch.setattr(runtime, "get_instance", lambda: stage)
    ran(rehearse(heard))
    assert not stage.asked


def test_all_pages_are_rehearsed_but_the_one_that_looks_into_the_ledger() -> None:
    assert {*FILES.values()} - {"release"} == {*REHEARSED} and len(REHEARSED) == len({*REHEARSED})
    scripts = {path.relative_to(ROOT / "pages").as_posix() for path in (ROOT / "pages").rglob("page.py")}
    assert scripts == {*FILES}, "a page has a folder and a line in the list of pages"


@pytest.mark.parametrize(
    ("scope", "counts"),
    [
        ({"type": "websocket", "path": "/_stcore/stream"}, True),
        ({"type": "http", "path": "/tables"}, True),
        ({"type": "http", "path": "/dp/_stcore/health"}, False),
        ({"type": "lifespan"}, False),
    ],
)
def test_visitors_alone_are_heard_and_everything_is_passed_on(scope: Scope, counts: bool) -> None:
    sent: list[Message] = []

    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        await send(await receive())

    async def receive() -> Message:
        return {"type": "said"}

    async def send(message: Message) -> None:
        sent.append(message)

    heard = LastActivity()
    assert heard.is_idle()
    ran(ActivityMiddleware(echo, heard)(scope, receive, send))
    assert sent == [{"type": "said"}] and heard.is_idle() != counts
    assert any(heard.is_idle() for _ in range(9))
