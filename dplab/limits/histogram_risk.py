"""Total errors of released histograms, simulated: beside the exact risks in limits.minimax."""

from __future__ import annotations

import numpy as np

from dpcore.core import Dataset, Floats, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Labels
from dpcore.mechanisms import entry
from dpcore.queries.ranges import Cells
from dpcore.randomness import Preview

GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="rows spread evenly over cells")


def total_errors(*, key: str, cells: int, occupied: int, rows: int, epsilon: float, seed: int, trials: int) -> Floats:
    """What all cells of a release are off by together, as fractions of n, (T,).

    Args:
        key: of a mechanism in the catalogue that releases histograms.
        cells: k.
        occupied: the rows are spread evenly over the first so many cells.
        rows: n.
        epsilon: privacy loss.
        seed: of the preview sampler.
        trials: releases, T.
    """
    domain = Labels(labels=tuple(map(str, range(cells))), missing=False)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=rows)
    dataset = Dataset(domain, np.arange(rows) % occupied, GENERATED)
    mechanism = entry(key).make(epsilon=epsilon)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials=trials)
    errors: Floats = np.abs(release.outcomes() - dataset.histogram).sum(axis=1) / rows
    return errors
