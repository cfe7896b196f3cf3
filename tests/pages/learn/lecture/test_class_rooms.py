"""Rooms of class guesses: what a phone may send, how many may, how long, and that one room knows nothing of another."""

from __future__ import annotations

import contextlib
import gc
import math
import threading

import pytest

from dpcore.core import ParameterError
from pages.learn.lecture import rooms
from pages.learn.lecture.rooms import GuessQuestion, GuessRoom, is_open, open_room, question_of, send_guess

PERCENT = GuessQuestion(lesson="odds", text="How likely?", label="Percent", values=tuple(range(101)), default=50)
STOPS = GuessQuestion(lesson="median", text="How fine?", label="Bits", values=(1, 2.5, 1000), default=1)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(rooms, "clock", made)
    monkeypatch.setattr(rooms, "_rooms", type(rooms._rooms)())  # sessions of other tests may still hold theirs
    return made


def asked(question: GuessQuestion = PERCENT) -> GuessRoom:
    room = open_room()
    room.ask(question, revealed=False)
    return room


def guess(room: GuessRoom, value: object, *, phone: str = "phone") -> None:
    send_guess(room.name, phone=phone, turn=room.turn, value=value)


def test_a_phone_has_one_guess_and_may_change_it() -> None:
    room = asked()
    guess(room, 10)
    guess(room, 30)
    guess(room, 100, phone="another")
    assert room.values() == [30, 100]


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -1, 101, 50.5, 10**400, True, None, "50", "<b>", [50], {"a": 1}, b"1", 1e308],
    ids=str,
)
def test_what_the_lesson_s_own_control_could_not_have_is_refused(value: object) -> None:
    room = asked()
    with pytest.raises(ParameterError) as refused:
        guess(room, value)
    assert str(refused.value) == rooms.NO_GUESS and room.values() == []
    guess(room, 50)  # the control: a value that it has is taken
    assert room.values() == [50]


def test_a_slider_of_stops_takes_its_stops_alone() -> None:
    room = asked(STOPS)
    guess(room, 2.5)
    for value in (2, 3.0, 999):
        with pytest.raises(ParameterError, match="not a number that can be guessed"):
            guess(room, value)
    assert room.values() == [2.5]


def test_the_501st_phone_is_refused_and_those_before_may_still_change_their_guess() -> None:
    room = asked()
    for phone in range(500):
        guess(room, phone % 101, phone=str(phone))
    with pytest.raises(ParameterError, match=r"^This class guess has 500 guesses, which is the most it takes\.$"):
        guess(room, 1, phone="500")
    guess(room, 7, phone="0")
    assert len(room.values()) == 500


def test_a_name_cannot_be_guessed_and_a_wrong_one_gets_the_sentence_of_one_that_ended() -> None:
    room = asked()
    names = {open_room().name for _ in range(200)}
    assert len(names) == 200 and all(len(name) * 6 >= 96 for name in names)
    assert len(set("".join(names))) > 60, "all letters occur"
    said = set()
    wrong = ["", "x", room.name[:-1], f"{room.name}x", room.name.swapcase(), "../" + room.name, "\0", "a" * 10**6]
    for name in wrong:
        for attempt in (
            lambda name=name: question_of(name),
            lambda name=name: send_guess(name, phone="p", turn=1, value=1),
        ):
            with pytest.raises(ParameterError) as refused:
                attempt()
            said.add(str(refused.value))
    room.end()
    with pytest.raises(ParameterError) as refused:
        question_of(room.name)
    assert said == {str(refused.value)} == {rooms.NO_ROOM}


def test_after_an_hour_a_room_is_gone_with_its_guesses(clock: Clock) -> None:
    room = asked()
    guess(room, 10)
    clock.now = 3599.0
    guess(room, 20, phone="late")
    assert is_open(room) and room.values() == [10, 20]
    clock.now = 3600.0
    with pytest.raises(ParameterError, match="has ended"):
        guess(room, 30, phone="later")
    assert not is_open(room) and room.values() == [] and not room.guesses


def test_a_room_ends_with_the_reference_that_its_teacher_s_session_has() -> None:
    room = asked()
    name = room.name
    question_of(name)
    del room
    gc.collect()
    with pytest.raises(ParameterError, match="has ended"):
        question_of(name)


def test_two_rooms_know_nothing_of_each_other() -> None:
    one, other = asked(), asked(STOPS)
    guess(one, 10)
    guess(other, 1000)
    assert one.values() == [10] and other.values() == [1000]
    other.end()
    assert question_of(one.name)[0] == PERCENT and one.values() == [10]


def test_a_server_has_so_many_rooms_and_one_that_ended_makes_room(clock: Clock) -> None:
    held = [open_room() for _ in range(rooms.MAX_ROOMS)]
    with pytest.raises(ParameterError, match=r"^All 50 class guesses of this server are in use\. Try again later\.$"):
        open_room()
    held[0].end()
    held[0] = open_room()
    clock.now = rooms.MAX_SECONDS
    held.append(open_room())
    assert is_open(held[-1]) and not is_open(held[1])
    held[-1].end()


def test_a_phone_learns_the_question_and_neither_guesses_nor_how_to_end_or_reveal() -> None:
    room = asked()
    guess(room, 10)
    assert question_of(room.name) == (PERCENT, 1, False)
    assert "guesses" not in repr(room) and room.name not in repr(room), "not in a log either"


def test_no_guess_is_taken_once_the_result_is_shown_and_none_about_the_question_before() -> None:
    room = asked()
    guess(room, 10)
    room.ask(PERCENT, revealed=True)
    with pytest.raises(ParameterError, match="closed"):
        guess(room, 23)
    assert room.values() == [10]
    moved = GuessQuestion(lesson="odds", text="How likely at ε = 2?", label="Percent", values=tuple(range(101)))
    room.ask(moved, revealed=True)  # the teacher moves a slider of the result
    assert room.values() == [10] and room.question == PERCENT
    room.ask(moved, revealed=False)  # hides it: phones are asked what the wall asks, from the first moment on
    assert room.values() == [] and room.question == moved and room.turn == 2
    room.ask(STOPS, revealed=False)
    assert room.values() == [] and room.turn == 3
    with pytest.raises(ParameterError, match="closed"):
        send_guess(room.name, phone="slow", turn=1, value=1)


def test_phones_at_once_lose_no_guess_and_exceed_no_limit() -> None:
    room = asked()

    def many(start: int) -> None:
        for phone in range(start, start + 100):
            with contextlib.suppress(ParameterError):
                guess(room, phone % 101, phone=str(phone))
            room.values()

    threads = [threading.Thread(target=many, args=(100 * place,)) for place in range(7)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(room.values()) == 500
