"""Bundled tables by group: hourly earnings by gender and region, weekly hours by education and sex, and medical costs.

Bounds and labels are public. The groups of medical costs are insurance plan by sex; a row, not a person, is protected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpcore import Dataset, Labels, Neighbours, Number, Problem, Product, Provenance, ProvenanceKind
from dpcore.core import Floats, Integers
from dpcore.data.columns import is_number
from dpcore.data.samples import load_sample
from dpcore.queries.groups import GroupQuantiles, GroupQueries, GroupStatistics

EPSILONS = (0.1, 0.5, 1.0, 3.0)
SCHOOLS = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
    "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
PLANS = tuple(str(plan) for plan in range(1, 20) if plan != 12)
"""Plans of the experiment; none has the number 12."""


def _labels(*labels: str) -> Labels:
    return Labels(labels=labels, missing=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedTable:
    """A bundled table, the columns that form its groups, and further ones to measure.

    Attributes:
        title: what is measured.
        sample_key: of the bundled sample.
        groups: columns that form the groups.
        measured: further columns; the first is the number whose means are compared.
    """

    title: str
    sample_key: str
    groups: Mapping[str, Labels]
    measured: Mapping[str, Number | Labels]

    @property
    def main(self) -> str:
        """The number whose means are compared."""
        return next(iter(self.measured))

    @property
    def line(self) -> Number:
        """Its column."""
        column = self.measured[self.main]
        assert is_number(column)
        return column

    def with_cells(self, bins: int) -> GroupedTable:
        """Return the same table with the main number cut into so many cells."""
        return self.with_line(replace(self.line, bins=bins))

    def with_line(self, line: Number) -> GroupedTable:
        """Return the same table with another declaration of the main number."""
        return replace(self, measured={**self.measured, self.main: line})

    def statistics(self, *names: str, degree: int = 1) -> GroupStatistics:
        """Return the statistics of one measured column or two, the main one where none is named."""
        chosen = {name: self.measured[name] for name in names or (self.main,)}
        columns = {**self.groups, **chosen}
        domain = Product(names=tuple(columns), columns=tuple(columns.values()))
        places = tuple(range(len(self.groups), len(columns)))
        return GroupStatistics(domain=domain, numbers=places, degree=degree)

    def quantiles(self, shares: tuple[float, ...]) -> GroupQuantiles:
        """Return quantiles of the main number."""
        columns: dict[str, Number | Labels] = {**self.groups, self.main: self.line}
        domain = Product(names=tuple(columns), columns=tuple(columns.values()))
        return GroupQuantiles(domain=domain, quantiles=shares)

    def rows(self, queries: GroupQueries) -> tuple[Dataset, Problem]:
        """Return the rows on the domain of queries, and the problem, where a row is added or removed."""
        table, domain = load_sample(self.sample_key), queries.domain
        values = [column.values(table, name) for name, column in zip(domain.names, domain.columns, strict=True)]
        provenance = Provenance(kind=ProvenanceKind.BUNDLED, title=self.title)
        dataset = Dataset(domain, domain.encode(values), provenance)
        problem = Problem(domain=domain, queries=queries, n=dataset.n, neighbours=Neighbours.ADD_REMOVE_ONE)
        return dataset, problem

    def group_numbers(self, dataset: Dataset) -> Integers:
        """Return the number of each row's group, (n,)."""
        shape = [labels.size for labels in self.groups.values()]
        numbers: Integers = np.ravel_multi_index(tuple(dataset.records[:, : len(shape)].T), shape).astype(np.int64)
        return numbers

    def totals(self) -> tuple[Floats, Floats]:
        """Return the rows of each group and their sum of the main number within its bounds, not cut into cells."""
        dataset, _ = self.rows(self.statistics())
        groups = self.group_numbers(dataset)
        values = np.clip(load_sample(self.sample_key).numbers(self.main), self.line.low, self.line.high)
        return np.bincount(groups).astype(np.float64), np.bincount(groups, weights=values).astype(np.float64)


EARNINGS = GroupedTable(
    title="CPS: earnings by gender and region",
    sample_key="earnings",
    groups={"gender": _labels("female", "male"), "region": _labels("Northeast", "Midwest", "South", "West")},
    measured={"earnings": Number(high=80.0, bits=16), "education": Number(high=32.0, bits=5)},
)
HOURS = GroupedTable(
    title="Adult: hours by education and sex",
    sample_key="adult",
    groups={"education": _labels(*SCHOOLS), "sex": _labels("Female", "Male")},
    measured={
        "hours_per_week": Number(high=100.0, bits=16),
        "age": Number(high=128.0, bits=7),
        "income": _labels("<=50K", ">50K"),
    },
)
COSTS = GroupedTable(
    title="RAND: medical costs by plan and sex",
    sample_key="medical",
    groups={"plan": _labels(*PLANS), "female": _labels("0", "1")},
    measured={"meddol": Number(high=10_000.0, bits=16)},
)
TABLES = (EARNINGS, HOURS, COSTS)
