"""A recipe: everything that makes one Explore picture, in scalars; and the code that makes it again."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from dpcore.core import Dataset, Entry, Mechanism, Neighbours, ParameterError, Problem, Queries, State
from dpcore.data.sources import Source, generated
from dpcore.experiments.measure import ErrorReport, measure
from dpcore.mechanisms import entry
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import QUERY_CLASSES
from dpcore.randomness import Preview

MOST_TRIALS = 5000


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A data source, a query class, a mechanism with its parameters, and a seed.

    Attributes:
        source: where the rows come from.
        queries: key of the query class.
        entry_key: key of the mechanism in the catalogue.
        values: its parameters.
        neighbours: the relation.
        trials: releases to preview.
        beta: failure chance of the promise.
        seed: of the preview.
        weights: the class itself where it is made of weights; ``queries`` is then its key.
        nominal: the public n where rows are added or removed; there the number of rows is itself private.
    """

    source: Source
    queries: str
    entry_key: str
    values: tuple[tuple[str, float | int | str | bool], ...]
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    trials: int = 1000
    beta: float = 0.05
    seed: int = 1
    weights: LinearQueries | None = None
    nominal: int | None = None

    @property
    def question(self) -> str:
        """What tells one query class from another, for the keys of remembered things."""
        return self.queries if self.weights is None else f"{self.queries}:{self.weights.name}:{self.weights.code}"

    @property
    def entry(self) -> Entry:
        """The catalogue's line."""
        return entry(self.entry_key)

    def mechanism(self) -> Mechanism:
        """The mechanism with its parameters."""
        return self.entry.make(**dict(self.values))

    def problem(self, dataset: Dataset) -> Problem:
        """What is asked of the data."""
        n = dataset.n
        if self.neighbours is Neighbours.ADD_REMOVE_ONE:
            if self.nominal is None:
                raise ParameterError("Where rows are added or removed, a public n must be named.")
            n = self.nominal
        if self.weights is not None:
            queries: Queries = self.weights
        else:
            queries = next(kind for kind in QUERY_CLASSES if kind.key == self.queries)(domain=dataset.domain)
        return Problem(domain=dataset.domain, queries=queries, n=n, neighbours=self.neighbours)

    def report(self, dataset: Dataset, state: State) -> Generator[float, None, ErrorReport]:
        """Preview the releases and compare them with the truth; yields the fraction done."""
        return measure(self.mechanism(), dataset, state, Preview(self.seed), trials=self.trials, beta=self.beta)

    def code(self) -> str:
        """Python that computes the page's numbers with dpcore alone."""
        more = []
        if self.weights is not None:
            asked = self.weights.code
            more = ["import numpy as np", "from dpcore.queries.linear import LinearQueries, generated"]
        else:
            kind = next(kind for kind in QUERY_CLASSES if kind.key == self.queries)
            asked = f"dpcore.{kind.__name__}(domain=dataset.domain)"
        values = ", ".join(f"{name}={value!r}" for name, value in self.values)
        return "\n".join(
            [
                "import dpcore",
                "from dpcore.experiments.measure import finish, measure",
                *more,
                *self.source.code(),
                "problem = dpcore.Problem(",
                "    domain=dataset.domain,",
                f"    queries={asked},",
                f"    n={'dataset.n' if self.nominal is None else self.nominal},",
                f"    neighbours=dpcore.Neighbours.{self.neighbours.name},",
                ")",
                f"mechanism = dpcore.entry({self.entry_key!r}).make({values})",
                "state = mechanism.prepare(dataset, problem)",
                f"sampler = dpcore.Preview(seed={self.seed})",
                f"work = measure(mechanism, dataset, state, sampler, trials={self.trials}, beta={self.beta!r})",
                "report = finish(work)",
                "",
                'print("guarantee:", mechanism.guarantee(problem).sentence())',
                'print("promised worst error:", report.bound.value)',
                'print("observed failures:", report.failures, "of", report.trials)',
                "",
                f"released = mechanism.run(state, dpcore.Preview(seed={self.seed})).frame()  # simulated: not private",
                "print(released)",
                "",
            ]
        )


OPENING_DATA = generated("bimodal", n=10_000, bits=10)
OPENING = Recipe(
    source=OPENING_DATA, queries="intervals", entry_key="identity", values=(("epsilon", IdentityHistogram.epsilon),)
)
"""What every page opens with for whoever has chosen nothing yet: the same settings have one number everywhere."""
