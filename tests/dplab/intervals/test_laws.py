"""Laws of single counters and combinations against brute force: q = 1/2 makes every chance a fraction."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpcore import ParameterError
from dpcore.randomness.laws import gaussian_masses
from dplab.intervals.combinations import MAX_NOISES, combination_law, half_width, people, single
from dplab.intervals.noise import MAX_WEIGHTS, CounterNoise, GaussianNoise, LaplaceNoise, PlannedNoise
from dplab.intervals.ratios import FINENESS, mean

HALF = LaplaceNoise(1 / math.log(2))
"""Noise with q = 1/2: Pr[Z = z] = 2^-|z|/3."""
REACH = 24
ALPHAS = (0.3, 0.1, 0.05, 0.01, 0.001)


def mass(z: int) -> Fraction:
    return Fraction(1, 3 * 2 ** abs(z))


def law(weights: tuple[int, ...]) -> dict[int, Fraction]:
    """Chances of the sum where all noises are within REACH; the rest is below 1e-7."""
    sums = {0: Fraction(1)}
    for weight in weights:
        added = dict[int, Fraction]()
        for (value, chance), z in itertools.product(sums.items(), range(-REACH, REACH + 1)):
            added[value + weight * z] = added.get(value + weight * z, Fraction(0)) + chance * mass(z)
        sums = added
    return sums


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_single_counter_has_the_least_half_width(alpha: float) -> None:
    def beyond(k: int) -> Fraction:
        return 1 - sum((mass(z) for z in range(-k, k + 1)), Fraction(0))

    least = next(k for k in itertools.count() if beyond(k) <= alpha)
    assert HALF.half_width(alpha) == least
    q = [math.exp(-epsilon) for epsilon in (0.1, 0.5, 1, 3)]
    for each, epsilon in zip(q, (0.1, 0.5, 1, 3), strict=True):
        k = LaplaceNoise.of(epsilon=epsilon, sensitivity=1).half_width(alpha)
        assert 2 * each ** (k + 1) / (1 + each) <= alpha and (k == 0 or 2 * each**k / (1 + each) > alpha)


@pytest.mark.parametrize("half", [0.0, 0.4, 1.0, 2.9, 7.0])
def test_the_coverage_of_a_counter_is_the_sum_of_its_law(half: float) -> None:
    assert HALF.coverage(half) == pytest.approx(float(sum(mass(z) for z in range(-int(half), int(half) + 1))))
    weights = [math.exp(-z * z / 18) for z in range(-60, 61)]
    inside = math.fsum(weights[60 - int(half) : 61 + int(half)]) / math.fsum(weights)
    assert GaussianNoise(3.0).coverage(half) == pytest.approx(inside)


@pytest.mark.parametrize("sigma", [0.6, 3.0, 40.0])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_gaussian_counter_has_the_least_half_width(sigma: float, alpha: float) -> None:
    weights = [math.exp(-z * z / (2 * sigma * sigma)) for z in range(1, math.ceil(20 * sigma))]
    total = 1 + 2 * math.fsum(weights)
    k = GaussianNoise(sigma).half_width(alpha)
    assert 2 * math.fsum(weights[k:]) / total <= alpha * (1 + 1e-12)
    assert k == 0 or 2 * math.fsum(weights[k - 1 :]) / total > alpha


@pytest.mark.parametrize("alpha", ALPHAS)
def test_wide_gaussian_noise_is_at_most_one_wider_than_a_table_says(alpha: float) -> None:
    narrow, wide = GaussianNoise(4096.0).half_width(alpha), GaussianNoise(4096.01).half_width(alpha)
    assert 0 <= wide - narrow <= 2


@pytest.mark.parametrize("weights", [(1, 1), (1, -2), (3, 1, -1), (2, 4), (5,), (1, 1, 1)], ids=repr)
def test_a_combination_has_its_exact_law(weights: tuple[int, ...]) -> None:
    found, exact = combination_law(weights, HALF), law(weights)
    missing = 1 - sum(exact.values(), Fraction(0))
    assert found.rounding == 0 and found.step == math.gcd(*weights)
    for k in range(12):
        beyond = sum((chance for value, chance in exact.items() if abs(value) > k * found.step), Fraction(0))
        assert float(beyond) - 1e-12 <= found.beyond[k] <= float(beyond + missing) + 1e-8


def test_half_widths_of_the_counters_and_of_people_are_as_published() -> None:
    assert [LaplaceNoise.of(epsilon=epsilon, sensitivity=1).half_width(0.05) for epsilon in (0.1, 0.5, 1, 3)] == [
        30, 6, 3, 1,
    ]  # fmt: skip
    unit = LaplaceNoise.of(epsilon=1.0, sensitivity=1)
    # Three rows to both sides, enough for one counter, cover the sum of two less often; least with fine counters.
    fine = combination_law([1, 1], LaplaceNoise(1000.0))
    assert 1 - combination_law([1, 1], unit).beyond[3] == pytest.approx(0.927, abs=5e-4)
    assert 1 - fine.beyond[round(3000 / fine.step)] == pytest.approx(1 - 2.5 * math.exp(-3), abs=1e-3)
    assert half_width([1, 1], unit, 0.95) == 4


@pytest.mark.parametrize("noise", [HALF, LaplaceNoise(0.3), LaplaceNoise(30.0), GaussianNoise(3.0)], ids=repr)
@pytest.mark.parametrize("weights", [(1, 1), (0.5, 0.5), (0.3, 0.7), (1, 0), (0.5, 1, 0.5), (1, 2, 3, 3)], ids=repr)
def test_the_closed_tail_is_never_below_the_law(noise: CounterNoise, weights: tuple[float, ...]) -> None:
    fine, values = combination_law(weights, noise), np.array(weights, dtype=np.float64)
    for k in (1, 20, 500, 5000, 20_000):
        # Rounded values beyond k steps come from values beyond this distance.
        lower = fine.beyond[k]
        bound = float(noise.tail(np.array(max(0.0, k * fine.step - fine.rounding)), values))
        assert bound >= lower - 2e-8


def test_the_closed_tail_is_close_where_noise_has_many_units() -> None:
    for weights in ([1.0, 1.0], [0.3, 0.7], [1.0, 0.0], [0.2, 0.5, 0.8], [0.1, 0.5, 0.5, 0.9]):
        for noise in (LaplaceNoise(3000.0), GaussianNoise(3000.0)):
            width = half_width(weights, noise, 0.95)
            assert float(noise.tail(np.array(width), np.array(weights))) == pytest.approx(0.05, rel=0.015)


@pytest.mark.parametrize(("a", "b"), [(0, 9), (6, 6), (3, 12), (11, 1), (20, 17), (40, -1), (15, -3)])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_an_enumerated_interval_holds_every_share_that_is_not_refuted_and_few_others(
    a: int, b: int, alpha: float
) -> None:
    found = mean(np.array([a, b]), HALF, level=1 - alpha)
    total = a + b
    spacing = 240
    shares = sorted({Fraction(i, spacing) for i in range(spacing + 1)} | {Fraction(i, total) for i in range(total + 1)})
    x, y = np.mgrid[-20:21, -20:21]
    chances = 1 << (40 - np.abs(x) - np.abs(y))  # times 2^40 and 9: whole numbers, without rounding
    kept = list[Fraction]()
    for p in shares:
        i, s = p.numerator, p.denominator
        inside = int(chances[np.abs((s - i) * y - i * x) < abs((s - i) * b - i * a)].sum())
        if 1 - Fraction(inside, 9 << 40) >= Fraction(alpha):
            kept.append(p)
    if not kept:
        assert found.enters_at > 1 - alpha and found.half_width == 0
        return
    cell = HALF.scale / FINENESS / total
    low, high = float(found.low), float(found.high)
    assert Fraction(low) <= kept[0] and Fraction(high) >= kept[-1]
    assert low >= float(kept[0]) - 1 / spacing - 4 * cell
    assert high <= float(kept[-1]) + 1 / spacing + 4 * cell


def test_where_no_share_is_compatible_the_nearest_is_told_with_its_level() -> None:
    found = mean(np.array([[-200, 1000], [1000, -200], [500, 500]]), LaplaceNoise(50.0), level=0.95)
    assert found.low.tolist()[:2] == found.high.tolist()[:2] == [1.0, 0.0]
    assert (found.enters_at[:2] > 0.95).all() and np.isnan(found.enters_at[2])
    again = mean(np.array([-200, 1000]), LaplaceNoise(50.0), level=float(found.enters_at[0]) + 1e-6)
    assert np.isnan(again.enters_at)


def test_shapes_follow_the_counters() -> None:
    counters = np.arange(24).reshape(3, 4, 2)
    assert mean(counters, HALF, level=0.9).low.shape == (3, 4)
    assert people(counters, HALF, weight=2, level=0.9).low.shape == (3, 4)
    assert single(counters, HALF, level=0.9).low.shape == (3, 4, 2)
    assert mean(counters[:0], HALF, level=0.9).low.shape == (0, 4)


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(ParameterError, match="level"):
        mean(np.array([1, 2]), HALF, level=1.0)
    with pytest.raises(ParameterError, match="weights"):
        HALF.mixture(np.ones(MAX_WEIGHTS + 1))
    with pytest.raises(ParameterError, match="at most 65536"):
        combination_law(np.ones(MAX_NOISES + 1), HALF)
    with pytest.raises(ParameterError, match="finite weights"):
        combination_law([0.0, 0.0], HALF)
    with pytest.raises(ParameterError, match="not exact enough"):
        combination_law(np.ones(1000), HALF).half_width(1e-9)
    with pytest.raises(ParameterError, match="tabulated up to sigma 4096"):
        combination_law([1.0, 1.0], GaussianNoise(5000.0))


@pytest.mark.parametrize("noise", [LaplaceNoise(1.0), LaplaceNoise(5e4)], ids=repr)
@pytest.mark.parametrize("count", [64, 65, 2000])
def test_many_noises_together_are_nearly_normal(noise: LaplaceNoise, count: int) -> None:
    width = half_width(np.ones(count), noise, 0.95)
    assert width == pytest.approx(1.96 * noise.deviation * math.sqrt(count), rel=0.02, abs=1)


def test_noise_put_together_of_several_is_bounded_by_its_exact_law_and_hardly_more() -> None:
    """Thirds of a narrow noise and of two wide ones, on the grid of thirds."""
    sigmas, coefficients = (4.0, 9.0, 9.0), (1.0, 2.0, 1.0)
    law = np.ones(1)
    for sigma, times in zip(sigmas, coefficients, strict=True):
        reach, masses = gaussian_masses(sigma)
        spread = np.zeros(2 * reach * int(times) + 1)
        spread[:: int(times)] = masses
        law = np.convolve(law, spread)
    middle = len(law) // 2
    noise = PlannedNoise(
        math.sqrt(sum((s * c / 3) ** 2 for s, c in zip(sigmas, coefficients, strict=True))),
        length=math.sqrt(sum((c / 3) ** 2 for c in coefficients)), smallest=4.0, numbers=3,
    )  # fmt: skip
    for steps in (5, 20, 40, 60, 90):
        exact = float(law[: middle - steps + 1].sum() + law[middle + steps :].sum())
        bound = float(noise.tail(np.array(steps / 3), np.ones(1)))
        assert exact <= bound
        moved = 3.5 * 0.8 * noise.length  # by which smoothing may move it
        assert float(noise.tail(np.array(steps / 3 + moved), np.ones(1))) < 1.2 * exact + 1e-9
    k = noise.half_width(0.05)
    assert float(2 * law[: middle - 3 * k].sum()) <= 0.05 < float(2 * law[: middle - 2 * k].sum())


@pytest.mark.parametrize("noise", [LaplaceNoise(1.0), LaplaceNoise(300.0), GaussianNoise(300.0)], ids=repr)
def test_the_bound_of_nine_weights_is_above_the_exact_law_and_near_it(noise: CounterNoise, seed: int) -> None:
    """Also where one weight is far larger than all others, for which the characteristic function falls slowly."""
    generator = np.random.default_rng(seed)
    weights = np.concatenate([generator.integers(-40, 40, (6, 9)), [[400] + [1] * 8]]).astype(np.float64)
    laws = [combination_law(each, noise) for each in weights]
    rounding = np.array([law.step + 2 * law.rounding for law in laws])
    sizes = np.abs(weights).sum(axis=1)
    for level in (0.6, 0.95, 0.999):
        exact, reach = np.array([law.half_width(1 - level) for law in laws]), noise.reach(weights, 1 - level)
        assert (reach >= exact - rounding).all() and (reach <= 1.05 * exact + 2 * sizes).all()
        beyond = np.maximum(0.0, exact - rounding)
        assert (noise.tail(beyond, weights) >= 1 - level).all(), "at least the chance of what is further"


def test_the_characteristic_function_gives_the_tail_of_the_closed_formula_and_no_less() -> None:
    """Four weights and five of 0; one is far larger than the others, so that many terms are left out."""
    x, weights = np.linspace(0.0, 4e6, 400), np.array([400.0, 3.0, 2.0, 1.0])
    formula = LaplaceNoise(1000.0).tail(x, weights)
    bound = LaplaceNoise(1000.0).tail(x, np.pad(weights, (0, 5)))
    assert (bound >= formula - 2e-6).all() and (bound <= formula + 1e-3).all()
