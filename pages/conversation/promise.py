"""A conversation about private rows: what either mechanism promises, before a word is said."""

from __future__ import annotations

import dataclasses
import functools

import streamlit as st

from dpcore.core import Entry, Mechanism
from dpcore.mechanisms import serving
from pages.conversation.controls import ConversationRequest
from pages.conversation.theorem import BETA
from pages.shell.private.promises import Offer, ask_rows, headline, promises


def known_before(chosen: ConversationRequest) -> None:
    """Everything that needs only public facts; a real conversation would spend the rows' budget."""
    n = ask_rows(chosen.source, chosen.neighbours)
    entries = {entry.key: entry for entry in serving(chosen.queries, releases="conversation")}

    def make(entry: Entry, epsilon: float) -> Mechanism:
        return dataclasses.replace(chosen.mechanism(entry), epsilon=epsilon)

    offer = Offer(
        about=f"{chosen.source.reading!r}|{chosen.asks}|{chosen.without_analyst}",
        problem=chosen.problem(n),
        makers={key: functools.partial(make, entry) for key, entry in entries.items()},
        titles={key: entry.title for key, entry in entries.items()},
        chosen=chosen.entry.key,
        epsilon=float(chosen.values["epsilon"]),
        beta=BETA,
        of="answer",
        person_rows=chosen.source.person_rows,
        covers="for the whole conversation",
        references=chosen.entry.references,
        target=float(chosen.values["alpha"]),
        questions=int(chosen.values["questions"]),
        nobody=("nobody who must answer all", "Least, if all are answered"),
    )
    st.header(headline(offer, offer.epsilon))
    promises(offer, key="promises")
    st.caption(
        "A conversation about private rows spends their budget. One whose questions are fixed in advance is released "
        "on Release; one whose questions depend on answers is refused there."
    )
