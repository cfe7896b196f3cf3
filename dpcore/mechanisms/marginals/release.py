"""State and release of the marginals mechanisms, and the answers that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Floats, Integers, ParameterError, Release, State
from dpcore.mechanisms.marginals.bounds import between
from dpcore.mechanisms.marginals.plans import BETA, MarginalsPlan
from dpcore.mechanisms.marginals.polynomials import Polynomial
from dpcore.queries.at_least import AtLeast
from dpcore.queries.attribute_sets import places, ranks
from dpcore.queries.counting import at_least_counts, literal_counts

AT_ONCE = 1 << 20
"""Counts gathered at once for answers."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarginalState(State):
    """Rows that have all of a set's attributes, for all sets up to a size; free of epsilon and of the method.

    Attributes:
        counts: level by level from 1, (C(d, level),).
        rows: number of rows of the data (private where rows are added or removed).
    """

    counts: tuple[Integers, ...]
    rows: int
    _cached_counts: dict[tuple[int, int | None], Integers] = field(default_factory=dict)

    def protected(self, plan: MarginalsPlan) -> list[Integers]:
        """Return the counts that a plan adds noise to, level by level, each (1, entries)."""
        queries = self.problem.queries
        assert isinstance(queries, AtLeast)
        if plan.polynomial is None:
            return [self._counted(queries.width, None if queries.signed else queries.least)]
        if queries.signed:
            return [self._counted(level, None) for level in plan.polynomial.levels]
        if plan.polynomial.basis == "ones":
            return [self.counts[level - 1][None, :] for level in plan.polynomial.levels]
        # Rows with none of a set: all rows but those with at least one of it.
        return [self.rows - self._counted(level, 1) for level in plan.polynomial.levels]

    def _counted(self, level: int, least: int | None) -> Integers:
        """Rows with at least so many of each set, or (None) in each cell of its table; (1, entries), kept."""
        if level > len(self.counts):
            raise ParameterError(f"Marginals of {level} attributes were not counted.")
        if (level, least) not in self._cached_counts:
            if least is None:
                counts = literal_counts(self.counts, n=self.rows, size=level)
            else:
                counts = at_least_counts(self.counts, n=self.rows, size=level, least=least)
            self._cached_counts[level, least] = counts.reshape(1, -1)
        return self._cached_counts[level, least]


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalRelease(Release):
    """Noisy counts level by level: any query of the class can be read off them, and so can narrower ones.

    Attributes:
        plan: what was released; public.
        levels: noisy counts, (T, entries) each, in the order of ``plan.noise``.
    """

    published = ("levels",)
    plan: MarginalsPlan
    levels: tuple[Integers, ...]

    def answers(self, sets: NDArray[Any], negated: Booleans | None = None, *, clip: bool = False) -> Floats:
        """Return the answers to queries as shares of n, (T, Q).

        Args:
            sets: attributes of each query, ascending, (Q, w); w is at most k, and k where marginals were released
                themselves.
            negated: which of them are negated, (Q, w); None: none.
            clip: whether to move answers into [0, 1]: post-processing, free.
        """
        queries = self.problem.queries
        assert isinstance(queries, AtLeast)
        flipped = np.zeros(sets.shape, dtype=np.bool_) if negated is None else negated
        if flipped.any() and not queries.signed:
            raise ParameterError("This release answers queries without negation only.")
        read = self._direct if self.plan.polynomial is None else self._by_polynomial
        answers = read(queries, sets, flipped) / self.problem.n
        return np.clip(answers, 0.0, 1.0) if clip else answers

    def bounds(
        self, sets: NDArray[Any], negated: Booleans | None = None, *, beta: float = BETA
    ) -> tuple[Floats, Floats]:
        """Lower and upper bounds on answers of k attributes, (T, Q) each: all hold at once except with chance beta.

        Their midpoint is often closer than ``answers``, not always: see ``bounds``. Where the table has not the rows
        it is said to have, they are about its public number of rows. Args: see answers.
        """
        queries, polynomial = self.problem.queries, self.plan.polynomial
        assert isinstance(queries, AtLeast)
        if polynomial is None or sets.shape[1] != queries.width:
            raise ParameterError(f"Bounds need a polynomial's release and queries of {queries.width} attributes.")
        if not self.levels:
            half = np.full((self.trials, len(sets)), 0.5)
            return half - polynomial.gamma, half + polynomial.gamma
        flipped = np.zeros(sets.shape, dtype=np.bool_) if negated is None else negated
        sums = np.stack(
            [
                self._summed(position, chosen, queries, sets, flipped)
                for position, chosen in enumerate(places(queries.width, size=level) for level in polynomial.levels)
            ]
        )
        return between(sums, self.plan, queries, n=self.problem.n, beta=beta)

    def _direct(self, queries: AtLeast, sets: NDArray[Any], flipped: Booleans) -> Floats:
        if sets.shape[1] != queries.width:
            raise ParameterError(
                f"The {queries.width}-way marginals answer queries of {queries.width} attributes only."
            )
        which = ranks(sets)
        if not queries.signed:
            return self.levels[0][:, which].astype(np.float64)
        width = queries.width
        holds = np.bitwise_count(np.arange(1 << width, dtype=np.uint64)) >= queries.least
        fewer, sign, start = (holds, 1, 0) if 2 * holds.sum() <= holds.size else (~holds, -1, self.problem.n)
        signs = (flipped << np.arange(width)).sum(axis=1)
        total = np.full((self.trials, len(sets)), start, dtype=np.float64)
        for pattern in np.flatnonzero(fewer):
            total += sign * self.levels[0][:, (which << width) + (pattern ^ signs)]
        return total

    def _by_polynomial(self, queries: AtLeast, sets: NDArray[Any], flipped: Booleans) -> Floats:
        polynomial = self.plan.polynomial
        assert polynomial is not None
        constant, terms = _terms(polynomial, sets.shape[1])
        total = np.full((self.trials, len(sets)), constant * self.problem.n)
        for position, coefficient, chosen in terms:
            total += coefficient * self._summed(position, chosen, queries, sets, flipped)
        return total

    def _summed(
        self, position: int, chosen: Integers, queries: AtLeast, sets: NDArray[Any], flipped: Booleans
    ) -> Floats:
        """Return one level's noisy counts, added up over the chosen places of each query: (T, Q)."""
        polynomial = self.plan.polynomial
        assert polynomial is not None
        counts, level = self.levels[position], chosen.shape[1]
        which = ranks(sets[:, chosen])
        if queries.signed:
            # Where all literals must hold, an attribute must be set unless it is negated; where none may, the reverse.
            must = ~flipped if polynomial.basis == "ones" else flipped
            which = (which << level) + (must[:, chosen] << np.arange(level)).sum(axis=2)
        if self.trials * which.size <= AT_ONCE:
            return np.asarray(counts[:, which].sum(axis=2), dtype=np.float64)
        total = np.zeros((self.trials, len(sets)))
        for place in range(len(chosen)):
            total += counts[:, which[:, place]]
        return total


@lru_cache(maxsize=256)
def _terms(polynomial: Polynomial, width: int) -> tuple[float, tuple[tuple[int, float, Integers], ...]]:
    """The constant; for each level an answer needs its position in the release, its coefficient, its sets' places."""
    coefficients = polynomial.narrowed(width)
    needed = [level for level in range(1, width + 1) if coefficients[level]]
    if not set(needed) <= set(polynomial.levels):
        raise ParameterError(f"This polynomial answers queries of {polynomial.width} attributes only.")
    position = {level: place for place, level in enumerate(polynomial.levels)}
    return float(coefficients[0]), tuple(
        (position[level], float(coefficients[level]), places(width, size=level)) for level in needed
    )
