"""Questions with few answers, asked of subsamples: the answer of each, and the exact law of an answer.

A subsample is ``rows`` rows drawn from the data with replacement. Its answer is one of ``answers``; the law says how
likely each is, without drawing any subsample, so that any number of votes is one multinomial draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Integers, ParameterError

TABLE_CELLS = 1 << 19
"""Complex numbers held at once while the law of the most common cell is computed."""


def binomial_law(*, draws: int, chance: float) -> tuple[int, Floats]:
    """First value and chances of a binomial, over the values whose chance is not negligible (below about 1e-30).

    Ratios of neighbouring chances are multiplied up from the likeliest value and the whole is scaled to 1: no large
    logarithms are subtracted, so each chance is right to about twelve digits.
    """
    if chance >= 1:
        return draws, np.ones(1)
    middle = min(draws, int((draws + 1) * chance))
    reach = 12 * math.sqrt(draws * chance * (1 - chance)) + 60
    low, high = max(0, math.floor(middle - reach)), min(draws, math.ceil(middle + reach))
    j = np.arange(low, high + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        steps = np.log((draws - j[:-1]) / (j[:-1] + 1)) + math.log(chance) - math.log1p(-chance)
    logs = np.concatenate([-np.cumsum(steps[: middle - low][::-1])[::-1], [0.0], np.cumsum(steps[middle - low :])])
    chances: Floats = np.exp(logs)
    chances /= chances.sum()
    return low, chances


@dataclass(frozen=True, kw_only=True)
class Middle:
    """The cell of the (lower) median of the rows that fit: cells 0 .. answers - 1 in order, one last cell ignored.

    With two cells it is the commoner of the two (the first on a tie). No fitting row: the first cell.
    """

    answers: int

    def answer(self, counts: Integers) -> Integers:
        """First cell that holds at least half of the fitting rows up to it, (S, answers + 1) to (S,)."""
        sums = np.cumsum(counts[:, :-1], axis=1)
        cells: Integers = (2 * sums < sums[:, -1:]).sum(axis=1)
        return cells

    def law(self, counts: Integers, *, rows: int) -> Floats:
        """Chance of each answer, (answers,): the s fitting rows are binomial, and so are those up to each cell."""
        from scipy.special import bdtrc

        fitting = int(counts[:-1].sum())
        if not fitting:
            nobody: Floats = np.eye(1, self.answers)[0]
            return nobody
        first, chances = binomial_law(draws=rows, chance=fitting / int(counts.sum()))
        s = np.arange(first, first + len(chances))[:, None]
        below = np.cumsum(counts[:-1])[None, :] / fitting
        half = (s + 1) // 2
        # bdtrc(k, s, p) = Pr[Bin(s, p) > k]; with s = 0 the first cell is the answer.
        reached = np.where(half > 0, bdtrc(np.maximum(half - 1, 0), np.maximum(s, 1), below), 1.0)
        law: Floats = np.diff(chances @ reached, prepend=0.0)
        return law


@dataclass(frozen=True, kw_only=True)
class Commonest:
    """The cell with most rows among cells 0 .. answers - 1 (the lowest on a tie); one last cell is ignored."""

    answers: int

    def answer(self, counts: Integers) -> Integers:
        """First largest count, (S, answers + 1) to (S,)."""
        cells: Integers = np.argmax(counts[:, :-1], axis=1)
        return cells

    def law(self, counts: Integers, *, rows: int) -> Floats:
        """Chance of each answer, (answers,), without drawing: multinomial counts are Poisson counts given their sum.

        With E_b(t) the generating function of cell b's Poisson count cut off after t, the chance that cell a wins with
        t rows is the coefficient of z^rows in product_{b<a} E_b(t-1) * (term t of cell a) * product_{b>a} E_b(t),
        divided by the Poisson chance of ``rows`` in all. Coefficients are read off on the unit circle.
        """
        from scipy.special import gammaln, xlogy

        present = np.flatnonzero((counts[:-1] > 0) | (np.arange(self.answers) == 0))
        means = rows * counts[present] / counts.sum()
        t = np.arange(rows + 1)
        poisson = np.exp(xlogy(t, means[:, None]) - means[:, None] - gammaln(t + 1.0))
        points = _circle_points(rows)
        angle = 2j * np.pi * np.arange(points // 2 + 1) / points
        rest = np.exp(rows * counts[-1] / counts.sum() * np.expm1(angle) - angle * rows)
        rest[1:-1] *= 2  # the other half circle is the conjugate
        wins = np.zeros(len(present))
        upto = np.zeros((len(present), 1, len(angle)), dtype=np.complex128)
        step = max(1, TABLE_CELLS // upto.size)
        for start in range(0, rows + 1, step):
            block = t[start : start + step]
            terms = poisson[:, block, None] * np.exp(block[:, None] * angle)
            through = upto + np.cumsum(terms, axis=1)
            above = np.ones_like(through)
            above[:-1] = np.cumprod(through[:0:-1], axis=0)[::-1]
            below = rest
            for a in range(len(present)):
                wins[a] += (below * terms[a] * above[a]).real.sum()
                below = below * (through[a] - terms[a])
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
