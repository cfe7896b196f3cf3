"""Answers to at-least queries by a polynomial, by its bounds and by direct release, in one release and in many."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, Integers, ParameterError, Problem
from dpcore.mechanisms.marginals.plans import MarginalsPlan, direct_plan
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.preview import direct_answers
from dpcore.mechanisms.marginals.release import MarginalRelease, MarginalState
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import Packed, shares
from dpcore.randomness import Preview
from dplab.marginals_worst import noiseless, queries_read, readings, trials_for, worst_errors


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarginalAnswers:
    """Simulated answers to many queries with the true answers. Not private.

    Attributes:
        mechanism: the selected mechanism.
        plan: its plan, of a polynomial or of direct release.
        direct: the plan of direct release.
        state: true counts.
        release: one release by the polynomial, even if direct release is selected.
        indices: the queries, (Q,).
        truth: true answers as shares of the public number of rows, (Q,).
        by_polynomial: answers by the polynomial, in [0, 1], (Q,).
        between: midpoints of the bounds from the same release, (Q,).
        directly: answers by direct release, in [0, 1], (Q,).
        seed: seed of the simulations.
    """

    mechanism: PolynomialMarginals
    plan: MarginalsPlan
    direct: MarginalsPlan
    state: MarginalState
    release: MarginalRelease
    indices: Integers
    truth: Floats
    by_polynomial: Floats
    between: Floats
    directly: Floats
    seed: int

    @property
    def problem(self) -> Problem:
        """Public problem of the release."""
        return self.state.problem

    @property
    def queries(self) -> AtLeast:
        """Query class of the problem."""
        queries = self.problem.queries
        assert isinstance(queries, AtLeast)
        return queries

    @property
    def chosen(self) -> Floats:
        """Answers of the selected method."""
        return self.directly if self.plan.polynomial is None else self.by_polynomial

    @property
    def evaluated_places(self) -> Integers:
        """Indices of the queries over which worst errors are computed."""
        return queries_read(self.plan, self.indices)

    def worst(self) -> Generator[float, None, Floats]:
        """Compute the largest error of each of many releases by the selected method, (T,); yields the share done."""
        places = self.evaluated_places
        truth, read = self.truth[places], readings(self.plan, self.queries, self.indices[places])
        middle = noiseless(self.plan, read, self.state, truth)
        return (
            yield from worst_errors(
                self.plan,
                read,
                middle=middle,
                truth=truth,
                n=self.problem.n,
                seed=self.seed,
                trials=trials_for(read),
            )
        )


def answer_queries(
    mechanism: PolynomialMarginals, state: MarginalState, *, indices: Integers, truth: Floats, seed: int
) -> MarginalAnswers:
    """Answer these queries in one release of each kind.

    Args:
        mechanism: the selected mechanism; if it releases directly, the noise-aware polynomial is simulated as well.
        state: counts up to the size that both need.
        indices: the queries, (Q,).
        truth: true answers as shares of the public number of rows, (Q,).
        seed: seed of the simulations.
    """
    problem, queries = state.problem, state.problem.queries
    assert isinstance(queries, AtLeast)
    plan, direct = mechanism.plan(problem), direct_plan(problem, mechanism.budget)
    smaller = mechanism if plan.polynomial else dataclasses.replace(mechanism, method="noise-aware")
    release = smaller.run(state, Preview(seed))
    sets, negated = queries.sets(indices)
    low, high = release.bounds(sets, negated)
    return MarginalAnswers(
        mechanism=mechanism,
        plan=plan,
        direct=direct,
        state=state,
        release=release,
        indices=indices,
        truth=truth,
        by_polynomial=release.answers(sets, negated, clip=True)[0],
        between=np.clip((low + high)[0] / 2, 0.0, 1.0),
        directly=np.clip(direct_answers(direct, truth, n=problem.n, sampler=Preview(seed)), 0.0, 1.0),
        seed=seed,
    )


@dataclass(frozen=True, kw_only=True)
class OneAnswer:
    """Answers to one query, as shares of the public number of rows; None where a method cannot answer it.

    Attributes:
        truth: the true answer.
        polynomial: answer by the polynomial.
        bounds: bounds from the polynomial's release.
        direct: answer by direct release.
        refusal: reason why the polynomial does not answer, else empty.
    """

    truth: float
    polynomial: float | None = None
    bounds: tuple[float, float] | None = None
    direct: float | None = None
    refusal: str = ""


def answer_one(
    shown: MarginalAnswers, packed: Packed, sets: Integers, negated: Booleans
) -> Generator[float, None, OneAnswer]:
    """Answer a query of k attributes or fewer; yields the share done.

    Args:
        shown: simulated releases.
        packed: the rows.
        sets: attributes of the query, ascending, (1, w).
        negated: whether each attribute is negated, (1, w).
    """
    queries, n, width = shown.queries, shown.problem.n, sets.shape[1]
    all_of, wide = queries.least == queries.width > 1, width == queries.width
    least = width if all_of else min(queries.least, width)
    counted = yield from shares(packed, sets, negated, least=least)
    truth = float(counted[0]) * (packed.n / n)
    polynomial, bounds, direct, refusal = None, None, None, ""
    if least == queries.least:
        try:
            polynomial = float(shown.release.answers(sets, negated, clip=True)[0, 0])
        except ParameterError as reason:
            refusal = str(reason)
        if polynomial is not None and wide:
            low, high = shown.release.bounds(sets, negated)
            bounds = float(low[0, 0]), float(high[0, 0])
    if wide:
        # Another seed: the seed of the release is that of the other answers.
        drawn = direct_answers(shown.direct, np.array([truth]), n=n, sampler=Preview(shown.seed + 1))
        direct = float(np.clip(drawn[0], 0.0, 1.0))
    return OneAnswer(truth=truth, polynomial=polynomial, bounds=bounds, direct=direct, refusal=refusal)
