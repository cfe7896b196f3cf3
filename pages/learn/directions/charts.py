"""Charts of the errors in every direction, of all directions of a circle, and of the parts of an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.core import Floats, exactly, rounded_down, rounded_up
from dpcore.mechanisms import entry
from dplab.halfspace_parts import Circle
from dplab.limits.directions import BETA, Distortions, EveryDirection
from pages.charts.picture import Axis, Band, Curve, Dots, Mark, Picture, Region, Rule
from pages.charts.words import percent, percent_up, rows, short_numbers, significant
from pages.learn.pictures import OTHERS, axis_floor, guess_rule, lesson_picture

PROMISED = "guaranteed: the direction has the margin"
ANGLE = Axis(title="direction, degrees", low=0, high=360, ticks=tuple(float(at) for at in range(0, 361, 45)))
TRUE, RELEASED, EXPECTED = "true", "released, one release", "expected after projection"
LEVELS = (0.05, 0.95)
PARTS = {"projection": "projection", "net": "net", "noise": "noise", "total": "all together"}
OFFSET = 0.16
"""Distance from the middle of a line to the observed mark above it, and to the predicted one below it."""


def errors(*, releases: EveryDirection, n: int, epsilon: float, guess: float) -> Picture:
    """Draw the error that 95% of the releases stay within in each direction, and the guaranteed error.

    Args:
        releases: the releases.
        n: rows.
        epsilon: of each.
        guess: the user's guess for the promised directions, a share.
    """
    inside = np.concatenate([[False], releases.promised, [False]]).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(inside) > 0), np.flatnonzero(np.diff(inside) < 0) - 1
    half = float(releases.degrees[1] - releases.degrees[0]) / 2
    floor = axis_floor(releases.error, min(releases.bound, guess)) / 2
    boxes = [
        Region(
            role="theory",
            x=(float(releases.degrees[start]) - half, float(releases.degrees[end]) + half),
            y=(floor, releases.bound),
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    promised = np.where(releases.promised, releases.bound, np.nan)
    count = f"{int(releases.promised.sum())} of {len(releases.promised)} directions"
    result = (
        f"has an error of at most {percent_up(releases.worst)} in {count} that have margin "
        f"{rounded_down(releases.margin)}"
        if releases.promised.any()
        else f"guarantees no error: no direction has margin {rounded_up(releases.margin)}. Its errors are"
    )
    others = f", and up to {percent_up(releases.beyond)} in the others"
    if not releases.promised.any():
        others = f" up to {percent_up(releases.beyond)}"
    beyond = "" if releases.promised.all() else others
    return lesson_picture(
        title="Error in every direction",
        x=ANGLE,
        y=Axis(title="error of 95% of releases is at most", log=True, low=floor, form=".3~p", rows=n),
        marks=[
            *boxes,
            Curve(role="theory", name=PROMISED, x=releases.degrees, y=promised, dash="dash"),
            Curve(role="released", name="observed", x=releases.degrees, y=np.maximum(releases.error, floor)),
            replace(guess_rule(y=guess), side="right"),  # a first measured direction's error stands at the left
        ],
        caption="Orange: guaranteed error, for directions with the margin."
        if releases.promised.any()
        else "No direction has the margin: no error is guaranteed.",
        sentence=f"At ε = {exactly(epsilon)} a release of {releases.counts} counts {result}{beyond}. Guaranteed "
        f"error for directions with the margin, with confidence 1 − {BETA:g}: {percent(releases.bound)}. "
        f"You guessed {percent(guess)}.",
    )


def moved(*, distortion: Distortions, noun: str = "digits") -> Picture:
    """Draw the distortions of lengths and inner products against the dimensions kept, and the guaranteed ones.

    Args:
        distortion: of some rows.
        noun: what the rows are.
    """
    claimed = distortion.claimed()
    places = np.array(distortion.dimensions, dtype=np.float64)
    last = distortion.dimensions[-1]
    unprojected = distortion.products[distortion.dimensions.index(distortion.before)]
    marks = [
        Curve(role="theory", name="guaranteed (Corollary 6.4)", x=places, y=claimed, dash="dash"),
        Dots(
            role="released",
            name="inner products, worst pair",
            x=places,
            y=distortion.products.max(axis=1),
            low=np.median(distortion.products, axis=1),
            high=distortion.products.max(axis=1),
        ),
        Curve(role=OTHERS[0], name="lengths, worst row", x=places, y=distortion.lengths.max(axis=1), dash="dot"),
        Rule(role="ink", x=float(distortion.before), label=f"{distortion.before} numbers before"),
    ]
    return lesson_picture(
        title="Shrinking the dimensions",
        x=Axis(
            title="dimensions T after projection", log=True, low=0.8, high=1.25 * last, ticks=(1, 4, 16, 64, 256, 1024)
        ),
        y=Axis(title="distortion", log=True, low=0.03, high=4),
        marks=marks,
        caption="Each curve ends at the median pair. The guarantee starts to the right of the rows' own dimensions.",
        sentence=f"{percent(1 - 2 * distortion.chance)} of the random sign matrices with T = {distortion.before} "
        f"move an inner product of {distortion.before}-number {noun} by at most "
        f"{rounded_up(float(unprojected.max()))}. Below T = {distortion.starts} the theorem guarantees "
        f"nothing. At T = {last:,} it guarantees {rounded_up(float(claimed[-1]))}; "
        f"{significant(float(distortion.products[-1].max()))} is observed.",
    )


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
    """Draw the shares over the angle, a band of 90 in 100 releases, and the chosen direction.

    Args:
        degrees: directions around the circle, (Q,); the first is drawn again at 360.
        truth: true share on each side, (Q,).
        answers: released shares, (T, Q); the first release is drawn.
        expected: mean share after Gaussian projection, (Q,), if there is any.
        angle: the chosen direction in degrees.
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
        f"Around the circle, at {len(degrees)} directions, the largest error of the first release is "
        f"{percent(float(worst[0]))} of the rows. Its mean over {len(answers)} releases is "
        f"{percent(float(worst.mean()))}. The band holds 90% of releases at each direction. Click to turn "
        "the direction."
    )
    if expected is not None:
        sentence += " Orange, dashed: expected answer after projection to so few dimensions, if rows are dense."
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
    """Draw the error that 90 in 100 releases stay within in each direction, for each mechanism."""
    around, keys = np.append(circle.degrees, 360.0), list(circle.errors)
    titles = {key: entry(key).title for key in keys}
    levels = {key: _closed(np.quantile(each, 0.9, axis=0)) for key, each in circle.errors.items()}
    worst_errors = ", ".join(f"{titles[key]} {percent(circle.worst(key))}" for key in keys)
    return Picture(
        title="Error in each direction, three ways",
        x=ANGLE,
        y=Axis(title="error of 90% of releases is at most", low=0, form=".3~p", rows=n),
        marks=[
            Curve(role=f"mechanism:{key}", name=titles[key], x=around, y=level, width=2, dash=dash)
            for (key, level), dash in zip(levels.items(), ("solid", "longdash", "dot"), strict=False)
        ],
        sentence=f"Largest error around the circle, at {len(circle.degrees)} directions, mean over releases: "
        f"{worst_errors}. The smallest is that of {titles[min(keys, key=circle.worst)]}. The lines show "
        "the error of 90% of releases in each direction.",
        table={"angle in degrees": short_numbers(around)} | {titles[key]: short_numbers(levels[key]) for key in keys},
    )


def error_parts(*, errors: dict[str, Floats], predicted: dict[str, tuple[float, float]], n: int) -> Picture:
    """Draw for each part a dot at the mean and a bar of 90 in 100 releases, with the predictions below.

    Args:
        errors: signed errors, shares of n, (T,), by part.
        predicted: where theory says anything, from and to of the same 90 in 100, or of a mean.
        n: rows.
    """
    parts = list(errors)
    # Differences of means of fractions: what is left below a billionth is rounding.
    levels = {
        name: np.round([np.quantile(each, LEVELS[0]), each.mean(), np.quantile(each, LEVELS[1])], 11)
        for name, each in errors.items()
    }
    predictions = {name: np.array([low, (low + high) / 2, high]) for name, (low, high) in predicted.items()}
    size = {name: round(float(np.sqrt((each**2).mean())), 11) for name, each in errors.items()}
    largest = max(("projection", "net", "noise"), key=lambda name: size[name])
    sizes = ", ".join(f"{PARTS[name]} {percent(size[name])}" for name in parts)
    table: dict[str, list[Any]] = {"part": [PARTS[name] for name in parts]}
    for title, place in (("mean error", 1), ("5% below", 0), ("95% below", 2)):
        table[title] = short_numbers([levels[name][place] for name in parts])
    table["predicted from"] = short_numbers([predictions[name][0] if name in predictions else np.nan for name in parts])
    table["predicted to"] = short_numbers([predictions[name][2] if name in predictions else np.nan for name in parts])
    return Picture(
        title="Parts of the error of one direction",
        x=Axis(title="error, share of n (signed)", form=".3~p", rows=n),
        y=Axis(labels=tuple(PARTS[name] for name in parts)),
        marks=[
            Rule(role="quiet", x=0, width=1),
            _spans("observed", levels, parts, role="released", shape="circle", apart=-OFFSET, n=n),
            _spans("predicted", predictions, parts, role="theory", shape="diamond", apart=OFFSET, n=n),
        ],
        sentence=f"The largest part of this direction's error comes from the {PARTS[largest]}. Root mean squares: "
        f"{sizes} of the rows. A bar holds 90% of releases; orange: predicted.",
        table=table,
        height=280,
    )


def _spans(
    name: str, levels: dict[str, Floats], parts: list[str], *, role: str, shape: str, apart: float, n: int
) -> Dots:
    """Return a dot and a bar from the first to the last level for each part that has them."""
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
    """Return the values with the first one again at the end."""
    return np.append(values, values[0])
