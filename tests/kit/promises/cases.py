"""A promise, data made to try it, and what became of it: an exact binomial test and the error beside the promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from dpcore import Dataset, ParameterError, Preview, Problem, Provenance, ProvenanceKind
from dpcore.core import Bound, BoundKind, Floats, Mechanism, Neighbours, Release

BETAS = (0.05, 0.2)
FALSE_ALARM = 1e-6
"""Chance that a run of promises that all hold is called broken anywhere."""
NOMINAL = ("the public n is the number of rows", "rows it is said to have")
"""Assumptions, in the mechanisms' words, that data of as many rows as the problem says meet."""
OTHER_ROWS = 1.25
"""Rows that data have for each that a problem names, where rows may be added and nothing is assumed of their number."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """How much is tried.

    Attributes:
        epsilons: privacy losses.
        alphas: allowed errors, where a mechanism has one.
        trials: releases of each mechanism on each data set.
        full: all numbers of rows and variants of a mechanism, or the telling ones.
        patience: seconds that one case may take.
    """

    epsilons: tuple[float, ...]
    alphas: tuple[float, ...]
    trials: int
    full: bool
    patience: float

    def of(self, *choices: Any) -> tuple[Any, ...]:
        """All choices, or the last one."""
        return choices if self.full else choices[-1:]


FULL = Grid(epsilons=(0.1, 1.0, 5.0), alphas=(0.1, 0.2, 0.5), trials=1000, full=True, patience=10.0)
QUICK = Grid(epsilons=(1.0,), alphas=(0.2, 0.5), trials=300, full=False, patience=0.5)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One promise of a mechanism, on one data set.

    Attributes:
        mechanism: as it is released.
        problem: public.
        data: the data set in words.
        errors: worst error of each release, in the bound's unit, (T,); inf where an answer was due and none came.
        trials: releases.
        meets: beginnings or parts of assumptions that the mechanism cannot know and these data meet.
        betas: failure chances that these data are for.
        promise: what is promised, by default the accuracy.
        of: what the promise is about, where it is not the error.
    """

    mechanism: Mechanism
    problem: Problem
    data: str
    errors: Callable[[Preview, int], Floats]
    trials: int
    meets: tuple[str, ...] = ()
    betas: tuple[float, ...] = BETAS
    promise: Callable[[float], Bound] | None = None
    of: str = ""

    def bound(self, beta: float) -> Bound:
        """What is promised."""
        return self.promise(beta) if self.promise else self.mechanism.accuracy(self.problem, beta)

    def silence(self, bound: Bound) -> str:
        """Why a bound promises nothing on these data; empty if it does."""
        if bound.kind is not BoundKind.GUARANTEE:
            return str(bound.kind)
        unmet = [each.text for each in bound.assumptions if not each.met]
        if any(not any(words in text for words in self.meets) for text in unmet):
            return "an assumption is not met"
        return "1 or more" if bound.vacuous else ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One promise and what became of it; without errors where nothing is promised."""

    case: Case
    beta: float
    bound: Bound
    silence: str
    errors: Floats | None = None

    @property
    def trials(self) -> int:
        """Releases."""
        assert self.errors is not None
        return len(self.errors)

    def failures(self, factor: float = 1.0) -> int:
        """Releases that exceed the promise divided by a factor; a hair more is rounding."""
        assert self.errors is not None
        return int((self.errors > self.bound.value / factor * (1 + 1e-9) + 1e-12).sum())

    def tail(self, factor: float = 1.0) -> float:
        """Exact chance of at least so many failures, if each has chance beta; for a promise divided by a factor.

        Where the promised error is 0, it is the chance of failure that is divided.
        """
        chance = self.beta if self.bound.value else self.beta / factor
        failures = self.failures(factor)
        return float(bdtrc(failures - 1, self.trials, chance)) if failures else 1.0

    @property
    def observed(self) -> float:
        """The error that all but a share beta of the releases keep."""
        assert self.errors is not None
        return abs(float(np.quantile(self.errors, 1 - self.beta, method="higher")))

    @property
    def ratio(self) -> float:
        """Observed over promised: errors, or chances of failure where the promised error is 0."""
        if self.bound.value:
            return self.observed / self.bound.value
        return self.failures() / self.trials / self.beta

    def text(self, key: str) -> str:
        """All of it in one line."""
        problem, told = self.case.problem, self.case.mechanism
        alpha = getattr(told, "alpha", None)
        known = (
            f"{key:28} {problem.queries.key:15} {problem.neighbours:14} n {problem.n:9,} "
            f"epsilon {getattr(told, 'epsilon', float('nan')):g}{f' alpha {alpha:g}' if alpha else ''} "
            f"beta {self.beta:g} {self.case.of or 'error'}, {self.case.data}: "
        )
        if self.errors is None:
            return known + f"no promise ({self.silence})"
        return known + (
            f"promised {self.bound.value:.3g}, observed {self.observed:.3g}, ratio {self.ratio:.2f}, "
            f"{self.failures()} of {self.trials:,} fail, chance {self.tail():.2g}"
        )


def judged(case: Case, *, seed: int) -> list[Row]:
    """One row for each failure chance, from the same releases."""
    told = [(beta, case.bound(beta)) for beta in case.betas]
    silences = [case.silence(bound) for _, bound in told]
    errors = None if all(silences) else case.errors(Preview(seed), case.trials)
    assert errors is None or errors.shape == (case.trials,)
    return [
        Row(case=case, beta=beta, bound=bound, silence=silence, errors=None if silence else errors)
        for (beta, bound), silence in zip(told, silences, strict=True)
    ]


def tried(
    measure: Callable[..., Floats],
    mechanism: Mechanism,
    dataset: Dataset,
    problem: Problem,
    **told: Any,
) -> Case:
    """What ``measure`` says of releases: called with mechanism, data set, problem, sampler and trials."""
    return Case(mechanism=mechanism, problem=problem, errors=partial(measure, mechanism, dataset, problem), **told)


def made(problem: Problem, records: NDArray[Any], title: str) -> Dataset:
    """Made-up records as a data set."""
    return Dataset(problem.domain, records, Provenance(kind=ProvenanceKind.GENERATED, title=title))


def claimed(mechanism: Mechanism, problem: Problem) -> bool:
    """Whether the mechanism serves the problem: it may lack a proof for its relation, or a way to ask its questions."""
    try:
        mechanism.guarantee(problem)
        mechanism.accuracy(problem, BETAS[0])
    except ParameterError:
        return False
    return True


def row_counts(problem: Problem) -> list[tuple[int, tuple[str, ...]]]:
    """Rows that data for a problem may have, and the assumptions that they meet.

    Where rows may be added or removed, a promise that does not ask for n rows has to hold for any number of them.
    """
    counts: list[tuple[int, tuple[str, ...]]] = [(problem.n, NOMINAL)]
    if problem.neighbours is Neighbours.ADD_REMOVE_ONE:
        counts.append((round(OTHER_ROWS * problem.n), ()))
    return counts


def releases(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Preview, trials: int) -> Release:
    """So many releases of a data set."""
    return mechanism.run(mechanism.prepare(dataset, problem), sampler, trials)
