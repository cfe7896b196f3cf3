"""The base class of mechanisms, and their entries in the catalogue."""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from typing_extensions import override

from dpcore.core.basics import DataError, ParameterError
from dpcore.core.bounds import Bound
from dpcore.core.guarantees import Guarantee, Neighbours, per_person
from dpcore.core.parameters import Parameter
from dpcore.core.problem import Dataset, Domain, DomainType, Problem, Queries
from dpcore.core.release import HistogramState, Release, State
from dpcore.core.sizes import check_memory

ReleaseT = TypeVar("ReleaseT", bound=Release)


def _on_its_problem(prepare: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap prepare(): guarantees that use n are about data with n rows, and neighbours always agree on this check.

    Of rows that were capped by person, the problem is about persons: one row more may push out another.
    """

    @functools.wraps(prepare)
    def checked(self: Mechanism, dataset: Dataset, problem: Problem) -> Any:
        if dataset.domain != problem.domain:
            raise DataError("The data and the problem have different domains.")
        if problem.neighbours is Neighbours.REPLACE_ONE and dataset.n != problem.n:
            raise DataError("If rows are replaced, n is public: the problem must give the number of rows.")
        if dataset.person_rows:
            if problem.neighbours is not Neighbours.ADD_REMOVE_ONE:
                raise ParameterError(
                    "Persons can be protected only if rows are added or removed, because a person changes n."
                )
            problem = dataclasses.replace(problem, person_rows=dataset.person_rows)
        return prepare(self, dataset, problem)

    return checked


def _for_persons(guarantee: Callable[..., Guarantee]) -> Callable[..., Guarantee]:
    """Wrap guarantee(): a mechanism proves it for rows, and ``person_guarantee`` makes it the persons'."""

    @functools.wraps(guarantee)
    def protecting_persons(self: Mechanism, problem: Problem) -> Guarantee:
        if not problem.person_rows:
            return guarantee(self, problem)
        of_rows = dataclasses.replace(problem, person_rows=0)
        try:
            return self.person_guarantee(of_rows, problem.person_rows)
        except ParameterError as error:
            return dataclasses.replace(guarantee(self, of_rows), releasable=False, why_not=str(error))

    return protecting_persons


def _with_a_chance(accuracy: Callable[..., Bound]) -> Callable[..., Bound]:
    """Wrap accuracy(): no promise fails never or always."""

    @functools.wraps(accuracy)
    def checked(self: Mechanism, problem: Problem, beta: float) -> Bound:
        if not 0 < beta < 1:
            raise ParameterError(f"The failure probability must lie between 0 and 1, got {beta!r}.")
        return accuracy(self, problem, beta)

    return checked


CHECKED: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "prepare": _on_its_problem,
    "accuracy": _with_a_chance,
    "guarantee": _for_persons,
}
"""What every subclass's methods are wrapped in, so that none can forget the check."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A randomised algorithm: frozen parameters, a guarantee, a promise of accuracy, and a run on T trials at once.

    A subclass is a frozen, keyword-only dataclass whose fields are declared with param(). It never sees a random
    generator, only a sampler, so that what a run spends can be added up and every coin can be enumerated.
    """

    releases: ClassVar[str] = "data"
    """What run() returns: "data" (a DataRelease; the pages that show tables list only these) or "value"."""
    data_independent: ClassVar[bool] = False
    """Whether answers err by rows of one law, whatever the data and however many rows: it can be known before."""
    may_refuse: ClassVar[bool] = False
    """Whether run() may release that it refuses to answer."""

    @override
    def __init_subclass__(cls, **arguments: Any) -> None:
        """Have every subclass check what it is given."""
        super().__init_subclass__(**arguments)
        for name, wrapped in CHECKED.items():
            if name in cls.__dict__:
                setattr(cls, name, wrapped(cls.__dict__[name]))

    def __post_init__(self) -> None:
        for name, parameter in self.parameters().items():
            value = getattr(self, name)
            parameter.check(name=name, value=value)
            if not (parameter.boolean or parameter.choices):
                # 3.0, 3 and numpy's 3 are one whole number: links, sentences and array shapes need Python's own.
                object.__setattr__(self, name, int(value) if parameter.integer else float(value))

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """Return the declared parameters by field name, in the order they are shown."""
        return {f.name: f.metadata["parameter"] for f in dataclasses.fields(cls) if "parameter" in f.metadata}

    @abstractmethod
    def guarantee(self, problem: Problem) -> Guarantee:
        """Return the privacy guarantee of one release."""

    def unsuitable(self, problem: Problem) -> str:
        """Return why a release of such data, private as it is, would be a wrong number; empty if it would not."""
        return ""

    def person_guarantee(self, problem: Problem, rows: int) -> Guarantee:
        """Return the guarantee for a person with at most so many rows, by group privacy; 0 rows leave it unchanged.

        Raises:
            ParameterError: there is none; see ``per_person``.
        """
        return per_person(self.guarantee(problem), rows)

    def check_size(self, problem: Problem) -> None:
        """Raise ParameterError where the file of one release would take too much memory, by public numbers alone.

        Here a number for each cell of a listed domain; other mechanisms bound what they publish themselves.
        """
        if problem.domain.listed:
            check_memory(problem.domain.size, what="The file", smaller="take fewer cells", each=1000)

    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """Return (sigma, number of draws, squared shift) of each discrete Gaussian draw, where there is no other noise.

        The shift is the furthest that a neighbour moves the numbers.
        """
        return ()

    @abstractmethod
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Return the guaranteed worst error over problem.queries, except with probability beta over the coins."""

    @_on_its_problem
    def prepare(self, dataset: Dataset, problem: Problem) -> Any:
        """Return the State, all that is computed once from the private data without epsilon: here the counts."""
        return HistogramState(problem=problem, histogram=dataset.histogram)

    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Return the seconds a preview takes: before its first release, and for each; 0 where that is instant."""
        return 0.0, 0.0

    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        """Roughly how long one release takes: what questions with equal settings share, and all that none shares.

        By public numbers alone, and with the counting of rows where that takes longer than reading them. Here as long
        as a preview takes.
        """
        return self.preview_seconds(problem)

    def warm_up(self, state: Any) -> Iterator[None]:
        """Yield between the steps of the work before the first release at this epsilon; run() does it too."""
        return iter(())

    @abstractmethod
    def run(self, state: Any, sampler: Any, trials: int = 1) -> Release:
        """Return T independent releases. Every coin comes from the sampler (randomness.Sampler)."""

    def possible(self, release: Release) -> bool:
        """Return whether one release, which its file shows in full, has the structure of this mechanism's releases.

        It follows from public numbers alone, for the verification of files. This default rules nothing out.
        """
        return True

    def release(self, kind: type[ReleaseT], state: State, sampler: Any, trials: int, **published: Any) -> ReleaseT:
        """Return a release of this kind with what it publishes; nothing is refused unless ``refused`` (T,) is given."""
        shared = {"refused": np.zeros(trials, dtype=np.bool_), "sampler": sampler.name, "problem": state.problem}
        return kind(**{"guarantee": self.guarantee(state.problem)} | shared | published)


class PureMechanism(Mechanism):
    """Epsilon-DP under either relation, at the epsilon that is asked for."""

    epsilon: float

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=self.epsilon, neighbours=problem.neighbours)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the catalogue: a mechanism a user would name, with the parameters that make it that one.

    Attributes:
        key: short name used in links.
        mechanism: the class.
        presets: parameter values fixed by this entry (they get no control).
        title: the name on the screen.
        story: one or two sentences a newcomer understands.
        domains: the kinds of domain it serves.
        queries: the query classes it serves.
        references: authors, year, theorem.
        weights: the chance of each candidate in TeX, where the mechanism chooses one by its score.
        tiny: parameter values for the exact privacy check on a tiny universe, where the defaults need too many coins.
        tiny_size: cells of that universe.
        tiny_rows: its rows.
    """

    key: str
    mechanism: type[Mechanism]
    title: str
    story: str
    domains: tuple[DomainType, ...]
    queries: tuple[type[Queries], ...]
    references: tuple[str, ...]
    presets: Mapping[str, Any] = field(default_factory=dict)
    weights: str = ""
    tiny: Mapping[str, Any] = field(default_factory=dict)
    tiny_size: int = 3
    tiny_rows: int = 3

    def serves(self, queries: Queries) -> bool:
        """Return whether the mechanism can release data for this query class on its domain."""
        return isinstance(queries, self.queries) and self.fits(queries.domain)

    def fits(self, domain: Domain) -> bool:
        """Return whether the mechanism can release data on this domain."""
        return not domain.types.isdisjoint(self.domains)

    def controls(self) -> dict[str, Parameter]:
        """Return the parameters a user may set: all but the presets."""
        return {name: p for name, p in self.mechanism.parameters().items() if name not in self.presets}

    def make(self, **values: Any) -> Mechanism:
        """Return the mechanism with these parameter values; unknown names raise ParameterError."""
        unknown = set(values) - set(self.controls())
        if unknown:
            raise ParameterError(f"{self.title} has no parameter {', '.join(sorted(unknown))}.")
        return self.mechanism(**{**self.presets, **values})
