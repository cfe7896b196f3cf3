"""A reader's own file, already read, for the state of a session."""

from __future__ import annotations

import numpy as np

from dpcore.data.columns import Number
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Source
from tests.kit.sources import own


def uploaded(*, private: bool, digest: str = "d1") -> Source:
    """Five hundred incomes from 0 to 99."""
    draw = np.random.Generator(np.random.SFC64(4)).integers(0, 100, 500)
    table = read_table("\n".join(["income", *map(str, draw), ""]).encode(), name="incomes.csv")
    domain = Number(low=0, high=100, bits=5, missing=True)
    return own(table, "income", on=domain, private=private, digest=digest)
