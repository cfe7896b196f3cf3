"""What is written in an open ledger: every row with its link of the journal, inside somebody's transaction."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from dprelease.ledger.canonical import canonical, digest, fresh_salt
from dprelease.ledger.chain import MACHINE_FAILED, first_digest, line_of, link_of
from dprelease.ledger.reading import account_in, last_link, lines_in, registration_in
from dprelease.ledger.records import Attempt
from dprelease.ledger.stores.opened import Opened
from dprelease.ledger.units import Price


def today() -> str:
    """The day. Finer times before and after a draw would tell how long it took, which may depend on the rows."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def insert(connection: Opened, table: str, *values: Any) -> int:
    """Write the next numbered row of a table, and its link; returns its number."""
    number = int(connection.execute(f"SELECT count(*) + 1 FROM {table}").fetchone()[0])
    written(connection, table, number, *values)
    return number


def written(connection: Opened, table: str, *row: Any) -> None:
    """Write a row of a table, which begins with its number, and the link that the journal has of it."""
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} VALUES ({places})", row)
    linked(connection, table, row)


def linked(connection: Opened, table: str, row: tuple[Any, ...]) -> None:
    """Write the next link of the journal, of a row that stands in its table."""
    link, previous = last_link(connection)
    salt = fresh_salt()
    told = digest(link_of(table, row, salt=salt, previous=previous))
    connection.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)", (link + 1, table, row[0], salt, previous, told))


def set_budget(connection: Opened, budget: Price, reason: str, by: str) -> None:
    """Another budget from now on."""
    insert(connection, "budgets", budget.measure.value, budget.first, budget.delta, reason, by, today())


def book(
    connection: Opened,
    attempt: Attempt,
    outcome: str,
    body: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
) -> int:
    """Write an attempt's charge inside a transaction, with the files of what was drawn; returns the entry."""
    account, lines = account_in(connection), lines_in(connection)
    previous = digest(lines[-1]) if lines else first_digest(registration_in(connection).document)
    price = Price(first=0, measure=account.budget.measure) if outcome == MACHINE_FAILED else attempt.price
    entry, salt = len(lines) + 1, fresh_salt()
    _, record = last_link(connection)
    line = line_of(
        entry=entry,
        outcome=outcome,
        charge=price,
        budget=account.budget,
        body=body,
        salt=salt,
        previous=previous,
        record=record,
    )
    [budget] = connection.execute("SELECT budget FROM allowed").fetchone()
    row = (entry, attempt.number, outcome, attempt.request_digest, price.first, price.delta, budget)
    written(connection, "charges", *row, canonical(body).decode(), salt, previous, record, digest(line))
    for name, contents in (files or {}).items():
        connection.execute("INSERT INTO draws VALUES (?, ?, ?)", (entry, name, contents))
    return entry
