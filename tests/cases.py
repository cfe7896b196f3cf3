"""Which cases of a test `run.py test` tries: the others, of the same code, are in `run.py test full`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from dpcore.core import Neighbours


def full_but(values: Iterable[Any], *kept: Any) -> list[Any]:
    """All values of a parameter, or tuples of those of several, of which `run.py test` has those that are kept.

    Raises:
        ValueError: a value to be kept is none of them.
    """
    every = list(values)
    if not kept or any(each not in every for each in kept):
        raise ValueError("Something must be kept, and be one of the values.")
    return [
        pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=[] if each in kept else [pytest.mark.full])
        for each in every
    ]


one_relation = pytest.mark.parametrize("neighbours", full_but(Neighbours, Neighbours.REPLACE_ONE), ids=str)
"""Both relations, of which `run.py test` has one: for what no guarantee hangs on."""
