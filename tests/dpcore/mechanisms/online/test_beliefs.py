"""What conversations stand on: the law of the noise's reach, beliefs that halve and near the data, analysts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.core import Floats, ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.mechanisms.net.databases import candidates
from dpcore.mechanisms.online.analysts import Bisecting, analyst, spread
from dpcore.mechanisms.online.beliefs import Weights, members
from dpcore.mechanisms.online.conversation import Answer
from dpcore.mechanisms.online.paths import Paths
from dpcore.mechanisms.online.slack import answer_slack, gate_slack, stay_chance
from dpcore.mechanisms.online.small_databases import Listed
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import NoisyCounts, Preview
from dpcore.randomness.gates import gate_budget
from dpcore.randomness.laws import laplace_mass, laplace_tail
from tests.kit.statistics import binomial_tail, clopper_pearson

BUDGET = gate_budget(epsilon=1.0, updates=4, answers=0.25)
TRIALS = 20_000


def test_reach_of_a_gates_noise(seed: int) -> None:
    questions = 30
    sampler = Preview(seed)
    zeros = np.zeros((1, questions), dtype=np.int64)
    on_threshold = sampler.draw(NoisyCounts(zeros[:, :1], epsilon=BUDGET.threshold, sensitivity=1), TRIALS)
    on_comparisons = sampler.draw(NoisyCounts(zeros, epsilon=BUDGET.comparison, sensitivity=1), TRIALS)
    strayed = np.abs(on_threshold - on_comparisons).max(axis=1)
    for beta in (0.5, 0.1):
        slack = gate_slack(BUDGET, questions=questions, beta=beta)
        assert stay_chance(BUDGET, slack=slack, questions=questions) >= 1 - beta
        assert stay_chance(BUDGET, slack=slack - 1, questions=questions) < 1 - beta
        low, high = clopper_pearson(int((strayed <= slack).sum()), trials=TRIALS)
        assert low <= stay_chance(BUDGET, slack=slack, questions=questions) <= high
        # Positive control: two thirds of that slack would break the promise visibly.
        assert binomial_tail(int((strayed > 2 * slack // 3).sum()), trials=TRIALS, chance=beta) < 1e-6


def test_reach_of_paid_answers(seed: int) -> None:
    noise = Preview(seed).draw(
        NoisyCounts(np.zeros((1, 4), dtype=np.int64), epsilon=BUDGET.answer, sensitivity=1), TRIALS
    )
    worst = np.abs(noise).max(axis=1)
    for beta in (0.5, 0.1):
        slack = answer_slack(BUDGET, beta=beta)
        exact = 1 - (1 - 2 * float(laplace_tail(slack + 1, scale=1 / BUDGET.answer))) ** 4
        assert exact <= beta < 1 - (1 - 2 * float(laplace_tail(slack, scale=1 / BUDGET.answer))) ** 4
        low, high = clopper_pearson(int((worst > slack).sum()), trials=TRIALS)
        assert low <= exact <= high


def test_coarse_blocks_only_lower_the_chance() -> None:
    fine = gate_budget(epsilon=0.05, updates=50, answers=0.25)  # noise on the threshold reaches 24,000 rows
    scale, slack = 1 / fine.threshold, 60_000
    rho = np.arange(-int(40 * scale), int(40 * scale) + 1)
    strays = laplace_tail(slack + 1 + rho, scale=1 / fine.comparison) + laplace_tail(
        slack + 1 - rho, scale=1 / fine.comparison
    )
    exact = float((laplace_mass(rho, scale=scale) * (1 - strays) ** 20).sum())
    assert exact - 1e-3 < stay_chance(fine, slack=slack, questions=20) <= exact + 1e-12


# Beliefs.


def relative_entropy(data: Floats, belief: Floats) -> float:
    inside = data > 0
    return float((data[inside] * np.log(data[inside] / belief[inside])).sum())


@pytest.mark.slow
@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(sum), st.integers(0, 10**6))
def test_updates_of_weights_near_the_data(counts: list[int], draw: int) -> None:
    histogram = np.array(counts)
    n = int(histogram.sum())
    queries = Intervals(domain=Number(bits=2))
    belief, random = Weights(queries, rows=n, trials=1), np.random.Generator(np.random.PCG64(draw))
    for _ in range(12):
        indices = random.integers(0, queries.count, 1)
        inside = members(queries, indices)[0]
        truth, noise = int(histogram[inside].sum()), int(random.integers(-2, 3))
        before = belief.shares[0].copy()
        assert belief.guess(indices)[0] == round(n * float(before[inside].sum()))
        belief.learn(np.array([truth + noise]), np.array([True]))
        wrong = truth / n - before[inside].sum()
        gained = relative_entropy(histogram / n, before) - relative_entropy(histogram / n, belief.shares[0])
        assert gained >= 2 * (wrong**2 - (noise / n) ** 2) - 1e-12


def test_weights_learn_only_where_paid() -> None:
    belief = Weights(Thresholds(domain=Number(bits=3)), rows=80, trials=2)
    belief.guess(np.array([3, 3]))
    belief.learn(np.array([80, 80]), np.array([True, False]))
    np.testing.assert_array_equal(belief.guess(np.array([3, 3])) > 40, [True, False])
    np.testing.assert_array_equal(belief.guess(np.array([7, 7])), 80)


@pytest.mark.parametrize("missing", [False, True])
def test_paths_are_the_listed_databases(missing: bool, seed: int) -> None:
    queries = Thresholds(domain=Number(bits=3, missing=missing))
    random = np.random.Generator(np.random.PCG64(seed))
    settings: dict[str, Any] = {"points": 4, "rows": 1000, "radius": 150.0, "trials": 30}
    paths, listed = Paths(queries, updates=6, **settings), Listed(queries, **settings)
    truth = np.sort(random.integers(0, 1001, (30, 8)), axis=1)
    for _ in range(6):
        for each in range(8):
            indices = np.full(30, each)
            np.testing.assert_array_equal(paths.guess(indices), listed.guess(indices))
        indices = random.integers(0, 8, 30)
        guess = paths.guess(indices)
        np.testing.assert_array_equal(listed.guess(indices), guess)
        rows = truth[np.arange(30), indices] + random.integers(-40, 41, 30)
        where = random.random(30) < 0.7
        paths.learn(rows, where)
        listed.learn(rows, where)


def test_each_update_drops_half_and_never_the_best(seed: int) -> None:
    queries = Thresholds(domain=Number(bits=3))
    random = np.random.Generator(np.random.PCG64(seed))
    listed = Listed(queries, points=4, rows=1000, radius=300.0, trials=1)
    assert listed.alive.shape == (1, candidates(size=8, points=4))
    truth = np.sort(random.integers(0, 1001, 8))
    truth[-1] = 1000
    best = np.diff(np.floor(4 * truth / 1000 + 0.5), prepend=0)  # within 1/8 of n everywhere
    place = int(
        np.flatnonzero((np.apply_along_axis(np.bincount, 1, listed.points, minlength=8) == best).all(axis=1))[0]
    )
    halvings = 0
    for _ in range(200):
        indices = random.integers(0, 8, 1)
        if abs(int(truth[indices[0]]) - int(listed.guess(indices)[0])) <= 126:  # half a row is lost in rounding
            continue
        before = int(listed.alive.sum())
        listed.learn(truth[indices] + random.integers(-100, 101, 1), np.array([True]))
        assert int(listed.alive.sum()) <= before / 2
        assert listed.alive[0, place]
        halvings += 1
    assert halvings >= 2
    assert halvings <= np.log2(listed.alive.shape[1])


def test_an_answer_that_nothing_fits_drops_nothing() -> None:
    queries = Thresholds(domain=Number(bits=2))
    settings: dict[str, Any] = {"points": 3, "rows": 90, "radius": 10.0, "trials": 1}
    for belief in (Listed(queries, **settings), Paths(queries, updates=2, **settings)):
        before = belief.guess(np.array([1]))
        belief.learn(np.array([10**6]), np.array([True]))
        np.testing.assert_array_equal(belief.guess(np.array([1])), before)


def test_a_long_line_needs_no_list() -> None:
    belief = Paths(Thresholds(domain=Number(bits=16)), points=100, rows=10**6, radius=5e3, trials=1, updates=30)
    for at, rows in ((2**15, 900_000), (2**14, 850_000), (2**10, 100_000), (2**12, 840_000)):
        belief.guess(np.array([at]))
        belief.learn(np.array([rows]), np.array([True]))
        assert abs(belief.guess(np.array([at]))[0] - rows) <= 5_000
    assert belief.guess(np.array([2**16 - 1]))[0] == 10**6
    assert 840_000 - 5_000 <= belief.guess(np.array([2**13]))[0] <= 850_000 + 5_000


def test_other_classes_are_refused() -> None:
    class Unknown:
        """A query class without a belief."""

        title = "riddles"

    unknown: Any = Unknown()
    with pytest.raises(ParameterError, match="riddles"):
        members(unknown, np.array([0]))


# Analysts.


def exact(queries: Any, histogram: Any, asked: Any) -> Answer:
    rows = queries.answer(histogram[None], asked)[0].astype(np.int64)
    nothing = np.zeros(len(rows), dtype=np.bool_)
    return Answer(rows=rows, guess=rows, paid=nothing, refused=nothing)


def test_the_bisecting_analyst_finds_quantiles() -> None:
    queries = Thresholds(domain=Number(bits=4))
    histogram = np.arange(1, 17)
    bisecting = Bisecting(queries, rows=int(histogram.sum()), questions=12, trials=2)
    questions = []
    for _ in range(12):
        question = bisecting.question()
        questions.append(int(question[0]))
        bisecting.hear(exact(queries, histogram, question))
    # Of 136 rows half are reached in cell 11 (78 rows), a quarter in cell 7 (36), three quarters in cell 13 (105).
    assert questions == [7, 11, 9, 10, 7, 3, 5, 6, 7, 11, 13, 12]


def test_the_bisecting_analyst_asks_intervals_from_many_cells() -> None:
    queries = Intervals(domain=Number(bits=4))
    histogram = np.full(16, 10)
    bisecting = Bisecting(queries, rows=160, questions=40, trials=1)
    searched = []
    for _ in range(20):
        question = bisecting.question()
        searched.append(tuple(int(end[0]) for end in queries.ends(question)))
        bisecting.hear(exact(queries, histogram, question))
    assert {first for first, _ in searched} >= {8, 4, 12}
    assert (8, 11) in searched  # 40 of 160 rows
    assert all(0 <= first <= last < 16 for first, last in searched)


def test_sweeping_asks_everything_and_cells_are_swept() -> None:
    queries = Cells(domain=Labels(labels=tuple("abcdef")))
    for kind in ("sweeping", "bisecting"):
        questioner = analyst(kind, queries, rows=10, questions=100, trials=3)
        questions = []
        for _ in range(12):
            questions.append(int(questioner.question()[0]))
            questioner.hear(exact(queries, np.arange(7), questioner.question()))
        assert questions[:6] == questions[6:]
        assert sorted(questions[:6]) == list(range(6))
    np.testing.assert_array_equal(spread(7), [1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8])
