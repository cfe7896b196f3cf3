"""What changed in the plan since its table's last release, for whoever may know of the ledger."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError
from dpcore.data.samples import SAMPLES
from dpcore.data.sources import Bundled
from dprelease.ledger.records import LedgerError, Stored
from dprelease.plan.questions import Plan
from dprelease.plan.versions import changes
from pages.data.picker import OWN_FILE
from pages.data.upload import session_file
from pages.plan.plan_table import PlanTable
from pages.shell.ledger.door import admitted
from pages.shell.ledger.held import account_of, ledger
from pages.shell.private.chip import escaped
from pages.shell.session import remembered


def changes_since_release(declared: PlanTable, plan: Plan) -> None:
    """One line, with every difference behind its question mark; nothing where nothing of these rows was released."""
    try:
        before = _last_release(declared)
        told = changes(before, plan.request()) if before else ()
    except (DataError, LedgerError):  # the page Release says it
        return
    if before is None:
        return
    entry = f"entry {before.entry} ({before.body['at']})"
    if not told:
        st.caption(f"As released in {entry}: seeing that again is free.")
        return
    many = f"{len(told)} change{'s' * (len(told) > 1)}"
    st.caption(f"Since the release of {entry}: {many}.", help="\n\n".join(map(escaped, told)))


def _last_release(declared: PlanTable) -> Stored | None:
    """The last release of these rows, whichever page drew it; private ones are looked at on Release alone."""
    held, book = session_file(), ledger()
    bundled = declared.key in {each.key for each in SAMPLES}
    if not admitted() or book is None or not (bundled or (declared.key == OWN_FILE and held)):
        return None
    found = account_of(Bundled(sample_key=declared.key) if bundled or held is None else held.origin, look=bundled)
    if found is None or found.wrong:
        return None
    dataset_id = found.dataset_id
    key = f"since|{dataset_id}|{found.spent!r}"
    return remembered(key, lambda: next(reversed(book.stored(dataset_id)), None))
