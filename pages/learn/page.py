"""The Learn page: lessons on lower bounds and attacks, with an overview."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.learn.view import learn
from pages.shell.session import require_gate

require_gate()
try:
    learn()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
