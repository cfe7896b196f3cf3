"""Marginals: counting against the machine's limits and a loop; polynomial answers beside direct ones."""

from __future__ import annotations

import math
import resource
import time

import numpy as np

from benchmarks.timing import interleaved, ratio
from dpcore import Dataset, Preview, Problem, Provenance, ProvenanceKind
from dpcore.data.correlated import correlated_domain, correlated_rows
from dpcore.experiments.measure import finish
from dpcore.mechanisms.marginals.plans import MarginalsPlan
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import counted, pack

ROWS, ATTRIBUTES = 1_000_000, 64
SETS = sum(math.comb(ATTRIBUTES, size) for size in (1, 2, 3))
LOOPED = 40
"""Sets that the loop counts, in each round."""
WORDS = 1 << 10


def counting() -> None:
    """All sets of up to 3 of 64 attributes over a million rows."""
    rows = correlated_rows(n=ROWS, attributes=ATTRIBUTES, seed=1)
    packed = pack(rows)
    words = packed.words[0, :WORDS].copy()
    other, both, ones = packed.words[1, :WORDS].copy(), np.empty_like(words), np.empty(WORDS, dtype=np.uint8)
    times = 20_000
    random = np.random.Generator(np.random.SFC64(2))
    looped = [np.sort(random.permutation(ATTRIBUTES)[:3]) for _ in range(LOOPED)]
    columns = [np.ascontiguousarray(rows[:, attribute]) for attribute in range(ATTRIBUTES)]

    def limit() -> None:
        for _ in range(times):
            np.bitwise_and(words, other, out=both)
            np.bitwise_count(both, out=ones)

    def loop() -> None:
        for first, second, third in looped:
            np.count_nonzero(columns[first] & columns[second] & columns[third])

    taken = interleaved(
        {
            "count": lambda: counted(packed, size=3),
            "limit": limit,
            "loop": loop,
            "pack": lambda: pack(rows),
            "memory": lambda: np.bitwise_count(packed.words).sum(dtype=np.int64),
        },
        repeats=5,
    )
    work = SETS * packed.words.shape[1]
    rate = work * 8 / taken["count"].median / 1e9
    share = ratio(taken["limit"], taken["count"], work_slow=times * WORDS, work_fast=work)
    print(
        f"all {SETS:,} sets of up to 3 of {ATTRIBUTES} attributes, n = {ROWS:,}: {taken['count'].text('s')} (goal 5 s)"
    )
    print(f"  packing the rows: {taken['pack'].text()}; peak of the process {peak_gigabytes():.2f} GB (goal 2 GB)")
    print(f"  {rate:.1f} GB/s of set words; a word takes {1 / share:.2f} of one thread's AND and count alone")
    memory = packed.words.nbytes / taken["memory"].median / 1e9
    print(f"  one pass over the packed rows from memory: {memory:.1f} GB/s")
    slower = ratio(taken["loop"], taken["count"], work_slow=LOOPED, work_fast=SETS)
    print(f"  a NumPy loop over boolean columns takes {slower:.0f} times as long a set")


def peak_gigabytes() -> float:
    """Largest resident size so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def answering() -> None:
    """10,000 random 8-way disjunctions of 64 attributes at epsilon = 1, polynomial and direct."""
    rows = correlated_rows(n=ROWS, attributes=ATTRIBUTES, seed=1)
    domain = correlated_domain(ATTRIBUTES)
    dataset = Dataset(domain, rows, Provenance(kind=ProvenanceKind.GENERATED, title="correlated"))
    queries = AtLeast(domain=domain, width=8)
    problem = Problem(domain=domain, queries=queries, n=ROWS)
    indices = queries.batch(10_000)
    start = time.perf_counter()
    truth = finish(queries.truth(pack(rows), indices))
    print(
        f"true answers of {len(indices):,} queries: {time.perf_counter() - start:.1f} s; quartiles "
        + ", ".join(f"{value:.3f}" for value in np.quantile(truth, (0.25, 0.5, 0.75)))
    )
    sets, _ = queries.sets(indices)
    state = PolynomialMarginals(method="noise-aware").prepare(dataset, problem)
    for noise in ("laplace", "gaussian"):
        mechanism = PolynomialMarginals(epsilon=1.0, noise=noise, method="noise-aware")
        release = mechanism.run(state, Preview(3), 20)
        error = np.abs(release.answers(sets, clip=True) - truth)
        start = time.perf_counter()
        for place in range(1_000):
            release.part(0, 1).answers(sets[place : place + 1])
        each = (time.perf_counter() - start) / 1_000
        direct = PolynomialMarginals(epsilon=1.0, noise=noise, method="direct").plan(problem)
        print(
            f"{noise}: {release.plan.words}: bias at most {release.plan.gamma:.3f}, deviation "
            f"{release.plan.deviation:.4f}; one answer in {each * 1e6:.0f} µs"
        )
        print(
            f"  95% of |error| at most {np.quantile(error, 0.95):.4f}, mean {error.mean():.4f}, worst {error.max():.4f}"
        )
        low, high = release.bounds(sets)
        middle = np.abs(np.clip((low + high) / 2, 0, 1) - truth)
        print(
            f"  between its bounds: 95% of |error| at most {np.quantile(middle, 0.95):.4f}, mean "
            f"{middle.mean():.4f}, worst {middle.max():.4f}; half "
            f"their distance {((high - low) / 2).mean():.4f} on average"
        )
        guess = np.quantile(np.abs(truth - 0.5), 0.95)
        print(f"  direct: 95% of |error| at most {quantile(direct, noise):.3g}; answering 1/2 always: {guess:.3f}")
        listed = len(indices) if noise == "laplace" else math.sqrt(len(indices))
        known = (
            direct.noise[0].scale
            * listed
            / (direct.noise[0].moved if noise == "laplace" else math.sqrt(direct.noise[0].moved))
        )
        print(
            f"  were these {len(indices):,} queries known in advance and the only ones: {tail(known, noise) / ROWS:.2g}"
        )


def tail(scale: float, noise: str) -> float:
    """What 95% of the noise stays within."""
    return scale * (math.log(20) if noise == "laplace" else 1.96)


def quantile(plan: MarginalsPlan, noise: str) -> float:
    """What 95% of direct release's errors stay within, before clipping, as a share of rows."""
    return tail(plan.noise[0].scale, noise) / ROWS


def main() -> None:
    """Print the figures."""
    counting()
    answering()


if __name__ == "__main__":
    main()
