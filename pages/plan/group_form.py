"""The form of a statistic by group: which ones are available for some columns and groups, and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.core.sizes import MAX_GROUP_COLUMNS
from dpcore.data.columns import is_labels
from dprelease.plan.groups import MEAN, PEOPLE, QUANTILES, RATIO, SAMPLED, SHARE, SLOPE, STATISTICS, has_shares
from dprelease.plan.planned_question import PlannedQuestion, group_question
from dprelease.plan.titles import NAMED_QUANTILES, statistic_title
from pages.plan.plan_table import PlanTable
from pages.shell.expected_error import noun_of
from pages.shell.state import SessionKey

WITHOUT_GROUPS = {MEAN, QUANTILES, PEOPLE}
"""Statistics that other mechanisms release better where there are no groups."""
QUANTILE_CHOICES = {**NAMED_QUANTILES, (0.05, 0.5, 0.95): "5%, 50% and 95%"}


def available_groups(
    plan_table: PlanTable, columns: Sequence[str], by: Sequence[str], *, epsilon: float
) -> dict[str, tuple[str, PlannedQuestion]]:
    """Return the statistics by group that are available for these columns, by key: the title and the question."""
    domains = [plan_table.table.on(name) for name in columns]
    numbers = sum(on.mean_name == "mean" for on in domains)
    options: dict[str, tuple[str, PlannedQuestion]] = {}
    for statistic, kind in STATISTICS.items():
        labels = len(domains) == 1 and has_shares(domains[0])
        fits = labels if statistic == SHARE else numbers == len(domains)
        if not fits or len(domains) != kind.columns or (not by and statistic in WITHOUT_GROUPS):
            continue
        question = group_question(statistic, columns, by, epsilon=epsilon)
        title = statistic_title(plan_table.table, question) if statistic in (RATIO, SLOPE) else kind.title
        options[f"by-{statistic}"] = title, question
    return options


def pick_groups(plan_table: PlanTable, names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Draw the control of the columns that form groups, and return them."""
    others = [name for name in names if name not in columns]
    key = SessionKey[list[str]](f"plan_by_{plan_table.key}", [])
    if not set(key.value) <= set(others):  # a column that is measured now forms no groups
        key.value = [name for name in key.value if name in others]
    return tuple(
        st.multiselect(
            "By", others, key=key, max_selections=MAX_GROUP_COLUMNS, placeholder="Choose columns",
            help="Columns whose values form groups. Numbers form groups of up to ten ranges.",
        )
    )  # fmt: skip


def group_settings(plan_table: PlanTable, question: PlannedQuestion) -> PlannedQuestion:
    """Draw the settings of a statistic by group, and return it with them."""
    if question.statistic == QUANTILES:
        shares = st.selectbox(
            "Quantiles", list(QUANTILE_CHOICES), format_func=lambda each: QUANTILE_CHOICES[each], key="plan_shares"
        )
        question = replace(question, quantiles=shares)
    if question.statistic == SHARE:
        question = replace(question, label=_pick_label(plan_table, question.columns[0]))
    if question.statistic in SAMPLED:
        everybody = st.toggle(
            "Everybody is in the table", key=f"plan_everybody_{plan_table.key}",
            help="Then the rows are no sample, and the released file has intervals for the noise alone.",
        )  # fmt: skip
        question = replace(question, whole_population=everybody)
    if not question.by or question.statistic == PEOPLE:
        return question
    smallest = st.number_input(
        f"Smallest group ({noun_of(plan_table.table)})", 1, plan_table.n, None, key=f"plan_smallest_{plan_table.key}",
        placeholder="equal groups",
        help="How many the smallest group has at least, if that is public. The margin is predicted for it.",
    )  # fmt: skip
    return replace(question, min_rows=int(smallest or 0))


def _pick_label(plan_table: PlanTable, column: str) -> str:
    """Draw the control of the label of which a share is, and return it; empty for the second of two labels."""
    on = plan_table.table.on(column)
    assert is_labels(on)
    place = [each.name for each in plan_table.table.columns].index(column)
    label = st.selectbox(
        "With the label", on.labels, index=int(len(on.labels) == 2), key=f"plan_label_{plan_table.key}_{place}",
        help="The share of the rows with this label, among the rows with a declared label.",
    )  # fmt: skip
    return "" if on.labels[1:] == (label,) else label
