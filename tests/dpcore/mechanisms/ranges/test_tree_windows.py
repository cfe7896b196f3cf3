"""Private tree, then windows: the tree loses what is computed, and no more; its stretches, its estimates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from dpcore import Intervals, Neighbours, Number, Preview, Problem, Thresholds
from dpcore.core import (
    Booleans,
    Bound,
    Floats,
    HistogramState,
    Integers,
    ParameterError,
    PureMechanism,
    Queries,
    Release,
    epsilon_param,
    param,
)
from dpcore.mechanisms.ranges.halving import Halving, edges, least_scale, levels, loss
from dpcore.mechanisms.ranges.tree_windows import TreeWindows, counts_of, stretches
from dpcore.mechanisms.ranges.windows import Windows
from dpcore.randomness import Sampler
from dplab.audit import exact_epsilon
from tests.kit.problems import dataset_of

EITHER = pytest.mark.parametrize("neighbours", Neighbours)


@dataclass(frozen=True, kw_only=True, eq=False)
class Halved(Release):
    """A release of the private tree alone."""

    published = ("halved",)
    halved: tuple[Booleans, ...]


@dataclass(frozen=True, kw_only=True)
class TreeAlone(PureMechanism):
    """Publishes which stretches are halved, with this share of the noise that is needed."""

    epsilon: float = epsilon_param()
    noise: float = param(1.0, 0.5, 1.0, label="Noise")

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        raise AssertionError("only its privacy is looked at")

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> Halved:
        rows, neighbours = state.histogram[: state.problem.domain.ordered], state.problem.neighbours
        halving = Thinner(rows, epsilon=self.epsilon, neighbours=neighbours, noise=self.noise)
        return self.release(Halved, state, sampler, trials, halved=sampler.draw(halving, trials))


@dataclass(frozen=True, eq=False, repr=False)
class Thinner(Halving):
    """A share of the noise; less than 1 is the control."""

    noise: float = field(kw_only=True)

    @property
    def scale(self) -> float:
        return self.noise * super().scale


def line(
    cells: int, neighbours: Neighbours, *, n: int, kind: type[Queries] = Intervals, missing: bool = False
) -> Problem:
    domain = Number(bins=cells, missing=missing)
    return Problem(domain=domain, queries=kind(domain=domain), n=n, neighbours=neighbours)


@pytest.mark.slow
@EITHER
@pytest.mark.parametrize(
    ("cells", "rows", "epsilon", "missing"), [(8, 4, 2.5, False), (5, 3, 2.5, True), (4, 5, 1.2, False)]
)
def test_over_all_neighbours_the_trees_loss_is_what_is_computed(
    cells: int, rows: int, epsilon: float, missing: bool, neighbours: Neighbours
) -> None:
    """Every tree of every data set, enumerated: no neighbours lose more than ε, some lose all of it.

    Where rows come and go, (D - 2)δ of them in one cell attain it. On cells that are no power of two paths are shorter.
    """
    problem = line(cells, neighbours, n=rows, missing=missing)
    totals = range(rows) if neighbours is Neighbours.ADD_REMOVE_ONE else [rows]

    def lost(mechanism: TreeAlone) -> float:
        return max(exact_epsilon(mechanism, problem, rows=each).epsilon for each in totals)

    found, depth = lost(TreeAlone(epsilon=epsilon)), levels(cells)
    assert found <= epsilon * (1 + 1e-12)
    if cells == 2**depth:
        assert found == pytest.approx(loss(least_scale(epsilon, depth, neighbours), depth, neighbours), rel=1e-9)
        assert lost(TreeAlone(epsilon=epsilon, noise=0.9)) > epsilon * 1.02


@EITHER
@pytest.mark.parametrize("depth", [1, 2, 10, 16])
@pytest.mark.parametrize("epsilon", [0.001, 0.2, 4.0])
def test_the_scale_is_enough_and_hardly_more(depth: int, epsilon: float, neighbours: Neighbours) -> None:
    scale = least_scale(epsilon, depth, neighbours)
    assert loss(scale, depth, neighbours) <= epsilon < loss(0.9 * scale, depth, neighbours)


def test_on_deep_trees_the_constants_are_two_and_a_half_and_three_and_a_half_each_and_a_bit() -> None:
    """The sum over halves of one another, 1/(2^k - 1) from k = 2, is 0.6067."""
    halves = sum(1 / (2**k - 1) for k in range(2, 60))
    for neighbours, extra in ((Neighbours.ADD_REMOVE_ONE, 0), (Neighbours.REPLACE_ONE, 1)):
        assert loss(1e5, 16, neighbours) * 1e5 == pytest.approx(2 + extra + halves, abs=1e-3)


def test_a_tree_of_one_cell_or_without_privacy_is_refused() -> None:
    for counts, epsilon in ((np.zeros(1, dtype=np.int64), 1.0), (np.zeros(4, dtype=np.int64), 0.0)):
        with pytest.raises(ParameterError):
            Halving(counts, epsilon=epsilon, neighbours=Neighbours.REPLACE_ONE)


@pytest.mark.parametrize("cells", [2, 3, 11, 64])
def test_stretches_are_the_trees_and_the_widest_of_them_halved_to_a_power_of_two(cells: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 9, cells) ** 2
    halved = Preview(seed).draw(Halving(rows, epsilon=2.0, neighbours=Neighbours.REPLACE_ONE), 200)
    starts = stretches(halved, cells)
    assert starts[:, 0].all() and set(starts.sum(axis=1)) <= set(counts_of(cells))
    for trial in range(200):
        own = {0} | {
            int(edges(cells, level + 1)[2 * place + 1])
            for level, cut in enumerate(halved)
            for place in np.nonzero(cut[trial])[0]
        }
        places = set(np.nonzero(starts[trial])[0].tolist())
        assert own <= places and len(places) < 2 * len(own)
        widths = np.diff(sorted(places), append=cells)
        of_tree = {int(wide) for wide in np.diff(sorted(own), append=cells)}
        if places != own:  # a stretch that could be halved is at most as wide as twice one that was
            added = [int(widths[sorted(places).index(place)]) for place in places - own]
            assert max(widths) <= 2 * max(added) + 1 and max(widths) <= max(of_tree)


def seen_and_told(release: Floats, truth: Integers, told: Floats) -> Floats:
    """Variance of errors over what was told, where any was."""
    errors = release - truth
    assert np.abs(errors[:, told < 1e-9]).max(initial=0) < 1e-6
    ratio: Floats = errors[:, told > 1e-9].var(axis=0) / told[told > 1e-9]
    return ratio


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Thresholds, Intervals])
@EITHER
def test_between_stretches_the_error_is_that_of_windows_on_so_many_cells(
    kind: type[Queries], neighbours: Neighbours
) -> None:
    """All rows in the first quarter of 64 cells: nearly every tree halves that to the end, and no other."""
    problem = line(64, neighbours, n=64_000, kind=kind, missing=True)
    mechanism = TreeWindows(epsilon=0.8, share=0.25)
    data = dataset_of(problem, np.random.default_rng(5).integers(0, 16, 64_000))
    release = mechanism.run(mechanism.prepare(data, problem), Preview(seed=6), 3000)
    shapes, which = np.unique(release.starts, axis=0, return_inverse=True)
    common = np.bincount(which.ravel()).argmax()
    these, starts = np.nonzero(which.ravel() == common)[0], np.nonzero(shapes[common])[0]
    assert len(these) > 1000 and {*range(16)} <= set(starts.tolist())
    smaller = line(len(starts), neighbours, n=64_000, kind=kind, missing=True)
    every = np.arange(smaller.queries.count)
    assert isinstance(smaller.queries, (Intervals, Thresholds))
    first, last = smaller.queries.ends(every)
    sums = np.pad(np.cumsum(release.histogram()[these], axis=1), ((0, 0), (1, 0)))
    true = np.pad(np.cumsum(data.histogram), (1, 0))
    ends = np.append(starts, 64)
    answers, truth = sums[:, ends[last + 1]] - sums[:, ends[first]], true[ends[last + 1]] - true[ends[first]]
    ratio = seen_and_told(answers, truth, Windows(epsilon=0.6).variance(smaller, every))
    assert ratio.min() > 0.7 and ratio.max() < 1.4 and ratio.mean() == pytest.approx(1, abs=0.1)
    control = seen_and_told(answers, truth, Windows(epsilon=0.8).variance(smaller, every))
    assert control.mean() > 1.4


def test_with_few_rows_for_the_cells_it_errs_less_than_windows() -> None:
    problem = line(1024, Neighbours.REPLACE_ONE, n=2_000)
    data = dataset_of(problem, np.random.default_rng(7).normal(200, 20, 2_000).astype(np.int64))
    batch = np.random.default_rng(8).integers(0, problem.queries.count, 500)
    truth = problem.queries.answer(data.histogram[None, :], batch) / problem.n

    def mean_square(mechanism: Windows | TreeWindows) -> float:
        release = mechanism.run(mechanism.prepare(data, problem), Preview(seed=9), 200)
        return float(np.sqrt(np.mean((release.answer(batch) - truth) ** 2)))

    assert mean_square(TreeWindows(epsilon=0.5)) < mean_square(Windows(epsilon=0.5)) / 2
