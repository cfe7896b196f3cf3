"""The line on top of every page: what has been spent, and what kind of data is on the screen."""

from __future__ import annotations

import streamlit as st

from pages.ui.session import is_steward, upload
from pages.ui.upload import held_file


def status_line() -> None:
    """The odometer and the steward switch, always in sight."""
    private = any(each is not None and each.private for each in (held_file(), upload()))
    left, right = st.columns([3, 2], vertical_alignment="center")
    with right:
        if private:
            st.toggle(
                "I am the data's steward",
                key="steward_choice",
                persist_state="session",
                help="Shows true values and errors of your private data, on your screen only. Whoever sees them has "
                "seen your data: no guarantee covers what you saw, and nothing made this way should be passed on.",
            )
    with left:
        text = "Privacy spent: **ε = 0**. "
        if private and is_steward():
            text += ":orange-badge[not protected] You see true values of private data: guarantee void for what you saw."
        elif private:
            text += "Your private data are loaded; nothing computed from them is shown."
        else:
            text += "Previews on generated, bundled or public data cost nothing."
        st.markdown(text)
