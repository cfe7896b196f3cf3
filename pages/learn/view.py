"""Learn: a wall of cards; one screen for each lesson, which asks for a guess before it shows."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import streamlit as st

from pages.learn.elsewhere import ELSEWHERE
from pages.learn.kit import Lesson, screen
from pages.learn.printed.tables import printed
from pages.learn.wall import STYLE, in_order, teachers, wall
from pages.shell.addresses import OWN_DATA
from pages.shell.controls import complain
from pages.shell.present import headline
from pages.shell.session import read_choices_again
from pages.shell.state import SessionKey

TEACHERS, PRINTED = "teachers", "printed"
"""In the place of a lesson in the link."""
FOUND: tuple[Lesson, ...] = tuple(
    import_module(f"pages.learn.{path.parent.name}.lesson").LESSON
    for path in Path(__file__).resolve().parent.glob("*/lesson.py")
)
"""Every folder with a ``lesson.py`` is a lesson."""
WALL = in_order((*FOUND, *ELSEWHERE))
LESSONS = {each.key: each for each in WALL if each.show is not None}
"""Each lesson by its key in links, in the order of the wall."""


def learn() -> None:
    """What the link says: a lesson, the list for teachers, or the wall."""
    st.html(f"<style>{STYLE}</style>")
    chosen, own_data = _chosen(), st.query_params.get("view") == OWN_DATA["view"]
    _keep_address(chosen, own_data=own_data)
    if chosen == TEACHERS:
        st.title("Lessons, for teachers", anchor=False)
        _back()
        teachers(WALL)
    elif chosen == PRINTED:
        st.title("What do the papers print, and what holds?", anchor=False)
        _back()
        printed()
    elif chosen in LESSONS:
        _lesson(LESSONS[chosen], own_data=own_data)
    else:
        if chosen:
            complain("lesson", "In the link, “lesson” is not one of the lessons; here are all of them.")
        st.title("Why nobody can do better, and how attackers win", anchor=False)
        st.markdown("Guess, look, break it. Everything here is made up or public: nothing on this page costs privacy.")
        wall(WALL)
        st.page_link("learn/page.py", label="For teachers: all lessons in a list", query_params={"lesson": TEACHERS})


def _lesson(lesson: Lesson, *, own_data: bool) -> None:
    """Draw a lesson, or its view of all settings and the reader's own data."""
    shown_view = lesson.own_data if own_data else None
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_head"):
        st.title(lesson.question, anchor=False, width="content")
        _back()
        page, label, query = lesson.workbench, "All settings, your data →", lesson.workbench_link
        if shown_view:
            page, label, query = lesson.page, "← The lesson", lesson.address
        if page:
            with st.container(key="lesson_workbench", width="content"):
                st.page_link(page, label=label, query_params=query)
    headline(lesson.question)
    if shown_view:
        shown_view()
        return
    assert lesson.show is not None
    with screen():
        lesson.show()


OPENED = SessionKey("learn_opened", ("", False))
"""The lesson that was open last, and whether in its own-data view."""


def _keep_address(chosen: str, *, own_data: bool) -> None:
    """Say the address again where a link on this page was followed: Streamlit leaves the browser's as it was."""
    place = (chosen, own_data)
    if OPENED.setdefault(place) != place:
        if chosen:
            st.query_params["lesson"] = chosen  # sends the whole address; names of controls must not be set
        else:
            st.query_params.clear()
        read_choices_again()
    OPENED.value = place


def _back() -> None:
    """To the wall."""
    with st.container(key="lesson_back", width="content"):
        st.page_link("learn/page.py", label="← All lessons")


def _chosen() -> str:
    """The lesson's key in the link; links made when the median was the usual lesson did not name it."""
    named = st.query_params.get("lesson", "")
    old = any(name == "limits-seed" or name.startswith("median-") for name in st.query_params)
    return named or ("median" if old else "")
