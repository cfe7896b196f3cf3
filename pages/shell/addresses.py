"""Every page, in one list: its folder, its title and its address, what it is about, and the addresses it had before.

A link made then opens what it opened, its controls as they were.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route


@dataclass(frozen=True, kw_only=True)
class PageSpec:
    """A page of the app.

    Attributes:
        folder: below ``pages``; its script is ``page.py``.
        title: in the bar.
        address: below the app's own; empty for the first page.
        section: of the bar.
        draws: whether what it shows may be drawn once and charged, so that the bar leads to Release.
        names_data: whether it says itself which data are in use; on other pages the bar does.
        other_data: whether it is about other data than those in use.
        choice: its own choice of data, as links call it; empty where it has none.
        opens_with: the sample which that choice opens with.
        reads_ledger: it opens the ledger at once; such a page is not rehearsed.
        was: addresses it had before.
    """

    folder: str
    title: str
    address: str
    section: str
    draws: bool = False
    names_data: bool = True
    other_data: bool = False
    choice: str = ""
    opens_with: str = ""
    reads_ledger: bool = False
    was: tuple[str, ...] = ()


PAGES = (
    PageSpec(folder="play", title="Ranges and cells", address="", section="Play", draws=True, was=("start", "explore")),
    PageSpec(
        folder="tables", title="Tables", address="tables", section="Play", draws=True, choice="cube",
        was=("marginals",),
    ),
    PageSpec(
        folder="one_number", title="One number", address="one-number", section="Play", draws=True, was=("robust",),
    ),
    PageSpec(
        folder="conversation", title="Conversation", address="conversation", section="Play", draws=True, was=("ask",),
    ),
    PageSpec(folder="data", title="Data", address="data", section="Data", names_data=False),
    PageSpec(folder="plan", title="Plan", address="plan", section="Plan", choice="table", opens_with="adult"),
    PageSpec(folder="release", title="Release", address="release", section="Release", reads_ledger=True),
    PageSpec(
        folder="learn", title="Limits and attacks", address="learn", section="Learn",
        names_data=False, other_data=True, was=("limits",),
    ),
)  # fmt: skip
LESSONS = {
    "halfspaces": "directions", "directions": "directions", "sparse": "random", "random-privacy": "random",
}  # fmt: skip
"""The lesson that each old address opens; an old address with settings opens the lesson's own-data view with them."""
WORKBENCHES = {"directions-workbench": "directions", "random-privacy-workbench": "random"}
"""The lesson whose own-data view each old address opens."""
OWN_DATA = {"view": "data"}
"""In the link of a lesson: all its settings, and the reader's own data."""
MOVED = {old: page.address for page in PAGES for old in page.was} | {
    old: f"learn?{urlencode({'lesson': lesson, **OWN_DATA})}" for old, lesson in {**LESSONS, **WORKBENCHES}.items()
}
"""The new address of each old one, to which its settings are added."""
REMOVED_VIEWS = {"robust-seen": {"Real salaries", "Rank error"}}
"""Views that are gone, by the tabs that had them in links."""
DATA_OF_REMOVED_VIEWS = "earnings.earnings"
"""The data that these views were about."""
RENAMED_VIEWS = {("median-picture", "Act two"): "If δ > 0"}
"""Pictures with another name in old links: the parameter and its old value, and the new one."""


def page_at(address: str) -> PageSpec:
    """The page at an address; raises LookupError if there is none."""
    [page] = [page for page in PAGES if page.address == address]
    return page


@functools.cache
def app_pages() -> dict[str, st.Page]:
    """Return Streamlit's pages by folder; for a run, outside of which Streamlit builds none.

    They are built once: for each, Streamlit looks for its script on the disk. A link to one costs half as much as a
    link to a script. A section with one page is a direct link by the section's name: Streamlit's sign for it is no
    section.
    """
    scripts, in_section = Path(__file__).resolve().parent.parent, Counter(page.section for page in PAGES)
    return {
        page.folder: st.Page(
            scripts / page.folder / "page.py",
            title=page.title if in_section[page.section] > 1 else page.section,
            url_path=page.address,
            default=not page.address,
        )
        for page in PAGES
    }


def routes(base: str) -> list[Route]:
    """One for each address that moved, for an app served below `base`."""
    return [Route(f"{base.rstrip('/')}/{old}", _sent_to(old)) for old in MOVED]


def _sent_to(old: str) -> Callable[[Request], RedirectResponse]:
    def answer(request: Request) -> RedirectResponse:
        settings, new = request.url.query, MOVED[old]
        if settings:
            new += f"{'&' if '?' in new else '?'}{settings}"
        elif old in LESSONS:
            new = f"learn?lesson={LESSONS[old]}"
        return RedirectResponse(f"./{new}")  # relative: a proxy may have the app below another path

    return answer
