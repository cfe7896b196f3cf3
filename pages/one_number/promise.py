"""One number of private rows that may not be shown: the stability an answer needs, and the guaranteed error."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from dpcore.core import Neighbours, Problem, rounded_up
from dpcore.data.columns import is_number
from dpcore.limits.bounds.rank import rank_bound
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.smooth_median import SmoothMedian
from dpcore.mechanisms.robust.stable_median import StableAnswer, StableMedian
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean, exception_chance, max_exceptions
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.near import MedianOfMedians
from dpcore.mechanisms.subsamples.subsampling import agreement_needed
from dpcore.mechanisms.subsamples.subsampling import answer_chance as vote_chance
from dpcore.queries.ranges import Thresholds
from dplab.limits.data_independent_summary import data_independent_summary, promised_error
from dplab.measure import finish
from dplab.robust import chances_by_agreement, stable_chances
from pages.charts.component import draw_with_table
from pages.charts.picture import Axis, Curve, Picture
from pages.charts.words import percent, percent_up, short_numbers, significant
from pages.one_number.chance import chance_curve, stability_axis
from pages.one_number.controls import OneNumberRequest
from pages.one_number.words import in_100, nearly_percent
from pages.shell.private.charts import draw_outlook as picture_of
from pages.shell.private.promises import BADGE, ask_rows, numbers
from pages.shell.theorem import BETA, theorem_card

INTRODUCTION = "These statements hold for any rows:"
CLIPPED, COUNTED = "clipped_mean", "counted-mean"


def draw_promise(request: OneNumberRequest) -> None:
    """Draw what follows from public facts alone."""
    n = ask_rows(request.source, request.neighbours)
    problem = dataclasses.replace(request.problem(n), n=n)
    mechanism = request.entry.make(**request.values)
    if isinstance(mechanism, StableAnswer):
        picture = _stable(mechanism, problem)
    elif isinstance(mechanism, SmoothMedian):
        picture = _smooth(mechanism, problem)
    elif isinstance(mechanism, MedianOfMedians):
        picture = _near(mechanism, problem)
    elif isinstance(mechanism, SubsampleAggregate):
        picture = _agreeing(mechanism, problem)
    else:
        assert isinstance(mechanism, UnboundedMean), f"add a picture for {request.entry.key} here"
        picture = _mean(mechanism, problem)
    draw_with_table(picture, key="promises", badge=BADGE, title="the curve")
    theorem_card(
        mechanism.accuracy(problem, BETA),
        mechanism.guarantee(problem),
        n=n,
        covers="for each single answer",
        said=INTRODUCTION,
        mechanism=request.entry.references,
    )


def _smooth(mechanism: SmoothMedian, problem: Problem) -> Picture:
    """Draw the error over stability: of the noise that the data get at most if the median is so stable."""
    domain = problem.domain
    assert is_number(domain)
    if domain.missing:  # rows without a number are left out of previews
        domain = dataclasses.replace(domain, missing=False, clamp=True)
        problem = dataclasses.replace(problem, domain=domain, queries=Thresholds(domain=domain))
    last = len(mechanism.ladder(problem).widths)
    rows = np.unique(np.linspace(1, last, 200).round().astype(np.int64))
    errors = mechanism.error_at(rows, problem, BETA)
    exact = int(rows[np.argmax(errors == 0)])
    st.header(f"95 in 100 answers are exact if at least {exact:,} rows must change before the median does")
    delta = rounded_up(mechanism.guarantee(problem).delta)
    smallest = 2 * exact - 1 if problem.neighbours is Neighbours.REPLACE_ONE else exact  # all in one cell
    numbers({"Smallest n for that": f"{smallest:,}", "δ": delta, "Rows n": f"{problem.n:,}"})
    return Picture(
        title="Guaranteed error against stability",
        x=Axis(title="stability: rows that must change", low=0, high=1.1 * exact, form=",d"),
        y=Axis(title="error, share of the range", low=0, high=1.05, form="~p"),
        marks=[Curve(role="theory", name="error of 95 in 100 answers", x=rows, y=errors / max(1, domain.ordered - 1))],
        sentence=f"The more rows must change before the median does, the smaller the error that is guaranteed. From "
        f"{exact:,} rows on, 95 in 100 answers are exact. Your rows are not used here.",
        table={"rows": rows.tolist(), "error in cells": errors.tolist()},
    )


def _near(mechanism: MedianOfMedians, problem: Problem) -> Picture:
    """Draw the chance of an answer further away than a share of the subsamples."""
    plan = mechanism.plan(problem)
    needed = mechanism.agreement_needed(plan, BETA)
    close = f"95 in 100 answers are as close as {percent_up(needed)} of subsamples"
    st.header(close if needed <= 1 else "No agreement of the subsamples is enough")
    cap = f"{plan.cap:,.0f} of {plan.subsamples:,}"
    numbers({"Votes a row changes at most": cap, "δ": rounded_up(plan.delta), "Rows n": f"{problem.n:,}"})
    shares = np.linspace(0.5, 1, 101)
    near = np.array([1 - mechanism.miss_chance(plan, share) for share in shares.tolist()])
    return Picture(
        title="Guaranteed chance of a close answer against agreement",
        x=Axis(title="share of subsamples within a distance", low=0.5, high=1, form="~p"),
        y=Axis(title="probability that the answer is", low=0, high=1.05, form="~p"),
        marks=[Curve(role="theory", name="at least", x=shares, y=near)],
        sentence="If that share of the subsamples answers within a distance of the whole data's answer, so is the "
        "released answer with at least this probability, for every distance. The agreement of your own subsamples is "
        "not computed.",
        table={"share of subsamples": short_numbers(shares), "probability": short_numbers(near)},
    )


def _stable(mechanism: StableAnswer, problem: Problem) -> Picture:
    """Draw the chance of an answer over stability, and the guarantee of a mechanism that always answers."""
    epsilon, needed = mechanism.epsilon, mechanism.stability_needed(BETA)
    rows = mechanism.rows_needed(needed, problem.neighbours)
    st.header(f"95 in 100 runs give an answer if at least {needed:,} rows must change before the answer does")
    facts = {
        "Smallest n for that": f"{rows:,}",
        "Probability of an answer if one row decides it, δ": rounded_up(mechanism.guarantee(problem).delta),
    }
    if isinstance(mechanism, StableMedian):
        always = ExponentialMedian(epsilon=epsilon, quantile=mechanism.quantile)
        wall = rank_bound(problem, always.guarantee(problem), beta=BETA, quantile=mechanism.quantile)
        facts["Guaranteed error if always answering"] = percent(promised_error(always, problem, beta=BETA))
        facts["Impossible (lower bound), below"] = percent(wall.value) if wall is not None else "not known"
    numbers(facts)
    curve = stable_chances(mechanism, problem, stable=needed)
    return chance_curve(
        curves={"probability of an answer": curve},
        data=(),
        x=stability_axis(curve.x, threshold=mechanism.threshold),
        threshold=mechanism.threshold,
        sentence=f"If {needed:,} rows must change before the answer does, 95 of 100 runs give the exact answer. At "
        f"{mechanism.threshold:,} rows (threshold) {in_100(float(mechanism.chance(mechanism.threshold)))} "
        f"do; if one row can change it, {in_100(float(mechanism.chance(1)))} do. Hatched: impossible for "
        "mechanisms that are never wrong. Dotted: upper bound for those that may be wrong. Your rows are "
        "not used here.",
    )


def _agreeing(mechanism: SubsampleAggregate, problem: Problem) -> Picture:
    """Draw the chance of an answer over the agreement of subsamples."""
    plan, epsilon = mechanism.plan(problem), mechanism.epsilon
    needed = agreement_needed(plan, epsilon=epsilon, beta=BETA)
    enough = nearly_percent(needed) if needed <= 1 else ""
    answer = f"95 in 100 runs answer if {enough} of subsamples agree"
    st.header(answer if enough else "On no data do 95 of 100 runs give an answer")
    numbers(
        {
            "Votes needed": f"{plan.threshold:,} of {plan.subsamples:,}",
            "Noise, in votes": significant(plan.cap / epsilon),
            "δ": rounded_up(plan.delta),
            "Rows n": f"{problem.n:,}",
        }
    )
    highest = in_100(float(vote_chance(plan, epsilon=epsilon, agreement=1.0)))
    when = f"is given in {highest} runs if all subsamples agree"
    if enough:
        when = f"is given with probability 95% or more if {enough} of the subsamples agree"
    return chance_curve(
        curves={mechanism.accounting: chances_by_agreement(plan, epsilon=epsilon)},
        data=(),
        x=Axis(title="agreement of the subsamples", low=0.5, high=1, form="~p"),
        sentence=f"An answer {when}. The agreement of your own subsamples is not computed.",
    )


def _mean(mechanism: UnboundedMean, problem: Problem) -> Picture:
    """Draw what is proved with a number, and the guaranteed error of the mean cut off at the declared bounds."""
    domain = problem.domain
    assert is_number(domain) and problem.neighbours is Neighbours.REPLACE_ONE
    exceptions = max_exceptions(n=problem.n, gamma=mechanism.gamma)
    key, condition = CLIPPED, ""
    if domain.missing:  # how many rows have a number is private: the mean is released with it
        key, condition = COUNTED, f", if {problem.n:,} rows have a number"
        domain = dataclasses.replace(domain, missing=False, clamp=True)
        problem = dataclasses.replace(problem, domain=domain, queries=Thresholds(domain=domain))
    clipped = promised_error(entry(key).make(epsilon=mechanism.epsilon), problem, beta=BETA)
    errors = finish(
        data_independent_summary(
            {key: lambda epsilon: entry(key).make(epsilon=epsilon)}, problem, chosen=key, beta=BETA
        )
    )
    st.header(
        f"In 95 of 100 releases, the error of the clipped mean is at most {percent_up(clipped)} of the "
        f"distance of your bounds{condition}"
        if clipped < 1
        else f"No error of a mean is guaranteed at ε = {mechanism.epsilon:g}{condition}"
    )
    numbers(
        {
            "That is": f"{significant(clipped * (domain.high - domain.low))} {domain.unit}"
            if clipped < 1
            else "nothing",
            "Without bounds": "no guaranteed error",
            "Probability γ₂ that people differ too much": rounded_up(
                exception_chance(n=problem.n, exceptions=exceptions)
            ),
        }
    )
    return picture_of(
        # The wall of thresholds is none of one mean.
        dataclasses.replace(errors, lower_bound=None),
        titles={key: entry(key).title},
        chosen=key,
        epsilon=mechanism.epsilon,
        promised=clipped,
        beta=BETA,
        what="error of the mean",
        counted=False,
    )
