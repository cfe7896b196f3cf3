"""A session's conversation: it ends when a parameter changes, and an automatic analyst may continue it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Dataset
from dpcore.mechanisms.online.analysts import Analyst, analyst
from dpcore.mechanisms.online.conversation import Answer, Conversation
from dpcore.mechanisms.online.previews import open_conversation
from pages.conversation.controls import ConversationRequest
from pages.shell.state import SessionKey

MAX_SEARCHES = 10_000
"""Quantiles that a bisecting analyst can ask for."""
BLOCK = 10
"""Questions between two updates of the progress bar."""


@dataclass
class ConversationState:
    """A conversation at one setting.

    Attributes:
        request: the settings.
        conversation: the mechanism and its answers.
        questions: the number of questions so far.
        last: the last question and its answer.
        analyst: the key of the automatic analyst, and the analyst, once one was used.
        note: a sentence about the beginning of this conversation.
    """

    request: ConversationRequest
    conversation: Conversation
    questions: int = 0
    last: tuple[int, Answer] | None = None
    analyst: tuple[str, Analyst] | None = None
    note: str = ""

    def ask(self, index: int) -> None:
        """Ask one question of the user."""
        self.last = index, self.conversation.ask(index)
        self.questions += 1

    def run_analyst(self, questions: int) -> None:
        """Ask so many questions of the analyst; a move of any control stops it between two questions."""
        request = self.request
        if self.analyst is None or self.analyst[0] != request.analyst:
            new = analyst(
                request.analyst, request.queries, rows=self.conversation.problem.n, questions=MAX_SEARCHES, trials=1
            )
            self.analyst = request.analyst, new
        asking, slot = self.analyst[1], st.empty()
        for turn in range(questions):
            if turn % BLOCK == 0:
                slot.progress(
                    turn / questions, text="The simulated analyst is asking queries. Move any control to stop."
                )
            index = asking.question()
            answer = self.conversation.ask(index)
            asking.hear(answer)
            self.last, self.questions = (int(index[0]), answer), self.questions + 1
        slot.empty()


@dataclass(kw_only=True, eq=False)
class ConversationResult:
    """The session's conversation, as the views draw it.

    Attributes:
        request: the settings.
        dataset: the rows.
        state: the conversation.
        refusal_place: the place below the theorem for refusals, which are drawn once many conversations are simulated.
    """

    request: ConversationRequest
    dataset: Dataset
    state: ConversationState
    refusal_place: DeltaGenerator | None = None


CURRENT = SessionKey[ConversationState | None]("talk", None)
"""The conversation of this session."""


def begin(request: ConversationRequest, dataset: Dataset, *, note: str = "") -> ConversationState:
    """Begin a conversation, for which ε is charged once, and return it."""
    conversation = open_conversation(request.mechanism(), dataset, request.problem(dataset.n), seed=request.seed)
    CURRENT.value = state = ConversationState(request=request, conversation=conversation, note=note)
    return state


def current_state(request: ConversationRequest, dataset: Dataset) -> ConversationState:
    """Return the session's conversation if it has these settings, otherwise a new one with a note."""
    state = CURRENT.value
    if state is None:
        return begin(request, dataset)
    if state.request.key != request.key:
        asked = "1 query" if state.questions == 1 else f"{state.questions:,} queries"
        ended = f" The last conversation, of {asked}, is deleted." if state.questions else ""
        return begin(request, dataset, note=f"The settings changed, so a new conversation began.{ended}")
    state.request = request  # the analyst may have changed
    return state
