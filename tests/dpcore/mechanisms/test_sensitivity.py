"""What a mechanism tells its sampler: sensitivities are true and tight, refusals empty, data the problem's own.

The exact checks see a wrong sensitivity only where tiny universes let it bite; here the vectors that run() hands to its
draws are compared themselves, on neighbouring data, draw by draw, with the same answers scripted for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore import (
    Cells,
    DataError,
    Dataset,
    Entry,
    Neighbours,
    Number,
    ParameterError,
    Problem,
    Product,
    Provenance,
    ProvenanceKind,
    Thresholds,
    catalogue,
    entry,
)
from dpcore.core import Domain, Guarantee, HistogramRelease, Mechanism, PointsRelease, Queries, State, ValueRelease
from dpcore.data.sources import generated_rows
from dpcore.randomness import Answers, Choice, Draw, MedianCuts, NoisyComparisons, NoisyCounts, Preview
from dpcore.randomness.cuts import cut_scores
from dpcore.randomness.sampler import PureDraw
from tests.kit.problems import dataset_of, ordinary_problems, relations


class Recording(Preview):
    """Answers from its seed alone, whatever the data, and keeps what it was told of them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.told: list[tuple[str, list[np.ndarray[Any, Any]], float, float]] = []
        self._script = np.random.Generator(np.random.SFC64(seed))

    def make(self, draw: Draw[Any], trials: int) -> Any:
        match draw:
            case NoisyCounts():
                values = np.broadcast_to(draw.counts, (trials, draw.counts.shape[1]))
                self._keep("sum", [values], draw)
                return self._script.integers(0, 9, values.shape)
            case NoisyComparisons():
                values = np.broadcast_to(draw.values, (trials, draw.values.shape[1]))
                limit = np.broadcast_to(draw.threshold, values.shape)
                self._keep("sum", [np.where(np.abs(limit) < 1 << 40, values, 0)], draw)
                return self._script.random(values.shape) < 0.5
            case Answers():
                values = np.broadcast_to(draw.stable, trials)[:, None]
                self.told.append(("sum", [values], 1.0, draw.epsilon))
                return self._script.random(trials) < 0.5
            case Choice():
                values = np.broadcast_to(draw.scores, (trials, draw.scores.shape[1]))
                self._keep("largest", [values], draw)
                places = np.broadcast_to(True if draw.allowed is None else draw.allowed, values.shape)
                return (self._script.random(places.shape) * places).argmax(axis=1)
            case MedianCuts():
                low, high = (np.broadcast_to(ends, (trials, ends.shape[1])) for ends in (draw.low, draw.high))
                parts = []
                for segment in range(low.shape[1]):
                    scores, open_to = cut_scores(draw.cumulative, low[:, segment], high[:, segment])
                    parts.append(np.where(open_to, scores, 0))
                self._keep("largest", parts, draw)
                return low + (self._script.random(low.shape) * (high - low + 1)).astype(np.int64)
        return super().make(draw, trials)

    def _keep(self, kind: str, parts: list[np.ndarray[Any, Any]], draw: PureDraw[Any]) -> None:
        self.told.append((kind, parts, draw.sensitivity, draw.epsilon))


def furthest(one: Recording, other: Recording) -> list[tuple[float, float]]:
    """Yield, for each draw of two runs, its values' largest distance in a trial, and the claimed sensitivity."""
    assert [told[0] for told in one.told] == [told[0] for told in other.told]
    distances = []
    for (kind, parts, sensitivity, _), (_, others, same, _) in zip(one.told, other.told, strict=True):
        assert sensitivity == same, "a sensitivity depends on the data"
        differences = [np.abs(a.astype(float) - b.astype(float)) for a, b in zip(parts, others, strict=True)]
        per_part = [gap.sum(axis=1) if kind == "sum" else gap.max(axis=1) for gap in differences]
        distances.append((float(np.sum(per_part, axis=0).max()), float(sensitivity)))
    return distances


def moves_further_than_told(mechanism: Mechanism, states: Iterable[State], *, seed: int, trials: int) -> bool:
    """Return whether some draw differs by more than its sensitivity between the first state and a neighbouring one."""
    runs = []
    for state in states:
        runs.append(Recording(seed))
        mechanism.run(state, runs[-1], trials)
    pairs = [pair for other in runs[1:] for pair in furthest(runs[0], other)]
    return any(apart > told * (1 + 1e-12) for apart, told in pairs)


def neighbouring(neighbours: Neighbours, rows: list[int], *, size: int) -> list[list[int]]:
    if neighbours is Neighbours.REPLACE_ONE:
        return [[*rows[:i], cell, *rows[i + 1 :]] for i in range(0, len(rows), 7) for cell in (0, size // 2, size - 1)]
    return [[*rows, cell] for cell in range(size)]


def told_on(found: Entry, values: dict[str, Any], problem: Problem, rows: list[int], seed: int) -> Recording:
    mechanism = found.make(**values)
    dataset = Dataset(problem.domain, np.array(rows), Provenance(kind=ProvenanceKind.GENERATED, title="test"))
    sampler = Recording(seed)
    mechanism.run(mechanism.prepare(dataset, problem), sampler, trials=30)
    return sampler


COMPARED = (
    "identity",
    "intervals-printed",
    "intervals-anchored",
    "intervals-recursive",
    "stable_median",
    "exponential_median",
    "counted-mean",
    "projected_histogram",
    "rectangles",
)
"""Mechanisms whose draws see the data directly; those that vote first or spare cells have proofs of their own."""


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("key", COMPARED)
def test_every_draw_is_told_a_true_and_tight_sensitivity(key: str, neighbours: Neighbours, seed: int) -> None:
    listed = entry(key)
    line, pair = Number(bits=4, missing=True), Product.map(Number(bits=3, missing=True), Number(bits=2))
    domain: Domain = line if listed.fits(line) else pair
    queries: Queries = Thresholds(domain=line) if issubclass(Thresholds, listed.queries) else Cells(domain=domain)
    rows = np.random.Generator(np.random.SFC64(seed)).integers(0, domain.size, 41).tolist()
    problem = Problem(domain=domain, queries=queries, n=len(rows), neighbours=neighbours)
    values: dict[str, Any] = {"alpha": 0.5} if "alpha" in listed.controls() else {}
    if "tie_bits" in listed.controls():
        values["tie_bits"] = 0  # a row's own coins are coupled in the proof, not here
    if "levels" in listed.controls():
        values["levels"] = 2
    base = told_on(listed, values, problem, rows, seed)
    spent = sum(told[3] for told in base.told)
    assert spent <= listed.make(**values).guarantee(problem).epsilon * (1 + 1e-9)
    reached: list[float] = []
    for other in neighbouring(neighbours, rows, size=domain.size):
        for apart, sensitivity in furthest(base, told_on(listed, values, problem, other, seed)):
            assert apart <= sensitivity * (1 + 1e-12), "a neighbour moves a draw further than it was told"
            reached.append(apart / sensitivity)
    # Tight: no draw is told more than twice what some neighbour reaches (the printed scores of a median may be).
    assert max(reached) >= 0.5


@pytest.mark.parametrize("kind", ["value", "histogram", "points"])
def test_a_refusal_carries_nothing(kind: str) -> None:
    domain = Number(bits=2)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=3)
    guarantee = Guarantee(epsilon=1.0, neighbours=Neighbours.REPLACE_ONE)
    shared: dict[str, Any] = {
        "problem": problem,
        "guarantee": guarantee,
        "sampler": "test",
        "refused": np.array([True, False]),
    }

    def made(secret: int) -> ValueRelease | HistogramRelease | PointsRelease:
        if kind == "value":
            return ValueRelease(**shared, values=np.array([secret, 1]))
        if kind == "histogram":
            return HistogramRelease(**shared, counts=np.array([[secret] * 4, [1] * 4]))
        return PointsRelease(**shared, points=np.array([[secret], [1]]), weights=np.array([[secret / 4], [1.0]]))

    one, other = made(2), made(3)
    assert np.array_equal(one.outcomes(), other.outcomes())
    for name in ("values", "counts", "points", "weights"):
        if hasattr(one, name):
            assert np.array_equal(getattr(one, name), getattr(other, name))


TABLES = [found for found in catalogue() if found.mechanism.releases in {"data", "value"}]


@pytest.mark.parametrize("found", TABLES, ids=lambda found: found.key)
def test_data_of_another_size_or_domain_are_refused(found: Entry) -> None:
    problem = ordinary_problems(found, relations(found)[0], n=4)[0]
    mechanism = found.make(**found.tiny)
    replaced = replace(problem, neighbours=Neighbours.REPLACE_ONE)
    with pytest.raises(DataError, match="number of rows"):
        mechanism.prepare(dataset_of(problem, [0, 1, 1]), replaced)
    other = Number(bits=3)
    dataset = Dataset(other, np.array([0, 1, 1, 2]), dataset_of(problem, [0]).provenance)
    with pytest.raises(DataError, match="different domains"):
        mechanism.prepare(dataset, problem)


def test_a_halved_sensitivity_would_be_seen(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    from dpcore.mechanisms.intervals import printed as intervals_printed

    monkeypatch.setattr(intervals_printed.Bisections, "_enough", _halved(intervals_printed.Bisections._enough))
    with pytest.raises(AssertionError, match="further than it was told"):
        test_every_draw_is_told_a_true_and_tight_sensitivity("intervals-printed", Neighbours.REPLACE_ONE, seed)


def _halved(method: Any) -> Any:
    """The same step with a sampler that is told half the sensitivity."""

    def step(self: Any, *arguments: Any, **named: Any) -> Any:
        original = self.sampler.draw

        def half(draw: NoisyComparisons, trials: int) -> Any:
            return original(replace(draw, sensitivity=draw.sensitivity / 2), trials)

        object.__setattr__(self.sampler, "draw", half)
        try:
            return method(self, *arguments, **named)
        finally:
            object.__delattr__(self.sampler, "draw")

    return step


def test_adding_or_removing_needs_a_named_n() -> None:
    from dplab.recipe import Recipe

    source = generated_rows("uniform", n=50, bits=3, seed=1)
    recipe = Recipe(
        source=source, queries="cells", entry_key="identity", values=(), neighbours=Neighbours.ADD_REMOVE_ONE
    )
    with pytest.raises(ParameterError, match="public n"):
        recipe.problem(source.dataset())
