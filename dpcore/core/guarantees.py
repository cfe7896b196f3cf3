"""Privacy guarantees: the neighbouring relation, ε, δ and γ."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from dpcore.core.basics import ParameterError
from dpcore.core.notebook import html_facts
from dpcore.core.sizes import MAX_PRICED_ROWS


class Neighbours(enum.StrEnum):
    """Which pairs of data sets a guarantee speaks about."""

    REPLACE_ONE = "replace_one"
    """One of the n rows changes value; n is public."""
    ADD_REMOVE_ONE = "add_remove_one"
    """One row is added or removed; ``Problem.n`` is then a public nominal size, not the number of rows."""

    @property
    def words(self) -> str:
        """The relation in words."""
        return "replace one row" if self is Neighbours.REPLACE_ONE else "add or remove one row"

    @property
    def histogram_shift(self) -> tuple[int, ...]:
        """Changes of the histogram's cells between neighbours, one for each changed cell."""
        return (1, 1) if self is Neighbours.REPLACE_ONE else (1,)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A guarantee: (epsilon, delta), failing with probability gamma over the draw of the data, for one relation.

    ``releasable`` is False for approximate samplers, asymptotic promises and previews; ``why_not`` then says why.
    ``person_rows`` is 0 where a row is protected; else a person is, of whom so many rows at most are read.
    """

    epsilon: float
    neighbours: Neighbours
    delta: float = 0.0
    gamma: float = 0.0
    releasable: bool = True
    why_not: str = ""
    person_rows: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < math.inf:
            raise ParameterError(f"epsilon must be a finite number of at least 0, got {self.epsilon!r}.")
        for name in ("delta", "gamma"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(f"{name} must be at least 0 and below 1, got {getattr(self, name)!r}.")
        if not self.releasable and not self.why_not:
            raise ParameterError("A guarantee that cannot be released must say why.")

    def _repr_html_(self) -> str:
        """Return the guarantee as a notebook shows it."""
        return html_facts({"guarantee": self.sentence(), "not for a release": self.why_not})

    def sentence(self) -> str:
        """Return the guarantee in one line, its numbers rounded up: what is printed holds."""
        return self._line(rounded_up)

    def exact_sentence(self) -> str:
        """The same with all digits of its numbers."""
        return self._line(exactly)

    def _line(self, printed: Callable[[float], str]) -> str:
        """Return the guarantee in one line, its numbers printed by a function."""
        parts = [f"ε = {printed(self.epsilon)}"]
        if self.delta:
            parts.append(f"δ = {printed(self.delta)}")
        if self.gamma:
            parts.append(f"γ = {printed(self.gamma)}")
        return ", ".join(parts) + f" ({self.relation})"

    @property
    def relation(self) -> str:
        """The neighbouring relation in words."""
        if not self.person_rows:
            return self.neighbours.words
        rows = f"{self.person_rows:,} row{'s' * (self.person_rows > 1)}"
        return f"{self.neighbours.words.removesuffix(' row')} person; per person with at most {rows}"


def per_person(guarantee: Guarantee, rows: int) -> Guarantee:
    """Return the guarantee for a person with up to ``rows`` rows; 0 rows leave it unchanged.

    Adding c rows one after the other gives (c epsilon, delta + e^epsilon delta + … + e^((c - 1) epsilon) delta) = (c
    epsilon, delta (e^(c epsilon) - 1)/(e^epsilon - 1)): group privacy (Dwork and Roth 2014, Theorem 2.2; Vadhan 2017,
    Lemma 2.2), to the last digits of a double; what a ledger charges is rounded up (``Price.of``). The data must be
    read with that cap: see ``Capped``.

    Raises:
        ParameterError: rows are replaced, so that n would be public; it is no guarantee for rows; or delta becomes 1.
    """
    if rows == 0:
        return guarantee
    if not 0 < rows <= MAX_PRICED_ROWS or guarantee.person_rows:
        raise ParameterError(
            f"A person's rows must be a number of at most {MAX_PRICED_ROWS:,}, and a guarantee is converted for "
            "persons only once."
        )
    if guarantee.neighbours is not Neighbours.ADD_REMOVE_ONE:
        raise ParameterError("Persons can be protected only if rows are added or removed, because a person changes n.")
    if guarantee.gamma:
        raise ParameterError("A random-DP guarantee cannot be converted to persons.")
    delta = guarantee.delta
    if delta and rows > 1:
        # Where the sum would be 1 or more, e^(c epsilon) may be more than a float holds.
        steps = [guarantee.epsilon * earlier + math.log(delta) for earlier in range(rows)]
        delta = math.fsum(map(math.exp, steps)) if steps[-1] < 0 else 1.0
    if delta >= 1:
        raise ParameterError(f"For persons with up to {rows:,} rows δ would be 1 or more: no guarantee.")
    return dataclasses.replace(guarantee, epsilon=rows * guarantee.epsilon, delta=delta, person_rows=rows)


def exactly(number: float) -> str:
    """Return a number with all its digits and no more: 1, 0.1, 1e-6; zero has no sign."""
    return repr(float(number) + 0.0).removesuffix(".0").replace("e-0", "e-")


def rounded_up(number: float) -> str:
    """Return a guarantee's number with three significant digits, never below itself: 0.0597 for 0.05963, 1 for 1."""
    if not math.isfinite(number) or number == 0:
        return exactly(number)
    # Of the number as it is written: 0.1 is not to become 0.101 for what binary adds to it.
    written = Decimal(repr(float(number)))
    return exactly(float(written.quantize(Decimal((0, (1,), written.adjusted() - 2)), rounding=ROUND_CEILING)))


def rounded_down(number: float) -> str:
    """The same of what holds from below: never above itself."""
    return rounded_up(-number).removeprefix("-")


def rows_up(rows: float) -> str:
    """Return a bound in rows, rounded up to a whole one: what is printed holds."""
    return f"{math.ceil(rows):,}" if math.isfinite(rows) else "∞"
