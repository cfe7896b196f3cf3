"""Counts and previews behind the second view of the Marginals page: counted once, drawn anew for every setting."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.attributes import Attributes, Set
from dpcore.core import Dataset, Floats, Integers, Mechanism, Problem
from dpcore.mechanisms.marginals_fourier import DirectTables
from dpcore.mechanisms.marginals_residual import ResidualPlanner
from dpcore.randomness import Preview
from dpcore.residual.counting import finished
from dpcore.residual.preview import fit_for, previewed
from dpcore.residual.release import ContrastState, DirectRelease, TablesRelease, TableState
from dpcore.residual.release import asked as tables_of
from pages.ui.marginals_tables_ask import METHODS, Asked
from pages.ui.session import remembered, with_progress

PREVIEWS = 3
"""Releases whose tables are fitted and drawn."""
TRIALS = 80
"""Releases in which the noise of one unbiased table, and the worst cell of all, are observed."""
AT_ONCE = 20
"""Tables looked at between two signs of progress."""
SLOW_WAYS = 3
"""From so many attributes on, fitting takes long enough for a progress bar."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """Previews of one method.

    Attributes:
        mechanism: with its parameters.
        release: TRIALS releases by the chosen method, PREVIEWS by others.
        tables: the fitted tables of the first PREVIEWS.
        distances: of those from the truth, (PREVIEWS, tables).
        name: of the method and the fit.
    """

    mechanism: Mechanism
    release: TablesRelease
    tables: list[dict[Set, Floats]]
    distances: Floats
    name: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Shown:
    """What the pictures are made of; ``memory`` names everything that the previews depend on."""

    asked: Asked
    problem: Problem
    dataset: Dataset
    truth: dict[Set, Integers]
    methods: dict[str, Simulated]
    memory: str

    @property
    def chosen(self) -> Simulated:
        """The method that is asked for."""
        return self.methods[self.asked.entry.key]

    @property
    def domain(self) -> Attributes:
        """The attributes."""
        return self.asked.survey.domain


def computed(asked: Asked) -> Shown:
    """Counts, once for every epsilon; then previews of each method."""
    key = asked.survey.key
    dataset: Dataset = remembered(f"dataset|{key}", asked.survey.dataset)
    problem = asked.problem(dataset.n)
    methods = asked.methods
    direct, contrasts = DirectTables(), ResidualPlanner()
    counts: TableState = with_progress(
        f"tables|{key}|{asked.ways}", lambda: direct.counting(dataset, problem), label="Counting tables."
    )
    parts: ContrastState = with_progress(
        f"contrasts|{key}|{asked.ways}", lambda: contrasts.counting(dataset, problem), label="Counting contrasts."
    )
    shapes = {chosen: [asked.survey.domain.sizes[a] for a in chosen] for chosen in tables_of(problem).sets()}
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
    truth = {
        chosen: flat.reshape(shape)
        for (chosen, shape), flat in zip(shapes.items(), np.split(counts.counts, ends), strict=True)
    }

    def previews() -> Generator[float, None, dict[str, Simulated]]:
        found: dict[str, Simulated] = {}
        for number, (name, mechanism) in enumerate(methods.items()):
            state = dataclasses.replace(counts if name == "direct-tables" else parts, problem=problem)
            release: Any = mechanism.run(state, Preview(asked.seed), trials=TRIALS if not found else PREVIEWS)
            work = previewed(release, truth, fit=asked.fit, previews=PREVIEWS)
            while True:
                try:
                    share = next(work)
                except StopIteration as done:
                    tables, distances = done.value
                    break
                yield (number + share) / len(methods)
            title = f"{METHODS[name]}, {fit_for(release, asked.fit)}"
            found[name] = Simulated(
                mechanism=mechanism, release=release, tables=tables, distances=distances, name=title
            )  # fmt: skip
        return found

    memory = f"previews|{key}|{asked.ways}|{list(methods.values())!r}|{asked.fit}|{asked.neighbours}|{asked.seed}"
    if asked.ways < SLOW_WAYS:
        simulated = remembered(memory, lambda: finished(previews()))
    else:
        simulated = with_progress(memory, previews, label="Fitting tables.")
    return Shown(asked=asked, problem=problem, dataset=dataset, truth=truth, methods=simulated, memory=memory)


def worst_cells(shown: Shown) -> Generator[float, None, Floats]:
    """Largest error of each of TRIALS releases over all cells as measured, (T,), shares of n; yields the share done."""
    release, found = shown.chosen.release, np.zeros(TRIALS)
    if isinstance(release, DirectRelease):
        true = np.concatenate([table.reshape(-1) for table in shown.truth.values()])
        worst: Floats = np.abs(release.values - true).max(axis=1) / shown.problem.n
        return worst
    for place, (chosen, counts) in enumerate(shown.truth.items(), start=1):
        errors = np.abs(release.unbiased(chosen) - counts).reshape(TRIALS, -1)
        np.maximum(found, errors.max(axis=1), out=found)
        if place % AT_ONCE == 0:
            yield place / len(shown.truth)
    return found / shown.problem.n
