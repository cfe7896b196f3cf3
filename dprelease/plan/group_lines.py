"""Lines of text that name statistics by group: “mean income by region, sex”, “share smoker = no by age band”.

A line begins with the statistic, names its columns, and after “by” those that form groups; “groups of 300” at the end
declares the rows of the smallest group. Everything here is public.

>>> from dpcore.data.declarations import DeclaredColumn
>>> from dpcore.data.columns import Labels, Number
>>> table = DeclaredTable(columns=(DeclaredColumn(name="income", on=Number(high=100)),
...                                DeclaredColumn(name="region", on=Labels(labels=("N", "S")))))
>>> read_group_line("median of income by region, groups of 300", table)
GroupLine(statistic='quantiles', columns=('income',), by=('region',), min_rows=300, quantiles=(0.5,), label='')
>>> read_group_line("income 20-30", table) is None
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, is_labels
from dpcore.data.declarations import DeclaredTable
from dprelease.plan.groups import (
    MEAN,
    PEOPLE,
    QUANTILES,
    RATIO,
    SHARE,
    SLOPE,
    SPREAD,
    STATISTICS,
    SUM,
    has_shares,
)
from dprelease.sizes import MAX_LINE_CHARACTERS

QUARTILES, DECILES = (0.25, 0.5, 0.75), tuple(place / 10 for place in range(1, 10))
WORDS = {
    "mean and spread": SPREAD,
    "spread": SPREAD,
    "mean": MEAN,
    "average": MEAN,
    "sum": SUM,
    "total": SUM,
    "share": SHARE,
    "people": PEOPLE,
    "count": PEOPLE,
    "ratio": RATIO,
    "slope": SLOPE,
    "median": QUANTILES,
    "quartiles": QUANTILES,
    "deciles": QUANTILES,
}
"""Statistics by the words with which a line begins."""
NAMED_SHARES = {"median": (0.5,), "quartiles": QUARTILES, "deciles": DECILES}
BEGINS = re.compile(rf"({'|'.join(sorted(WORDS, key=len, reverse=True))})\b\s*(?:of\b|with\b)?\s*(.*)", re.I | re.S)
SMALLEST = re.compile(r"[,;]?\s*groups of (?:at least )?([\d,]+)(?: (?:people|rows))?$", re.I)
BETWEEN_NAMES = re.compile(r"\s*(?:,|×|\band\b|/|\bto\b|\bon\b|\bper\b)\s*")
SHOWN = 40
"""Number of characters of a line that an error message quotes."""


@dataclass(frozen=True)
class GroupLine:
    """A statistic by group, as a line names it; the attributes are those of ``PlannedQuestion``."""

    statistic: str
    columns: tuple[str, ...]
    by: tuple[str, ...]
    min_rows: int = 0
    quantiles: tuple[float, ...] = ()
    label: str = ""


def read_group_line(line: str, table: DeclaredTable) -> GroupLine | None:
    """Parse a line; None where it is too long, or does not begin with a statistic or begins with a column's name.

    Raises:
        ParameterError: one sentence on what is unknown; of two labels a share is of the second where none is named.
    """
    begins = BEGINS.match(line.strip()) if len(line) <= MAX_LINE_CHARACTERS else None
    if begins is None or first_name(line.strip(), table):
        return None
    word, rest = begins[1].lower(), begins[2]
    min_rows = 0
    if smallest := SMALLEST.search(rest):
        rest, min_rows = rest[: smallest.start()], int(smallest[1].replace(",", "") or 0)
    statistic = WORDS[word]
    measured, by = _split(rest, table)
    column, label = _share(measured, table) if statistic == SHARE else ("", "")
    columns = (column,) if column else _names(measured, table)
    STATISTICS[statistic].check_columns(columns)
    return GroupLine(statistic, columns, by, min_rows, NAMED_SHARES.get(word, ()), label)


def _split(text: str, table: DeclaredTable) -> tuple[str, tuple[str, ...]]:
    """Return the text before “by”, and the columns after it; a column's name may contain the word, too."""
    problem: ParameterError | None = None
    for found in re.finditer(r"(?:^|\s)by\s+", text, re.I):
        try:
            return text[: found.start()].strip(), _names(text[found.end() :], table)
        except ParameterError as error:
            problem = error
    if problem is not None and first_name(text.strip(), table) != text.strip():
        raise problem
    return text.strip(), ()


def _names(text: str, table: DeclaredTable) -> tuple[str, ...]:
    """Parse names of columns with commas or words between them.

    Raises:
        ParameterError: a column is unknown.
    """
    names, rest = [], text.strip()
    while rest:
        name = first_name(rest, table)
        if not name:
            raise ParameterError(f"no column is called “{rest[:SHOWN]}”.")
        names.append(name)
        rest = rest[len(name) :]
        between = BETWEEN_NAMES.match(rest)
        if rest.strip() and (between is None or not rest[between.end() :].strip()):
            raise ParameterError(f"“{rest.strip()[:SHOWN]}” does not begin with a comma and the name of a column.")
        rest = rest[between.end() :] if between else ""
    return tuple(names)


def first_name(text: str, table: DeclaredTable) -> str:
    """Return the longest column name with which the text begins; empty where it begins with none."""
    names = sorted((column.name for column in table.used), key=len, reverse=True)
    return next((name for name in names if re.match(rf"{re.escape(name)}(?![^\W_])", text)), "")


def _share(text: str, table: DeclaredTable) -> tuple[str, str]:
    """Return the column and the label of “smoker = no”; no label for the second of two, as where none is named.

    Raises:
        ParameterError: the column or the label is unknown, or no label of more than two is named.
    """
    name = first_name(text, table)
    if not name:
        raise ParameterError(f"“{text[:SHOWN]}” does not begin with the name of a column.")
    on, written = table.on(name), re.sub(r"^\s*(?:==?|is\b)?\s*", "", text[len(name) :]).strip()
    if not (is_labels(on) and has_shares(on)):
        raise ParameterError(f"a share needs a column of labels, and “{name}” is another.")
    if not written and len(on.labels) > 2:
        raise ParameterError(f"a share is of one label: name it, as in “share {name} = {on.labels[0]}”.")
    label = _label_of(name, on, written) if written else on.labels[1]
    return name, "" if on.labels[1:] == (label,) else label


def _label_of(name: str, on: Labels, written: str) -> str:
    """Return the label that is written, or the only one that differs from it in capital letters."""
    alike = [label for label in on.labels if label.casefold() == written.casefold()]
    if written not in on.labels and len(alike) != 1:
        raise ParameterError(f"“{name}” has no label “{written[:SHOWN]}”.")
    return written if written in on.labels else alike[0]
