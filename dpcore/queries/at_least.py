"""Queries about yes/no attributes: the share of rows with at least r of k attributes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import Booleans, DomainType, Floats, Integers, ParameterError, Queries
from dpcore.data.product import Product
from dpcore.queries.attribute_sets import MAX_WIDTH, unrank
from dpcore.queries.counting import Packed, shares


@dataclass(frozen=True, kw_only=True)
class AtLeast(Queries):
    """Rows with at least r of k attributes: any (r = 1), all (r = k), or in between; each plain or negated.

    Query number i: the i-th set of k attributes; where attributes may be negated, i = set * 2^k + signs, and bit l of
    signs says that the set's l-th smallest attribute is negated.

    Attributes:
        width: k.
        least: r.
        signed: whether attributes may be negated.
    """

    key: ClassVar[str] = "at-least"
    title: ClassVar[str] = "Marginals: rows with at least r of k attributes"
    one: ClassVar[str] = "marginal"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.YES_NO,)
    domain: Product
    width: int = 3
    least: int = 1
    signed: bool = False

    def __post_init__(self) -> None:
        limit = min(MAX_WIDTH, self.domain.attributes)
        if not 1 <= self.width <= limit:
            raise ParameterError(f"A marginal is about 1 to {limit} attributes, got {self.width}.")
        if not 1 <= self.least <= self.width:
            raise ParameterError(f"“At least” must lie between 1 and {self.width}, got {self.least}.")

    def numbered(self) -> AtLeast:
        """The same questions about attributes without names, which may be read from a file: what a cache may keep."""
        return replace(self, domain=Product.yes_no([*map(str, range(self.domain.attributes))]))

    @override
    @property
    def count(self) -> int:
        """All sets of k attributes, with all signs where they may be negated."""
        return comb(self.domain.attributes, self.width) << (self.width if self.signed else 0)

    @override
    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of queries."""
        return self.count.bit_length() - 1

    def sets(self, indices: Integers) -> tuple[Integers, Booleans]:
        """Return the attributes of each query (Q, k), ascending, and which of them are negated (Q, k)."""
        bits = self.width if self.signed else 0
        signs = indices & ((1 << bits) - 1)
        return unrank(indices >> bits, size=self.width), (signs[:, None] >> np.arange(self.width) & 1) == 1

    @override
    def describe(self, index: int) -> str:
        attributes, negated = self.sets(np.array([index], dtype=np.int64))
        words = [
            f"not {self.domain.names[attribute]}" if flipped else self.domain.names[attribute]
            for attribute, flipped in zip(attributes[0], negated[0], strict=True)
        ]
        which = {1: "any of", self.width: "all of"}.get(self.least, f"at least {self.least} of")
        return words[0] if self.width == 1 else f"{which} {', '.join(words)}"

    @override
    def batch(self, limit: int) -> Integers:
        """All queries where they are few, else as many drawn at random, the same ones every time."""
        if self.count <= limit:
            return np.arange(self.count, dtype=np.int64)
        return np.random.Generator(np.random.SFC64(self.count)).integers(0, self.count, limit)

    def truth(self, packed: Packed, indices: Integers) -> Generator[float, None, Floats]:
        """Return the true answers as shares of the rows, (Q,); yields the share done."""
        attributes, negated = self.sets(indices)
        return (yield from shares(packed, attributes, negated if self.signed else None, least=self.least))
