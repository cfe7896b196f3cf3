"""Privacy cost of several Gaussian releases as one vector, which is less than the sum of their costs.

A neighbour moves each release's numbers by a vector of known length, and all of them together by the vector of these.
``privacy/persons`` finds the least epsilon at which discrete Gaussian noise on all of them keeps what the deltas of the
releases add up to. A person with c rows at most moves each release by c times as far.

Both bounds of ``privacy/gaussian_vectors`` depend on the shifts s_i through a sum alone: of s_i^2/sigma_i^2, or of
s_i^2/(sigma_i^2 - r^2). A release of several draws says the neighbour with the largest first sum P, but another one may
have the largest second sum. With the smallest sigma of the release,
    s_i^2/(sigma_i^2 - r^2) <= s_i^2/sigma_i^2 * sigma^2/(sigma^2 - r^2),
so no neighbour's second sum is above P sigma^2/(sigma^2 - r^2): that of one draw of parameter sigma that is moved by
P sigma^2, squared. Such a release counts as this one draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpcore.core import Guarantee, Mechanism, Problem
from dpcore.privacy.composition import compose
from dpcore.privacy.persons import least_epsilon

ROUNDED_UP = 1 + 1e-12
"""Factor above all roundings of a sum of squared shifts."""


def total(parts: Sequence[tuple[Mechanism, Problem]], *, person_rows: int = 0) -> Guarantee:
    """Return the guarantee of non-adaptive releases together: of one vector where all noise is Gaussian, else the sums.

    Args:
        parts: mechanisms with their problems on the same rows.
        person_rows: largest number of rows of a person, or 0 where rows are protected.

    Raises:
        ParameterError: a guarantee is missing, or they do not compose.
    """
    sums = compose([mechanism.person_guarantee(problem, person_rows) for mechanism, problem in parts])
    draws = [mechanism.gaussians(problem) for mechanism, problem in parts]
    if len(parts) < 2 or not all(draws) or not sums.delta:
        return sums
    return least_epsilon(sums, tuple(map(as_one_draw, draws)), rows=max(1, person_rows))


def as_one_draw(draws: Sequence[tuple[float, int, int]]) -> tuple[float, int, float]:
    """Return one draw that costs at least as much as the draws of a release: its parameter, numbers, squared shift."""
    if len(draws) == 1:
        return draws[0]
    sigma = min(sigma for sigma, _, _ in draws)
    square = math.fsum(square * (sigma / each) ** 2 for each, _, square in draws)
    return sigma, sum(numbers for _, numbers, _ in draws), square * ROUNDED_UP
