"""Statistics by group in a plan: which columns they take, what they read and which queries answer them.

A statistic is of some columns, *by* up to three others whose cells form the groups. Numbers and dates that form groups
are read in ranges by a public rule (``bin_ranges``). Everything here is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.core import ParameterError, Queries
from dpcore.core.sizes import MAX_GROUP_COLUMNS, MAX_ROWS
from dpcore.data.columns import LabelAndRest, Labels, Number, is_labels, is_number
from dpcore.data.declarations import Capped, DeclaredTable, bin_ranges
from dpcore.data.product import Product
from dpcore.data.readings import Columns, Reading
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.queries.marginals import Marginals
from dprelease.sizes import MAX_QUANTILES

GROUP_BINS = 10
"""Largest number of ranges of a number that forms groups."""
PEOPLE, SHARE, SUM, MEAN, SPREAD = "people", "share", "sum", "mean", "spread"
RATIO, SLOPE, QUANTILES = "ratio", "slope", "quantiles"


@dataclass(frozen=True, kw_only=True)
class StatisticKind:
    """One kind of statistic by group.

    Attributes:
        title: its name on a page.
        columns: number of columns that it is of.
        queries: key of the query class.
        entry_key: key of the mechanism that is planned first.
        degree: degree of the counters; 0 without counters.
    """

    title: str
    columns: int
    queries: str = GroupStatistics.key
    entry_key: str = "group-counters"
    degree: int = 1

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise ParameterError where the statistic is of another number of columns."""
        if len(columns) != self.columns:
            number = {0: "no column", 1: "one column"}.get(self.columns, "two columns")
            raise ParameterError(f"“{self.title}” is of {number}, by other columns.")


STATISTICS = {
    PEOPLE: StatisticKind(
        title="People", columns=0, queries=Marginals.key, entry_key="direct-tables", degree=0
    ),
    SHARE: StatisticKind(title="Share", columns=1),
    SUM: StatisticKind(title="Sum", columns=1),
    MEAN: StatisticKind(title="Mean", columns=1),
    SPREAD: StatisticKind(title="Mean and spread", columns=1, degree=2),
    RATIO: StatisticKind(title="Ratio of sums", columns=2),
    SLOPE: StatisticKind(title="Slope and correlation", columns=2, degree=2),
    QUANTILES: StatisticKind(
        title="Quantiles", columns=1, queries=GroupQuantiles.key, entry_key="group-quantiles", degree=0
    ),
}  # fmt: skip
"""Kinds of statistics by group, by key."""
SAMPLED = (SHARE, SPREAD)
"""Those of which a release also says how far a sample may lie from its population."""
FOLLOWING = {SHARE: (PEOPLE,), SUM: (MEAN, PEOPLE), MEAN: (SUM, PEOPLE), SPREAD: (SUM, PEOPLE)}
"""Statistics that follow from the counters of another one, of the same column by the same groups."""


def check_shape(
    statistic: str,
    columns: Sequence[str],
    by: Sequence[str],
    *,
    queries: str,
    min_rows: int = 0,
    quantiles: Sequence[float] = (),
    whole_population: bool = False,
    also: Sequence[str] = (),
    label: str = "",
) -> None:
    """Raise ParameterError with one sentence where a statistic does not take these columns and settings."""
    kind = STATISTICS.get(statistic)
    if kind is None:
        raise ParameterError(f"A statistic by group is one of {', '.join(STATISTICS)}.")
    kind.check_columns(columns)
    if not len(set((*columns, *by))) == len(columns) + len(by) <= kind.columns + MAX_GROUP_COLUMNS:
        raise ParameterError(f"Groups are formed by at most {MAX_GROUP_COLUMNS} columns, each named once.")
    if not (columns or by):
        raise ParameterError("A number of people is by at least one column.")
    if queries != kind.queries:
        raise ParameterError(f"The queries of “{kind.title}” are “{kind.queries}”.")
    if not 0 <= min_rows <= MAX_ROWS:
        raise ParameterError(f"The smallest group has between 0 and {MAX_ROWS:,} rows.")
    if len(quantiles) > MAX_QUANTILES:
        raise ParameterError(f"A statistic has at most {MAX_QUANTILES} quantiles.")
    if bool(quantiles) != (statistic == QUANTILES):
        raise ParameterError("Quantiles need the shares of the rows below them, and other statistics have none.")
    if label and statistic != SHARE:
        raise ParameterError("Only a share is of a label.")
    if whole_population and statistic not in SAMPLED:
        raise ParameterError("Only of a share, or of a mean with its spread, is it declared that everybody is there.")
    if len(set(also)) < len(also) or not {*also} <= {*FOLLOWING.get(statistic, ())}:
        raise ParameterError(f"The counters of “{kind.title}” do not release all of: {', '.join(also)}.")


def group_reading(table: DeclaredTable, columns: Sequence[str], by: Sequence[str], *, label: str = "") -> Reading:
    """Return the reading of the columns that form groups, then of the measured ones, with all their cells.

    Args:
        table: the declared table.
        columns: measured columns.
        by: columns that form groups.
        label: of which a share is; empty for other statistics, and for the second of two labels.
    """
    grouped = [table.on(name) for name in by]
    domains = [bin_ranges(on, bins=GROUP_BINS) if is_number(on) else on for on in grouped]
    names, measured = (*by, *columns), [table.on(name) for name in columns]
    if label:
        measured = [label_and_rest(on, label) for on in measured]
    product = Product(names=names, columns=(*domains, *measured))
    reading = Columns(names=names, on=product)
    return Capped(reading=reading, person=table.person, rows=table.person_rows) if table.person else reading


def group_queries(
    domain: Product,
    statistic: str,
    *,
    quantiles: tuple[float, ...] = (),
    min_rows: int = 0,
    whole_population: bool = False,
) -> Queries:
    """Return the queries of a statistic, whose columns stand last in the domain.

    Raises:
        ParameterError: the statistic is not of such columns.
    """
    kind, count = STATISTICS[statistic], domain.attributes
    if statistic == PEOPLE:
        return Marginals(domain=domain, ways=count)
    numbers = tuple(range(count - kind.columns, count))
    measured = [domain.columns[place] for place in numbers]
    if statistic == SHARE and measured[0].mean_name != "proportion":
        raise ParameterError("A share is of one label: name it, or take a column of two labels.")
    if statistic != SHARE and not all(each.mean_name == "mean" for each in measured):
        raise ParameterError(f"“{kind.title}” is of columns of numbers with equal cells.")
    if statistic == QUANTILES:
        return GroupQuantiles(domain=domain, numbers=numbers, quantiles=quantiles)
    return GroupStatistics(
        domain=domain, numbers=numbers, degree=kind.degree, min_rows=min_rows, whole_population=whole_population
    )


def has_shares(on: Number | Labels) -> bool:
    """Return whether there is a share of a column's labels: of at least two."""
    return is_labels(on) and len(on.labels) > 1


def label_and_rest(on: Number | Labels, label: str) -> Labels:
    """Return two cells of a column of labels, of which the second is this label; as declared where that is so already.

    The rows with the label are counted as they are: the share has no other noise than that of the second label.

    Raises:
        ParameterError: the column has no such label, or no other.
    """
    if not (is_labels(on) and has_shares(on) and label in on.labels):
        raise ParameterError("A share is of one of the declared labels of its column, which has at least two.")
    if on.labels[1:] == (label,):
        return on
    return LabelAndRest(labels=on.labels, missing=on.missing, yes_no=on.yes_no, label=label)


def declared_groups(domain: Product, statistic: str) -> int:
    """Return the number of groups of declared cells, without the reserved cells for other values."""
    count = 1
    for column in domain.columns[: domain.attributes - STATISTICS[statistic].columns]:
        count *= column.ordered
    return count
