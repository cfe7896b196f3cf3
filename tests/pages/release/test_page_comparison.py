"""A long look at all rows says how far it is, and ends when somebody wants it to, with nothing registered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from dpcore.data.reading.tables import Table, read_table
from dprelease.ledger.fingerprint import KEY_BYTES, fingerprint
from dprelease.ledger.store import Ledger
from pages.shell.ledger import reading_progress
from pages.shell.ledger.accounts import CACHED_ACCOUNT, HALTED, PRINTS
from pages.shell.ledger.reading_progress import READING, STOPPED, Watched
from pages.shell.ledger.spent import UNKNOWN
from tests.kit.ledgers import SPEND
from tests.pages.opening import as_steward, run_with, sound, visitor
from tests.pages.release.test_page_states import PAGE, came, press, registered, said, token

__all__ = ["token"]
ROWS = 3 * reading_progress.BLOCK
KEY = bytes(KEY_BYTES)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, str]]:
    """What bars of progress were told, of readings that are long from the first row on."""
    told: list[tuple[float, str]] = []
    monkeypatch.setattr(reading_progress, "SOON", 0.0)
    monkeypatch.setattr(reading_progress, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(DeltaGenerator, "progress", lambda _, share, text: told.append((share, text)))
    return told


@pytest.fixture(scope="module")
def table() -> Table:
    text = "age\n" + "".join(f"{place % 97}\n" for place in range(ROWS))
    return read_table(text.encode(), name="people.csv", header=True)


def test_rows_that_are_watched_are_the_same_rows(table: Table, bars: list[tuple[float, str]]) -> None:
    assert fingerprint(Watched(rows=table, count=ROWS), key=KEY) == fingerprint(table, key=KEY)
    assert [share for share, _ in bars] == [0.0, 0.33, 0.67], "in hundredths: a finer share tells the number of rows"
    assert all(READING in text and "Move any control" in text for _, text in bars)


def test_of_filled_cells_no_share_is_told(bars: list[tuple[float, str]]) -> None:
    told: list[str] = []
    rows = SimpleNamespace(columns=("age",), counts_name="missing table's counts", packed=lambda _: iter([b""] * ROWS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeltaGenerator, "markdown", lambda _, text: told.append(text))
        assert len(list(Watched(rows=rows, count=10 * ROWS).packed(("age",)))) == ROWS
    assert told and not bars and not any(letter.isdigit() for text in told for letter in text)


def test_the_line_on_top_follows_a_comparison_in_the_same_visit(no_ledger: Path) -> None:
    def at_numbers_made_up() -> AppTest:
        return run_with(as_steward(visitor(PAGE)), link={"data": "generated"})

    app = press(at_numbers_made_up(), "Register")
    press(press(app, "Test run, free"), SPEND)
    assert "Budget spent: **ε = 0**" not in said(at_numbers_made_up())


def test_what_is_known_is_not_halted(no_ledger: Path) -> None:
    app = registered()
    [app.session_state[HALTED]] = app.session_state[PRINTS]
    assert STOPPED not in said(sound(app.run()))


def test_rows_that_are_read_quickly_show_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(reading_progress, "SOON", 60.0)
    monkeypatch.setattr("streamlit.empty", shown)
    assert len(list(Watched(rows=table, count=ROWS).packed(("age",)))) == ROWS


def ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody moves a control while rows are read."""

    def packed(*_: Any) -> Iterator[bytes]:
        yield b""
        st.stop()

    monkeypatch.setattr(Watched, "packed", packed)


def button(app: AppTest, label: str) -> Any:
    return next(each for each in app.button if each.label == label)


def test_a_look_that_was_stopped_stays_so_until_somebody_goes_on(no_ledger: Path) -> None:
    app = registered()
    [name] = app.session_state[PRINTS]
    app.session_state[PRINTS], app.session_state[CACHED_ACCOUNT] = {}, None
    run_with(app, {HALTED: name})
    assert STOPPED in said(app) and UNKNOWN.strip() in said(app) and app.session_state[PRINTS] == {}
    assert not any(each.label in ("Register", "Test run, free") for each in app.button), (
        "nobody knows which state it is"
    )
    app = press(app, "Continue")
    assert STOPPED not in said(app) and button(app, "Test run, free")
    assert list(app.session_state[PRINTS]) == [name]


def test_a_registration_that_was_ended_while_rows_were_read_leaves_nothing(
    no_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = came()
    with monkeypatch.context() as patch:
        ends_at_once(patch)
        button(app, "Register").click()
        app.run()
    assert Ledger(no_ledger).dataset_ids() == []
    press(app, "Register")
    assert len(Ledger(no_ledger).dataset_ids()) == 1
