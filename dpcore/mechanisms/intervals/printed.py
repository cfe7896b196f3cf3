"""Interval release as printed (repaired): blocks of about equal mass, found one after the other by noisy bisection.

Starting at the left end, a binary search finds the place where the block so far holds about an a = α/6 share of the
rows; the next block starts right of it. The release has one point per block, at the block's right end (the bound that
the search found), and every point has the same mass. The paper asks for a'm points "in each interval", anywhere in it;
one point each is the smallest such database. It answers every interval at once, for exponentially many intervals.

Repairs to the printed Algorithm 2: (1) a search looks at all of what remains; (2) it works on whole numbers (as printed
it never reaches the right end, and never stops); (3) blocks share no end; (4) after M = ⌈8/α⌉ blocks it stops, or it
would overspend; (5) each of the K blocks found gets mass 1/K, so that the mass is 1.

The search goes down a fixed binary tree over the cells instead of halving what remains. Each of its d steps asks "does
the block from its start to the end of this node's left half hold more than a·n rows?", so M blocks still ask at most
d·M questions about counts of rows, each moved by at most 1 by one row. A left half that lies before the block's start
is known to hold nothing of it: that step needs no data. The tree is fixed so that bits of a row's position are halves.

Ties: the paper assumes distinct points, because a block cannot end inside a cell that holds many rows. Here each row
gets t private fair coins as low-order bits (t counts in d). Coins are thrown only where a search looks: a node inside a
cell sends each of its rows left or right, and as searches move right, one node per level is all there is to remember.

Why it is private: given the rows' coins, every question is a count that one row moves by at most 1, answered with
discrete Laplace noise of scale d·M/ε rows; d·M of them add up to ε, under either relation.

Accuracy, and an erratum: Theorem 4.3 promises a worst error of α with probability 1 - β when n ≥ (8d/(εα))·ln(8d/(βα)).
Its proof bounds every noise by a², which takes n ≥ (288d/(εα³))·ln(8d/(αβ)): 36/α² times as many rows. With the printed
number, the noise is several times a block's mass. The larger number is enough, repairs included (corrected_rows).

Notation: epsilon = ε, alpha = α, beta = β (the paper's δ), a = the paper's α′, d = depth, the bits of a cell's number
plus t.

References:
    Blum, Ligett and Roth (2013), A Learning Theory Approach to Noninteractive Database Privacy, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Booleans,
    Bound,
    BoundKind,
    DomainType,
    Entry,
    Floats,
    HistogramState,
    Integers,
    PointsRelease,
    Problem,
    PureMechanism,
    Release,
    alpha_param,
    epsilon_param,
    param,
)
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import FairSplit, NoisyComparisons, Sampler
from dpcore.randomness.counts import NEVER


def printed_rows(*, depth: int, epsilon: float, alpha: float, beta: float) -> int:
    """Return the n that Theorem 4.3 asks for, as printed; not enough."""
    return math.ceil(8 * depth / (epsilon * alpha) * math.log(8 * depth / (alpha * beta)))


def corrected_rows(*, depth: int, epsilon: float, alpha: float, beta: float) -> int:
    """Return the n that the proof of Theorem 4.3 needs; it is enough for the repaired algorithm, if ties are broken.

    Let J = 3/2·a²n and b = d·M/ε. A question goes wrong by more than J rows on one side only, so with chance below
    e^(-J/b); as M ≤ 9/α, some of the d·M does with chance below 9/8·β·(αβ/(8d))^(1/3) < 0.57β. And let no position hold
    more than a²n rows (0.4β: crowding). Then a block holds at most an + J + a²n rows and, unless it is the last, at
    least an - J ≥ ¾an, so M blocks reach the right end. Giving each 1/K of n moves a run of whole blocks by at most
    M/4·(2J + a²n) ≤ (4/3·a + a²)n rows, and by an more because the last may be nearly empty. An interval cuts two
    blocks at most, each off by at most an + J + a²n. In all (13/3·a + 6a²)n < 6an = αn, since a ≤ 1/6.
    """
    return math.ceil(288 * depth / (epsilon * alpha**3) * math.log(8 * depth / (alpha * beta)))


def recommended_tie_bits(alpha: float) -> int:
    """Return the tie-breaking bits that split one cell's rows enough for the corrected theorem: 2·log2(6/α) + 2."""
    return math.ceil(2 * math.log2(6 / alpha)) + 2


def crowding(*, n: int, alpha: float, tie_bits: int) -> float:
    """Return a bound on the chance that some position holds more than (α/6)²·n rows, whatever the data.

    It takes k = ⌊(α/6)²·n⌋ + 1 rows of one cell that share all t coins: at most C(n, k)·2^(-t(k-1)).
    """
    k = math.floor((alpha / 6) ** 2 * n) + 1
    subsets = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(min(0.0, subsets - tie_bits * (k - 1) * math.log(2)))


@dataclass(frozen=True, kw_only=True)
class PrintedIntervals(PureMechanism):
    """Algorithm 2 of Blum, Ligett and Roth with five repairs and tie-breaking bits."""

    epsilon: float = epsilon_param()
    alpha: float = alpha_param()
    tie_bits: int = param(
        14,
        0,
        24,
        label="Tie-breaking bits",
        symbol="t",
        help="Private random bits that separate rows in one cell: about 2·log2(6/α) + 2. With 0 bits no error "
        "is guaranteed.",
    )

    @property
    def blocks(self) -> int:
        """Maximal number of blocks, M."""
        return math.ceil(8 / self.alpha)

    def depth(self, problem: Problem) -> int:
        """Return the questions of one search, d."""
        return problem.domain.depth + self.tie_bits

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Theorem 4.3 under the condition its proof needs, with the printed condition told beside it.

        Thresholds and cells are intervals, so the promise for intervals is theirs too.
        """
        d, n = self.depth(problem), problem.n
        printed = printed_rows(depth=d, epsilon=self.epsilon, alpha=self.alpha, beta=beta)
        needed = corrected_rows(depth=d, epsilon=self.epsilon, alpha=self.alpha, beta=beta)
        limit = math.floor((self.alpha / 6) ** 2 * n)
        sparse, sparse_by_rows = (
            crowding(n=rows, alpha=self.alpha, tie_bits=self.tie_bits) <= 0.4 * beta for rows in (n, needed)
        )
        assumptions = (
            Assumption(text=f"n is at least {needed:,} rows, as the proof needs", met=n >= needed, met_by_rows=True),
            Assumption(
                text=f"tie-breaking bits leave at most {limit:,} rows (α²/36 of n) at one position",
                met=sparse,
                met_by_rows=sparse_by_rows,
            ),
            *problem.unchecked_n,
        )
        scale = d * self.blocks / (self.epsilon * n)
        return Bound(
            value=self.alpha,
            kind=BoundKind.GUARANTEE,
            statement=f"Assume n is at least {needed:,} rows, with at most {limit:,} rows at one position. Then the "
            f"worst {problem.queries.one} has an error of at most α = {self.alpha:g}, with confidence 1 − "
            f"{beta:g}.",
            formula=r"n\ge\frac{288\,d}{\varepsilon\alpha^3}\ln\frac{8d}{\alpha\beta}",
            reference="Blum, Ligett and Roth (2013), Theorem 4.3, corrected",
            beta=beta,
            assumptions=assumptions,
            rows_needed=needed,
            note=f"Erratum. Theorem 4.3 as printed needs (8d/(εα))·ln(8d/(αβ)) = {printed:,} rows, which n = "
            f"{n:,} {'meets' if n >= printed else 'does not even meet'}. Its proof needs "
            f"(288d/(εα³))·ln(8d/(αβ)) = {needed:,}, which is 36/α² = {36 / self.alpha**2:,.0f} times as "
            f"many. With {n:,} rows the noise of one answer has a scale of {scale:.3g} of n, which is "
            f"{6 * scale / self.alpha:.3g} times the mass of a block.",
        )

    def search(self, state: HistogramState, sampler: Sampler, trials: int) -> Bisections:
        """Return the bisections of T trials, at the left end."""
        problem = state.problem
        return Bisections(
            histogram=state.histogram,
            depth=problem.domain.depth,
            tie_bits=self.tie_bits,
            needed=math.floor(self.alpha * problem.n / 6) + 1,
            epsilon=self.epsilon / (self.depth(problem) * self.blocks),
            sampler=sampler,
            trials=trials,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        """M searches, one after the other; all trials take each step together."""
        search = self.search(state, sampler, trials)
        points = np.zeros((trials, self.blocks), dtype=np.int64)
        is_bound = np.zeros((trials, self.blocks), dtype=np.bool_)
        for block in range(self.blocks):
            is_bound[:, block] = ~search.done
            points[:, block] = np.where(search.done, 0, search.next_bound())
        weights: Floats = is_bound / is_bound.sum(axis=1, keepdims=True)
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=weights)

    @override
    def possible(self, release: Release) -> bool:
        """Up to so many bounds of blocks, in order, of one share."""
        assert isinstance(release, PointsRelease)
        points = release.points.shape[1]
        return points <= self.blocks and release.is_database(points=points, share=1 / points)


class Bisections:
    """T bisections side by side, each from where the last one ended. Positions are cell·2^t + tie-breaking bits."""

    def __init__(
        self,
        *,
        histogram: Integers,
        depth: int,
        tie_bits: int,
        needed: int,
        epsilon: float,
        sampler: Sampler,
        trials: int,
    ) -> None:
        self.size, self.depth, self.tie_bits = len(histogram), depth, tie_bits
        self.epsilon, self.sampler, self.trials = epsilon, sampler, trials
        # Rows before each cell of the whole tree: cells beyond the domain hold none.
        self.before = np.full(2**depth + 1, histogram.sum(), dtype=np.int64)
        self.before[0] = 0
        np.cumsum(histogram, out=self.before[1 : self.size + 1])
        # More rows than these before a cell fill a block: a left half that holds the domain's end needs no question.
        self.needed = np.full(2**depth + 1, needed, dtype=np.int64)
        self.needed[self.size :] = -NEVER
        self.never = np.full(trials, NEVER, dtype=np.int64)
        self.start = np.zeros(trials, dtype=np.int64)
        self.passed = np.zeros(trials, dtype=np.int64)  # rows before start
        self.done = np.zeros(trials, dtype=np.bool_)
        self.node = [np.full(trials, -1, dtype=np.int64)] * tie_bits  # last node visited, by its first position
        self.left = [np.zeros(trials, dtype=np.int64)] * tie_bits  # rows before that one's middle

    def next_bound(self) -> Integers:
        """Return the cell in which the next block ends, (T,)."""
        if self.done.all():
            return self._nothing_left()
        cell, first = np.zeros(self.trials, dtype=np.int64), self.start >> self.tie_bits
        for level in range(self.depth):
            middle = cell + (1 << (self.depth - 1 - level))
            goes_left = self._enough(self.before[middle], middle > first, self.needed[middle])
            cell = np.where(goes_left, cell, middle)
        before, after = self.before[cell], self.before[cell + 1]
        position, alive = cell << self.tie_bits, ~self.done
        for level in range(self.tie_bits):
            middle = position + (1 << (self.tie_bits - 1 - level))
            fresh = (self.node[level] != position) & alive
            between = self.left[level]
            if np.count_nonzero(fresh):
                heads = self.sampler.draw(FairSplit(((after - before) * fresh)[:, None]), self.trials)[:, 0]
                between = np.where(fresh, before + heads, between)
            self.node[level], self.left[level] = position, between
            goes_left = self._enough(between, middle > self.start, self.needed[:1])
            after = np.where(goes_left, between, after)
            before = np.where(goes_left, before, between)
            position = np.where(goes_left, position, middle)
        self.passed, self.start = after, position + 1
        self.done = self.start >= self.size << self.tie_bits
        self.start[self.done] = NEVER  # all that is left to ask about is public
        return cell

    def _enough(self, rows: Integers, active: Booleans, needed: Integers) -> Booleans:
        """Return whether the block up to a place with ``rows`` before it seems full, where that is not public."""
        threshold = np.where(active, needed, self.never)[:, None] if np.count_nonzero(active) else NEVER
        draw = NoisyComparisons((rows - self.passed)[:, None], threshold, epsilon=self.epsilon, sensitivity=1)
        return self.sampler.draw(draw, self.trials)[:, 0]

    def _nothing_left(self) -> Integers:
        """Return the draws of a search where every trial is done: made all the same, and ignored."""
        nothing = np.zeros((self.trials, 1), dtype=np.int64)
        for _ in range(self.depth + self.tie_bits):
            self.sampler.draw(NoisyComparisons(nothing, NEVER, epsilon=self.epsilon, sensitivity=1), self.trials)
        return nothing[:, 0]


ENTRIES = (
    Entry(
        key="intervals-printed",
        mechanism=PrintedIntervals,
        title="Interval release, as printed (repaired)",
        story="Cuts the line into blocks of about equal mass by noisy bisection, one after the other. Historic: "
        "the printed theorem asks for far fewer rows than its proof needs.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds, Intervals, Cells),
        references=("Blum, Ligett and Roth (2013), Algorithm 2, Theorems 4.2 and 4.3",),
        tiny={"alpha": 1.0, "tie_bits": 1},
    ),
)
