"""Numbers of Roth (2010), on weighted queries."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcore.core import Neighbours, ParameterError
from dpcore.limits.attacks import fat_shattering
from dpcore.mechanisms.net.answers_net import points_needed
from dpcore.mechanisms.net.listed_net import listable_points
from dplab.printed.lines import PrintedLine, PrintedTable, log10_choose

QUERIES, POINTS_ALPHA = 50, 0.1
"""Queries and error for the size of Theorem 5's databases."""
LINE, FITS = 16, 20
"""Cells of the line on which rows are fitted to answers, and number of fits."""


def _rows_needed(*, points: int, alpha: float, epsilon: float, beta: float) -> float:
    """Return the rows needed: half of alpha for the net of 2^points queries, half for the choice, of sensitivity 1."""
    half = alpha / 2
    m = math.ceil(math.log(2) * (points + 1) / (2 * half**2))
    return 2 / (epsilon * half) * (log10_choose(points + m - 1, m) * math.log(10) + math.log(1 / beta))


def listed_cells(points: int) -> int:
    """Return the most cells on which all databases of so many points can be listed for QUERIES queries."""
    cells = 2
    while listable_points(size=cells + 1, queries=QUERIES, points=points) == points:
        cells += 1
    return cells


def _roth_error(*, points: int, n: int, epsilon: float) -> float:
    """Return the order of Roth's error for 2^points queries, in rows, with constant 1."""
    log_k: float = points * math.log(2)
    return float(n ** (2 / 3) * (log_k * math.log(points) / epsilon) ** (1 / 3))


def _crossing(*, points: int, n: int, epsilon: float) -> float:
    """Return the number of queries k at which √k/ε equals n^⅔·(ln k·ln U/ε)^⅓, by fixed-point iteration."""
    k = n ** (4 / 3)
    for _ in range(100):
        k = (epsilon * n ** (2 / 3) * (math.log(max(k, 2)) * math.log(points) / epsilon) ** (1 / 3)) ** 2
    return float(max(k, 1.0))


@lru_cache(maxsize=16)
def fitted_error(*, alpha: float, seed: int = 1) -> float:
    """Return the largest error of rows that a linear program fits to answers of error alpha, over all intervals.

    Answers are the true ones rounded to multiples of 2·alpha. The program takes the weights nearest to the answers. The
    truth is within alpha of them, so the best weights are, and are within 2·alpha of the truth (Roth 2010, footnote 1;
    Dwork, Naor, Reingold, Rothblum and Vadhan 2009).

    Raises:
        ParameterError: alpha is not between 0 and 1.
    """
    from scipy.optimize import linprog

    if not 0 < alpha < 1:
        raise ParameterError(f"The error of answers lies between 0 and 1, not at {alpha!r}.")
    generator = np.random.Generator(np.random.SFC64(seed))
    queries = np.array([[a <= cell <= b for cell in range(LINE)] for a in range(LINE) for b in range(a, LINE)], float)
    ones = np.ones((len(queries), 1))
    worst = 0.0
    for _ in range(FITS):
        truth = generator.dirichlet(np.ones(LINE))
        answers = 2 * alpha * np.round(queries @ truth / (2 * alpha))
        solution = linprog(
            np.append(np.zeros(LINE), 1.0),
            A_ub=np.block([[queries, -ones], [-queries, -ones]]),
            b_ub=np.concatenate([answers, -answers]),
            A_eq=np.append(np.ones(LINE), 0.0)[None],
            b_eq=[1.0],
        )
        worst = max(worst, float(np.abs(queries @ (solution.x[:LINE] - truth)).max()))
    return worst


def weights_table(
    *, points: int, scale: float, alpha: float, n: int, epsilon: float, beta: float = 0.05
) -> PrintedTable:
    """Return the table for weighted queries: all 2^d of a class that shatters d points at this scale, on these points.

    Args:
        points: number d of shattered points.
        scale: γ.
        alpha: allowed error η, a share of n.
        n: number of rows.
        epsilon: ε.
        beta: failure probability.
    """
    constants = fat_shattering.constants(
        points=points, scale=scale, spread=0.0, epsilon=epsilon, neighbours=Neighbours.ADD_REMOVE_ONE
    )
    return PrintedTable(
        title="Queries with weights",
        lines=(
            PrintedLine(
                what="lower bound on the error, in rows (Theorem 2)",
                printed=constants.paper,
                holds=constants.corrected,
                why="the two data sets differ in two rows: e^(2ε), not e^ε",
            ),
            PrintedLine(
                what="the same, step by step",
                printed=None,
                holds=constants.best,
                why="every step of the proof with whole rows",
            ),
            PrintedLine(
                what="sensitivity Δ of the score (Section 4)",
                printed=2,
                holds=1,
                why="a unit more moves the inner term by q_i − q(D′)/m, within [−1, 1]: half the noise",
            ),
            PrintedLine(
                what="points that the pigeonholes keep, γ·FSD (Section 3)",
                printed=scale * points,
                holds=fat_shattering.guaranteed_points(dimension=points, scale=scale),
                why="whole points: the fullest of the pieces of width γ, and r_i ± γ must lie within [0, 1]",
            ),
            PrintedLine(
                what="rows needed, order FSD·ln U/(εη³) (Theorem 5)",
                printed=math.log10(points * math.log(points) / (epsilon * alpha**3)),
                holds=math.log10(_rows_needed(points=points, alpha=alpha, epsilon=epsilon, beta=beta)),
                why="printed without its constant and logarithms of η; holds: the 2^d queries counted, Δ = 1",
                power=True,
            ),
            PrintedLine(
                what=f"points of a small database for {QUERIES} queries at α = {POINTS_ALPHA:g} (Corollary 1)",
                printed=None,
                holds=points_needed(QUERIES, POINTS_ALPHA),
                why=f"ln(2|Q|)/(2α²), the points found by multiplicative weights; all databases of so many can be "
                f"listed on up to {listed_cells(points_needed(QUERIES, POINTS_ALPHA))} cells",
                printed_words="O(FSD/η²·log²(1/η))",
            ),
            PrintedLine(
                what="error of k = 2^d queries, order n^⅔·(ln k·ln U/ε)^⅓, of n (Section 1)",
                printed=_roth_error(points=points, n=n, epsilon=epsilon) / n,
                holds=None,
                why="constant 1; the rows with constants are in the line above",
                holds_words="no constant proved",
            ),
            PrintedLine(
                what="queries from which that is less than Hardt and Talwar's √k·ln(U/k)/ε, n^(4/3)",
                printed=math.log10(n ** (4 / 3)),
                holds=math.log10(_crossing(points=points, n=n, epsilon=epsilon)),
                why="with the logarithms, both constants 1, ln(U/k) as 1 (their k is at most U)",
                power=True,
            ),
            PrintedLine(
                what="exponent x of the probability n^m·e^(−x) of a bad database, η‖D‖α/2 (proof of Theorem 5)",
                printed=epsilon * alpha * n / 2,
                holds=epsilon * alpha * n / 4,
                why="a bad database has e^(−η‖D‖α/2), a good one e^(−η‖D‖α/4): their quotient has η‖D‖α/4",
            ),
            PrintedLine(
                what="error of rows fitted to answers of error α (footnote 1's program)",
                printed=2 * alpha,
                holds=fitted_error(alpha=alpha),
                why=f"printed: always; held: the worst interval of a line of {LINE} cells in {FITS} fits to answers "
                "rounded to multiples of 2α",
            ),
        ),
        reference="Roth (2010), Sections 1, 3 and 4, Theorems 2 and 5, footnote 1; Hardt and Talwar (2010)",
        link={"lesson": "fat", "fat-points": f"{points}", "fat-scale": f"{scale:g}", "fat-epsilon": f"{epsilon:g}"},
    )
