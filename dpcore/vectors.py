"""Data whose rows become unit vectors: real samples, generated ones with a margin, and columns of somebody's own file.

Bounds and directions are public: middles, scales and the two directions that span a picture are declared here, never
read off the data.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.core import Dataset, Floats, ParameterError, Provenance, ProvenanceKind
from dpcore.samples import Sample, load_sample, sample
from dpcore.sources import Source
from dpcore.sphere import Sphere
from dpcore.tables import Table

SHARE = 0.6
"""Share of generated rows on the first side."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A column and the declared range whose middle becomes 0 and whose ends become -1 and 1."""

    column: str
    low: float = -1.0
    high: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A sample's columns as coordinates, and the plane its pictures show.

    Attributes:
        sample_key: the bundled sample.
        title: what the rows are.
        story: one line on what a direction asks.
        measures: one per dimension.
        plane: two directions at right angles, (2, d); none for the first two axes.
        axes: what the first and the second direction of the plane mean, in words.
    """

    sample_key: str
    title: str
    story: str
    measures: tuple[Measure, ...]
    plane: tuple[tuple[float, ...], ...] = ()
    axes: tuple[str, str] = ("first coordinate", "second coordinate")


_LEVELS = tuple(float(each) for each in np.arange(8) - 3.5)
RECIPES = {
    "cities": Recipe(
        sample_key="cities",
        title="Cities on the globe",
        story="How many places of more than 15,000 people lie in the hemisphere around a point of the globe?",
        measures=tuple(Measure(column=column) for column in ("ux", "uy", "uz")),
        axes=("towards 0° N 0° E", "a quarter turn on"),
    ),
    "penguins": Recipe(
        sample_key="penguins",
        title="Penguins, two measurements",
        story="Bill length against flipper length, each from the middle of its declared range: which penguins lean to "
        "long bills, which to long flippers?",
        measures=(
            Measure(column="bill_length_mm", low=30, high=60),
            Measure(column="flipper_length_mm", low=170, high=230),
        ),
        axes=("longer bill", "longer flipper"),
    ),
    "penguins-raw": Recipe(
        sample_key="penguins",
        title="Penguins, the same as they come",
        story="Both lengths in millimetres, nothing taken off: all rows crowd into a few degrees, and a direction at a "
        "right angle to them cuts the crowd.",
        measures=(
            Measure(column="bill_length_mm", low=-60, high=60),
            Measure(column="flipper_length_mm", low=-230, high=230),
        ),
        axes=("longer bill", "longer flipper"),
    ),
    "digits": Recipe(
        sample_key="digits",
        title="Handwritten digits, 64 pixels",
        story="Has a digit more ink on one side than on the other? The direction turns the line through its middle.",
        measures=tuple(Measure(column=f"p{pixel:02d}", low=-16, high=16) for pixel in range(64)),
        plane=(_LEVELS * 8, tuple(level for level in _LEVELS for _ in range(8))),
        axes=("more ink on the right", "more ink below"),
    ),
}


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
        return ("first coordinate", "second coordinate")

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
    def recipe(self) -> Recipe:
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
            "from dpcore.vectors import BundledVectors",
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
            "from dpcore.vectors import GeneratedVectors",
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
            "from pathlib import Path",
            "",
            "from dpcore.tables import read_table",
            "from dpcore.vectors import Measure, encode_vectors",
            "",
            f"table = read_table(Path({self.table.name!r}), name={self.table.name!r})",
            f"provenance = dpcore.Provenance(kind=dpcore.ProvenanceKind.{self.provenance.kind.name}, title='my file')",
            f"dataset = encode_vectors(table, measures={self.measures!r}, provenance=provenance)",
        ]


def encode_vectors(table: Table, *, measures: tuple[Measure, ...], provenance: Provenance) -> Dataset:
    """Rows of several columns, each scaled by its declared range, as unit vectors; what is missing stays in n.

    Raises:
        DataError: the table has no such column.
    """
    scaled = [
        (table.numbers(each.column) - (each.low + each.high) / 2) / ((each.high - each.low) / 2) for each in measures
    ]
    return Dataset(Sphere(dimensions=len(measures)), np.stack(scaled, axis=1), provenance)
