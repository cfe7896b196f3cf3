"""Results: stored, published, reported and downloaded."""

from __future__ import annotations

import datetime
from collections.abc import Generator

import streamlit as st

from dprelease.downloads import downloads_of
from dprelease.downloads.archive import zip_files
from dprelease.downloads.report import report
from dprelease.ledger.records import LedgerError, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.requests.parts import Request
from pages.data.descriptions.private_labels import offer_released_labels
from pages.release.cards import show_cards
from pages.release.register import PROBLEM
from pages.shell.ledger.accounts import PATIENT
from pages.shell.ledger.roles import actor, admitted
from pages.shell.tasks.memory import with_progress

NOT_YET = "You can see and download it here once the data owner publishes it."
FRAME_SCRIPT = """
export default function ({ data, parentElement }) {
  const frame = parentElement.querySelector("iframe");
  if (frame.srcdoc !== data) frame.srcdoc = data;
}
"""
FRAME_CSS = "iframe { width: 100%; height: 70vh; border: 1px solid var(--st-border-color); background: #fff; }"
_frame = st.components.v2.component(
    "dpscope.report", html='<iframe sandbox="" title="Report"></iframe>', css=FRAME_CSS, js=FRAME_SCRIPT
)
"""A frame of its own, which runs no script and loads nothing."""


def stored_sentence(stored: Stored) -> str:
    """Return a sentence such as "Entry 3, charged ε 0.5. Not published."."""
    return f"Entry {stored.entry}, charged {charge_of(stored)}. {'Published' if stored.published else 'Not published'}."


def charge_of(stored: Stored) -> Price:
    """Return the charge of a release."""
    return Price.read(dict(stored.chain[-1]["amount"]))


def day_of(stored: Stored) -> str:
    """Return a release's date, such as "22 November 2026"."""
    day = datetime.date.fromisoformat(str(stored.body["at"]))
    return f"{day.day} {day:%B %Y}"


def show_result(ledger: Ledger, dataset_id: str, stored: Stored, *, place: str = "") -> None:
    """Draw the released numbers, with the button that publishes them or the download; ``place`` makes keys unique."""
    if not (stored.published or admitted()):
        st.caption(NOT_YET)
        return
    key_suffix = f"{place}{dataset_id[:8]}-{stored.entry}"  # entries of two data sets may have the same number
    with st.container(horizontal=True, vertical_alignment="center"):
        if stored.published:
            if st.button("Open report", key=f"release_report-{key_suffix}"):
                show_report(stored)
            st.download_button(
                "Download the release (zip)", lambda: zip_files(downloads_of(stored)), on_click="ignore",
                file_name=f"release-{stored.entry}.zip", mime="application/zip", key=f"release_zip-{key_suffix}",
            )  # fmt: skip
        else:
            st.button(
                "Publish, free", type="primary", key=f"release_publish-{key_suffix}",
                on_click=publish, args=(ledger, dataset_id, stored.entry),
            )  # fmt: skip
            st.caption("Others can then see it. You cannot undo this.")
            # Before it is published, its tables have no download button.
            st.html("<style>[data-testid='stElementToolbar'] { display: none; }</style>")
    request = Request.of(stored.body["request"])
    files = [{name: stored.files[name] for name in part["files"]} for part in stored.body["parts"]]
    offer_released_labels(request, files, key=key_suffix)
    badge = f"released: {charge_of(stored)}, secure sampler"
    show_cards(request, files, key=key_suffix, badge=badge, downloadable=stored.published)


def publish(ledger: Ledger, dataset_id: str, entry: int) -> None:
    """Callback: publish a release."""
    try:
        with ledger.turn(dataset_id, patience=PATIENT):  # a running draw holds the turn, possibly for long
            ledger.publish(dataset_id, entry, actor())
    except LedgerError as problem:
        PROBLEM.value = str(problem)


@st.dialog("Report", width="large", on_dismiss="rerun")
def show_report(stored: Stored) -> None:
    """Open a dialog with the report of a stored release; closing it ends the work on one of many rows."""

    def work() -> Generator[float, None, str]:
        yield 0.0
        return report(stored).decode()

    written = with_progress(f"report|{stored.salt}", work, label="Writing the report.")
    _frame(key="release_report", data=written)
