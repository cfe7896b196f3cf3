"""Long work of the Plan page: in a pool, with progress, a button that stops it, and what is done kept."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import wait
from threading import Event
from typing import Any

import pytest

from dpcore.experiments.sweep import Sweep
from dpcore.plan.compare import compared
from pages.plan import frontier
from pages.plan.jobs import JOB
from tests.pages.drawn import drawn
from tests.pages.opening import opened, sound
from tests.pages.plan.test_page_plan import PAGE, press

CHART = "plan_frontier_chart"
FEW = 5


def done(app: Any) -> int:
    """Dots of the frontier that are drawn."""
    return sum(
        len(trace["x"]) for trace in drawn(app)[CHART]["data"] if trace.get("mode") == "markers" and trace.get("name")
    )


def test_work_is_stopped_and_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more, counted = Event(), Event(), list[int]()

    def gated(*told: Any, **named: Any) -> Generator[float, None, Sweep]:
        before = len(named["cells"])
        work = compared(*told, **named)
        while True:
            if len(named["cells"]) == FEW and not more.is_set():
                few.set()
                more.wait(60)
            try:
                share = next(work)
            except StopIteration as over:
                counted.append(len(named["cells"]) - before)
                found: Sweep = over.value
                return found
            yield share

    monkeypatch.setattr(frontier, "compared", gated)
    app = opened(PAGE, table="penguins")
    app.session_state["plan_frontier"] = True
    app.session_state["plan_compared"] = 1
    sound(app.run())
    assert few.wait(60) and "Stop" in [each.label for each in app.button]
    sound(app.run())
    assert 0 < done(app) <= FEW + 2, "what is known so far is drawn"
    job = app.session_state[JOB]
    app = press(app, "Stop")
    more.set()
    wait([job.future], timeout=60)
    assert job.future.result() is None and JOB not in app.session_state
    assert "Go on" in [each.label for each in sound(app.run()).button] and done(app) > 0
    app = press(app, "Go on")
    if JOB in app.session_state:
        wait([app.session_state[JOB].future], timeout=60)
        sound(app.run())
    assert not {"Go on", "Stop"} & {each.label for each in app.button}
    [found] = [each for key, each in app.session_state["memory"].items() if key.startswith("frontier|")]
    whole = found.worst.shape[0] * found.worst.shape[1]
    assert counted == [whole - FEW - 1], "of the cells that were done none is done again, the one under way included"
    assert done(app) > FEW + 2
