"""A Postgres of our own, and in it a database for each test, which its ledgers are in."""

from __future__ import annotations

import importlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dprelease.ledger.stores.selection import ADDRESS
from tests.dprelease.engines.values import running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of the database."""
    with running_postgres() as (address, _):
        yield address


@contextmanager
def new_database(server: str, *, template: str = "template1") -> Iterator[str]:
    """The address of a database that is there as long as it is needed."""
    name = f"t{secrets.token_hex(8)}"
    with importlib.import_module("psycopg").connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield server.replace("dbname=postgres", f"dbname={name}")
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def address(postgres: str) -> Iterator[str]:
    """Return the address of a new database."""
    with new_database(postgres) as address:
        yield address


@pytest.fixture(autouse=True)
def in_the_database(address: str, no_ledger: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the variable that the server's administrator sets."""
    monkeypatch.setenv(ADDRESS, address)
