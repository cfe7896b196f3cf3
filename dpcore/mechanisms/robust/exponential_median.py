"""Exponential median: always answers, with a value that is likely to have nearly half of the rows on either side.

Every cell gets a score: minus the rows by which it misses being the median. One row changes a score by little, so a
cell may be drawn at random with chances that grow exponentially with the score (McSherry and Talwar 2007): nothing of
one row shows. It never refuses; what it gives up instead is being exact, by a number of rows that grows with the
logarithm of the number of cells. Any quantile works the same way. Scores that count the rows to change until a value is
the right one make it inverse sensitivity (Asi and Duchi 2020), which works for any statistic.

Notation: epsilon = ε; q the quantile, b rows below a cell, u up to it, N of them fit the domain; the score is
-max(b - qN, qN - u, 0), in whole units of 1/s rows, q = p/s in lowest terms. Replacing a row moves it by at most s
units, adding or removing one by at most max(p, s - p).

References:
    McSherry and Talwar (2007), Theorem 6 and Lemma 7; Smith (2011), private quantiles; Asi and Duchi (2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Domain,
    DomainType,
    Entry,
    ErrorUnit,
    HistogramState,
    Integers,
    Neighbours,
    Problem,
    PureMechanism,
    Release,
    ValueRelease,
    epsilon_param,
    param,
)
from dpcore.queries.ranges import MILLIONTHS, Thresholds
from dpcore.randomness import Choice, Sampler


def scores(histogram: Integers, *, domain: Domain, share: Fraction) -> Integers:
    """Return minus each cell's distance in rows to the quantile, in units of 1/denominator: (size,) to (ordered,)."""
    upto = np.cumsum(histogram[: domain.ordered])
    below = upto - histogram[: domain.ordered]
    target, unit = share.numerator * int(upto[-1]), share.denominator
    misses: Integers = np.maximum(np.maximum(unit * below - target, target - unit * upto), 0)
    return -misses


@dataclass(frozen=True, kw_only=True)
class ExponentialMedian(PureMechanism):
    """A cell near the quantile, always."""

    releases: ClassVar[str] = "value"

    epsilon: float = epsilon_param()
    quantile: float = param(
        0.5,
        0.001,
        0.999,
        label="Quantile",
        symbol="q",
        stops=(0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95),
        help="0.5 is the median: at least half of the rows lie at or below it. The answer is close to it.",
    )

    @property
    def share(self) -> Fraction:
        """The quantile in lowest terms."""
        return Fraction(round(self.quantile * MILLIONTHS), MILLIONTHS)

    def sensitivity(self, neighbours: Neighbours) -> int:
        """Return the sensitivity of a score, in units of 1/denominator."""
        part, unit = self.share.numerator, self.share.denominator
        return unit if neighbours is Neighbours.REPLACE_ONE else max(part, unit - part)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Rows between the answer and the quantile: cells with a low score are unlikely, all together."""
        cells = problem.domain.ordered
        missed = (
            2 * self.sensitivity(problem.neighbours) / self.share.denominator * math.log(cells / beta) / self.epsilon
        )
        rows = math.floor(missed) + 1
        return Bound(
            value=rows / problem.n,
            unit=ErrorUnit.RANKS,
            kind=BoundKind.GUARANTEE,
            statement=f"With confidence {1 - beta:g}, at most {rows:,} rows lie between the answer and the quantile "
            f"({cells:,} cells).",
            formula=r"\mathrm{rows}\le\Bigl\lfloor\frac{2\Delta}{\varepsilon}\ln\frac{|X|}{\beta}\Bigr\rfloor+1",
            reference="McSherry and Talwar (2007), Lemma 7",
            beta=beta,
            rows_needed=rows + 1,
            note="Few rows between two values does not mean that the values are close: an empty stretch may lie "
            "between them.",
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        problem = state.problem
        scored = scores(state.histogram, domain=problem.domain, share=self.share)[None, :]
        draw = Choice(scored, epsilon=self.epsilon, sensitivity=self.sensitivity(problem.neighbours))
        values = sampler.draw(draw, trials)
        return self.release(ValueRelease, state, sampler, trials, values=values)

    @override
    def possible(self, release: Release) -> bool:
        """A cell of the line: none stands for missing values."""
        return isinstance(release, ValueRelease) and release.in_order


ENTRIES = (
    Entry(
        key="exponential_median",
        mechanism=ExponentialMedian,
        title="Exponential median",
        story="Samples a value; the more equal the rows below and above it, the more likely the value. It never "
        "refuses.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=("McSherry and Talwar (2007)", "Smith (2011)"),
        weights=r"\Pr[v]\propto\exp\Bigl(-\frac{\varepsilon}{2\Delta}\max(b_v-qN,\,qN-u_v,\,0)\Bigr)",
        tiny_size=5,  # on fewer cells every cell is a median of so few rows
    ),
)
