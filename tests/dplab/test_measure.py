"""Errors measured against the truth: closed forms against every query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from dpcore import (
    Cells,
    Dataset,
    Intervals,
    Number,
    ParameterError,
    Preview,
    Problem,
    Provenance,
    ProvenanceKind,
    Thresholds,
    entry,
)
from dpcore.core import Blocks, BoundKind, DataRelease, Mechanism, Queries, Release, State
from dpcore.mechanisms import serving
from dplab.measure import LEVELS, finish, measure
from dplab.sweep import Sweep, sweep

PUBLIC = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def setting(kind: Callable[..., Queries], *, bits: int = 4, n: int = 200) -> tuple[Dataset, Problem]:
    domain = Number(bits=bits)
    records = np.random.Generator(np.random.SFC64(5)).integers(0, 2**bits, n)
    dataset = Dataset(domain, records, PUBLIC)
    return dataset, Problem(domain=domain, queries=kind(domain=domain), n=n)


@pytest.mark.parametrize("kind", [Thresholds, Intervals, Cells])
def test_a_report_agrees_with_every_query_asked_one_by_one(kind: type[Queries]) -> None:
    dataset, problem = setting(kind)
    mechanism = entry("identity").make(epsilon=0.3)
    state = mechanism.prepare(dataset, problem)
    report = finish(measure(mechanism, dataset, state, Preview(9), trials=40, queries_shown=10**6))
    release = mechanism.run(state, Preview(9), trials=40)
    assert isinstance(release, DataRelease)
    everything = np.arange(problem.queries.count)
    truth = problem.queries.answer(dataset.histogram[None, :], everything) / problem.n
    errors = release.answer(everything) - truth
    assert np.allclose(report.worst, np.abs(errors).max(axis=1))
    shown = np.searchsorted(everything, report.indices)
    assert np.allclose(report.typical, np.abs(errors[:, shown]).mean(axis=1), atol=1e-6)
    nearest = np.quantile(errors[:, shown], LEVELS, axis=0, method="nearest")
    assert np.allclose(report.band, nearest, atol=1e-6)
    assert np.allclose(report.truth, truth[0, shown])


def test_a_report_is_drawn_with_the_guaranteed_error_where_that_applies() -> None:
    dataset, problem = setting(Thresholds, n=5_000)
    mechanism = entry("identity").make(epsilon=1.0)
    report = finish(measure(mechanism, dataset, mechanism.prepare(dataset, problem), Preview(1), trials=50))
    figure = report.plot()
    assert list(figure.data[0].x) == report.worst.tolist() and report.bound.guaranteed
    assert [line.x0 for line in figure.layout.shapes] == [report.bound.value]
    assert not replace(report, bound=replace(report.bound, kind=BoundKind.ORDER_ONLY)).plot().layout.shapes


def test_trials_made_in_several_blocks_fill_the_same_report(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, problem = setting(Intervals)
    mechanism = entry("identity").make(epsilon=0.3)
    state = mechanism.prepare(dataset, problem)
    monkeypatch.setattr("dplab.measure.BLOCK_CELLS", 16 * 7)
    shares = list(measure(mechanism, dataset, state, Preview(9), trials=40))
    assert len(shares) == 6 and shares[-1] == 1.0
    report = finish(measure(mechanism, dataset, state, Preview(9), trials=40))
    assert report.trials == 40 and np.isfinite(report.worst).all()


@pytest.mark.slow
@pytest.mark.parametrize("key", ["identity", "gaussian", "intervals-printed", "net"])
def test_a_release_is_the_same_however_many_are_drawn(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, problem = setting(Intervals)
    mechanism = entry(key).make(epsilon=0.3)
    monkeypatch.setattr(type(mechanism), "preview_seconds", lambda self, problem: (0.0, 1e-4))
    state = mechanism.prepare(dataset, problem)
    few, more, largest = (finish(measure(mechanism, dataset, state, Preview(9), trials=T)) for T in (50, 400, 1200))
    assert (few.trials, more.trials, largest.trials) == (50, 400, 1200)
    np.testing.assert_array_equal(few.worst, largest.worst[:50])
    np.testing.assert_array_equal(more.worst, largest.worst[:400])
    np.testing.assert_array_equal(few.frames, largest.frames)
    # And yet no two blocks have the same coins.
    assert not np.array_equal(largest.worst[:60], largest.worst[60:120])
    assert not np.array_equal(largest.worst[:60], largest.worst[300:360])


def test_nobody_waits_for_three_blocks_where_one_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, problem = setting(Intervals)
    mechanism = entry("identity").make(epsilon=0.3)
    state = mechanism.prepare(dataset, problem)
    assert len(list(measure(mechanism, dataset, state, Preview(9), trials=1000))) == 1
    one, more = (finish(measure(mechanism, dataset, state, Preview(9), trials=T)) for T in (1000, 1500))
    np.testing.assert_array_equal(one.worst, more.worst[:1000])
    assert not np.array_equal(more.worst[:500], more.worst[1000:])
    monkeypatch.setattr(type(mechanism), "preview_seconds", lambda self, problem: (0.0, 1e-4))
    assert len(list(measure(mechanism, dataset, state, Preview(9), trials=1000))) == 3


@pytest.mark.parametrize(
    ("before", "each", "drawn"),
    [(0, 0.001, 2000), (0, 0.009, 1000), (0, 0.02, 300), (0, 0.1, 60), (0, 1.0, 60), (9, 0.01, 60), (99, 0.001, 60)],
)
def test_a_preview_that_takes_too_long_stops_before_the_next_block(
    monkeypatch: pytest.MonkeyPatch, before: float, each: float, drawn: int
) -> None:
    """A clock that only work moves: ``each`` seconds for a release."""
    dataset, problem = setting(Intervals)
    mechanism = entry("identity").make(epsilon=0.3)
    state = mechanism.prepare(dataset, problem)
    clock = [0.0]
    run = type(mechanism).run

    def slowly(self: Mechanism, state: State, sampler: Preview, trials: int = 1) -> Release:
        clock[0] += each * trials
        released: Release = run(self, state, sampler, trials)
        return released

    def warmed(self: Mechanism, state: State) -> Iterator[None]:
        clock[0] += before
        yield

    monkeypatch.setattr(type(mechanism), "run", slowly)
    monkeypatch.setattr(type(mechanism), "warm_up", warmed)
    # It says that it takes a while, but not how long it takes here.
    monkeypatch.setattr(type(mechanism), "preview_seconds", lambda self, problem: (0.0, 1e-4))
    monkeypatch.setattr("dplab.measure.monotonic", lambda: clock[0])
    report = finish(measure(mechanism, dataset, state, Preview(9), trials=2000, seconds=10.0))
    assert report.trials == drawn == len(report.worst) == len(report.refused) == len(report.typical)
    whole = finish(measure(mechanism, dataset, state, Preview(9), trials=drawn))
    np.testing.assert_array_equal(report.worst, whole.worst)
    np.testing.assert_array_equal(report.band, whole.band)
    assert (report.failures, report.failure_interval) == (whole.failures, whole.failure_interval)


def test_time_in_which_nobody_does_the_work_is_none_of_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where whoever began it has left, and somebody else goes on a minute later."""
    dataset, problem = setting(Intervals)
    mechanism = entry("identity").make(epsilon=0.3)
    clock = [0.0]
    for module in ("dplab.measure", "dpcore.core.blocks"):
        monkeypatch.setattr(f"{module}.monotonic", lambda: clock[0])
    monkeypatch.setattr(type(mechanism), "preview_seconds", lambda self, problem: (0.0, 1e-3))
    blocks = Blocks(
        measure(mechanism, dataset, mechanism.prepare(dataset, problem), Preview(9), trials=2000, seconds=10.0)
    )
    for done, _ in enumerate(blocks):
        clock[0] += 60 * (done > 0)
    assert done > 1 and blocks.result.trials == 2000


def test_the_frontier_is_whom_nobody_beats_everywhere() -> None:
    """Best somewhere, of all or of those that promise epsilon alone; nobody is where all refuse."""
    medians = np.array([[0.1, 0.3, np.nan], [0.2, 0.2, np.nan], [0.3, 0.25, np.nan], [np.nan, 0.4, np.nan]])
    curves = Sweep(
        n=10,
        keys=("early", "late", "beaten", "silent"),
        epsilons=np.array([0.1, 1.0, 10.0]),
        worst=np.repeat(medians[:, :, None], 3, axis=2),
        typical=np.zeros((4, 3, 3)),
        promised=np.full((4, 3), np.inf),
    )
    assert curves.frontier([True] * 4) == ("early", "late")
    assert curves.frontier([False, False, True, True]) == ("early", "late", "beaten")


@pytest.mark.slow
def test_a_sweep_covers_every_mechanism_and_falls_with_epsilon() -> None:
    dataset, problem = setting(Intervals, bits=6, n=3000)
    entries = serving(problem.queries)
    curve = finish(sweep(entries, dataset, problem, shared={"alpha": 0.2}, trials=20, epsilons=(0.05, 5.0)))
    assert set(curve.keys) == {each.key for each in entries}
    assert {"identity", "net", "intervals-recursive"} <= set(curve.keys)
    row = curve.keys.index("identity")
    assert curve.worst[row, 0, 1] > 10 * curve.worst[row, 1, 1]
    assert curve.promised[row, 0] > curve.promised[row, 1]


def test_bad_arguments_get_a_sentence() -> None:
    dataset, problem = setting(Intervals)
    mechanism = entry("identity").make()
    with pytest.raises(ParameterError, match="At least one trial"):
        finish(measure(mechanism, dataset, mechanism.prepare(dataset, problem), Preview(1), trials=0))
