"""One person's session: the gate, what links carry, what was uploaded, and a small memory of computed things.

Nothing derived from data goes into a cache that sessions share: everything here lives in ``st.session_state``.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import streamlit as st

from dpcore.core import Blocks, Entry, Queries, stoppable
from dpcore.data.reading.tables import TooLarge
from dpcore.data.sources import Source
from dplab.recipe import Recipe
from dprelease.plan.questions import Plan
from pages.shell.present import presentation_requested
from pages.shell.server import streamlit_internals
from pages.shell.server.upload_limits import sessions_with_uploads
from pages.shell.state import SessionKey, drop, set_controls

Result = TypeVar("Result")
Input = str | float | None
UNTOLD, UNHEARD = SessionKey[set[tuple[str, str]]]("looks_untold", set()), SessionKey("looks_unheard", False)
"""Keyed digests of rows looked at that no ledger was told of; and whether there was none to tell."""
GATE, OPENED_AT = SessionKey("gate", False), SessionKey("opened_at", 0.0)
"""The router ran; and when it first did."""
PAGE, LINKED = SessionKey[str | None]("page", None), SessionKey[set[str]]("linked", set())
CARRIED = SessionKey[dict[str, Any]]("carried", {})
"""The page that is shown, the keys of controls that stood in links, and what they held."""
FILE, FILE_TURN = SessionKey[Any]("file", None), SessionKey("file_turn", 0)
"""The held file (`pages.data.upload.HeldFile`), and the number of files that were brought."""
DATA = SessionKey("data", "")
"""The control that picks the data."""
STEWARD_CHOICE, STEWARD_ENDED = SessionKey("steward_choice", False), SessionKey("steward_ended", False)
STEWARD_SAW, PRESENTED = SessionKey("steward_saw", False), SessionKey("presented", False)
"""The steward's switch; whether the next run turns it off, the last run had it on, or a presentation was asked for."""
SAW_TRUE_VALUES = SessionKey("saw_true_values", False)
"""True values of the private file were on this session's screen."""
UPLOAD, MEMORY = SessionKey[Source | None]("upload", None), SessionKey[dict[str, Any]]("memory", {})
"""What was uploaded and declared; and what is remembered."""
SHOWN, ELSEWHERE = SessionKey[Recipe | None]("shown", None), SessionKey["OnPage | None"]("shown_elsewhere", None)
PLAN_SHOWN, SHOWN_LAST = (
    SessionKey[tuple[str, Plan] | None]("plan_shown", None),
    SessionKey[str | None]("shown_last", None),
)
"""What may be released of Play, of a page beside it, and of Plan; and which of them was shown last."""
OWN_NOTES = {
    GATE, OPENED_AT, PAGE, CARRIED, LINKED, FILE_TURN,
    STEWARD_CHOICE, STEWARD_ENDED, "steward_admitted", PRESENTED, UNTOLD, UNHEARD,
}  # fmt: skip
"""What a session keeps besides the controls in its links when a file is forgotten: nothing that a file could be in."""

FILLED = SessionKey[dict[str, tuple[Input, Input]]]("filled", {})
FILLED_PUBLIC = SessionKey[dict[str, tuple[Input, Input]]]("filled_public", {})
"""What was read from private rows into inputs, and from public rows: nobody takes that back, but it is told apart."""
CHOICES = SessionKey[set[str]]("choices", set())
"""Keys of choices that are not bound to the link."""
WAITS, BARRED = SessionKey("steward_waits", ""), SessionKey("steward_barred", False)
"""Why the steward's word does not count in this run; and whether it never does, by role."""
FIT_ASKED = SessionKey[set[str]]("fit_asked", set())
"""Which counts of cells were asked for; ``tell_of_looks`` notes it before a page is made."""
REMEMBERED = 12
"""Computed things kept a session; the oldest goes first."""
OPENING, BREATH = 1.5, 0.25
"""Seconds in which a browser that has just come draws its first pictures; and between looks at controls."""
GRACE, LOOK_EVERY = 60.0, 15.0
"""Seconds that a session with a file may be without its browser, as when a connection is lost; and between looks."""


class File(Protocol):
    """What a session brought: a table, or what is to become one."""

    def forget(self) -> None:
        """Let go of it now."""


_last_seen: dict[str, tuple[float, tuple[weakref.ref[File], ...]]] = {}
"""Sessions that took or were sent a file: when each was last seen connected, and its files while they are there."""
_awaited: weakref.WeakValueDictionary[tuple[str, int], Future[Any]] = weakref.WeakValueDictionary()
"""What sessions asked for, while it is under way somewhere."""


def open_gate() -> None:
    """Called by the router alone, on every run; pages check it."""
    GATE.value = True
    OPENED_AT.setdefault(time.monotonic())


def first_pictures_seen() -> Generator[float, None, None]:
    """Leave the processor to the browser that has just come, until it has drawn what stands above; nothing done yet.

    A session without a browser does not wait, nor one that was there before.
    """
    while st.context.headers and time.monotonic() - OPENED_AT.value < OPENING:
        yield 0.0
        time.sleep(BREATH)


def require_gate() -> None:
    """Stop unless the router ran: a page entered any other way shows nothing."""
    if not GATE.value:
        st.error("This page must be opened through the app's own address.")
        st.stop()


def in_link(key: str) -> str:
    """The key of a control that stands in the link: such controls alone are carried from page to page."""
    linked().add(key)
    return key


def to_link(key: str) -> None:
    """A callback of a control that may stand on the stage or not: where one has moved, Streamlit forgets its link."""
    st.session_state[key] = st.session_state[key]


def linked() -> set[str]:
    """Keys of the controls that stood in this session's links."""
    return LINKED.setdefault(set())


def carried() -> dict[str, Any]:
    """What the controls in the link held when they were last shown, but for those that held what is usual."""
    return CARRIED.setdefault({})


def control_value(key: str, default: Any) -> Any:
    """The value of a control that stands in the link, here or on the last page that had it."""
    return SessionKey(key, carried().get(key, default)).value


def carry_link(page: str) -> None:
    """On a new page, give controls what the link said on the last: Streamlit drops what nobody has touched."""
    if PAGE.value != page:
        streamlit_internals.remove_own_uploads()  # of files that the last page received and did not read to the end
        PAGE.value = page
        _hear_link()
        read_choices_again()
        set_controls({key: value for key, value in carried().items() if key not in st.query_params})
    elif came_by_history():
        drop(*CHOICES.value)


def read_choices_again() -> None:
    """Have the choices that a followed link names read it: the session would keep what they held before."""
    drop(*(key for key in CHOICES.value if key in st.query_params))


def chosen_anew(key: str) -> None:
    """A choice that is not bound to the link: after Back or Forward on its page, it is read from there again."""
    CHOICES.setdefault(set()).add(key)


def came_by_history() -> bool:
    """Whether Back or Forward began this run."""
    return streamlit_internals.is_history_navigation()


def _hear_link() -> None:
    """After Back or Forward, take what the address asks of controls that the page just left had too.

    Streamlit strikes such names out, as remnants of that page; here they are what was asked when this one was left.
    """
    if not came_by_history():
        return
    asked = streamlit_internals.requested_parameters()
    struck = {key: asked[key] for key in linked() & set(asked) if key not in st.query_params}
    if struck:
        streamlit_internals.restore_parameters(struck)


def keep_link() -> None:
    """Remember what the controls hold that now stand in the link; called after the page.

    A link may name anything, the file itself for one, which must not outlive its being forgotten.
    """
    asked, before = st.query_params.to_dict(), carried()
    for key in linked() & {*asked, *before}:  # few: to look at every control takes a millisecond
        if key not in st.session_state:
            continue
        if key in asked:
            before[key] = st.session_state[key]
        else:
            before.pop(key, None)


def upload() -> Source | None:
    """What this session uploaded and declared, if anything."""
    return UPLOAD.value


def remember_upload(source: Source | None) -> None:
    """Keep (or forget) the uploaded source, and drop everything computed from an earlier one."""
    drop(UPLOAD, MEMORY, SHOWN, ELSEWHERE)  # first: a new value would leave the old one alive until the next run
    UPLOAD.value = source


def forget_all() -> None:
    """Forget all that may have come of a file: everything but what links may hold and the session's own notes."""
    keys = set(st.session_state) - linked() - OWN_NOTES
    drop(*map(str, keys - {FILE}), FILE)  # the file last: until then, whoever is interrupted can ask again


def has_file(file: File) -> None:
    """Remember that this session took a file, so that its end is noticed."""
    if mine := streamlit_internals.session_id():
        _, before = _last_seen.get(mine, (0.0, ()))
        alive = tuple(each for each in before if each() is not None)
        _last_seen[mine] = time.monotonic(), (*alive, weakref.ref(file))


async def end_abandoned_sessions() -> None:
    """For ever: end the sessions with a file whose tab was closed, and with them the file.

    Streamlit keeps a closed tab's session until somebody else's visit makes it look. Runs in the server's own loop,
    where its sessions may be closed.
    """
    while True:
        await asyncio.sleep(LOOK_EVERY)
        end_abandoned(time.monotonic())


def end_abandoned(now: float) -> None:
    """End the sessions that were last seen too long ago."""
    for session_id in sessions_with_uploads():  # also files that no page asked for, or lived to read
        _last_seen.setdefault(session_id, (now, ()))
    for session_id, (seen, files) in list(_last_seen.items()):
        if streamlit_internals.is_connected(session_id) or _waits(session_id):
            _last_seen[session_id] = now, files
        elif now - seen > GRACE:
            del _last_seen[session_id]
            streamlit_internals.close_session(session_id)
            streamlit_internals.remove_uploads(session_id)
            for each in files:
                file = each()
                if file is not None:  # the server's loop still holds the last session it served
                    file.forget()


def wait_for(work: Future[Any], *, session_id: str = "") -> None:
    """A closed tab keeps its file as long as this work needs it, and so does one that is forgotten; here, or there."""
    if named := session_id or streamlit_internals.session_id():
        _awaited[named, id(work)] = work


def _waits(session_id: str) -> list[Future[Any]]:
    """What is under way for a session."""
    works = [(of, work) for (of, _), work in list(_awaited.items())]
    return [work for of, work in works if of == session_id and not work.done()]


def forget_when_idle(file: File) -> None:
    """Let go of a file, once the draws that this session asked for are over: they would fail, and be charged."""
    works = _waits(streamlit_internals.session_id())
    for work in works:
        work.add_done_callback(lambda _: file.forget() if all(each.done() for each in works) else None)
    if not works:
        file.forget()


def wants_to_look() -> bool:
    """Whether the person said that they are the steward, and nothing bars that, as a presentation does."""
    barred = BARRED.value or presentation_requested()
    return STEWARD_CHOICE.value and not barred


def is_steward() -> bool:
    """Whether the person may see true values of their private data: they said so, and a ledger was told."""
    return wants_to_look() and not WAITS.value


def keep_shown(recipe: Recipe) -> None:
    """Play shows this: what may be released."""
    SHOWN.value, SHOWN_LAST.value = recipe, "play"


def shown() -> Recipe | None:
    """What Play showed last, if anything."""
    return SHOWN.value


@dataclass(frozen=True, kw_only=True)
class OnPage:
    """What a page beside Play shows, as it may be released.

    Attributes:
        place: the page's title.
        source: the rows themselves, also where a twin is drawn in their place.
        queries: asked.
        entry: of the catalogue.
        values: the mechanism's parameters.
    """

    place: str
    source: Source
    queries: Queries
    entry: Entry
    values: Mapping[str, Any]


def keep_on_page(found: OnPage) -> None:
    """This page was the last to show something that may be asked for on Release."""
    ELSEWHERE.value, SHOWN_LAST.value = found, "elsewhere"


def on_page() -> OnPage | None:
    """What a page beside Play showed last, if anything."""
    return ELSEWHERE.value


def keep_plan(table: str, plan: Plan) -> None:
    """Plan shows this, of a table by its key: what may be released in one press."""
    PLAN_SHOWN.value, SHOWN_LAST.value = (table, plan), "plan"


def planned() -> tuple[str, Plan] | None:
    """What Plan showed last, and of which table, if anything."""
    return PLAN_SHOWN.value


def saw_true_values() -> bool:
    """Whether true values of the private file were on this session's screen."""
    return SAW_TRUE_VALUES.value


def end_steward() -> None:
    """Whoever was the steward of one file has not said so of the next: the switch is off in the next run.

    Counts of cells that were asked for go too. Called before the new file is there. The switch itself may have been
    drawn already, and cannot be set then.
    """
    STEWARD_ENDED.value = True
    FIT_ASKED.pop()


def ask_again_after_presentation() -> None:
    """Turn the steward's switch off once a presentation is over, however it ended: the page may still be on the wall.

    Called by the router alone, before access to true values is recorded. Counts that were asked for go too.
    """
    if presentation_requested():
        PRESENTED.value = True
    elif PRESENTED.pop():
        STEWARD_CHOICE.value = False
        FIT_ASKED.pop()


def fill_in(found: Mapping[str, Input], *, usual: Mapping[str, Input], private: bool) -> None:
    """Put what was read from a file into inputs, by key; from private data it stays only while the steward looks.

    That it was read is kept of public rows as well: called private, the same rows may be registered.
    ``usual`` is what each input held before anything was asked.
    """
    filled = (FILLED if private else FILLED_PUBLIC).setdefault({})
    filled.update({key: (value, usual[key]) for key, value in found.items()})
    set_controls(found)  # last: what is not recorded would never be taken back


def typed_in(key: str) -> None:
    """Somebody said what is in an input: it is no longer what was read, even if it says the same."""
    for filled in (FILLED, FILLED_PUBLIC):
        filled.value.pop(key, None)


def still_filled(prefix: str) -> bool:
    """Whether what was read from the data is still in an input whose key starts so, as a whole or in part."""
    filled = FILLED.value | FILLED_PUBLIC.value
    return any(_holds(st.session_state.get(key), found) for key, (found, _) in filled.items() if key.startswith(prefix))


def _holds(now: object, found: Input) -> bool:
    """Whether an input still holds the number that was read, or a line of the text."""
    if isinstance(now, str) and isinstance(found, str):
        return not {line.strip() for line in now.split("\n") if line.strip()}.isdisjoint(
            map(str.strip, found.split("\n"))
        )
    return now == found


def take_back() -> None:
    """Called by the router alone, before every page: what only the steward may see goes when the switch does.

    That is what was read from private data into inputs, the domain made of it, and all that is remembered.
    """
    if STEWARD_ENDED.value:
        STEWARD_CHOICE.value = False
        STEWARD_ENDED.pop()
    if is_steward():
        STEWARD_SAW.value = True
        return
    for key, (found, usual) in FILLED.value.items():
        if _holds(st.session_state.get(key), found):
            st.session_state.pop(key, None)
            # Emptied, not only removed: the browser would keep, and send again, what it shows.
            st.session_state[key] = usual
    own = upload()
    if own is not None and own.bounds_from_data and own.provenance.is_private:
        remember_upload(None)
    if STEWARD_SAW.value:
        drop(FILLED, MEMORY, STEWARD_SAW)  # in this order, should the run be interrupted


def remembered(key: str, compute: Callable[[], Result]) -> Result:
    """This session's value under a key, computed at most once while it is remembered."""
    memory = MEMORY.setdefault({})
    if key not in memory:
        try:
            value = compute()
        except TooLarge:
            if not memory:
                raise
            memory.clear()  # what was computed before makes room
            value = compute()
        while len(memory) >= REMEMBERED:
            memory.pop(next(iter(memory)))
        memory[key] = value
    else:
        memory[key] = memory.pop(key)  # now the newest
    result: Result = memory[key]
    return result


def forget_remembered(key: str) -> None:
    """Remember no longer what was computed under a key."""
    MEMORY.value.pop(key, None)


def with_progress(key: str, work: Callable[[], Generator[float, None, Result]], *, label: str = "") -> Result:
    """Remembered work in blocks, with a progress bar if it has a label.

    Moving any control interrupts it between blocks, or where a long step may stop. Whoever comes back to it finds it
    where it was left between blocks: of a private table, what a control does not change is not begun anew at each of
    its moves.
    """
    slot, name = st.empty(), f"{key}|begun"  # always: an element less would shift those below, which are drawn anew

    def run() -> Result:
        begun = remembered(name, lambda: Blocks(work()))
        memory, share = MEMORY.value, 0.0  # not looked up when it is over: a stopped run is stopped there

        def tell(share: float) -> None:  # where the run may be interrupted
            if label:
                slot.progress(min(share, 1.0), text=f"{label} Move any control to stop it.")
            else:
                slot.empty()

        try:
            with stoppable(lambda: tell(share)):
                for share in begun:
                    tell(share)
        finally:
            if begun.broken_off:
                memory.pop(name, None)  # whoever asks again begins anew
        slot.empty()
        memory.pop(name, None)
        return begun.result

    return remembered(key, run)
