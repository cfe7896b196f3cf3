"""The net mechanism at a resolution α: number of points by the paper and by the order of the line.

An α-net is a set of databases of which one answers every query within α, whatever the data. Three sizes are known. For
any class of |C| queries, ln|C|/α² points (the paper's; Hoeffding's constant would halve it). For a class of VC
dimension v, v·ln(1/α)/α² in order only. For queries on a line or on cells, 1/(2α) or 1/α: structure beats the general
lemma by far. All three are nets of databases that can be counted, so all are drawn exactly; more points resolve finer,
and cost more rows, as there are more databases to choose from.

Why it is private: the net mechanism is, at any number of points; and that depends on the class, the size of the domain
and α alone. Points beyond what is drawn in a few seconds are left out: those that are left resolve α as well.

Accuracy: that of the net mechanism with so many points. There are never fewer than the line's order takes, so that
whatever size is chosen resolves α.

Notation (paper): alpha = α, the net's resolution; points = m; queries = |C|; VC dimension = v; epsilon = ε.

References:
    Blum, Ligett and Roth (2013), Definition 2.11, Theorem 3.6, Lemmas 3.7 and 3.8.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from typing_extensions import override

from dpcore.core import Bound, DomainType, Entry, Problem, Queries, alpha_param, param
from dpcore.mechanisms.net.choice import WEIGHTS, NetMechanism
from dpcore.queries.ranges import Cells, Intervals, Thresholds

MAX_STEPS = 1 << 16
"""Cells times points: a release, in whole numbers, takes some seconds."""
MAX_SQUARES = 1 << 18
"""Of single cells: cells times the square of points."""


def by_structure(queries: Queries, alpha: float) -> int:
    """Return the points that resolve α on a line or on single cells, whatever the data: ⌈1/(2α)⌉ or ⌈1/α⌉."""
    return math.ceil(round((0.5 if isinstance(queries, Thresholds) else 1) / alpha, 9))


def by_queries(count: int, alpha: float) -> int:
    """Return the points for any class of so many queries, ⌈ln|C|/α²⌉ (Lemma 3.7).

    >>> by_queries(1024 * 1025 // 2, 0.1)
    1318
    """
    return max(1, math.ceil(math.log(count) / alpha**2))


def by_dimension(dimension: int, alpha: float) -> int:
    """Return the points by the VC dimension, ⌈v·ln(1/α)/α²⌉ (Lemma 3.8): an order of magnitude."""
    return max(1, math.ceil(dimension * math.log(1 / alpha) / alpha**2))


def log_candidates(size: int, points: int) -> float:
    """Return the natural logarithm of the number of databases of so many points."""
    return math.lgamma(size + points) - math.lgamma(points + 1) - math.lgamma(size)


@dataclass(frozen=True, kw_only=True)
class NetOfResolution(NetMechanism):
    """A private choice among the databases of an α-net."""

    alpha: float = alpha_param()
    sizing: str = param(
        "structure",
        label="Size of the net",
        choices=("structure", "queries", "dimension"),
        help="By the order of the line: 1/α points. By the number of queries, as in the paper for any class: "
        "ln|C|/α². By the VC dimension, up to constants: v·ln(1/α)/α².",
    )

    @override
    def requested_points(self, problem: Problem) -> int:
        """Points of the chosen size of net."""
        if self.sizing == "structure":
            return by_structure(problem.queries, self.alpha)
        if self.sizing == "queries":
            return by_queries(problem.queries.count, self.alpha)
        return by_dimension(problem.queries.vc_dimension, self.alpha)

    @override
    def size(self, problem: Problem) -> int:
        """Points of a database, m: those of the chosen size, as far as they are drawn in a few seconds."""
        cells = problem.domain.size
        quick = math.isqrt(MAX_SQUARES // cells) if isinstance(problem.queries, Cells) else MAX_STEPS // cells
        return max(by_structure(problem.queries, self.alpha), min(self.requested_points(problem), quick))

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The net mechanism's, with what either size costs."""
        notes = []
        for name, points in (
            ("the order of the line", by_structure(problem.queries, self.alpha)),
            ("the number of queries", by_queries(problem.queries.count, self.alpha)),
        ):
            rows = 2 / self.epsilon * (log_candidates(problem.domain.size, points) - math.log(beta))
            notes.append(f"by {name}, α needs {points:,} point{'s' if points > 1 else ''} and {rows:,.0f} rows")
        note = f"In an α-net one database answers every query within α, whatever the data. {', '.join(notes)}."
        return dataclasses.replace(super().accuracy(problem, beta), note=note.replace(" by", " By", 1))


ENTRIES = (
    Entry(
        key="net-alpha",
        mechanism=NetOfResolution,
        presets={"points": 20, "rule": "exponential"},
        title="Net mechanism at a resolution",
        story="You choose the resolution of the net. Its size follows from the paper's lemma for any class. The "
        "order of the line gives far fewer points.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells),
        references=("Blum, Ligett and Roth (2013), Theorem 3.6 and Lemma 3.8",),
        weights=WEIGHTS,
        tiny={"alpha": 1.0},
    ),
)
