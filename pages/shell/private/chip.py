"""The data in use, in the bar on top: a chip with their name, n, and whether they are private, that leads to Data."""

from __future__ import annotations

import re

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, Provenance
from dpcore.data.sources import Generated, Source
from dpcore.data.twin import twin
from pages.data.upload import session_file
from pages.shell.private.twin import declared_rows, is_public, is_twin, registered_rows, relation, use_twin
from pages.shell.status import say, slot

TWIN_SAID = "Made-up rows with your columns; nothing of your file."
STYLE = """<style>
.st-key-status_bar { gap: 0 0.75rem; }
.st-key-data_in_use { flex: none; width: auto; max-width: 100%; gap: 0 0.5rem; }
.st-key-status_bar > [data-testid="stLayoutWrapper"]:has(> .st-key-data_in_use) {
  flex: none; width: auto; max-width: 100%;
}
.st-key-data_in_use a { padding-block: 0; }
.st-key-data_in_use a p { white-space: normal; }
/* Of public rows all is one line, and a long name gives way; where there is no room for a line, nothing does. */
@media (max-width: 1000px) {
  .stMain .st-key-status_bar { flex-wrap: wrap; }
}
@media (min-width: 1001px) {
  .st-key-status_bar[data-test-wrap="false"] > *:has(> .st-key-data_in_use) { flex: 0 1 auto; min-width: 0; }
  .st-key-status_bar[data-test-wrap="false"] a p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  .st-key-status_bar[data-test-wrap="false"] a:is(:hover, :focus-visible) p { white-space: normal; }
}
.st-key-data_in_use button { min-height: 1.5rem; padding-block: 0; }
</style>"""


def chip(source: Source) -> None:
    """Show what is in use; where that is a twin, say so, with the way back."""
    with named(words(source)):
        if is_twin(source):
            st.button("Back to my table", key="twin_off", on_click=use_twin, args=(False,), type="tertiary")
    if is_twin(source):
        say(TWIN_SAID)
    elif source.provenance.is_private:
        say("")  # the chip and the page say the rest


def drawn_always(rows: Source, neighbours: Neighbours) -> Source:
    """What a page draws that never draws private rows: their twin, said here; public rows, in the bar on top."""
    if not rows.provenance.is_private:
        chip(rows)
        return rows
    st.caption(TWIN_SAID)
    return twin(rows, n=declared_rows(rows, neighbours))


def named(label: str) -> DeltaGenerator:
    """Show what is in use by these words; gives the place beside them."""
    place = slot()
    with place:
        st.html(STYLE)
        st.page_link("data/page.py", label=label, icon=":material/database:")
    return place


def words(source: Source) -> str:
    """Kind, name and rows; of a private table no number of rows that was not declared."""
    provenance = source.provenance
    if is_twin(source):
        return f"Made-up twin{_of_file()} · n = {source.origin.rows:,}"
    if not provenance.is_private:
        rows = "" if isinstance(source.origin, Generated) else f" · n = {source.origin.rows:,}"
        return f"Public · {plain(provenance)}{rows}"
    known = registered_rows(source.origin) is not None or is_public(source, relation())
    return f"Private · {plain(provenance)} · {'' if known else 'assumed '}n = {declared_rows(source, relation()):,}"


def _of_file() -> str:
    held = session_file()
    return f" of {escaped(held.table.name)}" if held else ""


def plain(provenance: Provenance) -> str:
    """The title, which somebody may have typed."""
    return escaped(provenance.title)


def escaped(text: str) -> str:
    """Somebody's words in a label, where nothing of them is obeyed."""
    return re.sub(r"([!-+\--/:-@\[-`{-~])", r"\\\1", "".join(each for each in text if each.isprintable()))
