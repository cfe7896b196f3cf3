"""Conversation: one question at a time, answered for nothing from a belief, or from the data at a price."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.ask.view import ask
from pages.shell.session import require_gate

require_gate()
st.title("Conversation")
try:
    ask()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
