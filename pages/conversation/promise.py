"""A conversation about private rows: the guaranteed error of each mechanism, before any question."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from dpcore.core import Entry, Mechanism
from dpcore.mechanisms import serving
from pages.conversation.controls import ConversationRequest
from pages.shell.private.offer import draw_offer, offer_of
from pages.shell.theorem import BETA


def draw_promise(request: ConversationRequest) -> None:
    """Draw what follows from public facts alone; a conversation would spend the rows' budget."""

    def make(entry: Entry, epsilon: float) -> Mechanism:
        return replace(request.mechanism(entry), epsilon=epsilon)

    others = {entry.key: partial(make, entry) for entry in serving(request.queries, releases="conversation")}
    about = f"{request.source.reading!r}|{request.query_class}"
    offer = offer_of(request, about=about, of="answer", covers="for the whole conversation", beta=BETA, others=others)
    wall_words = ("no mechanism that must answer every query", "Lower bound, if every query is answered")
    target, questions = float(request.values["alpha"]), int(request.values["questions"])
    draw_offer(replace(offer, target=target, questions=questions, wall=wall_words))
    st.caption(
        "A conversation about private rows spends their budget. If all queries are fixed in advance, you "
        "can release it on Release. If queries depend on earlier answers, Release refuses it."
    )
