"""A plan: questions about one declared table, each with a mechanism and a privacy loss. Public; it holds no row.

As a file it is JSON, versioned; what it does not know it refuses in one sentence:

    {"format": "dpscope-plan/2",
     "table": {"type": "DeclaredTable",
               "columns": [{"type": "DeclaredColumn", "name": "age", "on": {"type": "Number", "bits": 7}}]},
     "relation": "add_remove_one", "n": 5000, "beta": "0.05",
     "questions": [{"columns": ["age"], "queries": "intervals", "epsilon": "0.5",
                    "mechanism": {"key": "identity", "parameters": {}}, "target": "0.01"}]}

"file_format" is there as in a request, where the table's file is not read in the usual way.

>>> from dpcore.data.declared import DeclaredColumn, DeclaredTable
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
from dpcore.data.declared import Capped, DeclaredTable
from dpcore.data.product import is_table
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.readings import Reading
from dpcore.mechanisms import entry as entry_of
from dpcore.mechanisms import serving
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import classes_for
from dprelease.ledger.canonical import canonical, parse_document
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
RELEASED = ("data", "value", "answers")
"""What a question's mechanism may release: counts, one value, or tables."""
QUANTITIES = {
    "quantile": ("exponential_median", "stable_median"),
    "mean": ("counted-mean", "clipped_mean"),
    "commonest": ("subsample_commonest",),
}
"""Values of a column, and the mechanisms that release each; the first one suits every column."""
SHARED_PARAMETERS = {"quantile", "delta"}
"""Parameters that say what is asked, and how privately: they stay when another mechanism is taken."""
WHOLE_TABLE = "whole-table"
"""The mechanism whose tables become rows."""


@dataclass(frozen=True, kw_only=True)
class PlannedQuestion:
    """One thing to publish.

    Attributes:
        columns: of the table that are asked about.
        queries: key of the query class, as ``classes_for`` the columns' domain lists them, or that of tables.
        entry_key: of the catalogue.
        epsilon: this question's part of the privacy loss.
        values: the mechanism's other parameters; those left out have their usual values.
        target: largest error that is wanted, a share of n; None where none is named.
        pinned: whether its privacy loss stays when others are changed.
        ways: columns to a table, where all tables of so many of the columns are asked; else 0.
        lines: lines of text about these columns, as ``predicates`` reads them; their answers are what matters.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", dict(self.values))
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ParameterError("A question is about one column or several different ones.")
        if self.target is not None and not 0 < self.target < 1:
            raise ParameterError(f"A target error must lie between 0 and 1, got {self.target!r}.")
        if (self.queries == Marginals.key) != bool(self.ways or self.lines) or (self.ways and self.lines):
            raise ParameterError("Tables are asked by their number of columns, or by lines about all of them.")

    @property
    def entry(self) -> Entry:
        """The line of the catalogue."""
        return entry_of(self.entry_key)

    @property
    def releases(self) -> str:
        """One of RELEASED."""
        return self.entry.mechanism.releases

    @property
    def quantity(self) -> str:
        """The key of QUANTITIES, where a value is asked; else empty."""
        return next((name for name, keys in QUANTITIES.items() if self.entry_key in keys), "")

    def values_for(self, key: str) -> dict[str, Any]:
        """Parameters for a mechanism: its own for its own; for another which quantile is asked, and the slack."""
        if key == self.entry_key:
            return dict(self.values)
        return {
            name: value
            for name, value in self.values.items()
            if name in SHARED_PARAMETERS & set(entry_of(key).controls())
        }


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Questions of one table, and what all of them cost together.

    Attributes:
        table: as declared.
        n: rows, where one is replaced; else a public nominal number.
        questions: in order; at least one.
        neighbours: the relation.
        beta: failure chance of promises and targets.
        file_format: settings with which the table's file is read; ``Format()`` for the usual ones.
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
            raise ParameterError(f"A plan has between 1 and {MAX_QUESTIONS} questions, got {len(self.questions)}.")
        if not 0 < self.beta < 1:
            raise ParameterError(f"A failure chance must lie between 0 and 1, got {self.beta!r}.")
        object.__setattr__(self, "questions", tuple(map(self._suited, self.questions)))
        # Errors come now, in one sentence: unknown columns, a mechanism that does not serve, a value out of range.
        for question in self.questions:
            entry = question.entry
            if question.releases not in RELEASED or "epsilon" not in entry.controls():
                raise ParameterError(f"{entry.title} does not release data, tables or a value: a plan has no place.")
            if question.releases == "value" and not question.quantity:
                raise ParameterError(f"{entry.title} has no place in a plan yet.")
            if not entry.serves(self.problem(question).queries):
                raise ParameterError(f"{entry.title} does not serve this question.")
        _ = self.cost

    def _suited(self, question: PlannedQuestion) -> PlannedQuestion:
        """Return the question, with a mechanism whose answer is right where its own would divide by a wrong number."""
        if not question.quantity or not self.mechanism(question).unsuitable(self.problem(question)):
            return question
        key = QUANTITIES[question.quantity][0]
        return replace(question, entry_key=key, values=question.values_for(key))

    def reading(self, question: PlannedQuestion) -> Reading:
        """How the question's columns are read."""
        if question.lines:
            return cut_at(question.lines, question.columns, self.table)
        return (self.table.whole if question.ways else self.table.reading)(*question.columns)

    def problem(self, question: PlannedQuestion) -> Problem:
        """What the question's guarantee and promise are about."""
        domain = self.reading(question).domain
        queries: Queries
        if is_table(domain) and question.queries == Marginals.key:
            queries = Marginals(domain=domain, ways=question.ways or len(question.columns))
        else:
            kinds = {kind.key: kind for kind in classes_for(domain)}
            if question.queries not in kinds:
                raise ParameterError(f"Of these columns one may ask: {', '.join(kinds) or 'tables'}.")
            queries = kinds[question.queries](domain=domain)
        return Problem(domain=domain, queries=queries, n=self.n, neighbours=self.neighbours)

    def mechanism(self, question: PlannedQuestion) -> Mechanism:
        """With all its parameters."""
        return question.entry.make(**question.values, epsilon=question.epsilon)

    def guarantee(self, question: PlannedQuestion) -> Guarantee:
        """Of one question, for whoever is protected."""
        rows = self.table.person_rows if self.table.person else 0
        return self.mechanism(question).person_guarantee(self.problem(question), rows)

    def proved(self, question: PlannedQuestion) -> dict[str, Entry]:
        """What can be released and answers the same, by key: counts, the same value, tables, or rows made of tables."""
        problem, keys, found = self.problem(question), QUANTITIES.get(question.quantity, ()), {}
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
            except ParameterError:  # not on these cells, or not under this relation
                continue
            if guarantee.releasable and not guarantee.gamma and "epsilon" in entry.controls():
                found[entry.key] = entry
        return found

    @cached_property
    def cost(self) -> Guarantee:
        """Of all questions together: one vector where all noise is Gaussian, else the sums."""
        parts = [(self.mechanism(question), self.problem(question)) for question in self.questions]
        return total(parts, person_rows=self.table.person_rows if self.table.person else 0)

    def part(self, question: PlannedQuestion) -> RequestPart:
        """The question as a part of a request.

        Of a person's rows so many count as the data's registration says; the request reads the columns alone.
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
        """All questions as what is released in one press: one charge, the plan's cost."""
        return Request(
            parts=tuple(self.part(question) for question in self.questions),
            person=self.table.person,
            rows_a_person=self.table.person_rows if self.table.person else 1,
            draw=draw,
            file_format=self.file_format,
        )

    def with_losses(self, losses: Mapping[int, float]) -> Self:
        """The same plan with other privacy losses of the questions at these places."""
        changed = (replace(each, epsilon=losses.get(place, each.epsilon)) for place, each in enumerate(self.questions))
        return replace(self, questions=tuple(changed))

    @cached_property
    def document(self) -> dict[str, Any]:
        """As a file holds it; parameters at their usual values are left out."""
        return {
            "format": FORMAT,
            "table": encode(self.table),
            "relation": self.neighbours.value,
            "n": self.n,
            "beta": exactly(self.beta),
            "questions": [_told(self, question) for question in self.questions],
        } | encode_format(self.file_format)

    @property
    def text(self) -> bytes:
        """The file."""
        return canonical(self.document)

    @classmethod
    def read(cls, text: str | bytes) -> Self:
        """From a file; raises ParameterError, in one sentence, for whatever is not known or out of range."""
        document = parse_document(text, what="plan")
        check_format(document, "plan", FORMAT)
        check_fields(
            document, "plan", {"format", "table", "relation", "n", "questions"}, optional={"beta", "file_format"}
        )
        if not isinstance(document["questions"], list):
            raise ParameterError("The plan's questions must be a list.")
        return cls(
            table=decode(document["table"], DeclaredTable),
            n=document["n"],
            questions=tuple(_read(each) for each in document["questions"]),
            neighbours=decode_relation(document["relation"]),
            beta=decode_number(document.get("beta", "0.05"), "The plan's beta"),
            file_format=decode_format(document),
        )


def _told(plan: Plan, question: PlannedQuestion) -> dict[str, Any]:
    """A question as a file holds it."""
    parameters = encode_parameters(question.entry, plan.mechanism(question))
    told: dict[str, Any] = {
        "columns": list(question.columns),
        "queries": question.queries,
        "mechanism": {
            "key": question.entry_key,
            "parameters": {name: value for name, value in parameters.items() if name != "epsilon"},
        },
        "epsilon": exactly(question.epsilon),
    }
    if question.target is not None:
        told["target"] = exactly(question.target)
    more = {"pinned": question.pinned, "ways": question.ways, "asks": list(question.lines)}
    return told | {name: value for name, value in more.items() if value}


def _read(document: Any) -> PlannedQuestion:
    """A question from a file."""
    optional = {"target", "pinned", "ways", "asks"}
    check_fields(document, "question", {"columns", "queries", "mechanism", "epsilon"}, optional=optional)
    check_fields(document["mechanism"], "question's mechanism", {"key"}, optional={"parameters"})
    columns, queries, asked = document["columns"], document["queries"], document["mechanism"]
    if not isinstance(columns, list) or not all(isinstance(each, str) for each in [*columns, queries]):
        raise ParameterError("A question's columns are a list of texts, and its queries a text.")
    if not isinstance(document.get("pinned", False), bool):
        raise ParameterError("Whether a question is pinned must be true or false.")
    ways, asks = document.get("ways", 0), document.get("asks", [])
    if type(ways) is not int or not isinstance(asks, list) or not all(isinstance(each, str) for each in asks):
        raise ParameterError("A question's ways are a whole number, and its asks a list of texts.")
    entry = entry_of(asked["key"] if isinstance(asked["key"], str) else "")
    epsilon, target = decode_number(document["epsilon"], "A question's epsilon"), document.get("target")
    if not 0 < epsilon < math.inf:
        raise ParameterError("A question's epsilon must be above 0.")
    return PlannedQuestion(
        columns=tuple(columns),
        queries=queries,
        entry_key=entry.key,
        epsilon=epsilon,
        values=decode_parameters(entry, asked.get("parameters", {})),
        target=None if target is None else decode_number(target, "A question's target"),
        pinned=document.get("pinned", False),
        ways=ways,
        lines=tuple(asks),
    )
