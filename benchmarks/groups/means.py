"""Means of every group beside what others release: root mean square error of the median group, by ε.

A row is added or removed. Every mean is cut off at the bounds, which helps those that are not by themselves; ours lie
on 65,536 cells.

- OpenDP: its own clamped sum with half of ε and count with the other half, as its ``dp.mean`` for Polars divides them;
  the extra package for Polars is not needed for that. Both are drawn by OpenDP, in as many releases as take seconds.
- Google's and PipelineDP's bounded mean: a sum of distances from the middle of the range, and a count, half of ε each;
  the count is at least 1. Tumult's average has the same two numbers, with whole noise on the count.
- diffprivlib: the mean with one noise, because the number of rows in each group is public: a weaker promise.

Beside each error: to first order (groups large beside the noise), and as other code found it at ε = 1 in 2,000
releases, which must agree before any ratio counts.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.groups.tables import COSTS, EARNINGS, EPSILONS, HOURS, TABLES, GroupedTable
from dpcore import Preview
from dpcore.core import Floats
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.queries.groups import GroupStatistics

TRIALS = 4000
OPENDP_TRIALS = 1000
COARSE = 1024
"""Cells that samples declare for most numbers: where noise is small, their width adds to the error."""
OURS, OPENDP, GOOGLE, TUMULT, DIFFPRIVLIB = "ours", "OpenDP", "Google", "Tumult", "diffprivlib"
EARLIER = {
    EARNINGS: {OURS: 0.0117, OPENDP: 0.0305, GOOGLE: 0.0171, TUMULT: 0.0171, DIFFPRIVLIB: 0.0150},
    HOURS: {OURS: 0.167, OPENDP: 0.477, GOOGLE: 0.236, TUMULT: 0.236, DIFFPRIVLIB: 0.219},
    COSTS: {OURS: 42.0, OPENDP: 81.0, GOOGLE: 59.0, TUMULT: 59.0, DIFFPRIVLIB: 43.0},
}
"""Errors at ε = 1 that code without this package found."""
AGREES = 0.07
"""Relative distance of an error from the earlier one that two simulations may have."""
GOALS = {(EARNINGS, OPENDP): 0.42, (HOURS, OPENDP): 0.42, (COSTS, OPENDP): 0.58}
GOALS |= {(EARNINGS, GOOGLE): 0.78, (HOURS, GOOGLE): 0.78}

Peer = Callable[[Floats, Floats, float, float], Floats]
"""Draws means (T, groups) of a line from 0 to a bound: from sums (groups,), rows (groups,), the bound and ε."""


def release_of(
    table: GroupedTable, queries: GroupStatistics, *, epsilon: float, seed: int = 1, trials: int = TRIALS
) -> GroupRelease:
    """Return releases of the statistics of a table."""
    mechanism = GroupCounters(epsilon=epsilon)
    release = mechanism.run(mechanism.prepare(*table.rows(queries)), Preview(seed), trials)
    assert isinstance(release, GroupRelease)
    return release


def opendp_means(sums: Floats, rows: Floats, bound: float, epsilon: float) -> Floats:
    """Draw OpenDP's clamped sum over its count."""
    dp: Any = importlib.import_module("opendp.prelude")  # it has no types
    dp.enable_features("contrib")
    line = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    total = (line, dp.symmetric_distance()) >> dp.t.then_clamp((0.0, bound)) >> dp.t.then_sum()
    count = (line, dp.symmetric_distance()) >> dp.t.then_count()

    def noisy(values: Floats, transformation: Any, kind: type[float] | str) -> Floats:
        domain = dp.vector_domain(dp.atom_domain(T=kind, nan=False) if kind is float else dp.atom_domain(T=kind))
        scale = transformation.map(1) * 2 / epsilon
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T=kind), scale=scale)
        repeated = np.tile(values, OPENDP_TRIALS).astype(np.float64 if kind is float else np.int64)
        return np.array(measurement(repeated), dtype=np.float64).reshape(OPENDP_TRIALS, -1)

    quotient: Floats = noisy(sums, total, float) / np.maximum(noisy(rows, count, "i64"), 1)
    return np.clip(quotient, 0.0, bound)


def centred_means(sums: Floats, rows: Floats, bound: float, epsilon: float) -> Floats:
    """Draw Google's bounded mean."""
    random, shape = np.random.default_rng(2), (TRIALS, len(rows))
    total = sums - rows * bound / 2 + random.laplace(scale=bound / 2 * 2 / epsilon, size=shape)
    count = np.maximum(rows + np.rint(random.laplace(scale=2 / epsilon, size=shape)), 1)
    return np.clip(total / count + bound / 2, 0.0, bound)


def tumult_means(sums: Floats, rows: Floats, bound: float, epsilon: float) -> Floats:
    """Draw Tumult's average: the same, with geometric noise on the count."""
    random, shape = np.random.default_rng(3), (TRIALS, len(rows))
    total = sums - rows * bound / 2 + random.laplace(scale=bound / 2 * 2 / epsilon, size=shape)
    geometric = -math.expm1(-epsilon / 2)
    count = rows + random.geometric(geometric, size=shape) - random.geometric(geometric, size=shape)
    return np.clip(total / np.maximum(count, 1) + bound / 2, 0.0, bound)


def public_rows_means(sums: Floats, rows: Floats, bound: float, epsilon: float) -> Floats:
    """Draw diffprivlib's mean: noise within the bounds, on a mean of a public number of rows."""
    random, scale = np.random.default_rng(4), bound / (rows * epsilon)
    return np.clip(sums / rows + random.laplace(size=(TRIALS, len(rows))) * scale, 0.0, bound)


PEERS: dict[str, Peer] = {
    OPENDP: opendp_means,
    GOOGLE: centred_means,
    TUMULT: tumult_means,
    DIFFPRIVLIB: public_rows_means,
}


def first_order(name: str, share: Floats) -> Floats:
    """Return a mean's standard deviation, in units of the range over ε times rows, for means at shares of the range."""
    if name == OURS:
        return math.sqrt(2) * np.hypot(1 - share, share)
    if name == OPENDP:
        return 2 * math.sqrt(2) * np.hypot(1, share)
    if name == DIFFPRIVLIB:
        return np.full_like(share, math.sqrt(2))
    return math.sqrt(2) * np.hypot(1, 2 * share - 1)


def root_mean_square(values: Floats, truth: Floats) -> Floats:
    """Return the root of the mean square error over trials, (T, groups) to (groups,)."""
    errors: Floats = np.sqrt(((values - truth) ** 2).mean(axis=0))
    return errors


def median_errors(table: GroupedTable, epsilon: float, *, peers: bool = True) -> dict[str, float]:
    """Return the error of the median group's mean, of each that releases one, or of ours alone."""
    rows, sums = table.totals()
    released = release_of(table, table.statistics(), epsilon=epsilon).statistics()["mean"]
    drawn = {OURS: np.where(np.isnan(released), table.line.high / 2, released)}  # no rows left: the middle
    if peers:
        drawn |= {name: peer(sums, rows, table.line.high, epsilon) for name, peer in PEERS.items()}
    return {name: float(np.median(root_mean_square(means, sums / rows))) for name, means in drawn.items()}


def main() -> list[tuple[str, bool]]:
    """Print errors and ratios; return the goals, and which of them hold."""
    held = []
    for table in TABLES:
        rows, sums = table.totals()
        share, unit = sums / rows / table.line.high, "hours" if table is HOURS else "USD"
        print(f"{table.title}: {len(rows)} groups of {rows.min():,g} to {rows.max():,g} rows, 0 to {table.line.high:g}")
        ratios: dict[str, list[float]] = {name: [] for name in PEERS}
        for epsilon in EPSILONS:
            errors = median_errors(table, epsilon)
            for name in PEERS:
                ratios[name].append(errors[OURS] / errors[name])
            line = ", ".join(f"{name} {error:.3g}" for name, error in errors.items())
            print(f"  ε = {epsilon:g}: error of the median group's mean in {unit}: {line}", flush=True)
            if epsilon == max(EPSILONS):
                coarse = median_errors(table.with_cells(COARSE), epsilon, peers=False)[OURS]
                print(f"    on {COARSE:,} cells instead of {table.line.ordered:,}: ours {coarse:.3g}")
            if epsilon == 1:
                expected = {
                    name: float(np.median(table.line.high * first_order(name, share) / rows)) for name in errors
                }
                known = EARLIER[table]
                print(f"    to first order: {', '.join(f'{name} {each:.3g}' for name, each in expected.items())}")
                print(f"    other code: {', '.join(f'{name} {each:.3g}' for name, each in known.items())}")
                agree = all(abs(errors[name] / known[name] - 1) < AGREES for name in errors)
                held.append((f"{table.title}: errors at ε = 1 are those of other code within {AGREES:.0%}", agree))
        for name, each in ratios.items():
            goal = GOALS.get((table, name))
            beside = "" if goal is None else f" (goal {goal:g})"
            print(f"  ours/{name}, ε = {', '.join(map(str, EPSILONS))}: {', '.join(f'{r:.3f}' for r in each)}{beside}")
            if goal is not None:
                held.append((f"{table.title}: ours/{name} at most {goal:g} at every ε", max(each) <= goal))
    return held
