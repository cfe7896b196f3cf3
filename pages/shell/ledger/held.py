"""The ledger's folder, and the data set of it that holds the rows in use. Read once for each change of either."""

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
from pages.shell.ledger.watched import Watched
from pages.shell.session import remembered
from pages.shell.state import SessionKey

Data = Source | Uploaded | Bundled
"""Rows: a table's, or those of a source."""
PATIENT = 1.0
"""Seconds that a page waits for whoever draws; a draw may take far longer."""


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
LOOKED = SessionKey[tuple[object, Account | None] | None]("ledger_looked", None)
HALTED = SessionKey[tuple[str, str] | None]("ledger_halted", None)
"""Digests of rows, the account they led to, and the rows that somebody stopped comparing."""


def ledger() -> Ledger | None:
    """The user's ledger; None where there is none yet."""
    folder = default_folder()
    return Ledger(folder) if folder.is_dir() else None


def rows_key(data: Data) -> str:
    """Which rows these are, inside a session: all columns of a table, or numbers made on a grid."""
    return data.origin.key if isinstance(data, Source) and not isinstance(data.origin, Generated) else data.key


def rows_of(data: Data) -> Table:
    """The rows as a table with all its columns; raises DataError where they take too much memory."""
    match data.origin if isinstance(data, Source) else data:
        case Uploaded(table=table):
            return table
        case Bundled(sample_key=key):
            return load_sample(key)
    assert isinstance(data, Source)
    return remembered(f"rows|{data.key}", lambda: read_frame(data.dataset().frame()))


def account_of(data: Data, *, look: bool = True) -> Account | None:
    """The data set that holds these rows; None where there is none.

    A ledger is read when its folder has changed since, rows once a session.

    Args:
        data: in use.
        look: whether rows that were not looked at yet are, unless somebody stopped it; that takes as long as reading
            all of them.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    found = ledger()
    if found is None or not found.dataset_ids():
        return None
    key = key_of(found.folder)
    name = _print_name(data, key)
    if name not in PRINTS.value and (not look or HALTED.value == name):
        return None
    stamp = (name, str(found.folder), found.store.changed())
    looked = LOOKED.value
    if looked is None or looked[0] != stamp:
        looked = (stamp, _account(found, print_of(data, key, stop=partial(_halt, name))))
        LOOKED.value = looked
    return looked[1]


def print_of(data: Data, key: bytes, *, stop: Callable[[], None] | None = None) -> str:
    """The keyed digest of the rows, worked out once a session; ``stop`` is what a button for that does."""
    prints = PRINTS.setdefault({})
    name = _print_name(data, key)
    if name not in prints:
        prints[name] = fingerprint(watched_rows(data, stop=stop), key=key)
    return prints[name]


def compared(data: Data) -> Account | None:
    """The data set that holds these rows, also where they were not looked at yet; the line on top did not wait for it.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    known = len(PRINTS.value)
    found = account_of(data)
    if found is not None and len(PRINTS.value) > known:
        st.rerun()
    return found


def watched_rows(data: Data, *, stop: Callable[[], None] | None = None) -> Watched:
    """The rows as a ledger reads them, with progress where that takes long."""
    rows = rows_of(data)
    return Watched(rows=rows, count=rows.row_count, stop=stop)


def halted(data: Data) -> bool:
    """Whether somebody stopped comparing these rows with the ledger."""
    found = ledger()
    held = HALTED.value
    if held is None or held in PRINTS.value:  # known after all: it was at its end
        return False
    return found is not None and held == _print_name(data, key_of(found.folder))


def _halt(name: tuple[str, str]) -> None:
    HALTED.value = name


def go_on() -> None:
    """A callback: rows are compared after all."""
    HALTED.pop()


def mark_of(key: bytes) -> str:
    """Tells a ledger's key from that of one begun anew in the same place."""
    return hmac.digest(key, b"mark", hashlib.sha256).hex()


def _print_name(data: Data, key: bytes) -> tuple[str, str]:
    return mark_of(key), rows_key(data)


def _account(found: Ledger, rows_fingerprint: str) -> Account | None:
    for dataset_id in found.dataset_ids():
        if rows_fingerprint in found.fingerprints(dataset_id):
            return account_in(found, dataset_id)
    return None


def account_in(found: Ledger, dataset_id: str) -> Account:
    """A data set of the ledger, as it stands."""
    return Account(
        dataset_id=dataset_id,
        registration=found.registration(dataset_id),
        spent=found.account(dataset_id),
        wrong=next(iter(check(found, dataset_id)), ""),
    )
