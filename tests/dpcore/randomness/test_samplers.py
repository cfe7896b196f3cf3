"""Samplers against exact laws that are worked out here by other means than theirs.

Each statistical test is at significance 1e-6 with the number of draws it names, and rejects a control at 1.3 times its
epsilon (or another stated fault). Secure draws come from the system's entropy, which no seed repeats: they fail after
three such samples in a row. The others come from the test's seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore import Account, Enumerate, ParameterError, Preview, Secure
from dpcore.core import Floats, Integers
from dpcore.privacy.composition import gaussian_delta, zcdp_delta
from dpcore.privacy.gaussian_vectors import delta_of
from dpcore.randomness import (
    Choice,
    Draw,
    FairSplit,
    GaussianCounts,
    MedianCuts,
    NoisyComparisons,
    NoisyCounts,
    PublicCoins,
    Sampler,
    SparseVector,
    preview,
)
from dpcore.randomness import cuts as module_of_cuts
from dpcore.randomness.laws import gaussian_masses
from tests.kit.statistics import (
    CONTROL,
    HARDLY_EVER,
    assert_chance_at_most,
    assert_law,
    assert_law_from,
    assert_other_law,
    binomial_chances,
    binomial_tail,
    clopper_pearson,
    tally,
)

ZERO = np.zeros((1, 1), dtype=np.int64)
PREVIEWS = 1_000_000
RELEASES = 20_000
CHOICES = 4_000


def laplace_law(scale: float) -> tuple[int, Floats]:
    """Reach r and chances of -r..r in proportion to e^(-|z|/scale), what lies beyond neglected (below 1e-17)."""
    reach = int(40 * scale) + 2
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    return reach, weights / weights.sum()


def gaussian_law(sigma: float) -> tuple[int, Floats]:
    """The same in proportion to e^(-z^2/(2 sigma^2))."""
    reach = int(12 * sigma) + 2
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    return reach, weights / weights.sum()


def laplace_draws(sampler: Sampler, *, scale: float, draws: int) -> Integers:
    return sampler.draw(NoisyCounts(ZERO, epsilon=0.7, sensitivity=0.7 * scale), draws)[:, 0]


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.5, 2.0, 100.0, 1e5])
def test_preview_laplace(scale: float, seed: int) -> None:
    reach, law = laplace_law(scale)
    bins = np.arange(0, len(law), max(1, int(scale / 100)))
    for spread, check in ((scale, assert_law), (scale / CONTROL, assert_other_law)):
        drawn = tally(laplace_draws(Preview(seed), scale=spread, draws=PREVIEWS), low=-reach, high=reach)
        check(np.add.reduceat(drawn, bins), np.add.reduceat(law, bins))


def test_preview_laplace_of_hardly_any_noise(seed: int) -> None:
    """At scale 0.05 noise is not 0 with chance 2 e^-20/(1 + e^-20) = 4.1e-9: a million draws show none."""
    chance = 2 * np.exp(-20) / (1 + np.exp(-20))
    moved = int(np.count_nonzero(laplace_draws(Preview(seed), scale=0.05, draws=PREVIEWS)))
    assert_chance_at_most(moved, trials=PREVIEWS, chance=chance)
    control = int(np.count_nonzero(laplace_draws(Preview(seed), scale=0.1, draws=PREVIEWS)))
    assert binomial_tail(control, trials=PREVIEWS, chance=chance) < 1e-6


@pytest.mark.parametrize("step", [1, 3], ids=["next", "three-on"])
def test_preview_draws_are_independent(step: int, seed: int) -> None:
    """Pairs of one call's draws, 1,000,000 of them; a control that repeats each draw is rejected."""
    reach, law = laplace_law(0.5)
    marginal = np.bincount(np.clip(np.arange(-reach, reach + 1), -2, 2) + 2, weights=law)
    joint = np.outer(marginal, marginal).reshape(-1).astype(np.float64)
    drawn = np.clip(laplace_draws(Preview(seed), scale=0.5, draws=PREVIEWS), -2, 2) + 2
    assert_law(np.bincount(drawn[:-step] * 5 + drawn[step:], minlength=25), joint)
    assert_other_law(np.bincount(drawn * 6, minlength=25), joint)


@pytest.mark.slow
def test_fifty_million_preview_draws(seed: int) -> None:
    """50,000,000 draws at scale 2: the shortcut of one exponential and one sign bit a draw is exact."""
    reach, law = laplace_law(2.0)
    sampler, counts = Preview(seed), np.zeros(2 * reach + 1, dtype=np.int64)
    for _ in range(50):
        counts += tally(laplace_draws(sampler, scale=2.0, draws=1_000_000), low=-reach, high=reach)
    assert_law(counts, law)
    assert_other_law(np.roll(counts, 1), law)


@pytest.mark.parametrize("sigma", [0.3, 0.77, 3.0, 50.0])
def test_preview_gaussian(sigma: float, seed: int) -> None:
    reach, law = gaussian_law(sigma)
    for spread, check in ((sigma, assert_law), (sigma / CONTROL, assert_other_law)):
        drawn = Preview(seed).draw(GaussianCounts(ZERO, sigma=spread, squared_shift=1), 300_000)
        check(tally(drawn[:, 0], low=-reach, high=reach), law)


@pytest.mark.parametrize("sigma", [4e3, 4.2e3, 1e5, 6e5, 2.0**40, 2.0**54])
def test_preview_gaussian_of_any_width(sigma: float, seed: int) -> None:
    """In forty bins: wide noise is thinned by a formula, narrow noise by a table of it, the widest is not."""
    edges = np.linspace(-4, 4, 39)
    cumulative = ndtr((np.ceil(edges * sigma) - 0.5) / sigma)  # the discrete law's own, to 1e-8 of a bin this wide
    law = np.diff(np.concatenate([[0.0], cumulative, [1.0]]))
    for spread, check in ((sigma, assert_law), (sigma / CONTROL, assert_other_law)):
        drawn = Preview(seed).draw(GaussianCounts(ZERO, sigma=spread, squared_shift=1), 300_000)[:, 0]
        check(np.bincount(np.searchsorted(np.ceil(edges * sigma) - 0.5, drawn), minlength=40), law)


def test_narrow_gaussians_are_thinned_to_the_exact_law() -> None:
    for sigma in (0.3, 1.0, 7.0):
        reach, masses = gaussian_masses(sigma)
        z = np.arange(0, min(reach, int(7 * sigma)))
        proposed = ndtr(-(z - 0.5) / sigma) - ndtr(-(z + 0.5) / sigma)
        accepted = proposed * preview._acceptance(z, sigma=sigma)
        np.testing.assert_allclose(accepted / accepted[0], masses[reach + z] / masses[reach], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.5, 3.0, 1000.0])
def test_secure_laplace(scale: float, seed: int) -> None:
    reach, law = laplace_law(scale)

    def drawn(sampler: Sampler, spread: float) -> Integers:
        return tally(laplace_draws(sampler, scale=spread, draws=RELEASES), low=-reach, high=reach)

    assert_law_from(Secure(), lambda: drawn(Secure(), scale), law)
    assert_other_law(drawn(Preview(seed), scale / CONTROL), law)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.77, 3.0])
def test_secure_gaussian(sigma: float, seed: int) -> None:
    reach, law = gaussian_law(sigma)

    def drawn(sampler: Sampler, spread: float) -> Integers:
        noise = sampler.draw(GaussianCounts(ZERO, sigma=spread, squared_shift=1), RELEASES)
        return tally(noise[:, 0], low=-reach, high=reach)

    assert_law_from(Secure(), lambda: drawn(Secure(), sigma), law)
    assert_other_law(drawn(Preview(seed), sigma / CONTROL), law)


@pytest.mark.parametrize("sampler", [Preview(1), Secure()], ids=["preview", "secure"])
def test_noise_is_added_to_each_value(sampler: Sampler) -> None:
    big = 2**40  # beyond 32 bits
    shared, own = np.array([[0, big, -big]]), np.array([[0, 1], [big, big]])
    for counts in (shared, own):
        for noisy in (
            sampler.draw(NoisyCounts(counts, epsilon=1.0, sensitivity=1e-3), 2),
            sampler.draw(GaussianCounts(counts, sigma=1e-3, squared_shift=1), 2),
        ):
            np.testing.assert_array_equal(noisy, np.broadcast_to(counts, noisy.shape))
    assert sampler.draw(Choice(np.array([[-big, 0]]), epsilon=1.0, sensitivity=1.0), 3).tolist() == [1, 1, 1]
    reached = sampler.draw(NoisyComparisons(own, np.array([[1], [big + 1]]), epsilon=1.0, sensitivity=1e-3), 2)
    assert reached.tolist() == [[False, True], [False, False]]


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [Preview(2), Secure()], ids=["preview", "secure"])
def test_comparisons(sampler: Sampler) -> None:
    """4,000 each within the Clopper-Pearson interval of their chance, and not of that for a threshold 1 lower.

    The system's entropy fails with chance 4e-13 at most: a threshold 1 lower is twelve deviations off the interval.
    """
    p = np.exp(-0.5)
    chances = {2: p**2 / (1 + p), 1: p / (1 + p), 0: 1 - p / (1 + p), -1: 1 - p**2 / (1 + p)}
    for needed, chance in chances.items():
        drawn = sampler.draw(NoisyComparisons(ZERO, needed, epsilon=0.5, sensitivity=1.0), CHOICES)
        low, high = clopper_pearson(int(drawn.sum()), trials=CHOICES, significance=HARDLY_EVER)
        assert low <= chance <= high
        assert not low <= chances.get(needed - 1, 0.0) <= high


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [Preview(3), Secure()], ids=["preview", "secure"])
def test_splits_are_fair_coins(sampler: Sampler) -> None:
    """20,000 splits of 0, 1, 5 and 1,000 rows; the control is the law of a few rows more."""
    counts = np.broadcast_to(np.array([0, 1, 5, 1000]), (20_000, 4))
    heads = sampler.draw(FairSplit(counts), 20_000)
    assert heads.shape == counts.shape
    assert not heads[:, 0].any()
    for column in (1, 2, 3):
        rows = int(counts[0, column])
        more = rows + 1 + rows // 100

        def drawn(column: int = column, more: int = more) -> Integers:
            return tally(sampler.draw(FairSplit(counts[:, [column]]), 20_000)[:, 0], low=0, high=more)

        assert_law_from(sampler, drawn, np.pad(binomial_chances(rows, 0.5), (0, more - rows)))
        # Pools that are empty or far too full: entropy cannot pass this by chance.
        assert_other_law(drawn(), binomial_chances(more, 0.5))


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [Preview(4), Secure()], ids=["preview", "secure"])
def test_public_coins_are_even(sampler: Sampler) -> None:
    """60,000 coins on 0..5; the control counts them on 0..6."""

    def drawn(outcomes: int) -> Integers:
        coins = sampler.draw(PublicCoins(6, columns=3), 20_000)
        assert coins.shape == (20_000, 3)
        return np.bincount(coins.reshape(-1), minlength=outcomes)

    assert_law_from(sampler, lambda: drawn(6), np.full(6, 1 / 6))
    assert_other_law(drawn(7), np.full(7, 1 / 7))  # the seventh never comes: entropy cannot pass this by chance


SAMPLERS: dict[str, Callable[[], Sampler]] = {
    "preview": lambda: Preview(5),
    "secure": Secure,
    "enumerate": lambda: Enumerate(window=(0, 1)),
    "account": lambda: Account(Preview(5)),
}


def test_draws_that_make_no_sense_are_errors() -> None:
    kinds: list[Callable[..., Any]] = [
        lambda **told: NoisyCounts(ZERO, **told),
        lambda **told: NoisyComparisons(ZERO, 1, **told),
        lambda **told: Choice(ZERO, **told),
        lambda **told: MedianCuts(np.array([0, 1]), ZERO, ZERO, **told),
        lambda **told: SparseVector(updates=1, **told),
    ]
    for kind in kinds:
        kind(epsilon=1.0, sensitivity=1)
        for wrong in ({"epsilon": 0.0}, {"epsilon": np.inf}, {"sensitivity": 0.0}, {"sensitivity": np.nan}):
            with pytest.raises(ParameterError):
                kind(**{"epsilon": 1.0, "sensitivity": 1} | wrong)
    for sigma in (0.0, np.inf, np.nan):
        with pytest.raises(ParameterError, match="sigma"):
            GaussianCounts(ZERO, sigma=sigma, squared_shift=1)
    with pytest.raises(ParameterError, match="rule"):
        Choice(ZERO, epsilon=1.0, sensitivity=1.0, rule="best")
    with pytest.raises(ParameterError, match="candidate"):
        Choice(ZERO, epsilon=1.0, sensitivity=1.0, allowed=np.array([[False]]))


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_sampler_wants_a_trial_and_a_draw_it_can_make(name: str) -> None:
    sampler = SAMPLERS[name]()
    with pytest.raises(ParameterError, match="trial"):
        sampler.draw(NoisyCounts(ZERO, epsilon=1.0, sensitivity=1.0), 0)

    class Nameless(Draw[Integers]):
        """Says of no sampler how it draws it."""

    with pytest.raises(TypeError, match="has no implementation for Nameless"):
        sampler.draw(Nameless(), 1)


def draw_classes_of(base: type[Draw[Any]]) -> set[type[Draw[Any]]]:
    """All kinds of draws below one."""
    return {base}.union(*(draw_classes_of(kind) for kind in base.__subclasses__()))


def test_a_draw_shows_none_of_its_values() -> None:
    secret = np.array([[123456789]])
    assert "123456789" not in repr(NoisyCounts(secret, epsilon=1.0, sensitivity=1.0))
    # A dataclass prints its fields unless it is told not to: no kind of draw may.
    kinds = draw_classes_of(Draw)
    assert {NoisyCounts, GaussianCounts, Choice, MedianCuts, SparseVector, FairSplit} < kinds
    assert all(kind.__repr__ is object.__repr__ for kind in kinds)


def test_seeds() -> None:
    one, again, other = (laplace_draws(Preview(seed), scale=9.0, draws=99) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    for wrong in (-1, 2**63):
        with pytest.raises(ParameterError):
            Preview(wrong)


def test_account_adds_up_what_is_spent() -> None:
    account = Account(Preview(6))
    account.draw(NoisyCounts(ZERO, epsilon=0.25, sensitivity=2.0), 5)
    account.draw(NoisyComparisons(ZERO, 1, epsilon=0.5, sensitivity=2.0), 5)
    account.draw(Choice(ZERO, epsilon=1.0, sensitivity=2.0), 5)
    account.draw(MedianCuts(np.array([0, 1]), ZERO, ZERO, epsilon=2.0, sensitivity=2.0), 5)
    account.draw(FairSplit(ZERO), 5)
    account.draw(PublicCoins(2, columns=1), 5)
    assert [charge.draw for charge in account.charges] == ["NoisyCounts", "NoisyComparisons", "Choice", "MedianCuts"]
    assert account.epsilon == 3.75
    assert account.delta(3.75) == account.delta(4.0) == 0.0
    assert account.delta(3.7) == 1.0
    account.draw(GaussianCounts(ZERO, sigma=2.0, squared_shift=2), 5)
    assert account.delta(4.75) == gaussian_delta(1.0, sigma=2.0, shift=(1, 1))
    assert account.delta(3.7) == 1.0
    account.draw(GaussianCounts(ZERO, sigma=3.0, squared_shift=1), 5)
    several = account.delta(5.75)
    settings = {"sigmas": np.array([2.0, 3.0]), "counts": np.ones(2), "squared_shifts": np.array([[2.0, 1.0]])}
    assert several == delta_of(2.0, **settings)
    assert gaussian_delta(2.0, sigma=2.0, shift=(1, 1)) < several < zcdp_delta(2.0, rho=2 / 8 + 1 / 18)


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 10**9], ids=["by logarithms", "one by one"])
@pytest.mark.parametrize("rows", [[3, 0, 9, 0, 1, 40, 2], [0, 0, 0, 0, 0, 0, 0], [10**6, 0, 0, 1, 0, 0, 10**6]])
def test_private_cuts_have_one_law_however_they_are_weighed(
    few: int, rows: list[int], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """100,000 cuts of each of three stretches of a line that has come far, against the law of every cut by itself."""
    monkeypatch.setattr(module_of_cuts, "FEW_PLACES", few)
    cumulative = 10**9 + np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    low, high = np.array([[0, 2, 5]]), np.array([[7, 5, 5]])
    epsilon = 0.3 if sum(rows) < 1000 else 3e-6
    cuts, control = (
        Preview(seed).draw(MedianCuts(cumulative, low, high, epsilon=told, sensitivity=2.0), 100_000)
        for told in (epsilon, 2 * epsilon)
    )
    for segment, (start, stop) in enumerate(zip(low[0], high[0], strict=True)):
        places = cumulative[start : stop + 1]
        scores = -np.abs(2 * places - places[0] - places[-1])
        weights = np.exp(epsilon / 4 * (scores - scores.max()))
        drawn = [tally(each[:, segment], low=int(start), high=int(stop)) for each in (cuts, control)]
        assert drawn[0].sum() == 100_000
        if start == stop:
            continue
        assert_law(drawn[0], weights / weights.sum())
        if segment == 0 and any(rows):
            assert_other_law(drawn[1], weights / weights.sum())
