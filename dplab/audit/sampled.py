"""Test a privacy claim by runs on two neighbouring data sets.

A claim (epsilon, delta) says that every event has probabilities p and q on the two data sets with
p <= e^epsilon q + delta. One event that violates this refutes the claim. A round draws new runs on both data sets:
- a quarter estimates the likelihood ratio of outcomes (orders.py);
- a quarter selects the scoring, the direction and the cut with the largest bound;
- half counts the selected event, and exact bounds (Clopper and Pearson 1934) give p at least and q at most: the
  privacy loss is at least ln((p - delta)/q).

The counted runs are independent of the selection, so the bounds have their nominal coverage. Rounds of growing size
share the failure probability, whichever round is the last.

A claim that is not refuted is not proved: another pair of data sets, another event or more runs may refute it.

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
"""Runs on each data set in each round."""
FAILURE = 0.001
"""Probability that any round refutes a true claim."""
BLOCK, MIN_RUNS = 1 << 20, 256
"""Largest number of values drawn at once, and smallest number of runs."""
MAX_STORED_NUMBERS = 1 << 23
"""Largest number of values stored per data set to select the event: for wide outcomes, fewer runs than a quarter."""
CUTS = 200
"""Number of candidate cuts."""
BINS = 40
"""Bars of the histogram of scores."""

Draw = Callable[[int, Preview, int], Outcomes]
"""Draws outcomes (T, w) of a number of runs on data set 0 or 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Event:
    """Event that an audit counts: outcomes whose score lies at or beyond a cut.

    Attributes:
        order: scores outcomes.
        cut: the first score in the event.
        upward: larger scores are in the event, which are likelier on data set 0; else smaller scores.
    """

    order: Order
    cut: float
    upward: bool

    def holds(self, scores: Floats) -> int:
        """Return the number of scores in the event."""
        return int((scores >= self.cut).sum() if self.upward else (scores <= self.cut).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditRound:
    """Result of one round.

    Attributes:
        runs: runs on each data set.
        counted: runs on each data set that were counted.
        hits: runs in the event, on the data set that is in it more often, and on the other.
        more: lower bound on the event's probability on the first data set.
        fewer: upper bound on the event's probability on the other.
        epsilon: lower bound on the privacy loss; 0 where it is not above 0.
        refuted: whether the bounds contradict the claim.
        event: the counted event.
        edges: edges of the bars of scores, (B + 1,).
        shares: share of the counted runs in each bar on data sets 0 and 1, (2, B).
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
    """Rounds of an audit, up to the first that refutes the claim.

    Attributes:
        epsilon: claimed ε.
        delta: claimed δ.
        failure: probability that a true claim is refuted.
        rounds: in order; all their bounds hold together.
    """

    epsilon: float
    delta: float
    failure: float
    rounds: tuple[AuditRound, ...]

    @property
    def refuted(self) -> bool:
        """Return whether some round refuted the claim."""
        return any(each.refuted for each in self.rounds)

    @property
    def runs(self) -> int:
        """Number of runs on each data set, over all rounds."""
        return sum(each.runs for each in self.rounds)

    @property
    def least(self) -> float:
        """Largest lower bound on the privacy loss at the claimed delta."""
        return max(each.epsilon for each in self.rounds)

    @property
    def sentence(self) -> str:
        """Verdict in words; the bound is rounded down."""
        return self._verdict("Refuted", "claimed ")

    @property
    def sentence_for_all(self) -> str:
        """Verdict where the claim is about rows drawn at random: only the same claim for all data is refuted."""
        return self._verdict("Refuted as a guarantee for all data", "not ")

    def _verdict(self, refuted: str, claimed: str) -> str:
        """Return the verdict in these words."""
        if not self.refuted:
            return f"Not refuted in {self.runs:,} runs. This is not a proof."
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
    """Try to refute a claim; yields the fraction done, often enough that the caller can stop in between.

    It ends at the first round that refutes. The fraction done is that of all runs or of the time limit, if larger.

    Args:
        draw: draws outcomes of runs on either data set.
        epsilon: claimed ε.
        delta: claimed δ.
        seed: seed of the runs.
        rounds: runs on each data set in each round, at least 8; rounds share the failure probability evenly.
        failure: probability that a true claim is refuted.
        at_least: rounds that are made even after a refutation, if there is time.
        seconds: time limit; after the first, no round begins that would exceed it.
    """
    check_loss(epsilon=epsilon, delta=delta)
    if not rounds or min(rounds) < 8 or not 0 < failure < 1:
        raise ParameterError("A test needs rounds of at least 8 runs, and a failure probability between 0 and 1.")
    preview, completed, start = Preview(seed), list[AuditRound](), time.monotonic()
    total, done = 2 * sum(rounds), 0
    max_stored = MAX_STORED_NUMBERS // draw(0, Preview(seed), 1).shape[1]

    def both(runs: int, transform: Callable[[Outcomes], NDArray[Any]]) -> Generator[float, None, list[NDArray[Any]]]:
        """Return the transformed outcomes of new runs on each data set."""
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
        # Three independent sets of runs: the bounds are valid only if the counted runs did not select the event.
        ways = orders(*(yield from both(quarter, np.asarray)))
        cutting = yield from both(quarter, np.asarray)
        event, reach = _best(ways, cutting, delta=delta, tail=tail)
        scores = yield from both(runs - 2 * quarter, event.order)
        completed.append(_count_event(event, scores, reach, runs=runs, epsilon=epsilon, delta=delta, tail=tail))
        if completed[-1].refuted and len(completed) >= at_least:
            break
    return Audit(epsilon=epsilon, delta=delta, failure=failure, rounds=tuple(completed))


def bound(more: ArrayLike, fewer: ArrayLike, counted: int, *, tail: float) -> tuple[Floats, Floats]:
    """Return a lower bound on p and an upper bound on q, each wrong with probability at most ``tail``.

    Args:
        more: runs in the event on the data set that is in it more often, any shape.
        fewer: runs in the event on the other, same shape.
        counted: runs on each data set.
        tail: failure probability of each bound.
    """
    low, _ = binomial_interval(more, counted, confidence=1 - 2 * tail)
    _, high = binomial_interval(fewer, counted, confidence=1 - 2 * tail)
    return low, high


def _best(
    ways: Sequence[Order], cutting: Sequence[Outcomes], *, delta: float, tail: float
) -> tuple[Event, tuple[float, float]]:
    """Return the event with the largest bound on these runs, and the range of its scores.

    The bound is that of these few runs, so that a rare event does not win by chance.

    Args:
        ways: candidate scorings.
        cutting: runs on data sets 0 and 1, (R, w) each.
        delta: claimed δ.
        tail: failure probability of each bound.
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
    """Return the number of scores at or beyond each cut (K,)."""
    ordered = np.sort(scores)
    if upward:
        return len(scores) - np.searchsorted(ordered, cuts, side="left")
    return np.searchsorted(ordered, cuts, side="right").astype(np.int64)


def _loss(more: Floats, fewer: Floats, *, delta: float) -> Floats:
    """Return ln((p - delta)/q) elementwise; minus infinity where p does not exceed delta."""
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
    """Return the result of a round from the scores of the counted runs on data sets 0 and 1, (C,) each."""
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
