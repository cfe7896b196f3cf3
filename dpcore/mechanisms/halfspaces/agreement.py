"""Probability that a random projection preserves the side of a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats


def agreement(cosines: NDArray[np.float64] | float, *, dimensions: int) -> Floats:
    """Chance that <Ax, Ay> > 0 for unit vectors at these cosines, A of ``dimensions`` rows of independent normals.

    <Ax, Ay> = (|A(x + y)|^2 - |A(x - y)|^2)/4, where A(x + y) and A(x - y) are independent normals of variance
    2(1 + c) and 2(1 - c). So the chance is Pr[F > (1 - c)/(1 + c)], F with (T, T) degrees of freedom: the incomplete
    beta function of (1 + c)/2 at (T/2, T/2). With one row it is 1 - arccos(c)/pi (Goemans and Williamson 1995).

    For matrices of random signs it holds in the limit only: for dense vectors, not for sparse ones.

    >>> round(agreement(0.0, dimensions=3).item(), 12)
    0.5
    >>> round(agreement(0.5, dimensions=1).item(), 6)
    0.666667
    """
    from scipy.special import betainc

    half = dimensions / 2
    chance: Floats = betainc(half, half, (1 + np.clip(np.asarray(cosines, dtype=np.float64), -1, 1)) / 2)
    return chance
