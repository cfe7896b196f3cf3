"""The same attack through queries that weigh people: shares found at every scale, errors that cannot be avoided.

The releases are the identity histogram's, one row for each point of the secret half.

References:
    Roth (2010), Theorem 2 with Lemmas 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, DataRelease, Floats, Neighbours
from dpcore.limits.attacks import fat_shattering, halves
from dpcore.mechanisms import entry
from dpcore.randomness import Preview
from dplab.limits.reconstruction import BETA, EPSILONS, release_half

RUNS = 200


def uneven_levels(points: int, *, scale: float, spread: float, seed: int) -> Floats:
    """Levels around one half in a shuffled order, (d,); their spread is a share of the scale as far as weights fit."""
    unit = np.random.Generator(np.random.SFC64(seed)).permutation(np.linspace(-0.5, 0.5, points))
    return 0.5 + min(spread * scale, 1 - 2 * scale) * unit


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackedHalf:
    """One secret half, attacked in many releases at one ε.

    Attributes:
        truth: the half, (d,).
        levels: of the points at the reader's scale, (d,).
        chosen: what the attack on the first release says at that scale, (d,).
        shares: share of the half found at each scale, (S, RUNS).
    """

    truth: Booleans
    levels: Floats
    chosen: Booleans
    shares: Floats


def attack(
    *,
    points: int,
    scale: float,
    scales: Sequence[float],
    spread: float,
    epsilon: float,
    neighbours: Neighbours,
    seed: int,
) -> AttackedHalf:
    """Attack the same releases through queries of every scale; ``spread`` is that of the levels over the scale."""

    def levels(at: float) -> Floats:
        return uneven_levels(points, scale=at, spread=spread, seed=seed)

    truth = halves.random_half(Preview(seed), points=points)[0]
    release = _released(truth, epsilon=epsilon, neighbours=neighbours, sampler=Preview(seed + 1))
    guesses = [fat_shattering.reconstruct(release, levels=levels(at), scale=at) for at in scales]
    one = fat_shattering.reconstruct(release.part(0, 1), levels=levels(scale), scale=scale)
    shares = np.array([halves.recovered(guess, truth) for guess in guesses])
    return AttackedHalf(truth=truth, levels=levels(scale), chosen=one.chosen[0], shares=shares)


def _released(truth: Booleans, *, epsilon: float, neighbours: Neighbours, sampler: Preview) -> DataRelease:
    return release_half(
        entry("identity"), truth, repeats=1, epsilon=epsilon, sampler=sampler, trials=RUNS, neighbours=neighbours
    )


def measured_errors(*, points: int, levels: Floats, scale: float, neighbours: Neighbours, seed: int) -> Floats:
    """Worst weighted errors in rows at each of EPSILONS, (E, RUNS)."""
    truth, sampler = halves.random_half(Preview(seed), points=points)[0], Preview(seed + 2)
    return np.array(
        [
            weighted_error(
                _released(truth, epsilon=epsilon, neighbours=neighbours, sampler=sampler),
                truth,
                levels=levels,
                scale=scale,
            )
            for epsilon in EPSILONS
        ]
    )


def weighted_error(release: DataRelease, truth: Booleans, *, levels: Floats, scale: float) -> Floats:
    """Largest error in rows over the weighted queries of all halves, (T,); one row for each point of the truth (d,).

    A query adds 2 scale times the error inside its half to what all of them share, so the extreme halves are sorts.
    """
    points = len(truth)
    off = release.histogram()[:, :points] - truth
    ordered, shared = np.sort(off, axis=1), off @ (levels - scale)
    top, bottom = ordered[:, points // 2 :].sum(axis=1), ordered[:, : points // 2].sum(axis=1)
    worst: Floats = np.maximum(np.abs(shared + 2 * scale * top), np.abs(shared + 2 * scale * bottom))
    return worst


@dataclass(frozen=True, kw_only=True, eq=False)
class Unavoidable:
    """Errors in rows that no private mechanism avoids, (E,) each.

    Attributes:
        epsilon: a grid.
        paper: the paper's constant, for promises kept for certain.
        corrected: with the right distance between the two data sets, likewise.
        best: every step followed, for promises kept but for BETA.
    """

    epsilon: Floats
    paper: Floats
    corrected: Floats
    best: Floats

    def at(self, epsilon: float) -> tuple[float, float, float]:
        """All three at the place of the grid that is nearest."""
        place = int(np.argmin(np.abs(self.epsilon - epsilon)))
        return float(self.paper[place]), float(self.corrected[place]), float(self.best[place])


def unavoidable(epsilons: Floats, *, points: int, scale: float, spread: float, neighbours: Neighbours) -> Unavoidable:
    """The three constants along a grid of ε (E,), for levels with this spread."""
    paper, corrected, best = (np.empty(len(epsilons)) for _ in range(3))
    for place, epsilon in enumerate(epsilons.tolist()):
        sure, usual = (
            fat_shattering.constants(
                points=points, scale=scale, spread=spread, epsilon=epsilon, neighbours=neighbours, beta=beta
            )
            for beta in (0.0, BETA)
        )
        paper[place], corrected[place], best[place] = sure.paper, sure.corrected, usual.best
    return Unavoidable(epsilon=epsilons, paper=paper, corrected=corrected, best=best)
