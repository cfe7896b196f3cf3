"""A table split in two, as between two hospitals: how well the net mechanism's output tells the halves apart.

Blum, Ligett and Roth (2013), section 7: two hospitals treat random samples of one population, and a release should not
tell which of them it came from. Here the population is a table of the reader's; each split gives every half half of its
rows, at random. All databases of m points are listed, so the law of the output on either half is exact, and so is the
largest ratio of their chances: e to the power of the loss. Differential privacy bounds it for one row alone; halves
differ in up to half of all rows.

Notation (paper): epsilon = ε of differential privacy; points = m; a split's loss is the ε of distributional privacy.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Integers, ParameterError, Queries
from dpcore.data.columns import Labels, Number
from dpcore.limits.chance import check_loss
from dpcore.mechanisms.net.databases import ScoredNet
from dpcore.queries.ranges import Cells, Thresholds

MAX_CELLS, MAX_POINTS, MAX_SPLITS = 32, 3, 200
"""At most 5,984 databases, and as many splits as take some seconds."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SplitLosses:
    """Losses between both halves of each split, (S,) each; as private as the rows.

    Attributes:
        rows: n of a half.
        losses: largest loss over all outputs, the larger of both directions.
        guesses: chance of the best guess of which half an output came from.
    """

    rows: int
    losses: Floats
    guesses: Floats

    def quantile(self, beta: float) -> float:
        """Return the loss that all but a share β of the splits stay within."""
        return float(np.quantile(self.losses, 1 - beta, method="higher"))


def coarse(records: Integers, *, cells: int) -> tuple[Integers, int]:
    """Return the cells (n,) as at most MAX_CELLS equal groups of them in order, and how many groups there are."""
    groups = min(cells, MAX_CELLS)
    return records * groups // cells, groups


def halves_loss(one: Floats, other: Floats) -> tuple[float, float]:
    """Return the largest loss between two laws of one list of outputs, given as logarithms, and the best guess."""
    return float(np.abs(one - other).max()), float(0.5 + np.abs(np.exp(one) - np.exp(other)).sum() / 4)


def split_losses(
    records: Integers, *, cells: int, ordered: bool, points: int, epsilon: float, splits: int, seed: int
) -> Generator[float, None, SplitLosses]:
    """Return the losses of so many random splits; yields the share done.

    Args:
        records: cell of each row, (n,).
        cells: number of cells; more than MAX_CELLS are merged in order.
        ordered: whether the net is for thresholds; else for single cells.
        points: m.
        epsilon: of the mechanism.
        splits: how many.
        seed: of the splits.
    """
    check_loss(epsilon=epsilon)
    rows = len(records) // 2
    if not (rows >= 1 and 1 <= points <= MAX_POINTS and 1 <= splits <= MAX_SPLITS):
        raise ParameterError(f"A split needs two rows, 1 to {MAX_POINTS} points and 1 to {MAX_SPLITS} splits.")
    places, groups = coarse(records, cells=cells)
    queries: Queries = (
        Thresholds(domain=Number(bins=max(2, groups)))
        if ordered
        else Cells(domain=Labels(labels=tuple(map(str, range(groups))), missing=False))
    )
    generator = np.random.Generator(np.random.SFC64(seed))
    results = np.empty((splits, 2))
    for place in range(splits):
        order = generator.permutation(len(places))
        one, other = (
            _log_law(queries, places[half], points=points, rate=epsilon / (2 * points))
            for half in (order[:rows], order[rows : 2 * rows])
        )
        results[place] = halves_loss(one, other)
        yield (place + 1) / splits
    return SplitLosses(rows=rows, losses=results[:, 0], guesses=results[:, 1])


def _log_law(queries: Queries, records: Integers, *, points: int, rate: float) -> Floats:
    """Return ln of the chance of every database of m points, in order, on these rows."""
    histogram = np.bincount(records, minlength=queries.domain.size).astype(np.int64)
    net = ScoredNet(queries, histogram, points=points, rows=len(records))
    assert net.candidates is not None
    logs = rate * net.candidates.scores
    top = logs.max()
    logs_of_chances: Floats = logs - top - np.log(np.exp(logs - top).sum())
    return logs_of_chances
