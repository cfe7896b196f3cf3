"""Cards of the overview that are not lessons: the tables of the papers' numbers."""

from __future__ import annotations

from pages.learn.kit import SYSTEMS, Lesson

ELSEWHERE = (
    Lesson(
        key="printed",
        question="What do the papers print, and what holds?",
        group=SYSTEMS,
        place=430,
        minutes=5,
        needs="any of the systems; it is a table, without a guess",
        class_questions=(
            "With which norm T is the sanitizer private, and with which is it not?",
            "By which factor does the proof of the interval theorem need more rows?",
            "Which numbers are too large for any table of people?",
        ),
        link={"lesson": "printed"},
    ),
)
