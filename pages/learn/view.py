"""The Learn page: the overview, and one screen for each lesson, which asks for a guess first."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import streamlit as st

from pages.learn.kit import Lesson, screen
from pages.learn.other_pages import ELSEWHERE
from pages.learn.overview import STYLE, in_order, show_overview, teachers_list
from pages.learn.paper_tables.tables import show_paper_tables
from pages.shell.controls import warn_of_link
from pages.shell.presentation import set_title
from pages.shell.state import SessionKey

TEACHERS, PRINTED = "teachers", "printed"
"""Link values of the list for teachers and of the papers' tables, instead of a lesson."""
LESSON_FOLDERS: tuple[Lesson, ...] = tuple(
    import_module(f"pages.learn.{path.parent.name}.lesson").LESSON
    for path in Path(__file__).resolve().parent.glob("*/lesson.py")
)
"""Every folder with a ``lesson.py`` is a lesson."""
OVERVIEW = in_order((*LESSON_FOLDERS, *ELSEWHERE))
LESSONS = {each.key: each for each in OVERVIEW if each.show is not None}
"""Lessons by link value, in the order of the overview."""


def learn() -> None:
    """Draw what the link selects: a lesson, the list for teachers, the papers' tables, or the overview."""
    st.html(f"<style>{STYLE}</style>")
    chosen = _chosen()
    _keep_address(chosen)
    if chosen == TEACHERS:
        st.title("Lessons, for teachers", anchor=False)
        _back()
        teachers_list(OVERVIEW)
    elif chosen == PRINTED:
        st.title("What do the papers print, and what holds?", anchor=False)
        _back()
        show_paper_tables()
    elif chosen in LESSONS:
        lesson = LESSONS[chosen]
        with st.container(horizontal=True, vertical_alignment="center", key="lesson_head"):
            st.title(lesson.question, anchor=False, width="content")
            _back()
            if lesson.workbench:
                with st.container(key="lesson_workbench", width="content"):
                    st.page_link(lesson.workbench, label="Workbench →", help="All settings, and your own rows")
        set_title(lesson.question)
        assert lesson.show is not None
        with screen():
            lesson.show()
    else:
        if chosen:
            warn_of_link("lesson", "In the link, “lesson” is not one of the lessons; here are all of them.")
        st.title("Lower bounds on error, and attacks on privacy", anchor=False)
        st.markdown("Guess, look, then break it. All data here are synthetic or public: this page costs no privacy.")
        show_overview(OVERVIEW)
        st.page_link("learn/page.py", label="For teachers: all lessons in a list", query_params={"lesson": TEACHERS})


OPENED = SessionKey("learn_opened", "")
"""Key of the last open lesson."""


def _keep_address(chosen: str) -> None:
    """Set the address again after a link on this page, because Streamlit does not update the browser's."""
    if OPENED.setdefault(chosen) != chosen:
        st.query_params.from_dict(st.query_params.to_dict())
    OPENED.value = chosen


def _back() -> None:
    """Draw the link to the overview."""
    with st.container(key="lesson_back", width="content"):
        st.page_link("learn/page.py", label="← All lessons")


def _chosen() -> str:
    """Return the lesson's key in the link; old links to the median lesson do not contain it."""
    named = st.query_params.get("lesson", "")
    old = any(name == "limits-seed" or name.startswith("median-") for name in st.query_params)
    return named or ("median" if old else "")
