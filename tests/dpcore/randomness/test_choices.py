"""Choices by score and private median cuts against their definitions.

Each statistical test is at significance 1e-6 with the number of draws it names, and rejects the control it names.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from dpcore import Preview, Secure
from dpcore.core import Booleans, Floats, Integers
from dpcore.randomness import Choice, MedianCuts, Sampler
from dpcore.randomness.choices import RULES
from dpcore.randomness.cuts import cut_scores
from tests.kit.statistics import CONTROL, assert_law, assert_law_from, assert_other_law, tally

CHOICES = 4_000


def choice_law(scores: Integers, *, rate: float, rule: str, allowed: Booleans) -> Floats:
    """Return the law by definition: weights e^(rate score), or flips in every order of the candidates."""
    places = np.flatnonzero(allowed)
    q = np.exp(rate * (scores[places] - scores[places].max()))
    law = np.zeros(len(scores))
    if rule == "exponential":
        law[places] = q / q.sum()
        return law
    orders = list(permutations(range(len(places))))
    for order in orders:
        still = 1.0
        for candidate in order:
            law[places[candidate]] += still * q[candidate] / len(orders)
            still *= 1 - q[candidate]
    return law


SCORES = np.array([-3, 0, -1, 0, -7])
ALLOWED = np.array([True, True, True, False, True])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("allowed", [None, ALLOWED], ids=["all", "some"])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "each"])
def test_preview_choices(rule: str, allowed: Booleans | None, shared: bool, seed: int) -> None:
    """100,000 choices; the control has 1.3 times the epsilon."""
    draws = 100_000
    scores = SCORES[None, :] if shared else np.broadcast_to(SCORES, (draws, 5))
    open_to = None if allowed is None else allowed[None, :]
    law = choice_law(SCORES, rate=0.25, rule=rule, allowed=np.ones(5, bool) if allowed is None else allowed)
    for epsilon, check in ((1.0, assert_law), (CONTROL, assert_other_law)):
        chosen = Preview(seed).draw(Choice(scores, epsilon=epsilon, sensitivity=2.0, rule=rule, allowed=open_to), draws)
        check(tally(chosen, low=0, high=4), law)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_secure_choices(rule: str, seed: int) -> None:
    """4,000 choices at the system's entropy; the control, previews at 1.3 times the epsilon."""
    law = choice_law(SCORES, rate=0.5, rule=rule, allowed=ALLOWED)

    def drawn(sampler: Sampler, epsilon: float) -> Integers:
        chosen = sampler.draw(
            Choice(SCORES[None, :], epsilon=epsilon, sensitivity=1.0, rule=rule, allowed=ALLOWED[None, :]), CHOICES
        )
        return tally(chosen, low=0, high=4)

    assert_law_from(Secure(), lambda: drawn(Secure(), 1.0), law)
    assert_other_law(drawn(Preview(seed), 2 * CONTROL), law)


def cut_law(cumulative: Integers, low: int, high: int, *, rate: float) -> Floats:
    """Return the law by definition, in the order of the cuts."""
    scores, allowed = cut_scores(cumulative, np.array([low]), np.array([high]))
    weights = np.where(allowed[0], np.exp(rate * (scores[0] - scores[0][allowed[0]].max())), 0.0)
    law: Floats = weights / weights.sum()
    return law


CUMULATIVES = {
    "plain": [0, 2, 3, 7, 9, 10],
    "ties": [0, 3, 3, 3, 6, 6],
    "no rows": [0, 0, 0, 0, 0, 0],
    "one lump": [0, 0, 9, 9, 9, 9],
    "at the end": [0, 0, 0, 0, 0, 9],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CUMULATIVES)
def test_preview_cuts(name: str, seed: int) -> None:
    """Three segments at once, 100,000 times, each against the definition; the control has 1.3 times the epsilon."""
    cumulative = np.array(CUMULATIVES[name])
    low, high = np.array([[0, 3, 5]]), np.array([[2, 4, 5]])
    whole = np.array([[0]]), np.array([[5]])

    def draw(segments: tuple[Integers, Integers], epsilon: float = 0.6) -> Integers:
        return Preview(seed).draw(MedianCuts(cumulative, *segments, epsilon=epsilon, sensitivity=1.0), 100_000)

    cuts = draw((low, high))
    for segment in range(2):
        law = cut_law(cumulative, low[0, segment], high[0, segment], rate=0.3)
        assert_law(tally(cuts[:, segment], low=0, high=5), law)
    assert (cuts[:, 2] == 5).all()
    both = np.outer(*(cut_law(cumulative, low[0, s], high[0, s], rate=0.3)[:5] for s in (0, 1))).reshape(-1)
    assert_law(np.bincount(cuts[:, 0] * 5 + cuts[:, 1], minlength=25), both)
    law = cut_law(cumulative, 0, 5, rate=0.3)
    assert_law(tally(draw(whole)[:, 0], low=0, high=5), law)
    if not np.allclose(law, cut_law(cumulative, 0, 5, rate=0.3 * CONTROL)):
        control = draw(whole, 0.6 * CONTROL)[:, 0]
        assert_other_law(tally(control, low=0, high=5), law)


def test_preview_cuts_of_a_segment_of_its_own_for_each_trial(seed: int) -> None:
    cumulative = np.array(CUMULATIVES["plain"])
    low = np.repeat([[0], [2]], 50_000, axis=0)
    high = np.repeat([[3], [5]], 50_000, axis=0)
    cuts = Preview(seed).draw(MedianCuts(cumulative, low, high, epsilon=0.6, sensitivity=1.0), 100_000)[:, 0]
    assert_law(tally(cuts[:50_000], low=0, high=5), cut_law(cumulative, 0, 3, rate=0.3))
    assert_law(tally(cuts[50_000:], low=0, high=5), cut_law(cumulative, 2, 5, rate=0.3))
    assert_other_law(tally(cuts[50_000:], low=0, high=5), cut_law(cumulative, 0, 3, rate=0.3))


@pytest.mark.slow
def test_preview_cuts_of_ten_million_rows(seed: int) -> None:
    """Two lumps of 5 million rows, 60,000 empty cells between, epsilon = 10: an even choice of 60,001 cuts.

    1,000,000 draws in 100 bins. The control has two rows in between, far apart.
    """
    bins = np.full(100, 0.01)
    for rows_between, check in ((0, assert_law), (1, assert_other_law)):
        histogram = np.zeros(65_536, dtype=np.int64)
        histogram[[3_000, 63_001]], histogram[[20_000, 50_000]] = 5_000_000, rows_between
        cumulative = np.concatenate([[0], np.cumsum(histogram)])
        ends = np.array([[0]]), np.array([[65_536]])
        cuts = Preview(seed).draw(MedianCuts(cumulative, *ends, epsilon=10.0, sensitivity=2.0), 1_000_000)[:, 0]
        assert cuts.min() >= 3_001
        assert cuts.max() <= 63_001
        check(np.bincount((cuts - 3_001) * 100 // 60_001, minlength=100), bins)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [Preview(2), Secure()], ids=["preview", "secure"])
def test_cuts_by_either_sampler(sampler: Sampler, seed: int) -> None:
    """4,000 cuts; the control has twice the epsilon."""
    cumulative = np.array(CUMULATIVES["plain"])
    ends = np.array([[1]]), np.array([[5]])
    law = cut_law(cumulative, 1, 5, rate=0.3)

    def drawn(source: Sampler, epsilon: float) -> Integers:
        cuts = source.draw(MedianCuts(cumulative, *ends, epsilon=epsilon, sensitivity=1.0), CHOICES)[:, 0]
        return tally(cuts, low=0, high=5)

    assert_law_from(sampler, lambda: drawn(sampler, 0.6), law)
    assert_other_law(drawn(Preview(seed), 1.2), law)
