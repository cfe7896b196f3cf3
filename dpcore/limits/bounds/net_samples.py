"""Distinguishability of two samples of one population by the net mechanism.

Distributional privacy (Blum, Ligett and Roth 2013, Definition 7.2) draws two databases of n distinct rows, each without
replacement from the same set S, and asks that their outputs be e^loss-close with high chance over that draw. The paper
says that its proofs can be adapted to it; it does not say that a mechanism has it at the epsilon of its differential
privacy, and the net mechanism has not. Its weights depend on n times the worst threshold's error, and the cumulative
counts of two samples differ by about √n somewhere: so the loss between samples grows like ε√n, while one row costs ε.

Here S is one person in each of 2n cells, and the net is that of m points for thresholds. A candidate's chance is
e^(-r · extent)/Z with r = ε/(2m). So the loss of the first sample against the second is

    r · max over candidates (extent beside the second - extent beside the first) + ln Z(second) - ln Z(first).

The maximum has a closed form. In the sum of both directions Z cancels: half the sum of the two maxima is a lower bound
on the larger of the two losses, at any n, and the candidates need not be counted. (Counting them for n = 512, ε = 0.1
shows that it is a few percent below the median loss.)

Notation: n = rows of a sample; m = points; epsilon = ε; extents are whole numbers of 1/(m n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.limits.bounds.distributional import MAX_ROWS
from dpcore.limits.chance import check_loss


@dataclass(frozen=True, kw_only=True, eq=False)
class NetPairs:
    """Pairs of samples, and what is needed of them at any ε.

    Attributes:
        rows: n of each sample.
        points: m.
        differences: max_extent_difference of each pair, both ways round, (pairs, 2).
    """

    rows: int
    points: int
    differences: Integers

    def losses(self, epsilon: float) -> Floats:
        """Return the lower bound on the larger loss of the two directions in each pair, (pairs,)."""
        check_loss(epsilon=epsilon)
        losses: Floats = epsilon / (2 * self.points) * self.differences.mean(axis=1)
        return losses

    def max_epsilon(self, *, loss: float, beta: float) -> float:
        """Return the largest ε with a loss below this in all but a share β of the pairs: they grow in proportion."""
        if not (loss > 0 and 0 <= beta < 1):
            raise ParameterError("The loss must be above 0, and the share of pairs at least 0 and below 1.")
        rank = len(self.differences) - int(beta * len(self.differences) + 1e-9)
        return float(loss / np.sort(self.losses(1.0))[rank - 1])


def reaching(pair_losses: Floats) -> tuple[Floats, Floats]:
    """Return the losses (P,), each once, and the share of pairs with at least that loss; (K,) each."""
    losses, times = np.unique(pair_losses, return_counts=True)
    return losses, np.cumsum(times[::-1])[::-1] / len(pair_losses)


def max_extent_difference(near: Integers, far: Integers, *, points: int) -> int:
    """Return the largest extent beside the far sample less that beside the near one, over all candidates of m points.

    The extent beside the far sample is its gap at some cell. Put no point up to that cell, or put all of them there,
    and all others as the near sample has them: no candidate with that gap, or a smaller one, does better.

    Args:
        near: rows in each cell, (U,), n in all.
        far: likewise.
        points: m.
    """
    rows = int(near.sum())
    near_extents, far_extents = (points * np.cumsum(counts)[:-1] for counts in (near, far))
    # What rounding the near sample to points costs.
    least = int(np.abs((near_extents + rows // 2) % rows - rows // 2).max(initial=0))
    none = far_extents - np.maximum(near_extents, least)
    everything = points * rows - far_extents - np.maximum(points * rows - near_extents, least)
    # At the last cell every candidate has all its points.
    return int(np.maximum(none, everything).max(initial=-least))


def draw_pairs(*, rows: int, points: int, pairs: int, seed: int) -> NetPairs:
    """Return the pairs of samples of n of 2n people, one in each cell.

    Args:
        rows: n.
        points: m of the net.
        pairs: how many.
        seed: of the draw; samples are public, made up.
    """
    if not (1 <= rows <= MAX_ROWS and points >= 1 and pairs >= 1):
        raise ParameterError(f"Pairs of samples need 1 to {MAX_ROWS:,} rows, a point and a pair.")
    generator = np.random.Generator(np.random.SFC64(seed))
    differences = []
    for _ in range(pairs):  # one at a time: of many rows a sample is large
        one, other = draw_sample(generator, rows), draw_sample(generator, rows)
        differences.append(
            [max_extent_difference(one, other, points=points), max_extent_difference(other, one, points=points)]
        )
    return NetPairs(rows=rows, points=points, differences=np.array(differences))


def draw_sample(generator: np.random.Generator, rows: int) -> Integers:
    """Return the rows in each of 2n cells: n of them, all alike likely, hold one."""
    sample = np.zeros(2 * rows, dtype=np.int64)
    sample[generator.permutation(2 * rows)[:rows]] = 1
    return sample
