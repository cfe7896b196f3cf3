"""Before true values of a file are shown to the steward, the ledger knows, whatever the file is called.

Only the steward's sessions are matched with rows: certificates say what came of it, so that whoever else could bring a
file would learn, free of charge, whether it is that of the registered rows. Other sessions keep what they looked at to
themselves, and tell it if they are admitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dpcore.core import DataError
from dpcore.data.sources import Source, Uploaded
from dprelease.engines.tables import CountedTable, EngineTable
from dprelease.ledger.fingerprint import key_of
from dprelease.ledger.looks import note_look, print_of_name
from dprelease.ledger.records import LedgerError
from pages.data.upload import session_file
from pages.shell.ledger.door import admitted
from pages.shell.ledger.held import ledger, mark_of, print_of
from pages.shell.session import UNHEARD, UNTOLD, WAITS, saw_true_values, upload, wants_to_look
from pages.shell.state import SessionKey

NO_LEDGER = (
    "Access to true values of this server's table is recorded in a ledger, and there is none: start one on the page "
    "Release. Until then none of its values is shown."
)
NOTED = SessionKey[set[tuple[str, str]]]("ledger_noted", set())
"""The files whose look is noted, or kept to be."""
CANNOT = "The ledger could not be told that true values are seen; of private rows none is shown. The next step retries."


def tell_of_looks() -> None:
    """Called by the router before every page: note what it may show; where that fails, the steward's word waits."""
    WAITS.pop()
    held = session_file()
    origins = [each.origin for each in (held, upload()) if each is not None]
    from_server = held is not None and held.origin.from_server
    # A steward who declares the number of the server's rows public sees it.
    sees_row_count = held is not None and from_server and held.declares_row_count
    if from_server and (sees_row_count or wants_to_look()) and ledger() is None:
        WAITS.value = NO_LEDGER
        return
    looked = [
        each
        for each in origins
        if isinstance(each, Uploaded) and (not each.private or sees_row_count or wants_to_look() or saw_true_values())
    ]
    steps: list[Callable[[], None]] = [*(partial(_keep, each) for each in looked), _tell]
    for step in steps:
        try:
            step()
        except (LedgerError, DataError, OSError):
            WAITS.value = CANNOT


def tell_of_unheard(source: Source) -> None:
    """Before rows are registered: note them if this session looked at any while there was no ledger to tell.

    Which those were nobody knows any more. Raises LedgerError where it cannot be noted.
    """
    found = ledger()
    if found is not None and UNHEARD.value and isinstance(source.origin, Uploaded):
        note_look(found.folder, print_of(source, key_of(found.folder)))


def _keep(origin: Uploaded) -> None:
    """Keep the digests of rows that are looked at, once for each ledger's key."""
    found = ledger()
    if found is None:
        UNHEARD.value = True
        return
    key = key_of(found.folder)
    mark = mark_of(key)
    noted, untold = NOTED.setdefault(set()), UNTOLD.setdefault(set())
    if (mark, origin.key) not in noted:
        if isinstance(origin.table, CountedTable):
            untold.add((mark, print_of_name(origin.table.name, key=key)))
        if not isinstance(origin.table, EngineTable):  # which has no rows to digest: its name stands for all its counts
            untold.add((mark, print_of(origin, key)))
        noted.add((mark, origin.key))


def _tell() -> None:
    """Note what was kept, if this is the steward's session; of a ledger that is gone, that there was one to tell."""
    untold, found = UNTOLD.value, ledger()
    if not untold or found is None or not admitted():
        return
    mark = mark_of(key_of(found.folder))
    for each in sorted(untold):
        if each[0] == mark:
            note_look(found.folder, each[1])
        else:
            UNHEARD.value = True
        untold.discard(each)
