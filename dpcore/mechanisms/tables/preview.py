"""Distances of preview tables from true ones, one number for each table and release, and the noise observed."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats
from dpcore.mechanisms.tables.release import DirectRelease, TablesRelease
from dpcore.queries.marginals import Set


def fit_for(release: TablesRelease, fit: str) -> str:
    """Return the fit, or the nearest one this release has: tables of a direct release are not made to agree."""
    return "simplex" if fit == "consistent" and isinstance(release, DirectRelease) else fit


def distances(
    tables: Mapping[Set, NDArray[Any]], truth: Mapping[Set, NDArray[Any]], *, sets: Sequence[Set], n: int
) -> Floats:
    """Return half the L1 distance between tables and true ones, as a share of n rows, (sets,).

    Where both have n rows it is the total variation: the share of rows in a wrong cell.
    """
    released, true = (np.concatenate([each[s].reshape(-1) for s in sets]) for each in (tables, truth))
    starts = np.cumsum([0] + [truth[s].size for s in sets[:-1]])
    halves: Floats = np.add.reduceat(np.abs(released - true), starts) / (2 * n)
    return halves


def previewed(
    release: TablesRelease, truth: Mapping[Set, NDArray[Any]], *, fit: str, previews: int
) -> Generator[float, None, tuple[list[dict[Set, Floats]], Floats]]:
    """Return the tables of the first releases and their distances, (previews, sets); yields the share done."""
    sets, fit = list(truth), fit_for(release, fit)
    releases = []
    for trial in range(previews):
        releases.append(release.tables(trial=trial, fit=fit))
        yield (trial + 1) / previews
    return releases, np.array([distances(each, truth, sets=sets, n=release.problem.n) for each in releases])


def observed_sigma(release: TablesRelease, truth: NDArray[Any], table: Set) -> float:
    """Return the standard deviation of a cell of one unbiased table, in rows, over all its cells and all releases."""
    return float(np.sqrt(np.mean((release.unbiased(table) - truth) ** 2)))
