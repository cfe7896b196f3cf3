"""The door to the ledger: the browser that `run.py` opened, or a token that is typed; or a log-in, with roles.

Other accounts of the machine can reach the app too. A session of the browser that redeemed the code of `run.py`
(pages/shell/server/access.py), or in which the server's fixed token was typed, is the data steward's. Where
`secrets.toml` has a section [auth], persons log in and neither counts; its section [roles] names stewards and analysts
by the e-mail addresses that their provider verified, and whoever else is logged in sees what is published.
"""

from __future__ import annotations

import getpass
import hmac
import os

import streamlit as st

from dprelease.ledger.records import Actor, Role
from pages.shell.server.access import STEWARD_KEYS, USER
from pages.shell.server.host_origin import is_public_demo
from pages.shell.state import SessionKey
from pages.shell.steward import BARRED

VARIABLE = "DPSCOPE_TOKEN"
"""Of the server's environment: a fixed token, as an office has it."""
ADMITTED, REFUSED = SessionKey("steward_admitted", False), SessionKey("steward_refused", False)
"""Whether the session is the steward's; and whether the last token that was typed was wrong."""
TYPED = SessionKey("steward_token", "")
"""The field for the token."""
NO_TOKEN = (
    "This app was started without a steward. End it, and start it with `python3 run.py`, which opens the steward's "
    "browser. The other pages open without one."
)
DEMONSTRATION = "This is a public demonstration: it keeps no ledger. On your own machine the app does."
ROLES = {"stewards": Role.STEWARD, "analysts": Role.ANALYST}
"""In the section [roles]."""
UNVERIFIED = "unverified_addresses"
"""In that section: true where the provider does not say which addresses it verified, and lets nobody choose one."""
CLOSED = (
    "The ledger opens in the browser that first opened the address printed by `python3 run.py`: the code in it works "
    "once. For another browser, start the app again."
)
TYPE_TOKEN = "The ledger opens to the steward: type the token that this server was started with."
WRONG = "That is not this server's token."


def admit() -> None:
    """Called by the router alone, on every run: give the steward's browser the steward's rights."""
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
        return Role.STEWARD if ADMITTED.value else None
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


def why_closed() -> str:
    """Why the ledger stays closed for this session, and what opens it."""
    if is_public_demo():
        return DEMONSTRATION
    if fixed_token():
        return f"{WRONG if REFUSED.value else ''} {TYPE_TOKEN}".strip()
    return CLOSED if STEWARD_KEYS.has_code else NO_TOKEN


def actor() -> Actor:
    """Who acts: by e-mail address where persons log in, else by the name of the account that the app runs under."""
    if has_login():
        return Actor(name=person() or "somebody", role=role())
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        name = "somebody"
    return Actor(name=name, role=role())
