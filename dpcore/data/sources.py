"""Where a page's data come from: a generator, a bundled sample, or an upload; each says how to get it in code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from dpcore.core import Dataset, Domain, ParameterError, Provenance, ProvenanceKind
from dpcore.data.domains import Categories, Line
from dpcore.data.generators import GENERATORS, generate
from dpcore.data.reading.tables import Table
from dpcore.data.samples import ColumnSuggestion, Sample, load_sample, sample


class Source(ABC):
    """A choice of data. ``key`` identifies it inside one session; it holds no value of the data."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Identity for caches and captions."""

    @property
    @abstractmethod
    def provenance(self) -> Provenance:
        """What may be shown of the data, and how they are called."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """What a record can be."""

    @property
    @abstractmethod
    def column(self) -> str:
        """Name of the column, for tables and axes."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table of such rows."""
        return (self.column,)

    @property
    def public_rows(self) -> int:
        """A public figure for n: its own where the data are public, a round one where they are not."""
        return 10_000 if self.provenance.is_private else self.dataset().n

    @abstractmethod
    def dataset(self) -> Dataset:
        """The encoded rows."""

    @abstractmethod
    def code(self) -> list[str]:
        """Lines of Python after which ``dataset`` is this data set."""


@dataclass(frozen=True, kw_only=True)
class Generated(Source):
    """Seeded rows from one of the shapes in generators."""

    shape: str
    n: int
    bits: int
    seed: int

    def __post_init__(self) -> None:
        if self.shape not in GENERATORS:
            raise ParameterError("No generator has this name.")

    @property
    def key(self) -> str:
        """All parameters."""
        return f"generated:{self.shape}:{self.n}:{self.bits}:{self.seed}"

    @property
    def provenance(self) -> Provenance:
        """Nobody's data."""
        return Provenance(kind=ProvenanceKind.GENERATED, title=f"{GENERATORS[self.shape].title}, {self.n:,} rows")

    @property
    def domain(self) -> Line:
        """The unit interval, cut into 2**bits cells."""
        return Line(low=0.0, high=1.0, bits=self.bits)

    @property
    def column(self) -> str:
        """A plain name."""
        return "value"

    def dataset(self) -> Dataset:
        """Draw the rows."""
        records = generate(self.shape, n=self.n, size=2**self.bits, seed=self.seed)
        return Dataset(self.domain, records, self.provenance)

    def code(self) -> list[str]:
        """Draw, into a frame and back."""
        return [
            "from dpcore.data.sources import Generated",
            "",
            f"df = Generated(shape={self.shape!r}, n={self.n}, bits={self.bits}, seed={self.seed}).dataset().frame()",
            f"domain = dpcore.{self.domain!r}",
            "dataset = dpcore.Dataset.from_frame(df, 'value', domain, private=False)",
        ]


def suggested_domain(suggestion: ColumnSuggestion, *, bits: int | None = None) -> Domain:
    """The domain a bundled column is declared with: public bounds or labels, and a cell for what does not fit."""
    if suggestion.kind == "category":
        return Categories(labels=tuple(suggestion.labels))
    return Line(
        low=suggestion.low,
        high=suggestion.high,
        bits=bits or suggestion.bits,
        missing=True,
        clamp=suggestion.clamp,
        unit=suggestion.unit,
    )


def held_by(table: Table, dataset: Dataset) -> Dataset:
    """The data set, whose rows count towards what may be held of its table."""
    table.hold(dataset.records)
    return dataset


def encode(table: Table, *, column: str, domain: Domain, provenance: Provenance) -> Dataset:
    """The rows of one column on a declared domain; raises DataError where the table has no rows or no such column."""
    if isinstance(domain, Line):
        return held_by(table, Dataset(domain, domain.encode(table.numbers(column)), provenance))
    if isinstance(domain, Categories):
        return held_by(table, Dataset(domain, domain.encode(table.labels(column, list(domain.labels))), provenance))
    raise ParameterError(f"One column cannot be encoded as {domain.title}.")


@dataclass(frozen=True, kw_only=True)
class Bundled(Source):
    """One column of a real sample that comes with the project."""

    sample_key: str
    column_name: str
    bits: int = 10

    @property
    def sample(self) -> Sample:
        """The sample's notes."""
        return sample(self.sample_key)

    @property
    def suggestion(self) -> ColumnSuggestion:
        """The column's declared domain."""
        for suggestion in self.sample.columns:
            if suggestion.column == self.column_name:
                return suggestion
        raise ParameterError("The sample has no such column.")

    @property
    def key(self) -> str:
        """Sample, column and grid."""
        return f"sample:{self.sample_key}:{self.column_name}:{self.bits}"

    @property
    def provenance(self) -> Provenance:
        """A public sample."""
        return Provenance(
            kind=ProvenanceKind.BUNDLED,
            title=f"{self.sample.title}: {self.column_name}",
            source=self.sample.attribution,
        )

    @property
    def domain(self) -> Domain:
        """As suggested, on the chosen grid."""
        return suggested_domain(self.suggestion, bits=self.bits)

    @property
    def column(self) -> str:
        """The column's own name."""
        return self.column_name

    def dataset(self) -> Dataset:
        """Read and encode the column."""
        return encode(
            load_sample(self.sample_key), column=self.column_name, domain=self.domain, provenance=self.provenance
        )

    def code(self) -> list[str]:
        """Reading the sample's file."""
        return [
            "import pandas as pd",
            "",
            "from dpcore.data.samples import FOLDER",
            "from dpcore.data.sources import Bundled",
            "",
            *load_sample(self.sample_key).code([self.column_name], folder="FOLDER"),
            f"domain = {self!r}.domain  # public bounds or labels, declared with the sample",
            f"dataset = dpcore.Dataset.from_frame(df, {self.column_name!r}, domain, private=False)",
        ]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Uploaded(Source):
    """One column of a file somebody brought, on the domain they declared. Lives in one session.

    ``bounds_from_data`` says that the domain was read off private rows, which no guarantee covers.
    """

    table: Table
    column_name: str
    declared: Domain
    private: bool
    digest: str
    bounds_from_data: bool = False
    _encoded: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Digest of the file's bytes, column and domain; never leaves the session."""
        return f"upload:{self.digest}:{self.column_name}:{self.declared!r}:{self.private}"

    @property
    def provenance(self) -> Provenance:
        """Private, or a public stand-in."""
        kind = ProvenanceKind.PRIVATE if self.private else ProvenanceKind.STAND_IN
        return Provenance(kind=kind, title=f"{self.table.name}: {self.column_name}")

    @property
    def domain(self) -> Domain:
        """As declared."""
        return self.declared

    @property
    def column(self) -> str:
        """The column's cleaned name."""
        return self.column_name

    def dataset(self) -> Dataset:
        """Encode the column, once."""
        if "dataset" not in self._encoded:
            self._encoded["dataset"] = encode(
                self.table, column=self.column_name, domain=self.declared, provenance=self.provenance
            )
        dataset: Dataset = self._encoded["dataset"]
        return dataset

    def code(self) -> list[str]:
        """Reading the reader's own copy of the file."""
        return [
            "import pandas as pd",
            "",
            *self.table.code(self.columns),
            f"domain = dpcore.{self.declared!r}",
            f"dataset = dpcore.Dataset.from_frame(df, {self.column_name!r}, domain, private={self.private})",
        ]
