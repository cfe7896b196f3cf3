"""Error against epsilon for every mechanism that serves a query class."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.core import BoundKind, Dataset, Entry, Floats, Mechanism, Problem, State
from dpcore.randomness import Preview
from dplab.measure import BLOCK_SECONDS, ErrorReport, finish, measure

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sweep:
    """Error against epsilon for several mechanisms. Computed with the true data: not private.

    Attributes:
        n: number of rows of the problem.
        keys: keys of the entries, (K,).
        epsilons: the grid of ε, (E,).
        worst: 5%, 50% and 95% of the worst error over trials, (K, E, 3); NaN where refused.
        typical: the same of the mean absolute error over a batch, (K, E, 3).
        promised: guaranteed worst error, (K, E); inf where there is none.
        left_out: entries that take too long on this problem.
    """

    n: int
    keys: tuple[str, ...]
    epsilons: Floats
    worst: Floats
    typical: Floats
    promised: Floats
    left_out: tuple[str, ...] = ()

    def with_report(self, report: ErrorReport, *, key: str, epsilon: float) -> Sweep:
        """Return the sweep with one point replaced by the values of an error report, if the grid has this point.

        The report has more trials; without this, the page would show two numbers for the same settings.
        """
        if key not in self.keys or epsilon not in self.epsilons or not len(report.answered):
            return self
        place = self.keys.index(key), int(np.argmax(self.epsilons == epsilon))
        worst, typical = self.worst.copy(), self.typical.copy()
        worst[place], typical[place] = _quantiles(report.worst), _quantiles(report.typical)
        return dataclasses.replace(self, worst=worst, typical=typical)

    def frontier(self, pure: Sequence[bool]) -> tuple[str, ...]:
        """Return the entries with the smallest median worst error at some epsilon, among all entries or the pure ones.

        Args:
            pure: whether each entry has pure ε-differential privacy, (K,); pure entries also compete among
                themselves.
        """
        median = np.where(np.isfinite(self.worst[:, :, 1]), self.worst[:, :, 1], np.inf)
        best = np.zeros(len(self.keys), dtype=bool)
        for rivals in (np.ones(len(self.keys), dtype=bool), np.asarray(pure, dtype=bool)):
            errors = np.where(rivals[:, None], median, np.inf)
            best |= (np.isfinite(errors) & (errors == errors.min(axis=0, initial=np.inf))).any(axis=1)
        return tuple(key for key, leads in zip(self.keys, best, strict=True) if leads)

    def frame(self) -> pd.DataFrame:
        """Return one row per mechanism and epsilon: quantiles of worst and mean error, and the guaranteed error."""
        import pandas as pd

        shape = len(self.keys), len(self.epsilons)
        rows, columns = np.indices(shape).reshape(2, -1)
        named: dict[str, Any] = {
            "mechanism": np.array(self.keys, dtype=object)[rows],
            "epsilon": self.epsilons[columns],
        }
        for kind, errors in (("worst", self.worst), ("mean_error", self.typical)):
            named |= {
                f"{kind}_{level}": errors[rows, columns, place] for place, level in enumerate(("5%", "50%", "95%"))
            }
        return pd.DataFrame({**named, "promised": self.promised[rows, columns]})


def concatenate_sweeps(sweeps: Sequence[Sweep]) -> Sweep:
    """Concatenate sweeps of one problem on one grid."""
    first = sweeps[0]
    return dataclasses.replace(
        first,
        keys=tuple(key for each in sweeps for key in each.keys),
        worst=np.concatenate([each.worst for each in sweeps]),
        typical=np.concatenate([each.typical for each in sweeps]),
        promised=np.concatenate([each.promised for each in sweeps]),
        left_out=tuple(key for each in sweeps for key in each.left_out),
    )


def _quantiles(errors: Floats) -> Floats:
    """Return the 5%, 50% and 95% quantiles of errors over trials that answered, (3,)."""
    quantiles: Floats = np.nanquantile(errors, (0.05, 0.5, 0.95))
    return quantiles


EPSILON_GRID: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def sweep(
    entries: Sequence[Entry],
    dataset: Dataset,
    problem: Problem,
    *,
    shared: Mapping[str, float],
    own: Mapping[str, Mapping[str, Any]] | None = None,
    trials: int = 60,
    beta: float = 0.05,
    seed: int = 0,
    epsilons: Sequence[float] = EPSILON_GRID,
    seconds: float = BLOCK_SECONDS,
) -> Generator[float, None, Sweep]:
    """Measure every entry at every epsilon; yields the fraction done after each cell.

    Args:
        entries: mechanisms that serve the problem's queries.
        dataset: the true data.
        problem: the public problem.
        shared: parameter values for every entry that has a control of that name (alpha, delta, …).
        own: further values for single entries, by key.
        trials: number of releases T of each cell.
        beta: failure probability of the guaranteed errors.
        seed: seed of the simulations.
        epsilons: the grid of ε.
        seconds: time limit at one epsilon; slower entries are left out.
    """

    def make(entry: Entry, **values: Any) -> Mechanism:
        given = {name: value for name, value in shared.items() if name in entry.controls()}
        return entry.make(**{**given, **(own or {}).get(entry.key, {}), **values})

    in_time: list[Entry] = []
    for entry in entries:
        before, each = make(entry).preview_seconds(problem)
        if before + trials * each <= seconds:
            in_time.append(entry)
    shape = (len(in_time), len(epsilons))
    worst, typical, promised = np.full((*shape, 3), np.nan), np.full((*shape, 3), np.nan), np.full(shape, math.inf)
    for row, entry in enumerate(in_time):
        state: State | None = None
        for column, epsilon in enumerate(epsilons):
            mechanism = make(entry, epsilon=epsilon)
            if state is None:
                state = mechanism.prepare(dataset, problem)
            sampler = Preview(seed)
            report = finish(measure(mechanism, dataset, state, sampler, trials=trials, beta=beta, queries_shown=128))
            if report.bound.applies and report.bound.kind is BoundKind.GUARANTEE:
                promised[row, column] = report.bound.value
            if len(report.answered):
                worst[row, column] = _quantiles(report.worst)
                typical[row, column] = _quantiles(report.typical)
            yield (row * len(epsilons) + column + 1) / (shape[0] * shape[1])
    return Sweep(
        n=problem.n,
        keys=tuple(entry.key for entry in in_time),
        epsilons=np.array(epsilons, dtype=np.float64),
        worst=worst,
        typical=typical,
        promised=promised,
        left_out=tuple(entry.key for entry in entries if entry not in in_time),
    )
