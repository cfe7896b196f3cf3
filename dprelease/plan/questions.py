"""A plan: questions about one declared table, each with a mechanism and an ε. Public; it holds no row.

Its file is versioned JSON; unknown contents are refused in one sentence:

    {"format": "dpscope-plan/2",
     "table": {"type": "DeclaredTable",
               "columns": [{"type": "DeclaredColumn", "name": "age", "on": {"type": "Number", "bits": 7}}]},
     "relation": "add_remove_one", "n": 5000, "beta": "0.05",
     "questions": [{"columns": ["age"], "queries": "intervals", "epsilon": "0.5",
                    "mechanism": {"key": "identity", "parameters": {}}, "target": "0.01"}]}

"file_format" is present, as in a request, where the table's file needs other settings than the default. A statistic by
group also has "statistic", "by" (the columns that form groups) and perhaps "min_rows" and "quantiles".

>>> from dpcore.data.declarations import DeclaredColumn, DeclaredTable
>>> from dpcore.data.columns import Labels, Number
>>> table = DeclaredTable(columns=(DeclaredColumn(name="age", on=Number(high=128, bits=7)),
...                                DeclaredColumn(name="smoker", on=Labels(yes_no=True))))
>>> plan = Plan(table=table, n=5000, questions=(
...     PlannedQuestion(columns=("age",), queries="intervals", entry_key="identity", epsilon=0.5),
...     PlannedQuestion(columns=("smoker",), queries="cells", entry_key="identity", epsilon=0.25)))
>>> plan.cost.sentence()
'ε = 0.75 (add or remove one row)'
>>> Plan.read(plan.text) == plan
True
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from dpcore.core import (
    Entry,
    Guarantee,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    Queries,
    exactly,
)
from dpcore.data.declarations import Capped, DeclaredTable
from dpcore.data.product import is_table
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.readings import Reading
from dpcore.mechanisms import entry as entry_of
from dpcore.mechanisms import serving
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import classes_for
from dprelease.ledger.canonical import canonical, parse_document
from dprelease.plan.groups import PEOPLE, check_shape, group_queries, group_reading
from dprelease.plan.predicates import cut_at
from dprelease.requests.codec import (
    canonical_format,
    check_fields,
    check_format,
    decode,
    decode_format,
    decode_number,
    decode_relation,
    encode,
    encode_format,
)
from dprelease.requests.parts import MAX_PARTS, Request, RequestPart, decode_parameters, encode_parameters
from dprelease.requests.vector import total

FORMAT = "dpscope-plan/2"
MAX_QUESTIONS = MAX_PARTS
MAX_QUANTILES = 99
"""Largest number of quantiles of one statistic."""
RELEASED = ("data", "value", "answers", "groups")
"""Kinds of releases of a question's mechanism: counts, one value, tables, or statistics of groups."""
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
PEOPLE_ENTRIES = ("direct-tables",)
"""Mechanisms of numbers of people by group, all of whose counts have noise of one law."""


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
            )
        elif self.by or self.min_rows or self.quantiles:
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


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Questions about one table, and their total privacy cost.

    Attributes:
        table: the declared table.
        n: number of rows, where one is replaced; else a public nominal number.
        questions: the questions in order, at least one.
        neighbours: the neighbouring relation.
        beta: failure probability of guarantees and targets.
        file_format: settings for reading the table's file; ``Format()`` for the default.
    """

    table: DeclaredTable
    n: int
    questions: tuple[PlannedQuestion, ...]
    neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE
    beta: float = 0.05
    file_format: Format = USUAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "file_format", canonical_format(self.file_format))
        if not 1 <= len(self.questions) <= MAX_QUESTIONS:
            raise ParameterError(f"A plan has between 1 and {MAX_QUESTIONS} statistics, got {len(self.questions)}.")
        if not 0 < self.beta < 1:
            raise ParameterError(f"The failure probability β must lie between 0 and 1, got {self.beta!r}.")
        object.__setattr__(self, "questions", tuple(map(self._with_suitable_mechanism, self.questions)))
        # Validate now: unknown columns, a mechanism that does not serve the queries, a value out of range.
        for question in self.questions:
            entry = question.entry
            if question.releases not in RELEASED or "epsilon" not in entry.controls():
                raise ParameterError(
                    f"{entry.title} does not release data, tables or a value, so it cannot be in a plan."
                )
            if question.releases == "value" and not question.quantity:
                raise ParameterError(f"{entry.title} cannot be in a plan yet.")
            if not entry.serves(self.problem(question).queries):
                raise ParameterError(f"{entry.title} cannot release this statistic.")
            if question.statistic:
                self.mechanism(question).check_size(self.problem(question))
        _ = self.cost

    def _with_suitable_mechanism(self, question: PlannedQuestion) -> PlannedQuestion:
        """Return the question, with another mechanism if its own would divide by a wrong number of rows."""
        if not question.quantity or not self.mechanism(question).unsuitable(self.problem(question)):
            return question
        key = QUANTITIES[question.quantity][0]
        return replace(question, entry_key=key, values=question.values_for(key))

    def reading(self, question: PlannedQuestion) -> Reading:
        """Return the reading of the question's columns."""
        if question.lines:
            return cut_at(question.lines, question.columns, self.table)
        if question.statistic:
            return group_reading(self.table, question.columns, question.by)
        return (self.table.whole if question.ways else self.table.reading)(*question.columns)

    def problem(self, question: PlannedQuestion) -> Problem:
        """Return the public problem of a question."""
        domain = self.reading(question).domain
        queries: Queries
        if question.statistic:
            assert is_table(domain)
            queries = group_queries(
                domain, question.statistic, quantiles=question.quantiles, min_rows=question.min_rows
            )
        elif is_table(domain) and question.queries == Marginals.key:
            queries = Marginals(domain=domain, ways=question.ways or len(question.columns))
        else:
            classes = {kind.key: kind for kind in classes_for(domain)}
            if question.queries not in classes:
                raise ParameterError(f"Statistics of these columns: {', '.join(classes) or 'tables'}.")
            queries = classes[question.queries](domain=domain)
        return Problem(domain=domain, queries=queries, n=self.n, neighbours=self.neighbours)

    def mechanism(self, question: PlannedQuestion) -> Mechanism:
        """Return the question's mechanism with all its parameters."""
        return question.entry.make(**question.values, epsilon=question.epsilon)

    def guarantee(self, question: PlannedQuestion) -> Guarantee:
        """Return the guarantee of one question for the unit of protection, a row or a person."""
        rows = self.table.person_rows if self.table.person else 0
        return self.mechanism(question).person_guarantee(self.problem(question), rows)

    def proved(self, question: PlannedQuestion) -> dict[str, Entry]:
        """Return the entries that can release the same statistic with a guarantee, by key."""
        problem, entries = self.problem(question), {}
        keys = PEOPLE_ENTRIES if question.statistic == PEOPLE else QUANTITIES.get(question.quantity, ())
        for entry in serving(problem.queries, releases=question.releases):
            if (keys and entry.key not in keys) or (entry.key == WHOLE_TABLE) != (question.entry_key == WHOLE_TABLE):
                continue
            try:
                mechanism = entry.make(**question.values_for(entry.key))
                guarantee = mechanism.guarantee(problem)
                if mechanism.unsuitable(problem):
                    continue
                if question.releases == "answers":
                    mechanism.accuracy(problem, self.beta)
            except ParameterError:  # no guarantee on these cells or under this relation
                continue
            if guarantee.releasable and not guarantee.gamma and "epsilon" in entry.controls():
                entries[entry.key] = entry
        return entries

    @cached_property
    def cost(self) -> Guarantee:
        """Guarantee of all questions together: of one vector where all noise is Gaussian, else the sums."""
        parts = [(self.mechanism(question), self.problem(question)) for question in self.questions]
        return total(parts, person_rows=self.table.person_rows if self.table.person else 0)

    def part(self, question: PlannedQuestion) -> RequestPart:
        """Return the question as a part of a request.

        The registration of the data limits the rows of a person; the request reads the columns alone.
        """
        problem, reading = self.problem(question), self.reading(question)
        return RequestPart(
            reading=reading.reading if isinstance(reading, Capped) else reading,
            queries=problem.queries,
            n=self.n,
            neighbours=self.neighbours,
            entry_key=question.entry_key,
            values={**question.values, "epsilon": question.epsilon},
        )

    def request(self, *, draw: int = 1) -> Request:
        """Return the request for all questions, which is one charge of the plan's cost."""
        return Request(
            parts=tuple(self.part(question) for question in self.questions),
            person=self.table.person,
            rows_a_person=self.table.person_rows if self.table.person else 1,
            draw=draw,
            file_format=self.file_format,
        )

    def with_losses(self, losses: Mapping[int, float]) -> Self:
        """Return the plan with other values of ε for the questions at these indices."""
        changed = (replace(each, epsilon=losses.get(place, each.epsilon)) for place, each in enumerate(self.questions))
        return replace(self, questions=tuple(changed))

    @cached_property
    def document(self) -> dict[str, Any]:
        """Contents of the plan's file; parameters at their defaults are left out."""
        return {
            "format": FORMAT,
            "table": encode(self.table),
            "relation": self.neighbours.value,
            "n": self.n,
            "beta": exactly(self.beta),
            "questions": [_question_document(self, question) for question in self.questions],
        } | encode_format(self.file_format)

    @property
    def text(self) -> bytes:
        """Bytes of the plan's file."""
        return canonical(self.document)

    @classmethod
    def read(cls, text: str | bytes) -> Self:
        """Read a plan from a file; raises ParameterError with one sentence for unknown contents or invalid values."""
        document = parse_document(text, what="plan")
        check_format(document, "plan", FORMAT)
        check_fields(
            document, "plan", {"format", "table", "relation", "n", "questions"}, optional={"beta", "file_format"}
        )
        if not isinstance(document["questions"], list):
            raise ParameterError("The plan's statistics must be a list.")
        return cls(
            table=decode(document["table"], DeclaredTable),
            n=document["n"],
            questions=tuple(_read_question(each) for each in document["questions"]),
            neighbours=decode_relation(document["relation"]),
            beta=decode_number(document.get("beta", "0.05"), "The plan's beta"),
            file_format=decode_format(document),
        )


def _question_document(plan: Plan, question: PlannedQuestion) -> dict[str, Any]:
    """Return a question as the file's mapping."""
    parameters = encode_parameters(question.entry, plan.mechanism(question))
    document: dict[str, Any] = {
        "columns": list(question.columns),
        "queries": question.queries,
        "mechanism": {
            "key": question.entry_key,
            "parameters": {name: value for name, value in parameters.items() if name != "epsilon"},
        },
        "epsilon": exactly(question.epsilon),
    }
    if question.target is not None:
        document["target"] = exactly(question.target)
    more = {
        "pinned": question.pinned,
        "ways": question.ways,
        "asks": list(question.lines),
        "statistic": question.statistic,
        "by": list(question.by),
        "min_rows": question.min_rows,
        "quantiles": [exactly(share) for share in question.quantiles],
    }
    return document | {name: value for name, value in more.items() if value}


def _read_question(document: Any) -> PlannedQuestion:
    """Read a question from the file's mapping."""
    optional = {"target", "pinned", "ways", "asks", "statistic", "by", "min_rows", "quantiles"}
    check_fields(document, "question", {"columns", "queries", "mechanism", "epsilon"}, optional=optional)
    check_fields(document["mechanism"], "mechanism of the statistic", {"key"}, optional={"parameters"})
    columns, queries, mechanism = document["columns"], document["queries"], document["mechanism"]
    if not isinstance(columns, list) or not all(isinstance(each, str) for each in [*columns, queries]):
        raise ParameterError("The columns of a statistic must be a list of strings, and its queries a string.")
    if not isinstance(document.get("pinned", False), bool):
        raise ParameterError("The field “pinned” of a statistic must be true or false.")
    ways, lines = document.get("ways", 0), document.get("asks", [])
    if type(ways) is not int or not isinstance(lines, list) or not all(isinstance(each, str) for each in lines):
        raise ParameterError("The ways of a statistic must be an integer, and its asks a list of strings.")
    statistic, by = document.get("statistic", ""), document.get("by", [])
    min_rows, quantiles = document.get("min_rows", 0), document.get("quantiles", [])
    if not isinstance(statistic, str) or not isinstance(by, list) or not all(isinstance(each, str) for each in by):
        raise ParameterError("The name of a statistic by group must be a string, and its groups a list of columns.")
    if type(min_rows) is not int or not isinstance(quantiles, list) or len(quantiles) > MAX_QUANTILES:
        raise ParameterError(
            f"The smallest group must be an integer, and the quantiles a list of at most {MAX_QUANTILES}."
        )
    entry = entry_of(mechanism["key"] if isinstance(mechanism["key"], str) else "")
    epsilon, target = decode_number(document["epsilon"], "The ε of a statistic"), document.get("target")
    if not 0 < epsilon < math.inf:
        raise ParameterError("The ε of a statistic must be above 0.")
    return PlannedQuestion(
        columns=tuple(columns),
        queries=queries,
        entry_key=entry.key,
        epsilon=epsilon,
        values=decode_parameters(entry, mechanism.get("parameters", {})),
        target=None if target is None else decode_number(target, "The target of a statistic"),
        pinned=document.get("pinned", False),
        ways=ways,
        lines=tuple(lines),
        statistic=statistic,
        by=tuple(by),
        min_rows=min_rows,
        quantiles=tuple(decode_number(each, "A quantile of a statistic") for each in quantiles),
    )
