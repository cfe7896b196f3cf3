"""Widths of intervals of group means, predicted widths, and coverage among the groups that are printed.

- Beside the interval of Google's bounded mean: intervals of its sum and its count, whose parts of the level are those
  of the narrowest interval (``ComputeConfidenceInterval`` of its Go library).
- Predicted half-widths beside those of releases, in groups of 300/ε rows and more whose mean is more than two of them
  from the bounds, where intervals end.
- Coverage among groups that are printed because their noisy number of rows is large enough: the number from which a
  report prints a mean. The control prints a mean whose half-width is at most half of it: often one that noise raised.
"""

from __future__ import annotations

import numpy as np

from benchmarks.groups.coverage import FEW, Case, intervals
from benchmarks.groups.tables import COSTS, EPSILONS, HOURS, TABLES
from dpcore.core import Booleans, Floats
from dpcore.mechanisms.grouped.weights import row_weight
from dplab.intervals.planned_margins import people_needed, predicted_half_width

LEVEL, MARGIN, RELATIVE, SPLITS = 0.95, 0.25, 0.5, 1000
RELEASES = 200
WIDTH_GOAL, PREDICTION_GOAL, PRINTED_GOAL = 0.6, 0.03, 0.945
MIN_PRINTED = 100
"""Releases that print a group, for its coverage to be looked at."""


def bounded_mean_widths(sums: Floats, rows: Floats, bound: float, epsilon: float) -> Floats:
    """Return the widths of intervals of Google's bounded mean, (RELEASES, groups), on a line from 0 to a bound."""
    random, alpha = np.random.default_rng(6), 1 - LEVEL
    of_sum = alpha * np.arange(1, SPLITS) / SPLITS
    of_count = (alpha - of_sum) / (1 - of_sum)
    scales = bound / epsilon, 2 / epsilon  # half the range, and one row, at half of ε
    around_sum = -scales[0] * np.log(of_sum)
    around_count = np.rint(-scales[1] * np.log(of_count))
    widths = np.empty((RELEASES, len(rows)))
    for group, (total, count) in enumerate(zip(sums - rows * bound / 2, rows, strict=True)):
        middle = total + random.laplace(scale=scales[0], size=(RELEASES, 1))
        people = count + np.rint(random.laplace(scale=scales[1], size=(RELEASES, 1)))
        low, high = middle - around_sum, middle + around_sum
        fewest, most = (np.maximum(people + side * around_count, 1) for side in (-1, 1))
        least = low / np.where(low >= 0, most, fewest)
        largest = high / np.where(high >= 0, fewest, most)
        ends = (np.clip(each, -bound / 2, bound / 2) for each in (largest, least))
        widths[:, group] = np.subtract(*ends).min(axis=1)
    return widths


def widths() -> list[tuple[str, bool]]:
    """Print the widths of means' intervals over those of Google's bounded mean."""
    held = []
    for place, table in enumerate(TABLES):
        rows, sums = table.totals()
        ratios = []
        for epsilon in EPSILONS:
            case = Case(table=table, queries=table.statistics(), epsilon=epsilon, seed=20 + place, trials=RELEASES)
            release, noise, _ = case.released()
            ours = 2 * intervals(release, noise, "mean", LEVEL).half_width
            theirs = bounded_mean_widths(sums, rows, table.line.high, epsilon)
            ratios.append(float(np.median(np.median(ours, axis=0) / np.median(theirs, axis=0))))
        print(
            f"{table.title}: width/Google's, median group, ε = {EPSILONS}: {_listed(ratios)} (goal {WIDTH_GOAL})",
            flush=True,
        )
        held.append(
            (
                f"{table.title}: means' intervals at most {WIDTH_GOAL} times as wide as Google's",
                max(ratios) <= WIDTH_GOAL,
            )
        )
    return held


def _listed(numbers: list[float]) -> str:
    return ", ".join(f"{each:.3f}" for each in numbers)


def predictions() -> list[tuple[str, bool]]:
    """Print the half-widths of means over the predicted ones."""
    held = []
    for place, table in enumerate(TABLES):
        line, worst, compared = table.line, [], 0
        for epsilon in EPSILONS:
            case = Case(table=table, queries=table.statistics(), epsilon=epsilon, seed=30 + place, trials=RELEASES)
            release, noise, truth = case.released()
            measured = np.median(intervals(release, noise, "mean", LEVEL).half_width, axis=0)
            ratios, weight = [1.0], row_weight(case.queries)
            for half, rows, mean in zip(measured, truth["rows"], truth["mean"], strict=True):
                share = float((mean - line.low) / line.span)
                predicted = predicted_half_width(
                    round(rows), noise, weight=weight, level=LEVEL, share=share, width=line.span
                )
                if rows >= 300 / epsilon and line.low + 2 * predicted < mean < line.high - 2 * predicted:
                    ratios.append(float(half / predicted))
            worst.append(max(ratios, key=lambda ratio: abs(ratio - 1)))
            compared += len(ratios) - 1
        print(
            f"{table.title}: half-width/predicted in {compared} groups, furthest one, ε = {EPSILONS}: {_listed(worst)}",
            flush=True,
        )
        within = compared > 0 and max(abs(ratio - 1) for ratio in worst) <= PREDICTION_GOAL
        held.append((f"{table.title}: half-widths within {PREDICTION_GOAL:.0%} of the predicted ones", within))
    return held


def hiding() -> list[tuple[str, bool]]:
    """Print coverage among printed means."""
    held = []
    for place, table in enumerate((HOURS, COSTS)):
        case = Case(table=table, queries=table.statistics(), epsilon=0.1, seed=40 + place, trials=FEW)
        release, noise, truth = case.released()
        needed = people_needed(MARGIN, noise, weight=row_weight(case.queries), level=LEVEL)
        found, released = intervals(release, noise, "mean", LEVEL), release.statistics()
        covered = found.contains(truth["mean"])
        by_rows = _coverage(covered, released["rows"] >= needed)
        by_width = _coverage(covered, found.half_width <= RELATIVE * np.nan_to_num(released["mean"]))
        print(f"{case.title}, coverage of means: from {needed} noisy rows {by_rows[1]}")
        print(f"  control, half-width at most {RELATIVE:g} of the mean: {by_width[1]}", flush=True)
        held.append((f"{table.title}: coverage of printed means at least {PRINTED_GOAL}", by_rows[0] >= PRINTED_GOAL))
    held.append(
        (f"control: coverage of means printed by their widths is below {PRINTED_GOAL}", by_width[0] < PRINTED_GOAL)
    )
    return held


def _coverage(covered: Booleans, shown: Booleans) -> tuple[float, str]:
    """Return the coverage of what is shown, and a text with that of the group that is covered least."""
    often = shown.sum(axis=0) >= MIN_PRINTED
    by_group = (covered & shown).sum(axis=0)[often] / shown.sum(axis=0)[often]
    mean = float(covered[shown].mean())
    return mean, f"{mean:.4f} ({shown.mean():.0%} of means are printed; worst group {by_group.min():.4f})"


def main() -> list[tuple[str, bool]]:
    """Print widths, predictions and coverage of what is printed; return the goals, and which of them hold."""
    return [*widths(), *predictions(), *hiding()]
