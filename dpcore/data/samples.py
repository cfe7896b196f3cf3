"""Real public data sets that come with the project: each a Parquet file and a declaration in JSON beside it.

Bounds, labels, cuts and directions are round public knowledge (a week's hours, the globe's degrees, a questionnaire's
answers) that a stranger could declare before seeing the data, never the smallest and largest value found. A new sample
is these two files: the declaration has the fields of ``Sample`` but its key, which is the file's name, and ``order``,
its place among the samples. ``assets/SOURCES.md`` holds sources and licences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn
from dpcore.data.predicates import Predicate
from dpcore.data.readings import Measure, Vectors

if TYPE_CHECKING:
    from dpcore.data.reading.tables import Table

HERE = Path(__file__).resolve().parents[2]
FOLDER = next((place for name in ("assets", "dpscope/assets") if (place := HERE / name / "data").is_dir()), HERE)
"""In a checkout beside the package; a wheel has it among the app's files."""
WORDS = ("title", "story", "file", "licence", "attribution")
REQUIRED = {"order", "columns", *WORDS}
OPTIONAL = {"person", "pairs", "boxes", "cuts", "predicates", "vectors"}


@dataclass(frozen=True, kw_only=True)
class SampleColumn(DeclaredColumn):
    """A column worth looking at, and what its values are declared to be.

    Attributes:
        title: its name in words, with the unit where there is one.
    """

    title: str


@dataclass(frozen=True, kw_only=True)
class VectorSample:
    """Numbers of a sample that are read as vectors.

    Attributes:
        key: what links call it.
        sample_key: of the sample.
        story: one line on what a direction asks of them.
        reading: which numbers, and how they are scaled.
    """

    key: str
    sample_key: str
    story: str
    reading: Vectors


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One bundled file and its declaration.

    Attributes:
        key: what links and saved sessions call it; the declaration's file name.
        title: what people call it.
        story: one line on what is in it and why it is interesting here.
        file: file name in assets/data.
        licence: the terms it may be passed on under.
        attribution: whom to credit, fit to be printed beside a chart.
        columns: suggested columns.
        person: column that says whose row it is, where one person has several rows.
        pairs: pairs of columns worth looking at together, the first a number.
        boxes: numbers worth looking at together.
        cuts: where numbers are cut among attributes, by column.
        predicates: yes/no attributes.
        vectors: numbers read as vectors.
    """

    key: str
    title: str
    story: str
    file: str
    licence: str
    attribution: str
    columns: tuple[SampleColumn, ...]
    person: str | None
    pairs: tuple[tuple[str, str], ...]
    boxes: tuple[str, ...]
    cuts: Mapping[str, tuple[float, ...]]
    predicates: tuple[Predicate, ...]
    vectors: tuple[VectorSample, ...]

    def column(self, name: str) -> SampleColumn:
        """Return the column of this name.

        Raises:
            ParameterError: none is suggested.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise ParameterError("The sample has no such column.")

    @property
    def groups(self) -> tuple[SampleColumn, ...]:
        """The columns that name groups: those with two labels or more."""
        return tuple(column for column in self.columns if column.kind == "category" and column.on.ordered > 1)


def _column(declaration: Mapping[str, Any]) -> SampleColumn:
    """Return a column's declaration; every column has a cell for missing values."""
    on: Number | Labels
    if "number" in declaration:
        on = Number(missing=True, **declaration["number"])
    elif "dates" in declaration:
        on = Dates(missing=True, **declaration["dates"])
    else:
        on = Labels(labels=tuple(declaration["labels"]))
    return SampleColumn(name=declaration["name"], title=declaration["title"], on=on)


def _vectors(sample_key: str, declaration: Mapping[str, Any]) -> VectorSample:
    """Return a declaration of vectors."""
    words = {name: tuple(declaration[name]) for name in ("axes", "space") if name in declaration}
    reading = Vectors(
        words=declaration["words"],
        measures=tuple(Measure(column=name, low=low, high=high) for name, low, high in declaration["measures"]),
        spanned=tuple(map(tuple, declaration.get("spanned", ()))),
        **words,
    )
    return VectorSample(key=declaration["key"], sample_key=sample_key, story=declaration["story"], reading=reading)


def read_declaration(path: Path) -> tuple[int, Sample]:
    """Return a declaration, and the place in which it is offered.

    Raises:
        ParameterError: a field is missing, or there is one that no sample has.
    """
    declaration = json.loads(path.read_text(encoding="utf-8"))
    missing, unknown = REQUIRED - declaration.keys(), declaration.keys() - REQUIRED - OPTIONAL
    if missing or unknown:
        raise ParameterError(f"{path.name}: missing fields {sorted(missing)}, unknown fields {sorted(unknown)}.")
    return declaration["order"], Sample(
        key=path.stem,
        **{name: declaration[name] for name in WORDS},
        columns=tuple(map(_column, declaration["columns"])),
        person=declaration.get("person"),
        pairs=tuple(map(tuple, declaration.get("pairs", ()))),
        boxes=tuple(declaration.get("boxes", ())),
        cuts={name: tuple(cuts) for name, cuts in declaration.get("cuts", {}).items()},
        predicates=tuple(Predicate(**each) for each in declaration.get("predicates", ())),
        vectors=tuple(_vectors(path.stem, each) for each in declaration.get("vectors", ())),
    )


SAMPLES = tuple(
    declared for _, declared in sorted(map(read_declaration, FOLDER.glob("*.json")), key=lambda each: each[0])
)


def sample(key: str) -> Sample:
    """Return the sample of this key.

    Raises:
        ParameterError: there is none.
    """
    for one in SAMPLES:
        if one.key == key:
            return one
    raise ParameterError(f"The sample must be one of {', '.join(one.key for one in SAMPLES)}, got {key!r}.")


@cache
def load_sample(key: str) -> Table:
    """The sample's table, read once and by the same path as a stranger's file; public, so shared by all sessions."""
    from dpcore.data.reading.tables import read_table  # not above: whoever reads no sample waits for no database

    file = sample(key).file
    return read_table(FOLDER / file, name=file, header=True)
