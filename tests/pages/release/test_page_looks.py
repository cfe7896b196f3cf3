"""A ledger is told of whoever may see true values: whatever they call the file, however large, token or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dpcore.data.bundled import bundled
from dpcore.data.domains import Line
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.ledger import looks
from dpcore.ledger.looks import note_look
from dpcore.ledger.records import UNWRITABLE, LedgerError, Registration, Stored
from dpcore.ledger.store import Ledger
from dpcore.ledger.units import Price
from dpcore.queries.ranges import Cells
from dpcore.release import release
from dpcore.requests.single import Request
from pages.data.upload import HeldFile
from pages.release.asked import filled_in, request_of
from pages.shell.ledger import looks as shown
from pages.shell.ledger import odometer
from pages.shell.session import fill_in
from tests.kit.ledgers import STEWARD
from tests.kit.sources import own
from tests.pages.data.test_page import OWN, give, grid_of, opened, press, steward, type_in, upload_of, use
from tests.pages.drawn import drawn
from tests.pages.opening import sound

CSV = "income\n" + "".join(f"{place % 97}\n" for place in range(300))
NOMINAL = 100
ON = Line(low=0, high=100, bits=3, missing=True)


def rows() -> Table:
    return read_table(CSV.encode(), name="incomes.csv", header=True)


def registered(folder: Path) -> Ledger:
    ledger = Ledger.open(folder)
    fixed = Registration(name="incomes", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=NOMINAL)
    ledger.register(fixed, rows(), Price.allowed(epsilon=5), STEWARD)
    return ledger


def certified(ledger: Ledger) -> bool:
    """What the next release's certificate says: whether the steward saw true values."""
    (dataset_id,) = ledger.dataset_ids()
    reading = Columns(names=("income",), on=ON)
    draw = 1 + len(ledger.lines(dataset_id))
    request = Request(
        reading=reading, queries=Cells(domain=reading.domain), n=NOMINAL, neighbours=Neighbours.ADD_REMOVE_ONE,
        entry_key="identity", values={"epsilon": 0.5}, draw=draw,
    )  # fmt: skip
    stored = release(ledger, dataset_id, request, rows(), STEWARD)
    assert isinstance(stored, Stored)
    told = stored.body["guarantee"]["steward_saw_true_values"]
    assert isinstance(told, bool)
    return told


def looking() -> AppTest:
    """A session without a token, whose steward's switch is on and whose file is drawn."""
    app = opened(way=OWN)
    type_in(give(app, CSV, name="another name.csv"), income={"from": "0", "to": "100"})
    press(app, "Use this column")
    return steward(app, on=True)


def test_a_look_is_known_without_a_token_and_though_the_file_is_forgotten_at_once(no_ledger: Path) -> None:
    ledger = registered(no_ledger)
    assert not certified(ledger), "nobody looked yet"
    app = looking()
    assert drawn(app)["file-summary_chart"]
    press(app, "Forget this file")
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
    monkeypatch.setattr(odometer, "QUICK_ROWS", 10)
    looking()
    assert certified(ledger)


def test_rows_that_are_registered_after_the_look_carry_it(no_ledger: Path) -> None:
    Ledger.open(no_ledger)
    press(looking(), "Forget this file")
    assert certified(registered(no_ledger))


def test_the_same_rows_called_a_public_stand_in_are_looked_at_too(no_ledger: Path) -> None:
    ledger = registered(no_ledger)
    app = opened(way=OWN)
    app.radio(key="whose").set_value("stand-in").run()
    shuffled = "income\n" + "".join(reversed(CSV.splitlines(keepends=True)[1:]))
    give(app, shuffled, name="stand-in.csv")
    press(app, "Forget this file")
    assert certified(ledger)


def test_where_the_ledger_cannot_be_told_nothing_is_shown(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = registered(no_ledger)

    def full(*_: object) -> None:
        raise LedgerError(UNWRITABLE)

    monkeypatch.setattr(shown, "note_look", full)
    app = looking()
    assert not drawn(app) and any(each.value == shown.UNTOLD for each in app.warning)
    monkeypatch.setattr(shown, "note_look", note_look)
    assert drawn(sound(app.run())) and not app.warning, "it is told with the next step"
    assert certified(ledger)


def test_a_note_is_told_apart_by_the_rows(tmp_path: Path) -> None:
    note_look(tmp_path, "a1")
    note_look(tmp_path, "a1")
    assert looks.looked_at(tmp_path, ["b2", "a1"]) and not looks.looked_at(tmp_path, ["b2"])
    assert (tmp_path / looks.FOLDER / "a1").stat().st_mode & 0o077 == 0


@pytest.mark.full
def test_bounds_read_off_a_stand_in_are_read_off_the_rows_that_are_registered(
    no_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = registered(no_ledger)
    app = opened(way=OWN)
    app.radio(key="whose").set_value("stand-in").run()
    app = use(press(give(app, CSV), "Fill in from the data"), "income")
    source = upload_of(app)
    assert source is not None and source.bounds_from_data
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
    source = upload_of(app)
    assert source is not None and not source.bounds_from_data


def test_a_plan_of_columns_that_were_filled_in_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a stand-in: of private rows, Plan takes no such column."""
    source = own(rows(), "income", on=ON, private=False)
    state: dict[str, object] = {"file": HeldFile(origin=source.origin, turn=5)}  # type: ignore[arg-type]
    monkeypatch.setattr("streamlit.session_state", state)
    assert filled_in(source) == set()
    fill_in({"declare-5-0-from": "0"}, usual={"declare-5-0-from": None}, private=False)
    assert filled_in(source) == {"income"} and filled_in(bundled("penguins", "species")) == set()
