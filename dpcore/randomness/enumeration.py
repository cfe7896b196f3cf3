"""Enumerate: walks every coin of a run and gives the exact law of what it releases.

Trials are an axis, so each path of coins is one trial: the run is replayed with one more draw scripted each time, on
as many trials as there are paths so far. The law therefore comes from the very run() that is released.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Floats, Mechanism, ParameterError, State, check_memory
from dpcore.core.sizes import MAX_PATHS
from dpcore.randomness.distinct import distinct_rows
from dpcore.randomness.sampler import Draw, DrawnT, Sampler


class _Branched(Exception):
    """One more draw has been scripted; replay from the start."""


class Enumerate(Sampler):
    """A sampler whose trials are all the paths of a run's coins.

    Args:
        window: lowest and highest noisy value told apart; others are clamped to it (post-processing, so no privacy
            loss is hidden that a larger window would not show, and none is invented).
        most: paths of coins, beyond which it raises ParameterError.
    """

    name: ClassVar[str] = "enumerate"

    def __init__(self, *, window: tuple[int, int], max_paths: int = MAX_PATHS) -> None:
        if not window[0] < window[1]:
            raise ParameterError("A window needs a lowest value below its highest.")
        self.window, self.max_paths = window, max_paths
        self.values = np.arange(window[0], window[1] + 1)
        self._start()

    def _start(self) -> None:
        """Forget all coins drawn before."""
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
        """Return the scripted values of this draw (paths, ...); at the first unscripted one, branch and replay.

        ``branch`` gives values (paths or 1, branches, ...) and their chances (paths, branches).
        """
        if self._position < len(self._drawn):
            self._position += 1
            return self._drawn[self._position - 1]
        values, chances = branch()
        path, which = np.nonzero(chances > 0)
        if len(path) > self.max_paths:
            raise ParameterError(f"Too many paths to enumerate: more than {self.max_paths}.")
        self._drawn = [drawn[path] for drawn in self._drawn]
        self._drawn.append(values[path if len(values) > 1 else 0, which])
        self._chance = self._chance[path] * chances[path, which]
        raise _Branched

    @override
    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        return draw.enumerated(self, trials)

    def independent(self, laws: Floats, symbols: NDArray[Any]) -> NDArray[Any]:
        """Draw k independent coordinates from laws (paths or 1, k, S) over symbols (S,): (paths, k)."""

        def branch() -> tuple[NDArray[Any], Floats]:
            rows = np.broadcast_to(laws, (len(self._chance), *laws.shape[1:]))
            if len(rows) * rows.shape[2] ** rows.shape[1] > 8 * self.max_paths:  # before zero chances are dropped
                raise ParameterError(f"Too many paths to enumerate: more than {self.max_paths}.")
            branches = rows.shape[2] ** rows.shape[1]
            check_memory(
                branches * (2 * rows.shape[1] + 2 * len(rows)),
                what="All paths of these coins", smaller="take fewer cells or a smaller window",
            )  # fmt: skip
            chances = np.ones((len(rows), 1))
            for coordinate in range(rows.shape[1]):
                chances = (chances[:, :, None] * rows[:, coordinate, None, :]).reshape(len(rows), -1)
            grids = np.meshgrid(*[symbols] * rows.shape[1], indexing="ij")
            return np.stack([grid.reshape(-1) for grid in grids], axis=1)[None], chances

        return self._draw(branch)

    def one_of(self, values: NDArray[Any], chances: Floats) -> NDArray[Any]:
        """Return one of these values (B, ...), drawn with chances (B,) on every path: (paths, ...)."""
        return self._draw(lambda: (values[None], np.broadcast_to(chances, (len(self._chance), len(chances)))))
