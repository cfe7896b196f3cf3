"""Changes of the plan since its table's last release, for users who may read the ledger."""

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
from pages.shell.ledger.accounts import Account, account_of, ledger
from pages.shell.ledger.roles import admitted
from pages.shell.private.data_in_use import escaped
from pages.shell.tasks.memory import remember


def changes_since_release(plan_table: PlanTable, plan: Plan) -> None:
    """Draw one line with the differences in its help; nothing if these rows have no release."""
    try:
        last_release = _last_release(plan_table)
        changes_since = changes(last_release, plan.request()) if last_release else ()
    except (DataError, LedgerError):  # the Release page shows the error
        return
    if last_release is None:
        return
    entry = f"entry {last_release.entry} ({last_release.body['at']})"
    if not changes_since:
        st.caption(f"As released in {entry}: to see that release again is free.")
        return
    count_words = f"{len(changes_since)} change{'s' * (len(changes_since) > 1)}"
    st.caption(f"Since the release of {entry}: {count_words}.", help="\n\n".join(map(escaped, changes_since)))


def planned_account(plan_table: PlanTable) -> Account | None:
    """Return the ledger's account of the planned rows; None without one, or for users who may not read it."""
    file = session_file()
    bundled = plan_table.key in {each.key for each in SAMPLES}
    if not admitted() or not (bundled or (plan_table.key == OWN_FILE and file)):
        return None
    data = Bundled(sample_key=plan_table.key) if bundled or file is None else file.origin
    try:
        account = account_of(data, compare=bundled)
    except (DataError, LedgerError):  # the Release page shows the error
        return None
    return None if account is None or account.wrong else account


def _last_release(plan_table: PlanTable) -> Stored | None:
    """Return the last release of these rows, from any page; only Release compares private rows with the ledger."""
    account, store = planned_account(plan_table), ledger()
    if account is None or store is None:
        return None
    dataset_id = account.dataset_id
    key = f"since|{dataset_id}|{account.spent!r}"
    return remember(key, lambda: next(reversed(store.stored(dataset_id)), None))
