"""A request: statistics of one data set, each with a mechanism and its parameters. Public; it holds no row.

It has one part or several, with one digest, one charge, one stored draw and one certificate for all of them. Its file
is JSON:

    {"format": "dpscope-request/2",
     "data": {"relation": "add_remove_one", "n": 5000},
     "person": "patient", "rows_a_person": 3, "draw": 1,
     "parts": [{"reading": {"type": "Columns", "names": ["age"], "on": {"type": "Number", "high": 128, "bits": 7}},
                "queries": {"type": "Intervals"},
                "mechanism": {"key": "identity", "parameters": {"epsilon": 0.5}}}]}

Without a person column single rows are protected. Other than default settings for reading the file stand in "data":
"file_format": {"type": "Format", "decimal": ","}. Intervals of another level than 95% are named by "level": "0.99".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from dpcore.core import Entry, Mechanism, Neighbours, ParameterError, Problem, Queries, describe_error, exactly
from dpcore.core.documents import parse_document
from dpcore.core.sizes import MAX_PERSON_ROWS
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.readings import Reading
from dpcore.mechanisms import entry as entry_of
from dprelease.ledger.canonical import canonical, digest
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
from dprelease.sizes import MAX_DRAWS, MAX_PARTS

FORMAT = "dpscope-request/2"


@dataclass(frozen=True, kw_only=True)
class RequestPart:
    """A part of a request: one query class with a mechanism.

    Attributes:
        reading: columns and their declared domains.
        queries: the query class.
        n: number of rows, where one is replaced; else a public nominal number.
        neighbours: the neighbouring relation.
        entry_key: key of the mechanism in the catalogue.
        values: parameters of the mechanism; omitted ones have their default.
        bounds_from_data: whether bounds or labels were read from the rows; such a part is refused.
        person_rows: of one person at most, as the request says; 0 where rows are protected.
        level: of the intervals of its statistics, as the request says.
    """

    reading: Reading
    queries: Queries
    n: int
    neighbours: Neighbours
    entry_key: str
    values: Mapping[str, Any] = field(default_factory=dict)
    bounds_from_data: bool = False
    person_rows: int = field(default=0, compare=False)
    level: float = LEVEL

    def __post_init__(self) -> None:
        # Validate now, before any rows are read.
        if not self.entry.serves(self.problem.queries):
            raise ParameterError(f"{self.entry.title} cannot release this statistic.")
        object.__setattr__(self, "values", dict(self.values))
        _ = self.mechanism

    @property
    def entry(self) -> Entry:
        """Entry of the catalogue."""
        return entry_of(self.entry_key)

    @cached_property
    def problem(self) -> Problem:
        """Public problem of the part."""
        return Problem(domain=self.reading.domain, queries=self.queries, n=self.n, neighbours=self.neighbours)

    @property
    def problem_of_persons(self) -> Problem:
        """The problem with the rows of a person, as a release of registered rows has it; prices use ``problem``."""
        return replace(self.problem, person_rows=self.person_rows)

    @cached_property
    def mechanism(self) -> Mechanism:
        """Mechanism with its parameters."""
        return self.entry.make(**self.values)

    def guaranteed_error(self, beta: float) -> str:
        """Return the guaranteed error in one sentence, or that there is none."""
        bound = self.mechanism.accuracy(self.problem, beta)
        subject = f"no {self.queries.one}"
        return describe_error(bound, n=self.n, subject=subject, of_range=self.reading.domain.describe_distance)

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of the mechanism as texts, whole numbers and truth values."""
        return {name: _plain_value(getattr(self.mechanism, name)) for name in self.mechanism.parameters()}

    @cached_property
    def document(self) -> dict[str, Any]:
        """Mapping of the part in the file, without relation and n; parameters at their defaults are left out."""
        document: dict[str, Any] = {
            "reading": encode(self.reading),
            "queries": encode(self.queries),
            "mechanism": {"key": self.entry_key, "parameters": encode_parameters(self.entry, self.mechanism)},
        }
        return document | ({"bounds_from_data": True} if self.bounds_from_data else {})

    @classmethod
    def of(cls, document: Any, *, n: Any, neighbours: Neighbours) -> Self:
        """Decode a part from its mapping in a file; raises ParameterError with one sentence for invalid contents."""
        check_fields(document, "The statistic", {"reading", "queries", "mechanism"}, optional={"bounds_from_data"})
        mechanism = document["mechanism"]
        check_fields(mechanism, "The mechanism of the statistic", {"key", "parameters"})
        if not isinstance(document.get("bounds_from_data", False), bool):
            raise ParameterError("The field for bounds read off the data must be true or false.")
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
    """A request for one release.

    Attributes:
        parts: its parts, of the same relation and n.
        person: the column that identifies the person of a row; empty where rows are protected.
        rows_a_person: largest number of rows of a person that are read.
        draw: number of the draw; another number is another draw and another charge.
        file_format: settings for reading the file; ``Format()`` for the default.
        level: of all intervals of the release: 0.9, 0.95 or 0.99.
    """

    parts: tuple[RequestPart, ...]
    person: str = ""
    rows_a_person: int = 1
    draw: int = 1
    file_format: Format = USUAL
    level: float = LEVEL

    def __post_init__(self) -> None:
        check_release_level(self.level)
        if type(self.draw) is not int or not 1 <= self.draw <= MAX_DRAWS:
            raise ParameterError(f"The number of a repetition must be an integer between 1 and {MAX_DRAWS:,}.")
        if not 1 <= len(self.parts) <= MAX_PARTS:
            raise ParameterError(f"A request has between 1 and {MAX_PARTS} statistics, got {len(self.parts)}.")
        if len({(part.neighbours, part.n) for part in self.parts}) > 1:
            raise ParameterError("All statistics of a request must have the same neighbouring relation and n.")
        if type(self.rows_a_person) is not int or not 1 <= self.rows_a_person <= MAX_PERSON_ROWS:
            raise ParameterError(f"The maximum rows per person must be between 1 and {MAX_PERSON_ROWS:,} rows.")
        if self.rows_a_person > 1 and not self.person:
            raise ParameterError("Several rows per person need a column that identifies the person.")
        rows = self.rows_a_person if self.person else 0
        parts = (
            part
            if (part.person_rows, part.level) == (rows, self.level)
            else replace(part, person_rows=rows, level=self.level)
            for part in self.parts
        )
        object.__setattr__(self, "parts", tuple(parts))
        object.__setattr__(self, "file_format", canonical_format(self.file_format))

    @property
    def neighbours(self) -> Neighbours:
        """Neighbouring relation of all parts."""
        return self.parts[0].neighbours

    @property
    def n(self) -> int:
        """Public n of all parts."""
        return self.parts[0].n

    @cached_property
    def document(self) -> dict[str, Any]:
        """Contents of the request's file."""
        return {
            "format": FORMAT,
            "data": {"relation": self.neighbours.value, "n": self.n} | encode_format(self.file_format),
            "person": self.person,
            "rows_a_person": self.rows_a_person,
            "draw": self.draw,
            "parts": [part.document for part in self.parts],
        } | encode_level(self.level)

    @property
    def digest(self) -> str:
        """Digest of the request: equal requests share a draw. It includes no software version."""
        return digest(self.document)

    @property
    def text(self) -> bytes:
        """Bytes of the request's file."""
        return canonical(self.document)

    @classmethod
    def read(cls, text: str | bytes) -> Self:
        """Read a request from a file; raises ParameterError with one sentence for invalid contents."""
        return cls.of(parse_document(text, what="request"))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Decode a request from a file's contents; raises ParameterError as ``read`` does."""
        check_format(document, "request", FORMAT)
        optional = {"person", "rows_a_person", "draw", "level"}
        check_fields(document, "The request", {"format", "data", "parts"}, optional=optional)
        data, person, parts = document["data"], document.get("person", ""), document["parts"]
        check_fields(data, "The request's data", {"relation", "n"}, optional={"file_format"})
        if not isinstance(person, str) or not isinstance(parts, list):
            raise ParameterError("The person of a request must be a column name, and its parts a list.")
        neighbours = decode_relation(data["relation"])
        return cls(
            parts=tuple(RequestPart.of(each, n=data["n"], neighbours=neighbours) for each in parts[: MAX_PARTS + 1]),
            person=person,
            rows_a_person=document.get("rows_a_person", 1),
            draw=document.get("draw", 1),
            file_format=decode_format(data),
            level=decode_level(document),
        )


def encode_level(level: float) -> dict[str, str]:
    """Return a document's entry for the level of intervals; empty for the default."""
    return {} if level == LEVEL else {"level": exactly(level)}


def decode_level(document: Mapping[str, Any]) -> float:
    """Return the level of intervals that a document names; raises ParameterError for any that is not offered."""
    return check_release_level(decode_number(document.get("level", LEVEL), "The level of intervals"))


def other_unit(request: Request, *, person: str, rows: int) -> str:
    """Return a sentence if the request's unit of protection differs from the registered one; else empty."""
    if (request.person, request.rows_a_person) == (person, rows):
        return ""
    meant, registered = _unit(request.person, request.rows_a_person), _unit(person, rows)
    return f"The request protects {meant}, but the data are registered for {registered}."


def _unit(person: str, rows: int) -> str:
    return f"persons (column “{person}”) with at most {rows:,} row{'s' * (rows > 1)}" if person else "single rows"


def _plain_value(value: Any) -> Any:
    return value if isinstance(value, bool | int | str) else exactly(value)


def encode_parameters(entry: Entry, mechanism: Mechanism) -> dict[str, Any]:
    """Encode a mechanism's parameters that differ from their defaults."""
    usual = entry.make()
    chosen = {name: getattr(mechanism, name) for name in entry.controls()}
    return {name: _plain_value(value) for name, value in chosen.items() if value != getattr(usual, name)}


def decode_parameters(entry: Entry, document: Any) -> dict[str, Any]:
    """Decode a mechanism's parameters; raises ParameterError for unknown or invalid ones."""
    if not isinstance(document, Mapping):
        raise ParameterError("A mechanism's parameters are a mapping.")
    return {name: _parameter(entry, name, value) for name, value in document.items()}


def _parameter(entry: Entry, name: str, value: Any) -> Any:
    """Decode a parameter's value."""
    parameter = entry.controls().get(name)
    if parameter is None:
        raise ParameterError(f"{entry.title} has no parameter “{name[:40]}”.")
    if parameter.boolean or parameter.choices:
        return value
    number = decode_number(value, parameter.label)
    return int(number) if parameter.integer and number == int(number) else number
