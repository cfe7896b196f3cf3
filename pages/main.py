"""The router: runs first on every visit, opens the session's gate, then runs the page the address names."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shell.controls import with_complaints
from pages.shell.reconnect import come_back
from pages.shell.session import carry_link, keep_link, open_gate, take_back
from pages.shell.status import status_line

HERE = Path(__file__).resolve().parent

open_gate()
take_back()
page = st.navigation(
    [
        st.Page(HERE / "play/page.py", title="Ranges and cells", url_path="play", default=True),
        st.Page(HERE / "data/page.py", title="Data", url_path="data"),
        st.Page(HERE / "ask/page.py", title="Ask", url_path="ask"),
        st.Page(HERE / "marginals/page.py", title="Marginals", url_path="marginals"),
        st.Page(HERE / "robust/page.py", title="Robust answers", url_path="robust"),
        st.Page(HERE / "sparse/page.py", title="Sparse histograms", url_path="sparse"),
        st.Page(HERE / "halfspaces/page.py", title="Halfspaces", url_path="halfspaces"),
        st.Page(HERE / "learn/page.py", title="Limits", url_path="limits"),
    ],
    position="top",
)
# The drawing goes with the page; a PNG would be a file of the session, which a browser may ask for when that is over.
st.set_page_config(
    page_title=f"{page.title} · dpscope", page_icon=str(HERE.parent / "assets" / "icon.svg"), layout="wide"
)
come_back()
status_line()
carry_link(page.url_path)
with_complaints(page.run)
keep_link()
