"""The data in use, in the bar on top: a link to Data with their name, n, and whether they are private."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, Provenance
from dpcore.data.sources import Generated, Source
from dpcore.data.twin import twin
from pages.data.upload import session_file
from pages.shell.addresses import app_pages
from pages.shell.private.twin import declared_rows, is_public, is_twin, registered_rows, relation, use_twin
from pages.shell.status import slot, write_status

MOCK_DATA = "Mock data with your columns. They contain no values of your file."
STYLE = (Path(__file__).resolve().parent / "data_in_use.css").read_text(encoding="utf-8")


def show_data_in_use(source: Source, *, whole_table: bool = False) -> None:
    """Show the data in use, ``whole_table`` without the column; for mock data, say so and offer the way back."""
    with link_to_data(words(source, whole_table=whole_table)):
        if is_twin(source):
            st.button("Use my table again", key="twin_off", on_click=use_twin, args=(False,), type="tertiary")
    if is_twin(source):
        write_status(MOCK_DATA)
    elif source.provenance.is_private:
        write_status("")  # the bar and the page say the rest


def drawn_always(rows: Source, neighbours: Neighbours) -> Source:
    """Return the rows for a page that never draws private rows: mock data in their place, said so; else the rows."""
    if not rows.provenance.is_private:
        show_data_in_use(rows)
        return rows
    st.caption(MOCK_DATA)
    return twin(rows, n=declared_rows(rows, neighbours))


def link_to_data(label: str) -> DeltaGenerator:
    """Draw the link to Data with this label, and return the place beside it."""
    place = slot()
    with place:
        st.html(f"<style>{STYLE}</style>")
        st.page_link(app_pages()["data"], label=label, icon=":material/database:")
    return place


def words(source: Source, *, whole_table: bool = False) -> str:
    """Return kind, name and number of rows; of a private table only a declared number."""
    provenance = source.origin.provenance if whole_table else source.provenance
    if is_twin(source):
        return f"Mock data{_of_file()} · n = {source.origin.rows:,}"
    if not provenance.is_private:
        rows = "" if isinstance(source.origin, Generated) else f" · n = {source.origin.rows:,}"
        return f"Public · {plain(provenance)}{rows}"
    known = registered_rows(source.origin) is not None or is_public(source, relation())
    return f"Private · {plain(provenance)} · {'' if known else 'assumed '}n = {declared_rows(source, relation()):,}"


def _of_file() -> str:
    file = session_file()
    return f" for {escaped(file.table.name)}" if file else ""


def plain(provenance: Provenance) -> str:
    """Return the title, which a user may have typed, as plain text."""
    return escaped(provenance.title)


def escaped(text: str) -> str:
    """Return a user's text for a label, in which no Markdown has an effect."""
    return re.sub(r"([!-+\--/:-@\[-`{-~])", r"\\\1", "".join(each for each in text if each.isprintable()))
