"""Dates and yes/no answers: every spelling, every calendar, every way in gives the same cells."""

from __future__ import annotations

import dataclasses
import datetime
import io
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import ParameterError
from dpcore.data.columns import Labels
from dpcore.data.dates import STEPS, Ages, Dates, period_of, written
from dpcore.data.frames import frame_of, read_frame
from dpcore.data.product import Product
from dpcore.data.reading.cell_parsing import STEPS as READ
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns


def day_in(day: datetime.date, step: str) -> str:
    """The unit of a day, as ISO 8601 writes it."""
    year, week, _ = day.isocalendar()
    return {"day": f"{day}", "week": f"{year:04d}-W{week:02d}", "month": f"{day}"[:7], "year": f"{day}"[:4]}[step]


ORDINALS = st.integers(datetime.date(1, 1, 1).toordinal(), datetime.date(9999, 12, 31).toordinal())
EARLIER = st.integers(datetime.date(1, 1, 1).toordinal(), datetime.date(9989, 12, 31).toordinal())
"""Ten units of any kind follow."""


def one_column(cells: Sequence[str]) -> Table:
    """A file of one column, and another beside it so that an empty cell is a cell."""
    return read_table(
        "".join(["cell,beside\n", *(f'"{cell}",1\n' for cell in cells)]).encode(), name="x.csv", header=True
    )


def units(table: Table, step: str) -> list[str | None]:
    """The unit that is read of each cell, as it is written."""
    numbers = table.periods("cell", step).tolist()
    return [None if number != number else written(int(number), step) for number in numbers]


def test_the_reader_and_the_domain_know_the_same_units() -> None:
    assert tuple(STEPS) == READ


# A cell, and its day, week, month and year.
SPELLED: list[tuple[str, str | None, str | None, str | None, str | None]] = [
    ("2024-02-29", "2024-02-29", "2024-W09", "2024-02", "2024"),
    ("2023-02-29", None, None, None, None),
    ("1900-02-29", None, None, None, None),
    ("2000-02-29", "2000-02-29", "2000-W09", "2000-02", "2000"),
    ("2024-12-30", "2024-12-30", "2025-W01", "2024-12", "2024"),
    ("2021-01-03", "2021-01-03", "2020-W53", "2021-01", "2021"),
    ("1969-12-29", "1969-12-29", "1970-W01", "1969-12", "1969"),
    ("1969-12-28", "1969-12-28", "1969-W52", "1969-12", "1969"),
    ("9999-12-31", "9999-12-31", "9999-W52", "9999-12", "9999"),
    ("2020-W53", None, "2020-W53", None, None),
    ("2021-W53", None, None, None, None),
    ("2021-W00", None, None, None, None),
    ("2021-W54", None, None, None, None),
    ("2024-02", None, None, "2024-02", "2024"),
    ("2024-13", None, None, None, None),
    ("2024-00", None, None, None, None),
    ("2024", None, None, None, "2024"),
    ("2024.0", None, None, None, "2024"),
    ("2024.5", None, None, None, None),
    ("2024-02-29 23:30", "2024-02-29", "2024-W09", "2024-02", "2024"),
    ("2024-02-29T23:30:59.123456789", "2024-02-29", "2024-W09", "2024-02", "2024"),
    ("2024-02-29 23:30:00-05:00", "2024-03-01", "2024-W09", "2024-03", "2024"),
    ("2023-12-31T23:30-0100", "2024-01-01", "2024-W01", "2024-01", "2024"),
    ("2024-03-01T00:30+01", "2024-02-29", "2024-W09", "2024-02", "2024"),
    ("2024-02-29T23:30Z", "2024-02-29", "2024-W09", "2024-02", "2024"),
    ("2024-02-29 25:00", None, None, None, None),
    *((cell, "2024-02-29", "2024-W09", "2024-02", "2024") for cell in (
        "29.02.2024", "29.2.24", "02/29/2024", "2-29-2024 11:30 PM", "2024-2-29", "2024/02/29", "20240229",
        "29-Feb-24", "29 February 2024", "45351", "45351.75", "2024-02-29 23:30 UTC",
    )),
    (" 2024-02-29 ", "2024-02-29", "2024-W09", "2024-02", "2024"),
    *((cell, None, None, None, None) for cell in (
        "", "NaN", "1e999", "-1", "0", "2024-02-29 noon", "30.02.2024", "20240230", "2024/13/01",
        "epoch", "infinity", "today", "２０２４-02-29", "2024-02-29\u2028", "12024-02-29", "2024-02-29 (BC)",
    )),
]  # fmt: skip


@pytest.mark.parametrize(("place", "step"), list(enumerate(STEPS, 1)))
def test_every_spelling_is_one_unit_or_none(place: int, step: str) -> None:
    assert units(one_column([row[0] for row in SPELLED]), step) == [row[place] for row in SPELLED]


@pytest.mark.slow
@settings(max_examples=5)
@given(st.lists(ORDINALS, min_size=100, max_size=200))
def test_units_are_those_of_the_calendar(ordinals: list[int]) -> None:
    days = [datetime.date.fromordinal(ordinal) for ordinal in ordinals]
    weeks = [f"{year:04d}-W{week:02d}" for year, week, _ in (day.isocalendar() for day in days)]
    cells = [day.isoformat() for day in days]
    table = one_column(cells)
    assert units(table, "day") == cells
    assert units(table, "week") == weeks and [written(period_of(week, "week"), "week") for week in weeks] == weeks
    assert units(table, "month") == [cell[:7] for cell in cells]
    assert units(table, "year") == [cell[:4] for cell in cells]


def test_cells_are_units_and_bounds_are_included() -> None:
    cells = ["2020-01-31", "2020-02-01", "2021-02-28", "2021-03-01", "", "2020", "2020-02"]
    table = one_column(cells)
    clamped, strict = (
        Dates(step="month", first="2020-02", last="2021-02", missing=True, clamp=clamp) for clamp in (True, False)
    )
    assert clamped.ordered == strict.ordered == 13
    assert Columns(names=("cell",), on=clamped).records(table).tolist() == [0, 0, 12, 12, 13, 13, 0]
    assert Columns(names=("cell",), on=strict).records(table).tolist() == [13, 0, 12, 13, 13, 13, 0]
    assert [clamped.describe(cell) for cell in (0, 12, 13)] == ["2020-02", "2021-02", "missing or out of bounds"]
    assert eval(repr(clamped), {"Dates": Dates}) == clamped != strict


@given(EARLIER, EARLIER)
@settings(max_examples=50)
def test_a_written_range_holds_both_its_ends_in_every_unit(one: int, other: int) -> None:
    days = [datetime.date.fromordinal(each) for each in sorted((one, other))]
    for step, sign in zip(STEPS, ("–", " - ", " / ", " to "), strict=True):
        units = [day_in(day, step) for day in days]
        first = period_of(units[0], step)
        beyond = min(period_of(units[1], step), first + 9)
        on = Dates(step=step, first=written(first, step), last=written(first + 9, step))
        for ends in (days, days[::-1]):
            assert on.cells_of(f" {ends[0]}{sign}{ends[1]} ") == (0, beyond - first)
        assert on.cells_of(sign.join(units)) == (0, beyond - first)


@pytest.mark.parametrize("text", ["", "2024-03-01", "2024-03-01 – ", "2024-03-01–2024-03-02–2024-03-03", "1 – 2",
                                  "2024-02-30 – 2024-03-01", "2024-13 – 2024-14", "<b> – </b>"])  # fmt: skip
def test_what_is_no_range_of_dates_is_one_sentence_without_it(text: str) -> None:
    with pytest.raises(ParameterError, match="2024-0") as caught:
        Dates(step="month", first="2024-01", last="2024-12").cells_of(text)
    assert not text or text not in str(caught.value)


@pytest.mark.parametrize("text", ["2023-01 – 2023-12", "2025-01-01 – 2030-01-01"])
def test_a_range_beyond_the_dates_has_no_cell(text: str) -> None:
    months = Dates(step="month", first="2024-01", last="2024-12")
    with pytest.raises(ParameterError, match="they go from 2024-01 to 2024-12"):
        months.cells_of(text)
    assert months.cells_of("2023-01 – 2024-01") == (0, 0) and months.cells_of("2024-12-31 – 2030-01-01") == (11, 11)


@pytest.mark.parametrize("step", STEPS)
def test_every_unit_between_the_bounds_has_its_own_cell(step: str) -> None:
    first, last = {
        "day": ("2023-12-25", "2024-03-05"),
        "week": ("2019-W50", "2021-W03"),  # 2020 has 53
        "month": ("1969-11", "1970-02"),
        "year": ("1899", "2101"),
    }[step]
    domain = Dates(step=step, first=first, last=last)
    names = [domain.describe(cell) for cell in range(domain.ordered)]
    assert (names[0], names[-1]) == (first, last) and len(set(names)) == domain.ordered == domain.size
    assert names == sorted(names)
    cells = Columns(names=("cell",), on=domain).records(one_column(names))
    assert cells.tolist() == list(range(domain.ordered))
    assert domain.table(np.array([0]))["value"].tolist() == [first]


@pytest.mark.parametrize(
    ("step", "first", "last", "said"),
    [
        ("day", "2023-02-29", "2024-01-01", "Write an existing day, for example 2024-02-29"),
        ("day", "2024-1-1", "2024-02-01", "Write an existing"),
        ("day", "２０２４-01-01", "2024-02-01", "Write an existing"),
        ("week", "2021-W53", "2022-W01", "Write an existing week, for example 2024-W09"),
        ("month", "2024-00", "2024-02", "Write an existing"),
        ("year", "0000", "2024", "Write an existing"),
        ("year", "1e999", "2024", "Write an existing"),
        ("month", "2024-02", "2024-02", "must come after"),
        ("month", "2024-03", "2024-02", "must come after"),
        ("day", "1800-01-01", "2024-01-01", "coarser unit"),
        ("hour", "2024", "2025", "one of day, week, month, year"),
    ],
)
def test_bounds_that_make_no_calendar_are_one_sentence(step: str, first: str, last: str, said: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(said)):
        Dates(step=step, first=first, last=last)


def ways_in(frame: pd.DataFrame) -> list[Table]:
    """The frame itself, and what it becomes as a CSV and as a Parquet file."""
    stored = io.BytesIO()
    frame.to_parquet(stored, index=False)
    return [
        read_frame(frame),
        read_frame(frame.astype(object)),
        read_table(frame.to_csv(index=False).encode(), name="x.csv", header=True),
        read_table(stored.getvalue(), name="x.parquet"),
    ]


@pytest.mark.slow
def test_frames_and_files_give_the_same_dates_wherever_the_machine_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    naive = pd.to_datetime(["2024-02-29 23:30", None, "2024-12-30 00:00"])
    frame = pd.DataFrame(
        {
            "naive": naive,
            "zoned": naive.tz_localize("America/New_York"),
            "whole": [2024, 2025, -1],
            "gaps": [2024.0, None, 1e308],
            "text": ["2024-02-29", "nothing", "2024-W53"],
        }
    )
    for table in ways_in(frame):
        np.testing.assert_array_equal(table.periods("naive", "day"), [19782, np.nan, 20087])
        np.testing.assert_array_equal(table.periods("zoned", "day"), [19783, np.nan, 20087])
        np.testing.assert_array_equal(table.periods("whole", "year"), [2024, 2025, np.nan])
        np.testing.assert_array_equal(table.periods("gaps", "year"), [2024, np.nan, np.nan])
        np.testing.assert_array_equal(table.periods("text", "week"), [2826, np.nan, np.nan])


NO, YES, NEITHER = 0, 1, 2
ANSWERS = {
    **dict.fromkeys(("yes", "YES", "True", "t", "Y", "1", "1.0", "+1", " yes "), YES),
    **dict.fromkeys(("no", "No", "FALSE", "f", "N", "0", "0.0", "-0", "0e9"), NO),
    **dict.fromkeys(("", "2", "-1", "1e999", "NaN", "yess", "ja", "on", "0.5", "1e-999x"), NEITHER),
}


def test_a_yes_is_a_yes_in_every_spelling() -> None:
    truths = one_column(list(ANSWERS)).truths("cell").tolist()
    assert dict(zip(ANSWERS, truths, strict=True)) == ANSWERS


@pytest.mark.slow
def test_frames_and_files_give_the_same_answers() -> None:
    frame = pd.DataFrame(
        {
            "truth": [True, False, True],
            "gaps": pd.array([True, None, False], dtype="boolean"),
            "number": [1.0, None, 0.0],
            "text": ["Yes", "no", None],
        }
    )
    for table in ways_in(frame):
        assert table.truths("truth").tolist() == [YES, NO, YES]
        assert table.truths("gaps").tolist() == table.truths("number").tolist() == [YES, NEITHER, NO]
        assert table.truths("text").tolist() == [YES, NO, NEITHER]
    assert dpcore.from_frame(frame, "gaps", Labels(yes_no=True)).histogram.tolist() == [1, 1, 1]
    assert dpcore.from_frame(frame, "gaps", Labels(yes_no=True, missing=False)).histogram.tolist() == [2, 1]
    assert dpcore.from_frame(frame, "gaps", Labels(yes_no=True)).frame()["value"].fillna("-").tolist() == [
        "yes",
        "-",
        "no",
    ]


@pytest.mark.parametrize("day", ["2023-02-28", "2024-02-29", "2024-12-31"])
def test_an_age_is_the_number_of_birthdays_until_the_day(day: str) -> None:
    births = ["2000-02-28", "2000-02-29", "2000-03-01", "1999-12-31", "2024-06-30", "1850-01-01", "2030-01-01", "", "x"]
    ages, on = Ages(day=day, missing=True), datetime.date.fromisoformat(day)
    records = Columns(names=("born",), on=ages).records(read_frame(pd.DataFrame({"born": births})))

    def birthdays(text: str) -> int:
        born = datetime.date.fromisoformat(text)
        return sum((year, born.month, born.day) <= (on.year, on.month, on.day) for year in range(born.year + 1, 2031))

    assert records.tolist() == [*(min(birthdays(text), 120) for text in births[:7]), 121, 121]
    assert ages.points()[:3].tolist() == [0, 1, 2] and ages.describe(30) == "30"


def test_mock_dates_of_birth_have_the_ages_that_they_are_for() -> None:
    ages = Ages(day="2024-02-29", missing=True)
    domain = Product(names=("born", "band"), columns=(ages, dataclasses.replace(ages, cuts=(17.5,))))
    cells = np.stack([np.tile(np.arange(122), 20), np.repeat([0, 1], 1220)], axis=1)
    table = read_frame(frame_of(domain, cells, seed=1))
    early = frame_of(Product(names=("born", "band"), columns=(Ages(day="0001-03-01"),) * 2), cells[:121] % 121, seed=1)
    assert read_frame(early).row_count == 121, "the calendar has no earlier year"
    for place, (name, column) in enumerate(zip(domain.names, domain.columns, strict=True)):
        assert Columns(names=(name,), on=column).records(table).tolist() == cells[:, place].tolist()
