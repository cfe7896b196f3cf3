"""The most common cell of a subsample, and the exact law of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import Integers, ParameterError
from dpcore.mechanisms.subsamples.votes.vote import TABLE_CELLS, Steps, Vote


@dataclass(frozen=True, kw_only=True)
class Commonest(Vote):
    """The cell with most rows among cells 0 .. answers - 1 (the lowest on a tie); one last cell is ignored."""

    answers: int

    @override
    def answer(self, counts: Integers) -> Integers:
        """First largest count, (S, answers + 1) to (S,)."""
        cells: Integers = np.argmax(counts[:, :-1], axis=1)
        return cells

    @override
    def seconds(self, *, rows: int) -> float:
        return 4.5e-8 * self.answers * (rows + 1) * (_circle_points(rows) // 2 + 1)

    @override
    def steps(self, counts: Integers, *, rows: int) -> Steps:
        """See Vote. Without drawing: multinomial counts are Poisson counts given their sum.

        With E_b(t) the generating function of cell b's Poisson count cut off after t, the chance that cell a wins with
        t rows is the coefficient of z^rows in product_{b<a} E_b(t-1) * (term t of cell a) * product_{b>a} E_b(t),
        divided by the Poisson chance of ``rows`` in all. Coefficients are read off on the unit circle.
        """
        from scipy.special import gammaln, xlogy

        present = np.flatnonzero((counts[:-1] > 0) | (np.arange(self.answers) == 0))
        means = rows * counts[present] / counts.sum()
        t = np.arange(rows + 1)
        logs = -gammaln(t + 1.0)
        points = _circle_points(rows)
        angles = 2j * np.pi * np.arange(points // 2 + 1) / points
        ignored = rows * counts[-1] / counts.sum()
        wins = np.zeros(len(present))
        width = max(1, min(len(angles), TABLE_CELLS // len(present)))
        step = max(1, TABLE_CELLS // (width * len(present)))
        for first in range(0, len(angles), width):
            angle = angles[first : first + width]
            rest = np.exp(ignored * np.expm1(angle) - angle * rows)
            inner = (np.arange(first, first + len(angle)) > 0) & (np.arange(first, first + len(angle)) < points // 2)
            rest[inner] *= 2  # the other half circle is the conjugate
            upto = np.zeros((len(present), 1, len(angle)), dtype=np.complex128)
            for start in range(0, rows + 1, step):
                yield (first + len(angle) * start / (rows + 1)) / len(angles)
                block = t[start : start + step]
                poisson = np.exp(xlogy(block, means[:, None]) - means[:, None] + logs[block])
                terms = poisson[:, :, None] * np.exp(block[:, None] * angle)
                through = upto + np.cumsum(terms, axis=1)
                above, below = np.ones_like(through), np.broadcast_to(rest, through.shape).copy()
                above[:-1] = np.cumprod(through[:0:-1], axis=0)[::-1]
                below[1:] *= np.cumprod(through[:-1] - terms[:-1], axis=0)
                wins += (below * terms * above).real.sum(axis=(1, 2))
                upto = through[:, -1:]
        law = np.zeros(self.answers)
        law[present] = np.maximum(wins, 0) / wins.sum()
        return law


def _circle_points(rows: int) -> int:
    """An even number of points so large that Poisson totals of rows + points and more are negligible (below 1e-18)."""
    points, log_ratio = 0, 0.0
    while log_ratio > math.log(1e-18):
        points += 1
        log_ratio += math.log(rows / (rows + points))
    if points > TABLE_CELLS:
        raise ParameterError("Subsamples are too large for the exact law of the most common cell.")
    return points + points % 2
