"""The report of a release in the browser: in a frame of its own, which runs no script and loads nothing."""

from __future__ import annotations

import streamlit as st

from dprelease.downloads.report import report
from dprelease.ledger.records import Stored

SCRIPT = """
export default function ({ data, parentElement }) {
  const frame = parentElement.querySelector("iframe");
  if (frame.srcdoc !== data) frame.srcdoc = data;
}
"""
CSS = "iframe { width: 100%; height: 70vh; border: 1px solid var(--st-border-color); background: #fff; }"
_frame = st.components.v2.component(
    "dpscope.report", html='<iframe sandbox="" title="Report"></iframe>', css=CSS, js=SCRIPT
)


@st.dialog("Report", width="large")
def show_report(stored: Stored) -> None:
    """Open a dialog with the report of a stored release."""
    _frame(key="release_report", data=report(stored).decode())
