"""Pictures of all directions of a great circle, and of where the error of one direction comes from."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.mechanisms import entry
from dplab.halfspace_parts import Circle
from pages.charts.picture import Axis, Band, Curve, Dots, Mark, Picture, Rule
from pages.charts.words import percent, rows, short_numbers

TRUE, RELEASED, EXPECTED = "true", "released, one release", "expected after projection"
LEVELS = (0.05, 0.95)
ANGLE = Axis(
    title="direction, degrees around the circle", low=0, high=360, ticks=tuple(float(at) for at in range(0, 361, 45))
)
PARTS = {"projection": "projection", "net": "net", "noise": "noise", "total": "all together"}
APART = 0.16
"""Of a line of the picture, from its middle to what is observed above it and to what is predicted below it."""


def great_circle(
    *,
    degrees: Floats,
    truth: Floats,
    answers: Floats,
    expected: Floats | None,
    angle: float,
    here: tuple[float, float],
    n: int,
) -> Picture:
    """Shares over the angle, a band of 90 in 100 releases, and the reader's direction.

    Args:
        degrees: directions around the circle, (Q,); the first is drawn again at 360.
        truth: true share on each side, (Q,).
        answers: released shares, (T, Q); the first release is drawn.
        expected: mean share after Gaussian projection, (Q,), if there is any.
        angle: the reader's direction in degrees.
        here: the true and the released share there.
        n: rows.
    """
    around = np.append(degrees, 360.0)
    lines = {TRUE: ("true", _closed(truth)), RELEASED: ("released", _closed(answers[0]))}
    if expected is not None:
        lines[EXPECTED] = ("theory", _closed(expected))
    low, high = map(_closed, np.quantile(answers, LEVELS, axis=0))
    marks: list[Mark] = [
        Band(role="released", name="90 in 100 releases", x=around, low=low, high=high),
        *(
            Curve(role=role, name=name, x=around, y=line, width=2, dash="dash" if role == "theory" else "")
            for name, (role, line) in lines.items()
        ),
        Rule(role="ink", x=angle, dash="dash", width=1.5),
        *(
            Dots(role=role, name=f"{role}, direction y", x=[angle], y=[share], size=11, legend=False)
            for role, share in zip(("true", "released"), here, strict=True)
        ),
    ]
    worst = np.abs(answers - truth).max(axis=1)
    sentence = (
        f"Around the whole circle, at {len(degrees)} directions, the first release errs by at most "
        f"{percent(float(worst[0]))} of the rows, and {percent(float(worst.mean()))} in the mean over {len(answers)} "
        "releases; the band holds 90 in 100 of them at each direction. Click a place to turn the direction there."
    )
    if expected is not None:
        sentence += " Orange, dashed: what projections to so few dimensions leave in the mean, if rows are dense."
    table = {"angle in degrees": short_numbers(around)}
    table |= {name: short_numbers(line) for name, (_, line) in lines.items()}
    table |= {"5% of releases below": short_numbers(low), "95% below": short_numbers(high)}
    return Picture(
        title="Share of rows on the side of each direction of a circle",
        x=ANGLE,
        y=Axis(title="share of rows on its side", form=".3~p", rows=n),
        marks=marks,
        sentence=sentence,
        table=table,
        height=400,
        clicks=True,
    )


def errors_around(circle: Circle, *, n: int) -> Picture:
    """What 90 in 100 releases err by at most, in each direction, for each mechanism."""
    around, keys = np.append(circle.degrees, 360.0), list(circle.errors)
    titles = {key: entry(key).title for key in keys}
    levels = {key: _closed(np.quantile(each, 0.9, axis=0)) for key, each in circle.errors.items()}
    told = ", ".join(f"{titles[key]} {percent(circle.worst(key))}" for key in keys)
    return Picture(
        title="Error in each direction, three ways",
        x=ANGLE,
        y=Axis(title="90% err by at most", low=0, form=".3~p", rows=n),
        marks=[
            Curve(role=f"mechanism:{key}", name=titles[key], x=around, y=level, width=2, dash=dash)
            for (key, level), dash in zip(levels.items(), ("solid", "longdash", "dot"), strict=False)
        ],
        sentence=f"The largest error around the circle, at {len(circle.degrees)} directions, in the mean over "
        f"releases: {told}. Here the best is {titles[min(keys, key=circle.worst)]}. The lines show what 90 in 100 "
        "releases err by at most in each direction.",
        table={"angle in degrees": short_numbers(around)} | {titles[key]: short_numbers(levels[key]) for key in keys},
    )


def error_parts(*, errors: dict[str, Floats], predicted: dict[str, tuple[float, float]], n: int) -> Picture:
    """A dot for the mean and a bar for 90 in 100 releases, for each part; predictions below it.

    Args:
        errors: signed errors, shares of n, (T,), by part.
        predicted: where theory says anything, from and to of the same 90 in 100, or of a mean.
        n: rows.
    """
    parts = list(errors)
    # Differences of means of fractions: what is left below a billionth is rounding.
    seen = {
        name: np.round([np.quantile(each, LEVELS[0]), each.mean(), np.quantile(each, LEVELS[1])], 11)
        for name, each in errors.items()
    }
    told = {name: np.array([low, (low + high) / 2, high]) for name, (low, high) in predicted.items()}
    size = {name: round(float(np.sqrt((each**2).mean())), 11) for name, each in errors.items()}
    largest = max(("projection", "net", "noise"), key=lambda name: size[name])
    said = ", ".join(f"{PARTS[name]} {percent(size[name])}" for name in parts)
    table: dict[str, list[Any]] = {"part": [PARTS[name] for name in parts]}
    for title, place in (("mean error", 1), ("5% below", 0), ("95% below", 2)):
        table[title] = short_numbers([seen[name][place] for name in parts])
    table["predicted from"] = short_numbers([told[name][0] if name in told else np.nan for name in parts])
    table["predicted to"] = short_numbers([told[name][2] if name in told else np.nan for name in parts])
    return Picture(
        title="Where the error of one direction comes from",
        x=Axis(title="error, share of n (signed)", form=".3~p", rows=n),
        y=Axis(labels=tuple(PARTS[name] for name in parts)),
        marks=[
            Rule(role="quiet", x=0, width=1),
            _spans("observed", seen, parts, role="released", shape="circle", apart=-APART, n=n),
            _spans("predicted", told, parts, role="theory", shape="diamond", apart=APART, n=n),
        ],
        sentence=f"The largest part of this direction's error is the {PARTS[largest]}'s. Root mean squares: {said} of "
        "the rows. A bar holds 90 in 100 releases; orange: predicted.",
        table=table,
        height=280,
    )


def _spans(
    name: str, levels: dict[str, Floats], parts: list[str], *, role: str, shape: str, apart: float, n: int
) -> Dots:
    """A dot and a bar from the first to the last level for each part that has any."""
    known = [part for part in parts if part in levels]
    low, middle, high = np.array([levels[part] for part in known]).reshape(-1, 3).T
    return Dots(
        role=role,
        name=name,
        x=middle,
        y=[parts.index(part) + apart for part in known],
        low=low,
        high=high,
        across=True,
        shape=shape,
        size=9,
        hover=[
            f"{PARTS[part]}, {name}: {percent(float(at))} ({rows(float(at), n)}), "
            f"from {percent(float(start))} to {percent(float(end))}"
            for part, start, at, end in zip(known, low, middle, high, strict=True)
        ],
    )


def _closed(values: Floats) -> Floats:
    """The first value again at the end."""
    return np.append(values, values[0])
