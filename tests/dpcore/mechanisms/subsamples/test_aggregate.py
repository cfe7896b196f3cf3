"""Subsample and aggregate: exact laws of answers, the slack against exact output laws, and what calibration saves."""

from __future__ import annotations

import itertools
import math
import re
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, xlogy

from dpcore.core import (
    Dataset,
    Domain,
    Floats,
    Integers,
    Neighbours,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
    finish,
)
from dpcore.data.columns import Labels, Number, is_number
from dpcore.data.product import Product
from dpcore.mechanisms.subsamples.aggregate import CommonestCategory, MedianBucket, SubsampleAggregate
from dpcore.mechanisms.subsamples.groups import LargerGroup, LargerMedian
from dpcore.mechanisms.subsamples.subsampling import (
    agreement_needed,
    answer_chance,
    calibrated_plan,
    min_subsamples,
    paper_delta,
    paper_plan,
    row_chance,
    subsample_delta,
)
from dpcore.mechanisms.subsamples.votes import CachedVote, Commonest, LargerMiddle, Middle, Steps, binomial_law
from dpcore.mechanisms.subsamples.votes.vote import Vote
from dpcore.queries.ranges import Cells, Thresholds
from dpcore.randomness import Draw, Enumerate, NoisyCounts, Preview, Secure, SubsampleVotes
from dpcore.randomness.answers import answer_chances
from dpcore.randomness.laws import compositions, laplace_tail
from dplab.robust import subsample_votes
from tests.kit import in_blocks
from tests.kit.statistics import assert_law, assert_other_law, binomial_chances, binomial_tail

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def categories(count: int, *, missing: bool = False) -> Labels:
    return Labels(labels=tuple(f"label {label}" for label in range(count)), missing=missing)


def problem(domain: Domain, *, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    queries = Thresholds(domain=domain) if is_number(domain) else Cells(domain=domain)
    return Problem(domain=domain, queries=queries, n=n, neighbours=neighbours)


# The law of an answer.


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Middle, Commonest])
@pytest.mark.parametrize("answers", [1, 2, 3, 4])
def test_law_of_an_answer_equals_all_subsamples(kind: type[Middle] | type[Commonest], answers: int) -> None:
    """Every one of the n^m subsamples, in order, of small data with and without rows to ignore."""
    rng = np.random.default_rng(answers)
    statistic = kind(answers=answers)
    for n, rows in itertools.product((1, 3, 5), (1, 2, 3, 4, 5)):
        for _ in range(4):
            counts = rng.multinomial(n, rng.dirichlet(np.full(answers + 1, 0.7)))
            cells = np.repeat(np.arange(answers + 1), counts)
            drawn = np.array([np.bincount(c, minlength=answers + 1) for c in itertools.product(cells, repeat=rows)])
            law = np.bincount(statistic.answer(drawn), minlength=answers) / len(drawn)
            assert statistic.law(counts, rows=rows) == pytest.approx(law, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_law_of_the_larger_median_equals_all_subsamples(cells: int) -> None:
    """Every one of the n^m subsamples; the answer itself is checked against the definition."""
    rng = np.random.default_rng(cells)
    vote = LargerMiddle(cells=cells)
    for n, rows in itertools.product((1, 2, 4, 5), (1, 2, 3, 5)):
        for _ in range(4):
            counts = rng.multinomial(n, rng.dirichlet(np.full(2 * cells + 1, 0.7)))
            rows_of = np.repeat(np.arange(2 * cells + 1), counts)
            drawn = list(itertools.product(rows_of.tolist(), repeat=rows))
            answers = vote.answer(np.array([np.bincount(c, minlength=2 * cells + 1) for c in drawn]))
            for sample, answer in zip(drawn, answers.tolist(), strict=True):
                one, other = ([c - low for c in sample if 0 <= c - low < cells] for low in (0, cells))
                lower = [sorted(group)[(len(group) - 1) // 2] if group else -1 for group in (one, other)]
                known = min(lower) >= 0 and lower[0] != lower[1]
                assert answer == (int(lower[0] < lower[1]) if known else 2), sample
            law = np.bincount(answers, minlength=3) / len(drawn)
            assert vote.law(counts, rows=rows) == pytest.approx(law, abs=1e-14)


def test_a_law_is_remembered_and_worked_out_in_steps() -> None:
    counts = np.random.default_rng(1).integers(0, 50, 41)
    for vote in (Commonest(answers=40), Middle(answers=40), LargerMiddle(cells=20)):
        remembered = CachedVote(vote=vote)
        law, steps = in_blocks(remembered.steps(counts, rows=300))
        assert steps and steps == sorted(steps) and steps[0] >= 0 and steps[-1] <= 1
        assert law is remembered.law(counts, rows=300)
        assert law == pytest.approx(vote.law(counts, rows=300))
        assert remembered.answers == vote.answers == len(law)
        # Not "no count in it": an address in memory holds any two digits now and then.
        assert not {"vote=", "_laws", "array", "["} & set(re.findall(r"\w+=?|\[", repr(remembered))), repr(remembered)


class Lawless(Commonest):
    """Control: a question whose law may not be asked for."""

    def steps(self, counts: Integers, *, rows: int) -> Steps:
        raise AssertionError("a release draws its subsamples and needs no law")


def test_a_release_needs_no_law() -> None:
    votes = Secure().draw(SubsampleVotes(np.array([9, 1, 2]), Lawless(answers=2), rows=5, times=30), 4)
    assert votes.shape == (4, 2)
    assert (votes.sum(axis=1) == 30).all()


def test_one_row_against_an_answer_makes_it_less_likely() -> None:
    """The changed data are neighbours, and no single change of small data lowers the chance by much more."""
    rng = np.random.default_rng(5)
    for vote, cells in ((Commonest(answers=3), 3), (Middle(answers=3), 3), (LargerMiddle(cells=3), 6)):
        for _ in range(20):
            counts = rng.integers(0, 9, cells + 1)
            law = vote.law(counts, rows=7)
            answer = int(vote.answer(counts[None, :])[0])
            near = vote.against(counts, answer=answer, law=law)
            assert all(np.abs(each - counts).sum() in (0, 2) and each.min() >= 0 for each in near)
            if answer < 2 and counts[:-1].min() > 0:
                assert min(vote.law(each, rows=7)[answer] for each in near) < law[answer]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("vote", "cells", "rows"),
    [
        *(
            (kind(answers=answers), answers, rows)
            for kind in (Middle, Commonest)
            for answers, rows in ((9, 100), (40, 30))
        ),
        (LargerMiddle(cells=30), 60, 60),
    ],
)
def test_law_of_an_answer_on_larger_data(vote: Vote, cells: int, rows: int, seed: int) -> None:
    """Chi-square on 100,000 subsamples; the control, subsamples of half as many rows, must be rejected."""
    rng = np.random.default_rng(seed)
    counts = rng.permutation(500 + 40 * np.arange(cells + 1))
    law = vote.law(counts, rows=rows)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    tally = np.bincount(vote.answer(rng.multinomial(rows, counts / counts.sum(), size=100_000)), minlength=len(law))
    assert_law(tally, law)
    assert_other_law(tally, vote.law(counts, rows=rows // 2))


@pytest.mark.parametrize(
    ("mechanism", "domain", "rows"),
    [
        pytest.param(CommonestCategory(), categories(2), (0, 1), id="yes-no"),
        pytest.param(CommonestCategory(), categories(3), (0, 1, 2), id="a-b-c"),
        pytest.param(LargerGroup(), categories(2), (0, 1), id="larger-yes-no"),
        pytest.param(LargerGroup(), categories(3), (0, 1, 2), id="larger-a-b-c"),
        pytest.param(MedianBucket(), Number(bits=1), (0, 1), id="median"),
        pytest.param(
            LargerMedian(),
            Product.map(Labels(labels=("a", "b")), Number(bits=1), names=("group", "number")),
            (0, 3),
            id="medians",
        ),
    ],
)
def test_an_answer_that_no_subsample_gives_any_more_has_no_chance(
    mechanism: SubsampleAggregate, domain: Domain, rows: tuple[int, ...]
) -> None:
    """One person changed may leave an answer without a row: its agreement is 0, and no error."""
    setting = problem(domain, n=len(rows))
    state = finish(subsample_votes(mechanism, Dataset(domain, np.array(rows), MADE), setting))
    plan = mechanism.plan(setting)
    for agreement in (*state.law, state.after):
        assert 0 <= agreement <= 1
        chance = answer_chance(plan, epsilon=mechanism.epsilon, agreement=float(agreement))
        assert 0 <= chance <= 1
        if agreement <= 0.001:
            assert chance < 1e-6
    assert binomial_law(draws=9, chance=0.0)[0] == 0 == binomial_law(draws=9, chance=-1e-17)[0]
    assert answer_chance(plan, epsilon=1.0, agreement=0.0) == 0


def test_binomial_chances() -> None:
    for draws, chance in ((1, 0.3), (5, 0.999), (40, 1e-6), (5000, 0.5), (262_144, row_chance(n=6400, rows=100))):
        first, chances = binomial_law(draws=draws, chance=chance)
        j = np.arange(first, first + len(chances))
        logs = gammaln(draws + 1) - gammaln(j + 1) - gammaln(draws - j + 1) + xlogy(j, chance)
        exact = np.exp(logs + (draws - j) * np.log1p(-chance))
        # gammaln of a large number has an absolute error of about 1e-10.
        assert chances == pytest.approx(exact, rel=1e-8, abs=1e-30)
    assert binomial_law(draws=7, chance=1.0)[0] == 7


# The slack, against exact output laws.


def output_laws(*, n: int, rows: int, subsamples: int, answers: int, scale: float, threshold: int) -> Floats:
    """Laws (n + 1, G, answers + 1) of what is released on binary data with 0..n ones, refusal last.

    G runs over *every* way to answer a subsample of binary rows from the number of ones in it.
    """
    questions = np.array(list(itertools.product(range(answers), repeat=rows + 1)))
    ones, share = np.arange(rows + 1), np.arange(n + 1)[:, None] / n
    drawn = np.exp(
        gammaln(rows + 1)
        - gammaln(ones + 1)
        - gammaln(rows - ones + 1)
        + xlogy(ones, share)
        + xlogy(rows - ones, 1 - share)
    )
    answer = np.stack([drawn @ (questions == a).T for a in range(answers)], axis=-1)
    ways = compositions(subsamples, answers)
    chances = np.exp(gammaln(subsamples + 1) + (xlogy(ways, answer[:, :, None, :]) - gammaln(ways + 1)).sum(axis=-1))
    released = laplace_tail(threshold - ways.max(axis=1), scale=scale)
    won = ways.argmax(axis=1)
    laws = np.stack([(chances * (released * (won == a))).sum(axis=-1) for a in range(answers)], axis=-1)
    return np.concatenate([laws, 1 - laws.sum(axis=-1, keepdims=True)], axis=-1)


def worst_slack(laws: Floats, epsilon: float) -> float:
    """Largest hockey-stick divergence over all neighbours, both directions and all questions."""
    pairs = ((laws[:-1], laws[1:]), (laws[1:], laws[:-1]))
    return max(float(np.maximum(p - np.exp(epsilon) * q, 0).sum(axis=-1).max()) for p, q in pairs)


SHAPES = [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize(("rows", "answers"), SHAPES)
def test_exact_slack_is_within_the_claim(n: int, rows: int, answers: int) -> None:
    """2,160 settings in all, and in each every question of binary rows; noise or threshold too small are caught."""
    ratios, caught = [], dict.fromkeys(("threshold", "noise"), 0)
    for subsamples in (3, 6, 9, 15) if answers == 2 else (4, 7):
        for epsilon in (0.3, 1.0, 2.5):
            plans = [
                calibrated_plan(epsilon=epsilon, delta=delta, n=n, rows=rows, subsamples=subsamples)
                for delta in (0.1, 0.01, 1e-4)
            ]
            settings = [(plan.cap, plan.threshold, plan.delta) for plan in plans]
            for cap in (1.0, max(1.0, subsamples // 3), 2.5):
                for threshold in (subsamples // 2, subsamples // 2 + 1, 3 * subsamples // 4, subsamples):
                    claim = subsample_delta(
                        epsilon=epsilon, cap=cap, threshold=threshold, subsamples=subsamples, n=n, rows=rows
                    )
                    settings.append((cap, threshold, claim))

            def slack(scale: float, threshold: int, k: int = subsamples, epsilon: float = epsilon) -> float:
                laws = output_laws(n=n, rows=rows, subsamples=k, answers=answers, scale=scale, threshold=threshold)
                return worst_slack(laws, epsilon)

            for cap, threshold, claim in settings:
                found = slack(cap / epsilon, threshold)
                assert found <= claim * (1 + 1e-9) + 1e-14, (subsamples, epsilon, cap, threshold)
                ratios.append(found / claim)
                caught["threshold"] += slack(cap / epsilon, subsamples // 2 + 1) > claim
                caught["noise"] += slack(cap / epsilon / 4, threshold) > claim
    assert max(ratios) > 0.4  # the account is not loose
    assert caught["threshold"] > len(ratios) / 10
    assert caught["noise"] > len(ratios) / 50


# Plans.


def test_our_account_is_smaller_than_the_explicit_ones() -> None:
    """Against the cap with a chance to be exceeded (in discrete noise), and against the notes' proof."""
    for n, rows, subsamples, epsilon in ((6400, 50, 3000, 1.0), (1000, 5, 500, 0.5), (50, 2, 60, 2.0)):
        first, chances = binomial_law(draws=subsamples, chance=row_chance(n=n, rows=rows))
        j = np.arange(first, first + len(chances))
        for cap in (int(j @ chances) + 1, int(j @ chances * 1.5) + 2):
            for threshold in (subsamples // 2 + cap, subsamples // 2 + 3 * cap, subsamples // 2 + 10 * cap):
                ours = subsample_delta(
                    epsilon=epsilon, cap=cap, threshold=threshold, subsamples=subsamples, n=n, rows=rows
                )
                lifted = laplace_tail(threshold - subsamples // 2 - j, scale=cap / epsilon)
                simple = chances[j > cap].sum() + (chances * lifted)[(j <= cap) & (j > 0)].sum()
                assert ours <= simple * (1 + 1e-9)
    for epsilon, n, rows in ((1.0, 6400, 100), (0.3, 20_000, 100), (3.0, 640, 5)):
        assert paper_plan(epsilon=epsilon, n=n, rows=rows).delta <= paper_delta(epsilon=epsilon, n=n, rows=rows)


@pytest.mark.full
def test_calibrated_threshold_is_the_least_for_its_cap_and_no_cap_is_better() -> None:
    """Against every cap and threshold, on settings small enough to try them all."""
    margin = np.log(1 / (2 * 0.05))
    for n, rows, subsamples, epsilon, delta in ((5, 1, 6, 1.0, 0.05), (60, 2, 40, 0.7, 1e-3), (500, 3, 80, 2.0, 1e-6)):
        plan = calibrated_plan(epsilon=epsilon, delta=delta, n=n, rows=rows, subsamples=subsamples)
        best = np.inf
        for cap in range(1, subsamples + 1):
            for threshold in range(subsamples // 2 + 1, int(min(best, 4000))):
                slack = subsample_delta(
                    epsilon=epsilon, cap=cap, threshold=threshold, subsamples=subsamples, n=n, rows=rows
                )
                if slack <= delta:
                    best = min(best, threshold + cap * margin / epsilon)
                    break
        assert plan.delta <= delta
        assert plan.threshold + plan.cap * margin / epsilon <= best + 2  # the search may miss a vote or two


def test_agreement_is_what_it_says(seed: int) -> None:
    """20,000 releases on data of just the agreement needed are answered with chance 0.95 or a little more."""
    plan = calibrated_plan(epsilon=1.0, delta=1e-4, n=2000, rows=10, subsamples=400)
    needed = agreement_needed(plan, epsilon=1.0, beta=0.05)
    assert answer_chance(plan, epsilon=1.0, agreement=needed) >= 0.95
    assert answer_chance(plan, epsilon=1.0, agreement=needed - 1e-4) < 0.95
    votes = np.random.default_rng(seed).binomial(400, needed, 20_000)
    noise = Preview(seed).draw(NoisyCounts(votes[:, None], epsilon=1.0, sensitivity=plan.cap), 20_000)[:, 0]
    answered = int(((noise >= plan.threshold) & (2 * votes > 400)).sum())
    chance = answer_chance(plan, epsilon=1.0, agreement=needed)
    assert_law(np.array([answered, 20_000 - answered]), np.array([chance, 1 - chance]))
    assert_other_law(np.array([answered, 20_000 - answered]), np.array([chance - 0.05, 1.05 - chance]))


def test_fewest_subsamples_are_enough_and_a_few_less_are_not() -> None:
    """Also where no number is enough, which is decided at the largest number at once: then none that is tried is."""
    for n, rows, epsilon, delta in ((10_000, 25, 1.0, 1e-6), (2000, 5, 0.3, 1e-4), (10_000, 25, 0.1, 1e-6)):

        def chance(subsamples: int, n: int = n, rows: int = rows, epsilon: float = epsilon, d: float = delta) -> float:
            plan = calibrated_plan(epsilon=epsilon, delta=d, n=n, rows=rows, subsamples=subsamples)
            return answer_chance(plan, epsilon=epsilon, agreement=0.75)

        count = min_subsamples(epsilon=epsilon, delta=delta, n=n, rows=rows)
        if count is None:
            assert all(chance(4**power) < 0.95 for power in range(3, 11))
        else:
            assert chance(count) >= 0.95 > chance(round(count / 1.05))
    assert count is None


def test_votes_of_many_subsamples_are_read_off_at_enough_places() -> None:
    """64,000,000 votes, against the whole law; the control, half the noise, is told apart."""
    plan = paper_plan(epsilon=1.0, n=10_000, rows=25)
    for agreement in (0.5, 0.52, 0.62, 0.626, 0.7, 0.999, 1.0):
        first, chances = binomial_law(draws=plan.subsamples, chance=agreement)
        votes = np.arange(first, first + len(chances))
        released = laplace_tail(plan.threshold - votes, scale=plan.cap) * (2 * votes > plan.subsamples)
        chance = answer_chance(plan, epsilon=1.0, agreement=agreement)
        assert chance == pytest.approx(float(chances @ released), abs=1e-6)
    louder = answer_chance(plan, epsilon=2.0, agreement=0.62)
    assert abs(louder - answer_chance(plan, epsilon=1.0, agreement=0.62)) > 1e-3


def data_of(domain: Domain, counts: list[int]) -> Dataset:
    return Dataset(domain, np.repeat(np.arange(len(counts)), counts), MADE)


@pytest.mark.parametrize("accounting", ["calibrated", "paper"])
def test_stable_data_get_their_answer(accounting: str, seed: int) -> None:
    domain, line = categories(4), Number(low=0, high=1, bits=4)
    grouped = Product.map(Labels(labels=("a", "b", "c")), Number(bits=2), names=("group", "number"))
    larger = [1500, 1500, 0, 0, 0, 0, 0, 3000, 0, 0, 1500, 1500, 100]
    alike = [100, 2800, 100, 0, 0, 0, 0, 3000, 100, 2800, 0, 100, 100]
    cases: list[tuple[SubsampleAggregate, Domain, list[int], int]] = [
        (CommonestCategory(accounting=accounting), domain, [1000, 4800, 300, 300], 1),
        (LargerGroup(accounting=accounting, first=3, second=0), domain, [3000, 100, 100, 200], 0),
        (LargerGroup(accounting=accounting, first=0, second=2), domain, [200, 100, 3000, 3100], 2),
        (MedianBucket(accounting=accounting, buckets=4), line, [0] * 5 + [6000, 100, 100] + [50] * 8, 5),
        # Group 2 lies in cells 3, 4 and group 0 in cells 1, 2 of four; group 1 would win and is not asked.
        (LargerMedian(accounting=accounting, first=2, second=0), grouped, larger, 8),
        (LargerMedian(accounting=accounting, first=0, second=2), grouped, larger, 8),
        (LargerMedian(accounting=accounting, first=0, second=2), grouped, alike, 12),
    ]
    for mechanism, on, counts, answer in cases:
        setting = problem(on, n=sum(counts))
        release = mechanism.run(mechanism.prepare(data_of(on, counts), setting), Preview(seed), 200)
        assert not release.refused.any()
        assert set(release.values.tolist()) == {answer}


def test_split_data_get_no_answer(seed: int) -> None:
    mechanism, domain = CommonestCategory(), categories(3)
    setting = problem(domain, n=6000)
    release = mechanism.run(mechanism.prepare(data_of(domain, [2000, 2000, 2000]), setting), Preview(seed), 2000)
    assert release.refused.all()


def test_parameters_that_mean_nothing_are_refused() -> None:
    domain = categories(3)
    with pytest.raises(ParameterError, match="replacing one"):
        CommonestCategory().guarantee(problem(domain, n=100, neighbours=Neighbours.ADD_REMOVE_ONE))
    with pytest.raises(ParameterError, match="subsamples"):
        CommonestCategory(accounting="paper", rows=1).guarantee(problem(domain, n=10**6))
    with pytest.raises(ParameterError, match="Two different groups"):
        LargerGroup(first=1, second=1).question(domain)
    with pytest.raises(ParameterError, match="n/64"):
        paper_delta(epsilon=1.0, n=100, rows=10)
    assert "No data" in CommonestCategory(rows=100).accuracy(problem(domain, n=400), 0.05).statement


# Cost, and what calibration saves.


@pytest.mark.slow
def test_the_paper_parameters_can_be_run(seed: int) -> None:
    """262,144 subsamples of 100 rows: drawn row by row for a release, by their exact law for a thousand previews."""
    mechanism = CommonestCategory(epsilon=1.0, rows=100, accounting="paper")
    domain = categories(8, missing=True)
    setting = problem(domain, n=6400)
    assert mechanism.plan(setting).subsamples == 262_144
    state = mechanism.prepare(data_of(domain, [4800, 800, 200, 200, 100, 100, 100, 50, 50]), setting)
    assert mechanism.run(state, Secure(), 1).trials == 1
    assert mechanism.run(state, Preview(seed), 1000).trials == 1000


def test_the_calibrated_version_and_its_saving() -> None:
    mechanism = CommonestCategory(epsilon=1.0, delta=1e-6, rows=50, subsamples=3000)
    setting = problem(categories(8, missing=True), n=6400)
    assert mechanism.guarantee(setting).delta <= 1e-6
    assert agreement_needed(mechanism.plan(setting), epsilon=1.0, beta=0.05) <= 0.75
    # With the paper's m, slack and agreement: less than a nine-hundredth of its subsamples.
    paper = paper_plan(epsilon=1.0, n=6400, rows=100)
    same = agreement_needed(paper, epsilon=1.0, beta=0.05)
    count = min_subsamples(epsilon=1.0, delta=paper.delta, n=6400, rows=100, agreement=same)
    assert count is not None
    assert paper.subsamples / count > 900
    # For delta = 10^-6 at agreement 3/4, subsamples of 50 rows need no more than 3,000; the paper would draw 2,097,152.
    few = min_subsamples(epsilon=1.0, delta=1e-6, n=6400, rows=50)
    assert few is not None
    assert few <= 3000
    assert paper_plan(epsilon=1.0, n=6400, rows=50).subsamples == 2_097_152
    # At 100 rows no number of subsamples is enough: each row is in one subsample of 65.
    assert min_subsamples(epsilon=1.0, delta=1e-6, n=6400, rows=100) is None


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_what_runs_has_the_law_that_was_proved(epsilon: float) -> None:
    """The proofs are about votes plus noise of scale cap/epsilon; run() itself must draw that, and nothing smaller."""
    domain = categories(2)
    mechanism = CommonestCategory(epsilon=epsilon, delta=0.05, rows=1, subsamples=5)
    for ones in range(5):
        setting = problem(domain, n=4)
        plan = mechanism.plan(setting)
        dataset = Dataset(domain, np.array([0] * (4 - ones) + [1] * ones), MADE)
        outcomes, chances = Enumerate(window=(-8, 12)).law(mechanism, mechanism.prepare(dataset, setting))
        law = dict(zip(outcomes[:, 0].tolist(), chances.tolist(), strict=True))
        expected = {0.0: 0.0, 1.0: 0.0}
        for votes in range(plan.subsamples + 1):
            chance = comb(plan.subsamples, votes) * (ones / 4) ** votes * (1 - ones / 4) ** (plan.subsamples - votes)
            largest = max(votes, plan.subsamples - votes)
            winner = 1.0 if votes > plan.subsamples - votes else 0.0
            expected[winner] += chance * float(laplace_tail(plan.threshold - largest, scale=plan.cap / epsilon))
        for answer, chance in expected.items():
            assert law.get(answer, 0.0) == pytest.approx(chance, abs=1e-12)


# The rule of when to answer.


class GivenVotes(Enumerate):
    """Walks the coins that come after the votes."""

    def __init__(self, votes: list[int]) -> None:
        super().__init__(window=(0, 1))
        self.votes = votes

    def make(self, draw: Draw[Any], trials: int) -> Any:
        if isinstance(draw, SubsampleVotes):
            return np.tile(np.array(self.votes), (trials, 1))
        return super().make(draw, trials)


def older_rule(*, epsilon: float, delta: float, n: int, rows: int, subsamples: int) -> tuple[int, int]:
    """The cap and threshold of a noisy comparison of the votes, by the account of ``subsample_delta``: all are tried.

    A row is in j subsamples. Where the answer stays, a comparison moved by j votes has a slack; where it does not, the
    winner has half of the votes and j at most. Of all pairs the one that needs fewest votes for 95% of the runs.
    """
    j = np.arange(1, subsamples + 1)
    chances = binomial_chances(subsamples, 1 - (1 - 1 / n) ** rows)[1:]
    thresholds = np.arange(subsamples // 2 + 1, 2 * subsamples)
    worst = (math.inf, 0, 0)
    for cap in range(1, subsamples + 1):
        scale, p = cap / epsilon, math.exp(-epsilon / cap)
        if thresholds[0] - scale * math.log(0.1) > worst[0]:
            break  # wider noise needs more
        moved = np.where(j > cap, 1 - 2 * math.exp(epsilon / 2) * p ** ((j + 1) / 2) / (1 + p), 0.0)
        short = thresholds[:, None] - np.minimum(subsamples, subsamples // 2 + j)
        slack = np.maximum(laplace_tail(short, scale=scale), moved) @ chances
        if (slack <= delta).any():
            threshold = int(thresholds[np.argmax(slack <= delta)])
            worst = min(worst, (threshold - scale * math.log(0.1), cap, threshold))
    return worst[1:]


SETTINGS = (
    {"epsilon": 1.0, "delta": 1e-4, "n": 2000, "rows": 10, "subsamples": 400},
    {"epsilon": 3.0, "delta": 1e-3, "n": 100, "rows": 1, "subsamples": 50},
    {"epsilon": 1.0, "delta": 1e-6, "n": 1000, "rows": 1, "subsamples": 600},
)


@pytest.mark.slow
@pytest.mark.parametrize("told", SETTINGS, ids=str)
def test_no_more_is_refused_than_by_the_older_rule_whatever_the_votes(told: dict[str, Any]) -> None:
    """Exact laws given the votes: of the run, and of a noisy threshold, whose best cap is found by trying all.

    The third is the rule that no never-wrong mechanism exceeds, of the stability that votes have: with chance 1 - d a
    row is in at most c subsamples, so that ceil((2 votes - k)/2c) rows must go before another answer wins, and the
    table has delta - d. Even with the best c for each number of votes it refuses more where runs answer at all. It is
    also the control: a mechanism that took it would fail here.
    """
    subsamples, asked = told["subsamples"], problem(categories(2), n=told["n"])
    mechanism = CommonestCategory(**{name: told[name] for name in ("epsilon", "delta", "rows", "subsamples")})
    state = mechanism.prepare(Dataset(asked.domain, np.zeros(asked.n, dtype=np.int64), MADE), asked)
    votes = np.arange(subsamples // 2 + 1, subsamples + 1)
    now = np.zeros(len(votes))
    for place, most in enumerate(votes.tolist()):
        outcomes, chances = GivenVotes([most, subsamples - most]).law(mechanism, state)
        now[place] = chances[outcomes[:, 0] == 0].sum()
    cap, threshold = older_rule(**told)
    older = laplace_tail(threshold - votes, scale=cap / told["epsilon"])
    assert (now >= older - 1e-12).all()

    optimal = np.zeros(len(votes))
    for most in range(1, subsamples + 1):
        chance = row_chance(n=told["n"], rows=told["rows"])
        left = told["delta"] - binomial_tail(most + 1, trials=subsamples, chance=chance)
        if left > 0:
            stable = -((subsamples - 2 * votes) // (2 * most))
            optimal = np.maximum(optimal, answer_chances(stable, epsilon=told["epsilon"], delta=left))
    some = (now > 0.05) & (now < 0.99)
    assert some.sum() > 5 and (optimal[some] < now[some]).all()
    assert (now - optimal).max() > 0.3
