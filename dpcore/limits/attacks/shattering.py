"""VC dimension and fat-shattering dimension of a query class, with a shattered set as witness.

Questions shatter a set of points if every subset of it is exactly what some question takes of the set. The largest
number of points they shatter is the class's VC dimension d: with d points hidden halves can be read off any accurate
release (vc.py), and some proportion of d·ln(universe) rows is enough to answer all questions privately. For questions
that weigh points with numbers between 0 and 1, every shattered point x has a level r_x, and a question takes x if it
weighs it at r_x + γ or more and leaves it at r_x - γ or less; in between it does neither. On questions that answer yes
or no, both are the same for every scale γ up to one half.

A set can only be shattered if all its subsets are. So the search grows sets point by point, keeps the questions sorted
by the subset they take, and gives up a branch as soon as a subset is taken by none or too few questions are left for a
larger set than the best one found: each further point doubles the subsets. It is exact. Where it would take too long it
stops and says between which numbers the dimension lies: what it found is shattered, and what it left open bounds the
rest.

Numbers are compared as the decimals they are written as: 0.3 lies 0.2 above 0.1, which in binary it does not.

Notation (paper): scale = γ; levels = r; d = dimension. Queries are rows of a matrix, points its columns.

References:
    Vapnik and Chervonenkis (1971); Blum, Ligett and Roth (2013), section 3; Roth (2010), section 2, for levels.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Booleans, Floats, Integers, ParameterError

MAX_STEPS = 20_000_000
"""Sets of up to 1,024 questions split before the search stops: about two seconds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shattering:
    """A dimension, or what is known of it, and a set that shows the lower end.

    Attributes:
        lower_bound: points shattered.
        upper_bound: no more than so many are.
        points: columns of a shattered set, (lower_bound,).
        levels: r of each of them, exactly: halfway between what is left and what is taken, (lower_bound,).
        queries: the row that takes each subset of them, (2^lower_bound,); subset s has points[i] if bit i of s is set.
    """

    lower_bound: int
    upper_bound: int
    points: Integers
    levels: tuple[Fraction, ...]
    queries: Integers

    @property
    def exact(self) -> bool:
        """Return whether the dimension is known."""
        return self.lower_bound == self.upper_bound

    def sentence(self) -> str:
        """Return the dimension in words."""
        if self.exact:
            return f"The dimension is {self.lower_bound}."
        return (
            f"The dimension is at least {self.lower_bound} (shown by the set) and at most "
            f"{self.upper_bound}. The class is too large for a complete search."
        )


def vc_dimension(matrix: ArrayLike, *, max_steps: int = MAX_STEPS) -> Shattering:
    """VC dimension of yes-or-no questions, a 0/1 matrix (queries, points).

    >>> vc_dimension([[0, 0], [0, 1], [1, 0], [1, 1]]).lower_bound
    2

    Raises:
        ParameterError: entries other than 0 and 1, or no matrix.
    """
    entries = _checked(matrix)
    if not np.isin(entries, (0.0, 1.0)).all():
        raise ParameterError("Yes-or-no queries are rows of zeros and ones. For other weights, give a scale.")
    return _search(entries, gap=Fraction(1), max_steps=max_steps)


def fat_shattering_dimension(matrix: ArrayLike, *, scale: float, max_steps: int = MAX_STEPS) -> Shattering:
    """Fat-shattering dimension at a scale, of a matrix (queries, points) of weights in [0, 1].

    >>> fat_shattering_dimension([[0.1], [0.3]], scale=0.1).levels
    (Fraction(1, 5),)

    Raises:
        ParameterError: weights outside [0, 1], no matrix, or a scale that is not above 0 and at most 1/2.
    """
    if not 0 < scale <= 0.5:
        raise ParameterError(f"The scale must lie above 0 and be at most 1/2, got {scale!r}.")
    return _search(_checked(matrix), gap=2 * Fraction(repr(float(scale))), max_steps=max_steps)


def _checked(matrix: ArrayLike) -> Floats:
    """Return the matrix as numbers, if it is one."""
    try:
        entries = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ParameterError("A class is a matrix of numbers: a row for each query, a column for each point.") from (
            problem
        )
    if entries.ndim != 2 or 0 in entries.shape:
        raise ParameterError("A class is a matrix with a row for each query and a column for each point.")
    if not ((entries >= 0) & (entries <= 1)).all():
        raise ParameterError("Weights must be numbers between 0 and 1.")
    return entries


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A point with a level: the questions that take it and those that leave it, as bits of a whole number."""

    point: int
    level: Fraction
    takes: int
    leaves: int

    @property
    def balance(self) -> int:
        """The fewer of the two."""
        return min(self.takes.bit_count(), self.leaves.bit_count())


def _cuts(entries: Floats, *, gap: Fraction) -> list[Cut]:
    """Return every useful cut, most even first.

    A level only matters by which questions take and which leave the point: those from one weight up, and those down
    to the largest weight that is a gap below it. Halfway between the two serves, and is where one would look for it.
    Of cuts with the same two sides (or the sides swapped) one is enough, whatever their points: no shattered set uses
    two of them, nor two that one point has, since no question is above the higher and below the lower.
    """
    cuts: dict[frozenset[int], Cut] = {}
    for point, column in enumerate(entries.T):
        weights = np.unique(column).tolist()
        exact = [Fraction(repr(weight)) for weight in weights]
        takers: dict[int, Cut] = {}
        for weight, low in zip(weights, exact, strict=True):
            above = bisect_left(exact, low + gap)
            if above < len(exact):  # of the lows with the same questions above, the last leaves most
                takes, leaves = _bits(column >= weights[above]), _bits(column <= weight)
                takers[takes] = Cut(point=point, level=(low + exact[above]) / 2, takes=takes, leaves=leaves)
        for cut in takers.values():
            cuts.setdefault(frozenset((cut.takes, cut.leaves)), cut)
    return sorted(cuts.values(), key=lambda cut: (-cut.balance, cut.point, cut.level))


def _bits(chosen: Booleans) -> int:
    """Return a whole number with a bit set for each question chosen."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


@dataclass
class Search:
    """Depth-first search for the largest shattered set."""

    steps: int
    words: int
    best: tuple[Cut, ...] = ()
    parts: list[int] = field(default_factory=list)
    open: int = 0

    def grow(self, chosen: tuple[Cut, ...], parts: list[int], others: list[Cut]) -> None:
        """Look for larger sets than the best among ``chosen`` and others; parts[s] are the questions that take s."""
        if len(chosen) > len(self.best) or not self.parts:
            self.best, self.parts = chosen, parts
        room = min(part.bit_count() for part in parts).bit_length() - 1
        left = _points_left(others)
        for place, cut in enumerate(others):
            reach = len(chosen) + min(room, left[place])
            if reach <= len(self.best):
                return
            if self.steps <= 0:
                self.open = max(self.open, reach)
                return
            split = _split(parts, cut)
            self.steps -= len(parts) * self.words
            if split is not None:
                following = [other for other in others[place + 1 :] if other.point != cut.point]
                self.steps -= len(following) * len(split) * self.words
                self.grow((*chosen, cut), split, [other for other in following if _divides(other, split)])


def _points_left(cuts: list[Cut]) -> list[int]:
    """Return, for each place, the number of different points of the cuts from there on."""
    points: set[int] = set()
    left = []
    for cut in reversed(cuts):
        points.add(cut.point)
        left.append(len(points))
    return left[::-1]


def _split(parts: list[int], cut: Cut) -> list[int] | None:
    """The questions of every subset without and then with the cut's point, or None if a subset is taken by none."""
    if not _divides(cut, parts):
        return None
    return [part & cut.leaves for part in parts] + [part & cut.takes for part in parts]


def _divides(cut: Cut, parts: list[int]) -> bool:
    """Return whether of every subset some questions take the cut's point and some leave it."""
    return all(part & cut.takes and part & cut.leaves for part in parts)


def _search(entries: Floats, *, gap: Fraction, max_steps: int) -> Shattering:
    """Return the dimension for weights that are apart by at least the gap."""
    distinct, where = np.unique(entries, axis=0, return_index=True)
    search = Search(steps=max_steps, words=1 + len(distinct) // 1024)
    search.grow((), [(1 << len(distinct)) - 1], _cuts(distinct, gap=gap))
    rows = [int(where[(part & -part).bit_length() - 1]) for part in search.parts]
    return Shattering(
        lower_bound=len(search.best),
        upper_bound=max(len(search.best), search.open),
        points=np.array([cut.point for cut in search.best], dtype=np.int64),
        levels=tuple(cut.level for cut in search.best),
        queries=np.array(rows, dtype=np.int64),
    )
