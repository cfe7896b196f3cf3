"""Yes/no attributes as cells: every query counts the same rows, and neighbours stay neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import ParameterError
from dpcore.data.product import Product
from dpcore.queries.at_least import AtLeast
from dpcore.queries.cube import cells_of, fits_cells, on_cells


@pytest.mark.parametrize(("least", "signed"), [(1, False), (2, True), (3, False)])
def test_every_query_counts_the_same_rows(least: int, signed: bool, seed: int) -> None:
    rows = np.random.default_rng(seed).random((50, 5)) < 0.4
    queries = AtLeast(domain=Product.yes_no("abcde"), width=3, least=least, signed=signed)
    line = on_cells(queries)
    histogram = np.bincount(cells_of(rows), minlength=32)
    answers = line.answer(histogram[None], np.arange(line.count))[0]
    sets, negated = queries.sets(np.arange(queries.count))
    counted = [((rows[:, s] ^ f).sum(axis=1) >= least).sum() for s, f in zip(sets, negated, strict=True)]
    assert line.count == queries.count and answers.tolist() == counted
    other = rows.copy()
    other[0] = ~other[0]
    assert np.abs(np.bincount(cells_of(other), minlength=32) - histogram).sum() == 2, "one row, one cell"


def test_what_cannot_be_held_is_refused_before_it_is_made() -> None:
    wide = AtLeast(domain=Product.yes_no([str(j) for j in range(64)]), width=8)
    assert not fits_cells(wide)
    with pytest.raises(ParameterError, match="Take fewer attributes"):
        on_cells(wide)
