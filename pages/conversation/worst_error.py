"""The worst errors of whole conversations: observed, guaranteed and impossible; and their refusals."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator

import streamlit as st

from dpcore.core import Blocks, paused
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.online.previews import Conversations, preview_conversations
from pages.conversation.charts import conversation_map, refusal_sentence, refusals
from pages.conversation.state import ConversationResult
from pages.shell.tasks.shared import share_with_progress
from pages.shell.theorem import BETA

TRIALS = 50
"""Simulated conversations: a dot each."""
HEIGHT = 215
"""Pixels of the map, which stands beside what is believed."""
MAX_SECONDS = 20.0
"""Seconds after which a simulation stops until the user asks for it: a small α makes every guess slow."""


def draw_worst_error(result: ConversationResult) -> None:
    """Draw the map, and the refusals below the theorem; long conversations only where the user asks for them."""
    request, dataset = result.request, result.dataset
    problem, mechanism = request.problem(dataset.n), request.mechanism()
    questions = mechanism.questions
    st.subheader("Worst error: guaranteed and observed")
    conversations = _conversations(result)
    if conversations is None:
        return
    guarantee, bound = mechanism.guarantee(problem), mechanism.accuracy(problem, BETA)
    lower = lower_bound(problem, guarantee, beta=BETA, questions=questions)
    picture = conversation_map(conversations, n=dataset.n, guarantee=guarantee, promised=bound, lower=lower)
    picture = dataclasses.replace(picture, height=HEIGHT)
    request.draw(picture, key="ask_map", title="worst error of whole conversations")
    if lower is None:
        explanation = "No lower bound is known here."
    else:
        applies = (
            f"With {mechanism.updates:,} updates this mechanism never refuses, so the lower bound applies to it."
            if mechanism.never_refuses(problem, BETA)
            else f"With {mechanism.updates:,} updates this mechanism may refuse (more updates would share one "
            "ε). Its guarantee covers answered queries only, so the lower bound does not apply to it."
        )
        explanation = (
            "Hatched: impossible (lower bound) for a mechanism that must answer every query. "
            f"{lower.statement} {applies}"
        )
    with result.refusal_place or st.container():
        st.subheader("No answer (⊥)")
        if conversations.broken:
            request.draw(refusals(conversations), key="ask_refusals", title="refusals")
        else:
            st.caption(refusal_sentence(conversations))
        st.expander("How to read the map").markdown(explanation)


def _conversations(result: ConversationResult) -> Conversations | None:
    """Return simulated conversations; None where they take long and the user has not asked for them."""
    request, dataset = result.request, result.dataset
    problem, mechanism = request.problem(dataset.n), request.mechanism()
    key, label = f"{request.key}|{request.analyst}", f"Simulating {TRIALS} whole conversations."

    def work() -> Generator[float, None, Conversations]:
        return preview_conversations(mechanism, dataset, problem, seed=request.seed, trials=TRIALS)

    conversations = share_with_progress(
        request,
        f"soon|{key}",
        lambda: _for_a_while(work()),
        label=label,
        is_partial=lambda conversations: conversations is None,
    )
    if conversations is not None:
        return conversations
    if st.toggle(
        f"Simulate all {mechanism.questions:,} queries {TRIALS} times", key="ask_long", help="Move any control to stop."
    ):
        return share_with_progress(request, f"whole|{key}", work, label=label)
    st.caption(
        f"{TRIALS} such conversations take more than {MAX_SECONDS:g} seconds, so they start only when you "
        "press the button."
    )
    return None


def _for_a_while(work: Generator[float, None, Conversations]) -> Generator[float, None, Conversations | None]:
    """Yield the progress of the work; return its result, or None where it takes longer than MAX_SECONDS."""
    start, blocks = time.monotonic(), Blocks(work)
    for share in blocks:
        if time.monotonic() - start > MAX_SECONDS:
            return None
        start += yield from paused(share)
    return blocks.result
