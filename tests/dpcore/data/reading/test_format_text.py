"""The settings with which a file is read stand in one sentence, each with the word that the settings page uses."""

from __future__ import annotations

import pytest

from dpcore.data.reading.format import DAY_FIRST, LOCAL, MONTH_FIRST, Format
from dpcore.data.reading.format_text import format_sentence
from dpcore.data.reading.tables import read_table

SWISS = Format(separator="\t", decimal=",", date_order=DAY_FIRST, encoding="cp1252")
CELLS = "decimal sign “,”, dates as 2024-02-29 or with the day first"
REST = "A time with a UTC offset counts on its UTC day. Empty cells count as missing."


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (True, f"Read as CP1252 text: fields between tabs, first row of names, {CELLS}. {REST}"),
        (False, f"Read as CP1252 text: fields between tabs, first row of data, {CELLS}. {REST}"),
        (None, f"Read as Parquet, with its own names and types; in text: {CELLS}. {REST}"),
    ],
)
def test_every_setting_of_a_file_is_said(header: bool | None, sentence: str) -> None:
    assert format_sentence(SWISS, header=header) == sentence


def test_a_separator_without_a_name_is_quoted_and_the_month_may_come_first() -> None:
    settings = Format(separator="~", decimal=".", date_order=MONTH_FIRST)
    assert format_sentence(settings, header=True) == (
        "Read as Unicode text: fields between “~”, first row of names, decimal sign “.”, "
        f"dates as 2024-02-29 or with the month first. {REST}"
    )


def test_the_day_of_a_time_with_an_offset_and_the_codes_for_missing_are_said() -> None:
    settings = Format(separator=",", decimal=".", days=LOCAL, missing=("-99", "?"))
    for header in (True, None):
        _, day, missing = format_sentence(settings, header=header).split(". ")
        assert day == "A time with a UTC offset counts on the day as written"
        assert missing == "Empty cells and the codes “-99”, “?” count as missing."


def test_the_sentence_is_about_the_settings_of_the_table_that_was_read() -> None:
    text = "Straße\tLohn\n01.02.2021\t1,5\n".encode("cp1252")
    table = read_table(text, name="swiss.tsv", header=True, settings=SWISS)
    assert format_sentence(table.format, header=table.header).startswith("Read as CP1252 text: fields between tabs, ")
    assert table.columns == ("Straße", "Lohn"), "and they were in force"
