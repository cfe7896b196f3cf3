"""A guess survives a reload: the tab stores it with the question and settings at which it was made."""

from __future__ import annotations

import hashlib
import json

from pages.data.tab_storage import TabItem
from pages.shell.state import SessionKey

LessonSetting = float | str | bool
BROKEN_SETTINGS = SessionKey[dict[str, LessonSetting]]("lesson_broken", {})
"""Settings of the last "Break it", and the guess before it."""
GUESSES = SessionKey[dict[str, tuple[LessonSetting | None, str]]]("lesson_asked", {})
"""Guess and the digest of its question, by lesson."""
GUESS_ITEM, MAX_LENGTH = "dpscope-guess", 2000
"""Start of the names in the tab's storage, and most characters of a guess there."""


def is_other_question(lesson: str, question: str, *, guess: LessonSetting | None, shown: bool) -> bool:
    """Note a guess with the question at which it was made; return True if it was made about another question.

    A page that opens with its result shown may have been reloaded: the tab then says what was asked before.
    """
    key = hashlib.sha256(question.encode()).hexdigest()[:16]  # a question may have numbers of the user's own data
    guesses, item = GUESSES.setdefault({}), _item(lesson)
    opened_shown = shown and lesson not in guesses
    if not shown or lesson not in guesses or guesses[lesson][0] != guess:
        guesses[lesson] = guess, key
    settings = BROKEN_SETTINGS.value
    broken = settings if f"{lesson}-guess" in settings else {}
    text = json.dumps({"guess": guess, "asked": guesses[lesson][1], "broken": broken})
    item.store("" if opened_shown else text, at_most=MAX_LENGTH, on_restored=lambda stored: _restore(lesson, stored))
    return guesses[lesson][1] != key


def _item(lesson: str) -> TabItem:
    return TabItem(item=f"{GUESS_ITEM}-{lesson}", key=f"lesson_tab_{lesson}", name=lesson)


def _restore(lesson: str, stored: str) -> None:
    """Callback: note what the tab stored, which may be anything, if it is about the guess that is here."""
    try:
        noted = json.loads(stored[:MAX_LENGTH])
        guess, key, broken = noted["guess"], str(noted["asked"]), dict(noted["broken"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return
    guesses = GUESSES.setdefault({})
    if lesson in guesses and guesses[lesson][0] == guess:
        guesses[lesson] = guess, key
        if broken:
            BROKEN_SETTINGS.value = broken
