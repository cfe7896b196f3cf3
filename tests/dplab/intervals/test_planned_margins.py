"""Margins of group statistics before a release: as wide as the errors of releases of the rows that they speak of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dpcore.core import Dataset, Floats, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.queries.groups import GroupStatistics
from dpcore.randomness import Preview
from dplab.intervals.noise import LaplaceNoise
from dplab.intervals.planned_margins import (
    PlannedMargin,
    budget_for_sum_and_count,
    margin_of_mean,
    margin_of_ratio,
    margin_of_rows,
    margin_of_slope,
    margin_of_sum,
    people_needed,
    predicted_half_width,
)

PAY, HOURS = Number(low=10, high=50, bins=20), Number(low=0, high=80, bins=20)
ROWS, TRIALS, LEVEL, EPSILON = 3_200, 2_000, 0.9, 0.5


def queries_of(*columns: Number | Labels, degree: int = 1) -> GroupStatistics:
    names = tuple(f"c{place}" for place in range(len(columns)))
    domain = Product(names=names, columns=columns)
    return GroupStatistics(domain=domain, numbers=tuple(range(len(columns))), degree=degree)


def released(queries: GroupStatistics, cells: Floats, name: str) -> tuple[Floats, LaplaceNoise]:
    """Released statistics of rows in these cells, and the noise of one counter."""
    problem = Problem(domain=queries.domain, queries=queries, n=ROWS, neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = GroupCounters(epsilon=EPSILON)
    dataset = Dataset(queries.domain, cells.astype(np.uint16), Provenance(kind=ProvenanceKind.GENERATED, title="rows"))
    drawn = mechanism.run(mechanism.prepare(dataset, problem), Preview(7), TRIALS)
    noise = LaplaceNoise.of(epsilon=EPSILON, sensitivity=mechanism.sensitivity(problem))
    return drawn.statistics()[name][:, 0], noise


def grid(*columns: Number) -> Floats:
    """Every combination of cells equally often: uniform and unrelated."""
    each = np.indices([column.ordered for column in columns]).reshape(len(columns), -1).T
    return np.tile(each, (ROWS // len(each), 1)).astype(np.float64)


def near_the_middle() -> Floats:
    """Uniform pay, and hours an eighth of their range above or below the middle: unrelated."""
    each = np.array([[pay, hours] for pay in range(PAY.ordered) for hours in (7, 12)], dtype=np.float64)
    assert [PAY.ordered % 2, *HOURS.points()[[7, 12]]] == [0, 30, 50]
    return np.tile(each, (ROWS // len(each), 1))


@pytest.mark.parametrize(
    ("queries", "cells", "name", "law"),
    [
        (queries_of(PAY), np.zeros((ROWS, 1)), "mean", margin_of_mean),
        (queries_of(PAY, degree=2), np.zeros((ROWS, 1)), "mean", margin_of_mean),
        (queries_of(Labels(labels=("a", "b"))), np.zeros((ROWS, 1)), "proportion", margin_of_mean),
        (queries_of(PAY), grid(PAY), "sum", margin_of_sum),
        (queries_of(PAY, HOURS), grid(PAY, HOURS), "ratio of sums", margin_of_ratio),
        (queries_of(PAY, HOURS, degree=2), near_the_middle(), "slope", margin_of_slope),
    ],
    ids=["mean", "mean of degree 2", "share", "sum", "ratio", "slope"],
)
def test_a_margin_holds_as_often_as_its_level(
    queries: GroupStatistics, cells: Floats, name: str, law: Callable[[GroupStatistics], PlannedMargin]
) -> None:
    values, noise = released(queries, cells, name)
    truth = float(np.median(values))  # noise is symmetric; a mean at a bound is cut off there
    if name in ("mean", "proportion"):
        column = queries.domain.columns[0]
        truth = float(column.points()[0]) if isinstance(column, Number) else 0.0
    width = law(queries).half_width(noise, people=ROWS, level=LEVEL)
    inside = np.mean(np.abs(values - truth) <= width)
    # Errors of a mean at a bound are cut off on one side, half of those of a share.
    assert inside >= LEVEL - 0.025
    narrower = np.mean(np.abs(values - truth) <= width / 2)
    assert narrower < (LEVEL if name != "proportion" else (1 + LEVEL) / 2), "half of it would not do"


def test_it_is_the_half_width_that_group_sizes_predict() -> None:
    queries, noise = queries_of(PAY), LaplaceNoise.of(epsilon=EPSILON, sensitivity=40)
    law = margin_of_mean(queries)
    expected = predicted_half_width(300, noise, weight=40, level=LEVEL, width=40.0)
    assert law.half_width(noise, people=300, level=LEVEL) == pytest.approx(expected, rel=1e-12)
    rows = people_needed(1.5, noise, weight=40, level=LEVEL, width=40.0)
    widths = [law.half_width(noise, people=each, level=LEVEL) for each in (rows, rows - 1)]
    assert widths[0] <= 1.5 < widths[1]


def test_sums_and_numbers_of_rows_do_not_depend_on_the_group() -> None:
    noise = LaplaceNoise.of(epsilon=EPSILON, sensitivity=40)
    for law in (margin_of_rows(), margin_of_sum(queries_of(PAY))):
        assert law.half_width(noise, people=0, level=LEVEL) == law.half_width(noise, people=999, level=LEVEL)
    assert margin_of_rows().half_width(noise, people=1, level=LEVEL) == noise.half_width(1 - LEVEL)


def test_what_cannot_be_predicted_is_infinite_or_refused() -> None:
    noise = LaplaceNoise.of(epsilon=EPSILON, sensitivity=40)
    assert margin_of_mean(queries_of(PAY)).half_width(noise, people=0, level=LEVEL) == np.inf
    with pytest.raises(ParameterError):
        margin_of_mean(queries_of(PAY)).half_width(noise, people=-1, level=LEVEL)
    with pytest.raises(ParameterError, match="the middle of its divisor's range is 0"):
        margin_of_ratio(queries_of(PAY, Number(low=-5, high=5, bins=10)))


@pytest.mark.parametrize("number", [PAY, Number(low=0, high=80, bins=20), Number(low=-40, high=40, bins=20)])
def test_a_sum_and_a_count_of_half_each_have_the_same_margin_at_the_budget_named(number: Number) -> None:
    """Simulated with NumPy's Laplace noise; at our own ε they are far off."""
    queries, generator = queries_of(number), np.random.default_rng(1)
    b = 1 / EPSILON
    noise = LaplaceNoise(scale=b * 2 * number.ordered)
    ours = middle_of(number).half_width(noise, people=ROWS, level=LEVEL)
    times = budget_for_sum_and_count(queries, noise, level=LEVEL)
    assert 1.2 < times < 6

    def missed(epsilon: float) -> float:
        total, count = generator.laplace(scale=2 / epsilon, size=(2, 200_000))
        middle, larger = (number.low + number.high) / 2, max(abs(number.low), abs(number.high))
        return float((np.abs(larger * total - middle * count) / ROWS > ours).mean())

    assert missed(times * EPSILON) == pytest.approx(1 - LEVEL, abs=0.004)
    assert missed(EPSILON) > 1.5 * (1 - LEVEL)


def middle_of(number: Number) -> PlannedMargin:
    """The margin of a mean in the middle of the range, written out: both counters' noises count half."""
    half = (number.high - number.low) / 2 / (2 * number.ordered)
    return PlannedMargin(weights=np.array([-half, half]))
