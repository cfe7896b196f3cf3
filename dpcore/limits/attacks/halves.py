"""Halves of a set of points as reconstructions: by a sort or by trying all, and their scores against the truth.

A reconstruction is a guess of which half of the points is the data. Whether a sort finds it depends on where the
answers come from: from one data set on the points, yes; from noise drawn afresh for each query, no.

References:
    Blum, Ligett and Roth (2013), Lemma 3.13 and the proof of Theorem 3.11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpcore.core import Booleans, Floats, ParameterError
from dpcore.limits.chance import after_steps, binomial_interval
from dpcore.randomness import PublicCoins, Sampler

MAX_SEARCHED = 16
"""Points for which all halves are tried: 12,870 of them at 16."""

Answers = Callable[[Booleans], Floats]
"""Fractions of n in each of Q subsets of the points: (Q, d) to (T, Q). Asked twice, it must answer the same."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Halves:
    """A half of the points for each release.

    Attributes:
        chosen: the reconstruction T', shape (T, d), half of each row True; nothing chosen where refused.
        mass: fraction of n the release puts on it, shape (T,): the witness, which no other half exceeds.
        refused: (T,).
    """

    chosen: Booleans
    mass: Floats
    refused: Booleans


def largest_half(values: Floats) -> Booleans:
    """Return the d/2 largest of each row of values (T, d), as a mask; ties fall somehow, but always the same way."""
    points = values.shape[1]
    check_points(points)
    order = np.argpartition(values, points // 2, axis=1)[:, points // 2 :]
    chosen = np.zeros(values.shape, dtype=np.bool_)
    np.put_along_axis(chosen, order, True, axis=1)
    return chosen


def search(answers: Answers, *, points: int) -> Halves:
    """The theorem's own search: the half whose own query has the largest answer, among all of them; few points only."""
    candidates = all_halves(points)
    values = answers(candidates)
    best = values.argmax(axis=1)
    return Halves(
        chosen=candidates[best],
        mass=values[np.arange(len(values)), best],
        refused=np.zeros(len(values), dtype=np.bool_),
    )


def all_halves(points: int) -> Booleans:
    """Return every half of the points, shape (C(d, d/2), d), for at most MAX_SEARCHED points."""
    check_points(points)
    if points > MAX_SEARCHED:
        raise ParameterError(f"All halves are tried for at most {MAX_SEARCHED} points, got {points}.")
    members = np.array(list(combinations(range(points), points // 2)))
    halves = np.zeros((len(members), points), dtype=np.bool_)
    np.put_along_axis(halves, members, True, axis=1)
    return halves


def random_half(sampler: Sampler, *, points: int, trials: int = 1) -> Booleans:
    """Return a half drawn with public coins in each trial, shape (T, d): the secret of the experiment."""
    check_points(points)
    return largest_half(sampler.draw(PublicCoins(1 << 53, columns=points), trials).astype(np.float64))


def recovered(halves: Halves, truth: Booleans) -> Floats:
    """Return the score (T,): share of the true half (d,) or (T, d) that was found; 1/2, a guess, where refused."""
    shares: Floats = (halves.chosen & truth).sum(axis=1) / (halves.chosen.shape[1] // 2)
    return np.where(halves.refused, 0.5, shares)


@dataclass(frozen=True, kw_only=True)
class TwoWorlds:
    """The swap behind the proof: how often a point was found with its rows in the data, and with them swapped out.

    Attributes:
        inside: share of releases whose reconstruction holds the point, with its exact interval, its rows being there.
        outside: the same after the swap.
        allowed: largest chance inside that (ε, δ) allows, if outside were at the top of its interval.
    """

    inside: float
    inside_interval: tuple[float, float]
    outside: float
    outside_interval: tuple[float, float]
    allowed: float

    @property
    def impossible(self) -> bool:
        """Return whether the intervals contradict the promise: at their confidence, this cannot be (ε, δ)-private."""
        return self.inside_interval[0] > self.allowed


def two_worlds(
    inside: Halves,
    outside: Halves,
    *,
    point: int,
    epsilon: float,
    steps: int,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> TwoWorlds:
    """Compare reconstructions from both worlds for one point; ``confidence`` holds for both intervals together.

    Under a wrong promise ``outside`` may be tiny and ``inside`` large; under a right one, after_steps links them.
    """
    shares, intervals = [], []
    for world in (inside, outside):
        hits, trials = int(world.chosen[:, point].sum()), len(world.chosen)
        low, high = binomial_interval(hits, trials, confidence=1 - (1 - confidence) / 2)
        shares.append(hits / trials)
        intervals.append((float(low), float(high)))
    allowed = after_steps(intervals[1][1], epsilon=epsilon, steps=steps, delta=delta)
    return TwoWorlds(
        inside=shares[0],
        inside_interval=intervals[0],
        outside=shares[1],
        outside_interval=intervals[1],
        allowed=float(allowed),
    )


def heaviest_half(values: Floats, refused: Booleans) -> Halves:
    """Return the largest half of each row of masses (T, d), nothing where refused."""
    chosen = largest_half(values) & ~refused[:, None]
    return Halves(chosen=chosen, mass=np.where(chosen, values, 0.0).sum(axis=1), refused=refused)


def check_points(points: int) -> None:
    """Raise ParameterError unless the points can be halved."""
    if points < 2 or points % 2:
        raise ParameterError(f"A shattered set needs an even number of points from 2, got {points}.")
