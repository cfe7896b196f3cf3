"""Simulate total errors of released histograms, for comparison with the exact risks in limits.minimax."""

from __future__ import annotations

import numpy as np

from dpcore.core import Dataset, Floats, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Labels
from dpcore.mechanisms import entry
from dpcore.queries.ranges import Cells
from dpcore.randomness import Preview

GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="rows spread evenly over cells")


def total_errors(*, key: str, cells: int, occupied: int, rows: int, epsilon: float, seed: int, trials: int) -> Floats:
    """Return the total absolute error over all cells of each release, as fractions of n, (T,).

    Args:
        key: key of a histogram mechanism in the catalogue.
        cells: number of cells k.
        occupied: number of cells over which the rows are spread evenly.
        rows: number of rows n.
        epsilon: ε.
        seed: seed of the preview sampler.
        trials: number of releases T.
    """
    domain = Labels(labels=tuple(map(str, range(cells))), missing=False)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=rows)
    dataset = Dataset(domain, np.arange(rows) % occupied, GENERATED)
    mechanism = entry(key).make(epsilon=epsilon)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials=trials)
    errors: Floats = np.abs(release.outcomes() - dataset.histogram).sum(axis=1) / rows
    return errors
