"""What persons pay for Gaussian noise: the exact law over every move of c rows, the charge, the plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, Preview
from dpcore.core import Mechanism, ParameterError, Problem, per_person
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.ranges.root import EqualisedRoot
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables, FourierTables
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.privacy.composition import gaussian_delta, one_cell_delta
from dpcore.privacy.persons import rows_delta
from dpcore.queries.at_least import AtLeast
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Intervals
from dpcore.randomness import Account
from dpcore.randomness.laws import gaussian_masses
from dplab.audit import ROUNDING
from dprelease.certificate import certificate, price_of, prices, verify
from dprelease.ledger.records import Stored
from dprelease.ledger.units import Price
from dprelease.release import release
from tests.dpcore.privacy.test_persons import ADD_REMOVE, MECHANISMS, MOST, PROBLEM, worst
from tests.kit.ledgers import ANALYST, few_rows, plan_of, registered, request_of


def moves(rows: int) -> Iterator[tuple[int, ...]]:
    """Yield the shifts of cells by so many rows, in falling order: every partition of 1 … c."""
    for total in range(1, rows + 1):
        for parts in range(1, total + 1):
            for cells in itertools.combinations_with_replacement(range(total, 0, -1), parts):
                if sum(cells) == total:
                    yield cells


def exact_delta(epsilon: float, *, sigma: float, move: tuple[int, ...]) -> float:
    """E[(1 - e^(epsilon - loss))+] of independent cells that move by whole numbers; the loss hangs on sum of d z."""
    reach, masses = gaussian_masses(sigma)
    limit = min(reach, math.ceil(12 * sigma))
    law = np.ones(1)
    for step in move:
        spread = np.zeros(2 * limit * step + 1)
        spread[::step] = masses[reach - limit : reach + limit + 1]
        law = np.convolve(law, spread)
    sums = np.arange(len(law)) - len(law) // 2
    loss = (2 * sums + sum(step * step for step in move)) / (2 * sigma**2)
    return float(-(law * np.expm1(np.minimum(epsilon - loss, 0.0))).sum())


@pytest.mark.parametrize("sigma", [0.4, 0.75, 1.1, 2.5, 6.0])
def test_the_bound_holds_for_every_move_of_so_many_rows_and_is_the_exact_one_of_one_cell(sigma: float) -> None:
    for rows, epsilon in itertools.product((2, 3, 5), (0.1, 0.5, 2.0, 6.0, 20.0)):
        bound = rows_delta(epsilon, [(sigma, 8, 1)], rows=rows)
        for move in moves(rows):
            assert exact_delta(epsilon, sigma=sigma, move=move) <= bound * (1 + 1e-9) + 1e-15, (rows, epsilon, move)
        one = one_cell_delta(epsilon, sigma=sigma, steps=rows)
        assert one == pytest.approx(exact_delta(epsilon, sigma=sigma, move=(rows,)), rel=1e-9, abs=1e-15)
        if 1e-12 < one < 0.1 and sigma > 2:
            assert bound == pytest.approx(one, rel=1e-9)


def test_one_step_is_the_law_of_one_row() -> None:
    for sigma, epsilon in itertools.product((0.5, 3.0, 80.0), (0.01, 1.0, 9.0)):
        assert one_cell_delta(epsilon, sigma=sigma, steps=1) == gaussian_delta(epsilon, sigma=sigma, shift=(1,))


@pytest.mark.slow
@pytest.mark.parametrize("cap", [2, 3])
def test_persons_pay_less_than_by_group_privacy_and_all_neighbours_are_within_it(cap: int) -> None:
    """Every table of three rows beside the same without one of its persons; a hundredth less would not do."""
    mechanism = MECHANISMS["approximate"]
    group, paid = per_person(mechanism.guarantee(PROBLEM), cap), mechanism.person_guarantee(PROBLEM, cap)
    assert paid.epsilon < 0.991 * group.epsilon and paid.delta == pytest.approx(group.delta, rel=1e-9)
    assert paid.delta <= group.delta and paid.person_rows == cap
    assert worst("approximate", cap, paid.epsilon) <= paid.delta + ROUNDING
    assert worst("approximate", cap, 0.99 * paid.epsilon) > paid.delta + ROUNDING
    if cap < MOST:
        assert worst("approximate", 0, paid.epsilon) > paid.delta + ROUNDING, "the control: rows that no cap holds"


LINE = Number(bits=3)
TABLES = Product(names=("x", "y", "z"), columns=(Labels(labels=("a", "b"), missing=False),) * 3)
OF_TABLES = Problem(domain=TABLES, queries=Marginals(domain=TABLES, ways=2), n=500, neighbours=ADD_REMOVE)
OF_A_LINE = Problem(domain=LINE, queries=Intervals(domain=LINE), n=500, neighbours=ADD_REMOVE)
CUBE = Product.yes_no([*"abcde"])
OF_A_CUBE = Problem(domain=CUBE, queries=AtLeast(domain=CUBE, width=3), n=500, neighbours=ADD_REMOVE)
GAUSSIAN: dict[str, tuple[Mechanism, Problem]] = {
    "histogram": (GaussianHistogram(epsilon=1.0), OF_A_LINE),
    "root": (EqualisedRoot(epsilon=1.0), OF_A_LINE),
    "planner": (ResidualPlanner(epsilon=1.0), OF_TABLES),
    "whole table": (WholeTable(epsilon=1.0, rule=False), OF_TABLES),
    "chosen pairs": (WholeTable(epsilon=1.0), OF_TABLES),
    "direct": (DirectTables(epsilon=1.0), OF_TABLES),
    "Fourier": (FourierTables(epsilon=1.0), OF_TABLES),
    "marginals": (PolynomialMarginals(epsilon=1.0, noise="gaussian"), OF_A_CUBE),
    "marginals themselves": (PolynomialMarginals(epsilon=1.0, noise="gaussian", method="direct"), OF_A_CUBE),
}


@pytest.mark.parametrize("which", GAUSSIAN)
def test_every_mechanism_of_gaussian_noise_says_what_it_draws_and_charges_persons_by_it(which: str, seed: int) -> None:
    mechanism, problem = GAUSSIAN[which]
    account = Account(Preview(seed))
    mechanism.run(mechanism.prepare(_data(problem, seed), problem), account, 1)
    drawn = [(each.sigma, each.numbers, each.squared_shift) for each in account.charges]
    assert list(mechanism.gaussians(problem)) == drawn
    for rows in (5, 8):
        group, paid = per_person(mechanism.guarantee(problem), rows), mechanism.person_guarantee(problem, rows)
        assert paid.epsilon < 0.99 * group.epsilon and 0 < group.delta - paid.delta < 1e-9 * group.delta
        assert rows_delta(paid.epsilon, drawn, rows=rows) <= paid.delta
        assert rows_delta(paid.epsilon - 2e-6, drawn, rows=rows) > paid.delta
    assert mechanism.person_guarantee(problem, 1) == per_person(mechanism.guarantee(problem), 1)
    assert mechanism.person_guarantee(problem, 0) == mechanism.guarantee(problem)


def _data(problem: Problem, seed: int) -> Any:
    from dpcore.core import Dataset, Provenance, ProvenanceKind
    from dpcore.data.twin import draw_mock_records

    records = draw_mock_records(problem.domain, n=problem.n, seed=seed)
    return Dataset(problem.domain, records, Provenance(kind=ProvenanceKind.GENERATED, title="x"))


def test_other_noise_is_charged_by_group_privacy() -> None:
    pure = IdentityHistogram(epsilon=1.0)
    laplace = DirectTables(epsilon=1.0, noise="laplace")
    for mechanism, problem in ((pure, OF_A_LINE), (laplace, OF_TABLES)):
        assert mechanism.person_guarantee(problem, 5) == per_person(mechanism.guarantee(problem), 5)
    replaced = Problem(domain=LINE, queries=Intervals(domain=LINE), n=500, neighbours=Neighbours.REPLACE_ONE)
    with pytest.raises(ParameterError, match="because a person changes n"):
        GaussianHistogram(epsilon=1.0).person_guarantee(replaced, 5)


def test_the_ledger_charges_and_the_certificate_recomputes_the_lower_price(tmp_path: Path) -> None:
    rows = few_rows(persons=[place // 4 for place in range(20)])
    ledger, dataset_id = registered(
        tmp_path, epsilon=9.0, delta=0.01, rows=rows, person_column="person", rows_a_person=5
    )
    request = request_of(key="gaussian", values={"epsilon": 1.0, "delta": 1e-6}, person="person", rows_a_person=5)
    [part] = request.parts
    group = Price.of(part.mechanism.guarantee(part.problem), rows_a_person=5)
    paid = price_of(request, rows_a_person=5)
    assert paid.within(group) and paid.epsilon_or_rho < 0.95 * group.epsilon_or_rho
    assert prices(request, rows_a_person=5) == [paid]
    came = release(ledger, dataset_id, request, rows, ANALYST)
    assert isinstance(came, Stored), came
    assert ledger.account(dataset_id).spent == paid
    assert came.body["guarantee"]["epsilon"] == paid.amount
    assert verify(certificate(came), came.files) == []


def test_a_plan_of_one_question_or_more_states_what_the_ledger_charges() -> None:
    plan = plan_of(person="person", rows=5, pure=False)
    request = plan.request()
    for question, price in zip(plan.questions, prices(request, rows_a_person=5), strict=True):
        assert Price.of(plan.guarantee(question)) == price
    assert Price.of(plan.cost) == price_of(request, rows_a_person=5)
    pure, gaussian = (plan.guarantee(question) for question in plan.questions)
    assert pure.epsilon == 1.25 and gaussian.epsilon < 1.249
