"""Long work of the Plan page: in a pool, with progress, a button that stops it, and what is done kept."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from gc import collect
from threading import Event
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pytest
from streamlit import runtime
from streamlit.testing.v1 import AppTest

from dpcore.core import ParameterError, cancellable, checkpoint
from dplab.sweep import Sweep
from dprelease.plan.compare import compare_mechanisms
from dprelease.plan.errors import predict
from pages.plan import frontier, view
from pages.shell.tasks import jobs
from pages.shell.tasks.jobs import JOBS
from tests.pages.drawn_charts import drawn
from tests.pages.opening import opened, run_with, sound
from tests.pages.plan.test_page_plan import PAGE, press, questions

CHART = "plan_frontier_chart"
FEW = 5


def done(app: Any) -> int:
    """Dots of the frontier that are drawn."""
    return sum(
        len(trace["x"]) for trace in drawn(app)[CHART]["data"] if trace.get("mode") == "markers" and trace.get("name")
    )


def under_way(app: Any, place: str) -> Any:
    """The job at a place of the page, if one is."""
    return app.session_state[JOBS].get(place)


@pytest.fixture(autouse=True)
def pages_do_not_wait_long(long_work_is_waited_for: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "AT_ONCE", 0.4)


class Held:
    """Work that waits before each block from the second on until it is let go."""

    def __init__(self, work: Callable[..., Generator[float, None, Any]]) -> None:
        self.work, self.reached, self.free = work, Event(), Event()

    def __call__(self, *told: Any, **named: Any) -> Generator[float, None, Any]:
        work = self.work(*told, **named)
        while True:
            try:
                share = next(work)
            except StopIteration as over:
                return over.value
            yield share
            self.reached.set()
            self.free.wait(60)


def test_errors_are_predicted_while_the_page_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(predict)
    monkeypatch.setattr(view, "predict", held)
    app = sound(opened(PAGE, table="penguins"))
    assert held.reached.wait(60)
    sound(app.run())
    sentence = drawn(app)["plan_chart"]["sentence"]
    assert sentence.count("not computed yet") == 1 and sentence.count("%") == 1, "one of two questions is known"
    assert "2 statistics" in app.header[0].value
    held.free.set()
    wait([under_way(app, "predicted").future], timeout=60)
    assert "not computed yet" not in drawn(sound(app.run()))["plan_chart"]["sentence"]
    assert under_way(app, "predicted") is None


@pytest.mark.parametrize(
    ("button", "work", "told"),
    [("Fit ε", "for_total", ""), ("Fit ±", "for_targets", "Of counts the target is for the largest of their errors")],
)
def test_a_wish_is_stopped_goes_on_and_is_taken_back(
    button: str, work: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(getattr(view, work))
    monkeypatch.setattr(view, work, held)
    app = sound(opened(PAGE, table="penguins"))
    before = questions(app, "penguins")
    app.number_input(key="plan_total").set_value(2.0)
    app = press(app, button)
    assert held.reached.wait(60)
    assert questions(app, "penguins") == before
    job = under_way(app, view.SOLVE_REQUEST)
    app = press(app, "Stop")
    held.free.set()
    wait([job.future], timeout=60)
    assert job.future.result() is None and questions(sound(app.run()), "penguins") == before
    app = press(app, "Continue")
    if under_way(app, view.SOLVE_REQUEST):
        wait([under_way(app, view.SOLVE_REQUEST).future], timeout=60)
        sound(app.run())
    assert [each.epsilon for each in questions(app, "penguins")] != [each.epsilon for each in before]
    assert told in " ".join(each.value for each in app.info)
    # A plan that is changed while its wish is worked out takes it back.
    held.free.clear()
    held.reached.clear()
    app.number_input(key="plan_total").set_value(3.0)
    app = press(app, button)
    job = under_way(app, view.SOLVE_REQUEST)
    sound(next(each for each in app.number_input if each.label == "ε").set_value(0.123).run())
    held.free.set()
    if job:
        wait([job.future], timeout=60)
    assert questions(sound(app.run()), "penguins")[0].epsilon == 0.123 and under_way(app, view.SOLVE_REQUEST) is None


def test_a_long_step_is_stopped_within(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = Event(), Event()

    def one_step() -> Generator[float, None, str]:
        while not ended.wait(0.01):
            begun.set()
            checkpoint()
        yield 1.0
        return "result"

    monkeypatch.setattr(jobs, "cancellable", partial(cancellable, every=0))
    job = jobs.Job("key", one_step)
    assert begun.wait(60)
    job.stop()
    try:
        assert job.future.result(timeout=60) is None and job.ended
    finally:
        ended.set()


def test_the_queue_keeps_no_work_that_nobody_waits_for() -> None:
    full, pool, ran = Event(), ThreadPoolExecutor(1), list[int]()

    class Upload:
        """Stands for the bytes of a file."""

    def job_of(upload: Upload, place: int) -> jobs.Job[Upload]:
        def work() -> Generator[float, None, Upload]:
            ran.append(place)
            yield 1.0
            return upload

        return jobs.Job(str(place), work, pool=pool)

    pool.submit(full.wait, 60)
    uploads = [Upload() for _ in range(3)]
    kept, futures = [ref(each) for each in uploads], list[Future[Any]]()
    for place, each in enumerate(uploads):  # of one session: each replaces the one before
        job = job_of(each, place)
        futures.append(job.future)
    del uploads, each
    collect()
    try:
        assert [each() is not None for each in kept] == [False, False, True]
    finally:
        full.set()
    assert [each.result(60) is None for each in futures] == [True, True, False] and ran == [2]


def test_no_more_work_waits_than_a_pool_allows_and_what_is_no_longer_wanted_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full, begun, pool = Event(), Event(), ThreadPoolExecutor(1)
    sessions: list[dict[str, jobs.Job[int]]] = []

    def work() -> Generator[float, None, int]:
        begun.set()
        full.wait(60)
        yield 1.0
        return 1

    def begin_elsewhere(*, max_waiting: int | None = 2) -> dict[str, jobs.Job[int]]:
        """Begin in a session of its own, which holds its job."""
        session: dict[str, jobs.Job[int]] = {}
        monkeypatch.setattr(jobs, "_jobs", lambda: session)
        jobs.begin("key", work, place="place", pool=pool, max_waiting=max_waiting)
        sessions.append(session)
        return session

    try:
        begin_elsewhere()
        assert begun.wait(60), "the one that runs does not wait"
        waiting = begin_elsewhere()
        begin_elsewhere()
        for _ in range(2):
            with pytest.raises(ParameterError, match="Too much of this work is waiting"):
                begin_elsewhere()
        begin_elsewhere(max_waiting=4)  # the control
        jobs.begin("key", work, place="place", pool=ThreadPoolExecutor(1), max_waiting=1)  # another pool is not full
        waiting["place"].stop()  # its session still holds it
        begin_elsewhere(max_waiting=3)
        with pytest.raises(ParameterError):
            begin_elsewhere(max_waiting=3)
        sessions.pop().clear()  # a session that ended
        collect()
        begin_elsewhere(max_waiting=3)
    finally:
        full.set()


def test_work_is_stopped_and_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more, counted = Event(), Event(), list[int]()

    def gated(*told: Any, **named: Any) -> Generator[float, None, Sweep]:
        before = len(named["cells"])
        work = compare_mechanisms(*told, **named)
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

    monkeypatch.setattr(frontier, "compare_mechanisms", gated)
    app = opened(PAGE, table="penguins")
    run_with(app, {"plan_frontier": True, "plan_compared": 1})
    assert few.wait(60) and "Stop" in [each.label for each in app.button]
    sound(app.run())
    assert 0 < done(app) <= FEW + 2, "what is known so far is drawn"
    job = under_way(app, "frontier")
    app = press(app, "Stop")
    more.set()
    wait([job.future], timeout=60)
    assert job.future.result() is None and under_way(app, "frontier") is None
    assert "Continue" in [each.label for each in sound(app.run()).button] and done(app) > 0
    app = press(app, "Continue")
    if under_way(app, "frontier"):
        wait([under_way(app, "frontier").future], timeout=60)
        sound(app.run())
    assert not {"Continue", "Stop"} & {each.label for each in app.button}
    [found] = [each for key, each in app.session_state["memory"].items() if key.startswith("frontier|")]
    whole = found.worst.shape[0] * found.worst.shape[1]
    assert counted == [whole - FEW - 1], "of the cells that were done none is done again, the one under way included"
    assert done(app) > FEW + 2


def test_work_of_a_closed_tab_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    open_tabs = {""}
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(is_active_session=open_tabs.__contains__))
    begun, more = Event(), Event()

    def long() -> Generator[float, None, int]:
        for place in range(1000):
            begun.set()
            more.wait(60)
            yield place / 1000
        return 1

    job = jobs.Job("key", long)
    assert begun.wait(60) and not job.ended
    open_tabs.clear()
    more.set()
    wait([job.future], timeout=60)
    assert job.ended and job.share < 0.5


def several() -> None:
    """A page that begins three jobs, of which none ends, before it waits for the first."""
    from time import monotonic

    import streamlit as st

    from pages.shell.tasks.jobs import begin, in_background
    from tests.pages.plan.test_jobs import LET_GO, endless

    started = monotonic()
    for place in "abc":
        begin(place, endless, place=place)
    for place in "abc":
        in_background(place, endless, so_far=str, label=place, place=place)
    st.text(f"{monotonic() - started}")
    LET_GO.set()


LET_GO = Event()


def endless() -> Generator[float, None, str]:
    yield 0.5
    LET_GO.wait(60)
    return "done"


def test_jobs_that_are_begun_together_are_waited_for_together() -> None:
    app = sound(AppTest.from_function(several).run())
    assert jobs.AT_ONCE <= float(app.text[0].value) < 2 * jobs.AT_ONCE
