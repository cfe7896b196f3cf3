"""The router: runs first on every visit, opens the session's gate, then runs the page the address names."""

from __future__ import annotations

import itertools
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

import streamlit as st

from dpcore.core import ParameterError
from pages.data.engines import withdraw_table
from pages.data.picker import in_use
from pages.shell.addresses import PAGES, page_at
from pages.shell.browser import come_back
from pages.shell.controls import say_again, with_complaints
from pages.shell.ledger.door import admit
from pages.shell.ledger.looks import tell_of_looks
from pages.shell.ledger.odometer import odometer
from pages.shell.present import curtain
from pages.shell.private.chip import chip
from pages.shell.session import ask_again_after_presentation, carry_link, keep_link, open_gate, take_back
from pages.shell.status import frame_style, is_data_named, status_line

HERE = Path(__file__).resolve().parent

open_gate()
admit()
withdraw_table()
ask_again_after_presentation()
tell_of_looks()
take_back()
page = st.navigation(
    {
        section: [
            st.Page(HERE / each.folder / "page.py", title=each.title, url_path=each.address, default=not each.address)
            for each in pages
        ]
        for section, pages in itertools.groupby(PAGES, key=attrgetter("section"))
    },
    position="top",
)
spec = page_at(page.url_path)
# The drawing goes with the page; a PNG would be a file of the session, which a browser may ask for when that is over.
st.set_page_config(
    page_title=f"{page.title} · dpscope", page_icon=str(HERE.parent / "assets" / "icon.svg"), layout="wide"
)
come_back()
frame_style()
with curtain(page.title, leave=say_again):
    status_line(odometer(spec), release=spec.draws)
    carry_link(page.url_path)
    with_complaints(page.run)
    if not (spec.names_data or is_data_named()):
        with suppress(ParameterError):  # their file is gone, and the page says so
            chip(in_use())
keep_link()
