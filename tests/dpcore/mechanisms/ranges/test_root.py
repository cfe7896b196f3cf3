"""The equalised root: the root is one, the move of a neighbour exact, the error near a lower bound."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import Intervals, Neighbours, Number, Preview, Problem, Thresholds
from dpcore.core import Queries
from dpcore.mechanisms.ranges.mean_error import mean_square
from dpcore.mechanisms.ranges.root import EqualisedRoot, Triangle, root
from dpcore.privacy.gaussian_vectors import delta_of
from tests.dpcore.mechanisms.ranges.test_windows import problem_of, queries_of
from tests.kit.contract import check_privacy
from tests.kit.problems import dataset_of

BOTH = pytest.mark.parametrize("prefixes", [True, False])
KNOWN = pytest.mark.parametrize("known", [True, False])


@BOTH
@pytest.mark.parametrize("cells", [2, 5, 16])
def test_its_square_is_that_of_the_queries(cells: int, prefixes: bool) -> None:
    rows, found = queries_of(cells, prefixes=prefixes), root(cells, prefixes=prefixes)
    if prefixes:
        rows = np.tri(cells)
    assert found @ found == pytest.approx(rows.T @ rows) and np.linalg.eigvalsh(found).min() > 0


@BOTH
@KNOWN
@pytest.mark.parametrize("block", [3, 512])
@pytest.mark.parametrize(("cells", "spare"), [(2, 0), (8, 1), (16, 0)])
def test_the_shift_is_the_longest_move_of_a_neighbour(
    cells: int, spare: int, block: int, prefixes: bool, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore.mechanisms.ranges.root.BLOCK", block)
    triangle = Triangle(cells, spare=spare, prefixes=prefixes, known=known, steps=100)
    columns = triangle.whole.T.tolist()
    nothing = [0] * len(columns)
    replaced = itertools.combinations(columns, 2)
    pairs = {Neighbours.ADD_REMOVE_ONE: [(nothing, one) for one in columns], Neighbours.REPLACE_ONE: list(replaced)}
    for neighbours, moves in pairs.items():
        longest = max(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for one, other in moves)
        assert (triangle.shift(neighbours) - 1) ** 2 < longest <= triangle.shift(neighbours) ** 2


class Understated(EqualisedRoot):
    """The control: half of the noise."""

    def sigma(self, problem: Problem) -> float:
        return super().sigma(problem) / 2


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("kind", [Thresholds, Intervals])
def test_the_exact_law_keeps_the_guarantee_where_cells_are_mixed(kind: type[Queries], neighbours: Neighbours) -> None:
    domain = Number(bits=1, missing=True)
    problem = Problem(domain=domain, queries=kind(domain=domain), n=2, neighbours=neighbours)
    mechanism = EqualisedRoot(epsilon=1.0, delta=0.01, steps=3)
    solver = mechanism.solver(problem)
    assert isinstance(solver, Triangle)
    whole = solver.whole
    assert np.count_nonzero(whole - np.diag(np.diag(whole))), "else it would be the plain histogram"
    check_privacy(mechanism, problem)
    with pytest.raises(AssertionError, match="exact delta"):
        check_privacy(Understated(epsilon=1.0, delta=0.01, steps=3), problem)


@BOTH
@KNOWN
def test_the_estimate_is_least_squares(prefixes: bool, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Triangle(16, spare=1, prefixes=prefixes, known=known, steps=1024)
    whole = solver.whole / 1024
    inverse = np.linalg.inv(whole.T @ whole)
    if known:
        ones = inverse.sum(axis=1)
        inverse -= np.outer(ones, ones) / ones.sum()
    rows = np.pad(np.tri(16) if prefixes else queries_of(16, prefixes=False), ((0, 0), (0, 1)))
    exact = np.einsum("qi,ij,qj->q", rows, inverse, rows)
    shares = solver.shares(rows)
    assert (shares**2).sum(axis=1) == pytest.approx(exact)
    data = np.random.default_rng(3).integers(0, 50, (1, 17)).astype(np.float64)
    noise = np.random.default_rng(4).normal(size=(5, 17))
    moved = solver.counts(data @ whole.T + noise, n=int(data.sum())) - data
    assert moved @ rows.T == pytest.approx(noise @ shares.T)
    for block in (3, 512):
        monkeypatch.setattr("dpcore.mechanisms.ranges.windows.BLOCK", block)
        assert solver.worst() == pytest.approx(exact.max())


@pytest.mark.slow
@pytest.mark.parametrize(("prefixes", "most"), [(True, 1.02), (False, 1.01)])
def test_on_1024_cells_the_error_is_near_a_bound_that_no_strategy_is_below(prefixes: bool, most: float) -> None:
    """Mean over the queries where a row comes or goes; the bound is Li and Miklau's (2013), by singular values."""
    triangle = Triangle(1024, spare=0, prefixes=prefixes, known=False, steps=1024)
    inverse = np.linalg.inv(triangle.whole / 1024)
    mean = np.trace(mean_square(inverse @ inverse.T, prefixes=prefixes))
    count = 1024 if prefixes else 1024 * 1025 / 2
    least = np.trace(root(1024, prefixes=prefixes)) / math.sqrt(1024 * count)
    reached = math.sqrt(mean) * triangle.shift(Neighbours.ADD_REMOVE_ONE) / 1024
    assert 1 <= reached / least < most


@pytest.mark.parametrize("kind", [Thresholds, Intervals])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_previews_err_by_the_variance_that_is_told(kind: type[Queries], neighbours: Neighbours) -> None:
    problem = problem_of(64, kind, neighbours, n=600)
    mechanism = EqualisedRoot(epsilon=0.7)
    (shift,), size = mechanism.shift(problem), np.array([64.0])
    spent = delta_of(
        0.7, sigmas=np.array([mechanism.sigma(problem)]), counts=size, squared_shifts=np.array([[shift**2.0]])
    )
    assert 0.999e-6 < spent <= 1e-6
    data = dataset_of(problem, np.random.default_rng(5).integers(0, 64, 600))
    release = mechanism.run(mechanism.prepare(data, problem), Preview(seed=6), 4000)
    batch = problem.queries.batch(40)
    errors = release.answer(batch) * problem.n - problem.queries.answer(data.histogram[None, :], batch)
    variances = mechanism.variance(problem, batch)
    free = variances < 1e-9  # the sum of all cells, where n is public
    assert np.abs(errors[:, free]).max(initial=0) < 1e-6
    ratios = errors[:, ~free].var(axis=0) / variances[~free]
    # A variance of 4,000 normal draws strays by 2% typically; 5 deviations.
    assert np.abs(ratios - 1).max() < 0.12
    assert np.abs(errors[:, ~free].mean(axis=0) / np.sqrt(variances[~free] / 4000)).max() < 5
