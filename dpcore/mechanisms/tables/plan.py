"""Noise of the contrasts of each set of attributes: public, from sizes, k, epsilon and delta alone.

Residual planner (Xiao, He, Zhang and Kifer 2023): of all Gaussian noise of one privacy cost, sigma_T^2 proportional
to sqrt(p_T/v_T) gives the least squared error, v_T the weight with which a set enters it. Where a row is replaced
the cost is the largest over types of pairs of records, a minimum against a maximum; there p_T becomes a mixture over
pairs, found by multiplying weights. Whatever the relative sigmas, the scale is then fixed so that the proved delta
is within the target.

Small tables get more: post-processing uses tables of few attributes to predict larger ones, which the formula does not
take into account. v_T is multiplied by small_set_weight^(k - |T|).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations

import numpy as np

from dpcore.core import Booleans, Floats, Integers, Neighbours
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import contrast_rows, record_contrasts
from dpcore.privacy.gaussian_vectors import calibrate, delta_of
from dpcore.queries.marginals import Set

ROUNDS = 400
"""Rounds of multiplying weights; the result is only ever compared with the target by its true cost."""


@dataclass(frozen=True, kw_only=True)
class PlanPart:
    """The sets of one type, whose contrasts all get the same noise.

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
    """The Gaussian noise of all contrasts.

    Attributes:
        cliques: the sets and their sizes.
        neighbours: the relation.
        parts: in the order they are drawn and published; types that no neighbour moves are not drawn.
        delta: the delta proved at the plan's epsilon.
    """

    cliques: CliqueTypes
    neighbours: Neighbours
    parts: tuple[PlanPart, ...]
    delta: float

    @property
    def numbers(self) -> int:
        """Noisy numbers of one release."""
        return sum(len(part.sets) * part.rows for part in self.parts)

    def cell_sigma(self, table: Set) -> float:
        """Return the predicted standard deviation of each cell of an unbiased table, in rows."""
        return math.sqrt(self._cell_sum(table, {part.key: part.centred_variance for part in self.parts}))

    def cell_length(self, table: Set) -> float:
        """Return the Euclidean length of the coefficients with which the noises enter a cell of an unbiased table."""
        return math.sqrt(self._cell_sum(table, {part.key: 1 / part.kappa for part in self.parts}))

    def cell_numbers(self, table: Set) -> int:
        """Return the number of noisy contrasts that enter a cell of an unbiased table."""
        sizes = self.cliques.sizes
        return sum(contrast_rows(tuple(sizes[a] for a in inside)) for inside in _subsets(table))

    def _cell_sum(self, table: Set, of_parts: dict[Set, float]) -> float:
        """Return the sum of a part's number for each set inside a table, by its share in the square of a cell."""
        place = {size: position for position, (size, _) in enumerate(self.cliques.groups)}
        total = 0.0
        for inside in _subsets(table):
            key = [0] * len(place)
            for attribute in inside:
                key[place[self.cliques.sizes[attribute]]] += 1
            share = math.prod(
                1 - 1 / self.cliques.sizes[a] if a in inside else self.cliques.sizes[a] ** -2.0 for a in table
            )
            total += of_parts.get(tuple(key), 0.0) * share
        return total


def _subsets(table: Set) -> Iterator[Set]:
    """Yield the sets of attributes inside a table, small ones first."""
    return chain.from_iterable(combinations(table, order) for order in range(len(table) + 1))


@lru_cache(maxsize=64)
def clique_types_of(sizes: tuple[int, ...], ways: int) -> CliqueTypes:
    """Return the types of cliques of a domain, cached: their sets take a while to list."""
    return CliqueTypes(sizes=sizes, ways=ways)


@lru_cache(maxsize=256)
def residual_plan(
    *,
    sizes: tuple[int, ...],
    ways: int,
    neighbours: Neighbours,
    epsilon: float,
    delta: float,
    small_set_weight: float = 1.0,
) -> ResidualPlan:
    """Return the noise that the residual planner chooses.

    Args:
        sizes: cells of each attribute.
        ways: k, attributes of a table.
        neighbours: the relation.
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        small_set_weight: factor on the weight of a set for each attribute that it has fewer than k.
    """
    cliques = clique_types_of(sizes, ways)
    shifts = cliques.squared_shifts(neighbours) / cliques.kappas
    drawn = shifts.max(axis=0) > 0
    weights = cliques.weights * cliques.counts * small_set_weight ** (ways - cliques.orders)
    relative = np.sqrt(best_variances(shifts[:, drawn], weights=weights[drawn]) * cliques.kappas[drawn])
    return gaussian_plan(cliques, neighbours, drawn=drawn, relative=relative, epsilon=epsilon, delta=delta)


def gaussian_plan(
    cliques: CliqueTypes, neighbours: Neighbours, *, drawn: Booleans, relative: Floats, epsilon: float, delta: float
) -> ResidualPlan:
    """Return the plan with sigmas in these proportions, (drawn types,), at the least noise proved for the target."""
    counts, shifts = (cliques.counts * cliques.rows)[drawn], cliques.squared_shifts(neighbours)[:, drawn]
    sigmas = calibrate(relative, epsilon=epsilon, delta=delta, counts=counts, squared_shifts=shifts)
    parts = build_parts(cliques, drawn=drawn, sigmas=sigmas)
    proved = delta_of(epsilon, sigmas=sigmas, counts=counts, squared_shifts=shifts)
    return ResidualPlan(cliques=cliques, neighbours=neighbours, parts=parts, delta=proved)


def build_parts(cliques: CliqueTypes, *, drawn: Booleans, sigmas: Floats) -> tuple[PlanPart, ...]:
    """Return the parts with these sigmas, one for each type that is drawn."""
    return tuple(
        PlanPart(
            key=cliques.keys[kind],
            sets=cliques.sets[cliques.keys[kind]],
            sigma=float(sigma),
            kappa=float(cliques.kappas[kind]),
            rows=int(cliques.rows[kind]),
        )
        for kind, sigma in zip(np.flatnonzero(drawn), sigmas, strict=True)
    )


def best_variances(shifts: Floats, *, weights: Floats) -> Floats:
    """Return the variances (m,) with the least weighted sum among those of one worst cost: (pairs, m) to (m,).

    For a mixture of pairs the best are sqrt(mixed shift/weight). The worst mixture is found by raising the share of
    pairs that cost more than others.
    """
    mixture = np.full(len(shifts), 1 / len(shifts))
    for turn in range(ROUNDS if len(shifts) > 1 else 0):
        cost = shifts @ np.sqrt(weights / np.maximum(mixture @ shifts, 1e-300))
        mixture = mixture * (cost / cost.max()) ** (4 if turn < ROUNDS // 2 else 1)
        mixture /= mixture.sum()
    variances: Floats = np.sqrt(np.maximum(mixture @ shifts, 1e-12 * shifts.max(axis=0)) / weights)
    return variances


@lru_cache(maxsize=64)
def draws_of(plan: ResidualPlan) -> tuple[tuple[float, int, int], ...]:
    """Return (sigma, number of draws, squared shift under a worst pair) of each part of a plan.

    Where there are too many types of pairs to compare, the shift is that of each set at its own worst pair.
    """
    shifts = plan.cliques.squared_shifts(plan.neighbours)
    if plan.neighbours is Neighbours.REPLACE_ONE and len(shifts) == 1:
        squares = {key: math.ceil(shift) for key, shift in zip(plan.cliques.keys, shifts[0].tolist(), strict=True)}
        return tuple((part.sigma, len(part.sets) * part.rows, squares[part.key]) for part in plan.parts)
    return tuple(
        (part.sigma, len(part.sets) * part.rows, sum(step * step for step in shift.tolist()))
        for part, shift in zip(plan.parts, worst_shift(plan), strict=True)
    )


def worst_shift(plan: ResidualPlan) -> Iterator[Integers]:
    """Yield, for each part, the shifts of the numbers that a worst pair of records moves.

    The two records differ as the plan's costliest type of pair; where there are too many types to compare, everywhere,
    which may cost less than a worst pair.
    """
    cliques, sizes = plan.cliques, plan.cliques.sizes
    one, other = (0,) * len(sizes), list((0,) * len(sizes))
    if plan.neighbours is Neighbours.REPLACE_ONE:
        left = {size: many for (size, _), many in zip(cliques.groups, _costliest_pair(plan), strict=True)}
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


def _costliest_pair(plan: ResidualPlan) -> Set:
    """Return the number of attributes of each size in which the two records of a costliest pair differ."""
    cliques = plan.cliques
    shifts = cliques.squared_shifts(Neighbours.REPLACE_ONE)
    every = list(cliques.differing()) if len(shifts) > 1 else [tuple(many for _, many in cliques.groups)]
    precision = {part.key: part.sigma**-2 for part in plan.parts}
    return every[int((shifts @ np.array([precision.get(key, 0.0) for key in cliques.keys])).argmax())]
