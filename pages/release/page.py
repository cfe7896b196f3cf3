"""The Release page: a release is charged, sampled, stored and certified."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from dprelease.ledger.records import LedgerError
from pages.release.verify import verify_uploads
from pages.release.view import show_release
from pages.shell.session import require_gate

require_gate()
try:
    show_release()
except (DataError, LedgerError, ParameterError) as problem:
    st.error(str(problem))
verify_uploads()
