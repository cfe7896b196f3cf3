"""Every "any of these k" about 16 yes/no attributes of a published data set: each method's error, numbers and seconds.

    python -m benchmarks.workload --nltcs nltcs16.parquet [--ways 3 8] [--releases 3] [--seed 1]

``benchmarks.marginals`` says where the file is published. For k = 3 .. 8 and epsilon = 0.1 .. 10: mean and largest
absolute error, as shares of rows, over all sets of k attributes (median over releases), at delta = 1e-9 with Gaussian
noise and at delta = 0 with Laplace noise; rows added or removed. Answers are clipped to [0, 1] throughout.

- paper's polynomial: Chebyshev's, of the degree up to 6 and the basis with the least predicted error.
- polynomial: the noise-aware one of degree at most 6, and the same release read between its bounds.
- direct: noise on every answer. Fourier: noise on coefficients, unbiased tables. Planner: both kinds of tables.
- histogram: noise on all 2^16 cells, summed up.

Draws are previews, so that all of it takes minutes: a secure draw takes about 25 microseconds a number more. Seconds
(and this process's own) count everything from rows to answers at epsilon = 1; plans are public and kept, and only the
first release makes them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.marginals import DELTA, noisy_histogram, problem_of, read
from dpcore import Dataset, Neighbours, Preview, Problem, Provenance, ProvenanceKind
from dpcore.core import Floats, Integers
from dpcore.data.product import Product
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.tables.direct_and_fourier import FourierTables
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import pack
from dplab.measure import finish

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
TOLD = 1.0
"""The epsilon whose seconds and numbers are printed."""
MAX_DEGREE = 6
NEIGHBOURS = Neighbours.ADD_REMOVE_ONE
MST = {3: "0.0724 / 0.1583", 4: "0.0900 / 0.1735", 5: "0.1007 / 0.1849", 6: "0.1072 / 0.1878", 7: "0.1113 / 0.1847",
       8: "0.1139 / 0.1844"}  # fmt: skip
"""Rows made once by McKenna's MST (mechanisms of the repository mbi, package 2.0.0) at epsilon = 1, delta = 1e-9."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """All disjunctions of k attributes, asked of the rows as a cube and as tables; and their true answers."""

    cube: Dataset
    tables: Dataset
    on_cube: Problem
    on_tables: Problem
    sets: Integers
    truth: Floats


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Of one release, by name (Q,) each, with the noisy numbers it published."""

    found: dict[str, Floats]
    numbers: int


Method = Callable[[Workload, float, float, int], Answers]
"""Workload, epsilon, delta (0: Laplace noise) and seed to answers."""


def workload(tables: Dataset, *, ways: int) -> Workload:
    """The questions of one width."""
    rows = tables.records.astype(np.bool_)
    domain = Product.yes_no([f"a{place}" for place in range(1, rows.shape[1] + 1)])
    queries = AtLeast(domain=domain, width=ways)
    every = queries.batch(queries.count)
    return Workload(
        cube=Dataset(domain, rows, Provenance(kind=ProvenanceKind.BUNDLED, title="cube")),
        tables=tables,
        on_cube=Problem(domain=domain, queries=queries, n=tables.n, neighbours=NEIGHBOURS),
        on_tables=problem_of(tables, ways=ways, neighbours=NEIGHBOURS),
        sets=queries.sets(every)[0],
        truth=finish(queries.truth(pack(rows), every)),
    )


def _polynomial(asked: Workload, mechanism: PolynomialMarginals, seed: int, *, names: tuple[str, ...]) -> Answers:
    """Answers of a polynomial's release, or of direct release; with a second name also between bounds."""
    release = mechanism.run(mechanism.prepare(asked.cube, asked.on_cube), Preview(seed))
    found = {names[0]: release.answers(asked.sets, clip=True)[0]}
    if len(names) > 1:
        low, high = release.bounds(asked.sets)
        found[names[1]] = np.clip((low + high)[0] / 2, 0.0, 1.0)
    return Answers(found=found, numbers=sum(level.shape[1] for level in release.levels))


def _told(epsilon: float, delta: float) -> dict[str, Any]:
    return {"epsilon": epsilon, "delta": delta or DELTA, "noise": "gaussian" if delta else "laplace"}


def paper(asked: Workload, epsilon: float, delta: float, seed: int) -> Answers:
    """Thaler, Ullman and Vadhan's (2012) polynomial; its degree follows from public numbers."""
    width = asked.sets.shape[1]
    choices = [
        PolynomialMarginals(**_told(epsilon, delta), method="chebyshev", degree=degree)
        for degree in range(1, min(MAX_DEGREE, width) + 1)
    ]
    best = min(choices, key=lambda mechanism: mechanism.plan(asked.on_cube).predicted)
    return _polynomial(asked, best, seed, names=("paper's polynomial",))


def polynomial(asked: Workload, epsilon: float, delta: float, seed: int) -> Answers:
    """The noise-aware polynomial."""
    mechanism = PolynomialMarginals(**_told(epsilon, delta), method="noise-aware", degree=MAX_DEGREE)
    return _polynomial(asked, mechanism, seed, names=("polynomial", "same, between bounds"))


def direct(asked: Workload, epsilon: float, delta: float, seed: int) -> Answers:
    """Noise on every answer."""
    return _polynomial(asked, PolynomialMarginals(**_told(epsilon, delta), method="direct"), seed, names=("direct",))


def _tables(asked: Workload, mechanism: Any, seed: int, *, name: str, fit: str) -> Answers:
    """A row has any of the attributes unless it is in the first cell of their table."""
    release = mechanism.run(mechanism.prepare(asked.tables, asked.on_tables), Preview(seed))
    tables = release.tables(fit=fit)
    none = np.array([tables[tuple(chosen)].flat[0] for chosen in asked.sets.tolist()])
    found = np.clip(1 - none / asked.tables.n, 0.0, 1.0)
    return Answers(found={name: found}, numbers=release.values.shape[1])


def fourier(asked: Workload, epsilon: float, delta: float, seed: int) -> Answers:
    """Noise on Fourier coefficients; fitted tables keep to a total that Laplace noise may drown, so they are not."""
    return _tables(asked, FourierTables(**_told(epsilon, delta)), seed, name="Fourier", fit="unbiased")


def planner(asked: Workload, epsilon: float, delta: float, seed: int) -> Answers:
    """The residual planner, best before anything is fitted; Gaussian noise only."""
    mechanism = ResidualPlanner(epsilon=epsilon, delta=delta, lean=1.0)
    return _tables(asked, mechanism, seed, name="planner, unbiased", fit="unbiased")


def fitted(asked: Workload, epsilon: float, delta: float, seed: int) -> Answers:
    """The residual planner as it comes: tables that agree without negative counts."""
    mechanism = ResidualPlanner(epsilon=epsilon, delta=delta)
    return _tables(asked, mechanism, seed, name="planner, consistent", fit="consistent")


def histogram(asked: Workload, epsilon: float, delta: float, seed: int) -> Answers:
    """Laplace noise on every cell of the cube; rows with none of a set are a sum of cells."""
    assert not delta
    none = noisy_histogram(asked.tables, asked.on_tables, epsilon=epsilon, sampler=Preview(seed))
    numbers, attributes = none.size, none.ndim
    for axis in range(attributes):
        # Place 1 along an axis comes to mean "is in the set": then only cells without the attribute count.
        without, having = np.split(none, 2, axis=axis)
        none = np.concatenate([without + having, without], axis=axis)
    chosen = (asked.sets[:, :, None] == np.arange(attributes)).any(axis=1).astype(np.intp)
    found = np.clip(1 - none[tuple(chosen.T)] / asked.tables.n, 0.0, 1.0)
    return Answers(found={"histogram": found}, numbers=numbers)


KINDS: tuple[tuple[float, tuple[Method, ...]], ...] = (
    (DELTA, (paper, polynomial, direct, fourier, planner, fitted)),
    (0.0, (paper, polynomial, direct, fourier, histogram)),
)


def compare(asked: Workload, methods: tuple[Method, ...], *, delta: float, releases: int, seed: int) -> None:
    """One row a method: mean / largest error at each epsilon, numbers published, seconds."""
    for method in methods:
        errors: dict[str, list[str]] = {}
        for epsilon in EPSILONS:
            seconds, mistakes = [], []
            for turn in range(releases):
                start, own = time.perf_counter(), time.process_time()
                answers = method(asked, epsilon, delta, seed + turn)
                seconds.append((time.perf_counter() - start, time.process_time() - own))
                mistakes.append({name: np.abs(found - asked.truth) for name, found in answers.found.items()})
            for name in mistakes[0]:
                mean, most = (median(float(of(each[name])) for each in mistakes) for of in (np.mean, np.max))
                errors.setdefault(name, []).append(f"{mean:.4f} / {most:.4f}")
            if epsilon == TOLD:
                wall, itself = (median(taken) for taken in zip(*seconds, strict=True))
                cost = f"{answers.numbers:>7,}  {wall:.2g} s ({itself:.2g})"
        for name, cells in errors.items():
            print(f"  {name:22}{'   '.join(cells)}  {cost}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description='All "any of these k" about 16 yes/no attributes.')
    parser.add_argument("--nltcs", required=True, help="file of the 16 yes/no items; see benchmarks.marginals")
    parser.add_argument("--ways", type=int, nargs=2, default=(3, 8), metavar=("FROM", "TO"), help="widths k")
    parser.add_argument("--releases", type=int, default=3, help="of each method; medians are over these")
    parser.add_argument("--seed", type=int, default=1, help="of the first release")
    chosen = parser.parse_args(arguments)
    tables = read(chosen.nltcs, (), (2,) * 16, "NLTCS")
    for ways in range(chosen.ways[0], chosen.ways[1] + 1):
        asked = workload(tables, ways=ways)
        spread = np.abs(asked.truth - np.median(asked.truth))
        print(
            f"k = {ways}: {len(asked.truth):,} answers between {asked.truth.min():.3f} and {asked.truth.max():.3f}; "
            f"their median for all of them would err by {spread.mean():.4f} / {spread.max():.4f}"
        )
        for delta, methods in KINDS:
            print(
                f" delta = {delta:g}; epsilon = {', '.join(f'{epsilon:g}' for epsilon in EPSILONS)}; numbers and "
                f"seconds at epsilon = {TOLD:g}"
            )
            compare(asked, methods, delta=delta, releases=chosen.releases, seed=chosen.seed)
        if ways in MST:
            print(f" others, epsilon = 1, delta = {DELTA:g}: MST {MST[ways]}, in 59 s", flush=True)


if __name__ == "__main__":
    main()
