"""The router: runs first on every visit, opens the session's gate, then runs the page the address names."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.ui.session import open_gate
from pages.ui.status import status_line

HERE = Path(__file__).resolve().parent

st.set_page_config(page_title="dpscope", page_icon=str(HERE.parent / "assets" / "icon.png"), layout="wide")
open_gate()
page = st.navigation(
    [
        st.Page(HERE / "start.py", title="Start", url_path="start", default=True),
        st.Page(HERE / "data.py", title="Data", url_path="data"),
        st.Page(HERE / "explore.py", title="Explore", url_path="explore"),
    ],
    position="top",
)
status_line()
page.run()
