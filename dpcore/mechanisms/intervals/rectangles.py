"""Rectangle release: cut the first axis into slabs that hold equally many rows, then each slab into cells that do.

L levels of private median cuts make s = 2^L slabs of about n/s rows each; in every slab, L more levels cut the second
axis into s cells. Each of the s² cells is released with mass 1/s², spread evenly over it. Crowded places get many
small cells and empty ones few large cells, and the noise grows with the number of slabs, not of the grid's cells.

As with approximate quantiles, a cut must be able to fall inside a grid cell, because many rows may be equal: columns of
the grid are divided into a sub-columns and rows of a slab into b sub-cells, over which a row is thought spread evenly.
Rows in the reserved cell stand in one more column at the right end.

Why it is private: a cut of a piece scores -|2·(rows left of it) - (rows of the piece)|, as in the release of intervals.
A row that belongs to a piece by a share f moves its scores by at most f, and its shares in all pieces of a level, over
all slabs, add up to 1. So adding or removing a row moves the scores of a level by 1 together. Replacing a row moves
them by 2: it may leave one slab and enter another, so that the levels inside slabs count for two slabs at once (Blum,
Ligett and Roth would have ε₁ + 2·ε₂ + … ≤ ε). A third of ε pays for the slabs, two thirds for the cuts inside them,
where errors of s slabs add up; a slab's mass is taken to be n/s, never counted.

Accuracy: with explicit constants, for every data set (accuracy). The boundary of a rectangle crosses at most four in s
of the mass, whatever the noise.

Notation: epsilon = ε, beta = β, levels = L.

References:
    Blum, Ligett and Roth (2013), section 4 ("easily extended"); cuts after Kaplan, Schnapp and Stemmer (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DataRelease,
    DomainType,
    Entry,
    Floats,
    HistogramState,
    Integers,
    ParameterError,
    Problem,
    PureMechanism,
    epsilon_param,
    param,
    rounded_up,
    rows_up,
)
from dpcore.core.basics import SUM_TOLERANCE
from dpcore.data.product import Product, is_map
from dpcore.mechanisms.intervals.recursive import error_growth
from dpcore.queries.ranges import Cells, Rectangles
from dpcore.randomness import MedianCuts, Sampler

FIRST_SHARE = 1 / 3
"""Share of epsilon for the cuts of the first axis."""


@dataclass(frozen=True, kw_only=True)
class RectangleSizes:
    """The public sizes of a run.

    Attributes:
        domain: the grid.
        levels: L, levels of cuts along either axis.
    """

    domain: Product
    levels: int

    @property
    def slabs(self) -> int:
        """s: slabs, and cells in each."""
        return 1 << self.levels

    @property
    def columns(self) -> int:
        """Columns of the grid, with one more for the reserved cell."""
        return self.domain.shape[0] + int(self.domain.missing)

    @property
    def across(self) -> int:
        """Sub-columns of a column, a: enough to cost a rectangle at most 1/s of n."""
        return max(1, self.slabs**2 // 2)

    @property
    def up(self) -> int:
        """Sub-cells of a cell of a slab, b: enough to cost a rectangle at most 2/s of n."""
        return math.ceil(error_growth(self.levels) * self.slabs / 2)

    @property
    def ends(self) -> tuple[int, int]:
        """Number of sub-columns of the grid and of sub-cells of a slab: the last places of cuts."""
        return self.across * self.columns, self.up * self.domain.shape[1]


def share_below(low: Integers, high: Integers, edges: Integers) -> Floats:
    """Return the share below each edge (E,) of mass spread evenly from low to high (...): (..., E), 1 at the last edge.

    Mass on a single place lies above it.
    """
    width = np.maximum(high - low, 1)
    share: Floats = np.clip((edges - low[..., None]) / width[..., None], 0.0, 1.0)
    share[..., -1] = 1.0
    return share


MIN_SHARE = 1e-3
"""Share of a slab in a column from which its rows are computed: of less they would not be exact."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RectanglesRelease(DataRelease):
    """Cells of equal mass by their cuts, ends left out.

    Attributes:
        across: cuts of the first axis in sub-columns, (T, s - 1).
        up: cuts of each slab along the second axis in sub-cells, slab after slab, (T, s·(s - 1)).
    """

    published = ("across", "up")
    across: Integers
    up: Integers

    @override
    def histogram(self) -> Floats:
        """Every cell's n/s² rows, spread evenly over the cell, shape (T, size)."""
        domain = self.problem.domain
        if not is_map(domain):
            raise ParameterError("Cells of equal mass need a grid.")
        slabs = self.across.shape[1] + 1
        plan = RectangleSizes(domain=domain, levels=slabs.bit_length() - 1)
        cuts = with_ends(self.across, plan.ends[0])
        edges = np.arange(plan.columns + 1) * plan.across
        columns = np.diff(share_below(cuts[:, :-1], cuts[:, 1:], edges), axis=2)
        cuts = with_ends(self.up.reshape(-1, slabs, slabs - 1), plan.ends[1])
        edges = np.arange(domain.shape[1] + 1) * plan.up
        below = np.zeros((self.trials, slabs, len(edges)))
        for cell in range(slabs):
            below += share_below(cuts[:, :, cell], cuts[:, :, cell + 1], edges)
        rows = np.matmul(columns.transpose(0, 2, 1), np.diff(below, axis=2)) * (self.problem.n / slabs**2)
        histogram: Floats = rows[:, : domain.shape[0]].reshape(self.trials, -1)
        if domain.missing:
            histogram = np.concatenate([histogram, rows[:, -1].sum(axis=1, keepdims=True)], axis=1)
        histogram[self.refused] = np.nan
        return histogram

    @override
    def may_show(self, numbers: Floats) -> bool:
        """Return whether rows per cell are spread evenly over boxes, as far as columns tell the slabs apart."""
        domain, slabs = self.problem.domain, self.across.shape[1] + 1
        assert is_map(domain)
        plan = RectangleSizes(domain=domain, levels=slabs.bit_length() - 1)
        masses = numbers * slabs / self.problem.n
        columns = masses[: domain.ordered].reshape(domain.shape)
        inside = shares_of_pieces(
            np.concatenate([columns.sum(axis=1), masses[domain.ordered :]]), pieces=slabs, parts=plan.across
        )
        if inside is None:
            return False
        known = _Slabs(plan=plan, along={})
        # Columns of one slab first: they tell most of the others.
        order = np.argsort(np.count_nonzero(inside[: len(columns)], axis=1), kind="stable").tolist()
        return all(known.fits(columns[place], inside[place]) for place in order)


@dataclass
class _Slabs:
    """Slabs whose rows along the second axis are known, from columns that are all theirs or nearly.

    Attributes:
        plan: the public sizes.
        along: by slab, its mass in each row of the grid, 1 together.
    """

    plan: RectangleSizes
    along: dict[int, Floats]

    def fits(self, column: Floats, shares: Floats) -> bool:
        """Return whether a column's rows are those of its slabs; one slab that is not known yet becomes known by it.

        Args:
            column: mass of each cell.
            shares: mass of each slab in this column, (s,).
        """
        inside = np.flatnonzero(shares).tolist()
        unknown = [slab for slab in inside if slab not in self.along]
        left = column - sum((shares[slab] * self.along[slab] for slab in inside if slab in self.along), 0.0 * column)
        if not unknown:
            return bool(np.abs(left).max() <= SUM_TOLERANCE * self.plan.slabs)
        if len(unknown) > 1 or shares[unknown[0]] < MIN_SHARE:  # files do not tell these slabs apart
            return bool((left >= -SUM_TOLERANCE * self.plan.slabs).all())
        along = left / shares[unknown[0]]
        self.along[unknown[0]] = along
        pieces, parts = self.plan.slabs, self.plan.up
        return shares_of_pieces(pieces * along, pieces=pieces, parts=parts) is not None


def shares_of_pieces(mass: Floats, *, pieces: int, parts: int) -> Floats | None:
    """Return the share of each place in each piece (places, pieces); None if mass (places,) has no pieces of mass 1.

    The pieces follow each other, each spread evenly over whole parts of places, of which every place has so many: so
    a piece has as much in each place that is all its own, and whole parts of that in a place that it shares.
    """
    if not (np.isfinite(mass).all() and (mass > 0).all()):
        return None
    reached = np.concatenate([[0.0], np.cumsum(mass)])
    if abs(reached[-1] - pieces) > SUM_TOLERANCE * pieces:
        return None
    ends = np.arange(pieces + 1.0)
    low, high = np.maximum(reached[:-1, None], ends[:-1]), np.minimum(reached[1:, None], ends[1:])
    shares: Floats = np.maximum(high - low, 0.0)
    shares[shares < SUM_TOLERANCE] = 0.0
    for piece in shares.T:
        whole = piece[(piece > 0) & (mass - piece < SUM_TOLERANCE)]
        if not len(whole) or len(whole) == np.count_nonzero(piece) == 1:
            continue  # it may be spread over less than a place
        counted = parts * piece / whole.mean()
        if (
            np.abs(whole - whole.mean()).max() > SUM_TOLERANCE
            or counted.max() > parts + parts * SUM_TOLERANCE / whole.mean()
        ):
            return None
        if np.abs(counted - np.rint(counted)).max() > parts * SUM_TOLERANCE / whole.mean():
            return None
    return shares


def with_ends(cuts: Integers, last: int) -> Integers:
    """Return the cuts (..., k) with 0 before them and the last place behind: (..., k + 2)."""
    padded: Integers = np.concatenate([np.zeros_like(cuts[..., :1]), cuts, np.full_like(cuts[..., :1], last)], axis=-1)
    return padded


@dataclass(frozen=True, kw_only=True)
class RectangleRelease(PureMechanism):
    """Private medians of pieces of the first axis, then of pieces of each slab along the second."""

    epsilon: float = epsilon_param()
    levels: int = param(
        3,
        1,
        4,
        label="Levels of cuts",
        symbol="L",
        help="L levels make 2^L slabs with 2^L cells each. More cells follow the data more closely, but with "
        "more noise.",
    )

    def plan(self, problem: Problem) -> RectangleSizes:
        """Return the public sizes; raises ParameterError where the records are no pairs of numbers."""
        if not is_map(problem.domain):
            raise ParameterError(f"Rectangles need two numbers, not {problem.domain.title}.")
        return RectangleSizes(domain=problem.domain, levels=self.levels)

    @property
    def epsilons(self) -> tuple[float, float]:
        """Privacy loss of one level of cuts along the first and along the second axis."""
        return FIRST_SHARE * self.epsilon / self.levels, (1 - FIRST_SHARE) * self.epsilon / self.levels

    def sensitivity(self, problem: Problem) -> int:
        """Return the sensitivity of a level's scores together, in rows; of a replaced row, in two slabs."""
        return sum(problem.neighbours.histogram_shift)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Four crossed cells in s, sub-cells, and private choices; a grid cell is a rectangle.

        There are K = L·A + s - 1 + s·(L·B + s - 1) candidate cuts in all, A sub-columns and B sub-cells of a slab. So
        with probability 1 - β no cut scores worse than the best of its piece by more than E = (2Δ/ε_level)·ln(K/β).

        Slabs: the best cut scores at least -n/a, so each halves its piece up to e = (n/a + E₁)/2 rows. Halving with
        an error of e adds at most e to the sum of all (n_j - n/s)⁺, n_j the rows of slab j, and of all (n/s - n_j)⁺:
        in the end both are at most (s - 1)·e.

        Inside slab j, as for intervals, the rows below any cut stray from their share of n_j by at most
        g_j = D·(n_j/b + E₂)/2, D = error_growth(L); so an interval of the second axis errs by at most
        2·n_j/s + 2·g_j rows of n_j, and by the slab's own error |n_j - n/s| on top.

        A rectangle's left and right edges cross two slabs at most, which err by at most n/s each and by their own
        error. The other slabs lie outside or inside. Together: 2n/s + 2n/s + D·(n/b + s·E₂) + (s - 1)·e.
        """
        plan, n = self.plan(problem), problem.n
        s, growth = plan.slabs, error_growth(self.levels)
        places = self.levels * plan.ends[0] + s - 1 + s * (self.levels * plan.ends[1] + s - 1)
        first, second = (2 * self.sensitivity(problem) / epsilon * math.log(places / beta) for epsilon in self.epsilons)
        resolution = 4 / s
        rounding = growth / plan.up + (s - 1) / (2 * plan.across)
        rows = growth * s * second + (s - 1) * first / 2
        room = 1 - resolution - rounding
        return Bound(
            value=resolution + rounding + rows / n,
            kind=BoundKind.GUARANTEE,
            statement=f"A rectangle's boundary crosses at most {rounded_up(resolution)} of n in {s} × {s} cells. "
            f"Sub-cells add at most {rounded_up(rounding)} (if grid cells hold many rows), and "
            f"{s**2 - 1} private cuts add {rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=r"\alpha\le\frac4s+\frac{D_L}{b}+\frac{s-1}{2a}+\frac1n\Bigl(sD_LE_2+\frac{(s-1)E_1}{2}\Bigr),"
            r"\quad E_i=\frac{2\Delta}{\varepsilon_i}\ln\frac K\beta",
            reference="exponential mechanism's utility over all cuts, proved beside the mechanism",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.floor(rows / room) + 1 if room > 0 else None,
        )

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """At worst: all slabs of all releases differ, and each level runs along all of them."""
        plan = self.plan(problem)
        return 0.0, 4e-8 * self.levels * plan.slabs * plan.ends[1]

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> RectanglesRelease:
        """L draws along the first axis, then L in all slabs at once.

        Counts are in parts of rows, so that they stay whole: a row is a parts of its column, a·b of its cell.
        """
        problem = state.problem
        plan, delta = self.plan(problem), self.sensitivity(problem)
        cells = np.zeros((plan.columns, plan.domain.shape[1]), dtype=np.int64)
        cells[: plan.domain.shape[0]] = state.histogram[: plan.domain.ordered].reshape(plan.domain.shape)
        if plan.domain.missing:
            cells[-1, 0] = state.histogram[-1]
        # Parts of rows of each grid row, in all sub-columns left of a place.
        left = np.zeros((plan.ends[0] + 1, cells.shape[1]), dtype=np.int64)
        np.cumsum(np.repeat(cells, plan.across, axis=0), axis=0, out=left[1:])
        in_columns = left.sum(axis=1)
        across = np.tile(np.array([0, plan.ends[0]], dtype=np.int64), (trials, 1))
        for _ in range(self.levels):
            ends = across[:, :-1], across[:, 1:]
            draw = MedianCuts(in_columns, *ends, epsilon=self.epsilons[0], sensitivity=plan.across * delta)
            across = merged(across, sampler.draw(draw, trials))
        # Each different slab is a line of its own; all lines in a row are one, with pieces that never leave theirs.
        pairs, line = np.unique(across[:, :-1] * len(left) + across[:, 1:], return_inverse=True)
        steps = np.zeros((len(pairs), plan.ends[1] + 1), dtype=np.int64)
        steps[:, 1:] = np.repeat(left[pairs % len(left)] - left[pairs // len(left)], plan.up, axis=1)
        below = np.cumsum(steps.reshape(-1))
        start = line.reshape(trials, plan.slabs, 1) * steps.shape[1]
        up = start + np.array([0, plan.ends[1]], dtype=np.int64)
        for _ in range(self.levels):
            ends = up[:, :, :-1].reshape(trials, -1), up[:, :, 1:].reshape(trials, -1)
            draw = MedianCuts(below, *ends, epsilon=self.epsilons[1], sensitivity=plan.across * plan.up * delta)
            up = merged(up, sampler.draw(draw, trials).reshape(trials, plan.slabs, -1))
        cuts = (up - start)[:, :, 1:-1].reshape(trials, -1)
        return self.release(RectanglesRelease, state, sampler, trials, across=across[:, 1:-1], up=cuts)


def merged(ends: Integers, cuts: Integers) -> Integers:
    """Return the ends of pieces (..., k + 1) with the cut of each piece (..., k) between them: (..., 2k + 1)."""
    merged = np.empty((*ends.shape[:-1], ends.shape[-1] + cuts.shape[-1]), dtype=np.int64)
    merged[..., ::2], merged[..., 1::2] = ends, cuts
    return merged


ENTRIES = (
    Entry(
        key="rectangles",
        mechanism=RectangleRelease,
        title="Rectangle release",
        story="Cuts the plane into slabs with equally many rows, and each slab into cells with equally many "
        "rows. Good for few rows, many cells and a small ε; otherwise noise in every cell has a smaller "
        "error.",
        domains=(DomainType.MAP,),
        queries=(Rectangles, Cells),
        references=("Blum, Ligett and Roth (2013), section 4", "Kaplan, Schnapp and Stemmer (2022)"),
        weights=r"\Pr[\text{cut at }c]\propto\exp\Bigl(-\frac{\varepsilon_l}{2\Delta}\,"
        r"\bigl|\text{left}(c)-\text{right}(c)\bigr|\Bigr)",
        tiny={"levels": 1},
        tiny_size=5,
    ),
)
