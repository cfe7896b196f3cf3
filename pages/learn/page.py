"""Limits: what no private method can do, and the attacks that find it out; one lesson at a time."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.learn.view import limits
from pages.shell.session import require_gate

require_gate()
st.title("Limits and attacks")
try:
    limits()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
