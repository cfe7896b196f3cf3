"""A rehearsal that takes long: beside the page, which goes on; stopped and begun again; free."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import wait
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from dprelease.release import Rehearsal, rehearse_in_steps
from pages.release import draw
from pages.shell.tasks import jobs
from tests.kit.ledgers import SPEND
from tests.pages.opening import sound
from tests.pages.release.test_page_states import press, registered, said, the, token

__all__ = ["token"]


def labels(app: Any) -> set[str]:
    return {each.label for each in app.button}


def test_a_long_rehearsal_leaves_the_page_free_and_is_stopped(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, free = Event(), Event()

    def held_up(*told: Any) -> Generator[float, None, Rehearsal]:
        work = rehearse_in_steps(*told)
        yield next(work)
        reached.set()
        free.wait(60)
        return (yield from work)

    monkeypatch.setattr(jobs, "AT_ONCE", 0.01)
    monkeypatch.setattr(draw, "rehearse_in_steps", held_up)
    app = press(registered(), "Test run, free")
    job = app.session_state[jobs.JOBS][draw.REHEARSED_REQUEST]
    assert reached.wait(60) and "Stop" in labels(app) and "On mock data" not in said(app)
    app = press(app, "Stop")
    assert "Continue" in labels(app) and not any(label.startswith(SPEND) for label in labels(app))
    app = press(app, "Continue")
    again = app.session_state[jobs.JOBS][draw.REHEARSED_REQUEST]
    assert again is not job
    app.number_input(key="epsilon").set_value(0.5)  # another request: nobody waits for the rehearsal of the first
    app = sound(app.run())
    assert "Test run, free" in labels(app) and draw.REHEARSED_REQUEST not in app.session_state[jobs.JOBS]
    free.set()
    for each in (job, again):
        wait([each.future], timeout=60)
        assert each.future.done()
    app = press(app, "Test run, free")
    if draw.REHEARSED_REQUEST in app.session_state[jobs.JOBS]:
        wait([app.session_state[jobs.JOBS][draw.REHEARSED_REQUEST].future], timeout=60)
        sound(app.run())
    assert "On mock data: " in said(app) and any(label.startswith(f"{SPEND} 0.5") for label in labels(app))
    ledger, dataset_id = the(no_ledger)
    assert not ledger.outcomes(dataset_id) and ledger.account(dataset_id).spent.epsilon_or_rho == 0
