"""Readings of the bundled samples: a column, two side by side, ranges, attributes, predicates, or vectors."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from dpcore.core import ParameterError
from dpcore.data.columns import Labels, Number, is_labels, is_number
from dpcore.data.dates import is_dates
from dpcore.data.declarations import DeclaredTable, bin_ranges
from dpcore.data.product import Product
from dpcore.data.readings import Coded, Columns, Several, YesNo
from dpcore.data.samples import SAMPLES, Sample, sample
from dpcore.data.sources import SIDE_BITS, Bundled, Source

VECTORS = {vectors.key: vectors for one in SAMPLES for vectors in one.vectors}
"""By link value: samples as vectors."""
ANSWERED = tuple(one.key for one in SAMPLES if one.predicates)
"""Samples with yes/no attributes."""
CUT = tuple(one.key for one in SAMPLES if one.cuts)
"""Samples whose labels and cut numbers are attributes."""
BOXED = tuple(one.key for one in SAMPLES if one.boxes)
"""Samples with numbers worth looking at together."""


def bundled(sample_key: str, *columns: str, bits: int | None = None) -> Source:
    """Return a column of a sample; two numbers, or a number and labels, as a map; or a column with groups and a number.

    ``bits`` cut a number, or each side of a map that begins with one; if it is None, as many as suggested.

    >>> bundled("penguins", "island", "body_mass_g").domain.title
    'a number and its group'

    Raises:
        ParameterError: there is no such sample, or no such column in it.
    """
    domains = [sample(sample_key).column(column).on for column in columns]
    if len(domains) == 2 and is_number(domains[0]):
        bits = bits or SIDE_BITS
    parts = [replace(on, bits=bits) if bits and is_number(on) and not is_dates(on) else on for on in domains]
    on: Number | Labels | Product
    match parts:
        case [alone]:
            on = alone
        case [first, second] if is_number(first) or is_number(second):
            on = Product.map(first, second, names=(columns[0], columns[1]))
        case _:
            raise ParameterError("A column, two numbers, or groups and a number are read together.")
    return Source(origin=Bundled(sample_key=sample_key), reading=Columns(names=columns, on=on))


def ranges_of(sample_key: str, *columns: str) -> Source:
    """Return the numbers of a sample as attributes of a few ranges each.

    Raises:
        ParameterError: there is no such sample or number.
    """
    domains = [sample(sample_key).column(column).on for column in columns]
    numbers = tuple(bin_ranges(on) for on in domains if is_number(on))
    if len(numbers) < len(domains):
        raise ParameterError("The sample has no such number.")
    return Source(
        origin=Bundled(sample_key=sample_key),
        reading=Columns(names=columns, on=Product(names=columns, columns=numbers)),
    )


def yes_no_of(sample_key: str) -> Source:
    """Return a sample's predicates.

    Raises:
        ParameterError: there is no such sample, or it has none.
    """
    reading = YesNo(predicates=_with_attributes(sample_key, answers=True).predicates)
    return Source(origin=Bundled(sample_key=sample_key), reading=reading, name=f"yes_no_of({sample_key!r})")


def survey_of(sample_key: str, *, answers: bool = False, chosen: tuple[str, ...] = ()) -> Source:
    """Return the attributes of a sample: its labels and cut numbers, or yes/no answers about them.

    Args:
        sample_key: one of CUT, or of ANSWERED for answers.
        answers: yes/no answers instead of categories.
        chosen: names of the attributes, which come in the sample's order; all of them where empty.

    Raises:
        ParameterError: there is no such sample or attribute.
    """
    source = _with_attributes(sample_key, answers=answers)
    every = source.predicates if answers else _coded(source)
    if unknown := set(chosen) - {each.name for each in every}:
        raise ParameterError(f"There is no attribute named “{min(unknown)}”.")
    arguments = repr(sample_key) + ", answers=True" * answers + (f", chosen={chosen!r}" if chosen else "")
    attributes = tuple(each for each in every if not chosen or each.name in chosen)
    return Source(
        origin=Bundled(sample_key=sample_key), reading=Several(attributes=attributes), name=f"survey_of({arguments})"
    )


def whole_of(sample_key: str, *, chosen: tuple[str, ...] = ()) -> Source:
    """Return the columns of a sample as attributes: its labels, and its numbers in a few ranges of equal length.

    Raises:
        ParameterError: there is no such sample or column.
    """
    columns = sample(sample_key).columns
    if unknown := set(chosen) - {each.name for each in columns}:
        raise ParameterError(f"There is no column named “{min(unknown)}”.")
    reading = DeclaredTable(columns=columns).whole(
        *(each.name for each in columns if not chosen or each.name in chosen)
    )
    arguments = repr(sample_key) + (f", chosen={chosen!r}" if chosen else "")
    return Source(origin=Bundled(sample_key=sample_key), reading=reading, name=f"whole_of({arguments})")


def _with_attributes(sample_key: str, *, answers: bool) -> Sample:
    if sample_key not in (ANSWERED if answers else CUT):
        raise ParameterError("No bundled sample of this name has such attributes.")
    return sample(sample_key)


def _coded(source: Sample) -> tuple[Coded, ...]:
    """Return the sample's labels, and its numbers in ranges."""
    return tuple(
        Coded(
            column=each.name,
            name=each.title,
            labels=each.on.labels if is_labels(each.on) else _ranges(source.cuts[each.name]),
            cuts=source.cuts.get(each.name, ()),
        )
        for each in source.columns
        if is_labels(each.on) or each.name in source.cuts
    )


def _ranges(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """Return the names of the ranges between the cuts."""
    places = [f"{cut:,}" for cut in cuts]
    return (f"below {places[0]}", *(f"{low} to {high}" for low, high in pairwise(places)), f"{places[-1]} or more")


def vectors_of(key: str) -> Source:
    """Return a sample's rows as vectors.

    Raises:
        ParameterError: it is none of VECTORS.
    """
    if key not in VECTORS:
        raise ParameterError(f"Vectors must be one of {', '.join(VECTORS)}.")
    vectors = VECTORS[key]
    return Source(origin=Bundled(sample_key=vectors.sample_key), reading=vectors.reading, name=f"vectors_of({key!r})")
