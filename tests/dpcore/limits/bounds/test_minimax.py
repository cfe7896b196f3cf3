"""The histogram risk: bounds against all mechanisms on tiny histograms, witnesses, and where the printed form fails."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import dpcore
from dpcore.core import ParameterError
from dpcore.limits.bounds import minimax
from dpcore.limits.chance import confusion
from dpcore.randomness.laws import compositions, laplace_mass
from tests.dpcore.limits.best_mechanism import best_gain, neighbouring


def best_risk(*, cells: int, rows: int, epsilon: float) -> float:
    """The exact minimax L1 risk over all ε-private mechanisms, by linear programming.

    Outputs on the grid of whole counts 0..n in each cell are enough: rounding any output to its grid neighbours at
    random, cell by cell and without bias, leaves every expected loss as it is.
    """
    data = compositions(rows, cells)
    outputs = np.array(list(itertools.product(range(rows + 1), repeat=cells)))
    losses = np.abs(data[:, None] - outputs[None]).sum(axis=2) / rows
    gains = -np.eye(len(data))[:, :, None] * losses
    return -best_gain(neighbouring(data), gains, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize(("cells", "rows"), [(2, 1), (2, 3), (2, 6), (3, 1), (3, 3), (4, 1), (4, 2)])
def test_bounds_hold_for_the_best_mechanism(cells: int, rows: int, epsilon: float) -> None:
    best = best_risk(cells=cells, rows=rows, epsilon=epsilon)
    sharp = minimax.risk_bound(cells=cells, rows=rows, epsilon=epsilon).value
    simple = minimax.integer_risk(cells=cells, rows=rows, epsilon=epsilon)
    assert simple <= sharp * (1 + 1e-9)
    assert sharp <= best + 1e-8
    if (cells, rows) == (2, 1):
        assert best == pytest.approx(sharp, abs=1e-8)
        assert simple == pytest.approx(best / 2, abs=1e-8)


def test_the_printed_form_is_not_a_bound() -> None:
    # Small n: more than the largest possible loss. Large ε: more than the risk of a mechanism that exists.
    assert minimax.printed_risk(cells=2, rows=1, epsilon=0.01) > 2
    assert minimax.printed_risk(cells=2, rows=10, epsilon=20) > minimax.geometric_risk(cells=2, rows=10, epsilon=20)
    assert minimax.printed_risk(cells=2, rows=1, epsilon=0.01) > best_risk(cells=2, rows=1, epsilon=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [2, 3, 25, 400])
@pytest.mark.parametrize("rows", [1, 10, 500, 100_000])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_the_witness(cells: int, rows: int, epsilon: float, delta: float) -> None:
    pairs = minimax.best_pairs(cells=cells, rows=rows, epsilon=epsilon, delta=delta)
    assert 1 <= pairs.pairs <= cells // 2 and pairs.pairs * pairs.shift <= rows
    signs = np.random.default_rng(1).random((8, pairs.pairs)) < 0.5
    corners = pairs.corner(signs)
    assert (corners >= 0).all() and (corners.sum(axis=1) == rows).all()
    flipped = signs.copy()
    flipped[:, 0] ^= True
    moved = np.abs(corners - pairs.corner(flipped)).sum(axis=1)
    assert (moved == 2 * pairs.shift).all()  # τ replaced rows, a loss of 2τ/n between the two
    mistake = confusion(epsilon=epsilon, steps=pairs.shift, delta=delta)
    assert pairs.risk == pytest.approx(pairs.pairs * 2 * pairs.shift / rows * mistake)
    # No other shift is better, delta only weakens the bound, and a cell more only strengthens it.
    for shift in range(1, min(rows, 2000) + 1):
        most = min(cells // 2, rows // shift)
        other = most * 2 * shift / rows * confusion(epsilon=epsilon, steps=shift, delta=delta)
        assert other <= pairs.risk * (1 + 1e-12)
    assert pairs.risk <= minimax.best_pairs(cells=cells + 1, rows=rows, epsilon=epsilon, delta=delta).risk
    assert pairs.risk <= minimax.best_pairs(cells=cells, rows=rows, epsilon=epsilon).risk


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_the_identity_histogram_pays_what_is_said_and_never_less_than_the_bound(epsilon: float) -> None:
    z = np.arange(-4000, 4001)
    each = float((np.abs(z) * laplace_mass(z, scale=2 / epsilon)).sum())
    for cells, rows in ((2, 5), (25, 500), (400, 500)):
        risk = minimax.geometric_risk(cells=cells, rows=rows, epsilon=epsilon)
        assert risk == pytest.approx(cells * each / rows, rel=1e-6)
        assert risk >= minimax.risk_bound(cells=cells, rows=rows, epsilon=epsilon).value
        assert risk <= minimax.laplace_risk(cells=cells, rows=rows, epsilon=epsilon)


def test_the_catalogues_identity_has_that_risk(seed: int) -> None:
    domain = dpcore.Labels(labels=tuple("abcdefghij"), missing=False)
    provenance = dpcore.Provenance(kind=dpcore.ProvenanceKind.GENERATED, title="ten")
    dataset = dpcore.Dataset(domain, np.arange(100) % 10, provenance)
    problem = dpcore.Problem(domain=domain, queries=dpcore.Cells(domain=domain), n=100)
    mechanism = dpcore.entry("identity").make(epsilon=0.7)
    release = mechanism.run(mechanism.prepare(dataset, problem), dpcore.Preview(seed), 20_000)
    losses = np.abs(release.outcomes() - dataset.histogram).sum(axis=1) / 100
    # A normal interval at significance 1e-6 over 20,000 trials.
    reach = 4.9 * losses.std() / math.sqrt(20_000)
    assert losses.mean() == pytest.approx(minimax.geometric_risk(cells=10, rows=100, epsilon=0.7), abs=reach)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="two cells"):
        minimax.risk_bound(cells=1, rows=5, epsilon=1.0)
    with pytest.raises(ParameterError, match="epsilon"):
        minimax.risk_bound(cells=3, rows=5, epsilon=-1.0)


def test_losses_too_small_to_look_at_are_a_sentence_and_not_a_wait() -> None:
    settings: dict[str, Any] = {"cells": 8, "rows": 10**12, "epsilon": 1e-9}
    for bound in (minimax.best_pairs, minimax.integer_risk, minimax.risk_bound):
        with pytest.raises(ParameterError, match="For so many rows epsilon"):
            bound(**settings)
    # With few rows there is little to look at, however small the loss.
    assert minimax.best_pairs(cells=8, rows=40, epsilon=5e-324).shift == 10
