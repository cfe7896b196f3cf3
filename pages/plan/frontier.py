"""Errors of every mechanism for one statistic of a plan, against ε or n; and noise that suits statistics by group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpcore.core import exactly, rounded_up
from dpcore.data.samples import SAMPLES
from dpcore.limits.bounds.applicable import lower_curve
from dpcore.mechanisms import entry as entry_of
from dplab.sweep import EPSILON_GRID, Sweep
from dprelease.ledger.units import ATTO_DIGITS, Price, to_units
from dprelease.plan.compare import Cells, better_noise, compare_mechanisms, partial_frontier
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.titles import question_title
from dprelease.release import cost
from pages.charts.component import draw
from pages.plan.errors_by_rows import errors_by_rows
from pages.plan.last_release import planned_account
from pages.plan.margin_words import noise_sentence
from pages.plan.plan_table import PlanTable
from pages.plan.preview import SEED
from pages.plan.questions import store_questions
from pages.play.figures.tradeoff import tradeoff
from pages.shell.tasks.jobs import in_background
from pages.shell.tasks.memory import remember

AXES = ("ε", "n")
MAX_DELTA = 1e-4
"""δ that other noise may cost where the rows have no account."""
BADGE = f"mock data · error: simulated, preview sampler, seed {SEED}"


def suggest_noise(plan_table: PlanTable, plan: Plan) -> None:
    """Draw one sentence and a button where other noise gives statistics by group smaller margins at the same price.

    The price is that of the account of these rows, in ε or in ρ, and other noise has no more δ than is left there.
    """
    account = planned_account(plan_table)
    registration = account.registration if account else None
    left = account.spent.budget.delta - account.spent.spent.delta if account else to_units(MAX_DELTA, ATTO_DIGITS)

    def price_of(other: Plan) -> Price:
        return cost(other.request(), registration) if registration else Price.of(other.cost)

    other = in_background(
        f"noise|{plan.text.decode()}|{registration and registration.measure}|{left}",
        lambda: better_noise(plan, price_of, max_delta=left),
        so_far=lambda: None, label="Comparing the noise of statistics by group.", place="noise",
    )  # fmt: skip
    if other is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(noise_sentence(other, price_of(plan)), width="content")
        st.button(
            f"Use {other.name} noise", key="plan_noise", on_click=store_questions,
            args=(plan_table, other.plan.questions), kwargs={"reset_controls": True},
            help="Changes the mechanism and the ε of all statistics by group whose ε is not fixed.",
        )  # fmt: skip


def frontier(plan_table: PlanTable, plan: Plan) -> None:
    """Draw the errors of every mechanism that can release one statistic, only while the expander is open."""
    position = st.selectbox(
        "Statistic", range(len(plan.questions)), key="plan_compared",
        format_func=lambda place: f"{place + 1}. {question_title(plan.table, plan.questions[place])}",
    )  # fmt: skip
    question, entries = plan.questions[position], plan.proved(plan.questions[position])
    by_rows = st.segmented_control("Against", AXES, default=AXES[0], key="plan_axis", required=True) == AXES[1]
    frontier_only = st.toggle(
        "Only the best mechanisms", key="plan_only",
        help="Shows this statistic's mechanism, and the pure ε mechanisms with the smallest error at some ε or n.",
    )  # fmt: skip
    sweep = _compute_errors(plan, question, by_rows=by_rows)
    titles = {key: entry.title for key, entry in entries.items()}
    deltas = {key: _delta_words(plan, question, key) for key in sweep.keys}
    if by_rows:
        picture = errors_by_rows(
            sweep=sweep, titles=titles, pure=[not deltas[key] for key in sweep.keys], chosen=question.entry_key,
            epsilon=question.epsilon, target=question.target, every=not frontier_only,
        )  # fmt: skip
    else:
        counts, problem, mechanism = question.releases == "data", plan.problem(question), plan.mechanism(question)
        picture = tradeoff(
            sweep=sweep,
            titles=titles,
            weaker=deltas,
            chosen=question.entry_key,
            epsilon=question.epsilon,
            alpha=question.target,
            impossible=lower_curve(problem, mechanism, epsilons=EPSILON_GRID, beta=plan.beta) if counts else None,
            every=not frontier_only,
        )
    draw(
        picture, key=f"plan_frontier_chart{'_n' * by_rows}", badge=BADGE, download=True,
        on_pick=partial(_store_clicked_point, plan_table, plan, position),
        caption="Click a point to put its mechanism and ε into the plan.",
    )  # fmt: skip
    if link := play_link(plan_table, question):
        st.page_link("play/page.py", label="Open this statistic in Play", query_params=link)
    if sweep.left_out:
        slow = ", ".join(entries[key].title for key in sweep.left_out)
        st.caption(f"Not shown, because they take more than a second per point: {slow}.")


def _compute_errors(plan: Plan, question: PlannedQuestion, *, by_rows: bool) -> Sweep:
    """Return the sweep; the results of a cancelled sweep are kept for the session."""
    # Only what the errors depend on: they are reused while other ε and other statistics change.
    compared_question = replace(question, target=None, pinned=False, epsilon=question.epsilon if by_rows else 1.0)
    key = f"{by_rows}|{replace(plan, questions=(compared_question,)).text.decode()}"
    cells: Cells = remember(f"cells|{key}", dict)
    return in_background(
        f"frontier|{key}",
        lambda: compare_mechanisms(plan, compared_question, cells=cells, by_rows=by_rows, seed=SEED),
        so_far=lambda: partial_frontier(plan, compared_question, cells=dict(cells), by_rows=by_rows),
        label=f"Computing the error of every mechanism at every {'n' if by_rows else 'ε'}.",
        place="frontier",
    )


def _delta_words(plan: Plan, question: PlannedQuestion, key: str) -> str:
    """Return the δ of a mechanism's guarantee in words; empty for 0."""
    delta = entry_of(key).make(**question.values_for(key)).guarantee(plan.problem(question)).delta
    return f"δ = {rounded_up(delta)}" if delta else ""


def play_link(plan_table: PlanTable, question: PlannedQuestion) -> dict[str, str]:
    """Return Play's link parameters for a statistic of one bundled column; empty for any other."""
    if question.releases != "data" or len(question.columns) > 1 or plan_table.key not in {each.key for each in SAMPLES}:
        return {}
    return {
        "data": f"{plan_table.key}.{question.columns[0]}",
        "queries": question.queries,
        "mechanism": question.entry_key,
        "epsilon": exactly(question.epsilon),
    }


def with_clicked_point(plan: Plan, position: int, point: Mapping[str, Any]) -> Plan:
    """Return the plan with the mechanism and the ε of a clicked point."""
    question = plan.questions[position]
    key = str(point["key"])
    new = replace(question, entry_key=key, epsilon=float(point["epsilon"]), values=question.values_for(key))
    return replace(plan, questions=(*plan.questions[:position], new, *plan.questions[position + 1 :]))


def _store_clicked_point(plan_table: PlanTable, plan: Plan, position: int, point: Mapping[str, Any]) -> None:
    """Store the mechanism and the ε of a clicked point in the plan."""
    store_questions(plan_table, with_clicked_point(plan, position, point).questions, reset_controls=True)
