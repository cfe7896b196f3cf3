"""The promises of mechanisms that release one value: rows between, a mean, an exact median, what subsamples agree on.

Where a promise is about data that are good enough (stable, or whose subsamples agree), they are made barely so; where
it is about any data, they are made as bad as can be.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dpcore import Dataset, Labels, Neighbours, Number, Preview, Problem
from dpcore.core import Domain, Entry, Floats, Integers, Mechanism, ValueRelease
from dpcore.data.columns import is_number
from dpcore.data.product import Product
from dpcore.mechanisms.robust.counted_mean import MeanRelease
from dpcore.mechanisms.robust.stable_median import StableMedian, rank_errors, stability
from dpcore.mechanisms.robust.stable_mode import StableMode
from dpcore.mechanisms.subsamples.aggregate import Question, SubsampleAggregate
from dpcore.mechanisms.subsamples.subsampling import agreement_needed
from dpcore.queries.ranges import Cells, Thresholds
from tests.kit.promises.cases import BETAS, NOMINAL, Case, Grid, claimed, made, releases, row_counts, tried

LINE = Number(bits=5, missing=True)
FULL_LINE = Number(bits=5)
QUANTILES = (0.1, 0.5)


def errors_of(
    measure: Callable[[Integers], Floats],
    refusal: float,
    mechanism: Mechanism,
    dataset: Dataset,
    problem: Problem,
    sampler: Preview,
    trials: int,
) -> Floats:
    """What ``measure`` says of the released cells, (T,) to (T,); a refusal counts as ``refusal``."""
    release = releases(mechanism, dataset, problem, sampler, trials)
    assert isinstance(release, ValueRelease)
    found: Floats = np.where(release.refused, refusal, measure(np.maximum(release.values, 0)))
    return found


def value_case(
    mechanism: Mechanism,
    dataset: Dataset,
    problem: Problem,
    measure: Callable[[Integers], Floats],
    grid: Grid,
    *,
    data: str,
    refusal: float = np.inf,
    **told: Any,
) -> Case:
    """What ``measure`` says of the released cells of a data set that is ``data`` in words."""
    errors = partial(errors_of, measure, refusal)
    return tried(errors, mechanism, dataset, problem, data=data, trials=grid.trials, **told)


def problems(grid: Grid, domain: Domain, *sizes: int) -> Iterator[tuple[Problem, float]]:
    """Every number of rows and relation, with every epsilon."""
    queries = Thresholds(domain=domain) if is_number(domain) else Cells(domain=domain)
    for n, neighbours, epsilon in product(grid.of(*sizes), Neighbours, grid.epsilons):
        yield Problem(domain=domain, queries=queries, n=n, neighbours=neighbours), epsilon


def missed_by(dataset: Dataset, problem: Problem, quantile: float, cells: Integers) -> Floats:
    """Rows between a cell and the quantile, as a share of the n that was said."""
    return rank_errors(dataset.histogram, cells, domain=LINE, quantile=quantile) * dataset.n / problem.n


def between(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Rows between the answer and a quantile: all cells but the last are barely worse than promised."""
    for (problem, epsilon), quantile, beta in product(problems(grid, LINE, 1_000, 50_000), QUANTILES, BETAS):
        mechanism = entry.make(epsilon=epsilon, quantile=quantile)
        missed = round(mechanism.accuracy(problem, beta).value * problem.n) + 1
        for rows, meets in row_counts(problem):
            # One cell is good and all others are bad: by more than is promised, or by half as much.
            for name, off in (("just beyond", missed), ("half way", missed // 2)):
                low = int(quantile * rows) - off
                if low < 0:
                    continue
                dataset = made(problem, np.where(np.arange(rows) < low, 0, LINE.ordered - 1), name)
                measure = partial(missed_by, dataset, problem, quantile)
                data = f"{name}, q = {quantile}, {rows:,} rows"
                yield value_case(mechanism, dataset, problem, measure, grid, data=data, meets=meets, betas=(beta,))


def off_mean(mean: float, cells: Integers) -> Floats:
    """How far cells are from the mean, as a share of the range."""
    off: Floats = np.abs(cells - mean) / (LINE.ordered - 1)
    return off


def means(entry: Entry, grid: Grid) -> Iterator[Case]:
    """How far the released cell is from the mean, as a share of the range: a mean half between two cells."""
    for problem, epsilon in problems(grid, FULL_LINE, 2_000, 50):
        mechanism = entry.make(epsilon=epsilon)
        if not claimed(mechanism, problem):
            continue
        for rows, meets in row_counts(problem):
            cells = LINE.ordered // 2 + np.arange(rows) % 2
            dataset, measure = made(problem, cells, "between cells"), partial(off_mean, float(cells.mean()))
            data = f"a mean between two cells, {rows:,} rows"
            yield value_case(mechanism, dataset, problem, measure, grid, data=data, meets=meets)


def counted_off(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Preview, trials: int) -> Floats:
    """How far released means are from that of the rows with a number, as a share of the range; inf for a refusal."""
    release = releases(mechanism, dataset, problem, sampler, trials)
    assert isinstance(release, MeanRelease)
    present = dataset.records[dataset.records < LINE.ordered]
    off = np.abs(release.means - LINE.points()[present].mean()) / (LINE.high - LINE.low)
    found: Floats = np.where(release.refused, np.inf, off)
    return found


def counted_means(entry: Entry, grid: Grid) -> Iterator[Case]:
    """The mean of n rows with a number, all at one end, and as many again without one."""
    for (problem, epsilon), share in product(problems(grid, LINE, 1_000, 60), grid.of(0.5, 0.0)):
        mechanism = entry.make(epsilon=epsilon)
        cells = np.where(np.arange(problem.n) < share * problem.n, LINE.ordered - 1, 0)
        added = problem.neighbours is Neighbours.ADD_REMOVE_ONE
        dataset = made(problem, np.append(cells, np.full(problem.n * added, LINE.ordered)), "at the ends")
        data = f"share {share} at the upper end, {problem.n * added} rows without a number"
        meets = (*NOMINAL, "every row has a number")
        yield tried(counted_off, mechanism, dataset, problem, data=data, trials=grid.trials, meets=meets)


def right(value: int, cells: Integers) -> Floats:
    """0 for the right answer, infinite for another."""
    return np.where(cells == value, 0.0, np.inf)


def around(problem: Problem, inside: int, *, quantile: float) -> Integers:
    """Rows: so many in the quantile's cell, the others below and above it."""
    below = int(quantile * (problem.n - inside))
    return np.repeat([3, 9, 20], [below, inside, problem.n - inside - below])


def stable_rows(mechanism: StableMedian, problem: Problem, records: Integers) -> tuple[int, int]:
    """The quantile's cell, and how many rows must change before it is another."""
    histogram = np.bincount(records, minlength=LINE.size)
    return stability(histogram, domain=LINE, quantile=mechanism.quantile, neighbours=problem.neighbours)


def barely_stable(mechanism: StableMedian, problem: Problem, beta: float) -> int:
    """Rows that the quantile's cell must hold, all of them where even that is too few."""
    needed = mechanism.stability_needed(beta)

    def enough(inside: int) -> bool:
        return stable_rows(mechanism, problem, around(problem, inside, quantile=mechanism.quantile))[1] >= needed

    return 1 + bisect_left(range(1, problem.n), True, key=enough)


def stable(entry: Entry, grid: Grid) -> Iterator[Case]:
    """An answer, and the exact one, for data barely as stable as they must be; and never another, however unstable."""
    for (problem, epsilon), quantile, beta in product(problems(grid, LINE, 400, 5_000), QUANTILES, BETAS):
        mechanism = entry.make(epsilon=epsilon, quantile=quantile)
        assert isinstance(mechanism, StableMedian)
        inside = barely_stable(mechanism, problem, beta)
        for name, rows, refusal in (("barely stable", inside, np.inf), ("unstable, refusals forgiven", 1, 0.0)):
            records = around(problem, rows, quantile=quantile)
            measure = partial(right, stable_rows(mechanism, problem, records)[0])
            dataset, data = made(problem, records, name), f"{name}, q = {quantile}"
            yield value_case(mechanism, dataset, problem, measure, grid, data=data, refusal=refusal, betas=(beta,))


LABELS = Labels(labels=("a", "b", "c"))


def stable_modes(entry: Entry, grid: Grid) -> Iterator[Case]:
    """An answer, and the exact one, where barely enough rows must change before another label is most common."""
    for (problem, epsilon), beta in product(problems(grid, LABELS, 400, 5_000), BETAS):
        mechanism = entry.make(epsilon=epsilon)
        assert isinstance(mechanism, StableMode)
        step = 2 if problem.neighbours is Neighbours.REPLACE_ONE else 1
        gap = step * (mechanism.stability_needed(beta) - 1) + 1  # the second label needs so many more, or one less
        first = min(problem.n, (problem.n + gap) // 2)
        records = np.repeat([0, 1], [first, problem.n - first])
        dataset = made(problem, records, "barely stable")
        yield value_case(mechanism, dataset, problem, partial(right, 0), grid, data="barely stable", betas=(beta,))


def near(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Medians whose errors depend on the data: nothing is promised of all; their own tests have the rest."""
    for problem, epsilon in problems(grid, FULL_LINE, 2_000, 200):
        mechanism = entry.make(epsilon=epsilon)
        if claimed(mechanism, problem):
            cells = np.arange(problem.n) * LINE.ordered // problem.n
            dataset, measure = made(problem, cells, "even"), partial(off_mean, float(LINE.ordered // 2))
            yield value_case(mechanism, dataset, problem, measure, grid, data="spread evenly")


SUBSAMPLED: tuple[tuple[Domain, tuple[int, int, int]], ...] = (
    (Number(bits=6), (60, 60, 25)),
    (Labels(labels=tuple("abcdef")), (1, 1, 0)),
    (Product.map(Labels(labels=("a", "b")), Number(bits=4), names=("group", "number")), (5, 16 + 2, 16 + 12)),
)
"""Domains, and cells: a quarter of the rows in the first, the others in the second (for the answer) or the third.

Ties of a subsample go to the third, so that agreement begins below one half.
"""


def agreement(mechanism: SubsampleAggregate, question: Question, records: Integers) -> tuple[int, float]:
    """The whole data's answer, and the chance that a subsample gives it."""
    counts = np.bincount(question.groups[records], minlength=question.counted + 1)
    answer = int(question.vote.answer(counts[None])[0])
    return answer, float(question.vote.law(counts, rows=mechanism.rows)[answer])


def barely_agreed(mechanism: SubsampleAggregate, problem: Problem, beta: float) -> tuple[int, Integers] | None:
    """An answer and rows of which subsamples barely agree enough on it; None where no rows like these do."""
    domain, (fixed, pro, contra) = next(found for found in SUBSAMPLED if found[0] == problem.domain)
    needed = agreement_needed(mechanism.plan(problem), epsilon=mechanism.epsilon, beta=beta)
    question, quarter = mechanism.question(domain), problem.n // 4

    def rows_with(swayed: int) -> Integers:
        return np.repeat([fixed, pro, contra], [quarter, problem.n - quarter - swayed, swayed])

    wanted = agreement(mechanism, question, rows_with(0))[0]

    def too_few(swayed: int) -> bool:
        answer, agreed = agreement(mechanism, question, rows_with(swayed))
        return answer != wanted or agreed < needed

    swayed = bisect_left(range(problem.n - quarter), True, key=too_few) - 1
    return None if swayed < 0 else (int(question.values[wanted]), rows_with(swayed))


def subsampled(entry: Entry, grid: Grid) -> Iterator[Case]:
    """The whole data's own answer, for data whose subsamples barely agree enough."""
    domain = next(domain for domain, _ in SUBSAMPLED if entry.fits(domain))
    for (problem, epsilon), accounting, beta in product(
        problems(grid, domain, 2_000, 20_000), grid.of("paper", "calibrated"), BETAS
    ):
        mechanism = entry.make(epsilon=epsilon, rows=10, subsamples=1024, accounting=accounting)
        assert isinstance(mechanism, SubsampleAggregate)
        found = barely_agreed(mechanism, problem, beta) if claimed(mechanism, problem) else None
        if found:
            dataset = made(problem, found[1], "barely agreed")
            told: dict[str, Any] = {"betas": (beta,), "meets": ("enough agreement between subsamples",)}
            data = f"subsamples barely agree, {accounting}"
            yield value_case(mechanism, dataset, problem, partial(right, found[0]), grid, data=data, **told)
