"""The work that a request names is weighed before any of it is done: a plan or a certificate may be anybody's."""

from __future__ import annotations

from collections.abc import Hashable

from dpcore.core import Mechanism, ParameterError
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, line_of, quantiles_of
from dpcore.mechanisms.grouped.release import statistics_of
from dpcore.mechanisms.tables.whole_table import WholeTable
from dplab.intervals.released import draws_of_cells
from dprelease.requests.intervals import has_drawn_ends
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.tables import MAX_PREVIEW_ROWS

MAX_SECONDS = 300.0
"""Estimated time that the questions of a request may take together."""
ROW_SECONDS = 2e-8
"""To make up a column of a mock row, and to read it."""
LINE_SECONDS = 1.2e-5
"""To write a line of a released table, and to check it."""
CELL_SECONDS = 4e-6
"""To fit a cell of a synthetic row, to write it and to check it."""

INTERVAL_SECONDS = {(1, 1): 2e-3, (2, 1): 2e-3, (1, 2): 6e-3, (1, 3): 6e-3, (2, 2): 2.5e-2}
"""To find a group's intervals twice, as mock statistics have some too, by how many numbers and the degree."""
DRAWN_SECONDS, SHARE_SECONDS = 2e-6, 3e-7
"""To draw a cell's noise again for intervals of quantiles, and to find one quantile's half-width there."""
WIDTH_SECONDS, ENDS_SECONDS = 2e-7, 5e-5
"""To find a half-width among a cell's errors, for each of them, and to round its ends for the file and its check."""


def too_much_work(request: Request) -> str:
    """Return one sentence if the questions together take too long to release or to verify; empty if they do not.

    Strategies are made once for a size and a set of parameters, so equal ones count once.
    """
    seconds = request_seconds(request)
    if seconds <= MAX_SECONDS:
        return ""
    number = len(request.parts)
    questions = f"These {number} statistics" if number > 1 else "This statistic"
    instead = "make several requests" if number > 1 else "smaller parameters"
    return (
        f"{questions} would take about {seconds / 60:,.0f} minutes, and a request may take at most "
        f"{MAX_SECONDS / 60:g}. Choose fewer cells, or {instead}."
    )


def request_seconds(request: Request) -> float:
    """Return roughly how long the questions of a request take together, each drawn once."""
    before = dict[Hashable, float]()
    draws = 0.0
    for part in request.parts:
        try:
            prepared, drawn = part.mechanism.release_seconds(part.problem)
        except ParameterError:  # a question that is refused for its size, in a sentence of its own
            continue
        before[_strategy(part)] = prepared
        draws += drawn + _file_seconds(part)
    return sum(before.values()) + draws


def _file_seconds(part: RequestPart) -> float:
    """Return roughly how long mock rows take, and the released file; a mechanism's own tables are its own work."""
    domain, rows = part.problem.domain, min(part.n, MAX_PREVIEW_ROWS)
    seconds = ROW_SECONDS * rows * len(part.reading.columns)
    if domain.listed and part.mechanism.releases == "data":
        seconds += LINE_SECONDS * domain.size
        if has_drawn_ends(part.mechanism, part.problem):  # for the file, and for its check
            each = part.mechanism.preview_seconds(part.problem)[1] + WIDTH_SECONDS * domain.size
            seconds += 2 * draws_of_cells(domain.size) * each + ENDS_SECONDS * domain.size
    if isinstance(part.mechanism, WholeTable):
        seconds += CELL_SECONDS * part.n * len(part.reading.columns)
    if isinstance(part.mechanism, GroupMechanism):
        queries = statistics_of(part.problem)
        seconds += queries.count * (LINE_SECONDS + INTERVAL_SECONDS[len(queries.numbers), queries.degree])
    if isinstance(part.mechanism, GroupQuantileCounts):
        cells = line_of(part.problem).ordered
        seconds += LINE_SECONDS * cells * quantiles_of(part.problem).count
        seconds += (
            draws_of_cells(cells) * cells * (DRAWN_SECONDS + SHARE_SECONDS * len(quantiles_of(part.problem).quantiles))
        )
    return seconds


def _strategy(part: RequestPart) -> Hashable:
    """Return what the work before a first draw depends on: public sizes and parameters."""
    values = part.parameters
    if type(part.mechanism).warm_up is Mechanism.warm_up:  # nothing is prepared for one epsilon alone
        values.pop("epsilon", None)
    domain = part.problem.domain
    size = (domain.size, domain.ordered) if domain.listed else (part.reading,)
    return part.entry_key, type(part.queries), size, part.neighbours, tuple(sorted(values.items()))
