"""Students' decision lists: what share would apply to each college, and the bias of three polynomials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Problem, Provenance, ProvenanceKind
from dpcore.mechanisms.marginals.colleges import college_domain, college_students
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.decision_lists import Inputs
from dpcore.mechanisms.marginals.list_polynomials import (
    all_outputs,
    bias,
    prefix_form,
    rule_by_rule_bias,
    whole_coefficients,
)
from dpcore.randomness import Preview


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CollegeShares:
    """Shares of the students that would apply to each college.

    Attributes:
        truth: true shares, (Q,).
        released: released in one preview, in [0, 1], (Q,).
        gamma: the largest bias of a released share.
    """

    truth: Floats
    released: Floats
    gamma: float


def students(*, n: int, rules: int) -> Dataset:
    """Generated students, each with a decision list."""
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title=f"{n:,} students")
    return Dataset(college_domain(rules), college_students(n=n, rules=rules, seed=1), provenance)


def true_shares(dataset: Dataset, queries: Inputs) -> Floats:
    """Shares of the lists that say yes to each college, (Q,)."""
    return queries.truth(dataset.records, np.arange(queries.count))


def college_shares(
    mechanism: DecisionListMarginals, dataset: Dataset, problem: Problem, *, truth: Floats, seed: int
) -> CollegeShares:
    """One release for all colleges together, beside the truth of true_shares()."""
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed))
    answers = release.answers(np.arange(problem.queries.count), clip=True)
    return CollegeShares(truth=truth, released=answers[0], gamma=release.plan.gamma)


def worst_biases(*, rules: int, degree: int) -> tuple[float, float, float]:
    """Bias of the worst list: rule by rule as in the paper, paying where the output changes, and by linear program."""
    lists = all_outputs(rules)
    paper = max(rule_by_rule_bias(outputs, degree=degree) for outputs in lists)
    prefix = max(bias(prefix_form(outputs, degree=degree), outputs, degree=degree) for outputs in lists)
    return paper, prefix, whole_coefficients(rules, degree=degree)[1]
