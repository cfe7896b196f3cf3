"""Private tree, then windows: locate the rows with a little of ε, and measure only there with the rest.

Most columns have their rows in few places; windows measure all of the line alike. So a part of ε halves the line again
and again where rows are (``halving.py``), and the rest measures overlapping windows on the stretches that are left, as
if each were a cell (``windows.py``). Inside a stretch its rows are assumed to be spread evenly. On 32 cells or
more with few rows for the cells its error is usually below that of windows; with many rows all over the line it is up
to two fifths larger. When to prefer it is a rule of public numbers (``dplab/advice.py``).

Why it is private: the tree is ε₁-private, and given the tree a row is in one stretch, so the windows are ε₂-private;
ε = ε₁ + ε₂. The windows' strategy is that of a power of two of cells: the widest stretches are halved once more, by the
tree alone, until there are as many. All releases draw equally many numbers; those that are not needed are forgotten.

Accuracy: a stretch that was not halved at depth k has at most kδ + J rows unless some noise falls below -J. A prefix
ends in one stretch, and is wrong there by no more than its rows; what it gathers of noise is a mixture of what the
prefixes of whole stretches gather.

Notation: epsilon = ε; share, ε₁/ε; P, stretches; D, levels; δ, decay; λ, scale of the tree's noise; S, steps.

References:
    Zhang, Xiao and Xie (2016) for private trees; Li, Hay, Rastogi, Miklau and McGregor (2010) for strategies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Booleans,
    Bound,
    BoundKind,
    DataRelease,
    DomainType,
    Entry,
    Floats,
    HistogramState,
    Integers,
    Problem,
    PureMechanism,
    epsilon_param,
    param,
    rows_up,
)
from dpcore.mechanisms.ranges.estimates import Estimate, estimate
from dpcore.mechanisms.ranges.halving import Halving, decay, edges, least_scale, levels
from dpcore.mechanisms.ranges.strategy import MAX_DENSE, Strategy, strategy
from dpcore.mechanisms.ranges.windows import error_tail_bound, estimate_sizes, steps_param, worst_query
from dpcore.queries.ranges import Intervals, Thresholds
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile


def counts_of(cells: int) -> tuple[int, ...]:
    """Return the possible numbers of stretches."""
    return (*(1 << level for level in range(levels(cells))), cells)


@lru_cache(maxsize=64)
def worst_queries(
    cells: int, *, prefixes: bool, steps: int, spare: int, known: bool
) -> tuple[tuple[float, float], ...]:
    """Return ``worst_query`` for each possible number of stretches; cached: sizes alone."""
    plans = (strategy(count, prefixes=prefixes, known=known, steps=steps) for count in counts_of(cells))
    return tuple(worst_query(plan, prefixes=prefixes, spare=spare, known=known) for plan in plans)


def stretches(halved: tuple[Booleans, ...], cells: int) -> Booleans:
    """Return the cells that start a stretch (T, cells); the widest unhalved ones are halved, up to a power of two.

    >>> stretches((np.array([[True]]), np.array([[True, False]])), 4).astype(int)
    array([[1, 1, 1, 1]])
    >>> stretches((np.array([[False]]), np.array([[False, False]])), 4).astype(int)
    array([[1, 0, 0, 0]])
    """
    count = 1 + sum(cut.sum(axis=1) for cut in halved)
    left = np.minimum(1 << np.ceil(np.log2(count)).astype(np.int64), cells) - count
    starts = np.zeros((len(left), cells), dtype=np.bool_)
    starts[:, 0] = True
    there = np.ones((len(left), 1), dtype=np.bool_)
    for level, cut in enumerate(halved):
        spare = there & ~cut & (np.diff(edges(cells, level)) > 1)
        spare &= np.cumsum(spare, axis=1) <= left[:, None]
        left = left - spare.sum(axis=1)
        middles = edges(cells, level + 1)[1::2]
        both = cut | spare
        trial, place = np.nonzero(both)
        starts[trial, middles[place]] = True
        there = np.repeat(both, 2, axis=1)
    return starts


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeWindowsRelease(DataRelease):
    """Which cells start a stretch (T, cells), and what was measured of stretches and windows, in steps (T, m).

    A trial with fewer stretches than others has zeros behind what it measured.
    """

    published = ("starts", "measured")
    starts: Booleans
    measured: Integers
    steps: int

    @override
    def histogram(self) -> Floats:
        """Estimated rows per cell, (T, size), even within a stretch; not whole, and below 0 where the noise has it."""
        problem, (trials, cells) = self.problem, self.starts.shape
        spare = problem.domain.size - cells
        counts = np.empty((trials, cells + spare))
        for count, these in by_count(self.starts):
            solver = solver_of(problem, count, steps=self.steps)
            measured = self.measured[these, : count + spare + solver.plan.windows.shape[0]] / self.steps
            rows = solver.counts(measured, n=problem.n)
            within = np.cumsum(self.starts[these], axis=1) - 1
            wide = np.diff(np.nonzero(self.starts[these])[1].reshape(-1, count), axis=1, append=cells)
            counts[these, :cells] = np.take_along_axis(rows[:, :count] / wide, within, axis=1)
            counts[these, cells:] = rows[:, count:]
        return counts


def by_count(starts: Booleans) -> list[tuple[int, Integers]]:
    """Return the numbers of stretches, each with the trials that have that many."""
    counts = starts.sum(axis=1)
    return [(int(count), np.nonzero(counts == count)[0]) for count in np.unique(counts)]


def plans(problem: Problem, *, steps: int) -> dict[int, Strategy]:
    """The windows on as many stretches as there may be: on all of them, so that sizes alone decide what is kept."""
    prefixes, known = isinstance(problem.queries, Thresholds), estimate_sizes(problem)["known"]
    counts = counts_of(problem.domain.ordered)
    return {count: strategy(count, prefixes=prefixes, known=known, steps=steps) for count in counts}


def solver_of(problem: Problem, count: int, *, steps: int) -> Estimate:
    """Return the windows on so many stretches."""
    return estimate(plans(problem, steps=steps)[count], **estimate_sizes(problem))


@dataclass(frozen=True, kw_only=True)
class TreeWindows(PureMechanism):
    """Windows on the stretches of a private tree."""

    epsilon: float = epsilon_param()
    share: float = param(
        0.2, 0.05, 0.95, label="Share for the tree", symbol="s",
        help="The part of ε that finds where the rows are. The rest measures counts there.",
    )  # fmt: skip
    steps: int = steps_param(4096, 2, 65536, stops=(2, 65536))

    def halving_scale(self, problem: Problem) -> float:
        """Return the scale of the tree's noise, λ."""
        return least_scale(self.share * self.epsilon, levels(problem.domain.ordered), problem.neighbours)

    def numbers_drawn(self, problem: Problem) -> int:
        """Return the numbers that any tree may need, so many are drawn whatever it is."""
        numbers = [count + int(plan.windows.shape[0]) for count, plan in plans(problem, steps=self.steps).items()]
        return max(numbers) + problem.domain.size - problem.domain.ordered

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Half of β for the tree's noise, by a union bound over all tests; half for the windows', as they promise.

        One end of a range is wrong by at most the rows of a stretch that was not halved, and there are two ends.
        """
        cells, scale = problem.domain.ordered, self.halving_scale(problem)
        ends = 2 if isinstance(problem.queries, Intervals) else 1
        slack = laplace_quantile(beta / (cells - 1), scale=scale) - 1
        hidden = ends * ((levels(cells) - 1) * decay(scale) + slack)
        noise = self.steps * sum(problem.neighbours.histogram_shift) / (self.epsilon - self.share * self.epsilon)
        prefixes = isinstance(problem.queries, Thresholds)
        worst = worst_queries(cells, prefixes=prefixes, steps=self.steps, **estimate_sizes(problem))
        gathered = max(
            error_tail_bound(each, cells=count, prefixes=prefixes, scale=noise, beta=beta / 2) / self.steps
            for count, each in zip(counts_of(cells), worst, strict=True)
        )
        rows = hidden + gathered
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"At most {rows_up(hidden)} rows are hidden in the stretches in which {problem.queries.one} "
            f"ends, and noise adds at most {rows_up(gathered)}, with confidence 1 − {beta:g}.",
            formula=rf"\alpha\le\frac{{{'2' if ends == 2 else ''}((D-1)\delta+J)+N}}{{n}},\quad"
            r"(|X|-1)\Pr[Z>J]\le\frac\beta2,\quad Z\sim\mathrm{DLap}(\lambda)",
            reference="exact tails over all tests of the tree; Chernoff's bound for the windows",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
        )

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: as for windows on all cells, at most, and two noises a cell."""
        cells = problem.domain.ordered
        if cells > MAX_DENSE:
            return 3e-4 * cells, 6e-7 * cells
        return 4e-7 * cells**2, 1e-7 * cells + 3e-10 * cells**2

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> TreeWindowsRelease:
        """The tree's draws, then one draw as long as the most there could be to measure."""
        problem, cells = state.problem, state.problem.domain.ordered
        rows, beyond = state.histogram[:cells], state.histogram[cells:]
        first = self.share * self.epsilon
        halved = sampler.draw(Halving(rows, epsilon=first, neighbours=problem.neighbours), trials)
        starts = stretches(halved, cells)
        before = np.concatenate([[0], np.cumsum(rows)])
        numbers = self.numbers_drawn(problem)
        values = np.zeros((len(starts), numbers), dtype=np.int64)
        needed = np.zeros(len(starts), dtype=np.int64)
        for count, these in by_count(starts):
            places = np.nonzero(starts[these])[1].reshape(-1, count)
            counts = np.diff(before[places], axis=1, append=before[-1])
            counts = np.concatenate([counts, np.tile(beyond, (len(these), 1))], axis=1)
            measured = solver_of(problem, count, steps=self.steps).measured(counts)
            values[these, : measured.shape[1]] = measured
            needed[these] = measured.shape[1]
        draw = NoisyCounts(
            values,
            epsilon=self.epsilon - first,
            sensitivity=self.steps * sum(problem.neighbours.histogram_shift),
        )
        measured = sampler.draw(draw, trials) * (np.arange(numbers) < needed[:, None])
        return self.release(
            TreeWindowsRelease, state, sampler, trials, starts=starts, measured=measured, steps=self.steps
        )


ENTRIES = (
    Entry(
        key="tree-windows",
        mechanism=TreeWindows,
        title="Private tree, then windows",
        story="Uses a small part of ε to find where the rows are, and measures only there. Usually better than "
        "windows if there are few rows per cell, and worse if many rows fill the line.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds, Intervals),
        references=(
            "Zhang, Xiao and Xie (2016), PrivTree",
            "Li, Hay, Rastogi, Miklau and McGregor (2010)",
        ),
        tiny={"steps": 2},
    ),
)
