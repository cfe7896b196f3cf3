"""Bounds on an error: a theorem's number, its unit, its assumptions, and the sentence that states it."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

from dpcore.core.basics import Floats
from dpcore.core.guarantees import rounded_down, rounded_up
from dpcore.core.notebook import html_facts


class BoundKind(enum.StrEnum):
    """Status of a bound: a guarantee, an order of magnitude or a lower bound."""

    GUARANTEE = "guarantee"
    ORDER_ONLY = "order only"
    LOWER = "lower bound"


class ErrorUnit(enum.StrEnum):
    """Unit of the error that a bound is about."""

    ROWS = "rows"
    """Counts: a share of n is so many rows."""
    TABLES = "rows of the released tables"
    """The same, of tables that are released; nothing is known of rows that are fitted to them."""
    RANKS = "rows between the answer and the quantile"
    """A value's place among the rows, not its distance."""
    RANGE = "share of the range"
    """A value's distance, as a share of the distance between the declared bounds."""
    EXCESS = "errors above those of the best rule"
    """Rows on which a chosen rule errs beyond those of the best rule of its class."""
    EXACT = "exact, or no answer"
    """An answer that is given has no error; what is guaranteed is when one is given."""


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One condition of a theorem and whether it is met here.

    Attributes:
        text: the condition.
        met: whether it is met with the problem's n.
        met_by_rows: whether it is met with ``rows_needed`` rows; False for a condition that no n meets.
    """

    text: str
    met: bool
    met_by_rows: bool = False


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A number a theorem gives about a problem: with probability at least 1 - beta, the worst error is at most value.

    Attributes:
        value: largest error over the query class, in the unit as a share (of n, or of the range); math.inf where the
            theorem says nothing.
        kind: whether it is a guarantee, an order of magnitude, or a lower bound.
        statement: the theorem in one sentence, with this problem's numbers.
        reference: authors, year, theorem.
        beta: failure probability over the mechanism's coins.
        assumptions: each with whether it is met.
        rows_needed: the n at which the promise would hold (None: no such n or not known).
        note: what a reader must know besides: an erratum, a looser constant.
        formula: the theorem in TeX, in symbols; α is the worst error as a fraction of n, Z noise in rows.
        unit: what the value is a share of, and what it is an error of.
        has_proved_intervals: whether the release proves an interval of each answer, even where no error is guaranteed.
    """

    value: float
    kind: BoundKind
    statement: str
    reference: str
    beta: float = 0.0
    assumptions: tuple[Assumption, ...] = ()
    rows_needed: int | None = None
    note: str = ""
    formula: str = ""
    unit: ErrorUnit = ErrorUnit.ROWS
    has_proved_intervals: bool = False

    @property
    def applies(self) -> bool:
        """Return whether every assumption is met."""
        return all(assumption.met for assumption in self.assumptions)

    @property
    def vacuous(self) -> bool:
        """Return whether the bound is vacuous: answers that lie in [0, 1] never have an error above 1."""
        return not self.value < 1

    @property
    def guaranteed(self) -> bool:
        """Return whether it is a proved bound with met assumptions that is not vacuous."""
        return self.kind is BoundKind.GUARANTEE and self.applies and not self.vacuous

    def _repr_html_(self) -> str:
        """Return the bound as a notebook shows it, with each assumption and whether it is met."""
        number = f"{rounded_up(100 * self.value)}%" if math.isfinite(self.value) else "no bound"
        return html_facts(
            {
                str(self.kind): f"{number} of {'the range' if self.unit is ErrorUnit.RANGE else 'n'}: {self.unit}",
                "failure probability": rounded_up(self.beta) if self.beta else "",
                **{f"assumption {place}": f"{each.text} ({'met' if each.met else 'not met'})"
                   for place, each in enumerate(self.assumptions, start=1)},
                "theorem": self.statement,
                "source": self.reference,
                "note": self.note,
            }
        )  # fmt: skip

    def broken_by(self, errors: Floats) -> int:
        """Return the number of these errors (T,), as fractions of n, that exceed the bound."""
        # Errors are sums of k/n in floating point: a rounding error above the bound is not a failure.
        return int((errors > self.value * (1 + 1e-12) + 1e-12).sum())


def describe_error(
    bound: Bound,
    *,
    n: int,
    subject: str = "no query",
    given: str = "",
    of_range: Callable[[float], str] | None = None,
    bold: bool = False,
) -> str:
    """Return the guaranteed error in one sentence, or that there is none and what stands in its way.

    Every page, report, certificate, script and command says it by this function alone; the theorem in its own words may
    stand beside it.

    Args:
        bound: the theorem's number.
        n: rows, of which a share becomes a number of rows.
        subject: what has an error, as it stands before "errs": "no query", "no answer".
        given: what a reader is to take for granted, where an assumption cannot be checked: "If n is as you name it".
        of_range: writes a share of the range in the column's unit.
        bold: whether the number stands out, in Markdown.
    """
    if given:
        bound = dataclasses.replace(bound, assumptions=())
    few = bound.rows_needed is not None and n < bound.rows_needed
    # An n is asked for only where it helps: under add/remove no n can be checked.
    enough = all(each.met or each.met_by_rows for each in bound.assumptions)
    needed = f" It needs n = {bound.rows_needed:,} or more." if few and enough else ""
    proved = " Given the release, its intervals for these rows are proved." if bound.has_proved_intervals else ""
    if bound.kind is not BoundKind.GUARANTEE and math.isinf(bound.value):
        return f"No guarantee: no bound on the error is proved before the release.{proved}"
    if bound.kind is not BoundKind.GUARANTEE:
        return f"No guarantee: no error is proved before the release, only an order of magnitude.{proved}"
    if not bound.applies:
        return f"No guarantee: the theorem's assumptions are not all met.{needed}{proved}"
    if bound.vacuous:
        whole = "the range" if bound.unit is ErrorUnit.RANGE else "n"
        return f"No guarantee: the bound is 100% of {whole} or more.{needed}{proved}"
    share = f"{rounded_up(100 * bound.value)}%"
    number = f"{_rows(bound.value * n)} ({share} of n)"
    if bound.unit is ErrorUnit.RANGE:
        number = of_range(bound.value) if of_range is not None else f"{share} of the range between the bounds"
    number = f"**{number}**" if bold else number
    confidence = f"With confidence {rounded_down(100 * (1 - bound.beta))}%"
    sentence = {
        ErrorUnit.ROWS: f"{confidence}, {subject} has an error above {number}.",
        ErrorUnit.TABLES: f"{confidence}, no cell of the released tables has an error above {number}. No "
        "error is guaranteed for synthetic rows fitted to them.",
        ErrorUnit.RANKS: f"{confidence}, no more than {number} lie between the answer and the quantile.",
        ErrorUnit.RANGE: f"{confidence}, the value has an error of at most {number}.",
        ErrorUnit.EXCESS: f"{confidence}, the rule errs on at most {number} more than the best rule of the class.",
        ErrorUnit.EXACT: "An answer is exact. No answer (⊥) is also a result.",
    }[bound.unit]
    return f"{given}: {sentence[0].lower()}{sentence[1:]}" if given else sentence


def _rows(number: float) -> str:
    """Return a number of rows, rounded up to three digits."""
    printed = rounded_up(number)
    return f"{float(printed):,.12g} row{'s' * (printed != '1')}"
