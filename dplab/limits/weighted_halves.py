"""Attack a secret half through weighted queries: recovered shares at every scale, and lower bounds on the error.

Releases are those of the identity histogram, with one row for each point of the secret half.

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
    """Return shuffled levels around one half, (d,); their spread is a share of the scale, within the weights' range."""
    unit = np.random.Generator(np.random.SFC64(seed)).permutation(np.linspace(-0.5, 0.5, points))
    return 0.5 + min(spread * scale, 1 - 2 * scale) * unit


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackedHalf:
    """One secret half, attacked in many releases at one ε.

    Attributes:
        truth: the half, (d,).
        levels: levels of the points at the reader's scale, (d,).
        chosen: guess of the attack on the first release at that scale, (d,).
        shares: recovered share of the half at each scale, (S, RUNS).
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
    """Attack the same releases through queries of every scale; ``spread`` is the levels' spread over the scale."""

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
    """Measure the worst weighted errors in rows at each of EPSILONS, (E, RUNS)."""
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
    """Return the largest error in rows over the weighted queries of all halves, (T,), with one row per point (d,).

    A query's error is a part that all queries share plus 2 scale times the error in its half, so sorting gives the
    extreme halves.
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
        epsilon: the grid of ε.
        paper: the paper's constant, for guarantees with certainty.
        corrected: the same with the right distance between the two data sets.
        best: every step of the proof with whole rows, for guarantees with confidence 1 − BETA.
    """

    epsilon: Floats
    paper: Floats
    corrected: Floats
    best: Floats

    def at(self, epsilon: float) -> tuple[float, float, float]:
        """Return all three at the nearest ε of the grid."""
        place = int(np.argmin(np.abs(self.epsilon - epsilon)))
        return float(self.paper[place]), float(self.corrected[place]), float(self.best[place])


def unavoidable(epsilons: Floats, *, points: int, scale: float, spread: float, neighbours: Neighbours) -> Unavoidable:
    """Compute the three constants along a grid of ε (E,), for levels with this spread."""
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
