"""The median's wall: chance of being right against the grid's length, and the walk behind the proof."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Integers, exactly
from dpcore.figures.figure import Figure, significant
from dpcore.figures.limits_parts import Axis, Mark, Series, Wall, chance
from dpcore.figures.limits_plot import plot
from dpcore.limits import median
from dpcore.limits.walk import MeasuredWalk, Walk

BITS = Axis(title="bits of the grid", log=True, low=1, high=10_000, ticks=(1, 10, 100, 1000, 10_000))
MOST_STEPS = 240
"""Data sets of a walk that are drawn; a longer walk is thinned."""


def success(
    *,
    n: int,
    epsilon: float,
    delta: float,
    bits: float,
    guess: float,
    measured: tuple[ArrayLike, MeasuredWalk],
    badge: str,
    dark: bool,
) -> Figure:
    """Chance that a median is right, against bits; the impossible region is above what any ε-private method reaches.

    Args:
        n: rows, odd.
        epsilon: privacy loss.
        delta: slack of the stable median.
        bits: where the reader stands.
        guess: where the reader thinks the wall is.
        measured: bits, and how often binary search in identity releases was right there.
        badge: provenance.
        dark: for the dark theme.
    """
    grid = np.unique(np.concatenate([np.geomspace(1, 10_000, 160), [bits]]))
    wall = median.wall(n=n, epsilon=epsilon)
    curves = {
        "exponential mechanism": median.exponential(bits=grid, n=n, epsilon=epsilon),
        "permute-and-flip": median.permute_and_flip(bits=grid, n=n, epsilon=epsilon),
        "refuses unless sure": median.refusing(bits=grid, n=n, epsilon=epsilon),
        f"stable median, δ = {exactly(delta)}": median.stable(bits=grid, n=n, epsilon=epsilon, delta=delta),
    }
    series = [Series(name=name, x=grid, y=np.exp(logs)) for name, logs in curves.items()]
    places, seen = measured
    series.append(
        Series(
            name="histogram + search, measured", x=places, y=seen.chance, low=seen.low, high=seen.high, role="released"
        )
    )
    ceiling = np.exp(median.any_private_stepwise(bits=grid, n=n, epsilon=epsilon))
    here = int(np.searchsorted(grid, bits))
    reached = ", ".join(f"{one.name} {chance(float(np.asarray(one.y)[here]))}" for one in series[:4])
    sentence = (
        f"The wall is at {wall:,.1f} bits (you guessed {guess:,.0f}). On 2^{bits:,.0f} grid points the best chance "
        f"of being right that privacy loss {exactly(epsilon)} leaves is {chance(float(ceiling[here]))}; {reached}."
    )
    return plot(
        x=BITS,
        y=Axis(title="chance of the right median", low=0, high=1.04, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        series=series,
        # Not at the top: there the stable median's line would strike the words through.
        wall=Wall(x=grid, y=ceiling, end=1.04, label="impossible for δ = 0", corner="bottom right"),
        marks=(Mark(label="your guess", x=guess, guess=True), Mark(label="your grid", x=bits)),
        sentence=sentence,
        badge=badge,
        dark=dark,
        height=340,
    )


def _thinned(length: int) -> Integers:
    return np.unique(np.linspace(0, length - 1, min(length, MOST_STEPS)).round().astype(np.int64))


def climb(*, walk: Walk, bits: float, badge: str, dark: bool) -> Figure:
    """Chance of saying v on each data set of the walk, as a power of ten; what cannot happen is not drawn."""
    steps = _thinned(len(walk.log_chance))
    tens = walk.log_chance[steps] / math.log(10)
    possible = np.isfinite(tens)
    start = f"10^{significant(float(tens[0]))}" if possible[0] else "exactly 0"
    last = chance(math.exp(float(walk.log_chance[-1])))
    return plot(
        x=Axis(title="rows moved from 0 to v", low=0, high=len(walk.log_chance) - 1),
        y=Axis(title="chance of v, power of ten", high=0.0),
        series=[Series(name=walk.name, x=steps[possible], y=tens[possible], role="released")],
        sentence=f"From all rows at 0 to all at v, one row a step: {walk.name} says v with chance {start} at the start "
        f"and {last} at the end. All 2^{bits:,.0f} − 1 other grid points want as much of the start.",
        badge=badge,
        dark=dark,
        height=280,
    )


def factors(*, walk: Walk, badge: str, dark: bool) -> Figure:
    """By which factor each step multiplies the chance, as a power of e; a private step stays between -ε and ε."""
    ratios, epsilon = walk.ratios, walk.epsilon
    steps = _thinned(len(ratios))
    finite = np.isfinite(ratios)
    # A thinned picture must not lose the largest step.
    largest = int(np.argmax(np.where(finite, np.abs(ratios), -1.0)))
    steps = np.unique(np.append(steps, largest))
    steps = steps[finite[steps]]
    loss, factor = exactly(epsilon), significant(float(ratios[largest]))
    text = f"Largest step: the chance is multiplied by e^{factor}; privacy loss {loss} allows e^{loss} at most."
    if walk.delta:
        text = (
            f"One step leaves 0, which no factor allows; there the chance grows by {significant(walk.excess)} more "
            f"than e^ε explains, and the slack δ = {exactly(walk.delta)} covers it."
        )
    return plot(
        x=Axis(title="rows moved from 0 to v", low=0, high=len(walk.log_chance) - 1),
        y=Axis(title="factor, power of e", low=-1.25 * epsilon, high=1.25 * epsilon),
        series=[Series(name="each step", x=steps + 1, y=ratios[steps], role="released")],
        marks=(Mark(label="e^ε", y=epsilon), Mark(label="1/e^ε", y=-epsilon)),
        sentence=text,
        badge=badge,
        dark=dark,
        height=280,
    )


def measured_climb(*, moved: Integers, n: int, cells: int, seen: MeasuredWalk, badge: str, dark: bool) -> Figure:
    """How often binary search in real releases ended at v, on some of the walk's data sets."""
    middle = int(np.argmin(np.abs(np.asarray(moved) - n / 2)))
    return plot(
        x=Axis(title="rows moved from 0 to v", low=0, high=n),
        y=Axis(title="releases that say v", low=0, high=1, form=".0%"),
        series=[
            Series(
                name="histogram + search, measured",
                x=moved,
                y=seen.chance,
                low=seen.low,
                high=seen.high,
                role="released",
            )
        ],
        sentence=f"Binary search in released histograms of {cells:,} cells never heard of medians, and still climbs: "
        f"{chance(float(seen.chance[0]))} at the start, {chance(float(seen.chance[middle]))} half way, "
        f"{chance(float(seen.chance[-1]))} at the end (exact 95% intervals).",
        badge=badge,
        dark=dark,
        height=280,
    )
