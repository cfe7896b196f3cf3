"""Printed and corrected numbers: known answers, and what can be counted on tiny data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core import ParameterError
from dplab.printed.lines import PrintedTable, log10_choose
from dplab.printed.polynomials import (
    inclusion_exclusion,
    least_degree,
    literal_epsilon,
    moved,
    polynomial_table,
    survey,
)
from dplab.printed.random import printed_gamma, quantile_spreads, random_table, risk_everywhere
from dplab.printed.stability import stability_table
from dplab.printed.synthetic import halfspace_table, interval_table, net_table
from dplab.printed.thresholds import printed_order, threshold
from dplab.printed.weights import fitted_error, weights_table
from dpcore.limits.bounds.minimax import geometric_risk
from dpcore.mechanisms.marginals.polynomials import Polynomial, chebyshev, minimax


def numbers(table: PrintedTable, what: str) -> tuple[float | None, float | None]:
    """The printed and the right number of the line that starts so."""
    (line,) = (each for each in table.lines if each.what.startswith(what))
    return line.printed, line.holds


def coefficients(polynomial: Polynomial, row: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """A row's coefficients, from its polynomial's values on all queries, by inclusion and exclusion."""
    sets = [each for size in range(len(row) + 1) for each in itertools.combinations(range(len(row)), size)]
    value = {each: polynomial.at(np.array([float(sum(row[j] for j in each))]))[0] for each in sets}
    return {
        each: sum((-1) ** (len(each) - len(part)) * value[part] for part in sets if set(part) <= set(each))
        for each in sets
    }


@pytest.mark.parametrize("gamma", [0.4, 0.1])
def test_the_literal_sanitizer_has_the_epsilon_that_is_counted(gamma: float) -> None:
    """Over all pairs of rows of four attributes: the farthest their coefficients lie apart, over the noise's scale."""
    polynomial, d = least_degree(width=4, gamma=gamma), 4
    rows = [coefficients(polynomial, row) for row in itertools.product((0, 1), repeat=d)]
    norm = max(abs(a) for row in rows for a in row.values())
    assert norm == pytest.approx(max(abs(a) for a in polynomial.coefficients))
    far = max(sum(abs(one[each] - other[each]) for each in one) for one in rows for other in rows)
    assert moved(polynomial, attributes=d) == pytest.approx(far)
    assert literal_epsilon(polynomial, attributes=d, epsilon=0.5) == pytest.approx(0.5 * far / (2 * norm))
    released = [each for each in rows[-1] if each and any(abs(row[each]) > 1e-9 for row in rows)]
    assert len(released) == sum(math.comb(d, level) for level in range(1, polynomial.degree + 1))


def test_the_least_degree_is_the_paper_s_table() -> None:
    """Chebyshev at k = 4: 0.6, 0.2195, 0.0740."""
    assert [least_degree(width=4, gamma=gamma).degree for gamma in (0.61, 0.59, 0.22, 0.21, 0.0741)] == [1, 2, 2, 3, 3]


@pytest.mark.parametrize(("width", "least"), [(1, 1), (3, 2), (5, 3)])
def test_inclusion_and_exclusion_is_right_on_every_row(width: int, least: int) -> None:
    """Coefficients by Möbius inversion over all subsets, put together and tried on every row."""
    subsets = [each for size in range(1, width + 1) for each in itertools.combinations(range(width), size)]
    rows = list(itertools.product((0, 1), repeat=width))[1:]
    anyof = np.array([[float(any(row[j] for j in each)) for each in subsets] for row in rows])
    wanted = np.array([float(sum(row) >= least) for row in rows])
    found = np.linalg.solve(anyof, wanted)
    assert inclusion_exclusion(width=width, least=least) == pytest.approx(np.abs(found).sum())
    with pytest.raises(ParameterError):
        inclusion_exclusion(width=width, least=width + 1)


@pytest.mark.parametrize(("width", "least", "gamma"), [(8, 1, 0.05), (10, 3, 0.2), (12, 2, 0.3), (40, 2, 0.1)])
def test_sherstov_s_construction_is_a_polynomial_of_its_degree_within_gamma(
    width: int, least: int, gamma: float
) -> None:
    made = threshold(width=width, least=least, gamma=gamma)
    values = made.values()
    assert max(abs(value - (s >= least)) for s, value in enumerate(values)) <= gamma
    differences = values
    for _ in range(made.degree):
        differences = [after - before for before, after in itertools.pairwise(differences)]
    assert any(differences) and len(set(differences)) == 1  # the next ones are 0
    if width <= 12:
        assert minimax(width=width, least=least, degree=made.degree, basis="ones").gamma <= gamma
    if least == 1:
        closed = chebyshev(width=width, least=1, degree=made.degree, basis="ones", scaled=False)
        assert [float(value) for value in values] == pytest.approx(closed.values)


@pytest.mark.slow
@pytest.mark.parametrize("least", [1, 2, 5])
def test_its_degree_grows_as_the_lemma_says(least: int) -> None:
    """Like the root of k, times a logarithm: far below interpolation, and never above the order."""
    widths = (100, 200, 400, 800)
    degrees = [threshold(width=width, least=least, gamma=0.1).degree for width in widths]
    orders = [printed_order(width=width, least=least, gamma=0.1) for width in widths]
    assert all(degree < order for degree, order in zip(degrees, orders, strict=True))
    assert degrees[-1] / degrees[0] < 1.1 * orders[-1] / orders[0] < 5
    for bad, gamma in ((0, 0.1), (101, 0.1), (least, 1.0)):
        with pytest.raises(ParameterError):
            threshold(width=100, least=bad, gamma=gamma)


def test_the_survey_is_the_paper_s_table() -> None:
    """Only this paper is right on all questions in less time than there are questions, or than there may be rows."""
    attributes, width, alpha = 64, 8, 0.1
    *others, ours = survey(attributes=attributes, width=width, alpha=alpha)
    assert len(others) == 9 and ours.rows == ours.time == pytest.approx(np.log10(64) * np.sqrt(8) * np.log(10))
    questions = width * math.log10(attributes)
    assert all(each.time >= questions for each in others if each.right == ours.right) and ours.time < questions
    assert all(each.time == attributes * math.log10(2) for each in others if each.synthetic)
    assert sum(each.synthetic for each in others) == 2 and sum("average" in each.right for each in others) == 4
    assert min(others, key=lambda each: each.rows).rows == pytest.approx(math.log10(6400))


@pytest.mark.slow
def test_known_answers_of_the_papers() -> None:
    intervals = interval_table(bits=10, alpha=0.1, epsilon=1.0, beta=0.05)
    assert numbers(intervals, "rows needed") == (7745, 27_879_391)
    assert numbers(intervals, "noise")[1] == pytest.approx(0.103, abs=5e-4)
    assert numbers(intervals, "rows when") == (None, 60_800)
    halfspaces = halfspace_table(dimensions=10, margin=0.5, alpha=0.1, epsilon=1.0, beta=0.05)
    assert numbers(halfspaces, "dimensions")[0] == pytest.approx(5610, rel=0.001)
    assert numbers(halfspaces, "projections")[0] == pytest.approx(99_600, rel=0.001)
    assert numbers(halfspaces, "directions")[0] == pytest.approx(15_580, rel=0.001)
    random = random_table(cells=25, n=500, epsilon=1.0)
    assert numbers(random, "risk nobody")[1] == pytest.approx(0.0177, abs=5e-5)
    printed, sharper = numbers(random, "γ from")
    assert printed == pytest.approx(0.1) and sharper == pytest.approx(0.035, abs=5e-4)


def test_nets_are_counted() -> None:
    table = net_table(bits=4, alpha=0.25, epsilon=1.0, beta=0.05)
    assert numbers(table, "databases")[1] == pytest.approx(math.log10(490_314))  # U = 16, m = 8
    printed, held = numbers(table, "rows")
    assert printed is not None and held is not None and held < printed / 10
    assert log10_choose(8, 4) == pytest.approx(math.log10(70))


def test_what_is_corrected_is_on_the_right_side() -> None:
    stable = stability_table(n=10_000, rows=156, epsilon=0.5, delta=1e-6)
    printed, held = numbers(stable, "δ of the median")
    assert printed == pytest.approx(1e-6) and held == pytest.approx(0.5e-6 * math.exp(0.5))
    proved, counted = numbers(stable, "δ of k")
    assert proved is not None and counted is not None and counted <= proved
    assert numbers(stability_table(n=1000, rows=100, epsilon=0.5, delta=1e-6), "δ of k") == (None, None)
    printed, held = numbers(weights_table(points=64, scale=0.1, alpha=0.1, n=10_000, epsilon=1.0), "error in rows")
    assert printed is not None and held is not None and held < printed
    marginals = polynomial_table(attributes=16, width=4, alpha=0.2, n=10_000, epsilon=1.0, beta=0.05)
    printed, held = numbers(marginals, "ε that")
    assert printed == 1 and held is not None and held > 100
    with pytest.raises(ParameterError):
        polynomial_table(attributes=3, width=4, alpha=0.2, n=10_000, epsilon=1.0, beta=0.05)


@pytest.mark.parametrize("alpha", [0.02, 0.1])
def test_rows_fitted_to_answers_are_within_twice_their_error(alpha: float) -> None:
    assert alpha / 4 < fitted_error(alpha=alpha) <= 2 * alpha + 1e-9
    with pytest.raises(ParameterError):
        fitted_error(alpha=1.0)


def test_roth_s_numbers() -> None:
    table = weights_table(points=64, scale=0.1, alpha=0.1, n=10_000, epsilon=1.0)
    printed, held = numbers(table, "points that")
    assert printed == pytest.approx(6.4) and held == 8
    printed, held = numbers(table, "rows needed")
    assert printed == pytest.approx(math.log10(64 * math.log(64) / 0.1**3))
    m = math.ceil(math.log(2**65) / (2 * 0.05**2))
    net = math.log(math.comb(64 + m - 1, m))
    assert held == pytest.approx(math.log10(2 / 0.05 * (net + math.log(20))))
    printed, held = numbers(table, "queries from")
    assert held is not None and printed == pytest.approx(4 / 3 * 4)
    k = 10**held  # there both orders are the same number of rows
    assert math.sqrt(k) == pytest.approx((10**8 * math.log(k) * math.log(64)) ** (1 / 3), rel=1e-6)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_risk_on_every_data_set_is_below_that_of_noise_and_of_every_release_tried(delta: float) -> None:
    """With two bars: what holds everywhere is above 0, falls with δ, and no constant release of a true count is below.

    The release that always says θ₀ has no risk there; it is far off elsewhere, and so is no such mechanism.
    """
    n, epsilon = 1000, 0.5
    everywhere = risk_everywhere(n=n, epsilon=epsilon, delta=delta)
    assert (everywhere > 0) is (delta == 0) or everywhere < risk_everywhere(n=n, epsilon=epsilon)
    assert everywhere < geometric_risk(cells=2, rows=n, epsilon=epsilon)
    # By brute force over whole τ, with the risk of noise worked out from its law.
    law = np.exp(-epsilon / 2 * np.abs(np.arange(-400, 401)))
    risk = 2 * float((law * np.abs(np.arange(-400, 401))).sum() / law.sum())
    best = 0.0
    for tau in range(1, n // 2 + 1):
        lost = delta * sum(math.exp(epsilon * (step - tau)) for step in range(tau))
        best = max(best, tau * ((1 - risk / tau) * math.exp(-epsilon * tau) - lost))
    assert everywhere == pytest.approx(best / n, rel=1e-9)


def test_section_6_s_numbers() -> None:
    assert printed_gamma(n=10**7, share=0.05) == pytest.approx(0.05, abs=2e-3)
    assert printed_gamma(n=1, share=0.05) == 1
    pairs, every = quantile_spreads(n=200)
    # |x - x'| is √2 times a half-normal: the spread of a sample quantile of 100 of them is √(p(1 - p)/100)/density.
    place = 1.6448536 * math.sqrt(2)
    density = 2 * math.exp(-(place**2) / 4) / math.sqrt(4 * math.pi)
    assert pairs == pytest.approx(math.sqrt(0.9 * 0.1 / 100) / density, rel=0.15)
    assert every < 0.75 * pairs
