"""The router: runs first on every visit, opens the session's gate, then runs the page the address names."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import streamlit as st

from dpcore.core import ParameterError
from pages.data.engines import withdraw_table
from pages.data.picker import in_use
from pages.shell.browser import come_back
from pages.shell.controls import say_again, with_complaints
from pages.shell.ledger.door import admit
from pages.shell.ledger.looks import tell_of_looks
from pages.shell.ledger.odometer import RELEASABLE, odometer
from pages.shell.present import curtain
from pages.shell.private.chip import chip
from pages.shell.session import ask_again_after_presentation, carry_link, keep_link, open_gate, take_back
from pages.shell.status import frame_style, status_line

HERE = Path(__file__).resolve().parent
CHOOSES_NONE = ("data", "learn")
"""Pages that leave the data in use as they are, and show them."""


open_gate()
admit()
withdraw_table()
ask_again_after_presentation()
tell_of_looks()
take_back()
page = st.navigation(
    {
        "Play": [
            st.Page(HERE / "play/page.py", title="Ranges and cells", url_path="start", default=True),
            st.Page(HERE / "marginals/page.py", title="Tables", url_path="tables"),
            st.Page(HERE / "robust/page.py", title="One number", url_path="one-number"),
            st.Page(HERE / "ask/page.py", title="Conversation", url_path="conversation"),
        ],
        "Data": [st.Page(HERE / "data/page.py", title="Data", url_path="data")],
        "Plan": [st.Page(HERE / "plan/page.py", title="Plan", url_path="plan")],
        "Release": [st.Page(HERE / "release/page.py", title="Release", url_path="release")],
        "Learn": [
            st.Page(HERE / "learn/page.py", title="Limits and attacks", url_path="learn"),
            st.Page(HERE / "learn/directions/page.py", title="Directions", url_path="directions-workbench"),
            st.Page(HERE / "learn/sparse/page.py", title="Random privacy", url_path="random-privacy-workbench"),
        ],
    },
    position="top",
)
# The drawing goes with the page; a PNG would be a file of the session, which a browser may ask for when that is over.
st.set_page_config(
    page_title=f"{page.title} · dpscope", page_icon=str(HERE.parent / "assets" / "icon.svg"), layout="wide"
)
come_back()
frame_style()
with curtain(page.title, leave=say_again):
    status_line(odometer(page.url_path), release=page.url_path in RELEASABLE)
    carry_link(page.url_path)
    with_complaints(page.run)
    if page.url_path in CHOOSES_NONE:
        with suppress(ParameterError):  # their file is gone, and the page says so
            chip(in_use())
keep_link()
