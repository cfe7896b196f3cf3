"""The same cells in the SQL of engines that cannot try a cast: texts are matched before they are cast.

What a text means is what DuckDB takes it to mean when a file is read: ``1_000`` is a number, ``2024-02-30`` no date,
``24:00`` the next day. A text of more than 400 letters is no number.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from dpcore.core import ParameterError
from dpcore.data.reading.spellings import NO, STEPS, YES
from dprelease.engines.dialects import Dialect, TableColumn, Values

WHOLE, SINGLE, DOUBLE, DECIMAL, TRUTH, DATE, TIME, INSTANT, TEXT = (
    "whole", "single", "double", "decimal", "truth", "date", "time", "instant", "text",
)  # fmt: skip
"""Kinds of columns."""
DIGITS = "[0-9]+(_[0-9]+)*"
NUMBER = f"[+]?-?({DIGITS}[.]?({DIGITS})?|[.]{DIGITS})([eE][+-]?(0_?)*([0-9]_?){{0,3}}[0-9])?"
SMALL = f"[+]?-?({DIGITS}[.]?({DIGITS})?|[.]{DIGITS})[eE]-{DIGITS}"
DAY = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
CLOCK = "(([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?|24:00(:00([.]0+)?)?)"
OFFSET = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
WEEK, MONTH, YEAR = "[0-9]{4}-W[0-9]{2}", "[0-9]{4}-(0[1-9]|1[0-2])", "[0-9]{4}([.]0)?"
LONGEST = 400


class Portable(Dialect):
    """What Postgres and Spark have in common."""

    @abstractmethod
    def text(self, column: TableColumn) -> str:
        """A column's text as a file has it, without blanks around it; NULL where it is missing."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether the whole text has a form."""

    @abstractmethod
    def inner(self, text: str, pattern: str) -> str:
        """The first group of a pattern where it fits the text, else NULL or nothing."""

    @abstractmethod
    def cast(self, text: str, kind: str) -> str:
        """A text that has the form of a whole number or of NUMBER, as one ("whole") or as a double."""

    @abstractmethod
    def finite(self, column: TableColumn) -> str:
        """A column of numbers as a finite double; NULL for what is none."""

    @abstractmethod
    def stripped(self, text: str) -> str:
        """Without any white space around it."""

    @abstractmethod
    def days(self, text: str) -> str:
        """Days from 1970-01-01 to a date that has the form DAY; NULL where there is no such day."""

    @abstractmethod
    def of_day(self, field: str, day: str) -> str:
        """The year or the month of a day that is so many after 1970-01-01."""

    def number(self, column: TableColumn) -> str:
        """Numbers as they are, texts where they have the form of one."""
        if column.kind in (WHOLE, SINGLE, DOUBLE, DECIMAL):
            return self.finite(column)
        if column.kind != TEXT:
            return f"CAST(NULL AS {self.double})"
        return self._parsed(self.text(column))

    def _parsed(self, text: str) -> str:
        bare = self.stripped(text)
        joined = f"trim(LEADING '+' FROM replace({bare}, '_', ''))"
        return (
            f"CASE WHEN length({text}) > {LONGEST} THEN NULL WHEN {self.matches(bare, NUMBER)} THEN"
            f" {self.cast(joined, DOUBLE)} WHEN {self.matches(bare, SMALL)} THEN 0 END"
        )

    def truth(self, column: TableColumn) -> str:
        """By spelling, or the numbers 0 and 1."""
        if column.kind == TRUTH:
            name = self.name(column.name)
            return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 ELSE 2 END"
        number = self.number(column)
        words = f"lower({self.text(column)})" if column.kind == TEXT else "''"
        return (
            f"CASE WHEN {words} IN {YES} OR {number} = 1 THEN 1 WHEN {words} IN {NO} OR {number} = 0 THEN 0 ELSE 2 END"
        )

    def period(self, column: TableColumn, step: str) -> str:
        """See ``spellings.period``, whose forms these are."""
        if step not in STEPS:
            raise ParameterError(f"Dates are counted in one of {', '.join(STEPS)}.")
        if column.kind == TRUTH:
            return f"CAST(NULL AS {self.double})"
        text = self.text(column)
        day = self._day(text)
        whens = [f"WHEN {self.matches(text, f'{DAY}([T ]{CLOCK}{OFFSET}?)?')} THEN {self._unit(day, step)}"]
        year = self.cast(self.inner(text, "^([0-9]{4})"), WHOLE)
        if step == "week":
            fourth = self.days(f"concat(substr({text}, 1, 4), '-01-04')")
            week = self.cast(self.inner(text, "W([0-9]{2})$"), WHOLE)
            # The number of the week of 4 January, which is the first, and so many weeks on.
            number = f"(floor(({fourth} + 3) / 7.0) + {week} - 1)"
            same = f"{self.of_day('year', f'({number} * 7)')} = {year}"  # its Thursday
            whens += [f"WHEN {self.matches(text, WEEK)} THEN CASE WHEN {same} THEN {number} END"]
        if step == "month":
            month = self.cast(self.inner(text, "^[0-9]{4}-([0-9]{2})"), WHOLE)
            whens += [f"WHEN {self.matches(text, MONTH)} THEN ({year} - 1970) * 12 + {month} - 1"]
        if step == "year":
            whens += [f"WHEN {self.matches(text, f'({MONTH}|{YEAR})')} THEN {year}"]
        return f"CAST(CASE {' '.join(whens)} END AS {self.double})"

    def _day(self, text: str) -> str:
        """The day in UTC of a text with a day, and perhaps a time and its offset."""

        def part(pattern: str) -> str:
            return f"coalesce({self.cast(self.inner(text, pattern), WHOLE)}, 0)"

        hours, minutes = part("^.{11}([0-9]{2}):"), part("^.{14}([0-9]{2})")
        sign = f"CASE WHEN {self.matches(text, '.{11}[^-]*-.*')} THEN -1 ELSE 1 END"
        ahead, and_minutes = part("^.{11}[^+-]*[+-]([0-9]{2})"), part("^.{11}[^+-]*[+-][0-9]{2}:?([0-9]{2})$")
        late = f"({hours} * 60 + {minutes} - ({sign}) * ({ahead} * 60 + {and_minutes}))"
        return f"({self.days(f'substr({text}, 1, 10)')} + floor({late} / 1440.0))"

    def _unit(self, day: str, step: str) -> str:
        """A day's number in its step."""
        if step == "day":
            return day
        if step == "week":
            return f"floor(({day} + 3) / 7.0)"  # the Monday before 1970 is three days away
        year = self.of_day("year", day)
        return year if step == "year" else f"({year} - 1970) * 12 + {self.of_day('month', day)} - 1"

    def position(self, column: TableColumn, labels: Sequence[str], key: str, values: Values) -> str:
        """In the list; of fractions by their values, of which a label is the text."""
        if column.kind not in (SINGLE, DOUBLE, DECIMAL):
            values[key] = list(labels)
            return f"array_position({self.place(key, TEXT)}, {self.text(column)})"
        number = self.finite(column)
        values[key] = [_number(label, single=column.kind == SINGLE) for label in labels]
        found = f"array_position({self.place(key, DOUBLE)}, {number})"
        below = labels.index("-0") + 1 if "-0" in labels else 0
        zero = f"{number} = 0 AND substr(CAST({number} AS {self.words}), 1, 1) = '-'"
        return f"CASE WHEN {zero} THEN {below} WHEN {number} IS NOT NULL THEN {found} END"

    words: ClassVar[str] = "TEXT"


def _number(label: str, *, single: bool) -> float:
    """The fraction whose text this is; one that no column holds where there is none."""
    try:
        number = np.float32(label) if single else np.float64(label)
    except ValueError:
        return float("inf")
    told = str(number).removesuffix(".0")
    return float(number) if told == label and told != "-0" else float("inf")
