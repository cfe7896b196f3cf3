"""The data picker every page shares: generated shapes, bundled columns, and the session's own upload."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Parameter, ParameterError
from dpcore.data.domains import Grid
from dpcore.data.generators import GENERATORS, PAIR_GENERATORS
from dpcore.data.pairs import SIDE_BITS, BundledPairs, GeneratedPairs
from dpcore.data.samples import SAMPLES, sample
from dpcore.data.sources import Bundled, Generated, Source
from dpcore.experiments.recipe import OPENING_DATA
from pages.shell.controls import check_choice, check_link, choice, complain
from pages.shell.session import in_link, upload

OWN_FILE = "my-file"
ROW_CHOICES = (100, 300, 1000, 3000, 10_000, 20_269, 30_000, 66_353, 100_000, 300_000, 1_000_000)

GRID = Parameter(label="grid", symbol="d", low=2, high=14, integer=True)
SIDES = Parameter(label="grid", symbol="d", low=2, high=6, integer=True)
PAIR = "*"
"""Between the names of two columns in a link."""


def pair_titles(sample_key: str) -> dict[str, str]:
    """Link value, without the sample's, to title of the pairs of columns worth looking at together."""
    titles = {each.column: each.title for each in sample(sample_key).columns}
    return {PAIR.join(pair): " × ".join(titles[column] for column in pair) for pair in sample(sample_key).pairs}


def options(*, pairs: bool) -> dict[str, str]:
    """Link value to title of everything that can be picked now; pairs of numbers only where a page can draw them."""
    own = upload()
    found: dict[str, str] = {}
    if own is not None and (pairs or not isinstance(own.domain, Grid)):
        found[OWN_FILE] = f"Your file: {own.column}"  # first: the list is long
    shapes = {key: generator.title for key, generator in GENERATORS.items()}
    shapes |= {key: generator.title for key, generator in PAIR_GENERATORS.items()} if pairs else {}
    found |= {key: f"Generated: {title.lower()}" for key, title in shapes.items()}
    for each in SAMPLES:
        for suggestion in each.columns:
            found[f"{each.key}.{suggestion.column}"] = f"{each.title}: {suggestion.title}"
        for key, title in pair_titles(each.key).items() if pairs else ():
            found[f"{each.key}.{key}"] = f"{each.title}: {title}"
    return found


def pick_source(*, default: str = OPENING_DATA.shape, pairs: bool = False) -> Source:
    """The picker and, for generated data, its size; the choice lives in the link.

    ``default`` is what a page opens with for whoever has not picked anything yet, here or on another page; ``pairs``
    says whether the page can draw pairs of numbers.
    """
    titles = options(pairs=pairs)
    last = st.session_state.get("usual_data", default)
    if last != default and st.session_state.get("data") == last and "data" not in st.query_params:
        st.session_state["data"] = default
    st.session_state["usual_data"] = default
    asked = st.query_params.get("data")
    if asked == OWN_FILE and OWN_FILE not in titles:
        complain(
            "data",
            "Two columns of your file are in use, and this page is about one: choose it on the Data page."
            if upload() is not None
            else "The link was made with an uploaded file, which stays with the person who uploaded it; "
            "pick data here.",
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
        return bundled(chosen, bits=pick_sides() if PAIR in chosen else None)
    return generated(chosen)


def generated(shape: str) -> Generated | GeneratedPairs:
    """A shape on a line or in the plane, with the rows and the grid that are asked for."""
    if shape not in PAIR_GENERATORS:
        n, bits = pick_size()
        return Generated(shape=shape, n=n, bits=bits, seed=OPENING_DATA.seed)
    rows, grid = st.columns(2)
    with rows:
        n = pick_rows()
    with grid:
        return GeneratedPairs(shape=shape, n=n, bits=pick_sides(), seed=1)


def bundled(chosen: str, *, bits: int | None = None) -> Bundled | BundledPairs:
    """The bundled column, or pair of columns, that a link value names: "adult.age", "cities.longitude*latitude".

    ``bits`` cut each side of a pair's grid; a column by itself has its suggested grid.
    """
    sample_key, column = chosen.split(".", 1)
    if PAIR in column:
        first, second = column.split(PAIR, 1)
        return BundledPairs(sample_key=sample_key, first=first, second=second, bits=bits or SIDE_BITS)
    suggestion = next(each for each in sample(sample_key).columns if each.column == column)
    suggested = suggestion.bits if suggestion.kind == "number" else 10
    return Bundled(sample_key=sample_key, column_name=column, bits=suggested)


def pick_size() -> tuple[int, int]:
    """The number of generated rows and the bits of their grid."""
    rows, grid = st.columns(2)
    with rows:
        n = pick_rows()
    with grid:
        check_link("bits", parameter=GRID, default=OPENING_DATA.bits)
        bits = st.slider(
            "Grid: 2ᵈ cells, d",
            int(GRID.low),
            int(GRID.high),
            OPENING_DATA.bits,
            key=in_link("bits"),
            bind="query-params",
            help="Bits of the grid, the paper's d.",
        )
    return n, int(bits)


def pick_rows() -> int:
    """The number of generated rows."""
    check_choice("n", [str(value) for value in ROW_CHOICES], label="number of rows")
    return int(st.select_slider("Rows n", ROW_CHOICES, value=OPENING_DATA.n, key=in_link("n"), bind="query-params"))


def pick_sides() -> int:
    """The bits of either side of a grid of pairs."""
    check_link("sides", parameter=SIDES, default=SIDE_BITS)
    return int(
        st.slider(
            "Grid: 2ᵈ × 2ᵈ cells, d",
            int(SIDES.low),
            int(SIDES.high),
            SIDE_BITS,
            key=in_link("sides"),
            bind="query-params",
            help="Bits of either side of the grid.",
        )
    )
