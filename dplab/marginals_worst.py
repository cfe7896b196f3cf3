"""Worst error of each of many simulated releases, over all queries or a sample of them.

Answers are sums of noisy counts, so noise is sampled only for counts that some query reads, and summed for all queries
of many releases in one product with a sparse matrix. The distribution is that of whole releases (``Marginals.run``).
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
"""Numbers of simulated releases: a plot has 50 dots, and 72 without a failure put its probability below 5% (95% CI)."""
DRAWS, SUMS = 2_000_000, 15_000_000
"""Random numbers and additions that take little time; problems that need more get fewer releases."""
MAX_READ = 1 << 22
"""Largest number of counts that the sampled queries read together: a matrix of 50 MB."""
AT_ONCE = 1 << 20
"""Random numbers drawn at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadCounts:
    """Counts of one level of a release that the queries read.

    Attributes:
        counts: indices of the counts that some query reads, (C,).
        matrix: coefficient of each of these counts in each query's answer, in rows, sparse (Q, C).
    """

    counts: Integers
    matrix: Any


def queries_read(plan: MarginalsPlan, indices: Integers) -> Integers:
    """Return the indices of the evaluated queries: a random sample where each query sums thousands of counts."""
    max_queries = MAX_READ // max(1, sum(plan.parts))
    if len(indices) <= max_queries:
        return np.arange(len(indices), dtype=np.int64)
    return np.random.Generator(np.random.SFC64(len(indices))).choice(len(indices), max_queries, replace=False)


def readings(plan: MarginalsPlan, queries: AtLeast, indices: Integers) -> list[ReadCounts]:
    """Return the counts that these queries read, level by level; they depend on epsilon only through the plan."""
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
    """Return the counts (Q, parts) that directly released answers sum, and the sign of each, (parts,)."""
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
    """Return the number of simulated releases: as many as take little time, within limits."""
    draws, sums = sum(len(each.counts) for each in read), sum(each.matrix.nnz for each in read)
    return int(np.clip(min(DRAWS // max(1, draws), SUMS // max(1, sums)), MIN_TRIALS, MAX_TRIALS))


def noiseless(plan: MarginalsPlan, read: list[ReadCounts], state: MarginalState, truth: Floats) -> Floats:
    """Return the answers without noise, as shares of n, (Q,): the truth and the polynomial's bias."""
    if plan.polynomial is None:
        return truth
    total = np.full(len(truth), plan.polynomial.coefficients[0] * state.problem.n)
    for each, counts in zip(read, state.protected(plan), strict=True):
        total += each.matrix @ counts[0, each.counts].astype(np.float64)
    return total / state.problem.n


def worst_errors(
    plan: MarginalsPlan, read: list[ReadCounts], *, middle: Floats, truth: Floats, n: int, seed: int, trials: int
) -> Generator[float, None, Floats]:
    """Compute the largest error of each release over the evaluated queries, (T,), shares of n; yields the share done.

    Answers are clipped to [0, 1], as everywhere on the page, which never increases an error.

    Args:
        plan: plan of the releases.
        read: counts that the queries read.
        middle: answers without noise, (Q,).
        truth: true answers, (Q,).
        n: public number of rows.
        seed: seed of the simulations.
        trials: number of releases T.
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
