"""Promise against reality: how often each entry that releases data exceeds its promised error, and how near it comes.

One row per entry, class of queries, rows n, privacy loss epsilon and, where there is one, allowed error alpha: of the
releases on two made-up data sets, the share whose worst error exceeds the promise (the worse of the two data sets)
with the exact binomial chance of at least so many failures if each has chance beta; and the error that all but a share
beta of the releases keep, over the promised one. Far below 1 the theorem is loose; above 1 it would be wrong. A refusal
is a failure. Where nothing is promised (an assumption not met, only an order known, or an error of 1 or more) the row
says so in place of numbers, and such rows are counted at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import bdtrc

from dpcore import (
    Categories,
    Dataset,
    Line,
    Preview,
    Problem,
    Provenance,
    ProvenanceKind,
    catalogue,
)
from dpcore.core import Bound, BoundKind, DataRelease, Domain, Entry, Mechanism, Queries
from dpcore.domains import Grid
from dpcore.generators import generate
from dpcore.linear_queries import generated
from dpcore.queries import classes_for

BETA, TRIALS, SIGNIFICANCE = 0.1, 1000, 1e-6
ROWS, EPSILONS, ALPHAS = (1_000, 30_000, 1_000_000), (0.1, 1.0, 5.0), (0.05, 0.1, 0.2)
SHAPES = ("bimodal", "sparse")
PATIENCE = 20.0
"""Seconds that one row may take."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One promise, and what became of it; without failures where it does not apply."""

    mechanism: Mechanism
    problem: Problem
    bound: Bound
    failures: int | None = None
    error: float = float("nan")

    @property
    def chance(self) -> float:
        """Exact chance of at least so many failures if each has chance BETA."""
        return 1.0 if not self.failures else float(bdtrc(self.failures - 1, TRIALS, BETA))

    def text(self, key: str) -> str:
        """The row of the table."""
        alpha, n = getattr(self.mechanism, "alpha", None), self.problem.n
        epsilon = getattr(self.mechanism, "epsilon", float("nan"))
        known = f"{key:20} {self.problem.queries.key:10} {n:9,} {epsilon:7g} {alpha if alpha else '':>5} "
        if self.failures is None:
            return known + f"  no promise: {why_not(self.bound)}"
        return known + (
            f"{self.bound.value:9.3g} {self.error:9.3g} {self.error / self.bound.value:6.2f} "
            f"{self.failures / TRIALS:8.3f} {self.chance:9.2g}{'  BROKEN' if self.chance < SIGNIFICANCE else ''}"
        )


def why_not(bound: Bound) -> str:
    """Why a bound promises nothing here; empty if it does."""
    if bound.kind is not BoundKind.GUARANTEE:
        return str(bound.kind)
    if not bound.applies:
        return "an assumption is not met"
    return "1 or more" if bound.vacuous else ""


def domain_of(entry: Entry) -> Domain:
    """64 cells of a kind the entry serves."""
    if Line in entry.domains:
        return Line(bits=6)
    if Grid in entry.domains:
        return Grid(first=Line(bits=3), second=Line(bits=3))
    return Categories(labels=tuple(f"label {number}" for number in range(64)))


def classes_of(entry: Entry) -> list[Queries]:
    """Every class it serves there, weights made by chance among them."""
    domain = domain_of(entry)
    classes: list[Queries] = [kind(domain=domain) for kind in classes_for(domain)]
    if isinstance(domain, Line | Categories):
        classes.append(generated("bumps", queries=16, domain=domain, seed=1))
    return [queries for queries in classes if entry.serves(queries)]


def judged(mechanism: Mechanism, problem: Problem) -> Row:
    """Releases on both data sets; the worse one counts."""
    bound = mechanism.accuracy(problem, BETA)
    before, each = mechanism.preview_seconds(problem)
    if why_not(bound) or before + TRIALS * each > PATIENCE:
        return Row(mechanism=mechanism, problem=problem, bound=bound)
    found = []
    for seed, shape in enumerate(SHAPES, start=1):
        records = generate(shape, n=problem.n, size=problem.domain.size, seed=seed)
        dataset = Dataset(problem.domain, records, Provenance(kind=ProvenanceKind.GENERATED, title=shape))
        release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), TRIALS)
        assert isinstance(release, DataRelease)
        errors = problem.queries.max_error(release.histogram() - dataset.histogram) / problem.n
        errors = np.where(release.refused, np.inf, errors)
        failures = int((errors > bound.value * (1 + 1e-12)).sum())
        found.append((failures, float(np.quantile(errors, 1 - BETA, method="higher"))))
    failures, error = max(found)
    return Row(mechanism=mechanism, problem=problem, bound=bound, failures=failures, error=error)


def rows_of(entry: Entry) -> Iterator[Row]:
    """The grid of one entry."""
    controls = entry.controls()
    alphas = ALPHAS if "alpha" in controls else (None,)
    for queries, n, epsilon, alpha in product(classes_of(entry), ROWS, EPSILONS, alphas):
        told = {"epsilon": epsilon, "alpha": alpha}
        mechanism = entry.make(
            **{name: value for name, value in told.items() if name in controls and value is not None}
        )
        yield judged(mechanism, Problem(domain=queries.domain, queries=queries, n=n))


def main() -> None:
    """Print the table and what it comes to."""
    print(
        f"beta = {BETA}, {TRIALS:,} releases a row on each of {' and '.join(SHAPES)}, 64 cells; errors as shares of n"
    )
    print(
        f"{'entry':20} {'queries':10} {'n':>9} {'epsilon':>7} {'alpha':>5} "
        f"{'promised':>9} {'observed':>9} {'ratio':>6} {'failures':>8} {'chance':>9}"
    )
    kept, silent, broken = 0, 0, []
    for entry in catalogue():
        if entry.mechanism.releases != "data":
            continue
        ratios: list[float] = []
        for row in rows_of(entry):
            print(row.text(entry.key), flush=True)
            if row.failures is None:
                silent += 1
                continue
            kept += 1
            ratios.append(row.error / row.bound.value)
            broken += [entry.key] if row.chance < SIGNIFICANCE else []
        if ratios:
            print(f"{entry.key}: observed over promised from {min(ratios):.2f} to {max(ratios):.2f}", flush=True)
    names = f" ({', '.join(sorted(set(broken)))})" if broken else ""
    print(f"{kept} promises put to the test, {len(broken)} broken{names}; {silent} rows promise nothing")


if __name__ == "__main__":
    main()
