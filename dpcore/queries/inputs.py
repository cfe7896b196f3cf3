"""The share of private decision lists that say yes, one query per input (Thaler, Ullman and Vadhan 2012, 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import DomainType, Floats, Integers, Queries
from dpcore.data.lists import DecisionLists


def fires(records: Integers, inputs: NDArray[np.bool_], *, rules: int) -> NDArray[np.bool_]:
    """Return whether each rule's literal holds, (n, k), on one input for all (s,)."""
    values = np.concatenate([inputs, ~inputs, [False]])
    literals: NDArray[np.bool_] = values[records[:, :rules]]
    return literals


@dataclass(frozen=True, kw_only=True)
class Inputs(Queries):
    """Which share of the lists says yes? One query for each of 2^s inputs; bit v of its number is variable v."""

    key: ClassVar[str] = "inputs"
    title: ClassVar[str] = "Inputs: decision lists that say yes"
    one: ClassVar[str] = "input"
    domains: ClassVar[tuple[DomainType, ...]] = (DomainType.LISTS,)
    domain: DecisionLists

    @override
    @property
    def count(self) -> int:
        """2^s."""
        return 1 << self.domain.variables

    @override
    @property
    def vc_dimension(self) -> int:
        """At most log2 of the number of queries."""
        return self.domain.variables

    def values(self, indices: Integers) -> NDArray[np.bool_]:
        """Return the variables of each input, (Q, s)."""
        variables: NDArray[np.bool_] = (indices[:, None] >> np.arange(self.domain.variables) & 1) == 1
        return variables

    @override
    def describe(self, index: int) -> str:
        names = [name for place, name in enumerate(self.domain.names) if index >> place & 1]
        return ", ".join(names) or "nothing holds"

    def truth(self, records: Integers, indices: Integers) -> Floats:
        """Return the share of the lists that says yes to each input, (Q,)."""
        rules = self.domain.rules
        outputs = records[:, rules:]
        shares = np.empty(len(indices))
        for place, values in enumerate(self.values(indices)):
            fired = fires(records, values, rules=rules)
            first = np.where(fired.any(axis=1), fired.argmax(axis=1), rules)
            shares[place] = outputs[np.arange(len(records)), first].sum() / max(1, len(records))
        return shares
