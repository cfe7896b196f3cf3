"""The ledger's folder, and the account of the rows in use; read again only when one of them changes."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dpcore.data.frames import read_frame
from dpcore.data.reading.tables import Table
from dpcore.data.samples import load_sample
from dpcore.data.sources import Bundled, Generated, Source, Uploaded
from dprelease.commands import default_folder
from dprelease.ledger.checks import check
from dprelease.ledger.fingerprint import fingerprint, key_of
from dprelease.ledger.records import Registration, Spent
from dprelease.ledger.store import Ledger
from pages.shell.ledger.reading_progress import Watched
from pages.shell.state import SessionKey
from pages.shell.tasks.memory import remember

Data = Source | Uploaded | Bundled
"""Rows: a table's, or those of a source."""
PATIENT = 1.0
"""Seconds that a page waits for a release under way, which may take far longer."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """A data set of the ledger as it stood when its folder last changed.

    Attributes:
        dataset_id: of the ledger.
        registration: what is fixed for it.
        spent: its budget's state.
        wrong: why the ledger does not add up; empty if it does.
    """

    dataset_id: str
    registration: Registration
    spent: Spent
    wrong: str


PRINTS = SessionKey[dict[tuple[str, str], str]]("ledger_prints", {})
CACHED_ACCOUNT = SessionKey[tuple[object, Account | None] | None]("ledger_looked", None)
HALTED = SessionKey[tuple[str, str] | None]("ledger_halted", None)
"""Digests of rows, their account, and the rows whose comparison was stopped."""


def ledger() -> Ledger | None:
    """Return the user's ledger; None if there is none yet."""
    folder = default_folder()
    return Ledger(folder) if folder.is_dir() else None


def rows_key(data: Data) -> str:
    """Return a session's key of the rows: of a table with all its columns, or of generated numbers on a grid."""
    return data.origin.key if isinstance(data, Source) and not isinstance(data.origin, Generated) else data.key


def rows_of(data: Data) -> Table:
    """Return the rows as a table with all its columns; raises DataError if they take too much memory."""
    match data.origin if isinstance(data, Source) else data:
        case Uploaded(table=table):
            return table
        case Bundled(sample_key=key):
            return load_sample(key)
    assert isinstance(data, Source)
    return remember(f"rows|{data.key}", lambda: read_frame(data.dataset().frame()))


def account_of(data: Data, *, compare: bool = True) -> Account | None:
    """Return the account of these rows; None if the ledger does not hold them.

    A ledger is read again when its folder has changed, rows once a session.

    Args:
        data: in use.
        compare: whether rows that were not compared yet are, unless the user stopped that; it reads all of them.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    book = ledger()
    if book is None or not book.dataset_ids():
        return None
    key = key_of(book.folder)
    name = _print_name(data, key)
    if name not in PRINTS.value and (not compare or HALTED.value == name):
        return None
    stamp = (name, str(book.folder), book.store.changed())
    cached = CACHED_ACCOUNT.value
    if cached is None or cached[0] != stamp:
        cached = (stamp, _account(book, print_of(data, key, stop=partial(HALTED.set, name))))
        CACHED_ACCOUNT.value = cached
    return cached[1]


def print_of(data: Data, key: bytes, *, stop: Callable[[], None] | None = None) -> str:
    """Return the keyed digest of the rows, computed once a session; ``stop`` is the callback of a stop button."""
    prints = PRINTS.setdefault({})
    name = _print_name(data, key)
    if name not in prints:
        prints[name] = fingerprint(watched_rows(data, stop=stop), key=key)
    return prints[name]


def compare_rows(data: Data) -> Account | None:
    """Return the account of these rows, compared now if they were not; the line on top did not wait for that.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    digests_before = len(PRINTS.value)
    account = account_of(data)
    if account is not None and len(PRINTS.value) > digests_before:
        st.rerun()
    return account


def watched_rows(data: Data, *, stop: Callable[[], None] | None = None) -> Watched:
    """Return the rows as a ledger reads them, with progress if that takes long."""
    rows = rows_of(data)
    return Watched(rows=rows, count=rows.row_count, stop=stop)


def comparison_stopped(data: Data) -> bool:
    """Return whether the user stopped comparing these rows with the ledger."""
    book = ledger()
    halted = HALTED.value
    if halted is None or halted in PRINTS.value:  # the digest is known: the comparison was at its end
        return False
    return book is not None and halted == _print_name(data, key_of(book.folder))


def mark_of(key: bytes) -> str:
    """Return a mark that tells this ledger's key from that of a new ledger in the same folder."""
    return hmac.digest(key, b"mark", hashlib.sha256).hex()


def _print_name(data: Data, key: bytes) -> tuple[str, str]:
    return mark_of(key), rows_key(data)


def _account(book: Ledger, rows_fingerprint: str) -> Account | None:
    for dataset_id in book.dataset_ids():
        if rows_fingerprint in book.fingerprints(dataset_id):
            return account_in(book, dataset_id)
    return None


def account_in(book: Ledger, dataset_id: str) -> Account:
    """Return the account of a data set of the ledger as it stands."""
    return Account(
        dataset_id=dataset_id,
        registration=book.registration(dataset_id),
        spent=book.account(dataset_id),
        wrong=next(iter(check(book, dataset_id)), ""),
    )
