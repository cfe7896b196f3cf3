"""Conversion of pandas DataFrames to Tables, by the same path as a file, and of rows to DataFrames.

Columns of text read as in a CSV file, all others as in a Parquet file.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import DataError
from dpcore.data.columns import Labels, Number, is_labels
from dpcore.data.dates import is_ages, is_dates, written
from dpcore.data.product import Product
from dpcore.data.reading.conversion import convert
from dpcore.data.reading.format import Format
from dpcore.data.reading.intake import LIMITS, Limits
from dpcore.data.reading.scratch import private_folder
from dpcore.data.reading.tables import Table, read_table

if TYPE_CHECKING:
    import pandas as pd


def read_frame(frame: pd.DataFrame, *, limits: Limits = LIMITS) -> Table:
    """Return the frame as a Table; its index is left out.

    Args:
        frame: columns of numbers, dates, truth values, categories or text. Its ``attrs["format"]``, where there is one,
            holds the settings of a ``Format`` by name; without it nothing is guessed: numbers have a decimal point.
        limits: what it may cost, as for a file.

    Raises:
        DataError: one sentence; never a record's value.

    >>> import pandas as pd
    >>> read_frame(pd.DataFrame({"pay": [1200, None], "job": ["nurse", "cook"]}))
    Table('frame.parquet', row_count=2, columns=2)
    """
    names = [str(name) for name in frame.columns]
    if not names or len(set(names)) != len(names):
        raise DataError("frame: it must have columns with unique names.")
    contents = b""
    try:
        contents = _parquet(frame, names)
    except Exception:  # of pandas, Arrow or a value's own class: their messages quote records
        contents = b""
    if not contents:
        raise DataError("frame: a column contains values that are not numbers, dates or text.")
    settings = Format(**{"decimal": ".", **frame.attrs.get("format", {})})
    return read_table(contents, name="frame.parquet", limits=limits, settings=settings)


def csv_of(path: Path | str, *, sheet: int = 1) -> io.BytesIO:
    """Return a workbook or a file of SPSS or Stata (also with .gz behind) as the CSV that ``read_table`` makes of it.

    Args:
        path: the file.
        sheet: which sheet of a workbook, from 1.

    Raises:
        DataError: it cannot be read.
    """
    source = Path(path)
    is_packed = source.suffix.lower() == ".gz"
    with (gzip.open if is_packed else open)(source, "rb") as file:
        content = file.read(LIMITS.unpacked_bytes + 1)
    if len(content) > LIMITS.unpacked_bytes:
        raise DataError(f"{source.name}: it has more than {LIMITS.unpacked_bytes:,} bytes, and no more are read.")
    source = source.with_suffix("") if is_packed else source
    with ExitStack() as undo:
        copy = private_folder(undo) / f"original{source.suffix.lower()}"
        copy.write_bytes(content)
        return io.BytesIO(convert(copy, limits=LIMITS, sheet=sheet).path.read_bytes())


def frame_of(domain: Product, rows: NDArray[Any], *, seed: int) -> pd.DataFrame:
    """Return the rows of cells (n, d) as a table with the attributes' names, kinds and labels.

    Numbers are drawn evenly within their range, whole ones where all its ends are whole; so are dates, which are
    written in their unit. A cell for anything else is missing.

    >>> from dpcore.data.columns import Labels, Number
    >>> from dpcore.data.product import Product
    >>> domain = Product(names=("job", "pay"), columns=(Labels(labels=("nurse", "cook")),
    ...                                                 Number(bits=1, missing=True)))
    >>> frame_of(domain, np.array([[1, 0], [2, 2]]), seed=1)["job"].tolist()
    ['cook', nan]
    """
    import pandas as pd

    generator = np.random.Generator(np.random.SFC64(seed))
    columns = zip(domain.names, domain.columns, rows.T, strict=True)
    return pd.DataFrame({name: _column(kind, cells.astype(np.intp), generator) for name, kind, cells in columns})


def _column(kind: Number | Labels, cells: NDArray[np.intp], generator: np.random.Generator) -> Any:
    """Return one column of ``frame_of``."""
    import pandas as pd

    missing = cells >= kind.ordered
    if is_labels(kind):
        return pd.Categorical.from_codes(np.where(missing, -1, cells), list(kind.cell_names))
    edges, place = kind.edges, np.where(missing, 0, cells)
    low, high = edges[place], edges[place + 1]
    numbers = np.minimum(low + generator.random(len(cells)) * (high - low), np.nextafter(high, low))
    if is_dates(kind):
        units = range(int(edges[0]), int(edges[-1]))
        names = np.array([*(written(unit, kind.step) for unit in units), None], dtype=object)
        text = pd.Series(names[np.where(missing, len(units), np.floor(numbers) - edges[0]).astype(np.intp)])
        return pd.to_datetime(text, format="ISO8601") if kind.step == "day" else text
    if is_ages(kind):
        births = kind.born(np.floor(numbers + 0.5).astype(np.int64), generator.random(len(cells)))
        return pd.to_datetime(pd.Series(births).mask(missing), format="ISO8601")
    shift = 0.5 if kind.whole else 0.0
    if (edges + shift == np.floor(edges + shift)).all():
        return pd.Series(np.floor(numbers + shift).astype(np.int64)).astype("Int64").mask(missing)
    return np.where(missing, np.nan, numbers)


def _parquet(frame: pd.DataFrame, names: Sequence[str]) -> bytes:
    """Return the frame as a Parquet file; objects and categories as text."""
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
    """Return a value as a Parquet file of it reads: whole numbers without a point, missing ones as None."""
    import pandas as pd

    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
