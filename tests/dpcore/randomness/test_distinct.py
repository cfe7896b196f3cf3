"""Distinct rows against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.randomness.distinct import distinct_rows


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (1, 3), (500, 1), (500, 2), (500, 6), (7, 0)])
def test_rows_as_numpy_finds_them(rows: int, width: int, seed: int) -> None:
    drawn = np.random.Generator(np.random.SFC64(seed)).integers(-1, 2, (rows, width))
    for array in (drawn, np.where(drawn == 1, np.inf, drawn)):
        distinct, which = distinct_rows(array)
        wanted = np.array(sorted(set(map(tuple, array.tolist()))))
        np.testing.assert_array_equal(distinct, wanted)
        np.testing.assert_array_equal(distinct[which], array)
        assert (np.unique(which) == np.arange(len(distinct))).all()
