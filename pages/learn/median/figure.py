"""Pictures of private medians: the probability of the right answer by grid size, and the walk of the proof."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dpcore.core import Floats, Integers, exactly, rounded_up
from dpcore.limits.bounds import interior, median
from dpcore.limits.bounds.walk import MeasuredWalk, Walk
from dplab.limits.medians import MEASURED_BITS, WALK_BITS, MedianChances, stops
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule, Wall
from pages.charts.words import minus, percent, significant
from pages.learn.pictures import OTHERS, guess_rule, impossible_side, lesson_picture

BITS = Axis(title="bits of the grid", log=True, low=0.9, high=11_000, ticks=(1, 10, 100, 1000, 10_000))
SHARES = (0, 0.25, 0.5, 0.75, 1)
NAMES = {
    "exponential": "exponential mechanism",
    "permute-and-flip": "permute-and-flip",
    "refusing": "mechanism that attains the bound",
    "stable": "stable median",
}
"""Names of the mechanisms with exact probabilities."""
ROLES = {
    "exponential": "mechanism:exponential_median",
    "permute-and-flip": OTHERS[0],
    "refusing": OTHERS[1],
    "stable": "mechanism:stable_median",
}
"""Roles of these mechanisms."""
SEARCHES = {
    "identity": ("released", "histogram + search, measured", "circle", "histograms"),
    "intervals-anchored": ("mechanism:intervals-anchored", "intervals + search, measured", "square", "intervals"),
}
"""Role, name, shape and noun of each kind of release that is searched."""
MAX_STEPS = 240
"""Maximum number of data sets that are drawn of a walk."""


def success(
    *,
    chances: MedianChances,
    n: int,
    epsilon: float,
    delta: float,
    bits: float,
    guess: float,
    measured: Mapping[str, MeasuredWalk],
) -> Picture:
    """Return the probability of the right median against bits, with the region that is impossible for ε.

    Args:
        chances: probabilities of mechanisms, and the upper bound, along a grid of bits with the current one.
        n: rows, odd.
        epsilon: privacy budget.
        delta: δ of the stable median.
        bits: the current grid.
        guess: the user's guess of the limit.
        measured: how often binary search in each kind of release was right, at each of MEASURED_BITS.
    """
    here = int(np.argmin(np.abs(chances.bits - bits)))
    named = NAMES | {"stable": f"{NAMES['stable']}, δ = {exactly(delta)}"}
    logs = {key: (named[key], each) for key, each in chances.mechanisms.items()}
    reached = ", ".join(f"{name} {log_chance(float(each[here]))}" for name, each in logs.values())
    return lesson_picture(
        title="Probability of the right median",
        x=BITS,
        y=Axis(title="probability of the right median", low=0, high=1.15, form=".0%", ticks=SHARES),
        marks=[
            # The label is at the bottom: at the top the stable median's line would cross it.
            impossible_side(
                chances.bits,
                np.exp(chances.max_chance),
                end=1.15,
                corner="bottom right",
                label="impossible if δ = 0 (lower bound)",
            ),
            *(Curve(role=ROLES[key], name=name, x=chances.bits, y=np.exp(each)) for key, (name, each) in logs.items()),
            *(_dots(MEASURED_BITS, each, key) for key, each in measured.items()),
            Rule(role="ink", x=bits, label="your grid"),
            guess_rule(x=guess),
        ],
        sentence=f"The limit is at {median.wall(n=n, epsilon=epsilon):,.1f} bits (you guessed {guess:,.0f}). On "
        f"2^{bits:,.0f} grid points and the worst value, no method with ε = {exactly(epsilon)} is right "
        f"with a probability above {log_chance(float(chances.max_chance[here]), is_bound=True)}; {reached}.",
    )


def _dots(x: Integers | tuple[int, ...], walk: MeasuredWalk, key: str) -> Dots:
    """Return the measured probability of the right answer, with exact intervals."""
    role, name, shape, _ = SEARCHES[key]
    return Dots(role=role, name=name, x=x, y=walk.chance, low=walk.low, high=walk.high, shape=shape)


def _walk_axis(n: int) -> Axis:
    return Axis(title="rows moved from 0 to v", low=0, high=n, form=",d")


def _thin(length: int) -> Integers:
    return np.unique(np.linspace(0, length - 1, min(length, MAX_STEPS)).round().astype(np.int64))


def _line(key: str, x: Integers, y: Floats, name: str) -> Curve:
    """Return a walk as a curve in the colour of its mechanism."""
    return Curve(role=ROLES[key], name=name, x=x, y=y)


def walk_chances(*, key: str, walk: Walk, bits: float) -> Picture:
    """Return the probability of answering v along a mechanism's walk, as a power of ten."""
    steps = _thin(len(walk.log_chance))
    tens = walk.log_chance[steps] / math.log(10)
    start = log_chance(float(walk.log_chance[0])) if np.isfinite(tens[0]) else "exactly 0"
    return lesson_picture(
        title="Probability of the answer v, row by row",
        x=_walk_axis(len(walk.log_chance) - 1),
        y=Axis(title="probability of v, power of ten"),
        marks=[_line(key, steps, np.where(np.isfinite(tens), tens, np.nan), walk.name)],
        sentence=f"All rows start at 0 and move to v, one per step. {walk.name} answers v with probability {start} "
        f"at the start and {log_chance(float(walk.log_chance[-1]))} at the end. By the same argument, each "
        f"of the other 2^{bits:,.0f} − 1 grid points needs such a probability at the start.",
    )


def walk_factors(*, key: str, walk: Walk) -> Picture:
    """Return the factor of each step, as a power of e; a private step is between -ε and ε."""
    ratios, loss = walk.ratios, exactly(walk.epsilon)
    finite = np.isfinite(ratios)
    # The largest step has to be in the thinned picture.
    largest = int(np.argmax(np.where(finite, np.abs(ratios), -1.0)))
    steps = np.unique(np.append(_thin(len(ratios)), largest))
    steps = steps[finite[steps]]
    text = (
        f"Largest step: the probability is multiplied by e^{significant(float(ratios[largest]))}; ε = "
        f"{loss} allows at most e^{loss}."
    )
    if walk.delta:
        text = (
            "One step starts from probability 0, where a factor is not defined. There the probability "
            f"grows by {significant(walk.excess)} more than e^ε explains; δ = {exactly(walk.delta)} covers "
            "this."
        )
    end = 1.2 * float(np.abs([walk.epsilon, *ratios[steps]]).max())  # room for the labels beyond ε
    return lesson_picture(
        title="Each step",
        x=_walk_axis(len(ratios)),
        y=Axis(title="factor, power of e", low=-end, high=end),
        marks=[
            _line(key, steps + 1, ratios[steps], "each step"),
            Rule(role="theory", y=walk.epsilon, label="e^ε: largest allowed factor"),
            Rule(role="theory", y=-walk.epsilon, label="1/e^ε: smallest allowed factor", below=True),
        ],
        sentence=text,
    )


def measured_walk(*, n: int, walk: MeasuredWalk, key: str) -> Picture:
    """Return the share of releases in which binary search answers v, along the walk."""
    moved = stops(n)
    middle = int(np.argmin(np.abs(moved - n / 2)))
    start, half, end = (chance(float(walk.chance[place])) for place in (0, middle, -1))
    grows = (
        " is not made for medians, but its probability of v also grows" if walk.low[-1] > walk.high[0] else " says v"
    )
    return lesson_picture(
        title="Probability of the answer v, row by row",
        x=_walk_axis(n),
        y=Axis(title="releases that say v", low=0, high=1.04, form=".0%", ticks=SHARES),
        marks=[_dots(moved, walk, key)],
        sentence=f"Binary search in released {SEARCHES[key][3]} of {2**WALK_BITS:,} cells{grows}: {start} at the "
        f"start, {half} halfway, {end} at the end (exact 95% intervals).",
    )


def under_delta(*, n: int, epsilon: float, delta: float, bits: float) -> Picture:
    """Return the rows that a median needs against bits: with δ = 0, with δ > 0 (an order), and on stable data."""
    grid = np.unique(np.append(np.geomspace(1, 10_000, 160), bits))
    needed = interior.rows_without_delta(grid, epsilon=epsilon)
    here, stars = int(needed[np.argmin(np.abs(grid - bits))]), interior.log_star_of_grid(grid)
    stable = 2 * median.stable_threshold(epsilon=epsilon, delta=delta) - 1
    star = int(interior.log_star_of_grid(bits)[0])
    return lesson_picture(
        title="Rows that a median needs",
        x=BITS,
        y=Axis(title="rows n", log=True, low=0.8, high=3 * max(float(needed[-1]), stable)),
        marks=[
            Wall(x=grid, y=needed, end=0.8, label="impossible if δ = 0", corner="bottom right"),
            Curve(role="theory", name="log*: δ > 0, all data (order only, no constant)", x=grid, y=stars, dash="dot"),
            Curve(
                role=ROLES["stable"], name="stable median: equal rows only", x=grid, y=np.full(len(grid), float(stable))
            ),
            Rule(role="ink", x=bits, label="your grid"),
        ],
        sentence=f"On 2^{bits:,.0f} values, a median with δ = 0 and ε = {exactly(epsilon)} needs at least {here:,} "
        f"rows, about log |X|/ε. With δ > 0 it needs an order of log* |X| = {star} rows, up to an unknown constant. "
        f"The stable median, with δ = {exactly(delta)}, mostly answers from {stable:,} equal rows on, on every "
        "grid. On data that are not stable it mostly refuses.",
    )


def chance(value: float) -> str:
    """Return a probability as a percentage, a tiny one as a power of ten, one near 1 as over 99.9%."""
    return log_chance(math.log(value)) if 0 < value < 1 else percent(value)


def log_chance(log: float, *, is_bound: bool = False) -> str:
    """Return a probability from its logarithm, which may be too small for a float.

    Args:
        log: natural logarithm.
        is_bound: it is an upper bound, and rounded up.
    """
    value = math.exp(min(log, 0.0))
    if value >= 0.001 or log == -math.inf:
        if is_bound:
            return f"{rounded_up(round(100 * value, 9))}%"
        return "over 99.9%" if value > 0.999 else percent(value)  # an exact probability below 1 may round to 1
    power = math.floor(log / math.log(10))
    scale = math.exp(log - power * math.log(10))
    digits = f"{math.ceil(10 * scale - 1e-9) / 10 if is_bound else scale:.2g}"
    power, digits = (power + 1, "1") if digits == "10" else (power, digits)
    return f"{'' if digits == '1' else f'{digits}·'}10^{minus(str(power))}"
