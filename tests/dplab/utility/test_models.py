"""Models on rows of cells: equal to statsmodels, what is left out, what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import statsmodels.api as sm

from dpcore.core import Floats, Integers, ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dplab.utility.models import Fit, ModelKind, compare, fit

DOMAIN = Product(
    names=("pay", "age", "town", "smoker"),
    columns=(
        Number(low=0, high=1000, bins=50, missing=True), Number(low=0, high=100, bins=50, missing=True),
        Labels(labels=("north", "south", "west")), Labels(yes_no=True),
    ),
)  # fmt: skip
PAY, AGE, TOWN, SMOKER = range(4)


def people(n: int, *, seed: int = 1) -> Integers:
    """Rows whose pay grows with age, and whose smoking depends on age and town; one value in twenty is missing."""
    draw = np.random.default_rng(seed)
    age, town = draw.integers(10, 40, n), draw.integers(0, 3, n)
    pay = np.clip(age + 4 * (town == 1) + draw.normal(0, 5, n), 0, 49).astype(np.int64)
    smoker = draw.random(n) < 1 / (1 + np.exp(2 - age / 20 - 0.5 * (town == 2)))
    rows = np.stack([pay, age, town, smoker], axis=1)
    rows[draw.random(n) < 0.05, PAY] = DOMAIN.columns[PAY].size - 1
    return rows


def design(rows: Integers) -> tuple[Floats, Floats]:
    """Middles of ages, and indicators of the second and third town; rows whose pay is known."""
    known = rows[rows[:, PAY] < 50]
    x = np.stack([known[:, AGE] * 2.0 + 1, known[:, TOWN] == 1, known[:, TOWN] == 2], axis=1)
    return np.array(sm.add_constant(x), dtype=np.float64), np.array(known[:, PAY] * 20 + 10, dtype=np.float64)


def test_a_linear_model_is_that_of_statsmodels_on_complete_rows() -> None:
    rows = people(700)
    ours = fit(DOMAIN, rows, outcome=PAY, regressors=(AGE, TOWN))
    x, y = design(rows)
    theirs = sm.OLS(y, x).fit()
    assert ours.names == ("intercept", "age", "town: south", "town: west")
    assert ours.rows == len(y) < 700
    np.testing.assert_allclose(ours.values, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(ours.errors, theirs.bse, rtol=1e-6)
    np.testing.assert_allclose(ours.interval(level=0.9), theirs.conf_int(0.1), rtol=1e-6)


def test_a_logistic_model_is_that_of_statsmodels() -> None:
    rows = people(700)
    ours = fit(DOMAIN, rows, outcome=SMOKER, regressors=(AGE, TOWN))
    x = sm.add_constant(np.stack([rows[:, AGE] * 2.0 + 1, rows[:, TOWN] == 1, rows[:, TOWN] == 2], axis=1))
    theirs = sm.Logit(rows[:, SMOKER], x).fit(disp=False)
    np.testing.assert_allclose(ours.values, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(ours.errors, theirs.bse, rtol=1e-6)
    np.testing.assert_allclose(ours.interval(), theirs.conf_int(), rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "outcome", "sentence"),
    [
        (lambda rows: rows[:4], PAY, "needs more rows, here are"),
        (lambda rows: rows[rows[:, TOWN] != 1], PAY, "A label of a regressor has no row"),
        (lambda rows: np.where(np.arange(4) == AGE, 7, rows), PAY, "A regressor is constant"),
        (lambda rows: np.where(np.arange(4) == SMOKER, rows[:, [AGE]] > 25, rows), SMOKER, "no largest likelihood"),
        (lambda rows: rows, TOWN, "a number, or a column of two labels"),
        (lambda rows: rows, AGE, "the outcome is none of them"),
    ],
)  # fmt: skip
def test_what_has_no_answer_is_refused_in_a_sentence(
    change: Callable[[Integers], Integers], outcome: int, sentence: str
) -> None:
    with pytest.raises(ParameterError, match=sentence):
        fit(DOMAIN, change(people(300)), outcome=outcome, regressors=(AGE,) if outcome == TOWN else (AGE, TOWN))


def test_two_fits_are_compared_in_standard_errors_and_overlap() -> None:
    def made(*values: float) -> Fit:
        return Fit(
            names=("intercept", "age"), values=np.array(values), errors=np.ones(2), rows=10**9, kind=ModelKind.LOGISTIC
        )

    same = compare(made(1, 2), made(1, 2))
    assert same.overlaps.tolist() == [1, 1] and same.distances.tolist() == [0, 0]
    other = compare(made(-1, 2), made(1, 2 + 10))
    assert other.distances.tolist() == [2, 10]
    assert 0 < other.overlaps[0] < 1 and other.overlaps[1] < 0
