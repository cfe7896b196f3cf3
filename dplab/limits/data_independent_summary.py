"""Errors of a release that follow from public numbers alone: guaranteed, impossible and predicted errors, rows needed.

Everything is computed from the public problem: cells, queries, n, neighbouring relation. No data set is used.

The predicted error is the median of the worst error. For a mechanism with data-independent noise it is measured on
TRIALS releases of a single public row: in rows it is the same on all data, so as a share it is divided by n. For
marginals and decision lists it is their own bound with failure probability one half.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import (
    BoundKind,
    Dataset,
    ErrorUnit,
    Floats,
    Mechanism,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.core.bisection import least_whole
from dpcore.core.sizes import MAX_ROWS
from dpcore.limits.bounds.applicable import lower_curve
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.randomness import Preview
from dplab.measure import BLOCK_SECONDS, finish, measure
from dplab.sweep import EPSILON_GRID

TRIALS = 200
ONE_ROW = Provenance(kind=ProvenanceKind.GENERATED, title="one public row")

Maker = Callable[[float], Mechanism]
"""Makes a mechanism at a given ε."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DataIndependentSummary:
    """Errors against epsilon, as shares of n, that hold for all data.

    Attributes:
        n: number of rows of the problem.
        keys: keys of the mechanisms, (K,).
        epsilons: the grid of ε, (E,).
        promised: guaranteed worst error, (K, E); inf without a guarantee.
        predicted: median worst error, (K, E); NaN where it depends on the data.
        lower_bound: values of ε (I,) and errors (I,) that no mechanism beats on all data; None where none is known.
        if_n: keys of the mechanisms whose guarantee requires that n is the number of rows, which is not checked.
    """

    n: int
    keys: tuple[str, ...]
    epsilons: Floats
    promised: Floats
    predicted: Floats
    lower_bound: tuple[Floats, Floats] | None
    if_n: frozenset[str] = frozenset()


def promised_error(mechanism: Mechanism, problem: Problem, *, beta: float) -> float:
    """Return the guaranteed worst error for all data, a share of n; infinity without a guarantee.

    A public n is assumed to be the number of rows; any other unmet condition voids the guarantee.
    """
    bound = mechanism.accuracy(problem, beta)
    met = all(each.met for each in bound.assumptions if each not in problem.unchecked_n)
    proved = bound.kind is BoundKind.GUARANTEE and bound.unit is not ErrorUnit.TABLES  # rows have no guarantee
    return bound.value if met and proved else math.inf


def depends_on_n(mechanism: Mechanism, problem: Problem, *, beta: float) -> bool:
    """Return whether ``promised_error`` assumes that the public n is the number of rows."""
    if not problem.unchecked_n:
        return False
    return any(each in problem.unchecked_n for each in mechanism.accuracy(problem, beta).assumptions)


def predicted_error(mechanism: Mechanism, problem: Problem, *, seed: int = 0) -> float:
    """Return the median worst error, a share of n; NaN where it depends on the data or takes long to simulate."""
    if isinstance(mechanism, PolynomialMarginals | DecisionListMarginals):
        error = promised_error(mechanism, problem, beta=0.5)
        return error if error < math.inf else math.nan
    before, each = mechanism.preview_seconds(problem)
    if not mechanism.data_independent or before + TRIALS * each > BLOCK_SECONDS:
        return math.nan
    one_row_problem = dataclasses.replace(problem, n=1)
    row = Dataset(problem.domain, np.zeros(1, dtype=np.int64), ONE_ROW)
    work = measure(
        mechanism, row, mechanism.prepare(row, one_row_problem), Preview(seed), trials=TRIALS, queries_shown=1
    )
    return float(np.median(finish(work).worst)) / problem.n


def data_independent_summary(
    makers: Mapping[str, Maker],
    problem: Problem,
    *,
    chosen: str,
    beta: float,
    epsilons: Sequence[float] = EPSILON_GRID,
    seed: int = 0,
    questions: int | None = None,
) -> Generator[float, None, DataIndependentSummary]:
    """Compute the errors of every mechanism at every ε; yields the fraction done.

    The row of a mechanism without a guarantee for this problem holds infinity and NaN.

    Args:
        makers: functions that make the mechanisms, by key.
        problem: the public problem.
        chosen: key of the mechanism to whose guarantee the lower bound applies.
        beta: failure probability of guarantees and lower bound.
        epsilons: the grid of ε.
        seed: seed of the simulated predictions.
        questions: number of adaptive queries to which the lower bound applies; None for all queries.
    """
    shape = len(makers), len(epsilons)
    promised, predicted = np.full(shape, math.inf), np.full(shape, math.nan)

    def promise(mechanism: Mechanism) -> float:
        mechanism.guarantee(problem)
        return promised_error(mechanism, problem, beta=beta)

    # Guarantees come first: they may take long, and are cached if the caller stops before the simulations.
    passes = ((promised, promise), (predicted, lambda mechanism: predicted_error(mechanism, problem, seed=seed)))
    proved = dict.fromkeys(makers, len(epsilons))
    for step, (values, compute) in enumerate(passes):
        for row, (key, make) in enumerate(makers.items()):
            yield (step + row / shape[0]) / len(passes)  # a first guarantee may take seconds: report progress first
            for column, epsilon in enumerate(epsilons[: proved[key]]):
                try:
                    values[row, column] = compute(make(epsilon))
                except ParameterError:  # no guarantee for this problem, or for so many cells
                    proved[key] = column
                    break
                yield (step + (row + (column + 1) / shape[1]) / shape[0]) / len(passes)
    try:
        bound = lower_curve(problem, makers[chosen](epsilons[0]), epsilons=epsilons, beta=beta, questions=questions)
    except ParameterError:
        bound = None
    if_n = frozenset(
        key
        for row, (key, make) in enumerate(makers.items())
        if np.isfinite(promised[row]).any() and depends_on_n(make(epsilons[0]), problem, beta=beta)
    )
    return DataIndependentSummary(
        n=problem.n,
        keys=tuple(makers),
        epsilons=np.array(epsilons),
        promised=promised,
        predicted=predicted,
        lower_bound=bound,
        if_n=if_n,
    )


def rows_needed(mechanism: Mechanism, problem: Problem, *, target: float, beta: float) -> int | None:
    """Return the smallest n at which the theorem guarantees the target as worst error; None where no n does.

    Raises:
        ParameterError: the target is not a share of n, or the mechanism has no guarantee for this problem.
    """
    if not 0 < target < 1:
        raise ParameterError(f"A target error must lie between 0 and 1, got {target!r}.")

    def is_enough(n: int) -> bool:
        return promised_error(mechanism, dataclasses.replace(problem, n=n), beta=beta) <= target

    low, high = 0, 1
    while not is_enough(high):
        if high == MAX_ROWS:
            return None
        low, high = high, min(8 * high, MAX_ROWS)
    return least_whole(is_enough, low, high)
