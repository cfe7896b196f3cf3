"""Where persons log in: the way in and out, and what everybody who is logged in sees, which is what is published."""

from __future__ import annotations

import importlib.util

import streamlit as st

from dprelease.ledger.store import Ledger
from pages.release.results import day_of, show_result, stored_sentence
from pages.release.shared_rows import withdraw_everywhere
from pages.shell.ledger.door import person, role
from pages.shell.ledger.held import Account, account_in, ledger
from pages.shell.ledger.odometer import spent_sentence
from pages.shell.private.chip import escaped

LOG_IN = "The ledger opens for its stewards. Whoever is logged in sees what they published."
NO_AUTHLIB = "Logging in needs Authlib and HTTPX on the server: `pip install -c constraints.txt authlib httpx`."
NOTHING = "Nothing is published yet."


def login_page() -> None:
    """A button to log in; then everything that was published."""
    if not person():
        st.info(LOG_IN)
        has_packages = all(importlib.util.find_spec(name) for name in ("authlib", "httpx"))
        st.button("Log in", type="primary", on_click=st.login, key="release_login", disabled=not has_packages)
        if not has_packages:
            st.error(NO_AUTHLIB)
        return
    account_bar()
    show_published(ledger())


def show_published(store: Ledger | None) -> None:
    """Everything that was published, and to analysts what is spent."""
    accounts = [account_in(store, each) for each in store.dataset_ids()] if store else []
    if store is None or not sum(_show_published_of(store, each, analyst=role() is not None) for each in accounts):
        st.info(NOTHING)


def account_bar() -> None:
    """Who this is, and the way out."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{escaped(person())}, {role() or 'viewer'}")
        st.button("Log out", on_click=_log_out, key="release_logout", type="tertiary")


def _log_out() -> None:
    """A callback: rows that this person opened to analysts are closed, in other tabs too."""
    withdraw_everywhere()
    st.logout()


def _show_published_of(store: Ledger, account: Account, *, analyst: bool) -> int:
    """What is published of a data set; returns how many releases that is."""
    releases = [each for each in store.stored(account.dataset_id) if each.published] if not account.wrong else []
    if not (releases or analyst):
        return 0
    st.header(escaped(account.registration.name))
    if account.wrong:
        st.error(account.wrong)
    elif analyst:
        st.caption(spent_sentence(account.spent))
    for stored in reversed(releases):
        st.markdown(f"**{stored_sentence(stored)}** {day_of(stored)}.")
        if st.toggle("Show", key=f"release_guest-{account.dataset_id[:8]}-{stored.entry}"):
            show_result(store, account.dataset_id, stored, place="guest-")
    return len(releases)
