"""The Plan page: choose statistics of a table and their budget, without access to its rows."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.plan.view import show_plan
from pages.shell.session import require_gate

require_gate()
try:
    show_plan()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
