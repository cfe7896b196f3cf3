"""Rows that are made from released tables, how far they are from these, and what is known of the true tables.

Notation: k columns to a table; n rows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Container, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from dpcore.core import Floats, Integers, Problem, check_memory, finish
from dpcore.data.product import Product
from dpcore.mechanisms.tables.chosen_pairs import ChosenPairs, lengths
from dpcore.mechanisms.tables.fitting import fitted_pair
from dpcore.mechanisms.tables.release import ContrastsRelease, Tables, marginals_of
from dpcore.mechanisms.tables.tree import Tree, fit_rows, synthetic_rows, widest_tree
from dpcore.queries.marginals import Marginals, Set

if TYPE_CHECKING:
    import pandas as pd

SYNTHETIC_ROWS = "rows_of_nobody"
"""Name of the file of synthetic rows."""
DISTANCES = "distances"
"""Name of the file of distances between the rows and the released tables."""
MEASURED = "measured_tables"
"""Name of the file of the measured tables."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsRelease(ContrastsRelease):
    """Noisy contrasts, and the synthetic rows made from them."""

    def rows(self, *, trial: int = 0) -> Integers:
        """Return the cells of the synthetic rows, (rows, d): the same each time; see ``make_rows``."""
        return finish(self.make_rows(trial=trial))

    def make_rows(self, *, trial: int = 0) -> Generator[float, None, Integers]:
        """Make the cells of the synthetic rows, (rows, d); yields the share done.

        They are as many as the released total says, and at most n, which is nominal where rows are added or removed.
        """
        check_rows(self.problem)
        yield 0.0
        tables, attributes = self.tables(trial=trial), len(self.domain.names)
        ways, n = max(map(len, tables)), min(max(round(float(self.residuals(trial)[()][0])), 1), self.problem.n)
        if ways == 1:
            tree = Tree(steps=tuple((attribute, ()) for attribute in range(attributes)))
        else:
            tree = widest_tree(tables, attributes=attributes, ways=ways)
        rows = synthetic_rows(tables, tree, rows=n, seed=self._seed(trial))
        targets = {each: tables[each] for each in self.fitted_sets(trial)}
        return (yield from fit_rows(rows, targets, seed=self._seed(trial)))

    def fitted_sets(self, trial: int) -> list[Set]:
        """Return the tables towards which rows are moved: those measured, as rows have single columns anyway."""
        ways = self.plan.cliques.ways
        return list(Marginals(domain=self.domain, ways=ways).sets()) if ways > 1 else []

    @property
    def max_measured(self) -> int:
        """Largest number of columns of a measured table: public."""
        return self.plan.cliques.ways

    def measured(self, *, trial: int = 0) -> Tables:
        """Return the measured tables of one release, unbiased, in rows: those of k columns."""
        one, domain = self.part(trial, trial + 1), self.domain
        return {
            chosen: one.unbiased(chosen)[0] for chosen in Marginals(domain=domain, ways=self.plan.cliques.ways).sets()
        }

    def off_by(self, table: Set, rows: Sequence[Integers] | Integers, *, beta: float) -> Floats:
        """Return the rows by which no cell of a table of the synthetic rows is wrong, (T,), except with chance beta.

        The bound is for all measured tables at once, and follows from what was released: how far the rows are from the
        unbiased table, and how far that may be from the true one, by noise. A table of fewer columns than those is not
        in that union. Infinity for a table that was not measured.

        Args:
            table: the columns.
            rows: of each release, T times (rows, d).
            beta: failure probability.
        """
        if len(table) > self.plan.cliques.ways:
            return np.full(self.trials, math.inf)
        tables = self.unbiased(table)
        distances: Floats = np.array([largest_difference(*each, table) for each in zip(rows, tables, strict=True)])
        return distances + self.noise_within(table, beta=beta)

    def noise_within(self, table: Set, *, beta: float, measured: Iterable[Set] = ()) -> float:
        """Return the rows by which noise moves no cell of a measured table, except with chance beta: a union bound.

        Args:
            table: the columns.
            beta: failure probability, for all measured tables at once.
            measured: all measured tables, where a release chooses them.
        """
        cells = Marginals(domain=self.domain, ways=self.plan.cliques.ways).count
        return self.plan.cell_sigma(table) * math.sqrt(2 * math.log(2 * cells / beta))

    def cell_deviation(self, table: Set, *, measured: Iterable[Set] = ()) -> float:
        """Return the standard deviation of a cell of a measured table, in rows; ``measured`` as in ``noise_within``."""
        return self.plan.cell_sigma(table)

    def distances(self, rows: Integers, *, beta: float) -> pd.DataFrame:
        """Return how far the rows are from what was released, a line for each measured table; post-processing.

        Args:
            rows: those of the first release, (rows, d).
            beta: failure probability of the last column, for all tables at once.

        Returns:
            Columns ``table`` (names joined by ×), ``apart`` (rows by which the worst cell of the rows' table differs
            from the released table, before that was made consistent) and ``within`` (rows by which it is off the true
            one, except with chance beta: ``apart`` and what noise may add). A pair that was not measured has a line
            without these numbers where single columns were: no bound is known for it.
        """
        import pandas as pd

        measured = self.measured()
        apart = {chosen: largest_difference(rows, table, chosen) for chosen, table in measured.items()}
        unknown = self.unmeasured_pairs(measured)
        names = [table_name(self.domain, chosen) for chosen in (*apart, *unknown)]
        within = [
            np.ceil(away + self.noise_within(chosen, beta=beta, measured=measured)) for chosen, away in apart.items()
        ]
        columns = {"table": names, "apart": np.round([*apart.values(), *[np.nan] * len(unknown)], 3)}
        return pd.DataFrame(columns | {"within": [*within, *[np.nan] * len(unknown)]})

    def unmeasured_pairs(self, measured: Container[Set]) -> list[Set]:
        """Return the pairs of columns of which nothing was measured; none where tables of pairs or more were."""
        if self.plan.cliques.ways > 1:
            return []
        return [pair for pair in Marginals(domain=self.domain, ways=2).sets() if pair not in measured]

    def measured_frame(self) -> pd.DataFrame:
        """Return the measured tables of the first release: a line for each cell of each table.

        Returns:
            Columns ``table`` (names joined by ×), ``value 1``, … (a cell's label in each of the table's columns, empty
            beyond them) and ``rows`` (released, with noise: right on average, and perhaps below 0).
        """
        import pandas as pd

        parts = [
            pd.DataFrame(cell_labels(self.domain, chosen, most=self.max_measured) | {"rows": table.reshape(-1)})
            for chosen, table in self.measured().items()
        ]
        return pd.concat(parts, ignore_index=True)

    def table(self, *, trial: int = 0, rows: Integers | None = None) -> pd.DataFrame:
        """Return the rows with the table's own column names, types and labels; ``rows`` saves making them again."""
        from dpcore.data.frames import frame_of

        cells = self.rows(trial=trial) if rows is None else rows
        return frame_of(self.domain, cells, seed=self._seed(trial))

    @override
    def frame(self) -> pd.DataFrame:
        """The rows of every release, after the number of the trial."""
        import pandas as pd

        tables = [self.table(trial=trial) for trial in range(self.trials)]
        numbers = np.repeat(np.arange(self.trials), [len(each) for each in tables])
        together = pd.concat(tables, ignore_index=True)
        together.insert(0, "trial", numbers, allow_duplicates=True)
        return together

    def _seed(self, trial: int) -> int:
        """Return the seed for post-processing, a function of the released numbers alone."""
        return int.from_bytes(hashlib.sha256(self.values[trial].tobytes()).digest()[:8], "big") >> 1


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenPairsRelease(RowsRelease):
    """Noisy contrasts of single columns, noisy scores of all pairs, the tables of the chosen ones, and rows.

    Attributes:
        choice: how many pairs are chosen and the noise of all draws; public.
    """

    choice: ChosenPairs

    @override
    def tables(self, *, trial: int = 0, fit: str = "consistent") -> Tables:
        """Also of pairs where they are to be consistent: fitted to what was measured, else products of columns."""
        tables = super().tables(trial=trial, fit=fit)
        if fit != "consistent":
            return tables
        measured = self._measured(trial)
        for pair in self.choice.pairs:
            one, other = (tables[(attribute,)] for attribute in pair)
            tables[pair] = np.outer(one, other) / one.sum()
            if pair in measured:
                table, variance = measured[pair]
                tables[pair] = fitted_pair(table, one, other, variance=variance)
        return tables

    def _measured(self, trial: int) -> dict[Set, tuple[Floats, float]]:
        return self.choice.measured(self.values[trial, self.plan.numbers :])

    def chosen(self, *, trial: int = 0) -> list[Set]:
        """Return the pairs that were chosen and measured in one release."""
        return list(self._measured(trial))

    @override
    def fitted_sets(self, trial: int) -> list[Set]:
        """Also pairs that no chosen pairs link: these columns are taken to be independent, and drawn rows hardly are.

        Pairs that others link depend on each other as these say, and are left to them.
        """
        chosen = set(self.chosen(trial=trial))
        parts = linked_parts(chosen, columns=len(self.domain.names))
        return [pair for pair in self.choice.pairs if pair in chosen or parts[pair[0]] != parts[pair[1]]]

    @override
    @property
    def max_measured(self) -> int:
        return 2

    @override
    def measured(self, *, trial: int = 0) -> Tables:
        """Single columns, then the chosen pairs: what columns say, and the contrasts beyond them."""
        tables = super().measured(trial=trial)
        for pair, (beyond, _) in self._measured(trial).items():
            (one, other), (rows, columns) = (tables[(attribute,)] for attribute in pair), beyond.shape
            product = one[:, None] / columns + other[None, :] / rows - one.sum() / (rows * columns)
            tables[pair] = product + beyond
        return tables

    @override
    def off_by(self, table: Set, rows: Sequence[Integers] | Integers, *, beta: float) -> Floats:
        """Also of a pair, where it was chosen."""
        if len(table) != 2:
            return super().off_by(table, rows, beta=beta)
        bounds = np.full(self.trials, math.inf)
        for trial, each in enumerate(rows):
            measured = self.measured(trial=trial)
            if table in measured:
                noise = self.noise_within(table, beta=beta, measured=measured)
                bounds[trial] = largest_difference(each, measured[table], table) + noise
        return bounds

    @override
    def noise_within(self, table: Set, *, beta: float, measured: Iterable[Set] = ()) -> float:
        """For all single columns and all chosen pairs at once, although noise decides which pairs are chosen.

        Half of beta is for what the noise of single columns does to these and to all pairs, chosen or not: the choice
        knows this noise. The other half is for the contrasts of the chosen pairs, whose noise is drawn after the
        choice, so that given the choice it is what it is without one.
        """
        columns = sum(Marginals(domain=self.domain, ways=ways).count for ways in (1, 2))
        within = self.plan.cell_sigma(table) * math.sqrt(2 * math.log(4 * columns / beta))
        if len(table) < 2:
            return within
        pairs = [pair for pair in measured if len(pair) == 2]
        cells = sum(math.prod(self._shape(pair)) for pair in pairs)
        return within + math.sqrt(self._beyond(table, many=len(pairs)) * 2 * math.log(4 * cells / beta))

    @override
    def cell_deviation(self, table: Set, *, measured: Iterable[Set] = ()) -> float:
        sigma = self.plan.cell_sigma(table)
        many = sum(len(each) == 2 for each in measured)
        return math.sqrt(sigma**2 + self._beyond(table, many=many)) if len(table) == 2 else sigma

    def _beyond(self, pair: Set, *, many: int) -> float:
        """Return the variance of a cell of what a chosen pair says beyond its columns, if so many are chosen."""
        return self.choice.variances(many)[pair] * lengths(self._shape(pair))

    def _shape(self, table: Set) -> tuple[int, ...]:
        return tuple(self.domain.sizes[attribute] for attribute in table)


def linked_parts(pairs: Iterable[Set], *, columns: int) -> list[int]:
    """Return a number for each column, the same for two columns where pairs link them, perhaps through others."""
    parts = list(range(columns))
    for one, other in pairs:
        parts = [parts[one] if part == parts[other] else part for part in parts]
    return parts


def largest_difference(rows: Integers, table: Floats, chosen: Set) -> float:
    """Return the largest difference over the cells of a table between rows (rows, d) and given numbers of rows."""
    return float(np.abs(count_cells(rows, chosen, table.shape) - table).max())


def count_cells(rows: Integers, chosen: Set, sizes: tuple[int, ...]) -> Integers:
    """Return the number of rows (rows, d) in each cell of a table of some columns, (*sizes)."""
    codes = np.ravel_multi_index(tuple(rows[:, attribute] for attribute in chosen), sizes)
    counts: Integers = np.bincount(codes, minlength=math.prod(sizes)).reshape(sizes)
    return counts


def table_name(domain: Product, chosen: Set) -> str:
    """Return the names of a table's columns, joined by ×."""
    return " × ".join(domain.names[attribute] for attribute in chosen)


def cell_labels(domain: Product, chosen: Set, *, most: int) -> dict[str, Any]:
    """Return the first columns of a file of tables: the name of one, and the label of each cell in each column.

    Args:
        domain: all columns.
        chosen: those of the table.
        most: columns of the largest table of the file.
    """
    shape = tuple(domain.sizes[attribute] for attribute in chosen)
    places = np.indices(shape).reshape(len(shape), -1)
    columns: dict[str, Any] = {"table": np.full(math.prod(shape), table_name(domain, chosen), dtype=object)}
    for place in range(most):
        labels = np.array([""], dtype=object)
        if place < len(chosen):
            kind = domain.columns[chosen[place]]
            labels = np.array([kind.describe(cell) for cell in range(kind.size)], dtype=object)
        columns[f"value {place + 1}"] = labels[places[place] if place < len(chosen) else np.zeros(places.shape[1], int)]
    return columns


def check_rows(problem: Problem) -> None:
    """Raise ParameterError where n synthetic rows would take too much memory."""
    columns = len(marginals_of(problem).domain.names)
    what, smaller = f"The {problem.n:,} synthetic rows", "take a smaller n or fewer columns"
    check_memory(problem.n * columns, what=what, smaller=smaller, each=64)
