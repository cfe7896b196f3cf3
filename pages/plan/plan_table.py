"""The table of a plan: a bundled one, the user's own as declared, or that of an opened plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import streamlit as st

from dpcore.core import Neighbours, ParameterError
from dpcore.core.documents import parse_document
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.samples import SAMPLES, sample
from dpcore.data.sources import Bundled, Source, format_of
from dpcore.mechanisms import entry
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.requests.intervals import LEVEL, LEVELS
from pages.data.declare import declared_columns
from pages.data.engines import count_cells
from pages.data.picker import OWN_FILE
from pages.data.upload import session_file
from pages.shell.controls import choice, neighbours
from pages.shell.links import linked_values
from pages.shell.private.data_in_use import escaped
from pages.shell.private.twin import ask_public_rows, declared_rows, registered_rows
from pages.shell.releasable import keep_plan
from pages.shell.server.host_origin import is_public_demo
from pages.shell.session import DATA, remember_upload, upload
from pages.shell.state import SessionKey

OPENED, FIRST = "plan-file", "adult"
LAST_OFFERED_FILE = SessionKey[int | None]("plan_offered", None)
"""Number of the last file whose table was selected automatically."""
TABLE = SessionKey("table", "")
"""The control that selects the table."""
PLAN_OPENED = SessionKey[Plan | None]("plan_opened", None)
FILE_ID = SessionKey("plan_file_id", "")
"""The plan that was opened from a file, and Streamlit's name for that file."""
NOTE = SessionKey("plan_told", "")
"""Message that the next run shows above the plan."""
SHOWN_NOTE = SessionKey("plan_note_shown", ("", ""))
"""The message that is shown, and the text of the plan that it is about: it goes when the plan changes."""
QUESTIONS = SessionKey[dict[str, tuple[PlannedQuestion, ...]]]("plan_questions", {})
"""Questions of all plans of this session, by table."""
EARLIER = SessionKey[dict[str, tuple[tuple[PlannedQuestion, ...], ...]]]("plan_earlier", {})
"""The same before each of the last changes, the oldest first."""
VERSION = SessionKey("plan_version", 0)
"""Counter of changes that did not come from the plan's controls."""
NEXT_TABLE = SessionKey("plan_wanted", "")
"""The table that the next run selects."""
NEEDS_A_PERSON = "To plan for your table, first choose the column that identifies the person on the Data page."
MAX_BYTES = 200_000
CONFIDENCES = {f"{100 * level:g}": level for level in LEVELS}
"""Levels by their text in a link."""
CONFIDENCE_HELP = "Of the intervals of a release, and of ±, guaranteed errors and targets: 95% miss 1 time in 20."


@dataclass(frozen=True, kw_only=True)
class PlanTable:
    """A table with the settings of its plan, all public.

    Attributes:
        key: of the table in the selection.
        title: its name on the page.
        table: its columns.
        n: number of rows, or the public number instead of it.
        neighbours: the relation.
        beta: failure probability of guaranteed errors and targets.
        file_format: settings for reading the table's file.
        level: of the intervals of its release.
        is_assumed: whether n is a number that the user names, not one of the rows.
    """

    key: str
    title: str
    table: DeclaredTable
    n: int
    neighbours: Neighbours
    beta: float
    file_format: Format = USUAL
    level: float = LEVEL
    is_assumed: bool = False

    def plan(self, questions: Sequence[PlannedQuestion]) -> Plan:
        """Return the plan of these questions of the table."""
        return Plan(
            table=self.table, n=self.n, questions=tuple(questions), neighbours=self.neighbours, beta=self.beta,
            file_format=self.file_format, level=self.level,
        )  # fmt: skip


def pick_table() -> PlanTable:
    """Draw the controls of the table, the relation and the confidence, and return the table."""
    file, plan_from_file = session_file(), PLAN_OPENED.value
    own_table, filled_count = declared_columns(file) if file else (None, 0)
    titles = {each.key: each.title for each in SAMPLES}
    if file and own_table and own_table.used:
        titles = {OWN_FILE: "Your table", **titles}
        if LAST_OFFERED_FILE.value != file.turn:  # a new file is probably the table to plan for
            LAST_OFFERED_FILE.value, TABLE.value = file.turn, OWN_FILE
    if plan_from_file is not None:
        titles = {OPENED: "The opened plan's table", **titles}
    key = choice(
        "Table", titles, key="table", default=FIRST,
        help_text="The plan uses only the declaration: columns, bounds, labels and a public number of rows.",
    )  # fmt: skip
    if key == OPENED and plan_from_file is not None:
        return PlanTable(
            key=key, title="the opened plan", table=plan_from_file.table, n=plan_from_file.n,
            neighbours=plan_from_file.neighbours, beta=plan_from_file.beta, file_format=plan_from_file.file_format,
            level=plan_from_file.level,
        )  # fmt: skip
    if file and file.by_person and own_table and not own_table.person:
        st.caption(NEEDS_A_PERSON)
    own_in_use = own_table if key == OWN_FILE else None
    relation = neighbours(own_in_use.person_rows if own_in_use and own_in_use.person else 0)
    titles_of_levels = {each: f"{each}%" for each in CONFIDENCES}
    confidence = choice(
        "Confidence", titles_of_levels, key="confidence", default="95", help_text=CONFIDENCE_HELP, shown_as="slider"
    )
    level = CONFIDENCES[confidence]
    if file and own_in_use:
        table = own_in_use
        n = declared_rows(Source(origin=file.origin, reading=own_in_use.reading(own_in_use.used[0].name)), relation)
        if filled_count:
            st.caption(
                f"Left out: {filled_count} whose bounds or labels were read from your rows. Declare them "
                "on the Data page."
            )
    else:
        columns = (DeclaredColumn(name=each.name, on=each.on) for each in sample(key).columns)
        table, n = DeclaredTable(columns=tuple(columns)), Bundled(sample_key=key).rows
    is_assumed = False
    registered = registered_rows(file.origin if file and own_in_use else Bundled(sample_key=key))
    if registered is not None:
        n = registered
        st.caption(f"n = {n:,}, as registered.")
    elif relation is Neighbours.ADD_REMOVE_ONE or (file and own_in_use and not file.counted):
        is_assumed = True
        n = ask_public_rows(
            n, key=f"plan_n_{key}", private=own_in_use is not None,
            help_text="The number of rows is private, or not declared public on the Data page. Name a round "
                "number instead: errors are shares of it.",
        )  # fmt: skip
    title = "your table" if own_in_use else titles[key]
    file_format = format_of(file.origin) if file and own_in_use else USUAL
    return PlanTable(
        key=key, title=title, table=table, n=n, neighbours=relation, beta=float(f"{1 - level:g}"), level=level,
        file_format=file_format, is_assumed=is_assumed,
    )  # fmt: skip


def use_table(plan_table: PlanTable) -> None:
    """Set the planned table, by its first column, as the data in use; an opened plan keeps the data in use."""
    first_column = plan_table.table.used[0].name
    file = session_file()
    if plan_table.key == OWN_FILE and file is not None and upload() is None:
        remember_upload(
            Source(origin=count_cells(file.origin, plan_table.table), reading=plan_table.table.reading(first_column))
        )
    if plan_table.key != OPENED:
        DATA.value = OWN_FILE if plan_table.key == OWN_FILE else f"{plan_table.key}.{first_column}"
        linked_values()[DATA] = DATA.value


def to_release(plan_table: PlanTable, plan: Plan) -> None:
    """Open Release with this plan."""
    keep_plan(plan_table.key, plan)
    use_table(plan_table)
    st.switch_page("release/page.py")


def open_plan_file() -> None:
    """Draw the uploader of a plan's file, and show the error of an invalid one."""
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
        st.error(escaped(str(problem)))  # the message quotes the file and is shown as Markdown
        return
    open_plan(plan, note=" ".join(_replaced_mechanisms(text, plan)))
    st.rerun()


def open_plan(plan: Plan, *, note: str) -> None:
    """Have the next run show a plan with the table that its file declares."""
    PLAN_OPENED.value, NOTE.value = plan, note
    QUESTIONS.value = {**QUESTIONS.value, OPENED: plan.questions}
    VERSION.value += 1
    NEXT_TABLE.value = OPENED


def _replaced_mechanisms(text: bytes, plan: Plan) -> Iterator[str]:
    """Return sentences on the mechanisms of a plan's file that the plan replaced: see ``Plan``."""
    named_keys = (str(each["mechanism"]["key"]) for each in parse_document(text, what="plan")["questions"])
    for place, (key, question) in enumerate(zip(named_keys, plan.questions, strict=True), 1):
        if key != question.entry_key:
            yield (
                f"Statistic {place}: “{entry(key).title}” would give a wrong number here. The plan uses "
                f"“{question.entry.title}” instead."
            )
