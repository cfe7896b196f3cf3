"""Stable median: release the exact median, with a chance that grows with its stability; else refuse.

A median has no useful sensitivity: among 51 zeros and 50 millions one person moves it by a million. So the mechanism
first asks how *stable* it is (how many rows must be replaced before the median is another one). The stabler it is, the
likelier it answers with the exact median, else it refuses. Refusing is an outcome like any other: what can be learnt
from a refusal is bounded too.

There are two rules for answering:
- optimal: with chance p_s at stability s, p_0 = 0 and p_{s+1} = min(e^ε p_s + δ, 1 - e^-ε (1 - p_s - δ), 1), which
  no mechanism exceeds that is never wrong (``randomness/answers.py`` has the proof);
- threshold: if the stability plus noise of scale 1/epsilon reaches a threshold, as in the notes.

It is private, because one row changes the stability by at most 1, so noise of scale 1/epsilon hides it, and so does
each step of p_s. And where one row would change the *answer*, both neighbours have stability 1; both then refuse except
with chance delta: p_1, or the chance that noise makes up threshold - 1 rows. So delta is known exactly. The same
argument holds for any quantile, for rows added or removed (with stability counted in those), and for any other
statistic whose stability can be computed.

Notation: epsilon = ε, delta = δ; stability = Δ(x); threshold = τ, a whole number (t/ε in the notes, whose noise is not
discrete); lower quantile number ceil(q · rows) of the rows that fit the domain.

References:
    Notes on stability-based mechanisms, section 1, Theorem 1; Dwork and Lei (2009), propose-test-release; Desfontaines,
    Voss, Gipson and Mandayam (2022), the optimal rule.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Domain,
    DomainType,
    Entry,
    ErrorUnit,
    Floats,
    Guarantee,
    HistogramState,
    Integers,
    Mechanism,
    Neighbours,
    Problem,
    Release,
    ValueRelease,
    delta_param,
    epsilon_param,
    param,
)
from dpcore.queries.ranges import MILLIONTHS, Thresholds, rank
from dpcore.randomness import Answers, NoisyComparisons, Sampler
from dpcore.randomness.answers import answer_chances, every_chance
from dpcore.randomness.laws import laplace_tail

FORMULAS = {
    "threshold": r"\Pr[\bot]=\Pr[\mathrm{stability}(D)+Z<T]\le\beta,\quad Z\sim\mathrm{DLap}(1/\varepsilon)",
    "optimal": r"\Pr[\bot]=1-p_{\mathrm{stability}(D)}\le\beta,\quad p_{s+1}=\min\bigl(e^{\varepsilon}p_s+\delta,\,"
    r"1-e^{-\varepsilon}(1-p_s-\delta),\,1\bigr),\quad p_0=0",
}
"""Of a refusal, by the rule."""


def stability(
    histogram: Integers, *, domain: Domain, quantile: float = 0.5, neighbours: Neighbours = Neighbours.REPLACE_ONE
) -> tuple[int, int]:
    """Return the quantile's cell and the fewest rows that must change before it is another cell.

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
        part = round(quantile * MILLIONTHS)
        step = max(part, MILLIONTHS - part)
        up, down = (
            (MILLIONTHS * upto - part * fitting) // step + 1,
            -((MILLIONTHS * below - part * fitting) // step),
        )
    ways = [fitting]
    if cell > 0:
        ways.append(down)
    if cell < domain.ordered - 1:
        ways.append(up)
    return cell, min(ways)


def rank_errors(histogram: Integers, cells: Integers, *, domain: Domain, quantile: float = 0.5) -> Floats:
    """Return the rank errors of released cells (T,): rows between them and the quantile, as a fraction of all: (T,)."""
    sums = np.concatenate([[0], np.cumsum(histogram[: domain.ordered])])
    target = rank(int(sums[-1]), quantile=quantile)
    inside = np.clip(cells, 0, domain.ordered - 1)
    errors: Floats = np.maximum(np.maximum(target - sums[inside + 1], sums[inside] + 1 - target), 0) / max(
        int(histogram.sum()), 1
    )
    return errors


def paper_delta(*, epsilon: float, t: float) -> float:
    """Return the exact delta of the notes' mechanism, with continuous Laplace noise and threshold t/epsilon."""
    return 0.5 * math.exp(epsilon - t) if t >= epsilon else 1 - 0.5 * math.exp(t - epsilon)


def answer_chance(stable_rows: Integers | int, *, epsilon: float, threshold: int) -> Floats:
    """Return the chance that stability plus noise reaches a threshold, elementwise."""
    return laplace_tail(threshold - np.asarray(stable_rows), scale=1 / epsilon)


@dataclass(frozen=True, kw_only=True)
class StableAnswer(Mechanism):
    """A statistic's exact value, or nothing: by the rows that must change before it does."""

    releases: ClassVar[str] = "value"
    may_refuse: ClassVar[bool] = True
    noun: ClassVar[str]
    """The statistic in words."""

    epsilon: float = epsilon_param()
    delta: float = delta_param()
    rule: str = param(
        "optimal",
        label="Rule for answering",
        choices=("optimal", "threshold"),
        help="“Optimal” refuses as rarely as possible without wrong answers. “Threshold” is the noisy "
        "comparison of the lecture notes.",
    )

    @abstractmethod
    def stability(self, histogram: Integers, problem: Problem) -> tuple[int, int]:
        """Return the statistic's cell, and the fewest rows that must change before it is another; private."""

    @abstractmethod
    def rows_needed(self, stable: int, neighbours: Neighbours) -> int:
        """Return the fewest rows of which some data, away from the ends of a range, are so stable."""

    @abstractmethod
    def reach(self, problem: Problem) -> float:
        """Return up to which stability n rows can be so stable with each of two answers."""

    def chance(self, stable_rows: Integers | int) -> Floats:
        """Return the chance that data of such stability get an answer, elementwise."""
        if self.rule == "optimal":
            return answer_chances(np.asarray(stable_rows), epsilon=self.epsilon, delta=self.delta)
        return answer_chance(stable_rows, epsilon=self.epsilon, threshold=self.threshold)

    @property
    def threshold(self) -> int:
        """Return the stability plus noise needed at this delta; of the optimal rule, where half of the runs answer."""
        if self.rule == "optimal":
            return self.stability_needed(0.5)
        # Invert e^(-epsilon j)/(1 + e^(-epsilon)) <= delta, then let the formula itself decide at the edge.
        j = max(1, math.floor(-math.log(self.delta * (1 + math.exp(-self.epsilon))) / self.epsilon) - 1)
        while laplace_tail(j, scale=1 / self.epsilon) > self.delta:
            j += 1
        return j + 1

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, delta)-DP, either relation, with the chance of an answer at stability 1: no smaller delta holds."""
        return Guarantee(epsilon=self.epsilon, delta=float(self.chance(1)), neighbours=problem.neighbours)

    def stability_needed(self, beta: float) -> int:
        """Return the stability at which the chance of a refusal is at most beta."""
        if self.rule == "threshold":
            stable = max(1, self.threshold + math.floor(-math.log(2 * beta) / self.epsilon) - 1)
        else:
            chances = every_chance(epsilon=self.epsilon, delta=self.delta)
            stable = max(1, int(np.searchsorted(chances, 1 - beta)) - 1)
        while 1 - self.chance(stable) > beta:
            stable += 1
        return stable

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """No error at all given an answer; what depends on the data is the chance of an answer."""
        needed = self.stability_needed(beta)
        rows, replaced = self.rows_needed(needed, problem.neighbours), problem.neighbours is Neighbours.REPLACE_ONE
        return Bound(
            value=0.0,
            unit=ErrorUnit.EXACT,
            kind=BoundKind.GUARANTEE,
            statement=f"An answer is the exact {self.noun}. It is given with probability at least {1 - beta:g} if at "
            f"least {needed:,} rows must {'change' if replaced else 'come or go'} before the {self.noun} does.",
            formula=FORMULAS[self.rule],
            reference="Notes on stability-based mechanisms, section 1",
            beta=beta,
            assumptions=(
                Assumption(
                    text=f"{'at least' if replaced else 'a public n of at least'} {rows:,} rows; with fewer, no "
                    "data inside the range are stable enough",
                    met=problem.n >= rows,
                    met_by_rows=True,
                ),
            ),
            rows_needed=rows,
            note="No answer does not count as an error. Its probability depends on the data.",
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        cell, stable = self.stability(state.histogram, state.problem)
        if self.rule == "optimal":
            answered = sampler.draw(Answers(np.array([stable]), epsilon=self.epsilon, delta=self.delta), trials)
        else:
            rows = np.array([[stable]])
            draw = NoisyComparisons(rows, self.threshold, epsilon=self.epsilon, sensitivity=1)
            answered = sampler.draw(draw, trials)[:, 0]
        values = np.full(trials, cell, dtype=np.int64)
        return self.release(ValueRelease, state, sampler, trials, refused=~answered, values=values)

    @override
    def possible(self, release: Release) -> bool:
        """A cell in order, or the one after it where data may have no row that fits."""
        assert isinstance(release, ValueRelease)
        domain, replaced = release.problem.domain, release.problem.neighbours is Neighbours.REPLACE_ONE
        empty = not replaced or domain.size > domain.ordered  # where one of n rows is replaced, there is one
        return release.in_order or (empty and bool((release.values == domain.ordered).all()))


@dataclass(frozen=True, kw_only=True)
class StableMedian(StableAnswer):
    """The exact quantile, or nothing."""

    noun: ClassVar[str] = "quantile"

    quantile: float = param(
        0.5,
        0.001,
        0.999,
        label="Quantile",
        symbol="q",
        stops=(0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95),
        help="0.5 is the median: at least half of the rows that have a number lie at or below it.",
    )

    @override
    def stability(self, histogram: Integers, problem: Problem) -> tuple[int, int]:
        return stability(histogram, domain=problem.domain, quantile=self.quantile, neighbours=problem.neighbours)

    @override
    def rows_needed(self, stable: int, neighbours: Neighbours) -> int:
        """All rows in one cell."""
        part = round(self.quantile * MILLIONTHS)
        if neighbours is Neighbours.REPLACE_ONE:
            return max((stable - 1) * MILLIONTHS // part + 1, -(-(stable - 1) * MILLIONTHS // (MILLIONTHS - part)))
        step = max(part, MILLIONTHS - part)
        return max(stable, (stable - 1) * step // part + 1, -(-(stable - 1) * step // (MILLIONTHS - part)))

    @override
    def reach(self, problem: Problem) -> float:
        place = rank(problem.n, quantile=self.quantile)
        replaced = problem.neighbours is Neighbours.REPLACE_ONE
        return min(place, problem.n - place + 1) if replaced else math.inf


ENTRIES = (
    Entry(
        key="stable_median",
        mechanism=StableMedian,
        title="Stable median",
        story="The exact median or another quantile, or no answer. The more rows must change before it does, the "
        "more likely the answer.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=(
            "Notes on stability-based mechanisms, Theorem 1",
            "Dwork and Lei (2009)",
            "Desfontaines, Voss, Gipson and Mandayam (2022)",
        ),
        tiny={"epsilon": 1.0, "delta": 0.1},
        tiny_rows=6,
    ),
)
