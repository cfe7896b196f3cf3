"""Cards of the overview that are not lessons: the tables of the papers' numbers."""

from __future__ import annotations

from pages.learn.kit import Lesson

ELSEWHERE = (
    Lesson(
        key="printed",
        question="What do the papers print, and what is correct?",
        place=430,
        minutes=5,
        needs="one of the other lessons; this is a table without a guess",
        class_questions=(
            "For which bound T is the sanitizer private, and for which is it not?",
            "By which factor does the proof of the interval theorem need more rows?",
            "Which numbers are too large for any table of people?",
        ),
    ),
)
