"""A query class as text of the user: one line for each query, one number for each point.

No error message repeats any of the text.
"""

from __future__ import annotations

import re

import numpy as np

from dpcore.core import DataError, Floats

MAX_QUESTIONS, MAX_POINTS = 512, 32
"""A larger class would be searched in part only, and could not be drawn."""
MAX_BYTES = 200_000
MAX_LETTERS = 24
"""Of a number; seventeen digits tell any two apart."""
NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")


def read_class(
    content: str | bytes,
    *,
    max_questions: int = MAX_QUESTIONS,
    max_points: int = MAX_POINTS,
    max_bytes: int = MAX_BYTES,
) -> Floats:
    """Return the matrix (queries, points) that a text holds; commas, semicolons, tabs or blanks separate numbers.

    Raises:
        DataError: no text, no numbers, rows of different lengths, a weight outside [0, 1], or too many of them.
    """
    if len(content) > max_bytes:
        raise DataError(f"The text has more than {max_bytes // 1000:,} thousand characters, which is too long.")
    if isinstance(content, bytes):
        try:
            content = content.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            raise DataError("This is not a text file with numbers in it.") from problem
    rows = [re.findall(r"[^\s,;]+", line) for line in content.splitlines()]
    rows = [row for row in rows if row]
    if not rows:
        raise DataError("Write at least one line of numbers: one line per query, one number per point.")
    if len(rows) > max_questions or len(rows[0]) > max_points:
        raise DataError(
            f"At most {max_questions:,} queries on {max_points:,} points are possible; these are "
            f"{len(rows):,} on {len(rows[0]):,}."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DataError(f"Query {number} has {len(row):,} numbers, the first one has {len(rows[0])}.")
        for place, cell in enumerate(row, start=1):
            if len(cell) > MAX_LETTERS or not NUMBER.fullmatch(cell) or float(cell) > 1:
                raise DataError(f"Query {number}, point {place}: this is not a decimal number between 0 and 1.")
    return np.array(rows, dtype=np.float64)
