"""Each number of the printed tables is what its label says: worked out here once more, from the label's formula."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw

from dpcore.core import Integers, Neighbours, Problem
from dpcore.data.columns import Number
from dpcore.limits.attacks import fat_shattering
from dpcore.limits.bounds import minimax as histograms
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.polynomials import Polynomial, chebyshev, minimax
from dpcore.mechanisms.net import listed_net
from dpcore.mechanisms.subsamples.subsampling import answer_chance, calibrated_plan, paper_delta
from dpcore.queries.ranges import Intervals
from dpcore.randomness.laws import laplace_tail
from dplab.printed.lines import NOT_PRINTED, PrintedLine, PrintedTable
from dplab.printed.polynomials import inclusion_exclusion, least_degree, polynomial_table
from dplab.printed.random import FIGURE_EPSILON, figure_2_losses, quantile_spreads, random_table, risk_everywhere
from dplab.printed.rectangles import rectangle_table
from dplab.printed.stability import NOT_APPLICABLE, stability_table
from dplab.printed.synthetic import halfspace_table, interval_table, net_table
from dplab.printed.weights import FITS, LINE, fitted_error, listed_cells, weights_table

BETA = 0.05
log10 = math.log10


def compare(table: PrintedTable, expected: dict[str, tuple[float | None, float | None]]) -> dict[str, PrintedLine]:
    """All lines of a table by the beginning of their labels; each number must be the expected one."""
    assert len(expected) == len(table.lines)
    lines: dict[str, PrintedLine] = {}
    for line, (label, numbers) in zip(table.lines, expected.items(), strict=True):
        assert line.what.startswith(label)
        assert line.printed == pytest.approx(numbers[0]), line.what
        assert line.holds == pytest.approx(numbers[1]), line.what
        lines[label] = line
    return lines


def differences(values: tuple[float, ...]) -> list[float]:
    """Coefficients of the binomials: forward differences at 0."""
    numbers_in_words, left = list[float](), list(values)
    while left:
        numbers_in_words.append(left[0])
        left = [after - before for before, after in itertools.pairwise(left)]
    return numbers_in_words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "k", "alpha", "n", "epsilon"),
    [(64, 8, 0.1, 10_000, 1.0), (12, 12, 0.2, 1000, 0.5), (4, 2, 0.1, 1000, 2.0), (16, 5, 0.02, 100_000, 1.0)],
)
def test_polynomials(d: int, k: int, alpha: float, n: int, epsilon: float) -> None:
    gamma, polynomial = alpha / 2, least_degree(width=k, gamma=alpha / 2)
    t, a = polynomial.degree, differences(polynomial.values)
    far, largest = sum(abs(each) * math.comb(d, level) for level, each in enumerate(a) if level), max(map(abs, a))
    monomials, released = math.comb(d + t, t), sum(math.comb(d, level) for level in range(1, t + 1))
    in_answer, queries = sum(math.comb(k, level) for level in range(1, t + 1)), math.comb(d, k)
    half = k // 2

    def program(least: int) -> int:
        return next(t for t in range(k + 1) if minimax(width=k, least=least, degree=t, basis="ones").gamma <= gamma)

    union = {number: math.log(number / BETA) for number in (monomials, released, queries)}
    root = math.sqrt(half * k) * math.log(k) + math.sqrt(k * math.log(1 / gamma) * math.log(k))
    table = polynomial_table(attributes=d, width=k, alpha=alpha, n=n, epsilon=epsilon, beta=BETA)
    compared = compare(
        table,
        {
            "ε of the sanitizer with T = dᵗ": (epsilon, epsilon * far / (2 * d**t)),
            "ε of the sanitizer with T = max |aᵢ|": (None, epsilon * far / (2 * largest)),
            "degree t, order √k·ln(1/γ)": (math.sqrt(k) * math.log(1 / gamma), t),
            "coefficients C(d + t, t)": (monomials, released),
            "norm T, order dᵗ": (d**t, largest),
            "noise of a coefficient, 2T/(εn)": (2 * d**t / (epsilon * n), far / (epsilon * n)),
            "rows needed for α": (
                log10(2 * d**t * monomials * union[monomials] / (epsilon * gamma)),
                log10(far * in_answer * union[released] / (epsilon * gamma)),
            ),
            "rows when all C(d, k) answers get noise": (None, log10(queries * union[queries] / (epsilon * alpha))),
            "two methods, time: n·C(d + t, t), n·C(d, k)": (log10(n * monomials), log10(n * queries)),
            "two methods, numbers held: all rows there may be, 2ᵈ, or counts": (log10(2**d), log10(released)),
            f"degree for {half} of {k}, order √(rk)·ln k + √(k·ln(1/γ)·ln k)": (root, program(half)),
            "time for synthetic rows right on all two-way marginals": (None, None),
            f"two methods, errors added up for {half} of {k}": (inclusion_exclusion(width=k, least=half), 1),
        },
    )
    printed, own = (compared[f"ε of the sanitizer with T = {norm}"].holds for norm in ("dᵗ", "max |aᵢ|"))
    assert printed is not None and own is not None and printed < epsilon < own
    assert "private, with more noise than ε takes" in compared["ε of the sanitizer with T = dᵗ"].why
    degree, time = (
        compared["degree t, order √k·ln(1/γ)"],
        compared["time for synthetic rows right on all two-way marginals"],
    )
    assert degree.why.endswith(f"; a linear program needs {program(1)}") and program(1) <= t
    assert (time.printed_words, time.holds_words) == ("not polynomial in d", "the same")
    assert f"adds up {in_answer:,} coefficients" in compared["rows needed for α"].why
    assert f"{queries:,} answers" in compared["rows when all C(d, k) answers get noise"].why


@pytest.mark.parametrize(("k", "alpha"), [(2, 0.2), (2, 0.1), (3, 0.01), (7, 0.01), (8, 0.02), (12, 0.2)])
def test_the_polynomial_is_within_half_of_alpha_and_of_the_least_degree(k: int, alpha: float) -> None:
    polynomial = least_degree(width=k, gamma=alpha / 2)

    def closed(degree: int) -> Polynomial:
        return chebyshev(width=k, least=1, degree=degree, basis="ones", scaled=False)

    assert polynomial.gamma <= alpha / 2
    assert all(closed(degree).gamma > alpha / 2 for degree in range(1, polynomial.degree))
    interpolated = closed(k).gamma > alpha / 2
    assert (polynomial.gamma == 0) is interpolated and (polynomial.degree == k or not interpolated)
    line = polynomial_table(attributes=12, width=k, alpha=alpha, n=1000, epsilon=1.0, beta=BETA).lines[2]
    assert line.why.startswith(
        "interpolation: no closed form" if interpolated else "Chebyshev's closed form at γ = α/2;"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n", "epsilon"), [(25, 500, 1.0), (2, 100, 2.0), (256, 5000, 0.1)])
def test_random_privacy(k: int, n: int, epsilon: float) -> None:
    pairs, p = histograms.best_pairs(cells=k, rows=n, epsilon=epsilon), math.exp(-epsilon / 2)
    noise = sum(2 * z * p**z * (1 - p) / (1 + p) for z in range(1, 2000))
    lone = max(
        2 * (k - 1) / (n + 1) * (n / (n + 1)) ** n + 2 * (1 - 1 / k) ** n / k if k <= n + 1 else 0,
        2 * (1 - 1 / k) ** n if k > n + 1 else 0,
    )
    above = np.linspace(0.05, 1, 20_001)
    gamma_2 = min(1, float((above + 2 * np.exp(-((above - 0.05) ** 2) * n)).min()))
    spreads, shift = quantile_spreads(n=min(n, 200)), pairs.shift
    # The least ln(1/ρ)/(2(0.1 − ρ)²): where its derivative is 0, ln ρ − ½ is a branch of Lambert's W.
    rho = math.exp(lambertw(-0.1 / (2 * math.sqrt(math.e)), -1).real + 0.5)
    dkw = math.ceil(math.log(1 / rho) / (2 * (0.1 - rho) ** 2))
    by_ranks = next(m for m in itertools.count(1) if m + 1 >= 10)  # the last of m + 1 is the largest: chance 1/(m + 1)
    compared = compare(
        random_table(cells=k, n=n, epsilon=epsilon),
        {
            "lower bound on the risk, of n": ((k - 1) * 4 / 27 / (epsilon * n), pairs.risk),
            "expected error of noise in every bar, 2k/(εn)": (2 * k / (epsilon * n), k * noise / n),
            "γ from which empty bars may stay empty, 2k/n": (2 * k / n, lone),
            "two bars: risk on every data set, e^(−c₀−1)/(εn)": (
                math.exp(-4 - 1) / (epsilon * n), risk_everywhere(n=n, epsilon=epsilon)
            ),
            "the same where δ = 1e-06": (None, risk_everywhere(n=n, epsilon=epsilon, delta=1e-6)),
            "shares of a corner of the hypercube, added up": (
                (shift + (n - 1) * shift) / n, (shift + n - shift) / n
            ),
            "rows from which Figure 2's empty cells may stay empty, 2k/γ at γ = 0.1": (None, 2 * 400 / 0.1),
            "probability that two samples of n of n + 1 rows are a given pair, 2/n²": (2 / n**2, 2 / (n + 1) ** 2),
            "γ₂ at δ = 0.05, least δ′ + 2e^(−(δ′−δ)²n)": (gamma_2, (math.floor(0.05 * (n // 2)) + 1) / (n // 2)),
            "samples of the sensitivity for γ = 0.1": (dkw, by_ranks),
            "spread of the 0.9 quantile of |x − x′|: n/2 pairs, or the U-statistic of all": spreads,
        },
    )  # fmt: skip
    assert spreads[1] < spreads[0] and "c₀ = 4" in compared["two bars: risk on every data set, e^(−c₀−1)/(εn)"].why
    figure = compared["rows from which Figure 2's empty cells may stay empty, 2k/γ at γ = 0.1"].why
    _, private, random = figure_2_losses()
    assert figure.endswith(
        f"at ε = {FIGURE_EPSILON:g}, the total errors are {random:.3f} and {private:.3f} (simulated)"
    )


@pytest.mark.parametrize(("bits", "alpha", "epsilon"), [(10, 0.1, 1.0), (4, 0.2, 2.0), (6, 0.02, 0.5)])
def test_nets(bits: int, alpha: float, epsilon: float) -> None:
    size, points, half = 2**bits, math.ceil(round(1 / alpha, 9)), math.ceil(round(2 / alpha, 9))
    count = size * (size + 1) // 2
    tuples = math.ceil(math.log(count) / (alpha / 2) ** 2) * math.log(size)
    multisets = math.log(math.comb(size + half - 1, half))
    compared = compare(
        net_table(bits=bits, alpha=alpha, epsilon=epsilon, beta=BETA),
        {
            "points m of the net for α, ln|C|/α²": (
                math.ceil(math.log(count) / alpha**2), math.ceil(math.log(2 * count) / (2 * alpha**2))
            ),
            "databases in the net for α/2, |X|^m": (tuples / math.log(10), multisets / math.log(10)),
            "rows needed for α": (
                4 / (epsilon * alpha) * (tuples + math.log(1 / BETA)),
                4 / (epsilon * alpha) * (multisets + math.log(1 / BETA)),
            ),
            "points by the VC dimension, v·ln(1/α)/α²": (None, points),
        },
    )  # fmt: skip
    assert f"⌈1/α⌉ = {points} points" in compared["points m of the net for α, ln|C|/α²"].why
    assert f"{half} points are enough for α/2" in compared["databases in the net for α/2, |X|^m"].why


def quantile_points(rows: Integers, points: int) -> Integers:
    """Cells of the middles of so many parts of equal mass."""
    up_to, n = np.cumsum(rows), rows.sum()
    positions: Integers = np.searchsorted(2 * points * up_to, (2 * np.arange(points) + 1) * n)
    return positions


@pytest.mark.parametrize("alpha", [0.5, 0.2, 0.1, 0.07])
def test_so_many_points_do_for_every_interval_whatever_the_data(alpha: float, seed: int) -> None:
    generator, size, points = np.random.default_rng(seed), 12, math.ceil(round(1 / alpha, 9))
    equal, spread = np.eye(size, dtype=np.int64)[3] * 41, np.full(size, 7)
    for rows in (equal, spread, *generator.multinomial(97, generator.dirichlet(np.full(size, 0.3), size=200))):
        placed = np.bincount(quantile_points(rows, points), minlength=size) / points
        error = np.cumsum(placed - rows / rows.sum())
        worst = max(0.0, error.max()) - min(0.0, error.min())  # of all intervals: differences of two prefixes
        assert worst <= alpha + 1e-12
    few = math.ceil(1 / (2 * alpha)) - 1
    if few:  # a point each for every second part of an even line: the control
        even = np.ones(4 * points, dtype=np.int64)
        placed = np.bincount(quantile_points(even, few), minlength=len(even)) / few
        error = np.cumsum(placed - even / even.sum())
        assert max(0.0, error.max()) - min(0.0, error.min()) > alpha


@pytest.mark.parametrize(("bits", "alpha", "epsilon"), [(10, 0.1, 1.0), (6, 0.2, 2.0), (4, 0.02, 0.5)])
def test_intervals(bits: int, alpha: float, epsilon: float) -> None:
    table = interval_table(bits=bits, alpha=alpha, epsilon=epsilon, beta=BETA)
    rows_line, noise, anchored = table.lines
    logarithm = math.log(8 * bits / (alpha * BETA))
    printed_rows = math.ceil(8 * bits / (epsilon * alpha) * logarithm)
    rows = math.ceil(36 / alpha**2 * 8 * bits / (epsilon * alpha) * logarithm)
    assert (rows_line.printed, rows_line.holds) == (printed_rows, rows)
    # Noise of scale d·M/ε, of n: at most α²/36 at the larger n, up to the logarithm, and far above it at the printed n.
    blocks = math.ceil(8 / alpha)
    own = bits * blocks / (epsilon * printed_rows)
    assert (noise.printed, noise.holds) == pytest.approx((alpha**2 / 36, own)) and own > alpha**2 / 36
    assert bits * blocks / (epsilon * rows) * logarithm < 1.2 * alpha**2 / 36
    domain = Number(bits=bits)
    bounds = [
        entry("intervals-anchored").make(epsilon=epsilon, alpha=alpha).accuracy(
            Problem(domain=domain, queries=Intervals(domain=domain), n=n), BETA
        )
        for n in (int(anchored.holds or 0), int(0.98 * (anchored.holds or 0)))
    ]  # fmt: skip
    assert bounds[0].value <= alpha + 1e-12 < bounds[1].value and bounds[0].beta == BETA
    assert table.title == "Intervals by private binary search"


@pytest.mark.parametrize(("d", "margin", "alpha", "epsilon"), [(10, 0.5, 0.1, 1.0), (3, 0.2, 0.2, 2.0)])
def test_halfspaces(d: int, margin: float, alpha: float, epsilon: float) -> None:
    small = math.ceil(20 * math.log(8 / alpha) / (margin / 4) ** 2)
    logarithm = math.log(4 * math.sqrt(d) / margin)
    m = math.ceil(16 * d / alpha**2 * (logarithm + math.log(1 / BETA)))
    net = small * log10(4 * math.sqrt(small) / margin)
    rows = math.log(2 * m / BETA) + small * math.log(math.sqrt(small) / margin)
    chances = [math.log(2) + d * logarithm - m * alpha**2 / divisor for divisor in (8, 32)]
    compared = compare(
        halfspace_table(dimensions=d, margin=margin, alpha=alpha, epsilon=epsilon, beta=BETA),
        {
            "dimensions T after a projection": (small, d),
            "projections m": (m, 1),
            "directions |U|": (net, net + small * log10(2)),
            "rows needed": (log10(m / epsilon) + net + small * log10(2) + log10(rows), None),
            "ln of the probability that the noise of some direction exceeds α/4, printed m": (chances[0], chances[1]),
            "⟨x, y⟩ of orthogonal unit vectors, ¼(‖x + y‖² + ‖x − y‖²)": (1.0, 0.0),
        },
    )
    assert compared["rows needed"].holds_words == "the same"


@pytest.mark.parametrize(
    ("points", "scale", "alpha", "n", "epsilon"), [(64, 0.1, 0.1, 10_000, 1.0), (16, 0.5, 0.2, 1000, 5.0)]
)
def test_queries_that_weigh_rows(points: int, scale: float, alpha: float, n: int, epsilon: float) -> None:
    pieces = max(1, math.ceil(round((1 - 2 * scale) / scale, 9)))
    fullest = math.ceil(points / pieces)
    m = math.ceil((points + 1) * math.log(2) / (2 * (alpha / 2) ** 2))
    net = math.log(math.comb(points + m - 1, m)) + math.log(1 / BETA)
    queries = points * math.log(2)
    roth = n ** (2 / 3) * (queries * math.log(points) / epsilon) ** (1 / 3)
    best = fat_shattering.constants(
        points=points, scale=scale, spread=0.0, epsilon=epsilon, neighbours=Neighbours.ADD_REMOVE_ONE
    ).best
    table = weights_table(points=points, scale=scale, alpha=alpha, n=n, epsilon=epsilon)
    crossing = next(each.holds for each in table.lines if each.what.startswith("queries from"))
    # Of 50 queries: a sample of m points misses some of them by more than 0.1 with chance below 2·50·e^(−2m·0.1²).
    small = next(m for m in itertools.count(1) if 2 * 50 * math.exp(-2 * m * 0.1**2) < 1)
    assert crossing is not None
    compared = compare(
        table,
        {
            "lower bound on the error, in rows": (
                scale * points / 4 / (1 + math.exp(epsilon)), scale * points / 4 / (1 + math.exp(2 * epsilon))
            ),
            "the same, step by step": (None, best),
            "sensitivity Δ of the score": (2, 1),
            "points that the pigeonholes keep, γ·FSD": (scale * points, fullest - fullest % 2),
            "rows needed, order FSD·ln U/(εη³)": (
                log10(points * math.log(points) / (epsilon * alpha**3)), log10(4 / (epsilon * alpha) * net)
            ),
            "points of a small database for 50 queries at α = 0.1": (None, small),
            "error of k = 2^d queries, order n^⅔·(ln k·ln U/ε)^⅓, of n": (roth / n, None),
            "queries from which that is less than Hardt and Talwar's √k·ln(U/k)/ε, n^(4/3)": (
                log10(n ** (4 / 3)), crossing
            ),
            "exponent x of the probability n^m·e^(−x) of a bad database, η‖D‖α/2": (
                epsilon * alpha * n / 2, epsilon * alpha * n / 4
            ),
            "error of rows fitted to answers of error α": (2 * alpha, fitted_error(alpha=alpha)),
        },
    )  # fmt: skip
    held = next(line for label, line in compared.items() if label.startswith("points of a small"))
    most = min(listed_net.MAX_COUNTED, listed_net.MAX_EFFORT // 50)
    cells = max(cells for cells in range(2, small) if math.comb(small + cells - 1, cells - 1) <= most)
    assert held.why.endswith(f"can be listed on up to {cells} cells")
    assert (held.printed_words, listed_cells(small)) == ("O(FSD/η²·log²(1/η))", cells)
    assert best >= (compared["lower bound on the error, in rows"].holds or 0), "step by step is no worse"

    def ours_over_theirs(log10_queries: float) -> float:
        """Roth's order over √k/ε, for so many queries."""
        log_k = log10_queries * math.log(10)
        ours: float = n ** (2 / 3) * (log_k * math.log(points) / epsilon) ** (1 / 3)
        return ours * epsilon / math.pow(10, log10_queries / 2)

    assert ours_over_theirs(crossing + 0.1) < 1 and (crossing < 0.5 or ours_over_theirs(crossing - 0.1) > 1)
    last = compared["error of rows fitted to answers of error α"]
    assert last.why.startswith("printed: always; held: the worst interval of a line of 16 cells in 20 fits")
    assert (LINE, FITS) == (16, 20) and fitted_error(alpha=alpha) <= 2 * alpha


def test_a_row_moves_the_score_of_weights_by_one_at_most_and_nearly_so() -> None:
    """The inner term ‖D‖·(q(D)/‖D‖ − q(D′)/m), with one row more: by q_i − q(D′)/m."""
    generator, largest = np.random.default_rng(1), 0.0
    for _ in range(300):
        q = generator.choice([0.0, 0.5, 1.0], size=4) if generator.random() < 0.5 else generator.random(4)
        rows, database = generator.integers(0, 5, size=4), generator.integers(0, 4, size=4) + np.eye(4, dtype=int)[0]
        share = q @ database / database.sum()

        def term(rows: Any, q: Any = q, share: float = share) -> float:
            return float(q @ rows - rows.sum() * share)

        for row in np.eye(4, dtype=int):
            moved = term(rows + row) - term(rows)
            assert moved == pytest.approx(q @ row - share) and abs(moved) <= 1
            largest = max(largest, abs(moved))
    assert largest > 0.95


@pytest.mark.parametrize(
    ("n", "parts", "epsilon", "delta"),
    [(10_000, 64, 0.5, 1e-6), (1000, 16, 1.0, 1e-9), (10_000, 128, 0.05, 1e-2), (10_000, 16, 0.5, 1e-2)],
)
def test_stable_answers(n: int, parts: int, epsilon: float, delta: float) -> None:
    rows, t = n // parts, math.log(1 / delta)
    k = math.ceil(epsilon * (n / rows) ** 3)
    median, stability, theorem, votes = stability_table(n=n, rows=rows, epsilon=epsilon, delta=delta).lines
    assert (median.printed, median.holds) == pytest.approx((delta, 0.5 * math.exp(-(t - epsilon))))
    assert stability.printed == pytest.approx(t / epsilon)
    needed = int(stability.holds or 0)
    # Answered where stability plus noise reaches the threshold: at least every other time there, and not one row below.
    assert laplace_tail(0, scale=1 / epsilon) >= 0.5 > laplace_tail(1, scale=1 / epsilon)
    assert laplace_tail(needed - 1, scale=1 / epsilon) <= delta < laplace_tail(needed - 2, scale=1 / epsilon)
    if rows <= n / 64:
        # Split votes: from 19k/32 to the threshold of 5k/8 with noise of scale 2km/(εn).
        left = (5 / 8 - 19 / 32) * k / (2 * k * rows / (epsilon * n))
        assert theorem.printed == pytest.approx(math.exp(-2 * k * (rows / n) ** 2) + 0.5 * math.exp(-left))
        assert theorem.printed == paper_delta(epsilon=epsilon, n=n, rows=rows)
        assert theorem.holds is not None and theorem.holds <= theorem.printed
    else:
        assert theorem.printed is None is theorem.holds
        assert theorem.printed_words == theorem.holds_words == NOT_APPLICABLE
    plan = calibrated_plan(epsilon=epsilon, delta=delta, n=n, rows=rows, subsamples=k)
    assert (votes.printed, votes.holds) == (5 * k / 8, plan.threshold) and plan.delta <= delta
    refuses = "more than there are: it mostly gives no answer" in votes.why
    assert refuses is (plan.threshold > k) and (not refuses or answer_chance(plan, epsilon=epsilon, agreement=1) < 0.5)


def test_rectangles_have_no_printed_number() -> None:
    table = rectangle_table(levels=3, n=1000, epsilon=1.0, beta=BETA, seed=1)
    assert all(each.printed is None and each.printed_words == NOT_PRINTED for each in table.lines)
    promised = [each for each in table.lines if each.what.startswith("guaranteed error at n = 1,000, ")]
    assert [each.what[-9:] for each in promised] == ["2 columns", "3 columns"]
    for each in promised:
        assert each.why == ("no guarantee (100% or more)" if (each.holds or 0) >= 1 else "holds for every data set")
