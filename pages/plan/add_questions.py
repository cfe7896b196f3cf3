"""Adding statistics to a plan: one from a list, or many as pasted lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.core import Neighbours, Problem
from dpcore.data.columns import is_labels, is_number
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Thresholds, classes_for
from dplab import advice
from dprelease.plan.planned_question import (
    QUANTITIES,
    WHOLE_TABLE,
    PlannedQuestion,
    place_of_complement,
    questions_of_lines,
    shared,
)
from dprelease.plan.predicates import read_lines
from dprelease.plan.questions import MAX_QUESTIONS
from dprelease.plan.titles import RANGE_TITLES, question_title
from pages.plan.group_form import available_groups, group_settings, pick_groups
from pages.plan.plan_table import NOTE, VERSION, PlanTable
from pages.plan.questions import DEFAULT_ENTRY, refusal_reason, store_questions
from pages.shell.private.data_in_use import escaped

EPSILON = 0.25
MAX_WAYS = 3
PAIRS = 2
"""Maximum number of columns of a statistic, except for tables."""
MAX_PROBLEMS = 5
"""Maximum number of error messages about pasted lines."""
EXAMPLE = "age 20–34, sex = Female\nage >= 65\nmean hours_per_week by sex, race"


def available_questions(plan_table: PlanTable, columns: Sequence[str]) -> dict[str, tuple[str, PlannedQuestion]]:
    """Return the statistics that are available for these columns, by key: the title and the question."""
    names = tuple(columns)
    options: dict[str, tuple[str, PlannedQuestion]] = {}
    template = PlannedQuestion(columns=names, queries=Cells.key, entry_key=DEFAULT_ENTRY, epsilon=EPSILON)
    if len(names) <= PAIRS:
        domain = plan_table.table.reading(*names).domain
        for kind in classes_for(domain):
            problem = Problem(
                domain=domain, queries=kind(domain=domain), n=plan_table.n, neighbours=plan_table.neighbours
            )
            key = advice.recommended_entry(problem, epsilon=EPSILON)
            title = f"{RANGE_TITLES[kind.key]}:{kind.title.partition(':')[2]}"
            options[kind.key] = title, replace(template, queries=kind.key, entry_key=key)
        if is_number(domain):
            values = replace(template, queries=Thresholds.key)
            options["mean"] = "Mean: of the rows with a value", replace(values, entry_key=QUANTITIES["mean"][0])
            median = replace(values, entry_key="exponential_median", values={"quantile": 0.5})
            options["quantile"] = "Quantile: the value below which a given share of the rows lies", median
        elif is_labels(domain) and plan_table.neighbours is Neighbours.REPLACE_ONE:
            options["commonest"] = "Most common label", replace(template, entry_key="subsample_commonest")
    if len(names) > 1:
        tables = replace(template, queries=Marginals.key, ways=PAIRS, entry_key="residual-planner")
        options["tables"] = "Tables: rows in each cell of every table of k columns", tables
        options["rows"] = (
            "Synthetic rows: a synthetic table of these columns",
            replace(tables, entry_key=WHOLE_TABLE, epsilon=1.0),
        )
    return options


def add_question(plan_table: PlanTable, questions: Sequence[PlannedQuestion]) -> None:
    """Draw the form that adds a statistic."""
    names = [column.name for column in plan_table.table.used]
    with st.container(horizontal=True, vertical_alignment="top", key="plan_form"):
        columns = st.multiselect("Columns", names, placeholder="Choose columns", key=f"plan_columns_{plan_table.key}")
        by = pick_groups(plan_table, names, columns)
        options = available_questions(plan_table, columns) if columns and not by else {}
        options |= available_groups(plan_table, columns, by, epsilon=EPSILON)
        if not options:
            if by:
                st.caption("By group: two numbers, one number, one column of labels, or no column for people.")
            return
        option_key = st.selectbox(
            "Statistic", list(options), format_func=lambda key: options[key][0], key=f"plan_asked_{plan_table.key}"
        )
        new = options[option_key][1]
        if option_key == "tables":
            max_ways = min(MAX_WAYS, len(columns))
            new = replace(new, ways=int(st.number_input("Columns per table", 1, max_ways, PAIRS, key="plan_ways")))
        if option_key == "quantile":
            share = st.number_input("Share of rows below it", 0.01, 0.99, 0.5, format="%g", key="plan_quantile")
            new = replace(new, values={"quantile": float(share)})
        if new.statistic:
            new = group_settings(plan_table, new)
        if st.button("Add", key="plan_add", type="primary"):
            append_questions(plan_table, questions, [new])


def paste_questions(plan_table: PlanTable, questions: Sequence[PlannedQuestion]) -> None:
    """Draw the form for pasted lines: either all are added, or their errors are shown."""
    text = st.text_area(
        "One statistic per line, or a CSV whose first line names the columns",
        key=f"plan_lines_{VERSION.value}_{plan_table.key}", placeholder=EXAMPLE, height=100,
        help="A range of whole numbers includes both ends; a range of other numbers excludes the upper end. "
             "Lines about the same columns become one statistic. Statistics by group begin with people, share, "
             "sum, mean, spread, ratio, slope, median, quartiles or deciles. Their CSV begins with: statistic, of, by.",
    )  # fmt: skip
    if not st.button("Add these lines", key="plan_lines_add", type="primary"):
        return
    parsed = read_lines(text, plan_table.table)
    for problem in parsed.problems[:MAX_PROBLEMS]:
        st.error(problem)
    if len(parsed.problems) > MAX_PROBLEMS:
        st.error(f"{len(parsed.problems) - MAX_PROBLEMS:,} more lines cannot be read.")
    if not (parsed.lines or parsed.groups or parsed.problems):
        st.error("These lines contain no statistic.")
    elif not parsed.problems:
        append_questions(plan_table, questions, questions_of_lines(parsed, epsilon=EPSILON))


def append_questions(
    plan_table: PlanTable, questions: Sequence[PlannedQuestion], new: Sequence[PlannedQuestion]
) -> bool:
    """Append statistics to the plan and rerun, or show why one is refused; return True if they were appended."""
    problems = [problem for each in new if (problem := refusal_reason(plan_table, each))]
    together, notes = ([], []) if problems else with_shared_draws(plan_table, questions, new)
    if len(together) > MAX_QUESTIONS:
        problems.append(f"A plan has at most {MAX_QUESTIONS} statistics.")
    for problem in problems[:1]:
        st.error(problem)
    if not problems:
        store_questions(plan_table, together, reset_controls=True)
        NOTE.value = escaped(" ".join(notes))
        st.rerun()
    return not problems


def with_shared_draws(
    plan_table: PlanTable, questions: Sequence[PlannedQuestion], new: Sequence[PlannedQuestion]
) -> tuple[list[PlannedQuestion], list[str]]:
    """Return the plan with new statistics, and a sentence on each that follows from the noise of another one."""
    together, notes = list(questions), []
    for each in new:
        if place := place_of_complement(together, each, plan_table.table):
            title = question_title(plan_table.table, each)
            notes.append(f"“{title}” costs nothing more: it is 1 minus the share of statistic {place}.")
            continue
        for place, before in enumerate(together):
            one = shared(before, each, plan_table.table)
            if one is None or refusal_reason(plan_table, one):
                continue
            together[place], title = one, question_title(plan_table.table, each)
            both = question_title(plan_table.table, one)
            changed = "" if one == before else f" It is now “{both}”."
            dropped = " Set its target again." if before.target is not None and one.target is None else ""
            notes.append(
                f"“{title}” costs nothing more: it shares one draw with statistic {place + 1}.{changed}{dropped}"
            )
            break
        else:
            together.append(each)
    return together, notes
