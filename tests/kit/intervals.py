"""What the tests of the interval releases share: data, a spendthrift, and an adversary in the place of noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from dpcore.core import (
    Bound,
    Dataset,
    Floats,
    Guarantee,
    Integers,
    Mechanism,
    Neighbours,
    PointsRelease,
    Problem,
    Provenance,
    ProvenanceKind,
    Queries,
    State,
)
from dpcore.data.columns import Number
from dpcore.queries.ranges import Intervals
from dpcore.randomness import Draw, FairSplit, MedianCuts, NoisyComparisons, Sampler
from dpcore.randomness.cuts import cut_scores
from dpcore.randomness.sampler import PureDraw

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
BETA = 0.05
TINY_LINES = [Number(bits=bits, missing=missing) for bits in (1, 2) for missing in (False, True)]
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))


def problem_on(
    domain: Number, *, n: int, kind: type[Queries] = Intervals, neighbours: Neighbours = Neighbours.REPLACE_ONE
) -> Problem:
    queries: Queries = kind(domain=domain)
    return Problem(domain=domain, queries=queries, n=n, neighbours=neighbours)


def dataset_of(domain: Number, cells: Any) -> Dataset:
    return Dataset(domain, np.array(cells, dtype=np.int64), MADE)


def released(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Any, trials: int) -> PointsRelease:
    release = mechanism.run(mechanism.prepare(dataset, problem), sampler, trials)
    assert isinstance(release, PointsRelease)
    return release


def worst_errors(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Any, trials: int) -> Floats:
    """Worst error of each release over the whole class, as a fraction of n."""
    histogram = released(mechanism, dataset, problem, sampler, trials).histogram()
    return problem.queries.max_error(histogram - dataset.histogram) / problem.n


class Altered(Sampler):
    """Draws like another sampler at another epsilon than it is told."""

    name = "altered"

    def __init__(self, inner: Sampler, factor: float) -> None:
        self.inner, self.factor = inner, factor

    def make(self, draw: Draw[Any], trials: int) -> Any:
        if isinstance(draw, PureDraw):
            draw = replace(draw, epsilon=draw.epsilon * self.factor)
        return self.inner.draw(draw, trials)


@dataclass(frozen=True, kw_only=True)
class Broken(Mechanism):
    """A mechanism that spends ``factor`` times what it tells."""

    inner: Mechanism
    factor: float = field(default=1.0)

    def guarantee(self, problem: Problem) -> Guarantee:
        return self.inner.guarantee(problem)

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        return self.inner.accuracy(problem, beta)

    def prepare(self, dataset: Dataset, problem: Problem) -> Any:
        return self.inner.prepare(dataset, problem)

    def run(self, state: State, sampler: Any, trials: int = 1) -> PointsRelease:
        release = self.inner.run(state, Altered(sampler, self.factor), trials)
        assert isinstance(release, PointsRelease)
        return release


class Adversary(Sampler):
    """Any noise within ``reach`` rows, any cut within ``slack`` of the best score: the worst a proof allows for.

    ``habit`` is "up" or "down" (always the extreme), "swing" (one extreme or the other) or "any". With reach and slack
    0 there is no noise, and coins of rows are fair.
    """

    name = "adversary"

    def __init__(self, seed: int, *, reach: int = 0, slack: int = 0, habit: str = "any") -> None:
        self.generator = np.random.Generator(np.random.PCG64(seed))
        self.reach, self.slack, self.habit = reach, slack, habit

    def make(self, draw: Draw[Any], trials: int) -> Any:
        match draw:
            case FairSplit():
                return self.generator.binomial(draw.counts, 0.5)
            case NoisyComparisons():
                return self._compared(draw, trials)
            case MedianCuts():
                return self._cut(draw, trials)
        raise AssertionError(f"no adversary for {type(draw).__name__}")

    def _compared(self, draw: NoisyComparisons, trials: int) -> Any:
        shape = (trials, draw.values.shape[1])
        noise = {
            "up": np.full(shape, self.reach),
            "down": np.full(shape, -self.reach),
            "swing": self.generator.choice([-self.reach, self.reach], size=shape),
            "any": self.generator.integers(-self.reach, self.reach + 1, size=shape),
        }[self.habit]
        return draw.values + noise >= draw.threshold

    def _cut(self, draw: MedianCuts, trials: int) -> Integers:
        cuts = np.empty((trials, draw.low.shape[1]), dtype=np.int64)
        for segment in range(draw.low.shape[1]):
            scores, allowed = cut_scores(draw.cumulative, draw.low[:, segment], draw.high[:, segment])
            for trial in range(trials):
                best = scores[trial][allowed[trial]].max()
                near = np.flatnonzero(allowed[trial] & (scores[trial] >= best - self.slack))
                end = {"up": -1, "down": 0, "swing": -int(self.generator.integers(0, 2)), "any": None}[self.habit]
                cuts[trial, segment] = self.generator.choice(near) if end is None else near[end]
        return cuts


habits = st.sampled_from(["up", "down", "swing", "any"])
seeds = st.integers(0, 2**32 - 1)
cell_counts = st.lists(st.integers(0, 6) | st.sampled_from([0, 40]), min_size=2, max_size=17)


def line_for(counts: list[int]) -> tuple[Number, Integers]:
    """The smallest line for these counts, with a cell for missing rows if they are one more than a power of two."""
    bits = max(1, math.ceil(math.log2(len(counts))))
    missing = len(counts) == 2 ** (bits - 1) + 1 and bits > 1
    domain = Number(bits=bits - 1 if missing else bits, missing=missing)
    return domain, np.pad(np.array(counts, dtype=np.int64), (0, domain.size - len(counts)))


def case(counts: list[int], kind: type[Queries] = Intervals) -> tuple[Dataset, Problem]:
    domain, histogram = line_for(counts)
    assume(histogram.sum() > 0)
    dataset = dataset_of(domain, np.repeat(np.arange(domain.size), histogram))
    return dataset, problem_on(domain, n=dataset.n, kind=kind)


SHAPES = ("equal", "two atoms", "bimodal", "even", "far right")


def shaped(domain: Number, n: int, shape: str) -> Dataset:
    """Rows of a shape; the same ones each time."""
    generator, size, place = np.random.Generator(np.random.PCG64(n)), domain.size, np.arange(n)
    first = np.where(place < 0.6 * n, generator.normal(0.25, 0.05, n), generator.normal(0.7, 0.1, n))
    cells = {
        "equal": np.full(n, size // 3),
        "two atoms": np.where(place < 0.3 * n, size // 5, size // 2),
        "bimodal": np.clip(first * size, 0, size - 1),
        "even": place * size // n,
        "far right": np.full(n, size - 1),
    }[shape]
    return dataset_of(domain, cells)
