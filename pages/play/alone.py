"""Parts of the page that run alone: a move of ε draws its pictures anew, and leaves the rest of the page as it is.

Only of generated and bundled data: a part that runs alone does so without the router, which sees to private ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

import streamlit as st

from dpcore.core import DataError, ParameterError
from dplab.recipe import Recipe
from pages.shell.links import remember_link
from pages.shell.presentation import is_presenting
from pages.shell.state import SessionKey
from pages.shell.work.shared import is_public_work

Arguments = ParamSpec("Arguments")
WHOLE = SessionKey("play_whole", False)
"""A control of a part has changed what stands outside of it."""


def whole(do: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """A callback that changes controls outside of the part it is in: then the whole page runs."""

    def then(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        do(*args, **kwargs)
        WHOLE.value = True

    return then


def alone(recipe: Recipe, draw: Callable[[], None]) -> None:
    """Draw a part of the page, which a control inside runs again without the rest."""
    WHOLE.pop()  # the whole page runs already
    if is_presenting() or not is_public_work(recipe):  # on the stage its parts stand apart
        draw()
        return

    def part() -> None:
        if WHOLE.pop():
            st.rerun()
        try:
            draw()
        except (DataError, ParameterError) as problem:
            st.error(str(problem))
        remember_link()

    st.fragment(part)()
