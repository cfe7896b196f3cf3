"""Domains, private data sets, query classes, and the public problem that they form."""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core.basics import DataError, Floats, Integers, ParameterError
from dpcore.core.bounds import Assumption
from dpcore.core.guarantees import Neighbours, rounded_up
from dpcore.core.sizes import MAX_ROWS

if TYPE_CHECKING:
    import pandas as pd


class DomainType(enum.StrEnum):
    """Type of record, by which query classes and mechanisms are matched to domains."""

    NUMBER = "a number"
    LABELS = "a category"
    MAP = "two columns"
    GROUPS = "a number and its group"
    TABLE = "several attributes"
    YES_NO = "yes/no attributes"
    VECTORS = "unit vectors"
    LISTS = "decision lists"
    TEXTS = "texts"


class Domain(ABC):
    """A public description of what a record can be: ``size`` cells, numbered from 0.

    Records that do not fit (missing, unparsable, out of bounds when not clamped) go to one reserved last cell and
    stay in n: dropping them would make n differ between neighbours.
    """

    @property
    @abstractmethod
    def title(self) -> str:
        """Description of a record, in words."""

    @property
    @abstractmethod
    def types(self) -> frozenset[DomainType]:
        """Types of the domain's records: a table of yes/no attributes is both a table and yes/no attributes."""

    @property
    def listed(self) -> bool:
        """Return whether the domain's cells are listed and counted; else a record is a row of numbers."""
        return True

    @property
    def missing(self) -> bool:
        """Return whether there is a reserved cell."""
        return False

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of cells, the reserved one included."""

    def checked(self, records: NDArray[Any]) -> NDArray[Any]:
        """Return the records as a data set on this domain keeps them: here one cell per row, (n,).

        Raises:
            DataError: they are of another shape or kind, or out of range; the message shows none of them.
        """
        if records.ndim != 1 or not np.issubdtype(records.dtype, np.integer):
            raise DataError("Records must be one whole number per row: the cell each row falls in.")
        if len(records) and (int(records.min()) < 0 or int(records.max()) >= self.size):
            raise DataError(f"Every record must be a cell between 0 and {self.size - 1}.")
        return records.astype(np.int64, copy=False)

    @property
    def ordered(self) -> int:
        """Number of cells that hold fitting records: all but the reserved one."""
        return self.size - int(self.missing)

    @property
    def depth(self) -> int:
        """Comparisons a binary search over the cells needs: the paper's d."""
        return max(1, math.ceil(math.log2(self.size)))

    def points(self) -> list[str] | list[tuple[float | str, float | str]] | Floats:
        """One label, midpoint (numbers, shape (ordered,)) or pair of them per fitting cell, where cells are listed."""
        raise ParameterError(f"The cells of {type(self).__name__} are too many to list.")

    def describe(self, cell: int) -> str:
        """Return the cell in words, where cells are numbered."""
        raise ParameterError(f"The cells of {type(self).__name__} are not numbered.")

    def describe_distance(self, share: float) -> str:
        """Return a share of the distance between the declared bounds in words."""
        return f"{rounded_up(100 * share)}% of the range between the bounds"

    def table(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the records as columns of a table, (n,) each, by their names."""
        return cell_columns(self, records)


def cell_columns(domain: Domain, cells: Integers) -> dict[str, NDArray[Any]]:
    """Return the values that cells (K,) stand for: "value", or "first" and "second" for a pair of numbers.

    Numbers are midpoints. The reserved cell, and -1 in place of a cell, are missing: NaN, or None among labels.

    Raises:
        ParameterError: the domain's cells are not listed.
    """
    points = domain.points()
    blanks = 1 + int(domain.missing)  # the last answers for -1
    if isinstance(points, list) and isinstance(points[0], tuple):
        sides = [np.array([*side, *[None] * blanks], dtype=object)[cells] for side in zip(*points, strict=True)]
        return {"first": sides[0], "second": sides[1]}
    if isinstance(points, list):
        return {"value": np.array([*points, *[None] * blanks], dtype=object)[cells]}
    numbers = points.reshape(len(points), -1)
    numbers = np.concatenate([numbers, np.full((blanks, numbers.shape[1]), np.nan)])[cells]
    names = ("value",) if numbers.shape[1] == 1 else ("first", "second")
    return {name: numbers[:, place] for place, name in enumerate(names)}


class ProvenanceKind(enum.StrEnum):
    """Origin of a data set, which decides on access to its true values."""

    GENERATED = "generated"
    BUNDLED = "bundled sample"
    STAND_IN = "public stand-in"
    TWIN = "simulated"
    PRIVATE = "private"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Origin of a data set; ``key`` identifies it in links and captions (never a value of it)."""

    kind: ProvenanceKind
    title: str
    source: str = ""

    @property
    def is_private(self) -> bool:
        """Return whether anything computed from the data needs a guarantee before others may see it."""
        return self.kind is ProvenanceKind.PRIVATE


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Encoded records on a domain; there may be none. Private: ``repr`` shows no values.

    Attributes:
        domain: what a record can be.
        records: what ``domain.checked`` made of them: the cell of each row, (n,), or a row of numbers each, (n, d).
        provenance: where the rows come from.
        person_rows: of one person that were read at most; 0 where a row is protected.
    """

    domain: Domain
    records: NDArray[Any]
    provenance: Provenance
    person_rows: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", self.domain.checked(self.records))
        if self.domain.listed:
            histogram = np.bincount(self.records, minlength=self.domain.size).astype(np.int64)
            histogram.setflags(write=False)
            object.__setattr__(self, "_histogram", histogram)

    def frame(self) -> pd.DataFrame:
        """One row per record: the midpoint or label of its cell, missing where nothing fits. As private as the data."""
        import pandas as pd

        return pd.DataFrame(self.domain.table(self.records))

    def counted(self) -> tuple[NDArray[Any], Integers | None]:
        """Return records and how many rows have each, (m,); None where every row is a record by itself."""
        return self.records, None

    @property
    def n(self) -> int:
        """Number of the data set's rows."""
        return len(self.records)

    @property
    def histogram(self) -> Integers:
        """Rows in each cell, shape (domain.size,), read-only.

        Raises:
            ParameterError: the domain's cells are not listed.
        """
        if not self.domain.listed:
            raise ParameterError(f"{type(self.domain).__name__} has too many cells to count rows in each.")
        histogram: Integers = self.__dict__["_histogram"]
        return histogram

    @override
    def __repr__(self) -> str:
        return f"<Dataset: {self.provenance.kind}, {type(self.domain).__name__}>"


def spread(count: int, limit: int) -> Integers:
    """Return at most ``limit`` evenly spread whole numbers from 0 to count - 1, both ends included."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).round().astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class Queries(ABC):
    """A class of counting queries on a domain: each query is the fraction of rows inside a set of cells."""

    key: ClassVar[str]
    title: ClassVar[str]
    one: ClassVar[str]
    """One query of the class in words, for "the error of one …"."""
    domains: ClassVar[tuple[DomainType, ...]]
    """Kinds of domain that the class makes sense on."""
    domain: Domain

    @classmethod
    def fits(cls, domain: Domain) -> bool:
        """Return whether the class makes sense on a domain."""
        return not domain.types.isdisjoint(cls.domains)

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
        """Return the query number ``index`` in words."""

    def answer(self, histogram: NDArray[Any], indices: Integers) -> Floats:
        """Return the answers on histograms (T, size) to the queries ``indices`` (Q,): sums of cells, shape (T, Q)."""
        raise ParameterError(f"{type(self).__name__} need the rows: their cells are too many to count.")

    def max_error(self, difference: NDArray[Any]) -> Floats:
        """Largest absolute answer over the whole class on each row of differences (T, size), in closed form: (T,)."""
        raise ParameterError(f"The largest error over all {type(self).__name__} has no closed form.")

    def batch(self, limit: int) -> Integers:
        """Return indices of at most ``limit`` fixed, evenly spread queries, for plots; shape (Q,)."""
        return spread(self.count, limit)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Public setting of a guarantee: domain, queries and n, the same for neighbouring data sets.

    Attributes:
        domain: what a record can be.
        queries: the class whose answers matter.
        n: number of rows; under ADD_REMOVE_ONE a public nominal size, the same for both neighbours.
        neighbours: the relation.
        person_rows: of one person, where a person is added or removed; data that were read so say it themselves.
    """

    domain: Domain
    queries: Queries
    n: int
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    person_rows: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or not 1 <= self.n <= MAX_ROWS:
            raise ParameterError(f"n must be an integer between 1 and {MAX_ROWS:,}, got {self.n!r}.")
        # Python's own whole numbers never wrap.
        object.__setattr__(self, "n", int(self.n))
        if self.queries.domain != self.domain:
            raise ParameterError("The queries and the problem have different domains.")

    @property
    def unchecked_n(self) -> tuple[Assumption, ...]:
        """The assumption that n is the number of rows, where it cannot be checked under the relation."""
        if self.neighbours is Neighbours.REPLACE_ONE:
            return ()
        return (Assumption(text="n is the true number of rows (not checked)", met=False),)
