"""Learn: a wall of cards; one screen for each lesson, which asks for a guess before it shows."""

from __future__ import annotations

import streamlit as st

from pages.learn.attackme import lesson as attackme
from pages.learn.audit import lesson as audit
from pages.learn.dimension import lesson as dimension
from pages.learn.directions import lesson as directions
from pages.learn.elsewhere import ELSEWHERE
from pages.learn.fat import lesson as fat
from pages.learn.histogram import lesson as histogram
from pages.learn.kit import Lesson, screen
from pages.learn.lowbits import lesson as lowbits
from pages.learn.median import lesson as median
from pages.learn.odds import lesson as odds
from pages.learn.polynomials import lesson as polynomials
from pages.learn.population import lesson as population
from pages.learn.printed import printed
from pages.learn.sparse import lesson as sparse
from pages.learn.subset import lesson as subset
from pages.learn.vc import lesson as vc
from pages.learn.wall import STYLE, grouped, teachers, wall
from pages.shell.controls import complain
from pages.shell.present import headline

TEACHERS, PRINTED = "teachers", "printed"
"""In the place of a lesson in the link."""
LESSONS: dict[str, Lesson] = {
    each.LESSON.key: each.LESSON
    for each in (
        *(attackme, subset, vc, fat, lowbits, audit, median, histogram, dimension, odds, sparse, population),
        *(directions, polynomials),
    )
}
"""Each lesson by its key in links, in the order of the wall."""
WALL = tuple(each for group in grouped((*LESSONS.values(), *ELSEWHERE)).values() for each in group)


def learn() -> None:
    """What the link says: a lesson, the list for teachers, or the wall."""
    st.html(f"<style>{STYLE}</style>")
    chosen = _chosen()
    _keep_address(chosen)
    if chosen == TEACHERS:
        st.title("Lessons, for teachers", anchor=False)
        _back()
        teachers(WALL)
    elif chosen == PRINTED:
        st.title("What do the papers print, and what holds?", anchor=False)
        _back()
        printed()
    elif chosen in LESSONS:
        lesson = LESSONS[chosen]
        with st.container(horizontal=True, vertical_alignment="center", key="lesson_head"):
            st.title(lesson.question, anchor=False, width="content")
            _back()
            if lesson.workbench:
                with st.container(key="lesson_workbench", width="content"):
                    st.page_link(lesson.workbench, label="Workbench →", help="All settings; your rows")
        headline(lesson.question)
        assert lesson.show is not None
        with screen():
            lesson.show()
    else:
        if chosen:
            complain("lesson", "In the link, “lesson” is not one of the lessons; here are all of them.")
        st.title("Why nobody can do better, and how attackers win", anchor=False)
        st.markdown("Guess, look, break it. Everything here is made up or public: nothing on this page costs privacy.")
        wall(WALL)
        st.page_link("learn/page.py", label="For teachers: all lessons in a list", query_params={"lesson": TEACHERS})


def _keep_address(chosen: str) -> None:
    """Say the address again where a link on this page was followed: Streamlit leaves the browser's as it was."""
    if st.session_state.get("learn_opened", chosen) != chosen:
        st.query_params.from_dict(st.query_params.to_dict())
    st.session_state["learn_opened"] = chosen


def _back() -> None:
    """To the wall."""
    with st.container(key="lesson_back", width="content"):
        st.page_link("learn/page.py", label="← All lessons")


def _chosen() -> str:
    """The lesson's key in the link; links made when the median was the usual lesson did not name it."""
    named = st.query_params.get("lesson", "")
    old = any(name == "limits-seed" or name.startswith("median-") for name in st.query_params)
    return named or ("median" if old else "")
