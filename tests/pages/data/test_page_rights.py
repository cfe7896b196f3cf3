"""Rows that the server brings: who may open a private table of an engine, who sees its values, and what is recorded."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpcore.core import DataError, Neighbours
from dpcore.data.columns import Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Source, Uploaded
from dpcore.queries.ranges import Cells
from dprelease.engines.configuration import read_configurations
from dprelease.engines.tables import SEALED, Snapshot
from dprelease.ledger.fingerprint import key_of
from dprelease.ledger.records import Registration
from dprelease.ledger.store import Ledger
from dprelease.ledger.true_value_access import name_fingerprint, was_accessed
from dprelease.ledger.units import Price
from dprelease.requests.parts import Request, RequestPart
from pages.data.engines import NOT_OFFERED, OPENED_AS, open_offer
from pages.data.summary import DECLARED
from pages.data.upload import SessionFile
from pages.shell import status
from pages.shell.ledger.access_records import CANNOT, NO_LEDGER
from pages.shell.ledger.roles import ADMITTED
from tests.kit.chance.numbers import has_number
from tests.kit.ledgers import SPEND, stored_release
from tests.kit.ledgers import STEWARD as ADA
from tests.pages.data.engine_sessions import (
    ADMITTED_STEWARD,
    ANALYST,
    COLUMN,
    OUTSIDER,
    ROWS,
    SECRET,
    STEWARD,
    STRANGER,
    VIEWER,
    Questions,
    at_the_database,
    declared,
    in_use,
    pages,
    session_of,
    settings,
    write_people,
)
from tests.pages.data.test_page import everything, press
from tests.pages.drawn_charts import drawn
from tests.pages.opening import DIRECTIONS, sound, switch_page

ON = Number(low=0, high=100, bits=3, missing=True)
DECLARATION = DeclaredTable(columns=(DeclaredColumn(name=COLUMN, on=ON), DeclaredColumn(name="abstinent", on=ON)))
NOBODIES = (STRANGER, OUTSIDER, VIEWER)
STEWARDS = (STEWARD, ADMITTED_STEWARD)


@pytest.fixture
def engines(tmp_path: Path) -> dict[str, Any]:
    """The server's settings."""
    return settings(write_people(tmp_path))


class Secrets(dict[str, Any]):
    """The server's settings, outside of a page."""

    def load_if_toml_exists(self) -> bool:
        """They are there."""
        return True


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> Questions:
    """What the engine is asked to count."""
    return Questions(monkeypatch)


def with_planted_table(user: str, engines: dict[str, Any], page: str) -> AppTest:
    """A session that has the table open with counts, however it came by that, and asks for all that is in it."""
    table = read_configurations(engines)["census"].open(sealed=False)
    origin = Uploaded(table=table, private=True, digest="engine-census-0")
    held = SessionFile(origin=origin, turn=0)
    source = Source(origin=origin, reading=DECLARATION.reading(COLUMN))
    app = session_of(user, engines, page)
    state = {"file": held, "upload": source, "data": "my-file", "table": "my-file", "tables-of": "my-file"}
    state |= {"boxes-of": "my-file", "cube": "my-file", "vectors": "my-file", "lists-of": "my-file"}
    state |= {"steward_choice": True, f"{held.prefix}counted": True, "saw_true_values": True, "twin": True}
    for key, value in state.items():
        app.session_state[key] = value
    return app


def noted(folder: Path) -> bool:
    """Whether access to the table's true values is recorded beside the ledger."""
    return was_accessed(folder, [name_fingerprint("Ward nine", key=key_of(folder))])


def certified(folder: Path, engines: dict[str, Any]) -> bool:
    """What the certificate of the table's next release says of access to true values."""
    ledger = Ledger.open(folder)
    rows = read_configurations(engines)["census"].open(sealed=False).snapshot(DECLARATION)
    fixed = Registration(name="census", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=1000)
    dataset_id = ledger.register(fixed, rows, Price.allowed(epsilon=5), ADA).dataset_id
    question = RequestPart(
        reading=DECLARATION.reading(COLUMN), queries=Cells(domain=ON), n=1000, neighbours=Neighbours.ADD_REMOVE_ONE,
        entry_key="identity", values={"epsilon": 0.5},
    )  # fmt: skip
    stored = stored_release(ledger, dataset_id, Request(parts=(question,)), rows, ADA)
    return bool(stored.body["guarantee"]["steward_saw_true_values"])


@pytest.mark.parametrize("user", [*NOBODIES, ANALYST, *STEWARDS])
def test_a_private_table_is_offered_to_stewards_and_analysts_alone(engines: dict[str, Any], user: str) -> None:
    app = at_the_database(user, engines)
    boxes = [box.options for box in app.selectbox if box.key == "engine"]
    assert boxes == ([] if user in NOBODIES else [["Ward nine"]])
    assert ("Ward nine" in everything(app)) == (user not in NOBODIES)


def test_rows_that_the_server_calls_public_are_offered_to_everybody(engines: dict[str, Any], no_ledger: Path) -> None:
    both = {**engines, "towns": {**engines["census"], "title": "Towns", "private": False}}
    for user in (STRANGER, OUTSIDER):
        app = at_the_database(user, both)
        assert [box.options for box in app.selectbox if box.key == "engine"] == [["Towns"]]
    app = sound(app.button(key="engine_open").click().run())
    assert declared(app).table.row_count == ROWS and has_number(everything(app), ROWS)


@pytest.mark.parametrize("user", NOBODIES)
def test_what_opens_a_private_table_refuses_it(
    engines: dict[str, Any], questions: Questions, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    """The button was there a moment ago: the refusal is in the function that opens, not in what is drawn."""
    told = session_of(user, engines)
    monkeypatch.setattr("streamlit.secrets", Secrets(told.secrets))
    monkeypatch.setattr("streamlit.user", SimpleNamespace(to_dict=lambda: dict(told.user)))
    monkeypatch.setattr("streamlit.session_state", {})
    with pytest.raises(DataError, match=NOT_OFFERED):
        open_offer("census")
    assert questions.count == 0


def test_the_gates_themselves_refuse_who_is_not_admitted(
    engines: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were a session to keep the table, its figures and its number of rows stay closed; a user's own file is theirs."""
    table, file = (
        read_configurations(engines)["census"].open(sealed=False),
        read_table(b"income\n1\n2\n", name="incomes.csv"),
    )
    state: dict[str, Any] = {"steward_choice": True, "declare-4-counted": True}
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr("streamlit.query_params", {})
    monkeypatch.setattr(status, "_line", SimpleNamespace(get=lambda: st.empty()))
    for rows, admitted in ((table, False), (table, True), (file, False)):
        state[ADMITTED] = admitted
        origin = Uploaded(table=rows, private=True, digest="d")
        held = SessionFile(origin=origin, turn=4)
        open_to_user = admitted or not origin.from_server
        assert status.may_show(held) == held.counted == open_to_user


@pytest.mark.parametrize("user", NOBODIES)
@pytest.mark.parametrize("page", pages())
def test_on_no_page_has_a_user_without_a_role_anything_of_a_private_table(
    no_ledger: Path, engines: dict[str, Any], questions: Questions, user: str, page: str
) -> None:
    """With the switch on and the number of rows declared public, as a stranger could do it: it was once enough."""
    Ledger.open(no_ledger)
    app = with_planted_table(user, engines, page)
    before = questions.count
    app = sound(app.run())
    assert questions.count == before and "file" not in app.session_state and "upload" not in app.session_state
    for each in (COLUMN, "abstinent", SECRET, "Ward nine"):
        assert each not in everything(app), each
    assert not has_number(everything(app), ROWS)


@pytest.mark.parametrize("page", pages())
def test_an_analyst_sees_columns_and_no_count_on_any_page(
    no_ledger: Path, engines: dict[str, Any], questions: Questions, page: str
) -> None:
    Ledger.open(no_ledger)
    app = in_use(ANALYST, engines)
    held = declared(app)
    assert DECLARED in everything(app) and COLUMN in everything(app)
    assert "The number of rows is public" not in everything(app) and held.table.row_count == 0
    for key in ("data", "table", "tables-of", "boxes-of", "cube", "vectors", "lists-of"):
        app.session_state[key] = "my-file"
    app.session_state["steward_choice"] = app.session_state[f"{held.prefix}counted"] = True
    switch_page(app, page)
    app = sound(app.run())
    assert questions.count == 0, "the engine was asked to count something"
    assert not has_number(everything(app), ROWS) and "You see true values" not in everything(app)
    assert not noted(no_ledger)


def test_a_sealed_table_and_its_snapshot_refuse_every_count(engines: dict[str, Any], questions: Questions) -> None:
    table = read_configurations(engines)["census"].open(sealed=True)
    snapshot = table.snapshot(DECLARATION)
    assert table.columns == (COLUMN, "name", "abstinent") and snapshot.columns == (COLUMN, "abstinent")
    for rows in (table, snapshot):
        source = Source(origin=Uploaded(table=rows, private=True, digest="d"), reading=DECLARATION.reading(COLUMN))
        assert rows.row_count == 0
        for ask in (source.dataset, lambda: list(snapshot.packed((COLUMN,)))):
            with pytest.raises(DataError, match=SEALED):
                ask()
    assert questions.count == 0


@pytest.mark.parametrize("user", STEWARDS)
def test_a_steward_s_look_is_recorded_before_it_is_shown(
    no_ledger: Path, engines: dict[str, Any], monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    Ledger.open(no_ledger)
    app = in_use(user, engines)
    assert isinstance(app.session_state["upload"].origin.table, Snapshot)
    assert not has_number(everything(app), ROWS) and not drawn(app) and not noted(no_ledger)
    seen = list[bool]()
    monkeypatch.setattr("pages.data.summary._picture", lambda *_, **__: seen.append(noted(no_ledger)))
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert seen == [True] and certified(no_ledger, engines)


def test_a_steward_who_does_not_look_is_not_said_to_have(no_ledger: Path, engines: dict[str, Any]) -> None:
    Ledger.open(no_ledger)
    in_use(ADMITTED_STEWARD, engines)
    assert not certified(no_ledger, engines)


@pytest.mark.parametrize("page", ["tables/page.py", DIRECTIONS])
def test_a_look_at_the_engine_s_own_table_is_recorded_on_pages_that_read_it_themselves(
    no_ledger: Path, engines: dict[str, Any], page: str
) -> None:
    """Tables and Directions read columns that Data does not count: nothing is in use there."""
    Ledger.open(no_ledger)
    app = sound(at_the_database(ADMITTED_STEWARD, engines).button(key="engine_open").click().run())
    sound(app.toggle(key="steward_choice").set_value(True).run())
    switch_page(app, page)
    sound(app.run())
    assert noted(no_ledger)


@pytest.mark.parametrize("page", pages())
def test_on_every_page_a_steward_s_look_has_a_record_or_is_none(
    no_ledger: Path, engines: dict[str, Any], page: str
) -> None:
    app = in_use(ADMITTED_STEWARD, engines)
    for key in ("data", "table", "tables-of", "boxes-of", "cube", "vectors", "lists-of"):
        app.session_state[key] = "my-file"
    app.session_state["steward_choice"] = app.session_state[f"{declared(app).prefix}counted"] = True
    switch_page(app, page)
    app = sound(app.run())
    assert not has_number(everything(app), ROWS) and "You see true values" not in everything(app)
    Ledger.open(no_ledger)
    app = sound(app.run())
    assert noted(no_ledger) and NO_LEDGER not in everything(app)


@pytest.mark.parametrize("user", STEWARDS)
def test_the_number_of_rows_is_a_steward_s_to_declare_and_its_look_is_recorded(
    no_ledger: Path, engines: dict[str, Any], user: str
) -> None:
    Ledger.open(no_ledger)
    app = sound(at_the_database(user, engines).button(key="engine_open").click().run())
    assert not has_number(everything(app), ROWS) and not noted(no_ledger)
    sound(next(each for each in app.checkbox if each.label == "The number of rows is public").set_value(True).run())
    assert has_number(everything(app), ROWS) and certified(no_ledger, engines)


@pytest.mark.parametrize("how", ["switch", "number"])
def test_without_a_ledger_to_record_it_nothing_is_shown(no_ledger: Path, engines: dict[str, Any], how: str) -> None:
    app = in_use(ADMITTED_STEWARD, engines)
    if how == "switch":
        app.toggle(key="steward_choice").set_value(True)
    else:
        next(each for each in app.checkbox if each.label == "The number of rows is public").set_value(True)
    app = sound(app.run())
    assert not drawn(app) and not has_number(everything(app), ROWS)
    assert [each.value for each in app.warning] == [NO_LEDGER]
    Ledger.open(no_ledger)
    app = sound(app.run())
    assert bool(drawn(app)) == (how == "switch") and has_number(everything(app), ROWS) and noted(no_ledger)


def test_where_it_cannot_be_recorded_nothing_is_shown(no_ledger: Path, engines: dict[str, Any]) -> None:
    Ledger.open(no_ledger)
    app = in_use(ADMITTED_STEWARD, engines)
    no_ledger.chmod(0o755)
    next(each for each in app.checkbox if each.label == "The number of rows is public").set_value(True)
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert not drawn(app) and not has_number(everything(app), ROWS)
    assert [each.value for each in app.warning] == [CANNOT]


def test_a_table_goes_with_the_role_that_opened_it(no_ledger: Path, engines: dict[str, Any]) -> None:
    Ledger.open(no_ledger)
    app = in_use(STEWARD, engines)
    assert app.session_state[OPENED_AS] == "steward"
    app.secrets["roles"] = {"stewards": [], "analysts": ["ada@example.org"]}
    app = sound(app.run())
    assert "file" not in app.session_state and "upload" not in app.session_state
    assert COLUMN not in everything(app) and "Ward nine" in everything(app)
    app.secrets["roles"] = {}
    assert "Ward nine" not in everything(sound(app.run()))


def test_an_analyst_releases_from_the_counts_that_a_steward_opened(no_ledger: Path, engines: dict[str, Any]) -> None:
    """What the analyst declares has no counts; the steward's snapshot has."""
    Ledger.open(no_ledger)
    steward = in_use(STEWARD, engines)
    steward.session_state["data"] = "my-file"
    steward.switch_page("release/page.py")
    steward = press(sound(steward.run()), "Register")
    press(steward, "Let analysts release from these rows")
    analyst = in_use(ANALYST, engines)
    analyst.session_state["data"] = "my-file"
    analyst.switch_page("release/page.py")
    analyst = press(sound(analyst.run()), "Test run, free")
    sound(next(each for each in analyst.button if each.label.startswith(SPEND)).click().run())
    ledger = Ledger(no_ledger)
    (dataset_id,) = ledger.dataset_ids()
    for _ in range(20):
        if ledger.stored(dataset_id):
            break
        analyst = sound(analyst.run())
    (stored,) = ledger.stored(dataset_id)
    assert stored.body["by"] == "grace@example.org" and not has_number(everything(analyst), ROWS)
    assert not stored.body["guarantee"]["steward_saw_true_values"]
    assert declared(steward).table.row_count == ROWS  # the rows are open as long as the steward's session lasts
