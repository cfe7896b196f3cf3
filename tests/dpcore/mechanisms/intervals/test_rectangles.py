"""The rectangle release: its cells by hand, its proof term by term, its promise on hostile data, and planted faults."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dpcore import (
    Dataset,
    Enumerate,
    Intervals,
    Neighbours,
    Number,
    ParameterError,
    Preview,
    Problem,
    Product,
    Rectangles,
)
from dpcore.core import HistogramState, Integers
from dpcore.mechanisms.intervals.rectangles import RectangleRelease, RectanglesRelease
from dpcore.randomness import Draw, MedianCuts, Sampler
from dplab.audit import exact_delta
from tests.cases import full_but
from tests.dpcore.mechanisms.test_sensitivity import moves_further_than_told
from tests.kit.problems import PROVENANCE, dataset_of
from tests.kit.statistics import assert_chance_at_most

GRID = Product.map(Number(bits=5, missing=True), Number(bits=4))


def problem_of(n: int, *, domain: Product = GRID, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    return Problem(domain=domain, queries=Rectangles(domain=domain), n=n, neighbours=neighbours)


def released(rows: Any, *, domain: Product = GRID, trials: int, seed: int, **values: Any) -> tuple[Dataset, Any]:
    problem = problem_of(len(rows), domain=domain)
    dataset, mechanism = dataset_of(problem, rows), RectangleRelease(**values)
    return dataset, mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials)


def hostile(n: int, seed: int) -> dict[str, Integers]:
    """All rows in one cell; in one column; in one row; missing; spread; on a diagonal; nearly all in a corner."""
    draw = np.random.Generator(np.random.SFC64(seed))
    size, wide = GRID.ordered, GRID.shape[1]
    steps = np.arange(n)
    return {
        "one cell": np.full(n, size // 2 + 3),
        "one column": 7 * wide + steps % wide,
        "one row": (steps % 32) * wide + 5,
        "missing": np.where(steps % 3 > 0, size, steps % size),
        "spread": steps % size,
        "diagonal": (steps % 32) * wide + (steps % 32) // 2,
        "corner": np.where(draw.random(n) < 0.9, 0, draw.integers(0, size, n)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("levels", full_but([1, 2, 3, 4], 1, 3))
@pytest.mark.parametrize("kind", ["one cell", "one column", "one row", "missing", "spread", "diagonal", "corner"])
def test_the_promise_holds_on_hostile_data(kind: str, levels: int, seed: int) -> None:
    """400 releases at an n where the promise says something, or at 3,000 rows where four in s of n are more than n."""
    mechanism = RectangleRelease(epsilon=4.0, levels=levels)
    n = mechanism.accuracy(problem_of(3000), 0.2).rows_needed or 3000
    dataset, release = released(hostile(n, seed)[kind], trials=400, seed=seed, epsilon=4.0, levels=levels)
    errors = release.problem.queries.max_error(release.histogram() - dataset.histogram) / n
    promised = mechanism.accuracy(release.problem, 0.2).value
    assert_chance_at_most(int((errors > promised).sum()), trials=400, chance=0.2)
    if levels >= 3:
        assert promised < 1
        # The resolution alone is most of it: the noise leaves a rectangle within twice four in s.
        assert np.median(errors) < 8 / 2**levels


def test_without_noise_the_boundary_is_all_that_errs(seed: int) -> None:
    """At a million rows and the largest epsilon, errors stay within four in s and the sub-cells' part."""
    draw = np.random.Generator(np.random.SFC64(seed))
    places = np.clip(draw.normal(0.5, 0.2, (1_000_000, 2)), 0, 0.999)
    domain = Product.map(Number(bits=5), Number(bits=5))
    rows = domain.encode([*places.T])
    for levels, limit in ((2, 1.0), (3, 0.5), (4, 0.25)):
        dataset, release = released(rows, domain=domain, trials=5, seed=seed, epsilon=20.0, levels=levels)
        errors = release.problem.queries.max_error(release.histogram() - dataset.histogram) / len(rows)
        assert errors.max() < limit


def test_the_proof_term_by_term(seed: int) -> None:
    """Each step of accuracy() on what was really cut: slab masses, and cuts inside slabs, within their bounds."""
    n, levels, epsilon = 20_000, 3, 2.0
    for rows in hostile(n, seed).values():
        dataset, release = released(rows, trials=100, seed=seed, epsilon=epsilon, levels=levels)
        mechanism = RectangleRelease(epsilon=epsilon, levels=levels)
        plan = mechanism.plan(release.problem)
        s = plan.slabs
        places = levels * plan.ends[0] + s - 1 + s * (levels * plan.ends[1] + s - 1)
        loss, inner = (4 / each * np.log(places / 0.01) for each in mechanism.epsilons)
        cells = np.zeros((33, 16))
        cells[:32] = dataset.histogram[:512].reshape(32, 16)
        cells[32, 0] = dataset.histogram[512]
        left = np.concatenate([[np.zeros(16)], np.cumsum(np.repeat(cells, plan.across, axis=0), axis=0) / plan.across])
        cuts = np.concatenate([np.zeros((100, 1)), release.across, np.full((100, 1), plan.ends[0])], axis=1).astype(int)
        slabs = left[cuts[:, 1:]] - left[cuts[:, :-1]]
        masses = slabs.sum(axis=2)
        bound = (s - 1) * (n / plan.across + loss) / 2
        for sign in (1, -1):
            assert (np.maximum(sign * (masses - n / s), 0).sum(axis=1) <= bound).mean() > 0.95
        below = np.concatenate([np.zeros((100, s, 1)), np.cumsum(np.repeat(slabs, plan.up, axis=2), axis=2)], axis=2)
        inside = np.take_along_axis(below / plan.up, release.up.reshape(100, s, s - 1), axis=2)
        stray = np.abs(inside - masses[:, :, None] * np.arange(1, s) / s)
        assert (stray <= (2.25 * (masses / plan.up + inner) / 2)[:, :, None]).all(axis=(1, 2)).mean() > 0.95


def test_a_cell_s_mass_is_spread_over_it() -> None:
    """Cuts chosen by hand, masses added up by hand; the cell for missing rows is the column at the right."""
    domain = Product.map(Number(bits=1, missing=True), Number(bits=1))
    problem = problem_of(8, domain=domain)
    guarantee = RectangleRelease(levels=1).guarantee(problem)

    def histogram(across: int, up: tuple[int, int]) -> list[float]:
        release = RectanglesRelease(
            problem=problem,
            guarantee=guarantee,
            sampler="test",
            refused=np.array([False]),
            across=np.array([[across]]),
            up=np.array([up]),
        )
        histogram: list[float] = release.histogram()[0].tolist()
        return histogram

    plan = RectangleRelease(levels=1).plan(problem)
    assert (plan.slabs, plan.columns, plan.across, plan.up, plan.ends) == (2, 3, 2, 1, (6, 2))
    # Two sub-columns a column: the cut at 2 is the right edge of the first column, at 3 the middle of the second.
    assert histogram(2, (1, 1)) == [2, 2, 1, 1, 2]
    assert histogram(3, (1, 1)) == pytest.approx([4 / 3, 4 / 3, 2 / 3 + 2 / 3, 2 / 3 + 2 / 3, 8 / 3])
    # All of a slab's cuts at its low end: half its mass on the lowest cell, half over both.
    assert histogram(2, (0, 1)) == [3, 1, 1, 1, 2]
    assert histogram(2, (2, 1)) == [1, 3, 1, 1, 2]
    # A slab without width lies in the column above its place, the last place in the last column.
    assert histogram(0, (1, 1))[:2] == pytest.approx([2 + 2 / 3, 2 + 2 / 3])
    assert histogram(6, (1, 1)) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2 / 3, 4 / 3 + 4])


def test_masses_add_up_to_n_and_a_refusal_has_none(seed: int) -> None:
    _, release = released(np.arange(600) % 513, trials=40, seed=seed, epsilon=0.01)
    np.testing.assert_allclose(release.histogram().sum(axis=1), 600, rtol=1e-12)
    assert (release.histogram() >= 0).all()
    some = dataclasses.replace(release, refused=np.arange(40) == 7)
    assert np.isnan(some.histogram()[7]).all() and np.isfinite(some.histogram()[8]).all()


def test_only_pairs_of_numbers_are_cut() -> None:
    line = Number(bits=3)
    problem = Problem(domain=line, queries=Intervals(domain=line), n=9)
    with pytest.raises(ParameterError, match="two numbers"):
        RectangleRelease().accuracy(problem, 0.1)


# Planted faults, each in the way the release is drawn.


class Told(Sampler):
    """Passes draws on with another epsilon or sensitivity for the cuts inside slabs."""

    name = "told"

    def __init__(self, inner: Sampler, *, across: int, first: float, inside: float) -> None:
        self._inner, self._across, self._factors = inner, across, (first, inside)

    def make(self, draw: Draw[Any], trials: int) -> Any:
        """See Sampler."""
        assert isinstance(draw, MedianCuts)
        factor = self._factors[int(len(draw.cumulative) != self._across)]
        return self._inner.draw(dataclasses.replace(draw, sensitivity=draw.sensitivity * factor), trials)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Faulty(RectangleRelease):
    """Draws that are told a share of the true sensitivity along one of the axes."""

    first: float = 1.0
    inside: float = 1.0

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> RectanglesRelease:
        across = self.plan(state.problem).ends[0] + 1
        scripted: Any = Told(sampler, across=across, first=self.first, inside=self.inside)
        return super().run(state, scripted, trials)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("axis", ["first", "inside"])
def test_less_noise_on_either_axis_is_caught(axis: str, neighbours: Neighbours) -> None:
    """The exact law of every neighbour, as in the contract: true noise keeps epsilon, half of it does not."""
    problem = problem_of(3, domain=Product.map(Number(bits=1), Number(bits=1)), neighbours=neighbours)
    sound = RectangleRelease(epsilon=2.0, levels=1)
    assert exact_delta(sound, problem).delta < 1e-9
    # One of two draws with a fifth of the noise: what it saves is more than the slack of the exponential mechanism.
    factors: dict[str, Any] = {axis: 0.2}
    assert exact_delta(Faulty(epsilon=2.0, levels=1, **factors), problem).delta > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("axis", ["first", "inside"])
def test_half_the_noise_on_either_axis_is_caught_draw_by_draw(axis: str, neighbours: Neighbours, seed: int) -> None:
    """What the laws of tiny grids cannot show, such as counting once a row that leaves one slab for another."""
    problem = problem_of(40, domain=Product.map(Number(bits=2), Number(bits=2)), neighbours=neighbours)
    base = np.random.Generator(np.random.SFC64(seed)).integers(0, 16, 40)
    moved = [[*base[:-1], cell] for cell in range(16)]
    added = [[*base, cell] for cell in range(16)]
    states = [
        HistogramState(problem=problem, histogram=dataset_of(problem, rows).histogram)
        for rows in [base, *(moved if neighbours is Neighbours.REPLACE_ONE else added)]
    ]
    assert not moves_further_than_told(RectangleRelease(levels=2), states, seed=seed, trials=30)
    factors: dict[str, Any] = {axis: 0.5}
    assert moves_further_than_told(Faulty(levels=2, **factors), states, seed=seed, trials=30)


@pytest.mark.slow
def test_the_release_has_one_law_however_slabs_are_lined_up(seed: int) -> None:
    """Trials share the lines of their slabs; the law of one alone is that of one among many (3,000 draws)."""
    domain = Product.map(Number(bits=1), Number(bits=1))
    problem = problem_of(3, domain=domain)
    dataset = Dataset(domain, np.array([0, 1, 3]), PROVENANCE)
    mechanism = RectangleRelease(epsilon=3.0, levels=1)
    state = mechanism.prepare(dataset, problem)
    law = Enumerate(window=(-1, 4)).law(mechanism, state)
    sampler = Preview(seed)
    outcomes = np.concatenate([mechanism.run(state, sampler).outcomes() for _ in range(3_000)])
    for outcome, chance in zip(*law, strict=True):
        share = (outcomes == outcome).all(axis=1).mean()
        assert abs(share - chance) < 5 * np.sqrt(chance * (1 - chance) / 3_000) + 3e-3


@pytest.mark.parametrize("seed", range(12))
def test_boxes_of_any_data_are_known_for_what_they_are_and_uneven_ones_are_not(seed: int) -> None:
    """Cells of crowded and of empty data, on grids finer and coarser than the boxes."""
    random = np.random.default_rng(seed)
    bits, missing = random.integers(2, 7, 2).tolist(), bool(seed % 2)
    domain = Product.map(Number(bits=bits[0], missing=missing), Number(bits=bits[1], missing=missing))
    histogram = random.multinomial(900, random.dirichlet(np.full(domain.size, 10.0 ** random.uniform(-2, 1))))
    if seed < 2:
        histogram = 900 * (np.arange(domain.size) == random.integers(domain.size))
    state = HistogramState(problem=problem_of(900, domain=domain), histogram=histogram)
    for levels in (1, 2, 3, 4):
        mechanism = RectangleRelease(epsilon=float(10.0 ** random.uniform(-2, 1)), levels=levels)
        release = mechanism.run(state, Preview(seed), 1)
        rows = release.histogram()[0]
        assert release.may_show(rows)
        assert not release.may_show(-rows) and not release.may_show(1.01 * rows)
        if levels == 1:  # of more slabs than columns a file does not tell all
            for one, other in random.integers(0, domain.ordered, (20, 2)).tolist():
                part = 0.3 * rows[one] * (one != other)
                moved = rows + part * ((np.arange(len(rows)) == other) * 1.0 - (np.arange(len(rows)) == one))
                assert release.may_show(moved) is (one == other)
