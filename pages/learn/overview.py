"""The overview of lessons: a card for each with a drawing and a question, and the list for teachers."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pages.learn.kit import Lesson

HERE = Path(__file__).resolve().parent
DRAWINGS = {path.stem: path for path in HERE.glob("*/*.svg")}
"""Drawings of the lessons, by key."""
STYLE = (HERE / "learn.css").read_text(encoding="utf-8")
ACROSS = 5
"""Maximum number of cards side by side."""
PATH = {
    "odds": "ε as odds",
    "audit": "a tested claim",
    "margins": "what ± means",
    "attack-me": "group counts",
    "subset": "noisy counts",
    "vc": "accurate answers",
    "median": "a limit: the median",
}
"""Lessons of the short path, in order, each with what it covers."""
PAGE = "learn/page.py"
"""The page of all cards."""


def drawing(key: str) -> str:
    """Return a lesson's drawing as a data URL."""
    contents = DRAWINGS[key].read_bytes()
    return f"data:image/svg+xml;base64,{base64.b64encode(contents).decode('ascii')}"


def split_rows(lessons: Sequence[Lesson]) -> list[Sequence[Lesson]]:
    """Return the lessons in as few rows as fit, of about one length: a card alone in a row looks lost."""
    length = math.ceil(len(lessons) / math.ceil(len(lessons) / ACROSS))
    return [lessons[start : start + length] for start in range(0, len(lessons), length)]


def show_path(lessons: Mapping[str, Lesson]) -> None:
    """Draw the short path: its minutes, and a link to each of its lessons."""
    minutes = sum(lessons[key].minutes for key in PATH)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="lesson_path"):
        st.markdown(f"**{minutes}-minute path**", width="content")
        for place, (key, topic) in enumerate(PATH.items(), 1):
            st.page_link(PAGE, label=f"{place} · {topic}", query_params=lessons[key].address, width="content")


def show_overview(lessons: Iterable[Lesson]) -> None:
    """Draw all cards by group; the lessons are in order."""
    with st.container(key="wall"):
        for group, each in groupby(lessons, key=lambda lesson: lesson.group):
            st.header(group, anchor=False)
            for row in split_rows(list(each)):
                for lesson, column in zip(row, st.columns(ACROSS), strict=False):
                    with column:
                        lesson_card(lesson)


def lesson_card(lesson: Lesson) -> None:
    """Draw a lesson's card, which is a link."""
    with st.container(border=True, key=f"card_{lesson.key}", gap=None):
        st.html(f'<img class="dpscope-card" alt="" src="{drawing(lesson.key)}">')
        st.page_link(PAGE, label=lesson.question, query_params=lesson.address)
        st.caption(f"{lesson.minutes} min{'' if lesson.show else ' · a table'}")


def teachers_list(lessons: Iterable[Lesson]) -> None:
    """Draw the list for teachers: link, minutes, prerequisites and three questions of each lesson."""
    st.markdown(
        "Each link opens a lesson at settings that show its result, or a table. **Present**, at the "
        "top of a lesson, is for the projector. Let the class guess before you press *Show what happens*."
    )
    lines = ["| lesson | minutes | prerequisites | questions for the class |", "|---|---|---|---|"]
    for each in lessons:
        link, questions = f"./learn?{urlencode(each.address)}", "<br>".join(each.class_questions)
        lines.append(f"| [{each.question}]({link}) | {each.minutes} | {each.needs} | {questions} |")
    with st.container(key="teachers"):
        st.markdown("\n".join(lines), unsafe_allow_html=True)
