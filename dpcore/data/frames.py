"""A pandas DataFrame becomes a Table by the same path as a file, so that both give the same records.

Columns of text read as in a CSV file, all others as in a Parquet file.
"""

from __future__ import annotations

import io
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from dpcore.core import DataError, Dataset, Domain, ParameterError, Provenance, ProvenanceKind
from dpcore.data.attributes import Attributes
from dpcore.data.domains import Grid, Grouped
from dpcore.data.pairs import encode_pairs
from dpcore.data.reading.intake import LIMITS, Limits, clean_name
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.sources import encode, held_by

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


def dataset_from_frame(
    frame: pd.DataFrame, columns: Hashable | Sequence[Hashable], domain: Domain, *, private: bool
) -> Dataset:
    """See ``Dataset.from_frame``."""
    wanted = list(columns) if isinstance(columns, list | tuple) else [columns]
    for name in wanted:
        found = sum(bool(name == each) for each in frame.columns)
        if found != 1:
            raise DataError(f"frame: {found or 'no'} columns are named “{clean_name(str(name))}”; one is needed.")
    table = read_frame(frame[wanted])
    if len(table.columns) != len(wanted):
        raise DataError("frame: a column holds neither numbers nor text.")
    kind = ProvenanceKind.PRIVATE if private else ProvenanceKind.STAND_IN
    provenance = Provenance(kind=kind, title=f"frame: {' × '.join(table.columns)}")
    return encode_columns(table, columns=table.columns, domain=domain, provenance=provenance)


def encode_columns(table: Table, *, columns: Sequence[str], domain: Domain, provenance: Provenance) -> Dataset:
    """The rows of a table's columns on a declared domain.

    Args:
        table: the rows.
        columns: one for a Line or Categories, two for a Grid, group and number for a Grouped domain, and one for each
            attribute of Attributes.
        domain: what a record can be.
        provenance: where the rows come from.

    Raises:
        DataError: there is no such column.
        ParameterError: the domain needs other columns, or is not made of columns alone.
    """
    needed = {Grid: 2, Grouped: 2, Attributes: len(domain.columns) if isinstance(domain, Attributes) else 0}
    if len(columns) != needed.get(type(domain), 1):
        raise ParameterError(f"{type(domain).__name__} is not encoded from {len(columns)} columns.")
    if isinstance(domain, Grid):
        return encode_pairs(table, columns=(columns[0], columns[1]), domain=domain, provenance=provenance)
    if isinstance(domain, Grouped):
        table.reserve(32)
        codes = table.labels(columns[0], domain.labels)
        return held_by(table, Dataset(domain, domain.encode(codes, table.numbers(columns[1])), provenance))
    if isinstance(domain, Attributes):
        table.reserve(16 * len(columns))
        each = [table.labels(name, kind.labels) for name, kind in zip(columns, domain.columns, strict=True)]
        return held_by(table, Dataset(domain, domain.encode(each), provenance))
    return encode(table, column=columns[0], domain=domain, provenance=provenance)
