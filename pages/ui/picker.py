"""The data picker every page shares: generated shapes, bundled columns, and the session's own upload."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Parameter, ParameterError
from dpcore.generators import GENERATORS
from dpcore.samples import SAMPLES, sample
from dpcore.sources import Bundled, Generated, Source
from pages.ui.controls import check_choice, check_link, choice
from pages.ui.session import upload

OWN_FILE = "my-file"
ROW_CHOICES = (100, 300, 1000, 3000, 7744, 10_000, 20_269, 30_000, 66_353, 100_000, 300_000, 1_000_000)

GRID = Parameter(label="grid", symbol="d", low=2, high=14, integer=True)


def options() -> dict[str, str]:
    """Link value to title of everything that can be picked now."""
    found = {key: f"Generated: {generator.title.lower()}" for key, generator in GENERATORS.items()}
    for each in SAMPLES:
        for suggestion in each.columns:
            found[f"{each.key}.{suggestion.column}"] = f"{each.title}: {suggestion.title}"
    own = upload()
    if own is not None:
        found[OWN_FILE] = f"Your file: {own.column_name}"
    return found


def pick_source(*, default: str = "bimodal") -> Source:
    """The picker and, for generated data, its size; the choice lives in the link.

    ``default`` is what a page opens with for whoever has not picked anything yet, here or on another page.
    """
    titles = options()
    last = st.session_state.get("usual_data", default)
    if last != default and st.session_state.get("data") == last and "data" not in st.query_params:
        st.session_state["data"] = default
    st.session_state["usual_data"] = default
    asked = st.query_params.get("data")
    if asked == OWN_FILE and OWN_FILE not in titles:
        st.warning(
            "The link was made with an uploaded file, which stays with the person who uploaded it; pick data here."
        )
        del st.query_params["data"]
    chosen = choice(
        "Data",
        titles,
        key="data",
        default=default,
        help_text="Generated and bundled data are public: previews on them cost nothing. The Data page takes yours.",
    )
    if chosen == OWN_FILE:
        own = upload()
        if own is None:
            raise ParameterError("The uploaded file is gone; upload it again on the Data page.")
        return own
    if "." in chosen:
        return bundled(chosen)
    n, bits = pick_size()
    return Generated(shape=chosen, n=n, bits=bits, seed=1)


def bundled(chosen: str) -> Bundled:
    """The bundled column a link value such as "adult.age" names, on its suggested grid."""
    sample_key, column = chosen.split(".", 1)
    suggestion = next(each for each in sample(sample_key).columns if each.column == column)
    bits = suggestion.bits if suggestion.kind == "number" else 10
    return Bundled(sample_key=sample_key, column_name=column, bits=bits)


def pick_size() -> tuple[int, int]:
    """The number of generated rows and the bits of their grid."""
    rows, grid = st.columns(2)
    with rows:
        check_choice("n", [str(value) for value in ROW_CHOICES], label="number of rows")
        n = st.select_slider("Rows n", ROW_CHOICES, value=10_000, key="n", bind="query-params")
    with grid:
        check_link("bits", parameter=GRID, default=10)
        bits = st.slider(
            "Grid: 2ᵈ cells, d",
            int(GRID.low),
            int(GRID.high),
            10,
            key="bits",
            bind="query-params",
            help="Bits of the grid, the paper's d.",
        )
    return int(n), int(bits)
