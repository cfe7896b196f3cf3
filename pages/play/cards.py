"""Cards below Play's picture: each opens in its place, and the link holds which one is open."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import streamlit as st

from dplab.recipe import Recipe
from pages.shell.addresses import app_pages
from pages.shell.controls import audit_link, choice
from pages.shell.state import SessionKey, set_controls

KEY, DATA, WRONG, OTHERS, ATTACK, ALL = "card", "data", "wrong", "others", "attack", "all"
"""Link parameter of the open card, and the cards."""
CARDS = {
    DATA: "**Data** true and released",
    WRONG: "**How wrong?** errors and their guarantee",
    OTHERS: "**Other mechanisms** error against ε",
    ATTACK: "**Attack it** what exact numbers tell",
    ALL: "**All pictures** side by side",
}
"""Title of each card and what it opens."""
CARD_TITLES_STYLE = (
    "<style>.stMain .st-key-cards button { min-height: 1.75rem; }"
    " .stMain .st-key-cards button p { font-size: 0; }</style>"
)
"""All pictures at once need the height. (A rule that asks what else is on the page costs time at each change of it.)"""
LESSONS = Path(__file__).resolve().parents[1] / "learn"
"""Folder of the lessons, with their drawings."""
LAST_TARGET = SessionKey[float | None]("play_target", None)
"""The target error of the last run: a new one opens the ranking of mechanisms."""
ATTACKS = {
    "attack-me": (
        "Attack: group counts",
        "Counts of small groups tell sixteen people's secrets, one after another. Then noise hides them again.",
    ),
    "low-bits": (
        "Attack: last bits",
        "Noise made of ordinary computer fractions tells the true number by its last bits.",
    ),
    "audit": (
        "Test this privacy claim",
        "Two data sets that differ in one person, and thousands of releases: does the claimed ε hold?",
    ),
}
"""Lessons on attacks: the name of the link, and what is seen there."""


def open_for_target(target: float | None) -> None:
    """Open the ranking of mechanisms when a target error is new."""
    if target == LAST_TARGET.value:
        return
    is_linked = not LAST_TARGET.is_set and KEY in st.query_params
    LAST_TARGET.value = target
    if target is not None and not is_linked and SessionKey[str](KEY, DATA).value != ALL:
        set_controls({KEY: OTHERS})


def ask_card() -> str:
    """Draw the cards and return the open one."""
    with st.container(key="cards"):
        card = choice("Cards", CARDS, key=KEY, shown_as="cards")
    if card == ALL:
        st.html(CARD_TITLES_STYLE)
    return card


def draw_attacks(recipe: Recipe) -> None:
    """Draw links to the attacks and to the test of this mechanism's claim, each with what is seen there."""
    claim = audit_link(recipe.entry, dict(recipe.values), recipe.neighbours)
    queries = {lesson: {"lesson": lesson, f"{lesson}-shown": "true"} for lesson in ATTACKS} | {"audit": claim}
    for column, (lesson, (name, seen)) in zip(st.columns(len(ATTACKS)), ATTACKS.items(), strict=True):
        with column.container(border=True, height="stretch", key=f"attack_{lesson}"):
            drawing = next(LESSONS.glob(f"*/{lesson}.svg")).read_bytes()
            st.html(f'<img alt="" src="data:image/svg+xml;base64,{b64encode(drawing).decode()}">')
            st.page_link(app_pages()["learn"], label=name, query_params=queries[lesson])
            st.markdown(seen)
