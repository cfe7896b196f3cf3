"""What is known of a release before anybody looks at the data: promise, wall, rows needed, predicted error.

Everything here is worked out from the public problem: cells, queries, n, neighbours. No data set goes in.

The predicted error is one that half of all releases keep to. Of a mechanism that says its errors have one law on all
data it is the median of its worst error over TRIALS releases of a single public row: in rows it is the same on all
data, so as a share it is divided by n. Of marginals and lists it is their own bound, with failure chance one half.
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
from dpcore.core.problem import MAX_ROWS
from dpcore.limits.bounds.applicable import lower_curve
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.randomness import Preview
from dplab.measure import BLOCK_SECONDS, finish, measure
from dplab.sweep import EPSILON_GRID

TRIALS = 200
ONE_ROW = Provenance(kind=ProvenanceKind.GENERATED, title="one public row")

Maker = Callable[[float], Mechanism]
"""A mechanism at a privacy loss."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DataIndependentSummary:
    """Errors against epsilon, as shares of n, that hold whatever the data are.

    Attributes:
        n: rows of the problem.
        keys: of the mechanisms, (K,).
        epsilons: the grid, (E,).
        promised: the promised worst error, (K, E); inf where nothing is promised.
        predicted: a worst error that half of all releases keep to, (K, E); NaN where it depends on the data.
        lower_bound: values of ε (I,) and errors (I,) that no mechanism beats on all data; None where none is known.
        if_n: keys of the mechanisms that promise something only if n is the number of rows, which nothing checks.
    """

    n: int
    keys: tuple[str, ...]
    epsilons: Floats
    promised: Floats
    predicted: Floats
    lower_bound: tuple[Floats, Floats] | None
    if_n: frozenset[str] = frozenset()


def promised_error(mechanism: Mechanism, problem: Problem, *, beta: float) -> float:
    """The worst error that is promised for all data, a share of n; infinity where nothing is.

    That a public n is the number of rows is taken for granted; any other condition that is not met leaves nothing.
    """
    bound = mechanism.accuracy(problem, beta)
    met = all(each.met for each in bound.assumptions if each not in problem.unchecked_n)
    proved = bound.kind is BoundKind.GUARANTEE and bound.unit is not ErrorUnit.TABLES  # of rows nothing is known
    return bound.value if met and proved else math.inf


def depends_on_n(mechanism: Mechanism, problem: Problem, *, beta: float) -> bool:
    """Whether ``promised_error`` took n for granted: unless it is the number of rows, nothing is promised."""
    if not problem.unchecked_n:
        return False
    return any(each in problem.unchecked_n for each in mechanism.accuracy(problem, beta).assumptions)


def predicted_error(mechanism: Mechanism, problem: Problem, *, seed: int = 0) -> float:
    """A worst error that half of all releases keep to, a share of n; NaN where it depends on data, or takes long."""
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
    """Work it out for every mechanism at every loss; yields the fraction done.

    A mechanism that has no guarantee for this problem has nothing in its row.

    Args:
        makers: by key.
        problem: what is asked.
        chosen: key of the mechanism whose guarantee the wall is for.
        beta: failure chance of promises and wall.
        epsilons: the grid.
        seed: of what is simulated to predict.
        questions: of how many, each after the last answer, the wall is; None for all.
    """
    shape = len(makers), len(epsilons)
    promised, predicted = np.full(shape, math.inf), np.full(shape, math.nan)

    def promise(mechanism: Mechanism) -> float:
        mechanism.guarantee(problem)
        return promised_error(mechanism, problem, beta=beta)

    # Promises first: their long steps may be left within, and who comes back finds them done before anything is drawn.
    passes = ((promised, promise), (predicted, lambda mechanism: predicted_error(mechanism, problem, seed=seed)))
    proved = dict.fromkeys(makers, len(epsilons))
    for step, (values, compute) in enumerate(passes):
        for row, (key, make) in enumerate(makers.items()):
            yield (step + row / shape[0]) / len(passes)  # a first promise may take seconds, and is seen to be under way
            for column, epsilon in enumerate(epsilons[: proved[key]]):
                try:
                    values[row, column] = compute(make(epsilon))
                except ParameterError:  # not proved here, or not on so many cells
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
    """The least n at which the theorem promises a worst error of at most the target; None where it does so at none.

    Raises:
        ParameterError: the target is no share of n, or the mechanism has no promise for this problem.
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
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
