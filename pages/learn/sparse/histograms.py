"""Sparse histograms: true, private and random-private side by side, and their losses over many simulations."""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Integers
from dplab.sparse import LossFigure
from pages.charts.picture import Anchor, Axis, Bars, Dots, Heat, Mark, Picture, Rule
from pages.charts.words import short_numbers, significant

PRIVATE, RANDOM = "differentially private", "random privacy"
ROLES = {"true": "true", PRIVATE: "mechanism:projected_histogram", RANDOM: "mechanism:sparse_histogram"}
SIDE = 20
"""Cells along each side of the paper's second figure."""
BINS = 40
DOTS = 50
"""Each stands for 2 in 100 simulations."""


def panel(*, counts: Integers, name: str, top: int, grid: bool) -> Picture:
    """One histogram as bars or as a map; square roots of counts, so that single rows can be seen beside full cells.

    Args:
        counts: rows in each cell, (k,).
        name: what it is: "true", PRIVATE or RANDOM.
        top: the end of the scale, the same for the panels to be compared.
        grid: whether the cells are a square map in row order.
    """
    cells = np.arange(len(counts))
    hover = [f"cell {cell}: {rows:,} rows, {name}" for cell, rows in enumerate(counts.tolist())]
    mark: Mark
    if grid:
        edges = np.arange(SIDE + 1) - 0.5
        mark = Heat(
            role="true" if name == "true" else "released",
            x=edges,
            y=edges,
            value=counts.reshape(SIDE, SIDE)[::-1],
            low=0,
            high=top,
            unit="rows",
            root=True,
            gap=1,
            hover=np.array(hover).reshape(SIDE, SIDE)[::-1].reshape(-1).tolist(),
        )
        x, y = Axis(shown=False), Axis(shown=False)
    else:
        mark = Bars(role=ROLES[name], start=cells, end=cells + 1, value=np.sqrt(counts), opacity=0.9, hover=hover)
        # Numbers stand where the roots of round counts are: two digits of them.
        step = 10 ** max(0, len(str(top)) - 2)
        round_counts = np.unique(step * np.floor(top * np.linspace(0, 1, 5) ** 2 / step)).tolist()
        x = Axis(title="cell", low=0, high=len(counts))
        y = Axis(
            title="rows (square-root scale)",
            low=0,
            high=math.sqrt(top),
            ticks=(0.0,),
            named={math.sqrt(rows): f"{rows:,.0f}" for rows in round_counts},
        )
    return Picture(
        title=f"Histogram, {name}",
        x=x,
        y=y,
        marks=[mark],
        sentence=f"{name[0].upper()}{name[1:]}: {int((counts > 0).sum()):,} of {len(counts):,} cells hold rows.",
        table={"cell": cells.tolist(), "rows": counts.tolist()},
        height=280 if grid else 230,
    )


def losses(*, found: LossFigure, projected: bool) -> Picture:
    """L1 losses of all simulations: dots of 2%, the private ones upwards, the random-private downwards.

    Args:
        found: the simulations.
        projected: of the projected histograms, or of the noisy counts before the projection.
    """
    private, random = (
        (found.private_loss, found.random_loss) if projected else (found.private_noise, found.random_noise)
    )
    right = float(max(private.max(), random.max(), 1e-9)) * 1.02
    marks: list[Mark] = []
    for line, (name, loss, up) in enumerate(((PRIVATE, private, 1), (RANDOM, random, -1))):
        quantiles = np.quantile(loss, (np.arange(DOTS) + 0.5) / DOTS)
        columns = np.minimum((quantiles / right * BINS).astype(int), BINS - 1)
        # The quantiles are in order: a dot's height is its place among those of its column.
        heights = np.arange(DOTS) - np.searchsorted(columns, columns) + 1
        mean, role = float(loss.mean()), ROLES[name]
        marks += [
            Rule(role=role, x=mean, dash="dash", label=f"mean {significant(mean)}", line=line, side=_side(mean, right)),
            Dots(
                role=role,
                name=name,
                x=(columns + 0.5) * right / BINS,
                y=up * heights,
                shape="triangle-up" if up > 0 else "circle",
                size=7,
                hover=[f"{name}: L1 loss {significant(each)}, simulated" for each in quantiles.tolist()],
            ),
        ]
    ratio = private.mean() / random.mean() if random.mean() > 0 else math.inf
    text = "both mechanisms are one here: the condition is not met."
    if found.spared:
        text = "the same here." if ratio < 1.005 else f"{significant(ratio)} times as much as with random privacy."
    return Picture(
        title="Losses of the simulations",
        x=Axis(title="L1 loss, share of n (each dot 2 in 100)", low=0, high=right),
        y=Axis(shown=False),
        marks=marks,
        sentence=f"Mean loss over {len(private)} simulations {'after' if projected else 'before'} the projection: "
        f"{significant(float(private.mean()))} for the private histogram, {significant(float(random.mean()))} for the "
        f"random-private one; {text}",
        table={PRIVATE: short_numbers(np.sort(private)), RANDOM: short_numbers(np.sort(random))},
        height=280,
    )


def _side(mean: float, right: float) -> Anchor:
    """The side of a rule with more room for words."""
    return "left" if mean > right / 2 else "right"
