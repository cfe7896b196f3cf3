"""Decision lists by polynomials: the share of private rules that say yes to an input.

Each row is a list of rules, as a student's for choosing colleges; each query is one input, as a college. A polynomial
of low degree in a list's literals comes within gamma of what the list says, whatever the input. Its coefficients, added
up over all lists, belong to sets of literals; with noise they answer every input.

Why it is private: a list adds to level i (sets of i literals) whole numbers of sum at most L_i, the largest over all
outputs a list can have; replacing it moves level i by at most 2 L_i (the constants by their range). Each level gets
Laplace noise for its share of epsilon, and the shares add up to epsilon.

Notation: epsilon = ε; s variables, k rules, degree t, gamma = γ; coefficients are multiples of 1/5040.

References:
    Thaler, Ullman and Vadhan (2012), Faster Algorithms for Privately Releasing Marginals, Theorem 1.3 and section 4.3.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Floats,
    Integers,
    Neighbours,
    ParameterError,
    Problem,
    PureMechanism,
    Release,
    State,
    epsilon_param,
    param,
    rounded_up,
)
from dpcore.data.lists import is_lists
from dpcore.mechanisms.marginals.list_polynomials import SCALE, subsets, whole_coefficients
from dpcore.mechanisms.marginals.noise import LevelNoise, laplace_levels
from dpcore.mechanisms.marginals.tails import worst_laplace
from dpcore.queries.attribute_sets import all_sets, ranks
from dpcore.queries.inputs import Inputs
from dpcore.randomness import Sampler

if TYPE_CHECKING:
    import pandas as pd

BETA = 0.05
SUM_TOLERANCE = 1e-6
"""Rounding that a sum, written as a share and read again, may have."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ListPlan:
    """Public plan of the noisy counts to release.

    Attributes:
        coefficients: by outputs and subset of rules, multiples of 1/SCALE, (2^(k+1), subsets).
        noise: one for each level released, in multiples of 1/SCALE.
        gamma: largest bias of an answer.
        deviation: standard deviation of an answer's noise, as a share of rows.
    """

    coefficients: Integers
    noise: tuple[LevelNoise, ...]
    gamma: float
    deviation: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ListState(State):
    """The lists themselves: what is added up depends on the polynomial."""

    records: Integers

    def added_up(self, coefficients: Integers, *, level: int, degree: int) -> Integers:
        """Return the sum over lists of the coefficient of each set of ``level`` literals, (C(s, level) * 2^level,)."""
        domain = self.problem.domain
        assert is_lists(domain)
        literals, outputs = self.records[:, : domain.rules], self.records[:, domain.rules :]
        number = (outputs << np.arange(domain.rules + 1)).sum(axis=1)
        total = np.zeros(comb(domain.variables, level) << level, dtype=np.int64)
        for place, chosen in enumerate(subsets(domain.rules, degree)):
            if len(chosen) != level:
                continue
            selected = literals[:, list(chosen)]
            there = (selected < 2 * domain.variables).all(axis=1)
            # Sums of whole numbers below 2^53 are exact in doubles.
            weights = coefficients[number[there], place].astype(np.float64)
            cells = _numbered(selected[there], variables=domain.variables)
            total += np.bincount(cells, weights=weights, minlength=len(total)).astype(np.int64)
        return total


def _numbered(literals: Integers, *, variables: int) -> Integers:
    """Number of each set of literals (Q, i): the set of variables, then a bit for each that must not hold."""
    level = literals.shape[1]
    if not level:
        return np.zeros(len(literals), dtype=np.int64)
    order = np.argsort(literals % variables, axis=1)
    members = np.take_along_axis(literals, order, axis=1)
    signs = ((members >= variables) << np.arange(level)).sum(axis=1)
    numbers: Integers = (ranks(members % variables) << level) + signs
    return numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class ListRelease(Release):
    """Noisy coefficients, level by level, (T, sets of literals) each, in the order of ``plan.noise``."""

    published = ("levels",)
    plan: ListPlan
    levels: tuple[Integers, ...]

    def answers(self, indices: Integers, *, clip: bool = False) -> Floats:
        """Share of lists that say yes to each input, (T, Q); ``clip`` moves it into [0, 1], free of charge."""
        queries = self.problem.queries
        assert isinstance(queries, Inputs)
        values = queries.values(indices)
        total = np.zeros((self.trials, len(indices)))
        for noise, level in zip(self.plan.noise, self.levels, strict=True):
            sets = all_sets(queries.domain.variables, size=noise.level)
            for number, members in enumerate(sets):
                signs = (~values[:, members] << np.arange(noise.level)).sum(axis=1)
                total += level[:, (number << noise.level) + signs]
        shares = total / (SCALE * self.problem.n)
        return np.clip(shares, 0.0, 1.0) if clip else shares

    @override
    def may_show(self, numbers: Floats) -> bool:
        """Return whether shares are whole multiples of 1/(SCALE n): sums of whole numbers, perhaps moved to 0 or 1."""
        sums = numbers * (SCALE * self.problem.n)
        return bool((np.abs(sums - np.rint(sums)) <= np.maximum(SUM_TOLERANCE, 4 * np.spacing(np.abs(sums)))).all())

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial and input: trial, what holds, and the share of lists that say yes to it, in 0 to 1."""
        import pandas as pd

        queries = self.problem.queries
        shares = self.answers(np.arange(queries.count), clip=True)
        trials, inputs = np.indices(shares.shape).reshape(2, -1)
        words = np.array([queries.describe(index) for index in range(queries.count)], dtype=object)
        return pd.DataFrame({"trial": trials, "input": words[inputs], "share": shares.ravel()})


def list_plan(problem: Problem, *, epsilon: float, degree: int, noise_aware: bool) -> ListPlan:
    """Return the polynomials for these public numbers, and the best split of the budget over their levels."""
    if not is_lists(problem.domain):
        raise ParameterError("This mechanism releases decision lists.")
    # What is kept has no names: a reader's own may be read from a file.
    domain = dataclasses.replace(problem.domain, names=tuple(map(str, range(problem.domain.variables))))
    numbered = dataclasses.replace(problem, domain=domain, queries=Inputs(domain=domain))
    return numbered_list_plan(numbered, epsilon=epsilon, degree=degree, noise_aware=noise_aware)


@lru_cache(maxsize=256)
def numbered_list_plan(problem: Problem, *, epsilon: float, degree: int, noise_aware: bool) -> ListPlan:
    """The same for variables without names, kept."""
    domain = problem.domain
    assert is_lists(domain)
    top = min(degree, domain.rules)
    twice = 2 if problem.neighbours is Neighbours.REPLACE_ONE else 1
    uses = [comb(domain.variables, level) for level in range(top + 1)]
    kappa = math.sqrt(2 * math.log(2 * problem.queries.count / BETA))
    price = kappa * math.sqrt(2) * twice / (problem.n * epsilon)
    costs = tuple(price * math.sqrt(use) for use in uses) if noise_aware else ()
    coefficients, gamma = whole_coefficients(domain.rules, degree=top, costs=costs)
    moves = sensitivities(coefficients, rules=domain.rules, degree=top, neighbours=problem.neighbours)
    # Where rules are more than variables, no set of so many literals exists: there is nothing to release.
    released_levels = [level for level, moved in enumerate(moves) if moved and uses[level]]
    noise = laplace_levels(
        levels=released_levels,
        moves=[moves[level] for level in released_levels],
        weights=np.array([uses[level] for level in released_levels], dtype=np.float64),
        epsilon=epsilon,
    )
    variance = sum(uses[each.level] * each.variance for each in noise)
    deviation = math.sqrt(variance) / (SCALE * problem.n)
    return ListPlan(coefficients=coefficients, noise=tuple(noise), gamma=gamma, deviation=deviation)


def sensitivities(coefficients: Integers, *, rules: int, degree: int, neighbours: Neighbours) -> list[int]:
    """Return the L1 shift of each level under one list, all of whose literals may differ from the replaced list's."""
    levels = np.array([len(chosen) for chosen in subsets(rules, degree)])
    moves = [int(np.abs(coefficients[:, levels == level]).sum(axis=1).max()) for level in range(degree + 1)]
    if neighbours is Neighbours.REPLACE_ONE:
        moves = [int(np.ptp(coefficients[:, 0])), *(2 * moved for moved in moves[1:])]
    return moves


@dataclass(frozen=True, kw_only=True)
class DecisionListMarginals(PureMechanism):
    """Noisy coefficients of polynomials that stand in for decision lists."""

    releases: ClassVar[str] = "answers"

    epsilon: float = epsilon_param()
    degree: int = param(
        2,
        1,
        4,
        label="Highest degree",
        symbol="t",
        help="Sets of at most this many literals are released. More literals mean less bias and more noise.",
    )
    noise_aware: bool = param(
        True,
        label="Weigh noise against bias",
        help="On: the polynomial with the smallest sum of bias and expected noise. Off: the polynomial with the "
        "smallest bias.",
    )

    def plan(self, problem: Problem) -> ListPlan:
        """Return the public plan of the release."""
        return list_plan(problem, epsilon=self.epsilon, degree=self.degree, noise_aware=self.noise_aware)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Bias gamma, and the noise of all inputs by Chernoff's bound and a union bound."""
        plan = self.plan(problem)
        domain = problem.domain
        assert is_lists(domain)
        terms = [(1.0, comb(domain.variables, each.level), each.scale) for each in plan.noise]
        noise = worst_laplace(terms, queries=problem.queries.count, beta=beta) / (SCALE * problem.n)
        return Bound(
            value=plan.gamma + noise,
            kind=BoundKind.GUARANTEE,
            statement=f"With confidence {1 - beta:g}, no answer to {problem.queries.count:,} inputs has an error "
            f"above {rounded_up(plan.gamma)} (bias) plus {rounded_up(noise)} (noise).",
            formula=r"\alpha\le\gamma+\frac1n\min_{\lambda>0}\frac1\lambda\Bigl(\sum_j\ln\mathbb{E}e^{\lambda w_jZ_j}"
            r"+\ln\frac{2|Q|}{\beta}\Bigr)",
            reference="Thaler, Ullman and Vadhan (2012), section 4.3; Chernoff's bound, union bound over the inputs",
            beta=beta,
            assumptions=problem.unchecked_n,
        )

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> ListState:
        return ListState(problem=problem, records=dataset.records)

    @override
    def run(self, state: ListState, sampler: Sampler, trials: int = 1) -> ListRelease:
        problem, plan = state.problem, self.plan(state.problem)
        domain = problem.domain
        assert is_lists(domain)
        degree = min(self.degree, domain.rules)
        levels = []
        for noise in plan.noise:
            exact = state.added_up(plan.coefficients, level=noise.level, degree=degree)
            levels.append(sampler.draw(noise.draw(exact[None, :]), trials))
        return self.release(ListRelease, state, sampler, trials, plan=plan, levels=tuple(levels))


ENTRIES = (
    Entry(
        key="marginals-decision-lists",
        mechanism=DecisionListMarginals,
        title="Decision lists by a polynomial",
        story="Answers for every input which share of private decision lists says yes to it.",
        domains=(DomainType.LISTS,),
        queries=(Inputs,),
        references=("Thaler, Ullman and Vadhan (2012), Theorem 1.3",),
    ),
)
