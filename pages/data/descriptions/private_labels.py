"""Labels that cannot be listed: found by a release of their own, which completes the description of their column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dpcore.core import Entry, Neighbours, exactly
from dpcore.data.declarations import Capped
from dpcore.data.dictionaries.description import CATEGORY
from dpcore.data.dictionaries.labels import labels_text
from dpcore.data.sources import Source
from dpcore.data.unlisted.texts import LONGEST, LabelCounts, TextColumn, is_texts
from dpcore.mechanisms import entry as entry_of
from dprelease.requests.parts import Request
from dprelease.requests.tables import released_labels
from pages.charts.words import as_code
from pages.data.engines import is_engine_table
from pages.data.grid import KIND_CHOSEN, cell, cell_key, column_inputs, put_cells, reset_grid
from pages.data.suggestions import MAX_FILLED
from pages.data.upload import SessionFile, session_file
from pages.shell.releasable import OnPage, keep_on_page
from pages.shell.state import set_controls

FIND = "Find labels privately"
EPSILON, DELTA = 0.5, 1e-8
"""Suggested budget; ε has its control on the Release page. A registered budget has a δ of 10⁻⁶ by default."""
DELTAS = (1e-12, 1e-10, 1e-9, DELTA, 1e-7, 1e-6)


def labels_entry(neighbours: Neighbours) -> Entry:
    """Return the mechanism that finds the most labels under a relation."""
    return entry_of("find_labels" if neighbours is Neighbours.REPLACE_ONE else "find_labels_optimal")


def offer_private_labels(file: SessionFile, *, person: str, person_rows: int) -> None:
    """Offer to find the labels of a category that has none; of public rows they can be filled in."""
    unknown = [row.name for row in column_inputs(file) if row.use and row.kind == CATEGORY and row.missing_inputs]
    unknown = [name for name in unknown if name != person]
    if not unknown or not file.private or is_engine_table(file) or (file.by_person and not person):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        column = st.selectbox("Labels you do not know", unknown, key=f"{file.prefix}unknown", width=240)
        delta = st.selectbox(
            "Failure probability δ", DELTAS, DELTAS.index(DELTA), format_func=exactly, key=f"{file.prefix}delta",
            width=160, help="Keep δ far below 1/n. A smaller δ hides more rare labels.",
        )  # fmt: skip
        pressed = st.button(
            FIND,
            help="Opens Release. There a release of its own finds the labels that enough rows have, with noisy counts. "
            f"It spends ε and δ once. Rare labels stay hidden, and texts of more than {LONGEST} characters are not "
            "labels.",
        )
    if pressed:
        reading = TextColumn(column=str(column))
        queries = LabelCounts(domain=reading.domain)
        entry = labels_entry(Neighbours.REPLACE_ONE)
        capped = Capped(reading=reading, person=person, rows=person_rows) if person else reading
        values = {name: getattr(entry.make(epsilon=EPSILON, delta=delta), name) for name in entry.controls()}
        source = Source(origin=file.origin, reading=capped)
        keep_on_page(OnPage(place="Data", source=source, queries=queries, entry=entry, values=values))
        st.switch_page("release/page.py", query_params={})  # Data has controls in the link


def offer_released_labels(request: Request, files: Sequence[Mapping[str, bytes]], *, key: str) -> None:
    """Offer the labels of a stored release for the description of the session's file, if it has the column."""
    file = session_file()
    for number, (part, named) in enumerate(zip(request.parts, files, strict=True)):
        column = part.reading.columns[0]
        if not is_texts(part.reading.domain) or file is None or column not in file.table.columns:
            continue
        [contents] = named.values()
        labels = released_labels(contents)[:MAX_FILLED]
        place = file.table.columns.index(column)
        if not labels:
            st.caption(f"No label of {as_code(column)} has enough rows. A larger ε finds more.")
        elif (cell(file, place, "kind"), cell(file, place, "labels")) == (CATEGORY, labels_text(labels)):
            st.caption(f"These labels describe {as_code(column)}. Any other value is “any other value”.")
        elif st.button("Use these labels in the description", key=f"release_labels-{key}-{number}"):
            put_cells(file, place, {"kind": CATEGORY, "labels": labels_text(labels)})
            set_controls({cell_key(file, place, KIND_CHOSEN): True})
            reset_grid(file)
            st.switch_page("data/page.py", query_params={"way": "My own file"})
