"""One number: exact answers or none; watch refusal, and reason about it."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.one_number.workbench import robust
from pages.shell.session import require_gate
from pages.shell.status import rail
from pages.shell.theorem import lead

require_gate()
beside, head = rail(), st.container(horizontal=True, vertical_alignment="center", key="page_head")
with head:
    st.title("One number", width="content")
    lead(
        "An answer is given or refused at random: the more stable it is, the likelier it is given.",
        "A refusal is an outcome like any other, and what it gives away is bounded too.",
    )
try:
    robust(beside)
except (DataError, ParameterError) as problem:
    st.error(str(problem))
