"""Subsample and aggregate on the page: agreement and the chance of an answer, votes, outcomes, one person changed."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats, Problem
from dpcore.figures.figure import Figure
from dpcore.figures.outcomes import in_100, nearly, nearly_percent, outcomes
from dpcore.figures.robust import Mark, chance_curve
from dpcore.figures.votes import votes
from dpcore.mechanisms.subsample_aggregate import SubsampleAggregate, VotesState
from dpcore.randomness import Preview
from dpcore.subsampling import Plan, answer_chance
from dpcore.votes import Steps
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.robust_accounts import accounts, planned_by_paper
from pages.ui.robust_controls import Asked
from pages.ui.session import with_progress

TRIALS = 1000
AGREEMENTS = np.linspace(0.5, 1.0, 81)
ALIKE = 1e-3
"""Chances this close are one height on the screen."""


MOST_VOTES = 1 << 22
"""Numbers of votes kept at once: with very many answers, fewer runs are previewed."""


@dataclass(frozen=True, kw_only=True)
class Voters:
    """What subsamples of one data set answer: free of privacy parameters.

    Attributes:
        state: the prepared data; it remembers the law.
        law: chance of each answer on one subsample, (answers,).
        truth: the whole data's answer.
        after: chance of that answer with one person changed against it.
    """

    state: VotesState
    law: Floats
    truth: int
    after: float


def runs(answers: int) -> int:
    """How many runs are previewed."""
    return max(20, min(TRIALS, MOST_VOTES // answers))


def subsamples(asked: Asked, mechanism: SubsampleAggregate, dataset: Dataset, problem: Problem) -> int:
    """The page below the controls; returns how many runs it previewed."""
    plan, dark, epsilon = mechanism.plan(problem), is_dark(), mechanism.epsilon
    # The law depends on the data and on the question, not on the privacy parameters.
    free = ("epsilon", "delta", "subsamples", "accounting")
    shape = {name: value for name, value in asked.values.items() if name not in free}
    found = with_progress(
        f"voters|{asked.source.key}|{asked.entry.key}|{shape!r}",
        lambda: voters(mechanism, dataset, problem),
        label="Working out what subsamples answer.",
    )
    names, truth = found.state.question.names, found.truth
    agreement = float(found.law[truth])
    chance = answer_chance(plan, epsilon=epsilon, agreement=agreement)
    release = mechanism.run(found.state, Preview(asked.seed), runs(len(names)))
    refused = float(release.refused.mean())
    wrong = float((~release.refused & (release.values != found.state.question.values[truth])).mean())
    refusing = in_100(refused)
    st.header(f"{refusing[0].upper()}{refusing[1:]} runs refuse")
    st.markdown(
        f"The whole data answer **{names[truth]}**, and so do {nearly_percent(agreement)} of subsamples "
        f"of {mechanism.rows:,} rows. :gray-badge[true] :blue-badge[simulated]"
    )
    left, right = st.columns(2)
    with left:
        st.subheader("The chance of an answer")
        figure = _agreement_curve(asked, mechanism, plan, problem, agreement=agreement, after=found.after, dark=dark)
        draw(figure, key="robust_chance_chart")
        numbers(figure, title="chance of an answer", key="robust_chance_numbers")
    with right:
        st.subheader("What came out")
        drawn = outcomes(refused=refused, wrong=wrong, badge=asked.badge(), dark=dark)
        draw(drawn, key="robust_outcomes_chart")
        numbers(drawn, title="outcomes", key="robust_outcomes_numbers")
    left, right = st.columns(2)
    with left:
        st.subheader("Where an answer would have been wrong")
        figure = votes(
            names=names, law=found.law, truth=truth, needed=plan.threshold / plan.subsamples,
            badge=asked.exact_badge(), dark=dark,
        )  # fmt: skip
        draw(figure, key="robust_votes_chart")
        numbers(figure, title="answers of the subsamples", key="robust_votes_numbers")
    with right:
        st.subheader("When one person changes")
        after = answer_chance(plan, epsilon=epsilon, agreement=found.after)
        st.markdown(
            "| data | agreement | chance of that answer |\n|---|---|---|\n"
            f"| yours | {nearly_percent(agreement, digits=5)} | {_small(chance)} |\n"
            f"| one person changed, against it | {nearly_percent(found.after, digits=5)} | {_small(after)} |"
        )
        st.markdown(
            f"Privacy: {mechanism.guarantee(problem).sentence()}, for each single answer. Few subsamples hold any one "
            f"person; noise of scale {plan.cap / epsilon:,.4g} votes hides them. :orange-badge[theory]"
        )
    accounts(mechanism, plan, n=problem.n)
    return release.trials


def _small(chance: float) -> str:
    """A chance with four digits; answers without half of the votes are not counted in it."""
    return nearly(chance, digits=4) if chance else "≈ 0"


def voters(mechanism: SubsampleAggregate, dataset: Dataset, problem: Problem) -> Generator[float, None, Voters]:
    """The exact law of a subsample's answer here and with one person changed; yields the share done."""
    yield 0.0
    state, rows = mechanism.prepare(dataset, problem), mechanism.rows
    truth = int(state.vote.answer(state.counts[None, :])[0])
    law = yield from _part(state.vote.steps(state.counts, rows=rows), first=0, parts=2)
    near = state.vote.against(state.counts, answer=truth, law=law)
    after = float(law[truth])
    for place, changed in enumerate(near):
        # Not kept: it is asked for once.
        steps = state.question.vote.steps(changed, rows=rows)
        found = yield from _part(steps, first=len(near) + place, parts=2 * len(near))
        after = min(after, float(found[truth]))
    return Voters(state=state, law=law, truth=truth, after=after)


def _part(work: Steps, *, first: int, parts: int) -> Steps:
    """Work that is one of so many parts of the whole."""
    while True:
        try:
            share = next(work)
        except StopIteration as done:
            result: Floats = done.value
            return result
        yield (first + share) / parts


def _chances(plan: Plan, *, epsilon: float) -> Floats:
    """Chance of an answer at each agreement. It only grows, so what lies between two alike is not worked out again."""
    chances = np.full(len(AGREEMENTS), np.nan)

    def work_out(place: int) -> None:
        chances[place] = answer_chance(plan, epsilon=epsilon, agreement=float(AGREEMENTS[place]))

    stretches = [(0, len(AGREEMENTS) - 1)]
    work_out(0)
    work_out(len(AGREEMENTS) - 1)
    while stretches:
        low, high = stretches.pop()
        if chances[high] - chances[low] < ALIKE:
            chances[low : high + 1] = np.linspace(chances[low], chances[high], high - low + 1)
        elif high - low > 1:
            middle = (low + high) // 2
            work_out(middle)
            stretches += [(low, middle), (middle, high)]
    return chances


def _agreement_curve(
    asked: Asked,
    mechanism: SubsampleAggregate,
    plan: Plan,
    problem: Problem,
    *,
    agreement: float,
    after: float,
    dark: bool,
) -> Figure:
    """Chance of an answer over agreement, for this plan and the paper's."""
    epsilon = mechanism.epsilon

    names = {mechanism.accounting: _chances(plan, epsilon=epsilon)}
    paper = planned_by_paper(mechanism, n=problem.n)
    if paper is not None and mechanism.accounting != "paper":
        names["paper's parameters"] = _chances(paper, epsilon=epsilon)
    marks = [
        Mark(name=name, x=max(0.5, x), chance=answer_chance(plan, epsilon=epsilon, agreement=x))
        for name, x in (("your data", agreement), ("one person changed, against it", after))
    ]
    return chance_curve(
        x=AGREEMENTS,
        chances=names,
        marks=marks,
        threshold=None,
        title="agreement of the subsamples",
        sentence=f"Where {nearly_percent(agreement)} of subsamples agree, the answer is given with chance "
        f"{nearly(marks[0].chance)}; below the curve the runs answer, above it they refuse. No wall is drawn: what "
        "nobody can do depends on how many rows must change before the answer does, and agreement does not tell that.",
        badge=asked.exact_badge(),
        dark=dark,
    )
