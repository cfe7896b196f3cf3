"""State and release of the halfspace mechanism, and its answers for a direction."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from dpcore.core import Floats, Integers, Release, State, finish
from dpcore.data.sphere import BLOCK, Halfspaces
from dpcore.mechanisms.halfspaces.counting import Signs, side_counts
from dpcore.mechanisms.halfspaces.directions import nearest

REMEMBERED = 32
"""Sets of counts a state keeps."""
STEP_WORK = 1 << 25
"""Products of a row and a direction in one step of counting: a fraction of a second."""


def side_answers(counts: Integers, signs: Signs, net: Floats, towards: Floats, *, n: int) -> Floats:
    """Return the answers for directions that counts give, as fractions of n.

    Args:
        counts: rows with <Ax, u> > 0, noisy or not, (T or 1, m, k).
        signs: the matrices, (T, m, t, d); m = 0 where nothing is projected.
        net: the directions u, (k, t).
        towards: directions asked, (Q, d).
        n: number of rows, public.

    Returns:
        answers (T, Q).
    """
    trials = max(len(counts), len(signs))
    answers = np.empty((trials, len(towards)))
    if signs.shape[1] == 0:
        place, sign = nearest(towards, net)
        answers[:] = np.where(sign > 0, counts[:, 0, place], n - counts[:, 0, place])
        return answers / n
    step = max(1, BLOCK // (signs.shape[1] * len(towards) * len(net)))
    for start in range(0, trials, step):
        block = signs[start : start + step].astype(np.float64)
        place, sign = nearest(np.swapaxes(block @ towards.T, -1, -2), net)
        block_counts = counts[start : start + step] if len(counts) > 1 else counts
        rows = np.take_along_axis(np.broadcast_to(block_counts, (*place.shape[:2], len(net))), place, axis=2)
        answers[start : start + step] = np.where(sign > 0, rows, n - rows).mean(axis=1)
    return answers / n


@dataclass(frozen=True, kw_only=True, eq=False)
class HalfspaceRelease(Release):
    """A projected halfspace data structure (Definition 6.5).

    Attributes:
        signs: the matrices as +1 and -1, (T, m, t, d); m = 0 where nothing is projected.
        counts: a noisy number of rows for each matrix and each measured direction, (T, m, k), m = 1 for the identity.
        net: the measured directions, one of each opposite pair, (k, t); the same for every release.
    """

    published = ("signs", "counts")
    signs: Signs
    counts: Integers
    net: Floats

    def answer(self, towards: Floats) -> Floats:
        """Return the answers as fractions of n to directions (Q, d), shape (T, Q)."""
        queries = self.problem.queries
        assert isinstance(queries, Halfspaces)
        return side_answers(self.counts, self.signs, self.net, queries.sphere.unit(towards), n=self.problem.n)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SphereState(State):
    """The rows, and the counts already made of them: they do not depend on epsilon."""

    records: Floats
    counted: dict[bytes, Integers] = field(default_factory=dict)

    def counts(self, signs: Signs, net: Floats) -> Integers:
        """Rows with <Ax, u> > 0 for signs (T, m, t, d) and a net (k, t): (T, m, k), or (1, 1, k) for the identity."""
        return finish(self.counting(signs, net))

    def counting(self, signs: Signs, net: Floats) -> Generator[float, None, Integers]:
        """The same in steps; yields the share that is done."""
        key = hashlib.blake2b(repr((signs.shape, net.shape)).encode() + signs.tobytes()).digest()
        if key not in self.counted:
            while len(self.counted) >= REMEMBERED:
                self.counted.pop(next(iter(self.counted)))
            *outer, t, d = signs.shape if signs.shape[1] else (1, 1, net.shape[1], net.shape[1])
            flat = signs.reshape(-1, t * d) if signs.shape[1] else np.eye(t, dtype=np.int8).reshape(1, -1)
            distinct, which = np.unique(flat, axis=0, return_inverse=True)
            counts = np.empty((len(distinct), len(net)), dtype=np.int64)
            step = max(1, STEP_WORK // max(1, len(self.records) * len(net)))
            for start in range(0, len(distinct), step):
                block = distinct[start : start + step].reshape(-1, t, d)
                counts[start : start + step] = side_counts(self.records, block, net)
                yield min(1.0, (start + step) / len(distinct))
            self.counted[key] = counts[which.reshape(-1)].reshape(*outer, len(net))
        return self.counted[key]
