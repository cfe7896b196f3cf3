"""The bundled samples load, are credited, and fit the domains suggested for them, which are not read off the data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.data.columns import is_number
from dpcore.data.dates import is_dates
from dpcore.data.samples import FOLDER, SAMPLES, Sample, load_sample, read_declaration, sample

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


def test_a_declaration_with_a_wrong_field_says_which_and_where(tmp_path: Path) -> None:
    whole = json.loads((FOLDER / f"{SAMPLES[0].key}.json").read_text(encoding="utf-8"))
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert read_declaration(path)[1].key == "mine"
    del whole["story"]
    path.write_text(json.dumps(whole | {"pair": []}), encoding="utf-8")
    with pytest.raises(ParameterError, match=r"mine\.json: missing fields \['story'\], unknown fields \['pair'\]"):
        read_declaration(path)


def test_every_bundled_file_is_a_sample() -> None:
    expected = [name for one in SAMPLES for name in (one.file, f"{one.key}.json")]
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(expected)
    assert len({one.key for one in SAMPLES}) == len(SAMPLES)
    with pytest.raises(ParameterError):
        sample("no such sample")
