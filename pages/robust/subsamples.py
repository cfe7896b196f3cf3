"""Subsample and aggregate on the page: agreement and the chance of an answer, votes, outcomes, one person changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Dataset, Problem, Queries
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.subsampling import SubsamplingPlan, answer_chance
from dplab.robust import Voters, chances_by_agreement, vote_runs, voters
from pages.charts.picture import Axis, Picture
from pages.charts.words import as_code
from pages.robust.accounts import planned_by_paper
from pages.robust.chance import Place, chance_curve
from pages.robust.runs import outcomes, votes
from pages.robust.words import in_100, nearly, nearly_percent
from pages.shell.asked import Asked
from pages.shell.session import with_progress
from pages.shell.theorem import all_digits

EXACT = "exact chances, nothing drawn"


def subsamples(
    asked: Asked[Queries],
    mechanism: SubsampleAggregate,
    dataset: Dataset,
    problem: Problem,
    *,
    places: Sequence[DeltaGenerator],
) -> int:
    """Headline, what came out, and what one person moves; returns how many runs it previewed."""
    head, first, second = places
    plan, epsilon = mechanism.plan(problem), mechanism.epsilon
    # The law depends on the data and on the question, not on the privacy parameters.
    free = ("epsilon", "delta", "subsamples", "accounting")
    shape = {name: value for name, value in asked.values.items() if name not in free}
    found = with_progress(
        f"voters|{asked.source.key}|{asked.entry.key}|{shape!r}",
        lambda: voters(mechanism, dataset, problem),
        label="Working out what subsamples answer.",
    )
    names, truth, agreement = found.state.question.names, found.truth, found.agreement
    chance = answer_chance(plan, epsilon=epsilon, agreement=agreement)
    trials, refused, wrong = vote_runs(mechanism, found, seed=asked.seed)
    refusing = in_100(refused)
    head.header(f"{refusing[0].upper()}{refusing[1:]} runs refuse")
    head.markdown(
        f"The whole data answer {as_code(names[truth])}, and so do {nearly_percent(agreement)} of subsamples "
        f"of {mechanism.rows:,} rows. :gray-badge[true] :blue-badge[simulated]"
    )
    left, right = first.columns(2)
    with left:
        st.subheader("The chance of an answer")
        picture = _agreement_curve(mechanism, plan, problem, found)
        asked.draw(picture, key="robust_chance", title="chance of an answer", badge=asked.badge(EXACT))
    with right:
        st.subheader("What came out")
        asked.draw(outcomes(refused=refused, wrong=wrong), key="robust_outcomes", title="outcomes")
        guarantee = mechanism.guarantee(problem)
        st.markdown(
            f"Privacy: {guarantee.sentence()}, for each single answer. :orange-badge[theory]",
            help=f"Few subsamples hold any one person; noise of scale {plan.cap / epsilon:,.4g} votes hides them. "
            f"{all_digits(guarantee) or ''}",
        )
    left, right = second.columns(2)
    with left:
        st.subheader("Where an answer would have been wrong")
        picture = votes(names=names, law=found.law, truth=truth, needed=plan.threshold / plan.subsamples)
        asked.draw(picture, key="robust_votes", title="answers of the subsamples", badge=asked.badge(EXACT))
    with right:
        st.subheader("When one person changes")
        after = answer_chance(plan, epsilon=epsilon, agreement=found.after)
        st.markdown(
            "| data | agreement | chance of that answer |\n|---|---|---|\n"
            f"| yours | {nearly_percent(agreement, digits=5)} | {_small(chance)} |\n"
            f"| one person changed, against it | {nearly_percent(found.after, digits=5)} | {_small(after)} |"
        )
    return trials


def _small(chance: float) -> str:
    """A chance with four digits; answers without half of the votes are not counted in it."""
    return nearly(chance, digits=4) if chance else "≈ 0"


def _agreement_curve(mechanism: SubsampleAggregate, plan: SubsamplingPlan, problem: Problem, found: Voters) -> Picture:
    """Chance of an answer over agreement, for this plan and the paper's."""
    epsilon = mechanism.epsilon
    curves = {mechanism.accounting: chances_by_agreement(plan, epsilon=epsilon)}
    paper = planned_by_paper(mechanism, n=problem.n)
    if paper is not None and mechanism.accounting != "paper":
        curves["paper's parameters"] = chances_by_agreement(paper, epsilon=epsilon)
    data = [
        Place(name=name, x=max(0.5, x), chance=answer_chance(plan, epsilon=epsilon, agreement=x))
        for name, x in (("these data", found.agreement), ("one person changed, against it", found.after))
    ]
    return chance_curve(
        curves=curves,
        data=data,
        x=Axis(title="agreement of the subsamples", low=0.5, high=1, form="~p"),
        sentence=f"Where {nearly_percent(found.agreement)} of subsamples agree, the answer is given with chance "
        f"{nearly(data[0].chance)}; below the curve the runs answer, above it they refuse. No wall is drawn: what "
        "nobody can do depends on how many rows must change before the answer does, and agreement does not tell that.",
    )
