"""What a data dictionary states about a table: its columns as far as they are declared, and the unit of privacy.

>>> from dpcore.data.dictionaries.description import DataDictionary, DescribedColumn
>>> age = DescribedColumn(name="age", kind="number", low="0", high="120", bins=12)
>>> age.domain().describe(1)
'10 to 20'
>>> DescribedColumn(name="pay", kind="number", low="0").lacking
'bounds'
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dpcore.core import DataError, ParameterError, exactly, is_visible, read_number
from dpcore.core.sizes import MAX_BITS, MAX_MISSING_CODES, MAX_NAME_CHARACTERS, MAX_PERSON_ROWS
from dpcore.data.columns import Labels, Number, is_labels, is_number
from dpcore.data.dates import Ages, Dates, is_ages, is_dates, period_at, period_of, written
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.intake import LIMITS, clean_name

NUMBER, WHOLE, CATEGORY, YES_NO, DATE = "number", "whole number", "category", "yes/no", "date"
"""Kinds of columns, as ``DeclaredColumn.kind`` names them."""
AGE = "age from birth date"
NUMBERS = (NUMBER, WHOLE)
MAX_WHOLE = 1024
"""Maximum number of whole numbers that get a cell each."""
MAX_EXACT = 2.0**40
"""Whole numbers below are so far apart that doubles tell the middles between them."""
THOUSANDS = re.compile(r"[-+−]?[0-9]{1,3}([,'’ \u00a0\u202f][0-9]{3})+(\.[0-9]*)?")
"""A number with separators of thousands; none is read, as a comma may also be a decimal sign."""
FINITE = "The bounds must be finite numbers."


@dataclass(frozen=True, kw_only=True)
class DescribedColumn:
    """One column of a data dictionary, which may state less than a declaration needs.

    Attributes:
        name: in the table, as written.
        kind: "number", "whole number", "category", "yes/no" or "date"; empty where none is stated that can be declared.
        step: unit of dates: "day", "week", "month" or "year".
        low: lower bound or first date as text; empty where none is stated.
        high: upper bound or last date as text; empty where none is stated. Of ages, the day on which they are counted.
        labels: of a category.
        bins: number of cells of a number; 0 for the usual number, and for whole numbers.
        clamp: whether numbers out of bounds move to the nearest bound.
        missing: whether there is a cell for values that do not fit.
        unit: of a number.
        used: whether the column may be read.
    """

    name: str
    kind: str = ""
    step: str = "day"
    low: str = ""
    high: str = ""
    labels: tuple[str, ...] = ()
    bins: int = 0
    clamp: bool = True
    missing: bool = True
    unit: str = ""
    used: bool = True

    @classmethod
    def of(cls, column: DeclaredColumn) -> DescribedColumn:
        """Return the description of a declared column; ``declared`` returns an equal one."""
        on = column.on
        if is_labels(on):
            labels = () if on.yes_no else on.labels
            return cls(name=column.name, kind=column.kind, labels=labels, missing=on.missing, used=column.used)
        assert is_number(on)
        if is_ages(on):
            clamp, missing = on.clamp, on.missing
            return cls(name=column.name, kind=AGE, high=on.day, clamp=clamp, missing=missing, used=column.used)
        whole = on.whole and on.ordered <= MAX_WHOLE and abs(on.low) < MAX_EXACT
        bounds = on.bounds if whole else (on.low, on.high)
        ends = (on.first, on.last) if is_dates(on) else (exactly(bounds[0]), exactly(bounds[1]))
        return cls(
            name=column.name, kind=DATE if is_dates(on) else WHOLE if whole else NUMBER,
            step=on.step if is_dates(on) else "day", low=ends[0], high=ends[1],
            bins=0 if is_dates(on) or whole else on.ordered, clamp=on.clamp, missing=on.missing,
            unit="" if is_dates(on) else on.unit, used=column.used,
        )  # fmt: skip

    @property
    def lacking(self) -> str:
        """The input that a declaration still needs: "kind", "bounds", "day" or "labels"; empty where none is."""
        if self.kind in (*NUMBERS, DATE):
            return "" if self.low and self.high else "bounds"
        if self.kind == AGE:
            return "" if self.high else "day"
        if self.kind == CATEGORY:
            return "" if self.labels else "labels"
        return "" if self.kind else "kind"

    @property
    def fault(self) -> str:
        """The sentence that says why what is stated is no domain, or a stated bound no bound; empty if all is well."""
        if self.bins and not 2 <= self.bins <= 2**MAX_BITS:
            return f"The number of cells must lie between 2 and {2**MAX_BITS:,}."
        try:
            if self.kind in (*NUMBERS, DATE):
                for end in filter(None, (self.low, self.high)):
                    read_bound(end) if self.kind in NUMBERS else period_of(end, self.step)
            if not self.lacking and self.kind:
                self.domain()
        except ParameterError as error:
            return str(error)
        return ""

    def domain(self) -> Number | Labels:
        """Return the declared domain.

        Raises:
            ParameterError: something is lacking, or what is stated is no domain; the message quotes none of it.
        """
        if self.kind == AGE:
            return Ages(day=self.high, missing=self.missing, clamp=self.clamp)
        if self.kind == CATEGORY:
            return Labels(labels=self.labels, missing=self.missing)
        if self.kind == YES_NO:
            return Labels(yes_no=True, missing=self.missing)
        if self.kind == DATE:
            return Dates(step=self.step, first=self.low, last=self.high, missing=self.missing, clamp=self.clamp)
        low, high = _number(self.low), _number(self.high)
        bins = self.bins
        if self.kind == WHOLE:
            if not (low.is_integer() and high.is_integer()):
                raise ParameterError("From and to must be whole numbers.")
            if 0 < high - low < MAX_WHOLE and abs(low) < MAX_EXACT:
                low, high, bins = low - 0.5, high + 0.5, int(high - low) + 1
        return Number(low=low, high=high, bins=bins, missing=self.missing, clamp=self.clamp, unit=self.unit)

    def declared(self) -> DeclaredColumn:
        """Return the declaration; raises as ``domain`` does."""
        return DeclaredColumn(name=self.name, on=self.domain(), used=self.used)


def _number(text: str) -> float:
    """Return a written number, also with the minus sign of a text.

    Raises:
        ParameterError: it is none; the message does not quote it.
    """
    try:
        return read_number(text.replace("−", "-"))
    except ValueError:
        pass
    if THOUSANDS.fullmatch(text.strip()):
        raise ParameterError("From and to must be numbers without a separator of thousands, such as 100000.")
    raise ParameterError("From and to must be numbers. If the column holds words, its kind is “category”.")


@dataclass(frozen=True, kw_only=True)
class DataDictionary:
    """The columns of one table, and what else a dictionary states about it.

    Attributes:
        columns: each name once.
        person: the column that identifies the person; empty where a row is the unit of privacy.
        person_rows: maximum number of rows of a person.
        missing_codes: texts that count as missing in every column.

    Raises:
        DataError: names are repeated, empty or too long, or what a column states is no domain.
    """

    columns: tuple[DescribedColumn, ...]
    person: str = ""
    person_rows: int = 1
    missing_codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.columns) > LIMITS.columns:
            raise DataError(f"The description has more than {LIMITS.columns:,} columns.")
        names = [column.name for column in self.columns]
        if not all(is_visible(name) and len(name) <= MAX_NAME_CHARACTERS for name in names):
            raise DataError(
                f"Every column of a description needs a visible name of at most {MAX_NAME_CHARACTERS} characters."
            )
        if len(set(names)) < len(names):
            raise DataError("Two columns of the description have the same name.")
        if not 1 <= self.person_rows <= MAX_PERSON_ROWS:
            raise DataError(f"The maximum rows per person must be between 1 and {MAX_PERSON_ROWS:,}.")
        for column in self.columns:
            if column.fault:
                raise column_error(column.name, column.fault)

    @classmethod
    def of(cls, table: DeclaredTable) -> DataDictionary:
        """Return the dictionary of a declared table."""
        columns = tuple(map(DescribedColumn.of, table.columns))
        return cls(columns=columns, person=table.person, person_rows=table.person_rows)

    def declared(self) -> DeclaredTable:
        """Return the columns that are fully declared, with the unit of privacy."""
        columns = tuple(column.declared() for column in self.columns if not column.lacking)
        return DeclaredTable(columns=columns, person=self.person, person_rows=self.person_rows)

    def gaps(self) -> list[str]:
        """Return a sentence for each thing that columns lack, and one for the columns that are not used."""
        used = [column for column in self.columns if column.used and column.name != self.person]
        lacking = {what: sum(column.lacking == what for column in used) for what in ("bounds", "day", "labels", "kind")}
        sentences = [
            f"{count:,} column{'s have' if count > 1 else ' has'} no {what}: declare {'them' if count > 1 else 'it'}."
            for what, count in lacking.items()
            if count
        ]
        unused = sum(not column.used for column in self.columns)
        if unused:
            sentences.append(f"{unused:,} column{'s are' if unused > 1 else ' is'} not used.")
        return sentences


def column_error(name: str, problem: str) -> DataError:
    """Return the error of one column, whose name is made safe to show."""
    return DataError(f"{clean_name(name) or 'A column'}: {problem}")


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Raise what is wrong with a column as a DataError that names it."""
    try:
        yield
    except ParameterError as error:
        problem = str(error)
    else:
        return
    raise column_error(name, problem)


def stated_column(
    name: str,
    kind: str,
    *,
    low: object = None,
    high: object = None,
    step: str = "day",
    labels: Sequence[str] = (),
    bins: int = 0,
    unit: str = "",
    clamp: bool = True,
    missing: bool = True,
    used: bool = True,
) -> DescribedColumn:
    """Return the column that a dictionary states; of what is stated, only what its kind has counts.

    Args:
        name: of the column.
        kind: of its values; a whole number with bounds that are none, or with cells of another width, is a number.
        low: lower bound or first date, as the dictionary writes it.
        high: upper bound or last date; of ages the day.
        step: unit of dates.
        labels: of a category.
        bins: number of cells of a number.
        unit: of a number.
        clamp: whether numbers out of bounds move to the nearest bound.
        missing: whether there is a cell for values that do not fit.
        used: whether the column may be read.

    Raises:
        DataError: a bound is no number or no date.
    """
    with errors_of(name):
        if kind in NUMBERS:
            start, end = read_bound(low), read_bound(high)
            kind = kind_of_whole(start, end) if kind == WHOLE and not bins else NUMBER
            return DescribedColumn(
                name=name, kind=kind, low=start, high=end, bins=bins, unit=unit, clamp=clamp, missing=missing,
                used=used,
            )  # fmt: skip
        if kind in (DATE, AGE):
            start = read_date(low, step) if kind == DATE else ""
            return DescribedColumn(
                name=name, kind=kind, step=step, low=start, high=read_date(high, step), clamp=clamp, missing=missing,
                used=used,
            )  # fmt: skip
        stated = tuple(labels) if kind == CATEGORY else ()
        return DescribedColumn(name=name, kind=kind, labels=stated, missing=missing, used=used)


def read_bound(value: object) -> str:
    """Return a bound, stated as a number or as its text, as ``DescribedColumn`` holds it; empty for None.

    >>> read_bound("-99.990"), read_bound(7), read_bound(None)
    ('-99.99', '7', '')

    Raises:
        ParameterError: it is no finite number; the message does not quote it.
    """
    if value is None or value == "":
        return ""
    number = math.nan
    if isinstance(value, str):
        number = _number(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) <= sys.float_info.max else math.inf
    if not math.isfinite(number):
        raise ParameterError(FINITE)
    return exactly(number)


def read_date(value: object, step: str) -> str:
    """Return a stated date, or the date of a stated time, as the unit that it lies in; empty for None.

    >>> read_date("2024-02-29T12:00:00Z", "month"), read_date(2024, "year")
    ('2024-02', '2024')

    Raises:
        ParameterError: it is no date as ISO 8601 writes it; the message does not quote it.
    """
    if value is None or value == "":
        return ""
    text = f"{value:04d}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return written(period_at(text.split("T")[0].split(" ")[0], step), step)


def read_labels(values: object) -> tuple[str, ...]:
    """Return stated values as the labels that a file writes for them; values may be mappings with a "value".

    >>> read_labels([1, 2.5, True, {"value": "x", "label": "X"}])
    ('1', '2.5', 'true', 'x')

    Raises:
        ParameterError: they are no list of texts, numbers and truth values.
    """
    stated = _values(values)
    if not isinstance(values, list) or not all(isinstance(each, str | int | float) for each in stated):
        raise ParameterError("The labels must be a list of texts or numbers.")
    return tuple(map(_label, stated))


def _values(values: object) -> list[object]:
    """Return the values of a list, each of which may be in a mapping; empty for anything else."""
    listed = values if isinstance(values, list) else []
    return [each.get("value") if isinstance(each, dict) else each for each in listed]


def _label(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return exactly(value) if isinstance(value, float) else str(value)


def kind_of_whole(low: str, high: str) -> str:
    """Return the kind of a column of whole numbers; "number" where a stated bound is no whole number.

    >>> kind_of_whole("0", ""), kind_of_whole("0.5", "7")
    ('whole number', 'number')
    """
    return WHOLE if all(float(end).is_integer() for end in (low, high) if end) else NUMBER


def read_codes(values: object) -> tuple[str, ...]:
    """Return the codes for missing values that a file's format can hold; an empty cell is missing anyway."""
    codes = dict.fromkeys(_label(each).strip() for each in _values(values) if isinstance(each, str | int | float))
    return tuple(code for code in codes if code and code.isprintable() and " " not in code)[:MAX_MISSING_CODES]


def mapping_of(value: object) -> dict[str, Any]:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def closest_table(tables: Sequence[DataDictionary], names: Sequence[str]) -> DataDictionary:
    """Return the table that has most of these columns, the first of several; the first one where no names are given."""
    wanted = set(names)
    return max(tables, key=lambda table: sum(column.name in wanted for column in table.columns))


def without_domains(columns: Iterable[DescribedColumn], names: Iterable[str]) -> tuple[DescribedColumn, ...]:
    """Return the columns, of which those with these names state nothing but whether they are used."""
    dropped = set(names)
    return tuple(DescribedColumn(name=each.name, used=each.used) if each.name in dropped else each for each in columns)
