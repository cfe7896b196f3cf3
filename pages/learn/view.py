"""The Learn page: the overview, and one screen for each lesson, which asks for a guess first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import streamlit as st

from pages.learn.kit import Lesson
from pages.learn.lecture import guesses, plan
from pages.learn.other_pages import ELSEWHERE
from pages.learn.overview import PAGE, STYLE, show_overview, show_path, teachers_list
from pages.learn.paper_tables.tables import show_paper_tables
from pages.learn.screen import SCREEN, screen
from pages.learn.theorems import show_theorems
from pages.shell.addresses import OWN_DATA
from pages.shell.controls import warn_of_link
from pages.shell.links import read_choices_again
from pages.shell.presentation import KEY as PRESENTATION_KEY
from pages.shell.presentation import is_presenting, presentation_place, set_title
from pages.shell.state import SessionKey

TEACHERS, PRINTED, THEOREMS = "teachers", "printed", "theorems"
"""Link values of the list for teachers, the papers' tables and the list of theorems, instead of a lesson."""
LESSON_FOLDERS: tuple[Lesson, ...] = tuple(
    import_module(f"pages.learn.{path.parent.name}.lesson").LESSON
    for path in Path(__file__).resolve().parent.glob("*/lesson.py")
)
"""Every folder with a ``lesson.py`` is a lesson."""
OVERVIEW = tuple(sorted((*LESSON_FOLDERS, *ELSEWHERE), key=lambda each: each.place))
LESSONS = {each.key: each for each in OVERVIEW if each.show is not None}
"""Lessons by link value, in the order of the overview."""


def learn() -> None:
    """Draw what the link selects: a lesson, the list for teachers, the papers' tables, or the overview."""
    st.html(f"<style>{STYLE}</style>")
    if room := st.query_params.get(guesses.PARAMETER):
        guesses.show_phone_page(room)
        return
    chosen, own_data = _chosen(), st.query_params.get("view") == OWN_DATA["view"]
    _keep_address(chosen, own_data=own_data)
    if chosen == TEACHERS:
        st.title("Lessons, for teachers", anchor=False)
        _back()
        st.page_link("learn/page.py", label="Make a lecture of some lessons →", query_params={"lesson": plan.LECTURE})
        teachers_list(OVERVIEW)
    elif chosen == plan.LECTURE:
        st.title("A lecture", anchor=False)
        _back()
        plan.show_plan(LESSONS)
    elif chosen == PRINTED:
        st.title("What do the papers print, and what is correct?", anchor=False)
        _back()
        show_paper_tables()
    elif chosen == THEOREMS:
        st.title("Find a theorem", anchor=False)
        _back()
        show_theorems(LESSONS)
    elif chosen in LESSONS:
        _lesson(LESSONS[chosen], own_data=own_data)
    else:
        if chosen:
            warn_of_link("lesson", "The link asks for a lesson that does not exist. Here are all lessons.")
        st.title("Lessons: guarantees, attacks and limits", anchor=False)
        st.markdown(
            "Guess, look, then change the settings. All data here are synthetic or public: "
            "this page spends no privacy budget."
        )
        show_path(LESSONS)
        show_overview(OVERVIEW)
        with st.container(horizontal=True):
            for label, key in (("For teachers: a list", TEACHERS), ("Find a theorem", THEOREMS)):
                st.page_link("learn/page.py", label=label, query_params={"lesson": key}, width="content")


def _lesson(lesson: Lesson, *, own_data: bool) -> None:
    """Draw a lesson, or its view of all settings and the reader's own data."""
    shown_view, lecture = lesson.own_data if own_data else None, plan.lecture_of_link(LESSONS)
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_head"):
        st.title(lesson.question, anchor=False, width="content")
        _back()
        if lecture:
            st.page_link("learn/page.py", label="← The lecture", query_params=plan.lecture_address(lecture))
        page, label, query = lesson.workbench, "All settings, your data →", lesson.workbench_link
        if lesson.own_data:
            page, query = PAGE, {**lesson.address, **OWN_DATA}
        if shown_view:
            page, label, query = PAGE, "← The lesson", lesson.address
        if page:
            with st.container(key="lesson_workbench", width="content"):
                st.page_link(page, label=label, query_params=query)
    set_title(lesson.question)
    if shown_view:
        shown_view()
        return
    assert lesson.show is not None
    with screen(), guesses.class_guess() if lecture and is_presenting() else nullcontext():
        lesson.show()
    _next(lesson, lecture)


def _next(lesson: Lesson, lecture: Sequence[str]) -> None:
    """Draw the links to what is before and after it in the lecture, or after it in the overview."""
    presenting = is_presenting()
    with presentation_place("reveal") if presenting else SCREEN.get().breaking.container(key="lesson_next"):
        if lesson.key in lecture:
            for label, key in plan.neighbouring_lessons(lecture, lesson.key):
                query = plan.lecture_address(lecture, key, presenting=presenting)
                st.page_link(PAGE, label=label, help=LESSONS[key].question, query_params=query, width="content")
            return
        for each in OVERVIEW[OVERVIEW.index(lesson) + 1 :][:1]:
            query = {**each.address, **({PRESENTATION_KEY: "1"} if presenting else {})}
            st.page_link(PAGE, label="Next lesson", help=each.question, query_params=query, width="content")


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
    """Draw the link to the overview."""
    with st.container(key="lesson_back", width="content"):
        st.page_link("learn/page.py", label="← All lessons")


def _chosen() -> str:
    """Return the lesson's key in the link; old links to the median lesson do not contain it."""
    named = st.query_params.get("lesson", "")
    old = any(name == "limits-seed" or name.startswith("median-") for name in st.query_params)
    return named or ("median" if old else "")
