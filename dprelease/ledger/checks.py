"""Whether a ledger adds up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dprelease.ledger.canonical import digest, digest_of_bytes
from dprelease.ledger.chain import MACHINE_FAILED, faults, first_digest, link_of
from dprelease.ledger.connection import DAMAGED_FILE, connected
from dprelease.ledger.reading import account_in, lines_in, registration_in
from dprelease.ledger.records import DAMAGED, LedgerDamaged, LedgerError
from dprelease.ledger.schema import KEYED
from dprelease.ledger.stores.opened import Opened

if TYPE_CHECKING:
    from dprelease.ledger.store import Ledger

WRONG = "The ledger does not add up at {what} {number}: {why}. Restore a backup."
WORDS = {
    "versions": "version",
    "budgets": "budget",
    "attempts": "attempt",
    "charges": "entry",
    "publications": "the publication of entry",
    "events": "event",
}


def check(ledger: Ledger, dataset_id: str) -> list[str]:
    """Everything that is wrong with a data set, one sentence each; it reads all of it."""
    try:
        with ledger.store.connected(dataset_id) as connection:
            connection.look()
            return wrong_inside(connection, dataset_id)
    except LedgerError as error:
        return [str(error)]


def wrong_in(path: Path, dataset_id: str, *, copy: bool = False) -> list[str]:
    """Everything that is wrong with a file that should hold a data set, one sentence each; or with a copy of one."""
    try:
        return damage_in(path, dataset_id, copy=copy)
    except LedgerError as error:
        return [str(error)]


def damage_in(path: Path, dataset_id: str, *, copy: bool = False) -> list[str]:
    """What is wrong with what stands in a file, one sentence each: what a backup is for.

    Raises:
        LedgerError: nobody knows: the file is not there, is a link or of another schema, or cannot be read now.
    """
    try:
        with connected(path, copy=copy) as connection:
            connection.look()
            return wrong_inside(connection, dataset_id)
    except LedgerDamaged as error:
        return [str(error)]


def wrong_inside(connection: Opened, dataset_id: str) -> list[str]:
    """The same of an open data set, inside a transaction of whoever writes."""
    try:
        return list(_wrong(connection, dataset_id))
    except LedgerError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return [DAMAGED]


def _wrong(connection: Opened, dataset_id: str) -> Iterator[str]:
    damage = list(connection.damage())
    yield from damage
    if DAMAGED_FILE in damage:
        return
    registration = registration_in(connection)
    if registration.dataset_id != dataset_id:
        yield "The ledger's file is another data set's. Restore a backup."
    lines = lines_in(connection)
    for entry, why in faults(lines, start=first_digest(registration.document)):
        yield WRONG.format(what="entry", number=entry, why=why)
    begun_or_booked = {
        row[0]: row[1:]
        for row in connection.execute("SELECT attempt, request_digest, first_nano, delta_atto, request FROM attempts")
    }
    rows = connection.execute(
        "SELECT entry, attempt, outcome, request_digest, first_nano, delta_atto, body, entry_digest FROM charges"
        " ORDER BY entry"
    ).fetchall()
    for line, (entry, attempt, outcome, request, first, delta, body, entry_digest) in zip(lines, rows, strict=True):
        if digest(line) != entry_digest:
            yield WRONG.format(what="entry", number=entry, why="it is not what was booked")
        held = begun_or_booked.get(attempt, ("", 0, 0, ""))
        charged = (0, 0) if outcome == MACHINE_FAILED else held[1:3]
        if request != held[0] or (first, delta) != charged or digest(json.loads(body)["request"]) != request:
            yield WRONG.format(what="entry", number=entry, why="it is not the outcome of its attempt")
        files = connection.execute("SELECT name, contents FROM draws WHERE entry = ?", (entry,))
        digests = {name: digest_of_bytes(contents) for name, contents in files}
        if digests != (json.loads(body)["files"] if outcome == "stored" else {}):
            yield WRONG.format(what="entry", number=entry, why="its result is not the one that was charged")
    if len({row[0] for row in rows}) != len(rows) or [row[0] for row in rows] != list(range(1, len(rows) + 1)):
        yield "The ledger's entries are not numbered in order. Restore a backup."
    yield from _wrong_journal(connection, start=first_digest(registration.document))
    account = account_in(connection)
    if not account.spent.within(account.budget):
        yield "More is spent than the budget. Restore a backup."


def _wrong_journal(connection: Opened, *, start: str) -> Iterator[str]:
    """Rows that are not those of which the journal has its links, and links that do not follow each other."""
    rows: dict[tuple[str, int], tuple[object, ...]] = {}
    for table in KEYED:
        rows |= {(table, row[0]): row for row in connection.execute(f"SELECT * FROM {table}")}
    records = dict(connection.execute("SELECT entry, record FROM charges WHERE record <> ''"))
    previous = start
    links = connection.execute(
        "SELECT link, kind, number, salt, previous_digest, link_digest FROM journal ORDER BY link"
    )
    for place, (link, kind, number, salt, before, told) in enumerate(links, 1):
        if link != place or before != previous:
            yield WRONG.format(what="link", number=link, why="it does not follow the link before it")
        previous = told
        row = rows.pop((kind, number), None)
        if row is None:
            yield WRONG.format(what=WORDS.get(kind, kind), number=number, why="it was taken out")
        elif digest(link_of(kind, row, salt=salt, previous=before)) != told:
            yield WRONG.format(what=WORDS[kind], number=number, why="it is not what was written")
        elif kind == "charges" and records.get(number, before) != before:
            yield WRONG.format(what="entry", number=number, why="it names another link")
    for kind, number in rows:
        yield WRONG.format(what=WORDS[kind], number=number, why="no ledger wrote it")
