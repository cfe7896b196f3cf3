"""Random privacy: a weaker promise, for data drawn at random, under which a few full cells do not drown."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.learn.random_privacy.own_data import sparse
from pages.shell.session import require_gate

require_gate()
st.title("Random privacy")
try:
    sparse()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
