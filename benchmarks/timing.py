"""Interleaved timing: A, B, A, B, … so that a drifting machine slows both alike; medians with their range."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds of repeated runs."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.seconds)

    def text(self, unit: str = "ms") -> str:
        """Median, minimum and maximum."""
        factor = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}[unit]
        low, high = min(self.seconds) * factor, max(self.seconds) * factor
        return f"{self.median * factor:.3g} {unit} ({low:.3g} to {high:.3g})"


def interleaved(runs: dict[str, Callable[[], object]], *, repeats: int) -> dict[str, Timing]:
    """Time each run once per round, for so many rounds after one warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for repeat in range(repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if repeat:
                seconds[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(taken)) for name, taken in seconds.items()}


def ratio(slow: Timing, fast: Timing, *, work_slow: float = 1, work_fast: float = 1) -> float:
    """How many times faster ``fast`` does one unit of work: median over rounds of the paired ratio."""
    pairs = zip(slow.seconds, fast.seconds, strict=True)
    return statistics.median((a / work_slow) / (b / work_fast) for a, b in pairs)
