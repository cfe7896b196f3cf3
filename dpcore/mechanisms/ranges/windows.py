"""Windows: measure every cell a little and overlapping stretches of the line a little, then estimate by least squares.

Noise on single cells piles up in long ranges; noise on long stretches says little of short ranges. Triangular windows
of two or three widths are weighted for a small mean error over all prefixes or all ranges. Where noise is at least one
row wide their mean error is at most that of the hierarchy and of the identity, and on 64 to 1,024 cells within two
hundredths of the best that a search over all weights has found. On few cells that may mean no windows, but cells alone.

Why it is private: the weights of a cell, whole numbers that are not negative, add up to S. So one row that comes or
goes moves all that is measured by S in L1, one that is replaced by at most 2 S; discrete Laplace noise of scale S/ε or
2 S/ε hides that. The strategy is made from sizes alone. Least squares, and the public n, are post-processing.

Notation: S, steps of a weight; D, the cells' own weights; A, the windows'; X = (D^2 + A'A)/S^2; M = X^-1, less its part
along the ones where n is public.

References:
    Li, Hay, Rastogi, Miklau and McGregor (2010); McKenna, Miklau, Hay and Machanavajjhala (2018); the windows are ours.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypedDict

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DataRelease,
    DomainType,
    Entry,
    Floats,
    HistogramState,
    Integers,
    Neighbours,
    Problem,
    PureMechanism,
    checkpoint,
    epsilon_param,
    param,
    rows_up,
)
from dpcore.mechanisms.histograms.concentration import laplace_log_moment
from dpcore.mechanisms.ranges.estimates import Estimate, Solver, estimate, mean_squares
from dpcore.mechanisms.ranges.strategy import MAX_DENSE, MAX_FREE, Strategy, identity_strategy, strategy
from dpcore.queries.ranges import Intervals, Thresholds
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_variance

NONE = 1e-12
"""A share of noise that is none but for rounding."""
BLOCK = 512
"""Rows of which pairs are looked through at a time."""
NEAR = 32
"""Cells on either side of a prefix's end whose shares are worked out one by one."""


def worst_prefix(solver: Estimate) -> tuple[float, float]:
    """Return over all prefixes the largest sum of squared shares, and a number that no share exceeds; cell by cell.

    One cell more changes what the prefix weighs in a few windows, so the windows' shares g follow from a few columns of
    an inverse. The sum of squares is 1'X^-1 1 on the prefix. Of the cells' own shares those near its end are worked
    out; none of the others can be larger than the root of what they leave of that sum.
    """
    cells, columns = solver.cells, solver.windows.tocsc()
    inverse = np.ascontiguousarray(solver.within(np.eye(columns.shape[0])))  # its rows are read, one by one
    whole = solver.shares_of_ones()
    counts = np.diff(columns.indptr)
    place = np.arange(int(counts.max()))  # of a window among those over a cell
    among = np.where(place < counts[:, None], columns.indptr[:-1, None] + place, 0)
    over, height = columns.indices[among], np.where(place < counts[:, None], columns.data[among], 0.0)
    added = height / solver.own[:cells, None] ** 2
    squares, total = np.cumsum(1 / solver.own[:cells] ** 2), float(solver.ones.sum())
    sums = np.cumsum(solver.ones[:cells])
    shares, weighed = np.zeros(columns.shape[0]), np.zeros(columns.shape[0])
    square = largest = 0.0
    for last in range(cells):
        if last % BLOCK == 0:
            checkpoint()
        np.add.at(weighed, over[last], added[last])
        shares += added[last] @ inverse[over[last]]
        known = sums[last] / total if solver.known else 0.0
        variance = float(squares[last] - weighed @ shares) - known * sums[last]
        part = slice(max(0, last - NEAR), last + NEAR + 1)
        own = -(height[part] * shares[over[part]]).sum(axis=1)
        own[: last - part.start + 1] += 1
        own = own / solver.own[:cells][part] - known * whole[:cells][part]
        other = shares - known * whole[len(solver.own) :]
        left = math.sqrt(max(0.0, variance * (1 + 1e-9) - own @ own - other @ other))
        square = max(square, variance)
        largest = max(largest, left, np.abs(own).max(), np.abs(other).max(initial=0))
    return square, float(largest)


@lru_cache(maxsize=64)
def worst_query(plan: Strategy, *, spare: int, prefixes: bool, known: bool) -> tuple[float, float]:
    """Over all queries: the largest sum of squared shares, and the largest share; kept: sizes alone make a strategy.

    The share of a prefix in each measured value is a running sum over cells; a range's is a difference of two. Sums of
    squared shares follow from those of M along both sides. On more than MAX_DENSE cells both numbers are those of
    prefixes.
    """
    solver, cells = estimate(plan, spare=spare, known=known), len(plan.own)
    if cells > MAX_DENSE:
        return worst_prefix(solver)
    turned = solver.turned(np.eye(cells, len(solver.own)))
    checkpoint()
    sums = np.pad(np.cumsum(solver.shares_of(turned), axis=0), ((1, 0), (0, 0)))
    largest = np.abs(sums).max() if prefixes else (sums.max(axis=0) - sums.min(axis=0)).max()
    checkpoint()
    return worst_square_of(turned[:, :cells], prefixes=prefixes), float(largest)


def worst_square_of(inverse: Floats, *, prefixes: bool) -> float:
    """Return the largest of w'Mw over all prefixes or all ranges w, for M (U, U), symmetric."""
    products = np.zeros((len(inverse) + 1, len(inverse) + 1))
    np.cumsum(inverse, axis=0, out=products[1:, 1:])
    np.cumsum(products, axis=1, out=products)
    square = np.diag(products)
    if prefixes:
        return float(square.max())
    worst = 0.0
    for first in range(0, len(square), BLOCK):
        checkpoint()
        end = first + BLOCK  # of a pair either order is the same
        worst = max(worst, float((square[first:end, None] + square[first:] - 2 * products[first:end, first:]).max()))
    return worst


def steps_param(default: int, least: int, most: int, *, stops: tuple[int, ...]) -> Any:
    """Return the parameter S of mechanisms whose weights are whole numbers of steps."""
    return param(
        default, least, most, label="Steps of a weight", symbol="S", log=True, stops=stops,
        help="Weights are integer multiples of a step, so that the noise is integer, too. More steps "
             "approximate the weights better.",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowsRelease(DataRelease):
    """Measured values in steps, cells' and windows', (T, size + K): whole numbers; the data are estimated from them."""

    published = ("measured",)
    measured: Integers
    solver: Solver
    steps: int

    @override
    def histogram(self) -> Floats:
        """Estimated rows per cell, (T, size); not whole, and below 0 where the noise has it so."""
        return self.solver.counts(self.measured / self.steps, n=self.problem.n)


@dataclass(frozen=True, kw_only=True)
class StrategyMechanism(PureMechanism):
    """The values of a strategy with discrete Laplace noise, and the data estimated from them by least squares."""

    data_independent: ClassVar[bool] = True

    epsilon: float = epsilon_param()

    @abstractmethod
    def plan(self, problem: Problem) -> Strategy:
        """Return the strategy: the same object for the same public sizes and ε."""

    def solver(self, problem: Problem) -> Estimate:
        """Return the estimate for the problem's sizes."""
        return estimate(self.plan(problem), **estimate_sizes(problem))

    def variance(self, problem: Problem, indices: Integers) -> Floats:
        """Exact variance in rows^2 of the answers to the queries ``indices`` (Q,), whatever the data are: (Q,)."""
        shares = self.solver(problem).shares(query_rows(problem, indices))
        variances: Floats = (
            (shares**2).sum(axis=1) * laplace_variance(self._scale(problem)) / self.plan(problem).steps ** 2
        )
        return variances

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        plan, prefixes, scale = self.plan(problem), isinstance(problem.queries, Thresholds), self._scale(problem)
        worst = worst_query(plan, prefixes=prefixes, **estimate_sizes(problem))
        cells = problem.domain.ordered
        rows = error_tail_bound(worst, cells=cells, prefixes=prefixes, scale=scale, beta=beta) / plan.steps
        ends = 2 if problem.domain.ordered > MAX_DENSE and not prefixes else 1
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"The worst {problem.queries.one if ends == 1 else 'end of a range'} has the noise of "
            f"{worst[0]:,.4g} cells, of scale {scale / plan.steps:,.4g} rows. No answer has an error above "
            f"{rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=rf"\alpha\le\frac{{{'' if ends == 1 else '2'}c}}{{n}}"
            r"\min_{\lambda>0}\frac{(v/c^2)\ln\mathbb{E}e^{\lambda Z}+\ln\frac{2|Q|}\beta}"
            r"{\lambda},\quad v=\max_w w^\top Mw,\quad Z\sim\mathrm{DLap}(\Delta/\varepsilon)",
            reference="least squares; Chernoff's bound, union bound over the class",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> WindowsRelease:
        problem, solver = state.problem, self.solver(state.problem)
        draw = NoisyCounts(
            solver.measured(state.histogram[None, :]),
            epsilon=self.epsilon,
            sensitivity=solver.plan.steps * sum(problem.neighbours.histogram_shift),
        )
        return self.release(
            WindowsRelease,
            state,
            sampler,
            trials,
            measured=sampler.draw(draw, trials),
            solver=solver,
            steps=solver.plan.steps,
        )

    def _scale(self, problem: Problem) -> float:
        """Return the scale of the noise, in steps."""
        return self.plan(problem).steps * sum(problem.neighbours.histogram_shift) / self.epsilon


@dataclass(frozen=True, kw_only=True)
class Windows(StrategyMechanism):
    """Cells and overlapping windows with discrete Laplace noise, estimated by least squares."""

    steps: int = steps_param(4096, 2, 65536, stops=(2, 65536))

    @override
    def plan(self, problem: Problem) -> Strategy:
        """The windows for the problem's class, or on few cells the cells alone where these have the smaller error.

        Cells alone need one step, so their whole-number noise has a smaller variance than noise of many small steps.
        """
        prefixes, cells = isinstance(problem.queries, Thresholds), problem.domain.ordered
        searched = strategy(cells, prefixes=prefixes, known=estimate_sizes(problem)["known"], steps=self.steps)
        if cells > MAX_FREE:
            return searched

        def error(plan: Strategy) -> float:
            scale = plan.steps * sum(problem.neighbours.histogram_shift) / self.epsilon
            squares = mean_squares(plan, prefixes=prefixes, **estimate_sizes(problem))
            return squares * laplace_variance(scale) / plan.steps**2

        return min((identity_strategy(cells), searched), key=error)

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: the strategy is found once for a size; estimates take windows times cells each."""
        cells = problem.domain.ordered
        if cells > MAX_DENSE:
            return 2.5e-4 * cells, 4e-7 * cells
        return 2.2e-7 * cells**2, 3e-10 * cells**2


class EstimateSizes(TypedDict):
    """Cells that are measured alone, and whether the number of rows is public."""

    spare: int
    known: bool


def estimate_sizes(problem: Problem) -> EstimateSizes:
    """Return the public sizes that determine an estimate, besides the strategy."""
    return {
        "spare": problem.domain.size - problem.domain.ordered,
        "known": problem.neighbours is Neighbours.REPLACE_ONE,
    }


def error_tail_bound(worst: tuple[float, float], *, cells: int, prefixes: bool, scale: float, beta: float) -> float:
    """Steps by which some query errs with chance at most beta; ``worst`` is worst_query's, the noise's scale in steps.

    Chernoff's bound for each query and a union bound over the class. With v the largest sum of squared shares and c the
    largest share, log E e^(λ error) is at most (v/c^2) times log E e^(λ c Z), as the even cumulants of Z are positive
    and the odd ones 0. On more than MAX_DENSE cells the class is that of prefixes, and a range errs by at most twice
    as much as the worst of them.
    """
    square, largest = worst
    if largest < NONE:  # a single cell whose rows are public
        return 0.0
    count = cells if prefixes or cells > MAX_DENSE else cells * (cells + 1) // 2
    ends = 2 if cells > MAX_DENSE and not prefixes else 1  # a range is the difference of two prefixes
    rates = np.logspace(-6, 0, 600, endpoint=False) / scale
    moments = square / largest**2 * laplace_log_moment(scale)(rates)
    return ends * largest * float(((moments + math.log(2 * count / beta)) / rates).min())


def query_rows(problem: Problem, indices: Integers) -> Floats:
    """Return the queries as rows of zeros and ones, (Q, size)."""
    assert isinstance(problem.queries, Thresholds | Intervals)
    first, last = problem.queries.ends(indices)
    cell = np.arange(problem.domain.size)
    inside: Floats = ((cell >= first[:, None]) & (cell <= last[:, None])).astype(np.float64)
    return inside


ENTRIES = (
    Entry(
        key="windows",
        mechanism=Windows,
        title="Overlapping windows",
        story="Measures cells and overlapping windows, weighted for all queries at once, then fits them. The "
        "error is the same on all data and known in advance.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds, Intervals),
        references=(
            "Li, Hay, Rastogi, Miklau and McGregor (2010)",
            "McKenna, Miklau, Hay and Machanavajjhala (2018)",
        ),
        tiny={"steps": 2},
    ),
)
