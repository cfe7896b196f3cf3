"""Sets of attributes (cliques) sorted into types: two sets with as many attributes of each size are alike.

There are thousands of sets but few types. Cost and weight of a set follow from its type, and so does the number of sets
of that type. The cost of a pair of records follows from how many attributes of each size differ.

Under ADD_REMOVE_ONE a record's contrasts on a set T have squared length kappa p, p the product of 1 - 1/s, whatever the
record. Under REPLACE_ONE two records that differ exactly in the attributes D are apart on T by
    kappa * 2 * (p - product over T of (1 - 1/s - [attribute in D])),
because the centred columns of two cells have inner product 1 - 1/s if the cells are the same and -1/s if not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from dpcore.core import Floats, Neighbours, ParameterError, check_memory
from dpcore.mechanisms.tables.contrasts import contrast_rows, kappa
from dpcore.queries.marginals import Set

MAX_NUMBERS = 1 << 24
"""Noisy numbers of one release: 128 MB."""
MAX_CACHED_PLANS = 8
"""Plans that one server caches: each holds its sets of attributes."""
MAX_PAIRS = 1 << 14
"""Types of differing pairs that are compared one by one; beyond, each set is taken at its own worst pair."""


@dataclass(frozen=True, kw_only=True)
class CliqueTypes:
    """The types of sets of at most ``ways`` of these attributes.

    Attributes:
        sizes: cells of each attribute.
        ways: attributes of a table.

    Raises:
        ParameterError: the tables would be too many numbers.
    """

    sizes: tuple[int, ...]
    ways: int

    def __post_init__(self) -> None:
        numbers = [1] + [0] * self.ways
        for size in self.sizes:
            for ways in range(self.ways, 0, -1):
                numbers[ways] += contrast_rows((size,)) * numbers[ways - 1]
        if sum(numbers) > MAX_NUMBERS:
            raise ParameterError(
                f"These tables have {sum(numbers):,} numbers; at most {MAX_NUMBERS:,} can be released at once. "
                "Take fewer attributes or coarser ones."
            )
        sets = sum(math.comb(len(self.sizes), ways) for ways in range(self.ways + 1))
        what, smaller = f"The {sets:,} sets of up to {self.ways} attributes", "take smaller tables or fewer columns"
        check_memory(sets, what=what, smaller=smaller, each=MAX_CACHED_PLANS * (128 + 16 * self.ways))

    @cached_property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Pairs (size, number of attributes of that size)."""
        return tuple(sorted(Counter(self.sizes).items()))

    @cached_property
    def keys(self) -> tuple[Set, ...]:
        """Numbers of attributes of each size, for every type; the empty set first, small sets before large ones."""
        ranges = [range(min(many, self.ways) + 1) for _, many in self.groups]
        return tuple(sorted((key for key in product(*ranges) if sum(key) <= self.ways), key=lambda k: (sum(k), k)))

    @cached_property
    def sets(self) -> dict[Set, tuple[Set, ...]]:
        """Sets of attributes by their type."""
        members: dict[Set, list[Set]] = {key: [] for key in self.keys}
        place = {size: position for position, (size, _) in enumerate(self.groups)}
        for size in range(self.ways + 1):
            for chosen in combinations(range(len(self.sizes)), size):
                key = [0] * len(self.groups)
                for attribute in chosen:
                    key[place[self.sizes[attribute]]] += 1
                members[tuple(key)].append(chosen)
        return {key: tuple(chosen) for key, chosen in members.items()}

    def sizes_of(self, key: Set) -> tuple[int, ...]:
        """Return the sizes of the attributes of a set of this type."""
        return tuple(size for (size, _), many in zip(self.groups, key, strict=True) for _ in range(many))

    @cached_property
    def counts(self) -> Floats:
        """Number of sets of each type, (types,)."""
        return np.array(
            [math.prod(math.comb(g[1], a) for g, a in zip(self.groups, k, strict=True)) for k in self.keys],
            dtype=np.float64,
        )

    @cached_property
    def orders(self) -> Floats:
        """Number of attributes of a set of each type, (types,)."""
        return np.array([sum(key) for key in self.keys], dtype=np.float64)

    @cached_property
    def kappas(self) -> Floats:
        """kappa of each type, (types,)."""
        return np.array([kappa(self.sizes_of(key)) for key in self.keys], dtype=np.float64)

    @cached_property
    def rows(self) -> Floats:
        """Number of contrasts of one set of each type, (types,)."""
        return np.array([contrast_rows(self.sizes_of(key)) for key in self.keys], dtype=np.float64)

    @cached_property
    def lengths(self) -> Floats:
        """p of each type, (types,)."""
        return np.array([math.prod(1 - 1 / s for s in self.sizes_of(key)) for key in self.keys], dtype=np.float64)

    @cached_property
    def weights(self) -> Floats:
        """Weight v of one set of each type, (types,): factor of sigma_T^2 in the squared errors of all tables' cells.

        A centred table on T enters every table of the attributes S around it, divided by the sizes of the others.
        """
        weights = []
        for key in self.keys:
            # Choose the other attributes among those left, each with factor 1/size: an elementary symmetric polynomial.
            sums = [1.0] + [0.0] * self.ways
            for (size, many), own in zip(self.groups, key, strict=True):
                for _ in range(many - own):
                    for place in range(self.ways, 0, -1):
                        sums[place] += sums[place - 1] / size
            weights.append(math.prod(size - 1 for size in self.sizes_of(key)) * sums[self.ways - sum(key)])
        return np.array(weights, dtype=np.float64)

    def squared_shifts(self, neighbours: Neighbours) -> Floats:
        """Return the squared shift of all contrasts of a type of set under each type of neighbour, (pairs, types)."""
        if neighbours is Neighbours.ADD_REMOVE_ONE:
            return (self.kappas * self.counts * self.lengths)[None, :]
        if self._pairs > MAX_PAIRS:
            return (self.kappas * self.counts * 2 * (self.lengths + self._furthest))[None, :]
        inner = np.ones((self._pairs, len(self.keys)))
        differing = np.array(list(self.differing()))
        for place, (size, many) in enumerate(self.groups):
            table = _products(size=size, many=many, ways=self.ways)
            inner *= table[differing[:, place]][:, [key[place] for key in self.keys]]
        return self.kappas * 2 * np.maximum(self.counts * self.lengths - inner, 0.0)

    @property
    def _pairs(self) -> int:
        return math.prod(many + 1 for _, many in self.groups)

    def differing(self) -> Iterator[Set]:
        """Yield the numbers of differing attributes of each size of two records, in the order of squared_shifts."""
        return product(*(range(many + 1) for _, many in self.groups))

    @property
    def _furthest(self) -> Floats:
        """Largest value of -(product over T of 1 - 1/s - [differs]): one attribute differs, the smallest, or 0."""
        smallest = [min(self.sizes_of(key), default=0) for key in self.keys]
        return np.array([p / (s - 1) if s else -1.0 for p, s in zip(self.lengths, smallest, strict=True)])


def _products(*, size: int, many: int, ways: int) -> Floats:
    """Sum the product of 1 - 1/s - [differs] over sets of a of ``many`` attributes, b of which differ, (b, a)."""
    table = np.zeros((many + 1, ways + 1))
    for differ in range(many + 1):
        for chosen in range(min(many, ways) + 1):
            table[differ, chosen] = sum(
                math.comb(differ, j)
                * (-1 / size) ** j
                * math.comb(many - differ, chosen - j)
                * (1 - 1 / size) ** (chosen - j)
                for j in range(min(differ, chosen) + 1)
            )
    return table
