"""The router: runs first on every visit, opens the session's gate, then runs the page the address names."""

from __future__ import annotations

import itertools
from collections import defaultdict
from contextlib import suppress
from copy import copy
from operator import attrgetter
from pathlib import Path

import streamlit as st

from dpcore.core import ParameterError
from pages.data.engines import withdraw_table
from pages.data.picker import current_source, follow_data_in_use
from pages.shell.addresses import PAGES, app_pages, page_at
from pages.shell.browser import reload_on_reconnect
from pages.shell.controls import repeat_warnings, run_with_link_warnings
from pages.shell.ledger.access_records import record_access
from pages.shell.ledger.roles import admit
from pages.shell.ledger.spent import budget_spent
from pages.shell.links import open_views_of_old_links, remember_link, restore_from_link
from pages.shell.presentation import presentation_container
from pages.shell.private.clearing import clear_private_state
from pages.shell.private.data_in_use import show_data_in_use
from pages.shell.private.steward import end_steward_after_presentation
from pages.shell.session import open_gate
from pages.shell.status import frame_style, is_data_named, status_line

HERE = Path(__file__).resolve().parent

open_gate()
admit()
withdraw_table()
end_steward_after_presentation()
record_access()
clear_private_state()
navigation = defaultdict[str, list[st.Page]](list)
for section, in_section in itertools.groupby(PAGES, key=attrgetter("section")):
    pages = [copy(app_pages()[each.folder]) for each in in_section]  # Streamlit marks the one that runs
    navigation[section if len(pages) > 1 else ""] += pages
page = st.navigation(navigation, position="top")
spec = page_at(page.url_path)
# The drawing goes with the page; a PNG would be a file of the session, which a browser may ask for when that is over.
st.set_page_config(
    page_title=f"{spec.title} · dpscope", page_icon=str(HERE.parent / "assets" / "icon.svg"), layout="wide"
)
reload_on_reconnect()
frame_style()
open_views_of_old_links()
follow_data_in_use(spec)
with presentation_container(spec.title, leave=repeat_warnings):
    status_line(budget_spent(spec), release=spec.draws)
    restore_from_link(page.url_path)
    run_with_link_warnings(page.run)
    if not (spec.names_data or is_data_named()):
        with suppress(ParameterError):  # their file is gone, and the page says so
            show_data_in_use(current_source())
remember_link()
