"""The calculators against brute force over subsets and levels, closed forms, and when they are stopped early."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import combinations, islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from dpcore import Cells, Intervals, Number, ParameterError, Thresholds
from dpcore.core import Integers
from dpcore.limits.attacks.named_classes import NAMED, NamedClass
from dpcore.limits.attacks.shattering import Shattering, fat_shattering_dimension, vc_dimension
from tests.cases import full_but


def brute_vc(patterns: list[int], points: int) -> int:
    """Largest set of points on which the patterns (bits of whole numbers) agree with every subset."""
    for size in range(points, 0, -1):
        for chosen in combinations(range(points), size):
            mask = sum(1 << point for point in chosen)
            if len({pattern & mask for pattern in patterns}) == 1 << size:
                return size
    return 0


def brute_fat(matrix: list[list[Fraction]], scale: Fraction) -> int:
    """Largest set of points with levels, all midpoints between weights tried, at which every subset is taken."""
    points = len(matrix[0])
    levels = [sorted({(a[x] + b[x]) / 2 for a in matrix for b in matrix}) for x in range(points)]
    for size in range(points, 0, -1):
        for chosen in combinations(range(points), size):
            for at in product(*(levels[x] for x in chosen)):
                if all(
                    any(
                        all(
                            row[x] >= r + scale if taken else row[x] <= r - scale
                            for x, r, taken in zip(chosen, at, subset, strict=True)
                        )
                        for row in matrix
                    )
                    for subset in product((False, True), repeat=size)
                ):
                    return size
    return 0


def shatters(matrix: ArrayLike, found: Shattering, *, scale: float) -> bool:
    """Return whether its set and levels are shattered by the questions it names, by the definition alone."""
    entries = np.asarray(matrix, dtype=np.float64)
    margin, dimension = Fraction(repr(float(scale))), len(found.points)
    for subset, query in enumerate(found.queries.tolist()):
        for bit, (point, level) in enumerate(zip(found.points.tolist(), found.levels, strict=True)):
            weight = Fraction(repr(float(entries[query, point])))
            if not (weight >= level + margin if subset >> bit & 1 else weight <= level - margin):
                return False
    return len(found.queries) == 2**dimension and len(set(found.points.tolist())) == dimension


def check_witness(matrix: ArrayLike, found: Shattering, *, scale: float) -> None:
    """The set it shows is shattered, by the definition; a set with one more level moved is not taken for one."""
    assert len(found.points) == len(found.levels) == found.lower_bound <= found.upper_bound
    assert shatters(matrix, found, scale=scale)
    if found.lower_bound:
        lost = dataclasses.replace(found, queries=found.queries[::-1])
        assert not shatters(matrix, lost, scale=scale)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "every"), full_but([(1, 1), (2, 1), (3, 1), (4, 7), (4, 1)], (1, 1), (2, 1), (3, 1))
)
def test_every_class_of_up_to_eight_questions_on_up_to_four_points(points: int, every: int) -> None:
    """All classes, or every seventh: a fault that one in a thousand shows is seen in 5,600 of them."""
    rows = [[pattern >> point & 1 for point in range(points)] for pattern in range(1 << points)]
    checked = 0
    for size in range(1, 9):
        for patterns in islice(combinations(range(1 << points), size), 0, None, every):
            shattering = vc_dimension([rows[pattern] for pattern in patterns])
            assert shattering.exact
            assert shattering.lower_bound == brute_vc(list(patterns), points), patterns
            checked += 1
    assert checked == sum(-(-math.comb(1 << points, size) // every) for size in range(1, 9))


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.key)
def test_closed_forms(named: NamedClass) -> None:
    for size in (size for size in (1, 2, 3, 4, 7) if size <= named.largest):
        matrix = named.example(size)
        shattering = vc_dimension(matrix)
        assert shattering.exact
        assert shattering.lower_bound == named.dimension(size), size
        assert 2**shattering.lower_bound <= len(np.unique(matrix, axis=0))
        check_witness(matrix, shattering, scale=0.5)
    with pytest.raises(ParameterError, match=f"between 1 and {named.largest}"):
        named.example(named.largest + 1)


@pytest.mark.parametrize("kind", [Thresholds, Intervals, Cells])
@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("missing", [False, True])
def test_the_catalogue_s_classes(kind: type[Thresholds | Intervals | Cells], bits: int, missing: bool) -> None:
    queries = kind(domain=Number(bits=bits, missing=missing))
    matrix = queries.answer(np.eye(queries.domain.size), np.arange(queries.count)).T
    shattering = vc_dimension(matrix[:, : queries.domain.ordered])
    assert shattering.exact
    assert shattering.lower_bound == queries.vc_dimension


tenths = st.integers(0, 10)


@pytest.mark.slow
@given(
    st.integers(1, 3).flatmap(
        lambda points: st.lists(st.lists(tenths, min_size=points, max_size=points), min_size=1, max_size=6)
    ),
    st.integers(1, 10),
)
def test_fat_shattering_by_brute_force(rows: list[list[int]], twentieths: int) -> None:
    scale = twentieths / 20
    matrix = [[weight / 10 for weight in row] for row in rows]
    shattering = fat_shattering_dimension(matrix, scale=scale)
    assert shattering.exact
    exact = [[Fraction(weight, 10) for weight in row] for row in rows]
    assert shattering.lower_bound == brute_fat(exact, Fraction(twentieths, 20))
    check_witness(matrix, shattering, scale=scale)


@pytest.mark.slow
@pytest.mark.parametrize("scale", full_but([0.25, 0.5], 0.25))
def test_every_class_of_weights_0_half_and_1_on_two_points(scale: float) -> None:
    weights = [(a / 2, b / 2) for a in range(3) for b in range(3)]
    for size in range(1, 10):
        for matrix in combinations(weights, size):
            shattering = fat_shattering_dimension(matrix, scale=scale)
            exact = [[Fraction(weight) for weight in row] for row in matrix]
            assert shattering.exact and shattering.lower_bound == brute_fat(exact, Fraction(scale)), matrix
            check_witness(matrix, shattering, scale=scale)


@pytest.mark.full
def test_points_that_mirror_or_copy_each_other_by_brute_force(seed: int) -> None:
    # Their cuts have the same two sides, and only one of each is searched.
    generator = np.random.Generator(np.random.SFC64(seed))
    for _ in range(20):
        base = generator.integers(0, 5, (7, 2))
        columns = np.column_stack([base[:, 0], 4 - base[:, 0], np.minimum(base[:, 0], 2), base[:, 1]])
        matrix = columns[:, generator.permutation(4)] / 4
        shattering = fat_shattering_dimension(matrix, scale=0.25)
        exact = [[Fraction(weight) for weight in row] for row in matrix.tolist()]
        assert shattering.lower_bound == brute_fat(exact, Fraction(1, 4))


def test_points_taken_alike_but_left_otherwise_are_two() -> None:
    # The first column is taken where the second is, but leaves one question undecided.
    matrix = [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.0, 0.0]]
    shattering = fat_shattering_dimension(matrix, scale=0.5)
    assert shattering.lower_bound == 2 and set(shattering.points.tolist()) == {1, 2}


@pytest.mark.slow
def test_the_witness_is_exact_for_weights_of_seventeen_digits(seed: int) -> None:
    # A level of so many digits need not be a double, and rounded it would fail its own definition.
    generator = np.random.Generator(np.random.SFC64(seed))
    rounded = 0
    for _ in range(100):
        matrix = generator.random((12, 4))
        shattering = fat_shattering_dimension(matrix, scale=0.07)
        check_witness(matrix, shattering, scale=0.07)
        rounded += any(Fraction(float(level)) != level for level in shattering.levels)
    assert rounded > 50
    tight = [[0.1234567890123457], [0.3234567890123457]]
    check_witness(tight, fat_shattering_dimension(tight, scale=0.1), scale=0.1)


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=1, max_size=20))
def test_yes_or_no_questions_have_one_dimension_at_every_scale(rows: list[list[int]]) -> None:
    wanted = vc_dimension(rows).lower_bound
    assert wanted == brute_vc([sum(bit << point for point, bit in enumerate(row)) for row in rows], 5)
    for scale in (0.01, 0.3, 0.5):
        assert fat_shattering_dimension(rows, scale=scale).lower_bound == wanted


@pytest.mark.slow
def test_larger_scales_shatter_less(seed: int) -> None:
    matrix = np.random.Generator(np.random.SFC64(seed)).random((40, 6)).round(2)
    shatterings = [fat_shattering_dimension(matrix, scale=scale) for scale in (0.02, 0.1, 0.2, 0.3, 0.4, 0.5)]
    dimensions = [each.lower_bound for each in shatterings]
    assert all(each.exact for each in shatterings)
    assert dimensions == sorted(dimensions, reverse=True)
    assert dimensions[0] > dimensions[-1] == 0


def test_weights_are_compared_as_decimals() -> None:
    assert 0.3 - 0.1 < 0.2, "in binary it is less"
    assert fat_shattering_dimension([[0.1], [0.3]], scale=0.1).lower_bound == 1
    assert fat_shattering_dimension([[0.1], [0.3]], scale=0.1001).lower_bound == 0
    shattering = fat_shattering_dimension([[0.1], [0.3], [0.9]], scale=0.1)
    assert shatters([[0.1], [0.3], [0.9]], shattering, scale=0.1)


def test_questions_are_named_by_their_rows_even_if_some_repeat() -> None:
    matrix = [[1, 1], [1, 1], [0, 1], [0, 1], [1, 0], [0, 0]]
    shattering = vc_dimension(matrix)
    for subset, query in enumerate(shattering.queries.tolist()):
        assert [matrix[query][point] for point in shattering.points] == [subset & 1, subset >> 1]


@pytest.mark.slow
def test_a_search_that_stops_early_encloses_the_truth(seed: int) -> None:
    generator = np.random.Generator(np.random.SFC64(seed))
    stopped = dict.fromkeys((0, 20, 200, 2_000, 20_000), 0)
    for _ in range(4):
        matrix = generator.random((60, 7)).round(2)
        rounded = (matrix > 0.4).astype(np.int64)
        fat, whole = fat_shattering_dimension(matrix, scale=0.1, max_steps=10**9), vc_dimension(rounded)
        assert fat.exact and whole.exact
        for max_steps in stopped:
            for found, true in (
                (fat_shattering_dimension(matrix, scale=0.1, max_steps=max_steps), fat),
                (vc_dimension(rounded, max_steps=max_steps), whole),
            ):
                assert found.lower_bound <= true.lower_bound <= found.upper_bound
                assert found.exact == (found.lower_bound == found.upper_bound)
                stopped[max_steps] += not found.exact
    assert all(stopped[max_steps] for max_steps in (0, 20, 200, 2_000))


def test_a_class_too_large_says_so(seed: int) -> None:
    matrix = np.random.Generator(np.random.SFC64(seed)).integers(0, 2, (3_000, 40))
    shattering = vc_dimension(matrix, max_steps=100_000)
    assert 6 <= shattering.lower_bound < shattering.upper_bound <= math.log2(3_000)
    check_witness(matrix, shattering, scale=0.5)
    assert f"at least {shattering.lower_bound}" in shattering.sentence()
    assert f"at most {shattering.upper_bound}" in shattering.sentence()
    assert "too large" in shattering.sentence()
    assert vc_dimension([[0, 1], [1, 0]]).sentence() == "The dimension is 1."


BAD: list[tuple[object, str]] = [
    ([[0.5, 1.0]], "zeros and ones"),
    ([[0, 2]], "between 0 and 1"),
    ([[float("nan")]], "between 0 and 1"),
    ([], "a row for each"),
    ([[]], "a row for each"),
    ([1, 0], "a row for each"),
    ([[0, 1], [1]], "matrix of numbers"),
    ([["yes"]], "matrix of numbers"),
]


@pytest.mark.parametrize(("matrix", "words"), BAD, ids=str)
def test_what_is_no_class_gets_a_sentence(matrix: Integers, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        vc_dimension(matrix)


@pytest.mark.parametrize("scale", [0.0, -0.1, 0.51, float("nan")])
def test_what_is_no_scale_gets_a_sentence(scale: float) -> None:
    with pytest.raises(ParameterError, match="scale"):
        fat_shattering_dimension([[0.2]], scale=scale)
