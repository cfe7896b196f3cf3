"""Pictures of a conversation: answers and errors over time, the belief, and the worst errors of many."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from dpcore.core import Booleans, Bound, Floats, Guarantee
from dpcore.limits.chance import binomial_interval
from dpcore.mechanisms.online.conversation import Transcript
from dpcore.mechanisms.online.previews import Conversations
from pages.charts.picture import Axis, Band, Curve, Dots, Mark, Picture, Region, Rule
from pages.charts.words import percent, percent_down, percent_up, printable_labels, rows, short_numbers
from pages.charts.worst import TrialNouns, worst_map

FREE, PAID, REFUSED = "free", "paid", "refused"
STYLES = {FREE: ("released", "circle"), PAID: ("other-1", "diamond"), REFUSED: ("quiet", "x")}
"""Role and shape of each kind of answer."""
FEW = 8
"""A conversation of fewer questions has a tick for each."""
CALLED = TrialNouns(run="conversation", query="answered question", over="all answers")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class _Turns:
    """The first trial of a conversation, question by question, (k,) each; shares of n, NaN where refused.

    Attributes:
        number: the number of the question, from 1.
        is_kind: whether the answer was free, paid or refused.
        truth: the true answer.
        answer: the answer given.
        table: all of these, with the question in words.
    """

    number: Floats
    is_kind: dict[str, Booleans]
    truth: Floats
    answer: Floats
    table: dict[str, list[Any]]

    def dots(self, y: Floats, *, n: int) -> list[Mark]:
        """Return a mark for each kind of answer at heights (k,); refusals, which have none, stand at 0."""
        names, questions, guesses = (self.table[name] for name in ("kind", "asked", "guess"))
        marks: list[Mark] = []
        for kind, (role, shape) in STYLES.items():
            places = np.flatnonzero(self.is_kind[kind])
            hover = [
                f"query {place + 1:,}, {questions[place]}: {names[place]}; guess {percent(guesses[place])}"
                + ("" if kind == REFUSED else f", answer {percent(self.answer[place])} ({rows(self.answer[place], n)})")
                + f"; true answer {percent(self.truth[place])} ({rows(self.truth[place], n)})"
                for place in places
            ]
            if len(places):
                heights = np.nan_to_num(y[places])
                marks.append(Dots(role=role, name=kind, x=self.number[places], y=heights, shape=shape, hover=hover))
        return marks


def _turns(transcript: Transcript, truth: Floats) -> _Turns:
    """Return the first trial of a conversation, as its pictures need it."""
    n, declined = transcript.problem.n, transcript.declined[0]
    is_kind = {FREE: transcript.free[0], PAID: transcript.paid[0], REFUSED: declined}
    answer = np.where(declined, np.nan, transcript.rows[0] / n)
    number = np.arange(1.0, len(truth) + 1)
    table = {
        "question": number.astype(int).tolist(),
        "asked": [transcript.problem.queries.describe(int(index)) for index in transcript.query_indices[0]],
        "kind": np.select(list(is_kind.values()), list(is_kind), default="").tolist(),
        "guess": short_numbers(transcript.guesses[0] / n),
        "answer": short_numbers(answer),
        "true answer": short_numbers(truth),
        "error": short_numbers(answer - truth),
    }
    return _Turns(number=number, is_kind=is_kind, truth=truth, answer=answer, table=table)


def _question_axis(count: int) -> Axis:
    """Return the axis of all questions of a conversation, answered or not."""
    numbered = tuple(float(turn) for turn in range(1, count + 1)) if count < FEW else ()
    return Axis(title="question number", low=0, high=count + 1, ticks=numbered)


def answers_over_time(transcript: Transcript, *, truth: Floats) -> Picture:
    """Return the picture of answers over the conversation, with the true ones.

    Args:
        transcript: one conversation (its first trial is drawn).
        truth: true answers as fractions of n, (k,); public data only.
    """
    n, turns = transcript.problem.n, _turns(transcript, truth)
    off = np.stack([truth, turns.answer, np.full(len(truth), np.nan)], axis=1)
    free, paid, declined = (int(turns.is_kind[kind].sum()) for kind in STYLES)
    counted = f"{len(truth):,} {'queries' if len(truth) > 1 else 'query'}: {free:,} free, {paid:,} paid"
    counted += f", {declined:,} refused" if declined else ""
    answered = turns.answer[~turns.is_kind[REFUSED]]
    last = f"The last answer is {percent(float(answered[-1]))}" if len(answered) else "No query was answered"
    return Picture(
        title="Answers over the conversation",
        x=_question_axis(len(truth)),
        y=Axis(title="share of all rows", form=".3~p", rows=n),
        marks=[
            Curve(role="quiet", x=np.repeat(turns.number, 3), y=off.reshape(-1), width=1),
            Dots(role="true", name="true answer", x=turns.number, y=truth, shape="line-ew", size=9),
            *turns.dots(turns.answer, n=n),
        ],
        sentence=f"{counted}. {last}. Dashes: true answers; circles: free answers; diamonds: paid answers; crosses: "
        "refused queries.",
        table=turns.table,
    )


def errors_over_time(transcript: Transcript, *, truth: Floats, promise: float) -> Picture:
    """Return the picture of errors within the guaranteed band; refusals have no error and are not drawn.

    Args:
        transcript: one conversation (its first trial is drawn).
        truth: true answers as fractions of n, (k,); public data only.
        promise: the guaranteed worst error, a fraction of n; infinity where there is no guarantee.
    """
    n, turns = transcript.problem.n, _turns(transcript, truth)
    errors = turns.answer - truth
    worst = float(np.nanmax(np.abs(errors), initial=0.0))
    # A bound of more than all rows is no guarantee, and an axis that holds it hides the errors.
    guaranteed = promise < 1
    reach, role = (promise, "theory") if guaranteed else (max(1.0, worst), "vacuous")
    name = f"guaranteed: at most {percent_up(promise)}" if guaranteed else "no guarantee"
    off = f"The largest error so far is {percent(worst)} (≈ {rows(worst, n)})"
    return Picture(
        title="Errors over the conversation",
        x=_question_axis(len(truth)),
        y=Axis(title="error, share of all rows", form=".3~p", rows=n),
        marks=[
            Region(role=role, y=(-reach, reach)),
            Rule(role=role, y=reach, dash="dash", label=name, side="left", below=True),
            Rule(role=role, y=-reach, dash="dash"),
            *(mark for mark in turns.dots(errors, n=n) if mark.name != REFUSED),
        ],
        sentence=f"{off}. The guaranteed error is {percent_up(promise)}."
        if guaranteed
        else f"{off}. No error is guaranteed.",
        table=turns.table,
    )


def belief(
    *, places: Floats | list[str], believed: Floats, truth: Floats, far: float, title: str, unit: str, n: int
) -> Picture:
    """Return the picture of believed and true answers to questions spread over the class.

    Args:
        places: the place of each question, (Q,): numbers on a line, or labels.
        believed: the guesses, fractions of n, (Q,).
        truth: true answers, (Q,); public data only.
        far: the error from which on a guess is not used, a fraction of n.
        title: the title of the axis of places.
        unit: the unit of the places, empty where they have none.
        n: the number of rows.
    """
    shares = Axis(title="share of all rows", form=".3~p", rows=n)
    named = f"{title} ({unit})" if unit else title
    series = (("true", "true", truth), ("released", "believed", believed))
    marks: list[Mark]
    if isinstance(places, list):  # labels read from left to right, one below the other
        x, y = shares, Axis(title=named, labels=tuple(printable_labels(places)))
        height, shapes = min(760, 120 + 24 * len(places)), ("square", "circle")
        marks = [
            Dots(role=role, name=name, x=values, y=np.arange(len(places)), shape=shape, size=9)
            for (role, name, values), shape in zip(series, shapes, strict=True)
        ]
    else:
        x, y, height = Axis(title=named), shares, 200
        marks = [
            Curve(role=role, name=name, x=places, y=values, step=True, dash=dash)
            for (role, name, values), dash in zip(series, ("solid", "dash"), strict=True)
        ]
    gap = np.abs(believed - truth)
    near = int((gap < far).sum())
    return Picture(
        title="Belief and true data",
        x=x,
        y=y,
        marks=marks,
        sentence=f"If these {len(gap):,} queries were asked now, {near:,} guesses would have an error below "
        f"{percent(far)} of all rows. They would be free, unless the noise of the check is large. The "
        f"largest error would be {percent(float(gap.max()))}.",
        table={title: list(places), "believed": short_numbers(believed), "true": short_numbers(truth)},
        height=height,
    )


def conversation_map(
    conversations: Conversations, *, n: int, guarantee: Guarantee, promised: Bound, lower: Bound | None
) -> Picture:
    """Return the possible / impossible map of whole conversations.

    The wall is for mechanisms that answer every question, so the sentence of the map is about those alone.

    Args:
        conversations: the simulated conversations.
        n: the number of rows.
        guarantee: the privacy guarantee of a whole conversation.
        promised: the guaranteed worst error of answers given.
        lower: the lower bound for so many questions, each after the last answer.
    """
    picture = worst_map(
        worst=conversations.worst, n=n, guarantee=guarantee, promised=promised, lower=lower, nouns=CALLED
    )
    sentence = picture.sentence.replace(
        "No mechanism can guarantee", "No mechanism that must answer every query can guarantee"
    )
    return dataclasses.replace(picture, sentence=sentence)


def refusals(conversations: Conversations) -> Picture:
    """Return the picture of the share of conversations that refuse, question by question."""
    shares = conversations.refused / len(conversations.worst)
    # The ends and the changes of the share are enough: a conversation may be long.
    changes = np.unique(np.concatenate([[0], np.flatnonzero(np.diff(shares)) + 1, [len(shares) - 1]]))
    turns, level = changes + 1, shares[changes]
    return Picture(
        title="Probability of a refusal during the conversation",
        x=_question_axis(len(shares)),
        y=Axis(title="no answer (⊥)", low=0, high=1, form=".3~p"),
        marks=[
            Band(role="quiet", x=turns, low=np.zeros(len(turns)), high=level, step=True, opacity=0.35),
            Curve(role="quiet", name="conversations that refuse this query", x=turns, y=level, step=True, legend=False),
        ],
        sentence=refusal_sentence(conversations),
        table={
            "from question": turns.tolist(),
            "conversations that refuse this query": conversations.refused[changes].tolist(),
        },
        height=220,
    )


def refusal_sentence(conversations: Conversations) -> str:
    """Return how many conversations refused a question, the confidence interval, and the first such question."""
    trials = len(conversations.worst)
    low, high = (float(edge) for edge in binomial_interval(conversations.broken, trials))
    if not conversations.broken:
        return (
            f"⊥ None of {trials:,} conversations refused a query. With 95% confidence, the probability of "
            f"a refusal is below {percent_up(high)}."
        )
    first = int(np.flatnonzero(conversations.refused)[0]) + 1
    return (
        f"⊥ {conversations.broken:,} of {trials:,} conversations used all their updates and refused every "
        f"later query, the first from query {first:,} on. With 95% confidence, the probability of that is "
        f"{percent_down(low)} to {percent_up(high)}."
    )
