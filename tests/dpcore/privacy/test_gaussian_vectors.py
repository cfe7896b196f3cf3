"""What many discrete Gaussian draws cost: the proved delta against the exact law of the privacy loss."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, ParameterError
from dpcore.core import Floats
from dpcore.mechanisms.tables.plan import ResidualPlan, residual_plan, worst_shift
from dpcore.privacy.composition import zcdp_delta
from dpcore.privacy.gaussian_vectors import continuous_delta, delta_of, largest_mu
from dpcore.randomness.laws import gaussian_masses

every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))


GRID = 5e-5
"""Privacy losses of a part are rounded to multiples of this, so that parts can be added up."""


def sum_law(sigma: float, *, many: int) -> Floats:
    """Law of the sum of so many discrete Gaussian draws, for -r .. r: a power of the transform of one draw's law."""
    reach = math.ceil(9 * sigma * math.sqrt(many))
    centre, masses = gaussian_masses(sigma)
    size = 1 << (2 * reach).bit_length()
    law = np.zeros(size)
    z = np.arange(-min(reach, centre), min(reach, centre) + 1)
    law[z % size] = masses[z + centre]
    power = np.fft.irfft(np.fft.rfft(law) ** many, size)
    return np.maximum(power[np.arange(-reach, reach + 1) % size], 0)


def exact_delta_of(plan: ResidualPlan, epsilon: float) -> float:
    """The exact delta of a plan's noise between its worst pair, up to GRID: the law of the privacy loss, part by part.

    Every number moves by d and has noise z: its loss is d (2z + d)/(2 sigma^2). In one part all numbers have one sigma,
    so that the part's loss hangs on one whole number, the sum of d z.
    """
    from scipy.signal import fftconvolve  # slow to import, which every worker would do

    total, first = np.ones(1), 0
    for part, shift in zip(plan.parts, worst_shift(plan), strict=True):
        law = np.ones(1)
        for step, many in Counter(map(abs, shift)).items():
            one = sum_law(part.sigma, many=many)
            spaced = np.zeros((len(one) - 1) * step + 1)
            spaced[::step] = one
            law = fftconvolve(law, spaced)
        sums = np.arange(len(law)) - len(law) // 2
        loss = np.rint((2 * sums + sum(s * s for s in shift)) / (2 * part.sigma**2) / GRID).astype(np.int64)
        binned = np.bincount(loss - loss[0], weights=law)
        total, first = fftconvolve(total, binned), first + int(loss[0])
    losses = (first + np.arange(len(total))) * GRID
    return float(-(total * np.expm1(np.minimum(epsilon - losses, 0.0))).sum())


@every_relation
@pytest.mark.parametrize("lean", [1.0, 4.0])
def test_at_the_size_of_a_survey_nothing_is_lost(neighbours: Neighbours, lean: float) -> None:
    """697 numbers of four sigmas: the exact delta is within it, and within 1% of it."""
    plan = residual_plan(sizes=(2,) * 16, ways=3, neighbours=neighbours, epsilon=1.0, delta=1e-9, small_set_weight=lean)
    assert 0.99e-9 < exact_delta_of(plan, 1.0) <= plan.delta * (1 + 10 * GRID)
    assert plan.delta <= 1e-9


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3)])
def test_the_proved_delta_holds_for_the_exact_law(
    sizes: tuple[int, ...], delta: float, epsilon: float, neighbours: Neighbours
) -> None:
    plan = residual_plan(sizes=sizes, ways=2, neighbours=neighbours, epsilon=epsilon, delta=delta, small_set_weight=2.0)
    exact = exact_delta_of(plan, epsilon)
    assert 0 < exact <= plan.delta * (1 + 10 * GRID)
    assert plan.delta <= delta
    quiet = tuple(dataclasses.replace(part, sigma=part.sigma / 1.3) for part in plan.parts)
    assert exact_delta_of(dataclasses.replace(plan, parts=quiet), epsilon) > delta
    if min(part.sigma for part in plan.parts) > 6:
        assert exact > 0.6 * delta, "the bound is loose"


def test_the_proved_delta_against_both_of_its_proofs() -> None:
    sigmas, shifts = np.array([30.0, 50.0]), np.array([[1.0, 9.0], [4.0, 2.0]])
    cost = max(1 / 900 + 9 / 2500, 4 / 900 + 2 / 2500)
    delta = delta_of(0.5, sigmas=sigmas, counts=np.array([10.0, 10.0]), squared_shifts=shifts)
    assert delta < zcdp_delta(0.5, rho=cost / 2)
    assert continuous_delta(0.5, mu=math.sqrt(cost)) < delta
    # Tiny noise: only the concentrated proof is left.
    small = delta_of(20.0, sigmas=np.array([0.5]), counts=np.ones(1), squared_shifts=np.ones((1, 1)))
    assert small == pytest.approx(zcdp_delta(20.0, rho=2.0), rel=1e-6)


def test_many_numbers_cost_what_their_smoothing_loses() -> None:
    settings: dict[str, Any] = {"sigmas": np.array([10.0]), "squared_shifts": np.array([[4.0]])}
    few, some, many = (delta_of(1.0, counts=np.array([count]), **settings) for count in (1.0, 1e32, 1e40))
    assert few < some < many == pytest.approx(zcdp_delta(1.0, rho=0.02), rel=1e-9)


def test_continuous_noise_is_where_the_search_starts() -> None:
    for epsilon, delta in ((0.1, 1e-9), (1.0, 1e-9), (8.0, 1e-3)):
        assert continuous_delta(epsilon, mu=largest_mu(epsilon=epsilon, delta=delta)) == pytest.approx(delta, rel=1e-9)
    with pytest.raises(ParameterError):
        largest_mu(epsilon=1.0, delta=0.0)


@pytest.mark.parametrize("epsilon", [-5.0, 0.0, 1.0, 800.0])
@pytest.mark.parametrize("mu", [0.0, 1e-300, 1e-3, 1.0, 40.0, 1e9])
def test_a_delta_is_a_chance_at_any_loss(epsilon: float, mu: float) -> None:
    assert 0 <= continuous_delta(epsilon, mu=mu) <= 1
    assert continuous_delta(epsilon, mu=1e9) == pytest.approx(1, abs=1e-11)
    for loss, moved in ((math.nan, mu), (epsilon, -1.0), (epsilon, math.inf), (epsilon, math.nan)):
        with pytest.raises(ParameterError):
            continuous_delta(loss, mu=moved)
