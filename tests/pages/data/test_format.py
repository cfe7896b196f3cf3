"""The Format group on the page Data: what is chosen there is in force, and of private rows nothing is guessed."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.dictionaries.description import NUMBER
from dpcore.data.reading.format import Format
from dpcore.data.reading.tables import Table, read_table
from pages.data.suggestions import remark
from tests.dpcore.data.reading.workbooks import sheet_rows, xlsx
from tests.pages.data.test_page import OWN, at_files, box, everything, fill, give, opened, press

DATES = ("03/04/2021", "05/06/2021", "01/02/2021", "31/12/2021")
NUMBERS = ("1,5", "-99", "2,25", "3,5")
MIXED = "day\tpay\n" + "".join(f"{day}\t{pay}\n" for day, pay in zip(DATES, NUMBERS, strict=True))
DAY_FIRST_2021 = (92, 155, 31, 364)
"""Days of 2021 from 1 January on."""


def with_mixed(*, public: bool = False, text: str = MIXED) -> AppTest:
    return give(at_files(public=public), text, name="mixed.tsv" if "\t" in text else "mixed.csv")


def table_of(app: AppTest) -> Table:
    table = app.session_state["file"].table
    assert isinstance(table, Table)
    return table


def test_decimal_sign_date_order_and_codes_for_missing_are_changed_on_the_page() -> None:
    app = with_mixed()
    assert np.isnan(table_of(app).numbers("pay")).tolist() == [True, False, True, True], "a point is in force"
    assert np.isnan(table_of(app).periods("day", "day")).all()
    app = fill(app, Decimal_sign=",", Date_order="day first", Codes_for_missing="-99")
    table = table_of(app)
    np.testing.assert_array_equal(table.numbers("pay"), [1.5, np.nan, 2.25, 3.5])
    start = (np.datetime64("2021-01-01") - np.datetime64("1970-01-01")).astype(int)
    assert table.periods("day", "day").tolist() == [start + each for each in DAY_FIRST_2021]
    app = fill(app, Date_order="month first", Codes_for_missing="")
    assert table_of(app).numbers("pay").tolist() == [1.5, -99, 2.25, 3.5]
    assert np.isnan(table_of(app).periods("day", "day")).tolist() == [False, False, False, True]
    app = press(app, "Remove this file")
    assert box(app, "Decimal sign").value == "", "they go with their file"


def test_settings_that_are_none_are_a_sentence_and_change_nothing() -> None:
    app = fill(with_mixed(), Lines_to_skip="two")
    assert [each.value for each in app.error] == ["Lines to skip must be a whole number."]
    assert table_of(app).format.skip is None


def test_a_sheet_of_a_workbook_is_chosen_before_the_upload() -> None:
    content = xlsx(sheet_rows([["x"], [1]]), sheet_rows([["pay"], [2]]))
    app = give(opened(way=OWN), content, name="b.xlsx")
    assert table_of(app).columns == ("x",) and "set Format: Sheet" in everything(app)
    app = fill(press(app, "Remove this file"), Sheet="2")
    app = give(app, content, name="b.xlsx")
    assert table_of(app).columns == ("pay",) and "Sheet 2 was read" in everything(app)
    assert [each.value for each in fill(app, Sheet="two").error] == ["The sheet must be a whole number."]


def test_of_a_private_file_the_page_says_nothing_guessed_from_values_and_of_a_public_one_it_does() -> None:
    """Two tables that differ in all their values look the same."""
    others = MIXED.replace(",", ".").replace("31/12", "12/31").replace("-99", "1000")
    private, other = with_mixed(), with_mixed(text=others)
    for app in (private, other):
        assert "(guessed)" not in everything(app)
    assert said(private) == said(other)
    assert table_of(private).format == table_of(other).format
    public = with_mixed(public=True)
    for told in ("Numbers: a decimal comma (guessed).", "Dates with slashes: day first (guessed)."):
        assert told in everything(public) and told not in everything(private), "the control"


SEMICOLONS, COMMAS = MIXED.replace("\t", ";"), "day,pay\n2021-02-01,15\n"


@pytest.mark.parametrize(
    ("text", "decimal", "written", "wanted"),
    [
        (MIXED, "point", "1210,80", "comma"),
        (MIXED.replace("1,5", "1.5").replace("2,25", "2.25").replace("3,5", "3.5"), "point", "1210,80", "comma"),
        (SEMICOLONS, "comma, as is usual with semicolons", "1210.80", "point"),
    ],
    ids=["comma between tabs", "point between tabs", "semicolons"],
)
def test_of_a_private_file_the_page_says_which_decimal_sign_would_leave_no_number(
    text: str, decimal: str, written: str, wanted: str
) -> None:
    """It says so whatever the cells hold, until a sign is chosen; of a public file nothing is left to say."""
    app = with_mixed(text=text)
    [sentence] = [each.value for each in app.info]
    assert sentence == (
        f"Numbers are read with a decimal {decimal}: private cells are never used to guess it. If your file writes "
        f"{written}, no such cell fits, and all count as missing. Then choose the decimal {wanted} under Format."
    )
    sign = {"comma": ",", "point": "."}
    settings = Format(separator=";", decimal=sign[decimal[:5]])
    read = read_table(f"pay;n\n{written};1\n".encode(), name="pay.csv", header=True, settings=settings)
    assert np.isnan(read.numbers("pay")).all(), "what is said is so"
    assert not fill(app, Decimal_sign=sign[wanted]).info


def test_no_decimal_sign_is_in_doubt_between_commas_in_parquet_or_where_it_was_chosen() -> None:
    assert not with_mixed(text=COMMAS).info and not with_mixed(public=True).info
    assert not read_table(MIXED.encode(), name="a.tsv", ask=True, header=True, settings=Format(decimal=".")).guesses


def said(app: AppTest) -> list[str]:
    """Everything a person reads there but for the grid, which holds names alone."""
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error)
    return [str(each.value) for kind in kinds for each in kind]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("date: day", "no cell is a date. If dates are written 01/02/2021, choose the date order in Format."),
        (NUMBER, "no cell is a number."),
        (None, "its bounds or labels cannot be filled in."),
    ],
)
def test_what_cannot_be_filled_in_is_said_by_kind(kind: str | None, said: str) -> None:
    words = read_table(b"note,n\n" + b"not this,1\n" * 5, name="words.csv")
    assert remark(words, "note", {}, kind=kind) == said
