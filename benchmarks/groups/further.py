"""Further statistics of groups beside other ways: what variances cost the means, slopes, and quantiles.

- Variances: counters of degree 2 give variances too; their means beside those of counters of degree 1.
- Slopes: nine counters of two numbers beside their six moments (rows, both sums, both squares, the product), each with
  a sixth of ε; of shares of the range, and of distances from its middle, which have less noise.
- Quantiles: counts of cells, all quantiles from one release, beside an exponential mechanism with its part of ε for
  each, on the same cells. Its score is that of OpenDP's quantiles; its error is exact, by its law.

A row is added or removed. Errors are those of the median group: roots of the mean square, and of slopes medians.
"""

from __future__ import annotations

import numpy as np

from benchmarks.groups.means import TRIALS, release_of, root_mean_square
from benchmarks.groups.tables import COSTS, EARNINGS, EPSILONS, HOURS, TABLES, GroupedTable
from dpcore import Number, Preview
from dpcore.core import Floats
from dpcore.data.columns import is_number
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.mechanisms.grouped.statistics import statistics
from dpcore.randomness.laws import exponential_law

QUARTILES = (0.25, 0.5, 0.75)
DECILES = tuple(share / 10 for share in range(1, 10))
QUANTILE_TRIALS = 300
CELLS = 1024
"""Cells of a number whose squares are counted too."""
VARIANCE_GOAL, SLOPE_GOAL, QUANTILE_GOAL = 1.15, 0.15, 0.4


def variance_costs() -> list[tuple[str, bool]]:
    """Print the error of means of degree 2 over that of degree 1."""
    held = []
    for table in (each.with_cells(CELLS) for each in TABLES):
        ratios = []
        for epsilon in EPSILONS:
            errors = []
            for degree in (1, 2):
                queries = table.statistics(degree=degree)
                state = GroupCounters(epsilon=epsilon).prepare(*table.rows(queries))
                means = release_of(table, queries, epsilon=epsilon).statistics()["mean"]
                truth = statistics(state.counters, queries)["mean"]
                errors.append(np.nanmedian(root_mean_square(np.nan_to_num(means, nan=table.line.high / 2), truth)))
            ratios.append(float(errors[1] / errors[0]))
        printed = ", ".join(f"{each:.3f}" for each in ratios)
        print(f"{table.title}: mean with variances/mean alone, ε = {EPSILONS}: {printed} (goal {VARIANCE_GOAL})")
        held.append(
            (f"{table.title}: variances cost means at most {VARIANCE_GOAL} times", max(ratios) <= VARIANCE_GOAL)
        )
    return held


def slope_of_moments(table: GroupedTable, names: tuple[str, str], *, epsilon: float, middle: float) -> Floats:
    """Draw slopes (T, groups) from six noisy moments of shares of the range, less ``middle``."""
    dataset, _ = table.rows(table.statistics(*names))
    groups, columns = table.group_numbers(dataset), [table.measured[name] for name in names]
    u, v = (
        (dataset.records[:, len(table.groups) + place] + 0.5) / column.ordered - middle
        for place, column in enumerate(columns)
    )
    largest = max(middle, 1 - middle)
    random, count = np.random.default_rng(5), table.statistics().count

    def noisy(values: Floats, sensitivity: float) -> Floats:
        drawn = random.laplace(scale=6 * sensitivity / epsilon, size=(TRIALS, count))
        return np.bincount(groups, weights=values, minlength=count) + drawn

    rows = np.maximum(noisy(np.ones(len(u)), 1.0), 1.0)
    first, second = noisy(u, largest) / rows, noisy(v, largest) / rows
    square, product = noisy(v * v, largest**2) / rows, noisy(u * v, largest**2) / rows
    noisy(u * u, largest**2)  # of the correlation; its share of ε is spent
    spans = [column.high - column.low if is_number(column) else 1.0 for column in columns]
    return (product - first * second) / (square - second**2) * spans[0] / spans[1]


def slopes() -> list[tuple[str, bool]]:
    """Print the error of slopes beside those from six moments."""
    held = []
    for table, names in ((EARNINGS, ("earnings", "education")), (HOURS, ("hours_per_week", "age"))):
        coarse = table.with_cells(CELLS)
        queries = coarse.statistics(*names, degree=2)
        for epsilon in EPSILONS:
            state = GroupCounters(epsilon=epsilon).prepare(*coarse.rows(queries))
            truth = statistics(state.counters, queries)["slope"]
            counted = release_of(coarse, queries, epsilon=epsilon).statistics()["slope"]
            drawn = [counted, *(slope_of_moments(coarse, names, epsilon=epsilon, middle=m) for m in (0.0, 0.5))]
            errors = [float(np.median(median_size(each, truth))) for each in drawn]
            ratios = [errors[0] / other for other in errors[1:]]
            print(
                f"{table.title}, slope of {names[0]} on {names[1]}, ε = {epsilon:g}: median error {errors[0]:.3g}, of "
                f"six moments {errors[1]:.3g}, centred {errors[2]:.3g}; ratios {ratios[0]:.3f}, {ratios[1]:.3f}",
                flush=True,
            )
            goal = f"{table.title}, ε = {epsilon:g}: slopes at most {SLOPE_GOAL} of six moments"
            held.append((goal, ratios[0] <= SLOPE_GOAL))
    return held


def median_size(values: Floats, truth: Floats) -> Floats:
    """Return the median size of errors over trials, (groups,): the mean square of such a quotient is infinite."""
    sizes: Floats = np.nanmedian(np.abs(values - truth), axis=0)
    return sizes


def quantile_errors(table: GroupedTable, shares: tuple[float, ...], epsilon: float) -> tuple[float, float]:
    """Return the mean error over quantiles, of counts of cells and of exponential mechanisms."""
    queries, line, mechanism = table.quantiles(shares), table.line, GroupQuantileCounts(epsilon=epsilon)
    state = mechanism.prepare(*table.rows(queries))
    release = mechanism.run(state, Preview(1), QUANTILE_TRIALS)
    assert isinstance(release, GroupQuantilesRelease)
    points, sums = line.points(), np.cumsum(state.rows, axis=1)
    rows, below = sums[:, -1:], sums - state.rows
    counted, chosen = [], []
    values = np.nan_to_num(release.quantiles(), nan=(line.low + line.high) / 2)
    for place, share in enumerate(shares):
        truth = points[(sums >= share * rows).argmax(axis=1)]
        counted.append(np.median(root_mean_square(values[..., place], truth)))
        score = -np.abs((1 - share) * below - share * (rows - sums))
        rate = epsilon / len(shares) / (2 * max(share, 1 - share))
        law = exponential_law(score, np.ones(score.shape, dtype=np.bool_), rate=rate, rule="exponential")
        chosen.append(np.median(np.sqrt((law * (points - truth[:, None]) ** 2).sum(axis=1))))
    return float(np.mean(counted)), float(np.mean(chosen))


def quantiles() -> list[tuple[str, bool]]:
    """Print the errors of quartiles and deciles."""
    held = []
    declared = HOURS.with_line(Number(high=128.0, bits=7))  # as the sample declares it
    for table, epsilon in ((declared, 0.1), (EARNINGS.with_cells(CELLS), 0.1), (COSTS.with_cells(CELLS), 1.0)):
        for name, shares in (("median", (0.5,)), ("quartiles", QUARTILES), ("deciles", DECILES)):
            counted, chosen = quantile_errors(table, shares, epsilon)
            is_goal = table is declared and shares == QUARTILES
            print(
                f"{table.title}, {name} on {table.line.ordered:,} cells, ε = {epsilon:g}: mean error {counted:.3g}, of "
                f"exponential mechanisms {chosen:.3g}; ratio {counted / chosen:.3f}"
                + (f" (goal {QUANTILE_GOAL})" if is_goal else ""),
                flush=True,
            )
            if is_goal:
                text = f"{table.title}, ε = {epsilon:g}: {name} at most {QUANTILE_GOAL} of exponential mechanisms"
                held.append((text, counted <= QUANTILE_GOAL * chosen))
    return held


def main() -> list[tuple[str, bool]]:
    """Print errors of further statistics; return the goals, and which of them hold."""
    return [*variance_costs(), *slopes(), *quantiles()]
