"""The questions of a plan: those it opens on, and a row of controls for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.core import ParameterError
from dpcore.data.columns import is_labels, is_number
from dpcore.data.declared import DeclaredTable
from dpcore.data.reading.intake import clean_name
from dpcore.mechanisms import entry as entry_of
from dpcore.queries.ranges import classes_for
from dplab import advice
from dprelease.plan.questions import WHOLE, Plan, PlannedQuestion
from dprelease.requests.coverage import coverage
from pages.charts.words import mark_suggested
from pages.plan.plan_table import QUESTIONS, VERSION, PlanTable, controls_version, session_questions
from pages.shell.controls import read_target
from pages.shell.state import SessionKey

MAX_EPSILON = 20.0
OPENING = ((0.5, 0.01), (0.25, 0.002))
"""Privacy loss and target of the first number and of the first category, when the page opens."""
OF_A_MEAN = "The target of a mean is a share of its declared range, such as 1%."
DEFAULT_ENTRY = "identity"
MAX_NAMED = 3
"""Columns of tables that are named in a title."""


def questions_of(declared: PlanTable) -> tuple[PlannedQuestion, ...]:
    """The questions as they were left, without those that the table no longer fits; else two to begin with."""
    kept = session_questions().get(declared.key, ())
    fitting = [each for each in kept if not refusal_reason(declared, each)]
    if not fitting or len(fitting) < len(kept):
        store_questions(declared, fitting or initial_questions(declared.table), anew=bool(kept))
    return session_questions()[declared.key]


def store_questions(declared: PlanTable, questions: Sequence[PlannedQuestion], *, anew: bool) -> None:
    """Remember the questions; ``anew`` where their controls have to show something else than they do."""
    QUESTIONS.value = {**QUESTIONS.value, declared.key: tuple(questions)}
    if anew:
        VERSION.value += 1


def initial_questions(table: DeclaredTable) -> tuple[PlannedQuestion, ...]:
    """Ranges of the first number and counts of the first category."""
    firsts = (
        (next((each for each in table.used if is_number(each.on)), None), "intervals"),
        (next((each for each in table.used if is_labels(each.on)), None), "cells"),
    )
    return tuple(
        PlannedQuestion(columns=(column.name,), queries=kind, entry_key=DEFAULT_ENTRY, epsilon=epsilon, target=target)
        for (column, kind), (epsilon, target) in zip(firsts, OPENING, strict=True)
        if column is not None
    )


def question_title(table: DeclaredTable, question: PlannedQuestion) -> str:
    """A question in words: what of which columns; a plan's file may call them whatever a label would obey."""
    what, columns = "", " × ".join(map(clean_name, question.columns))
    if question.asks:
        what = f"{len(question.asks)} line{'s' * (len(question.asks) > 1)}"
    elif question.ways:
        what = "Rows of nobody" if question.entry_key == WHOLE else f"Tables of {question.ways}"
        columns = columns if len(question.columns) <= MAX_NAMED else f"{len(question.columns)} columns"
    elif question.quantity:
        what = {"quantile": f"Quantile {question.values.get('quantile', 0.5):g}"}.get(
            question.quantity, question.quantity.capitalize()
        )
    else:
        kinds = {
            kind.key: kind.title.partition(":")[0] for kind in classes_for(table.reading(*question.columns).domain)
        }
        what = kinds.get(question.queries, question.queries)
    return f"{what} of {columns}"


def refusal_reason(declared: PlanTable, question: PlannedQuestion) -> str:
    """Why a question has no place in a plan, in a sentence; empty if it has."""
    try:
        Plan(table=declared.table, n=declared.n, questions=(question,), neighbours=declared.neighbours)
    except ParameterError as problem:
        return str(problem)
    return ""


def coverage_note(declared: PlanTable, question: PlannedQuestion) -> str:
    """Bounds, missing values and rows of a value; empty where tables or counts are asked."""
    plan = Plan(table=declared.table, n=declared.n, questions=(question,), neighbours=declared.neighbours)
    (asked,) = plan.questions
    return coverage(plan.mechanism(asked), plan.problem(asked))


def edit_questions(declared: PlanTable, questions: Sequence[PlannedQuestion]) -> tuple[PlannedQuestion, ...]:
    """A row of controls for each question, and the questions as they are now set."""
    found = []
    for place, question in enumerate(questions):
        with st.container(horizontal=True, vertical_alignment="bottom", key=f"plan_row_{place}"):
            now = _question_row(declared, question, place, alone=len(questions) == 1)
        if now is not None and (told := coverage_note(declared, now)):
            st.caption(told)
        if now is not None:
            found.append(now)
    if len(found) < len(questions):
        store_questions(declared, found, anew=True)
        st.rerun()
    store_questions(declared, found, anew=False)
    return tuple(found)


def _question_row(declared: PlanTable, question: PlannedQuestion, place: int, *, alone: bool) -> PlannedQuestion | None:
    """One question's controls; None where it was taken out."""
    plan = Plan(table=declared.table, n=declared.n, questions=(question,), neighbours=declared.neighbours)
    entries = plan.proved(question)
    about, named = f"{controls_version()}_{declared.key}_{place}", f"of question {place + 1}"
    keys = list(entries)
    moved = SessionKey(f"plan_epsilon_{about}", question.epsilon).value  # the control below, as it is now
    mean = question.quantity == "mean"
    advised = advice.usual(plan.problem(question), epsilon=moved) if question.releases == "data" else ""
    chosen = st.selectbox(
        f"{place + 1}. {question_title(declared.table, question)}",
        keys,
        index=keys.index(question.entry_key) if question.entry_key in keys else 0,
        format_func=lambda key: mark_suggested(entry_of(key).title) if key == advised else entry_of(key).title,
        help="Suggested: what public numbers alone, n, cells and ε, would take." if advised else None,
        key=f"plan_mechanism_{about}",
        width="stretch",
    )
    epsilon = st.number_input(
        "ε", 0.001, MAX_EPSILON, question.epsilon, step=None, format="%g", key=f"plan_epsilon_{about}", width=90,
        help=f"Privacy loss {named}.",
    )  # fmt: skip
    typed = st.text_input(
        "Target", "" if question.target is None else f"{100 * question.target:.3g}%", key=f"plan_target_{about}",
        placeholder="1%", max_chars=20, width=90,
        help=f"The worst error that is wanted {named}: {'1% of the declared range' if mean else '1% or 50 rows'}.",
    )  # fmt: skip
    target = read_target(typed, n=declared.n) if typed and not (mean and "row" in typed) else None
    if typed and target is None:
        st.error(OF_A_MEAN if mean else "A target is a share such as 1%, or a number of rows such as 50 rows.")
        target = question.target
    pinned = st.checkbox("Keep ε", question.pinned, key=f"plan_pinned_{about}", help="Nothing below changes it.")
    if st.button("Remove", key=f"plan_remove_{about}", disabled=alone):
        return None
    return replace(
        question, entry_key=str(chosen), epsilon=float(epsilon), target=target, pinned=pinned,
        values=question.values_for(str(chosen)),
    )  # fmt: skip
