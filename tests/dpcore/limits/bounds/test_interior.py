"""Act two of the median: log*, the rows of δ = 0, and Littlestone dimensions against a search of all trees."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.limits.bounds import median
from dpcore.limits.bounds.interior import littlestone, log_star, log_star_of_grid, rows_without_delta


def thresholds(points: int) -> np.ndarray:
    """x >= t for t = 1, …, points."""
    return np.arange(1, points + 1)[None, :] >= np.arange(1, points + 1)[:, None]


def test_log_star_takes_logarithms_until_one_is_left() -> None:
    towers = [1.0, 2.0, 4.0, 16.0, 65536.0]
    for place, tower in enumerate(towers):
        assert log_star(tower) == place and log_star(tower + 0.5) == place + 1
    # 2^65536 overflows a double: its bits do not.
    assert log_star_of_grid([1, 2, 4, 5, 16, 17, 10_000, 65536, 65537]).tolist() == [1, 2, 3, 4, 4, 5, 5, 5, 6]


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_below_the_rows_of_delta_0_every_median_is_wrong_half_of_the_time(epsilon: float) -> None:
    for bits in (1.0, 8.0, 200.0):
        rows = int(rows_without_delta(bits, epsilon=epsilon))
        right = [float(median.any_private(bits=bits, n=n, epsilon=epsilon)) for n in (rows - 1, rows) if n >= 1]
        assert right[-1] >= math.log(0.5) - 1e-9 and all(each < math.log(0.5) for each in right[:-1])


def deepest(queries: np.ndarray) -> int:
    """The deepest tree, by trying every tree: a point at each node, and a query for each sequence of answers."""
    best = 0
    for point in range(queries.shape[1]):
        yes, no = queries[queries[:, point]], queries[~queries[:, point]]
        if len(yes) and len(no):
            best = max(best, 1 + min(deepest(yes), deepest(no)))
    return best


def test_the_littlestone_dimension_of_thresholds_is_the_logarithm_of_the_points() -> None:
    for points in range(1, 20):
        assert littlestone(thresholds(points)) == math.floor(math.log2(points))
    every = np.array(list(itertools.product([False, True], repeat=3)))
    assert littlestone(every) == 3 and littlestone(every[:1]) == 0 and littlestone(every[:0]) == -1
    with pytest.raises(ParameterError, match="at most 64 queries"):
        littlestone(thresholds(65))


def test_the_littlestone_dimension_is_that_of_all_trees(seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    for _ in range(20):
        queries = np.unique(generator.random((9, 4)) < 0.5, axis=0)
        assert littlestone(queries) == deepest(queries)
