"""Parts of the page that run alone: a move of ε draws its pictures anew, and leaves the rest of the page as it is.

Only of generated and bundled data: a part that runs alone does so without the router, which sees to private ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

import streamlit as st

from dpcore.core import DataError, ParameterError
from dplab.recipe import Recipe
from pages.shell.kept import is_everybodys
from pages.shell.present import presenting
from pages.shell.session import keep_link
from pages.shell.state import SessionKey

Arguments = ParamSpec("Arguments")
RERUN_PAGE = SessionKey("play_whole", False)
"""A control of a part has changed what stands outside of it."""


def rerun_whole_page(callback: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """A callback that changes controls outside of the part it is in: then the whole page runs."""

    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        callback(*args, **kwargs)
        RERUN_PAGE.value = True

    return wrapped


def run_as_fragment(recipe: Recipe, draw_part: Callable[[], None]) -> None:
    """Draw a part of the page, which a control inside runs again without the rest."""
    RERUN_PAGE.pop()  # the whole page runs already
    if presenting() or not is_everybodys(recipe):  # on the stage its parts stand apart
        draw_part()
        return

    def fragment() -> None:
        if RERUN_PAGE.pop():
            st.rerun()
        try:
            draw_part()
        except (DataError, ParameterError) as problem:
            st.error(str(problem))
        keep_link()

    st.fragment(fragment)()
