"""Bit-packed counts against counts row by row."""

from __future__ import annotations

import tracemalloc
from itertools import combinations
from math import comb
from threading import Event, Semaphore
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np
import pytest

from dpcore import ParameterError
from dpcore.core import Booleans
from dpcore.core.sizes import MAX_ATTRIBUTES
from dpcore.data.product import Product
from dpcore.queries import counting
from dpcore.queries.at_least import AtLeast
from dpcore.queries.attribute_sets import MAX_WIDTH, all_sets, ranks, unrank
from dpcore.queries.counting import BLOCK_WORDS, at_least_counts, count_sets, counted, literal_counts, pack, sums
from dplab.measure import finish


def rows_of(seed: int, *, n: int, attributes: int) -> Booleans:
    random = np.random.Generator(np.random.SFC64(seed))
    return random.random((n, attributes)) < random.uniform(0.1, 0.9, attributes)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_sets_are_numbered_by_their_largest_member_first(size: int) -> None:
    sets = sorted(combinations(range(9), size), key=lambda members: members[::-1])
    assert all_sets(9, size=size).tolist() == [list(members) for members in sets]
    assert ranks(np.array(sets)).tolist() == list(range(comb(9, size)))


def test_the_largest_number_of_a_set_is_exact(seed: int) -> None:
    numbers = np.random.Generator(np.random.SFC64(seed)).integers(0, comb(MAX_ATTRIBUTES, MAX_WIDTH), 1000)
    numbers = np.append(numbers, comb(MAX_ATTRIBUTES, MAX_WIDTH) - 1)
    members = unrank(numbers, size=MAX_WIDTH)
    assert (np.diff(members, axis=1) > 0).all()
    assert members.max() == MAX_ATTRIBUTES - 1
    np.testing.assert_array_equal(ranks(members), numbers)


@pytest.mark.parametrize(
    ("n", "attributes", "size"), [(1, 1, 1), (64, 3, 3), (65, 5, 5), (64 * BLOCK_WORDS + 3, 6, 4), (200_001, 5, 2)]
)
def test_every_set_is_counted(n: int, attributes: int, size: int, seed: int) -> None:
    rows = rows_of(seed, n=n, attributes=attributes)
    packed = pack(rows)
    counts = finish(count_sets(packed, size=size))
    assert [len(level) for level in counts] == [comb(attributes, level) for level in range(1, size + 1)]
    for level, found in enumerate(counts, start=1):
        sets = all_sets(attributes, size=level)
        assert found.tolist() == [int(rows[:, members].all(axis=1).sum()) for members in sets]
        cells = literal_counts(counts, n=n, size=level)
        patterns = [(rows[:, members] << np.arange(level)).sum(axis=1) for members in sets]
        assert cells.tolist() == [np.bincount(pattern, minlength=1 << level).tolist() for pattern in patterns]
        for least in range(1, level + 1):
            expected = [int((rows[:, members].sum(axis=1) >= least).sum()) for members in sets]
            assert at_least_counts(counts, n=n, size=level, least=least).tolist() == expected


def test_rows_all_set_fill_every_word() -> None:
    n = 64 * BLOCK_WORDS * 2  # the sum of a full block fits its 16 bits
    counts = counted(pack(np.ones((n, 3), dtype=np.bool_)), size=3)
    assert [level.tolist() for level in counts] == [[n] * 3, [n] * 3, [n]]


@pytest.mark.parametrize("signed", [False, True])
def test_sums_of_a_set_per_row(signed: bool, seed: int) -> None:
    rows = rows_of(seed, n=1_000_01, attributes=9)
    random = np.random.Generator(np.random.SFC64(seed))
    for width in (1, 2, 5, 8):
        sets = np.array([np.sort(random.permutation(9)[:width]) for _ in range(40)])
        negated = random.random(sets.shape) < 0.5 if signed else None
        law = finish(sums(pack(rows), sets, negated))
        for place, members in enumerate(sets):
            counts = (rows[:, members] ^ (negated[place] if negated is not None else False)).sum(axis=1)
            assert law[place].tolist() == np.bincount(counts, minlength=width + 1).tolist()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("least", [1, 2, 3])
def test_true_answers(least: int, signed: bool, seed: int) -> None:
    rows = rows_of(seed, n=777, attributes=5)
    queries = AtLeast(domain=Product.yes_no([*"abcde"]), width=3, least=least, signed=signed)
    indices = queries.batch(10_000)
    assert len(indices) == queries.count == (80 if signed else 10)
    sets, negated = queries.sets(indices)
    assert len(set(map(tuple, np.concatenate([sets, negated], axis=1).tolist()))) == queries.count
    wanted = [((rows[:, s] ^ f).sum(axis=1) >= least).mean() for s, f in zip(sets, negated, strict=True)]
    np.testing.assert_allclose(finish(queries.truth(pack(rows), indices)), wanted)


def test_a_query_in_words() -> None:
    domain = Product.yes_no([*"abcd"])
    assert AtLeast(domain=domain, width=2).describe(1) == "any of a, c"
    assert AtLeast(domain=domain, width=2, least=2, signed=True).describe(4 + 2) == "all of a, not c"
    assert AtLeast(domain=domain, width=3, least=2).describe(3) == "at least 2 of b, c, d"
    assert AtLeast(domain=domain, width=1).describe(3) == "d"
    wide = AtLeast(domain=Product.yes_no([f"a{i}" for i in range(64)]), width=12, signed=True)
    assert wide.batch(500).max() < wide.count < 2**63
    impossible: tuple[dict[str, Any], ...] = ({"width": 5}, {"width": 2, "least": 3}, {"width": 0})
    for wrong in impossible:
        with pytest.raises(ParameterError):
            AtLeast(domain=domain, **wrong)


def test_counting_shows_its_progress_and_stops_when_asked(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of forty blocks one is let through before it is stopped: none begins but those that the threads hold."""
    packed = pack(rows_of(seed, n=64 * BLOCK_WORDS * 40, attributes=3))
    threads = set(enumerate_threads())
    shares = list(count_sets(packed, size=2))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    made, begun, through = counting._Block, list[int](), Semaphore(1)

    def held(*told: Any) -> Any:
        begun.append(1)
        through.acquire()
        return made(*told)

    class Stop(Event):
        def set(self) -> None:
            super().set()
            through.release(40)

    monkeypatch.setattr(counting, "_Block", held)
    monkeypatch.setattr(counting, "Event", Stop)
    work = count_sets(packed, size=2)
    assert next(work) == pytest.approx(1 / 40)
    work.close()
    assert 1 <= len(begun) <= 1 + counting.THREADS
    assert set(enumerate_threads()) <= threads


def test_sets_of_impossible_size_are_refused() -> None:
    packed = pack(np.ones((3, 2), dtype=np.bool_))
    for size in (0, 3):
        with pytest.raises(ParameterError):
            counted(packed, size=size)


@pytest.mark.full
@pytest.mark.slow
def test_a_million_rows_of_64_attributes_within_the_promise(seed: int) -> None:
    """All sets of up to 3 attributes in 2 GB: usually 0.1 GB beside the rows."""
    random = np.random.Generator(np.random.SFC64(seed))
    rows = random.integers(0, 4, (1_000_000, 64), dtype=np.uint8) == 0
    tracemalloc.start()
    counts = counted(pack(rows), size=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows.nbytes + peak < 2e9
    assert [len(level) for level in counts] == [64, 2016, 41_664]
    assert counts[2][-1] == rows[:, 61:].all(axis=1).sum()
