"""The table that a plan is about: a bundled one, one's own as declared, or that of a plan that was opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from dpcore.core import Neighbours, ParameterError
from dpcore.data.declared import DeclaredColumn, DeclaredTable
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.samples import SAMPLES, sample
from dpcore.data.sources import Bundled, Source, format_of
from dpcore.mechanisms import entry
from dprelease.ledger.canonical import parsed
from dprelease.plan.questions import Plan, PlannedQuestion
from pages.data.declare import declared_columns
from pages.data.engines import count_cells
from pages.data.picker import OWN_FILE
from pages.data.upload import session_file
from pages.shell.controls import choice, neighbours, stops
from pages.shell.doors import is_public_demo
from pages.shell.private.chip import escaped
from pages.shell.private.twin import declared_rows, registered_rows
from pages.shell.session import DATA, carried, keep_plan, remember_upload, upload
from pages.shell.state import SessionKey

OPENED, FIRST = "plan-file", "adult"
LAST_OFFERED_FILE = SessionKey[int | None]("plan_offered", None)
"""The last file whose table was put in front."""
TABLE = SessionKey("table", "")
"""The control that picks the table."""
PLAN_OPENED = SessionKey[Plan | None]("plan_opened", None)
FILE_ID = SessionKey("plan_file_id", "")
"""The plan that was opened from a file, and Streamlit's name for that file."""
NOTE = SessionKey("plan_told", "")
"""What the next run says above the plan."""
QUESTIONS = SessionKey[dict[str, tuple[PlannedQuestion, ...]]]("plan_questions", {})
"""Questions of every table that was planned for in this session."""
VERSION = SessionKey("plan_version", 0)
"""Counts changes of the plan that no control of it made."""
NEXT_TABLE = SessionKey("plan_wanted", "")
"""The table that the next run puts in front."""
NEEDS_A_PERSON = "Your table is planned for once the Data page knows the column that says whose row it is."
MAX_BYTES = 200_000


@dataclass(frozen=True, kw_only=True)
class PlanTable:
    """What is planned for, all of it public.

    Attributes:
        key: of the table among those that can be picked.
        title: what people call it.
        table: its columns.
        n: rows, or a number that was named for them.
        neighbours: the relation.
        beta: failure chance of promises and targets.
        file_format: settings with which the table's file is read.
    """

    key: str
    title: str
    table: DeclaredTable
    n: int
    neighbours: Neighbours
    beta: float
    file_format: Format = USUAL


def pick_table() -> PlanTable:
    """The controls of the table, the relation and the failure chance."""
    held, opened = session_file(), opened_plan()
    own, filled = declared_columns(held) if held else (None, 0)
    titles = {each.key: each.title for each in SAMPLES}
    if held and own and own.used:
        titles = {OWN_FILE: "Your table", **titles}
        if LAST_OFFERED_FILE.value != held.turn:  # a file that is new here is what somebody came to plan for
            LAST_OFFERED_FILE.value, TABLE.value = held.turn, OWN_FILE
    if opened is not None:
        titles = {OPENED: "The opened plan's table", **titles}
    key = choice(
        "Table", titles, key="table", default=FIRST,
        help_text="Only what is declared of it is used: columns, bounds, labels and a public number of rows.",
    )  # fmt: skip
    if key == OPENED and opened is not None:
        return PlanTable(
            key=key, title="the opened plan", table=opened.table, n=opened.n, neighbours=opened.neighbours,
            beta=opened.beta, file_format=opened.file_format,
        )  # fmt: skip
    if held and held.by_person and own and not own.person:
        st.caption(NEEDS_A_PERSON)
    mine = own if key == OWN_FILE else None
    relation = neighbours(mine.person_rows if mine and mine.person else 0)
    beta = stops("Failure chance β", (0.001, 0.01, 0.05, 0.1, 0.2), 0.05, key="beta")
    if held and mine:
        table = mine
        n = declared_rows(Source(origin=held.origin, reading=mine.reading(mine.used[0].name)), relation)
        if filled:
            st.caption(f"Left out: {filled} whose bounds or labels were read off your rows. Declare them on Data.")
    else:
        columns = (DeclaredColumn(name=each.name, on=each.on) for each in sample(key).columns)
        table, n = DeclaredTable(columns=tuple(columns)), Bundled(sample_key=key).rows
    registered = registered_rows(held.origin if held and mine else Bundled(sample_key=key))
    if registered is not None:
        n = registered
        st.caption(f"n = {n:,}, as registered.")
    elif relation is Neighbours.ADD_REMOVE_ONE or (held and mine and not held.counted):
        n = int(
            st.number_input(
                "Public n", 1, 10**9, n, key=f"plan_n_{key}",
                help="Here the number of rows is private, or was not declared public on Data: shares are of a round "
                "number you name.",
            )
        )  # fmt: skip
    told = "your table" if mine else titles[key]
    read_as = format_of(held.origin) if held and mine else USUAL
    return PlanTable(key=key, title=told, table=table, n=n, neighbours=relation, beta=beta, file_format=read_as)


def use_table(declared: PlanTable) -> None:
    """Have the planned table be the data in use: its first column stands for it. An opened plan's is what is in use."""
    first = declared.table.used[0].name
    held = session_file()
    if declared.key == OWN_FILE and held is not None and upload() is None:
        remember_upload(Source(origin=count_cells(held.origin, declared.table), reading=declared.table.reading(first)))
    if declared.key != OPENED:
        DATA.value = OWN_FILE if declared.key == OWN_FILE else f"{declared.key}.{first}"
        carried()[DATA] = DATA.value


def to_release(declared: PlanTable, plan: Plan) -> None:
    """Go to Release with this plan of the planned table."""
    keep_plan(declared.key, plan)
    use_table(declared)
    st.switch_page("release/page.py")


def opened_plan() -> Plan | None:
    """The plan that was opened from a file, if any."""
    return PLAN_OPENED.value


def open_plan_file() -> None:
    """The control that opens a plan's file; what is no plan gets its sentence."""
    file = st.file_uploader("Open a plan", type="json", key="plan_file", max_upload_size=1, disabled=is_public_demo())
    if file is None or FILE_ID.value == file.file_id:
        return
    FILE_ID.value = file.file_id
    text = file.getvalue()
    if len(text) > MAX_BYTES:
        st.error(f"A plan has at most {MAX_BYTES:,} bytes.")
        return
    try:
        plan = Plan.read(text)
    except ParameterError as problem:
        st.error(escaped(str(problem)))  # it quotes the file, and is shown as Markdown
        return
    PLAN_OPENED.value = plan
    NOTE.value = " ".join(_replaced_mechanisms(text, plan))
    QUESTIONS.value = {**QUESTIONS.value, OPENED: plan.questions}
    VERSION.value += 1
    NEXT_TABLE.value = OPENED
    st.rerun()


def _replaced_mechanisms(text: bytes, plan: Plan) -> Iterator[str]:
    """Sentences about mechanisms of a plan's file in whose place the plan has another: see ``Plan``."""
    named = (str(each["mechanism"]["key"]) for each in parsed(text, what="plan")["questions"])
    for place, (key, question) in enumerate(zip(named, plan.questions, strict=True), 1):
        if key != question.entry_key:
            yield (
                f"Question {place}: “{entry(key).title}” would give a wrong number here, so that "
                f"“{question.entry.title}” is in its place."
            )


def session_questions() -> dict[str, tuple[PlannedQuestion, ...]]:
    """Questions of every table that was planned for in this session."""
    return QUESTIONS.value


def controls_version() -> int:
    """Counts changes of the plan that no control of it made."""
    return VERSION.value
