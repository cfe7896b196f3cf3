"""Suggestions from the names of a private table's columns: of no value, over nothing that is declared, and marked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.columns import Labels, Number
from pages.data.upload import PERSON
from tests.pages.data.test_page import (
    at_files,
    everything,
    give,
    grid_of,
    labels,
    press,
    source_of,
    type_in,
    use,
)
from tests.pages.opening import sound

AGE = ["whole number", "0", "120", "years"]
SUGGEST = "Suggest from the names"
PATIENTS = "patient_id,age,visit_date,has_pain,pay\n71,430,never,perhaps,1\n72,431,never,perhaps,2\n"


def patients(*, public: bool = False, text: str = PATIENTS) -> AppTest:
    """A session that holds PATIENTS, whose values contradict every name."""
    return give(at_files(public=public), text, name="patients.csv")


def test_names_fill_what_is_not_declared_and_are_marked_until_it_changes() -> None:
    app = press(type_in(patients(), visit_date={"kind": "category", "labels": "a; b"}), SUGGEST)
    assert grid_of(app, "patient_id")["use"] is False
    assert [grid_of(app, "age")[each] for each in ("kind", "from", "to", "unit")] == AGE
    assert grid_of(app, "has_pain")["kind"] == "yes/no" and grid_of(app, "visit_date")["kind"] == "category"
    assert [grid_of(app, "pay")[each] for each in ("kind", "from", "use")] == ["number", None, True]
    mark = "From the name, check it: `patient_id` (not used), `age` (whole number), `has_pain` (yes/no)."
    assert mark in everything(app) and SUGGEST not in labels(app), "there is nothing left to suggest"
    app = type_in(app, age={"to": "99"}, patient_id={"use": True})
    assert "From the name, check it: `has_pain` (yes/no)." in everything(app)
    source = source_of(use(app, "age"))
    assert not source.bounds_from_data and source.on(Number).points().tolist() == [*range(100)]
    assert "100 whole numbers from 0 to 99 years." in everything(app)


def test_of_a_private_table_the_same_is_suggested_whatever_its_rows() -> None:
    other = "patient_id,age,visit_date,has_pain,pay\n,,,,\n1,2,2024-01-01,yes,3\n"
    grids = [
        {name: grid_of(app, name) for name in PATIENTS.split("\n")[0].split(",")}
        for app in (press(patients(), SUGGEST), press(patients(text=other), SUGGEST))
    ]
    assert grids[0] == grids[1] and grids[0]["visit_date"]["kind"] == "date: day"


def test_the_column_of_persons_is_offered_by_its_name_and_taken_by_hand() -> None:
    """Whatever its values: an empty column, or one with another value in each row."""
    for text in (PATIENTS, "age,patient_id\n1,\n2,\n"):
        app = patients(text=text)
        assert "By its name, `patient_id` says whose row it is." in everything(app)
        unit = next(each for each in app.radio if each.label == "Who is protected?")
        app = sound(unit.set_value(PERSON).run())
        column = next(each for each in app.selectbox if each.label == "Column that identifies the person")
        assert column.value is None and "Choose the column that says whose row it is." in everything(app)
        app = press(app, "Take `patient_id`, by its name")
        column = next(each for each in app.selectbox if each.label == "Column that identifies the person")
        assert column.value == "patient_id" and "Take `patient_id`, by its name" not in labels(app)
    assert "says whose row it is" not in everything(patients(text="region,pay\n1,2\n3,4\n"))


def test_public_rows_are_filled_in_from_the_data_instead() -> None:
    assert SUGGEST not in labels(patients(public=True)) and "Fill in from the data" in labels(patients(public=True))
    assert SUGGEST not in labels(patients(text="a,b\n1,2\n3,4\n")), "no name suggests anything"


@pytest.mark.parametrize("public", [False, True])
def test_value_labels_of_a_file_are_suggested_whatever_its_rows(tmp_path: Path, public: bool) -> None:
    """The rows hold one of the three labels, and a code without one."""
    labels: dict[str, dict[int | float, str]] = {"q1": {1: "none", 2: "a; little", 3: "much"}}
    frame = pd.DataFrame({"q1": [2.0, 2.0, 7.0], "pay": [1.0, 2.0, 3.0]})
    pyreadstat.write_dta(frame, str(tmp_path / "survey.dta"), variable_value_labels=labels)
    app = give(at_files(public=public), (tmp_path / "survey.dta").read_bytes(), name="survey.dta")
    app = press(app, f"{SUGGEST} and value labels")
    assert grid_of(app, "q1")["kind"] == "category" and grid_of(app, "pay")["from"] is None
    assert "From the name or the value labels, check it: `q1` (category)." in everything(app)
    source = source_of(use(app, "q1"))
    assert source.on(Labels).labels == ("none", "a; little", "much")
    assert not source.bounds_from_data
