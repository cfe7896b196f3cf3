"""Descriptions on the Data page: one that is opened fills the grid, one that is saved holds nothing of the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.dictionaries.description import DataDictionary, DescribedColumn
from dpcore.data.dictionaries.opening import open_dictionary
from dpcore.data.dictionaries.table_schema import write_table_schema
from dpcore.data.reading.tables import read_table
from dprelease.ledger.records import Stored
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.release import release
from pages.data import tab_storage
from pages.data.descriptions import controls
from pages.data.tab_storage import DESCRIPTION_ITEM
from tests.kit import ledgers
from tests.pages.data.test_grid import WHOSE, visits
from tests.pages.data.test_page import (
    OWN,
    PEOPLE,
    SECRET,
    box,
    everything,
    give,
    grid_of,
    labels,
    opened,
    press,
    source_of,
    steward,
    type_in,
    upload_of,
    use,
    with_file,
)
from tests.pages.opening import as_steward, sound, visitor

SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}, "dpscope": {"unit": "years"}},
        {"name": "smoker", "type": "boolean"},
        {"name": "seen", "type": "yearmonth", "constraints": {"minimum": "2024-01", "maximum": "2024-12"}},
        {"name": "elsewhere", "type": "number"},
    ]
}


def describe(app: AppTest, content: str | bytes | dict[str, Any], *, name: str = "schema.json") -> AppTest:
    """Open a description of the file that the session holds."""
    text = json.dumps(content) if isinstance(content, dict) else content
    uploader = next(each for each in app.file_uploader if each.label == "Data dictionary")
    uploader.upload(name, text.encode() if isinstance(text, str) else text)
    return sound(app.run())


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the page offers to save, in order."""
    texts = list[str]()

    def record(dictionary: DataDictionary) -> str:
        texts.append(write_table_schema(dictionary))
        return texts[-1]

    monkeypatch.setattr(controls, "write_table_schema", record)
    return texts


def test_a_description_fills_the_grid_and_what_it_leaves_open_is_said() -> None:
    app = describe(visits(), SCHEMA)
    cells = {name: grid_of(app, name) for name in ("age", "smoker", "seen", "who")}
    assert [cells["age"][each] for each in ("kind", "from", "to", "unit")] == ["whole number", "0", "120", "years"]
    assert cells["smoker"]["kind"] == "yes/no" and cells["who"]["use"] is False, "what was typed before stays"
    assert [cells["seen"][each] for each in ("kind", "from", "to")] == ["date: month", "2024-01", "2024-12"]
    text = everything(app)
    assert "3 columns of 4 described." in text and "1 described column not in this table." in text
    assert "have no bounds" not in text and not app.error
    source = upload_of(use(app, "seen"))
    assert source is not None and not source.bounds_from_data, "a description is not read off the rows"
    assert source.domain == Dates(step="month", first="2024-01", last="2024-12", missing=True)


def test_a_codebook_with_gaps_is_opened_over_it() -> None:
    app = describe(
        describe(visits(), SCHEMA), "name,type,min,labels\nage,number,1,\nsmoker,category,,\n", name="book.csv"
    )
    assert (grid_of(app, "age")["from"], grid_of(app, "age")["to"]) == ("1", None)
    text = everything(app)
    assert "1 column has no bounds: declare it." in text and "1 column has no labels: declare it." in text
    assert grid_of(app, "seen")["kind"] == "date: month", "of columns that it does not name nothing is changed"


def test_a_description_that_cannot_be_read_leaves_the_grid_and_one_sentence() -> None:
    app = describe(visits(), SCHEMA)
    for content, sentence in (
        (json.dumps({"fields": [{"name": "age", "type": SECRET}]}), "age: The type is none of Table Schema's types."),
        (b"\xff\xff", "The description is no UTF-8 text."),
    ):
        app = describe(app, content)
        assert [error.value for error in app.error] == [sentence]
        assert grid_of(app, "age")["to"] == "120" and SECRET not in everything(app)
    assert not describe(app, SCHEMA).error


def test_persons_and_codes_for_missing_values_are_taken_over_and_said() -> None:
    own = {"person": "who", "personRows": 3}
    app = describe(visits(), SCHEMA | {"dpscope": own, "missingValues": ["", "-99", "NA"]})
    assert box(app, WHOSE).value == "who" and box(app, "Maximum rows per person").value == 3
    assert box(app, "Codes for missing").value == "-99 NA"
    text = everything(app)
    assert "The description protects persons: check the column that identifies them." in text
    assert "Its codes for missing values are now under Format." in text
    assert source_of(use(app, "age")).person_rows == 3
    other = describe(visits(), SCHEMA | {"dpscope": {"person": "nobody here", "personRows": 3}})
    assert box(other, "Who is protected?").value == "row"


def test_names_are_matched_as_the_table_s_were_made_safe() -> None:
    name = "<b>pay</b>"
    app = give(opened(way=OWN), f"{name},other\n1,2\n3,4\n")
    field = {"name": name, "type": "number", "constraints": {"minimum": 0, "maximum": 9}}
    app = describe(app, {"fields": [field]})
    assert grid_of(app, "b_pay_/b")["to"] == "9" and "<b>" not in everything(app)


def test_labels_that_the_grid_cannot_hold_are_left_to_the_user() -> None:
    enum = {"type": "string", "constraints": {"enum": [" a; b ", "", "c"]}}
    app = describe(visits(), {"fields": [{"name": "smoker", **enum}]})
    assert source_of(use(app, "smoker")).domain == Labels(labels=("a; b", "c"))
    enum["constraints"] = {"enum": ["a\nb", "c"]}
    app = describe(visits(), {"fields": [{"name": "smoker", **enum}]})
    assert not grid_of(app, "smoker")["labels"] and "1 column has no labels: declare it." in everything(app)


def test_what_is_saved_fills_the_same_grid(saved: list[str]) -> None:
    app = type_in(
        describe(visits(), SCHEMA | {"missingValues": ["-99"]}),
        age={"kind": "number", "outside": "missing", "bins": 12},
        smoker={"kind": "category", "labels": "yes; no; maybe"},
    )  # fmt: skip
    (button,) = app.get("download_button")
    assert button.proto.label == "Save this description"
    text = saved[-1]
    again = describe(visits(), text)
    for name in ("age", "smoker", "seen"):
        assert grid_of(again, name) == grid_of(app, name)
    read = open_dictionary(text.encode(), name="x.json")
    assert [each.on for each in read.declared().columns] == [
        Dates(step="month", first="2024-01", last="2024-12", missing=True),
        Labels(labels=("yes", "no", "maybe")),
        Number(low=0, high=120, bins=12, missing=True, clamp=False, unit="years"),
    ]
    assert read.missing_codes == ("-99",) and read.columns[0].lacking == "kind" and not read.columns[0].used


def test_what_was_filled_in_from_the_rows_is_not_saved(saved: list[str]) -> None:
    app = steward(type_in(with_file(), name={"kind": "category", "labels": "Anna; Bert"}), on=True)
    app = press(app, "Fill in from the data")
    assert grid_of(app, "pay")["to"] and "It leaves out what was filled in from the data: 1 column." in everything(app)
    read = open_dictionary(saved[-1].encode(), name="x.json")
    assert [(each.name, each.lacking) for each in read.columns] == [("name", ""), ("pay", "kind")]
    assert not any(digits in saved[-1] for digits in ("73421", "1000", SECRET))


def test_what_is_typed_wrong_is_not_saved(saved: list[str]) -> None:
    app = type_in(with_file(), pay={"from": "5", "to": "4"}, name={"kind": "number", "from": "abc"})
    assert app.error and json.loads(saved[-1])["fields"] == [
        {"name": "name", "type": "any"},
        {"name": "pay", "type": "any"},
    ]


def test_a_description_of_one_file_is_not_said_of_the_next() -> None:
    app = give(describe(visits(), SCHEMA), "a,b\n1,2\n3,4\n", name="next.csv")
    assert "described" not in everything(app)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the page gives the tab to store under the name of a description, in order."""
    given = list[dict[str, Any]]()

    def storage(*, data: dict[str, Any], **_: Any) -> None:
        if data.pop("item") == DESCRIPTION_ITEM:
            given.append(data)

    monkeypatch.setattr(tab_storage, "_storage", storage)
    return given


def test_the_tab_stores_what_was_declared_and_nothing_of_the_rows(
    stored: list[dict[str, Any]], saved: list[str]
) -> None:
    app = steward(with_file(), on=True)
    assert stored[-1] == {"name": "people.csv", "text": "", "restore": True}, "nothing is declared yet"
    app = press(type_in(app, name={"kind": "category", "labels": "Anna; Bert"}), "Fill in from the data")
    assert grid_of(app, "pay")["to"] and stored[-1] == {"name": "people.csv", "text": saved[-1], "restore": False}
    assert "Anna" in saved[-1] and not any(digits in saved[-1] for digits in ("73421", "1000", SECRET))
    app = press(app, "Remove this file")
    assert stored[-1] == {"restore": False}, "it goes with its file"
    stored.clear()
    give(app, "a,b\n1,2\n3,4\n")
    assert stored[-1] == {"name": "people.csv", "text": "", "restore": True}


def test_a_description_too_large_for_the_tab_is_not_stored_and_said(
    stored: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controls, "MAX_STORED", 100)
    text = everything(describe(visits(), SCHEMA))
    assert stored[-1]["text"] == "" and not stored[-1]["restore"]
    assert "This description is too large to be kept after a reload. Save it." in text


RELEASED, PAY = "Fill in from earlier releases", Number(low=0, high=4096, bins=8, missing=True)


def ledger_of(folder: Path, *domains: Number) -> None:
    """A ledger that released counts of PEOPLE's column pay on these domains."""
    rows = read_table(PEOPLE.encode(), name="people.csv", header=True)
    book, dataset_id = ledgers.registered(folder, rows=rows)
    counts = PlannedQuestion(columns=("pay",), queries="cells", entry_key="identity", epsilon=0.1)
    for on in domains:
        table = DeclaredTable(columns=(DeclaredColumn(name="pay", on=on),))
        request = Plan(table=table, n=ledgers.NOMINAL, questions=(counts,)).request()
        assert isinstance(release(book, dataset_id, request, rows, ledgers.STEWARD), Stored)


def brought(*, owner: bool = True, content: str = PEOPLE) -> AppTest:
    """A session that holds the file."""
    app = visitor("data/page.py")
    app.query_params["way"] = OWN
    return give(sound((as_steward(app) if owner else app).run()), content)


def test_what_releases_declared_fills_the_grid_of_the_same_rows_with_one_click(no_ledger: Path) -> None:
    fine = Number(low=0, high=4096, bins=64, missing=True)
    ledger_of(no_ledger, fine, PAY)
    app = press(brought(), RELEASED)
    cells = grid_of(app, "pay")
    assert [cells[each] for each in ("kind", "from", "to", "bins")] == ["number", "0", "4096", 64]
    assert "From earlier releases, check it." in everything(app) and not app.error
    source = source_of(use(app, "pay"))
    assert source.domain == fine and not source.bounds_from_data


def test_releases_are_offered_to_the_data_owner_of_the_same_rows_alone(no_ledger: Path) -> None:
    ledger_of(no_ledger, PAY)
    assert RELEASED in labels(brought())
    assert RELEASED not in labels(brought(owner=False))
    assert RELEASED not in labels(brought(content=PEOPLE.replace("\n", "\nCarl,7\n", 1)))


def test_releases_of_other_columns_fill_in_nothing(no_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger_of(no_ledger, PAY)
    app = brought()
    other = DescribedColumn(name="elsewhere", kind="yes/no")
    monkeypatch.setattr(controls, "released_dictionary", lambda *_, **__: DataDictionary(columns=(other,)))
    before = grid_of(app, "pay")
    app = press(app, RELEASED)
    assert [each.value for each in app.error] == [controls.NONE_RELEASED] and grid_of(app, "pay") == before
