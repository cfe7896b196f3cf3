"""What the loss grows with, and what sparing empty cells gives away: the pet alone in a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.core import Floats
from dplab.sparse import Growth
from pages.charts.picture import Axis, Bars, Curve, Mark, Picture, Wall, Words
from pages.charts.words import percent, short_numbers, significant
from pages.learn.sparse.histograms import PRIVATE, RANDOM, ROLES

NEAR = 0.1
"""Largest relative difference between two factors that are said to be about the same."""
CASES = {"pet there": "released", "pet elsewhere": "quiet"}
WIDE = 0.34
"""A bar, so that a line of words fits above the first one."""


def growth_curves(found: Growth) -> Picture:
    """Mean loss against all cells k, and against the non-empty ones r.

    Log against log shows k itself as a straight line, log against plain numbers shows log k so.
    """
    marks: list[Mark] = []
    table: dict[str, list[Any]] = {"histogram": [], "what grows": [], "cells": [], "mean L1 loss": []}

    def tell(who: str, grows: str, cells: Sequence[int], values: Floats) -> None:
        rows = [[who] * len(cells), [grows] * len(cells), cells, short_numbers(values)]
        for name, column in zip(table, rows, strict=True):
            table[name].extend(column)

    for who in (PRIVATE, RANDOM):
        for grows, losses, dash in (("k grows", found.by_k, "solid"), ("r grows", found.by_r, "dash")):
            values = losses.private if who == PRIVATE else losses.random
            marks.append(Curve(role=ROLES[who], name=f"{who}, {grows}", x=losses.cells, y=values, dash=dash, width=2))
            tell(who, grows, losses.cells.tolist(), values)
    sizes, loss = found.by_k.cells, found.by_k.private
    text = _sentence(found, (int(sizes[0]), int(sizes[-1])), (float(loss[0]), float(loss[-1])))
    if len(found.lower_bound):
        drawn = [values for curves in (found.by_k, found.by_r) for values in (curves.private, curves.random)]
        floor = float(min(found.lower_bound.min(), *(values.min() for values in drawn))) / 2
        marks.insert(
            0,
            Wall(x=found.lower_bound_cells, y=found.lower_bound, end=floor, label="impossible", corner="bottom right"),
        )
        tell("no private histogram below", "k grows", found.lower_bound_cells.tolist(), found.lower_bound)
        text += f" Hatched: on its hardest data no private histogram has less, at k = {found.max_cells:,} "
        text += f"{significant(float(found.lower_bound[-1]))}."
        y = Axis(title="mean L1 loss, share of n (log)", log=True, low=floor)
    else:
        y = Axis(title="mean L1 loss, share of n", low=0)
    return Picture(
        title="Mean loss against the number of cells",
        x=Axis(title="cells: all (k) or non-empty (r) (log)", log=True, form="~s"),
        y=y,
        marks=marks,
        sentence=text,
        table=table,
    )


def _sentence(found: Growth, k: tuple[int, int], loss: tuple[float, float]) -> str:
    """How both grow, and up to which k empty cells may stay empty."""
    last = found.last
    until = f", up to k = {last:,}: beyond, the condition fails and they agree" if last < found.max_cells else ""
    if found.projected:
        text = f"After the projection, {significant(k[1] / k[0])} times as many cells (k = {k[0]:,} to {k[1]:,}) cost "
        text += f"the private histogram {loss_growth(k, loss)}."
        random = f" The random-private one's grows only with the non-empty r{until}."
    else:
        text = "Before the projection, the private histogram's loss grows with all cells, as k/(εn)"
        random = f"; the random-private one's only with the non-empty r{until}."
        text += "" if last else "."
    return text + (random if last else " The condition is met at no k shown: the histograms agree.")


def loss_growth(k: tuple[int, int], loss: tuple[float, float]) -> str:
    """Factor by which a loss grows from the first to the last k, beside that of log k; "about" where they are near."""
    if not loss[0] or k[0] < 2:
        return f"a loss of {significant(loss[1])} of n instead of {significant(loss[0])}"
    factor, log = loss[1] / loss[0], math.log(k[1]) / math.log(k[0])
    text = f"{significant(factor)} times the loss"
    if abs(factor / log - 1) <= NEAR:
        return f"{text}: it grows about as log k ({significant(log)} times)"
    return f"{text}; log k grows {significant(log)} times"


def alone(shown: Floats, *, spared: bool) -> Picture:
    """How often a release shows somebody in a cell, with its only pet there and elsewhere.

    Args:
        shown: share of releases with a count above 0 there; (2, 2): private then random, there then elsewhere.
        spared: whether empty cells get no noise; by chance the last share may be 0 also where they do.
    """
    names = (PRIVATE, RANDOM)
    marks: list[Mark] = []
    for column, (case, role) in enumerate(CASES.items()):
        start, shares = np.arange(2) - 0.34 + 0.36 * column, shown[:, column]
        hover = [f"{name}, {case}: {percent(share)}" for name, share in zip(names, shares.tolist(), strict=True)]
        marks.append(
            Bars(
                role=role,
                name=case,
                start=start,
                end=start + WIDE,
                value=shares,
                across=True,
                opacity=0.85,
                hover=hover,
            )
        )
        marks += [
            Words(role="ink", text=percent(share), x=share, y=place + WIDE / 2, align="left", shift=(4, 0))
            for place, share in zip(start.tolist(), shares.tolist(), strict=True)
        ]
    there, elsewhere = (f"{100 * share:.3g}" for share in shown[1])
    return Picture(
        title="A pet alone in a cell",
        x=Axis(title="releases with a count > 0", low=0, high=1.15, form="~p", ticks=(0, 0.25, 0.5, 0.75, 1)),
        y=Axis(labels=tuple(name.replace(" ", "\n") for name in names)),
        marks=marks,
        sentence=f"With random privacy, {there} in 100 releases show somebody there if the pet is, {elsewhere} if "
        "not: whoever knows all others and sees a count knows for certain."
        if spared
        else f"The condition is not met, so every cell gets noise: {there} in 100 releases show somebody there if the "
        f"pet is there, {elsewhere} if not.",
        table={
            "histogram": [who for who in names for _ in CASES],
            "case": [*CASES, *CASES],
            "share of releases": short_numbers(shown.reshape(-1)),
        },
        height=250,
    )
