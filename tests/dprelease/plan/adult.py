"""Adult with all its columns, as a user's own table: bounds and labels that are public knowledge."""

from __future__ import annotations

import functools

import pandas as pd

from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from tests import ROOT

FILE = ROOT / "assets" / "data" / "adult_uci.parquet"
NUMBERS = {  # low, high, cells
    "age": (0, 128, 128), "fnlwgt": (0, 2_000_000, 1000), "education_num": (0, 16, 16),
    "capital_gain": (0, 100_000, 1000), "capital_loss": (0, 5_000, 500), "hours_per_week": (0, 100, 100),
}  # fmt: skip


@functools.cache
def adult() -> pd.DataFrame:
    """The bundled file, all columns of it."""
    return pd.read_parquet(FILE)


def labels() -> dict[str, tuple[str, ...]]:
    """Of each category; the file is public, and so are these."""
    return {name: tuple(adult()[name].cat.categories) for name in adult() if name not in NUMBERS}


def declared_adult() -> DeclaredTable:
    """Every column, in the file's order."""
    named = labels()
    columns = []
    for name in adult():
        if name in NUMBERS:
            low, high, bins = NUMBERS[name]
            columns.append(DeclaredColumn(name=name, on=Number(low=low, high=high, bins=bins, missing=True)))
        else:
            columns.append(DeclaredColumn(name=name, on=Labels(labels=named[name])))
    return DeclaredTable(columns=tuple(columns))
