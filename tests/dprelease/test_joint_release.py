"""Whole plans released in one press: one charge, one draw, one certificate, and what persons are promised."""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import dprelease.release as releases
from dpcore.core import Dataset, Neighbours, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import Product
from dpcore.data.reading.tables import Table
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Intervals, Rectangles
from dpcore.randomness import Account, Enumerate
from dplab.audit import ROUNDING, Law, aligned
from dprelease.certificate import certificate, verify
from dprelease.ledger.checks import check
from dprelease.ledger.records import RAISED, Failed, Refused, Registration, Stored
from dprelease.ledger.units import Price
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.release import cost, rehearse, release
from dprelease.requests.parts import Request
from tests.dprelease.test_certificate import Certificate, change, rebooked, sealed
from tests.kit.ledgers import (
    ANALYST,
    few_rows,
    plan_of,
    question_of,
    registered,
    released_in,
    request_of,
    stored_release,
)

FILES = ["01-counts.csv", "02-counts.csv"]


def test_a_plan_is_one_charge_one_draw_and_one_certificate(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path, delta=1e-6)
    request = plan_of(pure=False).request()
    came = stored_release(ledger, dataset_id, request)
    assert sorted(came.files) == FILES
    assert [len(came.files[name].splitlines()) for name in FILES] == [5, 5]
    spent = ledger.account(dataset_id).spent
    assert spent == Price.of(plan_of(pure=False).cost) == Price(epsilon_or_rho=500_000_000, delta=10**11)
    assert release(ledger, dataset_id, request, few_rows(), ANALYST) == came
    assert ledger.account(dataset_id).spent == spent and len(ledger.outcomes(dataset_id)) == 1
    document = certificate(came)
    assert verify(document, came.files) == [] == check(ledger, dataset_id)
    parts = document["parts"]
    assert [part["files"] for part in parts] == [[name] for name in FILES]
    assert sum((Price.read(part["guarantee"]) for part in parts), Price(epsilon_or_rho=0)) == spent
    assert [part["mechanism"]["key"] for part in parts] == ["identity", "gaussian"]
    stored_release(ledger, dataset_id, plan_of(pure=False).request(draw=2))
    assert ledger.account(dataset_id).spent == spent + spent


def test_what_the_account_of_each_question_adds_up_is_never_above_the_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts: list[Account] = []

    class Kept(Account):
        def __init__(self, inner: Any) -> None:
            super().__init__(inner)
            accounts.append(self)

    monkeypatch.setattr(releases, "Account", Kept)
    ledger, dataset_id = registered(tmp_path, delta=1e-6)
    plan = plan_of(pure=False)
    assert isinstance(release(ledger, dataset_id, plan.request(), few_rows(), ANALYST), Stored)
    charged = ledger.account(dataset_id).spent
    assert len(accounts) == 2 and all(account.charges for account in accounts)
    deltas = [account.delta(question.epsilon) for account, question in zip(accounts, plan.questions, strict=True)]
    assert sum(question.epsilon for question in plan.questions) * 10**9 <= charged.epsilon_or_rho
    assert 0 < sum(deltas) * 10**18 <= charged.delta


def test_where_one_question_fails_nothing_of_the_others_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path)
    drawn: list[Any] = []
    usual = releases.draw

    def second_fails(*arguments: Any) -> Any:
        if drawn:
            raise ValueError
        drawn.append(usual(*arguments))
        return drawn[0]

    monkeypatch.setattr(releases, "draw", second_fails)
    request = plan_of().request()
    assert release(ledger, dataset_id, request, few_rows(), ANALYST) == Failed(sentence=RAISED)
    assert len(drawn) == 1 and not ledger.stored(dataset_id) and check(ledger, dataset_id) == []
    assert ledger.account(dataset_id).spent.epsilon_or_rho == 500_000_000


def test_a_plan_over_budget_or_with_a_question_that_is_not_released_draws_nothing(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path, epsilon=0.4)
    came = release(ledger, dataset_id, plan_of().request(), few_rows(), ANALYST)
    assert came == Refused(sentence="The release needs ε 0.5, but only ε 0.4 is left. Nothing was released.")
    request = Request(parts=(question_of(), question_of(bounds_from_data=True)))
    came = release(ledger, dataset_id, request, few_rows(), ANALYST)
    assert isinstance(came, Refused) and came.sentence.startswith("Statistic 2: Bounds or labels were read off")
    assert ledger.account(dataset_id).spent.epsilon_or_rho == 0


def test_a_rehearsal_of_a_plan_is_of_all_its_questions() -> None:
    rehearsal = rehearse(plan_of().request())
    assert rehearsal.numbers == 8
    assert [each.partition(" ")[0] for each in rehearsal.errors] == ["No", "With"]
    assert rehearsal.errors[0].startswith("No guarantee: ") and rehearsal.errors[1].startswith("With confidence ")


@pytest.mark.parametrize(("person", "rows"), [("", 1), ("person", 1), ("person", 2), ("age", 3)])
def test_a_request_for_others_than_are_registered_is_refused(tmp_path: Path, person: str, rows: int) -> None:
    ledger, dataset_id = registered(tmp_path, epsilon=9.0, person_column="person", rows_a_person=3)
    for asked in (plan_of(person=person, rows=rows).request(), request_of(person=person, rows_a_person=rows)):
        came = release(ledger, dataset_id, asked, few_rows(), ANALYST)
        assert isinstance(came, Refused)
        assert "registered for persons (column “person”) with at most 3 rows" in came.sentence
    assert ledger.account(dataset_id).spent.epsilon_or_rho == 0


def test_persons_are_charged_and_promised_what_their_rows_cost(tmp_path: Path) -> None:
    rows = few_rows((1.0,) * 90 + (19.0,) * 2, (7,) * 90 + (8, 9))
    ledger, dataset_id = registered(
        tmp_path, epsilon=2.0, delta=1e-5, rows=rows, person_column="person", rows_a_person=3
    )
    plan = plan_of(person="person", rows=3, pure=False)
    came = stored_release(ledger, dataset_id, plan.request(), rows)
    document = certificate(came)
    # The Laplace half costs 3 · 0.25; the Gaussian half less than group privacy's, by its delta at three rows at once.
    assert document["guarantee"]["epsilon"] == "1.499151" and document["guarantee"]["unit"]["rows_a_person"] == 3
    delta = 1e-7 * math.expm1(0.75) / math.expm1(0.25)
    assert float(document["guarantee"]["delta"]) == pytest.approx(delta, rel=1e-8) == pytest.approx(plan.cost.delta)
    assert verify(document, came.files) == []


# Two columns of two cells each, of two persons: every table of at most three rows.

CAP, PERSONS, EPSILON, DELTA, MOST = 2, (1, 2), 0.6, 0.02, 3
Rows = tuple[tuple[int, int, int], ...]
"""A table in file order: whose row it is, and its cells in both columns."""


class TwoColumns:
    """Stands for a table of "a", "b" and "person"."""

    columns = ("a", "b", "person")
    dataset = Table.dataset

    def __init__(self, rows: Rows) -> None:
        self.cells = {name: np.array([row[place] for row in rows], dtype=np.int64) for name, place in COLUMNS.items()}
        self.row_count = len(rows)

    def numbers(self, column: str) -> Any:
        """See Table."""
        return self.cells[column] + 0.5

    def codes(self, column: str) -> Any:
        """See Table."""
        return self.cells[column]

    def present(self, column: str) -> Any:
        """See Table."""
        return np.ones(self.row_count, dtype=bool)

    def reserve(self, more: int) -> None:
        """See Table."""

    def hold(self, array: Any) -> None:
        """See Table."""


COLUMNS = {"person": 0, "a": 1, "b": 2}
TABLES: list[Rows] = [
    table
    for count in range(MOST + 1)
    for table in itertools.product(itertools.product(PERSONS, (0, 1), (0, 1)), repeat=count)
]
TINY = Plan(
    table=DeclaredTable(
        columns=tuple(DeclaredColumn(name=name, on=Number(high=2.0, bits=1)) for name in "ab"),
        person="person",
        person_rows=CAP,
    ),
    n=MOST,
    questions=(
        PlannedQuestion(columns=("a",), queries="cells", entry_key="identity", epsilon=EPSILON),
        PlannedQuestion(
            columns=("b",), queries="cells", entry_key="gaussian", epsilon=EPSILON, values={"delta": DELTA}
        ),
    ),
)
ASKED = TINY.request()
REGISTERED = Registration(
    name="x", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=MOST, person_column="person", rows_a_person=CAP
)


@cache
def histograms(rows: Rows, cap: int = CAP) -> tuple[tuple[int, ...], ...]:
    """Return the histogram that each part's mechanism receives of a table."""
    registered, table = replace(REGISTERED, rows_a_person=cap), cast(Table, TwoColumns(rows))
    datasets = (releases._dataset(part, registered, table) for part in ASKED.parts)
    return tuple(tuple(dataset.histogram.tolist()) for dataset in datasets)


@cache
def law(place: int, counts: tuple[int, ...]) -> Law:
    """The exact law of one question's release."""
    part = ASKED.parts[place]
    records = np.repeat(np.arange(2), counts)
    dataset = Dataset(part.problem.domain, records, Provenance(kind=ProvenanceKind.GENERATED, title="enumeration"))
    return Enumerate(window=(-3, MOST + 3)).law(part.mechanism, part.mechanism.prepare(dataset, part.problem))


def divergence(one: tuple[tuple[int, ...], ...], other: tuple[tuple[int, ...], ...], epsilon: float) -> float:
    """The smallest delta of both questions together, whose coins are independent."""
    laws = [aligned(law(place, one[place]), law(place, other[place])) for place in (0, 1)]
    p, q = (np.multiply.outer(laws[0][side], laws[1][side]) for side in (0, 1))
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def worst(price: Price, cap: int) -> float:
    """The largest exact delta at a price's epsilon, over all tables with and without one of their persons."""
    without = [(rows, tuple(row for row in rows if row[0] != person)) for rows in TABLES for person in PERSONS]
    pairs = {(histograms(one, cap), histograms(other, cap)) for one, other in without}
    both = pairs | {(other, one) for one, other in pairs}
    return max(divergence(one, other, price.epsilon_or_rho / 10**9) for one, other in both)


@pytest.mark.slow
def test_a_plan_keeps_every_person_of_every_tiny_table_within_its_charge() -> None:
    price = cost(ASKED, REGISTERED)
    assert worst(price, CAP) <= price.delta / 10**18 + ROUNDING
    three = replace(REGISTERED, rows_a_person=MOST)
    assert worst(cost(ASKED, three), MOST) <= cost(ASKED, three).delta / 10**18 + ROUNDING
    less = cost(ASKED, replace(REGISTERED, rows_a_person=1))
    assert worst(less, CAP) > less.delta / 10**18 + ROUNDING, "the charge of single rows would not do"
    assert worst(price, MOST) > price.delta / 10**18 + ROUNDING, "without the cap it would not do"


# Forgeries of what is said of several questions.

JOINT: dict[str, Callable[[Certificate], Any]] = {
    "a question dropped": lambda told: told["parts"].pop(),
    "questions in another order": lambda told: told["parts"].reverse(),
    "a smaller epsilon of one question": change("parts", 0, "guarantee", "epsilon", to="0.1"),
    "the file of another question": change("parts", 0, "files", to=["02-counts.csv"]),
    "no file": change("parts", 1, "files", to=[]),
    "another mechanism": change("parts", 1, "mechanism", "key", to="gaussian"),
    "one charge for both": change("guarantee", "epsilon", to="0.25"),
    "another person": change("request", "person", to="person"),
    "another cap": lambda told: told["request"].update(person="person", rows_a_person=2),
    "a question that was not asked": lambda told: told["request"]["parts"].append(told["request"]["parts"][0]),
    "no version of the rows": change("version", to=0),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """A plan's release."""
    return released_in(tmp_path_factory.mktemp("ledger"), plan_of().request())


@pytest.mark.parametrize("name", JOINT)
def test_a_forged_part_is_caught_however_well_it_is_sealed(stored: Stored, name: str) -> None:
    document = copy.deepcopy(certificate(stored))
    assert verify(document, stored.files) == []
    JOINT[name](document)
    assert verify(document, stored.files) and verify(sealed(document), stored.files)
    assert verify(rebooked(document), stored.files)


def test_the_files_of_a_part_and_the_claim_for_all_are_compared_with_what_is_recomputed(stored: Stored) -> None:
    """By themselves: entries of the ledger and contents of files catch these forgeries too."""
    document = copy.deepcopy(certificate(stored))
    JOINT["the file of another question"](document)
    assert any(
        each.startswith("The certificate's parts.1.files.1 is") for each in verify(sealed(document), stored.files)
    )
    document = copy.deepcopy(certificate(stored))
    JOINT["one charge for both"](document)
    told = verify(sealed(document), stored.files)
    assert any(re.fullmatch(r"The mechanism's guarantee is .*, not ε 0\.25.*\.", each) for each in told), told


def test_a_column_that_the_file_lacks_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    line = Number(high=20.0, bits=2)
    grid = Product.map(line, line)
    pay = request_of(reading=Columns(names=("pay",), on=line), queries=Intervals(domain=line))
    job = request_of(reading=Columns(names=("age", "job"), on=grid), queries=Rectangles(domain=grid))
    for name, asked in (("pay", pay), ("job", job)):
        refused = release(ledger, dataset_id, asked, few_rows(), ANALYST)
        assert refused == Refused(sentence=f"The file has no column named “{name}”.")
    assert ledger.account(dataset_id).spent.epsilon_or_rho == 0
