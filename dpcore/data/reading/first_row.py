"""Decide whether a file's first row holds column names or may be a record: in doubt, the user must say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dpcore.core import is_visible

NUMBER_LIKE = re.compile(r"[-+(]?\s*(?:[$€£¥]\s*)?[-+]?\.?\d[\d\s.,:/+'’%)TZeE-]*")
"""Numbers as people write them, sums of money, shares, dates and times."""
NO_VALUE = frozenset(
    {"na", "n/a", "n.a.", "nan", "null", "none", "nil", "inf", "infinity", "missing", "unknown", "unk", "other"}
    | {"refused", "true", "false", "yes", "no"}
)
"""Words that stand in columns of numbers or of yes and no, where a record has no number."""
LONGEST_NAME = 60


def is_header(first: Sequence[str], below: Iterable[Sequence[str]]) -> bool:
    """Return whether the first row surely holds names: one is above numbers alone, and none looks like a value.

    A value is empty, a number or a date, a word for a missing one, long, there twice, there again further down, or a
    word with digits above words with digits. A row of mere words above mere words is never sure: it may be a person's.

    >>> is_header(["name", "pay"], [["Ada", "10"], ["Bob", "7"]])
    True
    >>> is_header(["Ada", "10"], [["Bob", "7"]]), is_header(["Ada", "London"], [["Bob", "Paris"]])
    (False, False)
    """
    names = [cell.strip() for cell in first]
    if any(map(is_value, names)) or len({name.lower() for name in names}) < len(names):
        return False
    numbers, words, coded = set[int](), set[int](), set[int]()
    for row in below:
        for place, (name, cell) in enumerate(zip(names, map(str.strip, row), strict=False)):
            if cell.lower() == name.lower():
                return False
            if NUMBER_LIKE.fullmatch(cell):
                numbers.add(place)
            elif cell and not _is_no_value(cell):
                words.add(place)
                if _has_digit(cell):
                    coded.add(place)
    if any(_has_digit(names[place]) for place in coded):
        return False
    return bool(numbers - words)


def is_value(name: str) -> bool:
    """Return whether a text is surely no name of a column: a number, empty, an address, or too long."""
    return (
        not any(map(str.isalpha, name))
        or not is_visible(name)
        or NUMBER_LIKE.fullmatch(name) is not None
        or _is_no_value(name)
        or "@" in name
        or len(name) > LONGEST_NAME
    )


def _is_no_value(text: str) -> bool:
    return text.lower().lstrip("+-") in NO_VALUE or not any(map(str.isalnum, text))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
