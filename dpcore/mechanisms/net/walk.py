"""The net mechanism by a random walk, for previews where databases can be neither counted nor listed.

Metropolis' walk among databases of m points comes near the net mechanism's law, e^(-epsilon · n · (worst error)/2), for
any class that can tell its worst error; the number of steps is unknown. It moves one point at a time to any cell or one
nearby. Its steps are even among *ordered* points, but each database is meant once: hence a factor (b + 1)/a for a move
from a cell with a points to one with b.

Why it is private, where it is: where all databases fit in a short list the choice is exact; a row moves the score by at
most 1 in units of m n, and n is public. Why not elsewhere: the walk's law is off by an amount that depends on the data.

Notation (paper): epsilon = ε; points = m.

References:
    Blum, Ligett and Roth (2013), Algorithm 1; Metropolis et al. (1953).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Floats,
    Guarantee,
    Integers,
    Mechanism,
    ParameterError,
    PointsRelease,
    Problem,
    State,
    epsilon_param,
    param,
)
from dpcore.data.product import is_map
from dpcore.mechanisms.net.choice import WEIGHTS
from dpcore.mechanisms.net.databases import candidates, multisets
from dpcore.queries.linear import UNITS, LinearQueries
from dpcore.queries.ranges import Rectangles
from dpcore.randomness import DatabaseChoice, Sampler
from dpcore.randomness.candidates import Candidates

MAX_LISTED = 1 << 12
"""Candidates listed."""
STEPS = 20
"""Moves of a walk, for each point."""
FEW = 8
"""Databases that are scored sooner one by one: a search of rectangles works on rows of many."""
WHY_NOT = "Approximate sampler: no privacy guarantee. The walk only approximates the distribution that is private."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WalkedNet(State):
    """Every database of m points with minus its error as score, in thousandths of 1/(m n): a net like others."""

    histogram: Integers
    points: int
    candidates: Candidates | None = None

    def scores(self, copies: Integers) -> Floats:
        """Return the scores of databases from how many points they have in each cell (T, size): whole numbers, (T,)."""
        differences = self.points * self.histogram - self.problem.n * copies
        parts = differences[:, None] if len(differences) < FEW else [differences]
        worst = np.concatenate([self.problem.queries.max_error(part) for part in parts])
        scores: Floats = -np.rint(UNITS * worst)
        return scores

    def draw(self, generator: np.random.Generator, *, rate: float, trials: int) -> Integers:
        """Databases after a walk from points drawn like the data, in order (trials, m): near e^(rate * score)."""
        size, trial, m = len(self.histogram), np.arange(trials), self.points
        total = int(self.histogram.sum())
        points = generator.choice(size, (trials, m), p=self.histogram / total if total else None)
        copies = np.bincount((points + size * trial[:, None]).ravel(), minlength=trials * size).reshape(trials, size)
        scores = self.scores(copies)
        for _ in range(STEPS * m):
            place = generator.integers(0, m, trials)
            old = points[trial, place]
            nearby = (old + generator.choice((-1, 1), trials)) % size
            new = np.where(generator.random(trials) < 0.5, generator.integers(0, size, trials), nearby)
            orders = (copies[trial, new] + (new != old)) / copies[trial, old]
            copies[trial, old] -= 1
            copies[trial, new] += 1
            after = self.scores(copies)
            back = -generator.standard_exponential(trials) > rate * (after - scores) + np.log(orders)
            copies[trial[back], old[back]] += 1
            copies[trial[back], new[back]] -= 1
            points[trial, place] = np.where(back, old, new)
            scores = np.where(back, scores, after)
        return np.sort(points, axis=1)

    def draw_exactly(self, below: Callable[[int], int], *, rate: Fraction) -> Integers:
        """Raise, because a walk is not exact."""
        raise ParameterError(WHY_NOT)


@dataclass(frozen=True, kw_only=True)
class NetWalk(Mechanism):
    """About the choice among all databases of m points, for any class."""

    epsilon: float = epsilon_param()
    points: int = param(
        20, 1, 100, label="Synthetic points", symbol="m", log=True, stops=(2, 5, 10, 20, 50, 100),
        help="How many points stand for all rows.",
    )  # fmt: skip

    def walks(self, problem: Problem) -> bool:
        """Return whether there are too many candidates to list."""
        return candidates(size=problem.domain.size, points=self.points) > MAX_LISTED

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """epsilon-DP, either relation, where all databases are listed; elsewhere not releasable."""
        why_not = WHY_NOT if self.walks(problem) else ""
        return Guarantee(epsilon=self.epsilon, neighbours=problem.neighbours, releasable=not why_not, why_not=why_not)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """No constant is proved for a walk."""
        statement = (
            "The exact choice has the error of the net's resolution and of the choice. For a short walk no "
            "error is known."
        )
        reference = "Blum, Ligett and Roth (2013), Property 3.4"
        kind = BoundKind.ORDER_ONLY
        return Bound(value=math.inf, kind=kind, statement=statement, reference=reference, beta=beta)

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: each step searches all rectangles, or looks up every weight."""
        if not self.walks(problem):
            return 0.0, 0.0
        steps, size, queries = STEPS * self.points, problem.domain.size, problem.queries
        if isinstance(queries, LinearQueries):
            return 0.0, steps * (1e-6 + 1e-10 * size * (15 + queries.count))
        shorter = min(problem.domain.shape) if is_map(problem.domain) else 1
        return 0.0, 2.5e-9 * steps * size * shorter

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> WalkedNet:
        """The candidates' scores, where they fit in a short list."""
        walk = WalkedNet(problem=problem, histogram=dataset.histogram, points=self.points)
        if self.walks(problem):
            return walk
        listed = multisets(size=problem.domain.size, points=self.points)
        copies = np.stack([(listed == cell).sum(axis=1) for cell in range(problem.domain.size)], axis=1)
        candidates = Candidates(listed, walk.scores(copies).astype(np.int64))
        return WalkedNet(problem=problem, histogram=dataset.histogram, points=self.points, candidates=candidates)

    @override
    def run(self, state: WalkedNet, sampler: Sampler, trials: int = 1) -> PointsRelease:
        """One draw. Raises ParameterError if a secure sampler meets a walk."""
        sensitivity = UNITS * self.points
        points = sampler.draw(DatabaseChoice(state, epsilon=self.epsilon, sensitivity=sensitivity), trials)
        weights = np.full(points.shape, 1 / self.points)
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=weights)


ENTRIES = (
    Entry(
        key="net-walk",
        mechanism=NetWalk,
        title="Net mechanism, approximate walk",
        story="A random walk that approximates the net mechanism if its databases cannot be counted or listed. "
        "How close it is after so many steps is not known. If the databases cannot be listed, it is a "
        "preview without a guarantee.",
        domains=(DomainType.NUMBER, DomainType.LABELS, DomainType.MAP),
        queries=(LinearQueries, Rectangles),
        references=("Blum, Ligett and Roth (2013), Algorithm 1",),
        weights=WEIGHTS,
        tiny={"points": 3},
    ),
)
