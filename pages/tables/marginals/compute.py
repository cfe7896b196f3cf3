"""The results for all tables of k attributes: counts, computed once, and previews by each method."""

from __future__ import annotations

from collections.abc import Generator

from dpcore.core import finish
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.mechanisms.tables.release import ContrastState, TableState
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dplab.tables import TablePreviews, fit_for, table_previews, true_tables
from pages.shell.tasks.memory import remember, with_progress
from pages.tables.marginals.controls import METHODS, MarginalsRequest

SLOW_WAYS = 3
"""From so many attributes on, fitting takes long enough for a progress bar."""


class TableResult:
    """Counts of all tables, which no ε changes, and previews of each method.

    Attributes:
        request: the settings.
        dataset: the rows.
        problem: the public problem.
        domain: the attributes.
        truth: true rows in each cell of each table.
        key: everything that the previews depend on.
        methods: previews by method, the selected one first.
        selected: the previews of the selected method.
    """

    def __init__(self, request: MarginalsRequest) -> None:
        """Count the tables and preview the releases."""
        self.request, self.dataset, self.domain = request, request.dataset(), request.queries.domain
        self.problem, methods = request.problem(self.dataset.n), request.methods
        about, direct, planner = f"{request.source.key}|{request.queries.ways}", DirectTables(), ResidualPlanner()
        counts: TableState = with_progress(
            f"tables|{about}", lambda: direct.counting(self.dataset, self.problem), label="Counting tables."
        )
        contrasts: ContrastState = with_progress(
            f"contrasts|{about}", lambda: planner.counting(self.dataset, self.problem), label="Counting contrasts."
        )
        self.truth = true_tables(counts)

        def work() -> Generator[float, None, dict[str, TablePreviews]]:
            return table_previews(methods, counts, contrasts, problem=self.problem, fit=request.fit, seed=request.seed)

        settings = f"{request.fit}|{request.neighbours}|{self.problem.n}|{request.seed}"
        self.key = f"previews|{about}|{list(methods.values())!r}|{settings}"
        if request.queries.ways < SLOW_WAYS:
            self.methods = remember(self.key, lambda: finish(work()))
        else:
            self.methods = with_progress(self.key, work, label="Fitting tables.")
        self.selected = self.methods[request.entry.key]

    def title(self, key: str) -> str:
        """Return the name of a method and of the fit of its tables."""
        return f"{METHODS[key]}, {fit_for(self.methods[key].release, self.request.fit)}"
