"""How much input may name, and memory checks: a link, a plan, a request or a declaration may name any size.

All limits of the package on what comes from outside stand here, so that they can be read in one place; how far one
method reaches stands with the method.
"""

from __future__ import annotations

from dpcore.core.basics import ParameterError

MAX_BYTES = 1 << 30
"""Bytes that one step of the work may take, with what it copies on the way: a gibibyte."""
MAX_ROWS = 10**12
"""The largest n: times the points and units that mechanisms multiply it with, it stays far within 64 bits."""
MAX_PRICED_ROWS = 1_000_000
"""Rows of a person that a guarantee is converted for: a sum runs over them."""
MAX_DOCUMENT_CHARACTERS = 1 << 24
"""Characters of a plan, a request, a certificate or another document that is read."""
MAX_DOCUMENT_DEPTH = 64
"""Lists and mappings inside each other, of such a document."""
MAX_DOCUMENT_VALUES = 1_000_000
"""Lists, mappings and commas of such a document: each takes up to 100 bytes of memory after parsing."""
MAX_NOTEBOOK_NUMBERS = 10_000
"""Released numbers beyond which a notebook makes no table."""
MAX_BITS = 16
"""Bits of a number's grid: its cells are at most 2^16."""
MAX_ATTRIBUTES = 64
"""Columns of a table, and yes/no attributes of a row."""
MAX_COLUMN_CELLS = 1 << 16
"""Cells of one column: codes fit 16 bits."""
MAX_DIMENSIONS = 1024
"""Numbers of a row that is a unit vector."""
MAX_LIST_VARIABLES = 12
"""Variables of a decision list."""
MAX_LIST_RULES = 6
"""Rules of a decision list."""
MAX_LABEL_CHARACTERS = 1000
"""Characters of a label that may be declared."""
MAX_RANGE_CHARACTERS = 60
"""Characters of a range of dates that are read."""
MAX_PERSON_ROWS = 1000
"""Rows of one person; with more, epsilon means nothing for the person."""
MAX_DICTIONARY_BYTES = 4 << 20
"""Bytes of a data dictionary."""
MAX_YAML_CHARACTERS = 1 << 18
"""Characters of a YAML text: PyYAML's parser in Python takes seconds for more."""
MAX_NAME_CHARACTERS = 600
"""Characters of a column's name."""
MAX_SKIPPED_LINES = 1_000
"""Lines above the table in a file."""
MAX_SHEETS = 1_000
"""Sheets of a workbook."""
MAX_MISSING_CODES = 50
"""Codes of a file that stand for a missing value."""
MAX_CODE_CHARACTERS = 60
"""Characters of such a code."""
MAX_GENERATED_ROWS = 100_000_000
"""Rows that are generated."""
MAX_GENERATED_CELLS = 2**32
"""Cells that generated rows lie in."""
MAX_CORRELATED_ROWS = 2_000_000
"""Rows of generated yes/no attributes."""
MAX_MOCK_ROWS = 5_000_000
"""Rows of mock data."""
MAX_BOX_COLUMNS = 3
"""Columns whose ranges are asked for together."""
MAX_BOX_MARKS = 16
"""Ends of ranges along one of them."""
MAX_GROUP_COLUMNS = 3
"""Columns that form the groups of a statistic."""
MAX_CLASS_RULES = 1 << 17
"""Rules of a class; more would take minutes to count."""
MAX_LITERALS = 4
"""Attributes of one rule of a class."""
MAX_CLASS_ATTRIBUTES = 5
"""Attributes of a class given as a matrix, besides the label: its columns are all rows there may be."""
MAX_WEIGHTS = 1 << 20
"""Queries times cells that may be asked."""
MAX_GAUSSIAN_EPSILON = 1000.0
"""The largest epsilon that Gaussian noise is worked out for; no such noise hides anything."""
MAX_SIGMA = 1 << 16
"""The largest sigma that is looked for; its law has a million terms."""
MAX_ANSWER_EPSILON = 100.0
"""Epsilon of randomized answers: its chances are whole multiples of 2^-128."""
MAX_ROWS_DRAWN = 1 << 30
"""Rows a release may draw into its subsamples: about two minutes."""
MAX_PATHS = 1 << 22
"""Ways through a mechanism's draws that are enumerated."""
MAX_COUNT = 1 << 61
"""A count that noise is added to, with its noise within 64 bits."""
MAX_SENSITIVITY = 1 << 53
"""A sensitivity that noise is drawn for."""
MAX_SCALE = 2.0**54
"""A scale of noise."""


def check_memory(numbers: float, *, what: str, smaller: str, each: int = 8) -> None:
    """Raise ParameterError where so many numbers are more than MAX_BYTES.

    Args:
        numbers: how many there are.
        what: is made of them, as the beginning of a sentence.
        smaller: which setting to change, as the end of a sentence.
        each: bytes of one, with its copies.

    >>> check_memory(1e9, what="A law of Gaussian noise", smaller="take a larger epsilon")
    Traceback (most recent call last):
    ...
    dpcore.core.basics.ParameterError: A law of Gaussian noise would take 7,629 MiB of memory: take a larger epsilon.
    """
    if numbers * each > MAX_BYTES:
        mebibytes = f"{numbers * each / (1 << 20):,.0f} MiB"
        raise ParameterError(f"{what} would take {mebibytes} of memory: {smaller}.")
