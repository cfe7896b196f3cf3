"""Counts and previews behind the second view of the Tables page: counted once, drawn anew for every setting."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from dpcore.core import Dataset, Integers, Problem, finish
from dpcore.data.attributes import Attributes, Set
from dpcore.experiments.tables import TablePreviews, table_previews, true_tables
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.mechanisms.tables.preview import fit_for
from dpcore.mechanisms.tables.release import ContrastState, TableState
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from pages.shell.session import remembered, with_progress
from pages.tables.controls import METHODS, Asked

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

    asked: Asked
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
    def domain(self) -> Attributes:
        """The attributes."""
        return self.asked.domain

    def named(self, key: str) -> str:
        """A method and what is done to its tables."""
        return f"{METHODS[key]}, {fit_for(self.methods[key].release, self.asked.fit)}"


def computed(asked: Asked) -> Shown:
    """Counts, once for every epsilon; then previews of each method."""
    key = asked.source.key
    dataset: Dataset = remembered(f"dataset|{key}", asked.source.dataset)
    problem = asked.problem(dataset.n)
    methods = asked.methods
    direct, planner = DirectTables(), ResidualPlanner()
    counts: TableState = with_progress(
        f"tables|{key}|{asked.ways}", lambda: direct.counting(dataset, problem), label="Counting tables."
    )
    contrasts: ContrastState = with_progress(
        f"contrasts|{key}|{asked.ways}", lambda: planner.counting(dataset, problem), label="Counting contrasts."
    )

    def previews() -> Generator[float, None, dict[str, TablePreviews]]:
        return table_previews(methods, counts, contrasts, problem=problem, fit=asked.fit, seed=asked.seed)

    memory = f"previews|{key}|{asked.ways}|{list(methods.values())!r}|{asked.fit}|{asked.neighbours}|{asked.seed}"
    if asked.ways < SLOW_WAYS:
        found = remembered(memory, lambda: finish(previews()))
    else:
        found = with_progress(memory, previews, label="Fitting tables.")
    truth = true_tables(counts)
    return Shown(asked=asked, problem=problem, dataset=dataset, truth=truth, methods=found, memory=memory)
