"""Controls for shares of attributes: rows, queries, and the mechanism's parameters."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.data.bundled import ANSWERED, yes_no_of
from dpcore.data.product import Product
from dpcore.data.samples import sample
from dpcore.data.sources import Source, generated_attributes
from dpcore.mechanisms import entry
from dpcore.queries.at_least import AtLeast
from dpcore.queries.attribute_sets import MAX_WIDTH
from pages.data.picker import BY_PERSON, NOT_SENT, OWN_FILE, choose_data, show_credit
from pages.data.upload import session_file
from pages.shell.controls import choice, settings, stops, whole
from pages.shell.links import in_link
from pages.shell.private.data_in_use import show_data_in_use
from pages.shell.private.twin import drawn
from pages.shell.request import PageRequest
from pages.shell.state import SessionKey
from pages.tables.own_file import own_predicates

GENERATED = "generated"
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
ENTRIES = {"laplace": "marginals-polynomial", "gaussian": "marginals-polynomial-gaussian"}
ANY, ALL, SOME = "any", "all", "some"
WIDTH, AT_LEAST = SessionKey("width", 1), SessionKey("at-least", 2)


def in_words(queries: AtLeast) -> str:
    """Return the class of queries in words: "any of 5 attributes"."""
    if queries.width == 1:
        return "one attribute"
    which = {1: "any of", queries.width: "all of"}.get(queries.least, f"at least {queries.least} of")
    return f"{which} {queries.width} attributes"


def draw_controls(side: DeltaGenerator, bar: DeltaGenerator) -> PageRequest[AtLeast] | None:
    """Draw the controls, ε in the bar; return None as long as the attributes of a user's file are not named."""
    with side:
        rows = choose_attributes()
        if rows is None:
            return None
        source = drawn(rows)
        show_data_in_use(source)
        width, least, signed = _query_class(len(source.columns))
        noise = choice(
            "Noise",
            {"laplace": "Laplace: ε alone", "gaussian": "Gaussian: ε and δ"},
            key="marginal-noise",
            help_text="Gaussian noise is far smaller when many counts are released at once.",
        )
        chosen = settings(entry(ENTRIES[noise]), bar, in_more="basis")
    queries = AtLeast(domain=source.on(Product), width=width, least=least, signed=signed)
    return PageRequest(rows=rows, source=source, queries=queries, **chosen)


def choose_attributes() -> Source | None:
    """Draw the controls of the rows; None as long as the attributes of a user's file are not named."""
    file = session_file()
    titles = {GENERATED: "Generated: correlated attributes"}
    titles |= {key: f"{sample(key).title}: {len(sample(key).predicates)} predicates" for key in ANSWERED}
    key = choose_data(
        "Rows of yes/no attributes",
        titles,
        key="cube",
        own_title="Your file: attributes you define" if file and not file.by_person else "",
        missing_reason=BY_PERSON if file else NOT_SENT,
        help_text="Generated and bundled rows are public: previews on them spend no privacy budget. On the Data page "
        "you can upload a file.",
    )
    if key == OWN_FILE and file:
        return own_predicates(file)
    if key == GENERATED:
        n = int(stops("Rows n", ROWS, 100_000, key="cube-rows"))
        return generated_attributes(n=n, attributes=whole("Attributes d", 4, 64, 32, key="cube-attributes"))
    source = yes_no_of(key)
    show_credit(source)
    return source


def _query_class(attributes: int) -> tuple[int, int, bool]:
    """Return the number of attributes of a query, how many must be set, and whether they may be negated."""
    widest = min(MAX_WIDTH, attributes)
    if WIDTH.value > widest:
        WIDTH.value = widest
    width = whole("Attributes per query k", 1, widest, min(5, widest), key=WIDTH)
    least = 1
    if width > 1:
        titles = {ANY: "any of them", ALL: "all of them"} | ({SOME: "some: at least r of them"} if width > 2 else {})
        kind = choice("A row counts if it has", titles, key="counts-if")
        least = {ANY: 1, ALL: width}.get(kind, 2)
        if kind == SOME and width > 3:
            if AT_LEAST.value > width - 1:
                AT_LEAST.value = width - 1
            least = whole("At least r", 2, width - 1, 2, key=AT_LEAST)
    signed = st.toggle(
        "Allow negated attributes",
        key=in_link("negated"),
        bind="query-params",
        help="Also answers queries with “not”. Every row then has one of two literals per attribute, so "
        "replacing a row changes twice as many counts.",
    )
    return width, least, bool(signed)
