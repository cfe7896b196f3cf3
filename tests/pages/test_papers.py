"""The map of the papers in dpcore's README: every numbered statement, its file, its card, and no blank."""

from __future__ import annotations

import re

import pytest

from pages.learn.view import LESSONS, WALL
from tests import ROOT
from tests.pages.opening import MAIN, PAGE, opened, sound

README = (ROOT / "dpcore" / "README.md").read_text(encoding="utf-8").split("## The papers, item by item")[1]
LINES = {
    paper: [tuple(part.strip() for part in line.split("|")[1:-1]) for line in lines if line.startswith("| ")][1:]
    for paper, *lines in (part.split("\n") for part in README.split("### ")[1:])
}
CARDS = sorted({card for lines in LINES.values() for _, _, card in lines} - {"none"})
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
    return "; ".join(what for what, _, _ in lines)


@pytest.mark.parametrize("author", NUMBERED)
def test_every_numbered_statement_is_there(author: str) -> None:
    told = set(re.findall(r"\d\.\d+", words(author)))
    assert told >= {f"{part}.{each}" for part, most in NUMBERED[author].items() for each in range(1, most + 1)}


@pytest.mark.parametrize("author", NAMED)
def test_every_named_statement_is_there(author: str) -> None:
    assert not [each for each in NAMED[author].split("; ") if each not in words(author)]


def test_every_line_has_a_file_that_exists_and_a_card_or_says_that_it_is_not_built() -> None:
    assert len(LINES) == 5
    for what, file, card in (line for lines in LINES.values() for line in lines):
        assert what
        if file == "not built":
            assert card == "none"
        else:
            assert (ROOT / "dpcore" / file.strip("`")).is_file(), file
            assert card.startswith("`")


@pytest.mark.full
@pytest.mark.parametrize("card", [card.strip("`") for card in CARDS])
def test_every_card_opens(card: str) -> None:
    address, _, query = card.partition("?")
    files = {found["address"]: found["file"] for found in PAGE.finditer(MAIN.read_text(encoding="utf-8"))}
    link = dict(part.split("=") for part in query.split("&") if part)
    assert link.get("lesson", "odds") in {*LESSONS, *(each.key for each in WALL)}
    app = sound(opened(files[address], **link))
    assert not app.warning and not app.error
