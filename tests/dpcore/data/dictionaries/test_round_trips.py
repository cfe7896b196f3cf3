"""A declaration that is written as a data dictionary and read again is the same declaration."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpcore.core import ParameterError, is_visible
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Ages, Dates, written
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.dictionaries.codebook import read_codebook, write_codebook
from dpcore.data.dictionaries.description import DataDictionary, DescribedColumn
from dpcore.data.dictionaries.opening import open_dictionary
from dpcore.data.dictionaries.table_schema import OWN, write_table_schema

# What a page or a file can hold: no unpaired surrogates.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = TEXTS.filter(is_visible)
SPANS = {"day": (-20_000, 40_000), "week": (-3_000, 6_000), "month": (-700, 1_500), "year": (1, 9_999)}
"""Units that dates are drawn from: nearly all that a calendar of four digits has, of years all."""


@st.composite
def numbers(draw: st.DrawFn) -> Number:
    """Any bounds that make a domain."""
    finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)
    low, high = draw(finite), draw(finite)
    assume(low < high)
    missing = draw(st.booleans())
    clamp = draw(st.booleans()) or not missing
    bins = draw(st.integers(2, 2**16))
    try:
        return Number(low=low, high=high, bins=bins, missing=missing, clamp=clamp, unit=draw(TEXTS))
    except ParameterError:
        assume(False)
    raise AssertionError("not reached")


@st.composite
def dates(draw: st.DrawFn) -> Dates:
    """Dates in any unit."""
    step = draw(st.sampled_from([*SPANS]))
    first, last = sorted(draw(st.lists(st.integers(*SPANS[step]), min_size=2, max_size=2, unique=True)))
    missing = draw(st.booleans())
    clamp = draw(st.booleans()) or not missing
    return Dates(step=step, first=written(first, step), last=written(last, step), missing=missing, clamp=clamp)


LISTS = st.lists(TEXTS, min_size=1, max_size=8, unique=True).map(tuple)
CATEGORIES = st.builds(Labels, labels=LISTS, missing=st.booleans())
ANSWERS = st.builds(Labels, yes_no=st.just(True), missing=st.booleans())


def wholes(low: int, cells: int, *, missing: bool) -> Number:
    """Whole numbers from one on."""
    return Number(low=low - 0.5, high=low + cells - 0.5, bins=cells, missing=missing)


WHOLE = st.builds(wholes, st.integers(-(10**6), 10**6), st.integers(2, 1100), missing=st.booleans())
AGES = st.builds(lambda day: Ages(day=written(day, "day"), missing=True), st.integers(*SPANS["day"]))
DOMAINS = st.one_of(numbers(), WHOLE, AGES, dates(), CATEGORIES, ANSWERS)


@st.composite
def declarations(draw: st.DrawFn) -> DeclaredTable:
    """Tables of up to six columns of every kind, whose unit of privacy is a row or a person."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    columns = tuple(DeclaredColumn(name=name, on=draw(DOMAINS), used=draw(st.booleans())) for name in names)
    person = draw(st.sampled_from(["", "who", names[0]]))
    return DeclaredTable(columns=columns, person=person, person_rows=draw(st.integers(1, 1000)) if person else 1)


@given(declarations())
@settings(max_examples=60, deadline=None)
def test_a_declaration_is_the_same_after_table_schema(table: DeclaredTable) -> None:
    text = write_table_schema(DataDictionary.of(table))
    assert open_dictionary(text.encode(), name="schema.json").declared() == table


def as_in_a_file(table: DeclaredTable) -> DeclaredTable:
    """The declaration as the grid of a file has it, which is what a codebook states."""
    columns = []
    for each in table.columns:
        on = replace(each.on, missing=True)
        if isinstance(on, Number) and not isinstance(on, Dates):
            on = replace(on, unit=on.unit.strip())
        columns.append(replace(each, on=on, name=each.name.strip()))
    return DeclaredTable(columns=tuple(columns))


PLAIN = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)


@given(
    st.lists(PLAIN.filter(is_visible), min_size=1, max_size=6, unique=True).flatmap(
        lambda names: st.tuples(*(
            st.builds(
                DeclaredColumn, name=st.just(name), used=st.booleans(),
                on=st.one_of(
                    numbers().map(lambda on: replace(on, unit="km")), dates(), ANSWERS,
                    st.builds(Labels, labels=st.lists(PLAIN, min_size=1, max_size=8, unique=True).map(tuple)),
                ),
            ) for name in names
        ))
    )
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_declaration_is_the_same_after_a_codebook(columns: tuple[DeclaredColumn, ...]) -> None:
    table = as_in_a_file(DeclaredTable(columns=columns))
    assert read_codebook(write_codebook(DataDictionary.of(table))).declared() == table


def test_a_program_that_drops_our_property_leaves_bounds_and_labels() -> None:
    """The control of the round trips: what stands in the property alone is then no longer the same."""
    columns = (
        DeclaredColumn(name="pay", on=Number(low=0, high=90, bins=9, missing=True, unit="EUR")),
        DeclaredColumn(name="seen", on=Dates(step="week", first="2024-W09", last="2024-W10", missing=True)),
    )
    table = DeclaredTable(columns=columns)
    schema = json.loads(write_table_schema(DataDictionary.of(table)))
    assert schema["fields"][1]["constraints"] == {"minimum": "2024-02-26", "maximum": "2024-03-10"}
    for field in schema["fields"]:
        del field[OWN]
    read = open_dictionary(json.dumps(schema).encode(), name="schema.json").declared()
    assert read.columns[0].on == Number(low=0, high=90, missing=True)
    assert read.columns[1].on == Dates(step="day", first="2024-02-26", last="2024-03-10", missing=True)
    assert read != table


def test_what_is_not_declared_yet_is_written_as_far_as_it_is() -> None:
    columns = (
        DescribedColumn(name="age", kind="number", low="0"),
        DescribedColumn(name="sex", kind="category"),
        DescribedColumn(name="seen", kind="date", step="month", high="2024-12"),
        DescribedColumn(name="note"),
    )
    dictionary = DataDictionary(columns=columns, missing_codes=("-99", "?"))
    assert open_dictionary(write_table_schema(dictionary).encode(), name="x.json") == dictionary
    assert open_dictionary(write_codebook(dictionary).encode(), name="x.csv") == dictionary
    assert dictionary.declared().columns == ()
