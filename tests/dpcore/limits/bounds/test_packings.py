"""Places that answers tell apart: for every two there is such a query, and as many are counted as there are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpcore
from dpcore.core import Floats, Guarantee, Neighbours, ParameterError, Problem
from dpcore.data.columns import Labels
from dpcore.data.product import Product
from dpcore.data.sphere import Halfspaces, Sphere
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.limits.bounds.packings import Packing, packings
from dpcore.queries.at_least import AtLeast
from dpcore.queries.linear import LinearQueries
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Intervals, Thresholds


def counted(found: list[Packing]) -> int:
    return round(2 ** found[0].bits) if found else 1


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6])
def test_patterns_counted_are_patterns_told_apart(d: int) -> None:
    cube = Product.yes_no([*"abcdef"[:d]])
    rows = list(itertools.product((0, 1), repeat=d))
    for width, signed in itertools.product(range(1, min(d, 5) + 1), (False, True)):
        if signed and d > 4:
            continue
        for least in range(1, width + 1):
            # Of rows that no query tells apart only one counts: being alike is an equivalence, answers being equal.
            answers = {
                tuple(
                    sum(row[j] ^ sign for j, sign in zip(chosen, signs, strict=True)) >= least
                    for chosen in itertools.combinations(range(d), width)
                    for signs in (itertools.product((0, 1), repeat=width) if signed else [(0,) * width])
                )
                for row in rows
            }
            counts = counted(packings(AtLeast(domain=cube, width=width, least=least, signed=signed)))
            assert counts <= len(answers), (width, least, signed)
            if signed or 2 * width <= d or least in (1, width):
                assert counts == len(answers), (width, least, signed)


def test_tables_tell_all_rows_apart() -> None:
    domain = Product(names=("a", "b", "c"), columns=tuple(Labels(labels=tuple("xyz"[:k])) for k in (2, 3, 3)))
    sizes = domain.sizes
    for ways in (1, 2, 3):
        assert counted(packings(Marginals(domain=domain, ways=ways))) == math.prod(sizes)


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.4, 0.6, 0.7])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_arrows_counted_fit_and_are_told_apart(d: int, margin: float, seed: int) -> None:
    """As many as counted are found, greedily; and each pair has a direction that keeps the margin to all rows."""
    rng = np.random.default_rng(seed)
    queries = Halfspaces(domain=Sphere(dimensions=d), margin=margin)
    places = min(counted(packings(queries)), 40)
    chord = 2 * max(margin, 1e-3) / math.sqrt(1 - max(margin, 1e-3) ** 2)
    rows: list[Floats] = []
    for _ in range(200_000):
        if len(rows) >= places:
            break
        drawn = rng.standard_normal(d - 1)
        drawn = np.sign(drawn) if d == 2 else drawn / np.linalg.norm(drawn)
        if len(rows) == 1 and d > 2 and places == 2:
            drawn = -rows[0]
        if not rows or np.linalg.norm(np.array(rows) - drawn, axis=1).min() >= chord - 1e-12:
            rows.append(drawn)
    assert len(rows) == places >= 2
    base = np.eye(d)[0]
    for u, v in itertools.combinations(rows, 2):
        away = (u - v) / np.linalg.norm(u - v)
        towards = np.concatenate([[margin], math.sqrt(1 - margin**2) * away])
        heights = [towards @ base, towards[1:] @ u, -(towards[1:] @ v)]
        assert min(heights) >= margin - 1e-9


def test_opposite_arrows_are_two_places_whatever_the_margin() -> None:
    """The direction of one of them keeps margin 1 to both, and holds only one."""
    for d, margin in ((1, 0.1), (1, 1.0), (2, 0.0), (3, 0.75), (64, 1.0)):
        assert counted(packings(Halfspaces(domain=Sphere(dimensions=d), margin=margin))) == 2
    many = packings(Halfspaces(domain=Sphere(dimensions=1024), margin=0.0))[0].bits
    assert many == 1000  # as many as can be said


@pytest.mark.parametrize("drawn", range(6))
def test_weights_as_far_apart_as_claimed(drawn: int) -> None:
    line = dpcore.Number(bits=3)
    # The first cell is in the middle of all the others, so that no pair of the furthest has it.
    matrix = np.random.default_rng(drawn).random((3, 8)).round(2)
    matrix[:, 0] = 0.5
    class_packings = packings(LinearQueries.of(matrix, domain=line))
    gaps = np.abs(matrix.T[:, None] - matrix.T[None]).max(axis=2)
    assert class_packings[0].gap == pytest.approx(gaps.max()) and class_packings[0].bits >= 1
    assert [each.bits for each in class_packings] == sorted({each.bits for each in class_packings})
    for each in class_packings:
        # Some set of so many cells is that far apart: all sets are tried.
        size = round(2**each.bits)
        assert any(
            all(gaps[a, b] >= each.gap - 1e-9 for a, b in itertools.combinations(cells, 2))
            for cells in itertools.combinations(range(8), size)
        )
    counting = LinearQueries.of(np.eye(8), domain=line)
    assert counted(packings(counting)) == 8 and packings(counting)[0].gap == 1
    assert packings(LinearQueries.of(np.ones((2, 8)), domain=line)) == []


def test_so_many_questions_find_so_many_places() -> None:
    line = dpcore.Number(bits=6)
    for kind in (Thresholds, Intervals):
        assert [counted(packings(kind(domain=line), questions=q)) for q in (1, 3, 6, 100)] == [2, 8, 64, 64]
    assert [counted(packings(Cells(domain=line), questions=q)) for q in (1, 3, 63, 100)] == [2, 4, 64, 64]


def test_halving_finds_the_place_with_one_question_a_bit() -> None:
    """The proof behind the count: answers off by less than τ/(2n) lead to the place, whatever it is."""
    n, moved, cells = 100, 7, 64
    for place in range(cells):
        low, high = 0, cells - 1
        queries_asked = 0
        while low < high:
            middle = (low + high) // 2
            truth = (n - moved) + (moved if place <= middle else 0)  # the other rows lie in the first cell
            answer = truth + (moved / 2 - 0.01) * (-1) ** queries_asked
            queries_asked += 1
            low, high = (low, middle) if answer > n - moved / 2 else (middle + 1, high)
        assert low == place and queries_asked == 6


def test_the_bound_grows_with_what_is_asked_and_says_what() -> None:
    line = dpcore.Number(bits=10)
    problem = Problem(domain=line, queries=Thresholds(domain=line), n=1000)
    guarantee = Guarantee(epsilon=0.1, neighbours=Neighbours.REPLACE_ONE)
    values = []
    for questions in (1, 4, 10, 500, None):
        bound = lower_bound(problem, guarantee, beta=0.05, questions=questions)
        assert bound is not None
        values.append(bound.value)
        assert ("each asked after the previous answer" in bound.statement) is (questions is not None and questions > 1)
        assert ("answers one such query on" in bound.statement) is (questions == 1)
    assert values[0] < values[1] < values[2] == values[3] == values[4]
    with pytest.raises(ParameterError, match="at least one query"):
        lower_bound(problem, guarantee, beta=0.05, questions=0)


def test_single_cells_name_who_proved_the_logarithm() -> None:
    """VC dimension 1, and a bound that grows with the logarithm of the cells; other classes do not claim it."""
    values = []
    for bits in (4, 8, 12):
        line = dpcore.Number(bits=bits)
        problem = Problem(domain=line, queries=Cells(domain=line), n=10_000)
        bound = lower_bound(problem, Guarantee(epsilon=0.1, neighbours=problem.neighbours), beta=0.05)
        assert bound is not None and "Beimel, Kasiviswanathan and Nissim (2010)" in bound.reference
        assert problem.queries.vc_dimension == 1 and "VC dimension is 1" in bound.note
        values.append(bound.value)
    steps = np.diff(values)
    assert values[0] < values[1] < values[2] and steps[0] == pytest.approx(steps[1], rel=0.1)
    ranges = Problem(domain=line, queries=Thresholds(domain=line), n=10_000)
    other = lower_bound(ranges, Guarantee(epsilon=0.1, neighbours=ranges.neighbours), beta=0.05)
    assert other is not None and "Beimel" not in other.reference
    approximate = lower_bound(problem, Guarantee(epsilon=0.1, delta=1e-6, neighbours=problem.neighbours), beta=0.05)
    assert approximate is None or "Beimel" not in approximate.reference
