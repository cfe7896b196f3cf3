"""The sparse vector: exact privacy of a gate, one charge, the samplers' law, and published wrong variants caught.

Lyu, Su and Li (2017, Figure 1) list six algorithms of the literature; their Algorithm 1 is ours. Four that are not
private are here as controls, and four faults of our own. Where a fault only shows against values that move both ways,
distances |count - guess| move so under either relation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Self

import numpy as np
import pytest

from dpcore.core import (
    Booleans,
    Bound,
    Dataset,
    Floats,
    Guarantee,
    HistogramState,
    Integers,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    Release,
    State,
)
from dpcore.data.columns import Number
from dpcore.queries.ranges import Cells
from dpcore.randomness import Account, Draw, Enumerate, NoisyCounts, Preview, Sampler, Secure, SparseVector
from dpcore.randomness.gates import DrawnGate, EnumeratedGate, Gate, GateBudget, gate_budget
from dpcore.randomness.laws import laplace_mass
from dplab.audit import ROUNDING, aligned, exact_delta
from tests.cases import full_but, one_relation
from tests.kit.problems import Clamped
from tests.kit.statistics import CONTROL, assert_law_from, assert_other_law, tally_rows

SILENT = 1e6
"""An epsilon so large that its noise is always 0."""
WITHOUT_END = 10**6
"""Updates that never run out."""
WINDOW = (-1, 4)
relations = pytest.mark.parametrize("neighbours", list(Neighbours))


@dataclass(frozen=True, kw_only=True, eq=False)
class Said(Release):
    """Answers of a gate, (T, anything)."""

    said: Floats

    def outcomes(self) -> Floats:
        return self.said

    def part(self, start: int, stop: int) -> Self:
        return dataclasses.replace(self, refused=self.refused[start:stop], said=self.said[start:stop])


Opens = Callable[[Any, int], Gate]


@dataclass(frozen=True, kw_only=True)
class Asks(Mechanism):
    """Asks a gate whether |count of a cell - guess| >= 1, for each (cell, guess), and says what the gate says."""

    opens: Opens
    questions: tuple[tuple[int, int], ...]
    answers: bool = False
    epsilon: float = 1.0

    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=self.epsilon, neighbours=problem.neighbours)

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        raise ParameterError("Nothing is promised.")

    def prepare(self, dataset: Dataset, problem: Problem) -> State:
        return HistogramState(problem=problem, histogram=dataset.histogram)

    def run(self, state: HistogramState, sampler: Any, trials: int = 1) -> Said:
        gate = self.opens(sampler, trials)
        said: list[Any] = []
        for cell, guess in self.questions:
            count = np.full(trials, state.histogram[cell])
            said.append(gate.above(np.abs(count - guess), 1))
            if self.answers:
                said.append(gate.answer(count))
        return Said(
            problem=state.problem,
            guarantee=self.guarantee(state.problem),
            sampler=sampler.name,
            refused=np.zeros(trials, dtype=np.bool_),
            said=np.stack(said, axis=1).astype(np.float64),
        )


def problem_under(neighbours: Neighbours) -> Problem:
    return Problem(domain=Number(bits=1), queries=Cells(domain=Number(bits=1)), n=3, neighbours=neighbours)


def opened(**told: Any) -> Opens:
    """Opens a gate as mechanisms do."""
    return lambda sampler, trials: sampler.draw(SparseVector(epsilon=1.0, sensitivity=1, **told), trials)


def planted(budget: GateBudget) -> Opens:
    """Opens a gate at a wrong split."""
    return lambda sampler, trials: EnumeratedGate(sampler.independent, WINDOW, budget, sensitivity=1, trials=trials)


class ReusedNoise(EnumeratedGate):
    """Roth's lecture notes of 2011 (Algorithm 3 of the list): a positive answer shows the noisy value just compared."""

    def above(self, values: Integers, threshold: int) -> Booleans:
        """As ever, keeping what the shown value depends on."""
        self._asked = values, threshold, self._posterior
        return super().above(values, threshold)

    def answer(self, counts: Integers) -> Integers:
        """The value whose comparison was positive: at least the noisy threshold."""
        values, threshold, before = self._asked
        symbols = np.arange(self._window[0], self._window[1] + 1)
        scale = 1 / self._budget.comparison
        reached = (symbols[None, :, None] >= threshold + self._noises).astype(np.float64)
        under = np.einsum("psr,pr->ps", reached * np.ones((len(values), 1, 1)), before)
        laws = laplace_mass(symbols - values[:, None], scale=scale) * under
        laws = np.where(self._owed[:, None], laws / laws.sum(axis=1, keepdims=True), symbols == 0)
        shown: Integers = self._independent(laws[:, None, :], symbols)
        return np.where(self._owed, shown[:, 0], 0)


def lopsided(questions: int) -> list[tuple[tuple[int, int], ...]]:
    """Conversations that show faults: the same question over and over, then another that moves against it."""
    outcomes = []
    for first, last in product(((0, 0), (0, 4)), ((0, 0), (0, 4), (1, 0), (1, 4))):
        outcomes += [(first,) * (questions - turn) + (last,) * turn for turn in (1, 2)]
    return list(dict.fromkeys(outcomes))


def worst(opens: Opens, neighbours: Neighbours, *, questions: int, answers: bool = False) -> float:
    """The largest exact delta over the conversations."""
    return max(
        exact_delta(Asks(opens=opens, questions=asked, answers=answers), problem_under(neighbours), window=WINDOW).delta
        for asked in lopsided(questions)
    )


@pytest.mark.slow
@relations
@pytest.mark.parametrize(
    ("updates", "answers"),
    full_but([(1, False), (2, False), (3, False), (1, True), (2, True)], (1, False), (2, False), (1, True), (2, True)),
)
def test_a_gate_is_private_exactly(neighbours: Neighbours, updates: int, answers: bool) -> None:
    opens = opened(updates=updates, answers=0.3 if answers else 0.0)
    assert worst(opens, neighbours, questions=3 if answers else 5, answers=answers) <= ROUNDING


@dataclass(frozen=True, kw_only=True)
class Values(Asks):
    """The state's numbers are the values themselves."""

    def run(self, state: HistogramState, sampler: Any, trials: int = 1) -> Said:
        gate = self.opens(sampler, trials)
        said = [gate.above(np.full(trials, value), 0) for value in state.histogram.tolist()]
        columns = np.stack(said, axis=1).astype(np.float64)
        problem, refused = state.problem, np.zeros(trials, dtype=np.bool_)
        return Said(problem=problem, guarantee=self.guarantee(problem), sampler="", refused=refused, said=columns)


@pytest.mark.slow
@pytest.mark.parametrize(("updates", "sensitivity"), full_but([(1, 1), (2, 1), (1, 2)], (1, 1), (2, 1)))
def test_any_values_that_move_by_the_sensitivity_are_protected(updates: int, sensitivity: int) -> None:
    def opens(sampler: Sampler, trials: int) -> Gate:
        return sampler.draw(SparseVector(epsilon=1.0, sensitivity=sensitivity, updates=updates), trials)

    problem, mechanism = problem_under(Neighbours.REPLACE_ONE), Values(opens=opens, questions=())
    sampler = Enumerate(window=WINDOW)
    laws = {
        values: sampler.law(mechanism, HistogramState(problem=problem, histogram=np.array(values)))
        for values in product((-2, -1, 0, 1, 2) if sensitivity > 1 else (-2, -1, 0, 1), repeat=4)
    }

    def largest_loss(step: int) -> float:
        """Return the largest loss of all pairs whose values move by at most this much, over all outcomes."""
        largest = 0.0
        for one, other in combinations(laws, 2):
            if max(abs(a - b) for a, b in zip(one, other, strict=True)) == step:
                p, q = aligned(laws[one], laws[other])
                largest = max(largest, float(np.abs(np.log(p / q)).max()))
        return largest

    assert largest_loss(sensitivity) <= 1 + ROUNDING
    assert largest_loss(2 * sensitivity) > 1, "values that move twice as far must not pass"


def test_the_split_is_spent_to_the_last() -> None:
    # Loud values that stay negative drive the noise on the threshold up; a faint one is positive all the same.
    values = np.array([[60, 60, 60, -60], [61, 61, 61, -61]])
    budget = gate_budget(epsilon=1.0, updates=1, answers=0.0)
    chances = []
    for row in values:
        said: list[Floats] = []

        def scripted(laws: Floats, symbols: Any, said: list[Floats] = said) -> Any:
            said.append(laws[0, 0])
            return np.array([[len(said) == 4]])

        gate = EnumeratedGate(scripted, WINDOW, budget, sensitivity=1, trials=1)
        for value in row:
            gate.above(np.array([value]), 0)
        chances.append(said[0][0] * said[1][0] * said[2][0] * said[3][1])
    assert 0.99 < np.log(chances[0] / chances[1]) <= 1 + ROUNDING


RIGHT = gate_budget(epsilon=1.0, updates=1, answers=0.0)
TWO = gate_budget(epsilon=1.0, updates=2, answers=0.5)
WRONG = {
    "Lee and Clifton 2014 (Algorithm 4): comparisons not scaled with c": (
        GateBudget(threshold=1 / 4, comparison=3 / 4, answer=0.0, updates=2),
        5,
    ),
    "Stoddard et al. 2014 (Algorithm 5): no noise on comparisons, no end": (
        GateBudget(threshold=1 / 2, comparison=SILENT, answer=0.0, updates=WITHOUT_END),
        4,
    ),
    "Chen et al. 2015 (Algorithm 6): no end": (
        GateBudget(threshold=1 / 2, comparison=1 / 2, answer=0.0, updates=WITHOUT_END),
        5,
    ),
    "no noise on the threshold": (dataclasses.replace(RIGHT, threshold=SILENT), 5),
    "a factor two forgotten": (dataclasses.replace(RIGHT, comparison=2 * RIGHT.comparison), 5),
    "one update too many": (dataclasses.replace(RIGHT, updates=2), 5),
    "each answer at the price of all": (dataclasses.replace(TWO, answer=0.5), 3),
}


@pytest.mark.slow
@one_relation
@pytest.mark.parametrize("name", list(WRONG))
def test_wrong_variants_are_caught(name: str, neighbours: Neighbours) -> None:
    budget, questions = WRONG[name]
    assert budget.total > 1
    loss = worst(planted(budget), neighbours, questions=questions, answers=budget.answer > 0)
    assert loss > 1e-3, f"exact delta {loss:.3g}"


@pytest.mark.slow
def test_noise_shown_twice_is_caught() -> None:
    def opens(sampler: Enumerate, trials: int) -> Gate:
        return ReusedNoise(sampler.independent, (-14, 18), RIGHT, sensitivity=1, trials=trials)

    loss = worst(opens, Neighbours.REPLACE_ONE, questions=4, answers=True)
    assert loss > 1e-3, f"exact delta {loss:.3g}"


class Refreshed(EnumeratedGate):
    """Dwork and Roth (2014, Algorithm 2): the threshold's noise is drawn afresh after every positive answer."""

    def above(self, values: Integers, threshold: int) -> Booleans:
        """As ever; whatever was learnt of the old noise is of no use any more."""
        positive = super().above(values, threshold)
        fresh = laplace_mass(self._noises, scale=1 / self._budget.threshold)
        self._posterior = np.where(positive[:, None], fresh, self._posterior)
        return positive


@pytest.mark.slow
@one_relation
def test_fresh_noise_on_the_threshold_is_private_too_and_costs_more(neighbours: Neighbours) -> None:
    def refreshed(budget: GateBudget) -> Opens:
        return lambda sampler, trials: Refreshed(sampler.independent, WINDOW, budget, sensitivity=1, trials=trials)

    published = GateBudget(threshold=1 / 4, comparison=1 / 8, answer=0.0, updates=2)
    assert worst(refreshed(published), neighbours, questions=5) <= ROUNDING
    # It pays for its threshold c times over; kept, at the same epsilon, both noises are smaller.
    kept = gate_budget(epsilon=1.0, updates=2, answers=0.0)
    assert worst(planted(kept), neighbours, questions=5) <= ROUNDING
    assert kept.threshold > published.threshold
    assert kept.comparison > published.comparison


@pytest.mark.parametrize("answers", [0.0, 0.3])
def test_a_gate_is_one_charge(answers: float, seed: int) -> None:
    problem = problem_under(Neighbours.REPLACE_ONE)
    mechanism = Asks(opens=opened(updates=2, answers=answers), questions=((0, 1), (1, 2)) * 20, answers=answers > 0)
    account = Account(Preview(seed))
    mechanism.run(HistogramState(problem=problem, histogram=np.array([2, 1])), account, 5)
    assert [charge.draw for charge in account.charges] == ["SparseVector"]
    assert account.epsilon == 1.0
    assert gate_budget(epsilon=1.0, updates=2, answers=answers).total == pytest.approx(1.0, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["preview", "secure"])
def test_samplers_have_the_exact_law(sampler: str, seed: int) -> None:
    problem = problem_under(Neighbours.REPLACE_ONE)
    draws = 200_000 if sampler == "preview" else 40_000
    state = HistogramState(problem=problem, histogram=np.array([2, 1]))

    def asks(epsilon: float) -> Asks:
        def opens(from_sampler: Any, trials: int) -> Gate:
            gate: Gate = from_sampler.draw(SparseVector(epsilon=epsilon, sensitivity=1, updates=2, answers=0.4), trials)
            return gate

        return Asks(opens=opens, questions=((0, 0), (1, 1), (0, 2)), answers=True)

    law = Enumerate(window=WINDOW).law(asks(3.0), state)
    drawn: Sampler = Preview(seed) if sampler == "preview" else Secure()

    def observed() -> Integers:
        return tally_rows(asks(3.0).run(state, Clamped(drawn, WINDOW), draws).outcomes(), law[0])

    assert_law_from(drawn, observed, law[1])
    control = asks(3.0 * CONTROL).run(state, Clamped(Preview(seed + 1), WINDOW), draws).outcomes()
    assert_other_law(tally_rows(control, law[0]), law[1])


def test_a_closed_gate_looks_at_nothing(seed: int) -> None:
    gate = Preview(seed).draw(SparseVector(epsilon=1.0, sensitivity=1, updates=2, answers=0.5), 3)
    high = np.full(3, 10**6)
    assert not gate.answer(high).any(), "nothing was asked yet"
    for _ in range(2):
        assert gate.above(high, 0).all()
        assert (gate.answer(high) != 0).all()
        assert not gate.answer(high).any(), "an answer is given once"
    assert gate.closed.all()
    assert not gate.above(high, 0).any()
    assert not gate.answer(high).any()


def test_every_draw_of_a_gate_is_told_its_share_and_its_sensitivity() -> None:
    class Told(Sampler):
        """Adds nothing, and keeps what it was told."""

        def __init__(self) -> None:
            self.told: list[tuple[float, float]] = []

        def make(self, draw: Draw[Any], trials: int) -> Any:
            """See Sampler."""
            assert isinstance(draw, NoisyCounts) and draw.counts.shape == (trials, 1)
            self.told.append((draw.epsilon, draw.sensitivity))
            return draw.counts

    noise, budget = Told(), gate_budget(epsilon=1.0, updates=2, answers=0.5)
    gate = DrawnGate(noise, budget, sensitivity=3, trials=2)
    for _ in range(2):
        np.testing.assert_array_equal(gate.above(np.array([4, 5]), 5), [False, True])
        np.testing.assert_array_equal(gate.answer(np.array([7, 8])), [0, 8])
    # One draw for the threshold, however long the gate lives, and two for each question.
    assert noise.told == [(budget.threshold, 3)] + [(budget.comparison, 3), (budget.answer, 3)] * 2
    np.testing.assert_array_equal(gate.closed, [False, True])


def test_what_a_gate_may_spend() -> None:
    right: dict[str, Any] = {"epsilon": 1.0, "updates": 3, "answers": 0.5}
    for wrong in ({"epsilon": 0.0}, {"updates": 0}, {"answers": 1.0}, {"answers": -0.1}):
        with pytest.raises(ParameterError):
            gate_budget(**right | wrong)
    with pytest.raises(ParameterError):
        DrawnGate(Preview(1), gate_budget(epsilon=1.0, updates=1, answers=0.0), sensitivity=0, trials=1)
