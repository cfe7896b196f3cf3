"""Lemma 4.5 of Thaler, Ullman and Vadhan (2012): a polynomial for "at least r of k", after Sherstov's construction.

It is exact at s = 0 .. c − 1 by interpolation, and damped on c .. k by Chebyshev polynomials: 1 − p(s) is the sum over
j < r of w_j(s)·T_m(x(s))/T_m(x(j)), where w_j is 1 at j and 0 at the other whole numbers below c, and x maps c .. k to
1 .. −1. So the degree is c − 1 + m, and the error on c .. k at most the sum of |w_j(k)|/T_m(x(j)). With r = 1 = c it is
the closed form of Fact 4.2. The best cut gives the lemma's degree, of the order √(rk)·ln k + √(k·ln(1/γ)·ln k).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpcore.core import ParameterError

MAX_WIDTH = 1000


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Sherstov's polynomial for "at least r of k".

    Attributes:
        width: k.
        least: r.
        cut: c, from which on it is damped and no longer exact; k + 1: pure interpolation.
        damping: m.
    """

    width: int
    least: int
    cut: int
    damping: int

    @property
    def degree(self) -> int:
        """Degree of the polynomial."""
        return self.cut - 1 + self.damping

    def values(self) -> list[Fraction]:
        """Return p(0) .. p(k) exactly."""
        k, r, c = self.width, self.least, self.cut
        exact = [Fraction(int(s >= r)) for s in range(c)]
        damped = []
        for s in range(c, k + 1):
            left = Fraction(0)
            for j in range(r):
                around = [i for i in range(c) if i != j]
                weight = Fraction(math.prod(s - i for i in around), math.prod(j - i for i in around))
                left += weight * _chebyshev(self.damping, self._mapped(s)) / _chebyshev(self.damping, self._mapped(j))
            damped.append(1 - left)
        return exact + damped

    def _mapped(self, s: int) -> Fraction:
        """Return x(s), which maps c .. k to 1 .. −1."""
        return Fraction(self.width + self.cut - 2 * s, self.width - self.cut)


def _chebyshev(degree: int, x: Fraction) -> Fraction:
    """Evaluate the Chebyshev polynomial of this degree at x."""
    before, now = Fraction(1), x
    for _ in range(degree):
        before, now = now, 2 * x * now - before
    return before


def threshold(*, width: int, least: int, gamma: float) -> Threshold:
    """Return the construction of the smallest degree whose error bound is at most gamma.

    Raises:
        ParameterError: unless 1 ≤ r ≤ k ≤ MOST and 0 < gamma < 1.
    """
    if not 1 <= least <= width <= MAX_WIDTH or not 0 < gamma < 1:
        raise ParameterError(f"At least r of k needs 1 ≤ r ≤ k ≤ {MAX_WIDTH} and a γ between 0 and 1.")
    best = Threshold(width=width, least=least, cut=width + 1, damping=0)
    for cut in range(least, width):
        # ln |w_j(k)| and arccosh x(j), for each j < r.
        weights = [
            math.lgamma(width + 1) - math.lgamma(width - cut + 1) - math.log(width - j)
            - math.lgamma(j + 1) - math.lgamma(cut - j)
            for j in range(least)
        ]  # fmt: skip
        far = [math.acosh((width + cut - 2 * j) / (width - cut)) for j in range(least)]
        for damping in range(best.degree - cut + 1):
            # 1/cosh y ≤ 2·e^(−y)
            error = sum(
                2 * math.exp(min(weight - damping * y - math.log1p(math.exp(-2 * damping * y)), 700.0))
                for weight, y in zip(weights, far, strict=True)
            )
            if error <= gamma:
                best = Threshold(width=width, least=least, cut=cut, damping=damping)
                break
    return best


def printed_order(*, width: int, least: int, gamma: float) -> float:
    """Return Lemma 4.5's degree with constants of 1."""
    logarithm = math.log(width)
    return math.sqrt(least * width) * logarithm + math.sqrt(width * math.log(1 / gamma) * logarithm)
