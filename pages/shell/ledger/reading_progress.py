"""Rows that are read in full, with progress: a long reading says how far it is, and moving any control ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprelease.ledger.fingerprint import Rows

READING = "Comparing all rows with the ledger."
STOPPED = "The comparison with the ledger was stopped. It is not known whether the ledger holds these rows."
MOVE = "Move any control to stop it."
SOON, LOOK_EVERY, BLOCK = 0.5, 0.25, 4096
"""Seconds of a reading that nobody need see, and between two signs of it; rows between two looks at the clock."""


@dataclass(kw_only=True)
class Watched:
    """A table's rows, each once.

    Attributes:
        rows: themselves.
        count: how many there are.
        stop: what the button that ends it does; None for no button.
    """

    rows: Rows
    count: int
    stop: Callable[[], None] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.rows.columns

    @property
    def counts_name(self) -> str:
        """See Rows."""
        return self.rows.counts_name

    def packed(self, columns: Sequence[str]) -> Iterator[bytes]:
        """See Rows. Streamlit ends a run where it shows something, if a control was moved since."""
        next_look, whole, bar = time.monotonic() + SOON, None, None
        for place, row in enumerate(self.rows.packed(columns)):
            if place % BLOCK == 0 and time.monotonic() >= next_look:
                if whole is None or bar is None:
                    whole = st.empty()
                    bar = self._bar(whole)
                text = READING if self.stop else f"{READING} {MOVE}"
                if self.counts_name:  # one each for the filled cells: a share would tell how many these are
                    bar.markdown(text)
                else:  # in hundredths: a finer share would tell how many rows there are
                    bar.progress(min(round(place / self.count, 2), 1.0), text=text)
                next_look = time.monotonic() + LOOK_EVERY
            yield row
        if whole is not None:
            whole.empty()

    def _bar(self, whole: DeltaGenerator) -> DeltaGenerator:
        with whole.container():
            bar = st.empty()
            if self.stop:  # Streamlit has a button “Stop” of its own, which leaves half a page
                st.button("Stop comparing", key="ledger_stop", on_click=self.stop)
        return bar
