"""The wall: a card for each lesson with a small drawing and a question; and the list of them all for teachers."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pages.learn.kit import Lesson

HERE = Path(__file__).resolve().parent
DRAWINGS = {path.stem: path for path in HERE.glob("*/*.svg")}
"""In the folders of the lessons, each named by its lesson's key."""
STYLE = (HERE / "learn.css").read_text(encoding="utf-8")
ACROSS = 5
"""Cards side by side where there is room."""
ADDRESSES = {"learn/page.py": "learn"}
"""Of pages that cards lead to, for links that are no button."""


def drawing(key: str) -> str:
    """A lesson's drawing as an address of its own."""
    contents = DRAWINGS[key].read_bytes()
    return f"data:image/svg+xml;base64,{base64.b64encode(contents).decode('ascii')}"


def by_group(lessons: Iterable[Lesson]) -> Mapping[str, list[Lesson]]:
    """Lessons by the part of the wall where they hang, in order."""
    groups: dict[str, list[Lesson]] = {}
    for each in lessons:
        groups.setdefault(each.group, []).append(each)
    return groups


def in_order(lessons: Iterable[Lesson]) -> tuple[Lesson, ...]:
    """Lessons by their places, those of a group together."""
    groups = by_group(sorted(lessons, key=lambda each: each.place))
    return tuple(each for group in groups.values() for each in group)


def show_overview(lessons: Iterable[Lesson]) -> None:
    """All cards, group by group."""
    with st.container(key="wall"):
        for group, each in by_group(lessons).items():
            st.header(group, anchor=False)
            columns = [column for _ in range(0, len(each), ACROSS) for column in st.columns(ACROSS)]
            for lesson, column in zip(each, columns, strict=False):
                with column:
                    lesson_card(lesson)


def lesson_card(lesson: Lesson) -> None:
    """A drawing and a question; all of it is the link."""
    with st.container(border=True, key=f"card_{lesson.key}", gap=None):
        st.html(f'<img class="dpscope-card" alt="" src="{drawing(lesson.key)}">')
        st.page_link(lesson.page, label=lesson.question, query_params=lesson.address)
        if lesson.show is None:
            st.caption("A table, not a lesson")


def teachers_list(lessons: Iterable[Lesson]) -> None:
    """A line for each lesson: its link, minutes, what comes before, three questions to ask."""
    st.markdown(
        "Each link opens a lesson where its point is plain to see; **Present**, on top of it, is for the projector. "
        "Let the class guess before you press *Show what happens*."
    )
    lines = ["| lesson | minutes | before it | ask |", "|---|---|---|---|"]
    for each in lessons:
        query = f"?{urlencode(each.address)}" if each.address else ""
        questions = "<br>".join(each.class_questions)
        lines.append(
            f"| [{each.question}](./{ADDRESSES[each.page]}{query}) | {each.minutes} | {each.needs} | {questions} |"
        )
    with st.container(key="teachers"):
        st.markdown("\n".join(lines), unsafe_allow_html=True)
