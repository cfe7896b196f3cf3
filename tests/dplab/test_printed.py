"""Printed and corrected numbers: known answers, and what can be counted on tiny data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import Preview
from dpcore.core import HistogramState, Neighbours, ParameterError
from dpcore.limits.bounds.minimax import geometric_risk
from dpcore.mechanisms.halfspaces.printed import printed as halfspace_printed
from dpcore.mechanisms.histograms.threshold import ThresholdHistogram
from dpcore.mechanisms.marginals.polynomials import Polynomial, chebyshev, minimax
from dplab.printed.lines import ORDER, PrintedTable
from dplab.printed.polynomials import (
    inclusion_exclusion,
    least_degree,
    literal_epsilon,
    moved,
    polynomial_table,
    survey,
)
from dplab.printed.random import (
    corner_total,
    figure_2_losses,
    printed_gamma,
    quantile_spreads,
    random_table,
    risk_everywhere,
)
from dplab.printed.rectangles import rectangle_table
from dplab.printed.stability import stability_table
from dplab.printed.synthetic import halfspace_table, interval_table, net_table
from dplab.printed.thresholds import printed_order, threshold
from dplab.printed.weights import fitted_error, weights_table
from dplab.sparse import grid_example, simulate
from tests.kit.problems import labels_problem


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
    exact = literal_epsilon(polynomial, norm=norm, attributes=d, epsilon=0.5)
    assert exact == pytest.approx(0.5 * far / (2 * norm))
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
    coefficients = np.linalg.solve(anyof, wanted)
    assert inclusion_exclusion(width=width, least=least) == pytest.approx(np.abs(coefficients).sum())
    with pytest.raises(ParameterError):
        inclusion_exclusion(width=width, least=width + 1)


@pytest.mark.parametrize(("width", "least", "gamma"), [(8, 1, 0.05), (10, 3, 0.2), (12, 2, 0.3), (40, 2, 0.1)])
def test_sherstov_s_construction_is_a_polynomial_of_its_degree_within_gamma(
    width: int, least: int, gamma: float
) -> None:
    construction = threshold(width=width, least=least, gamma=gamma)
    values = construction.values()
    assert max(abs(value - (s >= least)) for s, value in enumerate(values)) <= gamma
    differences = values
    for _ in range(construction.degree):
        differences = [after - before for before, after in itertools.pairwise(differences)]
    assert any(differences) and len(set(differences)) == 1  # the next ones are 0
    if width <= 12:
        assert minimax(width=width, least=least, degree=construction.degree, basis="ones").gamma <= gamma
    if least == 1:
        closed = chebyshev(width=width, least=1, degree=construction.degree, basis="ones", scaled=False)
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
    assert numbers(random, "lower bound on the risk")[1] == pytest.approx(0.0177, abs=5e-5)
    printed, sharper = numbers(random, "γ from")
    assert printed == pytest.approx(0.1) and sharper == pytest.approx(0.035, abs=5e-4)
    nets, large = (net_table(bits=b, alpha=a, epsilon=1.0, beta=0.05) for b, a in ((4, 0.25), (10, 0.1)))
    assert numbers(nets, "databases")[1] == pytest.approx(math.log10(490_314))  # U = 16, m = 8
    assert (numbers(nets, "points by"), numbers(large, "points by")) == ((None, 4), (None, 10))  # ⌈1/α⌉, not ⌈2/α⌉
    assert numbers(large, "points m")[0] == 1318
    weights = weights_table(points=64, scale=0.1, alpha=0.1, n=10_000, epsilon=1.0)
    assert numbers(weights, "points that") == pytest.approx((6.4, 8))
    small = weights_table(points=16, scale=0.1, alpha=0.1, n=1000, epsilon=1.0)
    assert numbers(small, "points of a small database") == (None, 231)  # of which lists are made on up to 4 cells
    assert math.comb(231 + 3, 3) < 2_500_000 < math.comb(231 + 4, 4)
    polynomials = polynomial_table(attributes=64, width=8, alpha=0.1, n=10_000, epsilon=1.0, beta=0.05)
    assert numbers(polynomials, "ε of the sanitizer with T = dᵗ") == pytest.approx((1, 0.00079), abs=5e-6)
    assert numbers(polynomials, "noise of a coefficient")[0] == pytest.approx(214_748, abs=1)
    with pytest.raises(ParameterError):
        polynomial_table(attributes=3, width=4, alpha=0.2, n=10_000, epsilon=1.0, beta=0.05)


def test_errata_of_blum_ligett_and_roth() -> None:
    """Theorem 6.9's second Chernoff bound, Corollary 6.4's second line and Theorem 7.3's chance, worked out."""
    halfspaces = halfspace_table(dimensions=10, margin=0.5, alpha=0.1, epsilon=1.0, beta=0.05)
    printed, corrected = numbers(halfspaces, "ln of the probability")
    net, m = 10 * math.log(4 * math.sqrt(10) / 0.5), 99_624
    assert numbers(halfspaces, "projections")[0] == m
    # Hoeffding: 2·e^(−2mt²/range²) for t = α/4 and noise within [−1, 1], so range 2.
    proved, as_printed = (math.log(2) + net - 2 * m * 0.025**2 / width**2 for width in (2, 1))
    assert corrected == pytest.approx(proved) and proved > 0
    assert printed == pytest.approx(as_printed) and as_printed == pytest.approx(-91.5, abs=0.1)
    (line,) = (each for each in halfspaces.lines if each.what.startswith("ln of the probability"))
    assert "−3,703" in line.why
    # The mean of m noises cut off at 1, at the scale of the printed n: far within α/4, as Bernstein's bound says.
    scale = 1 / halfspace_printed(margin=0.5, alpha=0.1, dimensions=10, beta=0.05, epsilon=1.0).log_noises
    noise = np.random.default_rng(1).laplace(scale=scale, size=(200, 1000))
    assert np.abs(np.clip(noise, -1, 1).mean(axis=1)).max() < 0.025
    assert numbers(halfspaces, "⟨x, y⟩ of orthogonal") == (1.0, 0.0)
    n = 5
    samples = list(itertools.combinations(range(n + 1), n))
    pairs = [{first, second} == {samples[0], samples[1]} for first in samples for second in samples]
    printed, corrected = numbers(random_table(cells=2, n=n, epsilon=1.0), "probability that two samples")
    assert corrected == pytest.approx(np.mean(pairs)) and printed == 2 / n**2


def test_errata_of_roth_and_of_hall_rinaldo_and_wasserman() -> None:
    """Theorem 5's quotient of two weights; corners of Proposition 3.1's hypercube, which must add up to 1."""
    table = weights_table(points=64, scale=0.1, alpha=0.1, n=10_000, epsilon=1.0)
    printed, corrected = numbers(table, "exponent x")
    # Errors η‖D‖ and 2η‖D‖, Δ = 2.
    assert (printed, corrected) == pytest.approx((0.1 * 10_000 / 2, 0.1 * 10_000 / 4))
    printed, corrected = numbers(random_table(cells=25, n=500, epsilon=1.0), "shares of a corner")
    assert corrected == 1.0 and printed is not None and printed > 1.5
    for cells, n, shift in itertools.product((2, 5), (20, 500), (1, 3)):
        assert corner_total(cells=cells, n=n, shift=shift, printed=False) == pytest.approx(1)


def test_figure_2_needs_8000_rows() -> None:
    """At n = 500 the condition fails and both histograms are one; at 8,000 the random-private one errs less."""
    rows, private, random = figure_2_losses()
    assert rows == 2 * 400 / 0.1 and random < private
    assert numbers(random_table(cells=25, n=500, epsilon=1.0), "rows from which Figure 2") == (None, 8000)
    few = simulate(grid_example(500), epsilon=0.1, gamma=0.1, condition="paper", seed=1)
    assert not few.spared and (few.private == few.random).all()
    many = simulate(grid_example(rows), epsilon=0.1, gamma=0.1, condition="paper", seed=1)
    assert many.spared and many.random_loss.max() < many.private_loss.min()


def test_order_only_stands_for_orders_alone() -> None:
    """Of all tables: the words stand where the paper prints an order, and never where something is not printed."""
    tables = (
        polynomial_table(attributes=16, width=4, alpha=0.2, n=10_000, epsilon=1.0, beta=0.05),
        net_table(bits=4, alpha=0.25, epsilon=1.0, beta=0.05),
        interval_table(bits=6, alpha=0.2, epsilon=1.0, beta=0.05),
        rectangle_table(levels=3, n=1000, epsilon=1.0, beta=0.05, seed=1),
        halfspace_table(dimensions=3, margin=0.5, alpha=0.2, epsilon=1.0, beta=0.05),
        weights_table(points=16, scale=0.1, alpha=0.1, n=1000, epsilon=1.0),
        stability_table(n=1000, rows=100, epsilon=0.5, delta=1e-6),
        random_table(cells=8, n=500, epsilon=1.0),
    )
    lines = [each for table in tables for each in table.lines]
    orders = [each.what for each in lines if each.printed is None and each.printed_words == ORDER]
    assert [each.split(" (")[0] for each in orders] == [
        "rows when all C(d, k) answers get noise",
        "points by the VC dimension, v·ln(1/α)/α²",
    ]
    assert not [each.what for each in lines if each.holds_words == ORDER]
    assert sum(each.printed is None for each in lines) > 10


def test_two_bars_lose_little_by_delta_and_sparse_data_much() -> None:
    """δ hardly lowers the bound for two bars; noise in two full bars alone has less than a tenth of that in 25.

    n = 500, ε = 1, rows added or removed; both bars are far above the threshold that hides a lone row.
    """
    pure, with_delta = (risk_everywhere(n=500, epsilon=1.0, delta=delta) for delta in (0.0, 1e-6))
    assert 0.99 * pure < with_delta <= pure
    histogram = np.repeat([300, 200, 0], [1, 1, 23])
    problem = labels_problem(25, n=500, neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = ThresholdHistogram(epsilon=1.0, delta=1e-6)
    release = mechanism.run(HistogramState(problem=problem, histogram=histogram), Preview(1), 2000)
    loss = np.abs(release.counts - histogram).sum(axis=1).mean() / 500
    everywhere = 25 * 2 * math.exp(-1) / (1 - math.exp(-2)) / 500  # of E|Z| in each bar
    assert mechanism.threshold(problem) < 200 / 5 and loss < everywhere / 10


@pytest.mark.parametrize("alpha", [0.02, 0.1])
def test_rows_fitted_to_answers_are_within_twice_their_error(alpha: float) -> None:
    assert alpha / 4 < fitted_error(alpha=alpha) <= 2 * alpha + 1e-9
    with pytest.raises(ParameterError):
        fitted_error(alpha=1.0)


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
