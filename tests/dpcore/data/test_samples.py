"""The bundled samples load, are credited, and fit the domains suggested for them, which are not read off the data."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.data.columns import is_number
from dpcore.data.dates import is_dates
from dpcore.data.samples import FOLDER, SAMPLES, Sample, load_sample, sample

by_key = pytest.mark.parametrize("one", SAMPLES, ids=[one.key for one in SAMPLES])


@pytest.mark.slow
@by_key
def test_every_suggested_column_fits(one: Sample) -> None:
    load_sample.cache_clear()
    table = load_sample(one.key)
    assert table.row_count > 300
    for suggestion in one.columns:
        on, name = suggestion.on, suggestion.name
        if is_number(on):
            numbers, low, high = on.values(table, name), on.low, on.high
            if is_dates(on):
                numbers, high = numbers - 0.5, high - 1
            present = numbers[~np.isnan(numbers)]
            inside = (present >= low) & (present <= high)
            assert len(present) > 0.3 * table.row_count
            assert inside.mean() > 0.97
            # Bounds read off the data would touch both ends.
            touched = (present == low).any() and (present == high).any()
            assert not touched or not inside.all(), name
        else:
            codes = on.values(table, name)
            fitting = codes < on.ordered
            assert fitting.mean() > 0.75
            assert len(np.unique(codes[fitting])) > 1
    if one.person:
        assert table.codes(one.person).max() < table.row_count - 1


@pytest.mark.slow
@by_key
def test_every_sample_is_told_and_credited(one: Sample) -> None:
    sources = (FOLDER.parent / "SOURCES.md").read_text(encoding="utf-8")
    (line,) = [line for line in sources.splitlines() if line.startswith(f"| {one.file} ")]
    assert f"{load_sample(one.key).row_count:,} ×" in line
    assert one.licence in line
    assert one.title
    assert one.story.endswith(".")
    assert one.attribution
    assert one.columns
    assert sample(one.key) is one


def test_every_bundled_file_is_a_sample() -> None:
    expected = [name for one in SAMPLES for name in (one.file, f"{one.key}.json")]
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(expected)
    assert len({one.key for one in SAMPLES}) == len(SAMPLES)
    with pytest.raises(ParameterError):
        sample("no such sample")
