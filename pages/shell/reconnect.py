"""Lets a page whose server was started anew run by itself, instead of showing what that server does not hold."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st


@st.fragment(run_every=timedelta(days=1))
def come_back() -> None:
    """Draw nothing, once a day: a browser that is connected again runs only a page that refreshes itself."""
    st.empty()
