"""Smooth median: the median plus noise, as wide as the median of *these* data and of similar data can move.

One row moves the median of most data very little, yet on some data by the whole range. Noise for the first alone is
not private, because its width tells how far these data are from the second. Smooth sensitivity (Nissim,
Raskhodnikova and Smith 2007) is a width that one row changes only by a factor e^β: the largest, over k, of e^(-βk)
times how far one row can move the median once k rows were changed. So the number of rows to a data set where the median
is unstable decides, as in propose-test-release; but here a narrow answer becomes a wide one, not none.

Why it is private, in whole numbers of cells and with discrete noise:
- widths stand on a public ladder s_0 < s_1 < ..., each e^β times the one before. L(a) is the lowest step with s_L >= a;
- A_k is how far one row can move the median after k changes, and the step is J = max(0, max_k L(A_k) - k). One row
  changes J by at most 1: A_k(x) <= A_(k+1)(x'), so L(A_k(x)) - k <= J(x') + 1. No rounding enters, as J is a whole
  number; a ladder of powers of two, whose steps are wider than e^β, would lose this (see ``power_of_two_delta``);
- neighbours' medians differ by at most A_0, hence by at most the largest whole number a with L(a) <= J, of either;
- so a neighbouring pair is two discrete Laplace laws of scales c·s_J and c·s_J', |J - J'| <= 1, shifted by at most
  that. Their hockey-stick divergence is 1 - sum of min(p, e^ε q). Level sets of both laws are centred intervals, whose
  overlap only falls as they move apart: the largest shift is the worst. What is left is one number for each step of the
  ladder and each direction, worked out exactly (``divergence``). c is the smallest at which all are at most delta.

With A_k over added and removed rows the same three steps hold, so the ladder and its δ are the same for that relation.
Then n is private, and rows in no cell are not ranked. The median's rank is ⌈n/2⌉; of no rows it is the first cell. Let
the smaller of two neighbours have b rows up to a place and t above it. The other row moves the median across the place
only if t - b is 0 or 1, and by at most the gap there, which is reached. From x, the gap between x_i and x_j takes
j - i - 1 removed rows, and max(d - 1, -d) more changes for d = n - j + 1 - i: together max(n - 2i - 1, 2j - n - 2). So
A_k = x_j - x_i for i = ⌊(n - k)/2⌋ and j = ⌊(n + k)/2⌋ + 1, the rows around the median.

Cutting the answer off at the ends of the range, and rounding it to a cell, is post-processing. The constants of the
paper, c = 2/ε and β = ε/(2 ln(2/δ)), are for continuous noise; here β is that one and c is found.

Notation: epsilon = ε, delta = δ; r the median's rank, x_i the i-th smallest cell (the first cell for i < 1, the last
for i > n); A_k = max over 0 <= t <= k + 1 of x_(r+t) - x_(r+t-k-1) for a replaced row; S = max_k e^(-βk) A_k the
smooth sensitivity.

References:
    Nissim, Raskhodnikova and Smith (2007); Dwork and Lei (2009), propose-test-release. Hall, Rinaldo and Wasserman
    (2013), equations 7 to 9, ask the same e^β of a scale that is estimated from the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Domain,
    DomainType,
    Entry,
    ErrorUnit,
    Floats,
    Guarantee,
    HistogramState,
    Integers,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    Release,
    ValueRelease,
    check_memory,
    delta_param,
    epsilon_param,
)
from dpcore.queries.ranges import Thresholds, rank
from dpcore.randomness import Charge, Draw, Enumerate, Preview, Sampler, Secure
from dpcore.randomness.laws import clamped_law, laplace_quantile, laplace_tail
from dpcore.randomness.sampler import check_whole

NARROWEST = 1 / 40
"""Noise of the lowest step, in cells: it is 0 but for a chance of about e^-40."""
EMPTY_CELLS = (
    "The smooth median ranks n rows, a public number. Here cells may be empty, so the number of rows with a value is "
    "private. Use a column in which every row has a number, or add or remove one row."
)


def divergence(narrow: Floats, wide: Floats, shift: Integers, *, epsilon: float) -> Floats:
    """Return the larger hockey-stick divergence of discrete Laplace laws of two scales, their centres ``shift`` apart.

    Elementwise, narrow <= wide and shift >= 0. The event of a direction is that in which the ratio exceeds e^ε. Its
    logarithm is linear between -inf, 0, the shift and inf, so the event is an interval or the outside of one.
    """
    rate, flat = 1 / narrow, 1 / wide
    ratio = np.log(np.tanh(rate / 2)) - np.log(np.tanh(flat / 2))  # of the heights, at least 0
    grown, bend = math.exp(epsilon), rate - flat
    bend = np.where(bend > 0, bend, 1e-300)  # equal scales: the ratio is constant outside, and no end is met

    def outside(places: Floats, *, scale: Floats, low: bool) -> Floats:
        """Chance of being at most (low) or at least these whole places; far ones are cut to 2^53."""
        far = np.clip(places, -(2.0**53), 2.0**53)
        return laplace_tail(-far if low else far, scale=scale)

    # The narrow law at 0 against the wide one at the shift: an interval around 0.
    top = ratio + shift * flat - epsilon
    first, last = np.floor(-top / bend) + 1, np.ceil(top / (rate + flat)) - 1
    inside = 1 - outside(first - 1, scale=narrow, low=True) - outside(last + 1, scale=narrow, low=False)
    other = outside(last - shift, scale=wide, low=True) - outside(first - 1 - shift, scale=wide, low=True)
    peaked = np.where(top > 0, inside - grown * other, 0.0)
    # The wide law at 0 against the narrow one at the shift: all but an interval around the shift.
    start = -ratio + shift * rate - epsilon
    left = np.where(start > 0, np.ceil(start / (rate + flat)), np.ceil(start / bend)) - 1
    right = np.floor((epsilon + ratio + shift * rate) / bend) + 1
    tails = outside(left, scale=wide, low=True) + outside(right, scale=wide, low=False)
    others = outside(left - shift, scale=narrow, low=True) + outside(right - shift, scale=narrow, low=False)
    largest: Floats = np.maximum(0.0, np.maximum(peaked, tails - grown * others))
    return largest


@dataclass(frozen=True, kw_only=True, eq=False)
class Ladder:
    """The public widths of noise.

    Attributes:
        smoothness: β; one changed row is worth a factor e^β.
        widths: s_j, in cells, (J,).
        factor: c; the noise of step j has scale c·s_j.
        delta: largest divergence of two steps.
    """

    smoothness: float
    widths: Floats
    factor: float
    delta: float

    def step(self, moves: Integers) -> int:
        """Return the step for A_0, A_1, … (K,), the last of them standing for all later ones too."""
        steps = np.searchsorted(self.widths, moves) - np.arange(len(moves))
        return int(max(0, steps.max()))

    def scale(self, step: int) -> float:
        """Return the scale of the noise of a step."""
        return self.factor * float(self.widths[step])


def steps_delta(widths: Floats, factor: float, *, epsilon: float, cells: int) -> float:
    """Return the largest divergence of two neighbouring steps, or of one with itself, at their largest shift."""
    scales, shift = factor * widths, np.minimum(np.floor(widths), cells - 1)
    same = divergence(scales, scales, shift, epsilon=epsilon)
    next_one = divergence(scales[:-1], scales[1:], shift[:-1], epsilon=epsilon)
    return float(np.concatenate([same, next_one]).max())


def _widths(*, epsilon: float, cells: int, smoothness: float) -> Floats:
    """Return widths from below one cell to all cells."""
    lowest = NARROWEST * epsilon / 4
    steps = math.ceil(math.log(max(1, cells - 1) / lowest) / smoothness) + 1
    check_memory(steps, what="The widths of noise", smaller="take a larger epsilon or fewer cells", each=400)
    widths: Floats = lowest * np.exp(smoothness * np.arange(steps))
    widths[-1] = max(widths[-1], cells - 1)  # rounded below it, data that can move so far would have no step
    return widths


@lru_cache(maxsize=32)
def ladder(*, epsilon: float, delta: float, cells: int) -> Ladder:
    """Return the narrowest noise with (epsilon, delta)-DP on so many cells; cached: public numbers.

    Raises:
        ParameterError: none is found.
    """
    aim = delta * (1 - 1e-9) - 1e-15  # beyond all rounding of the sums
    low, high = 1 / epsilon, 4 / epsilon
    smoothness, delta_of_ladder = epsilon / math.log(2 / delta), math.inf
    while delta_of_ladder > aim:  # at a large ε the paper's steps are too wide for discrete noise: half of them, then
        smoothness /= 2
        if smoothness < 1e-3 * epsilon:
            raise ParameterError(f"No noise is known for ε = {epsilon:g} and δ = {delta:g}: take a larger δ.")
        widths = _widths(epsilon=epsilon, cells=cells, smoothness=smoothness)
        delta_of_ladder = steps_delta(widths, high, epsilon=epsilon, cells=cells)
    for _ in range(12):  # to 0.1%
        middle = (low + high) / 2
        reached = steps_delta(widths, middle, epsilon=epsilon, cells=cells)
        low, high, delta_of_ladder = (low, middle, reached) if reached <= aim else (middle, high, delta_of_ladder)
    return Ladder(smoothness=smoothness, widths=widths, factor=high, delta=delta_of_ladder)


def power_of_two_delta(*, epsilon: float, delta: float, cells: int) -> float:
    """Return the δ of rounding the smooth sensitivity up to a power of two, with the paper's constants."""
    widths = _widths(epsilon=epsilon, cells=cells, smoothness=math.log(2))
    return steps_delta(widths, 2 / epsilon, epsilon=epsilon, cells=cells)


def median_moves(
    histogram: Integers, *, domain: Domain, max_changes: int, neighbours: Neighbours = Neighbours.REPLACE_ONE
) -> tuple[int, Integers]:
    """Return the median's cell, and A_0 .. A_K in cells: how far one row can move the median once k were changed.

    K is the number of rows, or ``max_changes`` if that is less. Rows in no cell are not ranked.
    """
    sums = np.concatenate([[0], np.cumsum(histogram[: domain.ordered])])
    n = int(sums[-1])
    place = rank(n, quantile=0.5)
    cell = int(np.searchsorted(sums[1:], place))
    if neighbours is Neighbours.ADD_REMOVE_ONE:
        changes = np.arange(min(n, max_changes) + 1)
        ends = (n - changes) // 2, (n + changes) // 2 + 1
        low, high = (np.searchsorted(sums[1:], np.clip(end, 1, max(n, 1))) for end in ends)
        return cell, np.where(ends[1] > n, domain.ordered - 1, high) - np.where(ends[0] < 1, 0, low)
    occupied = np.flatnonzero(histogram[: domain.ordered])
    below, above = occupied[occupied <= cell], occupied[occupied >= cell]
    # Each cell at the row of it that is nearest to the median, and the ends of the range beyond all rows.
    lower, down = np.append(0, below), place - np.minimum(np.append(0, sums[below + 1]), place)
    upper = np.append(above, domain.ordered - 1)
    up = np.maximum(np.append(sums[above] + 1, n + 1), place) - place
    moves = np.zeros(min(n, max_changes) + 1, dtype=np.int64)
    for start, rows in zip(lower.tolist(), down.tolist(), strict=True):
        changed = np.maximum(rows + up - 1, 0)
        near = changed < len(moves)
        np.maximum.at(moves, changed[near], upper[near] - start)
    return cell, np.maximum.accumulate(moves)


def smooth_sensitivity(moves: Integers, *, smoothness: float) -> float:
    """Return S, in cells, from A_0, A_1, …."""
    return float((moves * np.exp(-smoothness * np.arange(len(moves)))).max())


@dataclass(frozen=True, eq=False, repr=False)
class SmoothNoise(Draw[Integers]):
    """A cell (1,) plus discrete Laplace noise of the step (1,) of a ladder, cut off at the first and last cell: (T,).

    Neighbours' cells are no further apart than the width of either step, and steps differ by at most 1.
    """

    cell: Integers
    step: Integers
    ladder: Ladder = field(kw_only=True)
    epsilon: float = field(kw_only=True)
    cells: int = field(kw_only=True)

    def __post_init__(self) -> None:
        check_whole(self.cell, low=0, high=self.cells - 1)
        check_whole(self.step, low=0, high=len(self.ladder.widths) - 1)

    @property
    def _scale(self) -> float:
        return self.ladder.scale(int(self.step[0]))

    @override
    @property
    def charge(self) -> Charge:
        return Charge(type(self).__name__, epsilon=self.epsilon, delta=self.ladder.delta)

    def _cut(self, noisy: Integers) -> Integers:
        return np.clip(noisy[:, 0], 0, self.cells - 1)

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        return self._cut(preview.laplace(self.cell[None, :], scale=self._scale, trials=trials))

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        return self._cut(secure.laplace(self.cell[None, :], scale=self._scale, trials=trials))

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        law = clamped_law(self.cell[None, :], window=(0, self.cells - 1), kind="laplace", scale=self._scale)
        return paths.independent(law, np.arange(self.cells))[:, 0]


@dataclass(frozen=True, kw_only=True)
class SmoothMedian(Mechanism):
    """The median with noise scaled to its smooth sensitivity."""

    releases: ClassVar[str] = "value"

    epsilon: float = epsilon_param()
    delta: float = delta_param()

    def ladder(self, problem: Problem) -> Ladder:
        """Return the public widths of noise.

        Raises:
            ParameterError: where there are none.
        """
        return ladder(epsilon=self.epsilon, delta=self.delta, cells=problem.domain.ordered)

    def step(self, state: HistogramState) -> tuple[int, int, Integers]:
        """Return the median's cell, the step of its noise, and A_0, A_1, … as far as they matter; private."""
        steps = self.ladder(state.problem)
        domain, neighbours = state.problem.domain, state.problem.neighbours
        cell, moves = median_moves(state.histogram, domain=domain, max_changes=len(steps.widths), neighbours=neighbours)
        return cell, steps.step(moves), moves

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """(epsilon, delta)-DP, either relation, delta as found for the ladder."""
        return Guarantee(epsilon=self.epsilon, delta=self.ladder(problem).delta, neighbours=problem.neighbours)

    @override
    def unsuitable(self, problem: Problem) -> str:
        """Return why n rows cannot be ranked; empty where every row has a number, or where n is private."""
        return EMPTY_CELLS if problem.domain.missing and problem.neighbours is Neighbours.REPLACE_ONE else ""

    def multiple(self, problem: Problem, beta: float) -> float:
        """Return the error in units of S that noise exceeds with probability at most beta, but for one cell."""
        steps = self.ladder(problem)
        return steps.factor * math.exp(steps.smoothness) * math.log(2 / beta)

    def error_at(self, stable: Integers, problem: Problem, beta: float) -> Integers:
        """Return the cells by which an answer errs at most with confidence 1 - beta, if so many rows must change first.

        Before the median is another one, no row moves it: A_k = 0 for k <= stability - 2, and A_k is at most all cells.
        """
        steps = self.ladder(problem)
        places = np.maximum(0, len(steps.widths) - np.asarray(stable))
        scales = steps.factor * steps.widths[np.minimum(places, len(steps.widths) - 1)]
        off = [laplace_quantile(beta, scale=scale) - 1 for scale in scales.tolist()]
        return np.array([min(each, problem.domain.ordered - 1) for each in off])

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Nothing in advance: the noise depends on the data."""
        replaced = problem.neighbours is Neighbours.REPLACE_ONE
        around = r"x_{\lfloor(n+k)/2\rfloor+1}-x_{\lfloor(n-k)/2\rfloor}"
        moves = r"\max_{0\le t\le k+1}x_{r+t}-x_{r+t-k-1}" if replaced else around
        return Bound(
            value=math.inf,
            unit=ErrorUnit.RANGE,
            kind=BoundKind.ORDER_ONLY,
            statement=f"With confidence {1 - beta:g}, the error is below one cell and "
            f"{self.multiple(problem, beta):.3g} times the smooth sensitivity S of the data.",
            formula=rf"S=\max_k e^{{-\beta k}}A_k,\quad A_k={moves},\quad\beta=\frac{{\varepsilon}}{{2\ln(2/\delta)}}",
            reference="Nissim, Raskhodnikova and Smith (2007), with exact constants for discrete noise",
            beta=beta,
            assumptions=(Assumption(text="S is small (a property of the data, not known in advance)", met=False),),
            note="A_k: how far one row can move the median after k rows were changed. S can be the whole range.",
        )

    @override
    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: all pairs of an occupied cell below and one above the median."""
        side = min(problem.n, problem.domain.ordered, len(self.ladder(problem).widths)) / 2
        return 0.0, 1e-5 * side + 1e-8 * side**2

    preview_seconds = release_seconds

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        problem = state.problem
        steps = self.ladder(problem)
        if reason := self.unsuitable(problem):
            raise ParameterError(reason)
        cell, step, _ = self.step(state)
        draw = SmoothNoise(
            np.array([cell]), np.array([step]), ladder=steps, epsilon=self.epsilon, cells=problem.domain.ordered
        )
        return self.release(ValueRelease, state, sampler, trials, values=sampler.draw(draw, trials))

    @override
    def possible(self, release: Release) -> bool:
        """A cell of the line."""
        return isinstance(release, ValueRelease) and release.in_order


ENTRIES = (
    Entry(
        key="smooth-median",
        mechanism=SmoothMedian,
        title="Median with smooth noise",
        story="The median plus noise, which is small if many rows must change before one row can move the median far.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=("Nissim, Raskhodnikova and Smith (2007)", "Dwork and Lei (2009)"),
        tiny={"epsilon": 1.0, "delta": 0.1},
        tiny_rows=6,
        tiny_size=4,
    ),
)
