"""When row 1 surely holds names, and when the user must say; the first is never a mere guess about words."""

from __future__ import annotations

import io
import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.data.reading.first_row import is_header
from dpcore.data.reading.intake import FirstRowUnclear
from dpcore.data.reading.tables import read_table

WORDS = st.text(st.characters(categories=["Lu", "Ll"]), min_size=1, max_size=8)
NUMBERS = st.floats().map(str) | st.integers().map(str) | st.dates().map(str) | st.just("")


@pytest.mark.parametrize(
    ("first", "below"),
    [
        (["name", "pay"], [["Ada", "1"]]),
        (["day", "pay 2019 (EUR)"], [["2020-01-01", "NA"], ["2020-01-02", "$1,000.50"]]),
        (["Anna's share"], [["12%"], ["n/a"], [""]]),
        (["q1", "q2"], [["3", "no answer"], ["4"]]),
    ],
)
def test_names(first: list[str], below: list[list[str]]) -> None:
    assert is_header(first, below)


@pytest.mark.parametrize(
    ("first", "below"),
    [
        (["name", "pay"], []),
        (["name", "town"], [["Ada", "London"]]),
        (["Ada", "1"], [["Bob", "2"]]),
        (["Ada", ""], [["Bob", "2"]]),
        (["Ada", "-"], [["Bob", "2"]]),
        (["Ada", "unknown"], [["Bob", "2"]]),
        (["Ada", "1e999"], [["Bob", "2"]]),
        (["Ada", "-Infinity"], [["Bob", "2"]]),
        (["Ada", "(1,000 €)"], [["Bob", "2"]]),
        (["Ada", "17:45"], [["Bob", "18:00"]]),
        (["yes", "pay"], [["no", "1"], ["Yes", "2"]]),
        (["pay", "Pay"], [["1", "2"]]),
        (["AB12", "pay"], [["CD34", "1"]]),
        (["ada@x.org", "pay"], [["bob@x.org", "1"]]),
        (["x" * 61, "pay"], [["y", "1"]]),
        (["name", "retired"], [["Ada", "45"], ["Bob", "retired early"]]),
    ],
)
def test_somebody_must_say(first: list[str], below: list[list[str]]) -> None:
    assert not is_header(first, below)


@pytest.mark.slow
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1))
def test_words_above_words_are_never_sure(rows: list[tuple[str, str]]) -> None:
    assert not is_header(rows[0], rows[1:])


@pytest.mark.slow
@given(WORDS, NUMBERS, st.lists(st.tuples(WORDS, NUMBERS)))
def test_a_record_with_a_number_is_never_taken_for_names(name: str, number: str, below: list[tuple[str, str]]) -> None:
    assert not is_header([name, number], below)


def test_many_blanks_are_read_once() -> None:
    start = time.process_time()
    assert not is_header(["-" + " " * 20_000 + "x", "pay"], [["-" + " " * 20_000 + "x", "1"]])
    assert time.process_time() - start < 1, "the time grew with the square of a stranger's blanks"


FIRST_RECORD = b"Ada Lovelace,retired\nBob,36\nEve,41\n"
"""One word above numbers: only a person can tell that it is no name."""


def test_of_rows_about_people_the_first_row_is_always_asked() -> None:
    assert read_table(FIRST_RECORD, name="people.csv").columns == ("Ada Lovelace", "retired")
    with pytest.raises(FirstRowUnclear):
        read_table(FIRST_RECORD, name="people.csv", ask=True)
    assert read_table(FIRST_RECORD, name="people.csv", ask=True, header=False).row_count == 3


def test_a_parquet_file_whose_names_were_a_record_has_none_where_rows_are_about_people() -> None:
    file = io.BytesIO()
    pd.read_csv(io.BytesIO(b"Ada Lovelace,36\nBob,41\n")).to_parquet(file)
    table = read_table(file.getvalue(), name="people.parquet", ask=True)
    assert table.columns == ("column 1", "column 2") and "Ada" not in repr(table)
