"""From noisy contrasts to tables without negative counts that agree with each other: post-processing, free.

Tables are made order by order. One attribute: the nearest counts with the right total. More: the tables of one
attribute fewer are kept, and say what to expect of the larger one: the table with these margins and the largest
entropy, found by scaling it to one margin after the other. What was measured beyond the margins is the noisy centred
table, known up to its noise sigma^2. Where the expected count E is small, so is what a true count may differ from
it: with prior variance tau^2 E, tau^2 estimated per table by matching squares, the best guess is E + (measured - E)
* tau^2 E/(tau^2 E + noise), cut off at zero and scaled back to the margins. Margins shared by two tables are thus
the same table's.

In the end margins are moved until the larger tables agree on them (``agreeing``).

Unbiased tables instead fit negative counts as well as positive ones; cutting those off alone would add rows wherever
cells are rare, which is why the totals and margins are held.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Floats
from dpcore.mechanisms.tables.agreeing import NOTHING, agreeing
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.mechanisms.tables.shelves import Shape, Shelf, Shelves, Stacks, cells, shelves_of

SWEEPS = 6
"""Times a table is scaled to all its margins."""
ESTIMATES = 8
"""Steps of the estimate of tau^2."""


def unbiased(plan: ResidualPlan, residuals: Stacks) -> Stacks:
    """The tables of k attributes, added up from their parts: negative counts are left as they are."""
    shelves = shelves_of(plan.kinds)
    return {shape: shelves.assembled(residuals, shelf) for shape, shelf in _largest(shelves).items()}


def on_simplex(tables: Floats, *, total: float) -> Floats:
    """The nearest tables without negative counts, each adding up to the total: (sets, *shape)."""
    flat = tables.reshape(len(tables), -1)
    descending = -np.sort(-flat, axis=1)
    excess = (np.cumsum(descending, axis=1) - total) / np.arange(1, flat.shape[1] + 1)
    kept = (descending > excess).sum(axis=1)
    level = excess[np.arange(len(flat)), kept - 1]
    nearest: Floats = np.maximum(flat - level[:, None], 0).reshape(tables.shape)
    return nearest


def consistent(plan: ResidualPlan, residuals: Stacks) -> Stacks:
    """Tables of up to k attributes without negative counts, each larger one scaled to the smaller ones in it."""
    shelves = shelves_of(plan.kinds)
    noise = {part.key: part.centred_variance for part in plan.parts}
    total = max(float(residuals[()][0]), 1.0)
    fitted: Stacks = {(): np.array([total])}
    for shape, shelf in sorted(shelves.shelves.items(), key=lambda found: len(found[0])):
        if not shape:
            continue
        if len(shape) == 1:
            fitted[shape] = on_simplex(residuals[shape] + total / shape[0], total=total)
            continue
        margins = _margins(shelves, shelf, fitted)
        if len(shape) == 2:
            expected = margins[0] * margins[1] / total
        else:
            expected = _scaled(np.full((len(shelf.sets), *shape), total / cells(shape)), margins)
        variance = noise.get(shelf.kind, 0.0) * math.prod(1 - 1 / size for size in shape)
        beyond = residuals[shape] - _centred(expected)
        guess = np.maximum(expected + _kept(expected, beyond, variance=variance) * beyond, 0.0)
        fitted[shape] = _scaled(guess + 1e-9 * expected, margins)
    return agreeing(plan, fitted)


def disagreement(plan: ResidualPlan, fitted: Stacks) -> float:
    """The most by which a table of k attributes misses a smaller one in it, in rows."""
    shelves = shelves_of(plan.kinds)
    return max(
        (
            float(np.abs(fitted[shape].sum(axis=place + 1, keepdims=True) - margin).max())
            for shape, shelf in _largest(shelves).items()
            for place, margin in enumerate(_margins(shelves, shelf, fitted))
        ),
        default=0.0,
    )


def _largest(shelves: Shelves) -> dict[Shape, Shelf]:
    return {shape: shelf for shape, shelf in shelves.shelves.items() if len(shape) == shelves.kinds.ways}


def _margins(shelves: Shelves, shelf: Shelf, fitted: Stacks) -> list[Floats]:
    """For each axis, the fitted tables without it, (sets, *shape with 1 there)."""
    found = []
    for place in range(len(shelf.shape)):
        shape, places = shelves.inside(shelf, tuple(a for a in range(len(shelf.shape)) if a != place))
        found.append(np.expand_dims(fitted[shape][places], place + 1))
    return found


def _scaled(tables: Floats, margins: list[Floats]) -> Floats:
    """Tables scaled to one margin after the other (iterative proportional fitting)."""
    for _ in range(SWEEPS):
        for place, margin in enumerate(margins):
            sums = tables.sum(axis=place + 1, keepdims=True)
            tables = tables * (margin / np.maximum(sums, NOTHING))
    return tables


def _centred(tables: Floats) -> Floats:
    for axis in range(1, tables.ndim):
        tables = tables - tables.mean(axis=axis, keepdims=True)
    return tables


def _kept(expected: Floats, beyond: Floats, *, variance: float) -> Floats:
    """The share of what was measured beyond the expected table that is believed, cell by cell."""
    axes = tuple(range(1, expected.ndim))
    squares, spread = beyond**2 - variance, np.ones((len(expected), *(1 for _ in axes)))
    for _ in range(ESTIMATES):
        weight = expected / (spread * expected + variance + 1e-12) ** 2
        fit = (weight * squares).sum(axis=axes, keepdims=True)
        spread = np.maximum(fit / np.maximum((weight * expected).sum(axis=axes, keepdims=True), 1e-300), 1e-12)
    return spread * expected / (spread * expected + variance + 1e-12)
