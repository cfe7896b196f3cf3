"""Generated data: one- and two-dimensional shapes, with a number of rows and a grid."""

from __future__ import annotations

import streamlit as st

from dpcore.data.columns import Number
from dpcore.data.generators import GENERATORS
from dpcore.data.product import is_map
from pages.charts.component import is_dark
from pages.charts.palette import palette
from pages.data.grid import fixed_column, show_grid
from pages.data.picker import SHAPE, pick_size, public_source
from pages.data.sparkline import shape_picture
from pages.data.summary import show_summary, use_data_button
from pages.shell.controls import choice
from pages.shell.state import set_controls

PLANE = " in the plane"
"""At the end of the title of a shape in the plane."""


def shape_gallery() -> None:
    """Draw pictures of the shapes, the controls, and the generated data."""
    st.markdown(
        "These are synthetic rows, sampled with a seed: the same link gives the same rows. Previews of "
        "them spend no privacy budget."
    )
    titles = {key: generator.title for key, generator in GENERATORS.items()}
    gallery, controls = st.container(horizontal=True), st.container()
    with controls:
        choice_place, size = st.columns([1, 2])
        with choice_place:
            shape = choice("Shape", titles, key="shape", default=SHAPE)
        with size:
            pick_size(shape)
    with gallery:
        for key, generator in GENERATORS.items():
            with st.container(border=True, width=170):
                st.image(
                    shape_picture(key, colour=palette(dark=is_dark()).roles["true"]),
                    width="stretch",
                    alt=f"{'Map' if generator.in_the_plane else 'Histogram'}: {generator.title}.",
                )
                st.button(
                    generator.title.removesuffix(PLANE),  # the map above it says so, and one line holds the rest
                    key=f"shape-{key}",
                    width="stretch",
                    type="primary" if shape == key else "secondary",
                    on_click=set_controls,
                    args=({"shape": key},),
                )
    st.markdown(GENERATORS[shape].sentence)
    source = public_source(shape)
    domain = source.domain
    lines = domain.columns if is_map(domain) else (source.on(Number),)
    show_grid([fixed_column(name, line) for name, line in zip(source.columns, lines, strict=True)], key="shape-grid")
    show_summary(source, key="shape-summary")
    use_data_button(shape, key="shape-explore")
