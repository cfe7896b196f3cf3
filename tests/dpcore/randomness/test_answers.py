"""Answers: the table meets the wall, its whole numbers keep delta exactly, and all samplers have its law."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpcore.core import Integers, ParameterError
from dpcore.limits.bounds.refusal import max_answer_chance
from dpcore.randomness import Account, Answers, GaussianCounts, NoisyCounts, Preview, Secure
from dpcore.randomness.answers import BITS, answer_chances, answer_table
from tests.kit.statistics import assert_law_from, assert_other_law

LOSSES = pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1e-3, 2.0**-64), (0.1, 1e-6), (0.3, 2.0**-64), (1.0, 1e-12), (1.0, 0.3), (5.0, 1e-15), (20.0, 2.0**-64)],
)
DIGITS = Context(prec=100)


def worst_divergence(table: tuple[int, ...], *, epsilon: float) -> Decimal:
    """The least delta that all neighbouring stabilities keep, in both directions, answers and refusals alike.

    To 100 digits. Where the answers differ, both stabilities are 1.
    """
    with localcontext(DIGITS):
        growth = Decimal(epsilon).exp()
        yes = [Decimal(entry) / (1 << BITS) for entry in table]
        worst = yes[1]
        for one, other in pairwise(yes):
            for p, q in ((one, other), (other, one)):
                given, refused = p - growth * q, (1 - p) - growth * (1 - q)
                worst = max(worst, max(given, Decimal(0)) + max(refused, Decimal(0)))
        return worst


@pytest.mark.slow
@LOSSES
def test_the_whole_numbers_of_the_table_keep_delta_exactly(epsilon: float, delta: float) -> None:
    table = answer_table(epsilon=epsilon, delta=delta)
    assert table[0] == 0 and table[-1] == 1 << BITS and list(table) == sorted(table)
    assert worst_divergence(table, epsilon=epsilon) <= Decimal(delta)
    # The control: 2^-60 more in one place is beyond what delta allows.
    middle = next(place for place, entry in enumerate(table) if entry > 1 << (BITS - 2))
    louder = (*table[:middle], table[middle] + (1 << (BITS - 60)), *table[middle + 1 :])
    assert worst_divergence(louder, epsilon=epsilon) > Decimal(delta)


@pytest.mark.slow
@LOSSES
def test_it_meets_the_wall_at_every_stability(epsilon: float, delta: float) -> None:
    table = answer_table(epsilon=epsilon, delta=delta)
    with localcontext(DIGITS):
        growth, slack, wall = Decimal(epsilon).exp(), Decimal(delta), Decimal(0)
        for entry in table:
            short = wall - Decimal(entry) / (1 << BITS)
            assert 0 <= short <= Decimal("1e-15")
            wall = min(growth * wall + slack, 1 - (1 - wall - slack) / growth, Decimal(1))
    stable = np.arange(len(table) + 3)
    chances = max_answer_chance(stable, epsilon=epsilon, delta=delta)
    np.testing.assert_allclose(answer_chances(stable, epsilon=epsilon, delta=delta), chances, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("epsilon", "half", "never"), [(1.0, 14, 28), (0.1, 109, 218)])
def test_it_needs_fewer_rows_than_a_noisy_threshold(epsilon: float, half: int, never: int) -> None:
    chances = answer_chances(np.arange(300), epsilon=epsilon, delta=1e-6)
    assert int(np.argmax(chances >= 0.5)) == half and int(np.argmax(chances == 1)) == never


def test_bounds_of_the_factors_are_on_their_sides() -> None:
    """Rounded the other way, the table would be above the exact recursion, if only by a hair."""
    table, one = answer_table(epsilon=0.5, delta=0.01), 1 << BITS
    with localcontext(DIGITS):
        growth = Fraction(Decimal("0.5").exp())
    wall = Fraction(0)
    for entry in table[:-1]:
        assert Fraction(entry, one) <= wall
        wall = min(growth * wall + Fraction(0.01), 1 - (1 - wall - Fraction(0.01)) / growth, Fraction(1))


@pytest.mark.parametrize("sampler", [Preview(11), Secure()], ids=["preview", "secure"])
def test_samplers_answer_as_often_as_the_table_says(sampler: Preview | Secure) -> None:
    stable, draws = np.arange(1, 9), 4000
    chances = answer_chances(stable, epsilon=0.7, delta=0.05)
    for place, chance in zip(stable, chances.tolist(), strict=True):
        answers = Answers(np.array([place]), epsilon=0.7, delta=0.05)

        def drawn(answers: Answers = answers) -> Integers:
            given = sampler.draw(answers, draws)
            assert given.shape == (draws,) and given.dtype == np.bool_
            return np.array([draws - given.sum(), given.sum()])

        if chance < 1:
            assert_law_from(sampler, drawn, np.array([1 - chance, chance]))
        else:
            assert drawn().tolist() == [0, draws]
    many = sampler.draw(Answers(np.repeat([0, 100], 500), epsilon=0.7, delta=0.05), 1000)
    assert not many[:500].any() and many[500:].all()
    given = sampler.draw(Answers(np.array([4]), epsilon=0.7 * 1.3, delta=0.05), 40_000)
    assert_other_law(np.array([40_000 - given.sum(), given.sum()]), np.array([1 - chances[3], chances[3]]))


def test_account_adds_up_epsilons_and_deltas() -> None:
    account = Account(Preview(1))
    stable = np.array([3])
    account.draw(Answers(stable, epsilon=0.5, delta=0.01), 2)
    account.draw(Answers(stable, epsilon=0.25, delta=0.002), 2)
    account.draw(NoisyCounts(stable[None], epsilon=1.0, sensitivity=1), 2)
    assert account.epsilon == 1.75 and account.delta(1.75) == pytest.approx(0.012, rel=1e-15)
    assert account.delta(1.7) == 1
    before = account.delta(2.75)
    account.draw(GaussianCounts(stable[None], sigma=3.0, squared_shift=1), 2)
    alone = Account(Preview(1))
    alone.draw(GaussianCounts(stable[None], sigma=3.0, squared_shift=1), 2)
    assert account.delta(2.75) == pytest.approx(before + alone.delta(1.0)) and alone.delta(1.0) > 0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (1e-5, 0.1), (1.0, 0.0), (1.0, 2.0**-65), (1.0, 1.0)])
def test_losses_without_a_table_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(ParameterError, match="Answers need"):
        Answers(np.array([1]), epsilon=epsilon, delta=delta)
