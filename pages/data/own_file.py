"""One's own file, step by step: whose rows, the file, the declared domain, what is then known of it."""

from __future__ import annotations

import streamlit as st

from pages.data.declare import declare
from pages.data.engines import choose_engine, is_kept
from pages.data.fit import offer_fit
from pages.data.picker import OWN_FILE
from pages.data.summary import explore_button, summary
from pages.data.upload import HeldFile, bring_file, card, held_file
from pages.shell.server.host_origin import NO_FILES, is_public_demo
from pages.shell.session import upload


def own_file() -> None:
    """The steps that can be taken now."""
    if is_public_demo():
        st.info(NO_FILES)
        return
    held = bring_file()
    if held is not None:
        declare_and_show(held)


def kept_table() -> None:
    """The same steps for a table that an engine keeps."""
    held = held_file()
    if held is not None and is_kept(held):
        card(held)
        declare_and_show(held)
    else:
        choose_engine()


def declare_and_show(held: HeldFile) -> None:
    """The steps after the rows are there."""
    st.header("What can a record be?")
    st.markdown("Declare the bounds: they must not depend on any single row.")
    declare(held)
    source = upload()
    if source is None:
        return
    st.header("Ready to use")
    most = source.person_rows
    whose = f", of a person at most {most:,} row{'s' * (most > 1)}" if most else ""
    st.markdown(f"**{source.reading.title}** of {held.table.name}{whose}")
    summary(source, key="file-summary", counted=held.counted and not source.person_rows)
    offer_fit(source, [source.reading], key="file-fit", below_card=True)
    explore_button(OWN_FILE, key="file-explore")
