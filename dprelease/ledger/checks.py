"""Integrity checks of a ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dprelease.ledger.canonical import canonical, digest, digest_of_bytes
from dprelease.ledger.chain import (
    ACCESS,
    ATTEMPT,
    BUDGET,
    FAILED,
    MACHINE_FAILED,
    OUTCOMES,
    PUBLISHED,
    RESTORED,
    STORED,
    VERSION,
    fold_chain,
)
from dprelease.ledger.connection import DAMAGED_FILE, open_connection
from dprelease.ledger.reading import document_in, files_in, lines_in, registration_in
from dprelease.ledger.records import DAMAGED, LedgerDamaged, LedgerError
from dprelease.ledger.stores.protocols import LedgerConnection

if TYPE_CHECKING:
    from dprelease.ledger.store import Ledger

WRONG = "The ledger is inconsistent at line {number}: {why}. Restore a backup."
SIGNED = {"by", "at"}
BODIES = {
    VERSION: {"fingerprint"} | SIGNED,
    BUDGET: {"measure", "reason"} | SIGNED,
    ATTEMPT: {"request"} | SIGNED,
    FAILED: {"request", "reason"} | SIGNED,
    MACHINE_FAILED: {"request"} | SIGNED,
    PUBLISHED: SIGNED,
    ACCESS: {"what"} | SIGNED,
    RESTORED: {"outcomes", "machine_failed"} | SIGNED,
}
"""Fields of a body by the kind of its entry; bodies of registrations and stored releases are checked elsewhere."""


def check(ledger: Ledger, dataset_id: str) -> list[str]:
    """Return all faults of a data set, one sentence each."""
    try:
        with ledger.store.open_connection(dataset_id) as connection:
            connection.begin_snapshot()
            return faults_in_connection(connection, dataset_id)
    except LedgerError as error:
        return [str(error)]


def faults_in_file(path: Path, dataset_id: str, *, copy: bool = False) -> list[str]:
    """Return all faults of a data set's file or copy, one sentence each, including errors that prevent the check."""
    try:
        return damage_in_file(path, dataset_id, copy=copy)
    except LedgerError as error:
        return [str(error)]


def damage_in_file(path: Path, dataset_id: str, *, copy: bool = False) -> list[str]:
    """Return the faults in the contents of a file, one sentence each, which a backup can repair.

    Raises:
        LedgerError: the check is not possible: the file is missing, a link, of another schema, or unreadable now.
    """
    try:
        with open_connection(path, copy=copy) as connection:
            connection.begin_snapshot()
            return faults_in_connection(connection, dataset_id)
    except LedgerDamaged as error:
        return [str(error)]


def faults_in_connection(connection: LedgerConnection, dataset_id: str) -> list[str]:
    """Return the faults of an open data set, also inside a write transaction."""
    try:
        return list(_wrong(connection, dataset_id))
    except LedgerError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return [DAMAGED]


def _wrong(connection: LedgerConnection, dataset_id: str) -> Iterator[str]:
    damage = list(connection.damage())
    yield from damage
    if DAMAGED_FILE in damage:
        return
    if registration_in(connection).dataset_id != dataset_id:
        yield "The ledger's file belongs to another data set. Restore a backup."
    lines = lines_in(connection)
    for number, why in fold_chain(lines).faults:
        yield WRONG.format(number=number, why=why)
    rows = connection.execute("SELECT seq, kind, about, body, digest FROM entries ORDER BY seq").fetchall()
    requests, drawn, named = dict[int, str](), set[tuple[str, bool]](), set[str]()
    begun = set[str]()
    for line, (seq, kind, about, text, stored_digest) in zip(lines, rows, strict=True):
        body = document_in(text)
        if digest(line) != stored_digest or canonical(body).decode() != text:
            yield WRONG.format(number=seq, why="its contents were changed")
            continue
        if set(body) != BODIES.get(kind, set(body)) or any(type(body[name]) is not str for name in SIGNED & set(body)):
            yield WRONG.format(number=seq, why="its body is not in the ledger's format")
            return
        if kind == RESTORED and len(body["machine_failed"]) != about:
            yield WRONG.format(number=seq, why="its number of requests is wrong")
        if kind == ATTEMPT:
            requests[seq] = digest(body["request"])
            if requests[seq] in begun or (requests[seq], False) in drawn:
                yield WRONG.format(number=seq, why="a request can be charged only once")
            begun.add(requests[seq])
        if kind not in OUTCOMES:
            continue
        once = (digest(body["request"]), kind == MACHINE_FAILED)
        if requests.get(about) != once[0]:
            yield WRONG.format(number=seq, why="it does not match its attempt")
        if once in drawn:
            yield WRONG.format(number=seq, why="a request can be charged only once")
        drawn.add(once)
        begun.discard(once[0])
        if kind == STORED:
            named |= {*body["files"].values()}
            digests = {name: digest_of_bytes(contents) for name, contents in files_in(connection, body).items()}
            if digests != body["files"]:
                yield WRONG.format(number=seq, why="its result is not the one that was charged")
    if {row[0] for row in connection.execute("SELECT digest FROM payloads")} - named:
        yield "The ledger contains a file that belongs to no entry. Restore a backup."
