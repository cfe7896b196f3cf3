"""The parameters that Blum, Ligett and Roth print for their halfspace release, and their cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpcore.core import ParameterError


@dataclass(frozen=True, kw_only=True)
class Printed:
    """Section 6's parameters. What is too large to write out is held as its decimal logarithm.

    Attributes:
        distortion: how much an inner product may change, a quarter of the margin.
        lost: share of rows a projection may move further than that, an eighth of the allowed error.
        dimensions: T, after the projection.
        projections: m.
        log10_directions: of |U|, by Claim 6.7 as printed.
        log10_directions_both_signs: of |U| where coordinates may be negative, as Theorem 6.9 counts it.
        log10_counts: of m |U|, the noisy counts released.
        log10_rows: of the rows Theorem 6.9 asks for.
        log_noises: Theorem 6.9's logarithm, ln(2m(√T/margin)^T/β): at the rows it asks for, noise has scale 1 over it.
        log_net: ln of the directions of the net in the data's own dimensions, (4√d/margin)^d.
        alpha: the allowed error.
    """

    distortion: float
    lost: float
    dimensions: int
    projections: int
    log10_directions: float
    log10_directions_both_signs: float
    log10_counts: float
    log10_rows: float
    log_noises: float
    log_net: float
    alpha: float

    def log_noise_chance(self, *, hoeffding: float) -> float:
        """Return ln of the union bound that the mean noise of some direction exceeds α/4: 2·e^(−mα²/hoeffding) each.

        Noise within [−1, 1] has range 2, so Hoeffding's bound has 32; the paper prints 8.
        """
        return math.log(2) + self.log_net - self.projections * self.alpha**2 / hoeffding

    @property
    def log_noise_chance_by_variance(self) -> float:
        """The same by Bernstein's bound, for Laplace noise cut off at 1: its variance is at most 2/log_noises²."""
        variance, error = 2 / self.log_noises**2, self.alpha / 4
        return math.log(2) + self.log_net - self.projections * error**2 / (2 * (variance + error / 3))


def printed(*, margin: float, alpha: float, dimensions: int, beta: float, epsilon: float) -> Printed:
    """Return the constants that ReleaseHalfspaces sets, for rows of this dimension.

    Claim 6.7 counts multiples of r/sqrt(T) between 0 and 1; a coordinate lies between -1 and 1, so there are twice as
    many. Theorem 6.9 has the factor 2 (its 8 where the claim gives 4).
    """
    for name, value in (("margin", margin), ("alpha", alpha), ("beta", beta)):
        if not 0 < value <= 1:
            raise ParameterError(f"{name} must be above 0 and at most 1, got {value!r}.")
    if dimensions < 1 or not epsilon > 0:
        raise ParameterError("The paper's parameters need at least one dimension and an epsilon above 0.")
    distortion, lost = margin / 4, alpha / 8
    projected = math.ceil(20 / distortion**2 * math.log(1 / lost))
    m = math.ceil(16 / alpha**2 * dimensions * (math.log(4 * math.sqrt(dimensions) / margin) + math.log(1 / beta)))
    side = math.sqrt(projected) / (margin / 4)
    one, both = projected * math.log10(side), projected * math.log10(2 * side)
    # n >= m (8 sqrt(T)/margin)^T / epsilon * ln(2 m (sqrt(T)/margin)^T / beta)
    needed = math.log(2 * m / beta) + projected * math.log(math.sqrt(projected) / margin)
    return Printed(
        distortion=distortion,
        lost=lost,
        dimensions=projected,
        projections=m,
        log10_directions=one,
        log10_directions_both_signs=both,
        log10_counts=math.log10(m) + one,
        log10_rows=math.log10(m / epsilon) + both + math.log10(needed),
        log_noises=needed,
        log_net=dimensions * math.log(4 * math.sqrt(dimensions) / margin),
        alpha=alpha,
    )
