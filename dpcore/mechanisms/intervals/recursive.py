"""Approximate quantiles: cut the line at a private median, then each half at its own, and so on.

L = ⌈log2⌈2/α⌉⌉ levels of cuts leave 2^L pieces that hold about n/2^L rows each. The release puts half of a piece's
mass at either of its ends, so 1/2^L at each cut and half of that at the two ends of the line. A level costs ε/L
whatever the number of its pieces, so finer releases cost only their logarithm: the state of the art for quantiles.

A cut must be able to fall inside a cell, because half of the rows may have the same value. So each cell is divided
into s sub-cells and its rows are thought spread evenly over them, without coins: a row is s parts of 1/s.
Sub-cells exist only inside the mechanism; what is released is the cell in which each cut falls.

Why it is private: a cut c of a piece scores -|2·(rows left of c) - (rows of the piece)|, and the exponential mechanism
picks one in every piece of a level at once. A row that belongs to a piece by a share f moves the scores of that piece
by at most f, being counted as +f, as -f or in between; its shares over the disjoint pieces of a level add up to 1. So
adding or removing a row moves all scores of a level by 1 together, and replacing one by 2. L levels of ε/L add up to ε.

Accuracy: with explicit constants, for every data set (accuracy). A cut inherits the mean of the errors of the two cuts
around it and adds its own, so errors grow with the number of levels, not of cuts.

Notation: epsilon = ε, alpha = α, beta = β.

References:
    Kaplan, Schnapp and Stemmer (2022), Differentially Private Approximate Quantiles; constants proved with accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    HistogramState,
    PointsRelease,
    Problem,
    PureMechanism,
    Release,
    alpha_param,
    epsilon_param,
    rounded_up,
    rows_up,
)
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import MedianCuts, Sampler

MAX_SUBCELLS = 1 << 20
"""Sub-cells of the whole line: a run costs time in proportion to them."""


def error_growth(levels: int) -> float:
    """D_L: how often the error of a single cut counts, at most, in a cut of the last level; about 2L/3.

    D_l = (D_(l-1) + D_(l-2))/2 + 1, with none before the first level.

    >>> [error_growth(levels) for levels in (1, 2, 3)]
    [1.0, 1.5, 2.25]
    """
    before, last = 0.0, 1.0
    for _ in range(levels - 1):
        before, last = last, (last + before) / 2 + 1
    return last


@dataclass(frozen=True, kw_only=True)
class RecursiveIntervals(PureMechanism):
    """Private medians of pieces of the line, level by level."""

    epsilon: float = epsilon_param()
    alpha: float = alpha_param()

    @property
    def levels(self) -> int:
        """Levels of cuts, L."""
        return math.ceil(math.log2(math.ceil(2 / self.alpha)))

    def subcells(self, problem: Problem) -> int:
        """Sub-cells of a cell, s: enough to cost an interval at most α/4, unless the line would have too many."""
        wanted = math.ceil(4 * error_growth(self.levels) / self.alpha)
        return max(1, min(wanted, MAX_SUBCELLS // problem.domain.size))

    def sensitivity(self, problem: Problem) -> int:
        """Return the sensitivity of a level's scores together, in rows."""
        return sum(problem.neighbours.histogram_shift)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Resolution, sub-cells and private choices; once for thresholds, twice for intervals, and a cell is one.

        Over all levels there are at most L·P + 2^L - 1 candidate cuts, P = s·(number of cells). So with probability
        1 - β no cut scores worse than the best of its piece by more than E = (2Δ/(ε/L))·ln((L·P + 2^L - 1)/β) rows,
        Δ = 2 to replace and 1 to add or remove. The best scores at least -n/s, a sub-cell's largest mass. So the rows
        left of a cut differ by at most e = (n/s + E)/2 from the mean of those left of its piece's ends, one of which
        was cut one level before and the other earlier: error_growth(L)·e bounds every cut's error. Between
        neighbouring cuts k and k + 1 the true cumulative share lies between k/2^L and (k + 1)/2^L up to that error, and
        the released one is (k + ½)/2^L. An interval is a difference of two such sums.
        """
        pieces, s, growth = 2**self.levels, self.subcells(problem), error_growth(self.levels)
        candidates = self.levels * s * problem.domain.size + pieces - 1
        loss = 2 * self.sensitivity(problem) * self.levels / self.epsilon * math.log(candidates / beta)
        sides = 1 if isinstance(problem.queries, Thresholds) else 2
        times = "" if sides == 1 else "2"
        resolution, rounding, rows = sides / (2 * pieces), sides * growth / (2 * s), sides * growth * loss / 2
        room = self.alpha - resolution - rounding
        return Bound(
            value=resolution + rounding + rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"{pieces} pieces approximate the worst {problem.queries.one} within {rounded_up(resolution)} "
            f"of n. {s} sub-cell{'s a cell add' if s > 1 else ' a cell adds'} at most "
            f"{rounded_up(rounding)} (if cells hold many rows), and {pieces - 1} private "
            f"cut{'s' if pieces > 2 else ''} {rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=rf"\alpha\le\frac{{{sides}}}{{2^{{L+1}}}}+\frac{{{times}D_L}}{{2s}}+\frac{{{times}D_L}}{{2n}}"
            r"\cdot\frac{2\Delta L}{\varepsilon}\ln\frac K\beta",
            reference="exponential mechanism's utility over all cuts, proved beside the mechanism",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.ceil(rows / room) if room > 0 else None,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        """L draws, each of all cuts of a level."""
        problem = state.problem
        s, size = self.subcells(problem), problem.domain.size
        # In parts of rows, so that counts stay whole: a cell of h rows gives h parts to each of its s sub-cells.
        parts = np.zeros(s * size + 1, dtype=np.int64)
        np.cumsum(np.repeat(state.histogram, s), out=parts[1:])
        ends = np.tile(np.array([0, s * size], dtype=np.int64), (trials, 1))
        epsilon, sensitivity = self.epsilon / self.levels, s * self.sensitivity(problem)
        for _ in range(self.levels):
            draw = MedianCuts(parts, ends[:, :-1], ends[:, 1:], epsilon=epsilon, sensitivity=sensitivity)
            merged = np.empty((trials, 2 * ends.shape[1] - 1), dtype=np.int64)
            merged[:, ::2], merged[:, 1::2] = ends, sampler.draw(draw, trials)
            ends = merged
        weights = np.full(ends.shape, 1 / 2**self.levels)
        weights[:, [0, -1]] /= 2
        # A cut between two cells counts for the left one: all rows of that cell lie left of it.
        points = np.maximum(ends - 1, 0) // s
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=weights)

    @override
    def possible(self, release: Release) -> bool:
        """Both ends of the line, with half a share each, and the cuts between them in order."""
        assert isinstance(release, PointsRelease)
        points, pieces = release.points[0], 2**self.levels
        shares = np.full(pieces + 1, 1 / pieces)
        shares[[0, -1]] /= 2
        in_order = bool((np.diff(points) >= 0).all())
        whole_line = points[0] == 0 and points[-1] == release.problem.domain.size - 1
        return in_order and bool(whole_line) and release.weights[0].tolist() == shares.tolist()


ENTRIES = (
    Entry(
        key="intervals-recursive",
        mechanism=RecursiveIntervals,
        title="Approximate quantiles",
        story="Cuts the data at a private median, then cuts both halves the same way, and so on.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds, Intervals, Cells),
        references=("Kaplan, Schnapp and Stemmer (2022)", "McSherry and Talwar (2007)"),
        weights=r"\Pr[\text{cut at }c]\propto\exp\Bigl(-\frac{\varepsilon_l}{2\Delta}\,"
        r"\bigl|\text{left}(c)-\text{right}(c)\bigr|\Bigr)",
        tiny={"alpha": 0.99},
    ),
)
