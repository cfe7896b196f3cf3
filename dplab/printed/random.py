"""Numbers of Hall, Rinaldo and Wasserman (2013), on random differential privacy."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcore.core import ParameterError
from dplab.printed.lines import PrintedLine, PrintedTable
from dpcore.limits.bounds import minimax
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.mechanisms.robust.unbounded_mean import far_apart_chance

SLACK, PAIRS_BEYOND = 1e-6, 0.05
"""δ of the remark on η(n); share of pairs that may be further apart than the noise allows for."""
MOST_PAIRED, SAMPLES, QUANTILE = 200, 300, 0.9


def risk_everywhere(*, n: int, epsilon: float, delta: float = 0.0) -> float:
    """With two bars, the risk on every data set of whoever has noise in both bars' risk R at most on all: a share of n.

    Let θ₁ be 2τ/n away from θ₀, τ rows. By Markov the release is within τ/n of θ₁ with chance at least 1 − Rn/τ there,
    so with at least e^(−ετ)(1 − Rn/τ) − δ(1 − e^(−ετ))/(e^ε − 1) on θ₀, where it is then τ/n off. The best whole τ
    that fits into n/2 rows: from some bar that many rows can be taken.

    Raises:
        ParameterError: without rows, or an epsilon above 0.
    """
    if n < 1 or not epsilon > 0 or not 0 <= delta < 1:
        raise ParameterError("The risk needs rows, an ε above 0 and a δ from 0 and below 1.")
    risk = minimax.geometric_risk(cells=2, rows=n, epsilon=epsilon) * n
    tau = np.arange(1, n // 2 + 1, dtype=np.float64)
    left = np.exp(-epsilon * tau)
    chances = left * (1 - risk / tau) - delta * (1 - left) / math.expm1(epsilon)
    return float(np.max(tau * chances, initial=0.0)) / n


def printed_gamma(*, n: int, share: float) -> float:
    """The least δ′ + 2·e^(−(δ′ − δ)²n) over δ′ above δ: Section 6's bound on the chance of P(h > d_δ)."""
    above = np.linspace(share, 1.0, 100_001)
    return min(1.0, float((above + 2 * np.exp(-((above - share) ** 2) * n)).min()))


@lru_cache(maxsize=16)
def quantile_spreads(*, n: int, seed: int = 1) -> tuple[float, float]:
    """Standard deviations of the sample quantile of |x − x′|, x normal: of n/2 disjoint pairs, and of all pairs."""
    generator = np.random.Generator(np.random.SFC64(seed))
    first, second = np.triu_indices(n, 1)
    found = np.empty((SAMPLES, 2))
    for sample in range(SAMPLES):
        x = generator.standard_normal(n)
        disjoint = np.abs(x[: n // 2] - x[n // 2 : 2 * (n // 2)])
        found[sample] = np.quantile(disjoint, QUANTILE), np.quantile(np.abs(x[first] - x[second]), QUANTILE)
    pairs, every = found.std(axis=0).tolist()
    return float(pairs), float(every)


def random_table(*, cells: int, n: int, epsilon: float) -> PrintedTable:
    """The histogram's least risk, and the weaker promise of random privacy."""
    spreads = quantile_spreads(n=min(n, MOST_PAIRED))
    return PrintedTable(
        title="Random privacy",
        lines=(
            PrintedLine(
                what="risk nobody is below, of n (Proposition 3.1)",
                printed=minimax.printed_risk(cells=cells, rows=n, epsilon=epsilon),
                holds=minimax.best_pairs(cells=cells, rows=n, epsilon=epsilon).risk,
                why="τ must be a whole number of rows and fit into n",
            ),
            PrintedLine(
                what="risk of noise in every bar, 2k/(εn)",
                printed=minimax.laplace_risk(cells=cells, rows=n, epsilon=epsilon),
                holds=minimax.geometric_risk(cells=cells, rows=n, epsilon=epsilon),
                why="whole-number noise, exact",
            ),
            PrintedLine(
                what="γ from which empty bars may stay empty, 2k/n",
                printed=lone_row_chance(cells=cells, n=n, condition="paper"),
                holds=lone_row_chance(cells=cells, n=n),
                why="the chance that one of two given rows is alone in its cell, bounded over all populations",
            ),
            PrintedLine(
                what="two bars: risk on every data set, e^(−c₀−1)/(εn) (Proposition 3.2)",
                printed=math.exp(-(2 * 2 + 1)) / (epsilon * n),
                holds=risk_everywhere(n=n, epsilon=epsilon),
                why="of whoever does as well as noise in both bars, c₀ = 4: at least so much on all data; whole rows",
            ),
            PrintedLine(
                what=f"the same where δ = {SLACK:g} (the remark on η(n))",
                printed=None,
                holds=risk_everywhere(n=n, epsilon=epsilon, delta=SLACK),
                why="printed: (c₁ − η(n))/(αn), unchanged for large n; a slack buys next to nothing",
            ),
            PrintedLine(
                what=f"γ₂ at δ = {PAIRS_BEYOND:g}, least δ′ + 2e^(−(δ′−δ)²n) (Section 6)",
                printed=printed_gamma(n=n, share=PAIRS_BEYOND),
                holds=far_apart_chance(n=n, exceptions=math.floor(PAIRS_BEYOND * (n // 2))),
                why="by ranks instead of the DKW inequality, and for both data sets at once",
            ),
            PrintedLine(
                what="spread of the 0.9 quantile of |x − x′|: n/2 pairs, or the U-statistic of all (Section 6)",
                printed=spreads[0],
                holds=spreads[1],
                why=f"measured on {min(n, MOST_PAIRED)} normal rows: all pairs tell more, though not independent ones",
            ),
        ),
        reference="Hall, Rinaldo and Wasserman (2013), Propositions 3.1 and 3.2, equation 5, Section 6",
        link={
            "lesson": "histogram",
            "histogram-cells": f"{cells}",
            "histogram-rows": f"{n}",
            "histogram-epsilon": f"{epsilon:g}",
        },
    )
