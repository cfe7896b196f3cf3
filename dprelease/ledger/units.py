"""Prices in whole units, epsilon or rho in 10^-9 and delta in 10^-18, so that sums are exact."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Self

from typing_extensions import override

from dpcore.core import MAX_PRICED_ROWS, Guarantee, ParameterError, rounded_down, rounded_up
from dpcore.privacy.concentrated import epsilon_of, largest_rho, rho_of_gaussians
from dprelease.sizes import MAX_EPSILON

NANO_DIGITS = 9
ATTO_DIGITS = 18
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ROOM = Fraction(100_001, 100_000)
"""Surcharge factor on Gaussian draws in rho, as another computer may compute a smaller sigma."""
ROUNDING = 1 + 1e-9
"""Tolerance factor for the rounding of exponentials."""


def to_units(value: float, digits: int, *, rounding: str = ROUND_CEILING) -> int:
    """Convert a decimal number to units of 10^-digits, rounded up.

    >>> to_units(0.1, NANO_DIGITS), to_units(1e-10, NANO_DIGITS)
    (100000000, 1)
    """
    return int(Decimal(repr(float(value))).scaleb(digits).to_integral_value(rounding))


def format_units(amount: int, digits: int) -> str:
    """Format an amount of units as a decimal.

    >>> format_units(500_000_000, NANO_DIGITS), format_units(10**12, ATTO_DIGITS), format_units(0, ATTO_DIGITS)
    ('0.5', '0.000001', '0')
    """
    text = f"{amount:0{digits + 1}d}"
    return f"{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")


def parse_units(text: str, digits: int) -> int:
    """Parse a decimal in the notation of ``format_units``.

    Raises:
        ParameterError: the notation differs.
    """
    whole, _, rest = text.partition(".")
    if len(text) < 40 and len(rest) <= digits and f"{whole}{rest}".isascii() and f"{whole}{rest}".isdigit():
        amount = int(whole + rest.ljust(digits, "0"))
        if format_units(amount, digits) == text:
            return amount
    raise ParameterError("A decimal is not in the ledger's format.")


class BudgetMeasure(enum.StrEnum):
    """Measure of a budget, which is fixed when the budget is opened."""

    SUMS = "sums"
    """epsilon and delta: valid for adaptive choices, and also if a budget is raised later."""
    RHO = "rho"
    """rho and delta (``privacy.concentrated``): cheaper for many Gaussian releases; the budget cannot be changed."""

    @property
    def quantity(self) -> str:
        """Name of the quantity besides delta."""
        return "epsilon" if self is BudgetMeasure.SUMS else "rho"

    @property
    def letter(self) -> str:
        """Greek letter of the quantity."""
        return "ε" if self is BudgetMeasure.SUMS else "ρ"


@dataclass(frozen=True, kw_only=True)
class Price:
    """Amount that is charged, spent or allowed.

    Attributes:
        epsilon_or_rho: epsilon or rho, in units of 10^-9.
        delta: in units of 10^-18.
        measure: which of the two it is.
    """

    epsilon_or_rho: int
    delta: int = 0
    measure: BudgetMeasure = BudgetMeasure.SUMS

    @classmethod
    def of(cls, guarantee: Guarantee, *, rows_a_person: int = 1) -> Self:
        """Price of a guarantee for a person with at most c rows: c epsilon, delta (e^(c eps) - 1)/(e^eps - 1).

        Group privacy (Vadhan 2017, Lemma 2.2). Rounded up.

        Raises:
            ParameterError: the delta would be 1 or more.
        """
        if not 1 <= rows_a_person <= MAX_PRICED_ROWS:
            raise ParameterError(f"The maximum rows per person must be between 1 and {MAX_PRICED_ROWS:,} rows.")
        first = rows_a_person * to_units(guarantee.epsilon, NANO_DIGITS)
        delta = guarantee.delta
        if delta and rows_a_person > 1:
            # The sum of e^(i epsilon) below c: no division by an epsilon near 0, and no overflow beyond the check.
            if (rows_a_person - 1) * guarantee.epsilon + math.log(delta) >= 0:
                raise ParameterError("With this many rows per person, δ would be 1 or more.")
            delta *= math.fsum(math.exp(i * guarantee.epsilon) for i in range(rows_a_person)) * ROUNDING
        if delta >= 1:
            raise ParameterError("With this many rows per person, δ would be 1 or more.")
        return cls(epsilon_or_rho=first, delta=to_units(delta, ATTO_DIGITS))

    @classmethod
    def allowed(cls, *, epsilon: float, delta: float = 0.0) -> Self:
        """Return a budget, rounded down so that it never exceeds the given values.

        Raises:
            ParameterError: the values are out of range.
        """
        if not (0 < epsilon <= MAX_EPSILON and 0 <= delta < 1):
            raise ParameterError("A budget needs a finite ε above 0, and a δ of at least 0 and below 1.")
        first, atto = (to_units(x, d, rounding=ROUND_FLOOR) for x, d in ((epsilon, NANO_DIGITS), (delta, ATTO_DIGITS)))
        if not first:
            raise ParameterError("A budget needs an ε of at least 10^-9.")
        return cls(epsilon_or_rho=first, delta=atto)

    @classmethod
    def concentrated(
        cls,
        guarantee: Guarantee,
        *,
        gaussians: Sequence[tuple[float, int, int]] = (),
        rows_a_person: int = 1,
        room: Fraction = ROOM,
    ) -> Self:
        """Price in rho: the rho of its Gaussian draws if it has no other noise, else epsilon^2/2 and delta.

        For a person with c rows: c^2 rho (Bun and Steinke 2016, Proposition 1.9). Rounded up, in whole numbers.

        Raises:
            ParameterError: as ``of``, where other noise is drawn.
        """
        if gaussians:
            rho = rho_of_gaussians(gaussians) * rows_a_person**2 * room * 10**NANO_DIGITS
            return cls(epsilon_or_rho=math.ceil(rho), measure=BudgetMeasure.RHO)
        one = cls.of(guarantee, rows_a_person=rows_a_person)
        return cls(
            epsilon_or_rho=math.ceil(Fraction(one.epsilon_or_rho**2, 2 * 10**NANO_DIGITS)),
            delta=one.delta,
            measure=BudgetMeasure.RHO,
        )

    @classmethod
    def allowed_in_rho(cls, *, epsilon: float, delta: float) -> Self:
        """Return the budget in rho that implies (epsilon, delta): half of delta is for rho, half for deltas.

        Raises:
            ParameterError: the values are out of range, or delta is too small.
        """
        whole = cls.allowed(epsilon=epsilon, delta=delta)
        half = whole.delta // 2
        if not half:
            raise ParameterError("A budget in ρ needs a δ of at least 2·10^-18.")
        rho = largest_rho(epsilon=whole.epsilon_or_rho / 10**NANO_DIGITS, delta=half / 10**ATTO_DIGITS)
        first = to_units(rho, NANO_DIGITS, rounding=ROUND_FLOOR)
        if not first:
            raise ParameterError("A budget in ρ below 10^-9 allows no release. Choose a larger ε or δ.")
        return cls(epsilon_or_rho=first, delta=half, measure=BudgetMeasure.RHO)

    @property
    def private(self) -> Price:
        """Epsilon and delta of the whole amount: itself, or for rho at a delta as large as its own."""
        if self.measure is BudgetMeasure.SUMS:
            return self
        epsilon = epsilon_of(rho=self.epsilon_or_rho / 10**NANO_DIGITS, delta=self.delta / 10**ATTO_DIGITS)
        return Price(epsilon_or_rho=to_units(epsilon, NANO_DIGITS), delta=2 * self.delta)

    def __add__(self, other: Price) -> Price:
        """Add two prices by sequential composition. A zero price has either measure."""
        return Price(
            epsilon_or_rho=self.epsilon_or_rho + other.epsilon_or_rho,
            delta=self.delta + other.delta,
            measure=self._shared(other),
        )

    def __sub__(self, other: Price) -> Price:
        """Subtract a price of the same measure."""
        return Price(
            epsilon_or_rho=self.epsilon_or_rho - other.epsilon_or_rho,
            delta=self.delta - other.delta,
            measure=self._shared(other),
        )

    def within(self, other: Price) -> bool:
        """Return whether both parts are at most the other's."""
        self._shared(other)
        return self.epsilon_or_rho <= other.epsilon_or_rho and self.delta <= other.delta

    def _shared(self, other: Price) -> BudgetMeasure:
        if self.measure is not other.measure and self and other:
            raise ParameterError("Amounts in ε and in ρ cannot be added.")
        return self.measure if self else other.measure

    def __bool__(self) -> bool:
        """Return whether the price is above zero."""
        return bool(self.epsilon_or_rho or self.delta)

    @property
    def document(self) -> dict[str, str]:
        """Mapping with the amounts as decimals."""
        return {self.measure.quantity: self.amount, "delta": format_units(self.delta, ATTO_DIGITS)}

    @property
    def amount(self) -> str:
        """Epsilon or rho as a decimal."""
        return format_units(self.epsilon_or_rho, NANO_DIGITS)

    @classmethod
    def read(cls, document: dict[str, str]) -> Self:
        """Parse a price; raises ParameterError for another notation."""
        measure = next((each for each in BudgetMeasure if set(document) == {each.quantity, "delta"}), None)
        if measure is None or not all(isinstance(each, str) for each in document.values()):
            raise ParameterError("An amount has an epsilon or a rho, and a delta, written as decimals.")
        first, delta = (
            parse_units(document[measure.quantity], NANO_DIGITS),
            parse_units(document["delta"], ATTO_DIGITS),
        )
        return cls(epsilon_or_rho=first, delta=delta, measure=measure)

    @override
    def __str__(self) -> str:
        """Return a text such as "ε 0.5" or "ε 0.5 and δ 10⁻⁶", with δ rounded up."""
        return self._words(rounded_up)

    @property
    def left_words(self) -> str:
        """The same for what is left of a budget, with δ rounded down."""
        return self._words(rounded_down)

    @property
    def exact_words(self) -> str:
        """The same with all digits of δ as a decimal."""
        return self._words(lambda _: self.document["delta"])

    @property
    def delta_words(self) -> str:
        """Delta with three significant digits, rounded up: 10⁻⁶, 1.12·10⁻⁸, 0.01."""
        return _as_power(rounded_up(self.delta / 10**ATTO_DIGITS))

    def _words(self, rounded: Callable[[float], str]) -> str:
        delta = f" and δ {_as_power(rounded(self.delta / 10**ATTO_DIGITS))}" if self.delta else ""
        return f"{self.measure.letter} {self.amount}{delta}"


def _as_power(number: str) -> str:
    """Return a number such as 1.12e-8 as 1.12·10⁻⁸, and others unchanged."""
    digits, _, power = number.partition("e")
    return f"{digits}·10{power.translate(SUPERSCRIPTS)}".removeprefix("1·") if power else number
