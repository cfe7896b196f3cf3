"""Reconstruct a secret half of the points from releases, and compare with the bounds that privacy implies."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import (
    Booleans,
    DataRelease,
    Dataset,
    Domain,
    Entry,
    Floats,
    Guarantee,
    HistogramRelease,
    Neighbours,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.data.columns import Labels, Number
from dpcore.limits.attacks import halves, vc
from dpcore.limits.attacks.group_counts import SUBSET_SUMS
from dpcore.limits.chance import replacement_steps
from dpcore.mechanisms import catalogue
from dpcore.queries.ranges import classes_for
from dpcore.randomness import Preview, Sampler

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SECRETS, TRIALS = 5, 20
NOISE_FREE = "noise-free"
"""Publishes the counts without noise: not private at any ε, as a baseline."""
BETA = 0.05
"""Failure probability of the guarantees that the bounds are about."""
MAX_SECONDS = 30.0
"""Longest time of the attacks on one mechanism; a slower mechanism is not offered."""
GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="a secret half")


def universe(points: int) -> Domain:
    """Return the shattered points as cells: of a line if their number is a power of two, else labels."""
    bits = points.bit_length() - 1
    return Number(bits=bits) if points == 1 << bits else Labels(labels=tuple(map(str, range(points))), missing=False)


def attackable_entries(points: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> dict[str, Entry]:
    """Return subset sums and the catalogue's entries that release these points with a guarantee for all data."""
    entries = {}
    for entry in (*catalogue(), SUBSET_SUMS):
        if entry.mechanism.releases != "data":
            continue
        try:
            problem = problem_for(entry, points=points, repeats=1, neighbours=neighbours)
            mechanism = entry.make(epsilon=1.0)
            promised = mechanism.guarantee(problem)
        except ParameterError:
            continue
        before, each = mechanism.preview_seconds(problem)
        if promised.gamma == 0 and len(EPSILONS) * SECRETS * (before + TRIALS * each) <= MAX_SECONDS:
            entries[entry.key] = entry
    return entries


def problem_for(
    entry: Entry | None, *, points: int, repeats: int, neighbours: Neighbours = Neighbours.REPLACE_ONE
) -> Problem:
    """Return a problem with the first query class that the entry serves; None stands for publishing the counts.

    Raises:
        ParameterError: it serves no query class.
    """
    domain = universe(points)
    for kind in classes_for(domain):
        queries = kind(domain=domain)
        if entry is None or entry.serves(queries):
            return Problem(domain=domain, queries=queries, n=points * repeats // 2, neighbours=neighbours)
    raise ParameterError("This mechanism cannot release these points.")


def release_half(
    entry: Entry | None,
    truth: Booleans,
    *,
    repeats: int,
    epsilon: float,
    sampler: Sampler,
    trials: int,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
) -> DataRelease:
    """Release a secret half (d,), each of its points ``repeats`` times in the data."""
    problem = problem_for(entry, points=len(truth), repeats=repeats, neighbours=neighbours)
    dataset = Dataset(problem.domain, np.repeat(np.flatnonzero(truth), repeats), GENERATED)
    if entry is None:
        return HistogramRelease(
            problem=problem,
            guarantee=Guarantee(
                epsilon=epsilon,
                neighbours=neighbours,
                releasable=False,
                why_not="it claims this ε but adds no noise",
            ),
            sampler=sampler.name,
            refused=np.zeros(trials, dtype=np.bool_),
            counts=np.repeat(dataset.histogram[None], trials, axis=0),
        )
    mechanism = entry.make(epsilon=epsilon)
    release = mechanism.run(mechanism.prepare(dataset, problem), sampler, trials)
    if not isinstance(release, DataRelease):
        raise ParameterError("This mechanism does not release data.")
    return release


@dataclass(frozen=True, kw_only=True, eq=False)
class Recovery:
    """Results of attacks on each mechanism K at each of EPSILONS E, over runs R with several secrets.

    Attributes:
        keys: entries, (K,); NOISE_FREE among them.
        shares: recovered share of the secret half, (K, E, R).
        errors: worst error over all halves as queries, fraction of n, (K, E, R); infinity where refused.
        delta: largest δ among the entries' guarantees.
    """

    keys: tuple[str, ...]
    shares: Floats
    errors: Floats
    delta: float

    def within(self, share: float) -> Floats:
        """Return the quantile of the error at this share of the runs, (K, E); infinity where too many refused."""
        levels: Floats = np.quantile(self.errors, share, axis=2, method="higher")
        return levels


def recovery(
    keys: Sequence[str], *, points: int, repeats: int, neighbours: Neighbours, seed: int
) -> Generator[float, None, Recovery]:
    """Attack every entry at every ε; yields the fraction done."""
    yield 0.0
    entries, sampler = attackable_entries(points, neighbours), Preview(seed)
    shape = (len(keys), len(EPSILONS), SECRETS * TRIALS)
    shares, errors, delta = np.empty(shape), np.empty(shape), 0.0
    truths = halves.random_half(sampler, points=points, trials=SECRETS)
    for row, key in enumerate(keys):
        entry = entries.get(key)
        for column, epsilon in enumerate(EPSILONS):
            for number, truth in enumerate(truths):
                release = release_half(
                    entry,
                    truth,
                    repeats=repeats,
                    epsilon=epsilon,
                    sampler=sampler,
                    trials=TRIALS,
                    neighbours=neighbours,
                )
                place = slice(number * TRIALS, (number + 1) * TRIALS)
                shares[row, column, place] = halves.recovered(vc.reconstruct(release), truth)
                errors[row, column, place] = np.nan_to_num(vc.worst_half_error(release, truth), nan=np.inf)
                delta = max(delta, release.guarantee.delta)
                yield ((row * len(EPSILONS) + column) * SECRETS + number + 1) / (len(keys) * len(EPSILONS) * SECRETS)
    return Recovery(keys=tuple(keys), shares=shares, errors=errors, delta=delta)


@dataclass(frozen=True, kw_only=True, eq=False)
class Attack:
    """One attack on one release, (d,) each.

    Attributes:
        truth: the secret half.
        released: released counts, 0 where it was refused.
        chosen: the attacker's guess of the half.
        refused: whether the release was refused.
    """

    truth: Booleans
    released: Floats
    chosen: Booleans
    refused: bool


def one_attack(
    entry: Entry | None, *, points: int, repeats: int, epsilon: float, neighbours: Neighbours, seed: int
) -> Attack:
    """Release the secret half of a seed once, and attack the release."""
    truth = _secret(points, seed)
    release = release_half(
        entry, truth, repeats=repeats, epsilon=epsilon, sampler=Preview(seed + 1), trials=1, neighbours=neighbours
    )
    guess = vc.reconstruct(release)
    return Attack(
        truth=truth,
        released=np.nan_to_num(release.histogram()[0, :points]),
        chosen=guess.chosen[0],
        refused=bool(guess.refused[0]),
    )


def _secret(points: int, seed: int) -> Booleans:
    half: Booleans = halves.random_half(Preview(seed), points=points)[0]
    return half


def swap_worlds(
    entry: Entry | None, *, points: int, repeats: int, epsilon: float, neighbours: Neighbours, seed: int, trials: int
) -> halves.TwoWorlds:
    """Reconstruct with the first secret point in the data, and with it replaced by a point from outside."""
    truth, sampler = _secret(points, seed), Preview(seed + 2)
    point, newcomer = int(np.flatnonzero(truth)[0]), int(np.flatnonzero(~truth)[0])
    swapped = truth.copy()
    swapped[[point, newcomer]] = False, True
    inside, outside = (
        release_half(
            entry, half, repeats=repeats, epsilon=epsilon, sampler=sampler, trials=trials, neighbours=neighbours
        )
        for half in (truth, swapped)
    )
    return halves.two_worlds(
        vc.reconstruct(inside),
        vc.reconstruct(outside),
        point=point,
        epsilon=epsilon,
        delta=inside.guarantee.delta,
        steps=replacement_steps(neighbours, rows=repeats),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RecoveryBounds:
    """Bounds for every private mechanism, (E,) each.

    Attributes:
        epsilon: the grid of ε.
        share: upper bound on the average share of a random half that an attack recovers.
        error: lower bound on the guaranteed error on the worst half, with confidence 1 − BETA, a fraction of n.
    """

    epsilon: Floats
    share: Floats
    error: Floats

    def at(self, epsilon: float) -> tuple[float, float]:
        """Return share and error at the nearest ε of the grid."""
        place = int(np.argmin(np.abs(self.epsilon - epsilon)))
        return float(self.share[place]), float(self.error[place])


def recovery_bounds(
    epsilons: Floats, *, points: int, repeats: int, neighbours: Neighbours, delta: float
) -> RecoveryBounds:
    """Compute both bounds along a grid of ε (E,)."""
    share, error = np.empty(len(epsilons)), np.empty(len(epsilons))
    for place, epsilon in enumerate(epsilons.tolist()):
        share[place] = vc.recovery_ceiling(epsilon=epsilon, repeats=repeats, neighbours=neighbours, delta=delta)
        error[place] = vc.error_bound(
            epsilon=epsilon, repeats=repeats, neighbours=neighbours, beta=BETA, delta=delta, points=points
        ).value
    return RecoveryBounds(epsilon=epsilons, share=share, error=error)
