"""The nouns of dpcore: what a record can be, what is asked, what is released, and what is promised.

Nothing here computes; the numerics live on the floors above (``domains``, ``queries``, ``randomness``,
``mechanisms``). ``dpcore/README.md`` is the map.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


class ParameterError(ValueError):
    """A parameter is out of range; the message names the parameter, the value and the range."""


class DataError(ValueError):
    """A table does not fit; the message names column, row number and what was expected, never a record's value."""


class Neighbours(enum.StrEnum):
    """Which pairs of data sets a guarantee speaks about."""

    REPLACE_ONE = "replace_one"
    """One of the n rows changes value; n is public."""
    ADD_REMOVE_ONE = "add_remove_one"
    """One row is added or removed; ``Problem.n`` is then a public nominal size, not the number of rows."""

    @property
    def words(self) -> str:
        """The relation in words."""
        return "replace one row" if self is Neighbours.REPLACE_ONE else "add or remove one row"

    @property
    def histogram_shift(self) -> tuple[int, ...]:
        """How far a histogram's cells move between neighbours, cell by moved cell."""
        return (1, 1) if self is Neighbours.REPLACE_ONE else (1,)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A privacy promise: (epsilon, delta), failing with probability gamma over the draw of the data, for one relation.

    ``releasable`` is False for approximate samplers, asymptotic promises and previews; ``why_not`` then says why.
    """

    epsilon: float
    neighbours: Neighbours
    delta: float = 0.0
    gamma: float = 0.0
    releasable: bool = True
    why_not: str = ""

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise ParameterError(f"epsilon must be at least 0, got {self.epsilon!r}.")
        for name in ("delta", "gamma"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(f"{name} must be at least 0 and below 1, got {getattr(self, name)!r}.")
        if not self.releasable and not self.why_not:
            raise ParameterError("A guarantee that cannot be released must say why.")

    def sentence(self) -> str:
        """The guarantee in one line, epsilon and delta printed exactly."""
        parts = [f"ε = {exactly(self.epsilon)}"]
        if self.delta:
            parts.append(f"δ = {exactly(self.delta)}")
        if self.gamma:
            parts.append(f"γ = {exactly(self.gamma)}")
        return ", ".join(parts) + f" ({self.neighbours.words})"


def exactly(number: float) -> str:
    """A number with all its digits and no more: 1, 0.1, 1e-6."""
    return repr(float(number)).removesuffix(".0").replace("e-0", "e-")


class BoundKind(enum.StrEnum):
    """What a theorem's number is worth."""

    GUARANTEE = "guarantee"
    ORDER_ONLY = "order only"
    LOWER = "lower bound"


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One condition of a theorem and whether it is met here."""

    text: str
    met: bool


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A number a theorem gives about a problem: with probability at least 1 - beta, the worst error is at most value.

    Attributes:
        value: largest error over the query class, as a fraction of n; math.inf where the theorem says nothing.
        kind: whether it is a guarantee, an order of magnitude, or a lower bound.
        statement: the theorem in one sentence, with this problem's numbers.
        reference: authors, year, theorem.
        beta: failure probability over the mechanism's coins.
        assumptions: each with whether it is met.
        rows_needed: the n at which the promise would hold (None: no such n or not known).
        note: what a reader must know besides: an erratum, a looser constant.
    """

    value: float
    kind: BoundKind
    statement: str
    reference: str
    beta: float = 0.0
    assumptions: tuple[Assumption, ...] = ()
    rows_needed: int | None = None
    note: str = ""

    @property
    def applies(self) -> bool:
        """Whether every assumption is met."""
        return all(assumption.met for assumption in self.assumptions)

    @property
    def vacuous(self) -> bool:
        """Whether the number says nothing: an error of 1 or more is true of any release whose answers lie in [0, 1]."""
        return not self.value < 1


class Domain(ABC):
    """A public description of what a record can be: ``size`` cells, numbered from 0.

    Records that do not fit (missing, unparsable, out of bounds when not clamped) go to one reserved last cell and
    stay in n: dropping them would make n differ between neighbours.
    """

    title: ClassVar[str]
    missing: bool

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of cells, the reserved one included."""

    @property
    def ordered(self) -> int:
        """Number of cells that hold fitting records: all but the reserved one."""
        return self.size - int(self.missing)

    @property
    def depth(self) -> int:
        """Comparisons a binary search over the cells needs: the paper's d."""
        return max(1, math.ceil(math.log2(self.size)))

    @abstractmethod
    def points(self) -> list[str] | Floats:
        """One label (categories) or midpoint (numbers, shape (ordered,)) per fitting cell."""

    @abstractmethod
    def describe(self, cell: int) -> str:
        """The cell in words."""


class ProvenanceKind(enum.StrEnum):
    """Where data come from, which decides what may be shown of them."""

    GENERATED = "generated"
    BUNDLED = "bundled sample"
    STAND_IN = "public stand-in"
    PRIVATE = "private"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a data set comes from; ``key`` identifies it in links and captions (never a value of it)."""

    kind: ProvenanceKind
    title: str
    source: str = ""

    @property
    def is_private(self) -> bool:
        """Whether anything computed from the data needs a guarantee before others may see it."""
        return self.kind is ProvenanceKind.PRIVATE


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Encoded records on a domain. Private: ``repr`` shows no values.

    Attributes:
        domain: what a record can be.
        records: cell of each row, shape (n,), integers in [0, domain.size).
        provenance: where the rows come from.
    """

    domain: Domain
    records: Integers
    provenance: Provenance

    def __post_init__(self) -> None:
        if self.records.ndim != 1 or not np.issubdtype(self.records.dtype, np.integer):
            raise DataError("Records must be one whole number per row: the cell each row falls in.")
        if len(self.records) == 0:
            raise DataError("The data set has no rows.")
        if int(self.records.min()) < 0 or int(self.records.max()) >= self.domain.size:
            raise DataError(f"Every record must be a cell between 0 and {self.domain.size - 1}.")
        object.__setattr__(self, "records", self.records.astype(np.int64, copy=False))
        histogram = np.bincount(self.records, minlength=self.domain.size).astype(np.int64)
        histogram.setflags(write=False)
        object.__setattr__(self, "_histogram", histogram)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.records)

    @property
    def histogram(self) -> Integers:
        """Rows in each cell, shape (domain.size,), read-only."""
        histogram: Integers = self.__dict__["_histogram"]
        return histogram

    def __repr__(self) -> str:
        return f"<Dataset: {self.provenance.kind}, {type(self.domain).__name__}>"


@dataclass(frozen=True, kw_only=True)
class Queries(ABC):
    """A class of counting queries on a domain: each query is the fraction of rows inside a set of cells."""

    key: ClassVar[str]
    title: ClassVar[str]
    one: ClassVar[str]
    """One query of the class in words, for "the error of one …"."""
    domains: ClassVar[tuple[type[Domain], ...]]
    domain: Domain

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of queries in the class."""

    @property
    @abstractmethod
    def vc_dimension(self) -> int:
        """Vapnik-Chervonenkis dimension of the class."""

    @abstractmethod
    def describe(self, index: int) -> str:
        """Query number ``index`` in words."""

    @abstractmethod
    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Answers on histograms (T, size) to the queries ``indices`` (Q,): sums of cells, shape (T, Q)."""

    @abstractmethod
    def max_error(self, difference: NDArray[Any]) -> Floats:
        """Largest absolute answer over the whole class on each row of differences (T, size), in closed form: (T,)."""

    @abstractmethod
    def batch(self, most: int) -> Integers:
        """Indices of at most ``most`` fixed, evenly spread queries, for plots; shape (Q,)."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What a guarantee and a promise are about: public, and the same for neighbouring data sets.

    Attributes:
        domain: what a record can be.
        queries: the class whose answers matter.
        n: number of rows; under ADD_REMOVE_ONE a public nominal size, the same for both neighbours.
        neighbours: the relation.
    """

    domain: Domain
    queries: Queries
    n: int
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ParameterError(f"n must be at least 1, got {self.n}.")
        if self.queries.domain != self.domain:
            raise ParameterError("The queries are about another domain.")


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """How a mechanism's field is shown, checked and written in links; made by param()."""

    label: str
    symbol: str = ""
    low: float = -math.inf
    high: float = math.inf
    log: bool = False
    integer: bool = False
    boolean: bool = False
    choices: tuple[str, ...] = ()
    stops: tuple[float, ...] = ()
    help: str = ""

    def check(self, *, name: str, value: Any) -> None:
        """Raise ParameterError unless value is of the declared kind and range."""
        shown = self.label or name
        if self.boolean:
            if not isinstance(value, bool):
                raise ParameterError(f"{shown} must be on or off.")
            return
        if self.choices:
            if value not in self.choices:
                raise ParameterError(f"{shown} must be one of {', '.join(self.choices)}.")
            return
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not number or value != value or abs(value) == math.inf:
            raise ParameterError(f"{shown} must be a finite number between {self.low:g} and {self.high:g}.")
        if self.integer and value != int(value):
            raise ParameterError(f"{shown} must be a whole number, got {value!r}.")
        if not self.low <= value <= self.high:
            raise ParameterError(f"{shown} must lie between {self.low:g} and {self.high:g}, got {value!r}.")


def param(default: Any, low: float = -math.inf, high: float = math.inf, *, label: str, **shown: Any) -> Any:
    """Declare a mechanism's parameter once: its check, its control, its link key, its help and its notation row.

    Args:
        default: value a new user meets; its type decides between number, whole number, switch and choice.
        low: smallest allowed value.
        high: largest allowed value.
        label: the word for it ("Privacy loss").
        shown: symbol (the paper's letter), log (logarithmic control), choices, stops (human values), help.
    """
    kind = Parameter(
        label=label,
        low=low,
        high=high,
        boolean=isinstance(default, bool),
        integer=isinstance(default, int) and not isinstance(default, bool),
        **shown,
    )
    return field(default=default, metadata={"parameter": kind})


EPSILON_STOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def epsilon_param(default: float = 1.0) -> Any:
    """The privacy loss every mechanism has."""
    return param(
        default, 0.001, 20.0, label="Privacy loss", symbol="ε", log=True, stops=EPSILON_STOPS,
        help="Small is more private, large is more accurate. No single person can change the chance of any "
        "outcome by more than a factor e^ε. Roth (2010) and Hall, Rinaldo and Wasserman (2013) write α.",
    )  # fmt: skip


def delta_param(default: float = 1e-6) -> Any:
    """The slack of approximate differential privacy."""
    return param(
        default, 1e-15, 0.1, label="Slack", symbol="δ", log=True,
        stops=(1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
        help="A chance by which the factor e^ε may be exceeded; keep it far below 1/n.",
    )  # fmt: skip


def alpha_param(default: float = 0.1) -> Any:
    """The error a mechanism aims at."""
    return param(
        default, 0.005, 1.0, label="Allowed error", symbol="α", log=True,
        stops=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
        help="The largest error over the query class that the release aims at, as a fraction of n.",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class State:
    """What prepare() computed from private data, free of epsilon; owned by one session."""

    problem: Problem

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: private>"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HistogramState(State):
    """The state of mechanisms that need only counts: rows per cell, shape (size,)."""

    histogram: Integers


NOTHING = -1
"""The value of a release that refused: no cell."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(ABC):
    """What came out of a mechanism: T independent releases on a leading axis.

    Attributes:
        problem: the public problem.
        guarantee: the privacy promise of *each* of the T releases.
        sampler: name of the sampler that drew it.
        refused: shape (T,), True where the mechanism answered nothing.
    """

    problem: Problem
    guarantee: Guarantee
    sampler: str
    refused: Booleans

    @property
    def trials(self) -> int:
        """Number of independent releases, T."""
        return len(self.refused)

    @abstractmethod
    def outcomes(self) -> Floats:
        """Everything each release publishes, one row per trial, shape (T, anything)."""

    @abstractmethod
    def part(self, start: int, stop: int) -> Self:
        """Trials start to stop."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DataRelease(Release):
    """Synthetic data: anything that can be asked of the data can be asked of it."""

    @abstractmethod
    def histogram(self) -> Floats:
        """The released data as rows per cell, shape (T, size); NaN where refused."""

    def answer(self, indices: Integers) -> Floats:
        """Answers as fractions of n to the queries ``indices`` (Q,), shape (T, Q); NaN where refused."""
        return self.problem.queries.answer(self.histogram(), indices) / self.problem.n


@dataclass(frozen=True, kw_only=True, eq=False)
class ValueRelease(Release):
    """One released cell per trial, shape (T,); NOTHING where refused."""

    values: Integers

    def __post_init__(self) -> None:
        # A refusal publishes nothing: whatever was computed on the way to it must not travel with the release.
        object.__setattr__(self, "values", np.where(self.refused, NOTHING, self.values))

    def outcomes(self) -> Floats:
        """The value, one column."""
        return self.values.astype(np.float64)[:, None]

    def part(self, start: int, stop: int) -> Self:
        """Trials start to stop."""
        return dataclasses.replace(self, refused=self.refused[start:stop], values=self.values[start:stop])


@dataclass(frozen=True, kw_only=True, eq=False)
class HistogramRelease(DataRelease):
    """A released count per cell, shape (T, size); negative noisy counts are shown as they are."""

    counts: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", np.where(self.refused[:, None], 0, self.counts))

    def histogram(self) -> Floats:
        """The released counts as numbers of rows."""
        return np.where(self.refused[:, None], np.nan, self.counts)

    def outcomes(self) -> Floats:
        """The counts."""
        return self.counts.astype(np.float64)

    def part(self, start: int, stop: int) -> Self:
        """Trials start to stop."""
        return dataclasses.replace(self, refused=self.refused[start:stop], counts=self.counts[start:stop])


@dataclass(frozen=True, kw_only=True, eq=False)
class PointsRelease(DataRelease):
    """A small synthetic database: cells (T, m) and the fraction of the mass at each (T, m), rows summing to at most 1.

    A weight of 0 marks an unused place, so that trials with fewer points share one array.
    """

    points: Integers
    weights: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", np.where(self.refused[:, None], 0, self.points))
        object.__setattr__(self, "weights", np.where(self.refused[:, None], 0.0, self.weights))

    def histogram(self) -> Floats:
        """Mass per cell times n, shape (T, size)."""
        trials, size = self.trials, self.problem.domain.size
        flat = (np.arange(trials)[:, None] * size + self.points).ravel()
        mass = np.bincount(flat, weights=self.weights.ravel() * self.problem.n, minlength=trials * size)
        return np.where(self.refused[:, None], np.nan, mass.reshape(trials, size))

    def outcomes(self) -> Floats:
        """Points, then weights."""
        return np.concatenate([self.points.astype(np.float64), self.weights], axis=1)

    def part(self, start: int, stop: int) -> Self:
        """Trials start to stop."""
        return dataclasses.replace(
            self, refused=self.refused[start:stop], points=self.points[start:stop], weights=self.weights[start:stop]
        )


def _on_its_problem(prepare: Callable[..., State]) -> Callable[..., State]:
    """Wrap prepare(): guarantees that use n are about data with n rows, and neighbours always agree on this check."""

    @functools.wraps(prepare)
    def checked(self: Mechanism, dataset: Dataset, problem: Problem) -> State:
        if dataset.domain != problem.domain:
            raise DataError("The data are on another domain than the problem.")
        if problem.neighbours is Neighbours.REPLACE_ONE and dataset.n != problem.n:
            raise DataError("Where rows are replaced, n is public: the problem must name the number of rows.")
        return prepare(self, dataset, problem)

    return checked


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A randomised algorithm: frozen parameters, a guarantee, a promise of accuracy, and a run on T trials at once.

    A subclass is a frozen, keyword-only dataclass whose fields are declared with param(). It never sees a random
    generator, only a sampler, so that what a run spends can be added up and every coin can be enumerated.
    """

    releases: ClassVar[str] = "data"
    """What run() returns: "data" (a DataRelease; the pages that show tables list only these) or "value"."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Have every subclass's prepare() refuse data that are not the problem's, so that none can forget to."""
        super().__init_subclass__(**arguments)
        if "prepare" in cls.__dict__:
            setattr(cls, "prepare", _on_its_problem(cls.__dict__["prepare"]))  # noqa: B010  # a typed method cannot be assigned

    def __post_init__(self) -> None:
        for name, parameter in self.parameters().items():
            value = getattr(self, name)
            parameter.check(name=name, value=value)
            if not (parameter.boolean or parameter.choices):
                # 3.0, 3 and numpy's 3 are one whole number: links, sentences and array shapes need Python's own.
                object.__setattr__(self, name, int(value) if parameter.integer else float(value))

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """The declared parameters by field name, in the order they are shown."""
        return {f.name: f.metadata["parameter"] for f in dataclasses.fields(cls) if "parameter" in f.metadata}

    @abstractmethod
    def guarantee(self, problem: Problem) -> Guarantee:
        """The privacy promise of one release."""

    @abstractmethod
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The promised worst error over problem.queries, failing with probability at most beta over the coins."""

    @abstractmethod
    def prepare(self, dataset: Dataset, problem: Problem) -> State:
        """Whatever can be computed once from the private data without knowing epsilon."""

    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Roughly how long a preview takes: before its first release, and for each; 0 where nobody has to wait."""
        return 0.0, 0.0

    def warm_up(self, state: Any) -> Iterator[None]:
        """What has to be done before the first release at this epsilon, pausing now and then; run() does it too."""
        return iter(())

    @abstractmethod
    def run(self, state: Any, sampler: Any, trials: int = 1) -> Release:
        """T independent releases. Every coin comes from the sampler (randomness.Sampler)."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the catalogue: a mechanism a user would name, with the parameters that make it that one.

    Attributes:
        key: short name used in links.
        mechanism: the class.
        presets: parameter values fixed by this entry (they get no control).
        title: the name on the screen.
        story: one or two sentences a newcomer understands.
        domains: the domain classes it serves.
        queries: the query classes it serves.
        references: authors, year, theorem.
        tiny: parameter values for the exact privacy check on a tiny universe, where the defaults need too many coins.
        tiny_size: cells of that universe.
        tiny_rows: its rows.
    """

    key: str
    mechanism: type[Mechanism]
    title: str
    story: str
    domains: tuple[type[Domain], ...]
    queries: tuple[type[Queries], ...]
    references: tuple[str, ...]
    presets: Mapping[str, Any] = field(default_factory=dict)
    tiny: Mapping[str, Any] = field(default_factory=dict)
    tiny_size: int = 3
    tiny_rows: int = 3

    def serves(self, queries: Queries) -> bool:
        """Whether the mechanism can release data for this query class on its domain."""
        return isinstance(queries, self.queries) and isinstance(queries.domain, self.domains)

    def controls(self) -> dict[str, Parameter]:
        """The parameters a user may set: all but the presets."""
        return {name: p for name, p in self.mechanism.parameters().items() if name not in self.presets}

    def make(self, **values: Any) -> Mechanism:
        """The mechanism with these parameter values; unknown names raise ParameterError."""
        unknown = set(values) - set(self.controls())
        if unknown:
            raise ParameterError(f"{self.title} has no parameter {', '.join(sorted(unknown))}.")
        return self.mechanism(**{**self.presets, **values})
