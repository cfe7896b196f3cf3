"""500 questions on real hourly earnings, each chosen after the last answer: free, paid, worst error, promise, time."""

from __future__ import annotations

import time

import numpy as np

from dpcore import Intervals, Preview, Problem, Thresholds
from dpcore.data.bundled import bundled
from dpcore.mechanisms import entry
from dpcore.mechanisms.online.conversation import Transcript
from dpcore.mechanisms.online.interactive import Interactive

BETA = 0.05
CONVERSATIONS = 20
CASES = [(Thresholds, key, alpha) for alpha in (0.05, 0.1) for key in ("weights", "median")]


def main() -> None:
    """One line a mechanism and aim: means over conversations, the worst of them, and the time of one."""
    dataset = bundled("earnings", "earnings").dataset()
    print(f"n = {dataset.n:,}, {dataset.domain.size:,} cells, epsilon = 1, 40 updates, 500 questions, beta = {BETA}")
    for kind, key, alpha in [*CASES, (Intervals, "weights", 0.1)]:
        problem = Problem(domain=dataset.domain, queries=kind(domain=dataset.domain), n=dataset.n)
        mechanism = entry(key).make(epsilon=1.0, alpha=alpha, updates=40, questions=500)
        assert isinstance(mechanism, Interactive)
        state = mechanism.prepare(dataset, problem)
        start = time.perf_counter()
        said = [mechanism.run(state, Preview(seed)) for seed in range(CONVERSATIONS)]
        taken = (time.perf_counter() - start) / CONVERSATIONS
        print(f"  {kind.key:10} {key:8} alpha {alpha:4g}: {_line(said, dataset.histogram)}, "
              f"promised {mechanism.accuracy(problem, BETA).value:.4f}; {taken:.2f} s a conversation")  # fmt: skip


def _line(said: list[Transcript], histogram: np.ndarray) -> str:
    free, paid, declined = (
        np.mean([getattr(each, name).sum() for each in said]) for name in ("free", "paid", "declined")
    )
    worst = max(float(np.nanmax(np.abs(each.errors(histogram)))) for each in said)
    return f"{free:5.1f} free, {paid:4.1f} paid, {declined:4.1f} refused, worst error {worst:.4f}"
