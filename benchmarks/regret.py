"""Regret: how much more the rule of public numbers errs than the best mechanism for each data set would have.

Every number column of the bundled samples, each relation, prefixes and ranges, ε times rows from a thousand to a
million where ε is between 0.001 and 10. The error is the root of the mean square over queries drawn at random and over
releases. Regret is the rule's error over the least of all mechanisms of the catalogue that serve the question with a
guarantee of ε alone, each at its usual values; also printed beside those with a slack δ, and beside the one with γ too:
for it rows are random draws from a population, no plan releases it, and what it gains depends on how many cells are
empty, which no public number tells. Where rows are added or removed their number is not public: mechanisms are told the
number rounded to one digit.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpcore import Dataset, Intervals, Neighbours, ParameterError, Preview, Problem, Thresholds
from dpcore.core import DataRelease, Floats, Integers, Mechanism, Queries
from dpcore.data.bundled import bundled
from dpcore.data.columns import is_number
from dpcore.data.samples import SAMPLES
from dpcore.mechanisms import serving
from dplab.advice import recommended_entry

TIMES_ROWS = (1e3, 1e4, 1e5, 1e6)
LEAST, MOST = 0.001, 10.0
TRIALS, QUERIES = 30, 500
MAX_SECONDS = 10.0
"""What a mechanism may say that its releases take; nets are slower on most columns, and err more."""
MEAN_GOAL, WORST_GOAL = 1.15, 1.8


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Errors in rows of one setting, by key: of all mechanisms, and which of them have neither δ nor γ, or no γ."""

    name: str
    chosen: str
    errors: dict[str, float]
    pure: frozenset[str]
    proved: frozenset[str]

    def regret(self, among: Iterable[str]) -> float:
        """Of the rule, beside these."""
        return self.errors[self.chosen] / min(self.errors[key] for key in among)

    def best(self) -> str:
        """Of those with a guarantee of ε alone."""
        return min(self.pure, key=self.errors.__getitem__)


def error(mechanism: Mechanism, data: Dataset, problem: Problem, batch: Integers, truth: Floats) -> float:
    """Root of the mean square in rows."""
    release = mechanism.run(mechanism.prepare(data, problem), Preview(1), TRIALS)
    assert isinstance(release, DataRelease)
    wrong = release.answer(batch) - truth
    return float(np.sqrt(np.nanmean(wrong**2))) * problem.n


def cell(name: str, data: Dataset, problem: Problem, *, epsilon: float) -> Cell:
    """One setting."""
    batch = np.random.default_rng(1).integers(0, problem.queries.count, QUERIES)
    truth = problem.queries.answer(data.histogram[None, :], batch) / problem.n
    errors, pure, proved = {}, set(), set()
    for entry in serving(problem.queries):
        mechanism = entry.make(epsilon=epsilon)
        try:
            guarantee = mechanism.guarantee(problem)
            before, each = mechanism.preview_seconds(problem)
            if before + TRIALS * each > MAX_SECONDS:
                continue
            errors[entry.key] = error(mechanism, data, problem, batch, truth)
        except ParameterError:  # not under this relation, or not on so many cells
            continue
        if not guarantee.gamma:
            proved.add(entry.key)
            if not guarantee.delta:
                pure.add(entry.key)
    chosen = recommended_entry(problem, epsilon=epsilon)
    return Cell(name=name, chosen=chosen, errors=errors, pure=frozenset(pure), proved=frozenset(proved))


def cells(neighbours: Neighbours, kind: type[Thresholds | Intervals]) -> Iterator[Cell]:
    """Every column at every privacy loss."""
    for sample in SAMPLES:
        for column in sample.columns:
            if column.kind != "number":
                continue
            data = bundled(sample.key, column.name).dataset()
            assert is_number(data.domain)
            queries: Queries = kind(domain=data.domain)
            public = data.n if neighbours is Neighbours.REPLACE_ONE else int(float(f"{data.n:.0e}"))
            problem = Problem(domain=data.domain, queries=queries, n=public, neighbours=neighbours)
            for times in TIMES_ROWS:
                epsilon = times / data.n
                if LEAST <= epsilon <= MOST:
                    name = f"{sample.key}.{column.name}, U = {data.domain.ordered:,}, n = {data.n:,}, ε = {epsilon:.3g}"
                    yield cell(name, data, problem, epsilon=epsilon)


def told(regrets: Floats) -> str:
    """Geometric mean and worst."""
    return f"{math.exp(np.log(regrets).mean()):.3f}, worst {regrets.max():.2f}"


def main() -> None:
    """Print regrets by relation and class, and the worst settings."""
    started, every = time.perf_counter(), []
    for neighbours in Neighbours:
        for kind in (Thresholds, Intervals):
            found = list(cells(neighbours, kind))
            every += found
            what = f"{neighbours}, {kind.key}, {len(found)} settings"
            print(f"{what}: {told(np.array([each.regret(each.pure) for each in found]))}")
            for key in ("windows", "tree-windows"):
                fixed = [each.errors[key] / each.errors[each.best()] for each in found]
                print(f"  always {key}: {told(np.array(fixed))}")
            best = Counter(each.best() for each in found).most_common()
            print(f"  best: {', '.join(f'{key} {count}' for key, count in best)}")
            print(f"  beside those with δ: {told(np.array([each.regret(each.proved) for each in found]))}")
            print(f"  beside the one with γ too: {told(np.array([each.regret(each.errors) for each in found]))}")
            least = [each.errors[each.best()] / min(each.errors.values()) for each in found]
            print(f"  no rule of those with ε alone can be nearer to it than {told(np.array(least))}")
            worst = max(found, key=lambda each: each.regret(each.pure))
            print(f"  worst: {worst.name}: {worst.chosen}, where {worst.best()} is best", flush=True)
    regrets = np.array([each.regret(each.pure) for each in every])
    print(f"all {len(every)}: {told(regrets)} (goals {MEAN_GOAL}, {WORST_GOAL}); {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
