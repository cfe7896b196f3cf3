"""The ledger: releases of each data set, each charged once, drawn once and stored.

A draw takes the data set's lock, commits an attempt, begins a transaction, draws, writes charge and result, and
commits. A process that dies in between leaves an attempt without an outcome, which counts as spent. The next process
with the lock knows that no draw is running, and records the attempt as failed.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dprelease.ledger.canonical import digest, fresh_salt
from dprelease.ledger.chain import ATTEMPT, FAILED, MACHINE_FAILED, OUTCOMES, PUBLISHED, REGISTERED, STORED, VERSION
from dprelease.ledger.checks import faults_in_connection
from dprelease.ledger.connection import PATIENCE, translate_errors
from dprelease.ledger.fingerprint import Rows, fingerprint, key_of, same_table
from dprelease.ledger.reading import (
    account_in,
    begun_in,
    declared_in,
    document_in,
    has_access_entry,
    lines_in,
    outcome_in,
    outcomes_in,
    registration_in,
    stored_in,
)
from dprelease.ledger.records import (
    DIED,
    DRAW_IN_PROGRESS,
    RELEASE,
    Actor,
    Attempt,
    Failed,
    LedgerBusy,
    LedgerError,
    Registration,
    Spent,
    Stored,
    is_words,
)
from dprelease.ledger.stores.files import file_of
from dprelease.ledger.stores.protocols import LedgerConnection, Store
from dprelease.ledger.stores.selection import note_store, store_of
from dprelease.ledger.true_value_access import was_accessed
from dprelease.ledger.units import BudgetMeasure, Price
from dprelease.ledger.writing import (
    append,
    book,
    record_access_entry,
    record_restored_copies,
    set_budget,
    signed,
    today,
)
from dprelease.sizes import MAX_WORDS

ACCESSED_BEFORE = "true values may have been seen before"
COUNTS_REGISTERED = "Counts of this engine's table are registered already. Register these as a new version."


def _printable_name(text: str, what: str) -> str:
    if not is_words(text.strip()) or not text.isprintable():
        raise LedgerError(f"The {what} must be 1 to {MAX_WORDS} printable characters.")
    return text.strip()


def _require_new_rows(rows_fingerprint: str, known: Collection[str]) -> None:
    """Raise LedgerError if the rows are among these fingerprints of other data sets."""
    if rows_fingerprint in known:
        raise LedgerError("These rows are registered already. Use that data set and its budget.")
    if any(same_table(rows_fingerprint, each) for each in known):
        raise LedgerError(COUNTS_REGISTERED)


class Ledger:
    """Ledger in a folder with one file per data set, or in a database; safe for several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def store(self) -> Store:
        """Store of its data sets; raises LedgerError if it cannot be determined."""
        return store_of(self.folder)

    @classmethod
    def open(cls, folder: Path) -> Ledger:
        """Open the ledger in a folder, which is created if it does not exist; only its owner has access.

        Raises:
            LedgerError: the folder cannot be made.
        """
        with translate_errors():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ledger = cls(folder)
        if not ledger.dataset_ids():  # a copy can be read without its key
            key_of(folder)
        note_store(folder)
        return ledger

    def dataset_ids(self) -> list[str]:
        """Return the ids of all data sets; an interrupted registration does not count."""
        return self.store.dataset_ids()

    def path(self, dataset_id: str) -> Path:
        """Return the path of a data set's file; raises LedgerError for an invalid id."""
        return file_of(self.folder, dataset_id)

    # --- operations of the steward

    def register(self, registration: Registration, rows: Rows, budget: Price, by: Actor) -> Registration:
        """Register a data set with its budget.

        Raises:
            LedgerError: the user is not the steward, the rows are registered already, or a value is out of range.
        """
        by.must_be_steward("register data")
        if registration.refusal:
            raise LedgerError(registration.refusal)
        if budget.measure is BudgetMeasure.RHO and not (budget.epsilon_or_rho > 0 and budget.delta > 0):
            raise LedgerError("A budget in ρ needs ρ and δ above 0.")
        rows_fingerprint = fingerprint(rows, key=key_of(self.folder))
        with self._registering(rows_fingerprint):
            return self._write_registration(registration, rows_fingerprint, budget, by)

    @contextmanager
    def _registering(self, rows_fingerprint: str, *, under: str = "") -> Iterator[None]:
        """Hold the registration lock; raises LedgerError if another data set has these rows."""
        with self.store.registering(key_of(self.folder)):
            for dataset_id in self.dataset_ids():
                if dataset_id == under:
                    continue
                _require_new_rows(rows_fingerprint, self.fingerprints(dataset_id))
            yield

    def _write_registration(
        self, registration: Registration, rows_fingerprint: str, budget: Price, by: Actor
    ) -> Registration:
        """Write the first entries of a new data set, which appears once they are complete."""
        registered = replace(
            registration,
            name=_printable_name(registration.name, "name of the data"),
            measure=budget.measure,
            dataset_id=secrets.token_hex(16),
            salt=fresh_salt(),
            by=_printable_name(by.name, "name of the data owner"),
            at=today(),
        )
        with self.store.beginning(registered.dataset_id) as connection:
            _require_new_rows(rows_fingerprint, connection.other_fingerprints())
            append(connection, REGISTERED, registered.document, salt=registered.salt)
            append(connection, VERSION, {"fingerprint": rows_fingerprint} | signed(registered.by))
            set_budget(connection, budget, "registered", registered.by)
        return registered

    def add_version(self, dataset_id: str, rows: Rows, by: Actor) -> None:
        """Register another version of the rows (edited, or with new data) under the same budget."""
        by.must_be_steward("register data")
        rows_fingerprint = fingerprint(rows, key=key_of(self.folder))
        with self._registering(rows_fingerprint, under=dataset_id):
            if rows_fingerprint not in self.fingerprints(dataset_id):
                with self._writing(dataset_id) as connection:
                    _require_new_rows(rows_fingerprint, connection.other_fingerprints())
                    name = _printable_name(by.name, "name of the data owner")
                    append(connection, VERSION, {"fingerprint": rows_fingerprint} | signed(name))

    def set_budget(self, dataset_id: str, budget: Price, reason: str, by: Actor) -> None:
        """Set a new budget, at least what is spent. Sums of epsilon and delta stay valid when a budget is raised."""
        by.must_be_steward("set a budget")
        if BudgetMeasure.RHO in (budget.measure, self.account(dataset_id).budget.measure):
            raise LedgerError("A budget in ρ cannot be changed: the composition theorem needs it fixed in advance.")
        if not budget.epsilon_or_rho > 0 or not self.account(dataset_id).spent.within(budget):
            raise LedgerError("A budget must be above 0 and at least what is spent.")
        with self._writing(dataset_id) as connection:
            set_budget(
                connection,
                budget,
                _printable_name(reason, "reason"),
                _printable_name(by.name, "name of the data owner"),
            )

    def record_access(self, dataset_id: str, what: str, by: Actor) -> None:
        """Record access, or possible access, to true values."""
        by.must_have_a_role("write in a ledger")
        with self._writing(dataset_id) as connection:
            record_access_entry(connection, _printable_name(what, "event"), _printable_name(by.name, "name"))

    def publish(self, dataset_id: str, entry: int, by: Actor) -> None:
        """Publish a stored release: it costs nothing and cannot be undone."""
        by.must_be_steward("publish")
        with self._writing(dataset_id) as connection:
            outcomes = outcomes_in(connection)
            if not 1 <= entry <= len(outcomes) or outcomes[entry - 1][1] != STORED:
                raise LedgerError("There is no such release to publish.")
            seq = outcomes[entry - 1][0]
            if not stored_in(connection, seq).published:
                append(connection, PUBLISHED, signed(_printable_name(by.name, "name of the data owner")), about=seq)

    def machine_failed(self, dataset_id: str, attempt: int, by: Actor, *, patience: float = PATIENCE) -> None:
        """Declare that the machine, not the draw, ended an attempt, which is then not charged.

        This is allowed once per request, as a second failure may depend on the rows. Later certificates count these.
        """
        by.must_be_steward("say that the machine failed")
        with self.turn(dataset_id, patience=patience), self._writing(dataset_id) as connection:
            begun = [each for each in begun_in(connection) if each.number == attempt]
            if not begun:
                raise LedgerError("There is no such attempt without an outcome.")
            if begun[0].request_digest in declared_in(connection):
                raise LedgerError("This request failed before. The cause may depend on the rows, so its charge stays.")
            body = {"request": begun[0].request} | signed(_printable_name(by.name, "name"))
            book(connection, begun[0], MACHINE_FAILED, body)

    # --- reading

    def registration(self, dataset_id: str) -> Registration:
        """Return the registration of a data set."""
        with self.store.open_connection(dataset_id) as connection:
            return registration_in(connection)

    def fingerprints(self, dataset_id: str) -> list[str]:
        """Return the fingerprints of all versions of the rows, in order."""
        with self.store.open_connection(dataset_id) as connection:
            rows = connection.execute(f"SELECT body FROM entries WHERE kind = '{VERSION}' ORDER BY seq")
            return [str(document_in(text)["fingerprint"]) for (text,) in rows]

    def version(self, dataset_id: str, rows: Rows) -> int:
        """Return the version of these rows, counted from 1; 0 if they are not registered for the data set."""
        return self.version_of(dataset_id, fingerprint(rows, key=key_of(self.folder)))

    def version_of(self, dataset_id: str, rows_fingerprint: str) -> int:
        """Return the version of rows by their fingerprint, counted from 1; 0 if they are not registered."""
        known = self.fingerprints(dataset_id)
        return known.index(rows_fingerprint) + 1 if rows_fingerprint in known else 0

    def holds(self, dataset_id: str, rows: Rows) -> bool:
        """Return whether these rows are registered for the data set."""
        return self.version(dataset_id, rows) > 0

    def account(self, dataset_id: str) -> Spent:
        """Return the state of the budget."""
        with self.store.open_connection(dataset_id) as connection:
            return account_in(connection)

    def find(self, dataset_id: str, request_digest: str) -> Stored | Failed | None:
        """Return the outcome of a request; None if nothing was charged for it yet."""
        with self.store.open_connection(dataset_id) as connection:
            return outcome_in(connection, request_digest)

    def stored(self, dataset_id: str) -> list[Stored]:
        """Return all stored releases, in order."""
        with self.store.open_connection(dataset_id) as connection:
            lines = lines_in(connection)
            return [stored_in(connection, line["seq"], lines) for line in lines if line["kind"] == STORED]

    def lines(self, dataset_id: str) -> list[dict[str, Any]]:
        """Return the lines of the chain."""
        with self.store.open_connection(dataset_id) as connection:
            return lines_in(connection)

    def outcomes(self, dataset_id: str) -> list[dict[str, Any]]:
        """Return the lines of all outcomes, in order."""
        return [line for line in self.lines(dataset_id) if line["kind"] in OUTCOMES]

    # --- drawing a release

    @contextmanager
    def turn(self, dataset_id: str, *, patience: float = PATIENCE) -> Iterator[None]:
        """Hold the draw lock of a data set; raises LedgerBusy if another process holds it for too long."""
        with self.store.turn(dataset_id, patience=patience):
            yield

    def book_dead_attempts(self, dataset_id: str) -> None:
        """Charge every attempt without an outcome as failed. The caller must hold the draw lock."""
        with self._writing(dataset_id, checked=True) as connection:
            for attempt in begun_in(connection):
                body = {"request": attempt.request, "by": attempt.by, "at": attempt.at, "reason": DIED}
                book(connection, attempt, FAILED, body)

    def begin(
        self,
        dataset_id: str,
        request: Mapping[str, Any],
        price: Price,
        by: Actor,
        *,
        accessed_prints: Collection[str] = (),
    ) -> Attempt:
        """Commit an attempt: from here on its price counts as spent.

        Facts that only notes beside the ledger record become entries first: restored copies, and access to true values
        of these rows, where there is a record of one of ``accessed_prints`` (``true_value_access.was_accessed``).

        Raises:
            LedgerBusy: another process began the same attempt after the draw lock was lost here.
        """
        by.must_have_a_role(RELEASE)
        request_digest, name = digest(request), _printable_name(by.name, "name of the requesting user")
        with self._writing(dataset_id, checked=True) as connection:
            if outcome_in(connection, request_digest) or request_digest in {
                each.request_digest for each in begun_in(connection)
            }:
                raise LedgerBusy(DRAW_IN_PROGRESS)
            if not has_access_entry(connection) and was_accessed(self.folder, accessed_prints):
                record_access_entry(connection, ACCESSED_BEFORE, name)
            record_restored_copies(connection, name)
            signature = signed(name)
            number = append(connection, ATTEMPT, {"request": request, **signature}, amount=price)
        return Attempt(
            number=number, request_digest=request_digest, request=request, price=price, by=name, at=signature["at"]
        )

    @contextmanager
    def drawing(self, dataset_id: str, attempt: Attempt | None = None) -> Iterator[LedgerConnection]:
        """Open the transaction of a draw; ``book`` takes the connection.

        Raises:
            LedgerError: another process recorded the outcome of the attempt meanwhile.
        """
        if attempt and attempt.number not in {each.number for each in self.account(dataset_id).begun}:
            raise LedgerError(DIED)
        with self._writing(dataset_id, checked=True) as connection:
            yield connection

    @contextmanager
    def _writing(self, dataset_id: str, *, checked: bool = False) -> Iterator[LedgerConnection]:
        """Open a write transaction after a check of the data set, unless ``checked`` under the draw lock."""
        with self.store.writing(dataset_id) as connection:
            if not checked and (wrong := faults_in_connection(connection, dataset_id)):
                raise LedgerError(wrong[0])
            yield connection
