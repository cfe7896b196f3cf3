"""Statistics of groups: numpy's on counters without noise, missing where nothing can be said, and sums of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import Labels, Neighbours, Number, Preview
from dpcore.core import Floats, Integers
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.statistics import statistics
from dpcore.mechanisms.grouped.weights import counters_of_rows
from dpcore.queries.groups import GroupStatistics
from tests.dpcore.mechanisms.grouped.tables import REGION, problem_of, queries_of, released

AGE = Number(low=-20, high=100, bins=60, missing=True)
INCOME = Number(low=0, high=5000, bits=9)


def rows_for(queries: GroupStatistics, n: int, seed: int) -> Integers:
    """Rows whose numbers depend on each other and on the group."""
    generator = np.random.Generator(np.random.SFC64(seed))
    hidden = generator.random(n)
    sizes = np.array(queries.domain.sizes)
    mixed = 0.4 * hidden[:, None] ** 2 + 0.6 * generator.random((n, len(sizes)))
    records: Integers = (mixed * sizes).astype(np.int64)
    return records


def values_in(column: Number | Labels, cells: Integers) -> Floats:
    """The number that each cell stands for; NaN for the reserved one."""
    points = column.points() if isinstance(column, Number) else np.arange(2.0)
    return np.append(points, np.nan)[np.minimum(cells, column.ordered)]


def in_groups(records: Integers, queries: GroupStatistics) -> list[list[Floats]]:
    """The numbers of each group's rows that have them all."""
    code = np.zeros(len(records), dtype=np.int64)
    for place, size in zip(queries.group_columns, queries.shape, strict=True):
        code = code * size + records[:, place]
    numbers = [values_in(queries.domain.columns[place], records[:, place]) for place in queries.numbers]
    present = ~np.isnan(numbers).any(axis=0)
    return [[each[present & (code == group)] for each in numbers] for group in range(queries.count)]


def moments(values: Floats) -> dict[str, float]:
    """Of numpy's, ddof = 0."""
    off = values - values.mean()
    return {
        "mean": float(values.mean()),
        "sum": float(values.sum()),
        "variance": float(values.var()),
        "standard deviation": float(values.std()),
        "skewness": float((off**3).mean() / values.std() ** 3),
    }


def check_equal(found: dict[str, Floats], group: int, expected: dict[str, float]) -> None:
    for name, value in expected.items():
        if name in found:
            assert found[name][group] == pytest.approx(value, rel=1e-9, abs=1e-9), name


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("columns", [(AGE,), (REGION, AGE), (REGION, Labels(missing=False), REGION, INCOME)])
def test_without_noise_they_are_numpys(columns: tuple[Any, ...], degree: int, seed: int) -> None:
    queries = queries_of(*columns, degree=degree)
    records = rows_for(queries, 20_000, seed)
    found = statistics(counters_of_rows(records, queries), queries)
    wanted = ["rows", "mean", "sum", "variance", "standard deviation", "skewness"]
    assert list(found) == wanted[: {1: 3, 2: 5, 3: 6}[degree]]
    for group, [values] in enumerate(in_groups(records, queries)):
        assert found["rows"][group] == len(values) > 3
        check_equal(found, group, moments(values))


@pytest.mark.parametrize("degree", [1, 2])
def test_of_two_numbers_too(degree: int, seed: int) -> None:
    queries = queries_of(AGE, REGION, INCOME, numbers=(2, 0), degree=degree)
    records = rows_for(queries, 20_000, seed)
    found = statistics(counters_of_rows(records, queries), queries)
    for group, (first, second) in enumerate(in_groups(records, queries)):
        assert found["rows"][group] == len(first) > 3
        for name, values in (("c", first), ("a", second)):
            check_equal(found, group, {f"{key} of {name}": value for key, value in moments(values).items()})
        slope = float(np.polyfit(second, first, 1)[0])
        check_equal(found, group, {"ratio of sums": float(first.sum() / second.sum()), "slope": slope})
        check_equal(found, group, {"correlation": float(np.corrcoef(first, second)[0, 1])})
    assert ("slope" in found) is ("correlation" in found) is (degree == 2)


def test_a_column_of_two_labels_has_a_proportion() -> None:
    queries = queries_of(REGION, Labels(labels=("no", "yes")))
    records = np.array([[0, 1]] * 3 + [[0, 0]] + [[0, 2]] * 5 + [[1, 0]])
    found = statistics(counters_of_rows(records, queries), queries)
    assert found["rows"].tolist() == [4, 1, 0] and found["sum"].tolist() == [3, 0, 0]
    assert found["proportion"].tolist()[:2] == [0.75, 0.0] and np.isnan(found["proportion"][2])


def test_a_group_without_rows_has_no_mean_and_one_value_no_slope() -> None:
    queries = queries_of(REGION, INCOME, AGE, numbers=(1, 2), degree=2)
    records = np.array([[0, 3, 7]] * 4)
    found = statistics(counters_of_rows(records, queries), queries)
    for name, values in found.items():
        assert np.isnan(values[1:]).all() == (name != "rows" and not name.startswith("sum")), name
    assert found["rows"].tolist() == [4, 0, 0]
    assert found["variance of b"][0] == pytest.approx(0, abs=1e-6)
    negative = statistics(-counters_of_rows(records, queries), queries)
    assert negative["rows"][0] == -4 and np.isnan(negative["mean of b"][0]) and np.isnan(negative["slope"][0])


def test_noise_gives_no_negative_variance_and_no_mean_out_of_bounds(seed: int) -> None:
    queries = queries_of(REGION, AGE, INCOME, numbers=(1, 2), degree=2)
    problem = problem_of(queries, 10)
    records = np.array([[0, 3, 7]] * 4 + [[1, 59, 0]])
    found = released(GroupCounters(epsilon=0.5), problem, records, sampler=Preview(seed), trials=2000).statistics()
    for name, low, high in (("mean of b", -20, 100), ("mean of c", 0, 5000), ("correlation", -1, 1)):
        told = found[name][~np.isnan(found[name])]
        assert len(told) > 500 and told.min() >= low and told.max() <= high
    assert np.nanmin(found["variance of b"]) == 0
    assert np.isnan(found["mean of b"]).mean() > 0.1 and not np.isnan(found["rows"]).any()


# Coarser groups, and frames.


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("kept", [(), (0,), (1,), (0, 2), (0, 1, 2)])
def test_margins_are_sums_of_cells(kept: tuple[int, ...], degree: int, seed: int) -> None:
    queries = queries_of(REGION, Labels(missing=False), REGION, AGE, degree=degree)
    records = rows_for(queries, 3000, seed)
    release = released(GroupCounters(epsilon=1.0), problem_of(queries, 3000), records, trials=3)
    shape = tuple(queries.shape[place] for place in kept)
    sums = np.zeros((3, *shape, degree + 1))
    for group in range(queries.count):
        cells = [int(cell) for cell in np.unravel_index(group, queries.shape)]
        at: tuple[Any, ...] = (slice(None), *(cells[place] for place in kept))
        sums[at] += release.counters[:, group]
    np.testing.assert_array_equal(release.counters_by(kept), sums.reshape(3, -1, degree + 1))
    coarse, fine = release.statistics(kept), release.statistics()
    for name in ("rows", "sum"):
        np.testing.assert_allclose(coarse[name].sum(axis=1), fine[name].sum(axis=1))
    mean = np.where(coarse["rows"] > 0, coarse["sum"] / coarse["rows"], np.nan)
    np.testing.assert_allclose(coarse["mean"], np.clip(mean, AGE.low, AGE.high))
    assert len(release.frame(kept)) == 3 * int(np.prod(shape))


def test_a_coarser_mean_is_that_of_its_groups_weighted_by_rows(seed: int) -> None:
    queries = queries_of(REGION, Labels(missing=False), AGE)
    release = released(GroupCounters(epsilon=5.0), problem_of(queries, 3000), rows_for(queries, 3000, seed))
    fine, coarse = release.statistics(), release.statistics((0,))
    rows, means = (fine[name].reshape(3, 2) for name in ("rows", "mean"))
    np.testing.assert_allclose((rows * means).sum(axis=1) / rows.sum(axis=1), coarse["mean"][0])


@pytest.mark.parametrize("kept", [(3,), (1, 0), (0, 0), (-1,)])
def test_groups_that_are_not_there_are_refused(kept: tuple[int, ...]) -> None:
    queries = queries_of(REGION, Labels(missing=False), AGE)
    release = released(GroupCounters(epsilon=1.0), problem_of(queries, 5), np.zeros((5, 3)))
    with pytest.raises(ValueError, match="places of group columns"):
        release.frame(kept)


def test_a_frame_shows_groups_counters_and_statistics() -> None:
    queries = queries_of(REGION, AGE)
    release = released(
        GroupCounters(epsilon=20.0), problem_of(queries, 500), np.array([[0, 30]] * 400 + [[2, 10]] * 90)
    )
    frame = release.frame()
    assert [*frame] == ["trial", "refused", "group a", "counter 0", "counter 1", "rows", "mean", "sum"]
    assert frame["group a"].tolist() == ["north", "south", "any other value"]
    np.testing.assert_array_equal(frame[["counter 0", "counter 1"]], release.counters[0])
    assert frame["mean"][0] == pytest.approx(41, abs=0.2) and frame["rows"][2] == pytest.approx(90, abs=2)
    whole = queries_of(AGE)
    frame = released(GroupCounters(epsilon=20.0), problem_of(whole, 500), np.full((400, 1), 30), trials=2).frame()
    assert frame["trial"].tolist() == [0, 1] and not any(name.startswith("group") for name in frame)


# Values that are missing.


def test_missing_values_are_left_out_or_at_a_bound_or_a_group_of_their_own_as_declared() -> None:
    line = Number(low=0, high=10, bins=10)
    values, labels = np.array([4.5, np.nan, np.nan, 8.5]), np.array([0, 0, 7, 1])
    for missing, present, mean in ((True, [1, 1, 0], 4.5), (False, [2, 1, 1], (4.5 + 0.5) / 2)):
        queries = queries_of(REGION, Number(low=0, high=10, bins=10, missing=missing))
        found = statistics(counters_of_rows(queries.domain.encode([labels, values]), queries), queries)
        assert found["rows"].tolist() == present and found["mean"][0] == pytest.approx(mean)
    declared = queries_of(Labels(labels=("north", "south"), missing=False), line)
    found = statistics(counters_of_rows(declared.domain.encode([labels, values]), declared), declared)
    assert found["rows"].tolist() == [3, 1], "any other value is at the first label where there is no group for it"


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_number_of_rows_with_a_number_is_private_where_it_is_not_n(neighbours: Neighbours, seed: int) -> None:
    queries = queries_of(AGE)
    records = np.append(np.full(30, 20), np.full(70, 60))[:, None]
    found = released(
        GroupCounters(epsilon=1.0), problem_of(queries, 100, neighbours), records, sampler=Preview(seed), trials=2000
    ).statistics()
    assert abs(float(np.median(found["rows"])) - 30) < 1 and found["rows"].std() > 1
    assert abs(float(np.median(found["mean"])) - 21) < 1
