"""Preview conversations, opened or run to their end, and their errors. Not private: compared with the data."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Dataset, Floats, Integers, Problem
from dpcore.mechanisms.online.analysts import analyst
from dpcore.mechanisms.online.conversation import Conversation, Transcript
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.randomness import Preview

BLOCK = 10
"""Questions between two signs of progress."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Conversations:
    """Errors and refusals of T conversations of k queries.

    Attributes:
        worst: largest error of the answers given in each, a fraction of n, (T,); the first question is always answered.
        refused: how many of the conversations refused each question, (k,).
        broken: how many refused at least one.
    """

    worst: Floats
    refused: Integers
    broken: int


def open_conversation(
    mechanism: Interactive, dataset: Dataset, problem: Problem, *, seed: int, trials: int = 1
) -> Conversation:
    """Return T conversations that await their first question."""
    return mechanism.open(mechanism.prepare(dataset, problem), Preview(seed), trials)


def preview_conversation(mechanism: Interactive, dataset: Dataset, problem: Problem, *, seed: int) -> Transcript:
    """Return one conversation with the mechanism's analyst."""
    return mechanism.run(mechanism.prepare(dataset, problem), Preview(seed))


def preview_conversations(
    mechanism: Interactive, dataset: Dataset, problem: Problem, *, seed: int, trials: int
) -> Generator[float, None, Conversations]:
    """Run the mechanism as ``Interactive.run`` does; yields the share of the queries that were asked."""
    conversation = open_conversation(mechanism, dataset, problem, seed=seed, trials=trials)
    questioner = analyst(
        mechanism.analyst, problem.queries, rows=problem.n, questions=mechanism.questions, trials=trials
    )
    for turn in range(mechanism.questions):
        if turn % BLOCK == 0:
            yield turn / mechanism.questions
        questioner.hear(conversation.ask(questioner.question()))
    return summarise_transcript(conversation.close(), dataset)


def summarise_transcript(transcript: Transcript, dataset: Dataset) -> Conversations:
    """Return the worst error of the answers given, and the refusals."""
    return Conversations(
        worst=np.nanmax(np.abs(transcript.errors(dataset.histogram)), axis=1),
        refused=transcript.declined.sum(axis=0),
        broken=int(transcript.declined.any(axis=1).sum()),
    )
