"""The Conversation page: one question at a time, what each cost, the conversation as a picture, both mechanisms."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Dataset, rounded_up
from dpcore.core.safe_csv import frame_csv
from dpcore.data.columns import is_number
from dpcore.data.sources import Uploaded
from pages.ask.controls import Setting, question, setting, spread_questions
from pages.ask.figures import belief, said, wrong
from pages.ask.known import known_before
from pages.ask.map import whole
from pages.ask.promise import BETA, both, code, promised
from pages.ask.talk import TALK, Talk, begin, talk_of
from pages.charts.words import as_code, percent
from pages.data.picker import OWN_FILE
from pages.shell.asked import show_code
from pages.shell.controls import audit_this
from pages.shell.session import remembered
from pages.shell.status import views

SPREAD = 60
"""Questions whose guesses show what is believed."""


def ask(beside: DeltaGenerator) -> None:
    """Read the controls in their place beside, let the reader ask, then show what was said."""
    chosen = setting(beside, st.container(key="epsilon_bar"))
    chosen.keep("Conversation")
    if chosen.private:
        known_before(chosen)
        return
    dataset = chosen.dataset()
    talk = talk_of(chosen, dataset)
    _ask_next(chosen, talk, dataset)
    talk = TALK.value or talk
    _standing(chosen, talk, dataset)
    now, conversation, why, more = views("Belief and promise", "The conversation", "Why?", "More", key="ask-seen")
    with now:
        left, right = st.columns(2)
    with left:
        _believed(chosen, talk, dataset)
    with why:
        promised(chosen, dataset)
        apart = st.container()
    with conversation:
        if talk.asked:
            _pictures(chosen, talk, dataset)
        else:
            st.caption("Nothing was asked yet.")
    with more:
        both(chosen, dataset)
        audit_this(chosen.entry, chosen.values, chosen.neighbours)
        show_code("Code", key="ask_code_open", write=lambda: code(chosen))
    with right:  # last, because it may take a while
        whole(chosen, dataset, apart=apart)


def _ask_next(chosen: Setting, talk: Talk, dataset: Dataset) -> None:
    """The next question, by the reader or by the analyst."""
    # The browser is told the key, and an uploaded source's holds the digest of its file.
    about = OWN_FILE if isinstance(chosen.source.origin, Uploaded) else chosen.source.key
    with st.form("ask_form", border=False):
        st.header("Your question")
        index = question(chosen.queries, key=f"ask_at|{about}|{chosen.queries.key}")
        with st.container(horizontal=True):
            asked = st.form_submit_button("Ask", type="primary", key="ask_one")
            few = st.form_submit_button("Let an analyst ask 50", key="ask_50", help=_analyst_help(chosen))
            many = st.form_submit_button("Let an analyst ask 500", key="ask_500", help=_analyst_help(chosen))
            forget = "Forget this conversation; the same seed begins another."
            again = st.form_submit_button("Start over", key="ask_again", help=forget)
    if again:
        begin(chosen, dataset, note="A new conversation began; with the same seed the noise is the same.")
    elif asked:
        talk.ask(index)
    elif few or many:
        talk.let_ask(500 if many else 50)


def _analyst_help(chosen: Setting) -> str:
    """Who it is."""
    if chosen.analyst == "bisecting":
        return "Looks for one quantile after another by bisection: each question depends on the last answer."
    return "Asks evenly spread questions, whatever the answers."


def _standing(chosen: Setting, talk: Talk, dataset: Dataset) -> None:
    """What the last answer was, and what is left."""
    if talk.note and not talk.asked:
        st.info(talk.note)
    epsilon, updates = float(chosen.values["epsilon"]), int(chosen.values["updates"])
    paid = int(talk.conversation.transcript().paid.sum()) if talk.asked else 0
    declined = int(talk.conversation.transcript().declined.sum()) if talk.asked else 0
    told = (
        f"ε = {rounded_up(epsilon)} was charged when the conversation began and covers all of it; what is used up is "
        "updates. Simulated on public data: nobody's privacy is spent."
    )
    places = st.columns(4)
    for place, (label, value) in zip(
        places,
        (
            ("Free answers", f"{talk.asked - paid - declined:,}"),
            ("Paid answers", f"{paid:,} of {updates:,}"),
            ("Refused", f"{declined:,}"),
            ("Price of it all", f"ε = {rounded_up(epsilon)}"),
        ),
        strict=True,
    ):
        place.metric(label, value, help=told if label == "Price of it all" else None)
    if talk.asked > int(chosen.values["questions"]):
        st.warning(
            f"{talk.asked:,} questions were asked, and the promise of accuracy below is for the first "
            f"{int(chosen.values['questions']):,}. Privacy does not depend on their number."
        )
    if talk.last is not None:
        _last_answer(chosen, talk, dataset)


def _last_answer(chosen: Setting, talk: Talk, dataset: Dataset) -> None:
    """Guess, answer, free or paid, true; or the refusal."""
    assert talk.last is not None
    index, answer = talk.last
    n, words = dataset.n, as_code(chosen.queries.describe(index))
    truth = float(chosen.queries.answer(dataset.histogram[None], np.array([index]))[0, 0]) / n
    if answer.refused[0]:
        updates = int(chosen.values["updates"])
        used = "The only update is" if updates == 1 else f"All {updates:,} updates are"
        st.error(
            f"**Refused.** {used} used up, so question {talk.asked:,} "
            f"({words}) gets no answer, nor does any later one: whether a guess is good enough could no longer be "
            "checked without spending more. Start over, or begin with more updates."
        )
        return
    guess, shown = percent(max(answer.guess[0] / n, 0.0)), percent(answer.rows[0] / n)
    what = (
        f"The guess was {guess}, too far off: the answer, **{shown}**, comes from the data with noise. "
        ":orange-badge[paid]"
        if answer.paid[0]
        else f"The guess, **{shown}**, was near enough to be the answer. :green-badge[free]"
    )
    st.markdown(f"Question {talk.asked:,}, {words}: {what} True: {percent(truth)}. :gray-badge[true]")


def _pictures(chosen: Setting, talk: Talk, dataset: Dataset) -> None:
    """What was said and how wrong it was; the table as a file."""
    transcript = talk.conversation.transcript()
    truth = transcript.truth(dataset.histogram)[0]
    bound = chosen.mechanism().accuracy(transcript.problem, BETA)
    left, right = st.columns(2)
    with left:
        st.subheader("The conversation")
        picture = said(transcript, truth=truth)
        chosen.draw(picture, key="ask_said", title="the conversation")
        st.download_button(
            "Download the conversation (CSV)",
            data=lambda: frame_csv(picture.frame()),
            file_name=f"conversation-{chosen.entry.key}-preview-seed-{chosen.seed}.csv",
            mime="text/csv",
            on_click="ignore",
            help="Every question with guess, answer, cost and true answer. Seeded, on public data: not a private "
            "release.",
        )
    with right:
        st.subheader("How wrong it was")
        promise = bound.value if bound.guaranteed else math.inf
        chosen.draw(wrong(transcript, truth=truth, promise=promise), key="ask_wrong", title="how wrong it was")


def _believed(chosen: Setting, talk: Talk, dataset: Dataset) -> None:
    """Guesses to questions spread over the class, beside the truth."""
    learnt = b""
    if talk.asked:
        transcript = talk.conversation.transcript()
        learnt = transcript.asked[transcript.paid].tobytes() + transcript.rows[transcript.paid].tobytes()
    st.subheader("What is believed by now" if talk.asked else "What is believed before the first question")
    domain = chosen.source.domain
    indices, places = spread_questions(chosen.queries, SPREAD)
    guesses = remembered(f"believed|{chosen.key}|{learnt!r}", lambda: talk.conversation.believed(indices)[0])
    picture = belief(
        places=places,
        believed=guesses / dataset.n,
        truth=chosen.queries.answer(dataset.histogram[None], indices)[0] / dataset.n,
        far=chosen.mechanism().threshold(talk.conversation.problem) / dataset.n,
        title=chosen.source.column,
        unit=domain.unit if is_number(domain) else "",
        n=dataset.n,
    )
    chosen.draw(picture, key="ask_belief", title="what is believed")
