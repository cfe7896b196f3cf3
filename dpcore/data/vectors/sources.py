"""Where a page's unit vectors come from: a bundled sample, a generator, or an upload."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.core import Dataset, Floats, ParameterError, Provenance, ProvenanceKind
from dpcore.data.reading.tables import Table
from dpcore.data.samples import Sample, load_sample, sample
from dpcore.data.sources import Source
from dpcore.data.sphere import Sphere
from dpcore.data.vectors.encoding import Measure, encode_vectors
from dpcore.data.vectors.recipes import COORDINATES, RECIPES, VectorRecipe

SHARE = 0.6
"""Share of generated rows on the first side."""


class VectorSource(Source):
    """A choice of rows that become unit vectors."""

    @property
    @abstractmethod
    def domain(self) -> Sphere:
        """The sphere of so many dimensions."""

    @property
    def column(self) -> str:
        """A row as a whole."""
        return "row"

    @property
    def axes(self) -> tuple[str, str]:
        """What the two directions of the plane mean, in words."""
        return COORDINATES[:2]

    @property
    def space(self) -> tuple[str, str, str]:
        """What the coordinates mean, where there are three."""
        return COORDINATES

    def plane(self, *, tilt: float = 0.0) -> Floats:
        """Two unit directions at right angles, (2, d): the picture's axes, and the great circle it turns in.

        In three dimensions the second is lifted by so many degrees.
        """
        d = self.domain.dimensions
        spanned = np.eye(2, d)
        if d == 3:
            spanned[1] = (0.0, np.cos(np.radians(tilt)), np.sin(np.radians(tilt)))
        return spanned


@dataclass(frozen=True, kw_only=True)
class BundledVectors(VectorSource):
    """A real sample's rows."""

    recipe_key: str

    def __post_init__(self) -> None:
        if self.recipe_key not in RECIPES:
            raise ParameterError(f"Vectors must be one of {', '.join(RECIPES)}.")

    @property
    def recipe(self) -> VectorRecipe:
        """Its columns and plane."""
        return RECIPES[self.recipe_key]

    @property
    def sample(self) -> Sample:
        """The sample's notes."""
        return sample(self.recipe.sample_key)

    @property
    def key(self) -> str:
        """The recipe."""
        return f"vectors:{self.recipe_key}"

    @property
    def provenance(self) -> Provenance:
        """A public sample."""
        return Provenance(
            kind=ProvenanceKind.BUNDLED,
            title=f"{self.sample.title}: {self.recipe.title}",
            source=self.sample.attribution,
        )

    @property
    def domain(self) -> Sphere:
        """One dimension per column."""
        return Sphere(dimensions=len(self.recipe.measures))

    @property
    def axes(self) -> tuple[str, str]:
        """As told."""
        return self.recipe.axes

    @property
    def space(self) -> tuple[str, str, str]:
        """As told."""
        return self.recipe.space

    def plane(self, *, tilt: float = 0.0) -> Floats:
        """As told, or the usual one."""
        if not self.recipe.plane:
            return super().plane(tilt=tilt)
        spanned = np.array(self.recipe.plane)
        unit: Floats = spanned / np.linalg.norm(spanned, axis=1, keepdims=True)
        return unit

    def dataset(self) -> Dataset:
        """Read the columns."""
        return encode_vectors(
            load_sample(self.recipe.sample_key), measures=self.recipe.measures, provenance=self.provenance
        )

    def code(self) -> list[str]:
        """One call."""
        return [
            "from dpcore.data.vectors import BundledVectors",
            "",
            f"source = BundledVectors(recipe_key={self.recipe_key!r})",
            "dataset = source.dataset()",
        ]


@dataclass(frozen=True, kw_only=True)
class GeneratedVectors(VectorSource):
    """Two clouds of unit vectors on either side of the plane of the first axis, none nearer to it than the margin."""

    n: int = 10_000
    dimensions: int = 10
    margin: float = 0.5
    seed: int = 1

    def __post_init__(self) -> None:
        if not (self.n >= 1 and self.dimensions >= 2 and 0 <= self.margin < 1):
            raise ParameterError("Generated vectors need rows, two dimensions or more, and a margin below 1.")

    @property
    def key(self) -> str:
        """All parameters."""
        return f"vectors:generated:{self.n}:{self.dimensions}:{self.margin}:{self.seed}"

    @property
    def provenance(self) -> Provenance:
        """Nobody's data."""
        return Provenance(kind=ProvenanceKind.GENERATED, title=f"two clouds, margin {self.margin:g}, {self.n:,} rows")

    @property
    def domain(self) -> Sphere:
        """As asked."""
        return Sphere(dimensions=self.dimensions)

    def dataset(self) -> Dataset:
        """Draw the rows: how far from the plane uniformly between margin and 1, where along it in any direction."""
        generator = np.random.Generator(np.random.SFC64(self.seed))
        side = np.where(generator.random(self.n) < SHARE, 1.0, -1.0)
        # A thousandth more: rounding must not take a row below the margin.
        height = self.margin + (1 - self.margin) * (0.001 + 0.999 * generator.random(self.n))
        along = generator.standard_normal((self.n, self.dimensions - 1))
        along *= (np.sqrt(1 - height**2) / np.linalg.norm(along, axis=1))[:, None]
        return Dataset(self.domain, np.concatenate([(side * height)[:, None], along], axis=1), self.provenance)

    def code(self) -> list[str]:
        """One call."""
        return [
            "from dpcore.data.vectors import GeneratedVectors",
            "",
            f"source = GeneratedVectors(n={self.n}, dimensions={self.dimensions}, margin={self.margin}, "
            f"seed={self.seed})",
            "dataset = source.dataset()",
        ]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UploadedVectors(VectorSource):
    """Columns of a file somebody brought, with ranges they declared. Lives in one session."""

    table: Table
    measures: tuple[Measure, ...]
    private: bool
    digest: str
    _encoded: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Digest of the file's bytes and what was declared; never leaves the session."""
        return f"vectors:upload:{self.digest}:{self.measures!r}:{self.private}"

    @property
    def provenance(self) -> Provenance:
        """Private, or a public stand-in."""
        kind = ProvenanceKind.PRIVATE if self.private else ProvenanceKind.STAND_IN
        return Provenance(kind=kind, title=f"{self.table.name}: {len(self.measures)} columns")

    @property
    def domain(self) -> Sphere:
        """One dimension per column."""
        return Sphere(dimensions=len(self.measures))

    @property
    def axes(self) -> tuple[str, str]:
        """The first two columns."""
        return (f"larger {self.measures[0].column}", f"larger {self.measures[1].column}")

    def dataset(self) -> Dataset:
        """Encode the columns, once."""
        if "dataset" not in self._encoded:
            self._encoded["dataset"] = encode_vectors(self.table, measures=self.measures, provenance=self.provenance)
        dataset: Dataset = self._encoded["dataset"]
        return dataset

    def code(self) -> list[str]:
        """Reading the reader's own copy of the file."""
        return [
            "import pandas as pd",
            "",
            "from dpcore.data.frames import read_frame",
            "from dpcore.data.vectors import Measure, encode_vectors",
            "",
            *self.table.code([measure.column for measure in self.measures]),
            "table = read_frame(df)",
            f"provenance = dpcore.Provenance(kind=dpcore.ProvenanceKind.{self.provenance.kind.name}, title='my file')",
            f"dataset = encode_vectors(table, measures={self.measures!r}, provenance=provenance)",
        ]
