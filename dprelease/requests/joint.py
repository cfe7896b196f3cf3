"""Several requests of one data set in one press: one digest, one charge, one draw that is stored, one certificate.

As a file it is JSON, with the person whose rows are capped where persons are protected:

    {"format": "dpscope-joint-request/1", "person": "", "rows_a_person": 1, "draw": 1, "parts": [{…}, {…}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from dpcore.core import Neighbours, ParameterError
from dpcore.data.declared import MOST_PERSON_ROWS
from dpcore.data.reading.format import Format
from dprelease.ledger.canonical import canonical, digest, parsed
from dprelease.requests.codec import known
from dprelease.requests.single import FORMAT as ONE
from dprelease.requests.single import Request, checked_draw

FORMAT = "dpscope-joint-request/1"
MOST_PARTS = 64


@dataclass(frozen=True, kw_only=True)
class JointRequest:
    """What is to be released together.

    Attributes:
        parts: of the same relation and n, each a first draw.
        person: the column that says whose a row is; empty where rows are protected.
        rows_a_person: that are read at most.
        draw: another number is another draw of all parts, and another charge.
    """

    parts: tuple[Request, ...]
    person: str = ""
    rows_a_person: int = 1
    draw: int = 1

    def __post_init__(self) -> None:
        checked_draw(self.draw)
        if not 1 <= len(self.parts) <= MOST_PARTS:
            raise ParameterError(f"Between 1 and {MOST_PARTS} requests are released together, got {len(self.parts)}.")
        if len({(part.neighbours, part.n) for part in self.parts}) > 1:
            raise ParameterError("Requests that are released together are about one relation and one n.")
        if len({part.file_format for part in self.parts}) > 1:
            raise ParameterError("Requests that are released together read their file with the same format.")
        if any(part.draw != 1 for part in self.parts):
            raise ParameterError("The number of a draw is that of all requests together.")
        if type(self.rows_a_person) is not int or not 1 <= self.rows_a_person <= MOST_PERSON_ROWS:
            raise ParameterError(f"A person may have between 1 and {MOST_PERSON_ROWS:,} rows.")
        if self.rows_a_person > 1 and not self.person:
            raise ParameterError("Several rows of a person need the column that says whose a row is.")

    @property
    def neighbours(self) -> Neighbours:
        """The relation of all parts."""
        return self.parts[0].neighbours

    @property
    def n(self) -> int:
        """The n of all parts."""
        return self.parts[0].n

    @property
    def file_format(self) -> Format:
        """The settings with which all parts read the file."""
        return self.parts[0].file_format

    @cached_property
    def document(self) -> dict[str, Any]:
        """As a file holds it."""
        return {
            "format": FORMAT,
            "person": self.person,
            "rows_a_person": self.rows_a_person,
            "draw": self.draw,
            "parts": [part.document for part in self.parts],
        }

    @property
    def digest(self) -> str:
        """What tells requests apart: two with one digest share a draw."""
        return digest(self.document)

    @property
    def text(self) -> bytes:
        """The file."""
        return canonical(self.document)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """From a file's contents; raises ParameterError, in one sentence, for whatever is not known or out of range."""
        known(document, "joint request", {"format", "parts"}, optional={"person", "rows_a_person", "draw"})
        person, parts = document.get("person", ""), document["parts"]
        if not isinstance(person, str) or not isinstance(parts, list):
            raise ParameterError("A joint request's person is the name of a column, and its parts are a list.")
        return cls(
            parts=tuple(_part(each) for each in parts[: MOST_PARTS + 1]),
            person=person,
            rows_a_person=document.get("rows_a_person", 1),
            draw=document.get("draw", 1),
        )


Asked = Request | JointRequest
"""Whatever can be released in one press."""


def asked_of(document: Mapping[str, Any]) -> Asked:
    """A request of either kind from a file's contents; raises ParameterError for anything else."""
    if document.get("format") == FORMAT:
        return JointRequest.of(document)
    return Request.of(document)


def asked_in(text: str | bytes) -> Asked:
    """A request of either kind from a file; raises ParameterError for anything else."""
    return asked_of(parsed(text, what="request"))


def _part(document: Any) -> Request:
    if not isinstance(document, Mapping) or document.get("format") != ONE:
        raise ParameterError(f"Each part of a joint request is one of the format “{ONE}”.")
    return Request.of(document)


def other_unit(asked: Asked, *, person: str, rows: int) -> str:
    """Why data registered for this unit are not those that are meant; empty if they are.

    A single request names no unit: it is charged for the one that is registered.
    """
    if isinstance(asked, Request) or (asked.person, asked.rows_a_person) == (person, rows):
        return ""
    meant, registered = _unit(asked.person, asked.rows_a_person), _unit(person, rows)
    return f"What is asked protects {meant}; these data are registered for {registered}."


def _unit(person: str, rows: int) -> str:
    return f"persons (column “{person}”) with at most {rows:,} row{'s' * (rows > 1)}" if person else "single rows"
