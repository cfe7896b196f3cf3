"""The promises of mechanisms that release data: the worst error over a whole class of queries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import numpy as np

from dpcore import Dataset, Labels, Neighbours, Number, Preview, Problem
from dpcore.core import DataRelease, Domain, DomainType, Entry, Floats, Integers, Mechanism, Queries
from dpcore.data.generators import generate
from dpcore.data.product import Product
from dpcore.queries.linear import generated
from dpcore.queries.ranges import classes_for
from tests.kit.promises.cases import Case, Grid, claimed, made, releases, row_counts, tried

SHAPES = ("all_equal", "bimodal", "sparse")
ROWS = (1_000, 500_000)


def domain_of(entry: Entry) -> Domain:
    """64 cells of a kind the entry serves."""
    if DomainType.NUMBER in entry.domains:
        return Number(bits=6)
    if DomainType.MAP in entry.domains:
        return Product.map(Number(bits=3), Number(bits=3))
    return Labels(labels=tuple(f"label {number}" for number in range(64)))


def classes_of(entry: Entry) -> list[Queries]:
    """Every class it serves there, weights made by chance among them."""
    domain = domain_of(entry)
    classes: list[Queries] = [kind(domain=domain) for kind in classes_for(domain)]
    if isinstance(domain, Number | Labels):
        classes.append(generated("bumps", queries=16, domain=domain, seed=1))
    return [queries for queries in classes if entry.serves(queries)]


@lru_cache(maxsize=32)
def shaped(shape: str, *, n: int, size: int) -> Integers:
    """Made-up rows."""
    return generate(shape, n=n, size=size, seed=1)


def worst_errors(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Preview, trials: int) -> Floats:
    """Largest error over the class in each release; a refusal is a failure."""
    release = releases(mechanism, dataset, problem, sampler, trials)
    assert isinstance(release, DataRelease)
    errors = problem.queries.max_error(release.histogram() - dataset.histogram) / problem.n
    found: Floats = np.where(release.refused, np.inf, errors)
    return found


def cases(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Each class, number of rows, epsilon, alpha and relation, on each shape."""
    controls = entry.controls()
    alphas = [{"alpha": alpha} for alpha in grid.alphas] if "alpha" in controls else [{}]
    for queries, n, epsilon, alpha, neighbours in product(classes_of(entry), ROWS, grid.epsilons, alphas, Neighbours):
        mechanism = entry.make(epsilon=epsilon, **alpha)
        problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
        before, each = mechanism.preview_seconds(problem)
        trials = min(grid.trials, int((grid.patience - before) / each)) if each else grid.trials
        if not claimed(mechanism, problem) or trials < 1:
            continue
        for (rows, meets), shape in product(row_counts(problem), grid.of(*SHAPES)):
            dataset = made(problem, shaped(shape, n=rows, size=queries.domain.size), shape)
            data = f"{shape}, {rows:,} rows"
            yield tried(worst_errors, mechanism, dataset, problem, data=data, trials=trials, meets=meets)


def few_rounds(entry: Entry, grid: Grid) -> Iterator[Case]:
    """A game of few rounds with many queries drawn in each, and rows for its best step."""
    domain, rounds, samples = Number(bits=4), 16, 200
    queries = generated("subsets", queries=16, domain=domain, seed=1)
    for epsilon, shape, neighbours in product(grid.epsilons, grid.of(*SHAPES[1:], SHAPES[0]), Neighbours):
        n = round(np.sqrt(2 * np.log(2 * queries.count) / rounds) * rounds * (rounds - 1) * samples / epsilon)
        problem = Problem(domain=domain, queries=queries, n=n, neighbours=neighbours)
        mechanism = entry.make(epsilon=epsilon, rounds=rounds, samples=samples)
        dataset = made(problem, shaped(shape, n=n, size=domain.size), shape)
        data, meets = f"{shape}, {n:,} rows", row_counts(problem)[0][1]
        trials = min(grid.trials, 100)
        yield tried(worst_errors, mechanism, dataset, problem, data=data, trials=trials, meets=meets)
