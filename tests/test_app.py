"""The launcher's chores."""

from __future__ import annotations

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
