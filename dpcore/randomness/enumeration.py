"""Enumerate: walks every coin of a run and gives the exact law of what it releases.

Trials are an axis, so each path of coins is one trial: the run is replayed with one more draw scripted each time, on
as many trials as there are paths so far. The law therefore comes from the very run() that is released.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Floats, Integers, Mechanism, ParameterError, State
from dpcore.randomness.candidates import Net
from dpcore.randomness.distinct import distinct_rows
from dpcore.randomness.gates import EnumeratedGate, Gate, GateBudget, gate_budget
from dpcore.randomness.laws import clamped_law, compositions, exponential_law, laplace_tail
from dpcore.randomness.sampler import Sampler, Statistic, check_choice, check_draw, check_listed, cut_scores

MOST_PATHS = 1 << 22


class _Branched(Exception):
    """One more draw has been scripted; replay from the start."""


class Enumerate(Sampler):
    """A sampler whose trials are all the paths of a run's coins.

    Args:
        window: lowest and highest noisy value told apart; others are clamped to it (post-processing, so no privacy
            loss is hidden that a larger window would not show, and none is invented).
    """

    name: ClassVar[str] = "enumerate"

    def __init__(self, *, window: tuple[int, int]) -> None:
        if not window[0] < window[1]:
            raise ParameterError("A window needs a lowest value below its highest.")
        self._window = window
        self._start()

    def _start(self) -> None:
        """Forget every coin."""
        self._drawn: list[NDArray[Any]] = []
        self._chance: Floats = np.ones(1)
        self._position = 0

    def law(self, mechanism: Mechanism, state: State) -> tuple[Floats, Floats]:
        """Distinct outcomes (K, anything), refusals as rows of infinities, and the probability of each (K,)."""
        self._start()
        while True:
            self._position = 0
            try:
                release = mechanism.run(state, self, trials=len(self._chance))
            except _Branched:
                continue
            break
        outcomes = release.outcomes()
        # A refusal must look the same whatever was computed on the way to it.
        outcomes = np.where(release.refused[:, None], np.inf, outcomes)
        distinct, which = distinct_rows(outcomes)
        chances = np.zeros(len(distinct))
        np.add.at(chances, which, self._chance)
        return distinct, chances

    def _draw(self, branch: Callable[[], tuple[NDArray[Any], Floats]]) -> NDArray[Any]:
        """The scripted values of this draw (paths, ...); at the first unscripted one, branch and replay.

        ``branch`` gives values (paths or 1, branches, ...) and their chances (paths, branches).
        """
        if self._position < len(self._drawn):
            self._position += 1
            return self._drawn[self._position - 1]
        values, chances = branch()
        path, which = np.nonzero(chances > 0)
        if len(path) > MOST_PATHS:
            raise ParameterError(f"Too many paths to enumerate: more than {MOST_PATHS}.")
        self._drawn = [drawn[path] for drawn in self._drawn]
        self._drawn.append(values[path if len(values) > 1 else 0, which])
        self._chance = self._chance[path] * chances[path, which]
        raise _Branched

    def independent(self, laws: Floats, symbols: NDArray[Any]) -> NDArray[Any]:
        """Draw k independent coordinates from laws (paths or 1, k, S) over symbols (S,): (paths, k)."""

        def branch() -> tuple[NDArray[Any], Floats]:
            rows = np.broadcast_to(laws, (len(self._chance), *laws.shape[1:]))
            if len(rows) * rows.shape[2] ** rows.shape[1] > 8 * MOST_PATHS:  # before zero chances are dropped
                raise ParameterError(f"Too many paths to enumerate: more than {MOST_PATHS}.")
            chances = np.ones((len(rows), 1))
            for coordinate in range(rows.shape[1]):
                chances = (chances[:, :, None] * rows[:, coordinate, None, :]).reshape(len(rows), -1)
            grids = np.meshgrid(*[symbols] * rows.shape[1], indexing="ij")
            return np.stack([grid.reshape(-1) for grid in grids], axis=1)[None], chances

        return self._draw(branch)

    def noisy_counts(self, counts: Integers, *, epsilon: float, sensitivity: float, trials: int) -> Integers:
        """See Sampler."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        laws = clamped_law(counts, window=self._window, kind="laplace", scale=sensitivity / epsilon)
        return self.independent(laws, np.arange(self._window[0], self._window[1] + 1))

    def gaussian_counts(self, counts: Integers, *, sigma: float, shift: tuple[int, ...], trials: int) -> Integers:
        """See Sampler."""
        laws = clamped_law(counts, window=self._window, kind="gaussian", scale=sigma)
        return self.independent(laws, np.arange(self._window[0], self._window[1] + 1))

    def at_least(
        self, values: Integers, threshold: NDArray[Any] | int, *, epsilon: float, sensitivity: float, trials: int
    ) -> Booleans:
        """See Sampler."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        needed = np.broadcast_to(threshold, np.broadcast_shapes(np.shape(threshold), values.shape)) - values
        yes = laplace_tail(needed, scale=sensitivity / epsilon)
        reached: Booleans = self.independent(np.stack([1 - yes, yes], axis=-1), np.array([False, True]))
        return reached

    def choose(
        self,
        scores: Integers,
        *,
        epsilon: float,
        sensitivity: float,
        trials: int,
        rule: str = "exponential",
        allowed: Booleans | None = None,
    ) -> Integers:
        """See Sampler."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        check_choice(rule=rule, allowed=allowed)
        open_to = np.ones(scores.shape, dtype=np.bool_) if allowed is None else allowed
        laws = exponential_law(scores, open_to, rate=epsilon / (2 * sensitivity), rule=rule)
        return self.independent(laws[:, None, :], np.arange(scores.shape[1]))[:, 0]

    def choose_cut(
        self, cumulative: Integers, low: Integers, high: Integers, *, epsilon: float, sensitivity: float, trials: int
    ) -> Integers:
        """See Sampler. Segment by segment: their cuts are independent given the data."""
        cuts = []
        for segment in range(low.shape[1]):
            scores, allowed = cut_scores(cumulative, low[:, segment], high[:, segment])
            cuts.append(self.choose(scores, epsilon=epsilon, sensitivity=sensitivity, trials=trials, allowed=allowed))
        return np.stack(cuts, axis=1)

    def choose_multiset(
        self, net: Net, *, epsilon: float, sensitivity: float, trials: int, rule: str = "exponential"
    ) -> Integers:
        """See Sampler. The exact chance of every candidate."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        check_choice(rule=rule, allowed=None)
        listed = check_listed(net)
        open_to = np.ones(len(listed.scores), dtype=np.bool_)
        law = exponential_law(listed.scores, open_to, rate=epsilon / (2 * sensitivity), rule=rule)
        drawn: Integers = self._draw(
            lambda: (listed.points[None].astype(np.int64), np.broadcast_to(law, (len(self._chance), len(law))))
        )
        return drawn

    def sparse_gate(self, *, epsilon: float, sensitivity: int, updates: int, trials: int, answers: float = 0.0) -> Gate:
        """See Sampler. The noise on the threshold is summed out, not walked."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        budget = gate_budget(epsilon=epsilon, updates=updates, answers=answers)
        return self.gate(budget, sensitivity=sensitivity, trials=trials)

    def gate(self, budget: GateBudget, *, sensitivity: int, trials: int) -> Gate:
        """A gate at any split, right or wrong; audits plant wrong ones."""
        return EnumeratedGate(self.independent, self._window, budget, sensitivity=sensitivity, trials=trials)

    def split(self, counts: Integers) -> Integers:
        """See Sampler. Exact binomial chances."""
        from scipy.special import gammaln

        most = int(counts.max(initial=0))
        heads = np.arange(most + 1)
        c = counts[..., None].astype(np.float64)
        with np.errstate(invalid="ignore"):
            logs = gammaln(c + 1) - gammaln(heads + 1.0) - gammaln(np.maximum(c - heads, 0) + 1) - c * np.log(2)
        return self.independent(np.where(heads <= c, np.exp(logs), 0.0), heads)

    def integers(self, high: int, *, columns: int, trials: int) -> Integers:
        """See Sampler."""
        return self.independent(np.full((1, columns, high), 1 / high), np.arange(high))

    def votes(self, counts: Integers, statistic: Statistic, *, rows: int, times: int, trials: int) -> Integers:
        """See Sampler. Exact multinomial chances of every way to share the votes out."""
        from scipy.special import gammaln, xlogy

        law = statistic.law(counts, rows=rows)
        if comb(times + len(law) - 1, len(law) - 1) > MOST_PATHS:
            raise ParameterError(f"Too many paths to enumerate: more than {MOST_PATHS}.")
        ways = compositions(times, len(law))
        chances = np.exp(gammaln(times + 1.0) + (xlogy(ways, law) - gammaln(ways + 1.0)).sum(axis=1))
        return self._draw(lambda: (ways[None], np.broadcast_to(chances, (len(self._chance), len(ways)))))
