"""The documentation: guides by task, the reference from docstrings, the papers' items and the changelog.

`python3 run.py docs` builds it. What the README and other documents say is included, never repeated; their links to
files of the repository become plain words, as the site does not hold these.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "dpscope"
author = "the dpscope authors"
release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"dpscope {release}"
html_copy_source = False
html_show_sphinx = False
suppress_warnings = ["myst.header"]  # an included part begins below its own heading
html_favicon = "../assets/icon.svg"
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures stand in the reference as they stand in the code
add_module_names = False
napoleon_use_ivar = True

AS_WRITTEN: dict[str, list[str]] = {}
"""Docstrings before sections are looked for, by name."""
OUTSIDE = re.compile(r"!?\[([^\]]*)\]\((?!https?:|#)[^)]*\)")
"""A link to a file of the repository, or a picture in it."""


def without_links(_app: Sphinx, _path: Path, _parent: str, content: list[str]) -> None:
    """Make plain words of an included document's links to files."""
    content[0] = OUTSIDE.sub(r"\1", content[0])


WHOLE = ("module", "attribute", "property", "data")
"""Kinds whose docstrings have no sections, and a colon only as a sentence has one."""


def as_text(_app: Sphinx, kind: str, name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Keep a docstring's bars, stars and indents from being read as markup: docstrings here are plain text."""
    lines[:] = [re.sub(r"(?<![\\:])([|*])", r"\\\1", line) for line in lines]
    if kind == "module":
        lines[:] = [line.strip() for line in lines]
    if kind in WHOLE:
        AS_WRITTEN[name] = list(lines)


def as_written(_app: Sphinx, kind: str, name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Undo what reading sections did to a docstring without any."""
    if kind in WHOLE:
        lines[:] = AS_WRITTEN.pop(name, lines)


class CatalogueDirective(SphinxDirective):
    """A list of all mechanisms: name, key, what it does, and its references."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        from dpcore import catalogue

        found = nodes.definition_list()
        for each in catalogue():
            term = nodes.term("", "", nodes.Text(f"{each.title}  "), nodes.literal(text=each.key))
            story = nodes.paragraph(text=each.story)
            sources = nodes.paragraph("", "", nodes.emphasis(text="; ".join(each.references)))
            found += nodes.definition_list_item("", term, nodes.definition("", story, sources))
        return [found]


def setup(app: Sphinx) -> None:
    """Connect these."""
    app.add_directive("catalogue", CatalogueDirective)
    app.connect("include-read", without_links)
    app.connect("autodoc-process-docstring", as_text, priority=100)
    app.connect("autodoc-process-docstring", as_written, priority=900)
