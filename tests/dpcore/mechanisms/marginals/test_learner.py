"""The private learner: rules counted row by row, exact privacy under both relations, its law and its promise."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpcore import Dataset, Neighbours, ParameterError, Preview, Problem, Secure
from dpcore.core import DataError, Guarantee, finish
from dpcore.core.sizes import MAX_CLASS_RULES
from dpcore.data.product import Product
from dpcore.mechanisms.marginals.learner import LearnerState, PrivateLearner
from dpcore.queries.hypotheses import CONJUNCTIONS, INTERVALS, TABLE, Hypotheses
from dpcore.randomness import Choice, Sampler
from dplab.audit import exact_delta
from tests.kit.problems import PROVENANCE

ROUNDING = 1e-9


def cube(attributes: int) -> Product:
    return Product.yes_no([chr(97 + place) for place in range(attributes)])


def all_rows(attributes: int) -> Any:
    return np.array(list(itertools.product((0, 1), repeat=attributes)), dtype=np.int64)


XOR = Hypotheses.of(np.array([[0, 1, 1, 0], [0, 0, 0, 1.0], [1, 1, 1, 1]]), domain=cube(3), label=1)
CLASSES = [
    Hypotheses(domain=cube(2), label=1, literals=1),
    Hypotheses(domain=cube(3), label=0, kind=CONJUNCTIONS, literals=2),
    Hypotheses(domain=cube(3), label=2, kind=INTERVALS),
    XOR,
]


def said(queries: Hypotheses, index: int, row: dict[str, int]) -> bool:
    """What a rule says, read off its words."""
    words = queries.describe(index)
    if words.endswith(("never", "always")):
        return words.endswith("always")
    parts = words.split(" if ")[1].split(" and ")
    return all(row[part.removeprefix("not ")] == (not part.startswith("not ")) for part in parts)


@pytest.mark.parametrize("queries", CLASSES[:3], ids=["one", "conjunctions", "intervals"])
def test_errors_are_those_that_the_rules_words_make(queries: Hypotheses) -> None:
    names = queries.domain.names
    records = np.random.default_rng(3).integers(0, 2, (137, len(names)))
    counted = finish(queries.errors(records))
    by_hand = [
        sum(said(queries, rule, dict(zip(names, row, strict=True))) != row[queries.label] for row in records.tolist())
        for rule in range(queries.count)
    ]
    assert counted.tolist() == by_hand and counted.dtype == np.int64
    assert len({queries.describe(rule) for rule in range(queries.count)}) == queries.count
    assert finish(queries.errors(records[:0])).tolist() == [0] * queries.count


def test_a_class_given_as_a_matrix_errs_where_it_says_another_thing() -> None:
    records = all_rows(3)[[0, 1, 1, 4, 5, 5, 7]]  # label b; bit 0 of a column is a, bit 1 is c
    xor, both = (sum(rule(a, c) != b for a, b, c in records.tolist()) for rule in (int.__xor__, int.__and__))
    assert finish(XOR.errors(records)).tolist() == [xor, both, 6] and 2 * xor != len(records)
    wide = Hypotheses.of(np.eye(32), domain=cube(6), label=0)
    assert wide.count == 32 and finish(wide.errors(all_rows(6))).sum() == 32 * 32


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("queries", CLASSES, ids=["one", "conjunctions", "intervals", "matrix"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_exact_privacy_over_all_neighbours(queries: Hypotheses, neighbours: Neighbours, epsilon: float) -> None:
    n = 3 if queries.domain.attributes == 2 else 2
    problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
    settings: dict[str, Any] = {"window": (-1, 1), "universe": all_rows(queries.domain.attributes)}
    finding = exact_delta(PrivateLearner(epsilon=epsilon), problem, **settings)
    assert finding.pairs > 0 and finding.delta <= ROUNDING
    assert exact_delta(Louder(epsilon=epsilon), problem, **settings).delta > 1e-3, "the control"


class Louder(PrivateLearner):
    """Chooses as if one row moved no score by more than a third."""

    def run(self, state: LearnerState, sampler: Sampler, trials: int = 1) -> Any:
        draw = Choice(-3 * state.errors[None, :], epsilon=self.epsilon, sensitivity=1)
        return dataclasses.replace(super().run(state, sampler, trials), chosen=sampler.draw(draw, trials))

    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=self.epsilon, neighbours=problem.neighbours)


def learned(epsilon: float = 1.0, *, n: int = 60) -> tuple[PrivateLearner, LearnerState]:
    queries = CLASSES[1]
    records = np.random.default_rng(1).integers(0, 2, (n, 3))
    records[:, 0] = records[:, 1] & (1 - records[:, 2])
    problem = Problem(domain=queries.domain, queries=queries, n=n)
    mechanism = PrivateLearner(epsilon=epsilon)
    return mechanism, mechanism.prepare(Dataset(queries.domain, records, PROVENANCE), problem)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [Preview(4), Secure()], ids=["preview", "secure"])
def test_draws_have_the_law_of_the_formula(sampler: Sampler) -> None:
    mechanism, state = learned(0.2, n=20)
    trials = 20_000 if isinstance(sampler, Preview) else 3_000
    chosen = mechanism.run(state, sampler, trials).chosen
    weights = np.exp(-0.2 / 2 * state.errors)
    law = weights / weights.sum()
    assert mechanism.law(state.errors) == pytest.approx(law)
    seen = np.bincount(chosen, minlength=len(law))
    distance = float(((seen - trials * law) ** 2 / (trials * law)).sum())
    assert distance < len(law) + 8 * math.sqrt(2 * len(law))
    wrong = np.exp(-2 * 0.2 * state.errors)
    assert float(((seen - trials * wrong / wrong.sum()) ** 2 / (trials * wrong / wrong.sum())).sum()) > 10 * len(law)


@pytest.mark.parametrize(("epsilon", "beta"), [(0.5, 0.05), (2.0, 0.2)])
def test_the_promise_is_kept_by_the_exact_law_and_nearly_met(epsilon: float, beta: float) -> None:
    """Also on the hardest rows, where all rules but the best err on equally many rows beyond it."""
    mechanism, state = learned(epsilon)
    bound = mechanism.accuracy(state.problem, beta)
    limit = bound.value * state.problem.n
    assert limit == pytest.approx(2 / epsilon * math.log(state.problem.queries.count / beta))
    assert "|H|" in bound.formula and bound.rows_needed == math.floor(limit) + 1
    hardest = np.append(0, np.full(state.problem.queries.count - 1, math.floor(limit) + 1))
    for errors in (state.errors, hardest):
        law = mechanism.law(errors)
        assert law[errors - errors.min() > limit].sum() <= beta
    closer = np.append(0, np.full(state.problem.queries.count - 1, math.floor(limit / 2)))
    assert mechanism.law(closer)[1:].sum() > beta, "half of the bound is no bound"


def test_a_class_that_is_too_large_or_no_class_is_one_sentence() -> None:
    wide = cube(40)
    with pytest.raises(ParameterError, match=rf"at most {MAX_CLASS_RULES:,} are possible"):
        Hypotheses(domain=wide, label=0, literals=4)
    for values in (
        {"label": 3}, {"label": -1}, {"literals": 0}, {"literals": 5}, {"kind": "trees"}, {"packed": b"\x01"},
        {"kind": TABLE}, {"kind": TABLE, "packed": b"\x01" * 3}, {"kind": TABLE, "packed": b"\x02" * 4},
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            Hypotheses(domain=cube(3), **values)
    with pytest.raises(ParameterError):
        Hypotheses(domain=wide, kind=TABLE, packed=b"\x01" * 64)
    wrong: list[Any] = [[[0, 1, 1]], [[0, 0.5, 1, 0]], [[np.nan, 0, 1, 0]], [0, 1, 1, 0], [[]]]
    for matrix in wrong:
        with pytest.raises(DataError, match="matrix"):
            Hypotheses.of(np.array(matrix, dtype=np.float64), domain=cube(3), label=0)
    with pytest.raises(DataError):
        Hypotheses.of(np.ones((1, 64)), domain=cube(40), label=0)
