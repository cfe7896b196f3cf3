"""Distances of tables, Cramér's V, prediction and telling apart: against SciPy, and in the order they must have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from scipy.stats.contingency import association

from dpcore.core import ParameterError
from dplab.utility.prediction import area_under_curve, distinguish, prediction_quality
from dplab.utility.tables import cramers_v, shares, shuffled, total_variations
from tests.dplab.utility.test_models import DOMAIN, SMOKER, people


def test_cramers_v_is_that_of_scipy_on_labels_that_occur() -> None:
    rows = people(400)[:, 1:]
    found = cramers_v(rows, DOMAIN.sizes[1:])
    pairs = np.bincount(rows[:, 1] * 2 + rows[:, 2], minlength=6)
    assert found[1, 2] == found[2, 1] == pytest.approx(association(pairs.reshape(3, 2), method="cramer"), rel=1e-6)
    assert np.isnan(cramers_v(np.zeros((9, 2), dtype=np.int64), (2, 2))[0, 1])


def test_the_area_under_the_curve_is_that_of_the_rank_test() -> None:
    draw = np.random.default_rng(1)
    outcomes = (draw.random(200) < 0.3).astype(float)
    scores = np.round(draw.normal(outcomes), 1)  # with ties
    rank = mannwhitneyu(scores[outcomes == 1], scores[outcomes == 0]).statistic
    assert area_under_curve(scores, outcomes) == pytest.approx(rank / outcomes.sum() / (1 - outcomes).sum(), rel=1e-6)
    with pytest.raises(ParameterError, match="Both outcomes must occur"):
        area_under_curve(scores, np.ones(200))


def test_total_variation_is_half_the_difference_of_shares() -> None:
    sizes = (2, 2)
    one, other = (np.array(rows) for rows in ([[0, 0], [1, 1]], [[0, 0], [0, 0]]))
    found = total_variations(shares(one, sizes, ways=2), shares(other, sizes, ways=2))
    assert found.tolist() == [0.5]
    with pytest.raises(ParameterError, match="Without a row"):
        shares(one[:0], sizes, ways=2)


def test_yardsticks_are_in_order() -> None:
    """Other real rows can be predicted from and are not told apart; shuffled columns are useless and are told apart."""
    real, other, held_out = (people(1500, seed=seed) for seed in range(3))
    broken = shuffled(other, seed=1)
    assert sorted(broken[:, 0]) == sorted(other[:, 0])
    quality = [prediction_quality(DOMAIN, rows, held_out, outcome=SMOKER) for rows in (other, broken)]
    assert quality[0] > 0.6 > 0.55 > quality[1]
    apart = [distinguish(DOMAIN, rows, real, seed=1) for rows in (other, broken)]
    assert apart[0].area < 0.55 < 0.6 < apart[1].area and apart[0].square < apart[1].square
