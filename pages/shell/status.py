"""The line on top of every page, and the gate before true values: whether results from these data may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Neighbours, Provenance
from dpcore.data.sources import Source, Uploaded
from pages.charts.component import is_dark
from pages.charts.palette import palette
from pages.data.upload import SessionFile, session_file
from pages.shell.browser import browser_tools
from pages.shell.ledger.roles import admitted
from pages.shell.links import in_link
from pages.shell.presentation import exclude_from_presentation
from pages.shell.private.steward import BARRED, SAW_TRUE_VALUES, STEWARD_CHOICE, WAITS, is_steward
from pages.shell.session import upload

HERE = Path(__file__).resolve().parent
STYLE, RAIL = ((HERE / name).read_text(encoding="utf-8") for name in ("frame.css", "rail.css"))
ICON = (HERE.parents[1] / "assets" / "icon.svg").read_text(encoding="utf-8")
LOGO = f"""<svg xmlns="http://www.w3.org/2000/svg" width="228" height="34" viewBox="0 0 228 34" fill="INK"
  font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif">
  {ICON.replace("<svg ", '<svg width="34" height="34" ', 1)}
  <text x="41" y="14" font-size="15" font-weight="700">dpscope</text>
  <text x="41" y="30" font-size="10.5" textLength="186" lengthAdjust="spacingAndGlyphs"
    >see what privacy costs, before you pay</text>
</svg>"""
"""Icon, name and tagline; Streamlit puts them at the left of the top, above the rail where there is one."""
SPENT = "Budget spent: **ε = 0**. "
NEIGHBOURS = (
    "Two data sets that differ in this way are neighbouring. No release tells them apart by more than ε and δ allow."
)
BADGES = """- **true**: computed from the rows, without noise.
- **simulated**: a preview with noise from a seed, not a private release.
- **released**: numbers with the noise of a mechanism; in a preview they are simulated too.
- **post-processed**: computed from released numbers alone, at no further privacy budget.
- **theory**: from a theorem or an exact law, without sampling.
- **not protected**: depends on private rows, and no guarantee covers it."""
"""Words of the badges at pictures and sentences."""
_spent: ContextVar[str] = ContextVar("what is spent, of this run", default=SPENT)
_named: ContextVar[bool] = ContextVar("whether the page has named the data in use, of this run", default=False)
_warned: ContextVar[bool] = ContextVar("whether the line says that true values are seen, of this run", default=False)
_line: ContextVar[DeltaGenerator] = ContextVar("place of the line on top, of this run")
_slot: ContextVar[DeltaGenerator] = ContextVar("place of the data in use, beside the line, of this run")
_differ: ContextVar[DeltaGenerator] = ContextVar("place of the relation, beside the line, of this run")


class Data(Protocol):
    """Rows with a provenance: a source, a data set or a held file."""

    @property
    def provenance(self) -> Provenance:
        """Whether the rows are private, and their title."""


def frame_style() -> None:
    """Draw the logo, and set the width and density of every page; a page may change them afterwards."""
    st.logo(LOGO.replace("INK", palette(dark=is_dark()).ink), size="large")
    st.html(f"<style>{STYLE}</style>")


def rail() -> DeltaGenerator:
    """Return the sidebar, for the controls of a page that has everything else on one screen."""
    st.set_page_config(initial_sidebar_state=280)
    paper = palette(dark=is_dark()).paper
    st.html(f"<style>:root {{ --paper: {paper}; }}\n{RAIL}</style>")
    return st.sidebar


def views(*names: str, key: str) -> Sequence[DeltaGenerator]:
    """Return the places of tabs; the link holds which one is open."""
    return st.tabs(list(names), key=in_link(key), bind="query-params")


def status_line(spent: str = "", *, release: bool = False) -> None:
    """Draw the budget spent, the steward's switch and the link to copy, always visible.

    Args:
        spent: the budget spent on the data in use, from the ledger; empty without one.
        release: whether what the page shows may be released and charged, where a ledger holds the data.
    """
    _spent.set(spent or SPENT)
    _warned.set(False)
    _named.set(False)
    own_data = (session_file(), upload())
    private = any(each is not None and each.provenance.is_private for each in own_data)
    with st.container(key="status_line"):
        widths = [20, 10, 7.5] if private else [40, 0.1, 9]
        left, middle, right = st.columns(widths, vertical_alignment="center")
    with right:
        browser_tools(file=any(each is not None for each in own_data))
    with middle:
        if private and not BARRED.value:
            st.toggle(
                "I am the data owner",
                key=STEWARD_CHOICE,
                persist_state="session",
                help="Shows true values and errors of your private data on your screen. No guarantee covers "
                "what you see then, so do not share it.",
            )
    bar = left.container(horizontal=True, vertical_alignment="center", wrap=private, key="status_bar")
    _slot.set(bar.empty())
    _differ.set(bar.empty())
    _line.set(bar.empty())
    if spent and release:
        help_text = (
            "One release by the secure sampler, charged to the ledger. Until it is published, only data owners see it."
        )
        bar.page_link("release/page.py", label="Private preview, charged", icon=":material/lock:", help=help_text)
    key = bar.popover("Badges", key="badges_open", type="tertiary", on_change="rerun")
    if key.open:
        key.markdown(BADGES)
    write_status("Nothing private is shown." if private else "")
    if waits := WAITS.value:
        st.warning(waits)


def badge(data: Data, method: str = "", *, seed: int | None = None, sampler: str = "preview") -> str:
    """Return the label of a picture's numbers, drawn into it so that a screenshot keeps it.

    Args:
        data: the rows behind the numbers.
        method: how the numbers were computed, if not by sampling alone.
        seed: of the sample; None where nothing was sampled.
        sampler: its name.
    """
    drawn = "" if seed is None else f"simulated, {sampler} sampler, seed {seed}"
    private = "not protected: made by the data owner" if data.provenance.is_private else ""
    return " · ".join(part for part in (f"true: {data.provenance.kind}", method + drawn, private) if part)


def may_show(data: Source | SessionFile) -> bool:
    """Return whether figures, numbers and labels from these data may be shown: of public data, and to the steward.

    For a user's own file, the user who turns the switch on is the steward; for rows of the server, an admitted steward.
    In a presentation no private data are shown. When the steward sees true values, the line on top says so, and the
    page offers no file to download.
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
    """Warn in the line on top that true values of private data are shown, and remove the tables' download buttons."""
    write_status(":orange-badge[not protected] You see true values of private data. No guarantee covers what you see.")
    _warned.set(True)
    # Streamlit's own tables offer themselves as files; so do pictures, unless they are told not to.
    st.html("<style>[data-testid='stElementToolbar'] { display: none; }</style>")


def slot() -> DeltaGenerator:
    """Return the emptied place of the data in use."""
    _named.set(True)
    return _slot.get().container(horizontal=True, vertical_alignment="center", key="data_in_use")


def is_data_named() -> bool:
    """Return whether this run has named the data in use."""
    return _named.get()


def show_relation(relation: Neighbours, person_rows: int = 0) -> None:
    """Show the protected unit beside the data in use: a row, or a person with a cap of rows."""
    unit = f"one person (up to {_rows(person_rows)})" if person_rows else "one row"
    _differ.get().markdown(f"Protects: **{unit}**", width="content", help=unit_help(relation, person_rows))


def unit_help(relation: Neighbours, person_rows: int = 0) -> str:
    """Return the help beside the protected unit: the relation, and of what ε is, the same words on every page."""
    words, of_what = relation.words, "ε is for one row: for a person with c rows it is at most c times as large."
    if person_rows:
        words = f"{words.removesuffix(' row')} person, ≤ {_rows(person_rows)}"
        of_what = "ε is for one person, with one row."
    if person_rows > 1:
        of_what = (
            "Budgets and totals are ε for one person. The ε of a mechanism or a statistic is for one row: for a person "
            f"it is {person_rows:,} times as large."
        )
    return f"Neighbouring data sets: {words}. {NEIGHBOURS} {of_what}"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count > 1)}"


def write_status(text: str) -> None:
    """Write the line on top: the budget spent, and what the numbers below are; a warning of true values stays."""
    if _warned.get():
        return
    _line.get().markdown(_spent.get() + text, width="content")
