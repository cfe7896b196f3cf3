"""Gaussian releases charged as one vector: their exact joint law over all neighbours, the ledger, shares of a total."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typing_extensions import override

from dpcore import Account, Neighbours, Preview, catalogue
from dpcore.core import Dataset, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.frames import read_frame
from dpcore.privacy.composition import compose
from dpcore.privacy.gaussian_vectors import delta_of
from dpcore.privacy.persons import least_epsilon
from dpcore.randomness import Enumerate, GaussianCounts
from dplab.audit import ROUNDING, Law, aligned
from dplab.measure import finish
from dprelease.certificate import certificate, price_of, prices, verify
from dprelease.ledger.units import Price
from dprelease.plan.planned_question import PlannedQuestion, group_question
from dprelease.plan.questions import Plan
from dprelease.plan.shares import for_total
from dprelease.requests.parts import Request
from dprelease.requests.vector import as_one_draw
from tests.kit.ledgers import NOMINAL, question_of, registered, stored_release
from tests.kit.problems import ordinary_data, ordinary_problems, relations

ADD_REMOVE, REPLACE = Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE
ENTRIES = [entry for entry in catalogue() if entry.mechanism.releases == "data"]


def plan_of(*keys: str, neighbours: Neighbours = ADD_REMOVE, epsilon: float = 0.25, bits: int = 5, **told: Any) -> Plan:
    """Ranges of columns a, b, ... by these mechanisms, with delta = 1e-9."""
    names = "abcdef"[: len(keys)]
    columns = tuple(DeclaredColumn(name=name, on=Number(high=32.0, bits=bits)) for name in names)
    questions = tuple(
        PlannedQuestion(
            columns=(name,), queries="intervals", entry_key=key, epsilon=epsilon,
            values={"delta": 1e-9} if key in {"gaussian", "root"} else {},
        )
        for name, key in zip(names, keys, strict=True)
    )  # fmt: skip
    return Plan(table=DeclaredTable(columns=columns, **told), n=1_000, questions=questions, neighbours=neighbours)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_the_noise_that_is_told_is_all_that_is_drawn(entry: Any, seed: int) -> None:
    """Of every mechanism that tells it, the account shows one charge: this sigma, so many numbers, this shift."""
    for neighbours in relations(entry):
        problem = ordinary_problems(entry, neighbours)[0]
        mechanism = entry.make(**entry.tiny)
        gaussians = mechanism.gaussians(problem)
        if not gaussians:
            assert entry.key not in {"gaussian", "root"}
            continue
        account = Account(Preview(seed))
        mechanism.run(mechanism.prepare(ordinary_data(problem)[0], problem), account, 1)
        made = [(each.sigma, each.numbers, each.squared_shift) for each in account.charges]
        assert list(gaussians) == made


# Two columns of two cells, of few rows: every table, and every neighbour.

EPSILON, DELTA, WINDOW = 0.5, 0.05, (-7, 9)
Counts = tuple[tuple[int, int], tuple[int, int]]


def tiny_plan(neighbours: Neighbours, *, person_rows: int = 0) -> Plan:
    settings: dict[str, Any] = {"person": "who", "person_rows": person_rows} if person_rows else {}
    columns = tuple(DeclaredColumn(name=name, on=Number(high=2.0, bits=1)) for name in "ab")
    questions = tuple(
        PlannedQuestion(
            columns=(name,), queries="cells", entry_key="gaussian", epsilon=EPSILON, values={"delta": DELTA}
        )
        for name in "ab"
    )
    table = DeclaredTable(columns=columns, **settings)
    return Plan(table=table, n=2, questions=questions, neighbours=neighbours)


def counted(rows: tuple[tuple[int, int], ...]) -> Counts:
    first, second = (np.bincount([row[place] for row in rows], minlength=2).tolist() for place in (0, 1))
    return (first[0], first[1]), (second[0], second[1])


def neighbouring(neighbours: Neighbours, person_rows: int) -> Iterator[tuple[Counts, Counts]]:
    """All pairs of counts of neighbouring tables, both ways."""
    kinds = [(a, b) for a in (0, 1) for b in (0, 1)]
    if neighbours is REPLACE:
        for one, other, same in itertools.product(kinds, repeat=3):
            yield counted((one, same)), counted((other, same))
        return
    for fewer in range(2):
        for kept in itertools.combinations_with_replacement(kinds, fewer):
            for more in range(1, max(1, person_rows) + 1):
                for person in itertools.combinations_with_replacement(kinds, more):
                    pair = counted(kept), counted(kept + person)
                    yield from (pair, pair[::-1])


def worst(plan: Plan, epsilon: float, person_rows: int) -> float:
    """The largest exact delta of both releases together at an epsilon."""
    laws: dict[tuple[int, int], Law] = {}

    def law(counts: tuple[int, int]) -> Law:
        if counts not in laws:
            question = plan.questions[0]
            problem = replace(plan.problem(question), n=sum(counts) or 1)
            dataset = Dataset(problem.domain, np.repeat(np.arange(2), counts), GENERATED)
            mechanism = plan.mechanism(question)
            laws[counts] = Enumerate(window=WINDOW).law(mechanism, mechanism.prepare(dataset, problem))
        return laws[counts]

    def divergence(one: Counts, other: Counts) -> float:
        pairs = [aligned(law(one[place]), law(other[place])) for place in (0, 1)]
        p, q = (np.multiply.outer(pairs[0][side], pairs[1][side]) for side in (0, 1))
        return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())

    return max(divergence(one, other) for one, other in set(neighbouring(plan.neighbours, person_rows)))


GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="enumeration")


@pytest.mark.parametrize(("neighbours", "person_rows"), [(ADD_REMOVE, 0), (ADD_REMOVE, 2), (REPLACE, 0)])
def test_the_exact_law_of_all_neighbours_is_within_the_charge(neighbours: Neighbours, person_rows: int) -> None:
    """The vector costs less than the sum, holds, and three tenths less would not."""
    plan = tiny_plan(neighbours, person_rows=person_rows)
    cost = plan.cost
    assert cost.epsilon < 2 * EPSILON * max(1, person_rows)
    assert worst(plan, cost.epsilon, person_rows) <= cost.delta + ROUNDING
    assert worst(plan, 0.7 * cost.epsilon, person_rows) > cost.delta


def test_what_costs_less_than_the_sum_and_what_does_not() -> None:
    for neighbours in Neighbours:
        four = plan_of(*["gaussian", "root"] * 2, neighbours=neighbours)
        assert 0.25 < four.cost.epsilon < 0.65 and four.cost.delta == pytest.approx(4e-9)
        noises = [draw for each in four.questions for draw in four.mechanism(each).gaussians(four.problem(each))]
        sigmas, counts, squares = np.array(noises, dtype=np.float64).T
        settings: dict[str, Any] = {"sigmas": sigmas, "counts": counts, "squared_shifts": squares[None, :]}
        assert (
            delta_of(four.cost.epsilon, **settings) <= four.cost.delta < delta_of(four.cost.epsilon - 1e-5, **settings)
        )
        assert plan_of("gaussian", "identity", neighbours=neighbours).cost.epsilon == 0.5
        assert plan_of("root", neighbours=neighbours).cost.epsilon == 0.25
        assert plan_of("identity", "windows", neighbours=neighbours).cost.epsilon == 0.5


@pytest.mark.parametrize("rows", [0, 3])
def test_a_plan_and_the_ledger_find_one_price(rows: int) -> None:
    settings: dict[str, Any] = {"person": "who", "person_rows": rows} if rows else {}
    plan = plan_of("gaussian", "gaussian", "root", **settings)
    request = plan.request()
    assert Price.of(plan.cost) == price_of(request, rows_a_person=max(1, rows))
    sums = sum(prices(request, rows_a_person=max(1, rows)), Price(epsilon_or_rho=0))
    assert price_of(request, rows_a_person=max(1, rows)).within(sums) and plan.cost.epsilon < sums.epsilon_or_rho / 1e9


def test_a_release_of_gaussian_questions_is_charged_as_one_vector(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path, delta=1e-6)
    values = {"epsilon": 0.25, "delta": 1e-8}
    request = Request(parts=tuple(question_of(entry_key="gaussian", values=values) for _ in range(2)))
    came = stored_release(ledger, dataset_id, request)
    spent = ledger.account(dataset_id).spent
    assert spent == price_of(request, rows_a_person=1) and spent.epsilon_or_rho < 0.4e9
    assert verify(certificate(came), came.files) == []


@pytest.mark.slow
def test_gaussian_questions_share_a_total_by_what_they_cost_together() -> None:
    plan = finish(for_total(plan_of("gaussian", "root", "gaussian"), 1.0))
    assert 0.999 <= plan.cost.epsilon <= 1.0
    assert sum(question.epsilon for question in plan.questions) > 1.3
    mixed = finish(for_total(plan_of("gaussian", "identity"), 1.0))
    assert mixed.cost.epsilon == pytest.approx(1.0, abs=1e-3) and mixed.cost.epsilon <= 1.0


# Releases of several draws each: two shares by the same groups, from the residual planner.


class Recorded(Preview):
    """Writes down the numbers and the parameter of every Gaussian draw."""

    def __init__(self) -> None:
        super().__init__(1)
        self.draws: list[tuple[float, list[int]]] = []

    @override
    def make(self, draw: Any, trials: int) -> Any:
        assert isinstance(draw, GaussianCounts)
        self.draws.append((draw.sigma, draw.counts.reshape(-1).tolist()))
        return super().make(draw, trials)


GROUPED = DeclaredTable(
    columns=tuple(DeclaredColumn(name=name, on=Labels(labels=("x", "y"), missing=False)) for name in "gab")
)


def planned_shares(neighbours: Neighbours) -> Plan:
    """Shares of a and of b by g."""
    questions = tuple(
        replace(
            group_question("share", (name,), ("g",), epsilon=EPSILON), entry_key="group-counters-planned",
            values={"delta": DELTA},
        )
        for name in "ab"
    )  # fmt: skip
    return Plan(table=GROUPED, n=2, questions=questions, neighbours=neighbours)


def numbers_of(plan: Plan, rows: tuple[tuple[int, ...], ...]) -> list[tuple[float, int]]:
    """Return every number that the releases of a plan add noise to, with the parameter of its noise."""
    found: list[tuple[float, int]] = []
    for place, question in enumerate(plan.questions, 1):
        problem, recorded = plan.problem(question), Recorded()
        records = np.array([(row[0], row[place]) for row in rows], dtype=np.int64).reshape(-1, 2)
        mechanism = plan.mechanism(question)
        mechanism.run(mechanism.prepare(Dataset(problem.domain, records, GENERATED), problem), recorded, 1)
        found += [(sigma, number) for sigma, numbers in recorded.draws for number in numbers]
    return found


def delta_of_shifts(shifts: list[tuple[float, int]], epsilon: float) -> float:
    """Return the exact delta of independent discrete Gaussian numbers, moved by whole numbers: by the loss's own law.

    The loss is the sum of (s^2 - 2 s Z)/(2 sigma^2). Numbers of one sigma are convolved, laws of several multiplied.
    """
    losses, chances = np.zeros(1), np.ones(1)
    for sigma in sorted({sigma for sigma, _ in shifts}):
        law, reach = np.ones(1), 0
        for move in (abs(shift) for each, shift in shifts if each == sigma and shift):
            width = math.ceil(12 * sigma)
            masses = np.exp(-(np.arange(-width, width + 1) ** 2) / (2 * sigma**2))
            spread = np.zeros(2 * width * move + 1)
            spread[::move] = masses / masses.sum()
            law, reach = np.convolve(law, spread), reach + width * move
        squares = sum(shift**2 for each, shift in shifts if each == sigma)
        own = (squares - 2 * np.arange(-reach, reach + 1)) / (2 * sigma**2)
        kept = law > 1e-15
        losses = np.add.outer(losses, own[kept]).reshape(-1)
        chances = np.multiply.outer(chances, law[kept]).reshape(-1)
    return float(-(chances * np.expm1(np.minimum(epsilon - losses, 0.0))).sum())


def pairs_of_rows(neighbours: Neighbours) -> Iterator[tuple[Any, Any]]:
    """All pairs of neighbouring tables of at most two rows (g, a, b)."""
    kinds = list(itertools.product((0, 1), repeat=3))
    for one in kinds:
        if neighbours is REPLACE:
            yield from (((one, other), (kinds[0], other)) for other in kinds)
        else:
            yield (one,), ()
            yield from (((one, other), (other,)) for other in kinds)


def worst_of_shares(plan: Plan, epsilon: float) -> float:
    """Return the largest exact delta of both releases together over all pairs; a shift and its opposite cost alike."""
    seen = set()
    for one, other in pairs_of_rows(plan.neighbours):
        pair = zip(numbers_of(plan, one), numbers_of(plan, other), strict=True)
        seen.add(tuple(sorted((sigma, abs(first - second)) for (sigma, first), (_, second) in pair)))
    return max(delta_of_shifts(list(shifts), epsilon) for shifts in seen)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_releases_of_several_draws_are_one_vector_and_the_exact_law_is_within_the_charge(
    neighbours: Neighbours,
) -> None:
    """Three tenths less would not hold, nor would the charge of a vector that forgets a draw of each release."""
    plan = planned_shares(neighbours)
    draws = [plan.mechanism(each).gaussians(plan.problem(each)) for each in plan.questions]
    assert all(len(each) > 1 for each in draws), "the case: several draws a release"
    cost = plan.cost
    assert cost.epsilon < 0.9 * 2 * EPSILON and cost.delta == pytest.approx(2 * DELTA)
    assert 0 < worst_of_shares(plan, cost.epsilon) <= cost.delta
    assert worst_of_shares(plan, 0.7 * cost.epsilon) > cost.delta
    sums = compose([plan.guarantee(each) for each in plan.questions])
    forgotten = least_epsilon(sums, tuple(as_one_draw(each[:1]) for each in draws), rows=1)
    assert worst_of_shares(plan, forgotten.epsilon) > cost.delta, "the control"


def test_one_draw_costs_at_least_as_much_as_all_draws_that_it_stands_for(seed: int) -> None:
    """Also where the neighbour that is told has the largest sum of s^2/sigma^2, another the larger other sum."""
    generator = np.random.default_rng(seed)
    for _ in range(50):
        sigmas = generator.uniform(1.5, 9.0, size=3)
        kinds = generator.integers(0, 9, size=(4, 3))
        told = kinds[(kinds @ sigmas**-2.0).argmax()]
        sigma, numbers, square = as_one_draw([(s, 2, int(k)) for s, k in zip(sigmas.tolist(), told, strict=True)])
        settings: dict[str, Any] = {"sigmas": sigmas, "counts": np.full(3, 2.0), "squared_shifts": kinds.astype(float)}
        alone: dict[str, Any] = {"sigmas": np.array([sigma]), "counts": np.array([float(numbers)])}
        for epsilon in (0.1, 1.0, 3.0):
            bound = delta_of(epsilon, **alone, squared_shifts=np.array([[float(square)]]))
            assert delta_of(epsilon, **settings) <= bound * (1 + 1e-9)
    assert as_one_draw([(2.5, 7, 3)]) == (2.5, 7, 3)


@pytest.mark.parametrize(("neighbours", "rows"), [(ADD_REMOVE, 0), (ADD_REMOVE, 3), (REPLACE, 0)])
def test_planned_releases_cost_less_than_their_sum_for_persons_too(neighbours: Neighbours, rows: int) -> None:
    table = replace(GROUPED, person="who", person_rows=rows) if rows else GROUPED
    plan = replace(planned_shares(neighbours), table=table, n=1_000)
    sums = compose([plan.guarantee(each) for each in plan.questions])
    assert plan.cost.epsilon < 0.9 * sums.epsilon
    assert Price.of(plan.cost) == price_of(plan.request(), rows_a_person=max(1, rows))


def test_a_release_of_planned_statistics_is_charged_as_one_vector(tmp_path: Path) -> None:
    plan = planned_shares(ADD_REMOVE)
    questions = tuple(replace(each, epsilon=0.25, values={"delta": 1e-8}) for each in plan.questions)
    request = replace(plan, n=NOMINAL, questions=questions).request()
    rows = read_frame(pd.DataFrame({name: ["x", "y"] * 20 for name in "gab"}))
    ledger, dataset_id = registered(tmp_path, delta=1e-6, rows=rows)
    came = stored_release(ledger, dataset_id, request, rows)
    spent = ledger.account(dataset_id).spent
    assert spent == price_of(request, rows_a_person=1) and spent.epsilon_or_rho < 0.4e9
    assert verify(certificate(came), came.files) == []
