"""The launcher's chores."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

import app


class Ring:
    """What only a collection frees: it holds itself."""

    def __init__(self) -> None:
        self.itself = self


def test_garbage_is_collected_while_the_server_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "COLLECT_EVERY", 0.0)

    async def serve() -> bool:
        ring = weakref.ref(Ring())
        assert ring() is not None
        chore = asyncio.create_task(app.collect_garbage())
        for _ in range(5):
            await asyncio.sleep(0)
        chore.cancel()
        return ring() is None

    gc.disable()
    try:
        assert asyncio.run(serve())
    finally:
        gc.enable()
