"""Small databases counted and drawn: kernels against brute force, layers and exact layers against the listed law.

Chi-square tests are at significance 1e-6 with the number of draws they name; each rejects a control.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from dpcore.core import Floats, Integers
from dpcore.mechanisms.net.bands import Bands, TwoSidedBands
from dpcore.mechanisms.net.exact import ExactLayers, context, exponential, flip, pick
from dpcore.mechanisms.net.heights import Heights
from dpcore.mechanisms.net.kernel import Kernel
from dpcore.mechanisms.net.layers import Layers
from tests.cases import full_but
from tests.kit.statistics import CONTROL, assert_law, assert_other_law, tally_rows, uniform_below

KINDS: list[type[Kernel]] = [Bands, TwoSidedBands, Heights]
SIZES = [(5, 4, 30, False), (5, 3, 25, True), (8, 3, 17, False), (3, 8, 40, True), (2, 5, 4, True)]
"""Cells, points, rows, and whether points may lie in a cell for missing values."""

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
every_size = pytest.mark.parametrize("size", SIZES, ids=str)
STRENGTHS = (0.3, 1.0, 3.0)


def made(kind: type[Kernel], size: tuple[int, int, int, bool], *, seed: int, surplus: int = 0) -> Kernel:
    """A kernel of random data; ``surplus`` rows more than n, as under add-or-remove-one."""
    cells, points, rows, free_end = size
    weights = np.random.Generator(np.random.SFC64(seed)).dirichlet(np.full(cells + free_end, 0.7))
    counts = np.random.Generator(np.random.SFC64(seed + 1)).multinomial(rows + surplus, weights)
    return kind(counts=counts[:cells], points=points, rows=rows, free_end=free_end)


def databases(kernel: Kernel) -> Integers:
    """All of them by brute force, (K, m)."""
    places = range(kernel.cells + int(kernel.free_end))
    return np.array(list(combinations_with_replacement(places, kernel.points)))


def extents(kernel: Kernel) -> Integers:
    """Their extents from the definition, (K, sides)."""
    paths = []
    for points in databases(kernel):
        k = np.bincount(points, minlength=kernel.cells + 1)[: kernel.cells]
        height = kernel.points * kernel.counts - kernel.rows * k
        gap = np.cumsum(height)
        if isinstance(kernel, Heights):
            paths.append([np.abs(height).max()])
        elif isinstance(kernel, TwoSidedBands):
            paths.append([max(0, -gap.min()), max(0, gap.max())])
        else:
            paths.append([np.abs(gap).max()])
    return np.array(paths)


def law(kernel: Kernel, rate: float) -> Floats:
    """Chance of each database in proportion to e^(-rate · error), (K,)."""
    errors = extents(kernel).sum(axis=1)
    weights = np.exp(-rate * (errors - errors.min()))
    chances: Floats = weights / weights.sum()
    return chances


def random_limits(kernel: Kernel, *, seed: int) -> Integers:
    """Limits from nothing to everything, (60, sides)."""
    shares = np.random.Generator(np.random.SFC64(seed)).random((60, kernel.sides)) ** 2
    return (shares * (kernel.widest() + 2)).astype(np.int64)


@pytest.mark.slow
@every_kind
@every_size
@pytest.mark.parametrize("surplus", [-0.5, -3, 0, 5, 1.0])
def test_extents_and_counts_by_brute_force(
    kind: type[Kernel], size: tuple[int, int, int, bool], surplus: float, seed: int
) -> None:
    # A fraction is one of the rows: half of the public n, or twice.
    more = surplus if isinstance(surplus, int) else round(surplus * size[2])
    kernel = made(kind, size, seed=seed, surplus=more)
    exact = extents(kernel)
    np.testing.assert_array_equal(kernel.extent(databases(kernel)), exact)
    np.testing.assert_array_equal(kernel.extent(databases(kernel).astype(np.uint8)), exact)
    assert (exact <= kernel.widest()).all()
    limits = random_limits(kernel, seed=seed)
    numbers = (exact[None] <= limits[:, None]).all(axis=2).sum(axis=1)
    np.testing.assert_allclose(np.exp(kernel.sums(limits, keep=False).logs()), numbers, rtol=1e-12)
    assert kernel.sums(limits, keep=True, exact=True).totals.tolist() == numbers.tolist()
    # Alone, narrow limits have a window of their own, which may end below m.
    singly = [kernel.sums(each[None], keep=False, exact=True).totals.tolist() for each in limits[:20]]
    assert singly == [[number] for number in numbers[:20].tolist()]


@pytest.mark.parametrize("cells", [40, 3], ids=["many-cells", "few-cells"])
def test_heights_of_many_cells_take_a_shorter_way(cells: int, seed: int) -> None:
    kernel = made(Heights, (cells, 2, 30, True), seed=seed)
    assert (kernel.effort < kernel.cells) == (cells > 12)
    np.testing.assert_array_equal(kernel.extent(databases(kernel)), extents(kernel))


def test_the_highest_cell_without_a_point_counts_though_others_are_higher() -> None:
    """Three cells of ten rows each among forty: two points leave one of them out."""
    kernel = Heights(counts=np.repeat([10, 0], [3, 37]), points=2, rows=30, free_end=False)
    assert kernel.effort < kernel.cells
    np.testing.assert_array_equal(kernel.extent(databases(kernel)), extents(kernel))
    assert kernel.extent(np.array([[0, 1]])).tolist() == [[20]]


@pytest.mark.slow
@every_kind
def test_doubles_count_like_whole_numbers_where_there_are_very_many(kind: type[Kernel], seed: int) -> None:
    """100 points on 300 cells: 10^97 databases, within limits from a hundredth of the widest on."""
    kernel = made(kind, (300, 100, 2000, True), seed=seed)
    limits = (np.geomspace(0.01, 1, 5)[:, None] * kernel.widest()).astype(np.int64)
    exact = kernel.sums(limits, keep=False, exact=True).totals
    logs = kernel.sums(limits, keep=False).logs()
    for found, number in zip(logs, exact.tolist(), strict=True):
        assert found == pytest.approx(math.log(number) if number else -math.inf, abs=1e-10)
    assert exact[-1] == math.comb(300 + 100, 100)


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize(
    ("size", "exact"),
    [
        pytest.param(size, exact, id=f"{name}-{size}", marks=[pytest.mark.full] * (exact and size not in SIZES[2:4]))
        for exact, name in ((False, "doubles"), (True, "whole-numbers"))
        for size in SIZES
    ],
)
def test_databases_are_drawn_evenly_within_limits(
    kind: type[Kernel], size: tuple[int, int, int, bool], exact: bool, seed: int
) -> None:
    """20,000 draws (8,000 in whole numbers); the control draws within slightly wider limits."""
    kernel, generator = made(kind, size, seed=seed), np.random.Generator(np.random.SFC64(seed))
    found = extents(kernel)
    wider = found.max(axis=0)
    limits = np.minimum(np.quantile(found, 0.8, axis=0, method="nearest").astype(np.int64), wider - 1)
    inside = (found <= limits).all(axis=1)

    def drawn(within: Integers, trials: int) -> Integers:
        sums = kernel.sums(np.stack([wider, within]), keep=True, exact=exact)

        def uniform(totals: Any) -> Any:
            if exact:
                return np.array([int(generator.integers(0, int(total))) for total in totals], dtype=object)
            return generator.random(len(totals)) * totals

        return tally_rows(
            sums.draw(np.ones(trials, dtype=np.int64), uniform).astype(float), databases(kernel).astype(float)
        )

    trials = 8_000 if exact else 20_000
    assert_law(drawn(limits, trials), inside / inside.sum())
    assert_other_law(drawn(wider, trials), inside / inside.sum())


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize(
    ("size", "strength"),
    [
        pytest.param(
            size, strength, marks=[] if place < 3 and (place + at) % len(STRENGTHS) == 0 else [pytest.mark.full]
        )
        for place, size in enumerate(SIZES)
        for at, strength in enumerate(STRENGTHS)
    ],
    ids=str,
)
def test_layers_have_the_listed_law(
    kind: type[Kernel], size: tuple[int, int, int, bool], strength: float, seed: int
) -> None:
    """100,000 draws at weak to strong rates, against how much errors vary; the control at 1.3 times the rate."""
    kernel = made(kind, size, seed=seed)
    rate = strength / float(extents(kernel).sum(axis=1).std())
    chances, known = law(kernel, rate), databases(kernel).astype(float)
    order = np.argsort(-chances)
    for at, check in ((rate, assert_law), (CONTROL * rate, assert_other_law)):
        generator = np.random.Generator(np.random.SFC64(seed))
        drawn = tally_rows(Layers(kernel).draw(generator, rate=at, trials=100_000).astype(float), known)
        check(drawn[order], chances[order])


def test_what_is_remembered_changes_no_draw(seed: int) -> None:
    kernel = made(TwoSidedBands, (64, 12, 500, False), seed=seed)

    def drawn(layers: Layers) -> Integers:
        return layers.draw(np.random.Generator(np.random.SFC64(seed)), rate=0.03, trials=50)

    fresh, used = Layers(kernel), Layers(kernel)
    for rate in (0.5, 0.004, 0.09):
        used.draw(np.random.Generator(np.random.SFC64(1)), rate=rate, trials=5)
    for _ in range(2):
        np.testing.assert_array_equal(drawn(used), drawn(fresh))


def test_preparing_pauses_and_draws_alike(seed: int) -> None:
    kernel = made(Bands, (256, 20, 4000, False), seed=seed)
    layers = Layers(kernel)
    assert sum(1 for _ in layers.prepare(0.025)) >= 2
    assert list(layers.prepare(0.025)) == []
    one, other = (
        each.draw(np.random.Generator(np.random.SFC64(seed)), rate=0.025, trials=9) for each in (layers, Layers(kernel))
    )
    np.testing.assert_array_equal(one, other)


E_DIGITS = Fraction(2718281828459045235360287471352662497757247093699959574966967627, 10**63)
"""The number e, cut after 63 digits behind the point."""


def test_fractions_around_the_exponential() -> None:
    for digits in (5, 20, 50):
        low, high = exponential(Fraction(1), digits=digits)
        assert low < E_DIGITS < high
        assert high / low - 1 < Fraction(3, 10**digits)
    # e^x e^-x = 1, far out and for arguments no decimal writes.
    for x in (Fraction(1, 3), Fraction(10**6 + 1, 7), Fraction(1, 10**9)):
        up, down = exponential(x, digits=30), exponential(-x, digits=30)
        assert up[0] * down[0] < 1 < up[1] * down[1]
        assert up[1] * down[1] - up[0] * down[0] < Fraction(1, 10**28)


@pytest.mark.slow
def test_a_coin_has_the_chance_its_bounds_enclose(seed: int) -> None:
    """20,000 flips of chance e^-1; the control is the law of chance e^-1.1."""
    generator = np.random.Generator(np.random.SFC64(seed))

    def below(high: int) -> int:
        return int.from_bytes(generator.bytes(16)) % high  # high is a power of two here

    heads = sum(flip(below, lambda digits: exponential(Fraction(-1), digits=digits)) for _ in range(20_000))
    assert_law(np.array([heads, 20_000 - heads]), np.array([math.exp(-1), 1 - math.exp(-1)]))
    assert_other_law(np.array([heads, 20_000 - heads]), np.array([math.exp(-1.1), 1 - math.exp(-1.1)]))
    # Bounds that enclose a number the first digits of the coin agree with: it asks for more of them.
    draws: list[int] = []

    def half(digits: int) -> tuple[Fraction, Fraction]:
        draws.append(digits)
        off = Fraction(1, 10**digits)
        return Fraction(1, 2) - off, Fraction(1, 2) + off

    script = iter([1 << 63, 0, 0, 5])
    assert flip(lambda _: next(script), half) in (True, False)
    assert len(draws) > 1


def scripted(numbers: Iterator[int]) -> Callable[[int], int]:
    """Coins that come out as written, whatever is asked."""
    return lambda _: next(numbers)


@pytest.mark.slow
def test_a_place_has_the_chance_that_its_sums_tell(seed: int) -> None:
    """20,000 places of chances 1/2, 10^-30, 1/3, 1/6; the control is the law of other chances."""
    below = uniform_below(np.random.Generator(np.random.SFC64(seed)))
    draws: list[int] = []

    def reached(digits: int) -> list[Decimal]:
        draws.append(digits)
        exact = context(digits + 5)
        half, sixth = Decimal("0.5"), exact.divide(Decimal(1), Decimal(6))
        return [half, exact.add(half, Decimal("1e-30")), exact.subtract(Decimal(1), sixth), Decimal(1)]

    counts = np.bincount([pick(below, reached) for _ in range(20_000)], minlength=4)
    assert_law(counts, np.array([1 / 2, 0, 1 / 3, 1 / 6]))
    assert_other_law(counts, np.array([1 / 2 - 0.03, 0, 1 / 3 + 0.03, 1 / 6]))
    # A number between the bounds on a chance needs more digits, and then more decide: just below, in between, above.
    for rest, place in (([(1 << 64) - 1, 0], 0), ([0, 5], 1), ([1 << 40, 0], 2)):
        script = iter([(1 << 63) - (place == 0), *rest])
        draws.clear()
        assert pick(scripted(script), reached) == place
        assert len(set(draws)) > 1
    assert pick(lambda _: (1 << 64) - 1, reached) == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", full_but(KINDS, TwoSidedBands), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("size", "rate"),
    [
        pytest.param(SIZES[0], Fraction(1, 20), id="5", marks=pytest.mark.full),
        pytest.param(SIZES[3], Fraction(1, 7), id="3"),
    ],
)
def test_exact_layers_have_the_listed_law(
    kind: type[Kernel], size: tuple[int, int, int, bool], rate: Fraction, seed: int
) -> None:
    """1,500 draws; the control, as many doubles at twice the rate."""
    kernel, generator = made(kind, size, seed=seed), np.random.Generator(np.random.SFC64(seed))
    below = uniform_below(generator)
    exact, known = ExactLayers(kernel, rate=rate), databases(kernel).astype(float)
    chances = law(kernel, float(rate))
    order = np.argsort(-chances)
    drawn = np.array([exact.draw(below) for _ in range(1_500)], dtype=float)
    assert_law(tally_rows(drawn, known)[order], chances[order])
    control = Layers(kernel).draw(generator, rate=2 * float(rate), trials=1_500).astype(float)
    assert_other_law(tally_rows(control, known)[order], chances[order])


@pytest.mark.full
def test_exact_layers_where_nothing_could_be_listed(seed: int) -> None:
    """Errors of 60 exact draws and of 4,000 previews at 10^20 candidates: means within five standard errors."""
    kernel = made(TwoSidedBands, (64, 16, 1000, False), seed=seed)
    exact, below = ExactLayers(kernel, rate=Fraction(1, 32)), uniform_below(np.random.Generator(np.random.SFC64(seed)))
    ours = kernel.extent(np.array([exact.draw(below) for _ in range(60)])).sum(axis=1)
    others = kernel.extent(
        Layers(kernel).draw(np.random.Generator(np.random.SFC64(seed)), rate=1 / 32, trials=4_000)
    ).sum(axis=1)
    assert abs(ours.mean() - others.mean()) < 5 * others.std() / math.sqrt(60)
