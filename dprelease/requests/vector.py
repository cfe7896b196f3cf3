"""Privacy cost of several Gaussian releases as one vector, which is less than the sum of their costs.

A neighbour moves each release's numbers by a vector of known length, and all of them together by the vector of these.
``privacy/persons`` finds the least epsilon at which discrete Gaussian noise on all of them keeps what the deltas of the
releases add up to. A person with c rows at most moves each release by c times as far.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.core import Guarantee, Mechanism, Problem
from dpcore.privacy.composition import compose
from dpcore.privacy.persons import least_epsilon


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
    if len(parts) < 2 or any(len(each) != 1 for each in draws) or not sums.delta:
        return sums
    return least_epsilon(sums, tuple(draw for (draw,) in draws), rows=max(1, person_rows))
