"""State and releases of the tables mechanisms, and the tables that follow from them."""

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
from dpcore.core.basics import SUM_TOLERANCE
from dpcore.data.product import Product
from dpcore.mechanisms.tables.contrasts import centred, whole_contrasts
from dpcore.mechanisms.tables.counting import SMALLER, count_contrasts, count_tables
from dpcore.mechanisms.tables.fitting import consistent, on_simplex, unbiased
from dpcore.mechanisms.tables.plan import ResidualPlan, clique_types_of
from dpcore.mechanisms.tables.shape_groups import Stacks, shape_groups_of
from dpcore.queries.marginals import Marginals, Set

if TYPE_CHECKING:
    import pandas as pd

RESERVED_NAMES = {"trial", "refused", "rows"}
"""Columns of a frame of released counts that are no attributes."""
FITS = ("consistent", "simplex", "unbiased")
Tables = dict[Set, Floats]
"""Rows in each cell (*sizes) by set of attributes."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContrastState(State):
    """Contrasts of all sets of at most k attributes, by type, (sets * rows,) each."""

    contrasts: dict[Set, Integers]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableState(State):
    """Counts of all tables of k attributes, one after the other, (cells,)."""

    counts: Integers


def marginals_of(problem: Problem) -> Marginals:
    """Return the query class of a problem, which must be marginals.

    Raises:
        ParameterError: it is another class.
    """
    if not isinstance(problem.queries, Marginals):
        raise ParameterError("This mechanism releases tables of several attributes.")
    return problem.queries


def check_lines(problem: Problem) -> None:
    """Raise ParameterError where the printed tables, a line for each cell, would take too much memory."""
    queries = marginals_of(problem)
    fields = queries.count * (len(queries.domain.names) + 3)
    check_memory(fields, what=f"The {queries.count:,} lines of all tables", smaller=SMALLER, each=24)


def table_seconds(problem: Problem) -> float:
    """Return roughly how long tables take to count, and their file to write and check; measured on two cores."""
    queries = marginals_of(problem)
    return 5e-9 * problem.n * queries.tables + 5e-6 * queries.count * (len(queries.domain.names) + 3)


def contrast_state(dataset: Dataset, problem: Problem) -> Generator[float, None, ContrastState]:
    """Count all contrasts once; yields the share done."""
    queries = marginals_of(problem)
    cliques = clique_types_of(queries.domain.sizes, queries.ways)
    return ContrastState(problem=problem, contrasts=(yield from count_contrasts(dataset.records, cliques)))


def table_state(dataset: Dataset, problem: Problem) -> Generator[float, None, TableState]:
    """Count all tables once; yields the share done."""
    queries = marginals_of(problem)
    tables = yield from count_tables(dataset.records, queries.domain.sizes, ways=queries.ways)
    return TableState(problem=problem, counts=np.concatenate([table.reshape(-1) for table in tables.values()]))


@dataclass(frozen=True, kw_only=True, eq=False)
class TablesRelease(Release):
    """Whole noisy numbers from which every table of k attributes follows: post-processing, at no further cost.

    Attributes:
        values: the noisy numbers, (T, numbers).
    """

    published = ("values",)
    values: Integers

    @property
    def domain(self) -> Product:
        """Domain of the tables' attributes."""
        return marginals_of(self.problem).domain

    @abstractmethod
    def unbiased(self, table: Set) -> Floats:
        """Return one table in every trial, in rows, unbiased: (T, *sizes)."""

    @abstractmethod
    def tables(self, *, trial: int = 0, fit: str = "consistent") -> Tables:
        """Return all tables of k attributes of one release, in rows.

        Args:
            trial: which release.
            fit: "unbiased" as measured; "simplex" each moved to the nearest one without negative counts; "consistent"
                without negative counts and agreeing with each other, tables of fewer attributes among them.
        """

    @override
    def frame(self) -> pd.DataFrame:
        """Return a row for each cell of each table: trial, refused, the cell's label of each attribute, released rows.

        An attribute that a table is not about is empty; the rows are right on average, and may be below 0.
        """
        import pandas as pd

        check_lines(self.problem)
        names = _unused_names(self.domain.names)
        parts = []
        for chosen in marginals_of(self.problem).sets():
            rows = self.unbiased(chosen)
            trials, *cells = (each.reshape(-1) for each in np.indices(rows.shape))
            columns: dict[str, Any] = {"trial": trials, "refused": self.refused[trials], **dict.fromkeys(names, "")}
            for attribute, places in zip(chosen, cells, strict=True):
                kind = self.domain.columns[attribute]
                labels = np.array([kind.describe(cell) for cell in range(kind.size)], dtype=object)
                columns[names[attribute]] = labels[places]
            parts.append(pd.DataFrame(columns | {"rows": rows.reshape(-1)}))
        return pd.concat(parts, ignore_index=True).sort_values("trial", kind="stable", ignore_index=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class ContrastsRelease(TablesRelease):
    """Noisy contrasts of all sets of attributes that the plan names.

    Attributes:
        plan: the noise of each part; public.
    """

    plan: ResidualPlan

    @cached_property
    def _slices(self) -> dict[Set, slice]:
        ends = np.cumsum([0] + [len(part.sets) * part.rows for part in self.plan.parts]).tolist()
        return {part.key: slice(*ends[place : place + 2]) for place, part in enumerate(self.plan.parts)}

    @override
    def unbiased(self, table: Set) -> Floats:
        if len(table) > self.plan.cliques.ways:
            raise ParameterError("A table of so many columns was not released.")
        sizes, groups = self.domain.sizes, shape_groups_of(self.plan.cliques)
        total = np.zeros((self.trials, *(sizes[a] for a in table)))
        for order in range(len(table) + 1):
            for inside in combinations(table, order):
                shape = tuple(sizes[a] for a in inside)
                group = groups.groups[shape]
                if group.kind in self._slices:
                    values = self.values[:, self._slices[group.kind]]
                    which = int(group.places[groups.place[inside]])
                    rows = values.shape[1] // len(self.plan.cliques.sets[group.kind])
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
        """Return whether all tables are sums of whole contrasts, in common to those that share attributes.

        The contrasts of a set are those of any table that has it: all other parts of that table add nothing to them.
        """
        sets, sizes = list(marginals_of(self.problem).sets()), self.domain.sizes
        ends = np.cumsum([0] + [math.prod(sizes[a] for a in table) for table in sets]).tolist()
        groups, parts = shape_groups_of(self.plan.cliques), {part.key: part for part in self.plan.parts}
        values, known = np.zeros_like(self.values[:1]), set[Set]()
        for place, table in enumerate(sets):
            cells = numbers[ends[place] : ends[place + 1]].reshape([sizes[a] for a in table])
            for inside in (each for order in range(len(table) + 1) for each in combinations(table, order)):
                shape = tuple(sizes[a] for a in inside)
                group = groups.groups[shape]
                if inside in known or group.kind not in parts:
                    continue
                known.add(inside)
                margin = cells.sum(axis=tuple(axis for axis, a in enumerate(table) if a not in inside))
                rows = parts[group.kind].rows
                start = self._slices[group.kind].start + int(group.places[groups.place[inside]]) * rows
                values[0, start : start + rows] = whole_contrasts(margin, shape)
        again = dataclasses.replace(self, values=values, refused=self.refused[:1])
        shown = np.concatenate([again.unbiased(table).reshape(-1) for table in sets])
        return bool(np.allclose(shown, numbers, rtol=0, atol=SUM_TOLERANCE * max(1.0, float(np.abs(numbers).max()))))

    def residuals(self, trial: int) -> Stacks:
        """Return the centred noisy tables of one release, by shape."""
        values = {key: self.values[trial, where].astype(np.float64) for key, where in self._slices.items()}
        stacks = shape_groups_of(self.plan.cliques).residuals(values)
        if self.plan.neighbours is Neighbours.REPLACE_ONE:
            stacks[()] = np.array([float(self.problem.n)])
        return stacks

    @override
    def tables(self, *, trial: int = 0, fit: str = "consistent") -> Tables:
        _check(fit)
        residuals = self.residuals(trial)
        fitted = consistent(self.plan, residuals) if fit == "consistent" else unbiased(self.plan, residuals)
        if fit == "simplex":
            total = max(float(residuals[()][0]), 1.0)
            fitted = {shape: on_simplex(tables, total=total) for shape, tables in fitted.items()}
        groups = shape_groups_of(self.plan.cliques).groups
        return {
            chosen: tables[place] for shape, tables in fitted.items() for place, chosen in enumerate(groups[shape].sets)
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectRelease(TablesRelease):
    """Noisy counts of the tables themselves, one after the other."""

    def _slices(self) -> dict[Set, slice]:
        slices, start = {}, 0
        for chosen in marginals_of(self.problem).sets():
            stop = start + math.prod(self.domain.sizes[a] for a in chosen)
            slices[chosen], start = slice(start, stop), stop
        return slices

    def _shaped(self, flat: NDArray[Any], table: Set) -> Floats:
        return flat.reshape(*flat.shape[:-1], *(self.domain.sizes[a] for a in table)).astype(np.float64)

    @override
    def unbiased(self, table: Set) -> Floats:
        return self._shaped(self.values[:, self._slices()[table]], table)

    @override
    def tables(self, *, trial: int = 0, fit: str = "simplex") -> Tables:
        _check(fit)
        if fit == "consistent":
            raise ParameterError("Tables with separate noise do not agree with each other. Use the residual planner.")
        tables = {table: self._shaped(self.values[trial, where], table) for table, where in self._slices().items()}
        if fit == "unbiased":
            return tables
        if self.problem.neighbours is Neighbours.REPLACE_ONE:
            total = float(self.problem.n)
        else:
            total = max(float(np.mean([table.sum() for table in tables.values()])), 1.0)
        return {chosen: on_simplex(table[None], total=total)[0] for chosen, table in tables.items()}


def _unused_names(names: tuple[str, ...]) -> list[str]:
    """Return the attributes' names, changed where they would clash with each other or with the columns of numbers."""
    unused = list(names)
    for place, name in enumerate(names):
        while unused[place] in RESERVED_NAMES or (unused[place] != name and unused[place] in names):
            unused[place] = f"column {unused[place]}"
    return unused


def _check(fit: str) -> None:
    if fit not in FITS:
        raise ParameterError(f"The fit must be one of {', '.join(FITS)}.")
