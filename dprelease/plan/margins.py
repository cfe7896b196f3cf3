"""Margins of a plan's statistics by group, from public numbers: the half-width to expect, people needed, smallest ε.

A margin is that of one group at the plan's confidence 1 − β, to first order in the noise (see
``dplab/intervals/planned_margins.py``). For quantiles it is what their theorem guarantees for all groups at once, as a
share of the group's rows. Groups have the declared number of rows of the smallest one; without it, equal shares of n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import Entry, Floats, Mechanism, ParameterError
from dpcore.data.product import Product, is_table
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.planned_margins import (
    PlannedMargin,
    margin_of_mean,
    margin_of_ratio,
    margin_of_rows,
    margin_of_slope,
    margin_of_sum,
)
from dplab.intervals.released import noise_law
from dplab.solve import least_epsilon
from dprelease.plan.groups import PEOPLE, QUANTILES, RATIO, SLOPE, SUM, declared_groups
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan

LEVELS = 0.5, 0.999_999
"""Levels for which the law of the noise is computed; others take the nearest."""
MAX_ABBREVIATION = 3
"""Letters of a unit that may be an abbreviation."""


@dataclass(frozen=True, kw_only=True)
class Margin:
    """Predicted half-width of the interval of a group's statistic.

    Attributes:
        half_width: in the statistic's unit; infinity where nothing can be said.
        scale: half-width that counts as 1 for targets and errors: the declared range, or the largest sum.
        people: rows of the group.
        falls: whether it falls in proportion to them.
        unit: of the statistic; empty where none is declared.
    """

    half_width: float
    scale: float
    people: int
    falls: bool
    unit: str = ""

    @property
    def share(self) -> float:
        """Half-width as a share of ``scale``."""
        return self.half_width / self.scale

    def people_needed(self, target: float) -> int | None:
        """Return the least number of rows of a group for a target share; None where rows do not change the margin."""
        if not self.falls:
            return None
        return max(1, math.ceil(self.share * self.people / target * (1 - 1e-12)))


def people_per_group(plan: Plan, question: PlannedQuestion) -> int:
    """Return the rows of a group: of the smallest as declared, else an equal share of n; at least 1."""
    return question.min_rows or max(1, plan.n // declared_groups(_domain(plan, question), question.statistic))


def margin(
    plan: Plan, question: PlannedQuestion, mechanism: Mechanism, *, level: float | None = None, statistic: str = ""
) -> Margin:
    """Return the margin of one group of ``people_per_group`` rows.

    Args:
        plan: the plan.
        question: a statistic by group.
        mechanism: its mechanism at some ε.
        level: of the interval; 1 − β of the plan where none is named.
        statistic: another statistic of the same counters; the question's own where none is named.

    Raises:
        ParameterError: no margin of this statistic can be predicted.
    """
    level = float(np.clip(1 - plan.beta if level is None else level, *LEVELS))
    people = people_per_group(plan, question)
    if question.statistic == QUANTILES:
        rows = mechanism.accuracy(plan.problem(question), 1 - level).value * plan.n
        return Margin(half_width=rows / people, scale=1.0, people=people, falls=True)
    statistic = statistic or question.statistic
    law = _law(plan, question, statistic)
    width = law.half_width(noise_law(mechanism, plan.problem(question)), people=people, level=level)
    scale, unit = _scale(plan, question, statistic, people=people)
    return Margin(half_width=width, scale=scale, people=people, falls=law.falls, unit=unit)


def worst_shares(
    plan: Plan, question: PlannedQuestion, mechanism: Mechanism, *, chances: Sequence[float], together: bool = True
) -> Floats:
    """Return the shares that the errors of all groups together, or of one, stay below with these chances.

    Noise of different groups is independent. Infinity where no margin can be predicted.
    """
    alone = not together or question.statistic == QUANTILES  # of quantiles the bound is of all groups already
    groups = 1 if alone else plan.problem(question).queries.count
    try:
        levels = [chance ** (1 / groups) for chance in chances]
        return np.array([margin(plan, question, mechanism, level=level).share for level in levels])
    except ParameterError:
        return np.full(len(chances), math.inf)


def smallest_epsilon(plan: Plan, question: PlannedQuestion, entry: Entry, *, target: float) -> float | None:
    """Return the smallest ε at which a mechanism's margin is within a target share, as ``least_epsilon`` rounds it.

    None where no ε is enough, or no margin can be predicted.
    """

    def enough(epsilon: float) -> bool:
        mechanism = entry.make(**question.values_for(entry.key), epsilon=epsilon)
        return margin(plan, question, mechanism).share <= target

    try:
        return least_epsilon(enough)
    except ParameterError:
        return None


def _domain(plan: Plan, question: PlannedQuestion) -> Product:
    domain = plan.problem(question).domain
    assert is_table(domain)
    return domain


def _law(plan: Plan, question: PlannedQuestion, statistic: str) -> PlannedMargin:
    """Return how the noise of counters moves the statistic."""
    queries = plan.problem(question).queries
    if not isinstance(queries, GroupStatistics):
        return margin_of_rows()
    laws = {PEOPLE: margin_of_rows, SUM: margin_of_sum, RATIO: margin_of_ratio, SLOPE: margin_of_slope}
    return laws.get(statistic, margin_of_mean)(queries)


def singular(unit: str) -> str:
    """Return a unit as it stands after "per"; an abbreviation such as "ms" is no plural.

    >>> [singular(unit) for unit in ("years", "USD", "ms", "gross", "°Celsius")]
    ['year', 'USD', 'ms', 'gross', '°Celsius']
    """
    is_plural = len(unit) > MAX_ABBREVIATION and unit.endswith("s") and not unit.endswith(("ss", "us", "is"))
    return unit.removesuffix("s") if is_plural else unit


def _scale(plan: Plan, question: PlannedQuestion, statistic: str, *, people: int) -> tuple[float, str]:
    """Return the half-width that counts as 1, and the statistic's unit."""
    if statistic == PEOPLE:
        return float(plan.n), "rows"
    domain = _domain(plan, question)
    columns = domain.columns[len(question.by) :]
    units, scales = [column.unit for column in columns], [column.scale for column in columns]
    spans = [scale.span for scale in scales]
    if statistic == SUM:
        return max(abs(scales[0].low), abs(scales[0].high)) * people, units[0]
    if len(columns) == 1:
        return spans[0], units[0]
    unit = f"{units[0]} per {singular(units[1])}" if all(units) else ""
    if statistic == SLOPE:
        return spans[0] / spans[1], unit
    middles = [abs(scale.middle) for scale in scales]
    return (middles[0] or spans[0]) / (middles[1] or math.inf), unit
