"""Ranges and cells: one data set, one question, one mechanism; what privacy costs here. The app opens on it."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.play.view import show_play
from pages.shell.session import require_gate

require_gate()
try:
    show_play()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
