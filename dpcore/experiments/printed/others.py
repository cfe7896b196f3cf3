"""Numbers of Roth (2010), of the notes on stability, and of Hall, Rinaldo and Wasserman (2013)."""

from __future__ import annotations

import math

from dpcore.core import Neighbours, ParameterError
from dpcore.experiments.printed.lines import PrintedLine, PrintedTable
from dpcore.limits.attacks import fat_shattering
from dpcore.limits.bounds import median, minimax
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.mechanisms.subsamples.subsampling import calibrated_plan, paper_delta, paper_plan


def weights_table(*, points: int, scale: float, epsilon: float) -> PrintedTable:
    """Queries that weigh rows: what an attack forbids, and what the mechanism's score moves by."""
    found = fat_shattering.constants(
        points=points, scale=scale, spread=0.0, epsilon=epsilon, neighbours=Neighbours.ADD_REMOVE_ONE
    )
    return PrintedTable(
        title="Queries that weigh rows",
        lines=(
            PrintedLine(
                what="error in rows that cannot be avoided (Theorem 2)",
                printed=found.paper,
                holds=found.corrected,
                why="the two data sets differ in two rows: e^(2ε), not e^ε",
            ),
            PrintedLine(
                what="the same, step by step",
                printed=None,
                holds=found.best,
                why="every step of the proof with whole rows",
            ),
            PrintedLine(
                what="sensitivity Δ of the score (Section 4)",
                printed=2,
                holds=1,
                why="a unit more moves the inner term by q_i − q(D′)/m, within [−1, 1]: half the noise",
            ),
        ),
        reference="Roth (2010), Theorem 2 and Section 4",
        link={"lesson": "fat", "fat-points": f"{points}", "fat-scale": f"{scale:g}", "fat-epsilon": f"{epsilon:g}"},
    )


def stability_table(*, n: int, rows: int, epsilon: float, delta: float) -> PrintedTable:
    """The median that may refuse, and answers of subsamples."""
    threshold = math.log(1 / delta)
    subsamples = math.ceil(epsilon * (n / rows) ** 3)
    own = calibrated_plan(epsilon=epsilon, delta=delta, n=n, rows=rows, subsamples=subsamples)
    try:
        proved: float | None = paper_delta(epsilon=epsilon, n=n, rows=rows)
        held: float | None = paper_plan(epsilon=epsilon, n=n, rows=rows).delta
    except ParameterError:
        proved = held = None
    return PrintedTable(
        title=f"Answers that are stable, ε = {epsilon:g}",
        lines=(
            PrintedLine(
                what="δ of the median at t = ln(1/δ), O(e^−t)",
                printed=math.exp(-threshold),
                holds=0.5 * math.exp(-(threshold - epsilon)),
                why="exact for Laplace noise: ½·e^−(t − ε)",
            ),
            PrintedLine(
                what="rows of stability for an answer every other time",
                printed=threshold / epsilon,
                holds=median.stable_threshold(epsilon=epsilon, delta=delta),
                why="with whole-number noise, calibrated on its own δ",
            ),
            PrintedLine(
                what="δ of k = ε(n/m)³ subsamples, m ≤ n/64 (Theorem 4)",
                printed=proved,
                holds=held,
                why="its proof's constants worked out (“31k/32” is 19k/32), and the exact count of a row's subsamples",
            ),
            PrintedLine(
                what="votes needed of as many subsamples, 5k/8",
                printed=5 * subsamples / 8,
                holds=own.threshold,
                why=f"calibrated for δ = {delta:g} on {subsamples:,} subsamples",
            ),
        ),
        reference="Lecture notes on stability-based mechanisms, Sections 1 and 2",
        link={
            "robust": "stable_median",
            "data": "bimodal",
            "n": f"{n}",
            "epsilon": f"{epsilon:g}",
            "delta": f"{delta:.0e}".replace("e-0", "e-"),
        },
    )


def random_table(*, cells: int, n: int, epsilon: float) -> PrintedTable:
    """The histogram's least risk, and the weaker promise of random privacy."""
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
        ),
        reference="Hall, Rinaldo and Wasserman (2013), Proposition 3.1 and equation 5",
        link={
            "lesson": "histogram",
            "histogram-cells": f"{cells}",
            "histogram-rows": f"{n}",
            "histogram-epsilon": f"{epsilon:g}",
        },
    )
