"""Mechanisms that answer exactly or refuse: answer probabilities, bounds for all mechanisms, and simulations."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from dpcore.core import DataError, Dataset, Floats, Integers, Mechanism, Problem, ValueRelease, scaled
from dpcore.data.columns import is_number
from dpcore.limits.bounds.refusal import max_answer_chance, max_right_chance
from dpcore.limits.chance import binomial_interval
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.stable_median import StableAnswer
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate, VotesState
from dpcore.mechanisms.subsamples.subsampling import SubsamplingPlan
from dpcore.mechanisms.subsamples.subsampling import answer_chance as vote_chance
from dpcore.randomness import Preview

TRIALS = 1000
STEPS = 160
"""Number of points of a curve."""
FAR = 4
"""Factor between the data's stability and the threshold from which the axis is logarithmic."""
AGREEMENTS = np.linspace(0.5, 1.0, 81)
ALIKE = 1e-3
"""Difference of probabilities that is not visible in a chart."""
MAX_VOTES = 1 << 22
"""Largest number of votes stored at once: with very many answers, fewer runs are simulated."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Chances:
    """Probability of an answer against the robustness of the data.

    Attributes:
        x: stabilities or agreements, (P,).
        answer: probability of an answer, (P,).
        never_wrong_bound: upper bound for mechanisms that are never wrong, (P,); empty where no bound is known.
        may_err_bound: upper bound on a right answer for other mechanisms, (P,), NaN where none is known.
    """

    x: Floats
    answer: Floats
    never_wrong_bound: Floats
    may_err_bound: Floats


@dataclass(frozen=True, kw_only=True)
class ObservedAnswers:
    """Number of simulated runs with an answer, and their share with its 95% interval."""

    answered: int
    trials: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StableRuns:
    """A stable statistic on one data set.

    Attributes:
        cell: cell of the exact statistic.
        stable: number of rows that must change before the statistic moves to another cell.
        chance: probability of an answer at that stability, and at one row less and more (NaN below 1).
        max_chance: upper bound at that stability for mechanisms that are never wrong.
        edge: probability of an answer at stability 1, which is delta.
        curve: probabilities against stability.
        observed: simulated runs.
    """

    cell: int
    stable: int
    chance: dict[int, float]
    max_chance: float
    edge: float
    curve: Chances
    observed: ObservedAnswers


def stability_grid(*, stable: int, threshold: int) -> Floats:
    """Return whole stabilities from 1 to beyond threshold and data, log-spaced if these are far apart."""
    right = max(2 * threshold, math.ceil(1.15 * stable))
    spaced = np.geomspace if right > FAR * threshold else np.linspace
    return np.unique(spaced(1, right, STEPS).round())


def stable_chances(mechanism: StableAnswer, problem: Problem, *, stable: int) -> Chances:
    """Compute exact probabilities and bounds against stability, from public numbers."""
    epsilon, delta = mechanism.epsilon, mechanism.guarantee(problem).delta
    # The bound needs two data sets of this stability with different answers; with a fixed n, both must fit into n rows.
    reach = mechanism.reach(problem)
    x = stability_grid(stable=stable, threshold=mechanism.threshold)
    anybody = [max_right_chance(int(each), epsilon=epsilon, delta=delta) if each <= reach else math.nan for each in x]
    return Chances(
        x=x,
        answer=mechanism.chance(x.astype(np.int64)),
        never_wrong_bound=max_answer_chance(x, epsilon=epsilon, delta=delta),
        may_err_bound=np.array(anybody),
    )


def stable_runs(mechanism: StableAnswer, dataset: Dataset, problem: Problem, *, seed: int) -> StableRuns:
    """Compute exact probabilities and bounds of a stable statistic, and simulate it."""
    cell, stable = mechanism.stability(dataset.histogram, problem)
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
        max_chance=float(max_answer_chance(stable, epsilon=epsilon, delta=delta)),
        edge=chance(1),
        curve=stable_chances(mechanism, problem, stable=stable),
        observed=ObservedAnswers(answered=answered, trials=TRIALS, share=answered / TRIALS, low=low, high=high),
    )


def always_answering(dataset: Dataset, problem: Problem, *, epsilon: float, quantile: float, seed: int) -> Integers:
    """Simulate a quantile that never refuses: the released cells, (TRIALS,)."""
    mechanism = ExponentialMedian(epsilon=epsilon, quantile=quantile)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), TRIALS)
    return np.asarray(release.values)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VoteLaws:
    """Distribution of a subsample's answer on one data set; independent of privacy parameters.

    Attributes:
        state: the prepared data, which caches the distribution.
        law: probability of each answer on one subsample, (answers,).
        truth: the answer on all data.
        after: smallest probability of that answer after one person is changed.
    """

    state: VotesState
    law: Floats
    truth: int
    after: float

    @property
    def agreement(self) -> float:
        """Share of subsamples whose answer is that of all data."""
        return float(self.law[self.truth])


def subsample_votes(
    mechanism: SubsampleAggregate, dataset: Dataset, problem: Problem
) -> Generator[float, None, VoteLaws]:
    """Compute the exact distribution of a subsample's answer, and with one person changed; yields the share done."""
    yield 0.0
    state, rows = mechanism.prepare(dataset, problem), mechanism.rows
    truth = int(state.vote.answer(state.counts[None, :])[0])
    law = yield from scaled(state.vote.steps(state.counts, rows=rows), 0, 2)
    near = state.vote.against(state.counts, answer=truth, law=law)
    after = float(law[truth])
    for place, changed in enumerate(near):
        # Computed without the cache, as it is needed once.
        steps = state.question.vote.steps(changed, rows=rows)
        changed_law = yield from scaled(steps, len(near) + place, 2 * len(near))
        after = min(after, float(changed_law[truth]))
    return VoteLaws(state=state, law=law, truth=truth, after=after)


def vote_runs(mechanism: SubsampleAggregate, votes: VoteLaws, *, seed: int) -> tuple[int, float, float]:
    """Simulate runs: their number, and the shares of them without an answer and with a wrong one."""
    names, values = votes.state.question.names, votes.state.question.values
    trials = max(20, min(TRIALS, MAX_VOTES // len(names)))
    release = mechanism.run(votes.state, Preview(seed), trials)
    wrong = ~release.refused & (release.values != values[votes.truth])
    return trials, float(release.refused.mean()), float(wrong.mean())


def chances_by_agreement(plan: SubsamplingPlan, *, epsilon: float) -> Chances:
    """Compute the answer probability at each agreement; as it is monotone, it is interpolated between equal values."""
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
    """Return the rows that have a number, on a domain without a cell for missing values; only simulations may do so.

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
    """Return the true mean of rows that all have a number, and the 95% quantile of each mechanism's error."""
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
