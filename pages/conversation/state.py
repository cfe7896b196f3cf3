"""One session's conversation: it lives until a parameter changes, and an analyst may go on with it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpcore.core import Dataset
from dpcore.mechanisms.online.analysts import Analyst, analyst
from dpcore.mechanisms.online.conversation import Answer, Conversation
from dpcore.mechanisms.online.whole import begun
from pages.conversation.controls import ConversationRequest
from pages.shell.state import SessionKey

SEARCHES = 10_000
"""Quantiles a bisecting analyst has in store."""
BLOCK = 10
"""Questions between two signs of progress."""


@dataclass
class Talk:
    """A conversation under one setting."""

    setting: ConversationRequest
    conversation: Conversation
    asked: int = 0
    last: tuple[int, Answer] | None = None
    asks: tuple[str, Analyst] | None = None
    note: str = ""

    def ask(self, index: int) -> None:
        """One question by the reader."""
        self.last = index, self.conversation.ask(index)
        self.asked += 1

    def let_ask(self, questions: int) -> None:
        """So many questions by the analyst, with progress; moving any control stops it between questions."""
        setting = self.setting
        if self.asks is None or self.asks[0] != setting.analyst:
            made = analyst(
                setting.analyst, setting.queries, rows=self.conversation.problem.n, questions=SEARCHES, trials=1
            )
            self.asks = setting.analyst, made
        asks, slot = self.asks[1], st.empty()
        for turn in range(questions):
            if turn % BLOCK == 0:
                slot.progress(turn / questions, text="The analyst is asking. Move any control to stop.")
            index = asks.question()
            answer = self.conversation.ask(index)
            asks.hear(answer)
            self.last, self.asked = (int(index[0]), answer), self.asked + 1
        slot.empty()


TALK = SessionKey[Talk | None]("talk", None)
"""The conversation of this session."""


def begin(setting: ConversationRequest, dataset: Dataset, *, note: str = "") -> Talk:
    """A new conversation: its epsilon is charged here, once."""
    conversation = begun(setting.mechanism(), dataset, setting.problem(dataset.n), seed=setting.seed)
    talk = Talk(setting=setting, conversation=conversation, note=note)
    TALK.value = talk
    return talk


def talk_of(setting: ConversationRequest, dataset: Dataset) -> Talk:
    """The session's conversation if it is about this setting, else a new one that says so."""
    talk = TALK.value
    if talk is None:
        return begin(setting, dataset)
    if talk.setting.key != setting.key:
        ended = f" The last one, of {talk.asked:,} questions, is gone." if talk.asked else ""
        return begin(setting, dataset, note=f"The settings changed, so a new conversation began.{ended}")
    talk.setting = setting  # another analyst may go on with it
    return talk
