"""Tables that an engine keeps: which ones the server's settings name, opening one, and counting what is declared."""

from __future__ import annotations

import dataclasses
import hashlib

import streamlit as st

from dpcore.core import DataError
from dpcore.data.declared import DeclaredTable
from dprelease.engines.configured import Offer, offers
from dprelease.engines.tables import EngineTable
from dpcore.data.sources import Uploaded
from pages.data.upload import HeldFile, hold
from pages.shell.doors import is_public_demo

WAY = "A database"
SECTION = "engines"
PROBLEM = "engine_problem"


def offered() -> dict[str, Offer]:
    """The tables that the server's settings name; none where it is a public demonstration."""
    if is_public_demo() or not st.secrets.load_if_toml_exists():
        return {}
    return offers(st.secrets.get(SECTION, {}))


def is_kept(held: HeldFile | None) -> bool:
    """Whether an engine keeps the rows that this session declares."""
    return held is not None and isinstance(held.table, EngineTable)


def choose_engine() -> None:
    """Choose a table by its name, and connect."""
    found = offered()
    key = st.selectbox("Table", list(found), format_func=lambda each: found[each].name, key="engine")
    st.caption("It stays where it is: of its rows only counts of the cells that you declare leave it.")
    if key in found and st.button("Open", key="engine_open"):
        problem = ""
        with st.spinner("Connecting."):
            try:
                table = found[key].open()
            except DataError as error:
                problem = str(error)
            else:
                hold(table, private=found[key].private, digest=f"engine-{key}")
        st.session_state[PROBLEM] = problem
        st.rerun()
    if st.session_state.get(PROBLEM):
        st.error(st.session_state[PROBLEM])


def named(origin: Uploaded, declared: DeclaredTable) -> Uploaded:
    """The origin under a name of its own for each declaration: another one is counted again."""
    if not isinstance(origin.table, EngineTable):
        return origin
    told = hashlib.sha256(repr(declared).encode()).hexdigest()
    return dataclasses.replace(origin, digest=f"{origin.digest}-{told}")


def counted(origin: Uploaded, declared: DeclaredTable) -> Uploaded:
    """What is put to use: of a file its rows, of an engine's table the counts of all declared columns, as they are now.

    Raises:
        DataError: one sentence; nothing of what the engine said is in it.
    """
    if not isinstance(origin.table, EngineTable):
        return origin
    return dataclasses.replace(named(origin, declared), table=origin.table.snapshot(declared))
