"""Marginals: what share has any, all or some of these attributes? Small marginals, a polynomial, and their limits."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.ui.marginals_view import marginals
from pages.ui.session import require_gate

require_gate()
st.title("Marginals")
try:
    marginals()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
