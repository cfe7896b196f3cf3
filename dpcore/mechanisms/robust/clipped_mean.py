"""Clipped mean: numbers cut off at the declared bounds, added up, with noise as wide as those bounds are apart.

The usual way to a private mean of rows whose number is public and which all have a number. One row moves the sum by at
most the distance between the bounds, so noise of that scale over epsilon hides it. Bounds far apart mean much noise;
bounds close together cut off what lies outside, and no amount of data brings that back.

Notation: epsilon = ε; cells are numbered 0 .. K - 1, the sum is one of cell numbers (so whole), noise has scale
(K - 1)/epsilon. The mean is rounded to the nearest cell. The sum is divided by n: where rows come and go, or a cell may
be empty, the number of rows is private, and ``counted_mean.py`` releases it with the mean.

References:
    Dwork, McSherry, Nissim and Smith (2006), Laplace mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    ErrorUnit,
    HistogramState,
    Neighbours,
    ParameterError,
    Problem,
    PureMechanism,
    Release,
    ValueRelease,
    epsilon_param,
    rounded_up,
)
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile

EMPTY_CELLS = (
    "A clipped mean divides by n. Here cells may be empty, so the number of rows with a value is private. "
    "Use “Mean with its number of rows”."
)
NO_PUBLIC_N = (
    "A clipped mean divides by a public n. If rows are added or removed, n is not confirmed. Use “Mean "
    "with its number of rows”."
)


@dataclass(frozen=True, kw_only=True)
class ClippedMean(PureMechanism):
    """The mean's cell, with noise for the whole declared range."""

    releases: ClassVar[str] = "value"

    epsilon: float = epsilon_param()

    @override
    def unsuitable(self, problem: Problem) -> str:
        """Return why the sum must not be divided by the public n; empty where n is the number of rows with a number."""
        if problem.domain.missing:
            return EMPTY_CELLS
        return "" if problem.neighbours is Neighbours.REPLACE_ONE else NO_PUBLIC_N

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """How far noise and rounding move the mean, as a fraction of the declared range."""
        furthest = problem.domain.ordered - 1
        noise = laplace_quantile(beta, scale=furthest / self.epsilon) - 1
        cells = noise / problem.n + 0.5
        return Bound(
            value=cells / furthest,
            unit=ErrorUnit.RANGE,
            kind=BoundKind.GUARANTEE,
            statement=f"With confidence {1 - beta:g}, noise and rounding change the mean by at most "
            f"{rounded_up(cells)} of {problem.domain.ordered:,} cells.",
            formula=r"|\hat\mu-\mu|\le\frac Jn+\frac12,\quad\Pr[|Z|>J]\le\beta,"
            r"\quad Z\sim\mathrm{DLap}\Bigl(\frac{|X|-1}{\varepsilon}\Bigr)",
            reference="Laplace tail; Dwork, McSherry, Nissim and Smith (2006)",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=max(1, 2 * noise // furthest + 1),
            note="The error is that of the clipped mean, as a share of the range. It equals the error of the "
            "average threshold query.",
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        """Draw one noisy sum, and round its mean to the nearest cell.

        Raises:
            ParameterError: a cell may be empty.
        """
        problem, n = state.problem, state.problem.n
        if problem.domain.missing:
            raise ParameterError(EMPTY_CELLS)
        cells = problem.domain.ordered
        total = int(state.histogram[:cells] @ np.arange(cells))
        noisy = sampler.draw(NoisyCounts(np.array([[total]]), epsilon=self.epsilon, sensitivity=cells - 1), trials)
        values = np.clip((2 * noisy[:, 0] + n) // (2 * n), 0, cells - 1)
        return self.release(ValueRelease, state, sampler, trials, values=values)

    @override
    def possible(self, release: Release) -> bool:
        """A cell of the line: none stands for missing values."""
        return isinstance(release, ValueRelease) and release.in_order


ENTRIES = (
    Entry(
        key="clipped_mean",
        mechanism=ClippedMean,
        title="Clipped mean",
        story="Clips numbers to the declared bounds, adds them up, and adds noise scaled to the distance of the "
        "bounds.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=("Dwork, McSherry, Nissim and Smith (2006)",),
    ),
)
