"""A reader's own table as a source, in few words."""

from __future__ import annotations

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
