"""A reader's own table as a source, and files and documents that tests change, in few words."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from dpcore.data.columns import Column
from dpcore.data.product import Product
from dpcore.data.reading.tables import Table
from dpcore.data.readings import Columns
from dpcore.data.sources import Source, Uploaded


def own(
    table: Table, *columns: str, on: Column | Product, private: bool, digest: str = "d", bounds_from_data: bool = False
) -> Source:
    """Columns of a table, as if it had been uploaded and declared."""
    origin = Uploaded(table=table, private=private, digest=digest)
    return Source(origin=origin, reading=Columns(names=columns, on=on), bounds_from_data=bounds_from_data)


def csv_of(rows: Iterable[Sequence[object]]) -> bytes:
    """Lines as a released file writes them."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def inside(document: Any, path: Iterable[str | int]) -> Any:
    """What stands in a nested document at the end of a path."""
    for step in path:
        document = document[step]
    return document
