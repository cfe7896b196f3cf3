"""Array types, and the two errors that dpcore raises."""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
SUM_TOLERANCE = 1e-9
"""Share of a total by which sums may differ from one computer to another: far more than they do."""

MAX_MESSAGE = 500
"""Maximal characters of an error message: a longer one may hold a value planted in a file."""


class ParameterError(ValueError):
    """A parameter is out of range; the message names the parameter, the value and the range.

    The value may come from a stranger's file: the message is one short line whatever it quotes.
    """

    def __init__(self, message: str) -> None:
        if len(message) > MAX_MESSAGE:  # the value stands near the end, and the range before it
            message = f"{message[: MAX_MESSAGE - 100]}…{message[-99:]}"
        super().__init__(printable(message))


def printable(text: str) -> str:
    r"""Return the text on one line, with a sign in place of each character that is not printed.

    >>> printable("a\nb\u202ec") == "a\ufffdb\ufffdc"
    True
    """
    return text if text.isprintable() else "".join(each if each.isprintable() else "\ufffd" for each in text)


BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159")
"""Fillers and blanks that Unicode calls letters or symbols, and that show nothing."""


def is_visible(text: str) -> bool:
    r"""Return whether a text shows anything: a letter, digit, sign or symbol that is not blank.

    >>> is_visible("ages"), is_visible(" \u3164\u200b"), is_visible("")
    (True, False, False)
    """
    return any(unicodedata.category(each)[0] in "LNPS" and each not in BLANK_LETTERS for each in text)


def read_number(text: str) -> float:
    """Return the number that a user wrote; unlike Python's ``float``, "1_0" is none.

    Raises:
        ValueError: the text is no number.

    >>> read_number(" 1e-6 ")
    1e-06
    """
    if "_" in text:  # a slip for 1.0 would be read as 10
        raise ValueError("A number has no underscore.")
    return float(text)


def read_whole_number(text: str) -> int:
    """Return the whole number that a user wrote; unlike Python's ``int``, "1_0" is none.

    Raises:
        ValueError: the text is no whole number.
    """
    if "_" in text:
        raise ValueError("A number has no underscore.")
    return int(text)


class DataError(ValueError):
    """A table does not fit; the message names column, row number and what was expected, never a record's value."""
