"""The launcher's chores."""

from __future__ import annotations

import asyncio
import gc
import socket
import weakref

import pytest

import app
from launch import LOCALHOST
from tests.kit import ran


class Ring:
    """What only a collection frees: it holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.slow
def test_garbage_is_collected_while_the_server_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "COLLECT_EVERY", 0.0)
    gc.disable()
    try:
        ring, chore = weakref.ref(Ring()), app.collect_garbage()
        chore.send(None)  # asleep
        assert ring() is not None
        chore.send(None)  # awake, and asleep again
        assert ring() is None
        chore.close()
    finally:
        gc.enable()


async def accepted(*, at_once: bool) -> int:
    """Whether a server on a socket that was bound as Streamlit binds its own sends what it accepts at once."""
    if at_once:
        app.send_at_once()
    loop, taken = asyncio.get_running_loop(), asyncio.Queue[int]()

    class Server(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            own = transport.get_extra_info("socket")
            taken.put_nowait(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as bound:
        bound.bind((LOCALHOST, 0))
        bound.listen()
        async with await loop.create_server(Server, sock=bound):
            _, writer = await asyncio.open_connection(*bound.getsockname())
            found = await taken.get()
            writer.close()
            await writer.wait_closed()
    return found


@pytest.mark.parametrize("at_once", [False, True])
def test_answers_do_not_wait_for_a_confirmation_of_the_one_before(at_once: bool) -> None:
    assert bool(ran(accepted(at_once=at_once))) == at_once
