"""What a release costs, in whole units: epsilon in 10^-9, delta in 10^-18. Sums of whole numbers never drift."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Self

from dpcore.core import Guarantee, ParameterError

NANO_DIGITS = 9
ATTO_DIGITS = 18
MOST_EPSILON = 10**6
"""Far above what anybody may spend, and far within 64 bits."""
ROUNDING = 1 + 1e-9
"""Room for the rounding of exponentials."""


def units(value: float, digits: int, *, rounding: str = ROUND_CEILING) -> int:
    """The number as it is written, in units of 10^-digits, rounded up.

    >>> units(0.1, NANO_DIGITS), units(1e-10, NANO_DIGITS)
    (100000000, 1)
    """
    return int(Decimal(repr(float(value))).scaleb(digits).to_integral_value(rounding))


def written(amount: int, digits: int) -> str:
    """An amount of units as a decimal.

    >>> written(500_000_000, NANO_DIGITS), written(10**12, ATTO_DIGITS), written(0, ATTO_DIGITS)
    ('0.5', '0.000001', '0')
    """
    text = f"{amount:0{digits + 1}d}"
    return f"{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")


def amount_of(text: str, digits: int) -> int:
    """The units of a decimal as ``written`` spells it.

    Raises:
        ParameterError: it is spelled otherwise.
    """
    whole, _, rest = text.partition(".")
    if len(text) < 40 and len(rest) <= digits and f"{whole}{rest}".isascii() and f"{whole}{rest}".isdigit():
        amount = int(whole + rest.ljust(digits, "0"))
        if written(amount, digits) == text:
            return amount
    raise ParameterError("A decimal is not written as a ledger writes it.")


@dataclass(frozen=True, kw_only=True)
class Price:
    """What is charged, spent or allowed.

    Attributes:
        first: epsilon, in units of 10^-9.
        delta: in units of 10^-18.
    """

    first: int
    delta: int = 0

    @classmethod
    def of(cls, guarantee: Guarantee, *, rows_a_person: int = 1) -> Self:
        """What a guarantee of rows costs whoever has at most so many: c epsilon, delta (e^(c eps) - 1)/(e^eps - 1).

        Group privacy (Vadhan 2017, Lemma 2.2). Rounded up.

        Raises:
            ParameterError: the delta would be 1 or more.
        """
        first = rows_a_person * units(guarantee.epsilon, NANO_DIGITS)
        delta = guarantee.delta
        if delta and rows_a_person > 1:
            # The sum of e^(i epsilon) below c: no division by an epsilon near 0, and no overflow beyond the check.
            if (rows_a_person - 1) * guarantee.epsilon + math.log(delta) >= 0:
                raise ParameterError("The delta of a person with so many rows would be 1 or more.")
            delta *= math.fsum(math.exp(i * guarantee.epsilon) for i in range(rows_a_person)) * ROUNDING
        if delta >= 1:
            raise ParameterError("The delta of a person with so many rows would be 1 or more.")
        return cls(first=first, delta=units(delta, ATTO_DIGITS))

    @classmethod
    def allowed(cls, *, epsilon: float, delta: float = 0.0) -> Self:
        """A budget, rounded down: never more than was said.

        Raises:
            ParameterError: it is no budget.
        """
        if not (0 < epsilon <= MOST_EPSILON and 0 <= delta < 1):
            raise ParameterError("A budget needs epsilon above 0 and finite, and delta of at least 0 and below 1.")
        first, atto = (units(x, d, rounding=ROUND_FLOOR) for x, d in ((epsilon, NANO_DIGITS), (delta, ATTO_DIGITS)))
        if not first:
            raise ParameterError("A budget has an epsilon of at least 10^-9.")
        return cls(first=first, delta=atto)

    def __add__(self, other: Price) -> Price:
        """Sequential composition: both add up."""
        return Price(first=self.first + other.first, delta=self.delta + other.delta)

    def __sub__(self, other: Price) -> Price:
        """What is left."""
        return Price(first=self.first - other.first, delta=self.delta - other.delta)

    def within(self, other: Price) -> bool:
        """Whether both parts are at most the other's."""
        return self.first <= other.first and self.delta <= other.delta

    @property
    def document(self) -> dict[str, str]:
        """As decimals."""
        return {"epsilon": written(self.first, NANO_DIGITS), "delta": written(self.delta, ATTO_DIGITS)}

    @classmethod
    def read(cls, document: dict[str, str]) -> Self:
        """From decimals; raises ParameterError where they are spelled otherwise."""
        if set(document) != {"epsilon", "delta"} or not all(isinstance(each, str) for each in document.values()):
            raise ParameterError("An amount has an epsilon and a delta, written as decimals.")
        return cls(first=amount_of(document["epsilon"], NANO_DIGITS), delta=amount_of(document["delta"], ATTO_DIGITS))

    def __str__(self) -> str:
        """ε 0.5, or ε 0.5 and δ 0.000001."""
        told = self.document
        return f"ε {told['epsilon']}" + (f" and δ {told['delta']}" if self.delta else "")
