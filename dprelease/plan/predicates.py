"""Questions as lines of text: “age 20–34, sex = F” counts the rows for which all of this holds.

A line names columns, each with a range of numbers or dates, a label, or a comparison. Lines about the same columns are
one question: a table of these columns, in which numbers are cut where a range begins or ends, and nowhere else. A
line's answer is a sum of the table's cells. A table in CSV, whose first line names columns, says the same: an empty
field says nothing. Everything here is public.

Where a column's cells are the whole numbers, a range has both its ends; of other numbers the upper end is not in it.

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
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, ParameterError, exactly
from dpcore.data.columns import Labels, Number, is_number
from dpcore.data.dates import Dates, is_dates
from dpcore.data.declarations import DeclaredTable
from dpcore.data.product import Product
from dpcore.data.readings import Reading

MAX_LINES = 200
MAX_LETTERS = 400
"""Of a line."""
SHOWN = 40
"""Letters of a line that a sentence repeats."""
MAX_CELLS = 1 << 14
"""Of the table that the lines of one question ask of."""
NUMBER = r"[-−+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-−+]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\s*(?:-|−|–|—|\.\.|to\b)\s*({NUMBER})")
BETWEEN = ",\t;"
"""What may part the fields below a line that names columns: a spreadsheet is pasted with tabs."""
COMPARED = re.compile(r"(<=|>=|<|>|≤|≥|==?|is\b|at least\b|at most\b|below\b|above\b)?\s*(.*)", re.DOTALL)
SIGNS = {"≤": "<=", "≥": ">=", "==": "=", "is": "=", "at least": ">=", "at most": "<=", "below": "<", "above": ">"}

Condition = tuple[float, float] | str
"""Numbers from one on and below another, or a label."""


@dataclass(frozen=True, kw_only=True)
class Lines:
    """What was read of a text.

    Attributes:
        lines: for each set of columns, in the table's order, the lines about them.
        problems: a sentence for each line that says nothing.
    """

    lines: Mapping[tuple[str, ...], tuple[str, ...]]
    problems: tuple[str, ...]


def read_lines(text: str, table: DeclaredTable) -> Lines:
    """The lines of a text, or of a CSV whose first line names columns; empty ones are left out."""
    found: dict[tuple[str, ...], list[str]] = {}
    problems: list[str] = []
    names = [column.name for column in table.used]
    rows = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        header, sign = _header(rows[0][1], table) if rows else ([], "")
    except ParameterError as problem:  # what stands below means nothing
        return Lines(lines={}, problems=(f"Line {rows[0][0]}: {problem}",))
    rows = rows[bool(header) :]
    for number, line in rows[:MAX_LINES]:
        try:
            if header:
                fields = _fields(line, sign)
                if len(fields) != len(header):
                    raise ParameterError(f"it has {len(fields)} fields, the first line {len(header)}.")
                line = _written([f"{name} {told}" for name, told in zip(header, fields, strict=True) if told])
            held = conditions(line, table)
        except ParameterError as problem:
            problems.append(f"Line {number}: {problem}")
        else:
            found.setdefault(tuple(name for name in names if name in held), []).append(line.strip())
    if len(rows) > MAX_LINES:  # before all others, of which a page may tell the first alone
        problems.insert(0, f"Line {rows[MAX_LINES][0]}: at most {MAX_LINES:,} lines are read.")
    return Lines(lines={key: tuple(dict.fromkeys(lines)) for key, lines in found.items()}, problems=tuple(problems))


def conditions(line: str, table: DeclaredTable) -> dict[str, Condition]:
    """What a line asks of each column it names; raises ParameterError, in one sentence, where it says nothing."""
    found: dict[str, Condition] = {}
    for field in filter(None, _fields(line)):
        names = sorted((column.name for column in table.used), key=len, reverse=True)
        name = next((name for name in names if re.match(rf"{re.escape(name)}(?![^\W_])", field)), None)
        if name is None:
            raise ParameterError(f"“{field[:SHOWN]}” does not begin with the name of a column.")
        told, on = field[len(name) :].strip(), table.on(name)
        now = _range(told, on, name) if is_number(on) else _label(told, on, name)
        before = found.get(name, now)
        if isinstance(now, tuple) and isinstance(before, tuple):
            now = max(now[0], before[0]), min(now[1], before[1])
            if not now[0] < now[1]:
                raise ParameterError(f"no number is left of “{name}”.")
        elif now != before:
            raise ParameterError(f"“{name}” has one label only.")
        found[name] = now
    if not found:
        raise ParameterError("it names no column.")
    return found


def cut_at(lines: Sequence[str], columns: Sequence[str], table: DeclaredTable) -> Reading:
    """How the rows are read that lines about these columns ask of.

    Raises:
        ParameterError: a line is about other columns, or there are too many cells.
    """
    if len(lines) > MAX_LINES:
        raise ParameterError(f"A question has at most {MAX_LINES:,} lines.")
    cuts: dict[str, set[float]] = {name: set() for name in columns}
    for line in lines:
        held = conditions(line, table)
        if set(held) != set(columns):
            raise ParameterError("Every line of a question is about the same columns.")
        for name, told in held.items():
            on = table.on(name)
            if isinstance(told, tuple) and is_number(on):
                cuts[name] |= {end for end in told if on.low < end < on.high}
    reading = table.cut({name: tuple(sorted(places)) for name, places in cuts.items()})
    if reading.domain.size > MAX_CELLS:
        raise ParameterError(f"These lines cut {reading.domain.size:,} cells; at most {MAX_CELLS:,} are told apart.")
    return reading


def cells_of(lines: Sequence[str], table: DeclaredTable, domain: Product) -> Booleans:
    """Which cells each line's answer is the sum of, (lines, cells), the last attribute varying fastest."""
    found = np.ones((len(lines), 1), dtype=np.bool_)
    held = [conditions(line, table) for line in lines]
    for name, kind in zip(domain.names, domain.columns, strict=True):
        inside = np.zeros((len(lines), kind.size), dtype=np.bool_)
        for place, each in enumerate(held):
            told = each[name]
            if isinstance(told, tuple):
                edges = kind.edges
                inside[place, : len(edges) - 1] = (edges[:-1] >= told[0]) & (edges[1:] <= told[1])
            else:
                inside[place, kind.cell_names.index(str(told))] = True
        found = (found[:, :, None] & inside[:, None, :]).reshape(len(lines), -1)
    return found


def _says(line: str, table: DeclaredTable) -> bool:
    """Whether a line is a question."""
    try:
        return bool(conditions(line, table))
    except ParameterError:
        return False


def _header(line: str, table: DeclaredTable) -> tuple[list[str], str]:
    """The columns that a first line names, and what parts its fields; none where it is a question.

    Raises:
        ParameterError: it names something else too, or a column twice.
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
        if strange and _says(line, table):
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
    """The fields of a line of CSV, or of one with another sign between them."""
    if len(line) > MAX_LETTERS:
        raise ParameterError(f"it has more than {MAX_LETTERS} letters.")
    try:
        rows = csv.reader([line], delimiter=sign, skipinitialspace=True, strict=True)
        return [field.strip() for field in next(rows, [])]
    except csv.Error:
        raise ParameterError("its quotation marks do not match.") from None


def _written(fields: Sequence[str]) -> str:
    """Fields as a line of CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(fields)
    return buffer.getvalue()


def _label(told: str, on: Labels, name: str) -> str:
    """One of a column's labels."""
    match = COMPARED.match(told)
    sign, text = (match[1] or "=", match[2].strip()) if match else ("=", "")
    for label in (told, text):
        if label in on.labels and SIGNS.get(sign, sign) == "=":
            return label
    alike = [label for label in on.labels if label.casefold() == text.casefold()]
    if len(alike) != 1 or SIGNS.get(sign, sign) != "=":
        raise ParameterError(f"“{name}” has no label “{text[:SHOWN]}”.")
    return alike[0]


def _range(told: str, on: Number, name: str) -> tuple[float, float]:
    """Numbers of a column from one on and below another, within its bounds."""
    match = COMPARED.match(told)
    sign, text = (match[1] or "", match[2].strip()) if match else ("", "")
    low, high = _dates(sign, text, on, name) if is_dates(on) else _numbers(sign, text, on, name)
    low, high = max(low, on.low), min(high, on.high)
    if not low < high:
        what, ends = "number", (exactly(on.low), exactly(on.high))
        if is_dates(on):
            what, ends = "date", (on.first, on.last)
        raise ParameterError(f"no {what} of “{name}” lies there, which is declared from {ends[0]} to {ends[1]}.")
    return low, high


def _numbers(sign: str, text: str, on: Number, name: str) -> tuple[float, float]:
    """As written: a range, a comparison, or one whole number.

    Of whole numbers an end is in it; an end such as 20.5 is none of them, and is where it stands.
    """
    whole = on.width == 1 and float(on.low).is_integer()
    sign = SIGNS.get(sign, sign)
    if sign in ("", "=") and (ends := RANGE.fullmatch(text)):
        first, last = _number(ends[1]), _number(ends[2])
        if first > last:
            raise ParameterError(f"the range of “{name}” ends before it begins.")
        return first, last + (whole and last.is_integer())
    step = float(whole and re.fullmatch(NUMBER, text) is not None and _number(text).is_integer())
    if not re.fullmatch(NUMBER, text) or (sign in ("", "=") and not step):
        raise ParameterError(f"“{name}” needs a range such as 20 – 34, or < 20.")
    number = _number(text)
    return {
        "<": (-math.inf, number),
        "<=": (-math.inf, number + step),
        ">": (number + step, math.inf),
        ">=": (number, math.inf),
    }.get(sign, (number, number + step))


def _number(text: str) -> float:
    """What NUMBER found: a minus sign is written as such, or as a hyphen."""
    return float(text.replace("−", "-"))


def _dates(sign: str, text: str, on: Dates, name: str) -> tuple[float, float]:
    """The same of dates: a range's ends are units, or days, and both are in it."""
    sign, one = SIGNS.get(sign, sign), f"{text} to {text}"
    for told in (text, one) if sign in ("", "=") else (one,) if sign in (">=", "<=") else ():
        try:
            first, last = on.units_of(told)
        except ParameterError:
            continue
        return -math.inf if sign == "<=" else first, math.inf if sign == ">=" else last + 1
    raise ParameterError(f"“{name}” needs dates such as {on.first} to {on.last}.")
