"""The One number page: the chance of an answer, and one changed row."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.core import Bound, Problem, describe_error
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.smooth_median import SmoothMedian
from dpcore.mechanisms.robust.stable_median import StableAnswer, StableMedian
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.near import MedianOfMedians
from pages.one_number.accounts import accounts
from pages.one_number.controls import OneNumberRequest, draw_controls
from pages.one_number.mean import MeanOutcome
from pages.one_number.near import MedianOfMediansOutcome, NearOutcome, SmoothOutcome
from pages.one_number.outcome import Outcome, RefusableOutcome
from pages.one_number.promise import draw_promise
from pages.one_number.stable import StableOutcome
from pages.one_number.statistic import draw_statistic
from pages.one_number.subsamples import SubsampleOutcome
from pages.shell.presentation import is_presenting, presentation_place
from pages.shell.theorem import BETA, conditions
from pages.shell.workbench import Views, Workbench


def _compute(request: OneNumberRequest) -> Outcome[Any]:
    mechanism = request.entry.make(**request.values)
    if isinstance(mechanism, StableAnswer):
        return StableOutcome(request, mechanism)
    if isinstance(mechanism, SmoothMedian):
        return SmoothOutcome(request, mechanism)
    if isinstance(mechanism, MedianOfMedians):
        return MedianOfMediansOutcome(request, mechanism)
    if isinstance(mechanism, SubsampleAggregate):
        return SubsampleOutcome(request, mechanism)
    assert isinstance(mechanism, UnboundedMean), f"add an Outcome for {request.entry.key} here"
    return MeanOutcome(request, mechanism)


def _views(outcome: Outcome[Any]) -> Views[Outcome[Any]]:
    more: Views[Outcome[Any]] = {}
    if isinstance(outcome, RefusableOutcome):
        more = {"One person changes": lambda _: outcome.draw_one_person()}
    if isinstance(outcome, MeanOutcome):
        more = {"Any statistic": lambda _: draw_statistic(outcome)}
    return {"Answer": _answer, **more}


def _answer(outcome: Outcome[Any]) -> None:
    outcome.draw_answer()
    bound = outcome.mechanism.accuracy(outcome.problem, BETA)
    _theorem(bound, outcome.problem, conditional=isinstance(outcome, NearOutcome))
    if isinstance(outcome.mechanism, StableMedian) and not is_presenting():
        with st.expander("The exponential median, which always answers"):
            st.latex(entry("exponential_median").weights)
            st.markdown("A value v has b rows below it and u rows up to it, of N. One row moves the distance by Δ.")


def _theorem(bound: Bound, problem: Problem, *, conditional: bool) -> None:
    """Draw the theorem, of data that meet a condition or of all: in a presentation at once, otherwise on demand."""
    with presentation_place("theorem") if is_presenting() else st.expander("What is guaranteed"):
        error = describe_error(bound, n=problem.n, subject="no answer", of_range=problem.domain.describe_distance)
        words = () if bound.vacuous else (bound.statement, *conditions(bound))
        if conditional:
            error, words = bound.statement, (bound.note,)
        # One paragraph, because all of it has to fit the screen of a presentation.
        st.markdown(" ".join((error, ":orange-badge[theory]", *words)))
        if bound.formula:
            st.latex(bound.formula)


def _accounts(outcome: Outcome[Any]) -> None:
    if isinstance(outcome, SubsampleOutcome):
        accounts(outcome.mechanism, outcome.plan, n=outcome.problem.n)


def _code(outcome: Outcome[Any]) -> str:
    request = outcome.request
    return request.code(
        imports=["from dplab.robust import present_rows"] * outcome.without_number,
        prepared=["dataset = present_rows(dataset)"] * outcome.without_number,
        queries=f"dpcore.{type(request.queries).__name__}(domain=dataset.domain)",
        then=[
            f"release = mechanism.run(state, dpcore.Preview({request.seed}), {outcome.trials})",
            'print(f"{release.refused.mean():.1%} refuse; {mechanism.guarantee(problem).sentence()}")',
            "print(release.frame())",
        ],
    )


ONE_NUMBER = Workbench(
    title="One number",
    lead=(
        "Some mechanisms may refuse. The more stable an answer is, the more likely it is given.",
        "A refusal is also an output, and the guarantee covers what it reveals.",
    ),
    key="robust",
    controls=draw_controls,
    promise=draw_promise,
    compute=_compute,
    headline=lambda outcome: outcome.draw_headline(),
    views=_views,
    more=_accounts,
    code=_code,
)
