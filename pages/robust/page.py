"""One number: exact answers that no few people could move, or none; watch refusal, and reason about it."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.robust.view import robust
from pages.shell.session import require_gate

require_gate()
st.title("One number")
try:
    robust()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
