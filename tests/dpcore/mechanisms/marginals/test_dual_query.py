"""DualQuery: what its draws are told and cost, the row that answers best, and the game worked out again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, Number, Preview, Problem
from dpcore.core import HistogramState
from dpcore.mechanisms.marginals.dual_query import DualQuery
from dpcore.queries.linear import LinearQueries
from dpcore.randomness import Account, Choice, PublicCoins
from tests.kit.contract import check_privacy

LINE = Number(bits=2)
QUERIES = LinearQueries.of(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0.5, 0, 0, 1]]), domain=LINE)
PROBLEM = Problem(domain=LINE, queries=QUERIES, n=12)
STATE = HistogramState(problem=PROBLEM, histogram=np.array([6, 1, 2, 3]))


class Scripted(Preview):
    """Draws what it is told and keeps what it was asked."""

    def __init__(self, drawn: list[int]) -> None:
        super().__init__(1)
        self.asked, self._drawn = list[Any](), iter(drawn)

    def draw(self, draw: Any, trials: int = 1) -> Any:
        self.asked.append(draw)
        if isinstance(draw, PublicCoins):
            return np.array([[next(self._drawn) for _ in range(draw.columns)]])
        return np.array([next(self._drawn)])


def test_a_game_of_three_rounds_worked_out_by_hand() -> None:
    """Places 0 to 2 are the queries, 3 to 5 their opposites; each best row is the first of those that tie."""
    sampler = Scripted([0, 1, 2, 5, 3, 4])
    release = DualQuery(epsilon=2.0, rounds=3, samples=2).run(STATE, sampler)
    # Queries 0 and 1 are counted most by cell 1; 2 and its opposite cancel: cell 0; not 0 and not 1: cell 3.
    assert release.points.tolist() == [[0, 1, 3]]
    np.testing.assert_allclose(release.histogram(), [[4, 4, 0, 4]])
    choices = [each for each in sampler.asked if isinstance(each, Choice)]
    assert len(choices) == 4, "the first round's queries are public coins"
    truth = np.array([7_000, 3_000, 6_000])  # thousandths of rows
    after_one = truth - 12_000 * np.array([1, 1, 0])
    after_two = 2 * truth - 12_000 * (np.array([1, 1, 0]) + np.array([1, 0, 0.5]))
    for choice, wanted, before in zip(choices, (after_one, after_one, after_two, after_two), (1, 1, 2, 2), strict=True):
        np.testing.assert_array_equal(choice.scores, [[*wanted, *-wanted]])
        assert choice.sensitivity == 1000 * before
        # The weight of a query is e^(η error), summed over rounds, with η = εn/(T(T - 1)s).
        rate = 2.0 * 12 / (3 * 2 * 2)
        assert choice.epsilon / (2 * choice.sensitivity) == pytest.approx(rate / 12 / 1000)


@pytest.mark.parametrize(("rounds", "samples"), [(2, 1), (5, 3)])
def test_all_draws_together_cost_epsilon(rounds: int, samples: int, seed: int) -> None:
    account = Account(Preview(seed))
    DualQuery(epsilon=0.7, rounds=rounds, samples=samples).run(STATE, account, 4)
    assert account.epsilon == pytest.approx(0.7) and len(account.charges) == (rounds - 1) * samples


class Cheap(DualQuery):
    """The positive control: says half of what it spends."""

    def run(self, state: HistogramState, sampler: Any, trials: int = 1) -> Any:
        return DualQuery(epsilon=2 * self.epsilon, rounds=self.rounds, samples=self.samples).run(state, sampler, trials)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_three_rounds_keep_the_guarantee_and_twice_the_loss_does_not(neighbours: Neighbours) -> None:
    tiny = LinearQueries.of(np.array([[1.0, 0.0]]), domain=Number(bits=1))
    problem = Problem(domain=tiny.domain, queries=tiny, n=2, neighbours=neighbours)
    check_privacy(DualQuery(epsilon=2.0, rounds=3, samples=2), problem)
    with pytest.raises(AssertionError, match="exact delta"):
        check_privacy(Cheap(epsilon=2.0, rounds=2, samples=1), problem)


def test_with_many_rows_and_rounds_answers_are_near(seed: int) -> None:
    problem = Problem(domain=LINE, queries=QUERIES, n=120_000)
    state = HistogramState(problem=problem, histogram=10_000 * STATE.histogram)
    few, many = (
        np.median(QUERIES.max_error(DualQuery(rounds=t, samples=50).run(state, Preview(seed), 40).histogram()
                                    - state.histogram)) / problem.n
        for t in (2, 50)
    )  # fmt: skip
    assert many < 0.05 < few
