"""The files that a visitor reads first name only what exists, and the citation is well formed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import dpcore
from dpcore.core import exactly
from dpcore.mechanisms import entry
from pages.shell.controls import log_stops
from run import WITH_ONE_BROWSER
from tests import PACKAGES, ROOT
from tests.browser.pictures import WIDTHS, shown_places

DOCUMENTS = ("CONTRIBUTING.md", "SECURITY.md", "README.md", "dpcore/README.md")
TOPS = ("dpcore", "dplab", "dprelease", "pages", "tests")
ENDINGS = (".py", ".md", ".toml", ".cff")
NOT_IN_THE_REPOSITORY = (".streamlit/secrets.toml", "stores/")
"""Files of an installation that documents name."""
MAP = "## The map"


def is_there(name: str, folder: Path, usage: str) -> bool | None:
    """Return whether what a document in a folder names exists; None for text that names nothing of the project."""
    words = name.split()
    if words[0] == "python3":
        return any(line.split()[: len(words)] == words for line in usage.splitlines())
    if words[:2] == ["python", "-m"]:
        module = ROOT / words[2].replace(".", "/")
        return module.with_suffix(".py").is_file() or (module / "__main__.py").is_file()
    if name.startswith("dpcore."):
        return hasattr(dpcore, re.split(r"\W", name.removeprefix("dpcore."))[0])
    if not re.fullmatch(r"[\w.][\w./-]*", name):
        return None
    if "/" in name:
        return name in NOT_IN_THE_REPOSITORY or (ROOT / name).exists() or (folder / name).exists()
    if name.endswith(ENDINGS):
        # A bare file name: somewhere in the project.
        return (ROOT / name).exists() or any(path for top in TOPS for path in (ROOT / top).rglob(name))
    return None


def wrong(text: str, folder: Path = ROOT) -> list[str]:
    """Return the paths, commands and names of dpcore that a document in a folder names and that are not there."""
    usage = (ROOT / "run.py").read_text(encoding="utf-8").split('"""')[1]
    named = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    named += re.findall(r"\]\(([^)#:]+)\)", text)
    return [name for name in named if is_there(name, folder, usage) is False]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_names_only_what_exists(name: str) -> None:
    assert wrong((ROOT / name).read_text(encoding="utf-8"), (ROOT / name).parent) == []


def unmapped(text: str) -> list[str]:
    """Return the rooms that the map of a document names and that are not there, and those that it leaves out.

    A room is a folder of one of the four packages, with Python files. A new page may be left out: it is one folder and
    one line in the list of pages.
    """
    section = text.split(f"{MAP}\n", 1)[-1].split("\n## ", 1)[0]
    found = []
    for top in (*PACKAGES, "pages"):
        listed = re.findall(r"^- `(\w+)`: .", section.split(f"\n**{top}** ", 1)[-1].split("\n**", 1)[0], re.MULTILINE)
        rooms = {path.parent.name for path in (ROOT / top).glob("*/*.py")}
        found += [
            f"{top}/{room}" for room in (set(listed) - rooms if top == "pages" else rooms.symmetric_difference(listed))
        ]
    return sorted(found)


def test_the_map_has_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert MAP in text and unmapped(text) == []
    assert unmapped(text.replace("- `plan`: ", "- `plans`: ")) == [
        "dprelease/plan", "dprelease/plans", "pages/plans",
    ]  # fmt: skip


def test_the_readme_says_what_its_pictures_show_and_how_tests_are_run() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    stops = log_stops(entry("identity").controls()["epsilon"])
    shown = [stops[place] for place in shown_places(len(stops) - 1)]
    assert f"ε moves from {exactly(shown[0])} to {exactly(shown[-1])} and back" in text
    named = re.findall(r"\]\((assets/pictures/[^)]+)\)", text)
    assert len(named) == 3 and all((ROOT / name).is_file() for name in named)
    widths = re.findall(r"!\[[^\]]+ (?:at (\d+) pixels)\]\(\S+-(\d+)\.png\)", text)
    assert widths and all(int(said) == int(file) in WIDTHS for said, file in widths)
    assert f"runs the tests in {['no', 'one', 'two', 'three'][int(WITH_ONE_BROWSER[1])]} processes" in text


def test_what_is_not_there_is_found() -> None:
    text = (
        "`python3 run.py test`, `python3 run.py tests`, `dpcore.Secure`, `dpcore.Sure`, `pages/learn`, `pages/teach`,"
    )
    text += " `identity.py`, `identify.py`, [this](README.md), [that](READTHIS.md), `param()`, `/_stcore/metrics`,"
    text += " `python3 run.py release`, `python -m tests.texts.test_claims`, `python -m tests.texts.no_claims`"
    expected = ["python3 run.py tests", "dpcore.Sure", "pages/teach", "identify.py", "python -m tests.texts.no_claims"]
    assert wrong(text) == [*expected, "READTHIS.md"]
    assert wrong("`core/bounds.py`, `core/founds.py`", ROOT / "dpcore") == ["core/founds.py"]
    assert wrong("`core/bounds.py`") == ["core/bounds.py"]


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
