"""What rows are good for: a copy of real rows is like other real rows, shuffled columns are not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from dpcore import Labels, Number, Product
from dpcore.core import Integers, ParameterError, finish
from dplab.utility.measures import OTHER, SHUFFLED, SYNTHETIC, mean_difference, measure_rows, outcomes
from dplab.utility.tables import cramers_v, shares

DOMAIN = Product(
    names=("age", "region", "smokes"),
    columns=(
        Number(high=100, bins=10),
        Labels(labels=("a", "b", "c"), missing=False),
        Labels(labels=("no", "yes"), missing=False),
    ),
)
N = 6_000


def people(n: int = N, *, seed: int = 1) -> Integers:
    """Rows whose region goes with age, and of whom the old and those of one region smoke more often."""
    draw = np.random.default_rng(seed)
    age = draw.binomial(9, 0.4, n)
    region = np.minimum((age + draw.integers(0, 5, n)) // 5, 2)
    smokes = (draw.random(n) < 0.08 + 0.08 * age).astype(np.int64)
    return np.stack([age, region, smokes], axis=1)


def test_a_missing_value_of_the_finest_column_is_in_its_own_cell() -> None:
    finest = Number(high=100, bins=1 << 16, missing=True)
    [table] = shares(np.array([[finest.size - 1]]), (finest.size,), ways=1).values()
    assert np.flatnonzero(table).tolist() == [finest.size - 1]


def test_rows_of_the_same_people_are_as_other_real_rows_and_shuffled_columns_are_not() -> None:
    measured = finish(measure_rows(DOMAIN, synthetic=people(seed=2), real=people(), outcome=2, seed=3))
    same, other, mixed = (measured[kind] for kind in (SYNTHETIC, OTHER, SHUFFLED))
    for each in ("pairs", "triples", "associations"):
        assert getattr(same, each) == pytest.approx(getattr(other, each), rel=0.35, abs=0.02), each
        assert getattr(mixed, each) > 3 * max(getattr(same, each), getattr(other, each)), each
    assert same.predicted == pytest.approx(other.predicted, abs=0.01) and other.predicted > 0.62
    assert abs(mixed.predicted - 0.5) < other.predicted - 0.5
    assert abs(same.told_apart - 0.5) < 0.04 and mixed.told_apart > 0.65


def test_pairs_are_counted_as_by_hand() -> None:
    real = people(400)
    half = len(real) // 2
    order = np.random.Generator(np.random.SFC64(5)).permutation(len(real))
    frames = [pd.DataFrame(real[places], columns=list(DOMAIN.names)) for places in (order[:half], order[-half:])]
    apart = []
    for pair in combinations(DOMAIN.names, 2):
        first, second = (frame.groupby(list(pair)).size() / half for frame in frames)
        apart.append(first.sub(second, fill_value=0).abs().sum() / 2)
    measured = finish(measure_rows(DOMAIN, synthetic=real, real=real, outcome=None, seed=5))
    assert measured[OTHER].pairs == pytest.approx(np.mean(apart))
    assert measured[SYNTHETIC].pairs != pytest.approx(np.mean(apart)), "another choice of rows"
    assert all(np.isnan(each.predicted) for each in measured.values())


def test_a_table_of_two_columns_has_no_triples_and_few_rows_are_refused() -> None:
    two = Product(names=DOMAIN.names[:2], columns=DOMAIN.columns[:2])
    measured = finish(measure_rows(two, synthetic=people()[:, :2], real=people()[:, :2], outcome=None, seed=1))
    assert all(np.isnan(each.triples) and each.pairs >= 0 for each in measured.values())
    with pytest.raises(ParameterError, match="from 40 rows on"):
        finish(measure_rows(DOMAIN, synthetic=people(), real=people(39), outcome=2, seed=1))
    measured = finish(measure_rows(DOMAIN, synthetic=people(), real=people(40), outcome=None, seed=1))
    assert np.isfinite(measured[SYNTHETIC].pairs)


def test_columns_of_two_labels_can_be_predicted_and_constant_columns_have_no_association() -> None:
    assert outcomes(DOMAIN) == [2]
    constant = people()
    constant[:, 1] = 0
    strengths = [cramers_v(rows, DOMAIN.sizes) for rows in (constant, people())]
    only = abs(strengths[0][0, 2] - strengths[1][0, 2])
    assert mean_difference(*strengths) == pytest.approx(only)
    assert np.isnan(mean_difference(np.full((2, 2), np.nan), np.eye(2)))
