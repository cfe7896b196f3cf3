"""What a dimension is worth: small databases resolve what is promised, bounds enclose, written classes are read."""

from __future__ import annotations

import math
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from dpcore.core import DataError, Neighbours, ParameterError
from dpcore.limits.attacks import dimension_bounds, fat_shattering, vc
from dpcore.limits.attacks.class_text import MAX_POINTS, MAX_QUESTIONS, read_class
from dpcore.limits.attacks.named_classes import NAMED
from dpcore.limits.attacks.shattering import fat_shattering_dimension, vc_dimension

BOTH = pytest.mark.parametrize("neighbours", list(Neighbours))


def test_most_questions_is_what_no_class_exceeds() -> None:
    # Every class on up to three points, and the largest of each dimension.
    for points in (1, 2, 3):
        largest = dict.fromkeys(range(points + 1), 0)
        patterns = [[pattern >> x & 1 for x in range(points)] for pattern in range(1 << points)]
        for size in range(1, len(patterns) + 1):
            for rows in combinations(patterns, size):
                dimension = vc_dimension(rows).lower_bound
                largest[dimension] = max(largest[dimension], size)
        assert largest == {d: dimension_bounds.max_questions(points=points, dimension=d) for d in largest}
    with pytest.raises(ParameterError):
        dimension_bounds.max_questions(points=3, dimension=4)


@pytest.mark.parametrize("key", ["thresholds", "intervals", "subsets", "parities"])
def test_so_many_synthetic_rows_resolve_every_data_set(key: str) -> None:
    # Every data set of five rows on up to four points has a database of m rows within √(ln(2|C|)/(2m)).
    named = next(each for each in NAMED if each.key == key)
    matrix = named.example(2 if key == "parities" else 4)
    points = matrix.shape[1]
    questions = dimension_bounds.different(matrix)
    for size in (1, 2, 3, 8):
        resolution = math.sqrt(math.log(2 * questions) / (2 * size))
        small = np.array(
            [np.bincount(rows, minlength=points) / size for rows in combinations_with_replacement(range(points), size)]
        )
        for rows in combinations_with_replacement(range(points), 5):
            data = np.bincount(rows, minlength=points) / 5
            worst = np.abs((small - data) @ matrix.T).max(axis=1)
            assert worst.min() <= resolution


def test_the_best_size_is_the_best_and_counts_all_databases() -> None:
    promise = dimension_bounds.net_promise(questions=8, points=3, rows=10**6, epsilon=1.0, beta=0.05)

    def promised(size: int) -> float:
        databases = math.comb(3 + size - 1, size)
        return math.sqrt(math.log(16) / (2 * size)) + 2e-6 * math.log(databases / 0.05)

    assert promise.value == pytest.approx(promised(promise.synthetic), rel=1e-9)
    assert promise.value <= 1.001 * min(promised(size) for size in (10, 100, 1_000, 10_000, 10**5, 10**6))
    with pytest.raises(ParameterError):
        dimension_bounds.net_promise(questions=8, points=3, rows=0, epsilon=1.0, beta=0.05)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("key", [each.key for each in NAMED])
def test_nobody_is_promised_what_nobody_can_keep(key: str, neighbours: Neighbours) -> None:
    named = next(each for each in NAMED if each.key == key)
    matrix = named.example(min(4, named.largest))
    shattering = vc_dimension(matrix)
    for repeats in (1, 10, 1_000):
        for epsilon in (0.1, 1.0, 5.0):
            settings: dict[str, Any] = {"repeats": repeats, "epsilon": epsilon, "neighbours": neighbours, "beta": 0.05}
            bound = dimension_bounds.hidden_half(shattering, scale=None, **settings)
            assert (bound is None) == (shattering.lower_bound < 2)
            if bound is None:
                continue
            rows = repeats * dimension_bounds.hidden_points(shattering, scale=None) // 2
            promise = dimension_bounds.net_promise(
                questions=dimension_bounds.different(matrix),
                points=matrix.shape[1],
                rows=rows,
                epsilon=epsilon,
                beta=0.05,
            )
            assert bound.value <= promise.value


@BOTH
def test_weights_of_scale_one_half_are_yes_or_no_questions(neighbours: Neighbours) -> None:
    for repeats in (1, 3, 20):
        settings: dict[str, Any] = {"epsilon": 0.4, "neighbours": neighbours, "beta": 0.02, "repeats": repeats}
        weighed = fat_shattering.error_bound(points=6, scale=0.5, spread=0.0, **settings)
        assert weighed.value == pytest.approx(vc.error_bound(**settings).value)
        # Somebody may do better by luck: only a promise is impossible.
        assert ("cannot guarantee all of them within" in weighed.statement) == (weighed.value > 0)
    one = fat_shattering.constants(points=6, scale=0.2, spread=0.1, epsilon=0.6, neighbours=neighbours)
    two = fat_shattering.constants(points=6, scale=0.2, spread=0.1, epsilon=0.3, neighbours=neighbours, repeats=2)
    assert two.corrected == pytest.approx(2 * one.corrected) and two.paper == pytest.approx(2 * one.paper)


def test_only_points_of_like_levels_hide_a_half() -> None:
    # Four points fully shattered at scale 0.05; two of them around 0.1, two around 0.9.
    levels = np.array([0.1, 0.1, 0.9, 0.9])
    halves = np.array([[pattern >> x & 1 for x in range(4)] for pattern in range(16)])
    matrix = (levels + 0.05 * (2 * halves - 1)).round(2)
    shattering = fat_shattering_dimension(matrix, scale=0.05)
    assert shattering.lower_bound == 4
    assert dimension_bounds.hidden_points(shattering, scale=0.05) == 2
    settings: dict[str, Any] = {"repeats": 1, "epsilon": 1.0, "neighbours": Neighbours.REPLACE_ONE, "beta": 0.0}
    bound = dimension_bounds.hidden_half(shattering, scale=0.05, **settings)
    alone = fat_shattering.error_bound(points=2, scale=0.05, spread=0.0, epsilon=1.0, neighbours=Neighbours.REPLACE_ONE)
    assert bound is not None and bound.value == pytest.approx(alone.value) and bound.value > 0
    assert (
        dimension_bounds.hidden_half(fat_shattering_dimension([[0.1], [0.3]], scale=0.1), scale=0.1, **settings) is None
    )


@pytest.mark.parametrize(
    "text", ["0, 1\n1, .5\n", "0;1;\n1;0.5", "0\t1\r\n1\t0.50\r\n\r\n", b"\xef\xbb\xbf0 1\n1 0.5", "0,1,\n1,5e-1"]
)
def test_numbers_are_read_however_they_are_parted(text: str | bytes) -> None:
    assert read_class(text).tolist() == [[0, 1], [1, 0.5]]


WRONG: list[tuple[str | bytes, str]] = [
    ("", "at least one line"),
    (" \n,,\n", "at least one line"),
    ("0,1\n1", "Query 2 has 1 numbers, the first one has 2"),
    ("0,1\n1,7731", "Query 2, point 2"),
    ("0,1\n1,1.7731", "Query 2, point 2"),
    ("0,-0.7731", "Query 1, point 2"),
    ("0,1e2", "Query 1, point 2"),
    ("0,1e-", "Query 1, point 2"),
    ("0,nan", "Query 1, point 2"),
    ("0,inf", "Query 1, point 2"),
    ("name7731,0", "Query 1, point 1"),
    ("0,0." + "7" * 40, "Query 1, point 2"),
    (b"\xff\xfe7731", "not a text file"),
    ("1\n" * (MAX_QUESTIONS + 1), f"At most {MAX_QUESTIONS} queries"),
    (",".join("1" * (MAX_POINTS + 1)), f"on {MAX_POINTS} points"),
    ("1" * 300_000, "200 thousand characters"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=lambda value: str(value)[:12])
def test_what_is_no_class_gets_a_sentence_that_repeats_nothing(text: str | bytes, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read_class(text)
    assert "7731" not in str(caught.value) and "nan" not in str(caught.value)
