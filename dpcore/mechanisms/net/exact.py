"""The layers of layers.py drawn without rounding, from uniform whole numbers only, as a release requires.

Each step has exactly its chance. Databases are counted in whole numbers of any length. A layer of a box is reached by
coins of chance e^-r, their run of heads taken modulo the box's width: a geometric number below it. What is left of the
error is a coin of chance e^(-rate · what is left). Only the boxes' own chances need more: each is a count times a
product of exponentials. Where a chance is no fraction, more and more digits of a uniform number are compared with
tighter and tighter bounds around it, until they decide.

Floating point is used to decide where boxes are halved. That changes how long a draw takes, not what comes out.
"""

from __future__ import annotations

import decimal
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Integers
from dpcore.mechanisms.net.kernel import Kernel
from dpcore.mechanisms.net.layers import Layers

Below = Callable[[int], int]
"""A uniform whole number below its argument."""

BATCH = 256
"""Boxes counted together."""


def context(digits: int) -> decimal.Context:
    """Return a context for arithmetic on so many digits, far from overflow and underflow."""
    return decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def about(x: Fraction, *, digits: int) -> Decimal:
    """e^x, off by less than 10^-digits of it."""
    # The argument is off by less than 10^-(digits + 4), and Decimal's exponential is correctly rounded.
    exact = context(digits + len(str(abs(math.floor(x)))) + 5)
    return exact.exp(exact.divide(Decimal(x.numerator), Decimal(x.denominator)))


def exponential(x: Fraction, *, digits: int) -> tuple[Fraction, Fraction]:
    """Fractions around e^x, apart by about 10^-digits of it. Slow where e^x has a million digits: see about()."""
    value = Fraction(about(x, digits=digits))
    off = value / 10**digits
    return value - off, value + off


def flip(below: Below, bounds: Callable[[int], tuple[Fraction, Fraction]]) -> bool:
    """Return True with exactly the chance that ``bounds`` enclose, given how many digits they must have."""
    drawn, bits = 0, 0
    while True:
        drawn, bits = drawn << 64 | below(1 << 64), bits + 64
        low, high = bounds(bits // 3)
        if Fraction(drawn + 1, 1 << bits) <= low:
            return True
        if Fraction(drawn, 1 << bits) >= high:
            return False


def pick(below: Below, reached: Callable[[int], Sequence[Decimal]]) -> int:
    """Return the place of a chance among several, drawn with exactly these chances.

    ``reached(digits)`` gives the chances added up one by one, the last 1, each off by less than 10^-digits.
    """
    drawn, bits = 0, 0
    while True:
        drawn, bits = drawn << 64 | below(1 << 64), bits + 64
        digits = bits // 3
        # All in units of 10^-digits, whole numbers on the safe side.
        near = [int(chance.scaleb(digits, context(2 * digits))) for chance in reached(digits)]
        highs, last = [whole + 2 for whole in near[:-1]], 10**digits
        place = bisect_right(highs, drawn * last >> bits)
        if place == len(highs) or (drawn + 1) * last <= (near[place] - 1) << bits:
            return place


def _each(below: Below, totals: NDArray[Any]) -> NDArray[Any]:
    """Return a uniform whole number below each total, as Python's own."""
    return np.array([below(int(total)) for total in totals], dtype=object)


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
        self._last = layers.widest // boxes.step
        limits = layers.limits(np.minimum(boxes.stop, self._last), boxes.step)
        counts: list[NDArray[Any]] = [
            kernel.sums(limits[at : at + BATCH], keep=False, exact=True).totals for at in range(0, len(limits), BATCH)
        ]
        totals = np.concatenate(counts)
        some = totals > 0
        self._totals = [int(total) for total in totals[some]]
        self._start, self._stop = boxes.start[some], boxes.stop[some]
        self._known: dict[int, list[Decimal]] = {}

    def _reached(self, digits: int) -> list[Decimal]:
        """Chances of the boxes, added up: as a count times e^-ra (1 - e^-r(b - a)) for each side from a to b."""
        if digits not in self._known:
            r, exact = self._rate * self._step, context(digits + len(str(len(self._totals))) + 8)
            weights = []
            for total, start, stop in zip(self._totals, self._start.tolist(), self._stop.tolist(), strict=True):
                weight = exact.multiply(Decimal(total), about(-r * sum(start), digits=exact.prec))
                for a, b, last in zip(start, stop, self._last.tolist(), strict=True):
                    if b < last:
                        beyond = about(-r * (b - a), digits=exact.prec)
                        weight = exact.multiply(weight, exact.subtract(Decimal(1), beyond))
                weights.append(weight)
            sums = list(accumulate(weights, exact.add))
            self._known[digits] = [exact.divide(each, sums[-1]) for each in sums]
        return self._known[digits]

    def _flip(self, error: int, below: Below) -> bool:
        """Return a coin of chance e^(-rate · error)."""
        return flip(below, lambda digits: exponential(-self._rate * error, digits=digits))

    def _layer(self, start: int, stop: int, last: int, below: Below) -> int:
        """Draw a layer above start and up to stop, each e^-r times as likely as the last; the last has all beyond."""
        heads = 0
        while self._flip(self._step, below):
            heads += 1
        return min(start + 1 + (heads % (stop - start) if stop < last else heads), last)

    def draw(self, below: Below) -> Integers:
        """Return one database, as points in order (m,)."""
        while True:
            box = pick(below, self._reached)
            ends = zip(self._start[box].tolist(), self._stop[box].tolist(), self._last.tolist(), strict=True)
            layer = np.array([[self._layer(*end, below) for end in ends]])
            sums = self._kernel.sums(self._layers.limits(layer, self._step), keep=True, exact=True)
            if below(self._totals[box]) >= sums.totals[0]:
                continue
            points = sums.draw(np.zeros(1, dtype=np.int64), lambda totals: _each(below, totals))
            left = int((self._kernel.extent(points)[0] % self._step).sum())
            if self._flip(left, below):
                database: Integers = points[0]
                return database
