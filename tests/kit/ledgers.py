"""Ledgers, requests and rows for tests."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Neighbours
from dpcore.data.columns import Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.reading.tables import Table, packed_row
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Intervals
from dprelease.ledger.connection import open_connection
from dprelease.ledger.fingerprint import NOTE, key_of
from dprelease.ledger.records import Actor, Registration, Role, Stored
from dprelease.ledger.schema import VERSION
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores.note import write_note
from dprelease.ledger.stores.selection import ADDRESS
from dprelease.ledger.units import Price
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.release import release
from dprelease.requests.parts import Request, RequestPart

STEWARD = Actor(name="Ada", role=Role.STEWARD)
ANALYST = Actor(name="Grace", role=Role.ANALYST)
DIGEST = "0123456789abcdef" * 4
"""A digest of a request for files that belong to no release."""
NOMINAL = 30
SPEND, SPEND_OFF = "Spend ε", "Spend"
"""How the label of the only button that charges begins; and the whole label where nothing can be charged."""


def spend(amount: str, *, budget: str = "2") -> str:
    """The label for an amount of a budget."""
    return f"{SPEND} {amount} of {budget}"


class FewRows:
    """Stands for a table of one column "age" and one "person": no database is opened."""

    columns = ("age", "person")
    closed = False
    counts_name = ""
    dataset = Table.dataset

    def __init__(self, ages: Sequence[float] = tuple(range(20)), persons: Sequence[int] = ()) -> None:
        self.ages = ages
        self.persons = persons or range(len(ages))
        self.row_count = len(ages)

    def packed(self, columns: Sequence[str]) -> Iterator[bytes]:
        """See Table."""
        cells = {"age": self.ages, "person": self.persons}
        yield from map(packed_row, zip(*(map(str, cells[name]) for name in columns), strict=True))

    def numbers(self, column: str) -> NDArray[np.float64]:
        """See Table."""
        return np.array(self.ages, dtype=np.float64)

    def codes(self, column: str) -> NDArray[np.int64]:
        """See Table."""
        return np.array(self.persons, dtype=np.int64)

    def present(self, column: str) -> NDArray[np.bool_]:
        """See Table; a person below 0 is nobody."""
        return np.array(self.persons) >= 0

    def reserve(self, more: int) -> None:
        """See Table."""

    def hold(self, array: NDArray[Any]) -> None:
        """See Table."""


def few_rows(ages: Sequence[float] = tuple(range(20)), persons: Sequence[int] = ()) -> Table:
    """A table of few rows."""
    return cast(Table, FewRows(ages, persons))


def question_of(*, epsilon: float = 0.5, key: str = "identity", **changed: Any) -> RequestPart:
    """Intervals of ages, in four cells."""
    domain = Number(high=20.0, bits=2)
    usual: dict[str, Any] = {
        "reading": Columns(names=("age",), on=domain),
        "queries": Intervals(domain=domain),
        "n": NOMINAL,
        "neighbours": Neighbours.ADD_REMOVE_ONE,
        "entry_key": key,
        "values": {"epsilon": epsilon},
    }
    return RequestPart(**usual | changed)


def request_of(
    *, draw: int = 1, person: str = "", rows_a_person: int = 1, file_format: Format = USUAL, **changed: Any
) -> Request:
    """A request of one such question."""
    unit: dict[str, Any] = {"person": person, "rows_a_person": rows_a_person}
    return Request(parts=(question_of(**changed),), draw=draw, file_format=file_format, **unit)


def altered(request: Request, **changed: Any) -> Request:
    """A request of one question, with another question."""
    return replace(request, parts=(replace(request.parts[0], **changed),))


def registered(
    folder: Path, *, epsilon: float = 2.0, delta: float = 0.0, rows: Table | None = None, **changed: Any
) -> tuple[Ledger, str]:
    """A ledger in a folder, and the data set it holds."""
    if os.environ.get(ADDRESS) and not any(folder.glob(f"{NOTE}*")):  # a ledger of its own in the database
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        key_of(folder)
        write_note(folder, f"t{secrets.token_hex(8)}")
    ledger = Ledger.open(folder)
    usual: dict[str, Any] = {"name": "ages", "neighbours": Neighbours.ADD_REMOVE_ONE, "public_n": NOMINAL}
    budget = Price.allowed(epsilon=epsilon, delta=delta)
    made = ledger.register(Registration(**usual | changed), rows or few_rows(), budget, STEWARD)
    return ledger, made.dataset_id


def stored_release(
    ledger: Ledger, dataset_id: str, request: Request | None = None, rows: Table | None = None, by: Actor = ANALYST
) -> Stored:
    """A release that is charged and stored: of few rows and the usual request, unless others are named."""
    came = release(ledger, dataset_id, request or request_of(), few_rows() if rows is None else rows, by)
    assert isinstance(came, Stored), came
    return came


def released_in(
    folder: Path, request: Request | None = None, *, rows: Table | None = None, by: Actor = ANALYST, **changed: Any
) -> Stored:
    """The only release of a ledger in a folder, which is registered as `registered` says."""
    ledger, dataset_id = registered(folder, rows=rows, **changed)
    return stored_release(ledger, dataset_id, request, rows, by)


def of_an_older_schema(path: Path) -> None:
    """Make a ledger's file say that an older program wrote it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION - 1}")


def forge(path: Path, script: str) -> None:
    """Whatever plain SQL can do once the triggers are gone; they are put back, so that nothing but the rows tells."""
    with open_connection(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for trigger, _ in triggers:
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.executescript(script)
        for _, sql in triggers:
            connection.execute(sql)


def plan_of(*, person: str = "", rows: int = 1, pure: bool = True) -> Plan:
    """Two questions of one table: ages below 20 in four cells, and in two."""
    columns = (DeclaredColumn(name="age", on=Number(high=20.0, bits=2)),)
    noisy: dict[str, Any] = {"entry_key": "identity"} if pure else {"entry_key": "gaussian", "values": {"delta": 1e-7}}
    questions = (
        PlannedQuestion(columns=("age",), queries="intervals", entry_key="identity", epsilon=0.25),
        PlannedQuestion(columns=("age",), queries="cells", epsilon=0.25, **noisy),
    )
    table = DeclaredTable(columns=columns, person=person, person_rows=rows)
    return Plan(table=table, n=NOMINAL, questions=questions)
