"""Counted mean: the mean of the rows that have a number, released together with how many they are.

A mean divides a sum by a number of rows. Where rows come and go, or where a cell may be empty, that number is private:
a public n in its place makes the mean as much too low as rows are missing. Here every row that has a number adds to two
counters, and both are released by one draw. Their sum says how many rows have a number, their ratio where the mean is.

Why it is private: on a line of s cells a row in cell j adds 2s - 2j - 1 to A and 2j + 1 to B, whole numbers of at least
1 that sum to M = 2s. A row without a number adds nothing. One row more or less moves (A, B) by exactly M in L1, or by
nothing; a replaced row moves them by at most 2M, also where it gains or loses its number. Discrete Laplace noise of
scale M/epsilon, or 2M/epsilon, is the Laplace mechanism. Everything else is post-processing.

Notation: epsilon = ε, s cells from L to U, M = 2s. Rows with a number: (A + B)/M; mean: L + (U - L) B/(A + B), cut off
at the bounds. Where A + B is not above 0 no mean is told, and the release counts as a refusal.

Error: let both noises be at most J, and N rows have a number. Then B + b over M N + a + b differs from B over M N by
((1 - p) b - p a)/(M N + a + b), p = B/(M N), which is at most J/(M N - 2J).

References:
    Dwork, McSherry, Nissim and Smith (2006), Laplace mechanism; Fitzsimons et al. (2024) and Kulesza, Suresh and Wang
    (2024), two-ended counters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    DomainType,
    Entry,
    ErrorUnit,
    Floats,
    HistogramState,
    Integers,
    Problem,
    PureMechanism,
    ValueRelease,
    epsilon_param,
    rounded_up,
)
from dpcore.data.columns import Number, is_number
from dpcore.data.dates import Dates, is_dates, written
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile

if TYPE_CHECKING:
    import pandas as pd


def weight(domain: Number) -> int:
    """M: what one row adds to both counters together."""
    return 2 * domain.ordered


def counters(histogram: Integers, domain: Number) -> Integers:
    """Return both counters of rows per cell, (size,) to (2,); rows in the reserved cell add nothing."""
    ends = 2 * np.arange(domain.ordered, dtype=np.int64) + 1
    rows = histogram[: domain.ordered]
    return np.array([rows @ (weight(domain) - ends), rows @ ends], dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanRelease(ValueRelease):
    """Two noisy counters per trial, (T, 2), and the cell that the mean lies in, (T,); zeros where refused."""

    published = ("values", "counters")
    counters: Integers

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "counters", np.where(self.refused[:, None], 0, self.counters))

    @property
    def domain(self) -> Number:
        """The line of the numbers."""
        assert is_number(self.problem.domain)
        return self.problem.domain

    @property
    def rows(self) -> Floats:
        """Rows with a number, (T,), with noise; NaN where refused."""
        return np.where(self.refused, np.nan, self.counters.sum(axis=1) / weight(self.domain))

    @property
    def means(self) -> Floats:
        """Means, (T,), in the data's unit; NaN where refused."""
        line = self.domain
        return line.low + (line.high - line.low) * shares(self.counters)

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial: trial, refused, the mean, the rows that have a number, and the bounds of the numbers."""
        import pandas as pd

        line = self.domain
        columns = {
            "mean": self.means,
            "low": np.full(self.trials, float(line.low)),
            "high": np.full(self.trials, float(line.high)),
        }
        if is_dates(line):
            named = [None if np.isnan(mean) else unit_of(line, mean) for mean in self.means.tolist()]
            columns = {"mean": np.array(named, dtype=object)}
            columns |= {"low": np.full(self.trials, line.first), "high": np.full(self.trials, line.last)}
        trials = {"trial": np.arange(self.trials), "refused": self.refused}
        return pd.DataFrame({**trials, "mean": columns.pop("mean"), "rows": self.rows, **columns})


def may_count(line: Number, *, mean: float, rows: float) -> Integers:
    """Pairs of counters that may have told a mean and its rows, (few, 2): whole numbers around the one B that fits.

    Of a date, whose mean is the first moment of its unit, B lies at or above it, and few numbers may lie in the unit.
    """
    total = round(rows * weight(line))
    first = math.floor((mean - line.low) / (line.high - line.low) * total)
    high = np.arange(max(0, first - 1), min(total, first + 2) + 1, dtype=np.int64)
    return np.stack([total - high, high], axis=1)


def shares(counters: Integers) -> Floats:
    """Return the position of a mean along the line, (T, 2) to (T,), from 0 to 1; NaN where no rows are counted."""
    total = counters.sum(axis=1)
    along = counters[:, 1] / np.where(total > 0, total, 1)
    return np.where(total > 0, np.clip(along, 0.0, 1.0), np.nan)


def unit_of(line: Dates, mean: float) -> str:
    """Return the calendar unit that a mean lies in."""
    return written(min(int(mean), int(line.high) - 1), line.step)


@dataclass(frozen=True, kw_only=True)
class CountedMean(PureMechanism):
    """The mean of the rows that have a number, and how many they are."""

    releases: ClassVar[str] = "value"
    may_refuse: ClassVar[bool] = True

    epsilon: float = epsilon_param()

    def sensitivity(self, problem: Problem) -> int:
        """Return the shift of both counters together under one row."""
        assert is_number(problem.domain)
        return len(problem.neighbours.histogram_shift) * weight(problem.domain)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """How far noise moves the mean, as a fraction of the declared range, if all n rows have a number."""
        line = problem.domain
        assert is_number(line)
        noise = laplace_quantile(beta / 2, scale=self.sensitivity(problem) / self.epsilon) - 1
        all_rows = weight(line) * problem.n
        left = all_rows - 2 * noise
        value = noise / left if left > 0 else math.inf
        statement = (
            f"If {problem.n:,} rows have a number, noise changes the mean by at most {rounded_up(value)} "
            f"of the range, with confidence {1 - beta:g}."
            if value < 1
            else f"Even if {problem.n:,} rows have a number, no error is guaranteed: noise may hide their number."
        )
        return Bound(
            value=value,
            unit=ErrorUnit.RANGE,
            kind=BoundKind.GUARANTEE,
            statement=statement,
            formula=r"|\hat\mu-\mu|\le(U-L)\frac{J}{2sN-2J},\quad\Pr[|Z|>J]\le\frac\beta2,"
            r"\quad Z\sim\mathrm{DLap}\Bigl(\frac{2s}{\varepsilon}\Bigr)",
            reference="Laplace tail; Fitzsimons et al. (2024)",
            beta=beta,
            assumptions=(
                *problem.unchecked_n,
                Assumption(text="every row has a number (the number of empty cells is private)", met=not line.missing),
            ),
            rows_needed=3 * noise // weight(line) + 1,
            note="The error is a share of the range. It is that of the mean after clipping to the bounds and "
            "rounding to cells.",
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> MeanRelease:
        problem = state.problem
        line = problem.domain
        assert is_number(line)
        true = counters(state.histogram, line)[None, :]
        noisy = sampler.draw(NoisyCounts(true, epsilon=self.epsilon, sensitivity=self.sensitivity(problem)), trials)
        refused = noisy.sum(axis=1) <= 0
        along = np.where(refused, 0.0, shares(noisy))
        values = np.minimum((along * line.ordered).astype(np.int64), line.ordered - 1)
        return self.release(MeanRelease, state, sampler, trials, refused=refused, values=values, counters=noisy)


ENTRIES = (
    Entry(
        key="counted-mean",
        mechanism=CountedMean,
        title="Mean with its number of rows",
        story="The mean of the rows that have a number, and the number of these rows, in one release. Empty "
        "cells do not count.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=("Dwork, McSherry, Nissim and Smith (2006)", "Fitzsimons et al. (2024)"),
    ),
)
