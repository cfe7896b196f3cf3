"""The statistics of a plan: the initial ones, and a row of controls for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import ParameterError
from dpcore.data.columns import is_labels, is_number
from dpcore.data.declarations import DeclaredTable
from dpcore.mechanisms import entry as entry_of
from dplab import advice
from dprelease.plan.errors import Prediction
from dprelease.plan.margins import Margin, margin
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.titles import question_title
from dprelease.requests.coverage import coverage
from pages.charts.words import confidence, mark_suggested
from pages.plan.figure import worst_sentence
from pages.plan.margin_words import (
    SCALES,
    following_sentences,
    margin_sentence,
    of_scale,
    read_margin,
    smallest_group,
    target_text,
)
from pages.plan.plan_table import EARLIER, QUESTIONS, VERSION, PlanTable
from pages.shell.controls import read_target
from pages.shell.expected_error import amount_of, noun_of, single_error
from pages.shell.private.data_in_use import escaped
from pages.shell.state import SessionKey

MAX_EPSILON = 20.0
OPENING = ((0.5, 0.01), (0.25, 0.002))
"""ε and target of the first number and of the first category in the example."""
OF_A_MEAN = "The target of a mean is a share of its declared range, for example 1%."
DEFAULT_ENTRY = "identity"
EPSILON_WIDTH, MARGIN_WIDTH, SMALLEST_WIDTH, MORE_WIDTH = 90, 150, 150, 53
"""Pixels of the columns of the table of statistics."""
SMALLEST_HELP = (
    "The smallest group that a statistic serves. Of a statistic by group: with the target, or else 5% of its scale, as "
    "its margin. Of counts: with 10% of the count as its ±."
)
MAX_UNDONE = 20
"""Changes that can be undone."""


@dataclass(frozen=True, kw_only=True)
class ErrorCells:
    """Places in a statistic's row that are filled once its errors are predicted.

    Attributes:
        margin: beside its ε.
        compared: the same at the ε that is compared; None where none is.
        smallest: of the smallest group that it serves.
        worst: of the worst error, in its further settings.
    """

    margin: DeltaGenerator
    compared: DeltaGenerator | None
    smallest: DeltaGenerator
    worst: DeltaGenerator


def questions_of(plan_table: PlanTable) -> tuple[PlannedQuestion, ...]:
    """Return the stored questions that still fit the table; none at first."""
    stored = QUESTIONS.value.get(plan_table.key, ())
    fitting = [each for each in stored if not refusal_reason(plan_table, each)]
    if len(fitting) < len(stored):
        store_questions(plan_table, fitting, reset_controls=True)
    return tuple(fitting)


def store_questions(plan_table: PlanTable, questions: Sequence[PlannedQuestion], *, reset_controls: bool) -> None:
    """Remember the questions; ``reset_controls`` where their controls have to show something else than they do."""
    before, now = QUESTIONS.value.get(plan_table.key, ()), tuple(questions)
    if now != before:
        EARLIER.value = {**EARLIER.value, plan_table.key: (*earlier_questions(plan_table), before)[-MAX_UNDONE:]}
    _set_questions(plan_table, now, reset_controls=reset_controls)


def _set_questions(plan_table: PlanTable, questions: tuple[PlannedQuestion, ...], *, reset_controls: bool) -> None:
    QUESTIONS.value = {**QUESTIONS.value, plan_table.key: questions}
    if reset_controls:
        VERSION.value += 1


def earlier_questions(plan_table: PlanTable) -> tuple[tuple[PlannedQuestion, ...], ...]:
    """Return the plan before each of the last changes, the oldest first."""
    return EARLIER.value.get(plan_table.key, ())


def undo(plan_table: PlanTable) -> None:
    """Callback: take the last change of the plan back."""
    *earlier, before = earlier_questions(plan_table)
    EARLIER.value = {**EARLIER.value, plan_table.key: tuple(earlier)}
    _set_questions(plan_table, before, reset_controls=True)


def initial_questions(table: DeclaredTable) -> tuple[PlannedQuestion, ...]:
    """Return the example: ranges of the first number and counts of the first category."""
    opening_columns = (
        (next((each for each in table.used if is_number(each.on)), None), "intervals"),
        (next((each for each in table.used if is_labels(each.on)), None), "cells"),
    )
    return tuple(
        PlannedQuestion(columns=(column.name,), queries=kind, entry_key=DEFAULT_ENTRY, epsilon=epsilon, target=target)
        for (column, kind), (epsilon, target) in zip(opening_columns, OPENING, strict=True)
        if column is not None
    )


def refusal_reason(plan_table: PlanTable, question: PlannedQuestion) -> str:
    """Return why a plan refuses a question; empty if it accepts it."""
    try:
        plan_table.plan((question,))
    except ParameterError as problem:
        return str(problem)
    return ""


def planned_margin(plan_table: PlanTable, question: PlannedQuestion) -> Margin | None:
    """Return the predicted margin of a statistic by group; None where none can be predicted."""
    plan = plan_table.plan((question,))
    try:
        return margin(plan, question, plan.mechanism(question))
    except ParameterError:
        return None


def coverage_note(plan_table: PlanTable, question: PlannedQuestion) -> str:
    """Return sentences below a statistic: its margin by group, or bounds and missing values; empty for counts."""
    plan = plan_table.plan((question,))
    (planned_question,) = plan.questions
    if question.statistic:
        mechanism = plan.mechanism(question)
        following = [margin(plan, question, mechanism, statistic=each) for each in question.also]
        sentence = margin_sentence(plan, question, planned_margin(plan_table, question))
        return escaped(sentence + following_sentences(plan, question, following))
    return coverage(plan.mechanism(planned_question), plan.problem(planned_question))


def edit_questions(
    plan_table: PlanTable, questions: Sequence[PlannedQuestion], *, compared: str
) -> tuple[tuple[PlannedQuestion, ...], list[ErrorCells]]:
    """Draw a row for each question; return the edited questions and the places of their errors.

    Args:
        plan_table: the table.
        questions: the plan's.
        compared: heading of a second column of errors; empty without one.
    """
    with st.container(horizontal=True, key="plan_head"):
        st.caption("Statistic", width="stretch")
        st.caption("ε", width=EPSILON_WIDTH, help="Privacy budget of a statistic.")
        level = confidence(plan_table.beta)
        st.caption(
            f"± ({level})", width=MARGIN_WIDTH,
            help=f"{level} of a statistic's numbers have at most this error. “⋯” names the worst error.",
        )  # fmt: skip
        if compared:
            st.caption(compared, width=MARGIN_WIDTH)
        st.caption("Smallest group", width=SMALLEST_WIDTH, help=SMALLEST_HELP)
        st.caption("", width=MORE_WIDTH)
    edited, cells = [], []
    for place, question in enumerate(questions):
        with st.container(horizontal=True, vertical_alignment="center", key=f"plan_row_{place}"):
            question_now, cell = _question_row(plan_table, question, place, compared=bool(compared))
        cells.append(cell)
        if question_now is not None and (note := coverage_note(plan_table, question_now)):
            st.caption(note)
        if question_now is not None:
            edited.append(question_now)
    if len(edited) < len(questions):
        store_questions(plan_table, edited, reset_controls=True)
        st.rerun()
    store_questions(plan_table, edited, reset_controls=False)
    return tuple(edited), cells


def _question_row(
    plan_table: PlanTable, question: PlannedQuestion, place: int, *, compared: bool
) -> tuple[PlannedQuestion | None, ErrorCells]:
    """Draw one question's row and return the question, None if it was removed, and the places of its errors."""
    plan = plan_table.plan((question,))
    entries = plan.proved(question)
    key_suffix, of_question = f"{VERSION.value}_{plan_table.key}_{place}", f"of statistic {place + 1}"
    keys = list(entries)
    epsilon_now = SessionKey(f"plan_epsilon_{key_suffix}", question.epsilon).value  # current value of the control below
    advised = (
        advice.recommended_entry(plan.problem(question), epsilon=epsilon_now) if question.releases == "data" else ""
    )
    st.markdown(escaped(f"{place + 1}. {question_title(plan_table.table, question)}"), width="stretch")
    epsilon = st.number_input(
        "ε", 0.001, MAX_EPSILON, question.epsilon, step=None, format="%g", key=f"plan_epsilon_{key_suffix}",
        width=EPSILON_WIDTH, label_visibility="collapsed",
    )  # fmt: skip
    margin_cell = st.container(width=MARGIN_WIDTH)
    compared_cell = st.container(width=MARGIN_WIDTH, key=f"plan_compared_{place}") if compared else None
    smallest_cell = st.container(width=SMALLEST_WIDTH, key=f"plan_serves_{place}")
    more = st.popover("⋯", help=f"Mechanism, target and guaranteed error {of_question}.", key=f"plan_more_{key_suffix}")
    chosen = more.selectbox(
        "Mechanism",
        keys,
        index=keys.index(question.entry_key) if question.entry_key in keys else 0,
        format_func=lambda key: mark_suggested(entry_of(key).title) if key == advised else entry_of(key).title,
        help="Suggested from public numbers only: n, number of cells and ε." if advised else None,
        key=f"plan_mechanism_{key_suffix}",
    )
    with more:
        target = _target(plan_table, question, key=f"plan_target_{key_suffix}", of_question=of_question)
    pinned = more.checkbox(
        "Fix ε", question.pinned, key=f"plan_pinned_{key_suffix}", help="The buttons below do not change this ε."
    )
    cells = ErrorCells(margin=margin_cell, compared=compared_cell, smallest=smallest_cell, worst=more.container())
    if more.button("Remove", key=f"plan_remove_{key_suffix}"):
        return None, cells
    return replace(
        question, entry_key=str(chosen), epsilon=float(epsilon), target=target, pinned=pinned,
        values=question.values_for(str(chosen)),
    ), cells  # fmt: skip


def fill_errors(plan: Plan, predictions: Sequence[Prediction], cells: Sequence[ErrorCells]) -> None:
    """Draw the predicted errors into the rows of the statistics."""
    for place, (question, prediction, cell) in enumerate(zip(plan.questions, predictions, cells, strict=True)):
        cell.margin.markdown(escaped(single_error(plan, question, prediction)))
        cell.smallest.markdown(smallest_group(plan, question, prediction))
        if not math.isnan(prediction.promised):
            cell.worst.caption(escaped(worst_sentence(plan, place, prediction)))


def fill_compared(plan: Plan, predictions: Sequence[Prediction], cells: Sequence[ErrorCells]) -> None:
    """Draw the errors of the plan at another ε beside those of the plan."""
    for question, prediction, cell in zip(plan.questions, predictions, cells, strict=True):
        if cell.compared is not None:
            cell.compared.markdown(escaped(single_error(plan, question, prediction)))


def fill_pinned(plan: Plan, pinned: Plan, predictions: Sequence[Prediction], cells: Sequence[ErrorCells]) -> None:
    """Draw the errors of the same statistics of another plan beside those of the plan; a dash where it has none."""
    others: dict[str, list[str]] = {}
    for question, prediction in zip(pinned.questions, predictions, strict=True):
        title = question_title(pinned.table, question)
        others.setdefault(title, []).append(single_error(pinned, question, prediction))
    for question, cell in zip(plan.questions, cells, strict=True):
        errors = others.get(question_title(plan.table, question))
        if cell.compared is not None:
            cell.compared.markdown(escaped(errors.pop(0)) if errors else "–")


def target_of(plan_table: PlanTable, question: PlannedQuestion, text: str) -> float | None:
    """Return a typed target as a share of what a statistic's errors are shares of; None for any other text."""
    if question.statistic:
        planned = planned_margin(plan_table, question)
        in_its_unit = planned and (planned.unit == "rows" or "people" not in text)
        return read_margin(text, planned) if planned and in_its_unit else None
    text = text.replace("people", "rows")
    return None if question.quantity == "mean" and "row" in text else read_target(text, n=plan_table.n)


def _target(plan_table: PlanTable, question: PlannedQuestion, *, key: str, of_question: str) -> float | None:
    """Draw the control of a statistic's target and return it; the last one where the text is no target."""
    if question.statistic:
        return _group_target(plan_table, question, key=key, of_question=of_question)
    is_mean = question.quantity == "mean"
    as_drawn = "" if question.target is None else f"{100 * question.target:.3g}%"
    text = st.text_input(
        "Target", as_drawn, key=key,
        placeholder="1%", max_chars=20, width=90,
        help=f"The target for the worst error {of_question}: "
        f"{'1% of the declared range' if is_mean else '1% or 50 rows'}.",
    )  # fmt: skip
    if text == as_drawn:  # its digits are fewer
        return question.target
    target = target_of(plan_table, question, text)
    if text and target is None:
        st.error(OF_A_MEAN if is_mean else "A target is a share (1%) or a number of rows (50 rows).")
        return question.target
    return target


def _group_target(plan_table: PlanTable, question: PlannedQuestion, *, key: str, of_question: str) -> float | None:
    """Draw the same for a statistic by group, whose target is a margin in its own unit."""
    planned = planned_margin(plan_table, question)
    example = amount_of(planned, 0.01, question.statistic, noun=noun_of(plan_table.table)) if planned else "1%"
    text = st.text_input(
        "± Target", target_text(question, planned), key=key, placeholder="1%", max_chars=20, width=90,
        help=f"The target for the margin in every group {of_question}: {escaped(example)}, "
        f"or 1% {of_scale(question)}.",
    )  # fmt: skip
    if not text or planned is None:
        return question.target if text else None
    if text == target_text(question, planned):  # as drawn: its digits are fewer
        return question.target
    target = read_margin(text, planned)
    if target is None:
        st.error(f"A margin is a number in the statistic's unit, or a share (1%) of {SCALES[question.statistic]}.")
        return question.target
    return target
