"""Tables of one shape in a stack, so that thousands of tables are processed at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import centred, contrast_rows
from dpcore.queries.marginals import Set

Shape = tuple[int, ...]
Stacks = dict[Shape, Floats]
"""Tables (sets, *shape) by their shape, for all sets up to some number of attributes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ShapeGroup:
    """The sets whose tables have one shape, attribute by attribute.

    Attributes:
        shape: sizes of the attributes, in the attributes' order.
        kind: the sets' type of clique: attributes of each size.
        places: positions of the sets among those of their type, (sets,).
        sets: the sets.
    """

    shape: Shape
    kind: Set
    places: Integers
    sets: tuple[Set, ...]


class ShapeGroups:
    """Position of each table among those of its shape; public, and the same for every release on these attributes."""

    def __init__(self, cliques: CliqueTypes) -> None:
        self.cliques = cliques
        sizes = cliques.sizes
        members: dict[Shape, tuple[Set, list[int], list[Set]]] = {}
        for key in cliques.keys:
            for place, chosen in enumerate(cliques.sets[key]):
                shape = tuple(sizes[a] for a in chosen)
                _, places, sets = members.setdefault(shape, (key, [], []))
                places.append(place)
                sets.append(chosen)
        self.groups = {
            shape: ShapeGroup(shape=shape, kind=key, places=np.array(places), sets=tuple(sets))
            for shape, (key, places, sets) in members.items()
        }

    @cached_property
    def place(self) -> dict[Set, int]:
        """Position of each set in its group."""
        return {chosen: place for group in self.groups.values() for place, chosen in enumerate(group.sets)}

    @cached_property
    def _inside(self) -> dict[tuple[Shape, tuple[int, ...]], Integers]:
        return {}

    def inside(self, group: ShapeGroup, axes: tuple[int, ...]) -> tuple[Shape, Integers]:
        """Return shape and places of the smaller tables that have only these axes of a group's tables."""
        if (group.shape, axes) not in self._inside:
            self._inside[group.shape, axes] = np.array([self.place[tuple(s[a] for a in axes)] for s in group.sets])
        return tuple(group.shape[a] for a in axes), self._inside[group.shape, axes]

    def residuals(self, values: dict[Set, Floats]) -> Stacks:
        """Return every group's centred tables from contrasts by type, (sets * rows,) each; zero without contrasts."""
        stacks: Stacks = {}
        for shape, group in self.groups.items():
            if group.kind in values:
                contrasts = values[group.kind].reshape(-1, contrast_rows(shape))[group.places]
                stacks[shape] = centred(contrasts, shape)
            else:
                stacks[shape] = np.zeros((len(group.sets), *shape))
        return stacks

    def assembled(self, residuals: Stacks, group: ShapeGroup) -> Floats:
        """Return the unbiased tables of a group, (sets, *shape): the sum of all their parts.

        Each axis gets a place more, which holds the part that does not depend on it; then axis by axis the two are
        added.
        """
        out = np.zeros((len(group.sets), *(size + 1 for size in group.shape)))
        axes = range(len(group.shape))
        for order in range(len(group.shape) + 1):
            for inside in combinations(axes, order):
                shape, places = self.inside(group, inside)
                part = tuple(slice(1, None) if axis in inside else 0 for axis in axes)
                out[(slice(None), *part)] = residuals[shape][places]
        for axis in axes:
            constant, varying = np.split(out, [1], axis=axis + 1)
            out = varying + constant / group.shape[axis]
        return out


@lru_cache(maxsize=16)
def shape_groups_of(cliques: CliqueTypes) -> ShapeGroups:
    """Return the shape groups of these types of cliques, cached."""
    return ShapeGroups(cliques)


def total_variation(one: Floats, other: Floats) -> Floats:
    """Return half the absolute difference of two stacks of tables as distributions, (sets,)."""
    one, other = one.reshape(len(one), -1), other.reshape(len(other), -1)
    difference = one / one.sum(axis=1, keepdims=True) - other / other.sum(axis=1, keepdims=True)
    distances: Floats = np.abs(difference).sum(axis=1) / 2
    return distances


def cells(shape: Shape) -> int:
    """Return the number of cells of a table."""
    return math.prod(shape)
