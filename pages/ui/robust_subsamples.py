"""Subsample and aggregate on the page: agreement and the chance of an answer, votes, outcomes, one person changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats, Integers, Problem
from dpcore.figures.figure import Figure
from dpcore.figures.outcomes import in_100, outcomes
from dpcore.figures.robust import Mark, chance_curve
from dpcore.figures.votes import votes
from dpcore.mechanisms.subsample_aggregate import SubsampleAggregate
from dpcore.randomness import Preview
from dpcore.subsampling import Plan, answer_chance
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.robust_accounts import accounts, planned_by_paper
from pages.ui.robust_controls import Asked
from pages.ui.session import remembered

TRIALS = 1000
AGREEMENTS = np.linspace(0.5, 1.0, 81)
ALIKE = 1e-3
"""Chances this close are one height on the screen."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question's answers on one data set: rows behind each, its law on a subsample, the whole data's answer."""

    names: list[str]
    counts: Integers
    law: Floats
    truth: int
    after: float


def subsamples(asked: Asked, mechanism: SubsampleAggregate, dataset: Dataset, problem: Problem) -> None:
    """The page below the controls."""
    plan, dark, epsilon = mechanism.plan(problem), is_dark(), mechanism.epsilon
    # The law depends on the data and on the question, not on the privacy parameters.
    shape = {name: value for name, value in asked.values.items() if name not in ("epsilon", "delta", "subsamples")}
    question = remembered(
        f"question|{asked.source.key}|{asked.entry.key}|{shape!r}", lambda: _question(mechanism, dataset)
    )
    agreement = float(question.law[question.truth])
    chance = answer_chance(plan, epsilon=epsilon, agreement=agreement)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(asked.seed), TRIALS)
    _, cells = mechanism.grouping(problem.domain)
    refused = float(release.refused.mean())
    wrong = float((~release.refused & (release.values != cells[question.truth])).mean())
    refusing = in_100(refused)
    st.header(f"{refusing[0].upper()}{refusing[1:]} runs refuse")
    st.markdown(
        f"The whole data answer **{question.names[question.truth]}**, and so do {100 * agreement:.3g}% of subsamples "
        f"of {mechanism.rows:,} rows. :gray-badge[true] :blue-badge[simulated]"
    )
    left, right = st.columns(2)
    with left:
        st.subheader("The chance of an answer")
        figure = _agreement_curve(asked, mechanism, plan, problem, agreement=agreement, after=question.after, dark=dark)
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
            names=question.names, law=question.law, truth=question.truth, needed=plan.threshold / plan.subsamples,
            badge=asked.exact_badge(), dark=dark,
        )  # fmt: skip
        draw(figure, key="robust_votes_chart")
        numbers(figure, title="answers of the subsamples", key="robust_votes_numbers")
    with right:
        st.subheader("When one person changes")
        after = answer_chance(plan, epsilon=epsilon, agreement=question.after)
        st.markdown(
            "| data | agreement | chance of that answer |\n|---|---|---|\n"
            f"| yours | {100 * agreement:.5g}% | {_small(chance)} |\n"
            f"| one person changed, against it | {100 * question.after:.5g}% | {_small(after)} |"
        )
        st.markdown(
            f"Privacy: {mechanism.guarantee(problem).sentence()}, for each single answer. Few subsamples hold any one "
            f"person; noise of scale {plan.cap / epsilon:,.4g} votes hides them. :orange-badge[theory]"
        )
    accounts(mechanism, plan, n=problem.n)


def _small(chance: float) -> str:
    """A chance with four digits; answers without half of the votes are not counted in it."""
    return f"{chance:.4g}" if chance else "≈ 0"


def _question(mechanism: SubsampleAggregate, dataset: Dataset) -> Question:
    """Group the cells, and work out the exact law of a subsample's answer here and with one person changed."""
    groups, cells = mechanism.grouping(dataset.domain)
    counts = np.zeros(len(cells) + 1, dtype=np.int64)
    np.add.at(counts, groups, dataset.histogram)
    statistic = mechanism.votes(answers=len(cells))
    truth = int(statistic.answer(counts[None, :])[0])
    law = statistic.law(counts, rows=mechanism.rows)
    rival = int(np.where(np.arange(len(cells)) == truth, -1, law).argmax())
    changed = counts.copy()
    changed[[truth, rival]] += (-1, 1) if counts[truth] and len(cells) > 1 else (0, 0)
    after = float(statistic.law(changed, rows=mechanism.rows)[truth])
    domain, names = dataset.domain, []
    for answer, cell in enumerate(cells):
        inside = np.flatnonzero(groups == answer)
        text = domain.describe(int(cell))
        if len(inside) > 1:
            first, last = (domain.describe(int(each)).split(" to ") for each in (inside[0], inside[-1]))
            text = f"{first[0]} to {last[-1]}"
        names.append(text)
    return Question(names=names, counts=counts, law=law, truth=truth, after=after)


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
        sentence=f"Where {100 * agreement:.3g}% of subsamples agree, the answer is given with chance "
        f"{marks[0].chance:.3g}; below the curve the runs answer, above it they refuse.",
        badge=asked.exact_badge(),
        dark=dark,
    )
