"""Private decision lists: the share of lists that output yes on each input, and the bias of three polynomials."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Problem, State
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals, ListState
from dpcore.mechanisms.marginals.list_polynomials import (
    all_outputs,
    bias,
    prefix_form,
    rule_by_rule_bias,
    whole_coefficients,
)
from dpcore.queries.inputs import Inputs
from dpcore.randomness import Preview

TRIALS, TOGETHER = 500, 50
"""Number of simulated releases, and number that is simulated at once."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ListShares:
    """Shares of the lists that output yes on each input.

    Attributes:
        truth: true shares, (Q,).
        released: shares of one simulated release, in [0, 1], (Q,).
        gamma: largest bias of a released share.
    """

    truth: Floats
    released: Floats
    gamma: float


def true_shares(dataset: Dataset, problem: Problem) -> Floats:
    """Return the number of lists that output yes on each input, as a share of the public n, (Q,)."""
    queries = problem.queries
    assert isinstance(queries, Inputs)
    return queries.truth(dataset.records, np.arange(queries.count)) * (dataset.n / problem.n)


def list_shares(mechanism: DecisionListMarginals, state: State, *, truth: Floats, seed: int) -> ListShares:
    """Simulate one release for all inputs, with the truth from true_shares()."""
    assert isinstance(state, ListState)
    release = mechanism.run(state, Preview(seed))
    answers = release.answers(np.arange(state.problem.queries.count), clip=True)
    return ListShares(truth=truth, released=answers[0], gamma=release.plan.gamma)


def worst_of_lists(
    mechanism: DecisionListMarginals, state: State, *, truth: Floats, seed: int
) -> Generator[float, None, Floats]:
    """Compute the largest error over all inputs in each of TRIALS releases, (TRIALS,); yields the fraction done."""
    assert isinstance(state, ListState)
    sampler, worst = Preview(seed), np.empty(TRIALS)
    for start in range(0, TRIALS, TOGETHER):
        release = mechanism.run(state, sampler, TOGETHER)
        answers = release.answers(np.arange(len(truth)), clip=True)
        worst[start : start + TOGETHER] = np.abs(answers - truth).max(axis=1)
        yield (start + TOGETHER) / TRIALS
    return worst


def worst_biases(*, rules: int, degree: int) -> tuple[float, float, float]:
    """Return the bias of the worst list: rule by rule as in the paper, by prefixes, and by a linear program."""
    lists = all_outputs(rules)
    paper = max(rule_by_rule_bias(outputs, degree=degree) for outputs in lists)
    prefix = max(bias(prefix_form(outputs, degree=degree), outputs, degree=degree) for outputs in lists)
    return paper, prefix, whole_coefficients(rules, degree=degree)[1]
