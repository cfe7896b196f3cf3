"""Table 1 of Thaler, Ullman and Vadhan (2012), run: the errors of its methods on the same rows, at the same ε and δ.

Three methods hold a number for every row there may be: MWEM, which stands for the line of Blum, Ligett and Roth and
later work; DualQuery; and the projection of Nikolov, Talwar and Zhang. Their settings are those with the smallest
guaranteed error, which follows from public numbers. MWEM and DualQuery use no δ.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpcore.core import (
    Booleans,
    DataRelease,
    Dataset,
    Floats,
    HistogramState,
    Mechanism,
    Neighbours,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.queries.at_least import AtLeast
from dpcore.queries.cube import cells_of, fits_cells, on_cells
from dpcore.randomness import Preview

BETA = 0.05
RELEASES, METHODS = 10, 5
MAX_ON_CELLS = 10
"""Attributes up to which the methods on all rows there may be take a second or two."""
ROWS = Provenance(kind=ProvenanceKind.GENERATED, title="rows of a comparison")
SETTINGS: dict[str, list[dict[str, int]]] = {
    "mwem": [{"rounds": rounds} for rounds in (1, 2, 5, 10, 20, 50)],
    "dual-query": [{"rounds": r, "samples": s} for r, s in product((5, 10, 20, 30, 50), (10, 20, 50, 100))],
    "answer-projection": [{}],
}


@dataclass(frozen=True, kw_only=True, eq=False)
class MethodErrors:
    """Errors of a method in each of RELEASES releases, shares of n, over all queries.

    Attributes:
        key: its entry in the catalogue.
        title: its name.
        setting: its parameters in words, or what it releases.
        worst: largest error of each release, (T,).
        mean: mean error of each release, (T,).
        guaranteed: largest error with confidence 1 - BETA.
        synthetic: whether it releases synthetic rows.
    """

    key: str
    title: str
    setting: str
    worst: Floats
    mean: Floats
    guaranteed: float
    synthetic: bool


def usable_attributes(queries: AtLeast) -> int:
    """Return how many of the attributes the methods on all rows there may be can have, for queries of this width."""
    for attributes in range(min(queries.domain.attributes, MAX_ON_CELLS), 1, -1):
        if fits_cells(narrowed(queries, attributes)):
            return attributes
    return 2


def narrowed(queries: AtLeast, attributes: int) -> AtLeast:
    """Return queries about the first attributes alone; any-of and all-of stay what they are."""
    width = min(queries.width, attributes)
    all_of = queries.least == queries.width > 1
    domain = type(queries.domain).yes_no(queries.domain.names[:attributes])
    return AtLeast(
        domain=domain, width=width, least=width if all_of else min(queries.least, width), signed=queries.signed
    )


def best_setting(key: str, problem: Problem, *, epsilon: float, delta: float) -> Mechanism:
    """Return the mechanism with the parameters of the smallest guaranteed error; they follow from public numbers."""
    privacy: dict[str, float] = {"delta": delta} if key == "answer-projection" else {}
    mechanisms = [entry(key).make(**{"epsilon": epsilon, **privacy, **setting}) for setting in SETTINGS[key]]
    return min(mechanisms, key=lambda mechanism: mechanism.accuracy(problem, BETA).value)


def run_methods(
    rows: Booleans, queries: AtLeast, *, n: int, neighbours: Neighbours, epsilon: float, delta: float, seed: int
) -> Generator[float, None, list[MethodErrors]]:
    """Measure every method on these rows; yields the share done.

    Args:
        rows: yes/no attributes, not private, (rows, d).
        queries: about all of these attributes, few enough to be held for every row there may be.
        n: the public number of rows.
        neighbours: the relation.
        epsilon: of each release.
        delta: of each release with Gaussian noise.
        seed: seed of the previews.
    """
    results: list[MethodErrors] = []
    for errors in _each(rows, queries, n=n, neighbours=neighbours, epsilon=epsilon, delta=delta, seed=seed):
        results.append(errors)
        yield len(results) / METHODS
    return results


def _each(
    rows: Booleans, queries: AtLeast, *, n: int, neighbours: Neighbours, epsilon: float, delta: float, seed: int
) -> Iterator[MethodErrors]:
    cells = on_cells(queries)
    histogram = np.bincount(cells_of(rows), minlength=cells.domain.size)
    indices = np.arange(queries.count)
    truth = cells.answer(histogram[None], indices)[0] / n
    problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
    dataset = Dataset(queries.domain, rows, ROWS)
    for method, title in (("direct", "direct"), ("noise-aware", "polynomial")):
        marginals = PolynomialMarginals(epsilon=epsilon, delta=delta, noise="gaussian", method=method)
        answers = marginals.run(marginals.prepare(dataset, problem), Preview(seed), RELEASES).answers(
            *queries.sets(indices), clip=True
        )
        key = "marginals-direct" if method == "direct" else "marginals-polynomial-gaussian"
        setting = marginals.plan(problem).words
        yield _measured(key, title, setting, answers - truth, marginals.accuracy(problem, BETA).value, synthetic=False)
    on_line = Problem(domain=cells.domain, queries=cells, n=n, neighbours=neighbours)
    for key in SETTINGS:
        mechanism = best_setting(key, on_line, epsilon=epsilon, delta=delta)
        release = mechanism.run(HistogramState(problem=on_line, histogram=histogram), Preview(seed), RELEASES)
        assert isinstance(release, DataRelease)
        errors = cells.answer(release.histogram(), indices) / n - truth
        setting = ", ".join(f"{name} {getattr(mechanism, name)}" for name in SETTINGS[key][0]) or "every answer"
        guaranteed = mechanism.accuracy(on_line, BETA).value
        yield _measured(key, entry(key).title, setting, errors, guaranteed, synthetic=True)


def _measured(
    key: str, title: str, setting: str, errors: Floats, guaranteed: float, *, synthetic: bool
) -> MethodErrors:
    away = np.abs(errors)
    return MethodErrors(
        key=key,
        title=title,
        setting=setting,
        worst=away.max(axis=1),
        mean=away.mean(axis=1),
        guaranteed=guaranteed,
        synthetic=synthetic,
    )
