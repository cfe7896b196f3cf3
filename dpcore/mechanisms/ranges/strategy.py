"""The strategy for ranges: overlapping triangular windows on every cell's own count, with the best weights.

A strategy is a matrix of weights, one column a cell. Column i holds the weights A[:, i] of the windows and D[i] of the
cell itself; none is negative and they add up to 1, so a row of the data moves all measured values together by 1 in L1.
With X = D^2 + A'A the least-squares estimate of a query w errs with variance w'X^-1 w, times that of the noise; where
n is public, the sum of all cells is known for nothing and X^-1 loses X^-1 1 1' X^-1 / (1' X^-1 1).

The windows are B[j] = b[j] h[j] for triangles h[j] of several widths, and the columns of (I; B) are divided by their
sums: c = 1 + sum of B, D = 1/c, A = B/c. The weights b minimise the mean variance over the class of queries, exactly:
each value and gradient costs O(K^2 U) for K windows on U cells, as G = mean of w w' is applied by running sums. On few
cells every entry of B is then moved freely, from there. On up to MAX_RESTARTED cells the search stops in local minima:
it is started from other weights and from trees as well, and the least mean is taken, cells alone included. On very
many cells each width has one weight and the mean is over some queries drawn beforehand.
`python -m benchmarks range_limits` searches for anything better.

Results of long searches are cached on disk (``strategy_cache.py``), only the windows' weights: the shift of a row
does not follow from a file. A cell's own weight is the rest of the steps that the windows leave, so all columns add up
to them. A negative weight, or one that leaves a cell nothing, is refused. A changed file can only make answers worse.

References:
    Li, Hay, Rastogi, Miklau and McGregor (2010) for strategies and the least-squares estimate; McKenna, Miklau, Hay and
    Machanavajjhala (2018) for p-Identity strategies, of which this is one; the windows are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.core import Floats, Integers, ParameterError, checkpoint
from dpcore.mechanisms.ranges import mean_error, strategy_cache
from dpcore.mechanisms.ranges.mean_error import mean_variance
from dpcore.mechanisms.ranges.nodes import nodes

SPACING = {False: (16, 16), True: (64 / 3, 24)}
"""For ranges and for prefixes: cells to a spacing of the narrowest windows, and spacings of one level to the next's."""
MAX_DENSE = 4096
"""Cells up to which matrices are full and the mean over the class is exact."""
MAX_FREE = 256
"""Cells up to which every entry of the windows is searched."""
MAX_RESTARTED = 32
"""Cells up to which the search starts from several points: on few cells it stops in local minima."""
STEPS_OF_SEARCH = 60
STEPS_OF_POLISH = 300
FEW_STEPS = 12
NODE_WEIGHT = 0.3
"""Of a tree's nodes at the start of a search."""
MAX_WEIGHT = 4.0
"""Of a window in a cell, before columns are divided: cells whose own count is hardly measured solve badly."""
SAMPLED = 16
"""Queries that stand for the class on many cells."""
MIN_CACHED_CELLS = 100
"""Cells from which strategies are cached on disk: for fewer the search takes a twentieth of a second."""
PROGRAM = Path(__file__).read_bytes() + Path(mean_error.__file__).read_bytes()
"""Source of the search: files of another version are not read."""


def windows(cells: int, *, prefixes: bool, known: bool) -> tuple[Any, Integers]:
    """Triangles h (K, U), sparse, and the level of each, (K,); they reach over an end where a query may end there.

    >>> triangles, levels = windows(64, prefixes=False, known=False)
    >>> triangles.shape, levels.tolist()
    ((4, 64), [0, 0, 0, 0])
    """
    from scipy.sparse import csr_array, vstack

    parts: list[Any] = []
    levels: list[int] = []
    narrowest, wider = SPACING[prefixes]
    spacing, level = max(1, int(cells / narrowest)), 0
    while True:
        first, last = (0 if prefixes else 1), spacing + (1 if prefixes and known else 0)
        places = (np.arange(cells) + 0.5) * (spacing + 1) / cells
        left = np.floor(places).astype(np.int64)
        centres = np.concatenate([left, left + 1])
        heights = np.concatenate([left + 1 - places, places - left])
        inside = (centres >= first) & (centres <= last) & (heights > 0)
        where = (centres[inside] - first, np.tile(np.arange(cells), 2)[inside])
        parts.append(csr_array((heights[inside], where), shape=(last - first + 1, cells)))
        levels += [level] * (last - first + 1)
        if spacing < wider:
            return csr_array(vstack(parts)), np.array(levels, dtype=np.int64)
        spacing, level = spacing // wider, level + 1


@dataclass(frozen=True, eq=False)
class Strategy:
    """Whole-number weights: cells' own (U,), windows' (K, U); every column adds up to ``steps``.

    Attributes:
        own: weight of each cell's own count, at least 1.
        windows: weights of the windows; sparse on more than MAX_DENSE cells.
        steps: the sum of every column.

    Raises:
        ParameterError: a cell that is not measured, a weight below 0, or a column of another sum: the noise would not
            hide a row.
    """

    own: Integers
    windows: Any
    steps: int

    def __post_init__(self) -> None:
        whole = np.issubdtype(self.own.dtype, np.integer) and np.issubdtype(self.windows.dtype, np.integer)
        if not whole or self.own.min() < 1 or (self.windows < 0).sum():
            raise ParameterError("Weights are whole numbers of at least 0, and at least 1 of a cell's own.")
        if (self.windows > self.steps).sum():  # before they are added up, where large ones would begin again at 0
            raise ParameterError(f"No weight may exceed {self.steps}.")
        if (self.own + self.windows.sum(axis=0) != self.steps).any():
            raise ParameterError(f"The weights of every cell must add up to {self.steps}.")


@lru_cache(maxsize=64)
def strategy(cells: int, *, prefixes: bool, known: bool, steps: int) -> Strategy:
    """Return the best windows for all prefixes or all ranges, weights rounded down to whole steps; kept: sizes alone.

    Args:
        cells: how many in order.
        prefixes: whether the queries are prefixes; else ranges.
        known: whether the number of rows is public, so that the sum of all cells need not be measured.
        steps: the sum of a column.
    """
    if cells < MIN_CACHED_CELLS:
        return _build_strategy(cells, prefixes=prefixes, known=known, steps=steps)
    name = strategy_cache.name_of(PROGRAM, version("numpy"), version("scipy"), cells, prefixes, known, steps)
    if (cached := strategy_cache.read(name)) is not None:
        with suppress(ParameterError):  # else it is found again
            return deserialise(cached, cells=cells, steps=steps)
    result = _build_strategy(cells, prefixes=prefixes, known=known, steps=steps)
    strategy_cache.write(name, serialise(result))
    return result


@lru_cache(maxsize=64)
def identity_strategy(cells: int) -> Strategy:
    """Return the strategy of each cell's own count with weight 1, without windows."""
    return Strategy(own=np.ones(cells, dtype=np.int64), windows=np.zeros((0, cells), dtype=np.int64), steps=1)


def serialise(plan: Strategy) -> bytes:
    """Return the windows as whole numbers of four bytes: their number; cells of each; those cells in order; weights."""
    from scipy.sparse import csr_array

    rows = csr_array(plan.windows)
    rows.sort_indices()
    parts = ([rows.shape[0]], np.diff(rows.indptr), rows.indices, rows.data)
    return np.concatenate(parts).astype("<u4").tobytes()


def deserialise(content: bytes, *, cells: int, steps: int) -> Strategy:
    """Return the strategy with these windows, for this many cells and steps.

    Raises:
        ParameterError: if there is none.
    """
    from scipy.sparse import csr_array

    numbers = np.frombuffer(content[: len(content) // 4 * 4], dtype="<u4").astype(np.int64)
    count = int(numbers[0]) if len(numbers) else cells + 1
    lengths = numbers[1 : count + 1]
    rest = numbers[count + 1 :]
    if count > cells or len(lengths) < count or len(rest) != 2 * lengths.sum() or len(content) % 4:
        raise ParameterError("These are no windows.")
    place, weights = np.split(rest, 2)
    row = np.repeat(np.arange(count), lengths)
    if (place >= cells).any() or (np.diff(row * cells + place) <= 0).any():
        raise ParameterError("Windows are of cells, each once and in order.")
    matrix = csr_array((weights, place, np.concatenate([[0], np.cumsum(lengths)])), shape=(count, cells))
    if cells <= MAX_DENSE:
        matrix = matrix.toarray()
    return Strategy(own=steps - matrix.sum(axis=0), windows=matrix, steps=steps)


def _build_strategy(cells: int, *, prefixes: bool, known: bool, steps: int) -> Strategy:
    """Return the best windows, searched for."""
    triangles, levels = windows(cells, prefixes=prefixes, known=known)
    if cells > MAX_DENSE:
        mean = sampled_mean(triangles, levels, prefixes=prefixes, known=known)
        measured = _rows_times(triangles, _minimise(mean, np.full(int(levels.max()) + 1, 0.5), FEW_STEPS)[levels])
    else:
        measured = _searched(triangles.toarray(), levels, prefixes=prefixes, known=known)
    shares = steps / (1 + measured.sum(axis=0))
    if cells > MAX_DENSE:
        whole = (measured * shares).tocsr()
        whole.data = np.floor(whole.data)
        whole = whole.astype(np.int64)
        whole.eliminate_zeros()
        whole = whole[np.diff(whole.indptr) > 0]
    else:
        whole = np.floor(measured * shares).astype(np.int64)
        whole = whole[whole.any(axis=1)]
    return Strategy(own=steps - whole.sum(axis=0), windows=whole, steps=steps)


def _searched(triangles: Floats, levels: Integers, *, prefixes: bool, known: bool) -> Floats:
    """The best windows B (K, U) found by the exact mean: multiples of triangles, then, on few cells, any weights."""
    cells = triangles.shape[1]
    group = levels if cells > MAX_DENSE // 2 else np.arange(len(levels))
    count = int(group.max()) + 1

    def by_group(weights: Floats) -> tuple[float, Floats]:
        value, gradient = mean_variance(weights[group][:, None] * triangles, prefixes=prefixes, known=known)
        summed = np.bincount(group, weights=(triangles * gradient).sum(axis=1), minlength=count)
        return value, summed.astype(np.float64)

    def polish(start: Floats) -> Floats:
        def free(entries: Floats) -> tuple[float, Floats]:
            value, gradient = mean_variance(entries.reshape(start.shape), prefixes=prefixes, known=known)
            return value, gradient.ravel()

        return _minimise(free, start.ravel(), STEPS_OF_POLISH).reshape(start.shape)

    weights = _minimise(by_group, np.full(count, 0.5), STEPS_OF_SEARCH)
    measured: Floats = weights[group][:, None] * triangles
    if cells > MAX_FREE:
        return measured
    candidates = [polish(measured), np.zeros((1, cells))]
    if cells <= MAX_RESTARTED:
        trees = [NODE_WEIGHT * nodes(cells, branches=branches).toarray() for branches in (2, 4) if branches < cells]
        candidates += [polish(start) for start in (0.2 * triangles, *trees)]
    return min(candidates, key=lambda windows: mean_variance(windows, prefixes=prefixes, known=known)[0])


def _minimise(objective: Callable[[Floats], tuple[float, Floats]], start: Floats, steps: int) -> Floats:
    """Minimise a function with a gradient over numbers of at least 0."""
    from scipy.optimize import minimize  # not before somebody asks: it takes a while to import

    def cancellable_objective(weights: Floats) -> tuple[float, Floats]:
        checkpoint()
        return objective(weights)

    bounds = [(0, MAX_WEIGHT)] * len(start)
    minimum = minimize(
        cancellable_objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps}
    )
    best: Floats = minimum.x
    return best


def sampled_mean(
    triangles: Any, levels: Integers, *, prefixes: bool, known: bool
) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the mean variance over SAMPLED queries and its gradient, as a function of one weight a level (L,).

    Triangles (K, U) are sparse. With z = N c w for a query w, its variance is (c w)'z.
    """
    from scipy.sparse import csr_array

    cells, count = triangles.shape[1], int(levels.max()) + 1
    ends = np.sort(np.random.Generator(np.random.PCG64(1)).random((2, SAMPLED)), axis=0) * cells
    if prefixes:
        ends = np.stack([np.zeros(SAMPLED), (np.arange(SAMPLED) + 0.5) / SAMPLED * cells])
    place = np.arange(cells)[:, None]
    queries = ((place >= np.floor(ends[0])) & (place <= np.floor(ends[1]))).astype(np.float64)
    queries = np.concatenate([queries, np.ones((cells, 1))], axis=1)
    of_level = csr_array((np.ones(len(levels)), (levels, np.arange(len(levels)))), shape=(count, len(levels)))
    sums = of_level @ triangles  # (L, U)
    overlaps = triangles @ triangles.T

    def objective(weights: Floats) -> tuple[float, Floats]:
        each = weights[levels]
        column = 1 + sums.T @ weights
        solve = solving(_rows_times(_rows_times(overlaps, each).T, each))
        scaled = column[:, None] * queries
        solved = scaled - triangles.T @ (each[:, None] * solve(each[:, None] * (triangles @ scaled)))
        measured = triangles @ solved

        def products(other: Floats, solved_other: Floats, measured_other: Floats) -> tuple[Floats, Floats]:
            """Return the values of (c w)'N(c v), (Q,), and their gradients in the weights, (L, Q)."""
            values = (column[:, None] * other * solved).sum(axis=0)
            by_column = sums @ (queries * solved_other + other * solved)
            return values, by_column - 2 * weights[:, None] * (of_level @ (measured * measured_other))

        values, gradients = products(queries, solved, measured)
        if known:
            crossed, moved = products(queries[:, -1:], solved[:, -1:], measured[:, -1:])
            total = values[-1] + 1
            gradients = gradients - 2 * crossed / total * moved + (crossed / total) ** 2 * gradients[:, -1:]
            values = values - crossed**2 / total
        return float(values[:-1].mean()), gradients[:, :-1].mean(axis=1)

    return objective


def solving(inside: Any) -> Callable[[Floats], Floats]:
    """Return a solver of (I + inside) x = b for the columns of b: an inverse if it is full, factors if it is sparse.

    The matrix is symmetric and positive: with pivots off the diagonal a factor has ten times the entries, and errs.
    """
    if isinstance(inside, np.ndarray):
        inverse = np.linalg.inv(np.eye(len(inside)) + inside)
        return lambda columns: inverse @ columns
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    whole = (eye_array(inside.shape[0]) + inside).tocsc()
    factored = splu(whole, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return lambda columns: factored.solve(np.ascontiguousarray(columns))


def _rows_times(matrix: Any, factors: Floats) -> Any:
    """Return each row of a sparse matrix times its factor."""
    from scipy.sparse import csr_array

    scaled = csr_array(matrix, copy=True).astype(np.float64)
    scaled.data *= np.repeat(factors, np.diff(scaled.indptr))
    return scaled
