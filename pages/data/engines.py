"""Tables in a database: those in the server's settings, opening one, and counting its declared columns.

The server provides these rows, not the user. A private table is available to stewards and analysts only. For analysts
it is sealed: they see its columns, and none of its counts reaches their session.
"""

from __future__ import annotations

import dataclasses
import hashlib

import streamlit as st

from dpcore.core import DataError
from dpcore.data.declarations import DeclaredTable
from dpcore.data.sources import Source, Uploaded
from dprelease.engines.configuration import EngineConfiguration, read_configurations
from dprelease.engines.tables import EngineTable, Snapshot
from dprelease.ledger.records import Role
from pages.data.upload import SessionFile, forget_file, session_file, store_table
from pages.shell.ledger.roles import admitted, role
from pages.shell.server.host_origin import is_public_demo
from pages.shell.state import SessionKey

WAY = "A database"
SECTION = "engines"
PROBLEM, OPENED_AS = SessionKey("engine_problem", ""), SessionKey[Role | None]("engine_opened_as", None)
"""Error of the last attempt to open a table, and the user's role when the session's table was opened."""
NOT_OFFERED = "You have no access to a table of this name on this server."


def available_offers() -> dict[str, EngineConfiguration]:
    """Return the tables that this user may open: private ones only for stewards and analysts, none in a public demo."""
    if is_public_demo() or not st.secrets.load_if_toml_exists():
        return {}
    all_offers = read_configurations(st.secrets.get(SECTION, {}))
    return {key: offer for key, offer in all_offers.items() if not offer.private or role() is not None}


def open_offer(key: str) -> EngineTable:
    """Open a table that this user may open; a private one is sealed unless the user is its steward.

    Raises:
        DataError: this user may not open it, or the engine cannot; it quotes nothing from the engine.
    """
    offer = available_offers().get(key)
    if offer is None:
        raise DataError(NOT_OFFERED)
    return offer.open(sealed=offer.private and not admitted())


def withdraw_table() -> None:
    """Forget a private table that the user opened in another role; the router calls this before every page."""
    file, current_role = session_file(), role()
    if file is not None and file.origin.from_server and (current_role is None or OPENED_AS.value != current_role):
        forget_file()


def is_sealed(source: Source) -> bool:
    """Return True for columns of a table whose counts this user may not see."""
    origin = source.origin
    return isinstance(origin, Uploaded) and isinstance(origin.table, EngineTable | Snapshot) and origin.table.sealed


def is_engine_table(file: SessionFile | None) -> bool:
    """Return True if the session's rows are in a database."""
    return file is not None and isinstance(file.table, EngineTable)


def choose_engine() -> None:
    """Draw the controls that select and open a table."""
    available = available_offers()
    key = st.selectbox("Table", list(available), format_func=lambda each: available[each].name, key="engine")
    st.caption(
        "The table stays in its database. Only its number of rows and the counts of the declared cells leave it."
    )
    if key in available and st.button("Open", key="engine_open"):
        problem = ""
        with st.spinner("Connecting."):
            try:
                table = open_offer(key)
            except DataError as error:
                problem = str(error)
            else:
                store_table(table, private=available[key].private, digest=f"engine-{key}")
                OPENED_AS.value = role()
        PROBLEM.value = problem
        st.rerun()
    if PROBLEM.value:
        st.error(PROBLEM.value)


def with_declaration_digest(origin: Uploaded, declared: DeclaredTable) -> Uploaded:
    """Return the origin with a digest of the declaration: another declaration is counted again."""
    if not isinstance(origin.table, EngineTable):
        return origin
    declaration_digest = hashlib.sha256(repr(declared).encode()).hexdigest()
    return dataclasses.replace(origin, digest=f"{origin.digest}-{declaration_digest}")


def count_cells(origin: Uploaded, declared: DeclaredTable) -> Uploaded:
    """Return an origin to use: a file's rows, or the current counts of a database table's declared columns.

    Raises:
        DataError: one sentence that quotes nothing from the engine.
    """
    if not isinstance(origin.table, EngineTable):
        return origin
    return dataclasses.replace(with_declaration_digest(origin, declared), table=origin.table.snapshot(declared))
