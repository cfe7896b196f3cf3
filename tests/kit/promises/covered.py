"""Who puts which mechanism's promises to the test: the first line that fits, for every entry of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpcore.core import BoundKind, Entry, Mechanism
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dpcore.mechanisms.intervals.boxes import BoxCuts
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.learner import PrivateLearner
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from dpcore.mechanisms.robust.counted_mean import CountedMean
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.smooth_median import SmoothMedian
from dpcore.mechanisms.robust.stable_median import StableMedian
from dpcore.mechanisms.robust.stable_mode import StableMode
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.near import MedianOfMedians
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables, FourierTables
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from tests.kit.promises.answers import boxes, halfspaces, learned, lists, marginals, tables
from tests.kit.promises.cases import Case, Grid, Row, judged
from tests.kit.promises.conversations import conversations
from tests.kit.promises.data import cases as data_cases
from tests.kit.promises.groups import group_quantiles, grouped
from tests.kit.promises.values import between, counted_means, means, near, stable, stable_modes, subsampled

COVERED: tuple[tuple[tuple[type[Mechanism], ...], Callable[[Entry, Grid], Iterator[Case]]], ...] = (
    ((ExponentialMedian,), between),
    ((CountedMean,), counted_means),
    ((ClippedMean, UnboundedMean), means),
    ((StableMedian,), stable),
    ((StableMode,), stable_modes),
    ((SmoothMedian, MedianOfMedians), near),
    ((SubsampleAggregate,), subsampled),
    ((HalfspaceCounts,), halfspaces),
    ((GroupMechanism,), grouped),
    ((GroupQuantileCounts,), group_quantiles),
    ((PolynomialMarginals,), marginals),
    ((ResidualPlanner, DirectTables, FourierTables), tables),
    ((DecisionListMarginals,), lists),
    ((BoxCuts,), boxes),
    ((PrivateLearner,), learned),
    ((Interactive,), conversations),
)
"""Mechanisms that release data need no line of their own: their error is the worst of a class of queries."""


def cases_of(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Every promise of an entry that the grid tries.

    Raises:
        LookupError: nobody tries them; it says where to add them.
    """
    for kinds, cases in COVERED:
        if issubclass(entry.mechanism, kinds):
            return cases(entry, grid)
    if entry.mechanism.releases == "data":
        return data_cases(entry, grid)
    raise LookupError(
        f"Nothing tries what {entry.key} promises: add {entry.mechanism.__name__} to COVERED in "
        "tests/kit/promises/covered.py, with a function that makes data and measures the error it promises."
    )


def rows_of(entry: Entry, grid: Grid, *, seed: int) -> Iterator[Row]:
    """What becomes of them.

    Raises:
        LookupError: nobody tries them, or something is promised that the grid never meets.
    """
    tried = silent = False
    for place, case in enumerate(cases_of(entry, grid)):
        for row in judged(case, seed=seed + place):
            tried |= row.errors is not None
            silent |= row.bound.kind is BoundKind.GUARANTEE
            yield row
    if silent and not tried:
        raise LookupError(
            f"{entry.key} promises something that no data of its cases in tests/kit/promises/covered.py meet: "
            "add rows, parameters or data there that meet its assumptions."
        )
