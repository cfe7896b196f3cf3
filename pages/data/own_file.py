"""The steps for a user's own file: whose rows it has, the upload, the declared domain, and its summary."""

from __future__ import annotations

import streamlit as st

from pages.data.declare import declare, declared_columns
from pages.data.engines import choose_engine, is_engine_table
from pages.data.fit_check import offer_unfit_count
from pages.data.picker import OWN_FILE
from pages.data.summary import show_summary, use_data_button
from pages.data.tab_storage import clear_stored
from pages.data.upload import SessionFile, file_card, session_file, take_file
from pages.shell.server.host_origin import NO_FILES, is_public_demo
from pages.shell.session import upload


def own_file() -> None:
    """Draw the steps that are possible now."""
    if is_public_demo():
        st.info(NO_FILES)
        return
    file = take_file()
    if file is not None:
        declare_and_show(file)
    clear_stored()


def engine_table() -> None:
    """Draw the same steps for a table in a database."""
    file = session_file()
    if file is not None and is_engine_table(file):
        file_card(file)
        declare_and_show(file)
    else:
        choose_engine()


def declare_and_show(file: SessionFile) -> None:
    """Draw the steps after the upload."""
    st.header("Which values can a row have?")
    st.markdown("Declare the bounds: they must not depend on any single row.")
    declare(file)
    source = upload()
    if source is None:
        return
    st.header("Ready to use")
    max_rows = source.person_rows
    cap_words = f", at most {max_rows:,} row{'s' * (max_rows > 1)} per person" if max_rows else ""
    st.markdown(f"**{source.reading.title}** of {file.table.name}{cap_words}")
    show_summary(source, key="file-summary", counted=file.counted and not source.person_rows)
    offer_unfit_count(source, [source.reading], key="file-fit", below_card=True)
    # Plan reads no bounds and labels that were filled in from the rows.
    use_data_button(OWN_FILE, key="file-explore", table=OWN_FILE if declared_columns(file)[0].used else "")
