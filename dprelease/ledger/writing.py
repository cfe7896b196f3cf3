"""Write entries of an open ledger inside the caller's transaction; each entry holds the previous one's digest."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from dprelease.ledger.canonical import canonical, digest, digest_of_bytes, fresh_salt
from dprelease.ledger.chain import ACCESS, BUDGET, MACHINE_FAILED, RESTORED, line_of
from dprelease.ledger.reading import copies_put_back_in, count_in, last_in, outcomes_in
from dprelease.ledger.records import Attempt
from dprelease.ledger.stores.protocols import LedgerConnection
from dprelease.ledger.units import Price


def today() -> str:
    """Return today's date. A finer time would reveal the duration of a draw, which may depend on the rows."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def append(
    connection: LedgerConnection,
    kind: str,
    body: Mapping[str, Any],
    *,
    about: int = 0,
    amount: Price | None = None,
    salt: str = "",
) -> int:
    """Write the next entry; returns its number."""
    last, previous = last_in(connection)
    amount = Price(epsilon_or_rho=0) if amount is None else amount  # a given amount of zero keeps its measure
    salt, seq = salt or fresh_salt(), last + 1
    line = line_of(seq=seq, kind=kind, about=about, amount=amount, body=body, salt=salt, previous=previous)
    connection.execute(
        "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (seq, kind, about, amount.epsilon_or_rho, amount.delta, canonical(body).decode(), salt, previous, digest(line)),
    )
    return seq


def set_budget(connection: LedgerConnection, budget: Price, reason: str, by: str) -> None:
    """Append an entry with a new budget."""
    append(connection, BUDGET, {"measure": budget.measure.value, "reason": reason} | signed(by), amount=budget)


def signed(by: str) -> dict[str, str]:
    """Return the fields with the user's name and the date."""
    return {"by": by, "at": today()}


def record_access_entry(connection: LedgerConnection, what: str, by: str) -> None:
    """Append an entry on access, or possible access, to true values."""
    append(connection, ACCESS, {"what": what} | signed(by))


def record_restored_copies(
    connection: LedgerConnection, by: str, *, more: int = 0, least: int = 0, forgotten: Sequence[str] = ()
) -> int:
    """Append entries for restored copies that only notes record, and for ``more`` further copies.

    ``least`` is the number of restored copies that another file records, and ``forgotten`` lists the requests whose
    machine failure is recorded there but not here.

    Returns:
        The number of restored copies.
    """
    times = max(copies_put_back_in(connection), least) + more
    outcomes = len(outcomes_in(connection))
    for _ in range(times - count_in(connection, RESTORED)):
        body = {"outcomes": outcomes, "machine_failed": [*forgotten]} | signed(by)
        append(connection, RESTORED, body, about=len(forgotten))
        forgotten = ()
    return times


def book(
    connection: LedgerConnection,
    attempt: Attempt,
    outcome: str,
    body: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
) -> int:
    """Append the outcome of an attempt with its charge and files; returns the entry's number."""
    for contents in (files or {}).values():
        digest_text = digest_of_bytes(contents)
        if not connection.execute("SELECT 1 FROM payloads WHERE digest = ?", (digest_text,)).fetchone():
            connection.execute("INSERT INTO payloads VALUES (?, ?)", (digest_text, contents))
    charge = Price(epsilon_or_rho=0, measure=attempt.price.measure) if outcome == MACHINE_FAILED else attempt.price
    return append(connection, outcome, body, about=attempt.number, amount=charge)
