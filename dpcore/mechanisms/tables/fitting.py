"""From noisy contrasts to tables without negative counts that agree with each other: post-processing, at no cost in ε.

Tables are made order by order. One attribute: the nearest counts with the right total. More: the tables of one
attribute fewer are fixed, and determine the expected larger one: the table with these margins and the largest
entropy, found by scaling it to one margin after the other. What was measured beyond the margins is the noisy centred
table, known up to its noise sigma^2. Where the expected count E is small, so is what a true count may differ from
it: with prior variance tau^2 E, tau^2 estimated per table by matching squares, the best guess is E + (measured - E)
* tau^2 E/(tau^2 E + noise), cut off at zero and scaled back to the margins. Margins shared by two tables are thus
the same table's.

In the end margins are moved until the larger tables agree on them (``consistency.py``).

Unbiased tables instead fit negative counts as well as positive ones; cutting those off alone would add rows wherever
cells are rare, which is why the totals and margins are held.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Floats
from dpcore.mechanisms.tables.consistency import NOTHING, reconciled
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.mechanisms.tables.shape_groups import Shape, ShapeGroup, ShapeGroups, Stacks, cells, shape_groups_of

SWEEPS = 6
"""Times a table is scaled to all its margins."""
ESTIMATES = 8
"""Steps of the estimate of tau^2."""


def unbiased(plan: ResidualPlan, residuals: Stacks) -> Stacks:
    """Return the tables of k attributes, added up from their parts: negative counts are left as they are."""
    groups = shape_groups_of(plan.cliques)
    return {shape: groups.assembled(residuals, group) for shape, group in _largest(groups).items()}


def on_simplex(tables: Floats, *, total: float | Floats) -> Floats:
    """Return the nearest tables without negative counts, each adding up to the total or its own, (sets, *shape)."""
    flat = tables.reshape(len(tables), -1)
    descending = -np.sort(-flat, axis=1)
    excess = (np.cumsum(descending, axis=1) - np.reshape(total, (-1, 1))) / np.arange(1, flat.shape[1] + 1)
    positive = (descending > excess).sum(axis=1)
    level = excess[np.arange(len(flat)), positive - 1]
    nearest: Floats = np.maximum(flat - level[:, None], 0).reshape(tables.shape)
    return nearest


def consistent(plan: ResidualPlan, residuals: Stacks) -> Stacks:
    """Return tables of up to k attributes without negative counts, each larger one scaled to the smaller ones in it."""
    groups = shape_groups_of(plan.cliques)
    noise = {part.key: part.centred_variance for part in plan.parts}
    total = max(float(residuals[()][0]), 1.0)
    fitted: Stacks = {(): np.array([total])}
    for shape, group in sorted(groups.groups.items(), key=lambda item: len(item[0])):
        if not shape:
            continue
        if len(shape) == 1:
            fitted[shape] = on_simplex(residuals[shape] + total / shape[0], total=total)
            continue
        margins = _margins(groups, group, fitted)
        if len(shape) == 2:
            expected = margins[0] * margins[1] / total
        else:
            expected = _scaled(np.full((len(group.sets), *shape), total / cells(shape)), margins)
        variance = noise.get(group.kind, 0.0) * math.prod(1 - 1 / size for size in shape)
        beyond = residuals[shape] - _centred(expected)
        fitted[shape] = _shrunk(expected, beyond, margins, variance=variance)
    return reconciled(plan, fitted)


def fitted_pair(measured: Floats, one: Floats, other: Floats, *, variance: float) -> Floats:
    """Return the table of a pair (s, t), in rows, from the fitted counts of its columns (s,) and (t,).

    Args:
        measured: noisy centred table, (s, t).
        one: fitted counts of its first column.
        other: those of its second, with the same total.
        variance: of the centred table along any direction it may take.
    """
    expected = np.outer(one, other)[None] / one.sum()
    beyond, margins = measured[None] - _centred(expected), [other[None, None, :], one[None, :, None]]
    variance *= math.prod(1 - 1 / size for size in measured.shape)
    fitted: Floats = _shrunk(expected, beyond, margins, variance=variance)[0]
    return fitted


def disagreement(plan: ResidualPlan, fitted: Stacks) -> float:
    """Return the largest difference, in rows, between a margin of a table of k attributes and the smaller table."""
    groups = shape_groups_of(plan.cliques)
    return max(
        (
            float(np.abs(fitted[shape].sum(axis=place + 1, keepdims=True) - margin).max())
            for shape, group in _largest(groups).items()
            for place, margin in enumerate(_margins(groups, group, fitted))
        ),
        default=0.0,
    )


def _largest(groups: ShapeGroups) -> dict[Shape, ShapeGroup]:
    return {shape: group for shape, group in groups.groups.items() if len(shape) == groups.cliques.ways}


def _margins(groups: ShapeGroups, group: ShapeGroup, fitted: Stacks) -> list[Floats]:
    """Return, for each axis, the fitted tables without it, (sets, *shape with 1 there)."""
    margins = []
    for place in range(len(group.shape)):
        shape, places = groups.inside(group, tuple(a for a in range(len(group.shape)) if a != place))
        margins.append(np.expand_dims(fitted[shape][places], place + 1))
    return margins


def _scaled(tables: Floats, margins: list[Floats]) -> Floats:
    """Return tables scaled to one margin after the other (iterative proportional fitting)."""
    for _ in range(SWEEPS):
        for place, margin in enumerate(margins):
            sums = tables.sum(axis=place + 1, keepdims=True)
            tables = tables * (margin / np.maximum(sums, NOTHING))
    return tables


def _centred(tables: Floats) -> Floats:
    for axis in range(1, tables.ndim):
        tables = tables - tables.mean(axis=axis, keepdims=True)
    return tables


def _shrunk(expected: Floats, beyond: Floats, margins: list[Floats], *, variance: float) -> Floats:
    """Return expected tables moved towards what was measured beyond them, as far as its noise allows."""
    guess = np.maximum(expected + _shrinkage(expected, beyond, variance=variance) * beyond, 0.0)
    return _scaled(guess + 1e-9 * expected, margins)


def _shrinkage(expected: Floats, beyond: Floats, *, variance: float) -> Floats:
    """Return the shrinkage factor of the measured deviation from the expected table, cell by cell."""
    axes = tuple(range(1, expected.ndim))
    squares, spread = beyond**2 - variance, np.ones((len(expected), *(1 for _ in axes)))
    for _ in range(ESTIMATES):
        weight = expected / (spread * expected + variance + 1e-12) ** 2
        fit = (weight * squares).sum(axis=axes, keepdims=True)
        spread = np.maximum(fit / np.maximum((weight * expected).sum(axis=axes, keepdims=True), 1e-300), 1e-12)
    return spread * expected / (spread * expected + variance + 1e-12)
