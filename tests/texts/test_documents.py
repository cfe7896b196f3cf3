"""The files that a visitor reads first name only what exists, and the citation is well formed."""

from __future__ import annotations

import re
import tomllib

import pytest

import dpcore
from dpcore.core import exactly
from dpcore.mechanisms import entry
from pages.shell.controls import log_stops
from run import WITH_ONE_BROWSER
from tests import ROOT
from tests.browser.pictures import WIDTHS, shown_places

DOCUMENTS = ("CONTRIBUTING.md", "SECURITY.md")
TOPS = ("dpcore", "dplab", "dprelease", "pages", "tests")
ENDINGS = (".py", ".md", ".toml", ".cff")


def wrong(text: str) -> list[str]:
    """Paths, commands and names of dpcore that a document names and that are not there."""
    usage = (ROOT / "run.py").read_text(encoding="utf-8").split('"""')[1]
    named = re.findall(r"`([^`\n]+)`", text) + re.findall(r"\]\(([^)#:]+)\)", text)
    found = []
    for name in named:
        if name.startswith("python3 "):
            there = any(line.split("  ")[0] == name for line in usage.splitlines())
        elif name.startswith("dpcore."):
            there = hasattr(dpcore, name.removeprefix("dpcore."))
        elif "/" in name:
            there = (ROOT / name).exists()
        elif name.endswith(ENDINGS):
            # A bare file name: somewhere in the project.
            there = any(path for top in TOPS for path in (ROOT / top).rglob(name))
            there = there or (ROOT / name).exists()
        else:
            continue
        found += [] if there else [name]
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_names_only_what_exists(name: str) -> None:
    assert wrong((ROOT / name).read_text(encoding="utf-8")) == []


def test_the_readme_says_what_its_pictures_show_and_how_tests_are_run() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    stops = log_stops(entry("identity").controls()["epsilon"])
    shown = [stops[place] for place in shown_places(len(stops) - 1)]
    assert f"The privacy loss moves from {exactly(shown[0])} to {exactly(shown[-1])} and back" in text
    named = re.findall(r"\]\((assets/pictures/[^)]+)\)", text)
    assert len(named) == 3 and all((ROOT / name).is_file() for name in named)
    widths = re.findall(r"!\[[^\]]+ (?:at (\d+) pixels)\]\(\S+-(\d+)\.png\)", text)
    assert widths and all(int(said) == int(file) in WIDTHS for said, file in widths)
    assert f"runs the tests in {['no', 'one', 'two', 'three'][int(WITH_ONE_BROWSER[1])]} processes" in text


def test_what_is_not_there_is_found() -> None:
    text = (
        "`python3 run.py test`, `python3 run.py tests`, `dpcore.Secure`, `dpcore.Sure`, `pages/learn`, `pages/teach`,"
    )
    text += " `identity.py`, `identify.py`, [this](README.md), [that](READTHIS.md), `param()`"
    assert wrong(text) == ["python3 run.py tests", "dpcore.Sure", "pages/teach", "identify.py", "READTHIS.md"]


def test_the_citation_has_what_the_format_requires_and_the_project_s_own_figures() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    top = dict(re.findall(r"^([a-z-]+):[ ]?(.*)$", text, re.M))
    assert top["cff-version"] == "1.2.0" and {"message", "title", "authors"} <= set(top)
    assert (top["version"], top["license"]) == (project["version"], project["license"])
    references = text.split("\nreferences:\n")[1].split("  - type: ")[1:]
    assert len(references) == 5
    for reference in references:
        assert "\n    title: " in reference and "\n    authors:\n      - " in reference


def test_every_paper_of_the_citation_is_one_that_mechanisms_refer_to() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    told = " ".join(line for entry in dpcore.catalogue() for line in entry.references)
    for reference in text.split("  - type: ")[2:]:
        names = re.findall(r"family-names: (\w+)", reference)
        assert all(name in told for name in names), names
        if not names:
            title = re.findall(r'title: "(.*)"', reference)[0]
            assert title in told
