"""Texts and pictures of a lesson, collected for the handout while the lesson runs out of sight."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from pages.charts.picture import Picture
from pages.learn.pictures import hide_measured

GUESSED = re.compile(r"([Yy]ou guessed(?: at most)?) [\d.,]*\d")
"""A guess in a lesson's sentence; a reader of the handout writes in their own."""


@dataclass(kw_only=True)
class LessonRecord:
    """Texts in Markdown and pictures of one lesson.

    Attributes:
        intro: the introduction.
        question: to be guessed.
        before: the picture without its result; None until the lesson drew one.
        after: the picture with its result.
        badge: of the picture.
        result: what the lesson shows.
        formula: the theorem, in LaTeX.
        meaning: its symbols and conditions.
        details: further paragraphs.
        reference: of the theorem.
    """

    intro: str = ""
    question: str = ""
    before: Picture | None = None
    after: Picture | None = None
    badge: str = ""
    result: str = ""
    formula: str = ""
    meaning: str = ""
    details: list[str] = field(default_factory=list)
    reference: str = ""

    def add_picture(self, picture: Picture, *, badge: str) -> None:
        """Store a picture without the guess."""
        marks = [mark for mark in picture.marks if mark.role != "guess"]
        self.after = replace(picture, marks=marks, sentence=without_guess(picture.sentence), frames=())
        self.before, self.badge = hide_measured(self.after), badge


def without_guess(text: str) -> str:
    """Return a sentence with room for a guess instead of the guess.

    >>> without_guess("At most **23.2%**; you guessed 50%.")
    'At most **23.2%**; you guessed ____%.'
    """
    return GUESSED.sub(r"\1 ____", text)
