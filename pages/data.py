"""Data: choose a real sample, generate rows, or bring a file and say what its records can be."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.ui.bundled import sample_cards
from pages.ui.controls import check_choice
from pages.ui.own_file import own_file
from pages.ui.session import require_gate
from pages.ui.shapes import shape_gallery

WAYS = {"Real samples": sample_cards, "Generated": shape_gallery, "My own file": own_file}
FIRST = next(iter(WAYS))

require_gate()
st.title("Data")
check_choice("way", list(WAYS), label="kind of data")
way = st.segmented_control(
    "Where the rows come from", list(WAYS), default=FIRST, required=True, key="way", bind="query-params"
)
try:
    WAYS.get(str(way), WAYS[FIRST])()
except (DataError, ParameterError) as problem:
    st.error(str(problem))
st.caption(
    "n is public: no row is ever dropped, and replacing one row changes what it says, not how many there are. The "
    "unit of privacy is a row: a person with several rows is protected less."
)
