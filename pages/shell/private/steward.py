"""The data owner's switch: while it is on, a session sees true values of its private data."""

from __future__ import annotations

from collections.abc import Mapping

from pages.shell.presentation import presentation_requested
from pages.shell.state import SessionKey, set_controls

Input = str | float | None
STEWARD_CHOICE = SessionKey("steward_choice", False)
"""The switch."""
STEWARD_ENDED = SessionKey("steward_ended", False)
"""The next run turns the switch off."""
STEWARD_SAW = SessionKey("steward_saw", False)
"""The switch was on in the last run."""
PRESENTED = SessionKey("presented", False)
"""A presentation was requested in the last run."""
SAW_TRUE_VALUES = SessionKey("saw_true_values", False)
"""True values of the private file were on this session's screen."""
WAITS = SessionKey("steward_waits", "")
"""Why the switch does not count in this run."""
BARRED = SessionKey("steward_barred", False)
"""The switch never counts, because of the session's role."""
FIT_ASKED = SessionKey[set[str]]("fit_asked", set())
"""Requested counts of cells that do not fit; the access is recorded before the page runs."""
PENDING_ACCESS_RECORDS = SessionKey[set[tuple[str, str]]]("looks_untold", set())
"""Keyed digests of rows whose access no ledger has recorded yet."""
ACCESS_WITHOUT_LEDGER = SessionKey("looks_unheard", False)
"""True values were seen while there was no ledger."""
FILLED = SessionKey[dict[str, tuple[Input, Input]]]("filled", {})
"""Values that were read from private rows into inputs, each with the input's value before."""
FILLED_PUBLIC = SessionKey[dict[str, tuple[Input, Input]]]("filled_public", {})
"""The same of public rows: these stay, but they are known to come from data."""


def asks_for_true_values() -> bool:
    """Return whether the switch is on and nothing bars it, such as a presentation."""
    barred = BARRED.value or presentation_requested()
    return STEWARD_CHOICE.value and not barred


def is_steward() -> bool:
    """Return whether this session may see true values: the switch is on, and the access is recorded."""
    return asks_for_true_values() and not WAITS.value


def saw_true_values() -> bool:
    """Return whether true values of the private file were on this session's screen."""
    return SAW_TRUE_VALUES.value


def end_steward() -> None:
    """Turn the switch off in the next run, and drop requested counts: the statement was about the last file only.

    Called before the new file is there. In this run the switch may have been drawn already and cannot be set.
    """
    STEWARD_ENDED.value = True
    FIT_ASKED.pop()


def end_steward_after_presentation() -> None:
    """Turn the switch off once a presentation is over, however it ended: the page may still be on the wall.

    Requested counts are dropped too. Called by the router alone, before access to true values is recorded.
    """
    if presentation_requested():
        PRESENTED.value = True
    elif PRESENTED.pop():
        STEWARD_CHOICE.value = False
        FIT_ASKED.pop()


def fill_in(values: Mapping[str, Input], *, usual: Mapping[str, Input], private: bool) -> None:
    """Put values that were read from a file into inputs, by key; of private data they stay only while the switch is on.

    That they were read is noted of public rows as well: the same rows, called private, may be registered later.

    Args:
        values: what was read.
        usual: each input's value before anything was requested.
        private: whether the rows are.
    """
    filled = (FILLED if private else FILLED_PUBLIC).setdefault({})
    filled.update({key: (value, usual[key]) for key, value in values.items()})
    set_controls(values)  # last: a value that is not noted would never be cleared


def typed_in(key: str) -> None:
    """Note that the user typed into an input: its value no longer counts as read from data, even if it is the same."""
    for filled in (FILLED, FILLED_PUBLIC):
        filled.value.pop(key, None)


def still_filled(prefix: str) -> bool:
    """Return whether an input whose key has this prefix still holds a value read from data, or a part of it."""
    filled = FILLED.value | FILLED_PUBLIC.value
    return any(still_holds(key, value) for key, (value, _) in filled.items() if key.startswith(prefix))


def still_holds(key: str, value: Input) -> bool:
    """Return whether an input still holds a number that was read, or a line of a text that was read."""
    now = SessionKey[object](key, None).value
    if isinstance(now, str) and isinstance(value, str):
        return not {line.strip() for line in now.split("\n") if line.strip()}.isdisjoint(
            map(str.strip, value.split("\n"))
        )
    return now == value
