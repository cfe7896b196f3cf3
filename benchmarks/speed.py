"""How long things take: releases beside peers, the net mechanism, and work with a limit.

Noise; and trials per second of each mechanism against a loop over a peer's building blocks, in the same run.

The peers have no interval release; their equivalent is the same algorithm with their noise: one vector call for a
histogram (for each level of the recursive variant), and one scalar call for each comparison of a binary search.

The net mechanism: first draw, a batch, growth with cells and points, a move of epsilon, and a release.

Times are of two cores under whatever else runs; a first draw includes preparing the data's state and all counting.

Work that must not take another order of time: each piece in seconds of the processor, beside its limit.

A limit is ten times or more what the piece takes: it catches another algorithm, not a slow or a busy machine.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.timing import interleaved, ratio
from dpcore import (
    Cells,
    Dataset,
    Intervals,
    Labels,
    Number,
    Preview,
    Problem,
    Product,
    Provenance,
    ProvenanceKind,
    Secure,
    Thresholds,
    entry,
)
from dpcore.core import Mechanism, Queries, State
from dpcore.data.generators import generate
from dpcore.limits.attacks import curator, halves, subset_sum, vc
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.histograms.projection import project_counts
from dpcore.mechanisms.intervals.printed import recommended_tie_bits
from dpcore.mechanisms.net.choice import NetMechanism
from dpcore.mechanisms.subsamples.aggregate import CommonestCategory
from dpcore.queries.counting import counted, pack
from dpcore.queries.ranges import Rectangles
from dpcore.randomness import GaussianCounts, NoisyCounts, PublicCoins
from dplab.sparse import grid_example, simulate

CELLS, TRIALS, BITS, ROWS, ALPHA = 1024, 1000, 10, 10_000, 0.1


def noise() -> None:
    """Print the preview's noise against raw exponential draws, and one secure release."""
    counts = np.zeros((1, CELLS), dtype=np.int64)
    preview, secure = Preview(1), Secure()
    raw = np.random.Generator(np.random.SFC64(1))
    buffer = np.empty(CELLS * TRIALS)

    def two_exponentials() -> None:
        raw.standard_exponential(out=buffer)
        raw.standard_exponential(out=buffer)

    taken = interleaved(
        {
            "preview": lambda: preview.draw(NoisyCounts(counts, epsilon=1.0, sensitivity=2), TRIALS),
            "two exponentials": two_exponentials,
            "gaussian": lambda: preview.draw(GaussianCounts(counts, sigma=7.0, squared_shift=2), TRIALS),
            "secure": lambda: secure.draw(NoisyCounts(counts, epsilon=1.0, sensitivity=2), 1),
        },
        repeats=9,
    )
    share = 1 / ratio(taken["two exponentials"], taken["preview"])
    print(f"preview, {CELLS * TRIALS:,} discrete Laplace draws: {taken['preview'].text()}")
    print(f"  two raw exponential draws each: {taken['two exponentials'].text()}; preview/raw = {share:.2f} (goal 1.3)")
    print(f"preview, as many discrete Gaussian draws: {taken['gaussian'].text()}")
    print(f"one secure release of {CELLS:,} cells: {taken['secure'].text()} (goal 50 ms)")


def peers() -> dict[str, tuple[Callable[[np.ndarray, float], object], Callable[[float], object]]]:
    """Each peer's histogram release and its scalar noise, at a scale."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    vector, atom = dp.vector_domain(dp.atom_domain(T=int)), dp.atom_domain(T=int)
    found: dict[str, tuple[Callable[[np.ndarray, float], object], Callable[[float], object]]] = {}
    at_scale: dict[float, tuple[Callable[..., object], Callable[..., object]]] = {}

    def opendp(scale: float) -> tuple[Callable[..., object], Callable[..., object]]:
        if scale not in at_scale:
            at_scale[scale] = (
                dp.m.make_laplace(vector, dp.l1_distance(T=int), scale=scale),
                dp.m.make_laplace(atom, dp.absolute_distance(T=int), scale=scale),
            )
        return at_scale[scale]

    found["OpenDP"] = (
        lambda counts, scale: opendp(scale)[0](counts.tolist()),
        lambda scale: opendp(scale)[1](100),
    )
    try:
        from diffprivlib.mechanisms import Geometric
    except ImportError:
        print("diffprivlib is not installed here: only OpenDP is compared.")
        return found
    made: dict[float, Geometric] = {}

    def geometric(scale: float) -> Geometric:
        if scale not in made:
            made[scale] = Geometric(epsilon=1 / scale, sensitivity=1)
        return made[scale]

    found["diffprivlib"] = (
        lambda counts, scale: [geometric(scale).randomise(int(count)) for count in counts],
        lambda scale: geometric(scale).randomise(100),
    )
    return found


def previews(mechanism: Mechanism, state: State) -> object:
    """TRIALS releases by a new preview, which remembers nothing."""
    return mechanism.run(state, Preview(1), trials=TRIALS)


def again(times: int, work: Callable[..., object], *told: object) -> list[object]:
    """What comes of the same work so many times."""
    return [work(*told) for _ in range(times)]


def trials() -> None:
    """Print noise, trials per second and ratios."""
    noise()
    domain = Number(bits=BITS)
    records = generate("bimodal", n=ROWS, size=2**BITS, seed=1)
    dataset = Dataset(domain, records, Provenance(kind=ProvenanceKind.GENERATED, title="benchmark"))
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=ROWS)
    # Tie-breaking bits count in the depth of every search, the peers' too.
    depth = BITS + recommended_tie_bits(ALPHA)
    levels = math.ceil(math.log2(math.ceil(2 / ALPHA)))
    # (values, comparisons of a peer's loop in one trial, noise scale); a histogram is one call.
    loops = {
        "identity": (None, 2.0),
        "intervals-printed": (depth * math.ceil(8 / ALPHA), depth * math.ceil(8 / ALPHA)),
        "intervals-anchored": (BITS * math.ceil(2 / ALPHA), BITS * math.ceil(2 / ALPHA)),
        # A noisy max per level: noise on every one of 1,025 cuts, in one vector call where the peer has one.
        "intervals-recursive": (None, 4.0 * levels),
    }
    for key, (draws, scale) in loops.items():
        found = entry(key)
        mechanism = found.make(
            **({"alpha": ALPHA} if "alpha" in found.controls() else {}),
            **({"tie_bits": depth - BITS} if "tie_bits" in found.controls() else {}),
        )
        state = mechanism.prepare(dataset, problem)
        runs: dict[str, Callable[[], object]] = {"ours": partial(previews, mechanism, state)}
        for name, (histogram, draw) in peers().items():
            if draws is None:
                repeats = levels if key == "intervals-recursive" else 1
                runs[name] = partial(again, repeats, histogram, dataset.histogram, scale)
            else:
                runs[name] = partial(again, draws, draw, float(scale))
        taken = interleaved(runs, repeats=3)
        print(
            f"{found.title}: {TRIALS / taken['ours'].median:,.0f} trials a second, {TRIALS:,} in {taken['ours'].text()}"
        )
        for name in runs:
            if name != "ours":
                times = ratio(taken[name], taken["ours"], work_fast=TRIALS)
                print(f"  {times:,.0f} times a loop over {name} ({taken[name].text()} a trial)")


ROWS, BATCH = 10_000, 100
CLASSES: dict[str, type[Thresholds | Intervals | Cells]] = {
    "thresholds": Thresholds,
    "intervals": Intervals,
    "cells": Cells,
}


def setting(kind: type[Thresholds | Intervals | Cells], *, bits: int) -> tuple[Dataset, Problem]:
    """Bimodal data and a class of queries."""
    domain = Number(bits=bits)
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


def net() -> None:
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


MADE = Provenance(kind=ProvenanceKind.GENERATED, title="limits")
Work = Callable[[], object]


def attacks() -> dict[str, tuple[Work, float]]:
    """Half of 10,000 points reconstructed from one release, and 500 people from 2,000 answers, by either fit."""
    cells = Labels(labels=tuple(map(str, range(10_000))))
    half = np.flatnonzero(halves.random_half(Preview(1), points=10_000)[0])
    problem = Problem(domain=cells, queries=Cells(domain=cells), n=len(half))
    mechanism = IdentityHistogram(epsilon=8.0)
    release = mechanism.run(mechanism.prepare(Dataset(cells, half, MADE), problem), Preview(2))
    sampler = Preview(3)
    bits = sampler.draw(PublicCoins(2, columns=500), 1)[0] == 1
    masks = subset_sum.random_groups(sampler, people=500, groups=2_000)
    answers = curator.BoundedNoise(bits=bits, error=8, sampler=sampler)(masks)
    return {
        "half of 10,000 points": (lambda: vc.reconstruct(release), 0.1),
        "500 people, least squares": (lambda: subset_sum.least_squares(masks, answers), 5.0),
        "500 people, linear program": (lambda: list(subset_sum.linear_program(masks, answers[0])), 60.0),
    }


def subsamples() -> dict[str, tuple[Work, float]]:
    """262,144 subsamples of 100 rows, as the paper has them."""
    domain = Labels(labels=tuple(f"label {label}" for label in range(8)), missing=True)
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
    rectangles = Rectangles(domain=Product.map(Number(bits=5), Number(bits=5)))
    differences = random.integers(-99, 99, (1000, 1024)).astype(np.float64)
    return {
        "1,000 trials of 400 whole counts projected": (lambda: project_counts(whole, total=total), 0.2),
        "1,000 trials of 400 counts projected": (lambda: project_counts(noisy, total=total), 0.2),
        "a million rows, sets of up to 3 of 64 attributes": (lambda: counted(packed, size=3), 10.0),
        "worst rectangles of 1,000 releases": (lambda: rectangles.max_error(differences), 0.5),
        "a figure of 8,000 rows": (
            lambda: simulate(grid_example(8000), epsilon=1.0, gamma=0.1, condition="sharper", seed=1),
            3.0,
        ),
    }


def limits() -> None:
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
