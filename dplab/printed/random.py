"""Numbers of Hall, Rinaldo and Wasserman (2013), on random differential privacy."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcore.core import ParameterError
from dpcore.limits.bounds import minimax
from dpcore.limits.bounds.distributional import differential_from
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.mechanisms.robust.sampled_sensitivity import paper_samples
from dpcore.mechanisms.robust.unbounded_mean import exception_chance
from dplab.printed.lines import PrintedLine, PrintedTable
from dplab.sparse import grid_example, rows_needed, simulate

SLACK, PAIRS_BEYOND = 1e-6, 0.05
"""δ of the remark on η(n); share of pairs whose distance may exceed what the noise covers."""
FIGURE_GAMMA, FIGURE_EPSILON = 0.1, 0.1
"""γ and ε for the paper's Figure 2, which states neither."""
MAX_PAIRED, SAMPLES, QUANTILE = 200, 300, 0.9


def risk_everywhere(*, n: int, epsilon: float, delta: float = 0.0) -> float:
    """Return a lower bound on the risk on every data set of a mechanism whose risk is at most R on all, with two bars.

    R is the risk of noise in both bars, as a share of n. Let θ₁ be 2τ/n away from θ₀, which is τ rows. By Markov's
    inequality the release is within τ/n of θ₁ with probability at least 1 − Rn/τ on θ₁, so with probability at least
    e^(−ετ)(1 − Rn/τ) − δ(1 − e^(−ετ))/(e^ε − 1) on θ₀, where its error is then τ/n. The bound is maximized over whole
    τ up to n/2, as one of the bars has that many rows.

    Raises:
        ParameterError: there are no rows, or epsilon is not above 0, or delta is not in [0, 1).
    """
    if n < 1 or not epsilon > 0 or not 0 <= delta < 1:
        raise ParameterError("The risk needs rows, an ε above 0 and a δ from 0 and below 1.")
    risk = minimax.geometric_risk(cells=2, rows=n, epsilon=epsilon) * n
    tau = np.arange(1, n // 2 + 1, dtype=np.float64)
    left = np.exp(-epsilon * tau)
    chances = left * (1 - risk / tau) - delta * (1 - left) / math.expm1(epsilon)
    return float(np.max(tau * chances, initial=0.0)) / n


def printed_gamma(*, n: int, share: float) -> float:
    """Return the minimum of δ′ + 2·e^(−(δ′ − δ)²n) over δ′ > δ: Section 6's bound on the probability of P(h > d_δ)."""
    above = np.linspace(share, 1.0, 100_001)
    return min(1.0, float((above + 2 * np.exp(-((above - share) ** 2) * n)).min()))


@lru_cache(maxsize=16)
def quantile_spreads(*, n: int, seed: int = 1) -> tuple[float, float]:
    """Return standard deviations of the sample quantile of |x − x′|, x normal: from disjoint and from all pairs."""
    generator = np.random.Generator(np.random.SFC64(seed))
    first, second = np.triu_indices(n, 1)
    quantiles = np.empty((SAMPLES, 2))
    for sample in range(SAMPLES):
        x = generator.standard_normal(n)
        disjoint = np.abs(x[: n // 2] - x[n // 2 : 2 * (n // 2)])
        quantiles[sample] = np.quantile(disjoint, QUANTILE), np.quantile(np.abs(x[first] - x[second]), QUANTILE)
    pairs, every = quantiles.std(axis=0).tolist()
    return float(pairs), float(every)


def corner_total(*, cells: int, n: int, shift: int, printed: bool) -> float:
    """Return the sum of shares of a corner of Proposition 3.1's hypercube with one σ = 1; 1 if it is a histogram."""
    signs = np.arange(cells - 1) == 0
    last = (n - signs.sum()) * shift if printed else n - shift * signs.sum()
    return float((shift * signs.sum() + last) / n)


@lru_cache(maxsize=1)
def figure_2_losses() -> tuple[int, float, float]:
    """Return the rows from which Figure 2's empty cells may stay empty, and both mean total errors (DP, random DP)."""
    rows = rows_needed(cells=len(grid_example(0)), gamma=FIGURE_GAMMA, condition="paper")
    figure = simulate(grid_example(rows), epsilon=FIGURE_EPSILON, gamma=FIGURE_GAMMA, condition="paper", seed=1)
    return rows, float(figure.private_loss.mean()), float(figure.random_loss.mean())


def random_table(*, cells: int, n: int, epsilon: float) -> PrintedTable:
    """Return the table of the histogram's minimax risk and of random differential privacy."""
    pairs = minimax.best_pairs(cells=cells, rows=n, epsilon=epsilon)
    figure_rows, private, random = figure_2_losses()
    spreads = quantile_spreads(n=min(n, MAX_PAIRED))
    return PrintedTable(
        title="Random privacy",
        lines=(
            PrintedLine(
                what="lower bound on the risk, of n (Proposition 3.1)",
                printed=minimax.printed_risk(cells=cells, rows=n, epsilon=epsilon),
                holds=pairs.risk,
                why="τ must be a whole number of rows and fit into n",
            ),
            PrintedLine(
                what="expected error of noise in every bar, 2k/(εn)",
                printed=minimax.laplace_risk(cells=cells, rows=n, epsilon=epsilon),
                holds=minimax.geometric_risk(cells=cells, rows=n, epsilon=epsilon),
                why="whole-number noise, exact",
            ),
            PrintedLine(
                what="γ from which empty bars may stay empty, 2k/n",
                printed=lone_row_chance(cells=cells, n=n, condition="paper"),
                holds=lone_row_chance(cells=cells, n=n),
                why="the probability that one of two given rows is alone in its cell, bounded over all populations",
            ),
            PrintedLine(
                what="two bars: risk on every data set, e^(−c₀−1)/(εn) (Proposition 3.2)",
                printed=math.exp(-(2 * 2 + 1)) / (epsilon * n),
                holds=risk_everywhere(n=n, epsilon=epsilon),
                why="for a mechanism as good as noise in both bars, c₀ = 4: at least so much on all data; whole rows",
            ),
            PrintedLine(
                what=f"the same where δ = {SLACK:g} (the remark on η(n))",
                printed=None,
                holds=risk_everywhere(n=n, epsilon=epsilon, delta=SLACK),
                why="for two bars a small δ hardly reduces it. If many bars are empty, δ helps: add noise to "
                "non-empty bars only and publish those above a threshold. This protects all data (Bun, "
                "Nissim and Stemmer 2016)",
                printed_words="(c₁ − η(n))/(αn)",
            ),
            PrintedLine(
                what="shares of a corner of the hypercube, added up (proof of Proposition 3.1)",
                printed=corner_total(cells=cells, n=n, shift=pairs.shift, printed=True),
                holds=corner_total(cells=cells, n=n, shift=pairs.shift, printed=False),
                why="the last coordinate is (n − τΣσ)/n, printed (n − Σσ)τ/n; here all σ = 0 but one",
            ),
            PrintedLine(
                what=f"rows from which Figure 2's empty cells may stay empty, 2k/γ at γ = {FIGURE_GAMMA:g}",
                printed=None,
                holds=figure_rows,
                why="the figure gives no n. At n = 500 both histograms are the same; here, at ε = "
                f"{FIGURE_EPSILON:g}, the total errors are {random:.3f} and {private:.3f} (simulated)",
            ),
            PrintedLine(
                what="probability that two samples of n of n + 1 rows are a given pair, 2/n² (proof of Theorem 7.3)",
                printed=2 / n**2,
                holds=2 * differential_from(n=n),
                why="each sample leaves out one of n + 1 rows: 2/(n + 1)²; of Blum, Ligett and Roth's section 7",
            ),
            PrintedLine(
                what=f"γ₂ at δ = {PAIRS_BEYOND:g}, least δ′ + 2e^(−(δ′−δ)²n) (Section 6)",
                printed=printed_gamma(n=n, share=PAIRS_BEYOND),
                holds=exception_chance(n=n, exceptions=math.floor(PAIRS_BEYOND * (n // 2))),
                why="by ranks instead of the DKW inequality, and for both data sets at once",
            ),
            PrintedLine(
                what=f"samples of the sensitivity for γ = {FIGURE_GAMMA:g} (Rubinstein and Aldà 2017, Theorem 15)",
                printed=paper_samples(FIGURE_GAMMA)[0],
                holds=math.ceil(1 / FIGURE_GAMMA) - 1,
                why="by ranks instead of the DKW inequality: the largest of m samples is exceeded with probability at "
                "most 1/(m + 1)",
            ),
            PrintedLine(
                what="spread of the 0.9 quantile of |x − x′|: n/2 pairs, or the U-statistic of all (Section 6)",
                printed=spreads[0],
                holds=spreads[1],
                why=f"measured on {min(n, MAX_PAIRED)} normal rows: all pairs tell more, though not independent ones",
            ),
        ),
        reference="Hall, Rinaldo and Wasserman (2013), Propositions 3.1 and 3.2, equation 5, Section 6, Figure 2; "
        "Blum, Ligett and Roth (2013), Theorem 7.3",
        link={
            "lesson": "histogram",
            "histogram-cells": f"{cells}",
            "histogram-rows": f"{n}",
            "histogram-epsilon": f"{epsilon:g}",
        },
    )
