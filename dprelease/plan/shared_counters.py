"""Statistics by group that follow from the same noisy counters: one draw releases them, for one ε.

The counters of one column in each group release people, sum, mean (or share) and, of degree 2, the spread; those of
degree 2 also serve where degree 1 is enough. Quantiles of one column by the same groups follow from the same counts of
cells. People follow where every row has a value. Everything here is public.
"""

from __future__ import annotations

from dataclasses import replace

from dpcore.data.declarations import DeclaredTable
from dprelease.plan.groups import FOLLOWING, MEAN, PEOPLE, QUANTILES, SAMPLED, SPREAD
from dprelease.plan.planned_question import MAX_QUANTILES, PlannedQuestion


def shared(first: PlannedQuestion, second: PlannedQuestion, table: DeclaredTable) -> PlannedQuestion | None:
    """Return one question that releases the statistics of both from one draw; None where there is none.

    It has the ε of the first, and its target where that is of the same scale.
    """
    if not (first.statistic and second.statistic) or {*first.by} != {*second.by}:
        return None
    if first.statistic == second.statistic == QUANTILES and first.columns == second.columns:
        shares = tuple(sorted({*first.quantiles, *second.quantiles}))
        min_rows = second.min_rows or first.min_rows
        return replace(first, quantiles=shares, min_rows=min_rows) if len(shares) <= MAX_QUANTILES else None

    columns = first.columns or second.columns
    wanted = [first.statistic, *first.also, second.statistic, *second.also]
    leader = next((each for each in (SPREAD, *wanted) if each in wanted and each != PEOPLE), PEOPLE)
    also = tuple(dict.fromkeys(each for each in wanted if each != leader and (leader, each) != (SPREAD, MEAN)))
    if not {*also} <= {*FOLLOWING.get(leader, ())} or any(
        each.columns not in ((), columns) for each in (first, second)
    ):
        return None
    if PEOPLE in also and table.on(columns[0]).missing:
        return None
    counted = first if leader == PEOPLE or first.statistic != PEOPLE else second  # people alone: another mechanism
    sampled = second if second.statistic in SAMPLED else first
    return replace(
        counted, statistic=leader, also=also, by=first.by, epsilon=first.epsilon, pinned=first.pinned,
        target=first.target if leader == first.statistic or (first.statistic, leader) == (MEAN, SPREAD) else None,
        min_rows=second.min_rows or first.min_rows, whole_population=sampled.whole_population,
    )  # fmt: skip
