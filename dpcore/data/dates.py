"""Dates as a domain: cells are days, weeks, months or years, from one to another, both included."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import ParameterError
from dpcore.core.sizes import MAX_BITS, MAX_RANGE_CHARACTERS
from dpcore.data.columns import Number

if TYPE_CHECKING:
    from dpcore.data.reading.tables import Table

STEPS = {"day": "2024-02-29", "week": "2024-W09", "month": "2024-02", "year": "2024"}
"""Calendar units, and how each is written."""
RANGE = re.compile(r"\s*(?:–|—|/|\.\.)\s*|\s+(?:-|to)\s+")
"""What stands between the ends of a range."""
EPOCH = datetime.date(1970, 1, 1)
MONDAY = 3
"""Days from the Monday before it to the EPOCH."""
SINCE = {"day": "days since 1970-01-01", "week": "weeks since 1970-W01", "month": "months since 1970-01", "year": ""}


@dataclass(frozen=True, kw_only=True)
class Dates(Number):
    """Dates between declared bounds; a cell is a calendar unit, and is called as ISO 8601 writes it.

    Along the line, a unit reaches from its number (see ``period_of``) to the next one's.

    Attributes:
        step: "day", "week", "month" or "year".
        first: the first unit, as 2024-02-29, 2024-W09, 2024-02 or 2024.
        last: the last unit, itself included.
    """

    low: float = field(init=False, repr=False)
    high: float = field(init=False, repr=False)
    bits: int = field(init=False, repr=False)
    bins: int = field(init=False, repr=False)
    unit: str = field(init=False, repr=False)
    step: str = "month"
    first: str = "2020-01"
    last: str = "2029-12"

    @override
    def __post_init__(self) -> None:
        start, end = period_of(self.first, self.step), period_of(self.last, self.step)
        if not start < end:
            raise ParameterError(f"The last {self.step} must come after the first.")
        if end - start + 1 > 2**MAX_BITS:
            raise ParameterError(f"There are more than {2**MAX_BITS:,} {self.step}s: choose a coarser unit.")
        if any(cut != int(cut) for cut in self.cuts if math.isfinite(cut)):
            raise ParameterError(f"Dates can be cut only at the beginning of a {self.step}.")
        bins = 0 if self.cuts else end - start + 1
        numbers = {"low": float(start), "high": end + 1.0, "bins": bins, "unit": SINCE[self.step]}
        for name, value in numbers.items():
            object.__setattr__(self, name, value)
        super().__post_init__()

    @override
    @property
    def title(self) -> str:
        return "a range of dates" if self.cuts else "a date"

    @override
    @property
    def closed(self) -> bool:
        return True

    @override
    @property
    def mean_name(self) -> str:
        """No mean of dates is released."""
        return ""

    @override
    def describe(self, cell: int) -> str:
        """The unit: 2024-02; or the units of a range, both ends included."""
        return "missing or out of bounds" if cell >= self.ordered else self.between(cell, cell)

    @override
    def ends(self, first: int, last: int) -> tuple[str, str]:
        """The first unit and the last, both included."""
        start, stop = self.low + first, self.low + last + 1
        if self.cuts:
            cuts = (self.low, *self.cuts, self.high)
            start, stop = cuts[first], cuts[last + 1]
        return written(int(start), self.step), written(int(stop) - 1, self.step)

    @override
    def values(self, table: Table, name: str) -> NDArray[Any]:
        """Middles of the dates' units, as the end of one starts the next; NaN where there is no date."""
        return table.periods(name, self.step) + 0.5

    def cells_of(self, text: str) -> tuple[int, int]:
        """First and last cell of a written range, both included; its ends are units, or days, cut at the bounds.

        >>> Dates(step="month", first="2024-01", last="2024-12").cells_of("2024-03-01 – 2024-05-31")
        (2, 4)

        Raises:
            ParameterError: as ``units_of`` does, or none of the range is within the bounds.
        """
        first, last = (unit - int(self.low) for unit in self.units_of(text))
        if last < 0 or first >= self.ordered:
            raise ParameterError(f"No date lies there: they go from {self.first} to {self.last}.")
        return max(first, 0), min(last, self.ordered - 1)

    def units_of(self, text: str) -> tuple[int, int]:
        """Return the numbers of the first and last unit of a written range, both included, wherever the bounds are.

        Raises:
            ParameterError: there are not two ends so written; the message does not show the text.
        """
        ends = RANGE.split(text[:MAX_RANGE_CHARACTERS].strip())
        if len(ends) != 2:
            raise ParameterError(f"Write a range of dates as {STEPS['day']} – 2024-03-31.")
        first, last = sorted(period_at(each, self.step) for each in ends)
        return first, last

    @override
    def table(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The unit of each record, missing as None."""
        names = np.array([*self.cell_names, None], dtype=object)
        return {"value": names[records]}


OLDEST = 120
"""Years that no living person's age exceeds."""


@dataclass(frozen=True, kw_only=True)
class Ages(Number):
    """Ages in whole years on a public day, from dates of birth, clipped to 0 and 120.

    Attributes:
        day: the day on which ages are counted, as 2024-02-29.
    """

    low: float = field(default=-0.5, init=False, repr=False)
    high: float = field(default=OLDEST + 0.5, init=False, repr=False)
    bits: int = field(init=False, repr=False)
    bins: int = field(default=OLDEST + 1, init=False, repr=False)
    unit: str = field(default="years", init=False, repr=False)
    day: str

    @override
    def __post_init__(self) -> None:
        period_of(self.day, "day")
        super().__post_init__()

    @override
    @property
    def title(self) -> str:
        return "a range of ages" if self.cuts else "an age"

    @override
    def values(self, table: Table, name: str) -> NDArray[Any]:
        """Completed years, NaN where there is no date. Someone born on 29 February is a year older on 1 March."""
        days = table.periods(name, "day")
        born = np.where(np.isfinite(days), days, 0).astype("datetime64[D]")
        months = born.astype("datetime64[M]")
        years = 1970 + born.astype("datetime64[Y]").astype(np.int64)
        in_year = 32 * (months.astype(np.int64) % 12 + 1) + (born - months).astype(np.int64) + 1
        day = datetime.date.fromisoformat(self.day)
        ages = day.year - years - (in_year > 32 * day.month + day.day)
        return np.where(np.isfinite(days), ages, np.nan)

    def born(self, ages: NDArray[np.int64], along: NDArray[np.float64]) -> list[str]:
        """Return dates of birth of these ages, (n,): days within the year, by shares of it from 0 to 1.

        The calendar begins with the year 1, so on a day before the year 123 some are younger.
        """
        day = datetime.date.fromisoformat(self.day)
        last = [datetime.date(max(day.year - age, 2), day.month, min(day.day, 28)) for age in ages.tolist()]
        back = np.floor(along * 365).astype(np.int64).tolist()
        return [(each - datetime.timedelta(days=days)).isoformat() for each, days in zip(last, back, strict=True)]


def is_ages(domain: object) -> TypeGuard[Ages]:
    """Return whether a domain's numbers are ages, from a column of dates of birth."""
    return isinstance(domain, Ages)


def is_dates(domain: object) -> TypeGuard[Dates]:
    """Return whether a domain's cells are units of a calendar."""
    return isinstance(domain, Dates)


def period_of(text: str, step: str) -> int:
    """Return the number of a written unit: since 1970-01-01, its week or its month; a year's is the year.

    >>> period_of("1970-01-02", "day"), period_of("1970-W02", "week"), period_of("2024", "year")
    (1, 1, 2024)

    Raises:
        ParameterError: the step is none, or the text is not written so; the message does not show the text.
    """
    if step not in STEPS:
        raise ParameterError(f"Dates are counted in one of {', '.join(STEPS)}.")
    pattern = re.sub(r"\d", "[0-9]", STEPS[step])
    try:
        if not re.fullmatch(pattern, text):
            raise ValueError
        if step == "day":
            return (datetime.date.fromisoformat(text) - EPOCH).days
        if step == "week":
            return ((datetime.date.fromisocalendar(int(text[:4]), int(text[6:]), 1) - EPOCH).days + MONDAY) // 7
        day = datetime.date(int(text[:4]), int(text[5:] or 1), 1)
    except ValueError:
        day = None
    if day is None:
        raise ParameterError(f"Write an existing {step}, for example {STEPS[step]}.")
    return day.year if step == "year" else (day.year - EPOCH.year) * 12 + day.month - 1


def period_at(text: str, step: str) -> int:
    """Return the number of a written unit, or of the one that a written day lies in.

    >>> period_at("1970-02-28", "month"), period_at("1970-02", "month"), period_at("1970-01-05", "week")
    (1, 1, 1)

    Raises:
        ParameterError: as ``period_of`` does.
    """
    try:
        day = period_of(text, "day")
    except ParameterError:
        return period_of(text, step)
    if step == "week":
        return (day + MONDAY) // 7
    return day if step == "day" else period_of(text[: len(STEPS[step])], step)


def bound_of(text: str, step: str, *, is_last: bool) -> str:
    """Return a bound in days or months where a year alone is written: its first or last day or month.

    >>> bound_of("1930", "day", is_last=False), bound_of("2009", "month", is_last=True)
    ('1930-01-01', '2009-12')
    """
    if step not in ("day", "month") or not re.fullmatch("[0-9]{4}", text):
        return text
    return f"{text}{'-12-31' if is_last else '-01-01'}"[: len(STEPS[step])]


def written(number: int, step: str) -> str:
    """Return the unit of this number, as ``period_of`` reads it."""
    if step == "year":
        return f"{number:04d}"
    if step == "month":
        return f"{EPOCH.year + number // 12:04d}-{number % 12 + 1:02d}"
    if step == "day":
        return (EPOCH + datetime.timedelta(days=number)).isoformat()
    year, week, _ = (EPOCH + datetime.timedelta(days=7 * number - MONDAY)).isocalendar()
    return f"{year:04d}-W{week:02d}"
