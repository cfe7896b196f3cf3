"""The grid of all columns: dates, answers, persons, hostile cells, what stays when one leaves, what is only shown."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Labels, Number
from dpcore.data.bundled import bundled
from dpcore.data.columns import is_number
from dpcore.data.dates import Ages, Dates
from dpcore.data.declarations import Capped
from dpcore.data.dictionaries.description import DATE, DescribedColumn
from dpcore.data.product import Product
from dpcore.data.samples import SAMPLES
from pages.data.grid import COLUMN_TYPES, TITLES, column_input, declared_table, fixed_column, frame_of
from pages.data.picker import BY_PERSON
from pages.data.upload import PERSON, ROW
from tests.pages.data.test_page import (
    OWN,
    at_files,
    box,
    everything,
    fill,
    give,
    grid_of,
    labels,
    opened,
    press,
    source_of,
    steward,
    type_in,
    use,
)
from tests.pages.drawn_charts import drawn
from tests.pages.opening import DIRECTIONS, neighbours_said, run_with, sound, switch_page

VISITS = (
    "who,seen,smoker,age\n"
    "ann,2024-02-29,yes,41\nann,2024-03-01,no,41\nbob,2023-12-31,TRUE,17\nann,2024-02-30,maybe,200\n"
    "bob,2024-12-30T23:30Z,0,\ncleo,2025-01-01,f,99\n,2024-06-01,1,50\n"
)
MONTHS = {"kind": "date: month", "from": "2024-01", "to": "2024-12", "outside": "missing"}


WHOSE = "Column that identifies the person"


def visits(*, public: bool = False) -> AppTest:
    """A session that holds VISITS, of which the column who is not used."""
    return type_in(give(at_files(public=public), VISITS, name="visits.csv"), who={"use": False})


@pytest.mark.full
def test_a_date_is_declared_in_its_unit_and_drawn_with_its_names() -> None:
    app = use(type_in(visits(public=True), seen=MONTHS), "seen")
    source = source_of(app)
    assert source.domain == Dates(step="month", first="2024-01", last="2024-12", missing=True, clamp=False)
    assert source.dataset().histogram.tolist() == [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 3]
    assert "12 months from 2024-01 to 2024-12." in everything(app)
    axis = drawn(app)["file-summary_chart"]["layout"]["xaxis"]
    assert axis["ticktext"] == ["01<br>2024", "04<br>2024", "07<br>2024", "10<br>2024", "missing"]
    assert axis["tickvals"][:4] == [648, 651, 654, 657]
    sound(app.switch_page("play/page.py").run())
    app.session_state["data"] = "my-file"
    assert drawn(sound(app.run()))["data_chart"]["layout"]["xaxis"]["ticktext"][0] == "01<br>2024"


@pytest.mark.parametrize("step", ["day", "month", "year"])
def test_years_bound_dates_of_every_unit(step: str) -> None:
    """Typed years had left a column of days out."""
    typed = column_input(DescribedColumn(name="born", kind=DATE, step=step, low="1930", high="2009"))
    whole = {"day": ("1930-01-01", "2009-12-31"), "month": ("1930-01", "2009-12"), "year": ("1930", "2009")}
    first, last = whole[step]
    assert typed.domain() == Dates(step=step, first=first, last=last, missing=True)


def test_an_age_is_declared_by_the_day_on_which_it_is_counted() -> None:
    app = type_in(visits(), seen={"kind": "age from birth date"})
    assert "`seen` (to, the day on which ages are counted)" in everything(app)
    source = source_of(app := use(type_in(app, seen={"to": "2025-03-01"}), "seen"))
    assert source.domain == Ages(day="2025-03-01", missing=True)
    assert np.flatnonzero(source.dataset().histogram).tolist() == [0, 1, 121]
    assert "121 whole numbers from 0 to 120 years on 2025-03-01." in everything(app)


def test_an_answer_needs_no_labels() -> None:
    source = source_of(use(type_in(visits(), smoker={"kind": "yes/no"}), "smoker"))
    assert source.domain == Labels(yes_no=True)
    assert source.dataset().histogram.tolist() == [3, 3, 1]


def test_a_date_and_a_number_are_a_map() -> None:
    app = use(type_in(visits(), seen=MONTHS, age={"from": "0", "to": "120", "bins": 12}), "seen", "age")
    assert source_of(app).on(Product).shape == (12, 12)
    app = type_in(app, seen={"kind": "date: day", "from": "2024-01-01", "to": "2024-12-31"})
    assert [error.value for error in app.error] == [
        "A map has at most 64 cells per side. Choose a coarser unit for the dates."
    ]


def test_kinds_are_filled_in_for_public_data() -> None:
    app = press(visits(public=True), "Fill in from the data")
    found = {column: grid_of(app, column) for column in ("seen", "smoker", "age")}
    assert (found["age"]["from"], found["age"]["to"]) == ("17", "200")
    assert found["smoker"]["kind"] == "category" and found["smoker"]["labels"].count(";") == 6
    assert found["seen"]["kind"] == "category"  # one of seven is no date
    app = press(type_in(app, seen={"kind": "date: month"}, smoker={"kind": "yes/no"}), "Fill in from the data")
    assert [grid_of(app, "seen")[end] for end in ("from", "to")] == ["2023-12", "2025-01"]
    app = give(app, "day,ok\n2024-02-29,yes\n2024-02-29,no\n", name="few.csv")
    app = press(app, "Fill in from the data")
    assert [grid_of(app, "day")[name] for name in ("kind", "from", "to")] == ["date: day", "2024-02-29", "2024-03-01"]
    assert grid_of(app, "ok")["kind"] == "yes/no"


def test_long_names_are_broken_and_leave_a_phone_room_for_cells() -> None:
    short = give(opened(way=OWN), f"who,{'n' * 20}\np1,1\n").data_editor[0].proto
    assert short.row_height == 0 and '"Column": {"disabled"' in short.columns
    long = give(opened(way=OWN), f"who,{'n' * 60}\np1,1\n").data_editor[0].proto
    # Streamlit keeps names in sight while they take three fifths of 358 pixels; wider ones had hidden every cell.
    assert '"Column": {"width": 205' in long.columns and long.row_height == 35 + 2 * 20


def by_person(app: AppTest, *, rows: int) -> AppTest:
    """Protect whoever is in the column who."""
    return fill(app, **{"Who is protected?": PERSON, WHOSE: "who", "Maximum rows per person": rows})


def test_no_column_says_whose_row_it_is_until_one_is_chosen_and_that_one_is_not_counted() -> None:
    age = {"from": "0", "to": "120"}
    app = fill(type_in(visits(), age=age, smoker={"kind": "yes/no"}), **{"Who is protected?": PERSON})
    assert box(app, WHOSE).value is None and "Use this column" not in labels(app)
    assert [each.value for each in app.info] == ["Choose the column that says whose row it is."]
    before = fill(use(fill(app, **{"Who is protected?": ROW}), "age"), **{"Who is protected?": PERSON})
    assert "Ready: `age`, as declared before (below)." in everything(before)
    sound(app.switch_page("plan/page.py").run())
    assert "Your table" not in app.selectbox(key="table").options, "no row of it is planned for as a row"
    assert any(
        "first choose the column that identifies the person on the Data page." in each.value for each in app.caption
    ), "and that is said"
    sound(app.switch_page("data/page.py").run())
    app.query_params["way"] = OWN
    app = fill(sound(app.run()), **{WHOSE: "smoker"})
    assert box(app, "Column").options == ["age"] and not app.info
    app = use(fill(app, **{WHOSE: "age"}), "smoker")
    source = source_of(app)
    assert source.value_columns == ("smoker",) and source.columns == ("smoker", "age")


def test_a_column_alone_cannot_say_whose_row_it_is_and_be_counted() -> None:
    app = type_in(give(opened(way=OWN), "pay\n1\n2\n"), pay={"from": "0", "to": "9"})
    app = fill(app, **{"Who is protected?": PERSON, WHOSE: "pay"})
    assert [each.value for each in app.info] == ["There is no other column to count."]
    assert "Use this column" not in labels(app)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cells"), [(1, [4, 1, 9]), (2, [4, 4, 1, 12, 9])])
def test_rows_beyond_the_cap_are_left_out_and_the_guarantee_names_the_person(rows: int, cells: list[int]) -> None:
    age = {"from": "0", "to": "120", "bins": 12, "outside": "missing"}
    app = use(by_person(type_in(visits(public=True), seen={"use": False}, age=age), rows=rows), "age")
    source = source_of(app)
    assert isinstance(source.reading, Capped) and source.person_rows == rows
    assert source.dataset().records.tolist() == cells
    assert f'at most {rows} row{"s" * (rows > 1)} per person"' in everything(app)
    sound(app.switch_page("play/page.py").run())
    for key, value in {"data": "my-file", "epsilon": 0.5, "why_open": True, "data_chart_more": True}.items():
        app.session_state[key] = value
    app = sound(app.run())
    words = everything(app)
    many = f"at most {rows} row{'s' * (rows > 1)}"
    assert neighbours_said(app) == [f"add or remove one person, ≤ {rows} row{'s' * (rows > 1)}"]
    assert f"ε = {0.5 * rows:g} (add or remove one person; per person with {many})" in words
    assert f"mechanism.person_guarantee(problem, {rows}).sentence()" in words
    assert "neighbours=dpcore.Neighbours.ADD_REMOVE_ONE" in words
    assert "Neighbours" not in [each.label for each in app.radio]
    sound(app.switch_page("one_number/page.py").run())
    assert "Your file" not in everything(app)


def test_the_number_of_private_rows_is_told_nowhere_where_persons_are_protected() -> None:
    age = {"from": "0", "to": "120"}
    app = fill(use(type_in(visits(), age=age), "age"), **{"The number of rows is public": True})
    assert "7 rows, 4 columns" in everything(app) and "n = 7" in everything(app)
    app = use(by_person(app, rows=1), "age")
    assert "7 rows" not in everything(app) and "n = 7" not in everything(app)
    assert "The number of rows is public" not in [each.label for each in app.checkbox]


@pytest.mark.slow
def test_a_cap_in_use_hides_n_whatever_the_form_says_since() -> None:
    """Rows that are kept tell how many each person has, and n changes with a person."""
    age = {"from": "0", "to": "120"}
    app = use(by_person(type_in(visits(), age=age), rows=2), "age")
    app = fill(app, **{"Who is protected?": ROW})
    app = fill(app, **{"The number of rows is public": True})
    assert "Loaded; no values are shown." in everything(app) and not re.search(r"n = [57]\b", everything(app))
    sound(app.switch_page("play/page.py").run())
    app.session_state["data"] = "my-file"
    words = everything(sound(app.run()))
    assert "assumed n = 10,000" in words and not re.search(r"n = [57]\b", words)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "key"), [("tables/page.py", "cube"), (DIRECTIONS, "vectors")])
def test_a_page_that_reads_the_file_by_itself_takes_none_of_persons(page: str, key: str) -> None:
    for persons in (False, True):
        app = visits()
        app = by_person(app, rows=2) if persons else app
        app.query_params[key] = "my-file"
        sound(switch_page(app, page).run())
        assert (BY_PERSON in [each.value for each in app.warning]) == persons
        assert ("Your file: " in everything(app)) != persons


def test_a_plan_of_persons_costs_what_persons_lose_and_tells_no_n() -> None:
    age = {"from": "0", "to": "120"}
    app = use(by_person(type_in(visits(), age=age), rows=3), "age")
    sound(app.switch_page("plan/page.py").run())
    run_with(app, {"table": "my-file"})
    assert not app.error and "protects one person (up to 3 rows)" in app.header[0].value
    assert next(each for each in app.number_input if each.label == "Public n").value == 10_000
    assert "Neighbours" not in [each.label for each in app.radio] and not re.search(r"\b7 rows", everything(app))


HOSTILE = ["<script>alert(1)</script>", "`$\\alpha$`", "a|b", "[x](http://x.invalid)", "\u202eabc", "=1+1"]


def test_hostile_and_endless_cells_are_labels_like_others() -> None:
    long = "x" * 5000
    text = "plain,other\n" + "".join(f'"{label}",1\n' for label in (*HOSTILE, long))
    app = give(opened(way=OWN), text, name="hostile.csv")
    app = use(type_in(app, plain={"kind": "category", "labels": "; ".join([*HOSTILE, long])}), "plain")
    source = source_of(app)
    assert source.domain == Labels(labels=(*HOSTILE, long))
    assert source.dataset().histogram.tolist() == [1] * 7 + [0]
    assert not app.error
    steward(app, on=True)
    assert drawn(app)["file-summary_chart"]


def test_endless_names_of_columns_are_cut_and_do_no_harm() -> None:
    names = [f'"{"n" * 5000}"', '"<b>name</b>"', "__proto__", "a;b"]
    app = give(opened(way=OWN), f"{','.join(names)}\n1,2,3,4\n5,6,7,8\n", name="names.csv")
    shown = app.data_editor[0].value["Column"].tolist()
    assert len(shown) == 4 and max(map(len, shown)) < 100 and "<b>" not in everything(app)
    app = type_in(app, **{name: {"from": "0", "to": "8"} for name in shown})
    for name in shown:
        source = source_of(use(app, name))
        assert source.reading.columns == (name,)


def test_what_was_typed_is_there_after_another_page_and_in_no_link() -> None:
    app = type_in(visits(), seen=MONTHS, age={"from": "0", "to": "120"})
    sound(app.switch_page("learn/page.py").run())
    sound(app.switch_page("data/page.py").run())
    assert grid_of(app, "seen")["from"] == "2024-01" and grid_of(app, "age")["to"] == "120"
    assert not any("declare" in name for name in app.query_params)


def test_cells_of_other_types_than_the_grid_s_are_as_if_empty() -> None:
    app = type_in(visits(), age={"from": None, "to": "120", "bins": None, "kind": None})
    assert "`age` (from, bins)" in everything(app) and "Use this column" not in labels(app)


def test_a_number_with_an_underscore_is_none() -> None:
    """Python alone reads 1_0 as 10."""
    app = type_in(visits(), age={"from": "0", "to": "1_0"})
    assert grid_of(app, "age")["to"] == "1_0" and "From and to must be numbers." in everything(app)


def test_the_grid_has_the_same_types_whatever_it_holds() -> None:
    """Else the browser would take it for another grid, and drop what is being typed."""
    empty = fixed_column("a", Labels(yes_no=True))
    full = fixed_column("b", Number(low=-1, high=2.5, bins=7, unit="m", missing=True))
    assert frame_of([empty]).dtypes.tolist() == frame_of([full]).dtypes.tolist()


DOMAINS: list[Any] = [
    Number(low=-1, high=2.5, bins=7, unit="m", missing=True),
    Number(low=0, high=1e20, bits=4, missing=True, clamp=False),
    Dates(step="week", first="2020-W50", last="2021-W02", missing=True),
    Number(low=-0.5, high=9.5, bins=10, unit="visits", missing=True),
    Ages(day="2024-12-31", missing=True, clamp=False),
    Labels(labels=("a;b", "c")),
    Labels(labels=("alone",)),
    Labels(labels=('"a"; b',)),
    Labels(labels=('"a"', "b\rc")),
    Labels(yes_no=True),
]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_stands_in_the_grid_as_it_would_be_typed(domain: Any) -> None:
    row = fixed_column("x", domain)
    assert row.kind in COLUMN_TYPES and not row.missing_inputs
    table, wrong = declared_table([row])
    assert not wrong and table.on("x") == domain


def test_bundled_columns_stand_in_the_same_grid_to_be_read() -> None:
    app = opened()
    (shown,) = [each for each in app.data_editor if each.key == f"sample-{SAMPLES[0].key}-grid"]
    frame: pd.DataFrame = shown.value
    assert frame["Column"].tolist() == [each.name for each in SAMPLES[0].columns]
    assert shown.proto.disabled
    for each, (_, row) in zip(SAMPLES[0].columns, frame.iterrows(), strict=True):
        line = bundled(SAMPLES[0].key, each.name).domain
        assert row[TITLES["kind"]] == each.kind
        if is_number(line):
            assert (float(row["From"]), row["Bins"]) == (line.low, line.ordered)
    np.testing.assert_array_equal(frame["Use"], True)
