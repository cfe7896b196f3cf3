"""A request: questions of one data set, each with a mechanism and its parameters. Public; it holds no row.

Its questions are its parts, most often one. They are one digest, one charge, one draw that is stored, one certificate.
As a file it is JSON:

    {"format": "dpscope-request/2",
     "data": {"relation": "add_remove_one", "n": 5000},
     "person": "patient", "rows_a_person": 3, "draw": 1,
     "parts": [{"reading": {"type": "Columns", "names": ["age"], "on": {"type": "Number", "high": 128, "bits": 7}},
                "queries": {"type": "Intervals"},
                "mechanism": {"key": "identity", "parameters": {"epsilon": 0.5}}}]}

Without a person single rows are protected. Where the file is not read in the usual way, "data" also says how:
"file_format": {"type": "Format", "decimal": ","}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from dpcore.core import Entry, Mechanism, Neighbours, ParameterError, Problem, Queries, describe_error, exactly
from dpcore.data.declared import MAX_PERSON_ROWS
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.readings import Reading
from dpcore.mechanisms import entry as entry_of
from dprelease.ledger.canonical import canonical, digest, parse_document
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

FORMAT = "dpscope-request/2"
MAX_DRAWS = 10**6
MAX_PARTS = 64


@dataclass(frozen=True, kw_only=True)
class RequestPart:
    """A part of a request: one question, with a mechanism.

    Attributes:
        reading: columns and what they may hold.
        queries: the class whose answers matter.
        n: rows, where one is replaced; else a public nominal number.
        neighbours: the relation.
        entry_key: of the catalogue.
        values: the mechanism's parameters; those left out have their usual values.
        bounds_from_data: whether bounds or labels were read off the rows; such a question is refused.
    """

    reading: Reading
    queries: Queries
    n: int
    neighbours: Neighbours
    entry_key: str
    values: Mapping[str, Any] = field(default_factory=dict)
    bounds_from_data: bool = False

    def __post_init__(self) -> None:
        # Errors come now, in one sentence, and not when rows are at hand.
        if not self.entry.serves(self.problem.queries):
            raise ParameterError(f"{self.entry.title} does not serve this question.")
        object.__setattr__(self, "values", dict(self.values))
        _ = self.mechanism

    @property
    def entry(self) -> Entry:
        """The line of the catalogue."""
        return entry_of(self.entry_key)

    @cached_property
    def problem(self) -> Problem:
        """What a guarantee is about."""
        return Problem(domain=self.reading.domain, queries=self.queries, n=self.n, neighbours=self.neighbours)

    @cached_property
    def mechanism(self) -> Mechanism:
        """With its parameters."""
        return self.entry.make(**self.values)

    def guaranteed_error(self, beta: float) -> str:
        """Return the guaranteed error of what is asked in one sentence, or that there is none."""
        bound = self.mechanism.accuracy(self.problem, beta)
        subject = f"no {self.queries.one}"
        return describe_error(bound, n=self.n, subject=subject, of_range=self.reading.domain.describe_distance)

    @property
    def parameters(self) -> dict[str, Any]:
        """All the mechanism's parameters as texts, whole numbers and truth values."""
        return {name: _plain_value(getattr(self.mechanism, name)) for name in self.mechanism.parameters()}

    @cached_property
    def document(self) -> dict[str, Any]:
        """As a file holds it, beside relation and n; parameters at their usual values are left out."""
        document: dict[str, Any] = {
            "reading": encode(self.reading),
            "queries": encode(self.queries),
            "mechanism": {"key": self.entry_key, "parameters": encode_parameters(self.entry, self.mechanism)},
        }
        return document | ({"bounds_from_data": True} if self.bounds_from_data else {})

    @classmethod
    def of(cls, document: Any, *, n: Any, neighbours: Neighbours) -> Self:
        """From its place in a file; raises ParameterError, in one sentence, for whatever is not known."""
        check_fields(document, "question", {"reading", "queries", "mechanism"}, optional={"bounds_from_data"})
        mechanism = document["mechanism"]
        check_fields(mechanism, "question's mechanism", {"key", "parameters"})
        if not isinstance(document.get("bounds_from_data", False), bool):
            raise ParameterError("Whether bounds come from the data must be true or false.")
        reading: Reading = decode(document["reading"], Reading)
        entry = entry_of(mechanism["key"] if isinstance(mechanism["key"], str) else "")
        return cls(
            reading=reading,
            queries=decode(document["queries"], Queries, domain=reading.domain),
            n=n,
            neighbours=neighbours,
            entry_key=entry.key,
            values=decode_parameters(entry, mechanism["parameters"]),
            bounds_from_data=document.get("bounds_from_data", False),
        )


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be released in one press.

    Attributes:
        parts: its questions, of the same relation and n.
        person: the column that says whose a row is; empty where rows are protected.
        rows_a_person: that are read at most.
        draw: another number is another draw of all parts, and another charge.
        file_format: settings with which the file is read; ``Format()`` for the usual ones, or where none are named.
    """

    parts: tuple[RequestPart, ...]
    person: str = ""
    rows_a_person: int = 1
    draw: int = 1
    file_format: Format = USUAL

    def __post_init__(self) -> None:
        if type(self.draw) is not int or not 1 <= self.draw <= MAX_DRAWS:
            raise ParameterError(f"A draw's number must be a whole number between 1 and {MAX_DRAWS:,}.")
        if not 1 <= len(self.parts) <= MAX_PARTS:
            raise ParameterError(f"A request has between 1 and {MAX_PARTS} questions, got {len(self.parts)}.")
        if len({(part.neighbours, part.n) for part in self.parts}) > 1:
            raise ParameterError("The questions of a request are about one relation and one n.")
        if type(self.rows_a_person) is not int or not 1 <= self.rows_a_person <= MAX_PERSON_ROWS:
            raise ParameterError(f"A person may have between 1 and {MAX_PERSON_ROWS:,} rows.")
        if self.rows_a_person > 1 and not self.person:
            raise ParameterError("Several rows of a person need the column that says whose a row is.")
        object.__setattr__(self, "file_format", canonical_format(self.file_format))

    @property
    def neighbours(self) -> Neighbours:
        """The relation of all parts."""
        return self.parts[0].neighbours

    @property
    def n(self) -> int:
        """The n of all parts."""
        return self.parts[0].n

    @cached_property
    def document(self) -> dict[str, Any]:
        """As a file holds it."""
        return {
            "format": FORMAT,
            "data": {"relation": self.neighbours.value, "n": self.n} | encode_format(self.file_format),
            "person": self.person,
            "rows_a_person": self.rows_a_person,
            "draw": self.draw,
            "parts": [part.document for part in self.parts],
        }

    @property
    def digest(self) -> str:
        """What tells requests apart: two with one digest share a draw. No version of any software is in it."""
        return digest(self.document)

    @property
    def text(self) -> bytes:
        """The file."""
        return canonical(self.document)

    @classmethod
    def read(cls, text: str | bytes) -> Self:
        """From a file; raises ParameterError, in one sentence, for whatever is not known or out of range."""
        return cls.of(parse_document(text, what="request"))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """From a file's contents; raises ParameterError as ``read`` does."""
        check_format(document, "request", FORMAT)
        check_fields(document, "request", {"format", "data", "parts"}, optional={"person", "rows_a_person", "draw"})
        data, person, parts = document["data"], document.get("person", ""), document["parts"]
        check_fields(data, "request's data", {"relation", "n"}, optional={"file_format"})
        if not isinstance(person, str) or not isinstance(parts, list):
            raise ParameterError("A request's person is the name of a column, and its parts are a list.")
        neighbours = decode_relation(data["relation"])
        return cls(
            parts=tuple(RequestPart.of(each, n=data["n"], neighbours=neighbours) for each in parts[: MAX_PARTS + 1]),
            person=person,
            rows_a_person=document.get("rows_a_person", 1),
            draw=document.get("draw", 1),
            file_format=decode_format(data),
        )


def other_unit(request: Request, *, person: str, rows: int) -> str:
    """Why data registered for this unit are not those that are meant; empty if they are."""
    if (request.person, request.rows_a_person) == (person, rows):
        return ""
    meant, registered = _unit(request.person, request.rows_a_person), _unit(person, rows)
    return f"What is asked protects {meant}; these data are registered for {registered}."


def _unit(person: str, rows: int) -> str:
    return f"persons (column “{person}”) with at most {rows:,} row{'s' * (rows > 1)}" if person else "single rows"


def _plain_value(value: Any) -> Any:
    return value if isinstance(value, bool | int | str) else exactly(value)


def encode_parameters(entry: Entry, mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism's parameters that are not at their usual values, as a file holds them."""
    usual = entry.make()
    chosen = {name: getattr(mechanism, name) for name in entry.controls()}
    return {name: _plain_value(value) for name, value in chosen.items() if value != getattr(usual, name)}


def decode_parameters(entry: Entry, document: Any) -> dict[str, Any]:
    """Parameters from a file; raises ParameterError for whatever is not known or out of range."""
    if not isinstance(document, Mapping):
        raise ParameterError("A mechanism's parameters are a mapping.")
    return {name: _parameter(entry, name, value) for name, value in document.items()}


def _parameter(entry: Entry, name: str, value: Any) -> Any:
    """A parameter's value as the mechanism checks it."""
    parameter = entry.controls().get(name)
    if parameter is None:
        raise ParameterError(f"{entry.title} has no parameter “{name[:40]}”.")
    if parameter.boolean or parameter.choices:
        return value
    number = decode_number(value, parameter.label)
    return int(number) if parameter.integer and number == int(number) else number
