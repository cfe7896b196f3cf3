"""Statistics in words, the same for a plan and for the request that it became: "Mean of income by region × sex"."""

from __future__ import annotations

from contextlib import suppress

from dpcore.core import ParameterError
from dpcore.data.declarations import DeclaredTable
from dpcore.data.reading.intake import clean_name
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds
from dprelease.plan.group_lines import DECILES, QUARTILES
from dprelease.plan.groups import MEAN, PEOPLE, QUANTILES, RATIO, SHARE, SLOPE, STATISTICS
from dprelease.plan.planned_question import WHOLE_TABLE, PlannedQuestion
from dprelease.plan.released_part import main_question, table_of_part
from dprelease.requests.parts import Request, RequestPart

RANGE_TITLES = {
    Cells.key: "Histogram",
    Intervals.key: "Counts in ranges",
    Thresholds.key: "Counts below each value",
    Rectangles.key: "Counts in rectangles",
}
"""Titles of statistics that count rows, by class of queries."""
NAMED_QUANTILES = {(0.5,): "Median", QUARTILES: "Quartiles", DECILES: "Deciles"}
MAX_NAMED = 3
"""Maximum number of columns that a title names."""


def part_title(request: Request, part: RequestPart) -> str:
    """Return a part of a request in the words of the plan; its mechanism is not named."""
    table = table_of_part(request, part)
    if table is not None:
        with suppress(ParameterError):  # no statistic of a plan
            question = main_question(part)
            if question.statistic or question.ways or question.quantity or question.queries in RANGE_TITLES:
                title = question_title(table, question)
                # Both are released together, and a request does not say which of them was planned.
                return title.replace("Mean of", "Mean and sum of", 1) if question.statistic == MEAN else title
    return f"{part.queries.title.partition(':')[0]} of {' × '.join(map(clean_name, part.reading.columns))}"


def question_title(table: DeclaredTable, question: PlannedQuestion) -> str:
    """Return a statistic in words: "mean of income"; column names from a plan's file are cleaned."""
    if question.statistic:
        return group_title(table, question)
    quantity, columns = "", " × ".join(map(clean_name, question.columns))
    if question.lines:
        quantity = f"{len(question.lines)} line{'s' * (len(question.lines) > 1)}"
    elif question.ways:
        quantity = "Synthetic rows" if question.entry_key == WHOLE_TABLE else f"Tables of {question.ways}"
        columns = columns if len(question.columns) <= MAX_NAMED else f"{len(question.columns)} columns"
    elif question.quantity:
        quantity = {"quantile": f"Quantile {question.values.get('quantile', 0.5):g}"}.get(
            question.quantity, question.quantity.capitalize()
        )
    else:
        quantity = RANGE_TITLES.get(question.queries, question.queries)
    return f"{quantity} of {columns}"


def group_title(table: DeclaredTable, question: PlannedQuestion) -> str:
    """Return a statistic by group in words: "Mean of income by region × sex"."""
    titles = [statistic_title(table, question), *(title.lower() for title in following_titles(table, question))]
    by = f" by {' × '.join(map(clean_name, question.by))}" if question.by else ""
    return ", ".join(titles) + by


def following_titles(table: DeclaredTable, question: PlannedQuestion) -> list[str]:
    """Return what the other statistics of the same counters are called: "Sum", "People"."""
    people = "People" if not table.person else "Rows"
    return [people if each == PEOPLE else STATISTICS[each].title for each in question.also]


def statistic_title(table: DeclaredTable, question: PlannedQuestion) -> str:
    """Return what the statistic is of, without its groups."""
    names, title = [clean_name(name) for name in question.columns], STATISTICS[question.statistic].title
    if question.statistic == PEOPLE:
        return title if not table.person else "Rows"
    if question.statistic == SHARE:
        return f"Share with {names[0]} = {share_label(table, question)}"
    if question.statistic == RATIO:
        return f"Ratio of {names[0]} to {names[1]}"
    if question.statistic == SLOPE:
        return f"Slope and correlation of {names[0]} on {names[1]}"
    if question.statistic == QUANTILES:
        shares = ", ".join(f"{share:g}" for share in question.quantiles)
        title = NAMED_QUANTILES.get(question.quantiles, f"Quantiles {shares}")
    return f"{title} of {names[0]}"


def share_label(table: DeclaredTable, question: PlannedQuestion) -> str:
    """Return the label of which a share is released: the named one, else the second of two."""
    return clean_name(question.label or table.on(question.columns[0]).describe(1))
