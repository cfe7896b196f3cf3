"""Marginals: counting against the machine's limits and a loop; polynomial answers beside direct ones.

All tables of k attributes of two published data sets: error and seconds, beside what others reach.

    python -m benchmarks.marginals --nltcs nltcs16.parquet --adult adult_coded.parquet [--widths]

The files are not part of this project. Both hold whole numbers from 0, one column an attribute:

- NLTCS: 21,574 rows of 16 yes/no items on activities of daily living, from the National Long-Term Care Survey (StatLib;
  Erosheva, Fienberg and Joutard 2007, Annals of Applied Statistics 1), as used in density-estimation benchmarks.
- Adult: 48,842 rows (Becker and Kohavi 1996, doi 10.24432/C5XW20) as coded in the data folder of McKenna's private-pgm;
  columns workclass, education-num, marital-status, occupation, relationship, race, sex and income>50K are used.

Mean total variation: half the absolute difference of released and true table, each divided by its sum, averaged over
all tables. Every release is drawn by the secure sampler, and seconds count everything from rows to tables.
``--widths`` adds NLTCS at k = 3 .. 8 and epsilon = 0.1 .. 10, with Gaussian noise at delta = 1e-9 and with Laplace
noise at delta = 0.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import duckdb
import numpy as np

from benchmarks.timing import interleaved, ratio
from dpcore import Dataset, Neighbours, Preview, Problem, Provenance, ProvenanceKind, Secure
from dpcore.core import Floats, Guarantee, Integers
from dpcore.data.predicates import correlated_domain, correlated_rows
from dpcore.data.product import Product, is_table
from dpcore.mechanisms.marginals.plans import MarginalsPlan
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.tables.counting import count_tables
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables, FourierTables
from dpcore.mechanisms.tables.plan import ResidualPlan, build_parts, clique_types_of
from dpcore.mechanisms.tables.release import ContrastsRelease, Tables, TablesRelease, marginals_of
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.shape_groups import total_variation
from dpcore.mechanisms.tables.tree import synthetic_rows, widest_tree
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import counted, pack
from dpcore.queries.marginals import Marginals
from dpcore.randomness import GaussianCounts, NoisyCounts, Sampler
from dplab.measure import finish

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


ADULT = ("workclass", "education-num", "marital-status", "occupation", "relationship", "race", "sex", "income>50K")
ADULT_SIZES = (9, 16, 7, 15, 6, 5, 2, 2)
"""Published with the file: sizes are never read off the data."""
DELTA = 1e-9
REPEATS = 7
PEERS = {
    "NLTCS": (
        "direct Gaussian 0.0198, direct Laplace 0.095",
        "Fourier with Gaussian noise 0.0083 in 0.04 s",
        "MST 0.143 in 98 s; AIM 0.0162 in 560 s",
        "closed form with continuous noise and simplex projection 0.0053 in 0.17 s",
    ),
    "Adult": (
        "direct Gaussian 0.097, direct Laplace 0.145",
        "MST 0.080 to 0.089 in 35 to 57 s; AIM 0.097 in 179 s; MWEM+PGM 0.036 in 321 s",
        "closed form with continuous noise and simplex projection 0.052 in 0.05 s",
    ),
}
"""Others, measured once on two idle cores at the same epsilon and delta, rows added or removed."""


def read(path: str, columns: tuple[str, ...], sizes: tuple[int, ...], title: str) -> Dataset:
    """A file of coded attributes."""
    chosen = ", ".join(f'"{name}"' for name in columns) or "*"
    with duckdb.connect() as connection:
        table = connection.execute(f"SELECT {chosen} FROM read_parquet(?)", [path]).fetchnumpy()
    domain = Product.coded(dict(zip(table, sizes, strict=True)))
    records = np.stack([np.asarray(column).astype(np.int64) for column in table.values()], axis=1)
    return Dataset(domain, records, Provenance(kind=ProvenanceKind.BUNDLED, title=title))


def problem_of(dataset: Dataset, *, ways: int, neighbours: Neighbours) -> Problem:
    """All tables of so many attributes."""
    assert is_table(dataset.domain)
    queries = Marginals(domain=dataset.domain, ways=ways)
    return Problem(domain=dataset.domain, queries=queries, n=dataset.n, neighbours=neighbours)


def truth_of(dataset: Dataset, *, ways: int) -> Tables:
    """The true tables."""
    assert is_table(dataset.domain)
    found = finish(count_tables(dataset.records, dataset.domain.sizes, ways=ways))
    return {chosen: table.astype(np.float64) for chosen, table in found.items()}


def distances(tables: Tables, truth: Tables) -> Floats:
    """Total variation of every table."""
    return np.array([total_variation(tables[chosen][None], table[None])[0] for chosen, table in truth.items()])


def released(mechanism: Any, dataset: Dataset, problem: Problem, *, fit: str) -> tuple[Tables, float, float]:
    """Tables of one release, seconds from rows to tables, and this process's own seconds among them."""
    start, own = time.perf_counter(), time.process_time()
    release: TablesRelease = mechanism.run(mechanism.prepare(dataset, problem), Secure())
    tables = release.tables(fit=fit)
    return tables, time.perf_counter() - start, time.process_time() - own


def compare(title: str, dataset: Dataset) -> None:
    """All tables of three attributes at epsilon = 1, under both relations."""
    assert is_table(dataset.domain)
    truth = truth_of(dataset, ways=3)
    print(f"{title}: {dataset.n:,} rows, {len(truth)} tables of 3 of {len(dataset.domain.names)} attributes")
    methods: list[tuple[str, Any, str]] = [
        ("direct Gaussian, simplex", DirectTables(delta=DELTA), "simplex"),
        ("direct Laplace, simplex", DirectTables(noise="laplace"), "simplex"),
    ]
    if set(dataset.domain.sizes) == {2}:
        methods += [
            ("Fourier Gaussian, simplex", FourierTables(delta=DELTA), "simplex"),
            ("Fourier Gaussian, consistent", FourierTables(delta=DELTA), "consistent"),
        ]
    planner = ResidualPlanner(delta=DELTA, lean=1.0)
    methods += [
        ("residual planner, unbiased", planner, "unbiased"),
        ("residual planner, simplex", planner, "simplex"),
        ("residual planner, consistent", planner, "consistent"),
        ("same, leaning to small tables (default)", ResidualPlanner(delta=DELTA), "consistent"),
    ]
    for neighbours in (Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE):
        problem = problem_of(dataset, ways=3, neighbours=neighbours)
        print(
            f"  {neighbours.words}, epsilon = 1, delta = {DELTA:g} (Laplace: 0); mean total variation of {REPEATS} "
            "releases, seconds (this process's own)"
        )
        for name, mechanism, fit in methods:
            released(mechanism, dataset, problem, fit=fit)  # plans are public and kept: the first release makes them
            runs = [released(mechanism, dataset, problem, fit=fit) for _ in range(REPEATS)]
            errors = [float(distances(tables, truth).mean()) for tables, _, _ in runs]
            print(
                f"    {name:42}{np.mean(errors):.4f} ({min(errors):.4f} to {max(errors):.4f})   "
                f"{median(r[1] for r in runs):.3f} s ({median(r[2] for r in runs):.3f})",
                flush=True,
            )
    tables = runs[0][0]
    names = len(dataset.domain.names)
    rows = synthetic_rows(tables, widest_tree(tables, attributes=names, ways=3), rows=dataset.n, seed=1)
    made = {c: t.astype(np.float64) for c, t in finish(count_tables(rows, dataset.domain.sizes, ways=3)).items()}
    print(f"    synthetic rows of a tree of these tables      {distances(made, truth).mean():.4f}")
    print("  others, rows added or removed:", *PEERS[title], sep="\n    ", flush=True)


def noisy_histogram(dataset: Dataset, problem: Problem, *, epsilon: float, sampler: Sampler) -> Integers:
    """Laplace noise on every one of the 2^d cells, (2, ..., 2)."""
    attributes = dataset.records.shape[1]
    codes = dataset.records.astype(np.int64) @ (1 << np.arange(attributes)[::-1])
    counts = np.bincount(codes, minlength=1 << attributes)[None, :]
    sensitivity = len(problem.neighbours.histogram_shift)
    noisy = sampler.draw(NoisyCounts(counts, epsilon=epsilon, sensitivity=sensitivity), 1)
    return noisy.reshape((2,) * attributes)


def full_histogram(dataset: Dataset, problem: Problem, *, epsilon: float) -> TablesRelease:
    """Tables read off the noisy histogram: for d this small the best there is without a delta.

    Its Fourier coefficients all have the same noise, the sum of 2^d draws.
    """
    attributes, sensitivity = dataset.records.shape[1], len(problem.neighbours.histogram_shift)
    spectrum = noisy_histogram(dataset, problem, epsilon=epsilon, sampler=Preview(1))
    for axis in range(attributes):
        first, second = np.split(spectrum, 2, axis=axis)
        spectrum = np.concatenate([first + second, first - second], axis=axis)
    share = np.exp(-epsilon / sensitivity)
    cliques = clique_types_of((2,) * attributes, marginals_of(problem).ways)
    sigma = np.sqrt(2.0**attributes * 2 * share) / (1 - share)
    everything = np.ones(len(cliques.keys), dtype=np.bool_)
    parts = build_parts(cliques, drawn=everything, sigmas=np.full(len(cliques.keys), sigma))
    sets = (chosen for part in parts for chosen in part.sets)
    values = [int(spectrum[tuple(int(a in chosen) for a in range(attributes))]) for chosen in sets]
    return ContrastsRelease(
        problem=problem,
        guarantee=Guarantee(epsilon=epsilon, neighbours=problem.neighbours),
        sampler=Preview.name,
        refused=np.zeros(1, dtype=np.bool_),
        values=np.array([values], dtype=np.int64),
        plan=ResidualPlan(cliques=cliques, neighbours=problem.neighbours, parts=parts, delta=0.0),
    )


def widths(dataset: Dataset) -> None:
    """Tables of 3 to 8 attributes: mean and largest total variation over tables, seconds of everything."""
    neighbours = Neighbours.ADD_REMOVE_ONE
    print("NLTCS, rows added or removed: mean / largest total variation over all tables, seconds; previews")
    for ways in range(3, 9):
        truth, problem = truth_of(dataset, ways=ways), problem_of(dataset, ways=ways, neighbours=neighbours)
        for epsilon in (0.1, 1.0, 10.0):
            told: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA}
            methods: list[tuple[str, Any, str]] = [
                ("direct", DirectTables(**told), "simplex"),
                ("Fourier", FourierTables(**told), "simplex"),
                ("planner", ResidualPlanner(**told), "consistent"),
                ("pure direct", DirectTables(**told, noise="laplace"), "simplex"),
                ("pure Fourier", FourierTables(**told, noise="laplace"), "simplex"),
            ]
            parts = [f"k = {ways}, epsilon = {epsilon:4}"]
            for name, mechanism, how in methods:
                start = time.perf_counter()
                release = mechanism.run(mechanism.prepare(dataset, problem), Preview(7))
                tables = release.tables(fit=how)
                seconds = time.perf_counter() - start
                parts.append(_told(name, distances(tables, truth), seconds))
            start = time.perf_counter()
            tables = full_histogram(dataset, problem, epsilon=epsilon).tables(fit="simplex")
            parts.append(_told("pure full histogram", distances(tables, truth), time.perf_counter() - start))
            print("; ".join(parts), flush=True)


def _told(name: str, found: Floats, seconds: float) -> str:
    return f"{name} {found.mean():.4f} / {found.max():.4f}, {seconds:.2g} s"


def deviations(dataset: Dataset) -> None:
    """Predicted standard deviation of a cell against 25,000 trials of a real table."""
    problem = problem_of(dataset, ways=3, neighbours=Neighbours.REPLACE_ONE)
    mechanism = ResidualPlanner(delta=DELTA)
    state, plan = mechanism.prepare(dataset, problem), mechanism.plan(problem)
    cells = np.concatenate(
        [mechanism.run(state, Preview(seed), 2_500).unbiased((0, 7, 15)).reshape(2_500, -1) for seed in range(10)]
    )
    ratio = cells.std(axis=0) / plan.cell_sigma((0, 7, 15))
    print(f"NLTCS, 25,000 trials: observed / predicted deviation of a cell {ratio.min():.4f} to {ratio.max():.4f}")


def three_way(arguments: list[str] | None = None) -> None:
    """Print errors and times beside others'."""
    parser = argparse.ArgumentParser(description="All tables of k attributes of published data sets.")
    parser.add_argument("--nltcs", help="file of the 16 yes/no items")
    parser.add_argument("--adult", help="file of the coded census table")
    parser.add_argument("--widths", action="store_true", help="also tables of 3 to 8 attributes (minutes)")
    chosen = parser.parse_args(arguments)
    if not (chosen.nltcs or chosen.adult):
        parser.error("Name at least one file; the module's text says where they are published.")
    Secure().draw(GaussianCounts(np.zeros((1, 1), dtype=np.int64), sigma=1.0, squared_shift=1), 1)  # loads OpenDP
    steps: list[Callable[[], None]] = []
    if chosen.nltcs:
        nltcs = read(chosen.nltcs, (), (2,) * 16, "NLTCS")
        steps += [lambda: compare("NLTCS", nltcs), lambda: deviations(nltcs)]
        if chosen.widths:
            steps.append(lambda: widths(nltcs))
    if chosen.adult:
        adult = read(chosen.adult, ADULT, ADULT_SIZES, "Adult")
        steps.append(lambda: compare("Adult", adult))
    for step in steps:
        step()


if __name__ == "__main__":
    three_way()
