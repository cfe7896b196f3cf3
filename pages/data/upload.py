"""A file somebody brings: whose rows it holds comes first, then the file, then forgetting it.

A file lives in one session alone: its table is in ``st.session_state``, nothing of it in a cache or in the link.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from dataclasses import dataclass

import streamlit as st

from dpcore.core import DataError, Provenance
from dpcore.data.reading.format import Format
from dpcore.data.reading.intake import clean_name
from dpcore.data.reading.tables import FirstRowUnclear, Limits, Table, read_table
from dpcore.data.sources import Uploaded
from pages.data.format import FORMAT, ask_format, cell_settings
from pages.shell.ledger.door import admitted
from pages.shell.server.streamlit_internals import Received, remove_own_upload
from pages.shell.session import (
    FILE,
    FILE_TURN,
    STEWARD_CHOICE,
    WAITS,
    end_steward,
    forget_all,
    forget_when_idle,
    has_file,
    remember_upload,
)
from pages.shell.state import SessionKey

PRIVATE, STAND_IN = "private", "stand-in"
QUESTION = {
    PRIVATE: (
        "Private",
        "Rows about people. Only the data owner sees more than releases, and the number of rows if you call it public.",
    ),
    STAND_IN: ("A public stand-in", "Rows that are public or made up. Everything about them may be shown."),
}
ROW, PERSON = "row", "person"
"""Units of privacy."""
DECLARE = "declare-"
"""What the keys of all inputs about a file start with."""
BADGES = {True: ":orange-badge[private]", False: ":gray-badge[public stand-in]"}
MIN_MEGABYTES = 48


WAITING = SessionKey["WaitingFile | None"]("file_waiting", None)
"""A file of which nobody has said yet what its first row holds."""
APPLIED = SessionKey[Format | None]("format_applied", None)
"""The settings with which the cells of the held file are read."""
FILE_PROBLEM = SessionKey("file_problem", "")
"""What was wrong with the last file."""


def session_limits(megabytes: str) -> Limits:
    """Limits for a session that may hold so much of its file in memory; a third of it is DuckDB's.

    Raises:
        ValueError: it is no whole number, or too small.
    """
    if not megabytes.isdecimal() or int(megabytes) < MIN_MEGABYTES:
        raise ValueError(f"DPSCOPE_SESSION_MB must be a whole number of megabytes, {MIN_MEGABYTES} or more.")
    ceiling = int(megabytes) << 20
    return Limits(session_bytes=ceiling, memory_bytes=ceiling // 3, file_bytes=ceiling // 3)


LIMITS = session_limits(os.environ.get("DPSCOPE_SESSION_MB", "1536"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SessionFile:
    """A file of this session and the answer it was brought with.

    Attributes:
        origin: its table, and whose rows it holds.
        turn: which file of the session this is.
    """

    origin: Uploaded
    turn: int

    @property
    def table(self) -> Table:
        """What was read."""
        return self.origin.table

    @property
    def private(self) -> bool:
        """Whether nothing of it may be shown."""
        return self.origin.private

    @property
    def provenance(self) -> Provenance:
        """Whose rows they are."""
        return self.origin.provenance

    @property
    def prefix(self) -> str:
        """What the keys of the inputs about this file start with.

        No later file has the same: a browser keeps what stands in an input of the same key, and sends it again.
        """
        return f"{DECLARE}{self.turn}-"

    @property
    def unit_key(self) -> str:
        """Where it is kept whether a row or a person is protected."""
        return f"{self.prefix}protected"

    @property
    def by_person(self) -> bool:
        """Whether a person is protected, who may have several rows."""
        return SessionKey(self.unit_key, "").value == PERSON

    @property
    def counted(self) -> bool:
        """Whether the number of rows may be shown: of public rows, or where it was declared to be public.

        Where a person is protected it never is: it depends on how many rows each person has.
        """
        if not self.private:
            return True
        return self.declares_row_count and (not self.origin.from_server or not WAITS.value)

    @property
    def declares_row_count(self) -> bool:
        """Whether the user declared that the number of private rows is public; of the server's rows a steward may."""
        may = admitted() or not self.origin.from_server
        return may and not self.by_person and SessionKey(f"{self.prefix}counted", False).value


@dataclass(kw_only=True, eq=False, repr=False)
class WaitingFile:
    """A file of which nobody has said yet what its first row holds. Nothing of it is read, shown or on disk."""

    name: str
    content: bytes
    private: bool
    columns: int

    def forget(self) -> None:
        """Let go of the bytes, whoever still holds this."""
        self.content = b""


def session_file() -> SessionFile | None:
    """The file this session holds, if any."""
    file: SessionFile | None = FILE.value
    return file


def take_file() -> SessionFile | None:
    """Ask whose rows they are, take a file, and say which one is held."""
    file = session_file()
    waiting = WAITING.value
    answered = waiting or file
    private = answered.private if answered else _ask_whose()
    if waiting:
        _ask_first_row(waiting)
    elif file:
        file_card(file)
    settings = ask_format(FILE_TURN.value)
    if file:
        file = _apply_format(file, settings)
    # A new key empties the uploader: its bytes were read, or were not fit to be. It takes files of any name, so that
    # all that is wrong with a file is said in one place, on the server.
    turn = FILE_TURN.value
    kind = "private" if private else "public"
    received = st.file_uploader(
        f"{'Replace it with another' if file else 'Your'} {kind} file: CSV, TSV, TXT or Parquet",
        key=f"file-{turn}",
        on_change=_withdraw_steward,
        help="Also with .gz behind. The file is read on the machine this app runs on, for your session alone.",
    )
    if received is not None:
        _receive(received, private=private)
    if FILE_PROBLEM.value:
        st.error(FILE_PROBLEM.value)
    return None if waiting else file


def _apply_format(file: SessionFile, settings: Format) -> SessionFile:
    """The same file with other settings for its cells; whatever was computed with the former ones is dropped."""
    chosen = cell_settings(settings)
    previous = APPLIED.setdefault(chosen)
    APPLIED.value = chosen
    if chosen == previous:
        return file
    table = file.table.with_format(settings)
    digest = f"{file.origin.digest.partition('+')[0]}+{hashlib.sha256(chosen.text.encode()).hexdigest()}"
    changed = SessionFile(origin=dataclasses.replace(file.origin, table=table, digest=digest), turn=file.turn)
    remember_upload(None)
    FILE.value = changed
    return changed


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


def file_card(file: SessionFile) -> None:
    """What is held, in public facts, and the button that forgets it."""
    table = file.table
    with st.container(border=True):
        facts, button = st.columns([4, 1], vertical_alignment="center")
        if file.private and not file.by_person and (admitted() or not file.origin.from_server):
            st.checkbox(
                "The number of rows is public", key=f"{file.prefix}counted", persist_state="session",
                help="It is where neighbours differ in what a row says. Where rows are added or removed it is private: "
                "it is not shown, and guarantees are for a round number that you name.",
            )  # fmt: skip
        rows = f"{plural(table.row_count, 'row')}, " if file.counted else ""
        facts.markdown(f"**{table.name}** {BADGES[file.private]} {rows}{plural(len(table.columns), 'column')}")
        button.button("Forget this file", on_click=forget_file, width="stretch")
        for note in (*table.notes, *table.guesses):
            st.caption(note)
        st.caption(
            f"{QUESTION[PRIVATE if file.private else STAND_IN][1]} To answer differently, forget the file first."
        )


def plural(count: int, noun: str) -> str:
    """So many of something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _ask_first_row(waiting: WaitingFile) -> None:
    """What the first row holds, before anything in it is shown: it may be somebody's."""
    with st.container(border=True):
        st.markdown(f"**{clean_name(waiting.name) or 'Your file'}** {BADGES[waiting.private]}")
        last = f" … column {waiting.columns:,}" if waiting.columns > 1 else ""
        st.markdown(
            f"**First row: names, or data?** It could be either. Until you say, its columns are column 1{last}. "
            "If it is a title, forget the file, set Lines to skip under Format and bring the file again."
        )
        names, data, forget = st.columns(3)
        if names.button("Names of the columns", width="stretch"):
            _answer(waiting, header=True)
        if data.button("Data, like all rows", width="stretch"):
            _answer(waiting, header=False)
        forget.button("Forget this file", on_click=_stop_waiting, width="stretch")


def _answer(waiting: WaitingFile, *, header: bool) -> None:
    """Read the file as answered; one that cannot be read so waits no longer."""
    _read(waiting.name, waiting.content, private=waiting.private, header=header)
    if WAITING.value is waiting:
        _stop_waiting()
    st.rerun()


def _stop_waiting() -> None:
    """Let go of a file that nobody has answered for."""
    waiting = WAITING.pop()
    if waiting:
        waiting.forget()


def _withdraw_steward() -> None:
    """Whoever was the steward of one file has not said so of the next. A callback: it runs before the switch."""
    STEWARD_CHOICE.value = False


def forget_file() -> None:
    """Drop the file, all that was declared and computed with it, and the steward's word."""
    _withdraw_steward()
    _drop_file()


def _drop_file() -> None:
    """Drop the held file and everything made of it, and delete its records, whoever still holds them."""
    _stop_waiting()
    file = session_file()
    forget_all()
    if file is not None:
        forget_when_idle(file.table)


def _receive(received: Received, *, private: bool) -> None:
    """Read what arrived, and let go of it."""
    _read(received.name, received.getvalue(), private=private, header=None)
    remove_own_upload(received)
    st.rerun()


def _read(name: str, content: bytes, *, private: bool, header: bool | None) -> None:
    """Read the file, or wait for an answer; a bad one leaves a sentence, and the former file where it was."""
    turn = FILE_TURN.value
    problem, file, waiting = "", None, None
    with st.spinner("Reading the file.", show_time=True):
        try:
            # Of rows about people nobody but a person can tell whether the first is one.
            settings = FORMAT.value
            table = read_table(content, name=name, header=header, ask=private, limits=LIMITS, settings=settings)
            settings_digest = hashlib.sha256(settings.text.encode()).hexdigest()
            digest = f"{hashlib.sha256(content).hexdigest()}-{table.header}-{settings_digest}-{turn}"
            file = SessionFile(origin=Uploaded(table=table, private=private, digest=digest), turn=turn)
        except FirstRowUnclear as unclear:
            waiting = WaitingFile(name=name, content=content, private=private, columns=unclear.columns)
        except DataError as error:
            problem = str(error)
    # In this order: a run that is interrupted between two lines reads the file again.
    if file:
        _store(file)
        # The settings belong to this file until they are changed.
        FORMAT.value = settings
        APPLIED.value = cell_settings(settings)
    elif waiting:
        _stop_waiting()
        WAITING.value = waiting
        has_file(waiting)
    FILE_PROBLEM.value = problem
    FILE_TURN.value = turn + 1


def store_table(table: Table, *, private: bool, digest: str) -> None:
    """Have the session hold a table that was not uploaded, in place of what it held."""
    turn = FILE_TURN.value
    _withdraw_steward()
    _store(SessionFile(origin=Uploaded(table=table, private=private, digest=f"{digest}-{turn}"), turn=turn))
    FILE_PROBLEM.value = ""
    FILE_TURN.value = turn + 1


def _store(file: SessionFile) -> None:
    _drop_file()
    end_steward()
    FILE.value = file
    has_file(file.table)
