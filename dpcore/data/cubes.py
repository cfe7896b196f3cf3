"""Data whose rows are yes/no attributes: generated ones, predicates on real samples, and on somebody's own file."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from dpcore.core import Dataset, Provenance, ProvenanceKind
from dpcore.data.correlated import correlated_domain, correlated_rows
from dpcore.data.cube import Cube, Predicate, cube_of, judged, one_hot, thresholds
from dpcore.data.reading.tables import Table
from dpcore.data.samples import Sample, load_sample, sample
from dpcore.data.sources import Source, held_by


def _named(column: str, kind: str, value: str | float, name: str) -> Predicate:
    return Predicate(column=column, kind=kind, value=value, name=name)


PREDICATES: dict[str, tuple[Predicate, ...]] = {
    "adult": (
        _named("sex", "is", "Female", "female"),
        _named("income", "is", ">50K", "earns above 50K"),
        *thresholds("age", 25, 40, 65),
        _named("hours_per_week", "at least", 40, "works 40 hours or more"),
        _named("hours_per_week", "at least", 50, "works 50 hours or more"),
        _named("capital_gain", "at least", 1, "has a capital gain"),
        _named("capital_loss", "at least", 1, "has a capital loss"),
        *one_hot("race", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo"),
        *one_hot("relationship", "Husband", "Wife", "Own-child", "Not-in-family", "Unmarried"),
    ),
    "census": (
        *thresholds("age", 18, 40, 65),
        *thresholds("income", 25_000, 50_000, 100_000),
        _named("hrs_work", "at least", 35, "works 35 hours or more"),
        _named("time_to_work", "at least", 30, "30 minutes or more to work"),
        *one_hot("employment", "employed", "unemployed"),
        *one_hot("edu", "college", "grad"),
        *one_hot("race", "asian", "black"),
        _named("gender", "is", "female", "female"),
        _named("married", "is", "yes", "married"),
        _named("citizen", "is", "no", "not a citizen"),
        _named("disability", "is", "yes", "has a disability"),
    ),
}
"""By bundled sample: what is asked of its columns; round public thresholds, as its declared bounds are."""


class CubeSource(Source):
    """A choice of rows of yes/no attributes."""

    @property
    @abstractmethod
    def domain(self) -> Cube:
        """The attributes."""

    @property
    def column(self) -> str:
        """A row as a whole."""
        return "row"


@dataclass(frozen=True, kw_only=True)
class GeneratedCube(CubeSource):
    """Seeded rows of a dozen groups."""

    n: int
    attributes: int
    seed: int = 1

    @property
    def key(self) -> str:
        """All parameters."""
        return f"cube:{self.n}:{self.attributes}:{self.seed}"

    @property
    def provenance(self) -> Provenance:
        """Nobody's data."""
        title = f"{self.attributes} attributes that go together, {self.n:,} rows"
        return Provenance(kind=ProvenanceKind.GENERATED, title=title)

    @property
    def domain(self) -> Cube:
        """Attributes a1, a2, ..."""
        return correlated_domain(self.attributes)

    @property
    def public_rows(self) -> int:
        """As asked."""
        return self.n

    def dataset(self) -> Dataset:
        """Draw the rows."""
        rows = correlated_rows(n=self.n, attributes=self.attributes, seed=self.seed)
        return Dataset(self.domain, rows, self.provenance)

    def code(self) -> list[str]:
        """One call."""
        return [
            "from dpcore.data.cubes import GeneratedCube",
            "",
            f"dataset = GeneratedCube(n={self.n}, attributes={self.attributes}, seed={self.seed}).dataset()",
        ]


@dataclass(frozen=True, kw_only=True)
class BundledCube(CubeSource):
    """Predicates on a real sample."""

    sample_key: str

    @property
    def sample(self) -> Sample:
        """The sample's notes."""
        return sample(self.sample_key)

    @property
    def key(self) -> str:
        """The sample."""
        return f"cube:{self.sample_key}"

    @property
    def provenance(self) -> Provenance:
        """A public sample."""
        title = f"{self.sample.title}: {self.domain.attributes} yes/no attributes"
        return Provenance(kind=ProvenanceKind.BUNDLED, title=title, source=self.sample.attribution)

    @property
    def domain(self) -> Cube:
        """The predicates' names."""
        return cube_of(PREDICATES[self.sample_key])

    def dataset(self) -> Dataset:
        """Judge every row."""
        rows = judged(load_sample(self.sample_key), PREDICATES[self.sample_key])
        return Dataset(self.domain, rows, self.provenance)

    def code(self) -> list[str]:
        """One call."""
        return [
            "from dpcore.data.cubes import BundledCube",
            "",
            f"dataset = BundledCube(sample_key={self.sample_key!r}).dataset()",
        ]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UploadedCube(CubeSource):
    """Predicates on a file somebody brought, as they declared them. Lives in one session."""

    table: Table
    predicates: tuple[Predicate, ...]
    private: bool
    digest: str
    _judged: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Digest of the file's bytes and the predicates; never leaves the session."""
        return f"cube:upload:{self.digest}:{self.predicates!r}:{self.private}"

    @property
    def provenance(self) -> Provenance:
        """Private, or a public stand-in."""
        kind = ProvenanceKind.PRIVATE if self.private else ProvenanceKind.STAND_IN
        return Provenance(kind=kind, title=f"{self.table.name}: {len(self.predicates)} yes/no attributes")

    @property
    def domain(self) -> Cube:
        """The predicates' names."""
        return cube_of(self.predicates)

    def dataset(self) -> Dataset:
        """Judge every row, once."""
        if "dataset" not in self._judged:
            self.table.reserve(len(self.predicates))  # a byte each for yes and no
            rows = judged(self.table, self.predicates)
            self._judged["dataset"] = held_by(self.table, Dataset(self.domain, rows, self.provenance))
        dataset: Dataset = self._judged["dataset"]
        return dataset

    def code(self) -> list[str]:
        """Reading the reader's own copy of the file."""
        return [
            "import pandas as pd",
            "",
            "from dpcore.data.cube import Predicate, cube_of, judged",
            "from dpcore.data.frames import read_frame",
            "",
            *self.table.code([predicate.column for predicate in self.predicates]),
            "table = read_frame(df)",
            f"predicates = {list(self.predicates)!r}",
            f"provenance = dpcore.Provenance(kind=dpcore.ProvenanceKind.{self.provenance.kind.name}, title='my file')",
            "dataset = dpcore.Dataset(cube_of(predicates), judged(table, predicates), provenance)",
        ]
