"""The router: runs first on every visit, opens the session's gate, then runs the page the address names."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.ui.controls import with_complaints
from pages.ui.session import carry_link, keep_link, open_gate
from pages.ui.status import status_line

HERE = Path(__file__).resolve().parent

open_gate()
page = st.navigation(
    [
        st.Page(HERE / "start.py", title="Start", url_path="start", default=True),
        st.Page(HERE / "data.py", title="Data", url_path="data"),
        st.Page(HERE / "explore.py", title="Explore", url_path="explore"),
        st.Page(HERE / "ask.py", title="Ask", url_path="ask"),
        st.Page(HERE / "marginals.py", title="Marginals", url_path="marginals"),
        st.Page(HERE / "robust.py", title="Robust answers", url_path="robust"),
        st.Page(HERE / "sparse.py", title="Sparse histograms", url_path="sparse"),
        st.Page(HERE / "halfspaces.py", title="Halfspaces", url_path="halfspaces"),
        st.Page(HERE / "limits.py", title="Limits", url_path="limits"),
    ],
    position="top",
)
# The drawing goes with the page; a PNG would be a file of the session, which a browser may ask for when that is over.
st.set_page_config(
    page_title=f"{page.title} · dpscope", page_icon=str(HERE.parent / "assets" / "icon.svg"), layout="wide"
)
# The control inside a picture is Vega's own; on a phone it would be wider than the page.
st.html("<style>form.vega-bindings input[type=range] { max-width: 45vw; }</style>")
status_line()
carry_link(page.url_path)
with_complaints(page.run)
keep_link()
