"""Threshold histogram: noise in cells that have rows, and a count is published only above a threshold; for all data.

Empty cells are 0 without noise, as in the sparse histogram. Random differential privacy leaves a row that is alone in
its cell to chance. Here it is protected: its noisy count is published only if it is strictly above a threshold, which
a count of 1 passes with probability δ at most. So the promise holds for all data; the price is δ and the
small cells.

Why it is private: neighbours whose cells are empty alike differ by the noise alone. Otherwise a cell has rows in one of
them alone. There the noisy counts above the threshold have probability τ = Pr[1 + Z > T] = Pr[Z >= T] <= δ, and nothing
is lost without them: on the other outcomes the probabilities are 1 - τ and 1, whose ratio is within e^ε up to τ. A
replaced row has at most one such cell in each data set, and noise of twice the scale covers all other cells.

A person with c rows (added or removed) may be alone in several cells. With k_1, k_2, ... rows in them, some count is
published with probability 1 - Π(1 - Pr[k_i + Z > T]), and δ is the largest of these over all partitions of c. It need
not be that of one cell: three cells of one row each can be worse than one of three.

Notation: epsilon = ε; Laplace scale b = sensitivity/ε in rows; p = e^(-1/b); threshold T.

References:
    Korolova, Kenthapadi, Mishra and Ntoulas (2009); Bun, Nissim and Stemmer (2016).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    Guarantee,
    HistogramRelease,
    HistogramState,
    Mechanism,
    Neighbours,
    Problem,
    Release,
    delta_param,
    epsilon_param,
    rows_up,
)
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile, laplace_tail

MAX_PERSON_ROWS = 4096
"""Rows of a person up to which all partitions are compared; beyond it the guarantee is that of group privacy."""
ROUNDING = 1 + 1e-12
"""Tails are rounded up by so much."""


def least_threshold(*, delta: float, scale: float) -> int:
    """Return the smallest threshold that one row's noisy count is above with a probability of at most delta."""
    threshold = laplace_quantile(2 * delta, scale=scale)
    return threshold + int(laplace_tail(threshold, scale=scale) * ROUNDING > delta)


def person_delta(rows: int, *, threshold: int, scale: float) -> float:
    """Return the largest probability, over all partitions of a person's rows into cells, that some are published.

    Args:
        rows: c >= 1, in cells without other rows.
        threshold: counts strictly above it are published.
        scale: of the discrete Laplace noise, in rows.
    """
    hidden = np.zeros(rows + 1)  # the largest -log of the probability that none is published, by rows
    published = laplace_tail(threshold + 1 - np.arange(1, rows + 1), scale=scale)
    alone = -np.log1p(-np.minimum(published, 1 - 1e-16))
    for some in range(1, rows + 1):
        hidden[some] = (alone[:some] + hidden[some - 1 :: -1]).max()
    return float(-math.expm1(-hidden[rows])) * ROUNDING


@dataclass(frozen=True, kw_only=True)
class ThresholdMechanism(Mechanism):
    """Counts of cells that have rows plus discrete Laplace noise, where the sum is above a threshold; else nothing."""

    epsilon: float = epsilon_param()
    delta: float = delta_param()

    def scale(self, problem: Problem) -> float:
        """Return the scale of the noise, in rows."""
        return sum(problem.neighbours.histogram_shift) / self.epsilon

    def threshold(self, problem: Problem) -> int:
        """Return the largest noisy count that is not published; public."""
        return least_threshold(delta=self.delta, scale=self.scale(problem))

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, delta)-DP, either relation."""
        return Guarantee(epsilon=self.epsilon, delta=self.delta, neighbours=problem.neighbours)

    @override
    def person_guarantee(self, problem: Problem, rows: int) -> Guarantee:
        """Epsilon of group privacy; delta over all partitions of the person's rows into cells of their own."""
        group = super().person_guarantee(problem, rows)
        # A multiple in decimals, as a ledger charges it: 3 times 0.1 is 0.3.
        group = dataclasses.replace(group, epsilon=float(max(rows, 1) * Decimal(repr(self.epsilon))))
        if problem.neighbours is not Neighbours.ADD_REMOVE_ONE or not 1 < rows <= MAX_PERSON_ROWS:
            return group
        delta = person_delta(rows, threshold=self.threshold(problem), scale=self.scale(problem))
        return dataclasses.replace(group, delta=min(group.delta, delta))


class ThresholdHistogram(ThresholdMechanism):
    """Threshold histogram of a listed domain: each cell has a released count, which is 0 where it is not published."""

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Union bound: a published count is off by its noise, one that is not was at most the threshold plus noise."""
        cells = problem.domain.size
        noise = laplace_quantile(beta / cells, scale=self.scale(problem)) - 1
        threshold = self.threshold(problem)
        one = isinstance(problem.queries, Cells)
        rows = float(threshold + noise) * (1 if one else cells)
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Noisy counts of at most {threshold:,} are not published. The worst {problem.queries.one} has "
            f"an error of at most {rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=r"\alpha\le\frac{T+m}{n}"
            + ("" if one else r"|X|")
            + r",\quad\Pr[|Z|>m]\le\frac{\beta}{|X|},\quad\Pr[1+Z>T]\le\delta,\quad "
            r"Z\sim\mathrm{DLap}(\Delta/\varepsilon)",
            reference="union bound; see Bun, Nissim and Stemmer (2016)",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
            note="" if one else "The bound assumes that every cell has an error; usually few cells have rows.",
        )

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        """Empty cells are drawn too, so that the time taken does not depend on how many there are."""
        sensitivity = sum(state.problem.neighbours.histogram_shift)
        draw = NoisyCounts(state.histogram[None, :], epsilon=self.epsilon, sensitivity=sensitivity)
        counts = sampler.draw(draw, trials)
        shown = (counts > self.threshold(state.problem)) & (state.histogram > 0)
        return self.release(HistogramRelease, state, sampler, trials, counts=np.where(shown, counts, 0))

    @override
    def possible(self, release: Release) -> bool:
        """Each count is 0 or above the threshold."""
        assert isinstance(release, HistogramRelease)
        return bool(((release.counts == 0) | (release.counts > self.threshold(release.problem))).all())


ENTRIES = (
    Entry(
        key="threshold_histogram",
        mechanism=ThresholdHistogram,
        title="Threshold histogram",
        story="Adds noise to cells that have rows and publishes counts above a threshold. Empty cells stay empty, "
        "small ones are hidden, and every row is protected up to δ.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Cells, Intervals, Thresholds),
        references=("Korolova, Kenthapadi, Mishra and Ntoulas (2009)", "Bun, Nissim and Stemmer (2016)"),
        tiny={"epsilon": 3.0, "delta": 0.1},
    ),
)
