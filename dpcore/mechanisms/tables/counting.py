"""Counts of all tables of k attributes, and the contrasts of all sets of at most k.

Rows are taken in blocks that stay in the processor's cache. Mixed-radix codes of the first attributes of a set are kept
while the last ones vary. Yes/no attributes are packed 64 rows to a word instead: the contrast of a set is the number of
rows with an even number of its attributes less those with an odd number, one exclusive or and a population count.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Integers, check_memory
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import contrasts
from dpcore.queries.marginals import Set

BLOCK = 1 << 15
"""Rows coded at once."""
SMALLER = "choose tables of fewer columns, or coarser columns"
"""Advice in messages about memory."""
WORDS = 1 << 10
"""Words of 64 rows each counted at once."""

Tables = dict[Set, Integers]
"""Counts (*sizes) by set of attributes."""


def count_tables(records: NDArray[Any], sizes: tuple[int, ...], *, ways: int) -> Generator[float, None, Tables]:
    """Count all tables of ``ways`` attributes; yields the share of rows done.

    Args:
        records: rows of cells, (n, d), columns contiguous for speed.
        sizes: cells of each attribute.
        ways: k.

    Raises:
        ParameterError: the tables have too many cells.
    """
    sums = [1] + [0] * ways
    for size in sizes:
        for order in range(ways, 0, -1):
            sums[order] += size * sums[order - 1]
    check_memory(sums[ways], what=f"The {sums[ways]:,} cells of all tables", smaller=SMALLER, each=16)
    tables = {
        s: np.zeros(int(np.prod([sizes[a] for a in s])), dtype=np.int64) for s in combinations(range(len(sizes)), ways)
    }

    def visit(chosen: Set, codes: NDArray[np.intp] | int) -> None:
        last = len(chosen) == ways - 1
        for attribute in range(chosen[-1] + 1 if chosen else 0, len(sizes) - (ways - 1 - len(chosen))):
            longer, extended = (*chosen, attribute), codes * sizes[attribute] + columns[attribute]
            if last:
                tables[longer] += np.bincount(extended, minlength=len(tables[longer]))
            else:
                visit(longer, extended)

    for start in range(0, len(records), BLOCK):
        columns = np.ascontiguousarray(records[start : start + BLOCK].T).astype(np.intp)
        visit((), 0)
        yield min(1.0, (start + BLOCK) / len(records))
    return {s: table.reshape([sizes[a] for a in s]) for s, table in tables.items()}


def smaller_tables(tables: Tables, *, attributes: int) -> Tables:
    """Return the tables of one attribute fewer, each a sum of one of these."""
    ways = len(next(iter(tables)))
    smaller = {}
    for inside in combinations(range(attributes), ways - 1):
        extra = next(a for a in range(attributes) if a not in inside)
        around = tuple(sorted((*inside, extra)))
        smaller[inside] = tables[around].sum(axis=around.index(extra))
    return smaller


def count_contrasts(records: NDArray[Any], cliques: CliqueTypes) -> Generator[float, None, dict[Set, Integers]]:
    """Count the contrasts of all sets, by type, (sets * rows,) each; yields the share of rows done."""
    if set(cliques.sizes) == {2}:
        by_order = yield from _parities(records, ways=cliques.ways)
        return dict(zip(cliques.keys, by_order, strict=True))
    every = dict((yield from count_tables(records, cliques.sizes, ways=cliques.ways)))
    tables = every
    for _ in range(cliques.ways):
        tables = smaller_tables(tables, attributes=len(cliques.sizes))
        every |= tables
    return {
        key: np.concatenate([contrasts(every[s], tuple(cliques.sizes[a] for a in s)) for s in cliques.sets[key]])
        for key in cliques.keys
    }


def _parities(records: NDArray[Any], *, ways: int) -> Generator[float, None, list[Integers]]:
    """Count rows with an even less rows with an odd number of a set's attributes, for sets of 0, 1, ... attributes."""
    n, attributes = records.shape
    words = np.zeros((attributes, max(1, -(-n // 64)) * 8), dtype=np.uint8)
    words[:, : -(-n // 8)] = np.packbits(np.ascontiguousarray(records.T).astype(np.bool_), axis=1)
    packed = words.view(np.uint64)
    odd: list[list[Integers]] = [[] for _ in range(ways)]

    def visit(chosen: int, start: int, together: NDArray[np.uint64]) -> None:
        longer = columns[start:] ^ together
        odd[chosen].append(np.bitwise_count(longer).sum(axis=1, dtype=np.int64))
        if chosen + 1 < ways:
            for place in range(attributes - start - 1):
                visit(chosen + 1, start + place + 1, longer[place])

    totals: list[Integers] = []
    for start in range(0, packed.shape[1], WORDS):
        columns = packed[:, start : start + WORDS]
        for level in odd:
            level.clear()
        visit(0, 0, np.zeros(columns.shape[1], dtype=np.uint64))
        blocks = [np.concatenate(level) for level in odd]
        totals = [total + block for total, block in zip(totals, blocks, strict=True)] if start else blocks
        yield min(1.0, (start + WORDS) / packed.shape[1])
    return [np.array([n], dtype=np.int64), *(n - 2 * total for total in totals)]
