"""The worst error of a small database by its number of points."""

from __future__ import annotations

import numpy as np

from dplab.small_databases import ALPHA, LEVEL, SizeErrors
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Rule
from pages.charts.words import percent, short_numbers

NAMES = {
    "noiseless": ("points without noise", "true"),
    "answers": ("points for noisy answers (stand-in)", "mechanism:answers-net"),
    "exact": ("choice among all databases (exact)", "mechanism:linear-net"),
}


def sizes_picture(errors: SizeErrors, *, epsilon: float) -> Picture:
    """Return the 95% errors by the number of points, the theorem's size and the bound on the best database."""
    series = {key: getattr(errors, key) for key in NAMES}
    marks: list[Mark] = [
        Curve(role="theory", name="best database, at most", x=errors.points, y=errors.resolution),
        Rule(
            role="theory",
            x=errors.needed,
            label=f"Theorem 5, α = {ALPHA:g}: {errors.needed:,} points",
            dash="dash",
            side="left",
        ),
    ]
    for key, (name, role) in NAMES.items():
        known = ~np.isnan(series[key])
        at, errors_at = errors.points[known], series[key][known]
        if key == "noiseless":
            marks.append(Curve(role=role, name=name, x=at, y=errors_at, dash="dot", width=2))
            continue
        hover = [
            f"{name}, {m:,} points: {percent(error)}" for m, error in zip(at.tolist(), errors_at.tolist(), strict=True)
        ]
        marks.append(Dots(role=role, name=name, x=at, y=errors_at, hover=hover))
    listed = errors.points[~np.isnan(errors.exact)]
    largest, place = int(listed[-1]), int(np.flatnonzero(errors.points == errors.needed)[0])
    sentence = (
        f"At ε = {epsilon:g}, all databases of at most {largest:,} point{'s' * (largest > 1)} can be listed here; "
        f"the error is {percent(float(errors.exact[~np.isnan(errors.exact)][-1]))} of n. Found for noisy answers, "
        f"{errors.needed:,} points have {percent(float(errors.answers[place]))}. Error of the worst query in "
        f"{100 * LEVEL:.0f} of 100 releases. The points for noisy answers stand in for Theorem 5: another law, the "
        "same size."
    )
    return Picture(
        title="Error by the size of the small database",
        x=Axis(title="points m (log)", log=True, form="~s"),
        y=Axis(title="worst error, share of n (log)", log=True, form="~p"),
        marks=marks,
        sentence=sentence,
        table={
            "points": errors.points.tolist(),
            **{name: short_numbers(series[key]) for key, (name, _) in NAMES.items()},
            "best database, at most": short_numbers(errors.resolution),
        },
        height=300,
    )
