"""Counts, true answers and previews behind the first view of the Marginals page: counted once, drawn anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Integers, Problem
from dpcore.marginals.counting import Packed, count_sets, pack
from dpcore.marginals.plans import Plan, direct_plan, most_degree
from dpcore.marginals.preview import direct_answers, sampled
from dpcore.marginals.queries import AtLeast
from dpcore.marginals.release import MarginalRelease, MarginalState
from dpcore.mechanisms.marginals_polynomial import Marginals
from dpcore.randomness import Preview
from pages.ui.marginals_controls import Asked
from pages.ui.marginals_worst import noiseless, queries_read, readings, trials_for, worst_errors
from pages.ui.session import remembered, with_progress


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the pictures are made of.

    Attributes:
        asked: the controls.
        problem: the public problem.
        mechanism: what is asked for.
        plan: its plan; a polynomial's, or direct release.
        polynomial: the polynomial's plan, beside direct release where that is chosen.
        direct: direct release's plan.
        state: the counts behind it.
        release: one release by the polynomial.
        packed: the rows.
        indices: sampled queries.
        truth: their true answers.
        by_polynomial: their answers by the polynomial, in [0, 1].
        between: midpoints of the bounds the same release gives them.
        directly: their answers by direct release, in [0, 1].
    """

    asked: Asked
    problem: Problem
    mechanism: Marginals
    plan: Plan
    polynomial: Plan
    direct: Plan
    state: MarginalState
    release: MarginalRelease
    packed: Packed
    indices: Integers
    truth: Floats
    by_polynomial: Floats
    between: Floats
    directly: Floats

    @property
    def chosen(self) -> Floats:
        """Answers of the method that is asked for."""
        return self.directly if self.plan.polynomial is None else self.by_polynomial


def computed(asked: Asked) -> Shown:
    """Counts and true answers, once; then one release."""
    key = asked.source.key
    dataset: Dataset = remembered(f"dataset|{key}", asked.source.dataset)
    packed = remembered(f"packed|{key}", lambda: pack(dataset.records))
    problem, mechanism = asked.problem(dataset.n), asked.mechanism
    queries = problem.queries
    assert isinstance(queries, AtLeast)
    # For every k alike, so that moving it counts nothing anew.
    widest = dataclasses.replace(queries, width=min(12, asked.source.domain.attributes), least=1)
    size = most_degree(widest, mechanism.degree)
    counts = with_progress(
        f"counts|{key}|{size}", lambda: count_sets(packed, size=size), label="Counting sets of attributes."
    )
    kept: dict[tuple[int, int | None], Integers] = remembered(f"tables|{key}", dict)
    indices = sampled(queries, rows=dataset.n)
    truth = with_progress(
        f"truth|{key}|{queries.width}|{queries.least}|{queries.signed}|{len(indices)}",
        lambda: queries.truth(packed, indices),
        label="Counting true answers.",
    )
    # Shares are of the public number of rows, as answers are.
    truth = truth * (dataset.n / problem.n)
    plan, direct = mechanism.plan(problem), direct_plan(problem, mechanism.budget)
    smaller = mechanism if plan.polynomial else dataclasses.replace(mechanism, method="noise-aware")
    state = MarginalState(problem=problem, counts=counts, rows=dataset.n, _kept=kept)
    release = smaller.run(state, Preview(asked.seed))
    sets, negated = queries.sets(indices)
    low, high = release.bounds(sets, negated)
    return Shown(
        asked=asked, problem=problem, mechanism=mechanism, plan=plan, polynomial=release.plan, direct=direct,
        state=state, release=release, packed=packed, indices=indices, truth=truth,
        by_polynomial=release.answers(sets, negated, clip=True)[0],
        between=np.clip((low + high)[0] / 2, 0.0, 1.0),
        directly=np.clip(direct_answers(direct, truth, n=problem.n, sampler=Preview(asked.seed)), 0.0, 1.0),
    )  # fmt: skip


def worst_of_all(shown: Shown) -> Generator[float, None, Floats]:
    """Largest error of each of many releases by the chosen method, (T,), shares of n; yields the share done."""
    plan, queries = shown.plan, shown.problem.queries
    assert isinstance(queries, AtLeast)
    kept = queries_read(plan, shown.indices)
    indices, truth = shown.indices[kept], shown.truth[kept]
    read = readings(plan, queries, indices)
    middle = noiseless(plan, read, shown.state, truth)
    return (
        yield from worst_errors(
            plan, read, middle=middle, truth=truth, n=shown.problem.n, seed=shown.asked.seed, trials=trials_for(read)
        )
    )
