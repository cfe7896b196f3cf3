"""Plan: from a table to what may be published, without looking at a row."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.plan.view import planning
from pages.shell.session import require_gate

require_gate()
try:
    planning()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
