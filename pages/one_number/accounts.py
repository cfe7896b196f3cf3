"""The paper's parameters of subsample and aggregate beside calibrated ones."""

from __future__ import annotations

import math

import streamlit as st

from dpcore.core import ParameterError, rounded_down, rounded_up
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.subsampling import (
    MAX_SUBSAMPLES,
    MAX_TRIED,
    SubsamplingPlan,
    calibrated_plan,
    min_subsamples,
    paper_delta,
    paper_plan,
)

PAPER = "Paper: k = ε(n/m)³"


def planned_by_paper(mechanism: SubsampleAggregate, *, n: int) -> SubsamplingPlan | None:
    """Return the paper's plan; None where it promises nothing."""
    try:
        return paper_plan(epsilon=mechanism.epsilon, n=n, rows=mechanism.rows)
    except ParameterError:
        return None


def condition(*, epsilon: float, n: int, rows: int) -> str:
    """Return the condition of the notes' proof, whether it is met, and the δ that the proof then gives."""
    text = f"the proof in the notes needs m ≤ n/64 = {n / 64:,.4g}"
    if 64 * rows > n:
        return f"{text}: **not met** with m = {rows:,}; the δ above is from our own proof"
    delta = rounded_up(paper_delta(epsilon=epsilon, n=n, rows=rows))
    return f"{text}: met; it gives δ = {delta}. The δ above is from our own proof"


def _needed(plan: SubsamplingPlan) -> str:
    """Return the votes needed in words; a plan without enough votes has a threshold that no noise reaches."""
    share = plan.threshold / plan.subsamples
    return f"{plan.threshold:,} ({share:.3g} of k)" if share < 1000 else "more than k: never reached"


def accounts(mechanism: SubsampleAggregate, plan: SubsamplingPlan, *, n: int) -> None:
    """Draw the paper's parameters beside calibrated ones, and the subsamples that calibration saves."""
    with st.expander("The paper's parameters and calibrated parameters"):
        _compared(mechanism, plan, n=n)


def _saved(paper: SubsamplingPlan, smallest: int, *, delta: float) -> str:
    """Return the ratio of the paper's number of subsamples to that of calibration, in words."""
    times = paper.subsamples / smallest
    ratio = f"**{rounded_down(times)} times fewer**" if times > 1 else f"**{rounded_down(1 / times)} times more**"
    return (
        "Goal: an answer in 95 of 100 runs if 3 in 4 subsamples agree. Calibrated parameters need about "
        f"{ratio} subsamples than the paper's, at δ = {rounded_up(delta)}. The paper's have δ = "
        f"{rounded_up(paper.delta)}."
    )


def _compared(mechanism: SubsampleAggregate, plan: SubsamplingPlan, *, n: int) -> None:
    """Draw the plans side by side."""
    epsilon, rows = mechanism.epsilon, mechanism.rows
    smallest = min_subsamples(epsilon=epsilon, delta=mechanism.delta, n=n, rows=rows)
    paper = planned_by_paper(mechanism, n=n)
    plans = {f"Yours ({mechanism.accounting})": plan}
    if smallest is not None:
        plans["Smallest k that answers if 3 in 4 agree"] = calibrated_plan(
            epsilon=epsilon, delta=mechanism.delta, n=n, rows=rows, subsamples=smallest
        )
    if paper is not None:
        plans[PAPER] = paper
    for place, (name, each) in zip(st.columns(len(plans)), plans.items(), strict=True):
        with place.container(border=True):
            st.markdown(
                f"**{name}**\n- subsamples k: **{each.subsamples:,}**\n"
                f"- noise of scale {each.cap / epsilon:,.4g} votes\n- votes needed: {_needed(each)}\n"
                f"- δ = {rounded_up(each.delta)}"
                + (f"\n- {condition(epsilon=epsilon, n=n, rows=rows)}" if name == PAPER else "")
            )
    if paper is not None:
        if smallest is not None:
            st.markdown(_saved(paper, smallest, delta=mechanism.delta))
    else:
        needed = math.ceil(epsilon * (n / rows) ** 3)
        why = "too many: choose larger subsamples" if needed > MAX_SUBSAMPLES else "they guarantee nothing"
        st.markdown(f"The paper's parameters, k = ε(n/m)³ = {needed:,}, cannot be used here: {why}.")
    if smallest is None:
        st.markdown(
            f"No k up to {MAX_TRIED:,} gives an answer in 95 of 100 runs if 3 in 4 subsamples agree. Each "
            "row is in too many subsamples. Choose smaller subsamples."
        )
