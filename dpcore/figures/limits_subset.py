"""Subset sums: the bits of one attack, the share found against noise, and against the number of questions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Booleans, Floats
from dpcore.figures.figure import Figure, Records, framed, palette, percent, significant
from dpcore.figures.limits_parts import Axis, Mark, Series
from dpcore.figures.limits_plot import plot

SHOWN = 60
"""People of one attack that are drawn."""
SHARE = Axis(title="share of bits found", low=0.4, high=1.05, form=".0%", ticks=(0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1))


def bits(*, truth: Booleans, estimates: Floats, words: tuple[str, str], badge: str, dark: bool) -> Figure:
    """Each person's estimate before rounding, by what they really are, shapes (n,); beyond 1/2 it is wrong."""
    colours, people = palette(dark=dark), len(truth)
    kept = np.clip(estimates, -0.6, 1.6)
    rows: Records = [
        {"person": place, "estimate": float(f"{kept[place]:.4g}"), "is": words[int(truth[place])],
         "wrong": bool((estimates[place] > 0.5) != truth[place])}
        for place in range(min(people, SHOWN))
    ]  # fmt: skip
    x = {"field": "person", "type": "quantitative", "title": "person", "scale": {"nice": False, "padding": 8}}
    y = {
        "field": "estimate", "type": "quantitative", "title": "estimated bit",
        "scale": {"domain": [-0.6, 1.6]}, "axis": {"values": [0, 0.5, 1], "format": "~g"},
    }  # fmt: skip
    kind = {
        "field": "is", "type": "nominal",
        "scale": {"domain": list(words), "range": [colours.released, colours.true]},
    }  # fmt: skip
    shape = {**kind, "scale": {"domain": list(words), "range": ["circle", "square"]}}
    body = {
        "layer": [
            {
                "data": {"values": [{"estimate": 0.5}]},
                "mark": {"type": "rule", "color": colours.quiet, "strokeDash": [4, 3]},
                "encoding": {"y": y},
            },
            {
                "data": {"name": "people"},
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": kind, "shape": shape},
            },
            {
                "data": {"name": "wrong"},
                "mark": {"type": "text", "text": "×", "color": colours.theory, "fontSize": 20, "fontWeight": "bold"},
                "encoding": {"x": x, "y": y},
            },
        ]
    }
    datasets = {"people": rows, "wrong": [row for row in rows if row["wrong"]]}
    right = float(((estimates > 0.5) == truth).mean())
    part = f"; the first {SHOWN} of {people} are drawn" if people > SHOWN else ""
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=220, datasets=datasets),
        sentence=f"One attack: {percent(right)} of {people} secret bits are right after rounding at one half (× is "
        f"wrong){part}.",
        table={"person": list(range(people)), "is": [words[int(bit)] for bit in truth], "estimate": estimates.tolist()},
    )


def _runs(name: str, x: ArrayLike, shares: Floats) -> Series:
    """Mean and middle 90% over runs (K, R)."""
    low, high = np.quantile(shares, (0.05, 0.95), axis=1)
    return Series(name=name, x=x, y=shares.mean(axis=1), low=low, high=high, role="released")


def by_noise(
    *,
    people: int,
    error: int,
    errors: ArrayLike,
    shares: Floats,
    proved: ArrayLike,
    forced: float,
    blind: float,
    guess: float,
    badge: str,
    dark: bool,
) -> Figure:
    """Share of bits found against the largest noise over √n.

    Args:
        people: n.
        error: the curator's noise where the reader stands, in rows.
        errors: the grid in rows, (K,).
        shares: found in each run, (K, R).
        proved: share that least squares must find at least, (K,).
        forced: error in rows that every private curator makes on one of the groups.
        blind: share found by always guessing the commoner bit.
        guess: what the reader expects.
        badge: provenance.
        dark: for the dark theme.
    """
    root = math.sqrt(people)
    x = np.asarray(errors, dtype=np.float64) / root
    near = int(np.argmin(np.abs(x * root - error)))
    return plot(
        x=Axis(title="largest noise in an answer, in units of √n", low=0, high=float(x.max()) * 1.02),
        y=SHARE,
        series=[
            Series(name="proved: at least", x=x, y=proved, role="theory"),
            _runs("attack, measured", x, shares),
        ],
        marks=(
            Mark(label="your guess", y=guess, guess=True),
            Mark(label=f"blind: {percent(blind)}", y=blind),
            Mark(label=f"±{error}", x=error / root),
        ),
        sentence=f"With noise up to ±{error} people (√n is {significant(root)}) the attack finds "
        f"{percent(float(shares[near].mean()))} of the bits (you guessed {percent(guess)}). A private curator cannot "
        f"keep every error below {significant(forced)} people. Bars hold 90% of {shares.shape[1]} runs.",
        badge=badge,
        dark=dark,
        height=300,
    )


def by_questions(*, people: int, questions: ArrayLike, shares: Floats, asked: int, badge: str, dark: bool) -> Figure:
    """Share of bits found against how many groups were asked about, (K,) and (K, R)."""
    grid = np.asarray(questions)
    return plot(
        x=Axis(title="questions", log=True, low=float(grid.min()) * 0.9, high=float(grid.max()) * 1.1),
        y=SHARE,
        series=[_runs("attack, measured", grid, shares)],
        marks=(Mark(label="as many as people", x=people), Mark(label="", x=asked)),
        sentence=f"With the same noise, {grid[0]:,} questions give away {percent(float(shares[0].mean()))} of the "
        f"bits, {grid[-1]:,} give {percent(float(shares[-1].mean()))}: this is why a privacy budget counts questions.",
        badge=badge,
        dark=dark,
        height=300,
    )
