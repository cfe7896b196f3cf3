"""Errors of all boxes of a batch, in one release and in many, for the page of boxes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats
from dpcore.mechanisms.intervals.boxes import BoxCuts, BoxState, boxes_of
from dpcore.randomness import Sampler

AT_ONCE = 10
"""Releases between two signs of progress."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BoxErrors:
    """Answers to every box, as shares of n. Computed with the true data: not private.

    Attributes:
        truth: true answers, (Q,).
        released: those of the first release, (Q,).
        worst: the largest error of each release, (T,).
    """

    truth: Floats
    released: Floats
    worst: Floats


def box_errors(
    mechanism: BoxCuts, state: BoxState, sampler: Sampler, *, trials: int
) -> Generator[float, None, BoxErrors]:
    """Return the releases beside the truth; yields the fraction done."""
    truth = boxes_of(state.problem).answers(state.rows[None])[0] / state.problem.n
    worst, released = np.empty(trials), truth
    for start in range(0, trials, AT_ONCE):
        stop = min(start + AT_ONCE, trials)
        answers = mechanism.run(state, sampler, stop - start).answers()
        worst[start:stop] = np.abs(answers - truth).max(axis=1)
        released = released if start else answers[0]
        yield stop / trials
    return BoxErrors(truth=truth, released=released, worst=worst)
