"""The Conversation page: one question at a time, its price, the conversation as a picture, and both mechanisms."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import streamlit as st

from dpcore.core import rounded_up
from dpcore.core.safe_csv import frame_csv
from dpcore.data.columns import is_number
from dpcore.data.sources import Uploaded
from pages.charts.component import draw_while_open
from pages.charts.words import as_code, percent
from pages.conversation.charts import answers_over_time, belief, errors_over_time
from pages.conversation.controls import ConversationRequest, draw_controls, draw_question, spread_questions
from pages.conversation.promise import draw_promise
from pages.conversation.state import CURRENT, ConversationResult, ConversationState, begin, current_state
from pages.conversation.theorem import code, draw_comparison, draw_theorem
from pages.conversation.worst_error import draw_worst_error
from pages.data.picker import OWN_FILE
from pages.shell.tasks.memory import remember
from pages.shell.theorem import BETA
from pages.shell.workbench import Workbench

MAX_SPREAD = 60
"""Questions whose guesses show the belief."""


def _converse(request: ConversationRequest) -> ConversationResult:
    """Draw the form of the next question and the last answer; return the conversation."""
    dataset = request.dataset()
    state = current_state(request, dataset)
    _ask_next(request, state)
    result = ConversationResult(request=request, dataset=dataset, state=CURRENT.value or state)
    _draw_counts(result)
    _draw_last_answer(result)
    return result


def _ask_next(request: ConversationRequest, state: ConversationState) -> None:
    """Draw the form of the next question; ask it, or let the analyst ask."""
    # The browser receives the key of a control, and an uploaded source's key holds the digest of its file.
    about = OWN_FILE if isinstance(request.source.origin, Uploaded) else request.source.key
    with st.form("ask_form", border=False):
        st.header("Your query")
        index = draw_question(request.queries, key=f"ask_at|{about}|{request.queries.key}")
        with st.container(horizontal=True):
            one = st.form_submit_button("Ask", type="primary", key="ask_one")
            few = st.form_submit_button("Let an analyst ask 50 queries", key="ask_50", help=_analyst_help(request))
            many = st.form_submit_button("Let an analyst ask 500 queries", key="ask_500", help=_analyst_help(request))
            forget = "Deletes this conversation and starts a new one with the same seed."
            again = st.form_submit_button("Start over", key="ask_again", help=forget)
    if again:
        note = "A new conversation began. The seed is the same, so the noise is the same."
        begin(request, request.dataset(), note=note)
    elif one:
        state.ask(index)
    elif few or many:
        state.run_analyst(500 if many else 50)


def _analyst_help(request: ConversationRequest) -> str:
    if request.analyst == "bisecting":
        return "Searches one quantile after another by bisection: each query depends on the last answer."
    return "Asks evenly spread queries, independent of the answers."


def _draw_counts(result: ConversationResult) -> None:
    """Draw how many answers were free, paid and refused, and the price of all of them."""
    request, state = result.request, result.state
    if state.note and not state.questions:
        st.info(state.note)
    epsilon, updates = float(request.values["epsilon"]), int(request.values["updates"])
    paid = int(state.conversation.transcript().paid.sum()) if state.questions else 0
    refused = int(state.conversation.transcript().declined.sum()) if state.questions else 0
    price_help = (
        f"The start of the conversation charged ε = {rounded_up(epsilon)}. This covers every query; only "
        "updates are used up. Simulated on public data: no privacy budget is spent."
    )
    free_place, paid_place, refused_place, price_place = st.columns(4)
    free_place.metric("Free answers", f"{state.questions - paid - refused:,}")
    paid_place.metric("Paid answers", f"{paid:,} of {updates:,}")
    refused_place.metric("Refused", f"{refused:,}")
    price_place.metric("Total cost", f"ε = {rounded_up(epsilon)}", help=price_help)
    if state.questions > int(request.values["questions"]):
        st.warning(
            f"You asked {state.questions:,} queries. The guaranteed error below is for the first "
            f"{int(request.values['questions']):,}. The privacy guarantee holds for any number of queries."
        )


def _draw_last_answer(result: ConversationResult) -> None:
    """Draw the last answer with its guess, its price and the true one; or the refusal."""
    request, state, n = result.request, result.state, result.dataset.n
    if state.last is None:
        return
    index, answer = state.last
    words = as_code(request.queries.describe(index))
    truth = float(request.queries.answer(result.dataset.histogram[None], np.array([index]))[0, 0]) / n
    if answer.refused[0]:
        updates = int(request.values["updates"])
        used = "The only update has been" if updates == 1 else f"All {updates:,} updates have been"
        st.error(
            f"**Refused.** {used} used, so query {state.questions:,} ({words}) and all later ones get no "
            "answer. Checking a guess again would cost more ε. Start over, or begin with more updates."
        )
        return
    guess, value = percent(max(answer.guess[0] / n, 0.0)), percent(answer.rows[0] / n)
    sentence = (
        f"The guess, {guess}, had too large an error. The answer, **{value}**, is the true value plus noise. "
        ":orange-badge[paid]"
        if answer.paid[0]
        else f"The guess, **{value}**, had a small enough error: it is the answer. :green-badge[free]"
    )
    st.markdown(f"Query {state.questions:,}, {words}: {sentence} True: {percent(truth)}. :gray-badge[true]")


def _belief(result: ConversationResult) -> None:
    """Draw guesses at questions spread over the class, beside the truth."""
    request, state, n = result.request, result.state, result.dataset.n
    paid_answers = b""
    if state.questions:
        transcript = state.conversation.transcript()
        paid_answers = transcript.query_indices[transcript.paid].tobytes() + transcript.rows[transcript.paid].tobytes()
    st.subheader("The mechanism's belief now" if state.questions else "The mechanism's belief before the first query")
    domain = request.source.domain
    indices, places = spread_questions(request.queries, MAX_SPREAD)
    guesses = remember(f"believed|{request.key}|{paid_answers!r}", lambda: state.conversation.believed(indices)[0])
    picture = belief(
        places=places,
        believed=guesses / n,
        truth=request.queries.answer(result.dataset.histogram[None], indices)[0] / n,
        far=request.mechanism().threshold(state.conversation.problem) / n,
        title=request.source.column,
        unit=domain.unit if is_number(domain) else "",
        n=n,
    )
    request.draw(picture, key="ask_belief", title="belief")


def _transcript(result: ConversationResult) -> None:
    """Draw answers and errors over the conversation; the table as a file."""
    request, state = result.request, result.state
    if not state.questions:
        st.caption("No query was asked yet.")
        return
    transcript = state.conversation.transcript()
    truth = transcript.truth(result.dataset.histogram)[0]
    bound = request.mechanism().accuracy(transcript.problem, BETA)
    left, right = st.columns(2)
    with left:
        picture = answers_over_time(transcript, truth=truth)
        request.draw(picture, key="ask_said", title="the conversation", heading="The conversation")
        st.download_button(
            "Download the conversation (CSV)",
            data=lambda: frame_csv(picture.frame()),
            file_name=f"conversation-{request.entry.key}-preview-seed-{request.seed}.csv",
            mime="text/csv",
            on_click="ignore",
            help="Every query with guess, answer, cost and true answer. Seeded, on public data: not a private release.",
        )
    with right:
        errors = errors_over_time(transcript, truth=truth, promise=bound.value if bound.guaranteed else math.inf)
        request.draw(errors, key="ask_wrong", title="error of every answer", heading="Error of every answer")


def _theorem(result: ConversationResult) -> None:
    draw_theorem(result.request, result.dataset)
    result.refusal_place = st.container()


def _comparison(result: ConversationResult) -> None:
    title, content = ("Both mechanisms with the same analyst", partial(draw_comparison, result.request, result.dataset))
    draw_while_open(title, key="ask_both_open", content=content)


CONVERSATION = Workbench(
    title="Conversation",
    lead=(
        "The whole conversation costs one ε, however many queries it has.",
        "Each query may depend on earlier answers. The mechanism **guesses** from its earlier answers. It "
        "checks privately whether the error of the guess is small. If it is, the answer is **free**. If "
        "not, the answer is the true value plus noise, and it is **paid for**. The number of paid answers "
        "(updates) is fixed.",
    ),
    key="ask",
    controls=draw_controls,
    promise=draw_promise,
    compute=_converse,
    views={
        "Belief and guaranteed error": (_belief, draw_worst_error),
        "The conversation": _transcript,
        "Why?": _theorem,
    },
    slow=(draw_worst_error,),
    more=_comparison,
    code=lambda result: code(result.request),
)
