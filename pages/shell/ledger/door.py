"""The door to the ledger: a token that `run.py` makes and puts into the address it opens.

Other accounts of the machine can reach the app too. A session that came with the token is the data's steward.
"""

from __future__ import annotations

import getpass
import hmac
import os

import streamlit as st

from dpcore.ledger.records import Actor, Role
from pages.shell.doors import is_public_demo
from pages.shell.present import TOKEN

VARIABLE = "DPSCOPE_TOKEN"
"""Of the server's environment."""
ADMITTED, REFUSED = "steward_admitted", "steward_refused"
ADDRESS, TAB = "address", "tab"
"""Where a token came from: the address of the page, or what the tab kept of an earlier one."""
NO_TOKEN = (
    "This app was started without a steward's token. End it, and start it with `python3 run.py`. "
    "Everything but this page works without one."
)
DEMONSTRATION = "This is a public demonstration: it keeps no ledger. On your own machine the app does."
CLOSED = "The ledger opens for whoever comes by the address that `python3 run.py` printed when it started."
WRONG = "The token in that address is another's: `python3 run.py` prints a new one at each start."


def admit() -> None:
    """Called by the router alone, on every run: look at the token of an address, and take it out of there."""
    asked = st.query_params.get(TOKEN)
    if asked is None:
        return
    look_at(asked, came=ADDRESS)
    # The browser has taken it out by now, without leaving the address in its history; if not, it goes here.
    if st.session_state.get("token_seen"):
        del st.query_params[TOKEN]
    st.session_state["token_seen"] = True


def look_at(asked: str, *, came: str) -> None:
    """Admit whoever brings the token; ``came`` says where it was."""
    expected = "" if is_public_demo() else os.environ.get(VARIABLE, "")
    # A token is compared whole, however early it differs: how long that takes tells nothing of it.
    right = bool(expected) and hmac.compare_digest(asked.encode(), expected.encode())
    st.session_state[ADMITTED] = right or admitted()
    st.session_state[REFUSED] = "" if right else came


def admitted() -> bool:
    """Whether this session came with the token."""
    return bool(st.session_state.get(ADMITTED))


def refused() -> str:
    """Where the last token came from, if it is none of this server; empty otherwise."""
    return "" if admitted() else str(st.session_state.get(REFUSED, ""))


def why_closed() -> str:
    """Why the ledger stays closed for this session, and what opens it."""
    if is_public_demo():
        return DEMONSTRATION
    if not os.environ.get(VARIABLE):
        return NO_TOKEN
    return f"{WRONG if refused() else ''} {CLOSED}".strip()


def actor() -> Actor:
    """Who acts: the steward, by the name of the account that the app runs under."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        name = "somebody"
    return Actor(name=name, role=Role.STEWARD if admitted() else Role.ANALYST)
