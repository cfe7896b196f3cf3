"""The median of the subsamples' medians: its cap, its exact loss, and closeness where most subsamples are close."""

from __future__ import annotations

import itertools
import math
from typing import cast

import numpy as np
import pytest
from typing_extensions import override

from dpcore.core import Dataset, Integers, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.mechanisms.subsamples.near import MedianOfMedians, middle_scores, overflow_delta, smallest_cap
from dpcore.mechanisms.subsamples.subsampling import row_chance
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Choice, Preview, Sampler, SubsampleVotes
from dpcore.randomness.sampler import Draw, DrawnT
from tests.kit.statistics import assert_chance_at_most

GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")
LINE = Number(bits=6)


def problem_of(n: int) -> Problem:
    return Problem(domain=LINE, queries=Thresholds(domain=LINE), n=n)


def test_the_slack_is_the_binomial_sum_and_the_cap_the_smallest() -> None:
    epsilon, n, rows, subsamples = 0.7, 50, 4, 30
    p = row_chance(n=n, rows=rows)
    for cap in (1, 3, 8):
        slack = sum(
            math.comb(subsamples, j)
            * p**j
            * (1 - p) ** (subsamples - j)
            * (math.exp(epsilon * j / cap) - math.exp(epsilon))
            / (1 + math.exp(epsilon * j / cap))
            for j in range(cap + 1, subsamples + 1)
        )
        found = overflow_delta(epsilon=epsilon, cap=cap, n=n, rows=rows, subsamples=subsamples)
        assert found == pytest.approx(slack, rel=1e-9)
    plan = smallest_cap(epsilon=epsilon, delta=1e-3, n=n, rows=rows, subsamples=subsamples)
    fewer = overflow_delta(epsilon=epsilon, cap=int(plan.cap) - 1, n=n, rows=rows, subsamples=subsamples)
    assert plan.delta <= 1e-3 < fewer


def test_one_vote_moves_a_score_by_two_halves_and_no_more(seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    moved = set()
    for _ in range(300):
        votes = generator.multinomial(9, np.ones(5) / 5)
        other = votes.copy()
        other[generator.choice(np.flatnonzero(votes))] -= 1
        other[generator.integers(5)] += 1
        moved |= set(np.abs(middle_scores(votes[None]) - middle_scores(other[None])).ravel().tolist())
    assert max(moved) == 2
    assert middle_scores(np.array([[0, 3, 0, 1]])).tolist() == [[-4, 0, -2, -2]]


class GivenVotes(Sampler):
    """Draws the votes that are written down, and keeps the choice that is made of them."""

    name = "given"

    def __init__(self, votes: Integers) -> None:
        self._votes = votes
        self.choices: list[Choice] = []

    @override
    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        if isinstance(draw, Choice):
            self.choices.append(draw)
        votes = self._votes if isinstance(draw, SubsampleVotes) else np.zeros(trials, dtype=np.int64)
        return cast(DrawnT, votes)


def test_no_vote_changes_the_law_of_the_choice_by_more_than_its_share_of_epsilon() -> None:
    """Exactly, over all votes of six subsamples and every change of one; half the sensitivity is the control."""
    cells, subsamples = 8, 6
    listed = itertools.combinations_with_replacement(range(cells), subsamples)
    votes = np.array([np.bincount(each, minlength=cells) for each in listed])
    places = {each.tobytes(): place for place, each in enumerate(votes)}
    mechanism = MedianOfMedians(epsilon=1.0, delta=0.01, rows=1, subsamples=subsamples, buckets=cells)
    domain = Number(bits=3)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=12)
    state = mechanism.prepare(Dataset(domain, np.arange(12) % cells, GENERATED), problem)
    sampler = GivenVotes(votes)
    mechanism.run(state, sampler, len(votes))
    [choice] = sampler.choices
    cap = int(mechanism.plan(problem).cap)
    assert 1 < cap < subsamples

    def loss(sensitivity: float) -> float:
        scores = np.asarray(choice.scores) * choice.epsilon / (2 * sensitivity)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        worst = 0.0
        for before, after in itertools.permutations(range(cells), 2):
            has = np.flatnonzero(votes[:, before])
            changed = votes[has].copy()
            changed[:, before] -= 1
            changed[:, after] += 1
            other = [places[each.tobytes()] for each in changed]
            worst = max(worst, float(np.abs(logs[other] - logs[has]).max()))
        return worst

    assert loss(choice.sensitivity) <= mechanism.epsilon / cap < loss(choice.sensitivity / 2)


@pytest.mark.parametrize("beta", [0.05, 0.2])
def test_the_answer_is_as_close_as_enough_subsamples_are(beta: float, seed: int) -> None:
    """Rows that the subsamples barely agree on, within a few buckets; the control has none that agree."""
    mechanism = MedianOfMedians(epsilon=1.0, rows=15, subsamples=1024, buckets=64)
    problem = problem_of(4_000)
    plan = mechanism.plan(problem)
    needed = mechanism.agreement_needed(plan, beta)
    assert 0.5 < needed < 0.75, "3 in 4, as in the notes, are enough here"
    tried = 0
    for width in (0, 1, 3, 6):
        spread = (32 + (np.arange(4_000) % (2 * width + 1)) - width) if width else np.full(4_000, 32)
        rows = np.where(np.arange(4_000) % 4 == 0, np.arange(4_000) % 64, spread)
        state = mechanism.prepare(Dataset(LINE, rows, GENERATED), problem)
        law = state.vote.law(state.counts, rows=mechanism.rows)
        truth = int(state.vote.answer(state.counts[None])[0])
        off = np.abs(np.arange(64) - truth)
        values = mechanism.run(state, Preview(seed), 2_000).values
        for distance in range(8):
            if law[off <= distance].sum() >= needed:
                missed = int((np.abs(values - truth) > distance).sum())
                assert_chance_at_most(missed, trials=2_000, chance=beta)
                tried += 1
    assert tried > 4


def test_it_never_refuses_and_says_where_no_agreement_is_enough() -> None:
    mechanism, problem = MedianOfMedians(epsilon=0.1, subsamples=64), problem_of(500)
    rows = np.arange(500) % 64
    release = mechanism.run(mechanism.prepare(Dataset(LINE, rows, GENERATED), problem), Preview(1), 200)
    assert not release.refused.any()
    assert "No agreement is enough" in mechanism.accuracy(problem, 0.05).statement
    with pytest.raises(ParameterError, match="only for replacing"):
        mechanism.guarantee(
            Problem(domain=LINE, queries=Thresholds(domain=LINE), n=500, neighbours=Neighbours.ADD_REMOVE_ONE)
        )
