"""Every citation in code and on pages names the authors and the year of one work of `dpcore/REFERENCES.md`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from dpcore import catalogue
from dpcore.core import Entry
from tests import PACKAGES, ROOT

LIST = ROOT / "dpcore" / "REFERENCES.md"
NAME = r"(?:van |Gallego )?[A-Z][\w-]+"
CITATION = re.compile(
    rf"\b(?P<authors>{NAME}(?:, {NAME})*(?: and {NAME})?)(?P<others> et al\.)?(?:['’]s?)? "
    r"\(?(?P<year>1[89]\d\d|20\d\d)\b"
)
NOT_AUTHORS = ("Adult", "Repository", "Survey", "February", "November")
"""Data sets and months that stand before a year."""
UNDATED = "- Notes on stability-based mechanisms: authors and year unknown."


def authors(text: str) -> tuple[str, ...]:
    """Family names of “A, B and C”."""
    return tuple(re.split(r", | and ", text))


@cache
def works() -> tuple[tuple[tuple[str, ...], str], ...]:
    """Authors and year of each work of the list."""
    lines = [
        line for line in LIST.read_text(encoding="utf-8").splitlines() if line.startswith("- ") and line != UNDATED
    ]
    found = [re.fullmatch(r"- ([^()]+) \((\d{4})\)\.( .+\.)?", line) for line in lines]
    assert all(found)
    return tuple((authors(each[1]), each[2]) for each in found if each)


def citations(text: str) -> Iterator[re.Match[str]]:
    """Citations of a text, with blanks made one."""
    for each in CITATION.finditer(" ".join(text.split())):
        if each["authors"] not in NOT_AUTHORS:
            yield each


def cited_works(citation: re.Match[str]) -> list[tuple[tuple[str, ...], str]]:
    """Works with exactly these authors and this year; “et al.” stands for two authors or more."""
    names, year = authors(citation["authors"]), citation["year"]
    if citation["others"]:
        return [work for work in works() if work[0][:1] == names and len(work[0]) > 2 and work[1] == year]
    return [work for work in works() if work == (names, year)]


def strings(source: str) -> Iterator[str]:
    """Strings and docstrings of a module; computed parts are left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def written() -> dict[str, re.Match[str]]:
    """Citations as they are written in the code and its documents."""
    found = dict[str, re.Match[str]]()
    for file in (each for top in (*PACKAGES, "pages") for each in (ROOT / top).rglob("*.py")):
        for text in strings(file.read_text(encoding="utf-8")):
            found |= {each[0]: each for each in citations(text)}
    for file in (ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "dpcore" / "README.md"):
        found |= {each[0]: each for each in citations(file.read_text(encoding="utf-8"))}
    return found


def test_every_citation_names_the_authors_and_the_year_of_one_work() -> None:
    assert len(written()) > 90
    assert [name for name, citation in written().items() if len(cited_works(citation)) != 1] == []


def test_every_work_of_the_list_is_cited_and_listed_once() -> None:
    assert len(set(works())) == len(works())
    cited = {work for citation in written().values() for work in cited_works(citation)}
    assert set(works()) - cited == set()


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.key)
def test_every_reference_of_a_mechanism_is_a_citation(entry: Entry) -> None:
    for reference in entry.references:
        assert list(citations(reference)) or reference.startswith("Notes on stability-based mechanisms, ")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Blum, Ligett and Roth (2013), Theorem 4.3", True),
        ("see Blum, Ligett\n    and Roth 2013, Theorem 4.3", True),
        ("of Li and Miklau's (2013) bound", True),
        ("Barak et al. (2007)", True),
        ("Blum, Ligett and Roth (2012)", False),
        ("Blum, Liggett and Roth (2013)", False),
        ("Blum and Roth (2013)", False),
        ("Ligett, Blum and Roth (2013)", False),
        ("Barak et al. (2008)", False),
        ("Roth et al. (2010)", False),
        ("Hardt and Ligett (2012)", False),
    ],
)
def test_a_wrong_year_or_name_is_found(text: str, right: bool) -> None:
    [citation] = citations(text)
    assert (len(cited_works(citation)) == 1) is right
