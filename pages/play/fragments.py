"""Parts of the page that rerun on their own: a change of ε updates its pictures, not the rest of the page.

Only for generated and bundled data: a fragment reruns without the router, which protects private data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

import streamlit as st

from pages.shell.links import remember_link
from pages.shell.presentation import is_presenting
from pages.shell.state import SessionKey
from pages.shell.tasks.shared import WorkSubject, is_public_work
from pages.shell.workbench import refusals_shown

Arguments = ParamSpec("Arguments")
RERUN_PAGE = SessionKey("play_whole", False)
"""True if a control of a fragment changed something outside of it."""


def rerun_whole_page(callback: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Wrap a callback that changes controls outside of its fragment: the whole page reruns after it."""

    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        callback(*args, **kwargs)
        RERUN_PAGE.value = True

    return wrapped


def run_as_fragment(subject: WorkSubject, draw_part: Callable[[], None]) -> None:
    """Draw a part of the page as a fragment that its own controls rerun."""
    RERUN_PAGE.pop()  # the whole page is running
    if is_presenting() or not is_public_work(subject):  # in a presentation the parts are in different containers
        draw_part()
        return

    def fragment() -> None:
        if RERUN_PAGE.pop():
            st.rerun()
        with refusals_shown():
            draw_part()
        remember_link()

    st.fragment(fragment)()
