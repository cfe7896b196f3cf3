"""An engine's table on the Data page: chosen by its name, private as any other, counted once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.sources import Uploaded
from dprelease.engines.tables import Snapshot
from pages.data.engines import WAY
from pages.data.upload import SessionFile
from pages.shell.ledger.roles import ADMITTED
from tests.pages.data.test_page import everything
from tests.pages.opening import run_with, sound, visitor

SECRET = "Rumpelstilzchen"
ROWS = 1234


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """People with an income and a name."""
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT (range % 100)::DOUBLE AS income, '{SECRET}' AS name FROM range({ROWS}))"
            f" TO '{tmp_path / 'people.parquet'}' (FORMAT parquet)"
        )
    return tmp_path


def opened(engines: dict[str, Any]) -> AppTest:
    """The steward, where tables of engines are offered."""
    app = visitor("data/page.py")
    app.session_state[ADMITTED] = True
    app.secrets["engines"] = engines
    return run_with(app, link={"way": WAY})


def test_a_private_table_of_an_engine_is_declared_counted_and_not_shown(folder: Path) -> None:
    app = opened({"census": {"kind": "duckdb", "path": str(folder), "title": "The <b>census</b>"}})
    assert [box.options for box in app.selectbox if box.key == "engine"] == [["The _b_census_/b"]]
    assert str(folder) not in everything(app)
    sound(app.button(key="engine_open").click().run())
    held = app.session_state["file"]
    assert isinstance(held, SessionFile)
    assert held.private
    for name, value in {"from": "0", "to": "100", "bins": 10}.items():
        app.session_state[f"{held.prefix}0-{name}"] = value
    run_with(app, {f"{held.prefix}1-use": False})
    next(button for button in app.button if button.label == "Use this column").click()
    sound(app.run())
    source = app.session_state["upload"]
    assert isinstance(source.origin, Uploaded)
    assert isinstance(source.origin.table, Snapshot)
    assert source.dataset().n == ROWS
    page_text = everything(app)
    for hidden in (SECRET, f"{ROWS:,}", str(folder), "Fill in from the data"):
        assert hidden not in page_text
    assert "Loaded; no values are shown." in page_text
    run_with(app, {f"{held.prefix}0-bins": 20})
    assert "Use this column" in [button.label for button in app.button]  # other cells are counted anew
    next(button for button in app.button if button.label == "Remove this file").click()
    sound(app.run())
    assert "file" not in app.session_state
    assert "upload" not in app.session_state
    assert "engine" in [box.key for box in app.selectbox]


def test_text_declared_as_numbers_gets_one_sentence_on_the_page(folder: Path) -> None:
    app = opened({"census": {"kind": "duckdb", "path": str(folder)}})
    held = sound(app.button(key="engine_open").click().run()).session_state["file"]
    for name, value in {"0-use": False, "1-from": "0", "1-to": "100", "1-bins": 10}.items():
        app.session_state[f"{held.prefix}{name}"] = value
    next(button for button in sound(app.run()).button if button.label == "Use this column").click()
    sound(app.run())
    assert "“name” is declared as numbers, but in the engine" in everything(app)
    assert SECRET not in everything(app) and "upload" not in app.session_state


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ({"kind": "duckdb", "path": f"/nowhere/{SECRET}"}, "The engine could not answer."),
        ({"kind": "postgres", "address": f"host=127.0.0.1 port=1 password={SECRET}", "table": "t"}, ""),
        ({"kind": "duckdb", "path": SECRET, "seconds": "many"}, "The settings of this engine are wrong"),
    ],
)
def test_an_engine_that_cannot_be_opened_gets_one_sentence(section: dict[str, Any], sentence: str) -> None:
    app = opened({"census": section})
    sound(app.button(key="engine_open").click().run())
    assert len(app.error) == 1
    assert app.error[0].value.startswith(sentence)
    assert SECRET not in everything(app)


def test_no_engine_is_offered_where_none_is_named_or_in_a_demonstration(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert WAY not in everything(sound(visitor("data/page.py").run()))
    monkeypatch.setenv("DPSCOPE_PUBLIC_DEMO", "1")
    app = opened({"census": {"kind": "duckdb", "path": str(folder)}})
    assert WAY not in everything(app)
    assert "engine" not in [box.key for box in app.selectbox]
