"""Predicates that turn a table's columns into yes/no attributes, and mock rows of such attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Booleans, ParameterError, exactly
from dpcore.core.sizes import MAX_ATTRIBUTES, MAX_CORRELATED_ROWS
from dpcore.data.product import Product

if TYPE_CHECKING:
    from dpcore.data.reading.tables import Table

GROUPS, BLOCK = 12, 1 << 16
"""Mock rows: number of groups, and rows drawn at once."""


OPERATORS = ("is", "at least", "below")


@dataclass(frozen=True, kw_only=True)
class Predicate:
    """One yes/no attribute: a column's text is a value, or its number is at least, or below, a threshold.

    Attributes:
        column: the column's name.
        kind: "is", "at least" or "below"; a missing value fails all three.
        value: the text, or the threshold.
        name: what the attribute is called, by default the predicate in words.
    """

    column: str
    kind: str = "is"
    value: str | float = "1"
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in OPERATORS:
            raise ParameterError(f"A predicate must be one of {', '.join(OPERATORS)}, got {self.kind!r}.")
        if self.kind == "is":
            object.__setattr__(self, "value", str(self.value))
        elif not isinstance(self.value, int | float) or not np.isfinite(self.value):
            raise ParameterError(f"“{self.kind}” needs a number, got {self.value!r}.")
        if not self.name:
            # All its digits: two thresholds that differ must not be called the same.
            shown = self.value if isinstance(self.value, str) else exactly(self.value)
            object.__setattr__(self, "name", f"{self.column} {self.kind} {shown}")


def evaluate_predicates(table: Table, predicates: Sequence[Predicate]) -> Booleans:
    """Return each row's attributes, (n, d); every column is read once for texts, once for numbers, and released."""
    by_column: dict[tuple[str, bool], list[int]] = {}
    for place, predicate in enumerate(predicates):
        by_column.setdefault((predicate.column, predicate.kind == "is"), []).append(place)
    rows: Booleans | None = None
    for (column, is_text), places in by_column.items():
        texts = list(dict.fromkeys(str(predicates[place].value) for place in places))
        read = table.labels(column, texts) if is_text else table.numbers(column)
        if rows is None:
            rows = np.empty((len(read), len(predicates)), dtype=np.bool_)
        for place in places:
            value = predicates[place].value
            if is_text:
                rows[:, place] = read == texts.index(str(value))
            elif predicates[place].kind == "at least":  # NaN compares false with everything, whichever way round
                rows[:, place] = read >= float(value)
            else:
                rows[:, place] = read < float(value)
    if rows is None:
        raise ParameterError("Evaluating rows needs a predicate.")
    return rows


def correlated_domain(attributes: int) -> Product:
    """Return yes/no attributes named a1, a2, ..."""
    return Product.yes_no([f"a{place}" for place in range(1, attributes + 1)])


def correlated_rows(*, n: int, attributes: int, seed: int) -> Booleans:
    """Draw correlated mock rows (n, d), like shopping baskets: a dozen groups, each with its own rates.

    >>> correlated_rows(n=3, attributes=5, seed=1).shape
    (3, 5)
    """
    if not (1 <= n <= MAX_CORRELATED_ROWS and 1 <= attributes <= MAX_ATTRIBUTES):
        raise ParameterError(f"Up to {MAX_CORRELATED_ROWS:,} rows of up to {MAX_ATTRIBUTES} attributes can be made.")
    random = np.random.Generator(np.random.SFC64(seed))
    popular = random.uniform(0.05, 1.0, attributes) ** 2
    rates = popular * random.beta(0.4, 1.2, (GROUPS, attributes))
    limits = (rates * 2**16).astype(np.uint16)
    shares = random.dirichlet(np.full(GROUPS, 2.0))
    rows = np.empty((n, attributes), dtype=np.bool_)
    for start in range(0, n, BLOCK):
        here = rows[start : start + BLOCK]
        group = random.choice(GROUPS, len(here), p=shares)
        drawn = random.integers(0, 2**16, here.shape, dtype=np.uint16)
        np.less(drawn, limits[group], out=here)
    return rows
