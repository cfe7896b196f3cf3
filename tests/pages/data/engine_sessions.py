"""Sessions of different users on a server that has a private table in an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from dprelease.engines.embedded import Embedded
from pages.data.engines import WAY
from pages.data.upload import SessionFile
from pages.shell.ledger.roles import ADMITTED
from tests.pages.data.test_page import press
from tests.pages.opening import VIEWS, run_with, sound, visitor

SECRET, ROWS, COLUMN = "Rumpelstilzchen", 1237, "haemoglobin"
"""A value, the number of rows and a column's name: none of them is anywhere else."""
STRANGER, OUTSIDER, VIEWER = "no token", "nobody logged in", "viewer"
ANALYST, STEWARD, ADMITTED_STEWARD = "analyst", "steward", "steward by token"
ADDRESSES = {VIEWER: "eve@example.org", ANALYST: "grace@example.org", STEWARD: "ada@example.org", OUTSIDER: ""}
AUTH: dict[str, Any] = {
    "auth": {"cookie_secret": "x"},
    "roles": {"stewards": [ADDRESSES[STEWARD]], "analysts": [ADDRESSES[ANALYST]]},
}


def write_people(folder: Path) -> Path:
    """A folder of Parquet: a number, a name, and whether somebody smokes."""
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT (range % 100)::DOUBLE AS {COLUMN}, '{SECRET}' AS name, (range % 3 = 0)::INTEGER AS abstinent"
            f" FROM range({ROWS})) TO '{folder / 'people.parquet'}' (FORMAT parquet)"
        )
    return folder


def settings(folder: Path) -> dict[str, Any]:
    """The section of the server's secrets that names the table."""
    return {"census": {"kind": "duckdb", "path": str(folder), "title": "Ward nine"}}


def session_of(user: str, engines: dict[str, Any], page: str = "data/page.py") -> AppTest:
    """A user's new session at a page, before its first run."""
    app = visitor(page)
    app.secrets = {"engines": engines, **(AUTH if user in ADDRESSES else {})}
    if user in ADDRESSES:
        address = ADDRESSES[user]
        app.user = {"is_logged_in": bool(address)} | ({"email": address, "email_verified": True} if address else {})
    if user == ADMITTED_STEWARD:
        app.session_state[ADMITTED] = True
    return app


def at_the_database(user: str, engines: dict[str, Any]) -> AppTest:
    """A user's session where tables of engines are offered."""
    app = session_of(user, engines)
    return run_with(app, link={"way": WAY})


def in_use(user: str, engines: dict[str, Any]) -> AppTest:
    """The user has opened the table and put its number to use."""
    app = sound(at_the_database(user, engines).button(key="engine_open").click().run())
    held = app.session_state["file"]
    assert isinstance(held, SessionFile)
    for name, value in {"from": "0", "to": "100", "bins": 10}.items():
        app.session_state[f"{held.prefix}0-{name}"] = value
    app.session_state[f"{held.prefix}1-use"] = False
    return press(sound(app.run()), "Use this column")


def declared(app: AppTest) -> SessionFile:
    """What the session holds."""
    held = app.session_state["file"]
    assert isinstance(held, SessionFile)
    return held


def pages() -> list[str]:
    """Every page, by its file."""
    return [*VIEWS]


class Questions:
    """Counts what engines are asked to count."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        usual = Embedded.ask

        def ask(engine: Embedded, *what: Any, **more: Any) -> Any:
            self.count += 1
            return usual(engine, *what, **more)

        patch.setattr(Embedded, "ask", ask)
