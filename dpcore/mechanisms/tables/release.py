"""What is kept of the data, what is released, and the tables read off it."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Dataset, Floats, Integers, Neighbours, ParameterError, Problem, Release, State, check_memory
from dpcore.data.product import Product
from dpcore.mechanisms.tables.contrasts import centred, whole_contrasts
from dpcore.mechanisms.tables.counting import SMALLER, count_contrasts, count_tables
from dpcore.mechanisms.tables.fitting import consistent, on_simplex, unbiased
from dpcore.mechanisms.tables.plan import ResidualPlan, kinds_of
from dpcore.mechanisms.tables.shelves import Stacks, shelves_of
from dpcore.queries.marginals import Marginals, Set

if TYPE_CHECKING:
    import pandas as pd

TAKEN = {"trial", "refused", "rows"}
"""Columns of a table of released counts that are no attributes."""
SUMS_APART = 1e-9
"""Rows, or share of the largest number, by which sums of parts may differ between computers: far more than they do."""
FITS = ("consistent", "simplex", "unbiased")
Tables = dict[Set, Floats]
"""Rows in each cell (*sizes) by set of attributes."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContrastState(State):
    """Contrasts of all sets of at most k attributes, by kind, (sets * rows,) each."""

    contrasts: dict[Set, Integers]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableState(State):
    """Counts of all tables of k attributes, one after the other, (cells,)."""

    counts: Integers


def asked(problem: Problem) -> Marginals:
    """The tables a problem asks for.

    Raises:
        ParameterError: it asks for something else.
    """
    if not isinstance(problem.queries, Marginals):
        raise ParameterError("This mechanism releases tables of several attributes.")
    return problem.queries


def check_lines(problem: Problem) -> None:
    """Raise ParameterError where the printed tables, a line for each cell, would take too much memory."""
    queries = asked(problem)
    fields = queries.count * (len(queries.domain.names) + 3)
    check_memory(fields, what=f"The {queries.count:,} lines of all tables", smaller=SMALLER, each=24)


def table_seconds(problem: Problem) -> float:
    """Return roughly how long tables take to count, and their file to write and check; measured on two cores."""
    queries = asked(problem)
    return 5e-9 * problem.n * queries.tables + 5e-6 * queries.count * (len(queries.domain.names) + 3)


def contrast_state(dataset: Dataset, problem: Problem) -> Generator[float, None, ContrastState]:
    """Count everything once; yields the share done."""
    queries = asked(problem)
    kinds = kinds_of(queries.domain.sizes, queries.ways)
    return ContrastState(problem=problem, contrasts=(yield from count_contrasts(dataset.records, kinds)))


def table_state(dataset: Dataset, problem: Problem) -> Generator[float, None, TableState]:
    """Count all tables once; yields the share done."""
    queries = asked(problem)
    tables = yield from count_tables(dataset.records, queries.domain.sizes, ways=queries.ways)
    return TableState(problem=problem, counts=np.concatenate([table.reshape(-1) for table in tables.values()]))


@dataclass(frozen=True, kw_only=True, eq=False)
class TablesRelease(Release):
    """Whole noisy numbers from which every table of k attributes is read; what is read off them costs nothing more.

    Attributes:
        values: the noisy numbers, (T, numbers).
    """

    published = ("values",)
    values: Integers

    @property
    def domain(self) -> Product:
        """The attributes."""
        return asked(self.problem).domain

    @abstractmethod
    def unbiased(self, table: Set) -> Floats:
        """One table in every trial, in rows, right on average: (T, *sizes)."""

    @abstractmethod
    def tables(self, *, trial: int = 0, fit: str = "consistent") -> Tables:
        """All tables of k attributes of one release, in rows.

        Args:
            trial: which release.
            fit: "unbiased" as measured; "simplex" each moved to the nearest one without negative counts; "consistent"
                without negative counts and agreeing with each other, tables of fewer attributes among them.
        """

    @override
    def frame(self) -> pd.DataFrame:
        """A row for each cell of each table: trial, refused, the cell's label of each attribute, released rows.

        An attribute that a table is not about is empty; the rows are right on average, and may be below 0.
        """
        import pandas as pd

        check_lines(self.problem)
        names = _untaken(self.domain.names)
        parts = []
        for chosen in asked(self.problem).sets():
            rows = self.unbiased(chosen)
            trials, *cells = (each.reshape(-1) for each in np.indices(rows.shape))
            told: dict[str, Any] = {"trial": trials, "refused": self.refused[trials], **dict.fromkeys(names, "")}
            for attribute, places in zip(chosen, cells, strict=True):
                kind = self.domain.columns[attribute]
                labels = np.array([kind.describe(cell) for cell in range(kind.size)], dtype=object)
                told[names[attribute]] = labels[places]
            parts.append(pd.DataFrame(told | {"rows": rows.reshape(-1)}))
        return pd.concat(parts, ignore_index=True).sort_values("trial", kind="stable", ignore_index=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class ContrastsRelease(TablesRelease):
    """Noisy contrasts.

    Attributes:
        plan: what was drawn; public.
    """

    plan: ResidualPlan

    @cached_property
    def _slices(self) -> dict[Set, slice]:
        ends = np.cumsum([0] + [len(part.sets) * part.rows for part in self.plan.parts]).tolist()
        return {part.key: slice(*ends[place : place + 2]) for place, part in enumerate(self.plan.parts)}

    @override
    def unbiased(self, table: Set) -> Floats:
        sizes, shelves = self.domain.sizes, shelves_of(self.plan.kinds)
        total = np.zeros((self.trials, *(sizes[a] for a in table)))
        for order in range(len(table) + 1):
            for inside in combinations(table, order):
                shape = tuple(sizes[a] for a in inside)
                shelf = shelves.shelves[shape]
                if shelf.kind in self._slices:
                    values = self.values[:, self._slices[shelf.kind]]
                    which = int(shelf.places[shelves.place[inside]])
                    rows = values.shape[1] // len(self.plan.kinds.sets[shelf.kind])
                    part = centred(values[:, which * rows : (which + 1) * rows], shape)
                elif inside:
                    raise ParameterError("A part of this table was not released.")
                else:
                    part = np.full(self.trials, float(self.problem.n))
                spread = math.prod(sizes[a] for a in table if a not in inside)
                total += part.reshape(-1, *(sizes[a] if a in inside else 1 for a in table)) / spread
        return total

    @override
    def may_show(self, numbers: Floats) -> bool:
        """Whether all tables are put together from whole contrasts, which those that share attributes have in common.

        The contrasts of a set are those of any table that has it: all other parts of that table add nothing to them.
        """
        sets, sizes = list(asked(self.problem).sets()), self.domain.sizes
        ends = np.cumsum([0] + [math.prod(sizes[a] for a in table) for table in sets]).tolist()
        shelves, parts = shelves_of(self.plan.kinds), {part.key: part for part in self.plan.parts}
        values, known = np.zeros_like(self.values[:1]), set[Set]()
        for place, table in enumerate(sets):
            cells = numbers[ends[place] : ends[place + 1]].reshape([sizes[a] for a in table])
            for inside in (each for order in range(len(table) + 1) for each in combinations(table, order)):
                shape = tuple(sizes[a] for a in inside)
                shelf = shelves.shelves[shape]
                if inside in known or shelf.kind not in parts:
                    continue
                known.add(inside)
                margin = cells.sum(axis=tuple(axis for axis, a in enumerate(table) if a not in inside))
                rows = parts[shelf.kind].rows
                start = self._slices[shelf.kind].start + int(shelf.places[shelves.place[inside]]) * rows
                values[0, start : start + rows] = whole_contrasts(margin, shape)
        again = dataclasses.replace(self, values=values, refused=self.refused[:1])
        shown = np.concatenate([again.unbiased(table).reshape(-1) for table in sets])
        return bool(np.allclose(shown, numbers, rtol=0, atol=SUMS_APART * max(1.0, float(np.abs(numbers).max()))))

    def residuals(self, trial: int) -> Stacks:
        """Centred noisy tables of one release, by shape."""
        values = {key: self.values[trial, where].astype(np.float64) for key, where in self._slices.items()}
        stacks = shelves_of(self.plan.kinds).residuals(values)
        if self.plan.neighbours is Neighbours.REPLACE_ONE:
            stacks[()] = np.array([float(self.problem.n)])
        return stacks

    @override
    def tables(self, *, trial: int = 0, fit: str = "consistent") -> Tables:
        _check(fit)
        residuals = self.residuals(trial)
        found = consistent(self.plan, residuals) if fit == "consistent" else unbiased(self.plan, residuals)
        if fit == "simplex":
            total = max(float(residuals[()][0]), 1.0)
            found = {shape: on_simplex(tables, total=total) for shape, tables in found.items()}
        shelves = shelves_of(self.plan.kinds).shelves
        return {
            chosen: tables[place] for shape, tables in found.items() for place, chosen in enumerate(shelves[shape].sets)
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectRelease(TablesRelease):
    """Noisy counts of the tables themselves, one after the other."""

    def _where(self) -> dict[Set, slice]:
        found, start = {}, 0
        for chosen in asked(self.problem).sets():
            stop = start + math.prod(self.domain.sizes[a] for a in chosen)
            found[chosen], start = slice(start, stop), stop
        return found

    def _shaped(self, flat: NDArray[Any], table: Set) -> Floats:
        return flat.reshape(*flat.shape[:-1], *(self.domain.sizes[a] for a in table)).astype(np.float64)

    @override
    def unbiased(self, table: Set) -> Floats:
        return self._shaped(self.values[:, self._where()[table]], table)

    @override
    def tables(self, *, trial: int = 0, fit: str = "simplex") -> Tables:
        _check(fit)
        if fit == "consistent":
            raise ParameterError("Tables with noise of their own each are not made to agree; use the residual planner.")
        found = {table: self._shaped(self.values[trial, where], table) for table, where in self._where().items()}
        if fit == "unbiased":
            return found
        if self.problem.neighbours is Neighbours.REPLACE_ONE:
            total = float(self.problem.n)
        else:
            total = max(float(np.mean([table.sum() for table in found.values()])), 1.0)
        return {chosen: on_simplex(table[None], total=total)[0] for chosen, table in found.items()}


def _untaken(names: tuple[str, ...]) -> list[str]:
    """The attributes' names, each still another's than all others and than the columns of numbers."""
    told = list(names)
    for place, name in enumerate(names):
        while told[place] in TAKEN or (told[place] != name and told[place] in names):
            told[place] = f"column {told[place]}"
    return told


def _check(fit: str) -> None:
    if fit not in FITS:
        raise ParameterError(f"The fit must be one of {', '.join(FITS)}.")
