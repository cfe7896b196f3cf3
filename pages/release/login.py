"""Logging in and out, and the published releases that every logged-in user sees."""

from __future__ import annotations

import importlib.util

import streamlit as st

from dprelease.ledger.records import Role
from dprelease.ledger.store import Ledger
from pages.release.results import day_of, show_result, stored_sentence
from pages.release.shared_rows import withdraw_everywhere
from pages.shell.ledger.accounts import Account, account_in, ledger
from pages.shell.ledger.roles import person, role
from pages.shell.ledger.spent import spent_sentence
from pages.shell.private.data_in_use import escaped

LOG_IN = "Log in to see published releases. Only data owners and analysts see the ledger."
NO_AUTHLIB = "The log-in needs Authlib and HTTPX on the server: `pip install -c constraints.txt authlib httpx`."
NOTHING = "Nothing is published yet."
ROLE_WORDS = {Role.STEWARD: "data owner", Role.ANALYST: "analyst", None: "viewer"}
"""What a user's role is called on the screen."""


def login_page() -> None:
    """Draw the log-in button, or after it all published releases."""
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
    """Draw all published releases, and for analysts the budget spent."""
    accounts = [account_in(store, each) for each in store.dataset_ids()] if store else []
    if store is None or not sum(_show_published_of(store, each, analyst=role() is not None) for each in accounts):
        st.info(NOTHING)


def account_bar() -> None:
    """Draw the user's name and role, and the log-out button."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{escaped(person())}, {ROLE_WORDS[role()]}")
        st.button("Log out", on_click=_log_out, key="release_logout", type="tertiary")


def _log_out() -> None:
    """Callback: log out, and stop sharing this user's rows, in other tabs too."""
    withdraw_everywhere()
    st.logout()


def _show_published_of(store: Ledger, account: Account, *, analyst: bool) -> int:
    """Draw the published releases of a data set, and return their number."""
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
