"""The expected error of one number of a statistic in its own unit, for its plan and beside its release."""

from __future__ import annotations

import math

from dpcore.data.columns import is_number
from dpcore.data.declarations import DeclaredTable
from dprelease.plan.errors import Prediction
from dprelease.plan.groups import QUANTILES, SHARE
from dprelease.plan.margins import Margin
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from pages.charts.words import percent, significant


def amount(margin: Margin, share: float, *, noun: str = "people") -> str:
    """Return a share of the margin's scale in the statistic's unit."""
    if margin.unit == "rows":
        return f"{significant(share * margin.scale)} {noun}"
    return significant(share * margin.scale) + (f" {margin.unit}" if margin.unit else "")


def amount_of(margin: Margin, share: float, statistic: str, *, noun: str = "people") -> str:
    """Return the same; shares and quantiles as percentages, quantiles of the group's rows."""
    if statistic == SHARE:
        return percent(share)
    return f"{percent(share)} of the group" if statistic == QUANTILES else amount(margin, share, noun=noun)


def noun_of(table: DeclaredTable) -> str:
    """Return what a group consists of: people, or rows where a person may have several."""
    return "rows" if table.person else "people"


def single_error(plan: Plan, question: PlannedQuestion, prediction: Prediction) -> str:
    """Return the error that one number of a statistic stays below, in the statistic's own unit: "± 184 people"."""
    share, noun = prediction.single, noun_of(plan.table)
    if math.isnan(prediction.promised):
        return "…"
    if not share < 1:
        return "hidden by noise" if prediction.margin or not question.statistic else "not predicted"
    if question.statistic and prediction.margin:
        return f"± {amount_of(prediction.margin, share, question.statistic, noun=noun)}"
    domain = plan.problem(question).domain
    if question.quantity == "mean" and is_number(domain):
        return f"± {significant(share * (domain.high - domain.low))} {domain.unit}".strip()
    if question.quantity == "quantile":
        return f"± {percent(share)} of {noun}"
    return f"± {significant(share * plan.n)} {noun}"
