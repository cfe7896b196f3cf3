"""Find a theorem: the numbered statements of the papers, each with the card of the app that shows it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

import streamlit as st

from pages.learn.kit import Lesson


class PaperItem(NamedTuple):
    """A numbered statement of a paper: where it is in the code and in the app, and words that its card shows."""

    paper: str
    item: str
    file: str
    card: str
    words: str

    def takes_own_data(self, lessons: Mapping[str, Lesson]) -> bool:
        """Return whether the card, or a view that it links to, runs on the reader's own data."""
        page, _, query = self.card.partition("?")
        if page != "learn":
            return True
        lesson = lessons.get(parse_qs(query)["lesson"][0])
        return lesson is not None and bool(lesson.own_data or lesson.workbench)


with (Path(__file__).resolve().parent / "papers.csv").open(encoding="utf-8", newline="") as _file:
    ITEMS = tuple(PaperItem(**row) for row in csv.DictReader(_file))


def show_theorems(lessons: Mapping[str, Lesson]) -> None:
    """Draw a field for words, and the statements that have them by paper, as links to their cards."""
    wanted = st.text_input("Words", placeholder="median, Theorem 5.1, Hall …", max_chars=80, key="theorem").casefold()
    matches = [each for each in ITEMS if all(word in f"{each.paper} {each.item}".casefold() for word in wanted.split())]
    if not matches:
        st.info("No statement of the papers has all these words.")
    with st.container(key="theorems"):
        for paper, items in groupby(matches, key=lambda each: each.paper):
            lines = [f"## {paper}", "| statement | your data | code |", "|---|---|---|"]
            for each in items:
                own = "yes" if each.takes_own_data(lessons) else "–"
                lines.append(f"| [{each.item}](./{each.card}) | {own} | `{each.file}` |")
            st.markdown("\n".join([lines[0], "", *lines[1:]]))
