"""Made-up rows of yes/no attributes that go together, as shopping baskets or symptoms do."""

from __future__ import annotations

import numpy as np

from dpcore.core import Booleans, ParameterError
from dpcore.data.cube import MOST_ATTRIBUTES, Cube

GROUPS = 12
MOST_ROWS = 2_000_000
BLOCK = 1 << 16


def correlated_domain(attributes: int) -> Cube:
    """Attributes named a1, a2, ..."""
    return Cube(names=tuple(f"a{place}" for place in range(1, attributes + 1)))


def correlated_rows(*, n: int, attributes: int, seed: int) -> Booleans:
    """Rows (n, d) of a dozen groups, each with its own rates: mostly rare attributes, a few common.

    >>> correlated_rows(n=3, attributes=5, seed=1).shape
    (3, 5)
    """
    if not (1 <= n <= MOST_ROWS and 1 <= attributes <= MOST_ATTRIBUTES):
        raise ParameterError(f"Up to {MOST_ROWS:,} rows of up to {MOST_ATTRIBUTES} attributes can be made.")
    random = np.random.Generator(np.random.SFC64(seed))
    popular = random.uniform(0.05, 1.0, attributes) ** 2
    rates = popular * random.beta(0.4, 1.2, (GROUPS, attributes))
    limits = (rates * 2**16).astype(np.uint16)
    shares = random.dirichlet(np.full(GROUPS, 2.0))
    rows = np.empty((n, attributes), dtype=np.bool_)
    for start in range(0, n, BLOCK):
        here = rows[start : start + BLOCK]
        group = random.choice(GROUPS, len(here), p=shares)
        drawn = random.integers(0, 2**16, here.shape, dtype=np.uint16)
        np.less(drawn, limits[group], out=here)
    return rows
