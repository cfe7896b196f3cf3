"""Read an open ledger: a data set's file, or its schema in a database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dprelease.ledger.canonical import digest
from dprelease.ledger.chain import ACCESS, BUDGET, FIRST, MACHINE_FAILED, OUTCOMES, RESTORED, STORED, line_of
from dprelease.ledger.records import DAMAGED, DIED, RAISED, Attempt, Failed, LedgerDamaged, Registration, Spent, Stored
from dprelease.ledger.stores.protocols import LedgerConnection
from dprelease.ledger.units import BudgetMeasure, Price

OUTCOME = "kind IN ('stored', 'failed', 'machine failed')"


def registration_in(connection: LedgerConnection) -> Registration:
    """Return the registration of a data set."""
    row = connection.execute("SELECT body FROM entries WHERE seq = 1").fetchone()
    if row is None:
        raise LedgerDamaged("This ledger holds no such data set.")
    try:
        return Registration.of(document_in(row[0]), measure=measure_in(connection))
    except (ValueError, TypeError, LookupError):
        raise LedgerDamaged(DAMAGED) from None


def measure_in(connection: LedgerConnection) -> BudgetMeasure:
    """Return the measure of the budget."""
    row = connection.execute(f"SELECT body FROM entries WHERE kind = '{BUDGET}' ORDER BY seq LIMIT 1").fetchone()
    try:
        return BudgetMeasure(document_in(row[0])["measure"]) if row else BudgetMeasure.SUMS
    except (ValueError, TypeError, LookupError):
        raise LedgerDamaged(DAMAGED) from None


def document_in(text: str) -> Any:
    """Parse a text of the ledger; raises LedgerDamaged where it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise LedgerDamaged(DAMAGED) from None


def account_in(connection: LedgerConnection) -> Spent:
    """Return the account of a data set."""
    measure = measure_in(connection)
    spent = connection.execute("SELECT first_nano, delta_atto FROM spent").fetchone()
    allowed = connection.execute("SELECT first_nano, delta_atto FROM allowed").fetchone()
    return Spent(
        budget=Price(epsilon_or_rho=allowed[0], delta=allowed[1], measure=measure),
        spent=Price(epsilon_or_rho=spent[0], delta=spent[1], measure=measure),
        begun=tuple(begun_in(connection)),
        machine_failures=count_in(connection, MACHINE_FAILED) + forgotten_in(connection),
        copies_put_back=copies_put_back_in(connection),
    )


def count_in(connection: LedgerConnection, kind: str) -> int:
    """Return the number of entries of a kind."""
    [count] = connection.execute("SELECT count(*) FROM entries WHERE kind = ?", (kind,)).fetchone()
    return int(count)


def copies_put_back_in(connection: LedgerConnection) -> int:
    """Return the number of restored copies, by entries or by notes, whichever is larger."""
    return max(count_in(connection, RESTORED), connection.count_restore_notes())


def forgotten_in(connection: LedgerConnection) -> int:
    """Return the number of declared machine failures whose entries are missing after a restoration."""
    row = connection.execute("SELECT coalesce(sum(about), 0) FROM entries WHERE kind = ?", (RESTORED,)).fetchone()
    return int(row[0])


def declared_in(connection: LedgerConnection) -> list[str]:
    """Return the digests of requests with a declared machine failure, including those before a restoration."""
    rows = connection.execute(
        "SELECT kind, body FROM entries WHERE kind IN (?, ?) ORDER BY seq", (MACHINE_FAILED, RESTORED)
    )
    digests = []
    for kind, text in rows.fetchall():
        body = document_in(text)
        digests += (
            [digest(body["request"])] if kind == MACHINE_FAILED else [str(each) for each in body["machine_failed"]]
        )
    return digests


def has_access_entry(connection: LedgerConnection) -> bool:
    """Return whether access to true values is recorded."""
    return count_in(connection, ACCESS) > 0


def lines_in(connection: LedgerConnection) -> list[dict[str, Any]]:
    """Recompute the chain's lines from the stored entries."""
    measure = measure_in(connection)
    rows = connection.execute(
        "SELECT seq, kind, about, first_nano, delta_atto, body, salt, previous FROM entries ORDER BY seq"
    )
    return [
        line_of(
            seq=seq,
            kind=kind,
            about=about,
            amount=Price(epsilon_or_rho=first, delta=delta, measure=measure),
            body=document_in(body),
            salt=salt,
            previous=previous,
        )
        for seq, kind, about, first, delta, body, salt, previous in rows
    ]


def last_in(connection: LedgerConnection) -> tuple[int, str]:
    """Return the number and digest of the last entry, or 0 and FIRST without entries."""
    row = connection.execute("SELECT seq, digest FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
    return (row[0], row[1]) if row else (0, FIRST)


def outcomes_in(connection: LedgerConnection) -> list[tuple[int, str]]:
    """Return the number and kind of every outcome in order: the first is entry 1 of the releases."""
    return [
        (row[0], row[1]) for row in connection.execute(f"SELECT seq, kind FROM entries WHERE {OUTCOME} ORDER BY seq")
    ]


def outcome_in(connection: LedgerConnection, request_digest: str) -> Stored | Failed | None:
    """Return the outcome of a request; None if nothing was charged for it yet."""
    rows = connection.execute("SELECT seq, kind, body FROM entries WHERE kind IN ('stored', 'failed') ORDER BY seq")
    for seq, kind, body in rows.fetchall():
        entry_body = document_in(body)
        if isinstance(entry_body, dict) and digest(entry_body.get("request")) == request_digest:
            return stored_in(connection, seq) if kind == STORED else failed_of(entry_body)
    return None


def failed_of(body: Any) -> Failed:
    """Return the failed draw of an entry's body."""
    return Failed(sentence=DIED if body.get("reason") == DIED else RAISED)


def stored_in(connection: LedgerConnection, seq: int, lines: Sequence[Mapping[str, Any]] = ()) -> Stored:
    """Return a stored release; its lines are read unless they are given."""
    chain = tuple(lines or lines_in(connection))[:seq]
    text, salt = connection.execute("SELECT body, salt FROM entries WHERE seq = ?", (seq,)).fetchone()
    body = document_in(text)
    published = connection.execute("SELECT 1 FROM entries WHERE kind = 'published' AND about = ?", (seq,)).fetchone()
    return Stored(
        entry=sum(line["kind"] in OUTCOMES for line in chain),
        body=body,
        salt=salt,
        chain=chain,
        files=files_in(connection, body),
        published=bool(published),
    )


def files_in(connection: LedgerConnection, body: Any) -> dict[str, bytes]:
    """Return the stored files that an entry's body names; missing files are left out."""
    files = {}
    for name, file_digest in sorted(body["files"].items()):
        row = connection.execute("SELECT contents FROM payloads WHERE digest = ?", (file_digest,)).fetchone()
        if row is not None:
            files[name] = bytes(row[0])
    return files


def unpublished_in(connection: LedgerConnection) -> int:
    """Return the number of stored releases that are not published, among which the user may have chosen."""
    return count_in(connection, STORED) - count_in(connection, "published")


def begun_in(connection: LedgerConnection) -> list[Attempt]:
    """Return the attempts without an outcome."""
    measure = measure_in(connection)
    rows = connection.execute("SELECT seq, first_nano, delta_atto, body FROM begun ORDER BY seq").fetchall()
    return [
        attempt_of(seq, Price(epsilon_or_rho=first, delta=delta, measure=measure), body)
        for seq, first, delta, body in rows
    ]


def attempt_of(seq: int, price: Price, text: str) -> Attempt:
    """Return the attempt of an entry."""
    body = document_in(text)
    try:
        return Attempt(
            number=seq, request_digest=digest(body["request"]), price=price, request=body["request"],
            by=body["by"], at=body["at"],
        )  # fmt: skip
    except (TypeError, LookupError):
        raise LedgerDamaged(DAMAGED) from None
