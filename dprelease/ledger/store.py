"""The ledger: what was let out of each data set, charged once, drawn once, stored.

A draw goes: take the data set's turn, commit an attempt, begin a transaction, draw, write charge and result, commit.
Whoever dies in between leaves an attempt without an outcome. It counts as spent; the next one to hold the turn knows
that nobody draws, and books it as failed.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from dpcore.core import is_visible
from dprelease.ledger.canonical import canonical, digest, fresh_salt
from dprelease.ledger.chain import MACHINE_FAILED
from dprelease.ledger.checks import wrong_inside
from dprelease.ledger.connection import PATIENCE, sentences
from dprelease.ledger.fingerprint import Rows, fingerprint, key_of, same_table
from dprelease.ledger.reading import account_in, begun_in, failed_in, lines_in, registration_in, stored_in
from dprelease.ledger.records import (
    DIED,
    MOST_WORDS,
    RELEASE,
    TAKEN,
    Actor,
    Attempt,
    Failed,
    LedgerBusy,
    LedgerError,
    Registration,
    Spent,
    Stored,
)
from dprelease.ledger.stores.chosen import note_store, store_of
from dprelease.ledger.stores.files import file_of
from dprelease.ledger.stores.opened import Opened, Store
from dprelease.ledger.units import Price, Tally
from dprelease.ledger.writing import book, insert, set_budget, today, written

COUNTED = "Counts of this engine's table are registered already: register these as a new version of them."


def _words(text: str, what: str) -> str:
    if not is_visible(text) or len(text.strip()) > MOST_WORDS or not text.isprintable():
        raise LedgerError(f"The {what} must be 1 to {MOST_WORDS} printable characters.")
    return text.strip()


def _must_be_new(print_of_rows: str, known: Collection[str]) -> None:
    """Raises LedgerError if another data set, whose prints these are, holds the rows."""
    if print_of_rows in known:
        raise LedgerError("These rows are registered already, under the budget they have.")
    if any(same_table(print_of_rows, each) for each in known):
        raise LedgerError(COUNTED)


class Ledger:
    """A folder with one file per data set, or beside a database; safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def store(self) -> Store:
        """Where its data sets are; raises LedgerError if the folder does not say."""
        return store_of(self.folder)

    @classmethod
    def open(cls, folder: Path) -> Ledger:
        """The ledger in a folder, which is made if there is none; only its user may enter.

        Raises:
            LedgerError: the folder cannot be made.
        """
        with sentences():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ledger = cls(folder)
        if not ledger.dataset_ids():  # a copy is looked at without its key
            key_of(folder)
        note_store(folder)
        return ledger

    def dataset_ids(self) -> list[str]:
        """Every data set; one whose registration was cut short is none."""
        return self.store.dataset_ids()

    def path(self, dataset_id: str) -> Path:
        """Where a data set's file is; raises LedgerError for what is no name of one."""
        return file_of(self.folder, dataset_id)

    # --- what the steward says

    def register(self, registration: Registration, rows: Rows, budget: Price, by: Actor) -> Registration:
        """Open an account for a data set that none holds yet.

        Raises:
            LedgerError: this is not the steward, the rows are registered already, or something is out of range.
        """
        by.must_be_steward("register data")
        if registration.refusal:
            raise LedgerError(registration.refusal)
        if budget.measure is Tally.RHO and not (budget.first > 0 and budget.delta > 0):
            raise LedgerError("A budget in ρ has a ρ and a δ above 0.")
        print_of_rows = fingerprint(rows, key=key_of(self.folder))
        with self._registering(print_of_rows):
            return self._registered(registration, print_of_rows, budget, by)

    @contextmanager
    def _registering(self, print_of_rows: str, *, under: str = "") -> Iterator[None]:
        """One at a time says which rows these are; raises LedgerError if another data set holds them."""
        with self.store.registering(key_of(self.folder)):
            for dataset_id in self.dataset_ids():
                if dataset_id == under:
                    continue
                _must_be_new(print_of_rows, self.fingerprints(dataset_id))
            yield

    def _registered(self, registration: Registration, print_of_rows: str, budget: Price, by: Actor) -> Registration:
        """A new data set, there once it is whole."""
        made = Registration(
            name=_words(registration.name, "name of the data"),
            neighbours=registration.neighbours,
            public_n=registration.public_n,
            person_column=registration.person_column,
            rows_a_person=registration.rows_a_person,
            measure=budget.measure,
            dataset_id=secrets.token_hex(16),
            salt=fresh_salt(),
            by=_words(by.name, "name of the steward"),
            at=today(),
        )
        with self.store.beginning(made.dataset_id) as connection:
            _must_be_new(print_of_rows, connection.registered_elsewhere())
            connection.execute(
                "INSERT INTO datasets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (made.dataset_id, made.name, made.neighbours.value, made.public_n, made.person_column,
                 made.rows_a_person, made.salt, made.by, made.at),
            )  # fmt: skip
            insert(connection, "versions", print_of_rows, made.by, made.at)
            set_budget(connection, budget, "registered", made.by)
        return made

    def add_version(self, dataset_id: str, rows: Rows, by: Actor) -> None:
        """Rows of the same people (one edited, a year added) under the same budget."""
        by.must_be_steward("register data")
        print_of_rows = fingerprint(rows, key=key_of(self.folder))
        with self._registering(print_of_rows, under=dataset_id):
            if print_of_rows not in self.fingerprints(dataset_id):
                with self._writing(dataset_id) as connection:
                    _must_be_new(print_of_rows, connection.registered_elsewhere())
                    insert(connection, "versions", print_of_rows, _words(by.name, "name of the steward"), today())

    def set_budget(self, dataset_id: str, budget: Price, reason: str, by: Actor) -> None:
        """Another budget from now on; never below what is spent. Plain sums stay valid when a budget is raised."""
        by.must_be_steward("set a budget")
        if Tally.RHO in (budget.measure, self.account(dataset_id).budget.measure):
            raise LedgerError("A budget in ρ is fixed when it is opened: that it may be chosen later is not proved.")
        if not budget.first > 0 or not self.account(dataset_id).spent.within(budget):
            raise LedgerError("A budget is above 0 and covers what is spent.")
        with self._writing(dataset_id) as connection:
            set_budget(connection, budget, _words(reason, "reason"), _words(by.name, "name of the steward"))

    def tell(self, dataset_id: str, what: str, by: Actor) -> None:
        """Write down that something happened, as that the steward saw true values."""
        by.must_have_a_role("write in a ledger")
        with self._writing(dataset_id) as connection:
            insert(connection, "events", _words(what, "event"), _words(by.name, "name"), today())

    def publish(self, dataset_id: str, entry: int, by: Actor) -> None:
        """A stored release may be given to others; free, and there is no way back."""
        by.must_be_steward("publish")
        with self._writing(dataset_id) as connection:
            stored = connection.execute("SELECT outcome FROM charges WHERE entry = ?", (entry,)).fetchone()
            if stored != ("stored",):
                raise LedgerError("There is no such release to publish.")
            if not connection.execute("SELECT 1 FROM publications WHERE entry = ?", (entry,)).fetchone():
                written(connection, "publications", entry, _words(by.name, "name of the steward"), today())

    def machine_failed(self, dataset_id: str, attempt: int, by: Actor, *, patience: float = PATIENCE) -> None:
        """The steward says that the machine, not the draw, ended an attempt: its charge is not booked.

        Once for each request: what died twice may have died of its rows. Every later certificate counts these.
        """
        by.must_be_steward("say that the machine failed")
        with self.turn(dataset_id, patience=patience), self._writing(dataset_id) as connection:
            begun = [each for each in begun_in(connection) if each.number == attempt]
            if not begun:
                raise LedgerError("There is no such attempt without an outcome.")
            before = connection.execute(
                "SELECT 1 FROM charges WHERE request_digest = ? AND outcome = ?",
                (begun[0].request_digest, MACHINE_FAILED),
            ).fetchone()
            if before:
                raise LedgerError("This request died before. As that may depend on the rows, its charge stands.")
            body = {"request": json.loads(begun[0].request), "by": _words(by.name, "name"), "at": today()}
            book(connection, begun[0], MACHINE_FAILED, body)

    # --- what anybody may ask

    def registration(self, dataset_id: str) -> Registration:
        """What is fixed for a data set."""
        with self.store.connected(dataset_id) as connection:
            return registration_in(connection)

    def fingerprints(self, dataset_id: str) -> set[str]:
        """Of all versions of the rows."""
        with self.store.connected(dataset_id) as connection:
            return {row[0] for row in connection.execute("SELECT fingerprint FROM versions")}

    def version(self, dataset_id: str, rows: Rows) -> int:
        """Which version of the data set these rows are, counted from 1; 0 if they were not registered for it."""
        told = fingerprint(rows, key=key_of(self.folder))
        with self.store.connected(dataset_id) as connection:
            row = connection.execute("SELECT version FROM versions WHERE fingerprint = ?", (told,)).fetchone()
        return int(row[0]) if row else 0

    def holds(self, dataset_id: str, rows: Rows) -> bool:
        """Whether these are rows that were registered for the data set."""
        return self.version(dataset_id, rows) > 0

    def account(self, dataset_id: str) -> Spent:
        """What is spent, and what is left."""
        with self.store.connected(dataset_id) as connection:
            return account_in(connection)

    def find(self, dataset_id: str, request_digest: str) -> Stored | Failed | None:
        """What became of a request; None if nothing was charged for it yet."""
        with self.store.connected(dataset_id) as connection:
            row = connection.execute(
                "SELECT entry, outcome FROM charges WHERE request_digest = ? AND outcome <> ?",
                (request_digest, MACHINE_FAILED),
            ).fetchone()
            if row is None:
                return None
            return stored_in(connection, row[0]) if row[1] == "stored" else failed_in(connection, row[0])

    def stored(self, dataset_id: str) -> list[Stored]:
        """Every stored release, in order."""
        with self.store.connected(dataset_id) as connection:
            rows = connection.execute("SELECT entry FROM charges WHERE outcome = 'stored' ORDER BY entry").fetchall()
            return [stored_in(connection, entry) for (entry,) in rows]

    def lines(self, dataset_id: str) -> list[dict[str, Any]]:
        """The chain."""
        with self.store.connected(dataset_id) as connection:
            return lines_in(connection)

    # --- what a release needs

    @contextmanager
    def turn(self, dataset_id: str, *, patience: float = PATIENCE) -> Iterator[None]:
        """Only one at a time draws from a data set; raises LedgerBusy if somebody else does for too long."""
        with self.store.turn(dataset_id, patience=patience):
            yield

    def book_dead(self, dataset_id: str) -> None:
        """Charge every attempt without an outcome as failed. Only for whoever holds the turn: nobody else draws."""
        with self._writing(dataset_id, checked=True) as connection:
            for attempt in begun_in(connection):
                body = {"request": json.loads(attempt.request), "by": attempt.by, "at": attempt.at, "reason": DIED}
                book(connection, attempt, "failed", body)

    def begin(self, dataset_id: str, request: Mapping[str, Any], price: Price, by: Actor) -> Attempt:
        """Commit an attempt: from here on the price is held, whatever happens.

        Raises:
            LedgerBusy: somebody else began the same, who holds the turn since it was lost here.
        """
        by.must_have_a_role(RELEASE)
        asked, text, at = digest(request), canonical(request).decode(), today()
        name = _words(by.name, "name of who asks")
        with self._writing(dataset_id, checked=True) as connection:
            query = (
                "SELECT 1 FROM attempts WHERE request_digest = ?"
                " AND attempt NOT IN (SELECT attempt FROM charges WHERE outcome = ?)"
            )
            if connection.execute(query, (asked, MACHINE_FAILED)).fetchone():
                raise LedgerBusy(TAKEN)
            number = insert(connection, "attempts", asked, text, price.first, price.delta, name, at)
        return Attempt(number=number, request_digest=asked, request=text, price=price, by=name, at=at)

    @contextmanager
    def drawing(self, dataset_id: str) -> Iterator[Opened]:
        """The transaction around a draw; ``book`` takes the connection."""
        with self._writing(dataset_id, checked=True) as connection:
            yield connection

    @contextmanager
    def _writing(self, dataset_id: str, *, checked: bool = False) -> Iterator[Opened]:
        """A transaction in a data set that adds up; ``checked`` by whoever has held its turn since."""
        with self.store.writing(dataset_id) as connection:
            if not checked and (wrong := wrong_inside(connection, dataset_id)):
                raise LedgerError(wrong[0])
            yield connection
