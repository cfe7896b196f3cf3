"""The Ask page's possible / impossible map: whole conversations with the chosen analyst, promise and wall."""

from __future__ import annotations

import streamlit as st

from dpcore.core import Dataset
from dpcore.figures.ask_map import conversation_map, never_refuses, refusals, told, whole_conversations
from dpcore.limits.applicable import lower_bound
from pages.ui.ask_controls import Setting
from pages.ui.ask_promise import BETA
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.session import with_progress

TRIALS = 50
"""Conversations: a dot each."""
LONG = 1000
"""More questions or updates together than are simulated unasked: each update makes every later guess slower."""


def whole(chosen: Setting, dataset: Dataset) -> None:
    """The map, its wall in words, and refusals apart; long conversations only when wanted."""
    problem, mechanism = chosen.problem(dataset.n), chosen.mechanism()
    questions = mechanism.questions
    st.header("Worst error: promised and observed")
    if questions + 5 * mechanism.updates > LONG and not st.toggle(
        f"Simulate {TRIALS} conversations of {questions:,} questions", key="ask_long",
        help="So many questions, or updates, take a while. Any control stops it.",
    ):  # fmt: skip
        st.caption(
            f"{questions:,} questions with {mechanism.updates:,} updates take a while to simulate {TRIALS} times, so "
            "that waits for you to ask for it."
        )
        return
    found = with_progress(
        f"whole|{chosen.key}|{chosen.analyst}",
        lambda: whole_conversations(mechanism, dataset, problem, seed=chosen.seed, trials=TRIALS),
        label=f"Simulating {TRIALS} whole conversations.",
    )
    guarantee, promised = mechanism.guarantee(problem), mechanism.accuracy(problem, BETA)
    lower = lower_bound(problem, guarantee, beta=BETA, questions=questions)
    figure = conversation_map(
        found=found, n=dataset.n, guarantee=guarantee, promised=promised, lower=lower, badge=chosen.badge(),
        dark=is_dark(),
    )  # fmt: skip
    draw(figure, key="ask_map_chart")
    if lower is not None:
        may = (
            f"Its {mechanism.updates:,} updates are enough to rule refusals out, so this mechanism is bound by it."
            if never_refuses(mechanism, problem, beta=BETA)
            else f"Here refusals are not ruled out ({mechanism.updates:,} updates are too few), and the promise is "
            "about answered questions only: so this mechanism is free to pass the wall."
        )
        st.caption(f"Grey: impossible for whoever must answer every question. {lower.statement} {may}")
    numbers(figure, title="worst error of whole conversations", key="ask_map_numbers")
    st.subheader("No answer (⊥)")
    if found.broken:
        apart = refusals(found=found, badge=chosen.badge(), dark=is_dark())
        draw(apart, key="ask_refusals_chart")
        numbers(apart, title="refusals", key="ask_refusals_numbers")
    else:
        st.caption(told(found))
