"""Before a charge the page says how the file was read and what does not fit; its owner may have the cells counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable, Unfit, unfit_cells
from dpcore.data.product import Product
from dpcore.data.reading.format import Format
from dpcore.data.reading.guesses import PRIVATE_DECIMAL
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dprelease.ledger import true_value_access
from dprelease.ledger.records import UNWRITABLE, LedgerError, Registration
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.release import OTHER_FORMAT
from pages.data import fit_check
from pages.data.fit_check import COUNT, HELP, MAX_COLUMNS, NO_DATE_ORDER, NOT_FITTING, NOTED, offer_unfit_count
from pages.shell.ledger import access_records as shown
from pages.shell.ledger.roles import ADMITTED
from pages.shell.private.data_in_use import escaped
from pages.shell.private.steward import FIT_ASKED
from tests import ROOT
from tests.kit.ledgers import SPEND, SPEND_OFF, STEWARD
from tests.kit.sources import own
from tests.pages.opening import run_with, sound, visitor
from tests.pages.release.test_page_states import PAGE, press, said, token

__all__ = ["token"]
FIELD = ROOT / "tests" / "kit" / "field" / "F02_semicolon_decimal_comma.csv"
ROWS = 300
NONE_FITS = "`Bundesland`: none of 300 cells fits its declaration. A release of it would be only noise."


def wages() -> Table:
    return read_table(FIELD.read_bytes(), name="wages.csv", header=True, ask=True)


def before_the_charge(
    folder: Path, *, private: bool = True, column: str = "Bundesland", public_n: int = ROWS
) -> AppTest:
    """The steward, whose table is registered, and declared wrongly: a name as a number."""
    table = wages()
    fixed = Registration(name="wages", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=public_n)
    Ledger.open(folder).register(fixed, table, Price.allowed(epsilon=5), STEWARD)
    app = visitor(PAGE)
    app.session_state[ADMITTED] = True
    app.session_state["upload"] = own(table, column, on=Number(high=100, bins=10, missing=True), private=private)
    app.session_state["data"] = "my-file"
    return sound(app.run())


def noted(folder: Path) -> bool:
    return any((folder / true_value_access.FOLDER).glob("*")) if (folder / true_value_access.FOLDER).exists() else False


def test_the_format_and_what_does_not_fit_stand_before_the_charge_and_tell_no_value(no_ledger: Path) -> None:
    app = before_the_charge(no_ledger)
    read = "fields between semicolons, first row of names, decimal sign “,”, dates as 2024-02-29."
    zone = "A time with a UTC offset counts on its UTC day. Empty cells count as missing."
    for told in (escaped(read), escaped(zone), NOT_FITTING):
        assert told in said(app)
    assert not noted(no_ledger) and "none of" not in said(app) and "Bayern" not in said(app)
    assert f"of {ROWS}" not in said(app)


def test_settings_that_nobody_chose_stand_before_the_charge(no_ledger: Path) -> None:
    """The decimal sign and, where a date is released, the order of dates: with a wrong one all cells are missing."""
    app = before_the_charge(no_ledger, column="Lohn")
    assert [each.value for each in app.info] == [PRIVATE_DECIMAL[","]]
    app.session_state["upload"] = own(wages(), "Alter", on=Dates(), private=True)
    assert [each.value for each in sound(app.run()).info] == [PRIVATE_DECIMAL[","], NO_DATE_ORDER]
    chosen = wages().with_format(Format(decimal=",", date_order="day first"))
    app.session_state["upload"] = own(chosen, "Alter", on=Dates(), private=True)
    assert not sound(app.run()).info


def test_a_release_of_the_page_says_in_its_certificate_how_the_file_was_read(no_ledger: Path) -> None:
    app = press(press(before_the_charge(no_ledger, column="Lohn"), "Test run, free"), SPEND)
    (stored,) = Ledger(no_ledger).stored(*Ledger(no_ledger).dataset_ids())
    settings = {"type": "Format", "separator": ";", "decimal": ","}
    assert stored.body["request"]["data"]["file_format"] == settings and "Entry 1" in said(app)


def test_an_opened_plan_of_a_file_that_is_read_otherwise_is_not_released(no_ledger: Path) -> None:
    app = before_the_charge(no_ledger, column="Lohn")
    table = DeclaredTable(columns=(DeclaredColumn(name="Lohn", on=Number(high=2000, bins=10, missing=True)),))
    question = PlannedQuestion(columns=("Lohn",), queries="cells", entry_key="identity", epsilon=0.5)
    for settings in (Format(decimal="."), Format(separator=";", decimal=",")):  # the first is the usual one
        plan = Plan(table=table, n=ROWS, questions=(question,), file_format=settings)
        app.session_state["plan_shown"], app.session_state["shown_last"] = ("plan-file", plan), "plan"
        assert "Test run, free" in [each.label for each in sound(app.run()).button]
    plan = Plan(table=table, n=ROWS, questions=(question,), file_format=Format(separator=";", decimal="."))
    app.session_state["plan_shown"] = ("plan-file", plan)
    assert OTHER_FORMAT.format(setting="decimal sign") in [each.value for each in sound(app.run()).warning]
    assert next(each for each in app.button if each.label == SPEND_OFF).disabled


def test_the_owner_has_the_cells_counted_and_that_is_noted_first(no_ledger: Path) -> None:
    app = press(before_the_charge(no_ledger), COUNT)
    assert noted(no_ledger), "records this access to true values"
    assert NONE_FITS in [each.value for each in app.warning] and "not protected" in said(app)
    assert COUNT not in [each.label for each in app.button]
    (dataset_id,) = Ledger(no_ledger).dataset_ids()
    assert not Ledger(no_ledger).outcomes(dataset_id), "nothing is charged"


@pytest.mark.parametrize("public_n", [10_000, 400])
def test_an_n_far_from_the_number_of_rows_is_said_to_the_owner_alone(public_n: int, no_ledger: Path) -> None:
    """10,000 is a placeholder: it had stood beside a count of other rows without a word."""
    app, sentence = before_the_charge(no_ledger, public_n=public_n), "The table has 300 rows"
    assert sentence not in said(app), "the number of rows is private"
    assert (sentence in said(press(app, COUNT))) == (public_n == 10_000)


def test_that_the_access_is_noted_is_said_where_it_is_noted_alone(no_ledger: Path) -> None:
    def help_of(app: AppTest) -> str:
        return next(each for each in app.button if each.label == COUNT).help

    owner = before_the_charge(no_ledger)
    assert help_of(owner) == f"{HELP} {NOTED}"
    page = AppTest.from_function(_an_offer)
    assert help_of(page.run()) == HELP, "a session that is not the data owner's"
    page.session_state[ADMITTED] = True
    assert help_of(page.run()) == f"{HELP} {NOTED}"
    shutil.rmtree(no_ledger)
    assert help_of(page.run()) == HELP, "there is no ledger"


def _an_offer() -> None:
    """A page of private rows whose cells may be counted."""
    from dpcore.data.columns import Number
    from pages.data.fit_check import offer_unfit_count
    from tests.kit.sources import own
    from tests.pages.release.test_page_fit_check import wages

    source = own(wages(), "Bundesland", on=Number(high=100, bins=10, missing=True), private=True)
    offer_unfit_count(source, [source.reading], key="k")


def test_what_was_counted_is_on_no_wall(no_ledger: Path) -> None:
    """Neither in the page behind a presentation, nor on the page that follows where there is nothing to present."""
    app = press(before_the_charge(no_ledger), COUNT)
    assert NONE_FITS in [each.value for each in app.warning]
    run_with(app, link={"present": "1"})
    assert "present" not in app.query_params and COUNT in [each.label for each in app.button]
    assert NONE_FITS not in [each.value for each in app.warning] and "You see true values" not in said(app)


def test_no_page_behind_a_presentation_counts_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its elements are sent to the browser, though they are not seen."""
    shown_counts, buttons = list[object](), list[str]()
    source = own(wages(), "Bundesland", on=Number(high=100, bins=10, missing=True), private=True)
    about = f"unfit|{source.origin.key}|{(source.reading,)!r}"
    monkeypatch.setattr("streamlit.session_state", {FIT_ASKED: {about}})
    monkeypatch.setattr("streamlit.query_params", {"present": "1"})
    monkeypatch.setattr("streamlit.button", lambda label, **_: buttons.append(label))
    monkeypatch.setattr(fit_check, "_show_counts", shown_counts.append)
    offer_unfit_count(source, [source.reading], key="k")
    assert not shown_counts and buttons == [COUNT]


def test_where_the_access_cannot_be_noted_nothing_is_counted(no_ledger: Path) -> None:
    def fails(*_: object) -> None:
        raise LedgerError(UNWRITABLE)

    app = before_the_charge(no_ledger)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shown, "note_access", fails)
        app = press(app, COUNT)
        assert "none of" not in said(app) and NONE_FITS not in [each.value for each in app.warning]
    assert NONE_FITS in [each.value for each in sound(app.run()).warning], "the next step tries again"


def test_of_public_rows_the_cells_are_counted_at_once(no_ledger: Path) -> None:
    app = before_the_charge(no_ledger, private=False)
    assert NONE_FITS in [each.value for each in app.warning] and COUNT not in [each.label for each in app.button]
    app = before_the_charge(no_ledger / "other", private=False, column="Alter")
    assert "`Alter`: 0 of 300 cells do not fit" in said(app) or not app.warning


def test_cells_of_every_kind_of_column_are_counted() -> None:
    text = b"age,job,day,member,pay\n17,cook,2024-01-02,yes,5\nold,nurse,02/01/2024,maybe,\n,judge,2031-01-01,no,900\n"
    table = read_table(text, name="x.csv", header=True)
    age, jobs = Number(high=100, bins=10), Labels(labels=("cook", "nurse"), missing=False)
    days = Dates(step="day", first="2024-01-01", last="2024-12-31", missing=True, clamp=False)
    pay = Number(high=100, bins=4, missing=True, clamp=False)
    readings = [
        Columns(names=("age",), on=age),
        Columns(names=("job", "pay"), on=Product.map(Labels(labels=("cook", "nurse")), pay, names=("group", "number"))),
        Columns(names=("day",), on=days),
        Columns(names=("member", "pay"), on=Product(names=("m", "p"), columns=(Labels(yes_no=True), pay))),
        Columns(names=("job",), on=jobs),
    ]
    found = {each.column: each for each in unfit_cells(readings, table)}
    assert found["age"] == Unfit(column="age", cells=3, empty=1, wrong=1)
    assert found["job"] == Unfit(column="job", cells=3, empty=0, wrong=1)
    assert found["day"] == Unfit(column="day", cells=3, empty=0, wrong=2)
    assert found["member"] == Unfit(column="member", cells=3, empty=0, wrong=1)
    assert found["pay"] == Unfit(column="pay", cells=3, empty=1, wrong=1)


def test_of_many_columns_those_with_most_cells_that_do_not_fit_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    captions = list[str]()
    monkeypatch.setattr("streamlit.caption", captions.append)
    wrong = [*range(14), 0, 0]
    fit_check._show_counts(
        [Unfit(column=f"c{place}", cells=50, wrong=each, empty=0) for place, each in enumerate(wrong)]
    )
    assert captions[-1] == "And 4 columns with as few such cells or fewer." and len(captions) == MAX_COLUMNS + 1
    assert [int(each.partition(": ")[2].partition(" of ")[0]) for each in captions[:-1]] == [*range(13, 1, -1)]
