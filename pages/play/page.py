"""The Play page, with which the app opens: one data set, one query and one mechanism, and their error."""

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
