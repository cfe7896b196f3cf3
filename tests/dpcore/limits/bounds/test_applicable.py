"""The lower bound drawn beside promises: applies where it says, never above what a mechanism promises or does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dpcore
from dpcore.core import BoundKind, Dataset, Guarantee, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.product import Product
from dpcore.limits.bounds.applicable import lower_bound, lower_curve
from dpcore.limits.chance import confusion, replacement_steps
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds, classes_for
from dpcore.randomness.laws import compositions
from dplab.measure import finish, measure
from tests.dpcore.limits.best_mechanism import best_gain, neighbouring

BOTH = pytest.mark.parametrize("neighbours", list(Neighbours))
GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def asked(*, bits: int, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    domain = dpcore.Number(bits=bits)
    return Problem(domain=domain, queries=Cells(domain=domain), n=n, neighbours=neighbours)


def value(problem: Problem, *, epsilon: float, beta: float, delta: float = 0.0) -> float:
    bound = lower_bound(problem, Guarantee(epsilon=epsilon, delta=delta, neighbours=problem.neighbours), beta=beta)
    return 0.0 if bound is None else bound.value


def best_failure(*, cells: int, n: int, within: int, epsilon: float, delta: float = 0.0) -> float:
    """Smallest β with which some (ε, δ)-private mechanism answers all cells to less than ``within``/2 rows: a program.

    Outcomes are the data sets that a release is good for, so two halves of a row's width are exact.
    """
    data = compositions(n, cells)
    # A released histogram in half rows; what matters is which data it is good for.
    grid = np.array(list(itertools.product(range(0, 2 * n + 1), repeat=cells)))
    good = np.unique((np.abs(grid[:, None] - 2 * data[None]).max(axis=2) < within), axis=0)
    gains = np.eye(len(data))[:, :, None] * good.T
    return 1 - best_gain(neighbouring(data), gains, epsilon=epsilon, delta=delta)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize(("bits", "n"), [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)])
def test_no_mechanism_promises_less(bits: int, n: int, epsilon: float, delta: float) -> None:
    problem = asked(bits=bits, n=n)
    for within in range(1, n + 1):
        beta = best_failure(cells=2**bits, n=n, within=within, epsilon=epsilon, delta=delta)
        # With this β an error below within/(2n) is possible, so the bound must not deny it.
        bound = value(problem, epsilon=epsilon, beta=min(beta + 1e-7, 0.999), delta=delta)
        assert bound < within / (2 * n) - 1e-12
        if n == 1:  # where the bound is the best there is: with a little less β it is denied
            assert value(problem, epsilon=epsilon, beta=beta - 1e-6, delta=delta) == pytest.approx(0.5)


def test_many_places_say_more_than_two_also_with_a_slack() -> None:
    problem = asked(bits=16, n=10_000)
    two = asked(bits=1, n=10_000)
    pure, slack = (value(problem, epsilon=0.5, beta=0.05, delta=delta) for delta in (0.0, 1e-9))
    assert value(two, epsilon=0.5, beta=0.05, delta=1e-9) < 0.4 * slack < 0.4 * pure * 1.01
    assert value(problem, epsilon=0.5, beta=0.05, delta=1e-3) < 0.7 * slack


@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-6, 0.5])
@pytest.mark.parametrize("n", [1, 10**9])
def test_no_loss_is_too_small_or_too_large_to_be_told(n: int, delta: float) -> None:
    """No loss to speak of hides all rows, an enormous one not a single row."""
    problem = asked(bits=10, n=n)
    assert value(problem, epsilon=1e-320, beta=1e-300) == 0.5
    assert value(problem, epsilon=1e-12, beta=0.2, delta=delta / n) == pytest.approx(0.5)
    for epsilon in (20.0, 700.0, 1e5, 1e300):
        assert value(problem, epsilon=epsilon, beta=0.05, delta=delta) == 0.0
        assert value(problem, epsilon=epsilon, beta=0.0) == 0.5


@BOTH
@pytest.mark.parametrize("beta", [0.001, 0.05, 0.3])
def test_two_cells_are_two_worlds(neighbours: Neighbours, beta: float) -> None:
    problem = asked(bits=1, n=100, neighbours=neighbours)
    hidden = [
        rows for rows in range(1, 101) if confusion(epsilon=0.2, steps=replacement_steps(neighbours, rows=rows)) > beta
    ]
    assert value(problem, epsilon=0.2, beta=beta) == pytest.approx(max(hidden, default=0) / 200)
    # More cells hide more, and a slack hides less.
    more = asked(bits=8, n=100, neighbours=neighbours)
    assert value(more, epsilon=0.2, beta=beta) > value(problem, epsilon=0.2, beta=beta)
    for places in (problem, more):
        assert value(places, epsilon=0.2, beta=beta, delta=1e-3) <= value(places, epsilon=0.2, beta=beta)


def test_where_nothing_is_known_it_says_nothing() -> None:
    problem = asked(bits=3, n=50)
    random = Guarantee(epsilon=1.0, gamma=0.1, neighbours=problem.neighbours)
    none = Guarantee(epsilon=0.0, neighbours=problem.neighbours)
    assert lower_bound(problem, random, beta=0.05) is None
    assert lower_bound(problem, none, beta=0.05) is None
    assert value(problem, epsilon=20.0, beta=0.9) == 0.0


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(
    "entry", [e for e in dpcore.catalogue() if e.mechanism.releases == "data"], ids=lambda e: e.key
)
def test_no_promise_of_the_catalogue_is_below(entry: dpcore.core.Entry, neighbours: Neighbours) -> None:
    pairs = Product.map(dpcore.Number(bits=2), dpcore.Number(bits=2))
    for queries in (kind(domain=domain) for domain in (dpcore.Number(bits=4), pairs) for kind in classes_for(domain)):
        if not entry.serves(queries):
            continue
        for n, epsilon, beta in itertools.product((30, 3000), (0.1, 1.0, 5.0), (0.01, 0.2)):
            problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
            mechanism = entry.make(epsilon=epsilon)
            try:
                promised, guarantee = mechanism.accuracy(problem, beta), mechanism.guarantee(problem)
            except ParameterError:
                continue
            lower = lower_bound(problem, guarantee, beta=beta)
            if lower is not None and promised.applies and promised.kind is BoundKind.GUARANTEE:
                assert promised.value >= lower.value


@pytest.mark.parametrize("kind", [Cells, Thresholds, Intervals, Rectangles])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_identity_stays_on_the_possible_side(kind: type[dpcore.core.Queries], epsilon: float, seed: int) -> None:
    # Its noise is the same on all data, so its quantiles on any data are what it can promise.
    pairs = Product.map(dpcore.Number(bits=3), dpcore.Number(bits=2))
    domain = pairs if kind is Rectangles else dpcore.Number(bits=5)
    dataset = Dataset(domain, np.arange(640) % 32, GENERATED)
    problem = Problem(domain=domain, queries=kind(domain=domain), n=640)
    mechanism = dpcore.entry("identity").make(epsilon=epsilon)
    state = mechanism.prepare(dataset, problem)
    report = finish(measure(mechanism, dataset, state, dpcore.Preview(seed), trials=2000))
    lower = lower_bound(problem, report.guarantee, beta=0.05)
    assert lower is not None and lower.applies
    # At most 95% of releases may be below; 2,000 trials exceed that by 3 points with chance under 1e-7.
    assert float((report.worst < lower.value - 1e-12).mean()) <= 0.98


def test_pairs_have_the_bound_of_as_many_cells_in_a_row() -> None:
    """A cell is a rectangle and a query of either class, so the argument never sees how cells are arranged."""
    pairs = Product.map(dpcore.Number(bits=3, missing=True), dpcore.Number(bits=2))
    for kind in (Cells, Rectangles):
        problem = Problem(domain=pairs, queries=kind(domain=pairs), n=500)
        assert value(problem, epsilon=0.5, beta=0.05) == value(asked(bits=5, n=500), epsilon=0.5, beta=0.05) > 0


def test_the_curve_is_the_bound_at_every_loss() -> None:
    problem = asked(bits=6, n=5000)
    epsilons = (0.01, 0.3, 2.0, 10.0)
    for key in ("identity", "gaussian"):
        mechanism = dpcore.entry(key).make(epsilon=1.0)
        delta = mechanism.guarantee(problem).delta
        curve = lower_curve(problem, mechanism, epsilons=epsilons, beta=0.05)
        assert curve is not None
        # A loss so large that not even one row is hidden has no place on the curve.
        known = {at: bound for at in epsilons if (bound := value(problem, epsilon=at, beta=0.05, delta=delta))}
        assert dict(zip(*(column.tolist() for column in curve), strict=True)) == known
        assert len(known) >= 3 and (np.diff(curve[1]) <= 0).all()
    random = dpcore.entry("sparse_histogram").make()
    if random.guarantee(problem).gamma:
        assert lower_curve(problem, random, epsilons=epsilons, beta=0.05) is None
