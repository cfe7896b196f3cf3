"""Ranges and prefixes: errors of windows and root, the time to find them, to release, and to solve for a target.

Errors are roots of the mean variance over all queries at ε = 1, in rows, times what continuous Laplace noise has; on
more than 1,024 cells over a thousand queries drawn at random. Beside them, on few cells, the best of several searches
over all entries of a matrix with a row for every 16 cells (McKenna, Miklau, Hay and Machanavajjhala 2018).
"""

from __future__ import annotations

import math
import time
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.timing import interleaved, ratio
from dpcore import Dataset, Intervals, Line, Neighbours, Preview, Problem, Provenance, ProvenanceKind, Thresholds
from dpcore.core import Floats
from dpcore.experiments.solve import promised_epsilon
from dpcore.mechanisms import entry
from dpcore.mechanisms.ranges.root import Triangle, root
from dpcore.mechanisms.ranges.strategy import mean_square, mean_variance, strategy
from dpcore.mechanisms.ranges.windows import Estimate, Windows
from dpcore.randomness import NoisyCounts

SIZES = (64, 256, 1024, 4096, 16_384, 65_536)
MOST_EXACT = 1024
QUERIES = 1000
STARTS = 3
STEPS = 4096


def queries(cells: int, *, prefixes: bool) -> Floats:
    """All prefixes or ranges, or some at random, as rows over the cells and the reserved one."""
    if cells <= MOST_EXACT and prefixes:
        first, last = np.zeros(cells, dtype=np.int64), np.arange(cells)
    else:
        count = min(QUERIES, cells * (cells + 1) // 2)
        first, last = np.sort(np.random.default_rng(1).integers(0, cells, (2, count)), axis=0)
    first = first * (not prefixes)
    place = np.arange(cells + 1)
    inside: Floats = ((place >= first[:, None]) & (place <= last[:, None])).astype(np.float64)
    return inside


def deviation(solver: Estimate, cells: int, *, prefixes: bool, known: bool) -> float:
    """Root of the mean variance, in rows."""
    rows = queries(cells, prefixes=prefixes)
    mean = np.mean([(solver.shares(part) ** 2).sum(axis=1).mean() for part in np.array_split(rows, 10)])
    return math.sqrt(2 * mean) * (2 if known else 1)


def searched(cells: int, *, prefixes: bool, known: bool) -> float:
    """The least error that STARTS searches from random matrices find."""
    shape = (cells // 16, cells)

    def objective(entries: Floats) -> tuple[float, Floats]:
        value, gradient = mean_variance(entries.reshape(shape), prefixes=prefixes, known=known)
        return value, gradient.ravel()

    found = []
    for start in range(STARTS):
        entries = np.random.default_rng(start).random(shape).ravel()
        bounds = [(0, None)] * entries.size
        best = minimize(objective, entries, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 1000})
        found.append(math.sqrt(2 * best.fun) * (2 if known else 1))
    return min(found)


def main() -> None:
    """Print errors and times."""
    strategy(16, prefixes=True, known=True, steps=STEPS)  # imports what it needs
    print("cells; prefixes or ranges; n public: error in rows at ε = 1 (best of searches over all weights); seconds")
    for cells in SIZES:
        for prefixes in (True, False):
            for known in (False, True):
                started = time.perf_counter()
                plan = strategy(cells, prefixes=prefixes, known=known, steps=STEPS)
                taken = time.perf_counter() - started
                error = deviation(Estimate(plan, spare=1, known=known), cells, prefixes=prefixes, known=known)
                other = f" ({searched(cells, prefixes=prefixes, known=known):.2f})" if cells <= 256 else ""
                what = f"{cells:6,} {'prefixes' if prefixes else 'ranges':8} {'public' if known else 'private':7}"
                print(f"{what}: {error:.2f}{other}; {taken:.2f} s", flush=True)
    for kind in (Thresholds, Intervals):
        releases(kind)
    for key in ("identity", "gaussian", "windows", "root"):
        solved(key)
    for cells, prefixes, known in product((64, 256, 1024), (True, False), (False, True)):
        equalised(cells, prefixes=prefixes, known=known)


def solved(key: str) -> None:
    """Print how long the least epsilon for a target takes by its promise, once what sizes alone decide is known."""
    domain = Line(bits=10)
    queries = Intervals(domain=domain)
    problem = Problem(domain=domain, queries=queries, n=50_000, neighbours=Neighbours.REPLACE_ONE)
    targets = iter(np.linspace(0.02, 0.03, 6).tolist())  # each another: noise that was found before is remembered
    told: dict[str, Any] = {"beta": 0.05, "values": {}}
    promised_epsilon(entry(key), problem, target=0.015, **told)
    taken = interleaved(
        {"solved": lambda: promised_epsilon(entry(key), problem, target=next(targets), **told)}, repeats=5
    )
    print(f"least ε for a promised target on 1,024 cells, {key}: {taken['solved'].text()}", flush=True)


def equalised(cells: int, *, prefixes: bool, known: bool) -> None:
    """Print the root's error for noise as wide as a neighbour's move, beside the bound where a row comes or goes."""
    started = time.perf_counter()
    found = Triangle(cells, spare=1, prefixes=prefixes, known=known, steps=1024)
    taken = time.perf_counter() - started
    move = found.shift(Neighbours.REPLACE_ONE if known else Neighbours.ADD_REMOVE_ONE) / found.steps
    shares = found.shares(np.eye(cells, cells + 1))
    error = move * math.sqrt(np.trace(mean_square(shares @ shares.T, prefixes=prefixes)))
    count = cells if prefixes else cells * (cells + 1) / 2
    least = np.trace(root(cells, prefixes=prefixes)) / math.sqrt(cells * count)
    what = f"{cells:6,} {'prefixes' if prefixes else 'ranges':8} {'public' if known else 'private':7}"
    print(f"root, {what}: {error:.3f} moves{'' if known else f', {error / least:.3f} times the bound'}; {taken:.2f} s")


def releases(kind: type[Thresholds | Intervals]) -> None:
    """Print how long a thousand releases take, beside their noise."""
    domain = Line(bits=10)
    rows = np.random.default_rng(1).integers(0, 1024, 10_000)
    data = Dataset(domain, rows, Provenance(kind=ProvenanceKind.GENERATED, title="benchmark"))
    problem = Problem(domain=domain, queries=kind(domain=domain), n=len(rows), neighbours=Neighbours.REPLACE_ONE)
    mechanism, preview = Windows(), Preview(1)
    state = mechanism.prepare(data, problem)
    values = np.zeros((1, mechanism.run(state, preview, 1).measured.shape[1]), dtype=np.int64)
    taken = interleaved(
        {
            "releases": lambda: mechanism.run(state, preview, 1000).histogram(),
            "noise": lambda: preview.draw(NoisyCounts(values, epsilon=1.0, sensitivity=2 * STEPS), 1000),
        },
        repeats=7,
    )
    print(f"1,000 releases on 1,024 cells, {kind.key}: {taken['releases'].text()}")
    print(f"  their noise alone: {taken['noise'].text()}; ratio {ratio(*taken.values()):.2f} (goal 5)")


if __name__ == "__main__":
    main()
