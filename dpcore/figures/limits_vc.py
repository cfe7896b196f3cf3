"""Reconstruction of a secret half, over many runs: shares recovered and errors against ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.core import Floats, Neighbours, exactly
from dpcore.figures.figure import Figure, percent
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall
from dpcore.figures.limits_plot import plot
from dpcore.limits import vc

EPSILON = Axis(
    title="← private · privacy loss ε · accurate →", log=True, low=0.08, high=12.5,
    ticks=(0.1, 0.2, 0.5, 1, 2, 5, 10),
)  # fmt: skip
BETA = 0.05
FLOOR = 0.01
"""Errors below are drawn here: a logarithmic axis has no zero."""


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
        marks=(Mark(label="your guess", y=guess, guess=True), Mark(label=f"ε = {exactly(epsilon)}", x=epsilon)),
        sentence=f"Near ε = {epsilons[column]:g}, attacks on {name} find {percent(float(runs[column].mean()))} of the "
        "secret "
        f"half (you guessed {percent(guess)}); a private method lets no attack find more than {percent(allowed)} on "
        "average "
        f"at ε = {exactly(epsilon)}. Bars hold 90% of {runs.shape[1]} runs.",
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
        wall=Wall(x=grid, y=bound, end=FLOOR, label="impossible for a private method", corner="bottom left"),
        marks=(Mark(label="releasing nothing: 50%", y=0.5),),
        sentence=f"At ε = 1, 95% of {name}'s releases err by at most {percent(typical)} on their worst subset; no "
        f"private method can promise less than {percent(floor.value)}. Each bar ends at the median.",
        badge=badge,
        dark=dark,
        height=320,
    )
