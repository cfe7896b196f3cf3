"""The picture of a released file: a bar for each cell, and nothing where there is none."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pages.charts.picture import Bars, numbers
from pages.release.figure import released_counts
from tests.kit.ledgers import STEWARD, released_in, request_of
from tests.pages.picture_checks import whole


def released(tmp_path: Path, **changed: Any) -> pd.DataFrame:
    stored = released_in(tmp_path, request_of(**changed), by=STEWARD)
    return pd.read_csv(io.BytesIO(stored.files["counts.csv"]))


def test_each_cell_has_its_bar(tmp_path: Path) -> None:
    frame = released(tmp_path)
    picture = released_counts(frame.iloc[:, :-2])  # without the ends of intervals, as on a card
    assert picture is not None
    (bars,) = whole(picture).marks
    assert isinstance(bars, Bars) and bars.role == "released"
    assert numbers(bars.value).tolist() == frame["rows"].tolist()
    assert numbers(bars.start).tolist() == [0, 5, 10, 15] and numbers(bars.end).tolist() == [5, 10, 15, 20]


def test_what_is_no_list_of_counts_is_not_drawn() -> None:
    assert released_counts(pd.DataFrame({"place": [0, 1], "outcome": [2, 3]})) is None
    assert released_counts(pd.DataFrame({"cell": np.arange(5000), "age": np.arange(5000), "rows": 1})) is None
    assert released_counts(pd.DataFrame({"cell": [0, 1], "x": [0, 1], "y": [0, 1], "rows": [1, 2]})) is None


def test_labels_are_named() -> None:
    picture = released_counts(pd.DataFrame({"cell": [0, 1, 2], "job": ["nurse", "cook", None], "rows": [3, -1, 2]}))
    assert picture is not None and whole(picture).x.labels == ("nurse", "cook", "missing")


@pytest.mark.parametrize("fitting", [[3, -1, 4, 0], [0, 0, 0, 0]])
def test_the_missing_cell_has_its_bar_beside_the_numbers(fitting: list[int]) -> None:
    middles = [5.0, 15.0, 25.0, 35.0, None]
    picture = released_counts(pd.DataFrame({"cell": range(5), "value": middles, "rows": [*fitting, 290]}))
    assert picture is not None
    (bars,) = whole(picture).marks
    assert isinstance(bars, Bars) and numbers(bars.value).tolist() == [*fitting, 290]
    start, end = numbers(bars.start), numbers(bars.end)
    assert (start[:4].tolist(), end[:4].tolist()) == ([0, 10, 20, 30], [10, 20, 30, 40])
    assert start[4] > 40 and end[4] > start[4], "off the axis of numbers"
    assert list(whole(picture).x.named.values()) == ["missing"]
    assert "Missing or unfit: 290." in picture.sentence
