"""Exact answers or none: chances of an answer, what is impossible, what previews did."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from dpcore.core import DataError, Dataset, Floats, Integers, Mechanism, Neighbours, Problem, ValueRelease, scaled
from dpcore.data.columns import is_number
from dpcore.limits.bounds.refusal import most_answers, most_right
from dpcore.limits.chance import binomial_interval
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.stable_median import StableMedian, rank, stability
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate, VotesState
from dpcore.mechanisms.subsamples.subsampling import SubsamplingPlan
from dpcore.mechanisms.subsamples.subsampling import answer_chance as vote_chance
from dpcore.randomness import Preview

TRIALS = 1000
STEPS = 160
"""Places of a curve."""
FAR = 4
"""Data this many times more stable than the threshold need an axis of equal factors."""
AGREEMENTS = np.linspace(0.5, 1.0, 81)
ALIKE = 1e-3
"""Chances this close are one height on the screen."""
MAX_VOTES = 1 << 22
"""Numbers of votes kept at once: with very many answers, fewer runs are previewed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Chances:
    """The chance of an answer over how robust data are.

    Attributes:
        x: places, (P,).
        answer: chance of an answer there, (P,).
        never_wrong_bound: largest chance of whoever never gives a wrong answer, (P,); empty where nothing is known.
        may_err_bound: largest chance of the right answer for whoever may be wrong, (P,), NaN where nothing is known.
    """

    x: Floats
    answer: Floats
    never_wrong_bound: Floats
    may_err_bound: Floats


@dataclass(frozen=True, kw_only=True)
class ObservedAnswers:
    """Previews that got an answer, of how many, as a share with its 95% interval."""

    answered: int
    trials: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StableRuns:
    """The stable quantile on one data set.

    Attributes:
        cell: the exact quantile's.
        stable: rows that must change before it is another cell.
        chance: of an answer, at that stability and at one row less and more (NaN below 1).
        max_chance: the largest chance there for whoever never gives a wrong answer.
        edge: chance of an answer at stability 1, which is delta.
        curve: over stabilities.
        observed: what previews did.
    """

    cell: int
    stable: int
    chance: dict[int, float]
    max_chance: float
    edge: float
    curve: Chances
    observed: ObservedAnswers


def stability_grid(*, stable: int, threshold: int) -> Floats:
    """Whole stabilities for a curve: from 1 to beyond the threshold and the data, by equal factors if these are far."""
    right = max(2 * threshold, math.ceil(1.15 * stable))
    spaced = np.geomspace if right > FAR * threshold else np.linspace
    return np.unique(spaced(1, right, STEPS).round())


def stable_chances(mechanism: StableMedian, problem: Problem, *, stable: int) -> Chances:
    """Exact chances and walls over stabilities, to beyond the threshold and a given one; of no data."""
    epsilon, delta = mechanism.epsilon, mechanism.guarantee(problem).delta
    # Two data sets with different answers are both so stable: where rows are replaced, only if there are enough.
    place = rank(problem.n, quantile=mechanism.quantile)
    reach = min(place, problem.n - place + 1) if problem.neighbours is Neighbours.REPLACE_ONE else math.inf
    x = stability_grid(stable=stable, threshold=mechanism.threshold)
    anybody = [most_right(int(each), epsilon=epsilon, delta=delta) if each <= reach else math.nan for each in x]
    return Chances(
        x=x,
        answer=mechanism.chance(x.astype(np.int64)),
        never_wrong_bound=most_answers(x, epsilon=epsilon, delta=delta),
        may_err_bound=np.array(anybody),
    )


def stable_runs(mechanism: StableMedian, dataset: Dataset, problem: Problem, *, seed: int) -> StableRuns:
    """Exact chances, walls and previews of the stable quantile."""
    cell, stable = stability(
        dataset.histogram, domain=problem.domain, quantile=mechanism.quantile, neighbours=problem.neighbours
    )
    epsilon, delta = mechanism.epsilon, mechanism.guarantee(problem).delta
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), TRIALS)
    answered = int((~release.refused).sum())
    low, high = (float(end) for end in binomial_interval(answered, TRIALS))

    def chance(rows: int) -> float:
        return float(mechanism.chance(rows))

    return StableRuns(
        cell=cell,
        stable=stable,
        chance={rows: chance(rows) for rows in (stable - 1, stable, stable + 1) if rows >= 1},
        max_chance=float(most_answers(stable, epsilon=epsilon, delta=delta)),
        edge=chance(1),
        curve=stable_chances(mechanism, problem, stable=stable),
        observed=ObservedAnswers(answered=answered, trials=TRIALS, share=answered / TRIALS, low=low, high=high),
    )


def always_answering(dataset: Dataset, problem: Problem, *, epsilon: float, quantile: float, seed: int) -> Integers:
    """Cells that previews of a quantile that never refuses give, (TRIALS,)."""
    mechanism = ExponentialMedian(epsilon=epsilon, quantile=quantile)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), TRIALS)
    return np.asarray(release.values)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SubsampleVotes:
    """What subsamples of one data set answer: free of privacy parameters.

    Attributes:
        state: the prepared data; it remembers the law.
        law: chance of each answer on one subsample, (answers,).
        truth: the whole data's answer.
        after: chance of that answer with one person changed against it.
    """

    state: VotesState
    law: Floats
    truth: int
    after: float

    @property
    def agreement(self) -> float:
        """Share of subsamples that answer as the whole data do."""
        return float(self.law[self.truth])


def subsample_votes(
    mechanism: SubsampleAggregate, dataset: Dataset, problem: Problem
) -> Generator[float, None, SubsampleVotes]:
    """The exact law of a subsample's answer here and with one person changed; yields the share done."""
    yield 0.0
    state, rows = mechanism.prepare(dataset, problem), mechanism.rows
    truth = int(state.vote.answer(state.counts[None, :])[0])
    law = yield from scaled(state.vote.steps(state.counts, rows=rows), 0, 2)
    near = state.vote.against(state.counts, answer=truth, law=law)
    after = float(law[truth])
    for place, changed in enumerate(near):
        # Not kept: it is asked for once.
        steps = state.question.vote.steps(changed, rows=rows)
        changed_law = yield from scaled(steps, len(near) + place, 2 * len(near))
        after = min(after, float(changed_law[truth]))
    return SubsampleVotes(state=state, law=law, truth=truth, after=after)


def vote_runs(mechanism: SubsampleAggregate, votes: SubsampleVotes, *, seed: int) -> tuple[int, float, float]:
    """How many runs were previewed, and the shares of them without an answer and with a wrong one."""
    names, values = votes.state.question.names, votes.state.question.values
    trials = max(20, min(TRIALS, MAX_VOTES // len(names)))
    release = mechanism.run(votes.state, Preview(seed), trials)
    wrong = ~release.refused & (release.values != values[votes.truth])
    return trials, float(release.refused.mean()), float(wrong.mean())


def chances_by_agreement(plan: SubsamplingPlan, *, epsilon: float) -> Chances:
    """Chance of an answer at each agreement. It only grows, so what lies between two alike is not worked out again."""
    chances = np.full(len(AGREEMENTS), np.nan)

    def work_out(place: int) -> None:
        chances[place] = vote_chance(plan, epsilon=epsilon, agreement=float(AGREEMENTS[place]))

    stretches = [(0, len(AGREEMENTS) - 1)]
    work_out(0)
    work_out(len(AGREEMENTS) - 1)
    while stretches:
        low, high = stretches.pop()
        if chances[high] - chances[low] < ALIKE:
            chances[low : high + 1] = np.linspace(chances[low], chances[high], high - low + 1)
        elif high - low > 1:
            middle = (low + high) // 2
            work_out(middle)
            stretches += [(low, middle), (middle, high)]
    return Chances(x=AGREEMENTS, answer=chances, never_wrong_bound=np.array([]), may_err_bound=np.array([]))


def present_rows(dataset: Dataset) -> Dataset:
    """Return the rows that have a number, on a line without a cell for missing ones: a preview may count them.

    Raises:
        DataError: no row has one.
    """
    domain = dataset.domain
    assert is_number(domain)
    records = dataset.records[dataset.records < domain.ordered]
    if not len(records):
        raise DataError("No row has a number here.")
    return Dataset(replace(domain, missing=False, clamp=True), records, dataset.provenance)


def mean_errors(mechanisms: list[Mechanism], dataset: Dataset, problem: Problem, *, seed: int) -> tuple[float, Floats]:
    """Return the true mean of rows that all have a number, and what 95 in 100 answers lie within of it."""
    domain = problem.domain
    assert is_number(domain)
    points = domain.points()
    mean = float(points[dataset.records].mean())
    off = np.empty(len(mechanisms))
    for place, mechanism in enumerate(mechanisms):
        release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), TRIALS)
        assert isinstance(release, ValueRelease)
        off[place] = np.quantile(np.abs(points[release.values] - mean), 0.95)
    return mean, off
