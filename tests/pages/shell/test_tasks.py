"""What is computed once for everybody: of public data alone, and each mechanism's part by its own parameters."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier, Event, Thread, get_ident
from time import sleep
from typing import Any

import numpy as np
import pytest

from dpcore.core import Entry, ParameterError, cancellable, checkpoint
from dpcore.mechanisms import entry
from dplab.measure import finish
from dplab.recipe import DEFAULT_RECIPE
from dplab.sweep import Sweep, concatenate_sweeps, sweep
from pages.play.comparison import mechanism_key
from pages.shell.tasks import memory, shared
from tests.pages.play.test_page import uploaded


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_parts", shared.SharedCache(size=30))


def work(done: list[int], place: int) -> Generator[float, None, int]:
    yield 0.5
    done.append(place)
    return place


@pytest.mark.parametrize("private", [False, True])
def test_parts_are_worked_once_for_everybody_and_each_time_for_one_person(private: bool) -> None:
    recipe = replace(DEFAULT_RECIPE, source=uploaded(private=True)) if private else DEFAULT_RECIPE
    done: list[int] = []
    for _ in range(2):
        shares = list(shared.share_parts(recipe, {str(place): partial(work, done, place) for place in (1, 2)}))
        found = finish(shared.share_parts(recipe, {"2": lambda: work(done, 2), "3": lambda: work(done, 3)}))
        assert found == [2, 3] and (not private or shares == [0.25, 0.75])
        shared.share_part(recipe, "4", lambda: done.append(4))
    assert done == ([1, 2, 2, 3, 4] * 2 if private else [1, 2, 3, 4])
    assert bool(shared._parts.results) != private


def test_no_more_parts_are_kept_than_there_is_room_for() -> None:
    for place in range(35):
        shared.share_part(DEFAULT_RECIPE, str(place), partial(int, place))
        shared.share_part(DEFAULT_RECIPE, "2", int)
    held = shared._parts.results
    assert len(held) == 30 and {"2", "34"} < {*held} and "3" not in held, "the longest unasked goes first"
    assert not shared._parts.under_way


VISITORS = 30


def at_once(shelf: shared.SharedCache, begin: Callable[[], Generator[float, None, int]]) -> list[int | Exception]:
    """What comes of it for thirty visitors who ask for the same at the same moment."""
    gate = Barrier(VISITORS)

    def visit(_: int) -> int | Exception:
        gate.wait()
        try:
            return finish(shelf.share("key", begin))
        except Exception as problem:
            return problem

    with ThreadPoolExecutor(VISITORS) as pool:
        return list(pool.map(visit, range(VISITORS)))


def test_thirty_who_ask_at_once_share_one_piece_of_work() -> None:
    shelf, begun, blocks = shared.SharedCache(size=3), [], []

    def slow() -> Generator[float, None, int]:
        begun.append(get_ident())
        for block in range(5):
            blocks.append(block)
            sleep(0.02)
            yield block / 5
        return 7

    assert at_once(shelf, slow) == [7] * VISITORS
    assert len(begun) == 1 and blocks == [0, 1, 2, 3, 4] and not shelf.under_way
    assert finish(shelf.share("key", slow)) == 7 and len(begun) == 1
    shelf.results.clear()
    assert finish(shelf.share("key", slow)) == 7 and len(begun) == 2, "what is not kept is worked out anew"


def test_an_error_reaches_all_who_wait_and_the_next_who_asks_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, begun, joined = shared.SharedCache(size=3), [], list[int]()
    usual = shared._put

    def put(where: Any, *rest: Any) -> None:
        usual(where, *rest)
        joined.append(get_ident())

    monkeypatch.setattr(shared, "_put", put)

    def fails() -> Generator[float, None, int]:
        begun.append(get_ident())
        while len(joined) < VISITORS:  # on a busy machine some would come after the error, and begin anew
            sleep(0.01)
        yield 0.5
        raise ParameterError("There is no such number.")

    problems = at_once(shelf, fails)
    assert {str(each) for each in problems} == {"There is no such number."} and len(problems) == VISITORS
    assert len(begun) == 1 and not shelf.results and not shelf.under_way
    assert finish(shelf.share("key", lambda: work([], 3))) == 3


def test_who_is_called_away_within_a_block_leaves_nobody_without_an_end() -> None:
    shelf, moves = shared.SharedCache(size=3), [True, False]

    def called_away() -> Generator[float, None, int]:
        yield 0.5
        if moves.pop(0):
            raise SystemExit
        return 3

    first, second = (shelf.share("key", called_away) for _ in range(2))
    assert next(first) == 0.5
    with pytest.raises(SystemExit):
        next(second)
    assert finish(first) == 3 and not moves, "who waited begins anew"
    assert not shelf.under_way and finish(shelf.share("key", called_away)) == 3


def test_who_comes_after_somebody_was_called_away_within_a_block_begins_anew() -> None:
    shelf = shared.SharedCache(size=3)

    def called_away() -> Generator[float, None, int]:
        raise SystemExit
        yield

    with pytest.raises(SystemExit):
        finish(shelf.share("key", called_away))
    assert finish(shelf.share("key", lambda: work([], 3))) == 3 and not shelf.under_way


def test_work_that_is_forgotten_waits_for_no_lock() -> None:
    """As what is forgotten ends wherever the collector of garbage runs, within the lock too."""
    shelf = shared.SharedCache(size=3)
    left = shelf.share("key", lambda: work([], 3))
    next(left)
    ended = Event()

    def forget() -> None:
        with shared._lock:
            left.close()
        ended.set()

    Thread(target=forget, daemon=True).start()
    assert ended.wait(60)


@pytest.mark.parametrize("others", [True, False])
def test_who_is_called_away_within_a_step_ends_it_only_where_nobody_else_waits(others: bool) -> None:
    shelf, begun, go_on = shared.SharedCache(size=3), list[int](), Event()

    def steps() -> Generator[float, None, int]:
        begun.append(len(begun))
        assert go_on.wait(60)
        checkpoint()
        yield 0.5
        return 3

    def leave() -> None:
        raise CalledAway

    def lead() -> str:
        with cancellable(leave, every=0):
            try:
                return str(next(shelf.share("key", steps)))
            except CalledAway:
                return "left"

    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(lead)
        while not begun:
            sleep(0.01)
        if others:
            assert next(shelf.share("key", steps)) == 0, "it waits, and sees how far it is"
        go_on.set()
        assert leader.result(60) == ("0.5" if others else "left")
    assert finish(shelf.share("key", steps)) == 3 and len(begun) == (1 if others else 2)


def test_who_leaves_between_blocks_fails_nobody_and_loses_nothing() -> None:
    shelf, done = shared.SharedCache(size=3), []

    def blocks() -> Generator[float, None, int]:
        for block in range(3):
            done.append(block)
            yield block / 3
        return len(done)

    first = shelf.share("key", blocks)
    assert next(first) == 0
    first.close()
    assert finish(shelf.share("key", blocks)) == 3 and done == [0, 1, 2]


def test_what_was_given_up_is_given_to_all_who_waited_and_kept_for_nobody() -> None:
    shelf = shared.SharedCache(size=3)
    done: list[int] = []
    first, second = (shelf.share("key", lambda: work(done, 1), is_partial=lambda found: found == 1) for _ in range(2))
    assert next(first) == 0.5
    assert finish(second) == finish(first) == 1
    assert done == [1] and not shelf.results and not shelf.under_way


def test_work_that_all_have_left_is_bounded_too() -> None:
    shelf = shared.SharedCache(size=3)
    for place in range(5):
        next(shelf.share(str(place), partial(work, [], place)))
    assert [*shelf.under_way] == ["2", "3", "4"]


def test_a_mechanism_s_part_is_of_its_own_parameters_and_of_no_privacy_loss() -> None:
    net = entry("net")
    told = [mechanism_key(net, values) for values in ({"points": 8}, {"points": 9}, {"points": 8, "epsilon": 3.0})]
    assert told[0] == told[2] != told[1]
    assert mechanism_key(entry("identity"), {"points": 8}) == mechanism_key(entry("identity"), {}), (
        "it has no such control"
    )


def test_sweeps_side_by_side_are_the_sweep_of_all() -> None:
    dataset = replace(DEFAULT_RECIPE, source=uploaded(private=False)).source.dataset()
    problem = replace(DEFAULT_RECIPE, source=uploaded(private=False)).problem(dataset)
    entries = [entry(key) for key in ("identity", "gaussian", "intervals-anchored")]

    def of(chosen: list[Entry]) -> Sweep:
        return finish(sweep(chosen, dataset, problem, shared={"delta": 1e-5}, trials=20, seed=3, epsilons=(0.1, 1.0)))

    together, apart = of(entries), concatenate_sweeps([of([each]) for each in entries])
    assert together.keys == apart.keys and together.left_out == apart.left_out
    for name in ("worst", "typical", "promised"):
        assert np.array_equal(getattr(together, name), getattr(apart, name), equal_nan=True)


class CalledAway(BaseException):
    """As Streamlit raises it where a page shows something."""


class Stopped(dict[str, Any]):
    """A session's state: a run that was called away for good is so at each further look."""

    def __getitem__(self, key: str) -> Any:
        if Slot.stopped:
            raise CalledAway
        return super().__getitem__(key)


class Slot:
    """A place on a page; whoever shows something there is called away while ``moved`` counts down."""

    stopped = False

    moved = 0

    def empty(self) -> None:
        self.progress()

    def progress(self, *_: object, **__: object) -> None:
        if Slot.moved:
            Slot.moved -= 1
            Slot.stopped = True
            raise CalledAway


@pytest.mark.parametrize("label", ["", "Working."])
def test_who_moves_a_control_finds_work_where_it_was_left(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state, done = dict[str, object](), list[int]()
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr("streamlit.empty", Slot)

    def blocks() -> Generator[float, None, str]:
        for place in range(4):
            done.append(place)
            yield place / 4
        return "result"

    Slot.moved = 3
    for _ in range(3):
        with pytest.raises(CalledAway):
            memory.with_progress("key", blocks, label=label)
        Slot.stopped = False
    assert memory.with_progress("key", blocks, label=label) == "result" and done == [0, 1, 2, 3]
    assert state["memory"] == {"key": "result"}


@pytest.mark.parametrize("label", ["", "Working."])
def test_who_moves_a_control_within_a_long_step_waits_for_no_end_of_it(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, done = Stopped(), list[str]()
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr("streamlit.empty", Slot)
    monkeypatch.setattr(memory, "cancellable", partial(cancellable, every=0))

    def blocks() -> Generator[float, None, str]:
        done.append("begun")
        checkpoint()
        done.append("ended")
        yield 0.5
        return "result"

    Slot.moved = 1
    with pytest.raises(CalledAway):
        memory.with_progress("key", blocks, label=label)
    Slot.stopped = False
    assert done == ["begun"] and not state["memory"]
    assert memory.with_progress("key", blocks, label=label) == "result" and done[1:] == ["begun", "ended"]


def test_work_that_failed_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    state, fails = dict[str, dict[str, object]](), [True, False]
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr("streamlit.empty", Slot)

    def blocks() -> Generator[float, None, str]:
        yield 0.5
        if fails.pop(0):
            raise ParameterError("No.")
        return "result"

    with pytest.raises(ParameterError):
        memory.with_progress("key", blocks, label="Working.")
    assert not state["memory"]
    assert memory.with_progress("key", blocks, label="Working.") == "result"


@pytest.mark.parametrize("within_a_step", [False, True], ids=["it leaves between blocks", "it leaves within a block"])
def test_a_run_that_comes_while_the_last_is_within_a_block_waits_for_its_turn(
    within_a_step: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generator that is running cannot be advanced: the second run had "generator already executing"."""
    state, done, begun, waiting = dict[str, object](), list[int](), Event(), Event()
    monkeypatch.setattr("streamlit.session_state", state)
    first, left = Thread(target=lambda: left.append(called_away())), list[str]()

    class CallsAwayTheFirst(Slot):
        def progress(self, *_: object, **__: object) -> None:
            if get_ident() == first.ident and begun.is_set():
                raise CalledAway

    monkeypatch.setattr("streamlit.empty", CallsAwayTheFirst)

    def called_away() -> str:
        try:
            return memory.with_progress("key", blocks)
        except CalledAway:
            return "called away"

    def blocks() -> Generator[float, None, str]:
        for place in range(3):
            if get_ident() == first.ident:
                begun.set()
                assert waiting.wait(10)
                sleep(0.05)  # the second run asks for the next block
                if within_a_step:
                    raise CalledAway
            done.append(place)
            yield place / 3
        return "result"

    first.start()
    assert begun.wait(10)
    waiting.set()
    assert memory.with_progress("key", blocks) == "result"
    first.join(10)
    assert left == ["called away"] and done == [0, 1, 2] and state["memory"] == {"key": "result"}


def test_a_call_is_remembered_by_plain_values_alone() -> None:
    """Rows show no value in their text, and an array leaves most out: two calls would be taken for one."""
    rows = DEFAULT_RECIPE.source.dataset()
    for each in (rows, rows.records, (1, rows), [rows.records]):
        with pytest.raises(TypeError, match="a key of its own"):
            memory.remember_call(repr, each)
