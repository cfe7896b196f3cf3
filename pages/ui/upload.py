"""A file somebody brings: whose rows it holds comes first, then the file, then forgetting it.

A file lives in one session alone: its table is in ``st.session_state``, nothing of it in a cache or in the link.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpcore.core import DataError
from dpcore.tables import Table, read_table
from pages.ui.session import has_file, remember_upload

PRIVATE, STAND_IN = "private", "stand-in"
QUESTION = {
    PRIVATE: ("Private", "Rows about people. Nothing computed from them is shown, except to their steward."),
    STAND_IN: ("A public stand-in", "Rows that are public or made up. Everything about them may be shown."),
}
DECLARE = "declare-"
"""What the keys of all inputs about a file start with."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HeldFile:
    """A file of this session and the answer it was brought with.

    Attributes:
        table: what was read.
        private: whether nothing of it may be shown.
        digest: of the file's bytes; tells files apart inside the session.
        turn: which file of the session this is.
    """

    table: Table
    private: bool
    digest: str
    turn: int

    @property
    def prefix(self) -> str:
        """What the keys of the inputs about this file start with.

        No later file has the same: a browser keeps what stands in an input of the same key, and sends it again.
        """
        return f"{DECLARE}{self.turn}-"


def held_file() -> HeldFile | None:
    """The file this session holds, if any."""
    found: HeldFile | None = st.session_state.get("file")
    return found


def bring_file() -> HeldFile | None:
    """Ask whose rows they are, take a file, and say which one is held."""
    held = held_file()
    private = held.private if held else _ask_whose()
    if held:
        _card(held)
    # A new key empties the uploader: its bytes were read, or were not fit to be. It takes files of any name, so that
    # all that is wrong with a file is said in one place, on the server.
    turn = int(st.session_state.get("file_turn", 0))
    kind = "private" if private else "public"
    received = st.file_uploader(
        f"{'Replace it with another' if held else 'Your'} {kind} file: CSV, TSV or Parquet",
        key=f"file-{turn}",
        on_change=_withdraw_steward,
        help="Also with .gz behind. The first row of a text file holds the column names. The file "
        "is read on the machine this app runs on, for your session alone.",
    )
    if received is not None:
        _take(received, private=private, turn=turn)
    problem = st.session_state.get("file_problem")
    if problem:
        st.error(problem)
    return held


def _ask_whose() -> bool:
    """The first question; anything but a clear "public" means private. Not in the link, which others could make."""
    answer = st.radio(
        "**Whose rows are in the file?**",
        list(QUESTION),
        format_func=lambda key: QUESTION[key][0],
        captions=[caption for _, caption in QUESTION.values()],
        key="whose",
    )
    return answer != STAND_IN


def _card(held: HeldFile) -> None:
    """What is held, in public facts, and the button that forgets it."""
    table = held.table
    with st.container(border=True):
        facts, button = st.columns([4, 1], vertical_alignment="center")
        badge = ":orange-badge[private]" if held.private else ":gray-badge[public stand-in]"
        facts.markdown(f"**{table.name}** {badge} {table.row_count:,} rows, {len(table.columns):,} columns")
        button.button("Forget this file", on_click=_forget, width="stretch")
        for note in table.notes:
            st.caption(note)
        st.caption(
            f"{QUESTION[PRIVATE if held.private else STAND_IN][1]} To answer differently, forget the file first."
        )


def _withdraw_steward() -> None:
    """Whoever was the steward of one file has not said so of the next. A callback: it runs before the switch."""
    st.session_state["steward_choice"] = False


def _forget() -> None:
    """Drop the file, all that was declared and computed with it, and the steward's word."""
    _withdraw_steward()
    _let_go()
    st.session_state.pop("file_problem", None)


def _let_go() -> None:
    """Drop the held file and everything made of it, now: a new value would leave the old one until the next run."""
    declared = [key for key in st.session_state if str(key).startswith(DECLARE)]
    for key in ("upload", "memory", "file", *declared):
        st.session_state.pop(key, None)
    remember_upload(None)


def _take(received: UploadedFile, *, private: bool, turn: int) -> None:
    """Read the file; a bad one leaves a sentence, and the former file where it was."""
    problem = ""
    with st.spinner("Reading the file.", show_time=True):
        try:
            content = received.getvalue()
            table = read_table(content, name=received.name)
            held = HeldFile(table=table, private=private, digest=hashlib.sha256(content).hexdigest(), turn=turn)
        except DataError as error:
            problem = str(error)
    if not problem:
        # In this order: a run that is interrupted between two lines reads the file again.
        _let_go()
        st.session_state["file"] = held
        has_file(table)
    st.session_state["file_problem"] = problem
    st.session_state["file_turn"] = turn + 1
    _discard(received)
    st.rerun()


def _discard(received: UploadedFile) -> None:
    """Let go of the file's bytes, which Streamlit would keep until the session ends."""
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(session_id=context.session_id, file_id=received.file_id)
