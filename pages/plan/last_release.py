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


def changes_since_release(plan_table: PlanTable, plan: Plan) -> None:
    """One line, with every difference behind its question mark; nothing where nothing of these rows was released."""
    try:
        last_release = _last_release(plan_table)
        changes_since = changes(last_release, plan.request()) if last_release else ()
    except (DataError, LedgerError):  # the page Release says it
        return
    if last_release is None:
        return
    entry = f"entry {last_release.entry} ({last_release.body['at']})"
    if not changes_since:
        st.caption(f"As released in {entry}: seeing that again is free.")
        return
    count_words = f"{len(changes_since)} change{'s' * (len(changes_since) > 1)}"
    st.caption(f"Since the release of {entry}: {count_words}.", help="\n\n".join(map(escaped, changes_since)))


def _last_release(plan_table: PlanTable) -> Stored | None:
    """The last release of these rows, whichever page drew it; private ones are looked at on Release alone."""
    file, store = session_file(), ledger()
    bundled = plan_table.key in {each.key for each in SAMPLES}
    if not admitted() or store is None or not (bundled or (plan_table.key == OWN_FILE and file)):
        return None
    account = account_of(Bundled(sample_key=plan_table.key) if bundled or file is None else file.origin, look=bundled)
    if account is None or account.wrong:
        return None
    dataset_id = account.dataset_id
    key = f"since|{dataset_id}|{account.spent!r}"
    return remembered(key, lambda: next(reversed(store.stored(dataset_id)), None))
