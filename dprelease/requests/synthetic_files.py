"""What the files of synthetic rows say, read again: counts of the rows in tables, and the measured tables.

A row is counted in the cells that its values lie in, which are the cells that it was made of: see ``can_count``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpcore.core import Floats, Integers, checkpoint
from dpcore.core.safe_csv import escape_formula
from dpcore.data.columns import Labels, Number, is_labels
from dpcore.data.dates import is_ages, is_dates, period_of, written
from dpcore.data.product import Product
from dpcore.mechanisms.tables.rows_release import ChosenPairsRelease, RowsRelease, cell_labels, count_cells, table_name
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals, Set
from dprelease.requests.parts import RequestPart

DAYS = 365
"""Days of birth that synthetic rows have of one age; see ``Ages.born``."""
FIRST_YEAR = 123
"""Year since which all ages have a date of birth; see ``Ages.born``."""
Rows = Sequence[Sequence[str]]


def blank_release(question: RequestPart) -> RowsRelease:
    """Return a release by the plan of a request, with 0 for each number: for what the request alone says, as noise."""
    assert isinstance(question.mechanism, WholeTable)
    problem = question.problem
    plan, choice = question.mechanism.plan(problem), question.mechanism.choice(problem)
    shared: dict[str, Any] = {
        "problem": problem, "guarantee": question.mechanism.guarantee(problem), "sampler": "", "plan": plan,
        "refused": np.zeros(1, dtype=np.bool_),
    }  # fmt: skip
    if choice is None:
        return RowsRelease(**shared, values=np.zeros((1, plan.numbers), dtype=np.int64))
    numbers = plan.numbers + len(choice.pairs) + int(choice.rows.sum())
    return ChosenPairsRelease(**shared, choice=choice, values=np.zeros((1, numbers), dtype=np.int64))


def possible_tables(release: RowsRelease) -> list[Set]:
    """Return the tables that the release may have measured, in the order of its files."""
    sets = list(Marginals(domain=release.domain, ways=release.plan.cliques.ways).sets())
    return [*sets, *release.choice.pairs] if isinstance(release, ChosenPairsRelease) else sets


def read_measured(release: RowsRelease, lines: Rows) -> dict[Set, Floats] | None:
    """Return the tables of a file of measured tables; None where its lines are not those of possible tables.

    Args:
        release: a release of the same request, of any data.
        lines: those of the file without its header; the last text of each is a number.
    """
    tables, place = dict[Set, Floats](), 0
    for chosen in possible_tables(release):
        shape = tuple(release.domain.sizes[attribute] for attribute in chosen)
        size, named = math.prod(shape), cell_labels(release.domain, chosen, most=release.max_measured)
        part = lines[place : place + size]
        texts = zip(*([escape_formula(text) for text in column] for column in named.values()), strict=True)
        if [tuple(line[:-1]) for line in part] == list(texts):
            tables[chosen] = np.array([float(line[-1]) for line in part]).reshape(shape)
            place += size
        elif len(chosen) <= release.plan.cliques.ways:  # only of chosen pairs may there be none
            return None
    return tables if place == len(lines) else None


def tables_of_distances(release: RowsRelease, lines: Rows) -> list[Set]:
    """Return the tables of which a file of distances has numbers, where there is no file of measured tables."""
    sets, place = list[Set](), 0
    for chosen in possible_tables(release):
        name = escape_formula(table_name(release.domain, chosen))
        if place < len(lines) and lines[place][0] == name and lines[place][1]:
            sets.append(chosen)
            place += 1
    return sets


def can_count(domain: Product) -> bool:
    """Return whether each value of a synthetic row lies in the cell that it was made of.

    Not where the cells of a number are too narrow for its digits, nor for ages at the beginning of the calendar.
    """
    return all(
        is_labels(kind) or (kind.separated and not (is_ages(kind) and int(kind.day[:4]) < FIRST_YEAR))
        for kind in domain.columns
    )


def count_rows(domain: Product, blocks: Iterable[Rows], sets: Sequence[Set]) -> dict[Set, Integers]:
    """Return the number of synthetic rows in each cell of these tables, (*sizes) each.

    Args:
        domain: of the rows.
        blocks: the texts of the rows, without the header; each is possible in its column.
        sets: the columns of each table.
    """
    readers = [_reader(kind) for kind in domain.columns]
    shapes = {chosen: tuple(domain.sizes[attribute] for attribute in chosen) for chosen in sets}
    counts: dict[Set, Integers] = {chosen: np.zeros(shape, dtype=np.int64) for chosen, shape in shapes.items()}
    for block in filter(None, blocks):
        checkpoint()
        cells = [reader(texts) for reader, texts in zip(readers, zip(*block, strict=True), strict=True)]
        rows = np.stack(cells, axis=1)
        for chosen, shape in shapes.items():
            counts[chosen] += count_cells(rows, chosen, shape)
    return counts


def _reader(kind: Number | Labels) -> Callable[[Sequence[str]], Integers]:
    """Return the function from the texts of a column to its cells."""
    codes = column_codes(kind)
    if codes is None:
        return lambda texts: kind.encode(np.array([float(text or "nan") for text in texts]))
    return lambda texts: np.array([codes.get(text, kind.ordered) for text in texts], dtype=np.int64)


def column_codes(kind: Number | Labels) -> dict[str, int] | None:
    """Return the cell of each text that a column of synthetic rows may hold; None for numbers, which are too many."""
    if is_labels(kind):
        return {escape_formula(label): code for code, label in enumerate(kind.cell_names)}
    if is_dates(kind):
        units = range(period_of(kind.first, kind.step), period_of(kind.last, kind.step) + 1)
        cells = kind.encode(np.array(units) + 0.5).tolist()
        return {written(unit, kind.step): cell for unit, cell in zip(units, cells, strict=True)}
    if is_ages(kind):
        ages = np.arange(math.ceil(kind.low), math.ceil(kind.high))
        born = kind.born(np.repeat(ages, DAYS), np.tile((np.arange(DAYS) + 0.5) / DAYS, len(ages)))
        return dict(zip(born, np.repeat(kind.encode(ages), DAYS).tolist(), strict=True))
    return None
