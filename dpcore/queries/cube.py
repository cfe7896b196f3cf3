"""Yes/no attributes as one column: each row of the cube {0, 1}^d is a cell, and each query a weighted sum of cells.

Methods that hold a number for every row there may be work on this column. It has the same neighbours as the rows.
"""

from __future__ import annotations

import numpy as np

from dpcore.core import Booleans, Integers, ParameterError
from dpcore.core.sizes import MAX_WEIGHTS
from dpcore.data.columns import Number
from dpcore.queries.at_least import AtLeast
from dpcore.queries.linear import LinearQueries


def fits_cells(queries: AtLeast) -> bool:
    """Return whether a weight for every query and every row there may be can be held."""
    return queries.count << queries.domain.attributes <= MAX_WEIGHTS


def on_cells(queries: AtLeast) -> LinearQueries:
    """Return the same queries about the cells of the cube, in the same order.

    Raises:
        ParameterError: there are too many cells or queries.
    """
    attributes = queries.domain.attributes
    if not fits_cells(queries):
        raise ParameterError(
            f"{queries.count:,} queries on 2^{attributes} cells cannot be held: at most {MAX_WEIGHTS:,} weights can. "
            "Take fewer attributes."
        )
    rows = np.arange(1 << attributes)[:, None] >> np.arange(attributes) & 1 == 1
    sets, negated = queries.sets(np.arange(queries.count))
    weights = np.empty((queries.count, len(rows)))
    for place, (members, flipped) in enumerate(zip(sets, negated, strict=True)):
        weights[place] = (rows[:, members] ^ flipped).sum(axis=1) >= queries.least
    return LinearQueries.of(weights, domain=Number(bits=attributes), name=queries.title)


def cells_of(records: Booleans) -> Integers:
    """Return the cell of each row (n, d): attribute j is bit j."""
    return records @ (1 << np.arange(records.shape[1], dtype=np.int64))
