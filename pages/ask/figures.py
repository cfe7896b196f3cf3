"""A conversation as pictures: what was answered and what is true, how wrong it was, what is believed, all of many."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from dpcore.core import Booleans, Bound, Floats, Guarantee
from dpcore.limits.chance import binomial_interval
from dpcore.mechanisms.online.conversation import Transcript
from dpcore.mechanisms.online.whole import Conversations
from pages.charts.picture import Axis, Band, Curve, Dots, Mark, Picture, Region, Rule
from pages.charts.words import percent, printable_labels, rows, short_numbers
from pages.charts.worst import TrialNouns, worst_map

FREE, PAID, REFUSED = "free", "paid", "refused"
LOOKS = {FREE: ("released", "circle"), PAID: ("other-1", "diamond"), REFUSED: ("quiet", "x")}
"""Role and shape of each kind of answer."""
FEW = 8
"""Questions that are numbered one by one: fewer than these."""
CALLED = TrialNouns(run="conversation", query="answered question", over="all answers")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class _Turns:
    """The first trial of a conversation, question by question, (k,) each; shares of n, NaN where refused.

    Attributes:
        number: of the question, from 1.
        kinds: which were free, paid and refused.
        truth: true answers.
        answer: what was answered.
        table: all of it, with the question in words.
    """

    number: Floats
    kinds: dict[str, Booleans]
    truth: Floats
    answer: Floats
    table: dict[str, list[Any]]

    def dots(self, y: Floats, *, n: int) -> list[Mark]:
        """A mark for each kind of answer there is at heights (k,); a refusal, which has none, at 0."""
        kinds, asked, guesses = (self.table[name] for name in ("kind", "asked", "guess"))
        marks: list[Mark] = []
        for kind, (role, shape) in LOOKS.items():
            places = np.flatnonzero(self.kinds[kind])
            said = [
                f"question {place + 1:,}, {asked[place]}: {kinds[place]}; guess {percent(guesses[place])}"
                + ("" if kind == REFUSED else f", answer {percent(self.answer[place])} ({rows(self.answer[place], n)})")
                + f"; true answer {percent(self.truth[place])} ({rows(self.truth[place], n)})"
                for place in places
            ]
            if len(places):
                heights = np.nan_to_num(y[places])
                marks.append(Dots(role=role, name=kind, x=self.number[places], y=heights, shape=shape, hover=said))
        return marks


def _turns(transcript: Transcript, truth: Floats) -> _Turns:
    """What the pictures of one conversation share."""
    n, declined = transcript.problem.n, transcript.declined[0]
    kinds = {FREE: transcript.free[0], PAID: transcript.paid[0], REFUSED: declined}
    answer = np.where(declined, np.nan, transcript.rows[0] / n)
    number = np.arange(1.0, len(truth) + 1)
    table = {
        "question": number.astype(int).tolist(),
        "asked": [transcript.problem.queries.describe(int(index)) for index in transcript.asked[0]],
        "kind": np.select(list(kinds.values()), list(kinds), default="").tolist(),
        "guess": short_numbers(transcript.guesses[0] / n),
        "answer": short_numbers(answer),
        "true answer": short_numbers(truth),
        "error": short_numbers(answer - truth),
    }
    return _Turns(number=number, kinds=kinds, truth=truth, answer=answer, table=table)


def _asked(count: int) -> Axis:
    """All the questions of a conversation, answered or not."""
    numbered = tuple(float(turn) for turn in range(1, count + 1)) if count < FEW else ()
    return Axis(title="question number", low=0, high=count + 1, ticks=numbered)


def said(transcript: Transcript, *, truth: Floats) -> Picture:
    """Answers over the conversation, with the true ones.

    Args:
        transcript: one conversation (its first trial is drawn).
        truth: true answers as fractions of n, (k,); public data only.
    """
    n, turns = transcript.problem.n, _turns(transcript, truth)
    off = np.stack([truth, turns.answer, np.full(len(truth), np.nan)], axis=1)
    free, paid, declined = (int(turns.kinds[kind].sum()) for kind in LOOKS)
    counted = f"{len(truth):,} question{'s' if len(truth) > 1 else ''}: {free:,} free, {paid:,} paid"
    counted += f", {declined:,} refused" if declined else ""
    answered = turns.answer[~turns.kinds[REFUSED]]
    last = f"The last answer is {percent(float(answered[-1]))}" if len(answered) else "Nothing was answered"
    return Picture(
        title="Answers over the conversation",
        x=_asked(len(truth)),
        y=Axis(title="share of all rows", form=".3~p", rows=n),
        marks=[
            Curve(role="quiet", x=np.repeat(turns.number, 3), y=off.reshape(-1), width=1),
            Dots(role="true", name="true answer", x=turns.number, y=truth, shape="line-ew", size=9),
            *turns.dots(turns.answer, n=n),
        ],
        sentence=f"{counted}. {last}. Dashes are true answers; circles are free, diamonds paid for, crosses refused.",
        table=turns.table,
    )


def wrong(transcript: Transcript, *, truth: Floats, promise: float) -> Picture:
    """Errors over the conversation within the promised band; refusals err by nothing and are not drawn.

    Args:
        transcript: one conversation (its first trial is drawn).
        truth: true answers as fractions of n, (k,); public data only.
        promise: the promised worst error, a fraction of n; infinity where nothing is promised.
    """
    n, turns = transcript.problem.n, _turns(transcript, truth)
    errors = turns.answer - truth
    worst = float(np.nanmax(np.abs(errors), initial=0.0))
    # A promise of more than all rows says nothing, and would press what happened flat.
    says = promise < 1
    reach, role = (promise, "theory") if says else (max(1.0, worst), "vacuous")
    name = f"promised: at most {percent(promise)}" if says else "no guarantee"
    off = f"The worst answer so far is off by {percent(worst)} (≈ {rows(worst, n)})"
    return Picture(
        title="Errors over the conversation",
        x=_asked(len(truth)),
        y=Axis(title="error, share of all rows", form=".3~p", rows=n),
        marks=[
            Region(role=role, y=(-reach, reach)),
            Rule(role=role, y=reach, dash="dash", label=name, side="left", below=True),
            Rule(role=role, y=-reach, dash="dash"),
            *(mark for mark in turns.dots(errors, n=n) if mark.name != REFUSED),
        ],
        sentence=f"{off}; promised is at most {percent(promise)}." if says else f"{off}; nothing is promised.",
        table=turns.table,
    )


def belief(
    *, places: Floats | list[str], believed: Floats, truth: Floats, far: float, title: str, unit: str, n: int
) -> Picture:
    """Believed and true answers to questions spread over the class.

    Args:
        places: where each question stands, (Q,): numbers on a line, or labels.
        believed: what would be guessed, fractions of n, (Q,).
        truth: true answers, (Q,); public data only.
        far: how far off a guess may be before it is paid for, a fraction of n.
        title: what the places are.
        unit: of the places, empty where they have none.
        n: rows.
    """
    shares = Axis(title="share of all rows", form=".3~p", rows=n)
    named = f"{title} ({unit})" if unit else title
    kinds = (("true", "true", truth), ("released", "believed", believed))
    marks: list[Mark]
    if isinstance(places, list):  # names read from left to right, one below the other
        x, y = shares, Axis(title=named, labels=tuple(printable_labels(places)))
        height, shapes = min(760, 120 + 24 * len(places)), ("square", "circle")
        marks = [
            Dots(role=role, name=name, x=values, y=np.arange(len(places)), shape=shape, size=9)
            for (role, name, values), shape in zip(kinds, shapes, strict=True)
        ]
    else:
        x, y, height = Axis(title=named), shares, 200
        marks = [
            Curve(role=role, name=name, x=places, y=values, step=True, dash=dash)
            for (role, name, values), dash in zip(kinds, ("solid", "dash"), strict=True)
        ]
    gap = np.abs(believed - truth)
    near = int((gap < far).sum())
    return Picture(
        title="What is believed, and what is true",
        x=x,
        y=y,
        marks=marks,
        sentence=f"If these {len(gap):,} questions were asked now, {near:,} guesses would be off by less than "
        f"{percent(far)} of all rows: near enough to be free, unless the noise of the check says otherwise. The worst "
        f"guess would be off by {percent(float(gap.max()))}.",
        table={title: list(places), "believed": short_numbers(believed), "true": short_numbers(truth)},
        height=height,
    )


def conversation_map(
    found: Conversations, *, n: int, guarantee: Guarantee, promised: Bound, lower: Bound | None
) -> Picture:
    """The possible / impossible map of whole conversations.

    The wall stands for whoever must answer every question: that is told where the map says it of every mechanism.

    Args:
        found: the conversations.
        n: rows.
        guarantee: of a whole conversation.
        promised: the worst error of answers given.
        lower: the wall for so many questions, each after the last answer.
    """
    picture = worst_map(worst=found.worst, n=n, guarantee=guarantee, promised=promised, lower=lower, nouns=CALLED)
    sentence = picture.sentence.replace("no mechanism can promise", "whoever must answer every question cannot promise")
    return dataclasses.replace(picture, sentence=sentence)


def refusals(found: Conversations) -> Picture:
    """The chance of a refusal, question by question, apart from the errors of answers."""
    shares = found.refused / len(found.worst)
    # Only where the share changes, and at both ends: a conversation may be long.
    kept = np.unique(np.concatenate([[0], np.flatnonzero(np.diff(shares)) + 1, [len(shares) - 1]]))
    turns, level = kept + 1, shares[kept]
    return Picture(
        title="The chance of a refusal over the conversation",
        x=_asked(len(shares)),
        y=Axis(title="refuse it (⊥)", low=0, high=1, form=".3~p"),
        marks=[
            Band(role="quiet", x=turns, low=np.zeros(len(turns)), high=level, step=True, opacity=0.35),
            Curve(role="quiet", name="conversations that refuse it", x=turns, y=level, step=True, legend=False),
        ],
        sentence=told(found),
        table={"from question": turns.tolist(), "conversations that refuse it": found.refused[kept].tolist()},
        height=220,
    )


def told(found: Conversations) -> str:
    """How many conversations refused something, how sure that is, and when it began."""
    trials = len(found.worst)
    low, high = (float(edge) for edge in binomial_interval(found.broken, trials))
    if not found.broken:
        return (
            f"⊥ None of {trials:,} conversations refused a question: the chance that a conversation refuses one is "
            f"below {percent(high)}, with 95% confidence."
        )
    first = int(np.flatnonzero(found.refused)[0]) + 1
    return (
        f"⊥ {found.broken:,} of {trials:,} conversations ran out of updates and refused every later question (a chance "
        f"of {percent(low)} to {percent(high)} with 95% confidence), the first of them from question {first:,} on."
    )
