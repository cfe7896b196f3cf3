"""Lower bound on the risk of a private histogram.

The risk of a released histogram is its expected total error, Σ |released - true| over the cells, as fractions of n,
on the data for which the mechanism is worst. Pair the cells up and hide one bit in each pair: τ rows are in the one
cell or in the other. An accurate histogram reveals all the bits; but each bit is only τ replaced rows, so a private
release must be wrong about it with some chance, and every mistake costs 2τ/n. Add up over the pairs: the risk
grows with the number of cells over εn. Adding noise to every cell is therefore right up to a constant on the
worst data. On data with few occupied cells a projection to n rows does better, under the same promise; so does a weaker
one (random differential privacy), which may leave empty cells alone; and so does (ε, δ) with δ > 0: noise in occupied
cells alone, shown above a threshold (Bun, Nissim and Stemmer 2016).

The printed proof takes τ as any real number and any n; it must be a whole number of rows, and they must fit. Without
that, the printed number can exceed the risk of mechanisms that exist.

Notation: k cells; n rows; shift = τ; epsilon = ε (the paper's α); neighbours replace one row.

References:
    Hall, Rinaldo and Wasserman (2013), Proposition 3.1; Assouad's lemma. Pairs instead of a hypercube with one common
    last cell, and chance.confusion for the test between two data sets τ rows apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.core import Assumption, Booleans, Bound, BoundKind, Floats, Integers, ParameterError, rounded_down
from dpcore.limits.chance import check_loss, confusion


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The witness: pairs of cells, ``shift`` rows in one cell of each, the other rows fixed.

    Attributes:
        cells: k.
        rows: n.
        pairs: as many as there are cells and rows for, at most k//2.
        shift: τ, whole, with τ pairs <= n.
        risk: what the pairs prove.
    """

    cells: int
    rows: int
    pairs: int
    shift: int
    risk: float

    def corner(self, signs: Booleans) -> Integers:
        """Histograms (C, k) of bits (C, pairs): the shift is in a pair's second cell where True; the rest in cell 0."""
        histogram = np.zeros((len(signs), self.cells), dtype=np.int64)
        histogram[:, 0 : 2 * self.pairs : 2] = np.where(signs, 0, self.shift)
        histogram[:, 1 : 2 * self.pairs : 2] = np.where(signs, self.shift, 0)
        histogram[:, 0] += self.rows - self.pairs * self.shift
        return histogram


def _check(*, cells: int, rows: int, epsilon: float) -> None:
    check_loss(epsilon=epsilon)
    if cells < 2 or rows < 1:
        raise ParameterError("A histogram needs at least two cells and one row.")


MAX_SHIFT = 1 << 16
"""Most rows hidden in a pair that are looked at."""


def _max_shift(*, rows: int, epsilon: float) -> int:
    """Return the largest τ to try: τ e^(-ετ/2) falls beyond 2/ε; even and odd τ differ by a factor."""
    if min(rows, 4 / epsilon) > MAX_SHIFT:
        raise ParameterError(f"For so many rows epsilon must be at least {4 / MAX_SHIFT:.3g}, got {epsilon!r}.")
    return math.ceil(min(rows, 4 / epsilon + 4))


def best_pairs(*, cells: int, rows: int, epsilon: float, delta: float = 0.0) -> Pairs:
    """Return the witness with the largest risk, pairs (2τ/n) confusion(τ), over whole τ with as many pairs as fit.

    With more pairs than rows some are left out: a histogram with more cells is no easier.
    """
    _check(cells=cells, rows=rows, epsilon=epsilon)
    best = Pairs(cells=cells, rows=rows, pairs=0, shift=0, risk=0.0)
    for shift in range(1, _max_shift(rows=rows, epsilon=epsilon) + 1):
        pairs = min(cells // 2, rows // shift)
        risk = 2 * pairs * shift / rows * confusion(epsilon=epsilon, steps=shift, delta=delta)
        if risk > best.risk:
            best = Pairs(cells=cells, rows=rows, pairs=pairs, shift=shift, risk=risk)
    return best


def integer_risk(*, cells: int, rows: int, epsilon: float) -> float:
    """The paper's proof with whole rows: max over 1 <= τ <= n/(k - 1) of (k - 1) τ/(n (e^(ετ) + 1)); 0 if none fits."""
    _check(cells=cells, rows=rows, epsilon=epsilon)
    shifts = np.arange(1, min(rows // (cells - 1), _max_shift(rows=rows, epsilon=epsilon)) + 1, dtype=np.float64)
    risks = (cells - 1) * shifts / rows * np.exp(-epsilon * shifts) / (1 + np.exp(-epsilon * shifts))
    return float(risks.max(initial=0.0))


def printed_risk(*, cells: int, rows: int, epsilon: float) -> float:
    """Return the printed (k - 1)(t/(2 ε n))(1 - √(t/2)) at its best t = 8/9: not a bound for large ε or small n."""
    _check(cells=cells, rows=rows, epsilon=epsilon)
    return (cells - 1) * 4 / 27 / (epsilon * rows)


def laplace_risk(*, cells: int, rows: int, epsilon: float) -> float:
    """Return the exact risk of Laplace noise of scale 2/ε in every cell: 2k/(εn)."""
    _check(cells=cells, rows=rows, epsilon=epsilon)
    return 2 * cells / (epsilon * rows)


def geometric_risk(*, cells: int, rows: int, epsilon: float) -> float:
    """Return the exact risk of the identity histogram, discrete Laplace noise: (k/n) 2p/(1 - p²), p = e^(-ε/2).

    With ``cells`` the number of occupied cells, it is the risk of the sparse random-DP histogram, which leaves the
    empty ones alone (Hall, Rinaldo and Wasserman 2013, equation 5).
    """
    if cells < 1:
        raise ParameterError(f"At least one cell is needed, got {cells}.")
    _check(cells=max(2, cells), rows=rows, epsilon=epsilon)
    p = math.exp(-epsilon / 2)
    return cells / rows * 2 * p / -math.expm1(-epsilon)


def risk_bound(*, cells: int, rows: int, epsilon: float, delta: float = 0.0) -> Bound:
    """Return Proposition 3.1 with constants that hold, the expected total error over the cells (``value``, up to 2)."""
    best = best_pairs(cells=cells, rows=rows, epsilon=epsilon, delta=delta)
    simple = integer_risk(cells=cells, rows=rows, epsilon=epsilon)
    return Bound(
        value=best.risk,
        kind=BoundKind.LOWER,
        statement=f"A mechanism releases {cells:,} cells of {rows:,} rows with ε = {epsilon:g}. On some data its "
        f"expected total error is at least {rounded_down(best.risk)} of n.",
        reference="Hall, Rinaldo and Wasserman (2013), Proposition 3.1, with whole rows",
        assumptions=(Assumption(text="δ is small enough to hide one row", met=best.shift > 0),),
        note=f"The proof hides τ = {best.shift} rows in each of {best.pairs:,} pairs of cells. The paper's "
        f"hypercube with whole rows gives {simple:.3g}; its printed form gives "
        f"{printed_risk(cells=cells, rows=rows, epsilon=epsilon):.3g}.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Risks:
    """Risks of this module against ε, (E,) each.

    Attributes:
        epsilons: values of ε, (E,).
        lower_bound: proved by best_pairs, for every mechanism.
        identity: exact, of discrete noise in every cell.
        laplace: exact, of continuous noise.
        spared: exact, of a random-DP release that leaves empty cells alone.
        whole: the paper's proof with whole rows.
        printed: its printed form.
    """

    epsilons: Floats
    lower_bound: Floats
    identity: Floats
    laplace: Floats
    spared: Floats
    whole: Floats
    printed: Floats


def risks(*, cells: int, occupied: int, rows: int, epsilons: Floats) -> Risks:
    """Return the risks on a grid of ε (E,); ``occupied`` cells hold rows at all."""

    def along(risk: Callable[..., float], size: int) -> Floats:
        return np.array([risk(cells=size, rows=rows, epsilon=float(epsilon)) for epsilon in epsilons])

    return Risks(
        epsilons=epsilons,
        lower_bound=along(lambda **at: best_pairs(**at).risk, cells),
        identity=along(geometric_risk, cells),
        laplace=along(laplace_risk, cells),
        spared=along(geometric_risk, occupied),
        whole=along(integer_risk, cells),
        printed=along(printed_risk, cells),
    )
