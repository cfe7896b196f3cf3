"""Medians of subsamples: where the median lies, and which of two groups has the larger one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import Floats, Integers
from dpcore.mechanisms.subsamples.votes.vote import TABLE_CELLS, Steps, Vote, binomial_law, kept_values, moved


@dataclass(frozen=True, kw_only=True)
class Middle(Vote):
    """The cell of the (lower) median of the rows that fit: cells 0 .. answers - 1 in order, one last cell ignored.

    With two cells it is the commoner of the two (the first on a tie). No fitting row: the first cell.
    """

    answers: int

    @override
    def answer(self, counts: Integers) -> Integers:
        """First cell that holds at least half of the fitting rows up to it, (S, answers + 1) to (S,)."""
        sums = np.cumsum(counts[:, :-1], axis=1)
        cells: Integers = (2 * sums < sums[:, -1:]).sum(axis=1)
        return cells

    @override
    def seconds(self, *, rows: int) -> float:
        return 2e-7 * self.answers * kept_values(rows)

    @override
    def steps(self, counts: Integers, *, rows: int) -> Steps:
        from scipy.special import bdtrc

        fitting = int(counts[:-1].sum())
        if not fitting:
            first_answer: Floats = np.eye(1, self.answers)[0]
            return first_answer
        first, chances = binomial_law(draws=rows, chance=fitting / int(counts.sum()))
        s = np.arange(first, first + len(chances))[:, None]
        below = np.cumsum(counts[:-1])[None, :] / fitting
        half = (s + 1) // 2
        # bdtrc(k, s, p) = Pr[Bin(s, p) > k]; with s = 0 the first cell is the answer.
        reached = np.where(half > 0, bdtrc(np.maximum(half - 1, 0), np.maximum(s, 1), below), 1.0)
        yield 1.0
        # Sums of chances may differ in their last digit from cell to cell: no chance is below 0.
        law: Floats = np.maximum(np.diff(chances @ reached, prepend=0.0), 0.0)
        return law


@dataclass(frozen=True, kw_only=True)
class LargerMiddle(Vote):
    """Which of two groups has the larger (lower) median: 0 the first, 1 the second, 2 neither.

    Counts are the first group's cells in order, then the second's, then the ignored ones. Neither is larger where both
    medians are in one cell, or a group has no row.
    """

    cells: int
    answers: int = 3

    @override
    def answer(self, counts: Integers) -> Integers:
        halves = counts[:, :-1].reshape(len(counts), 2, self.cells)
        sums = np.cumsum(halves, axis=2)
        medians = (2 * sums < sums[:, :, -1:]).sum(axis=2)
        sides = np.where(medians[:, 0] > medians[:, 1], 0, np.where(medians[:, 0] < medians[:, 1], 1, 2))
        answers: Integers = np.where(sums[:, :, -1].min(axis=1) > 0, sides, 2)
        return answers

    @override
    def seconds(self, *, rows: int) -> float:
        sizes = kept_values(rows)
        return 3e-8 * sizes**2 + 3e-7 * 2 * self.cells * sizes

    @override
    def steps(self, counts: Integers, *, rows: int) -> Steps:
        groups = counts[:-1].reshape(2, self.cells)
        sizes, n = groups.sum(axis=1), int(counts.sum())
        if not sizes.all():
            return np.array([0.0, 0.0, 1.0])
        first, chances = binomial_law(draws=rows, chance=sizes[0] / n)
        # Given a rows of the first group, the second's are binomial among the others.
        others = [
            binomial_law(draws=rows - int(a), chance=sizes[1] / (n - sizes[0])) for a in first + np.arange(len(chances))
        ]
        start = min(low for low, _ in others)
        weights = np.zeros((len(chances), max(low + len(law) for low, law in others) - start))
        for row, (low, law) in enumerate(others):
            weights[row, low - start : low - start + len(law)] = chances[row] * law
        one = yield from self._medians(groups[0], first + np.arange(weights.shape[0]), done=0.0)
        other = yield from self._medians(groups[1], start + np.arange(weights.shape[1]), done=0.5)
        larger = float((weights * (one[:, 1:] @ np.cumsum(other, axis=1)[:, :-1].T)).sum())
        smaller = float((weights * (np.cumsum(one, axis=1)[:, :-1] @ other[:, 1:].T)).sum())
        return np.array([larger, smaller, max(0.0, 1.0 - larger - smaller)])

    def _medians(self, group: Integers, sizes: Integers, *, done: float) -> Steps:
        """Chance that the median of so many rows of a group is in each cell, (sizes, cells); zeros for no row."""
        from scipy.special import bdtrc

        upto = np.cumsum(group) / group.sum()
        chances = np.zeros((len(sizes), self.cells))
        step = max(1, TABLE_CELLS // self.cells)
        for place in range(0, len(sizes), step):
            yield done + 0.5 * place / len(sizes)
            size = sizes[place : place + step, None]
            # bdtrc(k, s, p) = Pr[Bin(s, p) > k]: at least half of the rows lie at or below the cell.
            reached = bdtrc((size + 1) // 2 - 1, np.maximum(size, 1), upto)
            chances[place : place + step] = np.diff(np.where(size > 0, reached, 0.0), prepend=0.0)
        return chances

    @override
    def against(self, counts: Integers, *, answer: int, law: Floats) -> list[Integers]:
        groups = counts[:-1].reshape(2, self.cells)
        larger = answer if answer < 2 else int(law[1] > law[0])
        changed = []
        for side in (larger, 1 - larger):
            # Rows furthest on the wanted side: high ones of the larger group, low ones of the other.
            occupied = np.flatnonzero(groups[side])
            if len(occupied):
                start = side * self.cells + int(occupied[-1] if side == larger else occupied[0])
                ends = (side * self.cells, (1 - side) * self.cells)
                far = 0 if side == larger else self.cells - 1
                changed += [moved(counts, start, ends[0] + far), moved(counts, start, ends[1] + self.cells - 1 - far)]
        return changed
