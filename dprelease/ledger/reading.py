"""What stands in an open ledger: a data set's file, or its schema in a database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from dpcore.core import Neighbours
from dprelease.ledger.chain import MACHINE_FAILED, first_digest, line_of
from dprelease.ledger.records import (
    DAMAGED,
    DIED,
    RAISED,
    RESTORED,
    Attempt,
    Failed,
    LedgerDamaged,
    Registration,
    Spent,
    Stored,
)
from dprelease.ledger.stores.opened import Opened
from dprelease.ledger.units import Price, Tally

Member = TypeVar("Member", Neighbours, Tally)


def registration_in(connection: Opened) -> Registration:
    """What is fixed for the data set of an open file."""
    row = connection.execute(
        "SELECT dataset_id, name, relation, public_n, person_column, rows_a_person, salt, by, at FROM datasets"
    ).fetchone()
    if row is None:
        raise LedgerDamaged("This ledger holds no such data set.")
    names = ("dataset_id", "name", "neighbours", "public_n", "person_column", "rows_a_person", "salt", "by", "at")
    fixed = {"neighbours": _member(Neighbours, row[2]), "measure": measure_in(connection)}
    return Registration(**dict(zip(names, row, strict=True)) | fixed)


def measure_in(connection: Opened) -> Tally:
    """What an open file adds up."""
    row = connection.execute("SELECT measure FROM budgets LIMIT 1").fetchone()
    return _member(Tally, row[0]) if row else Tally.SUMS


def _member(kind: type[Member], value: str) -> Member:
    """Return what a value stands for; raises LedgerDamaged for one that no ledger writes."""
    try:
        return kind(value)
    except ValueError:
        raise LedgerDamaged(DAMAGED) from None


def _document(text: str) -> Any:
    """Return what a text of the ledger holds; raises LedgerDamaged where it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise LedgerDamaged(DAMAGED) from None


def account_in(connection: Opened) -> Spent:
    """The budget of an open file."""
    measure = measure_in(connection)
    spent = connection.execute("SELECT first_nano, delta_atto FROM spent").fetchone()
    allowed = connection.execute("SELECT first_nano, delta_atto FROM allowed").fetchone()
    [failures] = connection.execute("SELECT count(*) FROM charges WHERE outcome = ?", (MACHINE_FAILED,)).fetchone()
    return Spent(
        budget=Price(first=allowed[0], delta=allowed[1], measure=measure),
        spent=Price(first=spent[0], delta=spent[1], measure=measure),
        begun=tuple(begun_in(connection)),
        machine_failures=failures,
        copies_put_back=copies_put_back_in(connection),
    )


def copies_put_back_in(connection: Opened) -> int:
    """How many copies took the place of an open file: by its events, or by the notes beside it if they are more."""
    return max(copies_told_in(connection), connection.copies_noted())


def copies_told_in(connection: Opened) -> int:
    """How many events of an open file tell that a copy took its place."""
    [told] = connection.execute("SELECT count(*) FROM events WHERE what LIKE ?", (f"{RESTORED}%",)).fetchone()
    return int(told)


def lines_in(connection: Opened) -> list[dict[str, Any]]:
    """The chain of an open file, worked out again from what stands in it."""
    measure = measure_in(connection)
    rows = connection.execute(
        "SELECT entry, outcome, charges.first_nano, charges.delta_atto, budgets.first_nano, budgets.delta_atto, body,"
        " salt, previous_digest, record FROM charges JOIN budgets USING (budget) ORDER BY entry"
    )
    return [
        line_of(
            entry=entry,
            outcome=outcome,
            charge=Price(first=first, delta=delta, measure=measure),
            budget=Price(first=most, delta=most_delta, measure=measure),
            body=_document(body),
            salt=salt,
            previous=previous,
            record=record,
        )
        for entry, outcome, first, delta, most, most_delta, body, salt, previous, record in rows
    ]


def last_link(connection: Opened) -> tuple[int, str]:
    """Number and digest of the last link of an open file's journal; before the first, what that one names."""
    row = connection.execute("SELECT link, link_digest FROM journal ORDER BY link DESC LIMIT 1").fetchone()
    return (row[0], row[1]) if row else (0, first_digest(registration_in(connection).document))


def stored_in(connection: Opened, entry: int) -> Stored:
    """A stored release of an open file."""
    body, salt = connection.execute("SELECT body, salt FROM charges WHERE entry = ?", (entry,)).fetchone()
    return Stored(
        entry=entry,
        body=_document(body),
        salt=salt,
        chain=tuple(lines_in(connection)[:entry]),
        files=dict(connection.execute("SELECT name, contents FROM draws WHERE entry = ? ORDER BY name", (entry,))),
        published=bool(connection.execute("SELECT 1 FROM publications WHERE entry = ?", (entry,)).fetchone()),
    )


def unpublished_in(connection: Opened) -> int:
    """Stored releases of an open file that nobody published: what somebody may have chosen among."""
    query = "SELECT count(*) FROM charges WHERE outcome = 'stored' AND entry NOT IN (SELECT entry FROM publications)"
    return int(connection.execute(query).fetchone()[0])


def told_in(connection: Opened, what: str) -> bool:
    """Whether something was written down as having happened."""
    return bool(connection.execute("SELECT 1 FROM events WHERE what = ?", (what,)).fetchone())


def failed_in(connection: Opened, entry: int) -> Failed:
    """A draw of an open file that raised or died."""
    [body] = connection.execute("SELECT body FROM charges WHERE entry = ?", (entry,)).fetchone()
    return Failed(sentence=DIED if _document(body).get("reason") == DIED else RAISED)


def begun_in(connection: Opened) -> list[Attempt]:
    """Attempts of an open file without an outcome."""
    measure = measure_in(connection)
    rows: Sequence[Any] = connection.execute(
        "SELECT attempt, request_digest, request, first_nano, delta_atto, by, at FROM begun ORDER BY attempt"
    ).fetchall()
    return [
        Attempt(number=row[0], request_digest=row[1], request=row[2],
                price=Price(first=row[3], delta=row[4], measure=measure), by=row[5], at=row[6])
        for row in rows
    ]  # fmt: skip
