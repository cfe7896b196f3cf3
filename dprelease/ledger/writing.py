"""What is written in an open ledger: entries, each naming the one before it, inside somebody's transaction."""

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
    """The day. Finer times before and after a draw would tell how long it took, which may depend on the rows."""
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
    amount = Price(epsilon_or_rho=0) if amount is None else amount  # one of zero has its measure
    salt, seq = salt or fresh_salt(), last + 1
    line = line_of(seq=seq, kind=kind, about=about, amount=amount, body=body, salt=salt, previous=previous)
    connection.execute(
        "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (seq, kind, about, amount.epsilon_or_rho, amount.delta, canonical(body).decode(), salt, previous, digest(line)),
    )
    return seq


def set_budget(connection: LedgerConnection, budget: Price, reason: str, by: str) -> None:
    """Another budget from now on."""
    append(connection, BUDGET, {"measure": budget.measure.value, "reason": reason} | signed(by), amount=budget)


def signed(by: str) -> dict[str, str]:
    """Who says it, and the day."""
    return {"by": by, "at": today()}


def record_access_entry(connection: LedgerConnection, what: str, by: str) -> None:
    """Somebody saw, or may have seen, true values."""
    append(connection, ACCESS, {"what": what} | signed(by))


def record_restored_copies(
    connection: LedgerConnection, by: str, *, more: int = 0, least: int = 0, forgotten: Sequence[str] = ()
) -> int:
    """Entries for all copies that took the place of this ledger and are told by notes alone, and for so many more.

    ``least`` says how many there were as another file tells, and ``forgotten`` of which requests that file has a
    machine's failure, which this one has not.

    Returns:
        How many copies there were.
    """
    times = max(copies_put_back_in(connection), least) + more
    for _ in range(times - count_in(connection, RESTORED)):
        body = {"outcomes": len(outcomes_in(connection)), "machine_failed": [*forgotten]} | signed(by)
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
    """Write an attempt's charge inside a transaction, with the files of what was drawn; returns the entry's number."""
    for contents in (files or {}).values():
        digest_text = digest_of_bytes(contents)
        if not connection.execute("SELECT 1 FROM payloads WHERE digest = ?", (digest_text,)).fetchone():
            connection.execute("INSERT INTO payloads VALUES (?, ?)", (digest_text, contents))
    charge = Price(epsilon_or_rho=0, measure=attempt.price.measure) if outcome == MACHINE_FAILED else attempt.price
    return append(connection, outcome, body, about=attempt.number, amount=charge)
