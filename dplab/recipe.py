"""Recipe: all settings of one simulation as plain values, and the Python code that repeats it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from dpcore.core import Dataset, Entry, Mechanism, Neighbours, ParameterError, Problem, Queries, State
from dpcore.data.sources import Source, generated_rows
from dpcore.mechanisms import entry
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.queries.linear import LinearQueries
from dpcore.queries.ranges import QUERY_CLASSES
from dpcore.randomness import Preview
from dplab.measure import ErrorReport, measure

MAX_TRIALS = 5000


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A data source, a query class, a mechanism with its parameters, and a seed.

    Attributes:
        source: the data source.
        queries: key of the query class.
        entry_key: key of the mechanism in the catalogue.
        values: parameters of the mechanism.
        neighbours: the neighbouring relation.
        trials: number of simulated releases.
        beta: failure probability of the guaranteed error.
        seed: seed of the simulation.
        weights: the class itself for weighted queries; ``queries`` is then its key.
        nominal: the public n where rows are added or removed, as the number of rows is private there.
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
        """Identifier of the query class, for cache keys."""
        return self.queries if self.weights is None else f"{self.queries}:{self.weights.name}:{self.weights.code}"

    @property
    def entry(self) -> Entry:
        """Entry of the catalogue."""
        return entry(self.entry_key)

    def mechanism(self) -> Mechanism:
        """Return the mechanism with its parameters."""
        return self.entry.make(**dict(self.values))

    def problem(self, dataset: Dataset) -> Problem:
        """Return the public problem for a data set."""
        n = dataset.n
        if self.neighbours is Neighbours.ADD_REMOVE_ONE:
            if self.nominal is None:
                raise ParameterError("If rows are added or removed, a public n must be given.")
            n = self.nominal
        return self.problem_for_n(n)

    def problem_for_n(self, n: int) -> Problem:
        """Return the public problem on the source's domain for a public n."""
        domain = self.source.domain
        if self.weights is not None:
            queries: Queries = self.weights
        else:
            queries = next(kind for kind in QUERY_CLASSES if kind.key == self.queries)(domain=domain)
        return Problem(domain=domain, queries=queries, n=n, neighbours=self.neighbours)

    def report(self, dataset: Dataset, state: State) -> Generator[float, None, ErrorReport]:
        """Simulate the releases and compare them with the truth; yields the fraction done."""
        return measure(self.mechanism(), dataset, state, Preview(self.seed), trials=self.trials, beta=self.beta)

    def code(self) -> str:
        """Return Python code that computes the page's numbers."""
        imports = ["from dpcore.core import describe_error", "from dplab.measure import finish, measure"]
        if self.weights is not None:
            query_code = self.weights.code
            imports += ["import numpy as np", "from dpcore.queries.linear import LinearQueries, generated"]
        else:
            kind = next(kind for kind in QUERY_CLASSES if kind.key == self.queries)
            query_code = f"dpcore.{kind.__name__}(domain=dataset.domain)"
        guarantee_code = "mechanism.guarantee(problem)"
        if self.source.person_rows:
            guarantee_code = f"mechanism.person_guarantee(problem, {self.source.person_rows})"
        then = [
            f"sampler = dpcore.Preview(seed={self.seed})",
            f"work = measure(mechanism, dataset, state, sampler, trials={self.trials}, beta={self.beta!r})",
            "report = finish(work)",
            "",
            f'print("guarantee:", {guarantee_code}.sentence())',
            "print(describe_error(report.bound, n=problem.n))",
            "if report.bound.guaranteed:",
            '    print("observed failures:", report.failures, "of", report.trials)',
            "",
            f"released = mechanism.run(state, dpcore.Preview(seed={self.seed})).frame()  # simulated: not private",
            "print(released)",
            "",
        ]
        return snippet(
            self.source,
            self.entry_key,
            dict(self.values),
            queries=query_code,
            neighbours=self.neighbours,
            n=self.nominal,
            imports=imports,
            then=then,
        )


def snippet(
    source: Source,
    entry_key: str,
    values: Mapping[str, float | int | str | bool],
    *,
    queries: str,
    then: Sequence[str],
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
    n: int | None = None,
    imports: Sequence[str] = (),
    prepared: Sequence[str] = (),
) -> str:
    """Return Python code that prepares a mechanism on the rows and then runs the given lines.

    Args:
        source: the data source, as variables ``df`` and ``dataset``.
        entry_key: the mechanism's key in the catalogue, as variable ``mechanism``.
        values: parameters of the mechanism.
        queries: Python expression of the query class, as variable ``queries``.
        then: lines that use ``problem`` and ``state``.
        neighbours: the neighbouring relation.
        n: the public number of rows where rows are added or removed; None takes the source's public number.
        imports: import lines after ``import dpcore``.
        prepared: lines that transform ``dataset``.
    """
    parameters = ", ".join(f"{name}={value!r}" for name, value in values.items())
    rows = "dataset.n" if neighbours is Neighbours.REPLACE_ONE else n or source.public_rows
    lines = [
        "import dpcore",
        *imports,
        *source.code(),
        *prepared,
        "",
        f"queries = {queries}",
        "problem = dpcore.Problem(",
        f"    domain=dataset.domain, queries=queries, n={rows}, neighbours=dpcore.Neighbours.{neighbours.name}",
        ")",
        f"mechanism = dpcore.entry({entry_key!r}).make({parameters})",
        "state = mechanism.prepare(dataset, problem)",
        *then,
    ]
    return "\n".join(lines)


DEFAULT_DATA = generated_rows("bimodal", n=10_000, bits=10)
DEFAULT_RECIPE = Recipe(
    source=DEFAULT_DATA, queries="intervals", entry_key="identity", values=(("epsilon", IdentityHistogram.epsilon),)
)
"""Default settings of every page, so that all pages start with the same numbers."""
