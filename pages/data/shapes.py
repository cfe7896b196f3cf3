"""Generated data: shapes on a line and in the plane to choose by their pictures, a number of rows and a grid."""

from __future__ import annotations

import streamlit as st

from dpcore.data.generators import GENERATORS, PAIR_GENERATORS, Generator, PairGenerator
from pages.charts.component import is_dark
from pages.charts.palette import palette
from pages.data.picker import generated
from pages.data.sparkline import shape_picture
from pages.data.summary import explore_button, summary
from pages.shell.controls import choice

FIRST = "bimodal"


def shape_gallery() -> None:
    """Pictures of the shapes, then the controls, then the data they make."""
    st.markdown(
        "Rows of nobody, drawn from a seed: the same link makes the same rows. Previews on them cost no privacy."
    )
    shapes: dict[str, Generator | PairGenerator] = {**GENERATORS, **PAIR_GENERATORS}
    titles = {key: generator.title for key, generator in shapes.items()}
    gallery, controls = st.container(horizontal=True), st.container()
    with controls:
        choice_place, size = st.columns([1, 2])
        with choice_place:
            shape = choice("Shape", titles, key="shape", default=FIRST)
        with size:
            source = generated(shape)
    with gallery:
        for key, generator in shapes.items():
            with st.container(border=True, width=170):
                st.image(
                    shape_picture(key, colour=palette(dark=is_dark()).roles["true"]),
                    width="stretch",
                    alt=f"{'Map' if key in PAIR_GENERATORS else 'Histogram'}: {generator.title}.",
                )
                st.button(
                    generator.title,
                    key=f"shape-{key}",
                    width="stretch",
                    type="primary" if shape == key else "secondary",
                    on_click=lambda chosen=key: st.session_state.update(shape=chosen),
                )
    st.markdown(shapes[shape].sentence)
    summary(source, key="shape-summary")
    side = "sides" if shape in PAIR_GENERATORS else "bits"
    explore_button(shape, key="shape-explore", sizes={"n": source.n, side: source.bits})
