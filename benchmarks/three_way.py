"""All tables of k attributes of two published data sets: error and seconds, beside what others reach.

    python -m benchmarks.three_way --nltcs nltcs16.parquet --adult adult_coded.parquet [--widths]

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
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import duckdb
import numpy as np

from dpcore import Dataset, Neighbours, Preview, Problem, Provenance, ProvenanceKind, Secure
from dpcore.core import Floats, Guarantee, Integers
from dpcore.data.attributes import Attributes, Marginals
from dpcore.mechanisms.tables.counting import count_tables, finished
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables, FourierTables
from dpcore.mechanisms.tables.plan import ResidualPlan, kinds_of, parts_of
from dpcore.mechanisms.tables.release import ContrastsRelease, Tables, TablesRelease, asked
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.shelves import total_variation
from dpcore.mechanisms.tables.tree import synthetic_rows, widest_tree
from dpcore.randomness import GaussianCounts, NoisyCounts, Sampler

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
    domain = Attributes.coded(dict(zip(table, sizes, strict=True)))
    records = np.stack([np.asarray(column).astype(np.int64) for column in table.values()], axis=1)
    return Dataset(domain, records, Provenance(kind=ProvenanceKind.BUNDLED, title=title))


def problem_of(dataset: Dataset, *, ways: int, neighbours: Neighbours) -> Problem:
    """All tables of so many attributes."""
    assert isinstance(dataset.domain, Attributes)
    queries = Marginals(domain=dataset.domain, ways=ways)
    return Problem(domain=dataset.domain, queries=queries, n=dataset.n, neighbours=neighbours)


def truth_of(dataset: Dataset, *, ways: int) -> Tables:
    """The true tables."""
    assert isinstance(dataset.domain, Attributes)
    found = finished(count_tables(dataset.records, dataset.domain.sizes, ways=ways))
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
    assert isinstance(dataset.domain, Attributes)
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
    made = {c: t.astype(np.float64) for c, t in finished(count_tables(rows, dataset.domain.sizes, ways=3)).items()}
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
    kinds = kinds_of((2,) * attributes, asked(problem).ways)
    sigma = np.sqrt(2.0**attributes * 2 * share) / (1 - share)
    everything = np.ones(len(kinds.keys), dtype=np.bool_)
    parts = parts_of(kinds, drawn=everything, sigmas=np.full(len(kinds.keys), sigma))
    sets = (chosen for part in parts for chosen in part.sets)
    values = [int(spectrum[tuple(int(a in chosen) for a in range(attributes))]) for chosen in sets]
    return ContrastsRelease(
        problem=problem,
        guarantee=Guarantee(epsilon=epsilon, neighbours=problem.neighbours),
        sampler=Preview.name,
        refused=np.zeros(1, dtype=np.bool_),
        values=np.array([values], dtype=np.int64),
        plan=ResidualPlan(kinds=kinds, neighbours=problem.neighbours, parts=parts, delta=0.0),
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


def main(arguments: list[str] | None = None) -> None:
    """Print errors and times beside others'."""
    parser = argparse.ArgumentParser(description="All tables of k attributes of published data sets.")
    parser.add_argument("--nltcs", help="file of the 16 yes/no items")
    parser.add_argument("--adult", help="file of the coded census table")
    parser.add_argument("--widths", action="store_true", help="also tables of 3 to 8 attributes (minutes)")
    chosen = parser.parse_args(arguments)
    if not (chosen.nltcs or chosen.adult):
        parser.error("Name at least one file; the module's text says where they are published.")
    Secure().draw(GaussianCounts(np.zeros((1, 1), dtype=np.int64), sigma=1.0, shift=(1,)), 1)  # loads OpenDP
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
    main()
