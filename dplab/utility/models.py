"""Linear and logistic regression on rows of cells, and how far one fit is from another.

Textbook maximum likelihood: ordinary least squares, and Newton's method for the logistic. A number enters by its cell's
middle, labels as indicators of all but the first. Rows with a missing value in a used column are left out.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, stdtrit

from dpcore.core import Floats, Integers, ParameterError
from dpcore.data.columns import Number, is_number
from dpcore.data.product import Product

MAX_STEPS, CONVERGED = 60, 1e-10
"""Steps of Newton's method, and the relative change of the coefficients after which it ends."""
SINGULAR = 1e-10
"""Smallest share of a regressor's own length that the ones before it leave, else it is a combination of these."""


class ModelKind(enum.StrEnum):
    """Kind of a regression model."""

    LINEAR = "linear"
    LOGISTIC = "logistic"


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Coefficients of a model and their standard errors, as if the rows were a sample.

    Attributes:
        names: of the coefficients, the intercept first, (p,).
        values: (p,).
        errors: standard errors, (p,).
        rows: number of rows that were used.
        kind: linear or logistic.
    """

    names: tuple[str, ...]
    values: Floats
    errors: Floats
    rows: int
    kind: ModelKind

    def interval(self, *, level: float = 0.95) -> Floats:
        """Return each coefficient's interval, shape (p, 2): Student's t where the outcome is a number, else normal."""
        freedom = float(self.rows - len(self.values)) if self.kind is ModelKind.LINEAR else np.inf
        half = float(stdtrit(freedom, (1 + level) / 2)) * self.errors
        return np.stack([self.values - half, self.values + half], axis=1)


def middles(column: Number) -> Floats:
    """Return the middle of each cell of a column of numbers, NaN for the cell of what does not fit, shape (size,)."""
    values, points = np.full(column.size, np.nan), column.points()
    values[: len(points)] = points
    return values


def design(domain: Product, rows: Integers, regressors: Sequence[int]) -> tuple[tuple[str, ...], Floats]:
    """Return the coefficients' names (p,) and the regressors' values (n, p), an intercept first; NaN where missing."""
    terms = [cell_terms(domain, place) for place in regressors]
    values = [each[rows[:, place]] for place, (_, each) in zip(regressors, terms, strict=True)]
    names = ("intercept", *(name for found, _ in terms for name in found))
    return names, np.concatenate([np.ones((len(rows), 1)), *values], axis=1)


def cell_terms(domain: Product, place: int) -> tuple[tuple[str, ...], Floats]:
    """Return the names of a column's terms (q,) and their value in each cell (size, q), NaN for what does not fit.

    A number has one term; labels have one for each label but the first.
    """
    column, name = domain.columns[place], domain.names[place]
    if is_number(column):
        return (name,), middles(column)[:, None]
    labels = column.points()
    values = np.full((column.size, len(labels) - 1), np.nan)
    values[: len(labels)] = np.eye(len(labels))[:, 1:]
    return tuple(f"{name}: {label}" for label in labels[1:]), values


def outcome_of(domain: Product, rows: Integers, outcome: int) -> tuple[Floats, ModelKind]:
    """Return the outcome of each row, (n,), NaN where missing, and the model that fits it.

    Raises:
        ParameterError: its labels are not two.
    """
    column, cells = domain.columns[outcome], rows[:, outcome]
    if is_number(column):
        return middles(column)[cells], ModelKind.LINEAR
    if len(column.points()) != 2:
        raise ParameterError("The outcome of a model is a number, or a column of two labels.")
    return np.where(cells < 2, cells == 1, np.nan), ModelKind.LOGISTIC


def fit(domain: Product, rows: Integers, *, outcome: int, regressors: Sequence[int]) -> Fit:
    """Fit a model of one column given others.

    Args:
        domain: of the rows.
        rows: cells, (n, d).
        outcome: its place among the columns: linear for a number, logistic for two labels.
        regressors: places of the others, at least one.

    Raises:
        ParameterError: there are too few rows, a regressor is a combination of others, or no maximum exists.
    """
    if not regressors or outcome in regressors:
        raise ParameterError("A model has at least one regressor, and the outcome is none of them.")
    names, x = design(domain, rows, regressors)
    y, kind = outcome_of(domain, rows, outcome)
    complete = np.isfinite(x).all(axis=1) & np.isfinite(y)
    x, y = x[complete], y[complete]
    if len(y) <= len(names):
        raise ParameterError(f"A model of {len(names)} coefficients needs more rows, here are {len(y):,}.")
    values, errors = (fit_linear if kind is ModelKind.LINEAR else fit_logistic)(x, y)
    return Fit(names=names, values=values, errors=errors, rows=len(y), kind=kind)


def _scaled(x: Floats) -> tuple[Floats, Floats]:
    """Return the regressors (n, p), each of length 1, and their lengths; refuse those that depend on each other."""
    lengths = np.linalg.norm(x, axis=0)
    if not lengths.all():
        raise ParameterError("A label of a regressor has no row, so its coefficient is not known.")
    scaled = x / lengths
    if np.abs(np.diag(np.linalg.qr(scaled, mode="r"))).min() < SINGULAR:
        raise ParameterError("A regressor is constant, or a combination of others, so its coefficient is not known.")
    return scaled, lengths


def fit_linear(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return coefficients (p,) by least squares and their standard errors."""
    scaled, lengths = _scaled(x)
    q, r = np.linalg.qr(scaled)
    values = np.linalg.solve(r, q.T @ y)
    left = y - scaled @ values
    inverse = np.linalg.solve(r, np.eye(len(r)))
    errors = np.sqrt((left @ left) / (len(y) - len(values)) * (inverse**2).sum(axis=1))
    return values / lengths, errors / lengths


def fit_logistic(x: Floats, y: Floats, *, penalty: float = 0.0) -> tuple[Floats, Floats]:
    """Return coefficients (p,) of greatest likelihood and their standard errors, by Newton's method.

    Args:
        x: regressors, (n, p).
        y: 0 or 1, (n,).
        penalty: of the squared coefficients of the regressors after the first, each scaled to root mean square 1; with
            one, a maximum always exists, and regressors may depend on each other.

    Raises:
        ParameterError: no maximum exists: the regressors tell the outcomes apart.
    """
    if penalty:
        lengths = np.sqrt((x**2).mean(axis=0))
        scaled = x / np.where(lengths > 0, lengths, 1.0)
        lengths = np.where(lengths > 0, lengths, 1.0)
    else:
        scaled, lengths = _scaled(x)
    ridge = np.full(x.shape[1], penalty)
    ridge[0] = 0.0
    values = np.zeros(x.shape[1])
    for _ in range(MAX_STEPS):
        chance = expit(scaled @ values)
        weight = chance * (1 - chance)
        information = (scaled * weight[:, None]).T @ scaled + np.diag(ridge)
        try:
            step = np.linalg.solve(information, scaled.T @ (y - chance) - ridge * values)
        except np.linalg.LinAlgError:
            break
        values = values + step
        if not np.isfinite(values).all():
            break
        if np.abs(step).max() <= CONVERGED * (1 + np.abs(values).max()):
            variances = np.diag(np.linalg.inv(information))
            if not (variances > 0).all():  # the likelihood is flat there, up to rounding
                break
            return values / lengths, np.sqrt(variances) / lengths
    raise ParameterError("The regressors tell the two outcomes apart, so the model has no largest likelihood.")


@dataclass(frozen=True, kw_only=True)
class FitComparison:
    """Distance of a fit on synthetic rows from the fit on real ones, coefficient by coefficient.

    Attributes:
        distances: in standard errors of the real fit, (p,).
        overlaps: of the intervals, (p,): the mean share of each that lies in the other; negative where they are apart.
    """

    distances: Floats
    overlaps: Floats


def compare(found: Fit, real: Fit, *, level: float = 0.95) -> FitComparison:
    """Compare two fits of the same model (interval overlap: Karr, Kohnen, Oganian, Reiter and Sanil 2006)."""
    ours, theirs = found.interval(level=level), real.interval(level=level)
    common = np.minimum(ours[:, 1], theirs[:, 1]) - np.maximum(ours[:, 0], theirs[:, 0])
    lengths = ours[:, 1] - ours[:, 0], theirs[:, 1] - theirs[:, 0]
    return FitComparison(
        distances=np.abs(found.values - real.values) / real.errors,
        overlaps=(common / lengths[0] + common / lengths[1]) / 2,
    )
