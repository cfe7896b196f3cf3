"""Boxes in up to three columns: cut the first column into slabs of equally many rows, these again, and again.

The release of rectangles, one column further: L levels of private median cuts make s = 2^L slabs along the first
column; in each slab L levels make s bars along the second; in each bar s cells along the third. Every cell is released
with mass 1/s^D. Its error does not grow with the number of cells of the columns; but with each column the boundary of a
box crosses more of the mass, and errors of s times as many pieces add up: three columns need millions of rows.

A cut must be able to fall inside a cell, because many rows may be equal: each cell of column d is divided into f_d
sub-cells, over which the rows of a piece are thought spread evenly. Rows that fit no label stand in one more cell.

Why it is private: a cut of a piece scores -|2·(rows left of it) - (rows of the piece)|. A row that belongs to a piece
by a share moves its scores by at most that share, and its shares in all pieces of a level add up to 1. So adding or
removing a row moves the scores of a level by 1 together, replacing one by 2, as it may leave one slab and enter
another. Levels of column d cost ε·2^(d-1)/(2^D - 1) together, and all columns ε.

Accuracy: with explicit constants, for every data set (accuracy). The boundary of a box crosses at most 2D in s of the
mass, whatever the noise.

Notation: epsilon = ε, beta = β, levels = L, columns = D.

References:
    Blum, Ligett and Roth (2013), section 4 ("easily extended", in constant dimension); cuts after Kaplan, Schnapp and
    Stemmer (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Floats,
    Integers,
    ParameterError,
    Problem,
    PureMechanism,
    Release,
    State,
    epsilon_param,
    param,
    rounded_up,
    rows_up,
)
from dpcore.mechanisms.intervals.rectangles import merged, share_below, with_ends
from dpcore.mechanisms.intervals.recursive import error_growth
from dpcore.queries.boxes import RangeBoxes
from dpcore.randomness import MedianCuts, Sampler

MAX_CELLS = 1 << 16
"""Combinations of cells of all columns."""
TOGETHER = 16
"""Releases whose masses are worked out together."""


def boxes_of(problem: Problem) -> RangeBoxes:
    """The boxes a problem asks for; raises ParameterError where it asks for something else, or on too many cells."""
    if not isinstance(problem.queries, RangeBoxes):
        raise ParameterError("This mechanism needs queries of boxes.")
    if problem.domain.size > MAX_CELLS:
        raise ParameterError(
            f"The columns have {problem.domain.size:,} combinations of cells; at most {MAX_CELLS:,} can be cut."
        )
    return problem.queries


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BoxState(State):
    """Rows in each combination of cells, (*sizes)."""

    rows: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class BoxRelease(Release):
    """Cells of equal mass by their cuts, ends left out.

    Attributes:
        cuts: of each column in sub-cells, piece after piece, (T, pieces·(s - 1)).
        levels: L; public.
    """

    published = ("cuts",)
    cuts: tuple[Integers, ...]
    levels: int

    def rows(self) -> Floats:
        """Rows in each combination of cells, (T, *sizes): n/s^D of each cell of equal mass, spread evenly over it."""
        parts = [self._rows(start, min(start + TOGETHER, self.trials)) for start in range(0, self.trials, TOGETHER)]
        return np.concatenate(parts)

    def answers(self) -> Floats:
        """Return the answers to all boxes as shares of n, (T, count)."""
        return boxes_of(self.problem).answers(self.rows()) / self.problem.n

    def _rows(self, start: int, stop: int) -> Floats:
        sizes, slabs = boxes_of(self.problem).domain.sizes, 1 << self.levels
        masses: Floats = np.ones((stop - start, slabs ** len(sizes), 1))
        for column in reversed(range(len(sizes))):
            size, steps = sizes[column], sub_cells(column, columns=len(sizes), levels=self.levels)
            cuts = with_ends(self.cuts[column][start:stop].reshape(stop - start, -1, slabs - 1), steps * size)
            shares = np.diff(share_below(cuts[..., :-1], cuts[..., 1:], np.arange(size + 1) * steps), axis=-1)
            masses = np.einsum("tpjc,tpjr->tpcr", shares, masses.reshape(*shares.shape[:3], -1))
        rows: Floats = masses.reshape(stop - start, *sizes) * (self.problem.n / slabs ** len(sizes))
        return rows


def sub_cells(column: int, *, columns: int, levels: int) -> int:
    """Sub-cells of a cell of a column, f_d: enough to cost a box half in s of n, or one in s for the last column."""
    slabs = 1 << levels
    return slabs**2 if column < columns - 1 else math.ceil(error_growth(levels) * slabs)


@dataclass(frozen=True, kw_only=True)
class BoxCuts(PureMechanism):
    """Private medians of pieces of one column after the other."""

    releases: ClassVar[str] = "answers"

    epsilon: float = epsilon_param()
    levels: int = param(
        3, 1, 4, label="Levels of cuts", symbol="L",
        help="L levels cut each piece into 2^L along every column. More cells follow the data more closely, but "
             "with more noise.",
    )  # fmt: skip

    def epsilon_of(self, column: int, *, columns: int) -> float:
        """Return the ε of one level of cuts along a column."""
        return self.epsilon * (1 << column) / ((1 << columns) - 1) / self.levels

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Crossed cells, sub-cells and private choices, column by column.

        There are K candidate cuts in all; except with chance β none scores worse than the best of its piece by more
        than E_d = (2Δ/ε_d)·ln(K/β). Halving pieces of m rows along any column but the last, each with an error of at
        most (m/f_d + E_d)/2, leaves s pieces whose rows above m/s, and below it, add up to at most (s - 1) times that.
        Along the last, the rows below a cut stray from their share by at most D_L·(m/f_D + E_D)/2. A box crosses two
        pieces of each piece that it crosses no side of before, which err by at most m/s each and by their own error;
        the others lie outside or inside, where the next column is looked at. Summed over all pieces, whose rows add up
        to n: 2D·n/s + Σ_{d<D} (s - 1)(n/f_d + s^(d-1)·E_d)/2 + D_L·(n/f_D + s^(D-1)·E_D).
        """
        sizes, slabs, n = boxes_of(problem).domain.sizes, 1 << self.levels, problem.n
        columns, growth = len(sizes), error_growth(self.levels)
        steps = [sub_cells(column, columns=columns, levels=self.levels) for column in range(columns)]
        lines = [slabs**column * (self.levels * steps[column] * size + slabs - 1) for column, size in enumerate(sizes)]
        delta, places = sum(problem.neighbours.histogram_shift), sum(lines)
        losses = [
            2 * delta / self.epsilon_of(column, columns=columns) * math.log(places / beta) for column in range(columns)
        ]
        weights = [(slabs - 1) / 2] * (columns - 1) + [growth]
        crossed = 2 * columns / slabs
        rounding = sum(weight / step for weight, step in zip(weights, steps, strict=True))
        rows = sum(weight * slabs**d * loss for d, (weight, loss) in enumerate(zip(weights, losses, strict=True)))
        room = 1 - crossed - rounding
        return Bound(
            value=crossed + rounding + rows / n,
            kind=BoundKind.GUARANTEE,
            statement=f"A box's boundary crosses at most {rounded_up(crossed)} of n in {slabs}^{columns} cells. "
            f"Sub-cells add at most {rounded_up(rounding)} (if cells hold many rows), and "
            f"{slabs**columns - 1:,} private cuts add {rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=r"\alpha\le\frac{2D}s+\sum_{d<D}\frac{s-1}2\Bigl(\frac1{f_d}+\frac{s^{d-1}E_d}n\Bigr)"
            r"+D_L\Bigl(\frac1{f_D}+\frac{s^{D-1}E_D}n\Bigr),\quad E_d=\frac{2\Delta}{\varepsilon_d}\ln\frac K\beta",
            reference="exponential mechanism's utility over all cuts, proved beside the mechanism",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.floor(rows / room) + 1 if room > 0 else None,
            note="" if room > 0 else "With so few levels the boundary may cross all rows: no n is enough.",
        )

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """At worst all pieces of all releases differ, and each level runs along all of them."""
        sizes, slabs = boxes_of(problem).domain.sizes, 1 << self.levels
        steps = sub_cells(len(sizes) - 1, columns=len(sizes), levels=self.levels)
        return 0.0, 4e-8 * self.levels * slabs ** (len(sizes) - 1) * sizes[-1] * steps

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> BoxState:
        sizes = boxes_of(problem).domain.sizes
        cells = np.ravel_multi_index(tuple(dataset.records.T.astype(np.int64)), sizes)
        rows = np.bincount(cells, minlength=problem.domain.size).reshape(sizes)
        return BoxState(problem=problem, rows=rows.astype(np.int64))

    @override
    def run(self, state: BoxState, sampler: Sampler, trials: int = 1) -> BoxRelease:
        """L draws along each column, in all pieces at once.

        Counts are in parts of rows, so that they stay whole: a row has f_d parts for each that it had before.
        """
        sizes = boxes_of(state.problem).domain.sizes
        parts, published = sum(state.problem.neighbours.histogram_shift), []
        pieces = np.broadcast_to(state.rows.reshape(1, 1, sizes[0], -1), (trials, 1, sizes[0], state.rows[0].size))
        ways = np.zeros((trials, 1, 1), dtype=np.int64)  # the cuts around each piece, column after column
        for column, size in enumerate(sizes):
            steps = sub_cells(column, columns=len(sizes), levels=self.levels)
            parts *= steps
            # Each different piece is a line of its own; all lines in a row are one, with cuts that never leave theirs.
            _, first, line = np.unique(ways.reshape(-1, ways.shape[2]), axis=0, return_index=True, return_inverse=True)
            rows = pieces.sum(axis=3).reshape(-1, size)[first]
            lines = np.zeros((len(rows), steps * size + 1), dtype=np.int64)
            lines[:, 1:] = np.repeat(rows, steps, axis=1)
            below = np.cumsum(lines.reshape(-1))
            start = line.reshape(trials, -1, 1) * lines.shape[1]
            cuts = start + np.array([0, steps * size], dtype=np.int64)
            for _ in range(self.levels):
                ends = cuts[..., :-1].reshape(trials, -1), cuts[..., 1:].reshape(trials, -1)
                each = self.epsilon_of(column, columns=len(sizes))
                drawn = sampler.draw(MedianCuts(below, *ends, epsilon=each, sensitivity=parts), trials)
                cuts = merged(cuts, drawn.reshape(*cuts.shape[:2], -1))
            cuts = cuts - start
            published.append(cuts[..., 1:-1].reshape(trials, -1))
            if column + 1 < len(sizes):
                edges = np.arange(size + 1) * steps
                reached: Integers = np.clip(edges, cuts[..., :-1, None], cuts[..., 1:, None])
                counts = np.einsum("tpjc,tpcr->tpjr", np.diff(reached, axis=3), pieces)
                pieces = counts.reshape(trials, -1, sizes[column + 1], counts.shape[3] // sizes[column + 1])
                around = np.stack([cuts[..., :-1], cuts[..., 1:]], axis=3)
                ways = np.concatenate([np.repeat(ways[:, :, None], around.shape[2], axis=2), around], axis=3)
                ways = ways.reshape(trials, pieces.shape[1], -1)
        return self.release(BoxRelease, state, sampler, trials, cuts=tuple(published), levels=self.levels)


ENTRIES = (
    Entry(
        key="boxes",
        mechanism=BoxCuts,
        title="Boxes in three columns",
        story="Cuts one column into slabs with equally many rows, each slab into bars, each bar into cells. In "
        "three columns a useful guarantee needs millions of rows.",
        domains=(DomainType.TABLE,),
        queries=(RangeBoxes,),
        references=("Blum, Ligett and Roth (2013), section 4", "Kaplan, Schnapp and Stemmer (2022)"),
        tiny={"levels": 1},
    ),
)
