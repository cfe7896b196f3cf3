"""Persons with several rows: the exact laws of all pairs of tables that differ in one person, and the formulas."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dpcore import Enumerate, Guarantee, Neighbours, Number, ParameterError, Preview, Problem, Thresholds
from dpcore.core import Dataset, Mechanism, Provenance, ProvenanceKind, per_person
from dpcore.data.declarations import Capped
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns, Reading
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.privacy.composition import as_replace_one, compose, compose_disjoint
from dplab.audit import ROUNDING, Law, hockey_stick

Rows = tuple[tuple[str, int], ...]
"""A table in file order: whose row it is ("" where it is not said), and its cell."""
ADD_REMOVE = Neighbours.ADD_REMOVE_ONE
LINE = Number(bits=1)
PROBLEM = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=3, neighbours=ADD_REMOVE)
MOST = 3
PERSONS = ("ann", "bob", "")
MECHANISMS: dict[str, Mechanism] = {
    "pure": IdentityHistogram(epsilon=0.7),
    "approximate": GaussianHistogram(epsilon=0.7, delta=0.03),
}


ROWS = tuple(itertools.product(PERSONS, (0, 1)))
TABLES: list[Rows] = [table for count in range(MOST + 1) for table in itertools.product(ROWS, repeat=count)]


@cache
def read(cap: int) -> dict[Rows, tuple[int, ...]]:
    """Return the records of each table with this cap, or with none (0).

    All tables stand in one file below each other: its persons are one table's, and its cells are numbered on.
    """
    lines = [
        f"{who and f'{who}{place}'},{2 * place + cell}" for place, table in enumerate(TABLES) for who, cell in table
    ]
    file = read_table("\n".join(["who,value", *lines, ""]).encode(), name="x.csv", header=True)
    reading: Reading = Columns(names=("value",), on=Number(high=2 * len(TABLES), bins=2 * len(TABLES)))
    if cap:
        reading = Capped(reading=reading, person="who", rows=cap)
    records = reading.dataset(file, Provenance(kind=ProvenanceKind.GENERATED, title="x")).records
    return {table: tuple((records[records // 2 == place] % 2).tolist()) for place, table in enumerate(TABLES)}


@cache
def law(name: str, rows: tuple[int, ...]) -> Law:
    """The exact law of what is released."""
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="enumeration")
    dataset = Dataset(LINE, np.array(rows, dtype=np.int64), provenance)
    mechanism = MECHANISMS[name]
    return Enumerate(window=(-4, MOST + 4)).law(mechanism, mechanism.prepare(dataset, PROBLEM))


def pairs() -> Iterator[tuple[Rows, Rows]]:
    """Every table of so many rows at most, and the same without one of its persons, wherever the rows stand.

    A row that does not say whose it is may be any person's: each such row alone counts as a person's.
    """
    for rows in TABLES:
        for person in {who for who, _ in rows if who}:
            yield rows, tuple(row for row in rows if row[0] != person)
        for place, (who, _) in enumerate(rows):
            if not who:
                yield rows, rows[:place] + rows[place + 1 :]


def worst(name: str, cap: int, epsilon: float) -> float:
    """The largest exact delta at this epsilon over all pairs, both ways round."""
    cells = read(cap)
    differing = {(cells[one], cells[other]) for one, other in pairs()}
    return max(
        hockey_stick(law(name, a), law(name, b), epsilon=epsilon)
        for one, other in differing
        for a, b in ((one, other), (other, one))
    )


@pytest.mark.slow
@pytest.mark.parametrize("cap", [1, 2, 3])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_person_more_or_less_is_within_the_guarantee_of_the_cap(name: str, cap: int) -> None:
    guarantee = per_person(MECHANISMS[name].guarantee(PROBLEM), cap)
    assert worst(name, cap, guarantee.epsilon) <= guarantee.delta + ROUNDING
    # No smaller cap's guarantee would do, and without any cap this one does not.
    if cap > 1:
        less = per_person(MECHANISMS[name].guarantee(PROBLEM), cap - 1)
        assert worst(name, cap, less.epsilon) > less.delta + ROUNDING
    if cap < MOST:
        assert worst(name, 0, guarantee.epsilon) > guarantee.delta + ROUNDING


@pytest.mark.parametrize("cap", [1, 2])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_release_of_capped_rows_says_what_holds_for_persons(name: str, cap: int) -> None:
    """Not what holds for a row: one more, early in the file, pushes out another of its person."""
    file = read_table(b"who,value\nann,0\nbob,1\n", name="x.csv", header=True)
    reading = Capped(reading=Columns(names=("value",), on=LINE), person="who", rows=cap)
    dataset = reading.dataset(file, Provenance(kind=ProvenanceKind.GENERATED, title="x"))
    mechanism = MECHANISMS[name]
    state = mechanism.prepare(dataset, PROBLEM)
    guarantee = mechanism.run(state, Preview(seed=1), 1).guarantee
    assert guarantee == mechanism.guarantee(state.problem) and guarantee.person_rows == cap
    assert worst(name, cap, guarantee.epsilon) <= guarantee.delta + ROUNDING
    # The positive control: the row's promise, for one row more of a person who has the most already.
    row = mechanism.guarantee(PROBLEM)
    full = (("ann", 0),) * cap
    pushed = law(name, read(cap)[full]), law(name, read(cap)[(("ann", 1), *full)])
    assert hockey_stick(*pushed, epsilon=row.epsilon) > row.delta + ROUNDING
    with pytest.raises(ParameterError, match="because a person changes n"):
        mechanism.prepare(dataset, replace(PROBLEM, n=2, neighbours=Neighbours.REPLACE_ONE))
    none = mechanism.guarantee(replace(PROBLEM, person_rows=1000))
    assert none.releasable == (name == "pure") and ("no guarantee" in none.why_not) == (name != "pure")


def test_the_rows_kept_are_the_first_of_each_person_whoever_else_is_there() -> None:
    rows: Rows = (("bob", 1), ("ann", 0), ("bob", 0))
    assert [read(cap)[rows] for cap in (0, 1, 2)] == [(1, 0, 0), (1, 0), (1, 0, 0)]
    assert read(2)[("", 1), ("ann", 0), ("", 0)] == (0,)


def test_epsilon_and_delta_are_those_of_group_privacy() -> None:
    row = Guarantee(epsilon=0.5, delta=1e-6, neighbours=ADD_REMOVE)
    assert per_person(row, 0) == row
    one, three = per_person(row, 1), per_person(row, 3)
    assert (one.epsilon, one.delta) == (0.5, 1e-6)
    assert three.epsilon == 1.5 and three.delta == pytest.approx(1e-6 * math.expm1(1.5) / math.expm1(0.5), rel=1e-12)
    assert per_person(Guarantee(epsilon=0.0, delta=1e-6, neighbours=ADD_REMOVE), 3).delta == pytest.approx(3e-6)
    assert per_person(Guarantee(epsilon=1000.0, neighbours=ADD_REMOVE), 1000).epsilon == 1e6
    guarantee = per_person(Guarantee(epsilon=1.0, neighbours=ADD_REMOVE, releasable=False, why_not="No."), 2)
    assert (guarantee.releasable, guarantee.why_not) == (False, "No.")


def test_the_sentence_names_the_person_and_the_cap() -> None:
    row = Guarantee(epsilon=0.5, neighbours=ADD_REMOVE)
    assert per_person(row, 3).sentence() == "ε = 1.5 (add or remove one person; per person with at most 3 rows)"
    assert per_person(row, 1).exact_sentence() == "ε = 0.5 (add or remove one person; per person with at most 1 row)"
    assert row.sentence() == "ε = 0.5 (add or remove one row)"


@pytest.mark.parametrize(
    ("guarantee", "rows", "said"),
    [
        (Guarantee(epsilon=1.0, neighbours=Neighbours.REPLACE_ONE), 2, "because a person changes n"),
        (Guarantee(epsilon=1.0, gamma=0.1, neighbours=ADD_REMOVE), 2, "random-DP"),
        (Guarantee(epsilon=1.0, delta=0.5, neighbours=ADD_REMOVE), 2, "δ would be 1 or more: no guarantee"),
        (Guarantee(epsilon=1000.0, delta=1e-300, neighbours=ADD_REMOVE), 1000, "δ would be 1 or more: no guarantee"),
        (Guarantee(epsilon=1.0, neighbours=ADD_REMOVE), -1, "must be a number"),
        (Guarantee(epsilon=1.0, neighbours=ADD_REMOVE, person_rows=2), 2, "only once"),
    ],
)
def test_what_has_no_guarantee_for_persons_says_so(guarantee: Guarantee, rows: int, said: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(said)):
        per_person(guarantee, rows)


def test_guarantees_for_persons_add_up_among_themselves_alone() -> None:
    row = Guarantee(epsilon=0.5, delta=1e-6, neighbours=ADD_REMOVE)
    two = per_person(row, 2)
    both = compose([two, two])
    assert (both.epsilon, both.person_rows) == (2.0, 2) and both.delta == pytest.approx(2 * two.delta)
    for other in (row, per_person(row, 3)):
        with pytest.raises(ParameterError, match="do not compose"):
            compose([two, other])
    with pytest.raises(ParameterError, match="several parts"):
        compose_disjoint([two, two])
    with pytest.raises(ParameterError, match="would change n"):
        as_replace_one(two)
