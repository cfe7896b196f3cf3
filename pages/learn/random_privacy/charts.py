"""Pictures of sparse histograms, of their losses, and of the pet that is alone in a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.core import Floats, Integers
from dplab.sparse import Growth, LossFigure
from pages.charts.picture import BEHIND, Axis, Bars, Curve, Dots, Heat, Mark, Picture, Rule, Wall, Words
from pages.charts.words import percent, short_numbers, significant
from pages.learn.pictures import guess_rule

PRIVATE, RANDOM, THRESHOLD = "differentially private", "random privacy", "above a threshold, δ = 10⁻⁶"
ROLES = {
    "true": "true", PRIVATE: "mechanism:projected_histogram", RANDOM: "mechanism:sparse_histogram",
    THRESHOLD: "mechanism:threshold_histogram",
}  # fmt: skip
SIDE = 20
"""Cells along each side of the paper's second figure."""
BINS = 40
DOTS = 50
"""Each stands for 2 in 100 simulations."""
ROOM = 0.4
"""Height above all dots of losses, as a share of theirs: both means and the guess stand there."""
MAX_CELLS = 60
NEAR = 0.1
"""Largest relative difference between two factors that are said to be about the same."""
CASES = {"pet there": "released", "pet elsewhere": "quiet"}
WIDE = 0.34
"""A bar, so that a line of words fits above the first one."""


def panel(*, counts: Integers, name: str, top: int, grid: bool) -> Picture:
    """Draw a histogram as bars or as a map of square roots: single rows stay visible beside full cells.

    Args:
        counts: rows in each cell, (k,).
        name: what it is: "true", PRIVATE or RANDOM.
        top: the end of the scale, the same for the panels to be compared.
        grid: True where the cells are a square map in row order.
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
        named = {math.sqrt(rows): f"{rows:,.0f}" for rows in round_counts}
        y = Axis(title="rows (square-root scale)", low=0, high=math.sqrt(top), ticks=(0.0,), named=named)
    sentence = f"{name[0].upper()}{name[1:]}: {int((counts > 0).sum()):,} of {len(counts):,} cells hold rows."
    table = {"cell": cells.tolist(), "rows": counts.tolist()}
    height = 280 if grid else 230
    return Picture(title=f"Histogram, {name}", x=x, y=y, marks=[mark], sentence=sentence, table=table, height=height)


def losses(*, simulations: LossFigure, projected: bool) -> Picture:
    """Draw the L1 losses of all simulations as dots of 2%: private ones upwards, random-private ones downwards.

    Those of the histogram above a threshold stand below these.

    Args:
        simulations: the simulations.
        projected: of the projected histograms, or of the noisy counts before the projection.
    """
    private, random, above = simulations.private_noise, simulations.random_noise, simulations.threshold_noise
    if projected:
        private, random, above = simulations.private_loss, simulations.random_loss, simulations.threshold_loss
    right = float(max(private.max(), random.max(), above.max(), 1e-9)) * 1.02
    marks: list[Mark] = []
    lowest = highest = 0.0
    shown = ((PRIVATE, private, 1, "triangle-up"), (RANDOM, random, -1, "circle"), (THRESHOLD, above, -1, "square"))
    for line, (name, loss, up, shape) in enumerate(shown):
        quantiles = np.quantile(loss, (np.arange(DOTS) + 0.5) / DOTS)
        columns = np.minimum((quantiles / right * BINS).astype(int), BINS - 1)
        # The quantiles are in order: a dot's height is its place among those of its column.
        heights = np.arange(DOTS) - np.searchsorted(columns, columns) + 1
        mean, role = float(loss.mean()), ROLES[name]
        label = f"mean {significant(mean)}" if name != THRESHOLD else ""  # a third line of words would lie over dots
        marks += [
            Rule(role=role, x=mean, dash="dash", label=label, line=line, side="left" if mean > right / 2 else "right"),
            Dots(
                role=role,
                name=name,
                x=(columns + 0.5) * right / BINS,
                y=(places := up * heights + (lowest if up < 0 else 0)),
                shape=shape,
                size=7,
                hover=[f"{name}: L1 error {significant(each)}, simulated" for each in quantiles.tolist()],
            ),
        ]
        lowest, highest = min(lowest, float(places.min())) - (up < 0), max(highest, float(places.max()))
    ratio = private.mean() / random.mean() if random.mean() > 0 else math.inf
    text = "the condition is not met, so both mechanisms are the same here."
    if simulations.spared:
        text = "the same here." if ratio < 1.005 else f"{significant(ratio)} times as much as with random privacy."
    return Picture(
        title="Total (L1) error of each simulation",
        x=Axis(title="L1 error, share of n (each dot 2 in 100)", low=0, high=right),
        y=Axis(shown=False, high=highest + ROOM * (highest - lowest)),
        marks=marks,
        sentence=f"Mean L1 error over {len(private)} simulations {'after' if projected else 'before'} the "
        f"projection: {significant(float(private.mean()))} for the private histogram, "
        f"{significant(float(random.mean()))} for the random-private one; {text} Above a threshold (δ = 10⁻⁶), for all "
        f"data: {significant(float(above.mean()))}.",
        table={name: short_numbers(np.sort(loss)) for name, loss, _, _ in shown},
        height=330,
    )


def losses_guessed(*, simulations: LossFigure, guess: float) -> Picture:
    """Draw the losses after the projection, and the loss that the user's guess implies."""
    shown = losses(simulations=simulations, projected=True)
    at = float(simulations.private_loss.mean()) / guess
    return replace(
        shown,
        marks=[*shown.marks, replace(guess_rule(x=at), line=2, side="right")],
        x=replace(shown.x, low=0.0, high=max(shown.x.high or 0.0, 1.05 * at)),
        sentence=f"{shown.sentence} You guessed {guess:g} times.",
    )


def histograms(*, simulations: LossFigure) -> Picture:
    """Draw true counts as bars and one release of each mechanism as dots, for the cells around the full ones."""
    full = np.flatnonzero(simulations.histogram > 0)
    middle = int(full.mean())
    start = max(0, min(middle - MAX_CELLS // 2, len(simulations.histogram) - MAX_CELLS))
    cells = np.arange(len(simulations.histogram))[start : start + MAX_CELLS]
    counts = (simulations.histogram, simulations.private[0], simulations.random[0])
    truth, private, random = (each[cells] for each in counts)
    shown = int((simulations.private[0] > 0).sum()), int((simulations.random[0] > 0).sum())
    return Picture(
        title="The histograms",
        x=Axis(title="cell", low=float(cells[0]), high=float(cells[-1] + 1)),
        y=Axis(title="rows", low=0, form=",.3~r"),
        marks=[
            Bars(role="true", name="true", start=cells, end=cells + 1, value=truth, opacity=BEHIND),
            Dots(role=ROLES[PRIVATE], name=PRIVATE, x=cells + 0.5, y=private, shape="triangle-up"),
            Dots(role=ROLES[RANDOM], name=RANDOM, x=cells + 0.5, y=random, shape="circle"),
        ],
        sentence=f"{len(full)} of {len(simulations.histogram)} cells hold rows. The private release shows rows in "
        f"{shown[0]} cells, the random-private one in {shown[1]}. Total errors here: "
        f"{significant(float(simulations.private_loss[0]))} and "
        f"{significant(float(simulations.random_loss[0]))} of n.",
        table={"cell": cells.tolist(), "true": truth.tolist(), PRIVATE: private.tolist(), RANDOM: random.tolist()},
        height=330,
    )


def growth_curves(growth: Growth) -> Picture:
    """Draw the mean loss against all cells k, and against the non-empty ones r.

    Log against log shows k itself as a straight line, log against plain numbers shows log k so.
    """
    marks: list[Mark] = []
    table: dict[str, list[Any]] = {"histogram": [], "what grows": [], "cells": [], "mean L1 error": []}

    def add_rows(name: str, grows: str, cells: Sequence[int], values: Floats) -> None:
        columns = [[name] * len(cells), [grows] * len(cells), cells, short_numbers(values)]
        for title, column in zip(table, columns, strict=True):
            table[title].extend(column)

    for name in (PRIVATE, RANDOM):
        for grows, losses, dash in (("k grows", growth.by_k, "solid"), ("r grows", growth.by_r, "dash")):
            values = losses.private if name == PRIVATE else losses.random
            marks.append(Curve(role=ROLES[name], name=f"{name}, {grows}", x=losses.cells, y=values, dash=dash, width=2))
            add_rows(name, grows, losses.cells.tolist(), values)
    sizes, loss = growth.by_k.cells, growth.by_k.private
    text = _sentence(growth, (int(sizes[0]), int(sizes[-1])), (float(loss[0]), float(loss[-1])))
    if len(growth.lower_bound):
        drawn = [values for curves in (growth.by_k, growth.by_r) for values in (curves.private, curves.random)]
        floor = float(min(growth.lower_bound.min(), *(values.min() for values in drawn))) / 2
        marks.insert(
            0,
            Wall(
                x=growth.lower_bound_cells, y=growth.lower_bound, end=floor, label="impossible", corner="bottom right"
            ),
        )
        add_rows("impossible (lower bound)", "k grows", growth.lower_bound_cells.tolist(), growth.lower_bound)
        text += (
            " Hatched: impossible (lower bound) for private histograms on the hardest data; at k = "
            f"{growth.max_cells:,}, errors below {significant(float(growth.lower_bound[-1]))}."
        )
        y = Axis(title="mean L1 error, share of n (log)", log=True, low=floor)
    else:
        y = Axis(title="mean L1 error, share of n", low=0)
    return Picture(
        title="Mean L1 error against the number of cells",
        x=Axis(title="cells: all (k) or non-empty (r) (log)", log=True, form="~s"),
        y=y,
        marks=marks,
        sentence=text,
        table=table,
    )


def _sentence(growth: Growth, k: tuple[int, int], loss: tuple[float, float]) -> str:
    """Return in words the growth of both losses, and the largest k at which empty cells may stay empty."""
    last = growth.last
    until = (
        f", up to k = {last:,}; for larger k the condition is not met and both agree" if last < growth.max_cells else ""
    )
    if growth.projected:
        text = f"After the projection, {significant(k[1] / k[0])} times as many cells (k = {k[0]:,} to {k[1]:,}) cost "
        text += f"the private histogram {loss_growth(k, loss)}."
        random = f" The error of the random-private one grows only with the r non-empty cells{until}."
    else:
        text = "Before the projection, the private histogram's error grows with all cells, as k/(εn)"
        random = f"; the random-private one's only with the non-empty r{until}."
        text += "" if last else "."
    return text + (random if last else " The condition is met at no k shown: the histograms agree.")


def loss_growth(k: tuple[int, int], loss: tuple[float, float]) -> str:
    """Return in words the factor by which a loss grows from the first to the last k, beside the factor of log k."""
    if not loss[0] or k[0] < 2:
        return f"an error of {significant(loss[1])} of n instead of {significant(loss[0])}"
    factor, log = loss[1] / loss[0], math.log(k[1]) / math.log(k[0])
    text = f"{significant(factor)} times the error"
    if abs(factor / log - 1) <= NEAR:
        return f"{text}: it grows about as log k ({significant(log)} times)"
    return f"{text}; log k grows {significant(log)} times"


def lone_pet(shares: Floats, *, spared: bool) -> Picture:
    """Draw the share of releases with a count above 0 in a cell, with its only pet there and elsewhere.

    Args:
        shares: private then random, there then elsewhere, (2, 2).
        spared: whether empty cells get no noise; by chance the last share may be 0 also where they do.
    """
    names = (PRIVATE, RANDOM)
    marks: list[Mark] = []
    for column, (case, role) in enumerate(CASES.items()):
        start, values = np.arange(2) - 0.34 + 0.36 * column, shares[:, column]
        hover = [f"{name}, {case}: {percent(share)}" for name, share in zip(names, values.tolist(), strict=True)]
        bars = Bars(
            role=role, name=case, start=start, end=start + WIDE, value=values, across=True, opacity=0.85, hover=hover
        )
        marks.append(bars)
        marks += [
            Words(role="ink", text=percent(share), x=share, y=place + WIDE / 2, align="left", shift=(4, 0), ground=True)
            for place, share in zip(start.tolist(), values.tolist(), strict=True)
        ]
    there, elsewhere = (f"{100 * share:.3g}" for share in shares[1])
    return Picture(
        title="One pet alone in its cell",
        x=Axis(title="releases with a count > 0", low=0, high=1.15, form="~p", ticks=(0, 0.25, 0.5, 0.75, 1)),
        y=Axis(labels=tuple(name.replace(" ", "\n") for name in names)),
        marks=marks,
        sentence=f"With random privacy, {there} of 100 releases show a pet there if it is there, and {elsewhere} if "
        "not. An attacker who knows all other rows and sees a count knows the last row with certainty."
        if spared
        else f"The condition is not met, so every cell gets noise: {there} in 100 releases show a pet there if it is "
        f"there, {elsewhere} if not.",
        table={
            "histogram": [name for name in names for _ in CASES],
            "case": [*CASES, *CASES],
            "share of releases": short_numbers(shares.reshape(-1)),
        },
        height=250,
    )
