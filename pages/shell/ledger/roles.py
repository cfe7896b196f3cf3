"""Roles: the steward by the browser that `run.py` opened, or by a typed token; or users who log in.

Other accounts of the machine can reach the app too. A session of the browser that redeemed the code of `run.py`
(pages/shell/server/access.py), or in which the server's fixed token was typed, is the data steward's. Where
`secrets.toml` has a section [auth], users log in and neither counts; its section [roles] names stewards and analysts by
the e-mail addresses that their provider verified. Every other user who is logged in sees published releases only.
"""

from __future__ import annotations

import getpass
import hmac
import os

import streamlit as st

from dprelease.ledger.records import Actor, Role
from pages.shell.private.steward import BARRED
from pages.shell.server.access import STEWARD_KEYS, USER
from pages.shell.server.host_origin import is_public_demo
from pages.shell.state import SessionKey

VARIABLE = "DPSCOPE_TOKEN"
"""Variable of the server's environment with a fixed token, as an office has it."""
ADMITTED, REFUSED = SessionKey("steward_admitted", False), SessionKey("steward_refused", False)
"""Whether the session is the steward's; and whether the last token that was typed was wrong."""
TYPED = SessionKey("steward_token", "")
"""The field for the token."""
NO_TOKEN = (
    "This app was started without a code for the data owner. End it, and start it with `python3 run.py`, which opens "
    "the data owner's browser. The other pages open without a code."
)
DEMONSTRATION = "This is a public demonstration without a ledger. On your own machine the app has one."
ROLES = {"stewards": Role.STEWARD, "analysts": Role.ANALYST}
"""Keys in the section [roles]."""
UNVERIFIED = "unverified_addresses"
"""Key in that section: true where the provider verifies all addresses without saying so."""
CLOSED = (
    "The ledger opens in the browser that first opened the address printed by `python3 run.py`. The code "
    "in that address works once. For another browser, start the app again."
)
TYPE_TOKEN = "The ledger opens to the data owner: type the token that this server was started with."
WRONG = "This is not the server's token."


def admit() -> None:
    """Give the steward's browser the steward's rights; called by the router alone, on every run."""
    BARRED.value = has_login() and role() is not Role.STEWARD
    if not is_public_demo() and STEWARD_KEYS.know(str(st.user.to_dict().get(USER, ""))):
        ADMITTED.value = True


def fixed_token() -> str:
    """Return the token that an administrator gave this server; empty if none counts here."""
    return "" if is_public_demo() else os.environ.get(VARIABLE, "")


def draw_token_field() -> None:
    """Draw the field in which a server's fixed token is typed: it never stands in an address."""
    if fixed_token():
        st.text_input("Token", type="password", key=TYPED, on_change=compare_token)


def compare_token() -> None:
    """A callback: admit this session if the right token was typed, and empty the field."""
    token, expected = TYPED.value, fixed_token()
    TYPED.value = ""
    # The whole token is compared, however early it differs, so that the time reveals nothing about it.
    right = bool(expected) and hmac.compare_digest(token.encode(), expected.encode())
    ADMITTED.value = right or ADMITTED.value
    REFUSED.value = not right


def has_login() -> bool:
    """Return whether users log in here."""
    return not is_public_demo() and st.secrets.load_if_toml_exists() and "auth" in st.secrets


def person() -> str:
    """Return the verified e-mail address of the user who is logged in; empty if there is none.

    An address without the provider's word does not count: some providers let a user choose any, a steward's too.
    """
    claims = st.user.to_dict() if has_login() else {}
    trusted = st.secrets.get("roles", {}).get(UNVERIFIED) is True if has_login() else False
    verified = claims.get("is_logged_in") and claims.get("email_verified", trusted) is True
    return str(claims.get("email") or "").casefold() if verified else ""


def role() -> Role | None:
    """Return this session's role; None if it may see at most what is published."""
    if not has_login():
        return Role.STEWARD if ADMITTED.value else None
    return role_of(person())


def role_of(address: str) -> Role | None:
    """Return the role of an e-mail address by the secrets as they are now, where users log in."""
    addresses = st.secrets.get("roles", {})
    for name, its_role in ROLES.items():
        if address and address in {str(each).casefold() for each in addresses.get(name, [])}:
            return its_role
    return None


def admitted() -> bool:
    """Return whether this session is the steward's."""
    return role() is Role.STEWARD


def why_closed() -> str:
    """Return why the ledger stays closed for this session, and what opens it."""
    if is_public_demo():
        return DEMONSTRATION
    if fixed_token():
        return f"{WRONG if REFUSED.value else ''} {TYPE_TOKEN}".strip()
    return CLOSED if STEWARD_KEYS.has_code else NO_TOKEN


def actor() -> Actor:
    """Return the actor for the ledger: the e-mail address where users log in, else the account that runs the app."""
    if has_login():
        return Actor(name=person() or "somebody", role=role())
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        name = "somebody"
    return Actor(name=name, role=role())
