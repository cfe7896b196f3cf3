"""The promises of mechanisms that are asked one question at a time, whoever asks."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpcore import Dataset, Labels, Neighbours, Number, Preview, Problem
from dpcore.core import Booleans, Bound, Entry, Floats, Integers, Queries
from dpcore.mechanisms.online.analysts import ANALYSTS, Analyst, Sweeping, analyst
from dpcore.mechanisms.online.conversation import Answer, Conversation, Transcript
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.queries.linear import generated
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from tests.kit.promises.cases import BETAS, NOMINAL, Case, Grid, made


class AskingAgain:
    """Asks again what was last paid for, in every trial by its own answers, until the answer is free; else sweeps."""

    def __init__(self, queries: Queries, *, questions: int, trials: int) -> None:
        self._sweep = Sweeping(queries, questions=questions, trials=trials)
        self._asked = np.zeros(trials, dtype=np.int64)
        self._again: Booleans = np.zeros(trials, dtype=np.bool_)

    def question(self) -> Integers:
        """See Analyst."""
        self._asked = np.where(self._again, self._asked, self._sweep.question())
        return self._asked

    def hear(self, answer: Answer) -> None:
        """See Analyst."""
        self._again = answer.paid
        self._sweep.hear(answer)


class Knowing:
    """Knows the data, and always asks the question whose guess is furthest off: the promise is for every analyst."""

    def __init__(self, conversation: Conversation, truth: Integers) -> None:
        self._conversation, self._truth = conversation, truth

    def question(self) -> Integers:
        """See Analyst."""
        believed = self._conversation.believed(np.arange(len(self._truth)))
        asked: Integers = np.abs(believed - self._truth).argmax(axis=1)
        return asked

    def hear(self, answer: Answer) -> None:
        """See Analyst."""


TRIALS = 100
"""Conversations in each case: each asks many questions."""
WHO = (*ANALYSTS, "asking again", "knowing")


@dataclass(kw_only=True)
class Talk:
    """Conversations with one analyst, held once and looked at twice."""

    mechanism: Interactive
    dataset: Dataset
    problem: Problem
    who: str
    said: Transcript | None = None

    def held(self, sampler: Preview, trials: int) -> Transcript:
        """All of them."""
        if self.said is None:
            conversation = self.mechanism.open(self.mechanism.prepare(self.dataset, self.problem), sampler, trials)
            asks = self.analyst(conversation, trials)
            for _ in range(self.mechanism.questions):
                asks.hear(conversation.ask(asks.question()))
            self.said = conversation.close()
        return self.said

    def analyst(self, conversation: Conversation, trials: int) -> Analyst:
        """Who asks."""
        queries, questions = self.problem.queries, self.mechanism.questions
        if self.who == "knowing":
            truth = queries.answer(self.dataset.histogram[None], np.arange(queries.count))[0]
            return Knowing(conversation, np.rint(truth).astype(np.int64))
        if self.who == "asking again":
            return AskingAgain(queries, questions=questions, trials=trials)
        return analyst(self.who, queries, rows=self.problem.n, questions=questions, trials=trials)

    def worst_errors(self, sampler: Preview, trials: int) -> Floats:
        """Of every answer that was given; refusals are none."""
        errors = np.abs(self.held(sampler, trials).errors(self.dataset.histogram))
        found: Floats = np.where(np.isnan(errors), 0.0, errors).max(axis=1)
        return found

    def paid(self, sampler: Preview, trials: int) -> Floats:
        """Share of the updates that were used up."""
        found: Floats = self.held(sampler, trials).paid.sum(axis=1) / self.mechanism.updates
        return found

    def most_paid(self, beta: float) -> Bound:
        """What the note of the accuracy promises about paid answers, as a share of the updates."""
        bound = self.mechanism.accuracy(self.problem, beta)
        found = re.match(r"At this noise up to ([\d,]+) answers may need an update", bound.note)
        paid = float(found[1].replace(",", "")) if found else math.inf
        return dataclasses.replace(bound, value=paid / self.mechanism.updates)


def hiding(mechanism: Interactive, problem: Problem) -> Integers:
    """Rows in both halves: guesses are right inside each, and one is off by barely more than is promised of answers."""
    size, place = problem.domain.size, np.arange(problem.n)
    off = math.floor(mechanism.accuracy(problem, BETAS[-1]).value * problem.n) + 1
    below = max(0, problem.n // 2 - off)
    return np.where(place < below, place % (size // 2), size // 2 + place % (size - size // 2))


def piled(mechanism: Interactive, problem: Problem) -> Integers:
    """Nearly all rows in two cells: the first guesses are as wrong as can be."""
    size, place = problem.domain.size, np.arange(problem.n)
    return np.where(place % 10, np.where(place % 3, 0, size - 2), place % size)


def conversations(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Every class of questions and every analyst: errors, and how many answers were paid for.

    What is proved does not differ between the relations: where rows are added, only the one who knows the data asks.
    """
    classes: tuple[Queries, ...] = (
        generated("bumps", queries=6, domain=Labels(labels=tuple("abc")), seed=4),
        Cells(domain=Labels(labels=tuple("abc"))),
        Intervals(domain=Number(bits=2)),
        Thresholds(domain=Number(bits=3)),
    )
    # With many rows and updates something is promised about paid answers; with few, noise is most of the error.
    few, many = (1_000, 8, 8), (20_000, 16, 16)
    sizes = ((1_000, 12, 40), (20_000, 12, 40), few, many) if grid.full else (few, many)
    for queries, (n, updates, questions), epsilon, alpha, neighbours in product(
        grid.of(*classes), sizes, grid.epsilons, grid.alphas, Neighbours
    ):
        if alpha < 0.2 and not isinstance(queries, Thresholds):
            continue  # the median mechanism would list too many databases
        mechanism = entry.make(epsilon=epsilon, alpha=alpha, updates=updates, questions=questions)
        assert isinstance(mechanism, Interactive)
        problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
        who_asks = WHO if neighbours is Neighbours.REPLACE_ONE else WHO[-1:]
        for rows, who in product((hiding, piled), who_asks):
            # The one who knows looks at all guesses before each question: too long for many questions.
            if mechanism.accuracy(problem, BETAS[-1]).vacuous or (who == WHO[-1] and questions > few[-1]):
                continue
            talk = Talk(
                mechanism=mechanism,
                dataset=made(problem, rows(mechanism, problem), rows.__name__),
                problem=problem,
                who=who,
            )
            for of, errors, promise in (("", talk.worst_errors, None), ("paid", talk.paid, talk.most_paid)):
                yield Case(
                    mechanism=mechanism, problem=problem, data=f"{rows.__name__}, {who}", errors=errors, of=of,
                    promise=promise, meets=NOMINAL, trials=TRIALS,
                )  # fmt: skip
