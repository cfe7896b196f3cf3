"""Explore: one data set, one question, one mechanism; what privacy costs here."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.play.view import explore
from pages.shell.session import require_gate

require_gate()
st.title("Explore")
try:
    explore()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
