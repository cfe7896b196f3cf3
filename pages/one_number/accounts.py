"""The paper's parameters of subsample and aggregate beside calibrated ones, and what calibration saves."""

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
    fewest_subsamples,
    paper_delta,
    paper_plan,
)

PAPER = "Paper: k = ε(n/m)³"


def planned_by_paper(mechanism: SubsampleAggregate, *, n: int) -> SubsamplingPlan | None:
    """The paper's plan, if it has one."""
    try:
        return paper_plan(epsilon=mechanism.epsilon, n=n, rows=mechanism.rows)
    except ParameterError:
        return None


def condition(*, epsilon: float, n: int, rows: int) -> str:
    """Whether the notes' proof speaks of these subsamples at all, and which δ it then gives."""
    asked = f"the notes' proof is for m ≤ n/64 = {n / 64:,.4g}"
    if 64 * rows > n:
        return f"{asked}: **not met** with m = {rows:,}; the δ above is our own account's"
    return (
        f"{asked}: met; it gives δ = {paper_delta(epsilon=epsilon, n=n, rows=rows):.4g}, the one above is our account's"
    )


def _needed(plan: SubsamplingPlan) -> str:
    """The votes it takes; a plan without enough votes at all has a threshold no noise reaches."""
    share = plan.threshold / plan.subsamples
    return f"{plan.threshold:,} ({share:.3g} of k)" if share < 1000 else "more than there can be"


def accounts(mechanism: SubsampleAggregate, plan: SubsamplingPlan, *, n: int) -> None:
    """Paper's parameters beside calibrated ones, and what calibration saves."""
    with st.expander("The paper's parameters, and calibrated ones"):
        _compared(mechanism, plan, n=n)


def _saved(paper: SubsamplingPlan, fewest: int, *, delta: float) -> str:
    """How many times fewer, or more, subsamples calibration needs than the paper takes."""
    times = paper.subsamples / fewest
    told = f"**{rounded_down(times)} times fewer**" if times > 1 else f"**{rounded_down(1 / times)} times more**"
    return (
        f"To answer in 95 of 100 runs where 3 in 4 agree, calibration needs about {told} subsamples than the paper "
        f"takes, at δ = {rounded_up(delta)}; the paper's have δ = {rounded_up(paper.delta)}."
    )


def _compared(mechanism: SubsampleAggregate, plan: SubsamplingPlan, *, n: int) -> None:
    """The plans side by side."""
    epsilon, rows = mechanism.epsilon, mechanism.rows
    fewest = fewest_subsamples(epsilon=epsilon, delta=mechanism.delta, n=n, rows=rows)
    paper = planned_by_paper(mechanism, n=n)
    plans = {f"Yours ({mechanism.accounting})": plan}
    if fewest is not None:
        plans["Fewest that answer if 3 in 4 agree"] = calibrated_plan(
            epsilon=epsilon, delta=mechanism.delta, n=n, rows=rows, subsamples=fewest
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
        if fewest is not None:
            st.markdown(_saved(paper, fewest, delta=mechanism.delta))
    else:
        asks = math.ceil(epsilon * (n / rows) ** 3)
        why = "that is too many: take larger subsamples" if asks > MAX_SUBSAMPLES else "they promise nothing"
        st.markdown(f"The paper's parameters, k = ε(n/m)³ = {asks:,}, cannot be used here: {why}.")
    if fewest is None:
        st.markdown(
            f"Up to {MAX_TRIED:,} subsamples none are enough to answer in 95 of 100 runs where 3 in 4 agree: a row is "
            "in too many. Take smaller subsamples."
        )
