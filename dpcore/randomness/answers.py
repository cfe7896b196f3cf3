"""Answers: release an answer of a given stability, with the smallest possible chance of a refusal.

At stability s the answer is given with chance p_s: p_0 = 0 and p_{s+1} = min(e^ε p_s + δ, 1 - e^-ε (1 - p_s - δ), 1).

Privacy: a neighbour's stability differs by 1 at most; where it has another answer, both have stability 1, or
0 where there is none. If s becomes s + 1, the chance of the answer grows to e^ε p_s + δ at most, by the first term, and
that of a refusal shrinks to e^-ε times (1 - p_s - δ) at least, by the second. The other way round, p_s <= p_{s+1}, and
a refusal at s + 1 is no likelier than at s. Where the answers differ, each is given with chance p_1 <= δ.

No mechanism that is never wrong takes a larger step: this is the bound of ``limits/bounds/refusal.py``.

In whole numbers: a table of p_s in units of 2^-128, every step rounded down with rational bounds of e^ε and e^-ε and of
δ, so that both inequalities hold exactly of the numbers in the table. A release compares 128 fresh bits with its entry.

References:
    Desfontaines, Voss, Gipson and Mandayam (2022), differentially private partition selection: the recursion.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from typing_extensions import override

from dpcore.core import Booleans, Floats, Integers, ParameterError
from dpcore.core.sizes import MAX_ANSWER_EPSILON
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import Charge, Draw, check_whole
from dpcore.randomness.secure import Secure

BITS = 128
"""Of a chance in the table."""
FACTOR_BITS = 256
"""Of the bounds of e^ε and e^-ε."""
MIN_DELTA = 2.0**-64
LEAST_EPSILON = 1e-4
PRECISE = Context(prec=160)
"""Decimal digits: its exponential is rounded correctly (Python's ``decimal``)."""


@lru_cache(maxsize=16)
def answer_table(*, epsilon: float, delta: float) -> tuple[int, ...]:
    """2^128 p_s for s = 0, 1, … up to the first that is certain; kept: public numbers.

    Raises:
        ParameterError: an epsilon or a delta that no table is made for.
    """
    if not (LEAST_EPSILON <= epsilon <= MAX_ANSWER_EPSILON and MIN_DELTA <= delta < 1):
        raise ParameterError(
            f"Answers need an epsilon from {LEAST_EPSILON:g} to {MAX_ANSWER_EPSILON:g} and a delta from 2^-64, below "
            f"1; got {epsilon!r} and {delta!r}."
        )
    one = 1 << BITS
    grown, shrunk = (
        Fraction(bound) * (1 << FACTOR_BITS)
        for bound in (
            PRECISE.next_minus(PRECISE.exp(Decimal(epsilon))),
            PRECISE.next_plus(PRECISE.exp(Decimal(-epsilon))),
        )
    )
    factor, rest = int(grown), -int(-shrunk // 1)  # rounded down, rounded up
    slack = int(Fraction(delta) * one)
    table = [0]
    while table[-1] < one:
        last = table[-1]
        answered = (last * factor >> FACTOR_BITS) + slack
        refused = -(-max(0, one - last - slack) * rest >> FACTOR_BITS)  # rounded up
        table.append(min(answered, one - refused, one))
    return tuple(table)


@lru_cache(maxsize=128)
def every_chance(*, epsilon: float, delta: float) -> Floats:
    """Return p_s as doubles, each the nearest, up to the first that is certain; cached: public numbers."""
    one = 1 << BITS
    chances = np.array([entry / one for entry in answer_table(epsilon=epsilon, delta=delta)])
    chances.setflags(write=False)
    return chances


def answer_chances(stable: Integers, *, epsilon: float, delta: float) -> Floats:
    """Return p_s for stabilities from 0, elementwise.

    >>> answer_chances(np.array([0, 1, 14, 28]), epsilon=1.0, delta=1e-6).round(6).tolist()
    [0.0, 1e-06, 0.699887, 1.0]
    """
    chances = every_chance(epsilon=epsilon, delta=delta)
    released_chances: Floats = chances[np.minimum(stable, len(chances) - 1)]
    return released_chances


@dataclass(frozen=True, eq=False, repr=False)
class Answers(Draw[Booleans]):
    """Decide to answer or refuse, for stabilities (1 or T,) of sensitivity 1: (T,). Costs (epsilon, delta)."""

    stable: Integers
    epsilon: float = field(kw_only=True)
    delta: float = field(kw_only=True)

    def __post_init__(self) -> None:
        answer_table(epsilon=self.epsilon, delta=self.delta)  # refuses what has none
        check_whole(self.stable, low=0)

    @override
    @property
    def charge(self) -> Charge:
        return Charge(type(self).__name__, epsilon=self.epsilon, delta=self.delta)

    @override
    def previewed(self, preview: Preview, trials: int) -> Booleans:
        """A double of 53 bits beside the chance."""
        chances = answer_chances(self.stable, epsilon=self.epsilon, delta=self.delta)
        given: Booleans = preview.generator.random(trials) < chances
        return given

    @override
    def released(self, secure: Secure, trials: int) -> Booleans:
        """128 fresh bits beside the whole number of the table."""
        table = answer_table(epsilon=self.epsilon, delta=self.delta)
        places = np.minimum(np.broadcast_to(self.stable, trials), len(table) - 1).tolist()
        return np.array([secrets.randbits(BITS) < table[place] for place in places], dtype=np.bool_)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Booleans:
        """Two branches, with the chances of the table."""
        yes = answer_chances(self.stable, epsilon=self.epsilon, delta=self.delta)
        laws = np.stack([1 - yes, yes], axis=-1)[:, None, :]
        given: Booleans = paths.independent(laws, np.array([False, True]))[:, 0]
        return given
