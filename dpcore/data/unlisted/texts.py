"""A column of texts whose labels are not declared: which labels it holds is private.

A label is a cell's text as it stands, without blanks at its ends: one line of printable characters, of a public
number at most. A cell of anything else counts as missing. Each rule looks at one cell alone, so that neighbouring
tables stay neighbours. Two spellings are two labels: a label that is found is later matched with cells letter by
letter.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import DataError, Domain, DomainType, ParameterError, Queries, is_visible
from dpcore.core.sizes import MAX_LABEL_CHARACTERS
from dpcore.data.readings import Reading

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from dpcore.data.reading.tables import Table

LONGEST = 60
"""Characters of a label, by default."""
TEXT_BYTES = 128
"""Bytes of a text in memory besides its characters, with the places that count it."""


@dataclass(frozen=True, kw_only=True)
class Texts(Domain):
    """Any text of one line and at most so many characters, or none."""

    longest: int = LONGEST

    def __post_init__(self) -> None:
        if type(self.longest) is not int or not 1 <= self.longest <= MAX_LABEL_CHARACTERS:
            raise ParameterError(f"A label has between 1 and {MAX_LABEL_CHARACTERS:,} characters at most.")

    @override
    @property
    def title(self) -> str:
        return "texts"

    @override
    @property
    def types(self) -> frozenset[DomainType]:
        return frozenset({DomainType.TEXTS})

    @override
    @property
    def listed(self) -> bool:
        return False

    @override
    @property
    def size(self) -> int:
        """Number of texts of so many characters, fitting or not."""
        return int((sys.maxunicode + 1) ** self.longest)

    def fits(self, text: str) -> bool:
        r"""Return whether a text is a label.

        >>> [Texts(longest=9).fits(text) for text in ("Zoë", "two\nlines", " padded", "", "far too long")]
        [True, False, False, False, False]
        """
        return len(text) <= self.longest and text.isprintable() and text == text.strip() and is_visible(text)

    @override
    def checked(self, records: NDArray[Any]) -> NDArray[Any]:
        """Texts (n,) that fit, None where there is none."""
        fitting = records.ndim == 1 and records.dtype == np.dtype(object)
        if not fitting or not all(each is None or (type(each) is str and self.fits(each)) for each in set(records)):
            raise DataError("Records must be one label per row, or None.")
        return records

    @override
    def table(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {"value": records}


def is_texts(domain: object) -> TypeIs[Texts]:
    """Return whether the labels of a domain are not declared."""
    return isinstance(domain, Texts)


@dataclass(frozen=True, kw_only=True)
class TextColumn(Reading):
    """A column as texts whose labels are not declared.

    Attributes:
        column: its name in the table.
        longest: characters of a label at most; a longer text counts as missing.
    """

    column: str
    longest: int = LONGEST

    def __post_init__(self) -> None:
        _ = self.domain

    @override
    @property
    def domain(self) -> Texts:
        return Texts(longest=self.longest)

    @override
    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @override
    @property
    def title(self) -> str:
        return self.column

    @override
    @property
    def room(self) -> int:
        """Each row may have another label, of characters of four bytes."""
        return TEXT_BYTES + 4 * self.longest

    @override
    def records(self, table: Table) -> NDArray[Any]:
        """The label of each row, (n,); None for a missing one."""
        texts = table.texts(self.column, self.longest)
        labels = {text: text if self.domain.fits(text) else None for text in set(texts) - {None}}
        for place, text in enumerate(texts):
            texts[place] = labels.get(text)
        return texts


@dataclass(frozen=True, kw_only=True)
class LabelCounts(Queries):
    """Which share of the rows has a label? One query for each text, whether or not it occurs."""

    key: ClassVar[str] = "label_counts"
    title: ClassVar[str] = "Labels: which occur, and how often"
    one: ClassVar[str] = "label named in advance"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.TEXTS,)
    domain: Texts

    @override
    @property
    def count(self) -> int:
        return self.domain.size

    @override
    @property
    def vc_dimension(self) -> int:
        """Of single points: 1."""
        return 1

    @override
    def describe(self, index: int) -> str:
        return "a label"
