"""Linear regression from released tables of two columns, whose noise is known: intervals that count it.

A row's terms z are 1, the regressors and the outcome, each centred at the middle of its range and divided by its
length. The sums of products G = sum of z z' over the rows are linear in tables of two columns, so that the unbiased
released tables give G plus noise N, whose law does not depend on the data: it is drawn from releases of no rows. With
coefficients b of least squares on the released sums, v = N_xy - N_xx b is the noise of the normal equations, and
    Var(b) = A^-1 (Var(v) + s^2 A) A^-1,   A the released sums of the regressors, s^2 the residual variance,
to first order in the noise (Ferrando, Wang and Sheldon 2022 do likewise by a bootstrap). The second part is sampling.
Where the noise could make A singular nothing is said: the least eigenvalue of the regressors' covariance must be more
than LEAST of its own standard deviations.

A value that does not fit its column enters as the middle of the range.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind, check_memory
from dpcore.data.columns import is_number
from dpcore.data.product import Product
from dpcore.mechanisms.tables.release import TablesRelease, marginals_of
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.randomness import Preview
from dplab.utility.models import Fit, ModelKind, middles

LEAST = 4.0
"""Standard deviations that the least eigenvalue must have (found by simulation; nothing is proved about it)."""
DRAWS = 1_000
"""Draws of the noise."""


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
        column, name = self.domain.columns[place], self.domain.names[place]
        if is_number(column):
            centre, length = (column.low + column.high) / 2, column.high - column.low
            values = np.nan_to_num((middles(column) - centre) / length)[:, None]
            return (name,), values, np.array([centre]), np.array([length])
        labels = column.points()
        values = np.eye(column.size)[:, 1 : len(labels)]
        names = tuple(f"{name}: {label}" for label in labels[1:])
        return names, values, np.zeros(len(names)), np.ones(len(names))

    def sums(self, release: TablesRelease) -> Floats:
        """Return the sums of products of all terms, the outcome's last, in every trial: shape (T, q, q)."""
        places = (*self.regressors, self.outcome)
        values = [self.terms(place)[1] for place in places]
        starts = np.cumsum([1, *(each.shape[1] for each in values)])
        found = np.zeros((release.trials, starts[-1], starts[-1]))
        for first, (place, of_first) in enumerate(zip(places, values, strict=True)):
            rows = slice(starts[first], starts[first + 1])
            alone = release.unbiased((place,))
            found[:, 0, 0] += alone.sum(axis=1) / len(places)
            found[:, 0, rows] = alone @ of_first
            found[:, rows, 0] = found[:, 0, rows]
            found[:, rows, rows] = np.einsum("tc,ca,cb->tab", alone, of_first, of_first)
            for second in range(first + 1, len(places)):
                other, of_second = places[second], values[second]
                columns = slice(starts[second], starts[second + 1])
                pair = release.unbiased((min(place, other), max(place, other)))
                pair = pair if place < other else pair.transpose(0, 2, 1)
                found[:, rows, columns] = np.einsum("tcd,ca,db->tab", pair, of_first, of_second)
                found[:, columns, rows] = found[:, rows, columns].transpose(0, 2, 1)
        return found


def table_noise(model: LinearModel, problem: Problem, mechanism: ResidualPlanner, *, seed: int) -> Floats:
    """Draw the noise of the sums of products, shape (DRAWS, q, q): of a mechanism whose errors no data change."""
    rows = problem.n if problem.neighbours is Neighbours.REPLACE_ONE else 0  # where rows are replaced, n is no secret
    empty = Dataset(
        domain=marginals_of(problem).domain,
        records=np.zeros((rows, len(model.domain.names)), dtype=np.uint16),
        provenance=Provenance(kind=ProvenanceKind.GENERATED, title="rows that are all alike"),
    )
    state = mechanism.prepare(empty, problem)
    numbers = sum(len(each) for each in state.contrasts.values())
    check_memory(DRAWS * numbers, what="The draws of this noise", smaller="take fewer columns", each=8)
    drawn = mechanism.run(state, Preview(seed), DRAWS)
    exact = np.concatenate([state.contrasts[part.key] for part in drawn.plan.parts])
    without = dataclasses.replace(drawn.part(0, 1), values=exact[None, :].astype(np.float64))
    return model.sums(drawn) - model.sums(without)


def fit_tables(model: LinearModel, release: TablesRelease, noise: Floats, *, sampling: bool = True) -> Fit:
    """Fit a linear model to the unbiased tables of the first release.

    Args:
        model: outcome and regressors.
        release: tables of at least two columns.
        noise: of ``table_noise``.
        sampling: whether errors count that the rows are a sample, or the noise alone.

    Raises:
        ParameterError: with this noise nothing can be said about the coefficients.
    """
    total = model.sums(release.part(0, 1))[0]
    rows, inside = total[0, 0], total[:-1, :-1]
    if rows <= len(total):
        raise ParameterError("With this noise nothing can be said: the released number of rows is too small.")
    means = inside[0, 1:] / rows
    spread = inside[1:, 1:] / rows - np.outer(means, means)
    eigenvalues, directions = np.linalg.eigh(spread)
    weakest = directions[:, 0]
    along = np.concatenate([[-(means @ weakest)], weakest])
    wobble = np.einsum("a,tab,b->t", along, noise[:, :-1, :-1], along) / rows
    if eigenvalues[0] <= LEAST * float(np.sqrt((wobble**2).mean())):
        raise ParameterError(
            "With this noise nothing can be said about the coefficients: take a larger ε or fewer regressors."
        )
    values = np.linalg.solve(inside, total[:-1, -1])
    residual = max(0.0, float(total[-1, -1] - 2 * values @ total[:-1, -1] + values @ inside @ values) / rows)
    moved = noise[:, :-1, -1] - noise[:, :-1, :-1] @ values
    middle = moved.T @ moved / len(moved) + (residual * inside if sampling else 0.0)
    inverse = np.linalg.inv(inside)
    return _in_units(model, values, inverse @ middle @ inverse, rows=round(rows))


def _in_units(model: LinearModel, values: Floats, covariance: Floats, *, rows: int) -> Fit:
    """Return the fit in the columns' own units: undo centring and scaling."""
    described = [model.terms(place) for place in model.regressors]
    names = ("intercept", *(name for each in described for name in each[0]))
    centres, lengths = (np.concatenate([each[place] for each in described]) for place in (2, 3))
    _, _, (centre,), (scale,) = model.terms(model.outcome)
    change = np.diag(np.concatenate([[1.0], 1 / lengths]))
    change[0, 1:] = -centres / lengths
    found = scale * (change @ values)
    found[0] += centre
    errors = scale * np.sqrt(np.diag(change @ covariance @ change.T))
    return Fit(names=names, values=found, errors=errors, rows=rows, kind=ModelKind.LINEAR)
