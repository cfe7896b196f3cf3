"""What Streamlit leaves to the browser: a link to copy, history entries that Back can use, a file lost by a reload."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import streamlit as st

from pages.charts.component import is_dark
from pages.shell.presentation import end_presentation, is_presenting, start_presentation

KEY = "browser_tools"
HERE = Path(__file__).resolve().parent
HTML = """
<div class="dpscope-tools">
  <div class="dpscope-lost" role="status" hidden>
    <span>The page was reloaded. Please choose your file again.</span><button type="button">Close</button>
  </div>
  <span class="dpscope-copied" role="status"></span>
  <button type="button" class="dpscope-present">Present</button>
  <button type="button" class="dpscope-copy">Copy link</button>
</div>
"""
CSS = """
.dpscope-tools { display: flex; gap: 0.75rem; align-items: center; justify-content: flex-end; font-size: 0.875rem; }
.dpscope-copied { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 30rem; }
.dpscope-lost {
  position: fixed; inset: auto 0 0; z-index: 1000; display: flex; align-items: center; gap: 1rem;
  justify-content: flex-end; /* at the left it would lie below the controls */
  padding: 0.5rem 1rem; background: var(--st-secondary-background-color); border-top: 1px solid var(--st-border-color);
}
.dpscope-lost[hidden] { display: none; }
.dpscope-tools button {
  font: inherit; color: var(--st-text-color); background: transparent; cursor: pointer; white-space: nowrap;
  border: 1px solid var(--st-border-color); border-radius: 0.4rem; padding: 0.15rem 0.6rem;
}
"""
_tools = st.components.v2.component(
    "dpscope.browser",
    html=HTML,
    css=CSS,
    js=(HERE / "browser.js").read_text(encoding="utf-8"),
    isolate_styles=False,
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
