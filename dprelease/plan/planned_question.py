"""One statistic of a plan: what it is of, its mechanism and ε, and its part of the plan's file. Public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpcore.core import Entry, Mechanism, ParameterError
from dpcore.data.declarations import DeclaredTable
from dpcore.mechanisms import entry as entry_of
from dpcore.queries.marginals import Marginals
from dprelease.plan.group_lines import QUARTILES
from dprelease.plan.groups import FOLLOWING, MEAN, PEOPLE, QUANTILES, SAMPLED, SHARE, SPREAD, STATISTICS, check_shape
from dprelease.plan.predicates import Lines
from dprelease.requests.codec import check_fields, decode_fields, encode_fields, fields_of
from dprelease.requests.parts import decode_parameters, encode_parameters
from dprelease.sizes import MAX_QUANTILES

QUANTITIES = {
    "quantile": ("exponential_median", "stable_median"),
    "mean": ("counted-mean", "clipped_mean"),
    "commonest": ("subsample_commonest",),
}
"""Quantities of a column and the mechanisms that release each; the first one suits every column."""
SHARED_PARAMETERS = {"quantile", "delta"}
"""Parameters of the statistic and its privacy, which a new mechanism takes over."""
WHOLE_TABLE = "whole-table"
"""Key of the mechanism that releases synthetic rows."""


@dataclass(frozen=True, kw_only=True)
class PlannedQuestion:
    """One statistic of a plan.

    Attributes:
        columns: columns of the table; of a statistic by group the measured ones, none for numbers of people.
        queries: key of the query class: one of ``classes_for`` the columns' domain, of tables, or of ``groups``.
        entry_key: key of the mechanism in the catalogue.
        epsilon: ε of this question.
        values: other parameters of the mechanism; omitted ones have their default.
        target: target for the worst error, a share of n; None without a target.
        pinned: whether its ε stays when others are changed.
        ways: columns per table, where all tables of so many columns are released; else 0.
        lines: lines of text about these columns, as ``predicates`` parses them; their answers are the queries.
        statistic: key of a statistic by group, one of ``groups.STATISTICS``; else empty.
        by: columns that form the groups.
        min_rows: rows of the smallest group, as declared; 0 where unknown.
        quantiles: shares of a group's rows, for quantiles by group.
        whole_population: whether everybody is in the table, so that a release has no interval for sampling.
        also: keys of other statistics of the same counters, which cost nothing more: see ``shared``.
        label: of which a share is; empty for the second of two labels.
    """

    columns: tuple[str, ...]
    queries: str
    entry_key: str
    epsilon: float
    values: Mapping[str, Any] = field(default_factory=dict)
    target: float | None = None
    pinned: bool = False
    ways: int = 0
    lines: tuple[str, ...] = ()
    statistic: str = ""
    by: tuple[str, ...] = ()
    min_rows: int = 0
    quantiles: tuple[float, ...] = ()
    whole_population: bool = False
    also: tuple[str, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", dict(self.values))
        if self.statistic:
            check_shape(
                self.statistic,
                self.columns,
                self.by,
                queries=self.queries,
                min_rows=self.min_rows,
                quantiles=self.quantiles,
                whole_population=self.whole_population,
                also=self.also,
                label=self.label,
            )
        elif self.by or self.min_rows or self.quantiles or self.whole_population or self.also or self.label:
            raise ParameterError("Only a statistic by group has columns that form groups, and a smallest group.")
        elif not self.columns or len(set(self.columns)) < len(self.columns):
            raise ParameterError("A statistic needs one column, or several different columns.")
        if self.target is not None and not 0 < self.target < 1:
            raise ParameterError(f"A target error must lie between 0 and 1, got {self.target!r}.")
        tables = self.queries == Marginals.key and self.statistic != PEOPLE
        if tables != bool(self.ways or self.lines) or (self.ways and self.lines):
            raise ParameterError("Tables need a number of columns, or lines about all columns.")

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read, those that form groups first."""
        return (*self.by, *self.columns)

    @property
    def entry(self) -> Entry:
        """Entry of the catalogue."""
        return entry_of(self.entry_key)

    @property
    def releases(self) -> str:
        """Kind of release, one of RELEASED."""
        return self.entry.mechanism.releases

    @property
    def quantity(self) -> str:
        """Key of QUANTITIES for a single value; else empty."""
        return next((name for name, keys in QUANTITIES.items() if self.entry_key in keys), "")

    def values_for(self, key: str) -> dict[str, Any]:
        """Return the parameters for a mechanism: all of them for its own, SHARED_PARAMETERS for another."""
        if key == self.entry_key:
            return dict(self.values)
        return {
            name: value
            for name, value in self.values.items()
            if name in SHARED_PARAMETERS & set(entry_of(key).controls())
        }


FIELDS = {
    "asks" if name == "lines" else name: each
    for name, each in fields_of(PlannedQuestion, left_out={"entry_key", "values"}).items()
}
"""What a plan's file has of a question, besides the mapping of its mechanism."""


def write_question(question: PlannedQuestion, mechanism: Mechanism) -> dict[str, Any]:
    """Return a question as the file's mapping, with the parameters of its mechanism."""
    parameters = encode_parameters(question.entry, mechanism)
    parameters.pop("epsilon", None)
    return encode_fields(question, FIELDS) | {"mechanism": {"key": question.entry_key, "parameters": parameters}}


def read_question(document: Any) -> PlannedQuestion:
    """Read a question from the file's mapping; raises ParameterError with one sentence for unknown contents."""
    values = decode_fields(document, FIELDS, "A statistic", others={"mechanism"})
    mechanism = document["mechanism"]
    check_fields(mechanism, "The mechanism of a statistic", {"key"}, optional={"parameters"})
    if not values["epsilon"] > 0:
        raise ParameterError("The ε of a statistic must be above 0.")
    entry = entry_of(mechanism["key"] if isinstance(mechanism["key"], str) else "")
    parameters = decode_parameters(entry, mechanism.get("parameters", {}))
    return PlannedQuestion(**values, entry_key=entry.key, values=parameters)


def group_question(statistic: str, columns: Sequence[str], by: Sequence[str], *, epsilon: float) -> PlannedQuestion:
    """Return a statistic by group with the mechanism that is planned first."""
    kind = STATISTICS[statistic]
    values = {"noise": "laplace"} if statistic == PEOPLE else {}
    quantiles = QUARTILES if statistic == QUANTILES else ()
    return PlannedQuestion(
        columns=tuple(columns), queries=kind.queries, entry_key=kind.entry_key, epsilon=epsilon, values=values,
        statistic=statistic, by=tuple(by), quantiles=quantiles,
    )  # fmt: skip


def questions_of_lines(parsed: Lines, *, epsilon: float) -> list[PlannedQuestion]:
    """Return the statistics that lines of text name, each with the mechanism that is planned first."""
    questions = [
        PlannedQuestion(
            columns=names, queries=Marginals.key, epsilon=epsilon, entry_key="direct-tables",
            values={"noise": "laplace"}, lines=lines,
        )
        for names, lines in parsed.lines.items()
    ]  # fmt: skip
    return questions + [
        replace(
            group_question(each.statistic, each.columns, each.by, epsilon=epsilon),
            min_rows=each.min_rows, quantiles=each.quantiles, label=each.label,
        )
        for each in parsed.groups
    ]  # fmt: skip


def shared(first: PlannedQuestion, second: PlannedQuestion, table: DeclaredTable) -> PlannedQuestion | None:
    """Return one question that releases the statistics of both from one draw, for one ε; None where there is none.

    The counters of one column in each group release people, sum, mean (or share) and, of degree 2, the spread; those of
    degree 2 also serve where degree 1 is enough. Quantiles of one column by the same groups follow from the same counts
    of cells. People follow where every row has a value. People of a plan that have Gaussian noise keep their draw:
    several such draws together cost less than their sum, which the counters' Laplace noise does not.

    It has the ε of the first, and its target where that is of the same scale.
    """
    if not (first.statistic and second.statistic) or {*first.by} != {*second.by}:
        return None
    if first.statistic == second.statistic == QUANTILES and first.columns == second.columns:
        shares = tuple(sorted({*first.quantiles, *second.quantiles}))
        min_rows = second.min_rows or first.min_rows
        return replace(first, quantiles=shares, min_rows=min_rows) if len(shares) <= MAX_QUANTILES else None

    if first.statistic == second.statistic == SHARE and first.label != second.label:
        return None
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
    if counted is not first and first.values.get("noise") != "laplace":
        return None
    sampled = second if second.statistic in SAMPLED else first
    return replace(
        counted, statistic=leader, also=also, by=first.by, epsilon=first.epsilon, pinned=first.pinned,
        target=first.target if leader == first.statistic or (first.statistic, leader) == (MEAN, SPREAD) else None,
        min_rows=second.min_rows or first.min_rows, whole_population=sampled.whole_population,
    )  # fmt: skip


def place_of_complement(questions: Sequence[PlannedQuestion], share: PlannedQuestion, table: DeclaredTable) -> int:
    """Return the number of the statistic, from 1, that is the share of the other one of two labels; 0 for none.

    Where everything else has a cell of its own, both are shares of the rows with one of the two labels.
    """
    if share.statistic != SHARE or len(table.on(share.columns[0]).cell_names) > 2:
        return 0
    same = [
        (each.statistic, each.columns, {*each.by}) == (SHARE, share.columns, {*share.by}) and each.label != share.label
        for each in questions
    ]
    return same.index(True) + 1 if True in same else 0


def sharing_draws(questions: Sequence[PlannedQuestion], table: DeclaredTable) -> list[PlannedQuestion]:
    """Return questions of the same statistics, with one for those that can share a draw."""
    together: list[PlannedQuestion] = []
    for each in questions:
        for place, before in enumerate(together):
            if (one := shared(before, each, table)) is not None:
                together[place] = one
                break
        else:
            together.append(each)
    return together
