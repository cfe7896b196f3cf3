"""A request: one question of one data set, with a mechanism and its parameters. Public; it holds no row.

As a file it is JSON:

    {"format": "dpscope-request/1",
     "data": {"reading": {"type": "Columns", "names": ["age"], "on": {"type": "Number", "high": 128, "bits": 7}},
              "relation": "add_remove_one", "n": 5000},
     "queries": {"type": "Intervals"},
     "mechanism": {"key": "identity", "parameters": {"epsilon": 0.5}}}

Where the file is not read in the usual way, "data" also says how: "file_format": {"type": "Format", "decimal": ","}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from dpcore.core import Entry, Mechanism, Neighbours, ParameterError, Problem, Queries, describe_error, exactly
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.readings import Reading
from dpcore.mechanisms import entry as entry_of
from dprelease.ledger.canonical import canonical, digest, parsed
from dprelease.requests.codec import (
    canonical_format,
    decoded,
    decoded_format,
    encoded,
    encoded_format,
    known,
    number,
)

FORMAT = "dpscope-request/1"
MOST_DRAWS = 10**6


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be released.

    Attributes:
        reading: columns and what they may hold.
        queries: the class whose answers matter.
        n: rows, where one is replaced; else a public nominal number.
        neighbours: the relation.
        entry_key: of the catalogue.
        values: the mechanism's parameters; those left out have their usual values.
        draw: another number is another draw, and another charge.
        bounds_from_data: whether bounds or labels were read off the rows; such a request is refused.
        file_format: settings with which the file is read; ``Format()`` for the usual ones, or where none are named.
    """

    reading: Reading
    queries: Queries
    n: int
    neighbours: Neighbours
    entry_key: str
    values: Mapping[str, Any] = field(default_factory=dict)
    draw: int = 1
    bounds_from_data: bool = False
    file_format: Format = USUAL

    def __post_init__(self) -> None:
        checked_draw(self.draw)
        # Errors come now, in one sentence, and not when rows are at hand.
        if not self.entry.serves(self.problem.queries):
            raise ParameterError(f"{self.entry.title} does not serve this question.")
        object.__setattr__(self, "values", dict(self.values))
        object.__setattr__(self, "file_format", canonical_format(self.file_format))
        _ = self.mechanism

    @property
    def parts(self) -> tuple[Request, ...]:
        """The one question; a joint request has several."""
        return (self,)

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
        return {name: _told(getattr(self.mechanism, name)) for name in self.mechanism.parameters()}

    @cached_property
    def document(self) -> dict[str, Any]:
        """As a file holds it; parameters at their usual values are left out."""
        told: dict[str, Any] = {
            "format": FORMAT,
            "data": {"reading": encoded(self.reading), "relation": self.neighbours.value, "n": self.problem.n}
            | encoded_format(self.file_format),
            "queries": encoded(self.queries),
            "mechanism": {"key": self.entry_key, "parameters": parameters_told(self.entry, self.mechanism)},
            "draw": self.draw,
        }
        return told | ({"bounds_from_data": True} if self.bounds_from_data else {})

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
        return cls.of(parsed(text, what="request"))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """From a file's contents; raises ParameterError as ``read`` does."""
        if document.get("format") != FORMAT:
            raise ParameterError(f"A request's format must be “{FORMAT}”.")
        known(document, "request", {"format", "data", "queries", "mechanism"}, optional={"draw", "bounds_from_data"})
        data, asked = document["data"], document["mechanism"]
        known(data, "request's data", {"reading", "relation", "n"}, optional={"file_format"})
        known(asked, "request's mechanism", {"key", "parameters"})
        if data["relation"] not in list(Neighbours):
            raise ParameterError(f"The relation must be one of {', '.join(Neighbours)}.")
        if not isinstance(document.get("bounds_from_data", False), bool):
            raise ParameterError("Whether bounds come from the data must be true or false.")
        reading: Reading = decoded(data["reading"], Reading)
        key, parameters = asked["key"], asked["parameters"]
        entry = entry_of(key if isinstance(key, str) else "")
        return cls(
            reading=reading,
            queries=decoded(document["queries"], Queries, domain=reading.domain),
            n=data["n"],
            neighbours=Neighbours(data["relation"]),
            entry_key=entry.key,
            values=parameters_read(entry, parameters),
            draw=document.get("draw", 1),
            bounds_from_data=document.get("bounds_from_data", False),
            file_format=decoded_format(data),
        )


def checked_draw(number: Any) -> None:
    """Raise ParameterError unless this numbers a draw."""
    if type(number) is not int or not 1 <= number <= MOST_DRAWS:
        raise ParameterError(f"A draw's number must be a whole number between 1 and {MOST_DRAWS:,}.")


def _told(value: Any) -> Any:
    return value if isinstance(value, bool | int | str) else exactly(value)


def parameters_told(entry: Entry, mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism's parameters that are not at their usual values, as a file holds them."""
    usual = entry.make()
    chosen = {name: getattr(mechanism, name) for name in entry.controls()}
    return {name: _told(value) for name, value in chosen.items() if value != getattr(usual, name)}


def parameters_read(entry: Entry, document: Any) -> dict[str, Any]:
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
    found = number(value, parameter.label)
    return int(found) if parameter.integer and found == int(found) else found
