"""Cards of the wall that are no lesson of their own: one picture of a lesson, and the tables of printed numbers."""

from __future__ import annotations

from pages.learn.kit import SYSTEMS, Lesson

ELSEWHERE = (
    Lesson(
        key="printed",
        question="What do the papers print, and what holds?",
        group=SYSTEMS,
        place=430,
        minutes=5,
        needs="any of the systems",
        asks=(
            "Which printed number promises privacy that is not there?",
            "By which factor does the proof of the interval theorem need more rows?",
            "Which numbers are too large for any table of people?",
        ),
        link={"lesson": "printed"},
    ),
    Lesson(
        key="sparse-data",
        question="Who pays when the promise fails?",
        group="Limits",
        place=350,
        minutes=3,
        needs="What if a promise may fail for few data sets?",
        asks=(
            "Whoever is alone in a cell: what does a release say of them?",
            "Why may the second release not be chosen after the first was seen?",
            "Would you take this promise for your own row?",
        ),
        link={"lesson": "random", "random-shown": "true", "random-picture": "Someone alone"},
    ),
)
