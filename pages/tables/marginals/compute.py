"""The results for all tables of k attributes: counts, computed once, and previews by each method."""

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
from pages.tables.marginals.controls import METHODS, MarginalsRequest

SLOW_WAYS = 3
"""From so many attributes on, fitting takes long enough for a progress bar."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableResult:
    """The results that the views draw.

    Attributes:
        request: the settings.
        problem: the public problem.
        dataset: the rows.
        truth: true rows in each cell of each table.
        methods: previews by method, the selected one first.
        key: everything that the previews depend on.
    """

    request: MarginalsRequest
    problem: Problem
    dataset: Dataset
    truth: dict[Set, Integers]
    methods: dict[str, TablePreviews]
    key: str

    @property
    def selected(self) -> TablePreviews:
        """Return the previews of the selected method."""
        return self.methods[self.request.entry.key]

    @property
    def domain(self) -> Product:
        """Return the attributes."""
        return self.request.queries.domain

    def title(self, key: str) -> str:
        """Return the name of a method and of the fit of its tables."""
        return f"{METHODS[key]}, {fit_for(self.methods[key].release, self.request.fit)}"


def compute(request: MarginalsRequest) -> TableResult:
    """Return counts, which no ε changes, and previews of each method."""
    about, ways, dataset = request.source.key, request.queries.ways, request.dataset()
    problem, methods = request.problem(dataset.n), request.methods
    direct, planner = DirectTables(), ResidualPlanner()
    counts: TableState = with_progress(
        f"tables|{about}|{ways}", lambda: direct.counting(dataset, problem), label="Counting tables."
    )
    contrasts: ContrastState = with_progress(
        f"contrasts|{about}|{ways}", lambda: planner.counting(dataset, problem), label="Counting contrasts."
    )

    def work() -> Generator[float, None, dict[str, TablePreviews]]:
        return table_previews(methods, counts, contrasts, problem=problem, fit=request.fit, seed=request.seed)

    key = (
        f"previews|{about}|{ways}|{list(methods.values())!r}|{request.fit}|{request.neighbours}|{problem.n}|"
        f"{request.seed}"
    )
    if ways < SLOW_WAYS:
        previews = remembered(key, lambda: finish(work()))
    else:
        previews = with_progress(key, work, label="Fitting tables.")
    return TableResult(
        request=request, problem=problem, dataset=dataset, truth=true_tables(counts), methods=previews, key=key
    )
