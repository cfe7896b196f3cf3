"""Queries as lines of text: “age 20–34, sex = F” counts the rows for which all conditions hold.

A line names columns, each with a range of numbers or dates, a label, or a comparison. Lines about the same columns are
one question: a table of these columns, in which numbers are cut only where a range begins or ends. A line's answer is a
sum of the table's cells. A line may name a statistic by group instead (``group_lines``). A CSV table whose first line
names columns is another notation: an empty field is no condition. So is one whose first line is “statistic, of, by”, or
some of these with “smallest group”: each line below names a statistic by group. Everything here is public.

A range of whole numbers includes both ends; a range of other numbers excludes its upper end.

>>> from dpcore.data.declarations import DeclaredColumn
>>> table = DeclaredTable(columns=(DeclaredColumn(name="age", on=Number(high=100, bins=100)),
...                                DeclaredColumn(name="sex", on=Labels(labels=("F", "M")))))
>>> conditions("age 20–34, sex = F", table)
{'age': (20.0, 35.0), 'sex': 'F'}
>>> read_lines(chr(10).join(["sex,age", "F,20-34", "M,"]), table).lines
{('age', 'sex'): ('sex F,age 20-34',), ('sex',): ('sex M',)}
>>> read_lines("agee > 3", table).problems
('Line 1: “agee > 3” does not begin with the name of a column.',)
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcore.core import Booleans, ParameterError, exactly
from dpcore.data.columns import Labels, Number, is_number
from dpcore.data.dates import Dates, is_dates
from dpcore.data.declarations import DeclaredTable
from dpcore.data.product import Product
from dpcore.data.readings import Reading
from dprelease.plan.group_lines import SHOWN, GroupLine, first_name, read_group_line
from dprelease.sizes import MAX_GROUP_LINES, MAX_LINE_CELLS, MAX_LINE_CHARACTERS

NUMBER = r"[-−+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-−+]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\s*(?:-|−|–|—|\.\.|to\b)\s*({NUMBER})")
BETWEEN = ",\t;"
"""Field separators below a header line: text from a spreadsheet has tabs."""
COMPARED = re.compile(r"(<=|>=|<|>|≤|≥|==?|is\b|at least\b|at most\b|below\b|above\b)?\s*(.*)", re.DOTALL)
STATISTIC_HEADER = {"statistic": "{}", "of": " of {}", "by": " by {}", "smallest group": ", groups of {}"}
"""Names in the first line of a CSV of statistics by group, and what a field below adds to the line that it means."""
SIGNS = {"≤": "<=", "≥": ">=", "==": "=", "is": "=", "at least": ">=", "at most": "<=", "below": "<", "above": ">"}

Condition = tuple[float, float] | str
"""A half-open interval of numbers, or a label."""


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Parsed lines of a text.

    Attributes:
        lines: the lines about each set of columns, in the table's order.
        problems: an error message for each invalid line.
        groups: statistics by group, each once.
    """

    lines: Mapping[tuple[str, ...], tuple[str, ...]]
    problems: tuple[str, ...]
    groups: tuple[GroupLine, ...] = ()


def read_lines(text: str, table: DeclaredTable) -> Lines:
    """Parse the lines of a text, or of a CSV whose first line names columns; empty lines are skipped."""
    by_columns: dict[tuple[str, ...], list[str]] = {}
    problems: list[str] = []
    groups: dict[GroupLine, None] = {}
    names = [column.name for column in table.used]
    rows = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    of_statistics = _statistics_header(rows[0][1], table) if rows else None
    if of_statistics is not None:
        rows = rows[1:]
    try:
        plain = not rows or of_statistics is not None or _names_groups(rows[0][1], table)
        header, sign = ([], "") if plain else _header(rows[0][1], table)
    except ParameterError as problem:  # without a header the lines below have no meaning
        return Lines(lines={}, problems=(f"Line {rows[0][0]}: {problem}",))
    rows = rows[bool(header) :]
    for number, line in rows[:MAX_GROUP_LINES]:
        try:
            if of_statistics is not None:
                groups[_statistic_of(line, *of_statistics, table)] = None
                continue
            if header:
                fields = _fields(line, sign)
                if len(fields) != len(header):
                    raise ParameterError(f"it has {len(fields)} fields, the first line {len(header)}.")
                line = _written([f"{name} {field}" for name, field in zip(header, fields, strict=True) if field])
            elif (group := read_group_line(line, table)) is not None:
                groups[group] = None
                continue
            named = conditions(line, table)
        except ParameterError as problem:
            problems.append(f"Line {number}: {problem}")
        else:
            by_columns.setdefault(tuple(name for name in names if name in named), []).append(line.strip())
    if len(rows) > MAX_GROUP_LINES:  # the first message, as a page may show only one
        problems.insert(0, f"Line {rows[MAX_GROUP_LINES][0]}: at most {MAX_GROUP_LINES:,} lines are read.")
    return Lines(
        lines={key: tuple(dict.fromkeys(lines)) for key, lines in by_columns.items()},
        problems=tuple(problems),
        groups=tuple(groups),
    )


def _statistics_header(line: str, table: DeclaredTable) -> tuple[list[str], str] | None:
    """Return the names in the first line of a CSV of statistics, and its separator; None for any other line."""
    for sign in BETWEEN:
        try:
            names = [field.casefold() for field in _fields(line, sign)]
        except ParameterError:
            continue
        known = "statistic" in names and set(names) <= set(STATISTIC_HEADER) and len(set(names)) == len(names)
        if known and len(names) > 1 and not {column.name for column in table.used} >= set(_fields(line, sign)):
            return names, sign
    return None


def _statistic_of(line: str, names: Sequence[str], sign: str, table: DeclaredTable) -> GroupLine:
    """Return the statistic by group in a line below such a header; raises ParameterError with one sentence."""
    fields = _fields(line, sign)
    if len(fields) != len(names):
        raise ParameterError(f"it has {len(fields)} fields, the first line {len(names)}.")
    named = dict(zip(names, fields, strict=True))
    text = "".join(form.format(named[name]) for name, form in STATISTIC_HEADER.items() if named.get(name))
    found = read_group_line(text, table) if named["statistic"] else None
    if found is None:
        raise ParameterError(f"“{named['statistic'][:SHOWN]}” is no statistic by group.")
    return found


def conditions(line: str, table: DeclaredTable) -> dict[str, Condition]:
    """Parse the conditions of a line by column; raises ParameterError with one sentence for an invalid line."""
    by_column: dict[str, Condition] = {}
    for field in filter(None, _fields(line)):
        name = first_name(field, table)
        if not name:
            raise ParameterError(f"“{field[:SHOWN]}” does not begin with the name of a column.")
        rest, on = field[len(name) :].strip(), table.on(name)
        now = _range(rest, on, name) if is_number(on) else _label(rest, on, name)
        before = by_column.get(name, now)
        if isinstance(now, tuple) and isinstance(before, tuple):
            now = max(now[0], before[0]), min(now[1], before[1])
            if not now[0] < now[1]:
                raise ParameterError(f"no number is left of “{name}”.")
        elif now != before:
            raise ParameterError(f"“{name}” has only one label.")
        by_column[name] = now
    if not by_column:
        raise ParameterError("it names no column.")
    return by_column


def cut_at(lines: Sequence[str], columns: Sequence[str], table: DeclaredTable) -> Reading:
    """Return the reading for lines about these columns, with numbers cut at the ends of the ranges.

    Raises:
        ParameterError: a line is about other columns, or there are too many cells.
    """
    if len(lines) > MAX_GROUP_LINES:
        raise ParameterError(f"A statistic has at most {MAX_GROUP_LINES:,} lines.")
    cuts: dict[str, set[float]] = {name: set() for name in columns}
    for line in lines:
        line_conditions = conditions(line, table)
        if set(line_conditions) != set(columns):
            raise ParameterError("All lines of a statistic must be about the same columns.")
        for name, condition in line_conditions.items():
            on = table.on(name)
            if isinstance(condition, tuple) and is_number(on):
                cuts[name] |= {end for end in condition if on.low < end < on.high}
    reading = table.cut({name: tuple(sorted(places)) for name, places in cuts.items()})
    if reading.domain.size > MAX_LINE_CELLS:
        raise ParameterError(
            f"These lines need {reading.domain.size:,} cells; at most {MAX_LINE_CELLS:,} are possible."
        )
    return reading


def cells_of(lines: Sequence[str], table: DeclaredTable, domain: Product) -> Booleans:
    """Return the cells that each line's answer sums, (lines, cells), the last attribute varying fastest."""
    inside_all = np.ones((len(lines), 1), dtype=np.bool_)
    line_conditions = [conditions(line, table) for line in lines]
    for name, kind in zip(domain.names, domain.columns, strict=True):
        inside = np.zeros((len(lines), kind.size), dtype=np.bool_)
        for place, each in enumerate(line_conditions):
            condition = each[name]
            if isinstance(condition, tuple):
                edges = kind.edges
                inside[place, : len(edges) - 1] = (edges[:-1] >= condition[0]) & (edges[1:] <= condition[1])
            else:
                inside[place, kind.cell_names.index(str(condition))] = True
        inside_all = (inside_all[:, :, None] & inside[:, None, :]).reshape(len(lines), -1)
    return inside_all


def _is_question(line: str, table: DeclaredTable) -> bool:
    """Return whether a line is a valid query."""
    try:
        return bool(conditions(line, table))
    except ParameterError:
        return False


def _names_groups(line: str, table: DeclaredTable) -> bool:
    """Return whether a line names a statistic by group, perhaps a wrong one."""
    try:
        return read_group_line(line, table) is not None
    except ParameterError:
        return True


def _header(line: str, table: DeclaredTable) -> tuple[list[str], str]:
    """Return the columns of a header line and its separator; no columns where the line is a query.

    Raises:
        ParameterError: it names an unknown column, or a column twice.
    """
    names = [column.name for column in table.used]
    for sign in BETWEEN:
        try:
            fields = _fields(line, sign)
        except ParameterError:
            continue
        if not {*fields} & {*names}:
            continue
        strange = [field for field in fields if field not in names]
        if strange and _is_question(line, table):
            break
        if "" in strange:
            raise ParameterError("it names columns, but one of its fields is empty.")
        if strange:
            raise ParameterError(f"no column is called “{strange[0][:SHOWN]}”.")
        if len({*fields}) < len(fields):
            raise ParameterError("it names a column twice.")
        return fields, sign
    return [], ""


def _fields(line: str, sign: str = ",") -> list[str]:
    """Split a line into fields at a separator, as in CSV."""
    if len(line) > MAX_LINE_CHARACTERS:
        raise ParameterError(f"it has more than {MAX_LINE_CHARACTERS} letters.")
    try:
        rows = csv.reader([line], delimiter=sign, skipinitialspace=True, strict=True)
        return [field.strip() for field in next(rows, [])]
    except csv.Error:
        raise ParameterError("its quotation marks do not match.") from None


def _written(fields: Sequence[str]) -> str:
    """Return the fields as a line of CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(fields)
    return buffer.getvalue()


def _comparison(rest: str) -> tuple[str, str]:
    """Return the sign of a comparison, "=" where there is none, and the text behind it."""
    match = COMPARED.match(rest)
    assert match is not None  # it matches every text
    return SIGNS.get(match[1], match[1] or "="), match[2].strip()


def _label(rest: str, on: Labels, name: str) -> str:
    """Parse one of a column's labels."""
    sign, text = _comparison(rest)
    for label in (rest, text):
        if label in on.labels and sign == "=":
            return label
    alike = [label for label in on.labels if label.casefold() == text.casefold()]
    if len(alike) != 1 or sign != "=":
        raise ParameterError(f"“{name}” has no label “{text[:SHOWN]}”.")
    return alike[0]


def _range(rest: str, on: Number, name: str) -> tuple[float, float]:
    """Parse a half-open interval of a column's numbers, within its bounds."""
    sign, text = _comparison(rest)
    low, high = _dates(sign, text, on, name) if is_dates(on) else _numbers(sign, text, on, name)
    low, high = max(low, on.low), min(high, on.high)
    if not low < high:
        what, ends = "number", (exactly(on.bounds[0]), exactly(on.bounds[1]))
        if is_dates(on):
            what, ends = "date", (on.first, on.last)
        raise ParameterError(f"“{name}” is declared from {ends[0]} to {ends[1]}, and this {what} is outside.")
    return low, high


def _numbers(sign: str, text: str, on: Number, name: str) -> tuple[float, float]:
    """Parse a range, a comparison or one whole number.

    A whole number as upper end is included; an end such as 20.5 is used as it is.
    """
    if on.whole:  # the number k is the middle of its cell, from k - 0.5 to k + 0.5
        low, high = _numbers(sign, text, replace(on, low=on.low + 0.5, high=on.high + 0.5), name)
        return low - 0.5 * float(low % 1 == 0), high - 0.5 * float(high % 1 == 0)
    whole = on.width == 1 and float(on.low).is_integer()
    if sign == "=" and (ends := RANGE.fullmatch(text)):
        first, last = _number(ends[1]), _number(ends[2])
        if first > last:
            raise ParameterError(f"the range of “{name}” ends before it begins.")
        return first, last + (whole and last.is_integer())
    step = float(whole and re.fullmatch(NUMBER, text) is not None and _number(text).is_integer())
    if not re.fullmatch(NUMBER, text) or (sign == "=" and not step):
        raise ParameterError(f"“{name}” needs a range such as 20 – 34, or < 20.")
    number = _number(text)
    return {
        "<": (-math.inf, number),
        "<=": (-math.inf, number + step),
        ">": (number + step, math.inf),
        ">=": (number, math.inf),
    }.get(sign, (number, number + step))


def _number(text: str) -> float:
    """Convert a match of NUMBER; both a minus sign and a hyphen are accepted."""
    return float(text.replace("−", "-"))


def _dates(sign: str, text: str, on: Dates, name: str) -> tuple[float, float]:
    """Parse a range of dates: its ends are periods or days, both included."""
    one = f"{text} to {text}"
    for period in (text, one) if sign == "=" else (one,) if sign in (">=", "<=") else ():
        try:
            first, last = on.units_of(period)
        except ParameterError:
            continue
        return -math.inf if sign == "<=" else first, math.inf if sign == ">=" else last + 1
    raise ParameterError(f"“{name}” needs dates such as {on.first} to {on.last}.")
