"""CSV that a spreadsheet does not run: texts that it would take for a formula are escaped with an apostrophe.

Every CSV that leaves the app or the command line is written here. Numbers stay as they are, negative ones too.
Reference: OWASP, "CSV Injection".
"""

from __future__ import annotations

import csv
import inspect
import io
import re
import unicodedata
from collections.abc import Generator, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from dpcore.core.blocks import finish

if TYPE_CHECKING:
    import pandas as pd

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
"""A text that is no more than a number, which a spreadsheet may read as one."""
DIVIDED = re.compile(r"(?<=[;\t\r\n])[^;\t\r\n]+")
"""What follows a semicolon, a tab or a line end: some settings of spreadsheets begin a cell there."""
ROWS_AT_ONCE = 1024
"""Lines that pandas writes at once: no other thread computes meanwhile, such as one that shows a page."""
ROWS_A_STEP = 16 * ROWS_AT_ONCE
"""Lines between two steps of progress."""


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run the text: =, +, - or @ of any width after blanks, or a tab or line end.

    Marks that join a letter, and fillers, are blanks: a reader does not see them, and a program may leave them out.
    """
    if NUMBER.fullmatch(text):
        return False
    blank, fillers = {"Cc", "Cf", "Me", "Mn", "Zl", "Zp", "Zs"}, "\u115f\u1160\u2800\u3164\uffa0"
    first = next((each for each in text if unicodedata.category(each) not in blank and each not in fillers), "")
    return text[:1] in ("\t", "\r", "\n") or unicodedata.normalize("NFKC", first)[:1] in ("=", "+", "-", "@", "\u2212")


def escape_formula(text: str) -> str:
    """Return the text, with an apostrophe in front where a spreadsheet may run it; ``unescape_formula`` undoes it.

    Each part that a spreadsheet may take for a cell of its own is escaped too.

    >>> escape_formula("=1+1"), escape_formula("-5"), escape_formula("'=1"), escape_formula("a;=b")
    ("'=1+1", '-5', "''=1", "a;'=b")
    """

    def mark(part: str) -> str:
        return f"'{part}" if is_formula(part.lstrip("'")) else part

    return DIVIDED.sub(lambda match: mark(match[0]), mark(text))


def unescape_formula(text: str) -> str:
    """Return the text that ``escape_formula`` was given."""

    def unmark(part: str) -> str:
        return part[1:] if part[:1] == "'" and is_formula(part.lstrip("'")) else part

    return unmark(DIVIDED.sub(lambda match: unmark(match[0]), text))


def program_source() -> str:
    """Source of the three functions above for a program that runs without dpcore; it imports re and unicodedata."""
    patterns = f'NUMBER = re.compile(r"{NUMBER.pattern}")\nDIVIDED = re.compile(r"{DIVIDED.pattern}")'
    functions = "\n\n".join(inspect.getsource(each) for each in (is_formula, escape_formula, unescape_formula))
    return f"{patterns}\n\n\n{functions}".rstrip()


def escape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with names and texts escaped; for a page's table too, which offers itself as a CSV."""
    return _each_text(frame, escape_formula)


def unescape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it was before it was escaped."""
    return _each_text(frame, unescape_formula)


def frame_csv(frame: pd.DataFrame) -> str:
    """Return the table as CSV without its index, names and texts escaped."""
    return finish(write_frame(frame))


def write_frame(frame: pd.DataFrame) -> Generator[float, None, str]:
    """Write the table as ``frame_csv`` returns it; yields the share done."""
    escaped, text = escape_frame(frame), ""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC):
        parts = list[str]()
        for start in range(0, max(len(escaped), 1), ROWS_A_STEP):
            yield start / max(len(escaped), 1)
            some = escaped.iloc[start : start + ROWS_A_STEP]
            parts.append(
                some.to_csv(index=False, header=not start, lineterminator="\n", chunksize=ROWS_AT_ONCE, quoting=quoting)
            )
        text = "".join(parts)
        if "\r" not in text:  # a label's, which would be read as the end of a line unless it is quoted
            break
    return text


def rows_csv(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return the rows of texts as CSV, names and texts escaped."""
    out = io.StringIO()
    minimal = csv.writer(out, lineterminator="\n")
    quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in chain([columns], rows):
        escaped = list(map(escape_formula, row))
        # Python 3.11 leaves a carriage return unquoted, which would be read as the end of a line.
        (quoted if any("\r" in each for each in escaped) else minimal).writerow(escaped)
    return out.getvalue()


def _each_text(frame: pd.DataFrame, change: Any) -> pd.DataFrame:
    """Return a copy of the table with a function applied to its names and to each text in it."""
    changed = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if hasattr(column, "cat"):
            labels = [change(label) if isinstance(label, str) else label for label in column.cat.categories]
            changed.isetitem(place, column.cat.rename_categories(labels))
        elif column.dtype.kind == "O":
            changed.isetitem(place, column.map(lambda each: change(each) if isinstance(each, str) else each))
    changed.columns = [change(name) if isinstance(name, str) else name for name in frame.columns]
    return changed
