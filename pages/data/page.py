"""The Data page: choose a bundled sample, generate rows, or upload a file and declare its columns."""

from __future__ import annotations

import streamlit as st

from pages.data.bundled import sample_cards
from pages.data.engines import WAY, available_offers
from pages.data.own_file import engine_table, own_file
from pages.data.shapes import shape_gallery
from pages.shell.controls import check_choice, segments
from pages.shell.session import require_gate
from pages.shell.workbench import refusals_shown

WAYS = {"Real samples": sample_cards, "Generated": shape_gallery, "My own file": own_file}
FIRST = next(iter(WAYS))

require_gate()
st.title("Data")
ways = {**WAYS, WAY: engine_table} if available_offers() else WAYS
check_choice("way", list(ways), label="kind of data")
way = segments("Source of the rows", list(ways), key="way", default=FIRST)
with refusals_shown():
    ways.get(str(way), WAYS[FIRST])()
st.popover("Is the number of rows public?", type="tertiary").markdown(
    "If neighbouring data sets differ in one replaced row, n is public and every row is used. If rows or "
    "persons are added or removed, n is private, and you name a round number instead."
)
