"""What previews save themselves: sums kept between cuts, coins by the word, unused answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import Preview, Secure
from dpcore.core import Integers
from dpcore.data.columns import Number
from dpcore.mechanisms.intervals.printed import Bisections, PrintedIntervals
from dpcore.mechanisms.intervals.recursive import RecursiveIntervals
from dpcore.randomness import Draw, FairSplit, MedianCuts, NoisyComparisons, Sampler
from dpcore.randomness import cuts as cuts_module
from dpcore.randomness.counts import NEVER
from tests.kit.intervals import problem_on, shaped
from tests.kit.statistics import assert_law, assert_other_law, binomial_chances, binomial_tail, tally

LINE = np.array([0, 4, 4, 5, 9, 14])
WHOLE = np.array([[0]]), np.array([[5]])


def cuts(sampler: Sampler, line: Integers, *, epsilon: float = 0.6) -> Integers:
    """20,000 cuts of a whole line."""
    return sampler.draw(MedianCuts(line, *WHOLE, epsilon=epsilon, sensitivity=1.0), 20_000)[:, 0]


def test_kept_sums_are_those_of_the_line_and_the_rate(seed: int) -> None:
    """After any other cut, the next one is what a sampler that kept nothing draws; also where the line was changed."""
    for change in ("nothing", "the rate", "the line", "the line in place"):
        keeps, forgets, line = Preview(seed), Preview(seed), LINE.copy()
        cuts(keeps, line)
        cuts(forgets, line)
        forgets.memo.clear()
        epsilon = 0.8 if change == "the rate" else 0.6
        if change == "the line":
            line = 14 - line[::-1]
        elif change == "the line in place":
            line[1:3] = 0
        drawn = cuts(keeps, line, epsilon=epsilon)
        np.testing.assert_array_equal(drawn, cuts(forgets, line, epsilon=epsilon))
        laws = [np.exp(-e / 2 * np.abs(2 * c - c[-1])) for e, c in ((epsilon, line), (0.6, LINE))]
        assert_law(tally(drawn, low=0, high=5), laws[0] / laws[0].sum())
        if change != "nothing":
            assert_other_law(tally(drawn, low=0, high=5), laws[1] / laws[1].sum())


def test_the_levels_of_a_release_share_their_sums(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two running sums for all five levels, and the release that sums made anew for each of them would give."""
    monkeypatch.setattr(cuts_module, "FEW_PLACES", 0)
    domain, mechanism = Number(bits=6), RecursiveIntervals()
    state = mechanism.prepare(shaped(domain, 500, "even"), problem_on(domain, n=500))
    sums: list[int] = []

    class Forgetful(Preview):
        def make(self, draw: Draw[Any], trials: int) -> Any:
            self.memo.clear()
            return super().make(draw, trials)

    class Counting(Preview):
        def make(self, draw: Draw[Any], trials: int) -> Any:
            memo = self.memo.get(MedianCuts)
            drawn = super().make(draw, trials)
            sums.append(self.memo[MedianCuts] is not memo)
            return drawn

    released = mechanism.run(state, Counting(seed), 200).outcomes()
    np.testing.assert_array_equal(released, mechanism.run(state, Forgetful(seed), 200).outcomes())
    assert sums == [True] + [False] * (mechanism.levels - 1)


@pytest.mark.parametrize("rows", [1, 3, 63, 64, 65, 200])
def test_coins_by_the_word_are_fair(rows: int, seed: int) -> None:
    """40,000 splits of two counts, each by coins of its own, with nothing between; the control has a row more."""
    counts = np.zeros((40_000, 3), dtype=np.int64)
    counts[:, 0] = counts[:, 2] = rows
    heads = Preview(seed).draw(FairSplit(counts), len(counts))
    assert not heads[:, 1].any()
    law, more = np.pad(binomial_chances(rows, 0.5), (0, 1)), binomial_chances(rows + 1, 0.5)
    for column in (0, 2):
        assert_law(np.bincount(heads[:, column], minlength=rows + 2), law)
        assert_other_law(np.bincount(heads[:, column], minlength=rows + 2), more)
    both = np.stack([heads[:, column] > rows // 2 for column in (0, 2)])
    above = binomial_tail(rows // 2 + 1, trials=rows, chance=0.5)
    square = np.outer([1 - above, above], [1 - above, above]).reshape(-1)
    assert_law(np.bincount(2 * both[0] + both[1], minlength=4), square)


@pytest.mark.parametrize("sampler", [Preview(2), Secure()], ids=["preview", "secure"])
def test_never_is_never_reached(sampler: Sampler) -> None:
    values = np.array([[10**9, -5]])
    for threshold in (NEVER, np.full((3, 2), NEVER)):
        reached = sampler.draw(NoisyComparisons(values, threshold, epsilon=1e-4, sensitivity=1.0), 3)
        assert reached.shape == (3, 2)
        assert not reached.any()
    assert sampler.draw(NoisyComparisons(values, -NEVER, epsilon=1e-4, sensitivity=1.0), 3).all()


def test_a_finished_search_draws_and_finds_nothing_more(seed: int) -> None:
    """Each block asks d questions, also where every trial is done; trials that are done stay so."""
    draws: list[Any] = []

    class Recording(Preview):
        def make(self, draw: Draw[Any], trials: int) -> Any:
            if isinstance(draw, NoisyComparisons):
                draws.append((draw.threshold, (draw.epsilon, draw.sensitivity, trials)))
            return super().make(draw, trials)

    domain, mechanism = Number(bits=5, missing=True), PrintedIntervals(alpha=0.5, epsilon=20.0, tie_bits=4)
    problem = problem_on(domain, n=400)
    state = mechanism.prepare(shaped(domain, 400, "even"), problem)
    search: Bisections = mechanism.search(state, Recording(seed), 30)
    done = [search.done]
    for _ in range(60):
        search.next_bound()
        done.append(search.done)
        assert len(draws) == mechanism.depth(problem) * (len(done) - 1)
        assert (done[-1] >= done[-2]).all()
    assert not done[2].any()
    assert done[-1].all()
    values = [each for _, each in draws]
    assert values[0] == values[-1]
    # As long as some trial is not done, each answer that it needs is asked for.
    last = next(block for block, each in enumerate(done) if each.all())
    assert any(not isinstance(threshold, int) for threshold, _ in draws[mechanism.depth(problem) * (last - 1) :])
    assert all(threshold is NEVER for threshold, _ in draws[mechanism.depth(problem) * last :])
