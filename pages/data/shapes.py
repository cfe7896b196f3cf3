"""Generated data: one- and two-dimensional shapes with their small pictures, a number of rows and a grid."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from dpcore.core import Integers
from dpcore.data.columns import Number
from dpcore.data.generators import GENERATORS, generate
from dpcore.data.product import is_map
from pages.charts.component import is_dark
from pages.charts.palette import palette
from pages.data.grid import fixed_column, show_grid
from pages.data.picker import SHAPE, pick_size, public_source
from pages.data.summary import show_summary, use_data_button
from pages.shell.controls import choice
from pages.shell.state import set_controls

PLANE = " in the plane"
"""At the end of the title of a shape in the plane."""
BARS = 40
COLUMNS, ROWS = 40, 12
"""Numbers of squares of a small map."""
WIDTH, HEIGHT = 160, 48


def sparkline(counts: Integers, *, colour: str) -> str:
    """Return counts (k,) as bars in SVG; a bar with rows has a minimum height."""
    step = WIDTH / len(counts)
    heights = np.where(counts > 0, np.maximum(2, HEIGHT * counts / max(1, counts.max())), 0)
    bars = "".join(
        f'<rect x="{place * step:.1f}" y="{HEIGHT - height:.1f}" width="{0.8 * step:.1f}" height="{height:.1f}"/>'
        for place, height in enumerate(heights)
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" fill="{colour}">{bars}</svg>'


def small_map(counts: Integers, *, colour: str) -> str:
    """Return counts (columns, rows) as squares in SVG, shaded by their square roots."""
    wide, high = (length / cells for length, cells in zip((WIDTH, HEIGHT), counts.shape, strict=True))
    shades = np.sqrt(counts / max(1, counts.max()))
    squares = "".join(
        f'<rect x="{x * wide:.1f}" y="{HEIGHT - (y + 1) * high:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'opacity="{shades[x, y]:.2f}"/>'
        for x, y in np.argwhere(counts > 0).tolist()
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" fill="{colour}">{squares}</svg>'


@cache
def shape_picture(shape: str, *, colour: str) -> str:
    """Return the picture of a generated shape."""
    if GENERATORS[shape].in_the_plane:
        cells = generate(shape, n=20_000, size=(COLUMNS, ROWS), seed=1)
        return small_map(np.bincount(cells, minlength=COLUMNS * ROWS).reshape(COLUMNS, ROWS), colour=colour)
    return sparkline(np.bincount(generate(shape, n=20_000, size=BARS, seed=1), minlength=BARS), colour=colour)


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
                alt = f"{'Map' if generator.in_the_plane else 'Histogram'}: {generator.title}."
                st.image(shape_picture(key, colour=palette(dark=is_dark()).roles["true"]), width="stretch", alt=alt)
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
