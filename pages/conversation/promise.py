"""A conversation about private rows: the guaranteed error of each mechanism, before any question."""

from __future__ import annotations

import dataclasses
import functools

import streamlit as st

from dpcore.core import Entry, Mechanism
from dpcore.mechanisms import serving
from pages.conversation.controls import ConversationRequest
from pages.conversation.theorem import BETA
from pages.shell.private.promises import Offer, ask_rows, headline, promises


def draw_promise(request: ConversationRequest) -> None:
    """Draw what follows from public facts alone; a conversation would spend the rows' budget."""
    n = ask_rows(request.source, request.neighbours)
    entries = {entry.key: entry for entry in serving(request.queries, releases="conversation")}

    def make(entry: Entry, epsilon: float) -> Mechanism:
        return dataclasses.replace(request.mechanism(entry), epsilon=epsilon)

    offer = Offer(
        about=f"{request.source.reading!r}|{request.query_class}|{request.without_analyst}",
        problem=request.problem(n),
        makers={key: functools.partial(make, entry) for key, entry in entries.items()},
        titles={key: entry.title for key, entry in entries.items()},
        chosen=request.entry.key,
        epsilon=float(request.values["epsilon"]),
        beta=BETA,
        of="answer",
        person_rows=request.source.person_rows,
        covers="for the whole conversation",
        references=request.entry.references,
        target=float(request.values["alpha"]),
        questions=int(request.values["questions"]),
        nobody=("nobody who must answer all", "Least, if all are answered"),
    )
    st.header(headline(offer, offer.epsilon))
    promises(offer, key="promises")
    st.caption(
        "A conversation about private rows spends their budget. One whose questions are fixed in advance is released "
        "on Release; one whose questions depend on answers is refused there."
    )
