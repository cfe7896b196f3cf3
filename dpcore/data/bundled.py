"""What is read of the bundled samples: declared columns, places to cut numbers, predicates, and vectors.

Bounds, cuts, middles and directions are round public knowledge, never read off the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpcore.core import Domain, ParameterError
from dpcore.data.attributes import Attributes
from dpcore.data.cube import Predicate, one_hot, thresholds
from dpcore.data.dates import Calendar
from dpcore.data.declared import ranged
from dpcore.data.domains import Categories, Grid, Grouped, Labelled, Line
from dpcore.data.readings import Coded, Columns, Measure, Several, Vectors, YesNo
from dpcore.data.samples import ColumnSuggestion, sample
from dpcore.data.sources import SIDE_BITS, Bundled, Source


def suggested_domain(suggestion: ColumnSuggestion, *, bits: int | None = None) -> Line | Categories:
    """The domain a bundled column is declared with: public bounds or labels, and a cell for what does not fit.

    ``bits`` say how finely a number is cut; a date's cells are its units.
    """
    if suggestion.kind == "category":
        return Categories(labels=suggestion.labels)
    if suggestion.kind == "date":
        step, clamp = suggestion.step, suggestion.clamp
        return Calendar(step=step, first=suggestion.first, last=suggestion.last, missing=True, clamp=clamp)
    return Line(
        low=suggestion.low,
        high=suggestion.high,
        bits=bits or suggestion.bits,
        missing=True,
        clamp=suggestion.clamp,
        unit=suggestion.unit,
    )


def bundled(sample_key: str, *columns: str, bits: int | None = None) -> Source:
    """A column of a sample; two numbers, or a number and labels, as a map; or a column with groups and a number.

    ``bits`` cut a number's line, or each side of a grid; if it is None, as many as suggested.

    >>> bundled("penguins", "island", "body_mass_g").domain.title
    'a number and its group'

    Raises:
        ParameterError: there is no such sample, or no such column in it.
    """
    suggestions = {each.column: each for each in sample(sample_key).columns}
    if not set(columns) <= set(suggestions):
        raise ParameterError("The sample has no such column.")
    kinds = tuple(suggestions[column].kind for column in columns)
    sides = bits or SIDE_BITS if len(kinds) == 2 and kinds[0] == "number" else bits
    parts = [suggested_domain(suggestions[column], bits=sides) for column in columns]
    on: Domain
    match parts:
        case [alone]:
            on = alone
        case [Line() as first, Line() as second]:
            on = Grid(first=first, second=second, names=(columns[0], columns[1]))
        case [Line() as first, Categories() as labels]:
            on = Grid(first=first, second=Labelled(of=labels), names=(columns[0], columns[1]))
        case [Categories() as groups, Line() as line]:
            on = Grouped(labels=groups.labels, line=line)
        case _:
            raise ParameterError("A column, two numbers, or groups and a number are read together.")
    return Source(origin=Bundled(sample_key=sample_key), reading=Columns(names=columns, on=on))


def group_columns(sample_key: str) -> tuple[ColumnSuggestion, ...]:
    """The columns of a sample that name groups: those with labels."""
    return tuple(each for each in sample(sample_key).columns if each.kind == "category" and len(each.labels) > 1)


def _named(column: str, kind: str, value: str | float, name: str) -> Predicate:
    return Predicate(column=column, kind=kind, value=value, name=name)


PREDICATES: Mapping[str, tuple[Predicate, ...]] = {
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
"""By sample: what is asked of its columns."""
CUTS: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    "adult": {"age": (25, 40, 65), "hours_per_week": (40, 50), "capital_gain": (1,), "capital_loss": (1,)},
    "census": {"age": (18, 40, 65), "income": (25_000, 50_000, 100_000), "hrs_work": (35,), "time_to_work": (30,)},
    "penguins": {"flipper_length_mm": (190, 210), "body_mass_g": (3_500, 4_500)},
}
"""By sample: where its numbers are cut."""


BOXES: Mapping[str, tuple[str, ...]] = {
    "earnings": ("earnings", "age", "education"),
    "census": ("age", "income", "hrs_work"),
    "cities": ("longitude", "latitude", "population"),
}
"""By sample: numbers worth looking at together."""


def ranges_of(sample_key: str, *columns: str) -> Source:
    """Numbers of a sample as categories of a few ranges each.

    Raises:
        ParameterError: there is no such sample or number.
    """
    suggestions = {each.column: each for each in sample(sample_key).columns if each.kind == "number"}
    if not set(columns) <= set(suggestions):
        raise ParameterError("The sample has no such number.")
    kinds = [suggested_domain(suggestions[column]) for column in columns]
    on = Attributes(names=columns, columns=tuple(ranged(kind) for kind in kinds if isinstance(kind, Line)))
    return Source(origin=Bundled(sample_key=sample_key), reading=Columns(names=columns, on=on))


def yes_no_of(sample_key: str) -> Source:
    """A sample's predicates."""
    reading = YesNo(predicates=PREDICATES[sample_key])
    return Source(origin=Bundled(sample_key=sample_key), reading=reading, name=f"yes_no_of({sample_key!r})")


def survey_of(sample_key: str, *, answers: bool = False, chosen: tuple[str, ...] = ()) -> Source:
    """Attributes of a sample: its labels and cut numbers, or yes/no answers about them.

    Args:
        sample_key: one of CUTS, or of PREDICATES for answers.
        answers: yes/no answers instead of categories.
        chosen: names of the attributes, which come in the sample's order; all of them where empty.

    Raises:
        ParameterError: there is no such sample or attribute.
    """
    if sample_key not in (PREDICATES if answers else CUTS):
        raise ParameterError("No bundled sample of this name has such attributes.")
    every = PREDICATES[sample_key] if answers else _coded(sample_key)
    if unknown := set(chosen) - {each.name for each in every}:
        raise ParameterError(f"There is no attribute named “{min(unknown)}”.")
    told = repr(sample_key) + ", answers=True" * answers + (f", chosen={chosen!r}" if chosen else "")
    kept = tuple(each for each in every if not chosen or each.name in chosen)
    return Source(origin=Bundled(sample_key=sample_key), reading=Several(attributes=kept), name=f"survey_of({told})")


def _coded(sample_key: str) -> tuple[Coded, ...]:
    """The sample's labels, and its numbers in ranges."""
    cuts = CUTS[sample_key]
    return tuple(
        Coded(
            column=each.column,
            name=each.title,
            labels=each.labels if each.kind == "category" else _ranges(cuts[each.column]),
            cuts=cuts.get(each.column, ()),
        )
        for each in sample(sample_key).columns
        if each.kind == "category" or each.column in cuts
    )


def _ranges(cuts: tuple[int, ...]) -> tuple[str, ...]:
    """What the ranges between the cuts are called."""
    places = [f"{cut:,}" for cut in cuts]
    return (f"below {places[0]}", *(f"{low} to {high}" for low, high in pairwise(places)), f"{places[-1]} or more")


@dataclass(frozen=True, kw_only=True)
class VectorSample:
    """Numbers of a sample that are read as vectors, and one line on what a direction asks of them."""

    sample_key: str
    story: str
    reading: Vectors


_LEVELS = tuple(float(each) for each in np.arange(8) - 3.5)
VECTORS: Mapping[str, VectorSample] = {
    "cities": VectorSample(
        sample_key="cities",
        story="How many places of more than 15,000 people lie in the hemisphere around a point of the globe?",
        reading=Vectors(
            words="Cities on the globe",
            measures=tuple(Measure(column=column) for column in ("ux", "uy", "uz")),
            axes=("towards 0° N 0° E", "a quarter turn on"),
            space=("0° N 0° E", "0° N 90° E", "north pole"),
        ),
    ),
    "penguins": VectorSample(
        sample_key="penguins",
        story="Bill length against flipper length, each from the middle of its declared range: which penguins lean to "
        "long bills, which to long flippers?",
        reading=Vectors(
            words="Penguins, two measurements",
            measures=(
                Measure(column="bill_length_mm", low=30, high=60),
                Measure(column="flipper_length_mm", low=170, high=230),
            ),
            axes=("longer bill", "longer flipper"),
        ),
    ),
    "penguins-raw": VectorSample(
        sample_key="penguins",
        story="Both lengths in millimetres, nothing taken off: all rows crowd into a few degrees, and a direction at a "
        "right angle to them cuts the crowd.",
        reading=Vectors(
            words="Penguins, the same as they come",
            measures=(
                Measure(column="bill_length_mm", low=-60, high=60),
                Measure(column="flipper_length_mm", low=-230, high=230),
            ),
            axes=("longer bill", "longer flipper"),
        ),
    ),
    "digits": VectorSample(
        sample_key="digits",
        story="Has a digit more ink on one side than on the other? The direction turns the line through its middle.",
        reading=Vectors(
            words="Handwritten digits, 64 pixels",
            measures=tuple(Measure(column=f"p{pixel:02d}", low=-16, high=16) for pixel in range(64)),
            spanned=(_LEVELS * 8, tuple(level for level in _LEVELS for _ in range(8))),
            axes=("more ink on the right", "more ink below"),
        ),
    ),
}
"""By link value: samples as vectors."""


def vectors_of(key: str) -> Source:
    """A sample's rows as vectors.

    Raises:
        ParameterError: it is none of VECTORS.
    """
    if key not in VECTORS:
        raise ParameterError(f"Vectors must be one of {', '.join(VECTORS)}.")
    told = VECTORS[key]
    return Source(origin=Bundled(sample_key=told.sample_key), reading=told.reading, name=f"vectors_of({key!r})")
