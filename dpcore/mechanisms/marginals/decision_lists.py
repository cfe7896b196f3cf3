"""Rows that are decision lists: "if this, say yes; else if not that, say no; ...; else yes", over s yes/no variables.

A query is one input: what share of the lists says yes to it? (Thaler, Ullman and Vadhan 2012, section 4.3.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.core import DataError, Domain, Floats, Integers, ParameterError, Queries

MOST_VARIABLES = 12
MOST_RULES = 6
BLOCK = 1 << 22


@dataclass(frozen=True, kw_only=True)
class DecisionLists(Domain):
    """Lists of up to k rules over s variables; each variable stands in at most one rule of a list.

    A row is (literal of each of k rules, output of each rule, output if none fires): 2k + 1 whole numbers. Literal v
    is "variable v", s + v is "not variable v", and 2s is no rule at all: it never fires. (A second rule on a variable
    never fires, or always does where it is reached, so every list can be written this way.)
    """

    title: ClassVar[str] = "decision lists"
    listed: ClassVar[bool] = False
    names: tuple[str, ...]
    rules: int = 3
    missing: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= MOST_VARIABLES or len(set(self.names)) != len(self.names):
            raise ParameterError(f"Between 1 and {MOST_VARIABLES} different variables are needed.")
        if not 1 <= self.rules <= MOST_RULES:
            raise ParameterError(f"A list has between 1 and {MOST_RULES} rules, got {self.rules}.")
        if self.missing:
            raise ParameterError("A missing list is one without rules.")

    @property
    def variables(self) -> int:
        """s."""
        return len(self.names)

    @property
    def size(self) -> int:
        """Rows there are, at most: literals and outputs of every kind."""
        return int((2 * self.variables + 1) ** self.rules * 2 ** (self.rules + 1))

    def checked(self, records: NDArray[Any]) -> Integers:
        """Rows (n, 2k + 1) as described above."""
        width = 2 * self.rules + 1
        if records.ndim != 2 or records.shape[1] != width or not np.issubdtype(records.dtype, np.integer):
            raise DataError(f"Every list must be {width} whole numbers: literals, then outputs.")
        rows = records.astype(np.int64, copy=False)
        literals, outputs = rows[:, : self.rules], rows[:, self.rules :]
        if ((literals < 0) | (literals > 2 * self.variables)).any() or ((outputs < 0) | (outputs > 1)).any():
            raise DataError(f"Literals lie between 0 and {2 * self.variables}, outputs are 0 or 1.")
        for later in range(self.rules):
            there = literals[:, later] < 2 * self.variables
            for earlier in range(later):
                same = literals[:, later] % self.variables == literals[:, earlier] % self.variables
                if (same & there & (literals[:, earlier] < 2 * self.variables)).any():
                    raise DataError("A list may use each variable in one rule only.")
        return rows

    def sentence(self, row: Integers) -> str:
        """A list in words."""
        parts = []
        for literal, output in zip(row[: self.rules].tolist(), row[self.rules : -1].tolist(), strict=True):
            if literal < 2 * self.variables:
                negation = "not " if literal >= self.variables else ""
                parts.append(f"if {negation}{self.names[literal % self.variables]}: {'yes' if output else 'no'}")
        parts.append("yes" if row[-1] else "no")
        return "; else ".join(parts)


def fires(records: Integers, inputs: NDArray[np.bool_], *, rules: int) -> NDArray[np.bool_]:
    """Whether each rule's literal holds, (n, k), on one input for all (s,)."""
    values = np.concatenate([inputs, ~inputs, [False]])
    held: NDArray[np.bool_] = values[records[:, :rules]]
    return held


@dataclass(frozen=True, kw_only=True)
class Inputs(Queries):
    """Which share of the lists says yes? One query for each of 2^s inputs; bit v of its number is variable v."""

    key: ClassVar[str] = "inputs"
    title: ClassVar[str] = "Inputs: how many lists say yes?"
    one: ClassVar[str] = "input"
    domains: ClassVar[tuple[type[Domain], ...]] = (DecisionLists,)
    domain: DecisionLists

    @property
    def count(self) -> int:
        """2^s."""
        return 1 << self.domain.variables

    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of queries."""
        return self.domain.variables

    def values(self, indices: Integers) -> NDArray[np.bool_]:
        """The variables of each input, (Q, s)."""
        held: NDArray[np.bool_] = (indices[:, None] >> np.arange(self.domain.variables) & 1) == 1
        return held

    def describe(self, index: int) -> str:
        """The variables that hold."""
        held = [name for place, name in enumerate(self.domain.names) if index >> place & 1]
        return ", ".join(held) or "nothing holds"

    def truth(self, records: Integers, indices: Integers) -> Floats:
        """Share of the lists that says yes to each input, (Q,)."""
        rules = self.domain.rules
        outputs = records[:, rules:]
        shares = np.empty(len(indices))
        for place, values in enumerate(self.values(indices)):
            fired = fires(records, values, rules=rules)
            first = np.where(fired.any(axis=1), fired.argmax(axis=1), rules)
            shares[place] = outputs[np.arange(len(records)), first].sum() / max(1, len(records))
        return shares
