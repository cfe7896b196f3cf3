"""The Conversation page's possible / impossible map: whole conversations with the chosen analyst, promise and wall."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Blocks, Dataset, paused
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.online.whole import Conversations, whole_conversations
from pages.ask.controls import Setting
from pages.ask.figures import conversation_map, refusals, told
from pages.ask.promise import BETA
from pages.charts.component import draw, show_numbers
from pages.shell.kept import kept

TRIALS = 50
"""Conversations: a dot each."""
HEIGHT = 215
"""Pixels of the map, which stands beside what is believed."""
PATIENCE = 20.0
"""Seconds after which a simulation that nobody asked for stops: a small α makes every guess slow."""


def whole(chosen: Setting, dataset: Dataset, *, apart: DeltaGenerator) -> None:
    """The map; its wall in words and refusals in a place apart; long conversations only when wanted."""
    problem, mechanism = chosen.problem(dataset.n), chosen.mechanism()
    questions, setting = mechanism.questions, f"{chosen.key}|{chosen.analyst}"
    st.subheader("Worst error: promised and observed")

    def work() -> Generator[float, None, Conversations]:
        return whole_conversations(mechanism, dataset, problem, seed=chosen.seed, trials=TRIALS)

    label = f"Simulating {TRIALS} whole conversations."
    found = kept(
        chosen,
        f"soon|{setting}",
        lambda: _for_a_while(work()),
        label=label,
        given_up=lambda conversations: conversations is None,
    )
    if found is None:
        if not st.toggle(
            f"Simulate all {questions:,} questions {TRIALS} times",
            key="ask_long",
            help="Any control stops it.",
        ):
            st.caption(f"{TRIALS} such conversations take longer than {PATIENCE:g} seconds: they wait for your word.")
            return
        found = kept(chosen, f"whole|{setting}", work, label=label)
    guarantee, promised = mechanism.guarantee(problem), mechanism.accuracy(problem, BETA)
    lower = lower_bound(problem, guarantee, beta=BETA, questions=questions)
    picture = conversation_map(found, n=dataset.n, guarantee=guarantee, promised=promised, lower=lower)
    picture = dataclasses.replace(picture, height=HEIGHT)
    draw(picture, key="ask_map_chart", badge=chosen.badge(), download=True)
    if lower is None:
        said = "No lower bound is known here."
    else:
        may = (
            f"Its {mechanism.updates:,} updates are enough to rule refusals out, so this mechanism is bound by it."
            if mechanism.never_refuses(problem, BETA)
            else f"Here refusals are not ruled out with {mechanism.updates:,} updates (more would share one ε), and "
            "the promise is about answered questions only: so this mechanism is free to pass the wall."
        )
        said = f"Hatched: impossible for whoever must answer every question. {lower.statement} {may}"
    show_numbers(picture, title="worst error of whole conversations", key="ask_map_numbers")
    with apart:
        st.subheader("No answer (⊥)")
        if found.broken:
            chosen.draw(refusals(found), key="ask_refusals", title="refusals")
        else:
            st.caption(told(found))
        st.expander("How to read the map").markdown(said)


def _for_a_while(work: Generator[float, None, Conversations]) -> Generator[float, None, Conversations | None]:
    """The same work, given up where it takes too long."""
    start, blocks = time.monotonic(), Blocks(work)
    for share in blocks:
        if time.monotonic() - start > PATIENCE:
            return None
        start += yield from paused(share)
    return blocks.result
