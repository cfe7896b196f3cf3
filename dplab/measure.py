"""Measure a mechanism's errors over many trials, and compare them with the guarantee of its theorem.

An ErrorReport compares releases with true data. It is *not* private, whatever the mechanism: showing it for private
data is the data owner's decision. Long work is a generator that yields the fraction done after each block and
returns its result, so that any caller can show progress and stop; finish() runs it to the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import (
    Booleans,
    Bound,
    DataRelease,
    Dataset,
    Floats,
    Guarantee,
    Integers,
    Mechanism,
    ParameterError,
    Problem,
    State,
    paused,
)
from dpcore.core import finish as finish  # for scripts, which measure and finish
from dpcore.core.plots import spread
from dpcore.limits.chance import binomial_interval
from dpcore.randomness import Sampler

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.core.plots import Figure

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles over trials for the bands: a 90% band, a 50% band and the median."""
BLOCK_CELLS = 1 << 20
"""Cells (trials x size) processed at once: blocks that fit into the cache are faster than fewer blocks."""
BLOCKS = (60, 300, 1000)
"""Latest ends of the first blocks; later blocks have a thousand releases. The first ones show how long releases take.

A mechanism whose estimated time is 0 runs in blocks of a thousand, as small blocks would take twice the time.
"""
BLOCK_SECONDS = 1.0
"""Longest time of a block, and of one mechanism at one epsilon of a sweep."""
FRAMES = 20
"""Number of releases returned as histograms, for the animation of outcomes."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ErrorReport:
    """Errors of T releases, as fractions of n. Computed with the true data: not private.

    Attributes:
        problem: the public problem.
        guarantee: guarantee of each single release.
        bound: guaranteed worst error.
        sampler: name of the sampler.
        indices: the batch of queries, (Q,).
        truth: true answers of the batch, (Q,).
        band: quantiles LEVELS of released minus true answers over the trials that answered, (5, Q).
        worst: largest absolute error over the *whole* class in each trial, (T,); NaN where refused.
        typical: mean absolute error over the batch in each trial, (T,); NaN where refused.
        single: quantile of the errors of all queries of the batch over the trials that answered; NaN if not asked for.
        refused: (T,).
        frames: the first few releases as rows per cell, (at most FRAMES, size).
    """

    problem: Problem
    guarantee: Guarantee
    bound: Bound
    sampler: str
    indices: Integers
    truth: Floats
    band: Floats
    worst: Floats
    typical: Floats
    refused: Booleans
    frames: Floats
    single: float = math.nan

    @property
    def trials(self) -> int:
        """Number of releases, T."""
        return len(self.worst)

    @property
    def answered(self) -> Floats:
        """Worst errors of the trials that answered."""
        return self.worst[~self.refused]

    @property
    def failures(self) -> int:
        """Number of trials that answered with an error above the guarantee."""
        return self.bound.broken_by(self.answered)

    @property
    def failure_interval(self) -> tuple[float, float]:
        """Exact 95% confidence interval for the failure probability, over the trials that answered."""
        low, high = binomial_interval(self.failures, max(1, len(self.answered)))
        return float(low), float(high)

    def frame(self) -> pd.DataFrame:
        """Return one row per trial: trial, refused, worst and mean error as shares of n (NaN where refused)."""
        import pandas as pd

        trials = np.arange(self.trials)
        return pd.DataFrame({"trial": trials, "refused": self.refused, "worst": self.worst, "mean_error": self.typical})

    def plot(self) -> Figure:
        """Return a Plotly figure of the worst errors of all trials, with the guaranteed one where it applies."""
        limit = self.bound.value if self.bound.guaranteed else math.inf
        words = f"guaranteed with probability {1 - self.bound.beta:g}"
        return spread(self.answered.tolist(), limit=limit, limit_words=words, across="worst error, share of n")


def quantile_of_errors(errors: Sequence[NDArray[np.floating[Any]]], level: float) -> float:
    """Return a quantile of the absolute values of all signed errors together; NaN without any."""
    sizes = np.abs(np.concatenate([part.reshape(-1) for part in errors]))
    return float(np.quantile(sizes, level)) if len(sizes) else math.nan


def measure(
    mechanism: Mechanism,
    dataset: Dataset,
    state: State,
    sampler: Sampler,
    *,
    trials: int,
    beta: float = 0.05,
    queries_shown: int = 256,
    seconds: float = math.inf,
    level: float | None = None,
    enough: Callable[[Floats], bool] | None = None,
) -> Generator[float, None, ErrorReport]:
    """Run a data-releasing mechanism many times and compare with the truth; yields the fraction done.

    With less time the result holds the first of the same releases: the ends of blocks depend on the public problem and
    the mechanism only, and a block that is too long is run to its end and cut.

    Args:
        mechanism: its run() must return a DataRelease.
        dataset: the true data.
        state: mechanism.prepare(dataset, problem).
        sampler: source of randomness.
        trials: number of releases T, at least 1.
        beta: failure probability of the guaranteed error.
        queries_shown: size of the batch for the band; the worst error always covers the whole class.
        seconds: time limit; after the first block, no block begins that would exceed it by the last block's time.
        level: of the quantile ``single``.
        enough: stops after a block when true for the worst errors so far, (T,) as shares of n, NaN where refused.
    """
    if trials < 1:
        raise ParameterError(f"At least one trial is needed, got {trials}.")
    problem = state.problem
    queries, n = problem.queries, problem.n
    indices = queries.batch(queries_shown)
    true_histogram = dataset.histogram[None, :]
    began = monotonic()
    for _ in mechanism.warm_up(state):
        began += yield from paused(0.0)
    errors = np.empty((trials, len(indices)), dtype=np.float32)
    worst, refused = np.empty(trials), np.empty(trials, dtype=np.bool_)
    frames: Floats = np.empty((0, problem.domain.size))
    drawn, each = 0, 0.0
    for start, end in pairwise(_ends(mechanism, problem, trials=trials)):
        since = monotonic()
        if drawn and since - began + (end - start) * each > seconds:
            break
        release = mechanism.run(state, sampler, trials=end - start)
        if not isinstance(release, DataRelease):
            raise ParameterError(f"{type(mechanism).__name__} does not release data.")
        drawn = min(trials, end)
        histogram = release.part(0, drawn - start).histogram()
        if start == 0:
            frames = histogram[:FRAMES].copy()
        histogram -= true_histogram
        worst[start:drawn] = queries.max_error(histogram) / n
        errors[start:drawn] = queries.answer(histogram, indices)
        refused[start:drawn] = release.refused[: drawn - start]
        worst[start:drawn][refused[start:drawn]] = np.nan
        each = (monotonic() - since) / (end - start)
        began += yield from paused(max(drawn / trials, min(1.0, (monotonic() - began) / seconds)))
        if enough and enough(worst[:drawn]):
            break
    errors, worst, refused = errors[:drawn], worst[:drawn], refused[:drawn]
    answered = errors[~refused] if refused.any() else errors
    typical = np.full(drawn, np.nan)
    typical[~refused] = np.abs(answered).mean(axis=1, dtype=np.float64) / n
    return ErrorReport(
        problem=problem,
        guarantee=mechanism.guarantee(problem),
        bound=mechanism.accuracy(problem, beta),
        sampler=sampler.name,
        indices=indices,
        truth=queries.answer(true_histogram, indices)[0] / n,
        band=_quantiles(answered) / n,
        worst=worst,
        typical=typical,
        refused=refused,
        frames=frames,
        single=math.nan if level is None else quantile_of_errors([answered], level) / n,
    )


def _ends(mechanism: Mechanism, problem: Problem, *, trials: int) -> list[int]:
    """Return the ends of blocks, from 0 to at least ``trials``; independent of timing, so runs are reproducible."""
    _, each = mechanism.preview_seconds(problem)
    longest = max(1, min(BLOCK_CELLS // problem.domain.size, int(BLOCK_SECONDS / each) if each else BLOCKS[-1]))
    first = BLOCKS if each else BLOCKS[-1:]
    ends = [0]
    while ends[-1] < trials:
        later = BLOCKS[-1] * (ends[-1] // BLOCKS[-1] + 1)
        end = min(ends[-1] + longest, next((end for end in first if end > ends[-1]), later))
        ends.append(end if each else min(end, trials))
    return ends


def _quantiles(errors: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Floats:
    """Return the quantiles LEVELS of each column of errors (T, Q), as nearest order statistics: (5, Q)."""
    if not len(errors):
        return np.full((len(LEVELS), errors.shape[1]), np.nan)
    places = [round(level * (len(errors) - 1)) for level in LEVELS]
    # A contiguous transpose: each query's errors are adjacent in memory, which speeds up sorting.
    columns = np.ascontiguousarray(errors.T)
    columns.sort(axis=1)
    return columns[:, places].T.astype(np.float64)
