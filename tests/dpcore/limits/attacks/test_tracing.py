"""Tracing: scores, a threshold that accuses no more than it says, and no more members found than privacy allows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import ParameterError
from dpcore.limits.attacks.tracing import ceiling, rows_wall, scores, threshold


def test_a_score_is_the_inner_product_from_what_is_usual() -> None:
    usual = np.array([0.5, 0.25])
    found = scores(np.array([[0.75, 0.5], [0.5, 0.25]]), np.array([[True, False], [False, True]]), usual)
    np.testing.assert_allclose(found, np.array([[0.25 * 0.5 - 0.25 * 0.25, -0.25 * 0.5 + 0.25 * 0.75], [0.0, 0.0]]))


def test_a_member_s_score_is_larger_by_d_over_4n_where_a_stranger_s_varies_by_the_root(seed: int) -> None:
    n, d, runs = 50, 2_000, 40
    generator, gaps, spreads = np.random.default_rng(seed), [], []
    for _ in range(runs):
        rows = generator.random((2 * n, d)) < 0.5
        found = scores(rows[:n].mean(axis=0)[None], rows, np.full(d, 0.5))[0]
        gaps.append(found[:n].mean() - found[n:].mean())
        spreads.append(found[n:].std())
    assert np.mean(gaps) == pytest.approx(d / (4 * n), rel=0.05)
    assert np.mean(spreads) == pytest.approx(math.sqrt(d / n) / 4, rel=0.05)


def test_of_people_outside_no_more_are_accused_than_said(seed: int) -> None:
    """One more score among the reference's, exchangeable with them; the control takes one score more."""
    generator, runs, accused = np.random.default_rng(seed), 40_000, 0.1
    reference, outside = generator.random((runs, 39)), generator.random(runs)
    share = float((outside >= threshold(reference, accused=accused)).mean())
    assert share == pytest.approx(accused, abs=6 * math.sqrt(accused / runs)), "4 of 40 ranks"
    loose = np.sort(reference, axis=1)[:, -5]
    assert (outside >= loose).mean() > accused + 6 * math.sqrt(accused / runs)


@pytest.mark.parametrize("rows", [1, 18])
def test_too_few_rows_of_reference_accuse_nobody(rows: int) -> None:
    with pytest.raises(ParameterError, match="19 rows of reference are needed"):
        threshold(np.zeros((1, rows)), accused=0.05)


def test_the_ceiling_is_the_definition_s() -> None:
    assert ceiling(accused=0.05, epsilon=1.0, delta=0.01) == pytest.approx(0.05 * math.e + 0.01)
    assert ceiling(accused=0.5, epsilon=1.0, delta=0.0) == pytest.approx(1 - math.exp(-1) * 0.5)


def test_the_wall_is_an_order_and_says_so() -> None:
    wall = rows_wall(attributes=400, epsilon=0.5, delta=1e-6)
    assert math.isinf(wall.value) and "√d/ε = 40" in wall.statement and "No constant is known" in wall.statement
    assert not rows_wall(attributes=400, epsilon=0.5, delta=0.0).applies
