"""Generated data: six shapes to choose by their pictures, a number of rows and a grid."""

from __future__ import annotations

import streamlit as st

from dpcore.figures.figure import palette
from dpcore.generators import GENERATORS
from dpcore.sources import Generated
from pages.ui.charts import is_dark
from pages.ui.controls import choice
from pages.ui.picker import pick_size
from pages.ui.sparkline import shape_picture
from pages.ui.summary import explore_button, summary

FIRST = "bimodal"


def shape_gallery() -> None:
    """Pictures of the shapes, then the controls, then the data they make."""
    st.markdown(
        "Rows of nobody, drawn from a seed: the same link makes the same rows. Previews on them cost no privacy."
    )
    titles = {key: generator.title for key, generator in GENERATORS.items()}
    gallery, controls = st.container(horizontal=True), st.container()
    with controls:
        choice_place, size = st.columns([1, 2])
        with choice_place:
            shape = choice("Shape", titles, key="shape", default=FIRST)
        with size:
            n, bits = pick_size()
    with gallery:
        for key, generator in GENERATORS.items():
            with st.container(border=True, width=170):
                st.image(
                    shape_picture(key, colour=palette(dark=is_dark()).true),
                    width="stretch",
                    alt=f"Histogram: {generator.title}.",
                )
                st.button(
                    generator.title,
                    key=f"shape-{key}",
                    width="stretch",
                    type="primary" if shape == key else "secondary",
                    on_click=lambda chosen=key: st.session_state.update(shape=chosen),
                )
    st.markdown(GENERATORS[shape].sentence)
    summary(Generated(shape=shape, n=n, bits=bits, seed=1), key="shape-summary")
    explore_button(shape, key="shape-explore", n=n, bits=bits)
