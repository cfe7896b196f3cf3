"""Synthetic rows: the projection is the nearest point, the counts add up, the file is harmless."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import Cells, Dataset, Labels, Number, ParameterError, Preview, Problem, Provenance, ProvenanceKind, entry
from dpcore.core import DataRelease, Domain
from dplab.synthetic import clean_counts, synthetic_csv

PUBLIC = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def released(domain: Domain, records: list[int]) -> DataRelease:
    dataset = Dataset(domain, np.array(records), PUBLIC)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=len(records))
    mechanism = entry("identity").make(epsilon=20.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(1))
    assert isinstance(release, DataRelease)
    return release


@pytest.mark.slow
@given(st.lists(st.integers(-30, 60), min_size=1, max_size=12), st.integers(1, 80))
def test_clean_counts_are_whole_and_non_negative_and_add_up(counts: list[int], total: int) -> None:
    cleaned = clean_counts(np.array([counts], dtype=np.float64), total=total)[0]
    assert (cleaned >= 0).all() and cleaned.sum() == total
    # A larger noisy count never ends below a smaller one by more than the rounding.
    order = np.argsort(counts)
    assert (np.diff(cleaned[order]) >= -1).all()


@pytest.mark.slow
@given(st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(lambda counts: sum(counts) > 0))
def test_clean_counts_leave_a_good_histogram_alone(counts: list[int]) -> None:
    cleaned = clean_counts(np.array([counts], dtype=np.float64), total=sum(counts))[0]
    assert cleaned.tolist() == counts


def test_clean_counts_are_the_least_squares_projection() -> None:
    generator = np.random.Generator(np.random.SFC64(3))
    for _ in range(50):
        noisy = generator.normal(5, 20, (1, 3))
        cleaned = clean_counts(noisy, total=12)[0]
        best = min(
            ((np.array([a, b, 12 - a - b]) - noisy[0]) @ (np.array([a, b, 12 - a - b]) - noisy[0]))
            for a in range(13)
            for b in range(13 - a)
        )
        # Rounding the nearest real point moves each count by less than one.
        assert np.sqrt(((cleaned - noisy[0]) ** 2).sum()) <= np.sqrt(best) + np.sqrt(3)


def test_refused_counts_are_an_error() -> None:
    with pytest.raises(ParameterError, match="without an answer"):
        clean_counts(np.array([[np.nan, 1.0]]), total=3)


def test_a_table_has_n_rows_of_midpoints_and_empty_missing_cells() -> None:
    release = released(Number(low=0, high=4, bits=2, missing=True), [0, 0, 1, 3, 4])
    rows = list(csv.reader(io.StringIO(synthetic_csv(release, columns=["x"]))))
    assert rows[0] == ["x"] and len(rows) == 6
    assert {cell for row in rows[1:] for cell in row} <= {"0.5", "1.5", "2.5", "3.5", ""}


def test_labels_that_a_spreadsheet_would_run_are_defused() -> None:
    release = released(Labels(labels=('=cmd|" /C calc"', 'b,\n"c'), missing=False), [0] * 50 + [1] * 50)
    rows = list(csv.reader(io.StringIO(synthetic_csv(release, columns=["x"]))))
    cells = {row[0] for row in rows[1:]}
    assert all(not cell.startswith("=") for cell in cells) and 'b,\n"c' in cells
