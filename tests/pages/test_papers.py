"""The table of the papers' statements: every numbered statement, its file, its card, and no blank."""

from __future__ import annotations

import re
from itertools import groupby
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from pages.learn.theorems import ITEMS
from pages.learn.view import LESSONS, OVERVIEW, THEOREMS
from pages.shell.addresses import MOVED
from tests import ROOT
from tests.pages.opening import FILES, opened, run_with, sound, texts

LINES = {
    paper: [(each.item, each.file, each.card, each.words) for each in items]
    for paper, items in groupby(ITEMS, key=lambda each: each.paper)
}
CARDS = sorted({each.card for each in ITEMS})
QUICK = ("learn?lesson=odds", "learn?lesson=median", "learn?lesson=printed&printed-system=random")
"""Cards that are opened in every run."""
NUMBERED = {
    "Blum": {2: 11, 3: 13, 4: 3, 5: 2, 6: 9, 7: 5},
    "Thaler": {1: 3, 2: 6, 3: 2, 4: 8},
    "Hall": {3: 2, 4: 2, 5: 2},
}
"""Statements in each section of a paper that numbers them so."""
NAMED = {
    "Roth": "Definition 1; Definition 2; Definition 3; Definition 4; Fact 1; Observation 1; Theorem 2; Theorem 3; "
    "Theorem 4; Theorem 5; Theorem 6; Lemmas 1 and 2; Corollary 1; Remark 1; ootnote 1",
    "Notes": "Theorem 1; Definition 2; Theorem 3; Theorem 4",
    "Hall": "Remark 1; Remark 2; Remark 3; Figures 1 and 2; Definitions 1 and 2; quation 5",
    "Blum": "Algorithm 1; Algorithm 2",
    "Thaler": "Table 1",
}


def words(author: str) -> str:
    """What the table of a paper names."""
    (lines,) = (lines for paper, lines in LINES.items() if paper.startswith(author))
    return "; ".join(what for what, *_ in lines)


@pytest.mark.parametrize("author", NUMBERED)
def test_every_numbered_statement_is_there(author: str) -> None:
    told = set(re.findall(r"\d\.\d+", words(author)))
    assert told >= {f"{part}.{each}" for part, most in NUMBERED[author].items() for each in range(1, most + 1)}


@pytest.mark.parametrize("author", NAMED)
def test_every_named_statement_is_there(author: str) -> None:
    assert not [each for each in NAMED[author].split("; ") if each not in words(author)]


def test_every_line_has_a_file_that_exists_and_a_card() -> None:
    assert len(LINES) == 5, "lines of a paper stand together"
    for _, what, file, card, shown in ITEMS:
        assert what and card and shown
        assert any((top / file).is_file() for top in (ROOT / "dpcore", ROOT)), file


def test_a_theorem_is_found_by_its_words() -> None:
    app = sound(opened("learn/page.py", lesson=THEOREMS))
    assert all(f"[{each.item}](./{each.card})" in texts(app) for each in ITEMS)
    app.text_input(key="theorem").set_value("blum 5.2").run()
    (table,) = (each.value for each in sound(app).markdown if "| statement" in each.value)
    assert table.count("](./") == 1 and "Corollary 5.2" in table
    app.text_input(key="theorem").set_value("| <b>no such words").run()
    assert not [each for each in sound(app).markdown if "| statement" in each.value]
    assert [each.value for each in app.info] == ["No statement of the papers has all these words."]


def test_own_data_is_said_where_a_card_takes_it() -> None:
    own = {each.item for each in ITEMS if each.takes_own_data(LESSONS)}
    assert "Definition 4.1, interval queries" in own
    assert "Table 1, all ten methods" not in own, "the table of printed numbers has its own settings"


def plain(words: str) -> str:
    """Words without emphasis or differences of case."""
    return " ".join(words.replace("*", "").lower().split())


def shown_on(address: str, **link: str) -> AppTest:
    """A page by its address, with Why? open where there is one."""
    files = {address: file for file, address in FILES.items()}
    app = opened(files[MOVED.get(address, address)], **link)
    if address == "start":
        run_with(app, {"why_open": True})
    return sound(app)


@pytest.mark.parametrize("card", [pytest.param(card, marks=[pytest.mark.full] * (card not in QUICK)) for card in CARDS])
def test_every_card_shows_the_words_of_its_lines(card: str) -> None:
    """All that is on the card once the guess is made and Why? is open."""
    address, _, query = card.partition("?")
    link = dict(parse_qsl(query))
    lesson = link.get("lesson", "")
    assert not lesson or lesson in {*LESSONS, *(each.key for each in OVERVIEW)}
    if lesson in LESSONS:
        link[f"{lesson}-shown"] = "true"
    app = shown_on(address, **link)
    warned = [each.value for each in app.warning]
    assert warned == ["For previews only."] * ("unbounded_mean" in card) and not app.error
    page = plain(texts(app))
    lines = [line for lines in LINES.values() for line in lines if line[2] == card]
    assert lines and not [(what, shown) for what, _, _, shown in lines if plain(shown) not in page]


def test_no_card_shows_the_words_of_another_papers_item_by_chance() -> None:
    """The control: a lesson about odds has none of the words that other cards are cited for."""
    page = plain(texts(sound(opened("learn/page.py", **{"lesson": "odds", "odds-shown": "true"}))))
    others = {plain(shown) for lines in LINES.values() for _, _, card, shown in lines if "odds" not in card}
    assert others and not [words for words in others if words in page]


@pytest.mark.slow
@pytest.mark.parametrize("address", ["start", "tables", "one-number"])
def test_words_of_a_card_that_its_link_brings_are_not_on_the_page_without_it(address: str) -> None:
    """Else they would be found whether or not the mechanism is there that the line is about."""
    usual = plain(texts(shown_on(address)))
    told = [(card, shown) for lines in LINES.values() for _, _, card, shown in lines]
    brought = [(card, shown) for card, shown in told if card.startswith(f"{address}?")]
    assert brought and not [(card, shown) for card, shown in brought if plain(shown) in usual]
