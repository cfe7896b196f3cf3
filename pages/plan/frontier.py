"""The frontier of a plan's question: what each mechanism would be wrong by at each privacy loss, on made-up rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpcore.core import rounded_up
from dpcore.experiments.sweep import EPSILON_GRID, sweep
from dpcore.limits.bounds.applicable import lower_curve
from dpcore.plan.errors import twin_of
from dpcore.plan.questions import Plan
from pages.charts.component import draw
from pages.plan.rows import keep, title
from pages.plan.table import Declared
from pages.play.figures.tradeoff import tradeoff
from pages.shell.session import with_progress

SEED = 1
MOST_CELLS = 1 << 20
"""Releases x cells of every mechanism at every privacy loss."""
BADGE = f"made-up rows · error: simulated, preview sampler, seed {SEED}"


def frontier(declared: Declared, plan: Plan) -> None:
    """Every mechanism that can be released for one question, drawn only while it is open."""
    place = st.expander("Every mechanism at every ε", key="plan_frontier", on_change="rerun")
    if not place.open:
        return
    with place:
        at = st.selectbox(
            "Question", range(len(plan.questions)), key="plan_compared",
            format_func=lambda at: f"{at + 1}. {title(plan.table, plan.questions[at])}",
        )  # fmt: skip
        question = plan.questions[at]
        problem = plan.problem(question)
        entries = plan.proved(question)
        # Of the plan only what the errors depend on: they are kept while losses and other questions change.
        about = replace(plan, questions=(replace(question, epsilon=1.0, target=None, pinned=False),)).text.decode()
        rows = twin_of(plan, question, seed=SEED)
        own = {question.entry_key: dict(question.values)}
        found = with_progress(
            f"frontier|{about}",
            lambda: sweep(
                list(entries.values()), rows, problem, shared={}, own=own, beta=plan.beta, seed=SEED,
                trials=max(20, min(60, MOST_CELLS // problem.domain.size)),
            ),
            label="Trying every mechanism at every ε.",
        )  # fmt: skip
        guarantees = {key: entry.make(**own.get(key, {})).guarantee(problem) for key, entry in entries.items()}
        only = st.toggle(
            "Only those that none beats", key="plan_only",
            help="Draws this question's mechanism and those that no other beats at every ε, by ε alone.",
        )  # fmt: skip
        picture = tradeoff(
            sweep=found,
            titles={key: entry.title for key, entry in entries.items()},
            weaker={key: f"δ = {rounded_up(told.delta)}" if told.delta else "" for key, told in guarantees.items()},
            chosen=question.entry_key,
            epsilon=question.epsilon,
            alpha=question.target,
            impossible=lower_curve(problem, plan.mechanism(question), epsilons=EPSILON_GRID, beta=plan.beta),
            every=not only,
        )
        draw(
            picture, key="plan_frontier_chart", badge=BADGE, download=True,
            on_pick=partial(_choose, declared, plan, at),
            caption="Click a point to put its mechanism and ε into the plan.",
        )  # fmt: skip
        if found.left_out:
            slow = ", ".join(entries[key].title for key in found.left_out)
            st.caption(f"Left out, for taking more than a second at each ε: {slow}.")


def chosen(plan: Plan, at: int, point: Mapping[str, Any]) -> Plan:
    """The plan with a question's mechanism and privacy loss as they were clicked."""
    question = plan.questions[at]
    key = str(point["key"])
    new = replace(question, entry_key=key, epsilon=float(point["epsilon"]), values=question.values_for(key))
    return replace(plan, questions=(*plan.questions[:at], new, *plan.questions[at + 1 :]))


def _choose(declared: Declared, plan: Plan, at: int, point: Mapping[str, Any]) -> None:
    """Put what was clicked into the plan."""
    keep(declared, chosen(plan, at, point).questions, anew=True)
