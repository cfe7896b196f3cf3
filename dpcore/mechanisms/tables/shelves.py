"""Tables of one shape stacked, so that thousands of tables are worked on at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.mechanisms.tables.contrasts import centred, contrast_rows
from dpcore.mechanisms.tables.kinds import Kinds
from dpcore.queries.marginals import Set

Shape = tuple[int, ...]
Stacks = dict[Shape, Floats]
"""Tables (sets, *shape) by their shape, for all sets up to some number of attributes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shelf:
    """The sets whose tables have one shape, attribute by attribute.

    Attributes:
        shape: sizes of the attributes, in the attributes' order.
        kind: the sets' kind.
        places: of the sets among those of their kind, (sets,).
        sets: the sets.
    """

    shape: Shape
    kind: Set
    places: Integers
    sets: tuple[Set, ...]


class Shelves:
    """Where each table stands; public, and the same for every release on these attributes."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        sizes = kinds.sizes
        found: dict[Shape, tuple[Set, list[int], list[Set]]] = {}
        for key in kinds.keys:
            for place, chosen in enumerate(kinds.sets[key]):
                shape = tuple(sizes[a] for a in chosen)
                _, places, sets = found.setdefault(shape, (key, [], []))
                places.append(place)
                sets.append(chosen)
        self.shelves = {
            shape: Shelf(shape=shape, kind=key, places=np.array(places), sets=tuple(sets))
            for shape, (key, places, sets) in found.items()
        }

    @cached_property
    def place(self) -> dict[Set, int]:
        """Position of each set on its shelf."""
        return {chosen: place for shelf in self.shelves.values() for place, chosen in enumerate(shelf.sets)}

    @cached_property
    def _inside(self) -> dict[tuple[Shape, tuple[int, ...]], Integers]:
        return {}

    def inside(self, shelf: Shelf, axes: tuple[int, ...]) -> tuple[Shape, Integers]:
        """Shape and places of the smaller tables that keep only these axes of a shelf's."""
        if (shelf.shape, axes) not in self._inside:
            self._inside[shelf.shape, axes] = np.array([self.place[tuple(s[a] for a in axes)] for s in shelf.sets])
        return tuple(shelf.shape[a] for a in axes), self._inside[shelf.shape, axes]

    def residuals(self, values: dict[Set, Floats]) -> Stacks:
        """Centred tables of every shelf from contrasts by kind, (sets * rows,) each; zero where a kind has none."""
        stacks: Stacks = {}
        for shape, shelf in self.shelves.items():
            if shelf.kind in values:
                contrasts = values[shelf.kind].reshape(-1, contrast_rows(shape))[shelf.places]
                stacks[shape] = centred(contrasts, shape)
            else:
                stacks[shape] = np.zeros((len(shelf.sets), *shape))
        return stacks

    def assembled(self, residuals: Stacks, shelf: Shelf) -> Floats:
        """The unbiased tables of a shelf, (sets, *shape): all their parts added up.

        Each axis gets a place more, which holds the part that does not depend on it; then axis by axis the two are
        added.
        """
        out = np.zeros((len(shelf.sets), *(size + 1 for size in shelf.shape)))
        axes = range(len(shelf.shape))
        for order in range(len(shelf.shape) + 1):
            for kept in combinations(axes, order):
                shape, places = self.inside(shelf, kept)
                part = tuple(slice(1, None) if axis in kept else 0 for axis in axes)
                out[(slice(None), *part)] = residuals[shape][places]
        for axis in axes:
            constant, varying = np.split(out, [1], axis=axis + 1)
            out = varying + constant / shelf.shape[axis]
        return out


@lru_cache(maxsize=16)
def shelves_of(kinds: Kinds) -> Shelves:
    """The shelves of some kinds, kept."""
    return Shelves(kinds)


def total_variation(one: Floats, other: Floats) -> Floats:
    """Half the absolute difference of two stacks of tables as distributions, (sets,)."""
    one, other = one.reshape(len(one), -1), other.reshape(len(other), -1)
    difference = one / one.sum(axis=1, keepdims=True) - other / other.sum(axis=1, keepdims=True)
    distances: Floats = np.abs(difference).sum(axis=1) / 2
    return distances


def cells(shape: Shape) -> int:
    """Cells of a table."""
    return math.prod(shape)
