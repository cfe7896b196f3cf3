"""Rules that predict one yes/no attribute from the others: a class that the reader writes.

A rule h says yes or no to each row; it errs where that is not the row's label y. The share of the rows on which it
errs is a counting query, with the predicate "h(x) is not y". So a class of rules is a class of counting queries, and
to learn is to find the smallest answer.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Booleans, DataError, DomainType, Floats, Integers, ParameterError, Queries
from dpcore.core.sizes import MAX_CLASS_ATTRIBUTES, MAX_CLASS_RULES, MAX_LITERALS
from dpcore.data.product import Product
from dpcore.queries.attribute_sets import all_sets
from dpcore.queries.counting import pack, shares

CONJUNCTIONS, INTERVALS, TABLE = "conjunctions", "intervals", "table"
KINDS = {
    CONJUNCTIONS: "all of up to k attributes, plain or negated",
    INTERVALS: "one attribute and not another",
    TABLE: "your own matrix",
}


def rule_errors(answers: Floats, labels: Floats, both: Floats) -> Integers:
    """Return the rows on which a rule errs: it says yes, or the label is yes, and not both."""
    errors: Integers = np.rint(answers + labels - 2 * both).astype(np.int64)
    return errors


@dataclass(frozen=True, kw_only=True)
class Hypotheses(Queries):
    """A class of rules, each with the share of the rows on which it errs.

    Rule 0 says always no and rule 1 always yes, except in a class given as a matrix. Then come rules of one attribute,
    of two, and so on; each set of attributes with all its signs.

    Attributes:
        label: place of the attribute to predict.
        kind: one of KINDS.
        literals: most attributes of a rule, k.
        packed: the matrix, rule by rule, as bytes of 0 and 1; made by of().
    """

    key: ClassVar[str] = "hypotheses"
    title: ClassVar[str] = "Rules: which predicts an attribute best?"
    one: ClassVar[str] = "rule"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.YES_NO,)
    domain: Product
    label: int = 0
    kind: str = CONJUNCTIONS
    literals: int = 2
    packed: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"The class of rules must be one of {', '.join(KINDS)}.")
        if self.domain.attributes < 2 or not 0 <= self.label < self.domain.attributes:
            raise ParameterError("A rule needs a label and another attribute.")
        if not 1 <= self.literals <= MAX_LITERALS:
            raise ParameterError(f"A rule has 1 to {MAX_LITERALS} attributes, got {self.literals}.")
        if self.kind == TABLE:
            self._check_matrix()
        elif self.packed:
            raise ParameterError("Only a class given as a matrix has one.")
        if self.count > MAX_CLASS_RULES:
            raise ParameterError(f"These are {self.count:,} rules; at most {MAX_CLASS_RULES:,} are possible.")

    def _check_matrix(self) -> None:
        """Raise ParameterError for a matrix of another shape, or with other entries than 0 and 1."""
        others = self.domain.attributes - 1
        if others > MAX_CLASS_ATTRIBUTES:
            raise ParameterError(f"A matrix of rules is about at most {MAX_CLASS_ATTRIBUTES} attributes and the label.")
        if not self.packed or len(self.packed) % (1 << others):
            raise ParameterError(f"A matrix of rules has {1 << others} columns: one for each row there may be.")
        if not set(self.packed) <= {0, 1}:
            raise ParameterError("A matrix of rules has zeros and ones only.")

    @classmethod
    def of(cls, matrix: NDArray[np.float64], *, domain: Product, label: int) -> Hypotheses:
        """Return the class of a 0/1 matrix (rules, 2^attributes); bit i of a column is attribute i besides the label.

        Raises:
            DataError: another shape, or entries other than 0 and 1.
        """
        columns = 1 << min(domain.attributes - 1, MAX_CLASS_ATTRIBUTES)
        if matrix.ndim != 2 or not matrix.size or matrix.shape[1] != columns:
            raise DataError(f"The matrix needs {columns} columns: one for each row that there may be.")
        if not np.isin(matrix, (0.0, 1.0)).all():
            raise DataError("A rule says yes (1) or no (0): the matrix has zeros and ones only.")
        return cls(domain=domain, label=label, kind=TABLE, packed=matrix.astype(np.uint8).tobytes())

    @property
    def others(self) -> Integers:
        """Places of the attributes besides the label."""
        return np.delete(np.arange(self.domain.attributes), self.label)

    @cached_property
    def matrix(self) -> Booleans:
        """Answers of each rule of a matrix to each possible row, (rules, 2^attributes)."""
        answers: Booleans = np.frombuffer(self.packed, dtype=np.uint8).reshape(-1, 1 << len(self.others)) == 1
        return answers

    @override
    @property
    def count(self) -> int:
        """Number of rules, |H|."""
        others = self.domain.attributes - 1
        if self.kind == TABLE:
            return len(self.packed) >> others
        if self.kind == INTERVALS:
            return 2 + 2 * others + others * (others - 1)
        return 2 + sum(comb(others, size) << size for size in range(1, min(self.literals, others) + 1))

    @override
    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of rules."""
        return self.count.bit_length() - 1

    def levels(self) -> list[tuple[Integers, Booleans]]:
        """Return the attributes of each rule (Q, size) and which are negated (Q, size), for each size of a rule."""
        if self.kind == TABLE:
            return []
        max_size = 2 if self.kind == INTERVALS else self.literals
        levels = []
        for size in range(1, min(max_size, len(self.others)) + 1):
            sets = self.others[all_sets(len(self.others), size=size)]
            signs = (np.arange(1 << size)[:, None] >> np.arange(size) & 1) == 1
            if self.kind == INTERVALS and size == 2:
                signs = signs[1:3]
            levels.append((np.repeat(sets, len(signs), axis=0), np.tile(signs, (len(sets), 1))))
        return levels

    @override
    def describe(self, index: int) -> str:
        names = self.domain.names
        label = names[self.label]
        if self.kind == TABLE:
            return f"{label} by rule {index + 1}"
        if index < 2:
            return f"{label} always" if index else f"{label} never"
        place = index - 2
        for sets, negated in self.levels():
            if place < len(sets):
                words = [
                    f"not {names[attribute]}" if flipped else names[attribute]
                    for attribute, flipped in zip(sets[place], negated[place], strict=True)
                ]
                return f"{label} if {' and '.join(words)}"
            place -= len(sets)
        raise ParameterError(f"There is no rule {index}.")

    def errors(self, records: Booleans | Integers) -> Generator[float, None, Integers]:
        """Return the rows (n, attributes) on which each rule errs, whole numbers (|H|,); yields the share done."""
        label = records[:, self.label].astype(np.bool_)
        if self.kind == TABLE:
            cells = (records[:, self.others].astype(np.int64) << np.arange(len(self.others))).sum(axis=1)
            no, yes = (np.bincount(cells[label == which], minlength=self.matrix.shape[1]) for which in (False, True))
            yield 1.0
            errors: Integers = np.where(self.matrix, no, yes).sum(axis=1)
            return errors
        packed, labels = pack(records.astype(np.bool_)), float(label.sum())
        levels = [np.array([label.sum(), len(records) - label.sum()], dtype=np.int64)]
        for sets, negated in self.levels():
            with_label = np.column_stack([sets, np.full(len(sets), self.label)])
            signs = np.column_stack([negated, np.zeros(len(sets), dtype=np.bool_)])
            answers = (yield from shares(packed, sets, negated, least=sets.shape[1])) * len(records)
            both = (yield from shares(packed, with_label, signs, least=sets.shape[1] + 1)) * len(records)
            levels.append(rule_errors(answers, np.full(len(sets), labels), both))
        return np.concatenate(levels)
