"""A ledger is told when its steward may see true values, whatever they call the file; of strangers never."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dpcore.data.bundled import bundled
from dpcore.data.columns import Number
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.mechanisms import entry
from dpcore.queries.ranges import Cells
from dprelease.ledger import true_value_access
from dprelease.ledger.records import UNWRITABLE, LedgerError, Registration
from dprelease.ledger.store import Ledger
from dprelease.ledger.true_value_access import note_access
from dprelease.ledger.units import Price
from dprelease.requests.parts import Request, RequestPart
from pages.release import request
from pages.release.request import columns_from_rows, request_of
from pages.shell.ledger import access_records as shown
from pages.shell.ledger import spent
from pages.shell.ledger.roles import ADMITTED
from pages.shell.private.steward import fill_in
from pages.shell.releasable import OnPage
from tests.kit.ledgers import STEWARD, stored_release
from tests.kit.sources import own
from tests.pages.data.test_page import (
    OWN,
    at_files,
    give,
    grid_of,
    opened,
    press,
    source_of,
    steward,
    type_in,
    upload_of,
    use,
)
from tests.pages.drawn_charts import drawn
from tests.pages.opening import file_of, run_with, sound, visitor

CSV = "income\n" + "".join(f"{place % 97}\n" for place in range(300))
NOMINAL = 100
ON = Number(low=0, high=100, bits=3, missing=True)


def rows() -> Table:
    return read_table(CSV.encode(), name="incomes.csv", header=True)


def registered(folder: Path) -> Ledger:
    ledger = Ledger.open(folder)
    fixed = Registration(name="incomes", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=NOMINAL)
    ledger.register(fixed, rows(), Price.allowed(epsilon=5), STEWARD)
    return ledger


def next_body(ledger: Ledger) -> Mapping[str, Any]:
    """What the next release's certificate says."""
    (dataset_id,) = ledger.dataset_ids()
    reading = Columns(names=("income",), on=ON)
    draw, n = 1 + len(ledger.outcomes(dataset_id)), ledger.registration(dataset_id).public_n
    question = RequestPart(
        reading=reading, queries=Cells(domain=reading.domain), n=n, neighbours=Neighbours.ADD_REMOVE_ONE,
        entry_key="identity", values={"epsilon": 0.5},
    )  # fmt: skip
    request = Request(parts=(question,), draw=draw)
    stored = stored_release(ledger, dataset_id, request, rows(), STEWARD)
    return stored.body


def certified(ledger: Ledger) -> bool:
    """Whether it says that the steward saw true values."""
    told = next_body(ledger)["guarantee"]["steward_saw_true_values"]
    assert isinstance(told, bool)
    return told


def admitted() -> AppTest:
    """The steward, where a file is brought."""
    app = opened(way=OWN)
    return run_with(app, {ADMITTED: True})


def looking(app: AppTest | None = None) -> AppTest:
    """A session whose steward's switch is on and whose file is drawn: the steward's, unless it is said whose."""
    app = app or admitted()
    type_in(give(app, CSV, name="another name.csv"), income={"from": "0", "to": "100"})
    press(app, "Use this column")
    return steward(app, on=True)


def standing_in(app: AppTest, contents: str) -> AppTest:
    """A session that calls a file a public stand-in."""
    app.radio(key="whose").set_value("stand-in").run()
    return give(app, contents, name="stand-in.csv")


def stranger(who: str) -> AppTest:
    """Where a file is brought: somebody without a token; or where persons log in, a viewer, an analyst or nobody."""
    if who == "untokened":
        return opened(way=OWN)
    app = visitor("data/page.py")
    app.query_params["way"] = OWN
    app.secrets = {"auth": {"cookie_secret": "x"}, "roles": {"stewards": ["ada@example.org"], "analysts": ["analyst"]}}
    app.user = {"is_logged_in": bool(who)} | ({"email": who, "email_verified": True} if who else {})
    return sound(app.run())


@pytest.mark.parametrize("who", ["untokened", "viewer", "analyst", ""])
def test_no_certificate_tells_a_stranger_whether_a_file_is_that_of_the_registered_rows(
    no_ledger: Path, who: str
) -> None:
    """Else whoever knows all rows but one would find the last by halves, and no budget would be spent on it."""
    ledger, neighbour = registered(no_ledger), CSV.removesuffix("8\n") + "9\n"
    assert neighbour != CSV and len(neighbour) == len(CSV)
    bodies = []
    for contents in (CSV, neighbour):
        press(standing_in(stranger(who), contents), "Remove this file")
        bodies.append(next_body(ledger))
        assert not (no_ledger / true_value_access.FOLDER).exists(), "nor does a note brand the steward"
    for one in ("guarantee", "data", "tuning", "version", "by", "at"):
        seen = [dict(body[one]) if isinstance(body[one], dict) else body[one] for body in bodies]
        for each in seen:
            if one == "guarantee":
                each["whole_data_set"] = {**each["whole_data_set"], "spent": "as it is"}
            if one == "tuning":
                each.pop("charged_previews")
        assert seen[0] == seen[1]


def test_a_stranger_who_asks_for_the_steward_s_switch_is_not_matched_either(no_ledger: Path) -> None:
    ledger = registered(no_ledger)
    assert drawn(looking(stranger("untokened"))) and not certified(ledger)


def test_who_is_admitted_later_has_looked_before(no_ledger: Path) -> None:
    ledger = registered(no_ledger)
    app = press(looking(stranger("untokened")), "Remove this file")
    assert not certified(ledger)
    run_with(app, {ADMITTED: True})
    assert certified(ledger)


@pytest.mark.parametrize("private", [True, False])
def test_a_look_before_there_is_a_ledger_is_carried_by_what_is_registered_in_its_session(
    no_ledger: Path, private: bool
) -> None:
    """Look, forget, start a ledger, bring the file again and register it: as on a first day."""
    app = looking() if private else standing_in(admitted(), CSV)
    press(app, "Remove this file")
    Ledger.open(no_ledger)
    app.radio(key="whose").set_value("private").run()
    app = give(app, CSV)
    press(type_in(app, income={"from": "0", "to": "100"}), "Use this column")
    app.session_state["data"] = "my-file"
    app.switch_page("release/page.py")
    press(sound(app.run()), "Register")
    assert certified(Ledger(no_ledger))


def test_a_session_that_saw_nothing_brands_nobody(no_ledger: Path) -> None:
    app = press(type_in(give(admitted(), CSV), income={"from": "0", "to": "100"}), "Use this column")
    Ledger.open(no_ledger)
    app.session_state["data"] = "my-file"
    app.switch_page("release/page.py")
    press(sound(app.run()), "Register")
    assert not certified(Ledger(no_ledger))


def test_a_ledger_that_is_begun_anew_is_told_anew(no_ledger: Path) -> None:
    """Its key is another, and so are the digests of the same rows."""
    registered(no_ledger)
    app = looking()
    no_ledger.rename(no_ledger.with_name("gone"))
    Ledger.open(no_ledger)
    sound(app.run())
    assert certified(registered(no_ledger))


def test_a_look_is_known_though_the_file_is_forgotten_at_once(no_ledger: Path) -> None:
    ledger = registered(no_ledger)
    assert not certified(ledger), "nobody looked yet"
    app = looking()
    assert drawn(app)["file-summary_chart"]
    press(app, "Remove this file")
    assert certified(ledger)


def test_a_look_is_known_before_the_first_true_value_is_shown(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after the page: a run that is cut short has shown what it has shown."""
    ledger = registered(no_ledger)
    seen = list[bool]()
    monkeypatch.setattr("pages.data.summary._picture", lambda *_, **__: seen.append(certified(ledger)))
    looking()
    assert seen == [True]


@pytest.mark.full
def test_a_large_table_s_look_is_known(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = registered(no_ledger)
    monkeypatch.setattr(spent, "QUICK_ROWS", 10)
    looking()
    assert certified(ledger)


def test_rows_that_are_registered_after_the_look_carry_it(no_ledger: Path) -> None:
    Ledger.open(no_ledger)
    press(looking(), "Remove this file")
    assert certified(registered(no_ledger))


def test_the_same_rows_called_a_public_stand_in_are_looked_at_too(no_ledger: Path) -> None:
    ledger = registered(no_ledger)
    shuffled = "income\n" + "".join(reversed(CSV.splitlines(keepends=True)[1:]))
    press(standing_in(admitted(), shuffled), "Remove this file")
    assert certified(ledger)


def test_where_the_ledger_cannot_be_told_nothing_is_shown(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = registered(no_ledger)

    def full(*_: object) -> None:
        raise LedgerError(UNWRITABLE)

    monkeypatch.setattr(shown, "note_access", full)
    app = looking()
    assert not drawn(app) and any(each.value == shown.CANNOT for each in app.warning)
    monkeypatch.setattr(shown, "note_access", note_access)
    assert drawn(sound(app.run())) and not app.warning, "told with the next step"
    assert certified(ledger)


def test_a_note_is_told_apart_by_the_rows(tmp_path: Path) -> None:
    note_access(tmp_path, "a1")
    note_access(tmp_path, "a1")
    assert true_value_access.was_accessed(tmp_path, ["b2", "a1"]) and not true_value_access.was_accessed(
        tmp_path, ["b2"]
    )
    assert (tmp_path / true_value_access.FOLDER / "a1").stat().st_mode & 0o077 == 0


def test_a_note_is_on_the_disk_before_anything_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note, and the folder of notes in the ledger's."""
    kept, fsync = list[tuple[int, list[str]]](), os.fsync

    def noting(number: int) -> None:
        fsync(number)
        kept.append(
            (os.fstat(number).st_ino, sorted(each.name for each in (tmp_path / true_value_access.FOLDER).iterdir()))
        )

    monkeypatch.setattr(os, "fsync", noting)
    note_access(tmp_path, "a1")
    assert {(each.stat().st_ino, ("a1",)) for each in (tmp_path, tmp_path / true_value_access.FOLDER)} <= {
        (number, tuple(names)) for number, names in kept
    }


@pytest.mark.full
def test_bounds_read_off_a_stand_in_are_read_off_the_rows_that_are_registered(
    no_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = registered(no_ledger)
    app = use(press(give(at_files(public=True), CSV), "Fill in from the data"), "income")
    source = source_of(app)
    assert source.bounds_from_data
    (dataset_id,) = ledger.dataset_ids()
    monkeypatch.setattr("streamlit.session_state", {})
    assert request_of(source, ledger.registration(dataset_id)).parts[0].bounds_from_data
    assert grid_of(app, "income")["to"] == "96"


def test_a_kind_that_was_guessed_is_read_off_the_rows_until_somebody_says_it() -> None:
    """Yes/no needs no bound: the kind alone is the domain."""
    app = steward(give(opened(way=OWN), "smokes\n" + "yes\nno\n" * 20), on=True)
    app = use(press(app, "Fill in from the data"), "smokes")
    source = upload_of(app)
    assert grid_of(app, "smokes")["kind"] == "yes/no" and source is not None and source.bounds_from_data
    app = type_in(app, smokes={"kind": "number"})
    app = press(type_in(app, smokes={"kind": "yes/no"}), "Use this column")
    assert not source_of(app).bounds_from_data


def test_columns_that_were_filled_in_are_marked_in_a_plan_and_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a stand-in: of private rows, Plan takes no such column."""
    source = own(rows(), "income", on=ON, private=False)
    state: dict[str, object] = {"file": file_of(source, turn=5)}
    monkeypatch.setattr("streamlit.session_state", state)
    assert columns_from_rows(source) == set()
    fill_in({"declare-5-0-from": "0"}, usual={"declare-5-0-from": None}, private=False)
    assert columns_from_rows(source) == {"income"} and columns_from_rows(bundled("penguins", "species")) == set()
    # What Tables shows, whose columns are read anew.
    monkeypatch.setattr(request, "number", lambda *_, **__: 1.0)
    values, queries = {"epsilon": 1.0}, Cells(domain=source.domain)
    there = OnPage(place="Tables", source=source, queries=queries, entry=entry("identity"), values=values)
    registration = Registration(name="these", neighbours=Neighbours.REPLACE_ONE, public_n=4)
    assert [part.bounds_from_data for part in request_of(source, registration, there).parts] == [True]
