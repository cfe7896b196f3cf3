"""Polynomials against known values, each other, and all corners of their programs."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product
from math import comb

import numpy as np
import pytest

from dpcore import ParameterError, Problem
from dpcore.core import Floats
from dpcore.data.product import Product
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.polynomials import (
    BASES,
    Polynomial,
    chebyshev,
    minimax,
    noise_aware,
    spread,
    target,
    through,
)
from dpcore.queries.at_least import AtLeast
from tests.cases import full_but


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(
    ("width", "known"), [(3, [1 / 3, 1 / 8, 0]), (4, [3 / 8, 1 / 6, 1 / 16, 0])], ids=["k=3", "k=4"]
)
def test_the_least_bias_of_a_degree(width: int, known: list[float], basis: str) -> None:
    for least in (1, width):
        gammas = [minimax(width=width, least=least, degree=t, basis=basis).gamma for t in range(1, width + 1)]
        np.testing.assert_allclose(gammas, known, atol=1e-9)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("least", [1, 4])
def test_the_papers_polynomial(least: int, basis: str) -> None:
    known = [0.6, 0.2195, 0.0740]
    for degree, gamma in enumerate(known, start=1):
        plain = chebyshev(width=4, least=least, degree=degree, basis=basis, scaled=False)
        scaled = chebyshev(width=4, least=least, degree=degree, basis=basis, scaled=True)
        assert plain.gamma == pytest.approx(gamma, abs=6e-5)
        assert scaled.gamma == pytest.approx(plain.gamma / (1 + plain.gamma), abs=1e-12)
        assert minimax(width=4, least=least, degree=degree, basis=basis).gamma <= scaled.gamma + 1e-9


@pytest.mark.parametrize("basis", BASES)
def test_the_method_named_chebyshev_is_the_papers(basis: str) -> None:
    """0 where no attribute is set, as the paper needs; rescaled it is γ/(1 + γ) there: 0.094 at k = 8, t = 4."""
    domain = Product.yes_no([*"abcdefghij"])
    problem = Problem(domain=domain, queries=AtLeast(domain=domain, width=8), n=1000)
    results = {}
    for method in ("chebyshev", "chebyshev-rescaled"):
        polynomial = PolynomialMarginals(epsilon=1.0, method=method, degree=4, basis=basis).plan(problem).polynomial
        assert polynomial is not None
        results[method] = polynomial
    plain, scaled = results.values()
    assert plain.values[0] == pytest.approx(0, abs=1e-9)
    assert scaled.values[0] == pytest.approx(0.094, abs=5e-4)
    s = np.arange(9)
    bend = np.polynomial.chebyshev.Chebyshev.basis(4)
    np.testing.assert_allclose(plain.values, 1 - bend((9 - 2 * s) / 7) / bend(9 / 7), atol=1e-9)
    assert scaled.gamma == pytest.approx(plain.gamma / (1 + plain.gamma), abs=1e-9)


def test_chebyshevs_degree_grows_as_a_root() -> None:
    """Four times the attributes, twice the degree."""

    def needed(width: int) -> int:
        degrees = range(1, width + 1)
        return next(
            t for t in degrees if chebyshev(width=width, least=1, degree=t, basis="ones", scaled=True).gamma <= 0.2
        )

    assert (needed(3), needed(12)) == (2, 4)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_a_polynomial_is_what_its_coefficients_say(width: int, basis: str, seed: int) -> None:
    """In binomials, level by level, for the query and for every narrower one."""
    random = np.random.Generator(np.random.SFC64(seed))
    polynomial = through(random.normal(size=width + 1), least=1, basis=basis)
    for narrower in range(1, width + 1):
        coefficients = polynomial.narrowed(narrower)
        for s in range(narrower + 1):
            counted = s if basis == "ones" else narrower - s
            value = sum(a * comb(counted, level) for level, a in enumerate(coefficients))
            assert value == pytest.approx(polynomial.values[s], abs=1e-9)


@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_some_in_between(least: int) -> None:
    """At least r of k: the bias falls with the degree, and degree k has none."""
    for basis in BASES:
        biases = [minimax(width=4, least=least, degree=t, basis=basis).gamma for t in range(5)]
        assert biases[0] == pytest.approx(0.5)
        assert all(a >= b - 1e-9 for a, b in pairwise(biases))
        assert biases[4] == pytest.approx(0, abs=1e-9)
        assert minimax(width=4, least=least, degree=2, basis=basis).degree <= 2


def corners(width: int, least: int, basis: str, costs: Floats, *, power: float) -> float:
    """The least gamma + spread over all corners of {(a, gamma): |p(s) - target(s)| <= gamma}, one by one.

    Between corners of a cell where no coefficient changes sign the sum is concave, so its least value is at one.
    """
    levels = width + 1
    counted = range(levels) if basis == "ones" else range(width, -1, -1)
    table = np.array([[comb(s, i) for i in range(levels)] for s in counted], dtype=float)
    wanted = target(width=width, least=least)
    rows = [np.append(table[s], -sign) for s, sign in product(range(levels), (1.0, -1.0))]
    sides = [wanted[s] for s, _ in product(range(levels), (1.0, -1.0))]
    rows += [np.append(np.eye(levels)[i], 0.0) for i in range(levels)]
    sides += [0.0] * levels
    best = math.inf
    for chosen in combinations(range(len(rows)), levels + 1):
        matrix = np.array([rows[i] for i in chosen])
        if abs(np.linalg.det(matrix)) < 1e-9:
            continue
        corner = np.linalg.solve(matrix, np.array([sides[i] for i in chosen]))
        gamma = corner[-1]
        if np.abs(table @ corner[:-1] - wanted).max() <= gamma + 1e-9:
            best = min(best, gamma + spread(corner[:-1], costs, power=power))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("power", [1.0, 2 / 3], ids=["gaussian", "laplace"])
@pytest.mark.parametrize(("width", "least"), full_but([(2, 1), (3, 1), (3, 2), (4, 1), (4, 4)], (2, 1), (3, 1), (3, 2)))
def test_no_corner_is_better(width: int, least: int, power: float, basis: str) -> None:
    attributes = 12
    for rows in (300, 3_000, 100_000):
        costs = np.array(
            [comb(attributes, i) ** (1.5 - power / 2) * comb(width, i) ** 0.5 / rows for i in range(width + 1)]
        )
        costs[0] = 0.0
        made, found = noise_aware(width=width, least=least, basis=basis, degree=width, costs=costs, power=power)
        best = corners(width, least, basis, costs, power=power)
        assert found == pytest.approx(made.gamma + spread(made.coefficients, costs, power=power))
        assert found >= best - 1e-7
        # A concave sum has several local minima; ours is the best of one for each degree.
        assert found <= best * (1 + 1e-6 if power == 1 else 1.05) + 1e-7


@pytest.mark.parametrize(
    ("attributes", "width", "rows", "known"),
    [(16, 4, 10**4, {"ones": 0.164, "zeros": 0.0853}), (64, 8, 10**6, {"ones": 0.1389, "zeros": 0.1151})],
)
def test_the_noise_aware_objective(attributes: int, width: int, rows: int, known: dict[str, float]) -> None:
    """At epsilon = 1, delta = 1e-6 with the continuous Gaussian multiplier 4.2247, as the plan's figures were found."""
    kappa = math.sqrt(2 * math.log(2 * comb(attributes, width) / 0.05))
    costs = np.array(
        [kappa * 4.2247 / rows * math.sqrt(comb(attributes, i) * comb(width, i)) for i in range(width + 1)]
    )
    costs[0] = 0.0
    for basis, value in known.items():
        made, found = noise_aware(width=width, least=1, basis=basis, degree=width, costs=costs, power=1)
        assert found == pytest.approx(value, abs=6e-5)
        if (attributes, basis) == (16, "zeros"):
            assert made.levels == (4,), "it is the direct release: 1 less the share of rows with none of the four"
            assert made.gamma == 0


def test_where_eight_of_64_are_hopeless_directly() -> None:
    """n = 10^6, epsilon = 1, Laplace: direct noise of about 6,000; degree 2 to 3 gives bias 0.30 to 0.18."""
    per_level = [math.sqrt(2) / 1e6 * comb(64, i) * math.sqrt(comb(8, i)) for i in range(9)]
    assert per_level[8] == pytest.approx(6_000, rel=0.05)
    costs = np.array([0.0, *per_level[1:]])
    for degree, bias in ((2, 0.30), (3, 0.175)):
        polynomial = minimax(width=8, least=1, degree=degree, basis="zeros")
        assert polynomial.gamma == pytest.approx(bias, abs=1e-6)
        assert 0.001 < spread(polynomial.coefficients, costs, power=2 / 3) < 0.07


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match="any-of and all-of"):
        chebyshev(width=4, least=2, degree=2, basis="ones", scaled=False)
    for wrong in (
        lambda: chebyshev(width=4, least=1, degree=5, basis="ones", scaled=False),
        lambda: minimax(width=4, least=5, degree=2, basis="ones"),
        lambda: minimax(width=4, least=1, degree=5, basis="ones"),
        lambda: minimax(width=4, least=1, degree=2, basis="twos"),
        lambda: through(np.zeros(4), least=1, basis="ones").narrowed(4),
    ):
        with pytest.raises(ParameterError):
            wrong()


def test_a_polynomial_that_needs_nothing_releases_nothing() -> None:
    """Where noise costs more than any bias, the answer is a constant."""
    made, found = noise_aware(width=3, least=1, basis="ones", degree=3, costs=np.array([0.0, 9, 9, 9]), power=1)
    assert made == Polynomial(width=3, least=1, basis="ones", coefficients=(0.5, 0, 0, 0), values=(0.5,) * 4)
    assert (found, made.levels, made.degree) == (0.5, (), 0)
