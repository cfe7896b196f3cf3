"""Long preparations may be stopped within: nothing of them is kept, and the next one is as if there had been none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpcore.core import cancellable
from dpcore.mechanisms.ranges.hierarchy import tree
from dpcore.mechanisms.ranges.root import worst_square
from dpcore.mechanisms.ranges.strategy import strategy
from dpcore.mechanisms.ranges.tree_windows import worst_queries
from dpcore.mechanisms.ranges.windows import worst_query

ASKED = {"prefixes": False, "known": True, "steps": 1024}


def of_hierarchy() -> object:
    return worst_query(tree(640, branches=8), spare=0, prefixes=False, known=True)


def of_root() -> object:
    return worst_square(cells=640, spare=0, tree=False, **ASKED)


def of_windows() -> object:
    return strategy(640, **ASKED).windows.tolist()


def of_tree_windows() -> object:
    return worst_queries(64, spare=0, **ASKED)


@pytest.mark.parametrize(
    ("work", "kept"),
    [
        (of_hierarchy, [worst_query]),
        (of_root, [worst_square]),
        (of_windows, [strategy]),
        pytest.param(of_tree_windows, [worst_queries, strategy, worst_query], marks=pytest.mark.slow),
    ],
)
def test_it_ends_where_it_is_stopped_and_the_next_is_whole(work: Callable[[], object], kept: list[Any]) -> None:
    expected = work()
    for cache in kept:
        cache.cache_clear()
    calls: list[int] = []

    def third_time() -> None:
        calls.append(len(calls))
        if len(calls) == 3:
            raise KeyboardInterrupt

    with cancellable(third_time, every=0), pytest.raises(KeyboardInterrupt):
        work()
    assert len(calls) == 3 and not any(cache.cache_info().currsize for cache in kept[:1])
    assert work() == expected
