"""The sampled audit: its bounds, its words, its deltas, and that it can be stopped."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc

from dpcore import ParameterError
from dpcore.core import Floats, Integers
from dpcore.randomness import Preview
from dplab.audit import sampled
from dplab.audit.orders import joint, orders
from dplab.audit.sampled import FAILURE, ROUND_SIZES, audit, bound
from dplab.measure import finish


def leaking(chance: float) -> Callable[[int, Preview, int], Integers]:
    """A fair coin, but for a small chance of the truth: (0, chance)-DP and no better at any epsilon."""

    def draw(side: int, preview: Preview, runs: int) -> Integers:
        leaks = preview.generator.random((runs, 1)) < chance
        return np.where(leaks, 2 + side, preview.generator.integers(0, 2, (runs, 1)))

    return draw


def test_bounds_are_the_ends_of_exact_intervals() -> None:
    low, high = bound(np.array([0, 7, 40]), np.array([0, 7, 40]), 40, tail=0.01)
    assert low[0] == 0 and high[2] == 1
    # At the ends, what was seen or more, or less, has the chance of the tail.
    for hits, at in ((7, low[1]), (40, low[2])):
        assert bdtrc(hits - 1, 40, at) == pytest.approx(0.01)
    for hits, at in ((0, high[0]), (7, high[1])):
        assert bdtr(hits, 40, at) == pytest.approx(0.01)


@pytest.mark.parametrize(("delta", "refuted"), [(0.0, True), (0.01, True), (0.05, False), (0.06, False)])
def test_delta_is_taken_off_before_the_loss_is_measured(delta: float, refuted: bool, seed: int) -> None:
    result = finish(audit(leaking(0.05), epsilon=1.0, delta=delta, seed=seed, rounds=(40_000,)))
    assert result.refuted is refuted
    if refuted:
        look = result.rounds[0]
        assert look.more > math.e * look.fewer + delta
        assert result.least == pytest.approx(math.log((look.more - delta) / look.fewer))


def answering(loss: float) -> Callable[[int, Preview, int], Integers]:
    """Randomised response, which loses so much; the second number of an outcome is a fair coin."""

    def draw(side: int, preview: Preview, runs: int) -> Integers:
        truthful = preview.generator.random((runs, 1)) < 1 / (1 + math.exp(-loss))
        coins = preview.generator.integers(0, 2, (runs, 1))
        return np.concatenate([np.where(truthful, side, 1 - side), coins], axis=1)

    return draw


def test_more_runs_other_data_or_another_event_may_refute_what_stood(seed: int) -> None:
    few, many = (finish(audit(answering(1.3), epsilon=1.0, seed=seed, rounds=(runs,))) for runs in (200, 100_000))
    assert not few.refuted and many.refuted

    def hardly(side: int, preview: Preview, runs: int) -> Integers:
        return answering(1.3)(0, preview, runs)

    assert not finish(audit(hardly, epsilon=1.0, seed=seed, rounds=(100_000,))).refuted, "these data look alike"
    outcomes = [answering(1.3)(side, Preview(seed), 100_000) for side in (0, 1)]
    # Of the same runs, the coin tells nothing and the answer refutes.
    least = []
    for place in (0, 1):
        hits = [int(each[:, place].sum()) for each in outcomes]
        low, high = bound(np.array(max(hits)), np.array(min(hits)), 100_000, tail=FAILURE / 2)
        least.append(math.log(float(low) / float(high)))
    assert least[0] > 1.0 > least[1]


def certain(side: int, preview: Preview, runs: int) -> Integers:
    return np.full((runs, 1), side)


def silent(side: int, preview: Preview, runs: int) -> Integers:
    return np.zeros((runs, 1), dtype=np.int64)


def test_the_verdict_in_words() -> None:
    sentence = finish(audit(certain, epsilon=1.0, seed=1, rounds=(1_000,))).sentence
    # Half of the runs, all of them hits on one side and none on the other: both bounds in closed form.
    share = (FAILURE / 2) ** (1 / 500)
    exact = math.log(share / (1 - share))
    assert sentence == f"Refuted: at least {math.floor(100 * exact) / 100:g}, claimed 1 (99.9%)."
    sentence = finish(audit(certain, epsilon=2.0, delta=1e-6, seed=1, rounds=(1_000,))).sentence
    assert "claimed 2 with δ = 1e-6 (99.9%)." in sentence
    assert finish(audit(silent, epsilon=1.0, seed=1, rounds=ROUND_SIZES[:3])).sentence == (
        "Not refuted in 14,000 runs. This is not a proof."
    )


def test_it_says_how_far_it_is_and_can_be_stopped() -> None:
    drawn = []

    def counted(side: int, preview: Preview, runs: int) -> Integers:
        drawn.append(runs)
        return silent(side, preview, runs)

    work = audit(counted, epsilon=1.0, seed=1, rounds=(1_000, 3_000))
    fractions = [next(work) for _ in range(3)]
    assert 0 < fractions[0] < fractions[1] < fractions[2] < 1 and sum(drawn) < 1_000
    work.close()
    fractions = list(audit(silent, epsilon=1.0, seed=1, rounds=(1_000, 3_000)))
    assert fractions == sorted(fractions) and fractions[-1] == 1
    # Where time ends it before the runs do, it is said of the time.
    assert next(audit(silent, epsilon=1.0, seed=1)) < 0.01 and next(audit(silent, epsilon=1.0, seed=1, seconds=0)) == 1


def test_rounds_share_the_failures_and_a_refutation_ends_them() -> None:
    one = finish(audit(certain, epsilon=1.0, seed=1, rounds=(1_000,)))
    shared = finish(audit(certain, epsilon=1.0, seed=1, rounds=(1_000, 10_000)))
    assert len(shared.rounds) == 1 and shared.rounds[0].epsilon < one.rounds[0].epsilon
    more = finish(audit(certain, epsilon=1.0, seed=1, rounds=(1_000, 10_000, 100_000), at_least=2))
    assert [look.runs for look in more.rounds] == [1_000, 10_000] and more.least == more.rounds[1].epsilon
    assert finish(audit(silent, epsilon=1.0, seed=1, seconds=0.0)).runs == ROUND_SIZES[0]


def test_the_bars_are_shares_of_the_counted_runs(seed: int) -> None:
    def draw(side: int, preview: Preview, runs: int) -> Integers:
        return preview.laplace(np.array([[side]]), scale=1.0, trials=runs)

    (look,) = finish(audit(draw, epsilon=0.5, seed=seed, rounds=(4_000,))).rounds
    assert look.counted == 2_000 and look.refuted
    assert look.shares.sum(axis=1) == pytest.approx([1, 1])
    assert (np.diff(look.edges) > 0).all() and look.edges[0] < look.event.cut < look.edges[-1]
    # The event is rarer on the other data set, by what is found.
    assert look.hits[0] / look.hits[1] > math.exp(look.epsilon)


def test_of_wide_outcomes_fewer_are_kept_and_more_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(side: int, preview: Preview, runs: int) -> Integers:
        return np.full((runs, 50), side)

    monkeypatch.setattr(sampled, "MAX_STORED_NUMBERS", 5_000)
    (look,) = finish(audit(wide, epsilon=1.0, seed=1, rounds=(1_000,))).rounds
    assert look.refuted and look.counted == 800 and look.hits == (800, 0)


@pytest.mark.parametrize(("rounds", "failure"), [((), 0.1), ((7,), 0.1), ((100,), 0.0), ((100,), 1.0)])
def test_what_is_no_audit_is_refused(rounds: tuple[int, ...], failure: float) -> None:
    with pytest.raises(ParameterError):
        finish(audit(silent, epsilon=1.0, seed=1, rounds=rounds, failure=failure))
    with pytest.raises(ParameterError):
        finish(audit(silent, epsilon=0.0, seed=1))


def pairs(shift: int, preview: Preview, *, runs: int) -> Floats:
    noise = preview.laplace(np.zeros((1, 1), dtype=np.int64), scale=5.0, trials=runs)
    return np.concatenate([noise + shift, noise], axis=1).astype(np.float64)


def test_orders_see_the_same_noise_twice_and_whole_outcomes(seed: int) -> None:
    preview = Preview(seed)
    scorings = orders(pairs(0, preview, runs=300), pairs(1, preview, runs=300))
    scores = [
        [order(pairs(shift, preview, runs=300)) for shift in (0, 1)] for order in scorings if order.places == (2, 3)
    ]
    ((first, second),) = scores
    assert first.mean() > 2 and second.mean() < -2
    whole = next(order for order in scorings if not order.places)
    assert (whole(np.array([[1e9, 1e9]])) == 0).all(), "what was never seen scores nothing"


def test_equal_outcomes_have_one_code_and_others_another() -> None:
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, 1.0 + 2**-52]])
    codes = joint(rows)
    assert codes[0] == codes[1] and len(set(codes.tolist())) == 3
    grid = np.stack(np.meshgrid(np.arange(60), np.arange(60)), axis=-1).reshape(-1, 2)
    assert len(np.unique(joint(grid))) == 3_600
