"""Linear regression from released tables of two columns, whose noise is known: intervals that count it.

A row's terms z are 1, the regressors and the outcome, each centred at the middle of its range and divided by its
length. The sums of products G = sum of z z' over the rows are linear in tables of two columns, so that the unbiased
released tables give G plus noise N, whose covariance is known in closed form: what each set of columns adds to tables
has noise of its own, of one variance along any direction (``contrasts``). With coefficients b of least squares on the
released sums, v = N_xy - N_xx b is the noise of the normal equations, and
    Var(b) = A^-1 (Var(v) + s^2 A) A^-1,   A the released sums of the regressors, s^2 the residual variance,
to first order in the noise (Ferrando, Wang and Sheldon 2022 do likewise by a bootstrap). The second part is sampling.
Where the noise could make A singular nothing is said: the least eigenvalue of the regressors' covariance must be more
than LEAST of its own standard deviations.

A value that does not fit its column enters as the middle of the range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from dpcore.core import Floats, ParameterError, check_memory
from dpcore.data.columns import is_number
from dpcore.data.product import Product
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.queries.marginals import Set
from dplab.utility.models import Fit, ModelKind, cell_terms

Unbiased = Callable[[Set], Floats]
"""Unbiased tables in every trial, (T, *sizes), by set of columns."""
LEAST = 4.0
"""Standard deviations that the least eigenvalue must have (found by simulation; nothing is proved about it)."""


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """A number given other columns of a table.

    Attributes:
        domain: of the table.
        outcome: place of a column of numbers.
        regressors: places of the others.

    Raises:
        ParameterError: the outcome is no number or a regressor, or there is no regressor.
    """

    domain: Product
    outcome: int
    regressors: tuple[int, ...]

    def __post_init__(self) -> None:
        if not is_number(self.domain.columns[self.outcome]):
            raise ParameterError("The outcome of a linear model is a number.")
        if not self.regressors or self.outcome in self.regressors:
            raise ParameterError("A model has at least one regressor, and the outcome is none of them.")

    def terms(self, place: int) -> tuple[tuple[str, ...], Floats, Floats, Floats]:
        """Return names (q,) of a column's terms, their value in each cell (size, q), and centres and lengths (q,)."""
        column, (names, values) = self.domain.columns[place], cell_terms(self.domain, place)
        centre, length = (column.scale.middle, column.scale.span) if is_number(column) else (0.0, 1.0)
        terms = np.nan_to_num((values - centre) / length)
        return names, terms, np.full(len(names), centre), np.full(len(names), length)

    def sums(self, tables: Unbiased) -> Floats:
        """Return the sums of products of all terms, the outcome's last, in every trial: shape (T, q, q)."""
        places, values, starts = self._layout()
        trials = len(tables((places[0],)))
        moments = np.zeros((trials, starts[-1], starts[-1]))
        for first, (place, of_first) in enumerate(zip(places, values, strict=True)):
            rows = slice(starts[first], starts[first + 1])
            single = tables((place,))
            moments[:, 0, 0] += single.sum(axis=1) / len(places)
            moments[:, 0, rows] = single @ of_first
            moments[:, rows, 0] = moments[:, 0, rows]
            moments[:, rows, rows] = np.einsum("tc,ca,cb->tab", single, of_first, of_first)
            for second in range(first + 1, len(places)):
                other, of_second = places[second], values[second]
                columns = slice(starts[second], starts[second + 1])
                pair = tables((min(place, other), max(place, other)))
                pair = pair if place < other else pair.transpose(0, 2, 1)
                moments[:, rows, columns] = np.einsum("tcd,ca,db->tab", pair, of_first, of_second)
                moments[:, columns, rows] = moments[:, rows, columns].transpose(0, 2, 1)
        return moments

    def _layout(self) -> tuple[tuple[int, ...], list[Floats], list[int]]:
        """Return the columns' places, the outcome's last, the terms of each, and where these start among all terms."""
        places = (*self.regressors, self.outcome)
        values = [self.terms(place)[1] for place in places]
        return places, values, np.cumsum([1, *(each.shape[1] for each in values)]).tolist()

    def noise(self, plan: ResidualPlan) -> Floats:
        """Return factors F_i (m, q, q) of the noise of the sums: it has the covariance of the sum of g_i F_i.

        The g_i are independent, of mean 0 and variance 1. Rotations of the noise of one part of a table leave its
        covariance as it is, so that only as many are needed as there are terms.

        Args:
            plan: noise of the released tables, of two columns at least.

        Raises:
            ParameterError: tables of two columns were not released, or the factors take too much memory.
        """
        if plan.cliques.ways < 2:
            raise ParameterError("A table of so many columns was not released.")
        deviations = {each: math.sqrt(part.centred_variance) for part in plan.parts for each in part.sets}
        places, values, starts = self._layout()
        size, blocks = starts[-1], [slice(*ends) for ends in pairwise(starts)]
        means = np.concatenate([[1.0], *(each.mean(axis=0) for each in values)])
        # Of the number of rows, spread evenly over all cells.
        total = np.outer(means, means)
        for block, terms in zip(blocks, values, strict=True):
            total[block, block] = terms.T @ terms / len(terms)
        factors = [deviations.get((), 0.0) * total[None]]
        beyond = [terms - terms.mean(axis=0) for terms in values]
        rotated = [np.linalg.qr(each).R for each in beyond]
        needed = sum(len(one) * len(other) for one, other in combinations(rotated, 2))
        check_memory(needed * size**2, what="The noise of this model", smaller="take fewer columns", each=8)
        for place, block, terms, outside in zip(places, blocks, values, beyond, strict=True):
            squares = np.einsum("ca,cb->cab", terms, terms).reshape(len(terms), -1)
            both = np.linalg.qr(np.hstack([outside, squares - squares.mean(axis=0)])).R
            linear, square = np.split(both, [outside.shape[1]], axis=1)
            part = np.einsum("ma,b->mab", linear, means)
            factor = np.zeros((len(both), size, size))
            factor[:, block, :] = part
            factor[:, :, block] = part.transpose(0, 2, 1)
            factor[:, block, block] = square.reshape(len(both), outside.shape[1], -1)
            factors.append(deviations.get((place,), 0.0) * factor)
        for (place, block, one), (other, columns, two) in combinations(zip(places, blocks, rotated, strict=True), 2):
            product = np.einsum("ia,jb->ijab", one, two).reshape(-1, one.shape[1], two.shape[1])
            factor = np.zeros((len(product), size, size))
            factor[:, block, columns] = product
            factor[:, columns, block] = product.transpose(0, 2, 1)
            factors.append(deviations.get((min(place, other), max(place, other)), 0.0) * factor)
        return np.concatenate(factors)


def fit_tables(model: LinearModel, tables: Unbiased, noise: Floats, *, sampling: bool = True) -> Fit:
    """Fit a linear model to the unbiased tables of the first release.

    Args:
        model: outcome and regressors.
        tables: unbiased tables of one column and of two.
        noise: factors of the noise of the sums, ``model.noise``.
        sampling: whether errors count that the rows are a sample, or the noise alone.

    Raises:
        ParameterError: with this noise nothing can be said about the coefficients.
    """
    total = model.sums(tables)[0]
    values, covariance = fit_sums(total, noise, sampling=sampling)
    return _in_units(model, values, covariance, rows=round(total[0, 0]))


def fit_sums(total: Floats, noise: Floats, *, sampling: bool) -> tuple[Floats, Floats]:
    """Return the coefficients (q - 1,) and their covariance (q - 1, q - 1) from released sums of products.

    Args:
        total: sums of products of 1, the regressors and the outcome, in this order, (q, q).
        noise: factors of their noise, (m, q, q).
        sampling: whether errors count that the rows are a sample, or the noise alone.

    Raises:
        ParameterError: with this noise nothing can be said about the coefficients.
    """
    rows, inside = total[0, 0], total[:-1, :-1]
    if rows <= len(total):
        raise ParameterError("With this noise nothing can be said: the released number of rows is too small.")
    means = inside[0, 1:] / rows
    spread = inside[1:, 1:] / rows - np.outer(means, means)
    eigenvalues, directions = np.linalg.eigh(spread)
    weakest = directions[:, 0]
    along = np.concatenate([[-(means @ weakest)], weakest])
    wobble = np.einsum("a,tab,b->t", along, noise[:, :-1, :-1], along) / rows
    if eigenvalues[0] <= LEAST * float(np.sqrt((wobble**2).sum())):
        raise ParameterError(
            "With this noise nothing can be said about the coefficients: take a larger ε or fewer regressors."
        )
    values = np.asarray(np.linalg.solve(inside, total[:-1, -1]), np.float64)
    residual = max(0.0, float(total[-1, -1] - 2 * values @ total[:-1, -1] + values @ inside @ values) / rows)
    moved = noise[:, :-1, -1] - noise[:, :-1, :-1] @ values
    middle = moved.T @ moved + (residual * inside if sampling else 0.0)
    inverse = np.linalg.inv(inside)
    covariance: Floats = inverse @ middle @ inverse
    return values, covariance


def _in_units(model: LinearModel, values: Floats, covariance: Floats, *, rows: int) -> Fit:
    """Return the fit in the columns' own units: undo centring and scaling."""
    described = [model.terms(place) for place in model.regressors]
    names = ("intercept", *(name for each in described for name in each[0]))
    centres, lengths = (np.concatenate([each[place] for each in described]) for place in (2, 3))
    _, _, (centre,), (scale,) = model.terms(model.outcome)
    change = np.diag(np.concatenate([[1.0], 1 / lengths]))
    change[0, 1:] = -centres / lengths
    coefficients = scale * (change @ values)
    coefficients[0] += centre
    errors = scale * np.sqrt(np.diag(change @ covariance @ change.T))
    return Fit(names=names, values=coefficients, errors=errors, rows=rows, kind=ModelKind.LINEAR)
