"""Fat-shattering: weights of one run, the share found against the scale, unavoidable errors against ε."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.core import Booleans, Floats, Neighbours, exactly
from dpcore.figures.figure import Figure, Records, framed, palette, percent, significant
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall
from dpcore.figures.limits_plot import plot
from dpcore.figures.limits_vc import BETA, EPSILON
from dpcore.limits import fat_shattering

SHOWN = 32
"""Points of one run that are drawn."""
FLOOR = 0.01
"""Errors in rows below are drawn here: a logarithmic axis has no zero."""


def weights(*, levels: Floats, scale: float, truth: Booleans, chosen: Booleans, badge: str, dark: bool) -> Figure:
    """What the secret half's own query weighs each point, around its level; wrong guesses are crossed. All (d,)."""
    colours, points = palette(dark=dark), len(levels)
    weight = fat_shattering.weights(half=truth, levels=levels, scale=scale)
    rows: Records = [
        {"point": place, "level": float(levels[place]), "weight": float(weight[place]),
         "half": "secret half" if truth[place] else "the others", "wrong": bool(chosen[place] != truth[place])}
        for place in range(min(points, SHOWN))
    ]  # fmt: skip
    x = {"field": "point", "type": "quantitative", "title": "person", "scale": {"nice": False, "padding": 8}}
    y = {"field": "weight", "type": "quantitative", "title": "weight", "scale": {"domain": [0, 1]}}
    half = {
        "field": "half", "type": "nominal",
        "scale": {"domain": ["secret half", "the others"], "range": [colours.true, colours.released]},
    }  # fmt: skip
    shape = {**half, "scale": {"domain": ["secret half", "the others"], "range": ["circle", "square"]}}
    body = {
        "layer": [
            {
                "data": {"name": "people"},
                "mark": {"type": "rule", "strokeWidth": 1.5},
                "encoding": {"x": x, "y": y, "y2": {"field": "level"}, "color": half},
            },
            {
                "data": {"name": "people"},
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": half, "shape": shape},
            },
            {
                "data": {"name": "wrong"},
                "mark": {"type": "text", "text": "×", "color": colours.theory, "fontSize": 20, "fontWeight": "bold"},
                "encoding": {"x": x, "y": y},
            },
        ]
    }
    datasets = {"people": rows, "wrong": [row for row in rows if row["wrong"]]}
    wrong = int((chosen != truth).sum())
    part = f"; the first {SHOWN} of {points} are drawn" if points > SHOWN else ""
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=220, datasets=datasets),
        sentence=f"The secret half's own query weighs its {points // 2} people {significant(2 * scale)} more than the "
        f"others, around levels that differ a little; the attack on one release was wrong about {wrong} of "
        f"{points} (×){part}.",
        table={
            "person": list(range(points)), "level": levels.tolist(), "weight": weight.tolist(),
            "secret": truth.tolist(), "guessed": chosen.tolist(),
        },
    )  # fmt: skip


def by_scale(*, scales: Sequence[float], shares: Floats, scale: float, badge: str, dark: bool) -> Figure:
    """Share found against the scale, (S, R): the same releases, seen through weaker and weaker queries."""
    means = shares.mean(axis=1)
    return plot(
        x=Axis(title="scale γ: half the weight between in and out", low=0, high=0.52),
        y=Axis(title="share of the half found", low=0.4, high=1.05, form=".0%", ticks=(0.4, 0.6, 0.8, 1)),
        series=[
            Series(
                name="identity, attacked", x=scales, y=means, low=np.quantile(shares, 0.05, axis=1),
                high=np.quantile(shares, 0.95, axis=1), role="released",
            )
        ],
        marks=(Mark(label=f"γ = {exactly(scale)}", x=scale),),
        sentence=f"The attack finds {percent(float(means[0]))} of the secret half at γ = {scales[0]:g} and "
        f"{percent(float(means[-1]))} at γ = {scales[-1]:g}: weak weights hide nobody. Bars hold 90% of "
        f"{shares.shape[1]} runs.",
        badge=badge,
        dark=dark,
        height=280,
    )  # fmt: skip


def unavoidable(
    *,
    points: int,
    scale: float,
    spread: float,
    epsilon: float,
    neighbours: Neighbours,
    measured: tuple[Sequence[float], Floats],
    badge: str,
    dark: bool,
) -> Figure:
    """Errors in rows that cannot be avoided, by three proofs, beside the error that 95% of identity releases keep.

    Args:
        points: d.
        scale: γ.
        spread: of the levels.
        epsilon: where the reader stands.
        neighbours: the relation.
        measured: grid of ε (E,), and worst weighted errors in rows, (E, R).
        badge: provenance.
        dark: for the dark theme.
    """
    grid = np.geomspace(0.08, 12.5, 60)

    def at(value: float, beta: float) -> fat_shattering.Constants:
        return fat_shattering.constants(
            points=points, scale=scale, spread=spread, epsilon=value, neighbours=neighbours, beta=beta
        )

    sure = [at(float(value), 0.0) for value in grid]
    best = np.array([at(float(value), BETA).best for value in grid])
    here, proved = at(epsilon, 0.0), at(epsilon, BETA).best
    epsilons, errors = measured
    level = np.maximum(np.quantile(errors, 1 - BETA, axis=1), FLOOR)
    middle = np.maximum(np.quantile(errors, 0.5, axis=1), FLOOR)
    return plot(
        x=EPSILON,
        y=Axis(title="worst error, rows", log=True, low=FLOOR),
        series=[
            Series(name="the paper's constant", x=grid, y=[each.paper for each in sure]),
            Series(name="corrected constant", x=grid, y=[each.corrected for each in sure], role="theory"),
            Series(name="identity, measured", x=epsilons, y=level, low=middle, high=level, role="released"),
        ],
        wall=Wall(x=grid, y=best, end=FLOOR, label="impossible for a private method", corner="bottom left"),
        marks=(Mark(label=f"ε = {exactly(epsilon)}", x=epsilon),),
        sentence=f"At ε = {exactly(epsilon)} the paper's constant says {significant(here.paper)} rows, the corrected "
        f"one {significant(here.corrected)}, and following every step {significant(proved)} (for 95% of releases); "
        f"of {points // 2} rows.",
        badge=badge,
        dark=dark,
        height=320,
    )
