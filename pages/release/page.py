"""The Release page: a release is charged, sampled, stored and certified."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from dprelease.commands import default_folder
from dprelease.ledger.records import LedgerError, LedgerNotPrivate
from pages.release.verify import verify_uploads
from pages.release.view import show_release
from pages.shell.ledger.roles import admitted
from pages.shell.session import require_gate

require_gate()
try:
    show_release()
except (DataError, LedgerError, ParameterError) as problem:
    st.error(str(problem))
    if isinstance(problem, LedgerNotPrivate) and admitted():  # the path is of the data owner's machine
        st.caption(f"The ledger is in `{default_folder()}`.")
verify_uploads()
