"""One's own file, step by step: whose rows, the file, the declared domain, what is then known of it."""

from __future__ import annotations

import streamlit as st

from pages.ui.declare import declare
from pages.ui.picker import OWN_FILE
from pages.ui.session import upload
from pages.ui.summary import explore_button, summary
from pages.ui.upload import bring_file


def own_file() -> None:
    """The steps that can be taken now."""
    held = bring_file()
    if held is None:
        return
    st.header("What can a record be?")
    st.markdown("Privacy needs bounds that do not depend on anybody's row, so you declare them.")
    declare(held)
    source = upload()
    if source is None:
        return
    st.header("In use")
    st.markdown(f"Column{'s' * (len(source.columns) > 1)} **{' × '.join(source.columns)}** of {held.table.name}")
    summary(source, key="file-summary")
    explore_button(OWN_FILE, key="file-explore")
