from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dpcore.core import Neighbours
from dpcore.data.columns import Number
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Thresholds
from dprelease.certificate import unreleasable
from dprelease.requests.parts import MAX_PARTS, Request, RequestPart
from dprelease.requests.work import MAX_SECONDS, too_much_work
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
    assert sentence.startswith("These 64 questions would take about ") and "minutes of computing" in sentence
    assert too_much_work(Request(parts=request.parts[:4])) == "" == too_much_work(Request(parts=request.parts[:1]))


def test_fewer_cells_or_several_requests_take_less_work() -> None:
    """As the refusal advises."""
    whole = Request(parts=tuple(ranges_of("hierarchy", {"branches": 16 + place}) for place in range(MAX_PARTS)))
    assert "take fewer cells, or ask in several requests" in too_much_work(whole)
    coarse = Number(high=100.0, bits=8)
    fewer: dict[str, Any] = {"reading": Columns(names=("pay",), on=coarse), "queries": Thresholds(domain=coarse)}
    assert too_much_work(Request(parts=tuple(replace(part, **fewer) for part in whole.parts))) == ""
    several = [Request(parts=whole.parts[place : place + 4]) for place in range(0, MAX_PARTS, 4)]
    assert [too_much_work(each) for each in several] == [""] * len(several)


def test_a_strategy_that_all_questions_share_counts_once() -> None:
    parts = tuple(ranges_of("hierarchy", {"epsilon": 0.1 + place / 100}) for place in range(MAX_PARTS))
    assert sum(part.mechanism.preview_seconds(part.problem)[0] for part in parts) > MAX_SECONDS
    assert too_much_work(Request(parts=parts)) == ""
    others = tuple(replace(part, values={**part.values, "branches": 16 + place}) for place, part in enumerate(parts))
    assert too_much_work(Request(parts=others))
