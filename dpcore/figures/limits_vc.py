"""Reconstruction of a secret half: one run, shares recovered and errors against ε, the two worlds of a swap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.core import Booleans, Floats, Neighbours
from dpcore.figures.figure import Figure, Records, framed, palette, percent
from dpcore.figures.limits_plot import Axis, Mark, Series, Wall, plot
from dpcore.limits import vc
from dpcore.limits.halves import TwoWorlds

SHOWN = 48
"""Points of one run that are drawn."""
EPSILON = Axis(
    title="← more private     privacy loss ε     more accurate →", log=True, low=0.08, high=12.5,
    ticks=(0.1, 0.2, 0.5, 1, 2, 5, 10),
)  # fmt: skip
BETA = 0.05
FLOOR = 0.01
"""Errors below are drawn here: a logarithmic axis has no zero."""


def one_run(*, truth: Booleans, released: Floats, chosen: Booleans, refused: bool, badge: str, dark: bool) -> Figure:
    """The true half, the released rows, the reconstructed half, point by point; all arguments of shape (d,)."""
    colours, points = palette(dark=dark), len(truth)
    strips = ("secret half", "released rows", "attacker's guess")
    values = []
    for point in range(min(points, SHOWN)):
        values += [
            {"point": point, "strip": strips[0], "kind": "in" if truth[point] else "out"},
            {"point": point, "strip": strips[2], "kind": "in" if chosen[point] else "out"},
        ]  # fmt: skip
    amounts = [
        {"point": point, "strip": strips[1], "rows": float(released[point])} for point in range(len(values) // 2)
    ]
    wrong = [
        {"point": point, "strip": strips[2]}
        for point in np.flatnonzero(chosen != truth)[:SHOWN].tolist()
        if point < SHOWN
    ]
    x = {"field": "point", "type": "ordinal", "title": None, "axis": None}
    y = {"field": "strip", "type": "nominal", "sort": list(strips), "title": None, "axis": {"ticks": False}}
    shade = {
        "field": "rows", "type": "quantitative", "scale": {"range": [colours.grid, colours.released]},
        "legend": None,
    }  # fmt: skip
    body = {
        "layer": [
            {
                "data": {"name": "sets"},
                "mark": {"type": "rect", "stroke": colours.quiet, "strokeWidth": 0.5},
                "encoding": {
                    "x": x, "y": y,
                    "fill": {
                        "field": "kind", "type": "nominal", "legend": None,
                        "scale": {"domain": ["in", "out"], "range": [colours.true, "transparent"]},
                    },
                },
            },
            {
                "data": {"name": "amounts"},
                "mark": {"type": "rect", "stroke": colours.quiet, "strokeWidth": 0.5},
                "encoding": {"x": x, "y": y, "fill": shade},
            },
            {
                "data": {"name": "wrong"},
                "mark": {"type": "text", "text": "×", "color": colours.theory, "fontSize": 16, "fontWeight": "bold"},
                "encoding": {"x": x, "y": y},
            },
        ],
        "resolve": {"scale": {"fill": "independent"}},
    }  # fmt: skip
    datasets = {"sets": values, "amounts": amounts, "wrong": wrong}
    found = int((truth & chosen).sum())
    part = f"; the first {SHOWN} of {points:,} points are drawn" if points > SHOWN else ""
    sentence = (
        "The mechanism refused: there is nothing to reconstruct from."
        if refused
        else f"One release: the attacker finds {found:,} of the {points // 2:,} secret points "
        f"({percent(2 * found / points)}; "
        f"a blind guess finds half). × marks what is wrong{part}."
    )
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=150, datasets=datasets),
        sentence=sentence,
        table={
            "point": list(range(points)), "secret": truth.tolist(), "released rows": np.round(released, 3).tolist(),
            "guessed": chosen.tolist(),
        },
    )  # fmt: skip


def _spread_out(epsilons: Sequence[float], place: int) -> Floats:
    """The same ε for every mechanism, dodged a little so that dots do not hide each other."""
    return np.asarray(epsilons, dtype=np.float64) * 1.05 ** (place % 5 - 2)


def recovered(
    *,
    epsilons: Sequence[float],
    shares: Mapping[str, Floats],
    repeats: int,
    delta: float,
    epsilon: float,
    guess: float,
    badge: str,
    dark: bool,
) -> Figure:
    """Mean share found against ε, dots with the middle 90% of the runs; above the curve no private method can be.

    Args:
        epsilons: the grid, (E,).
        shares: share found in each run, by mechanism, (E, R) each; the first one is the reader's.
        repeats: copies of each point in the data.
        delta: slack.
        epsilon: where the reader stands.
        guess: what the reader expects there, a share.
        badge: provenance.
        dark: for the dark theme.
    """
    grid = np.geomspace(0.08, 12.5, 60)
    ceiling = np.array([
        vc.recovery_ceiling(epsilon=float(at), repeats=repeats, neighbours=Neighbours.REPLACE_ONE, delta=delta)
        for at in grid
    ])  # fmt: skip
    series = [
        Series(
            name=name, x=_spread_out(epsilons, place), y=runs.mean(axis=1), low=np.quantile(runs, 0.05, axis=1),
            high=np.quantile(runs, 0.95, axis=1), role="released" if place == 0 else "other",
        )
        for place, (name, runs) in enumerate(shares.items())
    ]  # fmt: skip
    column = int(np.argmin(np.abs(np.log(np.asarray(epsilons) / epsilon))))
    name, runs = next(iter(shares.items()))
    allowed = vc.recovery_ceiling(epsilon=epsilon, repeats=repeats, neighbours=Neighbours.REPLACE_ONE, delta=delta)
    return plot(
        x=EPSILON,
        y=Axis(title="share of the half found", low=0.4, high=1.1, form=".0%", ticks=(0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)),
        series=series,
        wall=Wall(x=grid, y=ceiling, end=1.1, label="impossible for a private method", corner="top left"),
        marks=(Mark(label="your guess", y=guess, guess=True), Mark(label=f"ε = {epsilon:g}", x=epsilon)),
        sentence=f"Near ε = {epsilons[column]:g}, attacks on {name} find {percent(float(runs[column].mean()))} of the "
        "secret "
        f"half (you guessed {percent(guess)}); a private method lets no attack find more than {percent(allowed)} on "
        "average "
        f"at ε = {epsilon:g}. Bars hold 90% of {runs.shape[1]} runs.",
        badge=badge,
        dark=dark,
        height=320,
    )


def accuracy(
    *, epsilons: Sequence[float], errors: Mapping[str, Floats], repeats: int, points: int, delta: float, badge: str,
    dark: bool,
) -> Figure:  # fmt: skip
    """The error that 95% of the releases stay within, against ε; below the curve nobody can be at β = 5%."""
    grid = np.geomspace(0.08, 12.5, 60)
    bound = np.array([
        vc.error_bound(
            epsilon=float(at), repeats=repeats, neighbours=Neighbours.REPLACE_ONE, beta=BETA, delta=delta, points=points
        ).value
        for at in grid
    ])  # fmt: skip
    series = []
    for place, (name, runs) in enumerate(errors.items()):
        middle, level = (np.quantile(runs, q, axis=1, method="higher") for q in (0.5, 1 - BETA))
        answered = np.isfinite(level)
        middle, level = (np.maximum(ends[answered], FLOOR) for ends in (middle, level))
        at = _spread_out(epsilons, place)[answered]
        series.append(Series(name=name, x=at, y=level, low=middle, high=level, role="other" if place else "released"))
    name, runs = next(iter(errors.items()))
    typical = abs(float(np.quantile(runs[list(epsilons).index(1.0)], 1 - BETA, method="higher")))
    floor = vc.error_bound(
        epsilon=1.0, repeats=repeats, neighbours=Neighbours.REPLACE_ONE, beta=BETA, delta=delta, points=points
    )
    return plot(
        x=EPSILON,
        y=Axis(title="worst error, fraction of n", log=True, low=FLOOR, form="~p"),
        series=series,
        wall=Wall(
            x=grid, y=np.maximum(bound, FLOOR), end=FLOOR, label="impossible for a private method", corner="bottom left"
        ),
        marks=(Mark(label="releasing nothing: 50%", y=0.5),),
        sentence=f"At ε = 1, 95% of {name}'s releases err by at most {percent(typical)} of n on their worst subset; no "
        "private "
        f"method can promise less than {percent(floor.value)}. Each bar ends at the median.",
        badge=badge,
        dark=dark,
        height=320,
    )


def worlds(*, told: TwoWorlds, epsilon: float, claimed: bool, badge: str, dark: bool) -> Figure:
    """How often the point is found in both worlds, exact intervals, and what ε would allow."""
    colours = palette(dark=dark)
    seen = {
        "its row is in the data": (told.inside, told.inside_interval),
        "its row was swapped out": (told.outside, told.outside_interval),
    }
    values: Records = [
        {"world": world, "share": share, "low": low, "high": high} for world, (share, (low, high)) in seen.items()
    ]
    x = {
        "field": "share", "type": "quantitative", "title": "releases that name the point",
        "axis": {"format": ".0%", "tickCount": 5}, "scale": {"domain": [0, 1]},
    }  # fmt: skip
    y = {"field": "world", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 170}}
    body = {
        "layer": [
            {
                "data": {"name": "allowed"},
                "mark": {"type": "rect", "color": colours.impossible, "opacity": 0.25},
                "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y},
            },
            {
                "data": {"name": "worlds"},
                "mark": {"type": "rule", "strokeWidth": 3, "color": colours.released},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
            },
            {
                "data": {"name": "worlds"},
                "mark": {"type": "point", "filled": True, "size": 90, "color": colours.released, "opacity": 1},
                "encoding": {"x": x, "y": y},
            },
        ]
    }
    allowed = [{"world": values[0]["world"], "from": told.allowed, "to": 1.0}]
    verdict = (
        f"a promise of ε = {epsilon:g} allows {percent(told.allowed)} at most: **this cannot be ε-DP**"
        if told.impossible
        else f"ε = {epsilon:g} allows up to {percent(told.allowed)}, grey beyond: no contradiction"
    )
    text = (
        f"The point is guessed in {percent(told.inside)} of releases with its row in the data and in "
        f"{percent(told.outside)} "
        f"without; {verdict.replace('**', '')}."
    )
    if not claimed:
        text += " Publishing true counts is private at no ε at all."
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=130, datasets={"worlds": values, "allowed": allowed}),
        sentence=text,
        table={
            "world": [str(row["world"]) for row in values], "share": [row["share"] for row in values],
            "from": [row["low"] for row in values], "to": [row["high"] for row in values],
        },
    )  # fmt: skip
