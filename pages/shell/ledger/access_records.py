"""Access to true values is recorded in the ledger before they are shown, whatever the file's name.

Only the steward's sessions are matched with registered rows: certificates report the access, so that any other user who
brought a file would learn, free of charge, whether its rows are the registered ones. Other sessions keep their records
until they are admitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dpcore.core import DataError
from dpcore.data.sources import Source, Uploaded
from dprelease.engines.tables import CountedTable, EngineTable
from dprelease.ledger.fingerprint import key_of
from dprelease.ledger.records import LedgerError
from dprelease.ledger.true_value_access import name_fingerprint, note_access
from pages.data.upload import session_file
from pages.shell.ledger.accounts import ledger, mark_of, print_of
from pages.shell.ledger.roles import admitted
from pages.shell.private.steward import (
    ACCESS_WITHOUT_LEDGER,
    PENDING_ACCESS_RECORDS,
    WAITS,
    asks_for_true_values,
    saw_true_values,
)
from pages.shell.session import upload
from pages.shell.state import SessionKey

NO_LEDGER = (
    "The ledger must record every access to true values of this server's table, and there is no ledger. "
    "Start one on the page Release. Until then, no true values are shown."
)
NOTED = SessionKey[set[tuple[str, str]]]("ledger_noted", set())
"""Files whose access is recorded, or waits to be."""
CANNOT = "The ledger could not record the access to true values, so none are shown. The next action tries again."


def record_access() -> None:
    """Record the access that the next page may give, for the router; if that fails, the steward's switch waits."""
    WAITS.pop()
    file = session_file()
    origins = [each.origin for each in (file, upload()) if each is not None]
    from_server = file is not None and file.origin.from_server
    # A steward who declares the number of the server's rows public sees it.
    row_count_shown = file is not None and from_server and file.declares_row_count
    if from_server and (row_count_shown or asks_for_true_values()) and ledger() is None:
        WAITS.value = NO_LEDGER
        return
    accessed = [
        each
        for each in origins
        if isinstance(each, Uploaded)
        and (not each.private or row_count_shown or asks_for_true_values() or saw_true_values())
    ]
    steps: list[Callable[[], None]] = [*(partial(_keep, each) for each in accessed), _record_pending]
    for step in steps:
        try:
            step()
        except (LedgerError, DataError, OSError):
            WAITS.value = CANNOT


def record_access_without_ledger(source: Source) -> None:
    """Record access to rows about to be registered, if this session saw true values while there was no ledger.

    Which rows those were is not known any more. Raises LedgerError where it cannot be recorded.
    """
    book = ledger()
    if book is not None and ACCESS_WITHOUT_LEDGER.value and isinstance(source.origin, Uploaded):
        note_access(book.folder, print_of(source, key_of(book.folder)))


def _keep(origin: Uploaded) -> None:
    """Keep the digests of rows that are accessed, once for each ledger's key."""
    book = ledger()
    if book is None:
        ACCESS_WITHOUT_LEDGER.value = True
        return
    key = key_of(book.folder)
    mark = mark_of(key)
    noted, pending = NOTED.setdefault(set()), PENDING_ACCESS_RECORDS.setdefault(set())
    if (mark, origin.key) not in noted:
        if isinstance(origin.table, CountedTable):
            pending.add((mark, name_fingerprint(origin.table.name, key=key)))
        if not isinstance(origin.table, EngineTable):  # which has no rows to digest: its name stands for all its counts
            pending.add((mark, print_of(origin, key)))
        noted.add((mark, origin.key))


def _record_pending() -> None:
    """Record pending access if this is the steward's session; for a ledger that is gone, note access without one."""
    pending, book = PENDING_ACCESS_RECORDS.value, ledger()
    if not pending or book is None or not admitted():
        return
    mark = mark_of(key_of(book.folder))
    for each in sorted(pending):
        if each[0] == mark:
            note_access(book.folder, each[1])
        else:
            ACCESS_WITHOUT_LEDGER.value = True
        pending.discard(each)
