"""Whether runs on two neighbouring data sets refute a claim of privacy.

A claim (epsilon, delta) says of every event that its chance p on one data set and q on the other keep
p <= e^epsilon q + delta. So one event whose chances do not is a refutation, and a bound on them that fails rarely is
one that is wrong rarely. A look takes new runs on both sides:
- a quarter orders outcomes by their estimated likelihood ratio (orders.py);
- a quarter picks the order, the direction and the cut that promise most;
- half counts the event so picked, and a pair of exact bounds (Clopper and Pearson 1934) gives p at least and q at
  most: the loss is at least ln((p - delta)/q).

The counted runs had no say in what is counted, so a bound fails as rarely as it says. Looks of growing size share the
allowed chance of failure, whichever of them is the last.

A claim that stands has not been proved: another pair of data sets, another event or more runs may refute it.

References:
    Clopper and Pearson (1934); Ding, Wang, Wang, Zhang and Kifer (2018), Detecting violations of differential privacy;
    Lu, Munoz, Fuchs, LeBlond, Zaresky-Williams, Raff, Ferraro and Testa (2022), A general framework for auditing
    differentially private machine learning.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.core import Floats, Integers, ParameterError, exactly, paused
from dpcore.core.problem import spread
from dpcore.limits.chance import binomial_interval, check_loss
from dpcore.randomness import Preview
from dplab.audit.orders import Order, Outcomes, orders

ROUND_SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
"""Runs a side of each look."""
FAILURE = 0.001
"""Chance that any look refutes a claim that is true."""
BLOCK, MIN_RUNS = 1 << 20, 256
"""Numbers drawn at once, and runs."""
MAX_STORED_NUMBERS = 1 << 23
"""Numbers of each data set that are kept to order or to cut: where outcomes are wide, fewer than a quarter's."""
CUTS = 200
"""Places of a cut that are tried."""
BINS = 40
"""Bars of the drawn scores."""

Draw = Callable[[int, Preview, int], Outcomes]
"""Outcomes (T, w) of so many runs on data set 0 or 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Event:
    """The outcomes that are counted: those whose score lies at or beyond a cut.

    Attributes:
        order: scores outcomes.
        cut: the first score counted.
        upward: whether larger scores are counted, which data set 0 gives more often; else smaller, and data set 1.
    """

    order: Order
    cut: float
    upward: bool

    def holds(self, scores: Floats) -> int:
        """How many of these scores are counted."""
        return int((scores >= self.cut).sum() if self.upward else (scores <= self.cut).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditRound:
    """What one look found.

    Attributes:
        runs: on each data set.
        counted: of these, how many were tested.
        hits: how many were in the event, on the data set that is in it more often, and on the other.
        more: chance of the event on the first, at least.
        fewer: chance of the event on the other, at most.
        epsilon: the loss, at least; 0 where nothing is shown.
        refuted: whether the claim cannot be true.
        event: what was counted.
        edges: of the bars of scores, (B + 1,).
        shares: of the tested runs in each bar on data sets 0 and 1, (2, B).
    """

    runs: int
    counted: int
    hits: tuple[int, int]
    more: float
    fewer: float
    epsilon: float
    refuted: bool
    event: Event
    edges: Floats
    shares: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """Every look up to the first that refutes, or all of them.

    Attributes:
        epsilon: claimed.
        delta: claimed.
        failure: chance that a true claim is refuted.
        rounds: in turn; the largest bound of all holds with the others.
    """

    epsilon: float
    delta: float
    failure: float
    rounds: tuple[AuditRound, ...]

    @property
    def refuted(self) -> bool:
        """Whether some look refuted the claim."""
        return any(each.refuted for each in self.rounds)

    @property
    def runs(self) -> int:
        """Runs on each data set, of all looks."""
        return sum(each.runs for each in self.rounds)

    @property
    def least(self) -> float:
        """The loss, at least, at the claimed delta."""
        return max(each.epsilon for each in self.rounds)

    @property
    def sentence(self) -> str:
        """The verdict; the bound is rounded down."""
        return self._verdict("Refuted", "claimed ")

    @property
    def sentence_for_all(self) -> str:
        """The verdict where the claim is of rows drawn at random alone: what is refuted is the same of all data."""
        return self._verdict("Refuted as a promise for all data", "not ")

    def _verdict(self, refuted: str, claimed: str) -> str:
        """That it is refuted, in these words, or that it is not."""
        if not self.refuted:
            return f"Not refuted in {self.runs:,} runs. That is no proof."
        claimed += exactly(self.epsilon) + (f" with δ = {exactly(self.delta)}" if self.delta else "")
        sure = f"{100 * (1 - self.failure):.6g}%"
        return f"{refuted}: at least {math.floor(100 * self.least) / 100:g}, {claimed} ({sure})."


def audit(
    draw: Draw,
    *,
    epsilon: float,
    delta: float = 0.0,
    seed: int,
    rounds: Sequence[int] = ROUND_SIZES,
    failure: float = FAILURE,
    at_least: int = 1,
    seconds: float = math.inf,
) -> Generator[float, None, Audit]:
    """Try to refute a claim; yields how far it is, 0 to 1, often enough to be stopped in between.

    It ends at the first look that refutes. How far it is: of all runs, or of the time that is left, whichever is more.

    Args:
        draw: outcomes of runs on either data set.
        epsilon: claimed.
        delta: claimed.
        seed: of the runs.
        rounds: runs a side of each, at least 8; they share the chance of failure evenly.
        failure: chance that a claim that is true is refuted.
        at_least: looks that are taken all the same, if there is time.
        seconds: no look begins that would take longer than what is left of them, but for the first.
    """
    check_loss(epsilon=epsilon, delta=delta)
    if not rounds or min(rounds) < 8 or not 0 < failure < 1:
        raise ParameterError("An audit needs looks of at least 8 runs, and a chance of failure between 0 and 1.")
    preview, completed, start = Preview(seed), list[AuditRound](), time.monotonic()
    total, done = 2 * sum(rounds), 0
    max_stored = MAX_STORED_NUMBERS // draw(0, Preview(seed), 1).shape[1]

    def both(runs: int, transform: Callable[[Outcomes], NDArray[Any]]) -> Generator[float, None, list[NDArray[Any]]]:
        """What is kept of so many runs on each data set."""
        nonlocal done, start
        sides = []
        for side in (0, 1):
            parts, left, size = list[NDArray[Any]](), runs, MIN_RUNS
            while left:
                outcomes = draw(side, preview, min(left, size))
                parts.append(transform(outcomes))
                left, done = left - len(outcomes), done + len(outcomes)
                size = max(MIN_RUNS, BLOCK // outcomes.shape[1])
                spent = time.monotonic() - start
                start += yield from paused(max(done / total, min(1.0, spent / max(seconds, 1e-9))))
            sides.append(np.concatenate(parts))
        return sides

    for runs in rounds:
        spent = time.monotonic() - start
        if completed and spent * (1 + runs / sum(each.runs for each in completed)) > seconds:
            break
        quarter, tail = min(runs // 4, max_stored), failure / len(rounds) / 2
        # Three sets of runs of their own: whoever orders, whoever cuts and whoever counts must not meet.
        ways = orders(*(yield from both(quarter, np.asarray)))
        cutting = yield from both(quarter, np.asarray)
        event, reach = _best(ways, cutting, delta=delta, tail=tail)
        scores = yield from both(runs - 2 * quarter, event.order)
        completed.append(_count_event(event, scores, reach, runs=runs, epsilon=epsilon, delta=delta, tail=tail))
        if completed[-1].refuted and len(completed) >= at_least:
            break
    return Audit(epsilon=epsilon, delta=delta, failure=failure, rounds=tuple(completed))


def bound(more: ArrayLike, fewer: ArrayLike, counted: int, *, tail: float) -> tuple[Floats, Floats]:
    """What hits of so many counted runs show of two chances: p at least, q at most, each but for ``tail``.

    Args:
        more: hits on the data set that is in the event more often, any shape.
        fewer: hits on the other, same shape.
        counted: runs on each.
        tail: chance that either bound is wrong.
    """
    low, _ = binomial_interval(more, counted, confidence=1 - 2 * tail)
    _, high = binomial_interval(fewer, counted, confidence=1 - 2 * tail)
    return low, high


def _best(
    ways: Sequence[Order], cutting: Sequence[Outcomes], *, delta: float, tail: float
) -> tuple[Event, tuple[float, float]]:
    """The order, direction and cut with the largest bound on these runs; and the least and the largest score.

    The bound of so few runs, not of those that are to be counted: a rare event that looks good by luck does not win.

    Args:
        ways: orders to choose from.
        cutting: runs of data sets 0 and 1, (R, w) each.
        delta: claimed.
        tail: of each bound.
    """
    candidates: list[tuple[float, Event, tuple[float, float]]] = []
    for order in ways:
        scores = [order(outcomes) for outcomes in cutting]
        values = np.unique(np.concatenate(scores))
        cuts = values[spread(len(values), CUTS)]
        for upward in (True, False):
            more, fewer = (_beyond(each, cuts, upward=upward) for each in (scores if upward else scores[::-1]))
            losses = _loss(*bound(more, fewer, len(scores[0]), tail=tail), delta=delta)
            place = int(np.argmax(losses))
            event = Event(order=order, cut=float(cuts[place]), upward=upward)
            candidates.append((float(losses[place]), event, (float(values[0]), float(values[-1]))))
    _, event, reach = max(candidates, key=lambda each: each[0])
    return event, reach


def _beyond(scores: Floats, cuts: Floats, *, upward: bool) -> Integers:
    """How many scores lie at or beyond each cut (K,)."""
    ordered = np.sort(scores)
    if upward:
        return len(scores) - np.searchsorted(ordered, cuts, side="left")
    return np.searchsorted(ordered, cuts, side="right").astype(np.int64)


def _loss(more: Floats, fewer: Floats, *, delta: float) -> Floats:
    """ln((p - delta)/q) elementwise: the loss, at least; minus infinity where p does not exceed delta."""
    above = np.maximum(more - delta, 0.0)
    return np.log(above, out=np.full(above.shape, -np.inf), where=above > 0) - np.log(fewer)


def _count_event(
    event: Event,
    scores: Sequence[Floats],
    reach: tuple[float, float],
    *,
    runs: int,
    epsilon: float,
    delta: float,
    tail: float,
) -> AuditRound:
    """The counted runs' scores of data sets 0 and 1, (C,) each, and what they show of the claim."""
    counted = len(scores[0])
    first, second = (event.holds(each) for each in (scores if event.upward else scores[::-1]))
    low, high = (float(each) for each in bound(first, second, counted, tail=tail))
    edges = np.linspace(reach[0] - 0.25, reach[1] + 0.25, BINS + 1)
    bars = [np.histogram(np.clip(each, edges[0], edges[-1]), edges)[0] / counted for each in scores]
    return AuditRound(
        runs=runs,
        counted=counted,
        hits=(first, second),
        more=low,
        fewer=high,
        epsilon=max(0.0, float(_loss(np.array(low), np.array(high), delta=delta))),
        refuted=low > math.exp(epsilon) * high + delta,
        event=event,
        edges=edges,
        shares=np.array(bars),
    )
