"""How much noise the contrasts of each set of attributes get: public, from sizes, k, epsilon and delta alone.

Residual planner (Xiao, He, Zhang and Kifer 2023): of all Gaussian noise of one privacy cost, sigma_T^2 proportional
to sqrt(p_T/v_T) gives the least squared error, v_T the weight with which a set enters it. Where a row is replaced
the cost is the largest over kinds of pairs of records, a minimum against a maximum; there p_T becomes a mixture over
pairs, found by multiplying weights. Whatever the relative sigmas, the scale is then fixed so that the proved delta
is within the target.

Lean: post-processing draws on tables of few attributes to predict larger ones, so that they deserve more than the
formula gives them, which knows of no post-processing. v_T is multiplied by lean^(k - |T|).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from dpcore.core import Booleans, Floats, Integers, Neighbours
from dpcore.mechanisms.tables.contrasts import record_contrasts
from dpcore.mechanisms.tables.kinds import Kinds
from dpcore.privacy.gaussian_vectors import calibrated, delta_of
from dpcore.queries.marginals import Set

ROUNDS = 400
"""Of multiplying weights; the result is only ever compared with the target by its true cost."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """The sets of one kind, whose contrasts all get one draw.

    Attributes:
        sets: attributes of each set.
        sigma: parameter of the noise on a contrast.
        kappa: sigma^2/kappa is the sigma_T^2 of a centred table.
        rows: contrasts of a set.
    """

    key: Set
    sets: tuple[Set, ...]
    sigma: float
    kappa: float
    rows: int

    @property
    def centred_variance(self) -> float:
        """sigma_T^2: noise variance of a centred table along any direction it may take."""
        return self.sigma**2 / self.kappa


@dataclass(frozen=True, kw_only=True, eq=False)
class ResidualPlan:
    """What is drawn.

    Attributes:
        kinds: the sets and their sizes.
        neighbours: the relation.
        parts: in the order they are drawn and published; kinds that no neighbour moves are not drawn.
        delta: the delta proved at the plan's epsilon.
    """

    kinds: Kinds
    neighbours: Neighbours
    parts: tuple[Part, ...]
    delta: float

    @property
    def numbers(self) -> int:
        """Noisy numbers of one release."""
        return sum(len(part.sets) * part.rows for part in self.parts)

    def cell_sigma(self, table: Set) -> float:
        """Predicted standard deviation of each cell of an unbiased table, in rows."""
        variances = {part.key: part.centred_variance for part in self.parts}
        place = {size: position for position, (size, _) in enumerate(self.kinds.groups)}
        total = 0.0
        for order in range(len(table) + 1):
            for inside in combinations(table, order):
                key = [0] * len(place)
                for attribute in inside:
                    key[place[self.kinds.sizes[attribute]]] += 1
                share = math.prod(
                    1 - 1 / self.kinds.sizes[a] if a in inside else self.kinds.sizes[a] ** -2.0 for a in table
                )
                total += variances.get(tuple(key), 0.0) * share
        return math.sqrt(total)


@lru_cache(maxsize=64)
def kinds_of(sizes: tuple[int, ...], ways: int) -> Kinds:
    """The kinds of a domain, kept: their sets take a while to list."""
    return Kinds(sizes=sizes, ways=ways)


@lru_cache(maxsize=256)
def residual_plan(
    *, sizes: tuple[int, ...], ways: int, neighbours: Neighbours, epsilon: float, delta: float, lean: float = 1.0
) -> ResidualPlan:
    """The planner's noise.

    Args:
        sizes: cells of each attribute.
        ways: k, attributes of a table.
        neighbours: the relation.
        epsilon: privacy loss.
        delta: slack.
        lean: factor on the worth of a set for each attribute that it has fewer than k.
    """
    kinds = kinds_of(sizes, ways)
    shifts = kinds.squared_shifts(neighbours) / kinds.kappas
    drawn = shifts.max(axis=0) > 0
    worth = kinds.worth * kinds.counts * lean ** (ways - kinds.orders)
    relative = np.sqrt(best_variances(shifts[:, drawn], worth=worth[drawn]) * kinds.kappas[drawn])
    return gaussian_plan(kinds, neighbours, drawn=drawn, relative=relative, epsilon=epsilon, delta=delta)


def gaussian_plan(
    kinds: Kinds, neighbours: Neighbours, *, drawn: Booleans, relative: Floats, epsilon: float, delta: float
) -> ResidualPlan:
    """The plan whose sigmas stand in these proportions, (drawn kinds,), at the least noise proved for the target."""
    counts, shifts = (kinds.counts * kinds.rows)[drawn], kinds.squared_shifts(neighbours)[:, drawn]
    sigmas = calibrated(relative, epsilon=epsilon, delta=delta, counts=counts, squared_shifts=shifts)
    parts = parts_of(kinds, drawn=drawn, sigmas=sigmas)
    proved = delta_of(epsilon, sigmas=sigmas, counts=counts, squared_shifts=shifts)
    return ResidualPlan(kinds=kinds, neighbours=neighbours, parts=parts, delta=proved)


def parts_of(kinds: Kinds, *, drawn: Booleans, sigmas: Floats) -> tuple[Part, ...]:
    """The parts with these noises, one for each kind that is drawn."""
    return tuple(
        Part(
            key=kinds.keys[kind],
            sets=kinds.sets[kinds.keys[kind]],
            sigma=float(sigma),
            kappa=float(kinds.kappas[kind]),
            rows=int(kinds.rows[kind]),
        )
        for kind, sigma in zip(np.flatnonzero(drawn), sigmas, strict=True)
    )


def best_variances(shifts: Floats, *, worth: Floats) -> Floats:
    """Variances (m,) with the least sum of worth * variance among those of one worst cost: (pairs, m) to (m,).

    For a mixture of pairs the best are sqrt(mixed shift/worth). The mixture that hurts most is found by raising the
    weight of pairs that cost more than others; the average of the rounds' mixtures is kept.
    """
    weights = np.full(len(shifts), 1 / len(shifts))
    for turn in range(ROUNDS if len(shifts) > 1 else 0):
        cost = shifts @ np.sqrt(worth / np.maximum(weights @ shifts, 1e-300))
        weights = weights * (cost / cost.max()) ** (4 if turn < ROUNDS // 2 else 1)
        weights /= weights.sum()
    variances: Floats = np.sqrt(np.maximum(weights @ shifts, 1e-12 * shifts.max(axis=0)) / worth)
    return variances


@lru_cache(maxsize=64)
def draws_of(plan: ResidualPlan) -> tuple[tuple[float, int, int], ...]:
    """Of each part of a plan: sigma, how many numbers, and the squared length by which a worst pair moves them."""
    return tuple(
        (part.sigma, len(part.sets) * part.rows, sum(step * step for step in shift.tolist()))
        for part, shift in zip(plan.parts, worst_shift(plan), strict=True)
    )


def worst_shift(plan: ResidualPlan) -> Iterator[Integers]:
    """For each part, how far a worst pair of records moves the numbers that it moves.

    The two records differ as the plan's dearest kind of pair; where the kinds were too many to compare, everywhere.
    """
    kinds, sizes = plan.kinds, plan.kinds.sizes
    one, other = (0,) * len(sizes), list((0,) * len(sizes))
    if plan.neighbours is Neighbours.REPLACE_ONE:
        left = {size: many for (size, _), many in zip(kinds.groups, _dearest(plan), strict=True)}
        for attribute, size in enumerate(sizes):
            if left[size]:
                other[attribute], left[size] = 1, left[size] - 1
    for part in plan.parts:
        shifts: list[Integers] = []
        for attributes in part.sets:
            own = tuple(sizes[a] for a in attributes)
            shift = record_contrasts(tuple(one[a] for a in attributes), own)
            if plan.neighbours is Neighbours.REPLACE_ONE:
                shift = shift - record_contrasts(tuple(other[a] for a in attributes), own)
            shifts.append(shift)
        together = np.concatenate(shifts)
        yield together[together != 0]


def _dearest(plan: ResidualPlan) -> Set:
    """In how many attributes of each size the two records of a dearest pair differ."""
    kinds = plan.kinds
    shifts = kinds.squared_shifts(Neighbours.REPLACE_ONE)
    every = list(kinds.differing()) if len(shifts) > 1 else [tuple(many for _, many in kinds.groups)]
    precision = {part.key: part.sigma**-2 for part in plan.parts}
    return every[int((shifts @ np.array([precision.get(key, 0.0) for key in kinds.keys])).argmax())]
