"""A plan: questions about one declared table, each with a mechanism and an ε. Public; it holds no row.

Its file is versioned JSON; unknown contents are refused in one sentence:

    {"format": "dpscope-plan/2",
     "table": {"type": "DeclaredTable",
               "columns": [{"type": "DeclaredColumn", "name": "age", "on": {"type": "Number", "bits": 7}}]},
     "relation": "add_remove_one", "n": 5000, "beta": "0.05",
     "questions": [{"columns": ["age"], "queries": "intervals", "epsilon": "0.5",
                    "mechanism": {"key": "identity", "parameters": {}}, "target": "0.01"}]}

"file_format" is present, as in a request, where the table's file needs other settings than the default. A statistic by
group also has "statistic", "by" (the columns that form groups) and perhaps "min_rows", "quantiles",
"whole_population", "also" (other statistics of the same counters) and "label" (of which a share is, where it is not the
second of two). Intervals of another level than 95% are named by
"level", as in a request.

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

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
from dpcore.core.documents import parse_document
from dpcore.core.notebook import html_facts, html_lines
from dpcore.data.declarations import Capped, DeclaredTable
from dpcore.data.product import is_table
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.readings import Reading
from dpcore.mechanisms import serving
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import classes_for
from dprelease.ledger.canonical import canonical
from dprelease.plan.groups import PEOPLE, group_queries, group_reading
from dprelease.plan.planned_question import QUANTITIES, WHOLE_TABLE, PlannedQuestion, read_question, write_question
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
from dprelease.requests.intervals import LEVEL, check_release_level
from dprelease.requests.parts import Request, RequestPart, decode_level, encode_level
from dprelease.requests.vector import total
from dprelease.sizes import MAX_PARTS

FORMAT = "dpscope-plan/2"
MAX_QUESTIONS = MAX_PARTS
RELEASED = ("data", "value", "answers", "groups")
"""Kinds of releases of a question's mechanism: counts, one value, tables, or statistics of groups."""
PEOPLE_ENTRIES = ("direct-tables",)
"""Mechanisms of numbers of people by group, all of whose counts have noise of one law."""


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
        level: of the intervals of its release: 0.9, 0.95 or 0.99.
    """

    table: DeclaredTable
    n: int
    questions: tuple[PlannedQuestion, ...]
    neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE
    beta: float = 0.05
    file_format: Format = USUAL
    level: float = LEVEL

    def __post_init__(self) -> None:
        object.__setattr__(self, "file_format", canonical_format(self.file_format))
        if not 1 <= len(self.questions) <= MAX_QUESTIONS:
            raise ParameterError(f"A plan has between 1 and {MAX_QUESTIONS} statistics, got {len(self.questions)}.")
        if not 0 < self.beta < 1:
            raise ParameterError(f"The failure probability β must lie between 0 and 1, got {self.beta!r}.")
        check_release_level(self.level)
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
            if PEOPLE in question.also and self.table.on(question.columns[0]).missing:
                raise ParameterError(f"Rows without “{question.columns[0]}” are not counted with its statistics.")
        _ = self.cost

    def _with_suitable_mechanism(self, question: PlannedQuestion) -> PlannedQuestion:
        """Return the question, with another mechanism if its own would divide by a wrong number of rows."""
        if not question.quantity or not self.mechanism(question).unsuitable(self.problem(question)):
            return question
        key = QUANTITIES[question.quantity][0]
        return replace(question, entry_key=key, values=question.values_for(key))

    def _repr_html_(self) -> str:
        """Return the plan as a notebook shows it: its cost, and each statistic with its mechanism and its ε."""
        lines = [
            [
                each.statistic or each.quantity or each.queries or f"tables of {each.ways} columns",
                ", ".join(each.columns), ", ".join(each.by), each.entry.title, exactly(each.epsilon),
            ]
            for each in self.questions
        ]  # fmt: skip
        names = ["statistic", "columns", "by", "mechanism", "ε"]
        return html_facts({"cost": self.cost.sentence(), "n": f"{self.n:,}"}) + html_lines(names, lines)

    def reading(self, question: PlannedQuestion) -> Reading:
        """Return the reading of the question's columns."""
        if question.lines:
            return cut_at(question.lines, question.columns, self.table)
        if question.statistic:
            return group_reading(self.table, question.columns, question.by, label=question.label)
        return (self.table.whole if question.ways else self.table.reading)(*question.columns)

    def problem(self, question: PlannedQuestion) -> Problem:
        """Return the public problem of a question."""
        domain = self.reading(question).domain
        queries: Queries
        if question.statistic:
            assert is_table(domain)
            queries = group_queries(
                domain, question.statistic, quantiles=question.quantiles, min_rows=question.min_rows,
                whole_population=question.whole_population,
            )  # fmt: skip
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
            level=self.level,
        )

    def request(self, *, draw: int = 1) -> Request:
        """Return the request for all questions, which is one charge of the plan's cost."""
        return Request(
            parts=tuple(self.part(question) for question in self.questions),
            person=self.table.person,
            rows_a_person=self.table.person_rows if self.table.person else 1,
            draw=draw,
            file_format=self.file_format,
            level=self.level,
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
            "questions": [write_question(question, self.mechanism(question)) for question in self.questions],
        } | (encode_format(self.file_format) | encode_level(self.level))

    @property
    def text(self) -> bytes:
        """Bytes of the plan's file."""
        return canonical(self.document)

    @classmethod
    def read(cls, text: str | bytes) -> Self:
        """Read a plan from a file; raises ParameterError with one sentence for unknown contents or invalid values."""
        document = parse_document(text, what="plan")
        check_format(document, "plan", FORMAT)
        needed, optional = {"format", "table", "relation", "n", "questions"}, {"beta", "file_format", "level"}
        check_fields(document, "The plan", needed, optional=optional)
        if not isinstance(document["questions"], list):
            raise ParameterError("The plan's statistics must be a list.")
        return cls(
            table=decode(document["table"], DeclaredTable),
            n=document["n"],
            questions=tuple(read_question(each) for each in document["questions"]),
            neighbours=decode_relation(document["relation"]),
            beta=decode_number(document.get("beta", "0.05"), "The plan's beta"),
            file_format=decode_format(document),
            level=decode_level(document),
        )
