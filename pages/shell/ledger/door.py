"""The door to the ledger: a token that `run.py` makes and puts into the address it opens; or a log-in, with roles.

Other accounts of the machine can reach the app too. A session that came with the token is the data's steward. Where
`secrets.toml` has a section [auth], persons log in and no token counts; its section [roles] names stewards and analysts
by the e-mail addresses that their provider verified, and whoever else is logged in sees what is published.
"""

from __future__ import annotations

import getpass
import hmac
import os

import streamlit as st

from dprelease.ledger.records import Actor, Role
from pages.shell.doors import is_public_demo
from pages.shell.present import TOKEN
from pages.shell.session import BARRED

VARIABLE = "DPSCOPE_TOKEN"
"""Of the server's environment."""
ADMITTED, REFUSED = "steward_admitted", "steward_refused"
ADDRESS, TAB = "address", "tab"
"""Where a token came from: the address of the page, or what the tab kept of an earlier one."""
NO_TOKEN = (
    "This app was started without a steward's token. End it, and start it with `python3 run.py`, which makes one. "
    "Everything but this page works without one."
)
DEMONSTRATION = "This is a public demonstration: it keeps no ledger. On your own machine the app does."
ROLES = {"stewards": Role.STEWARD, "analysts": Role.ANALYST}
"""In the section [roles]."""
UNVERIFIED = "unverified_addresses"
"""In that section: true where the provider does not say which addresses it verified, and lets nobody choose one."""
CLOSED = "The ledger opens for whoever comes by the address that `python3 run.py` printed when it started."
WRONG = "The token in that address is another's: `python3 run.py` prints a new one at each start."


def admit() -> None:
    """Called by the router alone, on every run: look at the token of an address, and take it out of there."""
    st.session_state[BARRED] = has_login() and role() is not Role.STEWARD
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
    st.session_state[ADMITTED] = right or bool(st.session_state.get(ADMITTED))
    st.session_state[REFUSED] = "" if right else came


def has_login() -> bool:
    """Whether persons log in here."""
    return not is_public_demo() and st.secrets.load_if_toml_exists() and "auth" in st.secrets


def person() -> str:
    """The e-mail address of whoever is logged in; empty if nobody is, or unless the provider says it is verified.

    Some providers say nothing of that and let everybody choose an address, a steward's too.
    """
    told = st.user.to_dict() if has_login() else {}
    trusted = st.secrets.get("roles", {}).get(UNVERIFIED) is True if has_login() else False
    known = told.get("is_logged_in") and told.get("email_verified", trusted) is True
    return str(told.get("email") or "").casefold() if known else ""


def role() -> Role | None:
    """What this session may do; None where it may only see what is published, or nothing."""
    if not has_login():
        return Role.STEWARD if st.session_state.get(ADMITTED) else None
    return role_of(person())


def role_of(who: str) -> Role | None:
    """What the secrets let an address do now, where persons log in."""
    named = st.secrets.get("roles", {})
    for name, found in ROLES.items():
        if who and who in {str(each).casefold() for each in named.get(name, [])}:
            return found
    return None


def admitted() -> bool:
    """Whether this session is the data's steward's."""
    return role() is Role.STEWARD


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
    """Who acts: by e-mail address where persons log in, else by the name of the account that the app runs under."""
    if has_login():
        return Actor(name=person() or "somebody", role=role())
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        name = "somebody"
    return Actor(name=name, role=role())
