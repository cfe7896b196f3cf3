from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcore.core import Floats, ParameterError
from dpcore.privacy.composition import zcdp_delta
from dpcore.privacy.concentrated import epsilon_of, largest_rho, rho_of_gaussians


def log_law(sigma: float, at: int) -> Floats:
    """Logarithms of the chances of discrete Gaussian noise around a whole number."""
    x = np.arange(-60, 62, dtype=np.float64) - at
    logs = -(x**2) / (2 * sigma**2)
    return np.asarray(logs - math.log(np.exp(logs).sum()))


def law(sigma: float, at: int) -> Floats:
    """Return the chances of the discrete law."""
    return np.asarray(np.exp(log_law(sigma, at)))


def delta(epsilon: float, laws: list[tuple[Floats, Floats]]) -> float:
    """The exact divergence of independent draws together."""
    one, other = np.ones(1), np.ones(1)
    for p, q in laws:
        one, other = np.multiply.outer(one, p).ravel(), np.multiply.outer(other, q).ravel()
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


@pytest.mark.parametrize("sigma", [1.0, 1.7, 3.0])
@pytest.mark.parametrize("shift", [1, 2])
def test_rho_is_the_slope_of_every_divergence_and_no_less(sigma: float, shift: int) -> None:
    p, q = log_law(sigma, shift), log_law(sigma, 0)
    rho = float(rho_of_gaussians([(sigma, 1, shift**2)]))
    for order in (1.1, 2.0, 3.0):
        divergence = math.log(float(np.exp(order * p + (1 - order) * q).sum())) / (order - 1)
        assert divergence == pytest.approx(order * rho, rel=1e-6)


def test_rho_is_exact_and_adds_up() -> None:
    assert rho_of_gaussians([(2.0, 1, 1)]) == Fraction(1, 8)
    assert rho_of_gaussians([(2.0, 1, 1), (2.0, 1, 1), (1.0, 1, 4)]) == Fraction(9, 4)
    assert rho_of_gaussians([(0.1, 1, 1)]) == 1 / (2 * Fraction(0.1) ** 2) != 50


@pytest.mark.parametrize("small", [1e-2, 1e-4])
def test_three_draws_keep_the_epsilon_that_their_rho_comes_to(small: float) -> None:
    laws = [(law(2.0, 1), law(2.0, 0))] * 3
    rho = float(rho_of_gaussians([(2.0, 1, 1)] * 3))
    assert delta(epsilon_of(rho=rho, delta=small), laws) <= small
    assert delta(epsilon_of(rho=rho / 3, delta=small), laws) > small, "the rho of one of them would not do"


@pytest.mark.parametrize(("epsilon", "small"), [(0.01, 1e-9), (0.5, 1e-6), (2.0, 1e-6), (20.0, 0.1), (1e6, 1e-18)])
def test_what_is_converted_back_is_no_more_than_before(epsilon: float, small: float) -> None:
    rho = largest_rho(epsilon=epsilon, delta=small)
    assert 0 < zcdp_delta(epsilon, rho=rho) <= small < zcdp_delta(epsilon, rho=1.01 * rho)
    assert 0.99 * epsilon <= epsilon_of(rho=rho, delta=small) <= epsilon * (1 + 1e-9)


def test_what_is_out_of_range_is_refused() -> None:
    for epsilon, small in ((0.0, 0.1), (1.0, 0.0), (1.0, 1.0), (math.inf, 0.1), (math.nan, 0.1)):
        with pytest.raises(ParameterError):
            largest_rho(epsilon=epsilon, delta=small)
    for rho, small in ((-1.0, 0.1), (1.0, 0.0), (math.inf, 0.1), (math.nan, 0.1)):
        with pytest.raises(ParameterError):
            epsilon_of(rho=rho, delta=small)
