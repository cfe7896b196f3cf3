"""Two numbers of each row, on a grid: generated in the plane, two columns of a bundled sample, or two of an upload."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.core import Dataset, ParameterError, Provenance, ProvenanceKind
from dpcore.data.domains import Grid, Line
from dpcore.data.generators import PAIR_GENERATORS, generate_pairs
from dpcore.data.reading.tables import Table
from dpcore.data.samples import load_sample, sample
from dpcore.data.sources import Source, Uploaded, held_by, suggested_domain

SIDE_BITS = 5
"""Bits of each side of a grid where nobody chose others: 32 by 32 cells."""


def encode_pairs(table: Table, *, columns: tuple[str, str], domain: Grid, provenance: Provenance) -> Dataset:
    """The rows of two columns on a declared grid; raises DataError where the table has no such columns."""
    table.reserve(32)  # one column as numbers while the other is read, then the cells of both
    return held_by(table, Dataset(domain, domain.encode(*(table.numbers(column) for column in columns)), provenance))


@dataclass(frozen=True, kw_only=True)
class GeneratedPairs(Source):
    """Seeded rows from one of the shapes in the plane."""

    shape: str
    n: int
    bits: int
    seed: int

    def __post_init__(self) -> None:
        if self.shape not in PAIR_GENERATORS:
            raise ParameterError("No generator has this name.")

    @property
    def key(self) -> str:
        """All parameters."""
        return f"generated:{self.shape}:{self.n}:{self.bits}:{self.seed}"

    @property
    def provenance(self) -> Provenance:
        """Nobody's data."""
        return Provenance(kind=ProvenanceKind.GENERATED, title=f"{PAIR_GENERATORS[self.shape].title}, {self.n:,} rows")

    @property
    def domain(self) -> Grid:
        """The unit square, each side cut into 2**bits cells."""
        return Grid(first=Line(bits=self.bits), second=Line(bits=self.bits))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of both numbers."""
        return self.domain.names

    @property
    def column(self) -> str:
        """Both together."""
        return " × ".join(self.columns)

    def dataset(self) -> Dataset:
        """Draw the rows."""
        side = 2**self.bits
        records = generate_pairs(self.shape, n=self.n, rows=side, columns=side, seed=self.seed)
        return Dataset(self.domain, records, self.provenance)

    def code(self) -> list[str]:
        """One call."""
        return [
            "from dpcore.data.pairs import GeneratedPairs",
            "",
            f"dataset = GeneratedPairs(shape={self.shape!r}, n={self.n}, bits={self.bits}, seed={self.seed}).dataset()",
        ]


@dataclass(frozen=True, kw_only=True)
class BundledPairs(Source):
    """Two number columns of a real sample that comes with the project, each side cut into 2**bits cells."""

    sample_key: str
    first: str
    second: str
    bits: int = SIDE_BITS

    @property
    def key(self) -> str:
        """Sample, columns and grid."""
        return f"sample:{self.sample_key}:{self.first}:{self.second}:{self.bits}"

    @property
    def provenance(self) -> Provenance:
        """A public sample."""
        found = sample(self.sample_key)
        title = f"{found.title}: {self.column}"
        return Provenance(kind=ProvenanceKind.BUNDLED, title=title, source=found.attribution)

    @property
    def domain(self) -> Grid:
        """The bounds suggested for either column."""
        first, second = (self._line(column) for column in self.columns)
        return Grid(first=first, second=second, names=(self.first, self.second))

    def _line(self, column: str) -> Line:
        suggestions = {each.column: each for each in sample(self.sample_key).columns if each.kind == "number"}
        if column not in suggestions:
            raise ParameterError("The sample has no such column of numbers.")
        line = suggested_domain(suggestions[column], bits=self.bits)
        assert isinstance(line, Line)
        return line

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of both columns."""
        return self.first, self.second

    @property
    def column(self) -> str:
        """Both names."""
        return " × ".join(self.columns)

    def dataset(self) -> Dataset:
        """Read and encode both columns."""
        return encode_pairs(
            load_sample(self.sample_key),
            columns=(self.first, self.second),
            domain=self.domain,
            provenance=self.provenance,
        )

    def code(self) -> list[str]:
        """Reading the sample's file."""
        return [
            "import pandas as pd",
            "",
            "from dpcore.data.pairs import BundledPairs",
            "from dpcore.data.samples import FOLDER",
            "",
            *load_sample(self.sample_key).code(self.columns, folder="FOLDER"),
            f"domain = {self!r}.domain  # public bounds, declared with the sample",
            f"dataset = dpcore.Dataset.from_frame(df, {list(self.columns)}, domain, private=False)",
        ]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UploadedPairs(Uploaded):
    """Two number columns of a file somebody brought, on the grid they declared; lives in one session."""

    second_name: str

    @property
    def key(self) -> str:
        """As for one column, with the other's name."""
        return f"{super().key}:{self.second_name}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The cleaned names of both columns."""
        return self.column_name, self.second_name

    @property
    def column(self) -> str:
        """Both names."""
        return " × ".join(self.columns)

    @property
    def provenance(self) -> Provenance:
        """Private, or a public stand-in."""
        kind = ProvenanceKind.PRIVATE if self.private else ProvenanceKind.STAND_IN
        return Provenance(kind=kind, title=f"{self.table.name}: {self.column}")

    def dataset(self) -> Dataset:
        """Encode both columns, once."""
        if not isinstance(self.declared, Grid):
            raise ParameterError(f"Two columns cannot be encoded as {self.declared.title}.")
        if "dataset" not in self._encoded:
            self._encoded["dataset"] = encode_pairs(
                self.table,
                columns=(self.column_name, self.second_name),
                domain=self.declared,
                provenance=self.provenance,
            )
        dataset: Dataset = self._encoded["dataset"]
        return dataset

    def code(self) -> list[str]:
        """Reading the reader's own copy of the file."""
        return [
            "import pandas as pd",
            "",
            "from dpcore import Grid, Line",
            "",
            *self.table.code(self.columns),
            f"domain = {self.declared!r}",
            f"dataset = dpcore.Dataset.from_frame(df, {list(self.columns)}, domain, private={self.private})",
        ]
