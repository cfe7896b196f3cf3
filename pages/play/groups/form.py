"""The query "Mean by group": the columns that form groups, its settings, and the request they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st
from typing_extensions import override

from dpcore.core import Neighbours, Problem
from dpcore.data.columns import is_labels, is_number
from dpcore.data.declarations import Capped, DeclaredColumn, DeclaredTable
from dpcore.data.product import Product
from dpcore.data.sources import Bundled, Source, Uploaded
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.queries.groups import GroupStatistics
from dpcore.queries.linear import LinearQueries
from dprelease.plan.groups import MEAN, SPREAD, group_queries, group_reading
from pages.charts.words import printable_labels
from pages.data.declare import declared_columns
from pages.data.engines import is_engine_table
from pages.data.upload import SessionFile, session_file
from pages.shell.controls import choice, stops
from pages.shell.links import in_link
from pages.shell.private.twin import is_twin
from pages.shell.request import PageRequest

TITLE = "Mean by group: the mean of this number in each group of rows."
NO_COLUMN = ""
PEOPLE_STOPS = (0, 5, 10, 20, 50, 100, 200)
MAX_ROWS = 10**9


@dataclass(frozen=True, kw_only=True)
class GroupColumns:
    """A number and the columns of labels that may form groups of its rows.

    Attributes:
        table: their declaration.
        number: the number.
        titles: of the columns of labels, by name.
        file: the user's own file; None for a bundled sample.
        bundled: the bundled sample; None for a file.
    """

    table: DeclaredTable
    number: str
    titles: Mapping[str, str]
    file: SessionFile | None = None
    bundled: Bundled | None = None

    def source(self, by: tuple[str, ...]) -> Source:
        """Return the rows of these groups, as declared."""
        origin = self.file.origin if self.file else self.bundled
        assert origin is not None
        return Source(origin=origin, reading=group_reading(self.table, (self.number,), by))


def group_columns(source: Source) -> GroupColumns | None:
    """Return the columns that may form groups of a source's number; None for other data, or where there is none."""
    number = source.columns[0] if source.columns else ""
    if not is_number(source.domain) or not source.domain.mean_name or not number:
        return None
    if isinstance(source.origin, Bundled):
        sample, reading = source.origin.sample, source.reading
        table = DeclaredTable(columns=tuple(DeclaredColumn(name=each.name, on=each.on) for each in sample.columns))
        if isinstance(reading, Capped):
            table = replace(table, person=reading.person, person_rows=reading.rows)
        titles = {each.name: each.title for each in sample.groups}
        return GroupColumns(table=table, number=number, titles=titles, bundled=source.origin) if titles else None
    file = session_file() if isinstance(source.origin, Uploaded) or is_twin(source) else None
    if file is None or is_engine_table(file):
        return None
    table, _ = declared_columns(file)
    names = [column.name for column in table.used if is_labels(column.on) and column.on.ordered > 1]
    if not names or not any(column.name == number and column.on.mean_name for column in table.used):
        return None
    titles = dict(zip(names, printable_labels(names), strict=True))
    return GroupColumns(table=table, number=number, titles=titles, file=file)


def ask_groups(columns: GroupColumns) -> tuple[Source, GroupStatistics, int]:
    """Draw the controls; return the rows, their statistics, and below how many people a group is hidden."""
    first = _pick(columns, "Groups", "by", columns.titles)
    others = {name: title for name, title in columns.titles.items() if name != first}
    second = _pick(columns, "and", "by-second", {NO_COLUMN: "—", **others}) if others else NO_COLUMN
    hide_below = int(
        stops(
            "Hide groups with fewer people than", PEOPLE_STOPS, 10, key="hide-below",
            help_text="Compared with the released number of people, so hiding costs no privacy.",
        )
    )  # fmt: skip
    smallest = st.number_input(
        "Smallest group (people)", 1, MAX_ROWS, None, key=in_link("smallest-group"), bind="query-params",
        placeholder="not declared",
        help="How many people every group has at least, if that is public. The theorem needs it.",
    )  # fmt: skip
    help_text = "The release then holds the variance of each group as well, from the same noise."
    sampling = st.toggle(
        "Show sampling error", value=True, key=in_link("sampling"), bind="query-params", help=help_text
    )
    rows = columns.source(tuple(filter(None, (first, second))))
    domain = rows.on(Product)
    queries = group_queries(domain, SPREAD if sampling else MEAN, min_rows=int(smallest or 0))
    assert isinstance(queries, GroupStatistics)
    return rows, queries, hide_below


def _pick(columns: GroupColumns, label: str, key: str, titles: Mapping[str, str]) -> str:
    """Draw a choice of a column and return its name; a link holds no name of a user's column."""
    help_text = "A column of the same rows. Its labels define the groups."
    if columns.file is None:
        return choice(label, titles, key=key, help_text=help_text)
    key = f"{columns.file.prefix}{key}"
    return str(
        st.selectbox(
            label, list(titles), key=key, format_func=lambda name: titles[name], help=help_text, persist_state="session"
        )
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GroupRequest(PageRequest[GroupStatistics]):
    """The settings of means by group.

    Attributes:
        beta: one less the level of intervals and guarantees.
        trials: previewed releases.
        nominal: the public n where rows are added or removed.
        hide_below: released number of people below which a group is hidden.
    """

    beta: float
    trials: int
    nominal: int | None
    hide_below: int

    @property
    def weights(self) -> LinearQueries | None:
        """None: the app's own class of queries, whose results sessions may share."""
        return None

    @property
    def level(self) -> float:
        """Level of each interval."""
        return 1 - self.beta

    @override
    def problem(self, n: int) -> Problem:
        """Return the public problem for n rows; where rows are added or removed, for the public n."""
        if self.neighbours is Neighbours.ADD_REMOVE_ONE and self.nominal is not None:
            n = self.nominal
        return Problem(domain=self.queries.domain, queries=self.queries, n=n, neighbours=self.neighbours)

    def mechanism(self, epsilon: float | None = None) -> GroupMechanism:
        """Return the mechanism, at another ε if one is given."""
        values = self.values if epsilon is None else {**self.values, "epsilon": epsilon}
        mechanism = self.entry.make(**values)
        assert isinstance(mechanism, GroupMechanism)
        return mechanism
