"""The documentation builds without a warning, its links lead somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from typing_extensions import override

from dpcore import catalogue
from tests import ROOT
from tests.texts import notebooks
from tests.texts.notebooks import outputs

NOTEBOOKS = sorted(notebooks.NOTEBOOKS.glob("*.ipynb"))


class Addresses(HTMLParser):
    """Addresses that a page loads or links to, and the anchors it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded, self.linked, self.anchors = set[str](), set[str](), set[str]()
        self.feed(page.read_text(encoding="utf-8"))

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.linked.add(given["href"])
        elif tag in ("script", "img", "link", "iframe", "source") and given.get("rel") not in ("index", "search"):
            self.loaded |= {given[name] for name in ("src", "href") if name in given}


def broken(site: Path) -> list[str]:
    """Addresses of a site that lead nowhere, or that a page would load from elsewhere."""
    pages, found = {path: Addresses(path) for path in site.rglob("*.html")}, []
    for path, page in pages.items():
        for address in page.loaded | page.linked:
            parts = urlsplit(address)
            if parts.scheme in ("http", "https", "data") or parts.netloc:
                found += [f"{path.name}: {address}"] if address in page.loaded and parts.scheme != "data" else []
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or (parts.fragment and parts.fragment not in pages[target].anchors):
                found.append(f"{path.name}: {address}")
    return found


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_all_of_its_links_lead_somewhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(tmp_path / "trees")]
    built = subprocess.run([*command, str(ROOT / "docs"), str(site)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert not broken(site)
    listed = (site / "reference" / "catalogue.html").read_text(encoding="utf-8")
    assert all(f">{each.key}<" in listed for each in catalogue())
    # A control: a link to a page that is gone, and a font of somebody else's server.
    index = site / "index.html"
    text = index.read_text(encoding="utf-8")
    index.write_text(text + '<a href="gone.html">x</a><link rel="stylesheet" href="https://fonts.example/x.css">')
    assert sorted(broken(site)) == ["index.html: gone.html", "index.html: https://fonts.example/x.css"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    again = outputs(notebook)
    assert any(again)
    for cell, shown in zip(notebook["cells"], again, strict=True):
        assert cell.get("outputs", []) == shown, "".join(cell["source"])


def test_the_guide_names_every_notebook() -> None:
    text = (ROOT / "docs" / "guide" / "notebooks.md").read_text(encoding="utf-8")
    assert NOTEBOOKS and all(path.name in text for path in NOTEBOOKS)
