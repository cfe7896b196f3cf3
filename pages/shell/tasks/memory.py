"""A session's memory of computed values, and long work that shows its progress on the page.

Nothing computed from data goes into a cache that sessions share: what is remembered here is in the session's state.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import cancellable
from dpcore.data.reading.tables import TooLarge
from pages.shell.state import SessionKey
from pages.shell.tasks.turns import SharedWork

Arguments = ParamSpec("Arguments")
ResultT = TypeVar("ResultT")
MEMORY = SessionKey[dict[str, Any]]("memory", {})
"""Computed values by key, the oldest first."""
MAX_REMEMBERED = 12
"""Values that a session keeps; the oldest is removed first."""


def remember(key: str, compute: Callable[[], ResultT]) -> ResultT:
    """Return this session's value under a key, computed at most once while it is remembered."""
    memory = MEMORY.setdefault({})
    if key not in memory:
        try:
            value = compute()
        except TooLarge:
            if not memory:
                raise
            memory.clear()  # frees memory for one more attempt
            value = compute()
        while len(memory) >= MAX_REMEMBERED:
            memory.pop(next(iter(memory)))
        memory[key] = value
    else:
        memory[key] = memory.pop(key)  # now the newest
    result: ResultT = memory[key]
    return result


def remember_call(function: Callable[Arguments, ResultT], *args: Arguments.args, **named: Arguments.kwargs) -> ResultT:
    """Return the session's value of a call, computed at most once for these arguments while it is remembered."""
    return remember(_key_of_call(function, args, named), partial(function, *args, **named))


def _key_of_call(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return a call as text.

    Raises:
        TypeError: for an argument that is no plain value: the text of an array or of rows leaves values out, so two
            calls would share a result.
    """
    if not all(_is_plain(each) for each in (*args, *named.values())):
        raise TypeError("Give what is remembered a key of its own.")
    return f"{function.__module__}.{function.__qualname__}|{args!r}|{named!r}"


def _is_plain(value: object) -> bool:
    return (
        all(map(_is_plain, value)) if isinstance(value, tuple | list) else isinstance(value, str | int | float | None)
    )


def forget_remembered(key: str) -> None:
    """Remove the value under a key."""
    MEMORY.value.pop(key, None)


def with_progress(key: str, work: Callable[[], Generator[float, None, ResultT]], *, label: str = "") -> ResultT:
    """Return the remembered result of work in blocks; show a progress bar if it has a label.

    Moving any control interrupts the work between blocks, or where a long step can be cancelled. The next run that asks
    for the same key resumes it after the last complete block, so that a control which does not change the work does not
    restart it.
    """
    slot, name = st.empty(), f"{key}|begun"  # always: without this element, Streamlit would redraw those below

    def run() -> ResultT:
        while True:
            shared = remember(name, lambda: SharedWork(work))
            memory = MEMORY.value  # read now: a cancelled run cannot read it in `finally`
            try:
                with cancellable(partial(_show, slot, shared, label)):
                    while shared.advance():
                        _show(slot, shared, label)
            finally:
                if shared.broken_off and memory.get(name) is shared:
                    memory.pop(name)  # the next run starts from the beginning
            if not shared.broken_off:  # else by another run of this session, while this one waited
                break
        slot.empty()
        memory.pop(name, None)
        return shared.result()

    return remember(key, run)


def call_with_progress(
    label: str,
    work: Callable[Arguments, Generator[float, None, ResultT]],
    *args: Arguments.args,
    **named: Arguments.kwargs,
) -> ResultT:
    """Return the remembered result of a call that works in blocks, with its progress; see with_progress()."""
    return with_progress(_key_of_call(work, args, named), partial(work, *args, **named), label=label)


def _show(slot: DeltaGenerator, shared: SharedWork[Any], label: str) -> None:
    """Show the fraction done; Streamlit may interrupt the run here."""
    if label:
        slot.progress(min(shared.share, 1.0), text=f"{label} Move any control to stop it.")
    else:
        slot.empty()
