"""Tracing: whether a person is in the data, from the released means of many yes/no attributes.

No row is released, only the share of yes of each attribute. A member of the data has moved all of them a little
towards their own answers. The attacker adds up, over all attributes, the product of what was released and what the
person answers, both measured from what is usual outside: the score. One attribute says next to nothing; the score of a
member is larger by about d/(4n), where a stranger's score varies by √(d/n)/4. So d well above n attributes name
everybody, and noise hides members only if it is of the size of √(d/n), which is why (ε, δ)-private means need a number
of rows of order √d.

The threshold is taken from a reference: rows known to be outside. If k of m of them may be at or above it, and a
person outside is drawn like them, that person is accused with chance at most k/(m + 1), whatever the release. And then
no attack on an (ε, δ)-private release finds a member with a chance above e^ε k/(m + 1) + δ: it would tell the data from
those with the row replaced.

Notation: n members, d attributes; epsilon = ε, delta = δ.

References:
    Bun, Ullman and Vadhan (2014); Dwork, Smith, Steinke, Ullman and Vadhan (2015).
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Assumption, Booleans, Bound, BoundKind, Floats, ParameterError
from dpcore.limits.chance import after_steps


def scores(released: Floats, people: Booleans, usual: Floats) -> Floats:
    """Return how much each person is like what was released, (T, P): the inner product, from what is usual.

    Args:
        released: shares of yes, (T, d).
        people: their answers, (P, d).
        usual: shares of yes outside the data, (d,).
    """
    like: Floats = (released - usual) @ (people - usual).T
    return like


def threshold(reference: Floats, *, accused: float) -> Floats:
    """Return the score (T,) above which a person is accused: at most this share of people outside, on average.

    Args:
        reference: scores of rows known to be outside, (T, m).
        accused: chance that a person outside is accused, by which at most floor(accused (m + 1)) of them lie above.

    Raises:
        ParameterError: so few rows of reference that no row could be accused.
    """
    above = math.floor(accused * (reference.shape[1] + 1) + 1e-9)
    if not 0 < above <= reference.shape[1]:
        raise ParameterError(
            f"To accuse {accused:g} of the people outside, {math.ceil(1 / accused) - 1:,} rows of reference are needed."
        )
    level: Floats = np.sort(reference, axis=1)[:, -above]
    return level


def ceiling(*, accused: float, epsilon: float, delta: float) -> float:
    """Return the largest chance of finding a member that (ε, δ) allows to who accuses this share of the others."""
    return float(after_steps(accused, epsilon=epsilon, steps=1, delta=delta))


def rows_wall(*, attributes: int, epsilon: float, delta: float) -> Bound:
    """Return the wall of tracing: of order √d rows are needed for useful means of d attributes; no constant."""
    return Bound(
        value=math.inf,
        kind=BoundKind.ORDER_ONLY,
        statement=f"Means of {attributes:,} attributes, each within a constant, need a number of rows of order "
        f"√d/ε = {math.sqrt(attributes) / epsilon:,.0f}, up to logarithms. No constant is known here.",
        formula=r"n=\tilde\Omega\bigl(\sqrt d/\varepsilon\bigr)",
        reference="Bun, Ullman and Vadhan (2014)",
        beta=0.05,
        assumptions=(Assumption(text="0 < δ, and δ is small against 1/n", met=delta > 0),),
    )
