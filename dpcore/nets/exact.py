"""The layers of layers.py drawn in whole numbers of any length: nothing is rounded, so a release may come of it.

The chance of a database must be exactly in proportion to e^(-rate · error), which no fraction is. So the staircase
above e^(-rate · extent) is made of whole numbers (a stair is rounded up at 2^bits), layers and databases are drawn by
counting in whole numbers, and only the last step needs the exponential: keep the database with chance
e^(-rate · error) over the stairs it lies under. That coin is decided by comparing more and more digits of a uniform
number with tighter and tighter fractions around the chance.

Floating point is used to decide where boxes are halved. That changes how long a draw takes, not what comes out.
"""

from __future__ import annotations

import decimal
import math
from bisect import bisect_right
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Integers
from dpcore.nets.kernel import Kernel
from dpcore.nets.layers import Layers

Below = Callable[[int], int]
"""A uniform whole number below its argument."""

BATCH = 256
"""Boxes counted together."""


def exponential(x: Fraction, *, digits: int) -> tuple[Fraction, Fraction]:
    """Fractions around e^x, apart by about 10^-digits of it."""
    whole = len(str(abs(math.floor(x))))
    context = decimal.Context(prec=digits + whole + 5, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    # The argument is off by less than 10^-(digits + 4), and Decimal's exponential is correctly rounded.
    value = Fraction(context.exp(context.divide(Decimal(x.numerator), Decimal(x.denominator))))
    off = value / 10**digits
    return value - off, value + off


def flip(below: Below, bounds: Callable[[int], tuple[Fraction, Fraction]]) -> bool:
    """True with exactly the chance that ``bounds`` enclose, given how many digits they must have."""
    drawn, bits = 0, 0
    while True:
        drawn, bits = drawn << 64 | below(1 << 64), bits + 64
        low, high = bounds(bits // 3)
        if Fraction(drawn + 1, 1 << bits) <= low:
            return True
        if Fraction(drawn, 1 << bits) >= high:
            return False


def _each(below: Below, totals: NDArray[Any]) -> NDArray[Any]:
    """A uniform whole number below each total, as Python's own."""
    return np.array([below(int(total)) for total in totals], dtype=object)


class Stairs:
    """Whole numbers above 2^bits · e^(-fall · (layer - where)), never growing, and 0 beyond the last layer."""

    def __init__(self, *, fall: Fraction, where: int, last: int, bits: int) -> None:
        self._fall, self._where, self._last, self._bits = fall, where, last, bits
        self._known: dict[int, int] = {}

    def height(self, layer: int) -> int:
        """The stair's height."""
        if layer > self._last:
            return 0
        if layer not in self._known:
            _, high = exponential(self._fall * (self._where - layer), digits=30)
            self._known[layer] = math.ceil(high * 2**self._bits)
        return self._known[layer]

    def draw(self, start: int, stop: int, below: Below) -> int:
        """A layer above start and up to stop, with chance in proportion to how much the stairs fall behind it."""
        floor = self.height(stop + 1)
        drawn = floor + below(self.height(start + 1) - floor)
        low, high = start + 1, stop  # the last layer whose stair is above what was drawn
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.height(middle) > drawn else (low, middle - 1)
        return low


class ExactLayers:
    """One rate, prepared; draw() as often as one likes.

    Args:
        kernel: counts databases within limits.
        rate: of the weights e^(-rate · error), a fraction.
    """

    def __init__(self, kernel: Kernel, *, rate: Fraction) -> None:
        # For one database fewer counts are worth more tries.
        layers = Layers(kernel, longest=2.0, lost=0.75)
        boxes = layers.boxes(float(rate))
        self._layers, self._kernel, self._step, self._rate = layers, kernel, boxes.step, rate
        last = layers.widest // boxes.step
        some = boxes.logs > -np.inf
        self._start, self._stop = boxes.start[some], np.minimum(boxes.stop[some], last)
        self._where = self._stop[int(np.argmax(boxes.shares[some]))].tolist()
        # Stairs are at least 1 high, so those far out are too high. The bits make up for the number of all databases
        # there and for how high the other stairs are at 0: together they weigh 2^-64 of the likeliest layer.
        every = math.comb(kernel.cells + kernel.free_end + kernel.points - 1, kernel.points)
        self._bits = every.bit_length() + math.ceil(rate * boxes.step * sum(self._where) * Fraction(3, 2)) + 64
        self._stairs = [
            Stairs(fall=rate * boxes.step, where=where, last=end, bits=self._bits)
            for where, end in zip(self._where, last.tolist(), strict=True)
        ]
        limits = layers.limits(self._stop, boxes.step)
        counts: list[NDArray[Any]] = [
            kernel.sums(limits[at : at + BATCH], keep=False, exact=True).totals for at in range(0, len(limits), BATCH)
        ]
        self._totals = [int(total) for total in np.concatenate(counts)]
        weights = [
            total
            * math.prod(s.height(a + 1) - s.height(b + 1) for s, a, b in zip(self._stairs, start, stop, strict=True))
            for total, start, stop in zip(self._totals, self._start.tolist(), self._stop.tolist(), strict=True)
        ]
        self._reached = list(accumulate(weights))

    def draw(self, below: Below) -> Integers:
        """One database, as points in order (m,)."""
        while True:
            box = bisect_right(self._reached, below(self._reached[-1]))
            ends = zip(self._stairs, self._start[box].tolist(), self._stop[box].tolist(), strict=True)
            layer = np.array([[stairs.draw(start, stop, below) for stairs, start, stop in ends]])
            sums = self._kernel.sums(self._layers.limits(layer, self._step), keep=True, exact=True)
            if below(self._totals[box]) >= sums.totals[0]:
                continue
            points = sums.draw(np.zeros(1, dtype=np.int64), lambda totals: _each(below, totals))
            if flip(below, self._chance(self._kernel.extent(points)[0].tolist())):
                found: Integers = points[0]
                return found

    def _chance(self, extent: list[int]) -> Callable[[int], tuple[Fraction, Fraction]]:
        """e^(-rate · error) over the stairs that a database of this extent lies under."""
        under = math.prod(s.height(x // self._step) for s, x in zip(self._stairs, extent, strict=True))
        ahead = self._rate * (self._step * sum(self._where) - sum(extent))
        scale = Fraction(2 ** (self._bits * len(extent)), under)

        def bounds(digits: int) -> tuple[Fraction, Fraction]:
            low, high = exponential(ahead, digits=digits)
            return low * scale, high * scale

        return bounds
