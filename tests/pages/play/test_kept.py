"""What is computed once for everybody: of public data alone, and each mechanism's part by its own parameters."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpcore.core import Entry
from dpcore.experiments.measure import finish
from dpcore.experiments.recipe import OPENING
from dpcore.experiments.sweep import Sweep, side_by_side, sweep
from dpcore.mechanisms import entry
from pages.play.strip import taken
from pages.shell import kept
from tests.pages.play.test_page import uploaded


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_parts", {})


def work(done: list[int], place: int) -> Generator[float, None, int]:
    yield 0.5
    done.append(place)
    return place


@pytest.mark.parametrize("private", [False, True])
def test_parts_are_worked_once_for_everybody_and_each_time_for_one_person(private: bool) -> None:
    recipe = replace(OPENING, source=uploaded(private=True)) if private else OPENING
    done: list[int] = []
    for _ in range(2):
        shares = list(kept.in_parts(recipe, {str(place): partial(work, done, place) for place in (1, 2)}))
        found = finish(kept.in_parts(recipe, {"2": lambda: work(done, 2), "3": lambda: work(done, 3)}))
        assert found == [2, 3] and (not private or shares == [0.25, 0.75])
        kept.part(recipe, "4", lambda: done.append(4))
    assert done == ([1, 2, 2, 3, 4] * 2 if private else [1, 2, 3, 4])
    assert bool(kept._parts) != private


def test_no_more_parts_are_kept_than_there_is_room_for() -> None:
    for place in range(kept.MOST_PARTS + 5):
        kept.part(OPENING, str(place), partial(int, place))
    assert len(kept._parts) == kept.MOST_PARTS and "0" not in kept._parts


def test_a_mechanism_s_part_is_of_its_own_parameters_and_of_no_privacy_loss() -> None:
    net = entry("net")
    told = [taken(net, values) for values in ({"points": 8}, {"points": 9}, {"points": 8, "epsilon": 3.0})]
    assert told[0] == told[2] != told[1]
    assert taken(entry("identity"), {"points": 8}) == taken(entry("identity"), {}), "it has no such control"


def test_sweeps_side_by_side_are_the_sweep_of_all() -> None:
    dataset = replace(OPENING, source=uploaded(private=False)).source.dataset()
    problem = replace(OPENING, source=uploaded(private=False)).problem(dataset)
    entries = [entry(key) for key in ("identity", "gaussian", "intervals-anchored")]

    def of(chosen: list[Entry]) -> Sweep:
        return finish(sweep(chosen, dataset, problem, shared={"delta": 1e-5}, trials=20, seed=3, epsilons=(0.1, 1.0)))

    together, apart = of(entries), side_by_side([of([each]) for each in entries])
    assert together.keys == apart.keys and together.left_out == apart.left_out
    for name in ("worst", "typical", "promised"):
        assert np.array_equal(getattr(together, name), getattr(apart, name), equal_nan=True)
