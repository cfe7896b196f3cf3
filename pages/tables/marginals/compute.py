"""Counts and previews behind the second view of the Tables page: counted once, drawn anew for every setting."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from dpcore.core import Dataset, Integers, Problem, finish
from dpcore.data.product import Product
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.mechanisms.tables.preview import fit_for
from dpcore.mechanisms.tables.release import ContrastState, TableState
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.queries.marginals import Set
from dplab.tables import TablePreviews, table_previews, true_tables
from pages.shell.session import remembered, with_progress
from pages.tables.marginals.controls import METHODS, TablesAsked

SLOW_WAYS = 3
"""From so many attributes on, fitting takes long enough for a progress bar."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shown:
    """What the pictures are made of.

    Attributes:
        asked: the controls.
        problem: the public problem.
        dataset: the bundled rows.
        truth: true rows in each cell of each table.
        methods: previews by method, the chosen one first.
        memory: names everything that the previews depend on.
    """

    asked: TablesAsked
    problem: Problem
    dataset: Dataset
    truth: dict[Set, Integers]
    methods: dict[str, TablePreviews]
    memory: str

    @property
    def chosen(self) -> TablePreviews:
        """The method that is asked for."""
        return self.methods[self.asked.entry.key]

    @property
    def domain(self) -> Product:
        """The attributes."""
        return self.asked.queries.domain

    def named(self, key: str) -> str:
        """A method and what is done to its tables."""
        return f"{METHODS[key]}, {fit_for(self.methods[key].release, self.asked.fit)}"


def computed(asked: TablesAsked) -> Shown:
    """Counts, once for every epsilon; then previews of each method."""
    key, ways, dataset = asked.source.key, asked.queries.ways, asked.dataset()
    problem, methods = asked.problem(dataset.n), asked.methods
    direct, planner = DirectTables(), ResidualPlanner()
    counts: TableState = with_progress(
        f"tables|{key}|{ways}", lambda: direct.counting(dataset, problem), label="Counting tables."
    )
    contrasts: ContrastState = with_progress(
        f"contrasts|{key}|{ways}", lambda: planner.counting(dataset, problem), label="Counting contrasts."
    )

    def previews() -> Generator[float, None, dict[str, TablePreviews]]:
        return table_previews(methods, counts, contrasts, problem=problem, fit=asked.fit, seed=asked.seed)

    memory = f"previews|{key}|{ways}|{list(methods.values())!r}|{asked.fit}|{asked.neighbours}|{problem.n}|{asked.seed}"
    if ways < SLOW_WAYS:
        found = remembered(memory, lambda: finish(previews()))
    else:
        found = with_progress(memory, previews, label="Fitting tables.")
    truth = true_tables(counts)
    return Shown(asked=asked, problem=problem, dataset=dataset, truth=truth, methods=found, memory=memory)
