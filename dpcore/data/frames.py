"""A pandas DataFrame becomes a Table by the same path as a file, so that both give the same records.

Columns of text read as in a CSV file, all others as in a Parquet file.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpcore.core import DataError
from dpcore.data.reading.intake import LIMITS, Limits
from dpcore.data.reading.tables import Table, read_table

if TYPE_CHECKING:
    import pandas as pd


def read_frame(frame: pd.DataFrame, *, limits: Limits = LIMITS) -> Table:
    """The frame as a Table; its index is left out.

    Args:
        frame: columns of numbers, dates, truth values, categories or text.
        limits: what it may cost, as for a file.

    Raises:
        DataError: one sentence; never a record's value.

    >>> import pandas as pd
    >>> read_frame(pd.DataFrame({"pay": [1200, None], "job": ["nurse", "cook"]}))
    Table('frame.parquet', row_count=2, columns=2)
    """
    names = [str(name) for name in frame.columns]
    if not names or len(set(names)) != len(names):
        raise DataError("frame: it must have columns, each with a name of its own.")
    contents = b""
    try:
        contents = _parquet(frame, names)
    except Exception:  # of pandas, Arrow or a value's own class: their messages quote records
        contents = b""
    if not contents:
        raise DataError("frame: a column holds what is neither numbers, dates nor text.")
    return read_table(contents, name="frame.parquet", limits=limits)


def _parquet(frame: pd.DataFrame, names: Sequence[str]) -> bytes:
    """The frame as a Parquet file; objects and categories as text."""
    import pandas as pd

    columns = {}
    for place, name in enumerate(names):
        column = frame.iloc[:, place].reset_index(drop=True)
        if column.dtype == object or isinstance(column.dtype, pd.CategoricalDtype):
            column = pd.Series([_text(value) for value in column.astype(object)], dtype="str")
        columns[name] = column
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer, index=False)
    return buffer.getvalue()


def _text(value: Any) -> str | None:
    """A value as a Parquet file of it reads: whole numbers without a point, missing ones as None."""
    import pandas as pd

    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
