"""Group statistics and their intervals: all measurements, and a list of the goals that hold and that do not."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.groups import coverage, engines, further, means, planned, seconds, widths


def _list(goals: Iterable[tuple[str, bool]]) -> None:
    """Print each goal, after whether it holds."""
    print("goals:")
    for goal, holds in goals:
        print(f"  {'holds' if holds else 'DOES NOT HOLD'}: {goal}")


def errors() -> None:
    """Print errors beside those of others, and times."""
    _list([*means.main(), *further.main(), *planned.main(), *seconds.main(), *engines.main()])


def intervals() -> None:
    """Print coverage and widths of intervals."""
    _list([*coverage.main(), *widths.main()])
