"""Numbers of the notes on stability-based mechanisms."""

from __future__ import annotations

import math

from dpcore.core import ParameterError
from dpcore.limits.bounds import median
from dpcore.mechanisms.subsamples.subsampling import calibrated_plan, paper_delta, paper_plan
from dplab.printed.lines import PrintedLine, PrintedTable

NOT_APPLICABLE = "does not apply"
"""Value of a theorem at settings that it excludes."""


def stability_table(*, n: int, rows: int, epsilon: float, delta: float) -> PrintedTable:
    """Return the table of the stable median, which may refuse, and of subsample-and-aggregate."""
    threshold = math.log(1 / delta)
    subsamples = math.ceil(epsilon * (n / rows) ** 3)
    own = calibrated_plan(epsilon=epsilon, delta=delta, n=n, rows=rows, subsamples=subsamples)
    try:
        proved: float | None = paper_delta(epsilon=epsilon, n=n, rows=rows)
        corrected: float | None = paper_plan(epsilon=epsilon, n=n, rows=rows).delta
    except ParameterError:
        proved = corrected = None
    return PrintedTable(
        title=f"Stable answers, ε = {epsilon:g}",
        lines=(
            PrintedLine(
                what="δ of the median at t = ln(1/δ), O(e^−t)",
                printed=math.exp(-threshold),
                holds=0.5 * math.exp(-(threshold - epsilon)),
                why="exact for Laplace noise: ½·e^−(t − ε)",
            ),
            PrintedLine(
                what="stability (rows) for an answer in half of the runs",
                printed=threshold / epsilon,
                holds=median.stable_threshold(epsilon=epsilon, delta=delta),
                why="with whole-number noise, calibrated on its own δ",
            ),
            PrintedLine(
                what="δ of k = ε(n/m)³ subsamples, m ≤ n/64 (Theorem 4)",
                printed=proved,
                holds=corrected,
                why="its proof's constants worked out (“31k/32” is 19k/32), and the exact count of a row's subsamples",
                printed_words=NOT_APPLICABLE,
                holds_words=NOT_APPLICABLE,
            ),
            PrintedLine(
                what="votes needed of as many subsamples, 5k/8",
                printed=5 * subsamples / 8,
                holds=own.threshold,
                why=f"calibrated for δ = {delta:g} on {subsamples:,} subsamples"
                + (", which is more than there are: it mostly gives no answer" * (own.threshold > subsamples)),
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
