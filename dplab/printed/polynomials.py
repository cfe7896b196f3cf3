"""Numbers of Thaler, Ullman and Vadhan (2012): degree, monomials, norm, the literal sanitizer, rows, Remark 4.7.

A row x gives the polynomial p(Σ x_j y_j) in the query's variables y. On yes/no variables its coefficient on a set R of
i variables is a_i, the i-th forward difference of p at 0, if the row has all of R, and else 0. A replaced
row moves all coefficients together by Σ |a_i| C(d, i) at most: from all attributes to none.

The sanitizer adds noise of scale 2T/(εn) to each coefficient of the mean. Its exact epsilon, for Laplace noise when a
row is replaced, is ε · Σ |a_i| C(d, i) / (2T): `literal_epsilon`. With the printed norm, T = d^t, that is far below ε:
it is private and its noise is useless. With T = max |a_i|, the bound of each coefficient, it is far above ε: it is not
private. The paper does not print the second.

The text of the paper at hand has lost its formulas. Those here are as we know them, checked against no printed page.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import ParameterError
from dpcore.mechanisms.marginals.polynomials import Polynomial, chebyshev, minimax, target, through
from dplab.printed.lines import ORDER, MethodLine, PrintedLine, PrintedTable, log10_choose
from dplab.printed.thresholds import printed_order, threshold

MAX_WIDTH = 12


def least_degree(*, width: int, gamma: float) -> Polynomial:
    """Return Chebyshev's polynomial of the smallest degree within gamma of any-of; interpolation where none is."""
    for degree in range(1, width + 1):
        polynomial = chebyshev(width=width, least=1, degree=degree, basis="ones", scaled=False)
        if polynomial.gamma <= gamma:
            return polynomial
    return through(target(width=width, least=1), least=1, basis="ones")


def moved(polynomial: Polynomial, *, attributes: int) -> float:
    """Return the L1 sensitivity of the coefficients of the sum over rows to a replaced row."""
    levels = enumerate(polynomial.coefficients)
    return float(sum(abs(a) * math.comb(attributes, level) for level, a in levels if level))


def largest_coefficient(polynomial: Polynomial) -> float:
    """Return the largest coefficient, max |a_i|."""
    return max(abs(a) for a in polynomial.coefficients)


def literal_epsilon(polynomial: Polynomial, *, norm: float, attributes: int, epsilon: float) -> float:
    """Return the exact epsilon of the sanitizer with noise 2·norm/(epsilon·n) per coefficient, which claims epsilon."""
    return epsilon * moved(polynomial, attributes=attributes) / (2 * norm)


def inclusion_exclusion(*, width: int, least: int) -> float:
    """Return the error multiplier of Remark 4.7: at-least-r-of-k as a combination of any-of queries on its subsets."""
    if not 1 <= least <= width <= MAX_WIDTH:
        raise ParameterError(f"At least r of k needs 1 ≤ r ≤ k ≤ {MAX_WIDTH}.")
    attributes = np.arange(1, width + 1)
    sizes = [[math.comb(width, size) - math.comb(width - int(s), size) for size in attributes] for s in attributes]
    weights = np.linalg.solve(np.array(sizes, dtype=np.float64), (attributes >= least).astype(np.float64))
    return float(sum(abs(each) * math.comb(width, int(size)) for each, size in zip(weights, attributes, strict=True)))


EVERY = "all"


def survey(*, attributes: int, width: int, alpha: float) -> tuple[MethodLine, ...]:
    """Return Table 1, row by row. It prints orders: constants are 1 here, and powers of logarithms are left out."""
    bit, log = math.log10(2), math.log10(attributes)
    each, listed, spread = width * log, attributes * bit, math.log(1 / alpha)
    answers, few = each / 2 - math.log10(alpha), math.log10(width * math.sqrt(attributes) / alpha**2)
    product, root, cube = (
        log * power for power in (1 / alpha**2, math.sqrt(width) * spread, attributes ** (1 / 3) * spread)
    )
    rows: tuple[tuple[str, str, float, float, str, bool], ...] = (
        ("noise in every answer", r"d^{k/2}/\alpha", answers, each, EVERY, False),
        ("Barak and others 2007", r"d^{k/2}/\alpha", answers, listed, EVERY, True),
        ("Blum and others 2008, and later", r"k\sqrt d/\alpha^2", few, listed, EVERY, True),
        ("Gupta and others 2011", r"d^{1/\alpha^2}", product, product, "average, product distributions", False),
        ("Cheraghchi and others 2012", r"d^{\ln(1/\alpha)}", log * spread, log * spread, "average, all alike", False),
        ("Hardt and others 2012", r"d^{\sqrt[3]d\ln(1/\alpha)}", cube, cube, "average, any distribution", False),
        ("the same, boosted", r"d^{\sqrt[3]d\ln(1/\alpha)}", cube, each, EVERY, False),
        ("Hardt and others 2012", r"d^{\sqrt k\ln(1/\alpha)}", root, root, "average, any distribution", False),
        ("the same, boosted", r"d^{\sqrt k\ln(1/\alpha)}", root, each, EVERY, False),
        ("this paper", r"d^{\sqrt k\ln(1/\alpha)}", root, root, EVERY, False),
    )
    return tuple(
        MethodLine(what=what, order=order, rows=needed, time=time, right=right, synthetic=synthetic)
        for what, order, needed, time, right, synthetic in rows
    )


def polynomial_table(*, attributes: int, width: int, alpha: float, n: int, epsilon: float, beta: float) -> PrintedTable:
    """Return the table for d attributes and queries about any of k: half of α for the polynomial, half for the noise.

    Raises:
        ParameterError: the queries are wider than the data or than MAX_WIDTH.
    """
    if not 2 <= width <= min(attributes, MAX_WIDTH):
        raise ParameterError(f"Queries are about 2 to {min(attributes, MAX_WIDTH)} attributes.")
    gamma = alpha / 2
    polynomial = least_degree(width=width, gamma=gamma)
    degree, d = polynomial.degree, attributes
    program = next(t for t in range(width + 1) if minimax(width=width, least=1, degree=t, basis="ones").gamma <= gamma)
    norm, far, printed_norm = largest_coefficient(polynomial), moved(polynomial, attributes=d), float(d**degree)
    printed_monomials = math.comb(d + degree, degree)
    released = sum(math.comb(d, level) for level in range(1, degree + 1))
    in_answer = sum(math.comb(width, level) for level in range(1, degree + 1))
    printed_rows = 2 * printed_norm * printed_monomials * math.log(printed_monomials / beta) / (epsilon * gamma)
    rows = far * in_answer * math.log(released / beta) / (epsilon * gamma)
    queries = math.comb(d, width)
    counted = (
        ("the first one, counted here", queries * math.log(queries / beta) / (epsilon * alpha), n * queries),
        ("this paper, counted here", rows, n * released),
    )
    construction = (
        "Chebyshev's closed form at γ = α/2"
        if polynomial.gamma
        else "interpolation: no closed form of degree k or less is within γ = α/2"
    )
    half = max(1, width // 2)
    half_program = next(
        t for t in range(width + 1) if minimax(width=width, least=half, degree=t, basis="ones").gamma <= gamma
    )
    return PrintedTable(
        title="Marginals by polynomials",
        lines=(
            PrintedLine(
                what="ε of the sanitizer with T = dᵗ (Lemma 4.3), recalled",
                printed=epsilon,
                holds=literal_epsilon(polynomial, norm=printed_norm, attributes=d, epsilon=epsilon),
                why="exact for its Laplace noise, a row replaced: private, with more noise than ε takes",
            ),
            PrintedLine(
                what="ε of the sanitizer with T = max |aᵢ|",
                printed=None,
                holds=literal_epsilon(polynomial, norm=norm, attributes=d, epsilon=epsilon),
                why="the bound of each coefficient of this polynomial, taken as T: not private",
            ),
            PrintedLine(
                what="degree t, order √k·ln(1/γ) (Fact 4.2)",
                printed=math.sqrt(width) * math.log(1 / gamma),
                holds=degree,
                why=f"{construction}; a linear program needs {program}",
            ),
            PrintedLine(
                what="coefficients C(d + t, t) (Section 2.3)",
                printed=printed_monomials,
                holds=released,
                why="squares of yes/no variables are the variables; the constant is public",
            ),
            PrintedLine(
                what="norm T, order dᵗ (Lemma 4.3)",
                printed=printed_norm,
                holds=norm,
                why="held: the largest coefficient of this polynomial, max |aᵢ|",
            ),
            PrintedLine(
                what="noise of a coefficient, 2T/(εn) (the sanitizer)",
                printed=2 * printed_norm / (epsilon * n),
                holds=far / (epsilon * n),
                why="a row moves all coefficients, not one: Σ |aᵢ| C(d, i) in all",
            ),
            PrintedLine(
                what="rows needed for α, with that noise (Theorem 3.1, worked out here)",
                printed=math.log10(printed_rows),
                holds=math.log10(rows),
                why=f"with noise that is private; an answer adds up {in_answer:,} coefficients, not all of them",
                power=True,
            ),
            PrintedLine(
                what="rows when all C(d, k) answers get noise (Table 1)",
                printed=None,
                holds=math.log10(queries * math.log(queries / beta) / (epsilon * alpha)),
                why=f"{queries:,} answers, each with noise for all",
                power=True,
                printed_words=ORDER,
            ),
            PrintedLine(
                what="two methods, time: n·C(d + t, t), n·C(d, k) (Theorem 1.1)",
                printed=math.log10(n * printed_monomials),
                holds=math.log10(n) + log10_choose(d, width),
                why="of the sanitizer, and of counting every answer",
                power=True,
            ),
            PrintedLine(
                what="two methods, numbers held: all rows there may be, 2ᵈ, or counts (Table 1)",
                printed=d * math.log10(2),
                holds=math.log10(released),
                why="such methods make synthetic rows and need few of them; the polynomial holds counts of small sets",
                power=True,
            ),
            PrintedLine(
                what=f"degree for {half} of {width}, order √(rk)·ln k + √(k·ln(1/γ)·ln k) (Lemma 4.5)",
                printed=printed_order(width=width, least=half, gamma=gamma),
                holds=half_program,
                why="a linear program; Sherstov's construction needs "
                f"{threshold(width=width, least=half, gamma=gamma).degree}, and pays only where k is large",
            ),
            PrintedLine(
                what="time for synthetic rows right on all two-way marginals",
                printed=None,
                holds=None,
                why="for a differentially private method: not polynomial in d, if one-way functions exist. "
                "Under stronger assumptions it is nearly exponential, for some number of attributes per "
                "query (Ullman and Vadhan 2011).",
                printed_words="not polynomial in d",
                holds_words="the same",
            ),
            PrintedLine(
                what=f"two methods, errors added up for {half} of {width} (Remark 4.7)",
                printed=inclusion_exclusion(width=width, least=half),
                holds=1,
                why="inclusion and exclusion against a polynomial of its own (Theorem 1.2)",
            ),
        ),
        reference="Thaler, Ullman and Vadhan (2012), Sections 2 to 4, Theorems 1.1, 1.2 and 3.1, Table 1. Our copy "
        "has lost its formulas: the printed values are from memory, not checked against a page.",
        link={
            "cube": "generated",
            "cube-attributes": f"{d}",
            "cube-rows": f"{n}",
            "width": f"{width}",
            "counts-if": "any",
            "marginals-polynomial-degree": f"{program}",
            "epsilon": f"{epsilon:g}",
        },
        survey=survey(attributes=d, width=width, alpha=alpha)
        + tuple(
            MethodLine(what=what, rows=math.log10(needed), time=math.log10(time), right=EVERY)
            for what, needed, time in counted
        ),
    )
