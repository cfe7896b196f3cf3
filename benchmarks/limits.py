"""Work that must not take another order of time: each piece in seconds of the processor, beside its limit.

A limit is ten times or more what the piece takes: it catches another algorithm, not a slow or a busy machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from dpcore import Categories, Cells, Dataset, Grid, Line, Preview, Problem, Provenance, ProvenanceKind, Secure
from dpcore.limits.attacks import curator, halves, subset_sum, vc
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.histograms.projection import project_counts
from dpcore.mechanisms.histograms.sparse import grid_example, loss_figure
from dpcore.mechanisms.subsamples.aggregate import CommonestCategory
from dpcore.queries.counting import counted, pack
from dpcore.queries.ranges import Rectangles

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="limits")
Work = Callable[[], object]


def attacks() -> dict[str, tuple[Work, float]]:
    """Half of 10,000 points reconstructed from one release, and 500 people from 2,000 answers, by either fit."""
    cells = Categories(labels=tuple(map(str, range(10_000))))
    half = np.flatnonzero(halves.random_half(Preview(1), points=10_000)[0])
    problem = Problem(domain=cells, queries=Cells(domain=cells), n=len(half))
    mechanism = IdentityHistogram(epsilon=8.0)
    release = mechanism.run(mechanism.prepare(Dataset(cells, half, MADE), problem), Preview(2))
    sampler = Preview(3)
    bits = sampler.integers(2, columns=500, trials=1)[0] == 1
    masks = subset_sum.random_groups(sampler, people=500, groups=2_000)
    answers = curator.BoundedNoise(bits=bits, error=8, sampler=sampler)(masks)
    return {
        "half of 10,000 points": (lambda: vc.reconstruct(release), 0.1),
        "500 people, least squares": (lambda: subset_sum.least_squares(masks, answers), 5.0),
        "500 people, linear program": (lambda: list(subset_sum.linear_program(masks, answers[0])), 60.0),
    }


def subsamples() -> dict[str, tuple[Work, float]]:
    """262,144 subsamples of 100 rows, as the paper has them."""
    domain = Categories(labels=tuple(f"label {label}" for label in range(8)), missing=True)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=6400)
    rows = np.repeat(np.arange(9), [4800, 800, 200, 200, 100, 100, 100, 50, 50])
    mechanism = CommonestCategory(epsilon=1.0, rows=100, accounting="paper")
    state = mechanism.prepare(Dataset(domain, rows, MADE), problem)
    return {
        "262,144 subsamples, one release": (lambda: mechanism.run(state, Secure(), 1), 10.0),
        "262,144 subsamples, 1,000 previews": (lambda: mechanism.run(state, Preview(1), 1000), 1.0),
    }


def counting() -> dict[str, tuple[Work, float]]:
    """Projections, sets of attributes, worst rectangles, and a figure."""
    random = np.random.Generator(np.random.SFC64(3))
    noisy = random.laplace(1.25, 20, (1000, 400))
    whole, total = np.rint(noisy).astype(np.int64), int(np.maximum(noisy, 0).sum(axis=1).mean())
    packed = pack(random.integers(0, 4, (1_000_000, 64), dtype=np.uint8) == 0)
    rectangles = Rectangles(domain=Grid(first=Line(bits=5), second=Line(bits=5)))
    differences = random.integers(-99, 99, (1000, 1024)).astype(np.float64)
    figure = {"epsilon": 1.0, "gamma": 0.1}
    return {
        "1,000 trials of 400 whole counts projected": (lambda: project_counts(whole, total=total), 0.2),
        "1,000 trials of 400 counts projected": (lambda: project_counts(noisy, total=total), 0.2),
        "a million rows, sets of up to 3 of 64 attributes": (lambda: counted(packed, size=3), 10.0),
        "worst rectangles of 1,000 releases": (lambda: rectangles.max_error(differences), 0.5),
        "a figure of 8,000 cells": (
            lambda: loss_figure(grid_example(8000), condition="sharper", sampler=Preview(1), **figure), 3.0,
        ),
    }  # fmt: skip


def main() -> None:
    """Print the least of three runs of each; end with an error if one is above its limit."""
    over = []
    for name, (work, limit) in {**attacks(), **subsamples(), **counting()}.items():
        taken = []
        for _ in range(3):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
        print(f"{name}: {min(taken):.3g} s (limit {limit:g} s)", flush=True)
        over += [name] if min(taken) > limit else []
    if over:
        sys.exit(f"Above their limits: {', '.join(over)}.")


if __name__ == "__main__":
    main()
