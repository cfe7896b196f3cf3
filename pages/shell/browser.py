"""What Streamlit leaves to the browser: a link to copy, history entries that Back can use, a file lost by a reload."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import streamlit as st

from pages.charts.component import is_dark
from pages.charts.script import declare_component
from pages.shell.presentation import end_presentation, is_presenting, start_presentation

KEY = "browser_tools"
HERE = Path(__file__).resolve().parent
_tools = declare_component(
    "dpscope.browser",
    html=(HERE / "browser.html").read_text(encoding="utf-8"),
    css=(HERE / "browser.css").read_text(encoding="utf-8"),
    js=(HERE / "browser.js").read_text(encoding="utf-8"),
)


def browser_tools(*, file: bool) -> None:
    """Draw the tools.

    Args:
        file: whether this session holds a file, which no reload brings back.
    """
    _tools(
        key=KEY,
        data={"file": file, "presenting": is_presenting(), "dark": is_dark()},
        on_left_change=end_presentation,
        on_shown_change=start_presentation,
        on_themed_change=_run_again,
    )


def _run_again() -> None:
    """A callback that does nothing: the run that follows it draws the pictures in the theme that was chosen."""


@st.fragment(run_every=timedelta(days=1))
def reload_on_reconnect() -> None:
    """Draw nothing, once a day: when a browser connects again, it runs only pages that refresh themselves.

    So a page does not keep showing values of a server that was restarted and no longer holds them.
    """
    st.empty()
