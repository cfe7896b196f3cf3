"""Laplace for named queries: answer k queries that were named beforehand, each with noise of scale k/ε.

The baseline of every paper here, and what their theorems are held against: the noise grows with the number of queries,
so that many queries cannot be answered, however simple they are. On a line the named queries are k running totals, at
evenly spread ends; a range is the difference of two. Where single cells are asked, they are the counts of k groups of
neighbouring cells. Rows between two ends are spread evenly over their cells; so all that is between is a guess,
unless every cell is an end. Rows that fit no cell are in no query.

Why it is private: one row, whether replaced, added or removed, moves each of the k counts by at most 1, so all of them
together by at most k in L1, and discrete Laplace noise of scale k/ε hides that. The noise ignores how the queries
overlap. The identity and the windows use the overlap: they have a smaller error where many queries are named. Where two
or three are named of many cells, naming them has the smaller error for these.

Notation: k, named queries; epsilon = ε; Z, discrete Laplace noise of scale k/ε; J, what k of it keep.

References:
    Dwork, McSherry, Nissim and Smith (2006), Proposition 1; Blum, Ligett and Roth (2013), section 1.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    DataRelease,
    DomainType,
    Entry,
    Floats,
    HistogramState,
    Integers,
    Problem,
    PureMechanism,
    epsilon_param,
    param,
)
from dpcore.core.basics import SUM_TOLERANCE
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile

MAX_NAMED = 1 << 16
"""Queries that may be named."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedRelease(DataRelease):
    """Noisy answers to the named queries (T, k); ``ends``, public, has the last cell of each group of cells, (k,)."""

    published = ("answers",)
    answers: Integers
    ends: tuple[int, ...]

    @override
    def histogram(self) -> Floats:
        """Rows per cell, (T, size): each group's rows spread evenly; none in the reserved cell."""
        counts = self.answers
        if not isinstance(self.problem.queries, Cells):
            counts = np.diff(counts, axis=1, prepend=0)
        widths = np.diff(self.ends, prepend=-1)
        cells = np.repeat(counts / widths, widths, axis=1)
        return np.pad(cells, ((0, 0), (0, self.problem.domain.size - cells.shape[1])))

    @override
    def may_show(self, numbers: Floats) -> bool:
        """Return whether each group has whole rows, spread evenly over its cells."""
        starts = np.concatenate([[0], np.asarray(self.ends[:-1], dtype=np.int64) + 1])
        counts = np.rint(np.add.reduceat(numbers[: self.ends[-1] + 1], starts)).astype(np.int64)[None, :]
        answers = counts if isinstance(self.problem.queries, Cells) else np.cumsum(counts, axis=1)
        again = dataclasses.replace(self, answers=answers, refused=self.refused[:1])
        return bool(np.allclose(again.histogram()[0], numbers, rtol=0, atol=SUM_TOLERANCE * np.abs(numbers).max()))


@dataclass(frozen=True, kw_only=True)
class NamedQueries(PureMechanism):
    """k counts with discrete Laplace noise of scale k/ε each."""

    epsilon: float = epsilon_param()
    named: int = param(
        MAX_NAMED, 1, MAX_NAMED, label="Queries fixed in advance", symbol="k", log=True,
        stops=tuple(4**power for power in range(9)),
        help="Each query has noise of scale k/ε. Queries between these are interpolated. There are at most as "
            "many as cells.",
    )  # fmt: skip

    def ends(self, problem: Problem) -> Integers:
        """Return the last cells of the groups of cells, (k,): public."""
        cells = problem.domain.ordered
        count = min(self.named, cells)
        return (np.arange(1, count + 1) * cells) // count - 1

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The exact tail of k independent noises, added up; a range errs by those of both its ends."""
        k, cells = len(self.ends(problem)), problem.domain.ordered
        ends = 2 if isinstance(problem.queries, Intervals) else 1
        rows = ends * (laplace_quantile(beta / k, scale=k / self.epsilon) - 1)
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Each of {k:,} fixed queries has noise of scale {k / self.epsilon:,.4g} rows. No "
            f"{problem.queries.one} has an error above {rows:,} rows, with confidence 1 − {beta:g}.",
            formula=rf"\alpha\le\frac{{{'2' if ends == 2 else ''}J}}{{n}},\quad k\cdot\Pr[|Z|>J]\le\beta,"
            r"\quad Z\sim\mathrm{DLap}(k/\varepsilon)",
            reference="exact tails, union bound over the fixed queries",
            beta=beta,
            assumptions=(
                Assumption(
                    text=f"every one of {cells:,} cells is the end of a query, so none is interpolated", met=k == cells
                ),
            ),
            rows_needed=math.floor(rows) + 1,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> NamedRelease:
        problem, ends = state.problem, self.ends(state.problem)
        values = np.cumsum(state.histogram)[ends]
        if isinstance(problem.queries, Cells):
            values = np.diff(values, prepend=0)
        draw = NoisyCounts(values[None, :], epsilon=self.epsilon, sensitivity=len(ends))
        answers = sampler.draw(draw, trials)
        return self.release(NamedRelease, state, sampler, trials, answers=answers, ends=tuple(ends.tolist()))


ENTRIES = (
    Entry(
        key="named-queries",
        mechanism=NamedQueries,
        title="Laplace noise for k fixed queries",
        story="You fix the queries in advance; the noise of each grows with their number. This is the baseline "
        "for all other mechanisms.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells),
        references=("Dwork, McSherry, Nissim and Smith (2006)", "Blum, Ligett and Roth (2013), section 1"),
    ),
)
