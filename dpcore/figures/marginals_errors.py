"""How wrong answers to many queries are: by the polynomial, directly, and as predicted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, shortened
from dpcore.marginals.plans import Plan

SHARES = np.concatenate([np.linspace(0.01, 0.99, 50), [0.999]])
"""Shares of the queries at which curves are drawn."""
DECADES = (-7, -4)
"""Where the axis begins, as powers of ten: it is one of equal factors, and smaller errors are drawn at its left end."""
BY_POLYNOMIAL, BETWEEN = "polynomial, observed", "between bounds, observed"
DIRECTLY, PREDICTED = "direct, observed", "direct, predicted"
WORST = "polynomial, worst of all as predicted"
HEIGHT = 340


def error_curves(
    *,
    polynomial: Floats | None,
    middle: Floats | None = None,
    direct: Floats,
    plan: Plan,
    direct_plan: Plan,
    laplace: bool,
    badge: str,
    dark: bool,
) -> Figure:
    """Share of queries whose answer is within an error, on an axis of equal factors.

    Args:
        polynomial: absolute errors of the polynomial's answers, (Q,); None where there is none.
        middle: the same for the midpoints of the bounds that the same release gives.
        direct: the same for direct release.
        plan: the polynomial's.
        direct_plan: direct release's.
        laplace: whether noise is Laplace.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours = palette(dark=dark)
    deviation = direct_plan.deviation
    guess = -np.log1p(-SHARES) * deviation / math.sqrt(2) if laplace else _normal(SHARES) * deviation
    curves = {DIRECTLY: np.quantile(direct, SHARES), PREDICTED: np.minimum(guess, 1.0)}
    for name, errors in ((BETWEEN, middle), (BY_POLYNOMIAL, polynomial)):
        if errors is not None:
            curves = {name: np.quantile(errors, SHARES), **curves}
    typical = min(float(np.median(curve)) for curve in curves.values())
    first = int(np.clip(math.floor(math.log10(max(typical, 1e-300))) - 1, *DECADES))
    floor = 10.0**first
    values: Records = [
        {"error": max(floor, error or 0.0), "share": share, "curve": name}
        for name, curve in curves.items()
        for error, share in zip(shortened(curve), shortened(SHARES), strict=True)
    ]
    marks: Records = [{"x": min(1.0, max(floor, plan.predicted)), "curve": WORST}]
    datasets: dict[str, Records] = {"curves": values, "marks": marks if plan.predicted < 1 else []}
    parts = [
        f"{percent(float(np.quantile(errors, 0.95)))} {how}"
        for errors, how in ((polynomial, "by the polynomial"), (middle, "between its bounds"), (direct, "directly"))
        if errors is not None
    ]
    sentence = (
        f"95 in 100 of {len(direct):,} queries err by at most {', '.join(parts)} in this release, after moving "
        f"answers into 0 to 1. Predicted for the polynomial: bias up to {percent(plan.gamma)}, noise of standard "
        f"deviation {percent(plan.deviation)}, the worst of all at about {percent(min(plan.predicted, 1.0))}."
    )
    table: dict[str, list[Any]] = {"share of queries": shortened(SHARES)}
    table |= {f"error, {name}": shortened(curve) for name, curve in curves.items()}
    return Figure(
        spec=framed(_body(colours, first=first), badge=badge, colours=colours, height=HEIGHT, datasets=datasets),
        sentence=sentence,
        table=table,
        title="Errors over many queries",
    )


def _normal(shares: Floats) -> Floats:
    """Quantiles of |normal|."""
    from scipy.special import ndtri

    quantiles: Floats = ndtri((1 + shares) / 2)
    return quantiles


def _body(colours: Palette, *, first: int) -> dict[str, Any]:
    """Curves, and the prediction for all queries as a line; the axis begins at 10^first."""
    names = [BY_POLYNOMIAL, BETWEEN, DIRECTLY, PREDICTED, WORST]
    hues = {"domain": names, "range": [colours.released, *colours.others[:2], colours.theory, colours.theory]}
    dashes = {"domain": names, "range": [[1, 0], [10, 2], [7, 3], [2, 3], [1, 0]]}
    x = {
        "type": "quantitative", "title": "error, as a share of rows",
        "scale": {"type": "log", "domain": [10.0**first, 1], "clamp": True},
        "axis": {
            "format": "~p", "values": [10.0**power for power in range(0, first - 1, -1 if first > -6 else -2)],
            "grid": True,
        },
    }  # fmt: skip
    y = {
        "field": "share", "type": "quantitative", "title": "queries within it", "scale": {"domain": [0, 1]},
        "axis": {"format": "~p", "tickCount": 5},
    }  # fmt: skip
    legend = {"columns": 1}
    return {
        "layer": [
            {
                "data": {"name": "curves"},
                "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
                "encoding": {
                    "x": {"field": "error", **x}, "y": y, "order": {"field": "share"},
                    "color": {"field": "curve", "type": "nominal", "scale": hues, "legend": legend},
                    "strokeDash": {"field": "curve", "type": "nominal", "scale": dashes, "legend": legend},
                },
            },
            {
                # Named in the legend: a label beside it would lie on one of the curves somewhere.
                "data": {"name": "marks"},
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": {"field": "x", **x},
                    "color": {"field": "curve", "type": "nominal", "scale": hues, "legend": legend},
                    "strokeDash": {"field": "curve", "type": "nominal", "scale": dashes, "legend": legend},
                },
            },
        ]
    }  # fmt: skip
