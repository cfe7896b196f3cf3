"""Plan: from a table to what may be published, without looking at a row."""

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
