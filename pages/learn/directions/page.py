"""Halfspaces: turn a direction among unit vectors, and see the true and the released share of rows on its side."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.learn.directions.own_data import halfspaces
from pages.shell.session import require_gate

require_gate()
st.title("Directions")
try:
    halfspaces()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
