"""The counted mean: its exact law under both relations, the numbers it tells, and what it says of empty columns."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dpcore import Dataset, Neighbours, Number, ParameterError, Preview, Problem, Secure, Thresholds
from dpcore.core import Provenance, ProvenanceKind
from dpcore.data.dates import Dates
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from dpcore.mechanisms.robust.counted_mean import CountedMean, MeanRelease, counters, weight
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean
from dplab.audit import exact_delta

RELATIONS = pytest.mark.parametrize("neighbours", list(Neighbours))
WINDOW = (-14, 26)
"""All counters of three rows on two or three cells lie well inside."""


def problem_of(line: Number, n: int, neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE) -> Problem:
    return Problem(domain=line, queries=Thresholds(domain=line), n=n, neighbours=neighbours)


def rows_of(line: Number, cells: list[int]) -> Dataset:
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="counted mean")
    return Dataset(line, np.array(cells, dtype=np.int64), provenance)


def released(line: Number, cells: list[int], *, epsilon: float, trials: int, seed: int) -> MeanRelease:
    dataset, problem = rows_of(line, cells), problem_of(line, 10)
    mechanism = CountedMean(epsilon=epsilon)
    return mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), trials)


class HalfSensitivity(CountedMean):
    """Half the noise that the guarantee needs."""

    def sensitivity(self, problem: Problem) -> int:
        return super().sensitivity(problem) // 2


@RELATIONS
def test_half_the_sensitivity_is_caught(neighbours: Neighbours) -> None:
    problem = problem_of(Number(bins=3, missing=True), 2, neighbours)
    assert exact_delta(HalfSensitivity(epsilon=1.0), problem, window=WINDOW).delta > 0.01


@RELATIONS
def test_no_neighbour_moves_the_counters_further_than_the_sensitivity(neighbours: Neighbours) -> None:
    line = Number(bins=5, missing=True)
    sensitivity = CountedMean(epsilon=1.0).sensitivity(problem_of(line, 2, neighbours))
    each = [counters(np.bincount([cell], minlength=line.size), line) for cell in range(line.size)]
    assert all(found.sum() in (0, weight(line)) and (found >= 0).all() for found in each)
    pairs = [(one, np.zeros(2, dtype=np.int64)) for one in each]
    if neighbours is Neighbours.REPLACE_ONE:
        pairs = [(one, other) for one in each for other in each]
    furthest = max(float(np.abs(one - other).sum()) for one, other in pairs)
    assert sensitivity / 2 <= furthest <= sensitivity


def test_without_noise_the_counters_are_the_mean_and_the_rows() -> None:
    line = Number(low=-10, high=30, bins=40, missing=True)
    cells = [0, 7, 39, 39, 40, 40, 40]
    for places, rows in ((cells, 4), ([12], 1), ([39] * 3, 3)):
        a, b = counters(np.bincount(places, minlength=line.size), line)
        assert (a + b) / weight(line) == rows
        points = line.points()[[cell for cell in places if cell < line.ordered]]
        assert line.low + (line.high - line.low) * b / (a + b) == pytest.approx(points.mean(), rel=1e-12)


def test_rows_without_a_number_change_neither_mean_nor_its_rows(seed: int) -> None:
    line = Number(low=0, high=80, bins=80, missing=True)
    present = [40] * 133
    some, none = (released(line, present + [80] * empty, epsilon=10.0, trials=400, seed=seed) for empty in (67, 0))
    np.testing.assert_array_equal(some.counters, none.counters)
    assert abs(float(np.median(some.means)) - 40.5) < 0.05
    assert abs(float(np.median(some.rows)) - 133) < 0.5


@pytest.mark.parametrize("sampler", [Preview(3), Secure()], ids=lambda sampler: sampler.name)
def test_where_no_rows_are_counted_no_number_is_told(sampler: Preview | Secure) -> None:
    line = Number(high=80, bins=80, missing=True)
    problem = problem_of(line, 10)
    mechanism = CountedMean(epsilon=1.0)
    release = mechanism.run(mechanism.prepare(rows_of(line, [80] * 4), problem), sampler, 300)
    assert 0.3 < release.refused.mean() < 0.7
    frame = release.frame()
    told, silent = frame[~release.refused], frame[release.refused]
    assert silent[["mean", "rows"]].isna().all(axis=None) and not release.counters[release.refused].any()
    assert told["mean"].between(0, 80).all() and (told["rows"] > 0).all()
    assert np.isfinite(release.outcomes()).all()


def test_a_mean_of_dates_is_a_date() -> None:
    line = Dates(step="month", first="2020-01", last="2020-12", missing=True)
    problem = problem_of(line, 1000)
    mechanism = CountedMean(epsilon=10.0)
    frame = mechanism.run(mechanism.prepare(rows_of(line, [2] * 1000), problem), Preview(1), 1).frame()
    assert frame[["mean", "low", "high"]].iloc[0].tolist() == ["2020-03", "2020-01", "2020-12"]


def test_the_promise_never_divides_by_too_few_rows() -> None:
    line = Number(high=80, bins=80)
    for n in (1, 2, 5, 40, 1000):
        bound = CountedMean(epsilon=0.1).accuracy(problem_of(line, n), 0.05)
        assert bound.value > 0 and not np.isnan(bound.value)
        assert bound.vacuous == (n < (bound.rows_needed or 0)), n
    assert not CountedMean(epsilon=1.0).accuracy(problem_of(line, 1000), 0.05).applies, "n is private"
    replaced = problem_of(line, 1000, Neighbours.REPLACE_ONE)
    assert CountedMean(epsilon=1.0).accuracy(replaced, 0.05).applies
    empty = dataclasses.replace(line, missing=True)
    assert not CountedMean(epsilon=1.0).accuracy(problem_of(empty, 1000, Neighbours.REPLACE_ONE), 0.05).applies


@pytest.mark.parametrize("mechanism", [ClippedMean(epsilon=1.0), UnboundedMean(epsilon=1.0)], ids=repr)
def test_a_mean_over_n_is_not_drawn_where_cells_may_be_empty(mechanism: ClippedMean | UnboundedMean) -> None:
    line = Number(high=80, bins=80, missing=True)
    problem = problem_of(line, 30, Neighbours.REPLACE_ONE)
    assert "number of rows" in mechanism.unsuitable(problem) or "every row" in mechanism.unsuitable(problem)
    with pytest.raises(ParameterError, match="cells may be empty"):
        state: Any = mechanism.prepare(rows_of(line, [3] * 30), problem)
        mechanism.run(state, Preview(1), 1)
