"""Marginals: what share has any, all or some of these attributes? Small marginals, a polynomial, and their limits."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.marginals.view import marginals
from pages.shell.session import in_link, require_gate
from pages.tables.view import all_tables

VIEWS = {"Any, all or some of k attributes": marginals, "All tables of k attributes": all_tables}
FIRST = next(iter(VIEWS))

require_gate()
st.title("Tables")
view = st.segmented_control(
    "What is released",
    list(VIEWS),
    default=FIRST,
    required=True,
    key=in_link("view"),
    bind="query-params",
    label_visibility="collapsed",
)
try:
    VIEWS.get(str(view), VIEWS[FIRST])()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
