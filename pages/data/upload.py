"""Uploading a file: the user first answers whose rows it has, then uploads it, and can forget it.

A file belongs to one session: its table is in the session's state, and no part of it is in a cache or in a link.
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
from pages.shell.ledger.roles import admitted
from pages.shell.private.clearing import forget_all
from pages.shell.private.steward import STEWARD_CHOICE, WAITS, end_steward
from pages.shell.server.streamlit_internals import Received, remove_own_upload
from pages.shell.session import FILE, FILE_TURN, forget_when_idle, has_file, remember_upload
from pages.shell.state import SessionKey

PRIVATE, STAND_IN = "private", "stand-in"
QUESTION = {
    PRIVATE: (
        "Private",
        "Rows about people. Only the data owner sees more than releases and, if you declare it public, the "
        "number of rows.",
    ),
    STAND_IN: ("A public stand-in", "Rows that are public or synthetic. Everything about them may be shown."),
}
ROW, PERSON = "row", "person"
"""Units of privacy."""
DECLARE = "declare-"
"""Prefix of the keys of all inputs about a file."""
BADGES = {True: ":orange-badge[private]", False: ":gray-badge[public stand-in]"}
MIN_MEGABYTES = 48


WAITING = SessionKey["WaitingFile | None"]("file_waiting", None)
"""A file whose first row may be names or data, until the user answers."""
APPLIED = SessionKey[Format | None]("format_applied", None)
"""The settings with which the cells of the session's file are read."""
FILE_PROBLEM = SessionKey("file_problem", "")
"""Error of the last upload."""
FORGOTTEN = SessionKey("file_forgotten", False)
"""The user removed the file, and has not brought another one since."""


def session_limits(megabytes: str) -> Limits:
    """Return the limits of a session with this much memory for its file, of which DuckDB gets a third.

    Raises:
        ValueError: it is not a whole number, or too small.
    """
    if not megabytes.isdecimal() or int(megabytes) < MIN_MEGABYTES:
        raise ValueError(f"DPSCOPE_SESSION_MB must be a whole number of megabytes, {MIN_MEGABYTES} or more.")
    ceiling = int(megabytes) << 20
    return Limits(session_bytes=ceiling, memory_bytes=ceiling // 3, file_bytes=ceiling // 3)


LIMITS = session_limits(os.environ.get("DPSCOPE_SESSION_MB", "1536"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SessionFile:
    """The session's file, with the answer whose rows it has.

    Attributes:
        origin: its table, and whose rows it has.
        turn: number of the file in this session.
    """

    origin: Uploaded
    turn: int

    @property
    def table(self) -> Table:
        """The table that was read."""
        return self.origin.table

    @property
    def private(self) -> bool:
        """True if its values may not be shown."""
        return self.origin.private

    @property
    def provenance(self) -> Provenance:
        """Origin of the rows."""
        return self.origin.provenance

    @property
    def prefix(self) -> str:
        """Prefix of the keys of the inputs about this file.

        Each file has another: a browser keeps the value of an input with the same key, and sends it again.
        """
        return f"{DECLARE}{self.turn}-"

    @property
    def unit_key(self) -> str:
        """Session key of the unit of privacy."""
        return f"{self.prefix}protected"

    @property
    def by_person(self) -> bool:
        """True if persons with several rows are protected."""
        return SessionKey(self.unit_key, "").value == PERSON

    @property
    def counted(self) -> bool:
        """True if the number of rows may be shown: of public rows, or if the user declared it public.

        It is never shown if persons are protected: it depends on the rows of each person.
        """
        if not self.private:
            return True
        return self.declares_row_count and (not self.origin.from_server or not WAITS.value)

    @property
    def declares_row_count(self) -> bool:
        """True if the user declared the number of private rows public; of the server's rows only a steward may."""
        may = admitted() or not self.origin.from_server
        return may and not self.by_person and SessionKey(f"{self.prefix}counted", False).value


@dataclass(kw_only=True, eq=False, repr=False)
class WaitingFile:
    """A file whose first row may be names or data. It is not read, shown or written to disk until the user answers."""

    name: str
    content: bytes
    private: bool
    columns: int

    def forget(self) -> None:
        """Drop the content, even if another object still refers to this one."""
        self.content = b""


def session_file() -> SessionFile | None:
    """Return the session's file, if any."""
    file: SessionFile | None = FILE.value
    return file


def take_file() -> SessionFile | None:
    """Draw the questions and the uploader; return the session's file once its questions are answered."""
    file = session_file()
    waiting = WAITING.value
    answered = waiting or file
    private = answered.private if answered else _ask_whose()
    if waiting:
        _ask_first_row(waiting)
    above = st.container()
    settings = ask_format(FILE_TURN.value)
    if file:
        file = _apply_format(file, settings)
        if not waiting:
            with above:  # the card says what the settings below it leave open
                file_card(file)
    # A new key empties the uploader. It accepts any file name, so that all errors come from one place, on the server.
    turn = FILE_TURN.value
    kind = "private" if private else "public"
    received = st.file_uploader(
        f"{'Replace it with another' if file else 'Your'} {kind} file: CSV, TXT, Parquet, Excel, ODS, SPSS or Stata",
        key=f"file-{turn}",
        on_change=_withdraw_steward,
        help="Its name ends in .csv, .tsv, .txt, .parquet, .xlsx, .ods, .sav, .zsav, .dta, .arrow or .feather, or one "
        "of these with .gz. The file is read on the server of this app, for your session only.",
    )
    if received is not None:
        _receive(received, private=private)
    if FILE_PROBLEM.value:
        st.error(FILE_PROBLEM.value)
    return None if waiting else file


def _apply_format(file: SessionFile, settings: Format) -> SessionFile:
    """Return the file with new settings for its cells; results with the former settings are dropped."""
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
    """Return True for private rows, unless the user answers "public"; the answer is not in the link."""
    answer = st.radio(
        "**Whose rows are in the file?**",
        list(QUESTION),
        format_func=lambda key: QUESTION[key][0],
        captions=[caption for _, caption in QUESTION.values()],
        key="whose",
    )
    return answer != STAND_IN


def file_card(file: SessionFile) -> None:
    """Draw the public facts of the file, and the button that forgets it."""
    table = file.table
    with st.container(border=True):
        facts, button = st.columns([4, 1], vertical_alignment="center")
        if file.private and not file.by_person and (admitted() or not file.origin.from_server):
            st.checkbox(
                "The number of rows is public", key=f"{file.prefix}counted", persist_state="session",
                help="It is public if neighbouring data sets replace one row. If rows are added or removed, it "
                     "is private and hidden. You then name a round number instead.",
            )  # fmt: skip
        rows = f"{plural(table.row_count, 'row')}, " if file.counted else ""
        facts.markdown(f"**{table.name}** {BADGES[file.private]} {rows}{plural(len(table.columns), 'column')}")
        button.button("Remove this file", on_click=forget_file, width="stretch")
        for note in table.notes if file.private else (*table.notes, *table.guesses):
            st.caption(note)
        for sentence in table.guesses if file.private else ():  # a wrong setting leaves a whole column missing
            st.info(sentence)
        st.caption(f"{QUESTION[PRIVATE if file.private else STAND_IN][1]} To change the answer, remove the file first.")


def plural(count: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _ask_first_row(waiting: WaitingFile) -> None:
    """Ask whether the first row has names or data, without showing it: it may be a person's row."""
    with st.container(border=True):
        st.markdown(f"**{clean_name(waiting.name) or 'Your file'}** {BADGES[waiting.private]}")
        last = f" … column {waiting.columns:,}" if waiting.columns > 1 else ""
        st.markdown(
            "**Does the first row hold column names or data?** Until you answer, the columns are called "
            f"column 1{last}. If it is a title, remove the file here, set Lines to skip under Format, and "
            "upload the file again."
        )
        names, data, forget = st.columns(3)
        if names.button("Names of the columns", width="stretch"):
            _answer(waiting, header=True)
        if data.button("Data, like all rows", width="stretch"):
            _answer(waiting, header=False)
        forget.button("Remove this file", on_click=_stop_waiting, width="stretch")


def _answer(waiting: WaitingFile, *, header: bool) -> None:
    """Read the file as answered; drop it if it cannot be read."""
    _read(waiting.name, waiting.content, private=waiting.private, header=header)
    if WAITING.value is waiting:
        _stop_waiting()
    st.rerun()


def _stop_waiting() -> None:
    """Drop the file whose first row is undecided."""
    waiting = WAITING.pop()
    if waiting:
        waiting.forget()


def _withdraw_steward() -> None:
    """Callback: end the steward's access, which is given for one file only."""
    STEWARD_CHOICE.value = False


def forget_file() -> None:
    """Drop the file, its declarations and results, and the steward's access."""
    _withdraw_steward()
    _drop_file()
    FORGOTTEN.value = True


def _drop_file() -> None:
    """Drop the session's file and its results, and delete its records even if they are still referenced."""
    _stop_waiting()
    file = session_file()
    forget_all()
    if file is not None:
        forget_when_idle(file.table)


def _receive(received: Received, *, private: bool) -> None:
    """Read an uploaded file, and delete the upload."""
    _read(received.name, received.getvalue(), private=private, header=None)
    remove_own_upload(received)
    st.rerun()


def _read(name: str, content: bytes, *, private: bool, header: bool | None) -> None:
    """Read a file, or keep it until the first row is decided; an invalid file leaves an error and the former file."""
    turn = FILE_TURN.value
    problem, file, waiting = "", None, None
    with st.spinner("Reading the file.", show_time=True):
        try:
            # For private rows the user has to decide whether the first row has names.
            settings = FORMAT.value
            table = read_table(content, name=name, header=header, ask=private, limits=LIMITS, settings=settings)
            settings_digest = hashlib.sha256(settings.text.encode()).hexdigest()
            digest = f"{hashlib.sha256(content).hexdigest()}-{table.header}-{settings_digest}-{turn}"
            file = SessionFile(origin=Uploaded(table=table, private=private, digest=digest), turn=turn)
        except FirstRowUnclear as unclear:
            waiting = WaitingFile(name=name, content=content, private=private, columns=unclear.columns)
        except DataError as error:
            problem = str(error)
    # This order matters: a run that is interrupted in between reads the file again.
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
    """Set a table that was not uploaded as the session's file."""
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
