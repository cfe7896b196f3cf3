"""The net mechanism: first draw, a batch, growth with cells and points, a move of epsilon, and a release.

Times are of two cores under whatever else runs; a first draw includes preparing the data's state and all counting.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.timing import interleaved
from dpcore import Cells, Dataset, Intervals, Line, Preview, Problem, Provenance, ProvenanceKind, Secure, Thresholds
from dpcore.core import Queries
from dpcore.data.generators import generate
from dpcore.mechanisms.net.choice import NetMechanism

ROWS, BATCH = 10_000, 100
CLASSES: dict[str, type[Thresholds | Intervals | Cells]] = {
    "thresholds": Thresholds,
    "intervals": Intervals,
    "cells": Cells,
}


def setting(kind: type[Thresholds | Intervals | Cells], *, bits: int) -> tuple[Dataset, Problem]:
    """Bimodal data and a class of queries."""
    domain = Line(bits=bits)
    dataset = Dataset(
        domain,
        generate("bimodal", n=ROWS, size=2**bits, seed=1),
        Provenance(kind=ProvenanceKind.GENERATED, title="benchmark"),
    )
    queries: Queries = kind(domain=domain)
    return dataset, Problem(domain=domain, queries=queries, n=ROWS)


def report(name: str, kind: type[Thresholds | Intervals | Cells], *, bits: int, points: int, repeats: int = 3) -> None:
    """Print the first draw and a batch after it."""
    dataset, problem = setting(kind, bits=bits)
    mechanism = NetMechanism(points=points, epsilon=1.0)
    warm = mechanism.prepare(dataset, problem)
    taken = interleaved(
        {
            "first": lambda: mechanism.run(mechanism.prepare(dataset, problem), Preview(1)),
            "batch": lambda: mechanism.run(warm, Preview(1), BATCH),
        },
        repeats=repeats,
    )
    print(
        f"{name}, U = {2**bits:,}, m = {points}: first draw {taken['first'].text('s')}, "
        f"then {BATCH} draws {taken['batch'].text('s')}",
        flush=True,
    )


def main() -> None:
    """Print times beside their goals."""
    print(f"n = {ROWS:,}, epsilon = 1; goal at U = 1,024, m = 50: first draw 2 s, a batch 5 s")
    for name, kind in CLASSES.items():
        report(name, kind, bits=10, points=50)
    print("growth with cells")
    for bits in (8, 12, 14):
        report("intervals", Intervals, bits=bits, points=50, repeats=1)
    print("growth with points")
    for points in (10, 20, 100):
        report("intervals", Intervals, bits=10, points=points, repeats=1)

    dataset, problem = setting(Intervals, bits=4)
    state = NetMechanism(points=8).prepare(dataset, problem)
    epsilons = iter(np.geomspace(0.1, 10, 100))
    moved = interleaved(
        {
            "exponential": lambda: NetMechanism(points=8, epsilon=float(next(epsilons))).run(state, Preview(1), 1000),
            "permute-and-flip": lambda: NetMechanism(
                points=8, epsilon=float(next(epsilons)), rule="permute_and_flip"
            ).run(state, Preview(1), 1000),
            "listing": lambda: NetMechanism(points=8).prepare(dataset, problem),
        },
        repeats=9,
    )
    print(f"a move of epsilon, 490,314 candidates, 1,000 draws: {moved['exponential'].text()} (goal 100 ms)")
    print(f"  by permute-and-flip: {moved['permute-and-flip'].text()}; listing and scoring: {moved['listing'].text()}")

    for name, kind in (("thresholds", Thresholds), ("intervals", Intervals)):
        dataset, problem = setting(kind, bits=10)
        state = NetMechanism(points=50).prepare(dataset, problem)
        taken = interleaved({"secure": partial(NetMechanism(points=50).run, state, Secure())}, repeats=1)
        print(f"one release in whole numbers, {name}, U = 1,024, m = 50: {taken['secure'].text('s')}", flush=True)


if __name__ == "__main__":
    main()
