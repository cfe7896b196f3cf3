"""The weighted tree: the best weights, an exact move, least squares in two passes; on few cells the whole contract."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpcore import Intervals, Neighbours, Number, Preview, Problem, Secure, Thresholds, entry
from dpcore.core import DataRelease, Floats, Integers, Queries
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.ranges.root import EqualisedRoot, Triangle
from dpcore.mechanisms.ranges.weighted_tree import WeightedTree, level_weights
from dplab.audit import exact_delta
from tests.dpcore.mechanisms.ranges.test_windows import problem_of, queries_of
from tests.dpcore.mechanisms.test_promises import tried
from tests.kit import contract
from tests.kit.problems import dataset_of, law_problem, ordinary_problems
from tests.kit.statistics import assert_chance_at_most

BOTH = pytest.mark.parametrize("prefixes", [True, False])
KNOWN = pytest.mark.parametrize("known", [True, False])
RELATIONS = pytest.mark.parametrize("neighbours", Neighbours)
KINDS = pytest.mark.parametrize("kind", [Thresholds, Intervals])
SIZES = pytest.mark.parametrize(("cells", "spare"), [(2, 0), (3, 1), (5, 0), (8, 1), (13, 1), (64, 0)])


class Small(EqualisedRoot):
    """The tree on few cells too."""

    def is_tree(self, problem: Problem) -> bool:
        return True


class Understated(Small):
    """The control: half of the noise."""

    def sigma(self, problem: Problem) -> float:
        return super().sigma(problem) / 2


SMALL = dataclasses.replace(entry("root"), key="tree", mechanism=Small, tiny_size=2, tiny_rows=2)


def matrix(tree: WeightedTree) -> Integers:
    """A, a row for each measured value."""
    unit = np.eye(tree.cells + tree.spare, dtype=np.int64)
    return np.stack([tree.measured(counts) for counts in unit], axis=1)


def reached(tree: WeightedTree, move: int) -> float:
    """Root of the mean variance over all queries for noise as wide as a neighbour's move."""
    ends = np.triu_indices(tree.cells)
    if tree.prefixes:
        ends = (np.zeros(tree.cells, dtype=np.int64), np.arange(tree.cells))
    return move / tree.steps * math.sqrt(tree.squares(*ends).mean())


def of(cells: int, *, spare: int = 0, prefixes: bool, known: bool, steps: int = 1024) -> WeightedTree:
    return WeightedTree(cells, spare=spare, prefixes=prefixes, known=known, steps=steps)


@pytest.mark.parametrize(("prefixes", "error"), [(True, 3.553), (False, 4.248)])
def test_on_1024_cells_the_error_is_that_of_the_best_weights(prefixes: bool, error: float) -> None:
    """The figures are of a numerical search over the levels' weights, on which whole numbers lose a little."""
    tree = of(1024, prefixes=prefixes, known=False, steps=4096)
    assert reached(tree, tree.shift(Neighbours.ADD_REMOVE_ONE)) == pytest.approx(error, rel=5e-4)


@BOTH
@KNOWN
def test_no_weight_can_be_moved_for_the_better(prefixes: bool, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    neighbours = Neighbours.REPLACE_ONE if known else Neighbours.ADD_REMOVE_ONE
    weights = level_weights(64, prefixes=prefixes, known=known, steps=4096)

    def error(changed: Integers) -> float:
        name = "dpcore.mechanisms.ranges.weighted_tree.level_weights"
        monkeypatch.setattr(name, lambda *sizes, **more: changed)
        tree = of(64, prefixes=prefixes, known=known, steps=4096)
        return reached(tree, tree.shift(neighbours))

    best = error(weights)
    for level in range(len(weights)):
        for step in (-200, 200):
            if (known and level == len(weights) - 1) or weights[level] + step < 0:
                continue  # the sum of all cells moves nothing where rows are replaced
            changed = weights.copy()
            changed[level] += step
            assert error(changed) > best


@SIZES
@BOTH
@KNOWN
@pytest.mark.parametrize("steps", [1, 3, 1024])
def test_moves_and_estimates_are_those_of_dense_algebra(
    cells: int, spare: int, prefixes: bool, known: bool, steps: int
) -> None:
    tree = of(cells, spare=spare, prefixes=prefixes, known=known, steps=steps)
    whole = matrix(tree)
    assert whole.shape == (tree.numbers, cells + spare)
    products = whole.T @ whole
    lengths = np.diag(products)
    moves = {
        Neighbours.ADD_REMOVE_ONE: int(lengths.max()),
        Neighbours.REPLACE_ONE: int((lengths[:, None] + lengths - 2 * products).max()),
    }
    for neighbours, square in moves.items():
        assert (tree.shift(neighbours) - 1) ** 2 < square <= tree.shift(neighbours) ** 2

    weights = whole / steps
    inverse = np.linalg.inv(weights.T @ weights)
    ones = inverse.sum(axis=1)
    data = np.random.default_rng(3).integers(0, 50, cells + spare)
    noise = np.random.default_rng(4).normal(size=(5, tree.numbers))
    wrong = noise @ weights @ inverse
    if known:
        wrong -= np.outer(wrong.sum(axis=1), ones) / ones.sum()
        inverse -= np.outer(ones, ones) / ones.sum()
    estimates = tree.counts(tree.measured(data) / steps + noise, n=int(data.sum()))
    assert estimates - data == pytest.approx(wrong, abs=1e-9)

    rows = np.pad(queries_of(cells, prefixes=False), ((0, 0), (0, spare)))
    exact = np.einsum("qi,ij,qj->q", rows, inverse, rows)
    first, last = rows.argmax(axis=1), (rows * np.arange(cells + spare)).argmax(axis=1)
    assert tree.squares(first, last) == pytest.approx(exact, abs=1e-12)
    if prefixes:
        assert tree.worst() == pytest.approx(exact[first == 0].max())
    else:
        assert tree.worst() >= exact.max() * (1 - 1e-12)
        if steps == 1024:
            assert tree.worst() < exact.max() * (1.02 if cells in (2, 8, 64) else 1.6)


def test_it_errs_more_than_the_triangle_and_by_less_than_a_third() -> None:
    for prefixes in (True, False):
        tree = of(64, prefixes=prefixes, known=False)
        root = Triangle(64, spare=0, prefixes=prefixes, known=False, steps=1024)
        ends = np.triu_indices(64)
        inside = ends[0] == 0 if prefixes else np.ones(len(ends[0]), dtype=np.bool_)
        best = root.squares(ends[0][inside], ends[1][inside]).mean() * root.shift(Neighbours.ADD_REMOVE_ONE) ** 2
        own = reached(tree, tree.shift(Neighbours.ADD_REMOVE_ONE)) * 1024
        assert 1 < own / math.sqrt(best) < 4 / 3


# The contract, on few cells.


@pytest.mark.slow
@RELATIONS
@KINDS
@pytest.mark.parametrize("line", [Number(bits=1), Number(bits=1, missing=True), Number(bins=3)])
def test_the_exact_law_keeps_the_guarantee(line: Number, kind: type[Queries], neighbours: Neighbours) -> None:
    """All neighbours of up to two rows. The control, with half of the noise, does not keep it."""
    problem = Problem(domain=line, queries=kind(domain=line), n=2, neighbours=neighbours)
    mechanism, loud = (kind_of(epsilon=1.0, delta=0.05, steps=3) for kind_of in (Small, Understated))
    tree = mechanism.solver(problem)
    assert isinstance(tree, WeightedTree)
    # Where n is public, two cells need no sum, and for ranges of three no weight comes to a whole step.
    plain = neighbours is Neighbours.REPLACE_ONE and (not line.bins or kind is Intervals)
    assert (tree.numbers > line.size) is not plain
    margin = 4 if tree.numbers <= 4 else 0
    window = (-margin, 2 * 3 + margin)
    for rows in (problem.n, 0) if neighbours is Neighbours.ADD_REMOVE_ONE else (problem.n,):
        finding = exact_delta(mechanism, problem, window=window, rows=rows)
        assert finding.pairs > 0
        assert finding.delta <= 0.05
    assert exact_delta(loud, problem, window=window).delta > 0.05


@pytest.mark.slow
@RELATIONS
def test_previews_and_releases_have_the_exact_law(neighbours: Neighbours, seed: int) -> None:
    """Beside a control at another privacy loss, that is caught."""
    problem = law_problem(SMALL, neighbours)
    for sampler in (Preview(seed), Secure()):
        contract.check_law(SMALL, problem, sampler, seed=seed + 1)


@pytest.mark.slow
@RELATIONS
def test_it_spends_what_it_says_and_keeps_its_promise(neighbours: Neighbours, seed: int) -> None:
    for problem in ordinary_problems(SMALL, neighbours, n=60):
        contract.check_spending(SMALL.make(), problem, seed=seed)
        contract.check_trials(SMALL.make(), problem, seed=seed)
    promised, level = tried(SMALL, seed=seed)
    assert promised and all(row.tail() >= level for row in promised)


# Where it is taken.


def errors_of(release: DataRelease, problem: Problem, rows: Integers) -> Floats:
    """Worst errors of the releases, as shares of n."""
    counts = np.bincount(rows, minlength=problem.domain.size)
    worst: Floats = problem.queries.max_error(release.histogram() - counts) / problem.n
    return worst


def test_from_4097_cells_on_the_root_is_a_tree() -> None:
    for bins in (4096, 4097):
        domain = Number(bins=bins)
        problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=9)
        assert EqualisedRoot().is_tree(problem) is (bins > 4096)
    assert isinstance(EqualisedRoot().solver(problem), WeightedTree)
    assert isinstance(EqualisedRoot().solver(problem_of(64, Thresholds, Neighbours.REPLACE_ONE)), Triangle)


@KINDS
@RELATIONS
def test_on_many_cells_previews_err_as_told_and_promises_are_kept(
    kind: type[Queries], neighbours: Neighbours, seed: int
) -> None:
    """8,192 cells, 200 releases; a sixteenth of the promise is broken, and a lower bound is below it."""
    problem = problem_of(8192, kind, neighbours, n=100_000)
    mechanism = EqualisedRoot(epsilon=0.7)
    rows = np.random.default_rng(5).integers(0, 8192, 100_000)
    data = dataset_of(problem, rows)
    release = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 200)
    batch = problem.queries.batch(60)
    errors = release.answer(batch) * problem.n - problem.queries.answer(data.histogram[None, :], batch)
    variances = mechanism.variance(problem, batch)
    free = variances < 1e-9  # the sum of all cells, where n is public
    assert np.abs(errors[:, free]).max(initial=0) < 1e-5
    # A variance of 200 draws strays by a tenth; of many together by far less.
    assert np.mean(errors[:, ~free].var(axis=0) / variances[~free]) == pytest.approx(1, abs=0.15)
    bound, worst = mechanism.accuracy(problem, 0.1), errors_of(release, problem, rows)
    assert_chance_at_most(int((worst > bound.value).sum()), trials=200, chance=0.1)
    with pytest.raises(AssertionError):
        assert_chance_at_most(int((worst > bound.value / 16).sum()), trials=200, chance=0.1)
    lower = lower_bound(problem, mechanism.guarantee(problem), beta=0.1)
    assert lower is not None and lower.value < bound.value


@pytest.mark.parametrize("missing", [False, True])
@RELATIONS
def test_on_the_most_cells_there_are_the_estimate_of_exact_values_is_the_data(
    missing: bool, neighbours: Neighbours
) -> None:
    domain = Number(bits=16, missing=missing)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=1, neighbours=neighbours)
    tree = EqualisedRoot().solver(problem)
    counts = np.random.default_rng(1).integers(0, 30, domain.size)
    estimates = tree.counts(tree.measured(counts)[None, :] / 1024, n=int(counts.sum()))
    assert np.abs(np.cumsum(estimates - counts, axis=1)).max() < 1e-6
