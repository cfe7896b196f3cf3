"""Median mechanism: answer queries one at a time by the majority of all small databases that still fit.

A database of m points answers every question nearly as the data do, if it is the right one (the net mechanism, one
release). Here none is chosen. All of them are candidates, and the guess at a question is the median of their answers.
If it is near the truth it is the answer, and costs nothing. If not, the answer comes from the data, with noise, and
every candidate on the wrong side, at least half of them, is dropped, and so are those far from it. So at most log2|N|
guesses can be that wrong before few candidates are left, all of them good: an analyst may ask forever and pays a few
times. When the updates have run out, it refuses.

On a line, candidates of threshold questions are nondecreasing paths; those that fit are counted in closed form between
the places that were paid for, for any number of cells (dpcore/mechanisms/online/paths.py). For intervals, cells and
weighted sums they are listed, and m is the most, up to the number that would be needed, whose list is short enough. The
truth of a weighted sum is rounded to whole rows, so that a row moves it by at most 1; half a row is added to errors.

Why it is private: whether a guess is far off is itself private, so a sparse vector decides it: one noise on the
threshold for the whole conversation, one on each comparison, a bounded number of positive answers. Guesses and drops
follow from what was said and are free. One row moves a count by at most 1, so all of it is epsilon-DP, for any number
of questions, under either relation (dpcore/randomness/gates.py has the proof in whole numbers).

Accuracy: with G, A the rows by which comparisons and paid answers stray (exact laws,
dpcore/mechanisms/online/slack.py), a free answer errs by at most threshold - 1 + G, a paid one by A. Some candidate
errs nowhere by more than the resolution r: 1/(2m) for thresholds, 1/m for intervals and cells, that of the net
mechanism for weighted sums. Paid guesses are off by e >= threshold - G - 1/2 rows. If e > A the answer lies on the
truth's side of the guess; if e > rn that candidate does too; if rn + A <= radius = alpha n/2 it is not too far from the
answer. So it is never dropped, each update halves the others, and after log2|N| nothing can be off any more. At G, A <=
alpha n/4 and r <= alpha/4, that is m >= 2/alpha (4/alpha), all three hold.

Notation (paper): epsilon = ε (α in Roth 2010); alpha = α, the free answers' aim; updates = c; questions = k; points =
m; |N| = C(U + m - 1, m), the number of candidates.

References:
    Roth and Roughgarden (2010); Roth (2010), Theorem 6; Lyu, Su and Li (2017), Algorithm 1.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from typing_extensions import override

from dpcore.core import Bound, DomainType, Entry, Problem
from dpcore.core.bisection import least_whole
from dpcore.mechanisms.net.databases import candidates
from dpcore.mechanisms.net.linear import weighted_resolution
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.mechanisms.online.paths import Paths
from dpcore.mechanisms.online.small_databases import Listed, SmallDatabases
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import Cells, Intervals, Thresholds

MAX_LISTED = 200_000
"""Candidates listed: a question then takes a few milliseconds."""
RADIUS = 0.5
"""Share of alpha by which a candidate may lie off a paid answer."""


@dataclass(frozen=True, kw_only=True)
class MedianMechanism(Interactive):
    """Beliefs are all small databases that fit."""

    def points_needed(self, problem: Problem) -> int:
        """m at which some candidate is within alpha/4 everywhere."""
        if isinstance(problem.queries, LinearQueries):
            finite = 8 * math.log(2 * problem.queries.count) / self.alpha**2
            return math.ceil(min(finite, problem.domain.size / self.alpha))
        return math.ceil((2 if isinstance(problem.queries, Thresholds) else 4) / self.alpha)

    def points(self, problem: Problem) -> int:
        """m: what alpha needs, or the most that can be listed."""
        m = self.points_needed(problem)
        if isinstance(problem.queries, Thresholds):
            return m

        def is_long(points: int) -> bool:
            return candidates(size=problem.domain.size, points=points) > MAX_LISTED

        # Of two cells and more there are more databases than points.
        return least_whole(is_long, 1, min(m, MAX_LISTED) + 1) - 1

    def resolution(self, problem: Problem, points: int) -> float:
        """Return the share of n by which the best database of m points errs at most, whatever the data."""
        if isinstance(problem.queries, LinearQueries):
            return weighted_resolution(problem, points)
        return 1 / (2 * points if isinstance(problem.queries, Thresholds) else points)

    @override
    def belief(self, problem: Problem, trials: int) -> SmallDatabases:
        settings = {"points": self.points(problem), "rows": problem.n, "trials": trials}
        radius = RADIUS * self.alpha * problem.n
        if isinstance(problem.queries, Thresholds):
            return Paths(problem.queries, radius=radius, updates=self.updates, **settings)
        return Listed(problem.queries, radius=radius, **settings)

    @override
    def question_seconds(self, problem: Problem) -> float:
        queries, size, m = problem.queries, problem.domain.size, self.points(problem)
        if isinstance(queries, Thresholds):
            return 5e-4 + 2e-5 * m
        sums = 2e-8 * size * queries.count if isinstance(queries, LinearQueries) else 0.0
        return 3e-4 + 3e-9 * candidates(size=size, points=m) * (m + 4) + sums

    @override
    def max_paid_answers(self, problem: Problem, *, wrong: float, noise: float) -> float:
        """log2|N|, rounded down, if the best candidate is never dropped."""
        m = self.points(problem)
        resolution = problem.n * self.resolution(problem, m)
        if wrong <= max(noise, resolution) or resolution + noise > RADIUS * self.alpha * problem.n:
            return math.inf
        return candidates(size=problem.domain.size, points=m).bit_length() - 1

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        bound, m, needed = super().accuracy(problem, beta), self.points(problem), self.points_needed(problem)
        if m == needed:
            return bound
        coarse = (
            f" Only databases of {m} point{'s' if m > 1 else ''} can be listed here, but α = "
            f"{self.alpha:g} needs {needed} points. Guesses may have errors above α, so updates may run "
            "out and queries be refused. Thresholds need no list."
        )
        return dataclasses.replace(bound, note=bound.note + coarse)

    @override
    def reference(self) -> str:
        return "Roth (2010), Theorem 6, after Roth and Roughgarden (2010), with the constants of this implementation"


ENTRIES = (
    Entry(
        key="median",
        mechanism=MedianMechanism,
        title="Median mechanism",
        story="Answers each query by the median of all small databases that are still consistent. It accesses "
        "the data only if that median has a large error. Each access removes at least half of the "
        "databases.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells, LinearQueries),
        references=("Roth and Roughgarden (2010)", "Roth (2010), Theorem 6", "Lyu, Su and Li (2017), Algorithm 1"),
        tiny={"epsilon": 1.0, "alpha": 0.5, "updates": 1, "questions": 3},
        tiny_size=3,
        tiny_rows=3,
    ),
)
