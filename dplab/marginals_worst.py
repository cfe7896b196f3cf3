"""The worst error of many previewed releases: one number for each, over all queries or those that are sampled.

Answers add up noisy counts, so noise is drawn only for counts that some query reads, and added up for all queries of
many releases in one product with a sparse matrix. It is the law of whole releases (``Marginals.run``).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Booleans, Floats, Integers
from dpcore.mechanisms.marginals.plans import MarginalsPlan, counts_at
from dpcore.mechanisms.marginals.release import MarginalState
from dpcore.queries.at_least import AtLeast
from dpcore.queries.attribute_sets import places, ranks
from dpcore.randomness import Preview

MIN_TRIALS, MAX_TRIALS = 50, 100
"""Releases previewed: a picture has 50 dots, and from 72 kept promises on a broken one is less likely than 5%."""
DRAWS, SUMS = 2_000_000, 15_000_000
"""Draws and additions that still repaint quickly; with more of them there are fewer releases."""
MAX_READ = 1 << 22
"""Counts that the sampled queries may read together: a matrix of 50 MB."""
AT_ONCE = 1 << 20
"""Draws of a block."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadCounts:
    """What each query reads of one level of a release.

    Attributes:
        counts: numbers of the counts that some query reads, (C,).
        matrix: sparse, (Q, C): by what each of these counts is multiplied in each query's answer, in rows.
    """

    counts: Integers
    matrix: Any


def queries_read(plan: MarginalsPlan, indices: Integers) -> Integers:
    """Which of the sampled queries are looked at: some, drawn at random, where each adds up thousands of counts."""
    max_queries = MAX_READ // max(1, sum(plan.parts))
    if len(indices) <= max_queries:
        return np.arange(len(indices), dtype=np.int64)
    return np.random.Generator(np.random.SFC64(len(indices))).choice(len(indices), max_queries, replace=False)


def readings(plan: MarginalsPlan, queries: AtLeast, indices: Integers) -> list[ReadCounts]:
    """What these queries read of a release, level by level; free of epsilon, but for what the plan releases."""
    sets, negated = queries.sets(indices)
    if plan.polynomial is None:
        which, factors = _cells(queries, sets, negated)
        return [_reading(which, factors, entries=counts_at(queries, queries.width))]
    levels = []
    for level in plan.polynomial.levels:
        chosen = places(queries.width, size=level)
        which = ranks(sets[:, chosen])
        if queries.signed:
            must = ~negated if plan.polynomial.basis == "ones" else negated
            which = (which << level) + (must[:, chosen] << np.arange(level)).sum(axis=2)
        factors = np.full(len(chosen), plan.polynomial.coefficients[level])
        levels.append(_reading(which, factors, entries=counts_at(queries, level)))
    return levels


def _cells(queries: AtLeast, sets: Integers, negated: Booleans) -> tuple[Integers, Floats]:
    """Counts (Q, parts) that directly released answers add up, and whether they are added or taken away, (parts,)."""
    which = ranks(sets)
    if not queries.signed:
        return which[:, None], np.ones(1)
    width = queries.width
    satisfying = np.bitwise_count(np.arange(1 << width, dtype=np.uint64)) >= queries.least
    counted, sign = (satisfying, 1.0) if 2 * satisfying.sum() <= satisfying.size else (~satisfying, -1.0)
    patterns = np.flatnonzero(counted)
    signs = (negated << np.arange(width)).sum(axis=1)
    return (which << width)[:, None] + (patterns ^ signs[:, None]), np.full(len(patterns), sign)


def _reading(which: Integers, factors: Floats, *, entries: int) -> ReadCounts:
    from scipy.sparse import csr_array

    is_read = np.zeros(entries, dtype=np.bool_)
    is_read[which] = True
    columns = (np.cumsum(is_read, dtype=np.int32) - 1)[which]
    starts = np.arange(len(which) + 1, dtype=np.int32) * which.shape[1]
    values = np.broadcast_to(factors, which.shape).reshape(-1)
    shape = (len(which), int(is_read.sum()))
    return ReadCounts(
        counts=np.flatnonzero(is_read), matrix=csr_array((values, columns.reshape(-1), starts), shape=shape)
    )


def trials_for(read: list[ReadCounts]) -> int:
    """How many releases are previewed: as many as repaint quickly, within limits."""
    draws, sums = sum(len(each.counts) for each in read), sum(each.matrix.nnz for each in read)
    return int(np.clip(min(DRAWS // max(1, draws), SUMS // max(1, sums)), MIN_TRIALS, MAX_TRIALS))


def noiseless(plan: MarginalsPlan, read: list[ReadCounts], state: MarginalState, truth: Floats) -> Floats:
    """Answers without noise, as shares of n, (Q,): the truth and the polynomial's bias."""
    if plan.polynomial is None:
        return truth
    total = np.full(len(truth), plan.polynomial.coefficients[0] * state.problem.n)
    for each, counts in zip(read, state.protected(plan), strict=True):
        total += each.matrix @ counts[0, each.counts].astype(np.float64)
    return total / state.problem.n


def worst_errors(
    plan: MarginalsPlan, read: list[ReadCounts], *, middle: Floats, truth: Floats, n: int, seed: int, trials: int
) -> Generator[float, None, Floats]:
    """Largest error of each release over the queries read, (T,), shares of n; yields the share done.

    Answers are moved into 0 to 1, as everywhere on the page: that brings none of them further from the truth.

    Args:
        plan: of the releases.
        read: what the queries read of them.
        middle: answers without noise, (Q,).
        truth: true answers, (Q,).
        n: public number of rows.
        seed: of the previews.
        trials: T.
    """
    sampler, largest = Preview(seed), np.empty(trials)
    block = max(1, AT_ONCE // max(1, sum(len(each.counts) for each in read), len(truth)))
    for start in range(0, trials, block):
        stop = min(start + block, trials)
        answers = np.repeat(middle[:, None], stop - start, axis=1)
        for each, noise in zip(read, plan.noise, strict=True):
            zeros = np.zeros((1, len(each.counts)), dtype=np.int64)
            answers += each.matrix @ (sampler.draw(noise.draw(zeros), stop - start).T / n)
        np.clip(answers, 0.0, 1.0, out=answers)
        answers -= truth[:, None]
        largest[start:stop] = np.maximum(answers.max(axis=0), -answers.min(axis=0))
        yield stop / trials
    return largest
