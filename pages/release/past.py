"""Past releases of all data sets of the ledger, which the data owner opens again without a file."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dprelease.ledger.records import LedgerError
from dprelease.ledger.store import Ledger
from pages.data.upload import plural
from pages.release.results import charge_of, day_of, show_result
from pages.shell.ledger.accounts import account_in
from pages.shell.private.data_in_use import escaped
from pages.shell.tasks.memory import remember

MAX_LISTED = 50


@dataclass(frozen=True, kw_only=True)
class PastRelease:
    """A line of the list.

    Attributes:
        dataset_id: of the data.
        entry: of the ledger.
        at: date, as the ledger writes it.
        words: name of the data, date, charge and whether it is published.
    """

    dataset_id: str
    entry: int
    at: str
    words: str


def past_releases(ledger: Ledger, shown: tuple[str, int] | None) -> None:
    """Draw the list, the newest first, for the data owner.

    Args:
        ledger: the ledger.
        shown: data set and entry that the page shows already.
    """
    past, problems = remember(f"past|{ledger.folder}|{ledger.store.changed()}", lambda: _read(ledger))
    others = [each for each in past if (each.dataset_id, each.entry) != shown]
    if not (others or problems):
        return
    with st.expander(f"Past releases: {len(others)}"):
        for problem in problems:
            st.error(problem)
        for each in others[:MAX_LISTED]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(each.words, width="stretch")
                opened = st.toggle("Show", key=f"release_past-{each.dataset_id[:8]}-{each.entry}")
            if opened:
                [stored] = [one for one in ledger.stored(each.dataset_id) if one.entry == each.entry]
                show_result(ledger, each.dataset_id, stored, place="past-")
        if len(others) > MAX_LISTED:
            st.caption(f"{len(others) - MAX_LISTED:,} older ones are in the ledger.")


def _read(ledger: Ledger) -> tuple[list[PastRelease], list[str]]:
    """Return all stored releases, and why some data sets cannot be read."""
    past, problems = list[PastRelease](), list[str]()
    for dataset_id in ledger.dataset_ids():
        try:
            account = account_in(ledger, dataset_id)
            stored = ledger.stored(dataset_id) if not account.wrong else []
        except LedgerError as problem:
            problems.append(str(problem))
            continue
        if account.wrong:
            problems.append(f"{escaped(account.registration.name)}: {account.wrong}")
        past += [
            PastRelease(
                dataset_id=dataset_id, entry=each.entry, at=str(each.body["at"]),
                words=f"**{escaped(account.registration.name)}** · {day_of(each)} · {charge_of(each)} · "
                f"{plural(len(each.body['parts']), 'statistic')} · {'published' * each.published or 'not published'}",
            )
            for each in stored
        ]  # fmt: skip
    return sorted(past, key=lambda each: (each.at, each.entry), reverse=True), problems
