"""Promised worst errors against the exact law of the noise of a few cells, cell by cell."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from dpcore import Cells, Intervals, Number, Product, Rectangles, Thresholds
from dpcore.core import Floats, Queries
from dpcore.mechanisms.histograms.concentration import (
    laplace_log_moment,
    largest_prefix,
    worst_error_gaussian,
    worst_error_laplace,
)
from dpcore.queries.linear import LinearQueries
from dpcore.randomness.laws import gaussian_masses, laplace_mass, laplace_tail

LINE = Number(bits=2, missing=True)
CLASSES: list[Queries] = [Thresholds(domain=LINE), Intervals(domain=LINE), Cells(domain=LINE)]
CLASSES.append(Rectangles(domain=Product.map(Number(bits=1, missing=True), Number(bits=1))))
BETAS = [0.5, 0.2, 0.05, 1e-3]


def tails(queries: Queries, masses: Floats) -> Floats:
    """Chance that noise of this law in four cells moves the worst query by at least j rows, for j = 0, 1, ...

    Every combination of the four cells' noise is visited.
    """
    reach = len(masses) // 2
    z = np.arange(-reach, reach + 1)
    noise = np.stack(np.meshgrid(z, z, z, z, indexing="ij"), axis=-1).reshape(-1, 4)
    chances = np.prod([masses[noise[:, cell] + reach] for cell in range(4)], axis=0)
    worst = queries.max_error(np.concatenate([noise, 10**6 + 0 * noise[:, :1]], axis=1)).astype(np.int64)
    law = np.zeros(worst.max() + 1)
    np.add.at(law, worst, chances)
    return np.cumsum(law[::-1])[::-1]


def exceeds(tail: Floats, rows: float) -> float:
    """Chance that the worst error is more than so many rows."""
    first = math.floor(rows) + 1
    return float(tail[first]) if first < len(tail) else 0.0


def worst_error(queries: Queries, *, kind: str, spread: float, beta: float) -> float:
    if kind == "laplace":
        return worst_error_laplace(queries, scale=spread, beta=beta)
    return worst_error_gaussian(queries, sigma=spread, beta=beta)


@pytest.mark.slow
@pytest.mark.parametrize("queries", CLASSES, ids=lambda q: q.key)
@pytest.mark.parametrize(("kind", "spread"), [("laplace", 0.3), ("laplace", 1.0), ("gaussian", 0.5), ("gaussian", 2.0)])
def test_the_worst_query_errs_no_further_but_for_beta(queries: Queries, kind: str, spread: float) -> None:
    if kind == "laplace":
        masses, missed = laplace_mass(np.arange(-12, 13), scale=spread), 4 * 2 * np.exp(-13 / spread)
    else:
        reach, every = gaussian_masses(spread)
        masses, missed = every[reach - 12 : reach + 13], 1e-8
    tail = tails(queries, masses)
    for beta in BETAS:
        rows = worst_error(queries, kind=kind, spread=spread, beta=beta)
        assert exceeds(tail, rows) + missed <= beta
        assert exceeds(tail, rows / 4 - 1) > beta, "the control: a promise four times as good would be broken"


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("scale", [0.3, 2.0, 50.0])
def test_cells_get_the_smallest_whole_number_of_the_union_bound(scale: float, beta: float) -> None:
    queries = Cells(domain=Number(bits=6))
    rows = worst_error_laplace(queries, scale=scale, beta=beta)
    assert rows == int(rows)
    p = math.exp(-1 / scale)
    assert 64 * 2 * p ** (rows + 1) / (1 + p) <= beta
    assert rows == 0 or 64 * 2 * p**rows / (1 + p) > beta
    rows = worst_error_gaussian(queries, sigma=scale, beta=beta)
    reach, masses = gaussian_masses(scale)
    beyond = [64 * 2 * masses[reach + int(rows) + more :].sum() for more in (1, 0)]
    assert beyond[0] <= beta
    assert rows == 0 or beyond[1] > beta


def test_doobs_inequality_on_either_side() -> None:
    """Pr[max |S| >= t] <= 2 M(rate)^terms e^(-rate t): at the best of the rates, as a level for beta."""
    rates = np.array([0.5, 2.0])
    levels = [(3 * rate**2 / 2 + math.log(2 / 0.1)) / rate for rate in rates]
    level = largest_prefix(terms=3, beta=0.1, log_moment=lambda r: r**2 / 2, rates=rates)
    assert level == pytest.approx(min(levels), rel=1e-12)
    # Gaussian noise has its best rate in closed form.
    level = worst_error_gaussian(Thresholds(domain=LINE), sigma=2.0, beta=0.1)
    best = largest_prefix(terms=4, beta=0.1, log_moment=lambda r: (2 * r) ** 2 / 2, rates=np.linspace(0.01, 5, 50_000))
    assert level == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_the_moment_of_laplace_noise(scale: float) -> None:
    z = np.arange(-int(100 * scale) - 5, int(100 * scale) + 6)
    rates = np.array([0.01, 0.3, 0.7]) / scale
    wanted = [np.log(np.sum(laplace_mass(z, scale=scale) * np.exp(rate * z))) for rate in rates]
    np.testing.assert_allclose(laplace_log_moment(scale)(rates), wanted, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e6, 1e12, 1e17])
def test_the_moment_of_wide_noise_is_that_of_a_continuous_law(scale: float) -> None:
    """-log(1 - (rate·scale)²), where 1 - e^(-1/scale) cannot be told from 0: a link that names a small ε comes here."""
    shares = np.array([0.1, 0.5, 0.97])
    np.testing.assert_allclose(laplace_log_moment(scale)(shares / scale), -np.log1p(-(shares**2)), rtol=1e-5)


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0, 5.0])
def test_discrete_gaussian_noise_is_sub_gaussian(sigma: float) -> None:
    """log E[e^(rate Z)] <= rate^2 sigma^2/2 (Canonne, Kamath and Steinke 2020)."""
    reach, masses = gaussian_masses(sigma)
    z = np.arange(-reach, reach + 1)
    for rate in np.linspace(0.01, 4, 40) / sigma:
        assert np.log(np.sum(masses * np.exp(rate * z))) <= rate**2 * sigma**2 / 2 + 1e-12


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_promise_grows_as_the_root_of_the_number_of_cells(kind: str) -> None:
    """Four times the cells, twice the error of a sum of cells; a single cell's error hardly grows."""
    worst = partial(worst_error, kind=kind, spread=2.0, beta=0.05)
    small, large = Number(bits=6), Number(bits=8)
    assert worst(Thresholds(domain=large)) / worst(Thresholds(domain=small)) == pytest.approx(2, rel=0.05)
    assert worst(Intervals(domain=large)) == 2 * worst(Thresholds(domain=large))
    assert worst(Cells(domain=large)) < 1.5 * worst(Cells(domain=small))


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_many_queries_need_the_union_bound(kind: str) -> None:
    """A thousand weighted sums of a cell each stray independently: their exact law, and a promise for one of them."""
    domain, scale, beta = Number(bits=10), 3.0, 0.05
    every, one = (LinearQueries.of(np.eye(count, 1024), domain=domain) for count in (1024, 1))

    def exceeds_somewhere(queries: LinearQueries) -> float:
        rows = math.floor(worst_error(queries, kind=kind, spread=scale, beta=beta))
        reach, masses = gaussian_masses(scale)
        gaussian = 2 * masses[reach + rows + 1 :].sum()
        each = gaussian if kind == "gaussian" else 2 * float(laplace_tail(rows + 1, scale=scale))
        return float(-np.expm1(1024 * np.log1p(-each)))

    assert exceeds_somewhere(every) <= beta
    assert exceeds_somewhere(one) > 2 * beta
