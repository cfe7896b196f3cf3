"""Rooms of class guesses, in memory alone: phones send numbers by a room's name; the teacher's session has the guesses.

A room's name is random (96 bits) and gives one right: to read the question and to send a number that the lesson's own
control could have. Only the session that opened a room holds the room itself, and with it the guesses. A room ends with
that session, an hour after it was opened, or when its teacher ends it. No guess is logged or stored.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakValueDictionary

from dpcore.core import ParameterError

NAME_BYTES = 12
"""Random bytes of a room's name."""
MAX_ROOMS, MAX_GUESSES, MAX_SECONDS = 50, 500, 3600.0
"""Rooms of a server, guesses of a room, and seconds until a room ends."""
NO_ROOM = "This class guess has ended, or the link is incomplete. Scan the code on the wall again."
FULL = f"This class guess has {MAX_GUESSES} guesses, which is the most it takes."
NO_GUESS = "This is not a number that can be guessed here. Use the control of this page."
OVER = "The class guess is closed: look at the wall."
NO_ROOM_LEFT = f"All {MAX_ROOMS} class guesses of this server are in use. Try again later."


@dataclass(frozen=True, kw_only=True)
class GuessQuestion:
    """A lesson's question, with the values of its control.

    Attributes:
        lesson: key of the lesson.
        text: the question, in Markdown.
        label: label of the control.
        values: every value that may be guessed, in order.
        default: value at which the control starts; None: none is chosen.
        names: names of the values, where these are answers in words.
        form: format of a value in a slider.
    """

    lesson: str
    text: str
    label: str
    values: tuple[float, ...]
    default: float | None = None
    names: tuple[str, ...] = ()
    form: str = "%g"


@dataclass(kw_only=True, eq=False, repr=False)
class GuessRoom:
    """A room, for the session that opened it: its question, and the guesses by phone.

    Attributes:
        name: random.
        opened: reading of the clock.
        question: None until a lesson asks one.
        turn: number of the question.
        revealed: the result is shown, and no guess is taken.
        guesses: by the phone's session.
    """

    name: str
    opened: float
    question: GuessQuestion | None = None
    turn: int = 0
    revealed: bool = False
    guesses: dict[str, float] = field(default_factory=dict)

    def ask(self, question: GuessQuestion, *, revealed: bool) -> None:
        """Ask a question, and forget the guesses about another; settings moved beside the shown result change none."""
        with _lock:
            before = self.question
            still_shown = self.revealed and revealed
            if before is None or before.lesson != question.lesson or (not still_shown and before != question):
                self.question, self.turn = question, self.turn + 1
                self.guesses.clear()
            self.revealed = revealed

    def values(self) -> list[float]:
        """Return the guesses, in order of size."""
        with _lock:
            return sorted(self.guesses.values())

    def end(self) -> None:
        """End the room and forget its guesses."""
        with _lock:
            _rooms.pop(self.name, None)
            self.guesses.clear()


clock = time.monotonic
_lock = Lock()
_rooms: WeakValueDictionary[str, GuessRoom] = WeakValueDictionary()
"""Rooms by name, each kept alive by its teacher's session alone."""


def open_room() -> GuessRoom:
    """Return a new room.

    Raises:
        ParameterError: if the server has as many as it may have.
    """
    with _lock:
        _end_old_rooms()
        if len(_rooms) >= MAX_ROOMS:
            raise ParameterError(NO_ROOM_LEFT)
        room = GuessRoom(name=secrets.token_urlsafe(NAME_BYTES), opened=clock())
        _rooms[room.name] = room
        return room


def is_open(room: GuessRoom) -> bool:
    """Return whether a room still takes guesses."""
    with _lock:
        _end_old_rooms()
        return room.name in _rooms


def question_of(name: str) -> tuple[GuessQuestion | None, int, bool]:
    """Return a room's question, its number, and whether its result is shown: all that a phone may know.

    Raises:
        ParameterError: if there is no such room.
    """
    with _lock:
        room = _room(name)
        return room.question, room.turn, room.revealed


def send_guess(name: str, *, phone: str, turn: int, value: object) -> None:
    """Store a phone's guess about a room's current question, in place of its last one.

    Raises:
        ParameterError: if there is no such room, the question is another, or the guess is not one of its values.
    """
    with _lock:
        room = _room(name)
        if room.revealed or room.question is None or turn != room.turn:
            raise ParameterError(OVER)
        if type(value) not in (int, float) or value not in room.question.values:
            raise ParameterError(NO_GUESS)
        if phone not in room.guesses and len(room.guesses) >= MAX_GUESSES:
            raise ParameterError(FULL)
        room.guesses[phone] = value


def _room(name: str) -> GuessRoom:
    """Return the room of a name; one that ended and one that never was get the same sentence."""
    _end_old_rooms()
    room = _rooms.get(name)
    if room is None:
        raise ParameterError(NO_ROOM)
    return room


def _end_old_rooms() -> None:
    """End the rooms that were opened too long ago."""
    for name, room in list(_rooms.items()):
        if clock() - room.opened >= MAX_SECONDS:
            del _rooms[name]
            room.guesses.clear()
