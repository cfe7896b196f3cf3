"""Subsample and aggregate: agreement and the chance of an answer, votes, outcomes, and one changed row."""

from __future__ import annotations

import streamlit as st
from typing_extensions import override

from dpcore.core import Dataset, Problem
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.subsampling import SubsamplingPlan, answer_chance
from dplab.robust import VoteLaws, chances_by_agreement, subsample_votes, vote_runs
from pages.charts.picture import Axis, Picture
from pages.charts.words import as_code
from pages.one_number.accounts import planned_by_paper
from pages.one_number.chance import Place, chance_curve
from pages.one_number.controls import OneNumberRequest
from pages.one_number.outcome import RefusableOutcome, draw_refusals
from pages.one_number.runs import votes
from pages.one_number.words import nearly, nearly_percent
from pages.shell.tasks.memory import with_progress

EXACT = "exact probabilities, nothing sampled"
PRIVACY_PARAMETERS = ("epsilon", "delta", "subsamples", "accounting")
"""The law of a subsample's answer depends on the data and the question, not on these."""


class SubsampleOutcome(RefusableOutcome[SubsampleAggregate]):
    """Previews of subsample and aggregate.

    Attributes:
        plan: its subsamples, noise and threshold.
        law: the law of a subsample's answer.
    """

    @override
    def __init__(self, request: OneNumberRequest, mechanism: SubsampleAggregate) -> None:
        super().__init__(request, mechanism)
        self.plan = mechanism.plan(self.problem)
        self.law: VoteLaws = vote_laws(request, mechanism, self.dataset, self.problem)
        self.trials, self.refused, self.wrong = vote_runs(mechanism, self.law, seed=request.seed)
        self.curve = _agreement_curve(mechanism, self.plan, self.problem, self.law)
        self.badge = request.badge(EXACT)
        scale = f"{self.plan.cap / mechanism.epsilon:,.4g}"
        self.privacy_help = f"Each person is in few subsamples. Noise of scale {scale} votes hides one person's effect."

    @override
    def draw_headline(self) -> None:
        law = self.law
        draw_refusals(self.refused)
        st.markdown(
            f"The whole data answer {as_code(law.state.question.names[law.truth])}, and so do "
            f"{nearly_percent(law.agreement)} of subsamples of {self.mechanism.rows:,} rows. "
            ":gray-badge[true] :blue-badge[simulated]"
        )

    @override
    def draw_one_person(self) -> None:
        request, plan, law, epsilon = self.request, self.plan, self.law, self.mechanism.epsilon
        left, right = st.columns(2)
        with left:
            st.subheader("Answers of the subsamples")
            picture = votes(
                names=law.state.question.names, law=law.law, truth=law.truth, needed=plan.threshold / plan.subsamples
            )
            request.draw(picture, key="robust_votes", title="answers of the subsamples", badge=self.badge)
        with right:
            st.subheader("When one person changes")
            before, after = (answer_chance(plan, epsilon=epsilon, agreement=x) for x in (law.agreement, law.after))
            st.markdown(
                "| data | agreement | probability of that answer |\n|---|---|---|\n"
                f"| yours | {nearly_percent(law.agreement, digits=5)} | {_small(before)} |\n"
                f"| one person changed, against it | {nearly_percent(law.after, digits=5)} | {_small(after)} |"
            )


def vote_laws(request: OneNumberRequest, mechanism: SubsampleAggregate, dataset: Dataset, problem: Problem) -> VoteLaws:
    """Return the law of a subsample's answer, computed with progress once for all privacy parameters."""
    question = {name: value for name, value in request.values.items() if name not in PRIVACY_PARAMETERS}
    key = f"voters|{request.source.key}|{request.entry.key}|{question!r}"
    label = "Computing the answers of the subsamples."
    return with_progress(key, lambda: subsample_votes(mechanism, dataset, problem), label=label)


def _small(chance: float) -> str:
    """Return a chance with four digits; it leaves out answers without half of the votes."""
    return nearly(chance, digits=4) if chance else "≈ 0"


def _agreement_curve(mechanism: SubsampleAggregate, plan: SubsamplingPlan, problem: Problem, law: VoteLaws) -> Picture:
    """Return the chance of an answer over agreement, for this plan and the paper's."""
    epsilon = mechanism.epsilon
    curves = {mechanism.accounting: chances_by_agreement(plan, epsilon=epsilon)}
    paper = planned_by_paper(mechanism, n=problem.n)
    if paper is not None and mechanism.accounting != "paper":
        curves["paper's parameters"] = chances_by_agreement(paper, epsilon=epsilon)
    data = [
        Place(name=name, x=max(0.5, x), chance=answer_chance(plan, epsilon=epsilon, agreement=x))
        for name, x in (("these data", law.agreement), ("one row changed, lower agreement", law.after))
    ]
    return chance_curve(
        curves=curves,
        data=data,
        x=Axis(title="agreement of the subsamples", low=0.5, high=1, form="~p"),
        sentence=f"If {nearly_percent(law.agreement)} of subsamples agree, the answer is given with probability "
        f"{nearly(data[0].chance)}. Below the curve runs give an answer, above it none. No lower bound is "
        "shown. It depends on how many rows must change before the answer does, which agreement does not "
        "determine.",
    )
