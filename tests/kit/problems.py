"""The problems, data sets and samplers on which the contract of mechanisms is checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpcore.core import (
    Booleans,
    Dataset,
    Domain,
    Entry,
    Floats,
    Guarantee,
    HistogramRelease,
    Integers,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
    Queries,
)
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.queries.linear import generated
from dpcore.queries.ranges import Cells, classes_for
from dpcore.randomness import Draw, GaussianCounts, NoisyCounts, Sampler, SparseVector
from dpcore.randomness.gates import Gate

PROVENANCE = Provenance(kind=ProvenanceKind.GENERATED, title="contract")
MAX_OUTCOMES = 10_000


def dataset_of(problem: Problem, rows: Any) -> Dataset:
    """A data set of these cells."""
    return Dataset(problem.domain, np.array(rows, dtype=np.int64), PROVENANCE)


def counts_release(problem: Problem, counts: Integers, *, refused: Booleans | None = None) -> HistogramRelease:
    """A release of these counts, (T, cells), as of a mechanism of epsilon 1."""
    return HistogramRelease(
        problem=problem,
        guarantee=Guarantee(epsilon=1.0, neighbours=problem.neighbours),
        sampler="test",
        refused=np.zeros(len(counts), dtype=np.bool_) if refused is None else refused,
        counts=counts,
    )


def labels_problem(cells: int, *, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    """Counts of so many labels."""
    domain = Labels(labels=tuple(f"cell {cell}" for cell in range(cells)), missing=False)
    return Problem(domain=domain, queries=Cells(domain=domain), n=n, neighbours=neighbours)


def neighbouring_rows(rows: tuple[int, ...], cells: int, neighbours: Neighbours) -> set[tuple[int, ...]]:
    """All data sets one row away, their rows in order."""
    fewer = {(*rows[:place], *rows[place + 1 :]) for place in range(len(rows))}
    if neighbours is Neighbours.REPLACE_ONE:
        return {tuple(sorted((*left, cell))) for left in fewer for cell in range(cells)}
    return fewer | {tuple(sorted((*rows, cell))) for cell in range(cells)}


def tiny_domains(entry: Entry) -> list[Domain]:
    """Lines of two, three and four cells, lists of one and two labels, four pairs; with and without a missing cell."""
    domains: list[Domain] = [Number(bits=bits, missing=missing) for bits in (1, 2) for missing in (False, True)]
    domains.append(Number(bins=3))
    domains += [Labels(labels=("a", "b")[:k], missing=missing) for k, missing in ((1, True), (2, False), (2, True))]
    domains.append(Product.map(Labels(labels=("a", "b")), Number(bits=1), names=("group", "number")))
    domains += [Product.map(Number(bits=1, missing=missing), Number(bits=1)) for missing in (False, True)]
    return sorted((d for d in domains if entry.fits(d)), key=lambda d: d.size)


def relations(entry: Entry) -> list[Neighbours]:
    """The relations an entry has a guarantee for; for the others it raises ParameterError."""
    found = []
    for neighbours in Neighbours:
        try:
            entry.make().guarantee(ordinary_problems(entry, neighbours)[0])
        except ParameterError:
            continue
        found.append(neighbours)
    return found


def served(entry: Entry, domain: Domain) -> list[Queries]:
    """The query classes of a domain that an entry serves."""
    classes: list[Queries] = [kind(domain=domain) for kind in classes_for(domain)]
    if isinstance(domain, Number | Labels):
        classes.append(generated("bumps", queries=4, domain=domain, seed=4))
    return [queries for queries in classes if entry.serves(queries)]


def tiny_problems(entry: Entry, neighbours: Neighbours) -> Iterator[Problem]:
    """Every tiny domain, with two rows fewer (but two at least) beyond the size the entry names.

    Every query class on domains of up to three cells, the first one on the others.
    """
    for domain in tiny_domains(entry):
        classes = served(entry, domain)
        rows = entry.tiny_rows if domain.size <= entry.tiny_size else max(2, entry.tiny_rows - 2)
        for queries in classes if domain.size <= 3 else classes[:1]:
            problem = Problem(domain=domain, queries=queries, n=rows, neighbours=neighbours)
            # A mean over a public n is not drawn where a cell may be empty.
            if not (domain.missing and tiny_mechanism(entry).unsuitable(problem)):
                yield problem


def law_problem(entry: Entry, neighbours: Neighbours) -> Problem:
    """The largest tiny problem of the size an entry names: the one whose law samples are compared with."""
    return [p for p in tiny_problems(entry, neighbours) if p.domain.size <= entry.tiny_size][-1]


def tiny_mechanism(entry: Entry, **values: Any) -> Mechanism:
    """The mechanism with the parameters its entry names for enumeration."""
    return entry.make(**{**entry.tiny, **values})


def variants(entry: Entry, **values: Any) -> list[Mechanism]:
    """The mechanism with these values, and with every other choice of each switch and choice."""
    made = [entry.make(**values)]
    for name, parameter in entry.controls().items():
        for choice in (False, True) if parameter.boolean else parameter.choices:
            if choice != getattr(made[0], name):
                made.append(entry.make(**{**values, name: choice}))
    return made


def window_for(problem: Problem) -> tuple[int, int]:
    """Noisy counts told apart: up to four beyond 0..n on either side, fewer where there would be too many outcomes."""
    margins = (m for m in (4, 3, 2, 1) if (problem.n + 1 + 2 * m) ** problem.domain.size <= MAX_OUTCOMES)
    margin = next(margins, 0)
    return -margin, problem.n + margin


def distributions(size: int) -> list[Floats]:
    """Distributions on so many cells that a random-DP guarantee may meet: even, lopsided, and with rare cells."""
    even = np.ones(size) / size
    masses = [even, np.arange(1.0, size + 1) / np.arange(1.0, size + 1).sum(), 2.0 ** -np.arange(size)]
    masses += [np.where(np.arange(size) == 0, 1 - rare, rare / (size - 1)) for rare in (0.5, 0.2, 0.05, 0.01)]
    masses += [np.where(np.arange(size) < 2, np.where(np.arange(size) == 0, 1 - b, b), 0.0) for b in (0.5, 0.3, 0.1)]
    masses += list(np.random.Generator(np.random.PCG64(14)).dirichlet(np.full(size, 0.4), size=12))
    return [mass / mass.sum() for mass in masses]


def ordinary_data(problem: Problem) -> list[Dataset]:
    """All rows at one end, at the other, spread evenly, and in two lumps."""
    last, n = problem.domain.size - 1, problem.n
    spread = np.arange(n) * problem.domain.size // n
    lumps = np.where(np.arange(n) < n // 3, last // 4, (3 * last) // 4)
    return [dataset_of(problem, rows) for rows in (np.zeros(n), np.full(n, last), spread, lumps)]


def ordinary_problems(entry: Entry, neighbours: Neighbours, *, n: int = 400) -> list[Problem]:
    """A problem of the size a reader meets for every query class an entry serves."""
    usual: list[Domain] = [
        Number(bits=5),
        Labels(labels=tuple("abcdefgh")),
        Product.map(Labels(labels=("a", "b", "c")), Number(), names=("group", "number")),
    ]
    domains = [domain for domain in usual if entry.fits(domain)][:1]
    pairs = Product.map(Number(bits=3, missing=True), Number(bits=2))
    domains += [pairs] if entry.fits(pairs) else []
    return [Problem(domain=d, queries=q, n=n, neighbours=neighbours) for d in domains for q in served(entry, d)]


class ClampedGate:
    """An open gate whose answers are clamped to a window where any is given."""

    def __init__(self, inner: Gate, window: tuple[int, int]) -> None:
        self._inner, self._window = inner, window

    @property
    def closed(self) -> Booleans:
        """See Gate."""
        return self._inner.closed

    def above(self, values: Integers, threshold: int) -> Booleans:
        """See Gate."""
        return self._inner.above(values, threshold)

    def answer(self, counts: Integers) -> Integers:
        """See Gate."""
        return np.clip(self._inner.answer(counts), *self._window)


class Clamped(Sampler):
    """Draws like another sampler and clamps noisy counts to a window, as Enumerate does: then both have one law."""

    name = "clamped"

    def __init__(self, inner: Sampler, window: tuple[int, int]) -> None:
        self._inner, self._window = inner, window

    def make(self, draw: Draw[Any], trials: int) -> Any:
        """The inner sampler's draw, clamped if it is a noisy count."""
        drawn = self._inner.draw(draw, trials)
        if isinstance(draw, SparseVector):
            return ClampedGate(drawn, self._window)
        return np.clip(drawn, *self._window) if isinstance(draw, NoisyCounts | GaussianCounts) else drawn


def outcomes_of(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Sampler, trials: int) -> Floats:
    """Outcomes (trials, w) as Enumerate.law writes them: refusals are rows of infinities."""
    release = mechanism.run(mechanism.prepare(dataset, problem), sampler, trials)
    return np.where(release.refused[:, None], np.inf, release.outcomes())
