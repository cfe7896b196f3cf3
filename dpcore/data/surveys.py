"""Rows of several categories from real samples: labels, numbers cut at round public places, or yes/no answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpcore.core import Dataset, Floats, Integers, ParameterError, Provenance, ProvenanceKind
from dpcore.data.attributes import Attributes
from dpcore.data.cubes import PREDICATES, BundledCube
from dpcore.data.domains import Categories
from dpcore.data.samples import YES_NO, ColumnSuggestion, Sample, load_sample, sample
from dpcore.data.sources import Source

CUTS: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    "adult": {"age": (25, 40, 65), "hours_per_week": (40, 50), "capital_gain": (1,), "capital_loss": (1,)},
    "census": {"age": (18, 40, 65), "income": (25_000, 50_000, 100_000), "hrs_work": (35,), "time_to_work": (30,)},
    "penguins": {"flipper_length_mm": (190, 210), "body_mass_g": (3_500, 4_500)},
}
"""By bundled sample: where its numbers are cut; round public places, as its declared bounds are."""


@dataclass(frozen=True, kw_only=True)
class Survey(Source):
    """Some attributes of a bundled sample.

    Attributes:
        sample_key: one of CUTS.
        yes_no: yes/no answers about the columns instead of their categories.
        chosen: names of the attributes; all of them where empty.

    Raises:
        ParameterError: there is no such sample or attribute.
    """

    sample_key: str
    yes_no: bool = False
    chosen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sample_key not in (PREDICATES if self.yes_no else CUTS):
            raise ParameterError("No bundled sample of this name has such attributes.")
        if unknown := set(self.chosen) - set(self._every):
            raise ParameterError(f"There is no attribute named “{min(unknown)}”.")

    @property
    def sample(self) -> Sample:
        """The sample's notes."""
        return sample(self.sample_key)

    @property
    def _every(self) -> dict[str, Categories]:
        """What each attribute can be, in the sample's order."""
        if self.yes_no:
            return {each.name: Categories(labels=YES_NO, missing=False) for each in PREDICATES[self.sample_key]}
        return {each.title: Categories(labels=self._labels(each)) for each in self._columns}

    @property
    def _columns(self) -> list[ColumnSuggestion]:
        cuts = CUTS[self.sample_key]
        return [each for each in self.sample.columns if each.kind == "category" or each.column in cuts]

    def _labels(self, column: ColumnSuggestion) -> tuple[str, ...]:
        """Declared labels, or the ranges between cuts."""
        if column.kind == "category":
            return column.labels
        places = [f"{cut:,}" for cut in CUTS[self.sample_key][column.column]]
        between = (f"{low} to {high}" for low, high in pairwise(places))
        return (f"below {places[0]}", *between, f"{places[-1]} or more")

    @property
    def names(self) -> tuple[str, ...]:
        """Attributes there are to choose from."""
        return tuple(self._every)

    @property
    def domain(self) -> Attributes:
        """The chosen attributes, in the sample's order."""
        kept = {name: column for name, column in self._every.items() if not self.chosen or name in self.chosen}
        return Attributes(names=tuple(kept), columns=tuple(kept.values()))

    @property
    def key(self) -> str:
        """The sample and its attributes."""
        return f"survey:{self.sample_key}:{self.yes_no}:{self.chosen!r}"

    @property
    def provenance(self) -> Provenance:
        """A public sample."""
        title = f"{self.sample.title}: {len(self.domain.names)} attributes"
        return Provenance(kind=ProvenanceKind.BUNDLED, title=title, source=self.sample.attribution)

    @property
    def column(self) -> str:
        """A row as a whole."""
        return "row"

    @property
    def columns(self) -> tuple[str, ...]:
        """The chosen attributes."""
        return self.domain.names

    def dataset(self) -> Dataset:
        """Read and code every row."""
        domain = self.domain
        if self.yes_no:
            cube = BundledCube(sample_key=self.sample_key).dataset()
            codes = [cube.records[:, self.names.index(name)].astype(np.int64) for name in domain.names]
        else:
            columns = {each.title: each for each in self._columns}
            codes = [self._codes(columns[name]) for name in domain.names]
        return Dataset(domain, domain.encode(codes), self.provenance)

    def _codes(self, column: ColumnSuggestion) -> Integers:
        table = load_sample(self.sample_key)
        if column.kind == "category":
            return table.labels(column.column, list(column.labels))
        return cut(table.numbers(column.column), CUTS[self.sample_key][column.column])

    def code(self) -> list[str]:
        """One call."""
        told = f"sample_key={self.sample_key!r}" + (", yes_no=True" if self.yes_no else "")
        told += f", chosen={self.chosen!r}" if self.chosen else ""
        return ["from dpcore.data.surveys import Survey", "", f"dataset = Survey({told}).dataset()"]


def cut(numbers: Floats, places: tuple[int, ...]) -> Integers:
    """Which range each number lies in, (n,): 0 below the first place; one more than the last for a missing number."""
    ranges: Integers = np.where(np.isnan(numbers), len(places) + 1, np.searchsorted(places, numbers, side="right"))
    return ranges
