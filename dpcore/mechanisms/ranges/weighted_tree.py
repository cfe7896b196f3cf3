"""A binary tree of sums whose levels have the best weights, for cells too many for the root's triangle.

Level k has a sum for every 2^k cells side by side, k = 0 the cells, the last one their sum; each is measured w_k times.
Every cell is in one sum a level. So a row that comes or goes moves the measured values by (sum of w_k^2)^(1/2), and one
that is replaced by its double under the root, less what both cells share: weights are whole numbers, and so are these.

The weights: X = A'A has the same eigenvalue on each stratum of the tree, the contrasts between the halves of all sums
of one level, and the sum of all cells: l_s = sum over k < s of 2^k w_k^2. With g_s the mean square of the queries
there, the mean variance is the sum of g_s/l_s, and the squared length of a column the sum of c_s l_s for c_s = 2^-s,
the last c doubled. By Cauchy and Schwarz the product is least at l_s = (g_s/c_s)^(1/2); neighbouring strata where that
falls share one l, as no weight is below 0. Where n is public, the last stratum is known for nothing, and the sum of all
cells has no weight.

Estimates are least squares in two passes: upwards each sum is estimated from what is below it, with variance z;
downwards what is left over is shared out in proportion to z. Errors follow from the same pass, along the paths of a
query's two ends.

Notation: U, cells; S, steps of a weight; X, z as above; u = (w/S)^2; s, the sum of z over the two halves.

References:
    Hay, Rastogi, Miklau and Suciu (2010), section 4, the two passes; Qardaji, Yang and Li (2013); Li, Hay, Rastogi,
    Miklau and McGregor (2010). The weights are ours.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Floats, Integers, Neighbours

SLOPES = 64
"""Tangents by which a square is bounded: what that adds to the worst range is far below a hundredth."""


def level_weights(cells: int, *, prefixes: bool, known: bool, steps: int) -> Integers:
    """Return whole weights of the levels, cells first, at least 1 there: (levels,).

    >>> level_weights(8, prefixes=True, known=False, steps=100).tolist()
    [67, 40, 42, 46]
    """
    top = (cells - 1).bit_length()
    width = 1 << top
    mean = np.empty(top + 1)
    for level in range(1, top + 2):
        # F(j), what a prefix of j cells has of one contrast; a range is a difference of two of them.
        last = level > top
        length = width if last else 1 << level
        place = np.arange(1, length + 1)
        of_prefix = (place if last else np.minimum(place, length - place)) / math.sqrt(length)
        squares = width / length * float((of_prefix**2).sum())
        if prefixes:
            mean[level - 1] = squares / width
        else:
            sums = width / length * float(of_prefix.sum()) ** 2
            mean[level - 1] = ((width + 1) * squares - sums) / (width * (width + 1) / 2)
    strata = top if known else top + 1
    cost = 0.5 ** np.arange(1, strata + 1)
    cost[-1] *= 2
    eigenvalues = [
        max(min(math.sqrt(mean[i:j].sum() / cost[i:j].sum()) for j in range(s + 1, strata + 1)) for i in range(s + 1))
        for s in range(strata)
    ]
    share = np.diff(eigenvalues, prepend=0.0) / 2.0 ** np.arange(strata)
    weights = np.zeros(top + 1, dtype=np.int64)
    weights[:strata] = np.rint(steps * np.sqrt(share / share.sum()))
    weights[0] = max(1, weights[0])
    return weights


class WeightedTree:
    """The tree's whole weights, with the reserved cell measured alone, and what releases need of it.

    Args: see ``root.Triangle``.
    """

    def __init__(self, cells: int, *, spare: int, prefixes: bool, known: bool, steps: int) -> None:
        self.cells, self.spare, self.prefixes, self.known, self.steps = cells, spare, prefixes, known, steps
        self.weights = level_weights(cells, prefixes=prefixes, known=known, steps=steps)
        self.own = math.isqrt(int((self.weights**2).sum()))  # of the reserved cell: no longer a column than the others
        self.top = len(self.weights) - 1
        self.nodes = [-(-cells >> level) for level in range(self.top + 1)]
        self.numbers = sum(self.nodes[level] for level in np.flatnonzero(self.weights)) + spare
        self.u = (self.weights / steps) ** 2
        # Sums of no cell are known: their z is 0.
        below = np.where(np.arange(1 << self.top) < cells, 1 / self.u[0], 0.0)
        self.z, self.s = [below], [np.zeros(0)]
        for level in range(1, self.top + 1):
            self.s.append(self.z[-1][0::2] + self.z[-1][1::2])
            self.z.append(self.s[-1] / (1 + self.u[level] * self.s[-1]))

    def shift(self, neighbours: Neighbours) -> int:
        """Return the longest move of A x between neighbours in steps, rounded up."""
        squares = (self.weights**2).tolist()
        square = sum(squares)
        if neighbours is Neighbours.REPLACE_ONE:
            # Cells of the two halves share the last sum alone.
            square = max(2 * sum(squares[:-1]), self.spare * (square + self.own**2))
        return math.isqrt(square - 1) + 1

    def measured(self, counts: Integers) -> Integers:
        """Return the measured values of counts (size,), in steps: level by level, reserved cell last: (numbers,)."""
        parts = [self.own * counts[self.cells :]]
        for level in np.flatnonzero(self.weights)[::-1]:
            sums = np.add.reduceat(counts[: self.cells], np.arange(0, self.cells, 1 << level))
            parts.insert(0, self.weights[level] * sums)
        return np.concatenate(parts)

    def counts(self, measured: Floats, *, n: int) -> Floats:
        """Return the cells' estimated rows (T, size) from measured values (T, numbers), in rows."""
        trials, start = len(measured), 0
        levels: list[Floats] = []
        for level, (u, count) in enumerate(zip(self.u.tolist(), self.nodes, strict=True)):
            sums = np.zeros((trials, 1 << self.top - level))
            if level:
                sums += levels[-1][:, 0::2]
                sums += levels[-1][:, 1::2]
            if u:
                values = measured[:, start : start + count] / math.sqrt(u)
                start += count
                if level:
                    s = self.s[level][:count]
                    values -= sums[:, :count]
                    values *= u * s / (1 + u * s)
                sums[:, :count] += values
            levels.append(sums)
        beyond = measured[:, start:] * (self.steps / self.own)
        if self.known:
            left = n - levels[-1] - beyond.sum(axis=1, keepdims=True)
            part = self.z[-1] / self._of_all()
            levels[-1] += left * part
            beyond += left * (1 - part)
        for level in range(self.top, 0, -1):
            left = levels[level] - levels[level - 1][:, 0::2]
            left -= levels[level - 1][:, 1::2]
            left /= np.where(self.s[level] > 0, self.s[level], 1.0)
            levels[level - 1][:, 0::2] += left * self.z[level - 1][0::2]
            levels[level - 1][:, 1::2] += left * self.z[level - 1][1::2]
        return np.concatenate([levels[0][:, : self.cells], beyond], axis=1)

    def squares(self, first: Integers, last: Integers) -> Floats:
        """Variance of the sums of cells ``first`` to ``last`` (Q,), both included, for noise of one row: (Q,).

        q = w'X^-1 w and t = 1'X^-1 w of the part of a query that is below the two sums in which its ends are.
        """
        q, t = self.z[0][first], self.z[0][first]
        differs = (first != last) * 1.0
        other_q, other_t = differs * self.z[0][last], differs * self.z[0][last]
        for level in range(1, self.top + 1):
            u, z = self.u[level], self.z[level - 1]
            one = (first >> 1 == last >> 1) * 1.0
            # Between the two ends there is the other half, if it lies on that side.
            within = (1 - one) * (first % 2 == 0) * z[first ^ 1]
            other_within = (1 - one) * (last % 2 == 1) * z[last ^ 1]
            q, t = q + within + one * other_q, t + within + one * other_t
            other_q, other_t = (1 - one) * other_q + other_within, (1 - one) * other_t + other_within
            first, last = first >> 1, last >> 1
            shrunk, other_shrunk = 1 + u * self.s[level][first], 1 + u * self.s[level][last]
            q, t = q - u * t**2 / shrunk, t / shrunk
            other_q, other_t = other_q - u * other_t**2 / other_shrunk, other_t / other_shrunk
        return q - t**2 / self._of_all() if self.known else q

    def worst(self) -> float:
        """Return an upper bound on every query's variance, for noise of one row: of prefixes the largest.

        Of ranges a bound for a tree without gaps, where each cell that there is not would only be known. Below the
        sum in which both ends meet, it is largest at q + q' - K (t + t')^2 over prefixes of its halves, and the square
        is at least that of a tangent: for any c, 2 c (t + t') - c^2.
        """
        if self.prefixes:
            return float(self.squares(np.zeros(self.cells, dtype=np.int64), np.arange(self.cells)).max())
        z, shrunk = [1 / self.u[0]], [1.0]
        for u in self.u[1:]:
            shrunk.append(1 + 2 * u * z[-1])
            z.append(2 * z[-1] / shrunk[-1])
        lost = [1 / (z[-1] + self._of_spare()) if self.known else 0.0]  # K, from the last level down
        for level in range(self.top, 0, -1):
            lost.insert(0, self.u[level] / shrunk[level] + lost[0] / shrunk[level] ** 2)
        q = t = np.array(z[:1])
        largest = z[0] - lost[0] * z[0] ** 2
        for level in range(1, self.top + 1):
            loss = lost[level - 1]
            tangents = np.linspace(0, 2 * t.max(), SLOPES)
            largest = max(largest, min(2 * float((q - 2 * loss * c * t).max()) + loss * c**2 for c in tangents))
            q, t = np.concatenate([q, q + z[level - 1]]), np.concatenate([t, t + z[level - 1]])
            q, t = q - self.u[level] * t**2 / shrunk[level], t / shrunk[level]
        return float(largest)

    def _of_spare(self) -> float:
        """Return the variance of the reserved cell's rows, for noise of one row."""
        return self.spare * (self.steps / self.own) ** 2

    def _of_all(self) -> float:
        """Return the variance of all rows as they are measured."""
        return float(self.z[-1][0]) + self._of_spare()
