"""Numbers of rows with all of a set's attributes, for every set up to a size: bits, 64 rows at a time.

Rows are packed into 64-bit words, attribute by attribute. A set's rows are the AND of its attributes' words, and sets
that share their larger members share that AND; what is left per set is one AND, one population count and one sum over
words that stay in the cache. NumPy lets other threads run meanwhile, so two of them share the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from math import comb
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Booleans, Floats, Integers, ParameterError, finish
from dpcore.queries.attribute_sets import ranks, unrank

BLOCK_WORDS = 1000
"""Words of one attribute counted at once: 64 of them fit the cache, and their 64,000 rows a 16-bit sum."""
THREADS = 2
BLOCK_SETS = 16
"""Sets whose sums are added up at once."""

Words = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Packed:
    """Rows of 0/1 attributes, 64 to a word; private.

    Attributes:
        words: attribute by attribute, (d, ceil(n/64)), at least one; what lies beyond the last row is 0.
        n: number of rows.
    """

    words: Words
    n: int

    @override
    def __repr__(self) -> str:
        return "<Packed: private>"

    @property
    def attributes(self) -> int:
        """Number of attributes, d."""
        return len(self.words)


def pack(records: Booleans) -> Packed:
    """Return the rows (n, d) of 0/1, packed."""
    n, attributes = records.shape
    packed = np.zeros((attributes, max(1, (n + 63) // 64) * 8), dtype=np.uint8)  # a word even of no rows
    for start in range(0, n, 1 << 16):  # a block of rows is turned on its side within the cache
        block = np.packbits(np.ascontiguousarray(records[start : start + (1 << 16)].T), axis=1, bitorder="little")
        packed[:, start // 8 : start // 8 + block.shape[1]] = block
    words = packed.view(np.uint64)
    words.setflags(write=False)
    return Packed(words=words, n=n)


def count_sets(packed: Packed, *, size: int) -> Generator[float, None, tuple[Integers, ...]]:
    """Return the rows that have all of a set's attributes, for all sets of 1 .. size attributes; yields the share done.

    Returns:
        One array per level, (C(d, level),), in the order of ``sets``.
    """
    if not 1 <= size <= packed.attributes:
        raise ParameterError(f"Sets have between 1 and {packed.attributes} attributes, got {size}.")
    sizes = [comb(packed.attributes, level) for level in range(1, size + 1)]

    def count(start: int) -> Integers:
        columns = np.ascontiguousarray(packed.words[:, start : start + BLOCK_WORDS])
        counts = np.zeros(sum(sizes), dtype=np.int64)
        _Block(columns, _split_parts(counts, sizes)).visit(columns, ())
        return counts

    total = yield from _sum_over_blocks(count, words=packed.words.shape[1])
    return _split_parts(total, sizes)


def counted(packed: Packed, *, size: int) -> tuple[Integers, ...]:
    """Return the counts of ``count_sets``, without its progress."""
    return finish(count_sets(packed, size=size))


def _split_parts(flat: Integers, sizes: list[int]) -> tuple[Integers, ...]:
    """Return the views of consecutive parts of an array."""
    return tuple(np.split(flat, np.cumsum(sizes)[:-1]))


def _sum_over_blocks(count: Callable[[int], Integers], *, words: int) -> Generator[float, None, Integers]:
    """Return the sum of count(start) over blocks of words, on two threads; yields the share done, stops when closed."""
    starts = range(0, words, BLOCK_WORDS)
    stop = Event()

    def unless_stopped(start: int) -> Integers | int:
        return 0 if stop.is_set() else count(start)

    total: Integers | int = 0
    with ThreadPoolExecutor(THREADS) as pool:
        waiting = {pool.submit(unless_stopped, start) for start in starts}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                total = total + sum(each.result() for each in done)
                yield 1 - len(waiting) / len(starts)
        finally:
            stop.set()
    return np.asarray(total, dtype=np.int64)


class _Block:
    """Counts of one block of words, written to ``counts``; work space for each level, made once."""

    def __init__(self, columns: Words, counts: tuple[Integers, ...]) -> None:
        self._columns, self._counts = columns, counts
        self._shared = [np.empty_like(columns) for _ in counts[1:]]
        self._ones = np.empty(columns.shape, dtype=np.uint8)

    def visit(self, rows: Words, larger: tuple[int, ...]) -> None:
        """Count the sets {i} + larger for every i below them; ``rows`` (i, words) has all of each set's bits."""
        level, below = len(larger), len(rows)
        first = sum(comb(member, place) for place, member in enumerate(larger, start=2))
        ones = np.bitwise_count(rows, out=self._ones[:below])
        self._counts[level][first : first + below] = np.add.reduce(ones, axis=1, dtype=np.uint16)
        if level + 1 == len(self._counts):
            return
        shared = self._shared[level]
        for member in range(1, below):
            np.bitwise_and(self._columns[:member], rows[member], out=shared[:member])
            self.visit(shared[:member], (member, *larger))


def _with_all(counts: tuple[Integers, ...], sets: Integers, *, n: int) -> Iterator[tuple[int, Integers | int]]:
    """Yield, for every mask of a set's places, its size and the rows with all of those attributes, (sets,)."""
    size = sets.shape[1]
    for mask in range(1 << size):
        chosen = [place for place in range(size) if mask >> place & 1]
        yield len(chosen), counts[len(chosen) - 1][ranks(sets[:, chosen])] if chosen else n


def at_least_counts(counts: tuple[Integers, ...], *, n: int, size: int, least: int) -> Integers:
    """Return the rows that have at least so many of each set's attributes, (C(d, size),), by inclusion and exclusion.

    With S_j the sum over a set's subsets of j attributes of the rows that have them all, it is the sum over j of
    (-1)^(j - r) C(j - 1, r - 1) S_j (Jordan 1867).
    """
    sets = unrank(np.arange(len(counts[size - 1]), dtype=np.int64), size=size)
    total = np.zeros(len(sets), dtype=np.int64)
    for number, rows in _with_all(counts, sets, n=n):
        if number >= least:
            total += (-1) ** (number - least) * comb(number - 1, least - 1) * rows
    return total


def literal_counts(counts: tuple[Integers, ...], *, n: int, size: int) -> Integers:
    """Rows in each cell of the table of each set of ``size`` attributes, by inclusion and exclusion: no row is read.

    Args:
        counts: what ``count_sets`` found, up to this size at least.
        n: number of rows.
        size: attributes in a set.

    Returns:
        (sets, 2**size); bit l of a cell's number says whether the l-th smallest attribute is set.
    """
    sets = unrank(np.arange(len(counts[size - 1]), dtype=np.int64), size=size)
    full = 2**size
    # Rows with at least the attributes of a mask set ...
    cells = np.empty((len(sets), full), dtype=np.int64)
    for mask, (_, rows) in enumerate(_with_all(counts, sets, n=n)):
        cells[:, mask] = rows
    # ... less those that also have another one, attribute by attribute.
    for place in range(size):
        pairs = cells.reshape(len(sets), full >> (place + 1), 2, 1 << place)
        pairs[:, :, 0] -= pairs[:, :, 1]
    return cells


def shares(
    packed: Packed, sets: NDArray[Any], negated: Booleans | None = None, *, least: int
) -> Generator[float, None, Floats]:
    """Share of rows with at least so many of each set's attributes, (Q,); yields the share done. Args: as ``sums``."""
    width = sets.shape[1]
    if least not in (1, width):
        law = yield from sums(packed, sets, negated)
        between: Floats = law[:, least:].sum(axis=1) / max(1, packed.n)
        return between
    flips = np.zeros(sets.shape, dtype=np.bool_) if negated is None else negated
    if least == 1:
        # Any of them: not none of them.
        flips = ~flips
    turned = np.where(flips, ~np.uint64(0), np.uint64(0))

    def count(start: int) -> Integers:
        columns = np.ascontiguousarray(packed.words[:, start : start + BLOCK_WORDS])
        rows = np.empty(len(sets), dtype=np.int64)
        for first in range(0, len(sets), BLOCK_SETS):
            here = slice(first, first + BLOCK_SETS)
            every = columns[sets[here, 0]] ^ turned[here, 0, None]
            for place in range(1, width):
                every &= columns[sets[here, place]] ^ turned[here, place, None]
            rows[here] = np.bitwise_count(every).sum(axis=1, dtype=np.uint16)
        return rows

    every = yield from _sum_over_blocks(count, words=packed.words.shape[1])
    every = every - flips.all(axis=1) * (packed.words.shape[1] * 64 - packed.n)  # places beyond the last row
    rows_share: Floats = (packed.n - every if least == 1 else every) / max(1, packed.n)
    return rows_share


def sums(packed: Packed, sets: NDArray[Any], negated: Booleans | None = None) -> Generator[float, None, Integers]:
    """Count, for each set, the rows with 0, 1, ... all of its attributes set; yields the share done.

    The rows' sums are added up in binary, one word of each binary digit for 64 rows.

    Args:
        packed: the rows.
        sets: attributes of each query (Q, k).
        negated: which of them count when they are not set (Q, k); None: none.

    Returns:
        (Q, k + 1); any at-least query's true answer is a sum of its columns over n.
    """
    width = sets.shape[1]
    flips = np.zeros(sets.shape, dtype=np.uint64) if negated is None else np.where(negated, ~np.uint64(0), np.uint64(0))

    def count(start: int) -> Integers:
        columns = np.ascontiguousarray(packed.words[:, start : start + BLOCK_WORDS])
        law = np.empty((len(sets), width + 1), dtype=np.int64)
        for first in range(0, len(sets), BLOCK_SETS):
            here = slice(first, first + BLOCK_SETS)
            law[here] = _sums(columns, sets[here], flips[here])
        return law

    law = yield from _sum_over_blocks(count, words=packed.words.shape[1])
    if negated is not None:
        # Places beyond the last row: no attribute is set there, so every negated one counted.
        law[np.arange(len(law)), negated.sum(axis=1)] -= packed.words.shape[1] * 64 - packed.n
    law[:, 0] = packed.n - law[:, 1:].sum(axis=1)
    return law


def _sums(columns: Words, sets: NDArray[Any], flips: Words) -> Integers:
    """Return the rows of a block of words by their sum over each set: (Q, k + 1), the column of 0 left empty."""
    width = sets.shape[1]
    planes = np.zeros((width.bit_length(), len(sets), columns.shape[1]), dtype=np.uint64)
    for place in range(width):
        carry = columns[sets[:, place]] ^ flips[:, place, None]
        for digit in range((place + 1).bit_length()):
            carry, planes[digit] = carry & planes[digit], carry ^ planes[digit]
    law = np.zeros((len(sets), width + 1), dtype=np.int64)
    for total in range(1, width + 1):
        here = planes[0] if total & 1 else ~planes[0]
        for digit in range(1, len(planes)):
            here = here & (planes[digit] if total >> digit & 1 else ~planes[digit])
        law[:, total] = np.bitwise_count(here).sum(axis=1, dtype=np.uint16)
    return law
