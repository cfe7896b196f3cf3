"""Coverage of intervals of group statistics, on bundled tables: 10,000 releases of each, with fixed seeds.

- Coverage of every statistic that has an interval at three levels, in each group: an exact binomial test, with a chance
  of one in a million that any of all tests refutes a level that holds. Two normal deviations around Laplace counts must
  be refuted by the same test. Quantiles have half-widths that are drawn anew for every hundred releases.
- All groups together, and several statistics of the same counters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import binom

from benchmarks.groups.means import release_of
from benchmarks.groups.tables import EARNINGS, EPSILONS, HOURS, GroupedTable
from dpcore import Preview
from dpcore.core import Booleans, Floats
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.grouped.statistics import statistics
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.groups import recipes
from dplab.intervals.interval import Interval, level_each
from dplab.intervals.noise import LaplaceNoise
from dplab.intervals.released import group_quantile, noise_law

TRIALS, FEW, PART, BLOCK = 10_000, 2000, 100, 5000
ENDS = ("low", "high", "says_nothing")
ROUNDING = 1e-9
LEVELS = (0.9, 0.95, 0.99)
FAMILY_CHANCE = 1e-6
CELLS = 1024
"""Cells of numbers whose squares are counted, or that are divided."""


@dataclass(frozen=True)
class Tests:
    """Exact tests of coverage; all of them together refute a level that holds with a chance of FAMILY_CHANCE."""

    chances: list[tuple[str, float]] = field(default_factory=list)

    def add(self, name: str, covered: Booleans, level: float) -> None:
        """Test whether intervals (T, groups) cover at least as often as their level, in each group."""
        misses = (~covered).sum(axis=0)
        self.chances.extend((name, float(each)) for each in binom.sf(misses - 1, len(covered), 1 - level))

    def refuted(self) -> list[str]:
        """Return the names of refuted tests."""
        return [name for name, chance in self.chances if chance < FAMILY_CHANCE / len(self.chances)]


def intervals(release: GroupRelease, noise: LaplaceNoise, name: str, level: float) -> Interval:
    """Return the intervals of a statistic, (T, groups): once for all releases of a group with the same counters."""
    recipe, ends = recipes(release.queries, noise)[name], []
    for group in range(release.queries.count):
        counters, place = np.unique(release.counters[:, group], axis=0, return_inverse=True)
        numbers = counters.astype(np.float64)
        found = [recipe(numbers[at : at + BLOCK], noise, level) for at in range(0, len(numbers), BLOCK)]
        ends.append([np.concatenate([getattr(each, end) for each in found])[place] for end in ENDS])
    low, high, silent = (np.stack(each, axis=1) for each in zip(*ends, strict=True))
    return Interval(low=low, high=high, level=level, kind=found[0].kind, says_nothing=silent)


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """Releases of the statistics of a table.

    Attributes:
        table: the rows.
        queries: the statistics.
        epsilon: of each release.
        seed: of all releases.
        trials: number of releases.
    """

    table: GroupedTable
    queries: GroupStatistics
    epsilon: float
    seed: int
    trials: int = TRIALS

    def released(self) -> tuple[GroupRelease, LaplaceNoise, dict[str, Floats]]:
        """Return the releases, their noise, and the statistics without noise."""
        release = release_of(self.table, self.queries, epsilon=self.epsilon, seed=self.seed, trials=self.trials)
        mechanism = GroupCounters(epsilon=self.epsilon)
        noise = noise_law(mechanism, release.problem)
        assert isinstance(noise, LaplaceNoise)
        counters = mechanism.prepare(*self.table.rows(self.queries)).counters
        return release, noise, statistics(counters, self.queries)

    @property
    def title(self) -> str:
        """The table and ε."""
        return f"{self.table.title}, ε = {self.epsilon:g}"


def report(name: str, covered: dict[float, Booleans], tests: Tests) -> None:
    """Print and test coverage at each level, (T, groups)."""
    texts = []
    for level, held in covered.items():
        tests.add(f"{name}, {level:.0%}", held, level)
        by_group = held.mean(axis=0)
        texts.append(f"{level:.0%}: {by_group.mean():.4f} (worst group {by_group.min():.4f})")
    print(f"  {name}: {'; '.join(texts)}", flush=True)


def coverage(tests: Tests) -> None:
    """Print the coverage of each statistic."""
    coarse, plain = EARNINGS.with_cells(CELLS), ("rows", "mean", "sum")
    one = EARNINGS.statistics()
    means = [Case(table=EARNINGS, queries=one, epsilon=each, seed=3 + place) for place, each in enumerate(EPSILONS)]
    answers = HOURS.statistics("income")
    two, squares = coarse.statistics("earnings", "education"), coarse.statistics(degree=2)
    both = coarse.statistics("earnings", "education", degree=2)
    cases: list[tuple[Case, tuple[str, ...], tuple[float, ...]]]
    cases = [(case, plain, LEVELS if case.epsilon == 1 else (0.95,)) for case in means]
    cases += [
        (Case(table=HOURS, queries=answers, epsilon=0.5, seed=8), ("rows", "proportion", "sum"), LEVELS),
        (Case(table=HOURS, queries=answers, epsilon=3.0, seed=9), ("rows", "proportion", "sum"), LEVELS),
        (Case(table=coarse, queries=two, epsilon=1.0, seed=10), ("sum of earnings", "ratio of sums"), LEVELS),
        (Case(table=coarse, queries=squares, epsilon=1.0, seed=11), ("variance",), LEVELS),
        (Case(table=coarse, queries=coarse.statistics(degree=3), epsilon=1.0, seed=15), ("skewness",), LEVELS),
        (Case(table=coarse, queries=both, epsilon=1.0, seed=16, trials=FEW), ("slope", "correlation"), (0.95,)),
    ]
    for case, names, levels in cases:
        release, noise, truth = case.released()
        print(case.title)
        for name in names:
            found = {level: intervals(release, noise, name, level) for level in levels}
            report(name, {level: each.contains(truth[name]) for level, each in found.items()}, tests)
            if name == "variance":  # of which a standard deviation's interval is the root
                roots = {
                    level: (np.sqrt(each.low) <= truth["standard deviation"] + ROUNDING)
                    & (truth["standard deviation"] <= np.sqrt(each.high) + ROUNDING)
                    for level, each in found.items()
                }
                report("standard deviation", roots, tests)


def quantile_coverage(tests: Tests, epsilon: float = 1.0) -> None:
    """Print the coverage of quartiles, whose intervals are whole cells."""
    table = HOURS.with_cells(100)
    queries, mechanism = table.quantiles((0.25, 0.5, 0.75)), GroupQuantileCounts(epsilon=epsilon)
    state, sampler = mechanism.prepare(*table.rows(queries)), Preview(12)
    sums = np.cumsum(state.rows, axis=1)
    print(f"{table.title}, ε = {epsilon:g}, quantiles")
    held: dict[float, dict[float, list[Booleans]]] = {}
    for part in range(TRIALS // PART):
        release = mechanism.run(state, sampler, PART)
        assert isinstance(release, GroupQuantilesRelease)
        for share in queries.quantiles:
            cell = (sums >= share * sums[:, -1:]).argmax(axis=1)
            for level in LEVELS:
                found = group_quantile(mechanism, release, share, level=level, digest=f"{part + 1:015x}")
                held.setdefault(share, {}).setdefault(level, []).append(found.contains(cell))
    for share, by_level in held.items():
        report(f"quantile {share:g}", {level: np.concatenate(each) for level, each in by_level.items()}, tests)


def control(tests: Tests) -> bool:
    """Return whether the tests refute two normal deviations around Laplace counts, ε = 1."""
    release, noise, truth = Case(table=HOURS, queries=HOURS.statistics("income"), epsilon=1.0, seed=13).released()
    covered = np.abs(release.statistics()["sum"] - truth["sum"]) <= 1.96 * noise.deviation
    chances = binom.sf((~covered).sum(axis=0) - 1, len(covered), 0.05)
    print(
        f"control, 1.96 standard deviations around Laplace counts: {covered.mean():.4f}; largest chance of a group "
        f"{chances.max():.1e}"
    )
    return bool((chances < FAMILY_CHANCE / (len(tests.chances) + len(chances))).all())


def together(tests: Tests) -> bool:
    """Print how often all groups hold at once; return whether intervals of each alone are refuted."""
    release, noise, truth = Case(table=HOURS, queries=HOURS.statistics(), epsilon=1.0, seed=14, trials=FEW).released()
    groups = release.queries.count
    level = level_each(0.95, independent=groups)
    all_means = np.all(intervals(release, noise, "mean", level).contains(truth["mean"]), axis=1)
    several = level_each(0.95, independent=groups, dependent=3)
    all_three = np.ones(FEW, dtype=np.bool_)
    for name in ("rows", "mean", "sum"):
        all_three &= intervals(release, noise, name, several).contains(truth[name]).all(axis=1)
    tests.add("all groups' means", all_means.reshape(-1, 1), 0.95)
    tests.add("all groups' rows, means and sums", all_three.reshape(-1, 1), 0.95)
    alone = Tests()
    pointwise = np.all(intervals(release, noise, "mean", 0.95).contains(truth["mean"]), axis=1)
    alone.add("pointwise", pointwise.reshape(-1, 1), 0.95)
    print(
        f"all {groups} groups together at 95%: means {all_means.mean():.4f}; rows, means and sums "
        f"{all_three.mean():.4f}; control, 95% for each mean: {pointwise.mean():.4f}"
    )
    return bool(alone.refuted())


def main() -> list[tuple[str, bool]]:
    """Print coverage; return what is to hold, and whether it does."""
    tests = Tests()
    coverage(tests)
    quantile_coverage(tests)
    pointwise_refuted = together(tests)
    control_refuted = control(tests)
    refuted = tests.refuted()
    least = min(tests.chances, key=lambda each: each[1])
    print(
        f"{len(tests.chances):,} tests; the least chance is {least[1]:.1e} ({least[0]}); refuted: {refuted or 'none'}"
    )
    return [
        ("no level of an interval is refuted", not refuted),
        ("control: 1.96 standard deviations around Laplace counts are refuted", control_refuted),
        ("control: 95% for each of 32 groups is refuted for all together", pointwise_refuted),
    ]
