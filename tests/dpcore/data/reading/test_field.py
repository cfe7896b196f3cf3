"""Files as people bring them, each after a public report: what a reasonable person expects to be read."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcore.core import DataError, ParameterError
from dpcore.data.columns import is_number
from dpcore.data.dates import written
from dpcore.data.dictionaries.description import DescribedColumn
from dpcore.data.reading.format import LOCAL, Format, read_format
from dpcore.data.reading.guesses import ORDER_UNKNOWN
from dpcore.data.reading.intake import clean_names
from dpcore.data.reading.tables import TITLE_OR_HEADER, Table, read_table
from pages.data.suggestions import remark, suggest_domain

FIELD = Path(__file__).parent / "field"
NAN = math.nan


def field(name: str, settings: Format | None = None, *, private: bool = False) -> Table:
    path = next(FIELD.glob(f"{name}_*"))
    return read_table(path, name=path.name, header=None if path.suffix == ".parquet" else True, ask=private,
                      settings=settings)  # fmt: skip


# File, column, rows, and the first numbers.
NUMBERS: list[tuple[str, str, int, list[float]]] = [
    ("F02", "Lohn", 300, [1210.80, 932.45, 1596.90, 2231.04]),
    ("F03b", "paid", 300, [1210.80, 932.45, 1596.90, 2231.04]),
    ("F03c", "people", 300, [403, 310, 532, 743, 1063]),
    ("F03d", "people", 280, [1200, 103, 106, 109]),
    ("F04", "amount", 50, [0, 1, 2]),
    ("F05", "pay", 50, [1000, 1001, 1002]),
    ("F06", "age", 50, [20, 21, 22]),
    ("F06", "column 1", 50, [1, 2, 3]),
    ("F07", "pay", 50, [1000, 1001]),
    ("F07b", "pay", 50, [1000, 1001]),
    ("F07c", "pay", 80, [1000, 1001]),
    ("F07d", "pay", 51, [1000, 1001]),
    ("F10", "income", 200, [NAN, 1010, 1020]),
    ("F12", "pay (2)", 20, [2, 3]),
    ("F13", "age", 40, [20, 21]),
    ("F14", "sex", 100, [1, 2, NAN, 2]),
    ("F15", "pay", 2, [10, 20]),
    ("F20", "v", 3000, [0, 1]),
    ("F20b", "q1", 40, [0, 1, 2]),
    ("F21", "all_missing", 40, [NAN] * 40),
    ("F21b", "pay", 1, [1200]),
    ("F21c", "pay", 2, [1200, 1300]),
    ("F22", "big", 4, [1e308, -1e308, NAN, 5]),
    ("F23c", "id", 2, [1, 2]),
    ("F24", "pay", 3, [1, 2, 3]),
    ("F24b", "pay", 3, [1, 2, 3]),
    ("F25", "zip", 4, [2134, 501, 10001]),
    ("F26", "x", 18, [1, 2, *[NAN] * 15, 3]),
    ("F28", "ni", 40, [1, NAN, 3, 4]),
    ("F30", "x", 22, [1000, NAN, NAN, NAN, 1000, 1000, 5]),
    ("F32", "age", 3, [20, 30, 40]),
    ("F33", "pay", 2, [10, 20]),
    ("F35", "2020", 2, [2, 5]),
    ("R02", "score", 65, [0, 0.1, 0.2]),
    ("R04", "age", 300, [18, 19, 20]),
    ("R05", "pay", 3, [10, 20, 30]),
]


@pytest.mark.parametrize(("name", "column", "rows", "first"), NUMBERS)
def test_numbers(name: str, column: str, rows: int, first: list[float]) -> None:
    table = field(name)
    assert table.row_count == rows
    np.testing.assert_array_equal(table.numbers(column)[: len(first)], first)


@pytest.mark.parametrize("name", ["F02", "F03b", "F03c", "F03d", "F04", "F05", "F06"])
def test_of_private_rows_numbers_are_the_same_and_no_value_is_guessed_from(name: str) -> None:
    column, first = next((column, first) for each, column, _, first in NUMBERS if each == name)
    table = field(name, Format(skip=3) if name == "F05" else None, private=True)
    np.testing.assert_array_equal(table.numbers(column)[: len(first)], first)
    assert table.format.date_order == ""


def test_whole_numbers_and_labels_that_are_filled_in_are_all_kept() -> None:
    table = field("R04")
    for column, cells in (("grade", 3), ("age", 60)):
        found = suggest_domain(table, column)
        low, high = (str(found[end]) for end in ("from", "to"))
        line = DescribedColumn(name=column, kind=str(found["kind"]), low=low, high=high).domain()
        assert is_number(line) and line.whole and line.ordered == cells
        assert line.encode(np.arange(float(low), float(high) + 1)).tolist() == list(range(cells))
    many = field("R03")
    assert len(str(suggest_domain(many, "place")["labels"]).split("\n")) == 200
    labels = "".join(f"place {i}\n" * (1 + (i < 10)) for i in range(1_200))
    long = read_table(f"place\n{labels}".encode(), name="x.csv", header=True)
    found = suggest_domain(long, "place")
    assert remark(long, "place", found, kind=None) == (
        "the 1,000 most frequent labels; 200 further rows become “anything else”."
    )


@pytest.mark.parametrize(
    ("name", "column", "first", "last"),
    [
        ("F08", "seen", "2021-01-01", "2021-07-19"),
        ("F08d", "seen", "2021-01-01", "2021-07-19"),
        ("F08e", "seen", "2021-01-01", "2021-07-19"),
        ("F27", "day", "2021-01-01", "2021-04-10"),
        ("F09", "d", "2021-01-01", "2021-07-19"),
        ("F28", "ts", "2021-01-01", "2021-01-03"),
    ],
)
def test_dates(name: str, column: str, first: str, last: str) -> None:
    assert suggest_domain(field(name), column) == {"kind": "date: day", "from": first, "to": last}


def test_the_order_of_dates_is_asked_where_nothing_tells_it() -> None:
    table = read_table(b"seen,n\n01/02/2021,1\n03/04/2021,2\n", name="x.csv")
    assert np.isnan(table.periods("seen", "day")).all() and table.guesses == (ORDER_UNKNOWN,)
    assert "date order" in remark(table, "seen", suggest_domain(table, "seen"), kind=None)
    days = {order: table.with_format(Format(date_order=order)).periods("seen", "day")[0]
            for order in ("day first", "month first")}  # fmt: skip
    assert [written(int(day), "day") for day in days.values()] == ["2021-02-01", "2021-01-02"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (b"01/02/2021\n" * 19_999 + b"31/01/2021\n", "day first (guessed)"),
        (b"01/02/2021\n" * 20_000 + b"31/01/2021\n", "The first 20,000 rows do not determine it"),
        (b"01/31/2021\n31/01/2021\n", "The first 20,000 rows do not determine it"),
    ],
    ids=["in the last of these rows", "after them", "both"],
)
def test_the_first_rows_alone_tell_the_order_of_dates(rows: bytes, told: str) -> None:
    table = read_table(b"seen\n" + rows, name="x.csv", header=True)
    assert len(table.guesses) == 1 and told in table.guesses[0]
    private = field("F08", private=True)
    assert private.guesses == () and np.isnan(private.periods("seen", "day")).all()


def test_codes_for_missing_and_days_as_written() -> None:
    table = field("F10", Format(missing=("-99", "9")))
    assert int(table.present("age").sum()) == 180 and suggest_domain(table, "age")["from"] == "21"
    assert int(np.isnan(table.numbers("edu")).sum()) == 19
    times = field("F09")
    local = times.with_format(Format(days=LOCAL))
    assert written(int(times.periods("c", "day")[0]), "day") == "2021-01-02"
    assert written(int(local.periods("c", "day")[0]), "day") == "2021-01-01"


def test_encodings_separators_and_lines_that_a_user_names() -> None:
    with pytest.raises(DataError, match="not UTF-8 text"):
        field("F01")
    german = field("F01", Format(encoding="cp1252"))
    assert german.distinct("ort", 9) == ["Bonn", "Köln", "München"]
    assert "It was converted from CP1252 to UTF-8." in german.notes
    utf_8 = read_table("ort\nKöln\n".encode("utf-8-sig"), name="x.csv", header=True)
    assert utf_8.distinct("ort", 9) == ["Köln"] and not any("converted" in note for note in utf_8.notes)
    assert field("F15b", Format(encoding="utf-16-le")).distinct("name", 9) == ["José", "Zoë"]
    table = read_table(b"x\ny\na^b\n1^2\n", name="x.txt", header=True, settings=read_format("separator=^ skip=2"))
    assert (table.columns, table.numbers("b").tolist()) == (("a", "b"), [2])
    comments = b"# made by hand, twice\n# 2020\nage,pay,town\n20,1,x\n21,2,y\n22,3,z\n"
    assert read_table(comments, name="x.csv", header=True).columns == ("age", "pay", "town")
    padded = b"Pay of staff,,\n,,\nage,pay,town\n20,1,x\n21,2,y\n22,3,z\n"
    assert read_table(padded, name="x.csv", header=True).columns == ("age", "pay", "town")
    with pytest.raises(DataError, match="its contents are damaged or cut short"):
        read_table(b"PK\x03\x04", name="pay.xlsx")


@pytest.mark.parametrize("name", ["F23b", "F23d"])
def test_what_was_refused_before_is_not_misread(name: str) -> None:
    with pytest.raises(DataError, match="row 2 has"):
        field(name)


@pytest.mark.parametrize(
    "text",
    [
        "id\nSmith,flu,3\nJones,mumps,4\nWu,flu,5\nLee,flu,6\n",  # one name above rows of three
        "id,,\nSmith,flu,3\nJones,mumps,4\nWu,flu,5\nLee,flu,6\n",  # columns without names
        "# name,illness,age\nSmith,flu,3\nJones,mumps,4\nWu,flu,5\nLee,flu,6\n",  # names behind a sign for comments
        "name;job\nSmith,flu,3\nJones,mumps,4\nWu,flu,5\nLee,flu,6\n",  # another separator than the rows'
    ],
)
def test_no_row_of_a_private_file_is_taken_for_the_header_or_says_what_separates_fields(text: str) -> None:
    """The user said that the first row holds names; a record in its place would stand on the screen."""
    try:
        table = read_table(text.encode(), name="x.csv", header=True, ask=True)
    except DataError as error:
        shown = str(error)
    else:
        shown = f"{table.columns} {table.notes} {table.guesses}"
    assert not any(word in shown for word in ("Smith", "flu", "skipped", "comma")), shown


def test_lines_above_the_header_of_a_private_file_are_skipped_as_the_user_says() -> None:
    text = b"Wages of 2024\n\nname,pay\nSmith,3\nJones,4\nWu,5\n"
    assert read_table(text, name="x.csv", header=True).columns == ("name", "pay")
    with pytest.raises(DataError):
        read_table(text, name="x.csv", header=True, ask=True)
    assert read_table(text, name="x.csv", header=True, ask=True, settings=Format(skip=2)).columns == ("name", "pay")


def test_words_above_words_are_read_as_they_are() -> None:
    assert field("F34").columns == ("First name", "Town")
    assert field("F23").distinct("job", 9) == ["cook", "nurse"]
    assert field("F19").distinct("town", 9)[:3] == ["A; east", "Smith, J.", 'say "hi"']
    assert "at place 2" in field("R05").notes[0]


CELLS: list[tuple[str, str, float]] = [
    ("(1,234.50)", ".", -1234.5), ("€ 1.234,50", ",", 1234.5), ("12%", ".", 12), ("1 234", ".", 1234),
    ("1'234.5", ".", 1234.5), ("12,34,567", ".", 1234567), ("-$5", ".", -5), ("5-", ".", -5), ("1,5E+03", ",", 1500),
    ("1.5", ",", NAN), ("1,5", ".", NAN), ("1.234", ",", 1234), ("1.2.3", ".", NAN), ("0,125", ".", NAN),
    ("1,2345", ".", NAN), ("−3", ".", -3), ("1e-3", ".", 0.001), ("$", ".", NAN), ("5 EUR", ".", 5), (".5", ".", 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "decimal", "value"), CELLS)
def test_a_cell_is_read_by_the_settings_alone_whatever_stands_beside_it(cell: str, decimal: str, value: float) -> None:
    for others in ((), ("1,5", "2,5"), ("1.5", "2.5")):
        rows = "".join(f'"{each}",x\n' for each in (cell, *others))
        table = read_table(f"a,b\n{rows}".encode(), name="x.csv", header=True, settings=Format(decimal=decimal))
        np.testing.assert_array_equal(table.numbers("a")[0], value)


def test_long_names_that_differ_at_their_end_can_be_told_apart() -> None:
    names = [f"{'How satisfied are you with your life as a whole today and ' * 2}{end}" for end in ("before", "after")]
    clean, _ = clean_names(names)
    assert len(set(clean)) == 2 and clean[1].endswith("after")


@pytest.mark.parametrize("broken", ["decimal=;", "separator=ab", "x=1", "skip=-1", "encoding=utf-7", "date_order=last"])
def test_a_format_that_says_nothing_is_refused(broken: str) -> None:
    with pytest.raises(ParameterError):
        read_format(broken)


def test_a_code_for_missing_cannot_leave_its_quotes() -> None:
    settings: dict[str, Any] = {"missing": ("') OR true --", "'", "\\")}
    table = read_table(b"a,b\n1,x\n2,y\n", name="x.csv", settings=Format(**settings))
    assert table.numbers("a").tolist() == [1, 2]


REFUSED = {"F23b_backslash.csv", "F23d_single_quotes.csv"}
"""Of the field's files, those that are refused under every setting."""
READABLE = [path for path in sorted(FIELD.glob("*.*")) if path.name not in REFUSED]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_quotes_otherwise_than_by_doubling_is_refused(name: str) -> None:
    with pytest.raises(DataError):
        read_table(FIELD / name, name=name, header=True, settings=Format())


@pytest.mark.parametrize("path", READABLE, ids=lambda path: path.name)
def test_a_table_s_settings_read_the_same_file_again_without_a_guess(path: Path) -> None:
    """They are what a request carries: the reader of a release may guess nothing from rows about people."""
    encoding = {"F01": "cp1252", "F15b": "utf-16-le"}.get(path.name.partition("_")[0], "")
    header = None if path.suffix == ".parquet" else True
    table = read_table(path, name=path.name, header=header, settings=Format(encoding=encoding))
    settings = table.format if table.format.skip else dataclasses.replace(table.format, skip=0)
    again = read_table(path, name=path.name, header=table.header, settings=settings, guess_values=False, ask=True)
    assert again.format == table.format and again.columns == table.columns
    assert sorted(again.packed(again.columns)) == sorted(table.packed(table.columns))
    for column in table.columns[:8]:
        assert np.array_equal(again.numbers(column), table.numbers(column), equal_nan=True)
        assert np.array_equal(again.periods(column, "day"), table.periods(column, "day"), equal_nan=True)


BODY = "age,pay,job\n" + "".join(f"{place % 50},{place * 10},cook\n" for place in range(80))


@pytest.mark.parametrize("above", ["Report of 2026\n", "Report of 2026\n\n", "Wages, 2026\n", "Report\nBy: us\n\n"])
def test_a_private_file_under_a_title_is_refused_with_the_setting_that_reads_it(above: str) -> None:
    with pytest.raises(DataError, match=r"Lines to skip \(--format skip=1 for one line\)\.$") as refused:
        read_table((above + BODY).encode(), name="x.csv", header=True, ask=True)
    assert "or more where" in str(refused.value)
    skip = above.count("\n")
    table = read_table((above + BODY).encode(), name="x.csv", header=True, ask=True, settings=Format(skip=skip))
    assert table.columns == ("age", "pay", "job") and not table.notes[1:]


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("separator", [";", "|", "\t"])
@pytest.mark.parametrize("above", ["Report of 2026\n", "Report of 2026\n\n", "Report\nBy: us\n\n"])
def test_a_title_above_other_separators_than_commas_is_refused_too(above: str, separator: str, header: bool) -> None:
    """They were read as one column, without a word."""
    body = BODY.replace(",", separator)
    settings = Format(skip=0)
    for private in ({"ask": True}, {"guess_values": False, "settings": settings}, {"ask": True, "settings": settings}):
        with pytest.raises(DataError, match=r"^x\.csv: row 1 has no separator, but the rows below have ") as refused:
            read_table((above + body).encode(), name="x.csv", header=header, **private)
        assert "Lines to skip (--format skip=1)" in str(refused.value)
    skip = Format(skip=above.count("\n"))
    table = read_table((above + body).encode(), name="x.csv", header=True, ask=True, settings=skip)
    assert table.columns == ("age", "pay", "job")


def test_one_column_is_one_column_whatever_signs_some_of_its_cells_have() -> None:
    cells = ["a", "b;c", "d", "e|f", "g", "h;i;j"] * 5
    assert read_table("\n".join(["note", *cells]).encode(), name="x.csv", header=True, ask=True).row_count == 30
    paired = "\n".join(["pairs", *["a;b"] * 30]).encode()
    with pytest.raises(DataError, match="If there is only one column, set Separator to a comma"):
        read_table(paired, name="x.csv", header=True, ask=True)
    table = read_table(paired, name="x.csv", header=True, ask=True, settings=Format(separator=","))
    assert table.columns == ("pairs",) and table.row_count == 30


def test_a_title_of_commas_that_is_read_as_the_header_is_said_to_be_one() -> None:
    """As a workbook saves it: the names of the columns are then a record."""
    table = read_table(f"Report of 2026,,\n{BODY}".encode(), name="x.csv", header=True, ask=True)
    assert TITLE_OR_HEADER in table.notes
    assert TITLE_OR_HEADER not in read_table(BODY.encode(), name="x.csv", header=True, ask=True).notes
    assert TITLE_OR_HEADER not in read_table(f",b,\n{BODY}".encode(), name="x.csv", header=True, ask=True).notes


def test_a_private_row_that_is_too_long_further_down_has_nothing_to_do_with_a_title() -> None:
    with pytest.raises(DataError, match=r"row 82 has 4 fields or more where 3 were expected\.$"):
        read_table(f"{BODY}1,2,3,4\n".encode(), name="x.csv", header=True, ask=True)
