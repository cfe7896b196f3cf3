"""Store in a Postgres database: one schema per data set, with the same tables, triggers and digests as a file.

A data set's writer holds an advisory lock until its transaction ends; writers of other data sets do not wait for it.
If the connection is lost during a commit, its outcome is unknown. But every write transaction ends the chain with its
own salted digest: a new connection that waits for the lock and finds this digest knows that the commit was done.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from typing_extensions import override

from dprelease.ledger.connection import PATIENCE, RESTORES
from dprelease.ledger.connection import translate_errors as file_sentences
from dprelease.ledger.fingerprint import NAME
from dprelease.ledger.reading import document_in, last_in, registration_in
from dprelease.ledger.records import DAMAGED, UNSURE, UNWRITABLE, LedgerDamaged, LedgerError, LedgerUnsure
from dprelease.ledger.stores.files import NO_SUCH
from dprelease.ledger.stores.note import note_in, write_note
from dprelease.ledger.stores.postgres import PostgresConnection, driver, lock_number, translate_errors
from dprelease.ledger.stores.postgres_schema import KNOWN, script
from dprelease.ledger.stores.protocols import LedgerConnection, Store
from dprelease.ledger.stores.schema_shape import expected_shapes, shape_of

NAMES = re.compile(r"[a-z][a-z0-9_]{0,19}")
"""Pattern of a ledger's name in its database."""
UNFAMILIAR = "The ledger has an unknown schema. Use the program that wrote it."
OTHER_KEY = "The key of the ledger does not match its database. Restore a copy of the right key."
OTHER_DATABASE = "The ledger's database is not the one that its folder names, or it was emptied. Set the right address."
SETTLING = 30.0
"""Seconds to query a database for the outcome of a commit."""
AGAIN = 0.2
"""Seconds between two such queries."""


class Database(Store):
    """Store in a Postgres database."""

    def __init__(self, address: str, *, folder: Path, name: str) -> None:
        if not NAMES.fullmatch(name):
            raise LedgerError("A ledger's database name may have small letters, digits and underscores, at most 20.")
        self.address, self.folder, self.name = address, folder, name

    @override
    def __repr__(self) -> str:
        """Return a repr without the address, which may hold a password."""
        return f"<Database: {self.name}>"

    def schema(self, dataset_id: str) -> str:
        """Return the schema of a data set; raises LedgerError for an invalid id."""
        if not re.fullmatch(NAME, dataset_id):
            raise LedgerError(NO_SUCH)
        return f"{self.name}_{dataset_id}"

    @contextmanager
    def connection(self) -> Iterator[PostgresConnection]:
        """Open a connection to the database."""
        with translate_errors():
            connection = PostgresConnection(self.address)
            try:
                yield connection
            finally:
                connection.close()

    @override
    def dataset_ids(self) -> list[str]:
        with self.connection() as connection:
            return self._registered_ids(connection)

    def _registered_ids(self, connection: PostgresConnection) -> list[str]:
        query = "SELECT nspname::text FROM pg_namespace WHERE nspname ~ ? ORDER BY 1"
        schemas = connection.execute(query, (f"^{self.name}_{NAME}$",)).fetchall()
        return [schema.removeprefix(f"{self.name}_") for (schema,) in schemas]

    @override
    @contextmanager
    def open_connection(self, dataset_id: str) -> Iterator[OpenSchema]:
        schema = self.schema(dataset_id)
        with self.connection() as connection:
            query = "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = ?"
            comment = connection.execute(query, (schema,)).fetchone()
            if comment is None:
                raise LedgerError(NO_SUCH)
            if comment != (KNOWN,):
                raise LedgerError(UNFAMILIAR)
            connection.execute(f"SET search_path = {schema}, pg_temp")
            yield OpenSchema(self, dataset_id, connection)

    @override
    @contextmanager
    def writing(self, dataset_id: str) -> Iterator[OpenSchema]:
        with self.open_connection(dataset_id) as connection, transaction(connection):
            yield connection

    @override
    @contextmanager
    def beginning(self, dataset_id: str) -> Iterator[OpenSchema]:
        """Open the transaction that creates a data set's schema, see ``Store``; DDL is transactional in Postgres."""
        schema = self.schema(dataset_id)
        with self.connection() as plain:
            connection = OpenSchema(self, dataset_id, plain)
            with transaction(connection):
                plain.execute(f"CREATE SCHEMA {schema}")
                plain.execute(script(schema))
                yield connection

    @override
    @contextmanager
    def turn(self, dataset_id: str, *, patience: float) -> Iterator[None]:
        """Hold the draw lock; it is lost with the connection, and ``book`` then finds another outcome."""
        with self.open_connection(dataset_id):
            pass
        with self._exclusive("turn", dataset_id, patience=patience):
            yield

    @override
    @contextmanager
    def registering(self, key: bytes) -> Iterator[None]:
        """Hold the registration lock; another key or database would give the same rows another budget."""
        mark = hmac.digest(key, b"mark", hashlib.sha256).hex()
        with self._exclusive("registering", patience=PATIENCE) as connection:
            with translate_errors():
                connection.execute(
                    f"CREATE SCHEMA IF NOT EXISTS {self.name};"
                    f" CREATE TABLE IF NOT EXISTS {self.name}.keys (mark text PRIMARY KEY, id text);"
                    f" ALTER TABLE {self.name}.keys ADD COLUMN IF NOT EXISTS id text;"
                )
                known = connection.execute(f"SELECT mark, id FROM {self.name}.keys").fetchall()
                self._require_same_database(
                    known, mark, new=not known and not self._registered_ids(connection), connection=connection
                )
            yield

    def _require_same_database(self, known: list[Any], mark: str, *, new: bool, connection: PostgresConnection) -> None:
        """Check that the database is the one in the folder's note, which is written before the first registration."""
        _, noted = note_in(self.folder) or ("", "")
        if noted and noted not in [database_id for _, database_id in known]:
            raise LedgerError(OTHER_DATABASE)
        if not new and [of_key for of_key, _ in known] != [mark]:
            raise LedgerError(OTHER_KEY)
        database_id = known[0][1] if known else ""
        if not database_id:
            database_id = secrets.token_hex(16)
            query = f"INSERT INTO {self.name}.keys VALUES (?, ?) ON CONFLICT (mark) DO UPDATE SET id = excluded.id"
            connection.execute(query, (mark, database_id))
        if noted != database_id:
            write_note(self.folder, self.name, database_id)

    @contextmanager
    def _exclusive(self, *names: str, patience: float) -> Iterator[PostgresConnection]:
        """Hold an advisory lock for the life of a connection."""
        number = lock_number(self.name, *names)
        with self.connection() as connection:
            connection.patient(patience)
            connection.execute("SELECT pg_advisory_lock(?::bigint)", (number,))
            try:
                yield connection
            finally:
                with suppress(Exception):
                    connection.execute("SELECT pg_advisory_unlock(?::bigint)", (number,))

    def lock(self, connection: PostgresConnection, dataset_id: str, *, patience: float = PATIENCE) -> None:
        """Take the writer's lock until the transaction ends."""
        connection.patient(patience)
        connection.execute("SELECT pg_advisory_xact_lock(?::bigint)", (lock_number(self.name, "writing", dataset_id),))

    def other_fingerprints(self, connection: PostgresConnection, dataset_id: str) -> list[str]:
        """Return the fingerprints of all other data sets; no registration can happen until the transaction ends.

        The lock of ``registering`` belongs to another connection: if that was lost, others may have registered.
        """
        connection.execute("SELECT pg_advisory_xact_lock(?::bigint)", (lock_number(self.name, "registered"),))
        others = [each for each in self._registered_ids(connection) if each != dataset_id]
        selects = (f"SELECT body FROM {self.schema(each)}.entries WHERE kind = 'version'" for each in others)
        query = " UNION ALL ".join(selects)
        return [document_in(text)["fingerprint"] for (text,) in connection.execute(query)] if others else []

    def wrote(self, dataset_id: str, last: str) -> bool:
        """Return whether an unacknowledged commit was done, by the presence of its last entry.

        Raises:
            LedgerUnsure: the database does not answer.
        """
        schema, end = self.schema(dataset_id), time.monotonic() + SETTLING
        while True:
            try:
                with self.connection() as connection:
                    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
                    self.lock(connection, dataset_id, patience=max(0.0, end - time.monotonic()))
                    [there] = connection.execute("SELECT to_regclass(?) IS NOT NULL", (f"{schema}.entries",)).fetchone()
                    query = f"SELECT 1 FROM {schema}.entries WHERE digest = ?"
                    return bool(there and connection.execute(query, (last,)).fetchone())
            except LedgerError:
                if time.monotonic() > end:
                    raise LedgerUnsure(UNSURE) from None
            time.sleep(AGAIN)

    @override
    def changed(self) -> Hashable:
        """Return the number of the last entry of every data set."""
        with self.connection() as connection:
            dataset_ids = self._registered_ids(connection)
            query = " UNION ALL ".join(f"SELECT max(seq) FROM {self.schema(each)}.entries" for each in dataset_ids)
            links = connection.execute(query).fetchall() if dataset_ids else []
        return tuple(zip(dataset_ids, links, strict=True))


class OpenSchema(LedgerConnection):
    """Connection to one data set's schema, a ``LedgerConnection``."""

    def __init__(self, store: Database, dataset_id: str, spoken: PostgresConnection) -> None:
        self.store, self.dataset_id, self.connection = store, dataset_id, spoken

    @override
    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Any:
        return self.connection.execute(sql, values)

    @override
    def begin_snapshot(self) -> None:
        self.begin("REPEATABLE READ READ ONLY")

    def begin(self, how: str) -> None:
        """Begin a transaction on this data set's schema."""
        schema = self.store.schema(self.dataset_id)
        self.execute(f"BEGIN ISOLATION LEVEL {how}; SET LOCAL search_path = {schema}, pg_temp")

    @override
    def damage(self) -> Iterator[str]:
        """Check the definitions against those of a schema that is created and rolled back; see ``LedgerConnection``."""
        store = self.store
        if shape_of(self, store.schema(self.dataset_id)) not in expected_shapes(store.address, store.name):
            yield "The ledger's tables or triggers were changed. Restore a backup."

    @override
    def other_fingerprints(self) -> list[str]:
        return self.store.other_fingerprints(self.connection, self.dataset_id)

    @override
    def count_restore_notes(self) -> int:
        with file_sentences():
            return len(list((self.store.folder / RESTORES).glob(f"{self.dataset_id}-*")))


@contextmanager
def transaction(connection: OpenSchema) -> Iterator[None]:
    """Run a write transaction under the writer's lock; the outcome of an unacknowledged commit is looked up."""
    connection.begin("READ COMMITTED READ WRITE")
    connection.store.lock(connection.connection, connection.dataset_id)
    try:
        yield
        if registration_in(connection).dataset_id != connection.dataset_id:
            raise LedgerDamaged(DAMAGED)
        _, last = last_in(connection)
    except BaseException:
        with suppress(Exception):
            connection.execute("ROLLBACK")
        raise
    try:
        done = connection.execute("COMMIT").statusmessage == "COMMIT"  # it is ROLLBACK after an earlier error
    except driver().Error:
        done = connection.store.wrote(connection.dataset_id, last)
    if not done:
        raise LedgerError(UNWRITABLE)
