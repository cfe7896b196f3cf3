"""Draws and the tables they read: forgotten, closed from outside, asked for twice, and who may ask at all."""

from __future__ import annotations

import time
from concurrent.futures import Future
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dpcore.data.columns import Number
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Cells
from dprelease.ledger.connection import PATIENCE
from dprelease.ledger.records import DIED, RAISED, Failed, Refused, Registration, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import SAW_TRUE_VALUES, release
from pages.data import upload
from pages.release import worker
from pages.release.draw import ANOTHER
from pages.shell import session
from pages.shell.ledger.accounts import account_in
from pages.shell.ledger.roles import ADMITTED, TYPE_TOKEN
from pages.shell.ledger.spent import record_true_values_shown
from pages.shell.server import streamlit_internals
from tests.kit.ledgers import SPEND, STEWARD, request_of
from tests.kit.sources import own
from tests.pages.opening import file_of, sound
from tests.pages.release.test_page_states import press, registered, said, the, token

__all__ = ["token"]
WAITS = 0.7 * PATIENCE
"""Seconds in which nobody has waited for whoever draws, however busy the machine is."""
ON = Number(low=0, high=100, bits=3, missing=True)
REQUEST = request_of(
    reading=Columns(names=("age",), on=ON), queries=Cells(domain=ON), n=50, neighbours=Neighbours.ADD_REMOVE_ONE,
    entry_key="identity", values={"epsilon": 1.0},
)  # fmt: skip


def people() -> Table:
    return read_table(("age\n" + "".join(f"{age}\n" for age in range(60))).encode(), name="people.csv", header=True)


def held(folder: Path, rows: Table) -> tuple[Ledger, str]:
    ledger = Ledger.open(folder)
    fixed = Registration(name="people", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=50)
    return ledger, ledger.register(fixed, rows, Price.allowed(epsilon=3), STEWARD).dataset_id


def test_a_file_that_is_forgotten_while_it_is_drawn_from_goes_after_the_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, begun, gate = people(), Event(), Event()
    ledger, dataset_id = held(tmp_path / "ledger", rows)
    source = own(rows, "age", on=ON, private=True)
    state: dict[str, Any] = {"file": file_of(source, turn=1)}
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda: SimpleNamespace(session_id="tab"))

    def held_up(*parts: Any) -> Any:
        begun.set()
        gate.wait(30)
        return release(*parts)

    monkeypatch.setattr(worker, "release", held_up)
    first = worker.submit(ledger, dataset_id, REQUEST, rows, STEWARD)
    session.wait_for(first)
    session.wait_for(done := Future[None]())  # another that is over does not end the wait
    done.set_result(None)
    assert begun.wait(30)
    upload._drop_file()
    assert "file" not in state, "the session lets go at once"
    gate.set()
    assert isinstance(first.result(30), Stored)
    end = time.monotonic() + 30
    while not rows.closed and time.monotonic() < end:
        time.sleep(0.01)
    assert rows.closed, "and then the records go"
    again = people()
    state["file"] = file_of(own(again, "age", on=ON, private=True), turn=2)
    upload._drop_file()
    assert again.closed, "where nothing is drawn they go at once"


def test_a_table_closed_from_outside_leaves_an_attempt_and_no_failure_of_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the process is told to end: the steward may then say that the machine failed."""
    rows = people()
    ledger, dataset_id = held(tmp_path / "ledger", rows)

    def ended(*_: Any) -> Any:
        rows.forget()
        return rows.numbers("age")

    with monkeypatch.context() as patch:
        patch.setattr("dprelease.release._dataset", ended)
        outcome = release(ledger, dataset_id, REQUEST, rows, STEWARD)
    assert isinstance(outcome, Failed) and outcome.sentence == DIED != RAISED
    [attempt] = ledger.account(dataset_id).begun
    assert ledger.account(dataset_id).spent.document["epsilon"] == "1" and not ledger.outcomes(dataset_id)
    ledger.machine_failed(dataset_id, attempt.number, STEWARD)
    assert ledger.account(dataset_id).spent.document["epsilon"] == "0"
    assert isinstance(release(ledger, dataset_id, REQUEST, people(), STEWARD), Stored)


def test_a_draw_that_is_over_does_not_end_a_newer_one_of_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    over, newer = Future[Any](), Future[Any]()
    key = ("dataset", REQUEST.digest)
    monkeypatch.setitem(worker._under_way, key, newer)
    worker._remove(key, over)
    assert worker.under_way("dataset", REQUEST) is newer
    worker._remove(key, newer)
    assert worker.under_way("dataset", REQUEST) is None and not worker.busy("dataset")


def test_what_goes_wrong_before_anything_is_charged_is_not_said_to_be_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people()
    ledger, dataset_id = held(tmp_path / "ledger", rows)

    def without_memory(*_: Any) -> Any:
        raise MemoryError("41")

    monkeypatch.setattr(Ledger, "version_of", without_memory)
    came = worker.submit(ledger, dataset_id, REQUEST, rows, STEWARD).result(30)
    assert came == Refused(sentence=worker.NOT_BEGUN) and not ledger.account(dataset_id).spent


def test_pages_do_not_wait_for_whoever_draws(no_ledger: Path) -> None:
    app = press(press(registered(), "Test run, free"), SPEND)
    ledger, dataset_id = the(no_ledger)
    with ledger.turn(dataset_id), ledger.drawing(dataset_id):
        start = time.monotonic()
        sound(next(each for each in app.button if each.label == "Publish, free").click().run())
        assert time.monotonic() - start < WAITS
        assert [each.value for each in app.error] == ["Another release is running. Nothing was charged."]
    assert "Published." in said(press(app, "Publish, free"))


@pytest.mark.full
def test_a_new_version_does_not_wait_for_whoever_draws(no_ledger: Path) -> None:
    app = registered()
    ledger, dataset_id = the(no_ledger)
    sound(app.selectbox(key="data").set_value("pets.species").run())
    sound(next(each for each in app.radio if "same people" in each.label).set_value(dataset_id).run())
    with ledger.turn(dataset_id), ledger.drawing(dataset_id):
        start = time.monotonic()
        app = press(app, "Register")
        assert time.monotonic() - start < WAITS and len(ledger.fingerprints(dataset_id)) == 1
    press(app, "Register")
    assert len(ledger.fingerprints(dataset_id)) == 2


def test_a_look_while_somebody_draws_is_told_the_file_later(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = people()
    ledger, dataset_id = held(no_ledger, rows)
    state: dict[str, Any] = {"saw_true_values": True, ADMITTED: True}
    monkeypatch.setattr("streamlit.session_state", state)
    source, told = own(rows, "age", on=ON, private=True), list[tuple[str, str]]()
    monkeypatch.setattr(Ledger, "record_access", noting(Ledger.record_access, told))
    with ledger.turn(dataset_id), ledger.drawing(dataset_id):
        start = time.monotonic()
        record_true_values_shown(account_in(ledger, dataset_id), source)
        assert time.monotonic() - start < WAITS and not told
    record_true_values_shown(account_in(ledger, dataset_id), source)
    record_true_values_shown(account_in(ledger, dataset_id), source)
    assert told == [(dataset_id, SAW_TRUE_VALUES)]


def noting(then: Any, told: list[tuple[str, str]]) -> Any:
    """Writes down what a ledger was told once it is."""

    def tell(ledger: Ledger, dataset_id: str, what: str, *parts: Any, **named: Any) -> None:
        then(ledger, dataset_id, what, *parts, **named)
        told.append((dataset_id, what))

    return tell


def test_a_press_of_somebody_who_is_not_admitted_draws_nothing(no_ledger: Path) -> None:
    app = press(registered(), "Test run, free")
    app.session_state[ADMITTED], app.user = False, {}
    sound(next(each for each in app.button if each.label.startswith(SPEND)).click().run())
    ledger, dataset_id = the(no_ledger)
    assert ANOTHER in said(app) and TYPE_TOKEN in said(app)
    assert not ledger.outcomes(dataset_id) and not ledger.account(dataset_id).begun


def test_where_the_ledger_is_lost_while_another_draws_there_is_a_sentence() -> None:
    def script() -> None:
        from pathlib import Path

        from dprelease.ledger.store import Ledger
        from pages.release.draw import waiting_for_another

        waiting_for_another(Ledger(Path("nowhere")), "0" * 32)

    app = sound(AppTest.from_function(script).run())
    assert [each.value for each in app.error] == ["This ledger holds no such data set."]


def test_what_ended_while_the_page_was_made_did_not_die(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw of another process, between the look at the account and the words about it."""
    app = press(registered(), "Test run, free")
    ledger, dataset_id = the(no_ledger)
    ledger.begin(dataset_id, {"format": "of another process"}, Price(epsilon_or_rho=10**9), STEWARD)
    looks = list[int]()

    def ends_now(of: str) -> bool:
        looks.append(len(looks))
        if len(looks) == 1:
            ledger.book_dead_attempts(of)
        return False

    monkeypatch.setattr("pages.release.view.busy", ends_now)
    app = sound(app.run())
    assert looks and "did not finish" not in said(app)
    assert not any(each.label.startswith("Machine failure: remove the charge") for each in app.button)
