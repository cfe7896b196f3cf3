from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpcore
from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.readings import Columns
from dpcore.data.twin import twin
from dpcore.mechanisms.net.kernel import Kernel, Sums
from dpcore.mechanisms.online.median_mechanism import MedianMechanism
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.queries.linear import generated
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import Secure
from dplab.intervals.released import draws_of_cells
from dprelease.certificate import unreleasable
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.tables import preview_of
from dprelease.requests.work import MAX_SECONDS, request_seconds, too_much_work
from dprelease.sizes import MAX_PARTS
from tests.dprelease.test_catalogue_releases import ENTRIES, FIXED, problem_readings
from tests.kit.ledgers import question_of

LINE = Number(high=100.0, bits=16)


def ranges_of(key: str, values: Mapping[str, Any]) -> RequestPart:
    return question_of(
        reading=Columns(names=("pay",), on=LINE),
        queries=Thresholds(domain=LINE),
        n=10_000,
        neighbours=Neighbours.ADD_REMOVE_ONE,
        entry_key=key,
        values=values,
    )


MANY: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "hierarchies of 64 numbers of branches": ("hierarchy", [{"branches": 16 + place} for place in range(MAX_PARTS)]),
    "trees of windows of 64 steps": ("tree-windows", [{"steps": 2 + place} for place in range(MAX_PARTS)]),
    "nets of 64 amounts of noise": (
        "net", [{"epsilon": 0.1 + place / 100} for place in range(MAX_PARTS)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", MANY)
def test_many_questions_that_take_long_are_refused_before_any_is_prepared(which: str) -> None:
    key, values = MANY[which]
    request = Request(parts=tuple(ranges_of(key, each) for each in values))
    start = time.process_time()
    sentence = unreleasable(request)
    assert time.process_time() - start < 5
    assert sentence.startswith("These 64 statistics would take about ")
    assert "minutes, and a request may take at most 5" in sentence
    assert too_much_work(Request(parts=request.parts[:4])) == "" == too_much_work(Request(parts=request.parts[:1]))


def test_fewer_cells_or_several_requests_take_less_work() -> None:
    """As the refusal advises."""
    whole = Request(parts=tuple(ranges_of("hierarchy", {"branches": 16 + place}) for place in range(MAX_PARTS)))
    assert "Choose fewer cells, or make several requests" in too_much_work(whole)
    coarse = Number(high=100.0, bits=8)
    fewer: dict[str, Any] = {"reading": Columns(names=("pay",), on=coarse), "queries": Thresholds(domain=coarse)}
    assert too_much_work(Request(parts=tuple(replace(part, **fewer) for part in whole.parts))) == ""
    several = [Request(parts=whole.parts[place : place + 4]) for place in range(0, MAX_PARTS, 4)]
    assert [too_much_work(each) for each in several] == [""] * len(several)


def test_a_strategy_that_all_questions_share_counts_once() -> None:
    parts = tuple(ranges_of("tree-windows", {"epsilon": 0.1 + place / 100}) for place in range(MAX_PARTS))
    assert sum(part.mechanism.preview_seconds(part.problem)[0] for part in parts) > MAX_SECONDS
    assert too_much_work(Request(parts=parts)) == ""
    others = tuple(replace(part, values={**part.values, "steps": 2 + place}) for place, part in enumerate(parts))
    assert too_much_work(Request(parts=others))


def test_noise_that_is_drawn_again_counts_for_each_statistic_though_they_share_a_strategy() -> None:
    """Each has intervals of its own: one of these takes about seven seconds to release and verify."""
    parts = tuple(ranges_of("hierarchy", {"epsilon": 0.1 + place / 100}) for place in range(MAX_PARTS))
    one, two, many = (request_seconds(Request(parts=parts[:count])) for count in (1, 2, MAX_PARTS))
    again = 2 * draws_of_cells(LINE.size) * parts[0].mechanism.preview_seconds(parts[0].problem)[1]
    assert two - one > again and many > MAX_SECONDS
    assert many < 2 * 7 * 60, "nor are they said to take far longer than they do"


JOBS = Labels(labels=tuple(f"job {place}" for place in range(8)))
SHORT = Number(high=100.0, bits=7)


def statistic_of(key: str, values: Mapping[str, Any], **changed: Any) -> RequestPart:
    """A question of the most common job."""
    usual: dict[str, Any] = {
        "reading": Columns(names=("job",), on=JOBS),
        "queries": Cells(domain=JOBS),
        "n": 100_000,
        "neighbours": Neighbours.REPLACE_ONE,
    }
    return question_of(entry_key=key, values=values, **usual | changed)


LONG: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "subsamples of 100,000 rows": ("subsample_commonest", {"rows": 100_000}, {}),
    "medians of 100,000 rows": (
        "subsample_median",
        {"rows": 100_000},
        {"reading": Columns(names=("pay",), on=SHORT), "queries": Thresholds(domain=SHORT)},
    ),
    "conversations about listed databases": ("median", {"analyst": "sweeping", "questions": 10_000}, {}),
}


@pytest.mark.parametrize("which", LONG)
def test_many_statistics_that_take_long_are_refused(which: str) -> None:
    """Their work was told as none: 64 statistics of subsamples took eleven minutes to verify."""
    key, values, changed = LONG[which]
    part = statistic_of(key, values, **changed)
    assert too_much_work(Request(parts=(part,))) == ""
    many = Request(parts=tuple(replace(part, values={**values, "epsilon": 1 + place / 100}) for place in range(64)))
    assert unreleasable(many).startswith("These 64 statistics would take about ")


def test_one_question_is_weighed_as_well() -> None:
    labels = Labels(labels=tuple(f"job {place}" for place in range(2000)))
    changed: dict[str, Any] = {"reading": Columns(names=("job",), on=labels), "queries": Cells(domain=labels)}
    part = statistic_of("subsample_commonest", {"rows": 100_000}, **changed)
    sentence = unreleasable(Request(parts=(part,)))
    assert sentence.startswith("This statistic would take about ") and sentence.endswith("or smaller parameters.")
    fewer = replace(part, values={"rows": 1000})
    assert unreleasable(Request(parts=(fewer,))) == ""


@pytest.mark.parametrize(("first", "second"), [(1, 1), (0, 9)])
def test_two_groups_that_are_none_are_refused_before_anything_is_charged(first: int, second: int) -> None:
    part = statistic_of("subsample_larger", {"first": first, "second": second})
    assert unreleasable(Request(parts=(part,))).startswith("Two different groups are needed")


def test_points_of_databases_are_found_without_trying_each_number() -> None:
    """With thirteen million points that α asks for, it never ended."""
    queries = generated("bumps", queries=4, domain=LINE, seed=1)
    part = statistic_of(
        "median",
        {"analyst": "sweeping", "alpha": 0.005},
        reading=Columns(names=("pay",), on=LINE),
        queries=queries,
    )
    calls = list[Any]()
    sys.setprofile(lambda *event: calls.append(event[1]))
    try:
        assert isinstance(part.mechanism, MedianMechanism) and part.mechanism.points(part.problem) == 1
    finally:
        sys.setprofile(None)
    assert len(calls) < 1000


MANY_CALLS = 10**5
"""Events of Python's profiler in about a tenth of a second: what takes less need not be weighed."""


def count_calls(work: Callable[[], Any]) -> int:
    """Return how many events of Python's profiler a computation has: independent of the machine."""
    count = 0

    def noted(*_: Any) -> None:
        nonlocal count
        count += 1

    sys.setprofile(noted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.key)
def test_what_takes_more_calls_is_estimated_to_take_longer(one: dpcore.Entry) -> None:
    """Each whole parameter at two values far apart: where calls grow and are many, so does the estimate."""
    reading, queries = problem_readings(one)
    for name, parameter in one.controls().items():
        if not parameter.integer or parameter.choices:
            continue
        low, high = int(parameter.low), int(min(parameter.high, 64 * max(1, parameter.low)))
        calls, seconds = list[int](), list[float]()
        for value in (low, high):
            values = {**one.tiny, **FIXED.get(one.key, {}), name: value}
            part = statistic_of(one.key, values, reading=reading, queries=queries, n=400)
            if unreleasable(Request(parts=(part,))):
                break
            preview_of(part)  # what is made once is made
            calls.append(count_calls(partial(preview_of, part)))
            seconds.append(sum(part.mechanism.release_seconds(part.problem)))
        if len(calls) == 2 and calls[1] > max(MANY_CALLS, 8 * calls[0]):
            assert seconds[1] > 4 * seconds[0], (name, calls, seconds)


def count_blocks(part: RequestPart) -> int:
    """Return in how many blocks of numbers the law of a subsample is worked out."""
    assert isinstance(part.mechanism, SubsampleAggregate)
    counts = np.append(np.full(part.problem.domain.ordered, 100), 0)
    return sum(1 for _ in part.mechanism.question(part.problem.domain).vote.steps(counts, rows=part.mechanism.rows))


def test_the_law_of_the_commonest_is_estimated_by_its_blocks() -> None:
    """Four times the rows are about eight times the blocks."""
    few, more = (statistic_of("subsample_commonest", {"rows": rows, "subsamples": 1}) for rows in (1000, 4000))
    blocks = count_blocks(more) / count_blocks(few)
    seconds = [part.mechanism.release_seconds(part.problem)[1] for part in (few, more)]
    assert blocks > 4 and 1 / 3 < seconds[1] / seconds[0] / blocks < 3


def count_net_numbers(part: RequestPart, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many whole numbers one release of the net adds up."""
    numbers = 0

    def noted(self: Sums, kernel: Kernel, limits: Any, *, values: int, exact: bool) -> None:
        nonlocal numbers
        added = (
            values if part.queries.key == Cells.key else 2
        )  # a cell's count adds up all values below each, half of them
        numbers += exact * kernel.cells * len(limits) * values * added // 2
        build(self, kernel, limits, values=values, exact=exact)

    build = Sums.__init__
    with monkeypatch.context() as patched:
        patched.setattr(Sums, "__init__", noted)
        rows = twin(part.reading, n=part.n, seed=1).dataset()
        part.mechanism.run(part.mechanism.prepare(rows, part.problem), Secure(), 1)
    return numbers


@pytest.mark.slow
def test_a_net_is_estimated_by_the_numbers_that_it_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals have more bands than thresholds, and a cell's count adds up all values below each."""
    line = Number(high=100.0, bits=6)
    parts = [
        question_of(
            reading=Columns(names=("pay",), on=line), queries=queries(domain=line), n=1_000,
            neighbours=Neighbours.REPLACE_ONE, entry_key="net", values={"points": points},
        )
        for queries, points in ((Thresholds, 50), (Intervals, 50), (Cells, 50), (Cells, 20))
    ]  # fmt: skip
    numbers = [count_net_numbers(part, monkeypatch) for part in parts]
    seconds = [sum(part.mechanism.release_seconds(part.problem)) for part in parts]
    for place in range(1, len(parts)):
        assert 1 / 2.5 < seconds[place] / seconds[0] / (numbers[place] / numbers[0]) < 2.5, (numbers, seconds)


def test_a_net_of_few_rows_on_many_cells_is_estimated_to_take_less() -> None:
    few, many = (replace(ranges_of("net", {}), n=n) for n in (1_000, 100_000))
    assert few.mechanism.release_seconds(few.problem) < many.mechanism.release_seconds(many.problem)
