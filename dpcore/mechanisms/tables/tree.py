"""Synthetic rows from tables that agree, where the attributes form a tree.

Rows cannot be drawn from all tables of k attributes at once: in general no data set has exactly these tables, and
finding out whether one has is hard. They can be drawn from some of the tables: those of a tree of attributes in
which each hangs on one other (Chow and Liu 1968), or of a junction tree of larger tables, where each new attribute
hangs on k - 1 others that are together in a table already drawn. Such rows have exactly the tables of the tree, up
to rounding; what the attributes that are not neighbours have to do with each other comes through those between them.
The tree is chosen from the released tables, so that it costs no privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.mechanisms.tables.release import Tables
from dpcore.queries.marginals import Set


@dataclass(frozen=True, kw_only=True)
class Tree:
    """How rows are drawn: attribute after attribute.

    Attributes:
        steps: each attribute with the ones its value is drawn from, which come before it.
    """

    steps: tuple[tuple[int, Set], ...]

    def tables(self) -> list[Set]:
        """The tables that the rows follow."""
        return [tuple(sorted((attribute, *given))) for attribute, given in self.steps]


def answers_only(*, attributes: int, ways: int) -> str:
    """What to tell a reader about synthetic rows: which tables they follow, and that none need have all of them."""
    if ways >= attributes:
        return "These rows follow the released table of all attributes."
    if ways == 1:
        return (
            "There is no synthetic table here, answers only: tables of one attribute do not say how attributes go "
            "together."
        )
    tree = attributes - ways + 1
    return (
        f"These rows follow {tree:,} of the {math.comb(attributes, ways):,} released tables, a tree; all others come "
        "through these. Rows with exactly all released tables there may be none: with their noise they need fit no "
        "data set."
    )


def widest_tree(tables: Tables, *, attributes: int, ways: int) -> Tree:
    """The tree of tables of k attributes that keeps most of what attributes say about each other, greedily.

    Starts with the k attributes that say most; then adds again and again the attribute on which k - 1 attributes of one
    table already drawn say most (in bits, from the tables themselves).

    Raises:
        ParameterError: tables have one attribute only.
    """
    if ways < 2:
        raise ParameterError(answers_only(attributes=attributes, ways=ways))
    said = {
        (attribute, tuple(a for a in chosen if a != attribute)): bits
        for chosen, table in tables.items()
        if len(chosen) == ways
        for attribute, bits in zip(chosen, _said(table), strict=True)
    }
    first = max((chosen for chosen in tables if len(chosen) == ways), key=lambda chosen: _shared(tables[chosen]))
    steps = [(attribute, first[:place]) for place, attribute in enumerate(first)]
    bases = set(combinations(first, ways - 1))
    left = set(range(attributes)) - set(first)
    while left:
        attribute, given = max(((a, base) for a in sorted(left) for base in sorted(bases)), key=said.__getitem__)
        steps.append((attribute, given))
        bases |= set(combinations(sorted((attribute, *given)), ways - 1))
        left.remove(attribute)
    return Tree(steps=tuple(steps))


def _said(table: Floats) -> list[float]:
    """For each attribute of a table, the bits that the others say about it."""
    whole = table / table.sum()
    joint = _entropy(whole)
    alone = [_entropy(whole.sum(axis=tuple(a for a in range(table.ndim) if a != axis))) for axis in range(table.ndim)]
    return [alone[axis] + _entropy(whole.sum(axis=axis)) - joint for axis in range(table.ndim)]


def _shared(table: Floats) -> float:
    """The bits by which all attributes together are less than each on its own."""
    whole = table / table.sum()
    axes = range(table.ndim)
    return sum(_entropy(whole.sum(axis=tuple(a for a in axes if a != axis))) for axis in axes) - _entropy(whole)


def _entropy(chances: Floats) -> float:
    positive = chances[chances > 0]
    return float(-(positive * np.log2(positive)).sum())


def synthetic_rows(tables: Tables, tree: Tree, *, rows: int, seed: int) -> Integers:
    """Rows (rows, d) that follow the tree's tables: post-processing of a release, so any coins will do.

    Rows are dealt out rather than drawn one by one: within all rows with the same values of the given attributes, each
    value gets its share, rounded up or down by chance. So tables are met to within a few rows.

    Args:
        tables: tables that agree, in rows.
        tree: as widest_tree gives it.
        rows: how many.
        seed: for shuffling.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    drawn = np.zeros((rows, len(tree.steps)), dtype=np.int64)
    for attribute, given in tree.steps:
        chosen = tuple(sorted((attribute, *given)))
        around = tables[chosen] if chosen in tables else _summed(tables, chosen)
        law = np.moveaxis(around, chosen.index(attribute), -1)
        shape = law.shape[:-1]
        law = law.reshape(-1, law.shape[-1])
        # Values never seen together have no law of their own: the attribute's own.
        alone = law.sum(axis=0)
        seen = law.sum(axis=1, keepdims=True) > 0
        law = np.where(seen, law, alone)
        law = np.cumsum(law, axis=1) / law.sum(axis=1, keepdims=True)
        group = (
            np.ravel_multi_index(tuple(drawn[:, a] for a in given), shape) if given else np.zeros(rows, dtype=np.int64)
        )
        order = np.lexsort((generator.random(rows), group))
        sizes = np.bincount(group, minlength=len(law))
        starts = np.cumsum(sizes) - sizes
        place = np.arange(rows) - starts[group[order]]
        # Even steps through the group with one start by chance: systematic sampling.
        position = (place + generator.random(len(law))[group[order]]) / sizes[group[order]]
        drawn[order, attribute] = (law[group[order]] <= position[:, None]).sum(axis=1).clip(0, law.shape[1] - 1)
    return generator.permutation(drawn, axis=0)


def _summed(tables: Tables, chosen: Set) -> Floats:
    """A smaller table as the sum of one that holds it."""
    around = next(larger for larger in tables if set(chosen) <= set(larger))
    total: Floats = tables[around].sum(axis=tuple(place for place, a in enumerate(around) if a not in chosen))
    return total
