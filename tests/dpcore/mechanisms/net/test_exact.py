"""The exact law of what a release of the net mechanism draws, coin by coin, and of previews, box by box.

A release is replayed with scripted coins: each comparison that a uniform whole number or a coin of real chance decides
is a fork. What is not replayed is how those two decide (`pick`, `flip`: test_bands.py) and the geometric layer below.
"""

from __future__ import annotations

import math
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from dpcore import Cells, Enumerate, Intervals, Labels, Neighbours, Number, Problem, Secure, Thresholds
from dpcore.core import Domain, Queries
from dpcore.mechanisms.net import exact, layers
from dpcore.mechanisms.net.bands import Bands, TwoSidedBands
from dpcore.mechanisms.net.choice import NetMechanism
from dpcore.mechanisms.net.exact import ExactLayers
from dpcore.mechanisms.net.heights import Heights
from dpcore.mechanisms.net.kernel import Kernel
from dpcore.mechanisms.net.layers import Layers
from dpcore.randomness import choices
from dplab.audit import ROUNDING, Law, aligned, datasets, hockey_stick, neighbouring_pairs
from tests.cases import full_but
from tests.dpcore.mechanisms.net.test_bands import databases
from tests.kit.problems import dataset_of

CLASSES: list[Any] = [Thresholds, Intervals, Cells]
KINDS: list[type[Kernel]] = [Bands, TwoSidedBands, Heights]


class Rejected(Exception):
    """A draw starts again."""


class Coins:
    """Replays a draw once for every way its coins can fall."""

    def __init__(self) -> None:
        self._path: list[tuple[int, list[float]]] = []
        self._position, self._chance, self._began = 0, 1.0, False

    def law(self, draw: Callable[[], tuple[int, ...]]) -> dict[tuple[int, ...], float]:
        """Chance of each outcome of a draw that starts again until something is kept."""
        law: defaultdict[tuple[int, ...], float] = defaultdict(float)
        while True:
            self._position, self._chance, self._began = 0, 1.0, False
            try:
                outcome = draw()
            except Rejected:
                pass
            else:
                law[outcome] += self._chance
            while self._path and not any(self._path[-1][1][self._path[-1][0] + 1 :]):
                self._path.pop()
            if not self._path:
                break
            place, chances = self._path[-1]
            self._path[-1] = next(at for at in range(place + 1, len(chances)) if chances[at]), chances
        total = sum(law.values())
        return {outcome: chance / total for outcome, chance in law.items()}

    def fork(self, chances: list[float]) -> int:
        """One of several ways."""
        if self._position == len(self._path):
            self._path.append((next(at for at, chance in enumerate(chances) if chance), chances))
        place, known = self._path[self._position]
        assert known == chances
        self._position += 1
        self._chance *= chances[place]
        return place

    def below(self, high: int) -> Any:
        """A uniform whole number that decides itself only as far as it is asked."""
        return Drawn(self, 0, high)

    def pick(self, below: object, reached: Callable[[int], Sequence[Decimal]]) -> int:
        """Replace exact.pick by a fork."""
        if self._began:
            raise Rejected
        self._began = True
        sums = reached(40)
        assert sums[-1] == 1
        return self.fork([float(b - a) for a, b in zip([Decimal(0), *sums], sums, strict=False)])

    def flip(self, below: object, bounds: Callable[[int], tuple[Fraction, Fraction]]) -> bool:
        """Replace exact.flip by a fork."""
        chance = min(1.0, float(sum(bounds(30)) / 2))
        return self.fork([1 - chance, chance]) == 1


class Drawn:
    """A whole number from low to high - 1, even."""

    def __init__(self, coins: Coins, low: int, high: int) -> None:
        self._coins, self._low, self._high = coins, low, high

    def __lt__(self, other: int) -> bool:
        cut = min(max(int(other), self._low), self._high)
        if cut in (self._low, self._high):
            return cut == self._high
        share = (cut - self._low) / (self._high - self._low)
        less = self._coins.fork([1 - share, share]) == 1
        self._low, self._high = (self._low, cut) if less else (cut, self._high)
        return less

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __le__(self, other: int) -> bool:
        return self < other + 1

    def __gt__(self, other: int) -> bool:
        return not self < other + 1


def layer_chances(rate: float, start: int, stop: int, last: int) -> list[float]:
    """A geometric number cut at a box's width, or everything beyond the last layer in it."""
    top = min(stop, last)
    heights = [math.exp(-rate * (layer - start - 1)) for layer in range(start + 1, top + 1)]
    heights.append(0.0 if stop >= last else math.exp(-rate * (stop - start)))
    return [(a - b) / (heights[0] - heights[-1]) for a, b in pairwise(heights)]


def layer_by_fork(coins: Coins) -> Callable[..., int]:
    """Replace ExactLayers._layer by a fork."""

    def layer(self: ExactLayers, start: int, stop: int, last: int, below: object) -> int:
        return start + 1 + coins.fork(layer_chances(float(self._rate * self._step), start, stop, last))

    return layer


def tiny_problems(kind: type[Queries], neighbours: Neighbours) -> Iterator[Problem]:
    """Two and four cells, and one or two beside one for missing values."""
    domains: list[Domain] = [Number(bits=1), Number(bits=1, missing=True), Number(bits=2)]
    if kind is Cells:
        domains += [Labels(labels=("a",), missing=True), Labels(labels=("a", "b"), missing=True)]
    for domain in domains:
        n = 3 if domain.size < 4 else 2
        yield Problem(domain=domain, queries=kind(domain=domain), n=n, neighbours=neighbours)


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Law]:
    """The exact law of a mechanism's secure run, drawn in whole numbers although it could be listed."""
    coins = Coins()
    monkeypatch.setattr(layers, "TOGETHER", 1)  # boxes as wide as may be: layers of tiny nets would each have their own
    monkeypatch.setattr(choices, "MAX_RACED", 0)
    monkeypatch.setattr(secrets, "randbelow", coins.below)
    monkeypatch.setattr(exact, "pick", coins.pick)
    monkeypatch.setattr(exact, "flip", coins.flip)
    monkeypatch.setattr(ExactLayers, "_layer", layer_by_fork(coins))

    def law(mechanism: NetMechanism, problem: Problem, rows: Sequence[int]) -> Law:
        state = mechanism.prepare(dataset_of(problem, rows), problem)
        with pytest.MonkeyPatch.context() as again:
            layers_by_rate: dict[Fraction, ExactLayers] = {}  # replays need not count again

            def remembered(kernel: Kernel, *, rate: Fraction) -> ExactLayers:
                if rate not in layers_by_rate:
                    layers_by_rate[rate] = ExactLayers(kernel, rate=rate)
                return layers_by_rate[rate]

            again.setattr("dpcore.mechanisms.net.databases.ExactLayers", remembered)
            law = coins.law(lambda: tuple(mechanism.run(state, Secure()).points[0].tolist()))
        points = np.array(list(law), dtype=np.float64)
        return np.concatenate([points, np.full(points.shape, 1 / mechanism.points)], axis=1), np.array(
            list(law.values())
        )

    return law


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "neighbours"),
    full_but(
        product(CLASSES, Neighbours),
        *((kind, Neighbours.REPLACE_ONE) for kind in CLASSES),
        (CLASSES[0], Neighbours.ADD_REMOVE_ONE),
    ),
)
@pytest.mark.parametrize(("epsilon", "points"), full_but([(0.3, 2), (4.0, 2), (3.0, 3)], (4.0, 2)))
def test_a_release_has_exactly_the_law_and_is_private(
    kind: type[Queries], neighbours: Neighbours, epsilon: float, points: int, released: Callable[..., Law]
) -> None:
    """Every data set and every pair of neighbours of the tiny problems, some of which come near epsilon."""
    tightest = 0.0
    for problem in tiny_problems(kind, neighbours):
        mechanism = NetMechanism(points=points, epsilon=epsilon)
        laws: dict[tuple[int, ...], Law] = {}
        for rows in range(problem.n, problem.n + 1 + (neighbours is Neighbours.ADD_REMOVE_ONE)):
            for data in datasets(size=problem.domain.size, rows=rows):
                laws[data] = released(mechanism, problem, data)
                enumerated = Enumerate(window=(0, 1)).law(
                    mechanism, mechanism.prepare(dataset_of(problem, data), problem)
                )
                np.testing.assert_allclose(*aligned(laws[data], enumerated), rtol=1e-11)
        for pair in neighbouring_pairs(size=problem.domain.size, rows=problem.n, neighbours=neighbours):
            one, other = laws[pair.one], laws[pair.other]
            assert max(hockey_stick(one, other, epsilon=epsilon), hockey_stick(other, one, epsilon=epsilon)) < ROUNDING
            tightest = max(tightest, float(np.abs(np.log(np.divide(*aligned(one, other)))).max()))
    assert tightest > epsilon / 2, "half the sensitivity would pass"


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.key)
def test_scores_stand_beside_the_public_n(kind: type[Queries]) -> None:
    """Four rows where three are named: points stand for a third of three rows each, not of four."""
    queries = kind(domain=Number(bits=1, missing=True))
    problem = Problem(domain=queries.domain, queries=queries, n=3, neighbours=Neighbours.ADD_REMOVE_ONE)
    listed = NetMechanism(points=2).prepare(dataset_of(problem, [0, 0, 1, 2]), problem).net.candidates
    assert listed is not None
    copies = np.stack([(listed.points == cell).sum(axis=1) for cell in range(3)], axis=1)
    np.testing.assert_array_equal(-listed.scores, queries.max_error(2 * np.array([2, 1, 1]) - 3 * copies))


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1.0, 1.7, 10.0])
@pytest.mark.parametrize("ends", [(-1, 0, 0), (-1, 3, 9), (2, 4, 9), (2, 10, 5), (4, 5, 5)], ids=str)
def test_a_layer_has_the_cut_geometric_law(
    rate: float, ends: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Bands(counts=np.array([1, 2]), points=1, rows=3, free_end=False)
    layers, found, left = ExactLayers(kernel, rate=Fraction(rate)), defaultdict[int, float](float), [0]
    each = math.exp(-rate * layers._step)

    def flip(below: object, bounds: Callable[[int], tuple[Fraction, Fraction]]) -> bool:
        assert float(sum(bounds(20)) / 2) == pytest.approx(each, rel=1e-12)
        left[0] -= 1
        return left[0] >= 0

    monkeypatch.setattr(exact, "flip", flip)
    for heads in range(60):
        left[0] = heads
        found[layers._layer(*ends, lambda high: 0)] += each**heads * (1 - each)
    chances = layer_chances(rate * layers._step, *ends)
    assert sorted(found) == [ends[0] + 1 + place for place in range(len(chances))]
    np.testing.assert_allclose([found[layer] for layer in sorted(found)], chances, rtol=1e-11)


def preview_law(layers: Layers, rate: float) -> dict[tuple[int, ...], float]:
    """The law of Layers.draw from the numbers it uses, up to the rounding of this sum."""
    boxes, found = layers.boxes(rate), Counter[tuple[int, ...]]()
    kernel, last = layers.kernel, layers.widest // layers.boxes(rate).step
    every = databases(kernel)
    extents = kernel.extent(every)
    for start, stop, logs, share in zip(boxes.start, boxes.stop, boxes.logs, boxes.shares, strict=True):
        if not share:
            continue
        sides = [layer_chances(rate * boxes.step, *ends) for ends in zip(start, stop, last, strict=True)]
        for places in product(*map(range, map(len, sides))):
            limits = layers.limits(start + 1 + np.array(places), boxes.step)
            number = float(np.exp(min(0.0, kernel.sums(limits[None], keep=False).logs()[0] - logs)))
            inside = (extents <= limits).all(axis=1)
            chance = share * math.prod(side[at] for side, at in zip(sides, places, strict=True)) * number
            for points, extent in zip(every[inside], extents[inside], strict=True):
                kept = math.exp(-rate * (extent % boxes.step).sum())
                found[tuple(points.tolist())] += chance / inside.sum() * kept
    total = sum(found.values())
    return {points: chance / total for points, chance in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("epsilon", [0.3, 4.0, 20.0])
def test_previews_have_the_law_up_to_rounding_and_are_as_close(
    kind: type[Kernel], epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All data sets of 3 rows on 3 cells (one for missing values), and of 4: both relations' pairs."""
    monkeypatch.setattr(layers, "TOGETHER", 1)
    rate, laws = epsilon / 4, {}
    for rows in (3, 4):
        for data in datasets(size=3, rows=rows):
            kernel = kind(counts=np.bincount(data, minlength=3)[:2], points=2, rows=3, free_end=True)
            law = preview_law(Layers(kernel), rate)
            every = databases(kernel)
            weights = np.exp(-rate * kernel.extent(every).sum(axis=1))
            laws[data] = np.array([law[tuple(each)] for each in every.tolist()])
            np.testing.assert_allclose(laws[data], weights / weights.sum(), rtol=1e-11)
    for neighbours in Neighbours:
        worst = 0.0
        for pair in neighbouring_pairs(size=3, rows=3, neighbours=neighbours):
            worst = max(worst, float(np.abs(np.log(laws[pair.one] / laws[pair.other])).max()))
        assert epsilon / 2 < worst < epsilon + ROUNDING, "too little privacy, or half the sensitivity would pass"


@pytest.mark.full
def test_counts_lose_nothing_where_dead_ends_outnumber_them() -> None:
    """All rows in the last of 65,536 cells: 10^324 ways not to put a point there beside the few databases near."""
    size, m, n = 1 << 16, 100, 50
    counts = np.zeros(size, dtype=np.int64)
    counts[-1] = n
    for gone in (0, 1):  # points elsewhere: in any of the other cells or among the missing ones
        limits = np.full((1, 1), gone * n + n // 2)
        logs = Heights(counts=counts, points=m, rows=n, free_end=True).sums(limits, keep=False).logs()
        assert math.exp(logs[0]) == pytest.approx(1 + gone * size, rel=1e-9)
        # Thresholds err as much for each point before the end, and for each among the missing ones.
        logs = Bands(counts=counts, points=m, rows=n, free_end=True).sums(limits, keep=False).logs()
        assert math.exp(logs[0]) == pytest.approx((1 + gone * (size - 1)) * (1 + gone), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_release_from_very_many_rows_takes_no_numbers_of_a_million_digits(kind: type[Kernel], seed: int) -> None:
    """The best of ten million rows weighs e^-10,000,000: every draw in whole numbers finds it, soon."""
    shares = np.random.Generator(np.random.SFC64(seed)).dirichlet(np.full(32, 0.5))
    n, m = 10_000_000, 5
    kernel = kind(
        counts=np.random.Generator(np.random.SFC64(seed)).multinomial(n, shares), points=m, rows=n, free_end=False
    )
    drawn = ExactLayers(kernel, rate=Fraction(20) / (2 * m)).draw(secrets.randbelow)
    previews = Layers(kernel).draw(np.random.Generator(np.random.SFC64(seed)), rate=20 / (2 * m), trials=200)
    errors = kernel.extent(previews).sum(axis=1)
    assert abs(int(kernel.extent(drawn[None]).sum()) - int(errors.min())) <= 100 * m
