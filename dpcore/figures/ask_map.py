"""Whole conversations: the worst error of the answers given, beside the promise, and how often there was no answer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Bound, Dataset, Floats, Guarantee, Integers, Problem
from dpcore.figures.figure import Figure, framed, palette, percent, shortened
from dpcore.figures.worst import Words, worst_map
from dpcore.limits.chance import binomial_interval
from dpcore.online.analysts import analyst
from dpcore.online.conversation import Transcript
from dpcore.online.interactive import Interactive
from dpcore.online.slack import answer_slack, gate_slack
from dpcore.randomness import Preview

BLOCK = 10
"""Questions between two signs of progress."""
WORDS = Words(run="conversation", query="answered question", over="the answered questions")


@dataclass(frozen=True, kw_only=True, eq=False)
class Conversations:
    """What T whole conversations of k questions came to.

    Attributes:
        worst: largest error of the answers given in each, a fraction of n, (T,); the first question is always answered.
        refused: how many of the conversations refused each question, (k,).
        broken: how many refused at least one.
    """

    worst: Floats
    refused: Integers
    broken: int


def whole_conversations(
    mechanism: Interactive, dataset: Dataset, problem: Problem, *, seed: int, trials: int
) -> Generator[float, None, Conversations]:
    """``Interactive.run`` with signs of progress: yields the share of the questions that were asked."""
    conversation = mechanism.open(mechanism.prepare(dataset, problem), Preview(seed), trials)
    asks = analyst(mechanism.analyst, problem.queries, rows=problem.n, questions=mechanism.questions, trials=trials)
    for turn in range(mechanism.questions):
        if turn % BLOCK == 0:
            yield turn / mechanism.questions
        asks.hear(conversation.ask(asks.question()))
    return summed_up(conversation.close(), dataset)


def summed_up(transcript: Transcript, dataset: Dataset) -> Conversations:
    """The worst error of the answers given, and the refusals; needs the data, so only for public ones."""
    return Conversations(
        worst=np.nanmax(np.abs(transcript.errors(dataset.histogram)), axis=1),
        refused=transcript.declined.sum(axis=0),
        broken=int(transcript.declined.any(axis=1).sum()),
    )


def never_refuses(mechanism: Interactive, problem: Problem, *, beta: float) -> bool:
    """Whether the promise rules refusals out, in the same conversations in which it holds for answers."""
    budget = mechanism.budget()
    slack = gate_slack(budget, questions=mechanism.questions, beta=beta / 2)
    wrong = mechanism.threshold(problem) - slack - 0.5  # as in Interactive.accuracy
    paid = mechanism.paid_most(problem, wrong=wrong, noise=answer_slack(budget, beta=beta / 2))
    return math.isfinite(paid) and mechanism.updates > paid


def conversation_map(
    *, found: Conversations, n: int, guarantee: Guarantee, promised: Bound, lower: Bound | None, badge: str, dark: bool
) -> Figure:
    """The possible / impossible map of whole conversations.

    The wall stands for whoever must answer every question: that is told where the map says it of every mechanism.

    Args:
        found: the conversations.
        n: rows.
        guarantee: of a whole conversation.
        promised: the worst error of answers given.
        lower: the wall for so many questions, each after the last answer.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    figure = worst_map(
        worst=found.worst, n=n, guarantee=guarantee, promised=promised, lower=lower, badge=badge, dark=dark, words=WORDS
    )
    sentence = figure.sentence.replace("no mechanism can promise", "whoever must answer every question cannot promise")
    return dataclasses.replace(figure, sentence=sentence)


def refusals(*, found: Conversations, badge: str, dark: bool) -> Figure:
    """The chance of a refusal, question by question, apart from the errors of answers."""
    colours, trials = palette(dark=dark), len(found.worst)
    shares = found.refused / trials
    turns = np.arange(1, len(shares) + 1)
    # Only where the share changes, and at both ends: a conversation may be long.
    kept = np.unique(np.concatenate([[0], np.flatnonzero(np.diff(shares)) + 1, [len(shares) - 1]]))
    body: dict[str, Any] = {
        "data": {"name": "refused"},
        "mark": {
            "type": "area", "interpolate": "step-after", "color": colours.impossible, "opacity": 0.35, "line": {
                "color": colours.impossible, "strokeWidth": 2,
            },
        },
        "encoding": {
            "x": {
                "field": "turn", "type": "quantitative", "title": "question number",
                "axis": {"tickMinStep": 1, "grid": False}, "scale": {"nice": False, "zero": False},
            },
            "y": {
                "field": "share", "type": "quantitative", "title": "refuse it (⊥)",
                "scale": {"domain": [0, 1]}, "axis": {"format": "~p", "tickCount": 5},
            },
            "tooltip": [{"field": "turn", "title": "question"}, {"field": "share", "title": "⊥", "format": ".2~p"}],
        },
    }  # fmt: skip
    records = [
        {"turn": int(turn), "share": share} for turn, share in zip(turns[kept], shortened(shares[kept]), strict=True)
    ]
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=220, datasets={"refused": records}),
        sentence=told(found),
        table={"from question": turns[kept].tolist(), "conversations that refuse it": found.refused[kept].tolist()},
        title="The chance of a refusal over the conversation",
    )


def told(found: Conversations) -> str:
    """How many conversations refused something, how sure that is, and when it began."""
    trials = len(found.worst)
    low, high = (float(edge) for edge in binomial_interval(found.broken, trials))
    if not found.broken:
        return (
            f"⊥ None of {trials:,} conversations refused a question: the chance of that is below {percent(high)}, with "
            "95% confidence."
        )
    first = int(np.flatnonzero(found.refused)[0]) + 1
    return (
        f"⊥ {found.broken:,} of {trials:,} conversations ran out of updates and refused every later question (a chance "
        f"of {percent(low)} to {percent(high)} with 95% confidence), the first of them from question {first:,} on."
    )
