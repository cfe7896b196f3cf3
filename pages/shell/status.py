"""The line on top of every page, and the gate it tells of: whether what is made from these data may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, Provenance
from dpcore.data.sources import Source, Uploaded
from pages.charts.palette import palette
from pages.data.upload import HeldFile, held_file
from pages.shell.browser import browser_tools
from pages.shell.ledger.door import admitted
from pages.shell.present import exclude_from_presentation
from pages.shell.session import BARRED, SAW_TRUE_VALUES, STEWARD_CHOICE, WAITS, in_link, is_steward, upload

HERE = Path(__file__).resolve().parent
STYLE, RAIL = ((HERE / name).read_text(encoding="utf-8") for name in ("frame.css", "rail.css"))
SPENT = "Privacy spent: **ε = 0**. "
NEIGHBOURS = "Data sets that differ so are neighbours: what is released tells them apart by no more than ε and δ allow."
_spent: ContextVar[str] = ContextVar("what is spent, of this run", default=SPENT)
_named: ContextVar[bool] = ContextVar("whether the page has named the data in use, of this run", default=False)
_warned: ContextVar[bool] = ContextVar("whether the line says that true values are seen, of this run", default=False)
_line: ContextVar[DeltaGenerator] = ContextVar("place of the line on top, of this run")
_slot: ContextVar[DeltaGenerator] = ContextVar("place of the data in use, beside the line, of this run")
_differ: ContextVar[DeltaGenerator] = ContextVar("place of the relation, beside the line, of this run")


class Data(Protocol):
    """Anything that says whether its rows are private: a source, a data set, a held file."""

    @property
    def provenance(self) -> Provenance:
        """What the rows are."""


def frame_style() -> None:
    """How wide and how dense every page is; a page may say otherwise after it."""
    st.html(f"<style>{STYLE}</style>")


def rail() -> DeltaGenerator:
    """The column at the side, for the controls of a page that has all else on one screen."""
    st.set_page_config(initial_sidebar_state=280)
    paper = palette(dark=st.context.theme.type == "dark").paper
    st.html(f"<style>:root {{ --paper: {paper}; }}\n{RAIL}</style>")
    return st.sidebar


def views(*names: str, key: str) -> Sequence[DeltaGenerator]:
    """Places of which one is seen at a time; the link says which."""
    return st.tabs(list(names), key=in_link(key), bind="query-params")


def status_line(spent: str = "", *, release: bool = False) -> None:
    """The odometer, the steward switch and the link to copy, always in sight.

    Args:
        spent: what a ledger says is spent of the data in use; without one nothing is.
        release: whether what the page shows may be drawn once and charged, where a ledger holds the data.
    """
    _spent.set(spent or SPENT)
    _warned.set(False)
    _named.set(False)
    held = (held_file(), upload())
    private = any(each is not None and each.provenance.is_private for each in held)
    left, middle, right = st.columns([20, 10, 7.5] if private else [40, 0.1, 9], vertical_alignment="center")
    with right:
        browser_tools(file=any(each is not None for each in held))
    with middle:
        if private and not BARRED.value:
            st.toggle(
                "I am the data's steward",
                key=STEWARD_CHOICE,
                persist_state="session",
                help="Shows true values and errors of your private data, on your screen only. Whoever sees them has "
                "seen your data: no guarantee covers what you saw, and nothing made this way should be passed on.",
            )
    bar = left.container(horizontal=True, vertical_alignment="center", wrap=private, key="status_bar")
    _slot.set(bar.empty())
    _differ.set(bar.empty())
    _line.set(bar.empty())
    if spent and release:
        help_text = (
            "One draw by the secure sampler, charged to the ledger. Until it is published, only data owners see it."
        )
        bar.page_link("release/page.py", label="Private preview, charged", icon=":material/lock:", help=help_text)
    say("Nothing private is shown." if private else "")
    if waits := WAITS.value:
        st.warning(waits)


def badge(data: Data, made: str = "", *, seed: int | None = None, sampler: str = "preview") -> str:
    """What the numbers of a picture are, drawn into it, so that a screenshot keeps it.

    Args:
        data: the rows they come from.
        made: how they were made, if not by drawing alone.
        seed: of what was drawn; None where nothing was.
        sampler: that drew it.
    """
    drawn = "" if seed is None else f"simulated, {sampler} sampler, seed {seed}"
    private = "not protected: made by the data's steward" if data.provenance.is_private else ""
    return " · ".join(part for part in (f"true: {data.provenance.kind}", made + drawn, private) if part)


def may_show(data: Source | HeldFile) -> bool:
    """The one gate before figures, numbers and labels made from data: open for public data, and for the steward.

    The steward of a user's own file is the user who says so; of rows that the server brings, only an admitted steward.
    In a presentation it is closed for all private data. Where it opens for the steward, the line on top says so, and
    nothing on the page is offered as a file.
    """
    if not data.provenance.is_private:
        return True
    if not is_steward():
        return False
    if isinstance(data.origin, Uploaded) and data.origin.from_server and not admitted():
        return False
    exclude_from_presentation()
    SAW_TRUE_VALUES.value = True
    warn_of_true_values()
    return True


def warn_of_true_values() -> None:
    """Say on top that true values of private data are seen, and have no table of the page offer itself as a file."""
    say(":orange-badge[not protected] You see true values of private data: guarantee void for what you saw.")
    _warned.set(True)
    # Streamlit's own tables offer themselves as files; so do pictures, unless they are told not to.
    st.html("<style>[data-testid='stElementToolbar'] { display: none; }</style>")


def slot() -> DeltaGenerator:
    """The place of the data in use, emptied."""
    _named.set(True)
    return _slot.get().container(horizontal=True, vertical_alignment="center", key="data_in_use")


def is_data_named() -> bool:
    """Return whether this run has named the data in use."""
    return _named.get()


def say_neighbours(relation: Neighbours, person_rows: int = 0) -> None:
    """Write beside the data in use which data sets are neighbours on this page; of persons, how many rows are read."""
    words = relation.words
    if person_rows:
        words = f"{words.removesuffix(' row')} person, ≤ {person_rows:,} row{'s' * (person_rows > 1)}"
    _differ.get().markdown(f"Neighbours: {words}", width="content", help=NEIGHBOURS)


def say(text: str) -> None:
    """Write the line on top: what was spent, and what the numbers below are; that true values are seen stays."""
    if _warned.get():
        return
    _line.get().markdown(_spent.get() + text, width="content")
