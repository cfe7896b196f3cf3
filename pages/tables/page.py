"""Tables: shares of any, all or some attributes, all tables of k, decision lists, and boxes of numbers."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.shell.session import in_link, require_gate
from pages.shell.status import rail
from pages.shell.theorem import how_it_works
from pages.tables.boxes import HOW_BOXES, boxes
from pages.tables.lists import HOW_LISTS, decision_lists
from pages.tables.marginals.workbench import HOW_TABLES, all_tables
from pages.tables.shares.workbench import HOW_SHARES, marginals

VIEWS = {
    "Any, all or some of k attributes": (marginals, HOW_SHARES),
    "All tables of k attributes": (all_tables, HOW_TABLES),
    "Decision lists": (decision_lists, HOW_LISTS),
    "Boxes": (boxes, HOW_BOXES),
}
FIRST = next(iter(VIEWS))

require_gate()
beside, head = rail(), st.container(horizontal=True, vertical_alignment="center", key="page_head")
with head:
    st.title("Tables", width="content")
    view = st.segmented_control(
        "What is released",
        list(VIEWS),
        default=FIRST,
        required=True,
        key=in_link("view"),
        bind="query-params",
        label_visibility="collapsed",
        wrap=True,
    )
try:
    shown, told = VIEWS.get(str(view), VIEWS[FIRST])
    with head:
        how_it_works(*told)
    shown(beside)
except (DataError, ParameterError) as problem:
    st.error(str(problem))
