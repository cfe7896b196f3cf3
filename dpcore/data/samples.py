"""Real public data sets that come with the project, each with bounds a stranger could declare before seeing the data.

The bounds and labels below are round public knowledge (a week's hours, the globe's degrees, a questionnaire's
answers), never the smallest and largest value found. ``assets/SOURCES.md`` holds sources and licences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dpcore.core import ParameterError

if TYPE_CHECKING:
    from dpcore.data.reading.tables import Table

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "data"
PUBLIC_DOMAIN = "public domain"
YES_NO = ("no", "yes")


@dataclass(frozen=True, kw_only=True)
class ColumnSuggestion:
    """A column worth looking at and the domain to declare for it.

    Attributes:
        column: its name in the file.
        title: its name in words, with the unit where there is one.
        kind: whether it is read as a number, as a date or as one of the labels.
        low: declared lower bound of a number, in its unit.
        high: declared upper bound of a number, in its unit.
        bits: 2**bits cells of equal width lie between the bounds.
        clamp: whether numbers out of bounds move to the nearest bound (else they join the missing ones).
        unit: what the number counts.
        labels: declared labels of a category.
        step: the unit in which dates are counted.
        first: the first such unit that is declared.
        last: the last, itself included.
    """

    column: str
    title: str
    kind: Literal["number", "date", "category"]
    low: float = 0.0
    high: float = 1.0
    bits: int = 10
    clamp: bool = True
    unit: str = ""
    labels: tuple[str, ...] = ()
    step: str = ""
    first: str = ""
    last: str = ""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One bundled file.

    Attributes:
        key: what links and saved sessions call it.
        title: what people call it.
        story: one line on what is in it and why it is interesting here.
        file: file name in assets/data.
        licence: the terms it may be passed on under.
        attribution: whom to credit, fit to be printed beside a chart.
        columns: suggested columns.
        person: column that says whose row it is, where one person has several rows.
        pairs: pairs of numbers among the columns worth looking at together.
    """

    key: str
    title: str
    story: str
    file: str
    licence: str
    attribution: str
    columns: tuple[ColumnSuggestion, ...]
    person: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()


def sample(key: str) -> Sample:
    """The sample of this key.

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


def _number(column: str, title: str, low: float, high: float, bits: int, unit: str) -> ColumnSuggestion:
    return ColumnSuggestion(column=column, title=title, kind="number", low=low, high=high, bits=bits, unit=unit)


def _date(column: str, title: str, step: str, first: str, last: str) -> ColumnSuggestion:
    return ColumnSuggestion(column=column, title=title, kind="date", step=step, first=first, last=last)


def _category(column: str, title: str, *labels: str) -> ColumnSuggestion:
    return ColumnSuggestion(column=column, title=title, kind="category", labels=labels)


SAMPLES: tuple[Sample, ...] = (
    Sample(
        key="earnings",
        title="Hourly earnings 2004",
        story="What 61,395 full-time workers earn an hour: a skewed number for medians, intervals and groups.",
        file="cps_earnings_2004.parquet",
        licence=PUBLIC_DOMAIN,
        attribution="US Current Population Survey 2004, prepared by J. H. Stock and M. W. Watson",
        columns=(
            _number("earnings", "earnings (USD an hour)", 0, 100, 10, "USD an hour"),
            _number("age", "age (years)", 0, 128, 7, "years"),
            _number("education", "education (years)", 0, 32, 5, "years"),
            _category("gender", "gender", "female", "male"),
            _category("region", "region", "Northeast", "Midwest", "South", "West"),
        ),
        pairs=(("age", "earnings"),),
    ),
    Sample(
        key="census",
        title="American Community Survey 2012",
        story="2,000 people: few enough rows that privacy costs accuracy, with answers missing where not asked.",
        file="acs_2012.parquet",
        licence=PUBLIC_DOMAIN,
        attribution="U.S. Census Bureau, American Community Survey 2012, sample by OpenIntro",
        columns=(
            _number("age", "age (years)", 0, 128, 7, "years"),
            _number("income", "income (USD a year)", 0, 200_000, 10, "USD a year"),
            _number("hrs_work", "hours worked a week", 0, 128, 7, "hours"),
            _number("time_to_work", "way to work (minutes)", 0, 128, 7, "minutes"),
            _category("employment", "employment", "employed", "unemployed", "not in labor force"),
            _category("edu", "education", "hs or lower", "college", "grad"),
            _category("race", "race", "asian", "black", "white", "other"),
            _category("gender", "gender", "female", "male"),
            _category("married", "married", *YES_NO),
            _category("citizen", "citizen", *YES_NO),
            _category("disability", "disability", *YES_NO),
        ),
        pairs=(("age", "income"),),
    ),
    Sample(
        key="adult",
        title="Adult (1994 census extract)",
        story="48,842 people of a 1994 census extract; capital gains and losses are zero for nearly all of them.",
        file="adult_uci.parquet",
        licence="CC BY 4.0",
        attribution="B. Becker and R. Kohavi, Adult, UCI Machine Learning Repository 1996, doi 10.24432/C5XW20",
        columns=(
            _number("age", "age (years)", 0, 128, 7, "years"),
            _number("hours_per_week", "hours worked a week", 0, 128, 7, "hours"),
            _number("capital_gain", "capital gain (USD)", 0, 131_072, 10, "USD"),
            _number("capital_loss", "capital loss (USD)", 0, 8_192, 10, "USD"),
            _category("sex", "sex", "Female", "Male"),
            _category("income", "income", "<=50K", ">50K"),
            _category("race", "race", "White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"),
            _category(
                "relationship",
                "relationship",
                *("Husband", "Wife", "Own-child", "Other-relative", "Not-in-family", "Unmarried"),
            ),
        ),
        pairs=(("age", "hours_per_week"), ("age", "relationship")),
    ),
    Sample(
        key="medical",
        title="Medical costs (RAND experiment)",
        story="Yearly medical costs: a fifth are zero, a few are enormous, and one person fills up to five rows.",
        file="rand_hie_medcost.parquet",
        licence=PUBLIC_DOMAIN,
        attribution="RAND Health Insurance Experiment, as prepared for statsmodels",
        columns=(
            _number("meddol", "medical costs (USD a year)", 0, 10_000, 10, "USD a year"),
            _number("mdvis", "visits to a doctor in a year", 0, 128, 7, "visits"),
            _number("xage", "age (years)", 0, 128, 7, "years"),
            _category("female", "female (1 = yes)", "0", "1"),
        ),
        person="zper",
    ),
    Sample(
        key="pets",
        title="Seattle pet licences",
        story="52,519 licensed pets by zip code: a few full cells, many thin ones, and some owners alone in theirs.",
        file="seattle_pets.parquet",
        licence=PUBLIC_DOMAIN,
        attribution="City of Seattle Open Data, Seattle Pet Licenses (jguv-t9rb)",
        columns=(
            _category("species", "species", "Cat", "Dog", "Goat", "Pig"),
            _category("zip_code", "zip code", *(str(code) for code in range(98101, 98200))),
            _date("license_issue_date", "issued (month)", "month", "2015-01", "2019-12"),
        ),
    ),
    Sample(
        key="cities",
        title="Cities of the world",
        story="34,006 places of more than 15,000 people on the globe: crowded coasts, empty oceans.",
        file="world_cities_15000.parquet",
        licence="CC BY 4.0",
        attribution="GeoNames, geonames.org, CC BY 4.0",
        columns=(
            _number("latitude", "latitude (degrees)", -90, 90, 10, "degrees"),
            _number("longitude", "longitude (degrees)", -180, 180, 10, "degrees"),
            _number("population", "population", 0, 1_000_000, 10, "people"),
        ),
        pairs=(("longitude", "latitude"),),
    ),
    Sample(
        key="digits",
        title="Handwritten digits",
        story="1,797 digits of 8 × 8 pixels: rows of 64 numbers for halfspaces, and ten nearly equal groups.",
        file="digits64.parquet",
        licence="CC BY 4.0",
        attribution="E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning "
        "Repository 1998, doi 10.24432/C50P49",
        columns=(_category("label", "written digit", *"0123456789"),),
    ),
    Sample(
        key="penguins",
        title="Palmer penguins",
        story="344 penguins: so few that most promises fail, which is worth seeing.",
        file="penguins.parquet",
        licence="CC0 1.0",
        attribution="A. M. Horst, A. P. Hill and K. B. Gorman, palmerpenguins 2020",
        columns=(
            _number("flipper_length_mm", "flipper length (mm)", 128, 256, 7, "mm"),
            _number("bill_length_mm", "bill length (mm)", 0, 64, 6, "mm"),
            _number("body_mass_g", "body mass (g)", 0, 8_192, 8, "g"),
            _category("species", "species", "Adelie", "Chinstrap", "Gentoo"),
            _category("island", "island", "Biscoe", "Dream", "Torgersen"),
            _category("sex", "sex", "female", "male"),
        ),
        pairs=(("bill_length_mm", "flipper_length_mm"),),
    ),
)
