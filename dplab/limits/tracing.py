"""Trace members from the released means of yes/no attributes: one attack, and many over ε and the attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, ParameterError
from dpcore.limits.attacks import tracing
from dpcore.mechanisms.marginals.noise import LevelNoise, gaussian_levels
from dpcore.randomness import Preview

LOSSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Values of ε for all means together."""
ATTRIBUTES = (16, 64, 256, 1024, 4096)
RUNS = 20
ACCUSED = 0.05
"""Share of people outside who are accused, on average at most."""
REFERENCE, OUTSIDE = 199, 200
"""Rows of reference and further rows outside, where rows are generated."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class People:
    """Rows of yes/no attributes in three groups: members (n, d), reference (m, d) and others outside (o, d).

    Attributes:
        usual: what the attacker takes for the shares of yes outside, (d,), from none of these rows.
    """

    usual: Floats
    members: Booleans
    reference: Booleans
    outside: Booleans

    def first(self, attributes: int) -> People:
        """Return the same people with their first attributes alone."""
        return People(
            usual=self.usual[:attributes],
            members=self.members[:, :attributes],
            reference=self.reference[:, :attributes],
            outside=self.outside[:, :attributes],
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Traced:
    """Scores in standard deviations of those outside, and the threshold.

    Attributes:
        members: scores, (n,).
        outside: scores, (o,).
        threshold: scores at or above it are accused.
    """

    members: Floats
    outside: Floats
    threshold: float

    @property
    def found(self) -> float:
        """Share of members who are accused."""
        return float((self.members >= self.threshold).mean())

    @property
    def accused(self) -> float:
        """Share of people outside who are accused."""
        return float((self.outside >= self.threshold).mean())


def generated_people(*, attributes: int, members: int, seed: int) -> People:
    """Draw people who answer every question on their own, with chances of yes spread evenly from 0.1 to 0.9."""
    generator = np.random.Generator(np.random.SFC64(seed))
    chances = generator.uniform(0.1, 0.9, attributes)
    rows = generator.random((members + REFERENCE + OUTSIDE, attributes)) < chances
    inside, reference, outside = np.split(rows, [members, members + REFERENCE])
    return People(usual=chances, members=inside, reference=reference, outside=outside)


def people_of(rows: Booleans, *, members: int, seed: int) -> People:
    """Split rows at random: members, and a third each of the others for what is usual, as reference, and to be judged.

    Raises:
        ParameterError: too few rows.
    """
    others, each = len(rows) - members, math.ceil(1 / ACCUSED) - 1
    if members < 1 or others < 3 * each:
        raise ParameterError(
            f"With {members:,} members, at least {members + 3 * each:,} rows are needed; there are {len(rows):,}."
        )
    shuffled = rows[np.random.Generator(np.random.SFC64(seed)).permutation(len(rows))]
    parts = np.split(shuffled, [members + others * part // 3 for part in range(3)])
    return People(usual=parts[1].mean(axis=0), members=parts[0], reference=parts[2], outside=parts[3])


def noise_of(*, attributes: int, epsilon: float, delta: float) -> LevelNoise:
    """Return the Gaussian noise that makes so many counts (ε, δ)-private together: a row moves each by 1 at most."""
    (noise,) = gaussian_levels(
        levels=[1], moves=[attributes], counts=[attributes], weights=np.ones(1), epsilon=epsilon, delta=delta
    )
    return noise


def _attack(people: People, *, noise: Floats) -> list[Traced]:
    """Attack releases of the members' counts with this noise, in rows, (T, d)."""
    released = (people.members.sum(axis=0) + noise) / len(people.members)
    inside, reference, outside = (
        tracing.scores(released, rows, people.usual) for rows in (people.members, people.reference, people.outside)
    )
    levels = tracing.threshold(reference, accused=ACCUSED)
    spread = np.maximum(outside.std(axis=1), 1e-300)
    return [
        Traced(members=inside[t] / spread[t], outside=outside[t] / spread[t], threshold=float(levels[t] / spread[t]))
        for t in range(len(released))
    ]


def _noise(attributes: int, epsilons: tuple[float | None, ...], *, delta: float, sampler: Preview) -> Floats:
    """Draw discrete Gaussian noise at each ε, none for None, (T, d)."""
    drawn, zeros = np.zeros((len(epsilons), attributes)), np.zeros((1, attributes), dtype=np.int64)
    for place, epsilon in enumerate(epsilons):
        if epsilon is not None:
            draw = noise_of(attributes=attributes, epsilon=epsilon, delta=delta).draw(zeros)
            drawn[place] = sampler.draw(draw, 1)[0]
    return drawn


def attack(people: People, *, epsilon: float | None, delta: float, seed: int) -> Traced:
    """Release the members' shares of yes once, exactly (None) or (ε, δ)-private together, and trace all people."""
    noise = _noise(people.members.shape[1], (epsilon,), delta=delta, sampler=Preview(seed))
    return _attack(people, noise=noise)[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class TracedShares:
    """Shares found and wrongly accused over many runs.

    Attributes:
        losses: share of members found at each of LOSSES, (K, RUNS).
        strangers: share of people outside accused there, (K, RUNS).
        attributes: numbers of attributes, (J,).
        exact: share of members found from exact means, (J, RUNS).
        private: the same at the chosen ε, (J, RUNS).
    """

    losses: Floats
    strangers: Floats
    attributes: Floats
    exact: Floats
    private: Floats


def sweep(
    draw: Callable[[int], People], *, attributes: Sequence[int], epsilon: float, delta: float, seed: int
) -> Generator[float, None, TracedShares]:
    """Attack people RUNS times at every ε and every number of attributes; yields the share done.

    Args:
        draw: returns the people of a run, with as many attributes as the last number.
        attributes: ascending numbers of attributes; the ε of LOSSES are tried with ``draw``'s.
        epsilon: of the private means in the comparison over attributes.
        delta: of all releases.
        seed: seed of the noise.
    """
    sampler, sizes = Preview(seed), list(attributes)
    losses, strangers = np.empty((2, len(LOSSES), RUNS))
    over = np.empty((2, len(sizes), RUNS))
    for run in range(RUNS):
        yield run / RUNS
        people = draw(run)
        noise = _noise(sizes[-1], LOSSES, delta=delta, sampler=sampler)
        for place, traced in enumerate(_attack(people, noise=noise)):
            losses[place, run], strangers[place, run] = traced.found, traced.accused
        for place, size in enumerate(sizes):
            noise = _noise(size, (None, epsilon), delta=delta, sampler=sampler)
            over[:, place, run] = [traced.found for traced in _attack(people.first(size), noise=noise)]
    return TracedShares(
        losses=losses,
        strangers=strangers,
        attributes=np.array(sizes, dtype=np.float64),
        exact=over[0],
        private=over[1],
    )


def ceilings(epsilons: Floats, *, delta: float) -> Floats:
    """Return the largest share of members that any attack finds at each ε, elementwise."""
    return np.array([tracing.ceiling(accused=ACCUSED, epsilon=each, delta=delta) for each in epsilons.tolist()])
