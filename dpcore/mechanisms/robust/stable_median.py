"""Stable median: give the exact median, but only if many people would have to change to move it; else give no answer.

A median has no useful sensitivity: among 51 zeros and 50 millions one person moves it by a million. So the mechanism
first asks how *stable* it is (how many rows must be replaced before the median is another one) and adds noise to that
number only. If stability plus noise reaches a threshold it answers with the exact median, else it refuses. Refusing is
an outcome like any other: what can be learnt from a refusal is bounded too.

Why it is private: one row changes the stability by at most 1, so noise of scale 1/epsilon hides it. And where one row
would change the *answer*, both neighbours have stability 1; both then refuse except with chance delta, the chance that
noise makes up threshold - 1 rows. So delta is known exactly. The same argument holds for any quantile, for rows added
or removed (with stability counted in those), and for any other statistic whose stability can be computed.

Notation: epsilon = ε, delta = δ; stability = Δ(x); threshold = τ, a whole number (t/ε in the notes, whose noise is not
discrete); lower quantile number ceil(q · rows) of the rows that fit the domain.

References:
    Notes on stability-based mechanisms, section 1, Theorem 1; Dwork and Lei (2009), propose-test-release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Domain,
    Entry,
    Floats,
    Guarantee,
    HistogramState,
    Integers,
    Mechanism,
    Neighbours,
    Problem,
    ValueRelease,
    delta_param,
    epsilon_param,
    param,
)
from dpcore.data.domains import Line
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import NoisyComparisons, Sampler
from dpcore.randomness.laws import laplace_tail

PARTS = 10**6
"""Quantiles are whole numbers of millionths, so that ranks are exact."""


def rank(rows: int, *, quantile: float) -> int:
    """Number, counted from 1, of the lower quantile among so many rows."""
    return -(-round(quantile * PARTS) * rows // PARTS)


def stability(
    histogram: Integers, *, domain: Domain, quantile: float = 0.5, neighbours: Neighbours = Neighbours.REPLACE_ONE
) -> tuple[int, int]:
    """The quantile's cell and the fewest rows that must change before it is another cell.

    Rows that fit no cell are not ranked; if no row fits, the answer is the reserved cell. With b rows below the cell, u
    up to it, N fitting ones and rank r: to move up, u - r + 1 rows must leave for above; to move down, r - b must leave
    for below. No other replacement moves the rank further. Added or removed rows each move the rank by at most the
    larger of q and 1 - q, always in the direction wanted; removing all N rows also changes the answer. The end cells
    cannot be left outwards: the domain is public.

    Args:
        histogram: rows per cell, shape (domain.size,).
        domain: says which cells are ordered.
        quantile: q, in (0, 1).
        neighbours: what one change is.
    """
    sums = np.cumsum(histogram[: domain.ordered])
    fitting = int(sums[-1])
    if not fitting:
        return domain.ordered, 1
    target = rank(fitting, quantile=quantile)
    cell = int(np.searchsorted(sums, target))
    upto, below = int(sums[cell]), int(sums[cell] - histogram[cell])
    if neighbours is Neighbours.REPLACE_ONE:
        up, down = upto - target + 1, target - below
    else:
        part = round(quantile * PARTS)
        step = max(part, PARTS - part)
        up, down = (PARTS * upto - part * fitting) // step + 1, -((PARTS * below - part * fitting) // step)
    ways = [fitting]
    if cell > 0:
        ways.append(down)
    if cell < domain.ordered - 1:
        ways.append(up)
    return cell, min(ways)


def rank_errors(histogram: Integers, cells: Integers, *, domain: Domain, quantile: float = 0.5) -> Floats:
    """How far released cells (T,) lie from the quantile, in rows between, as a fraction of all rows: (T,)."""
    sums = np.concatenate([[0], np.cumsum(histogram[: domain.ordered])])
    target = rank(int(sums[-1]), quantile=quantile)
    inside = np.clip(cells, 0, domain.ordered - 1)
    errors: Floats = np.maximum(np.maximum(target - sums[inside + 1], sums[inside] + 1 - target), 0) / max(
        int(histogram.sum()), 1
    )
    return errors


def paper_delta(*, epsilon: float, t: float) -> float:
    """The exact delta of the notes' mechanism, with continuous Laplace noise and threshold t/epsilon."""
    return 0.5 * math.exp(epsilon - t) if t >= epsilon else 1 - 0.5 * math.exp(t - epsilon)


def paper_t(*, epsilon: float, delta: float) -> float:
    """The t at which the notes' mechanism has this delta (the inverse of paper_delta)."""
    return epsilon - math.log(2 * delta) if delta <= 0.5 else epsilon + math.log(2 * (1 - delta))


def answer_chance(stable_rows: Integers | int, *, epsilon: float, threshold: int) -> Floats:
    """Chance that data of such stability get an answer, elementwise."""
    return laplace_tail(threshold - np.asarray(stable_rows), scale=1 / epsilon)


@dataclass(frozen=True, kw_only=True)
class StableMedian(Mechanism):
    """The exact quantile, or nothing."""

    releases: ClassVar[str] = "value"

    epsilon: float = epsilon_param()
    delta: float = delta_param()
    quantile: float = param(
        0.5,
        0.001,
        0.999,
        label="Quantile",
        symbol="q",
        stops=(0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95),
        help="0.5 is the median: half of the rows lie at or below the answer.",
    )

    @property
    def threshold(self) -> int:
        """The smallest whole number that stability plus noise must reach for this delta."""
        # Invert e^(-epsilon j)/(1 + e^(-epsilon)) <= delta, then let the formula itself decide at the edge.
        j = max(1, math.floor(-math.log(self.delta * (1 + math.exp(-self.epsilon))) / self.epsilon) - 1)
        while laplace_tail(j, scale=1 / self.epsilon) > self.delta:
            j += 1
        return j + 1

    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, delta)-DP, either relation, with the delta of the whole-number threshold: nothing smaller holds."""
        delta = float(laplace_tail(self.threshold - 1, scale=1 / self.epsilon))
        return Guarantee(epsilon=self.epsilon, delta=delta, neighbours=problem.neighbours)

    def stability_needed(self, beta: float) -> int:
        """The stability at which the chance of a refusal is at most beta."""
        stable = max(1, self.threshold + math.floor(-math.log(2 * beta) / self.epsilon) - 1)
        while 1 - answer_chance(stable, epsilon=self.epsilon, threshold=self.threshold) > beta:
            stable += 1
        return stable

    def rows_needed(self, stable: int, neighbours: Neighbours) -> int:
        """The fewest rows of which some data, away from the ends of the range, are so stable: all in one cell."""
        part = round(self.quantile * PARTS)
        if neighbours is Neighbours.REPLACE_ONE:
            return max((stable - 1) * PARTS // part + 1, -(-(stable - 1) * PARTS // (PARTS - part)))
        step = max(part, PARTS - part)
        return max(stable, (stable - 1) * step // part + 1, -(-(stable - 1) * step // (PARTS - part)))

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """No error at all given an answer; what depends on the data is the chance of an answer."""
        needed = self.stability_needed(beta)
        rows, replaced = self.rows_needed(needed, problem.neighbours), problem.neighbours is Neighbours.REPLACE_ONE
        return Bound(
            value=0.0,
            kind=BoundKind.GUARANTEE,
            statement=f"An answer is the exact quantile. It is given with chance at least {1 - beta:g} if at least "
            f"{needed:,} rows must {'change' if replaced else 'come or go'} before the quantile does.",
            formula=r"\Pr[\bot]=\Pr[\mathrm{stability}(D)+Z<T]\le\beta,\quad Z\sim\mathrm{DLap}(1/\varepsilon)",
            reference="Notes on stability-based mechanisms, section 1",
            beta=beta,
            assumptions=(
                Assumption(
                    text=f"{'at least' if replaced else 'a public n of at least'} {rows:,} rows, or no data away from "
                    "the ends of the range are so stable",
                    met=problem.n >= rows,
                ),
            ),
            rows_needed=rows,
            note="A refusal is not counted as an error: its chance is the price, and it depends on the data.",
        )

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        """One noisy comparison."""
        problem = state.problem
        cell, stable = stability(
            state.histogram, domain=problem.domain, quantile=self.quantile, neighbours=problem.neighbours
        )
        draw = NoisyComparisons(np.array([[stable]]), self.threshold, epsilon=self.epsilon, sensitivity=1)
        answers = sampler.draw(draw, trials)
        values = np.full(trials, cell, dtype=np.int64)
        return self.release(ValueRelease, state, sampler, trials, refused=~answers[:, 0], values=values)


ENTRIES = (
    Entry(
        key="stable_median",
        mechanism=StableMedian,
        title="Stable median",
        story="The exact median or another quantile, if no few people could move it; otherwise no answer at all.",
        domains=(Line,),
        queries=(Thresholds,),
        references=("Notes on stability-based mechanisms, Theorem 1", "Dwork and Lei (2009)"),
        tiny={"epsilon": 1.0, "delta": 0.1},
    ),
)
