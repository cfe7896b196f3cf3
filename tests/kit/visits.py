"""A made-up table of visits to a clinic: 20 columns of all kinds, values missing, several rows a person."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable

ROWS = 50_000
PERSON, PERSON_ROWS = "patient", 3
REGIONS = tuple(f"region {letter}" for letter in "ABCDEFGH")
WARDS = ("surgery", "heart", "eyes", "children", "other; mixed")
LABELS = {"sex": ("f", "m"), "region": REGIONS, "ward": WARDS, "triage": tuple("12345"), "payer": ("state", "private")}
NUMBERS = {  # low, high, cells
    "age": (0, 120, 120), "height": (40, 220, 60), "weight": (0, 200, 100), "income": (0, 200_000, 1024),
    "pressure": (60, 220, 80), "children": (0, 8, 8), "distance": (0, 500, 250), "cost": (0, 50_000, 4096),
}  # fmt: skip
DATES = {"seen": ("day", "2024-01-01", "2024-12-31"), "registered": ("month", "2015-01", "2024-12"),
         "born": ("year", "1910", "2024")}  # fmt: skip
ANSWERS = ("smoker", "insured", "returned")
MISSING = ("income", "weight", "ward", "seen", "smoker")
"""Columns of which one value in twenty is missing."""


def visits(rows: int = ROWS, *, seed: int = 20) -> pd.DataFrame:
    """The table, always the same for the same seed; about a third of the patients have more than PERSON_ROWS rows."""
    draw = np.random.Generator(np.random.SFC64(seed))
    age = draw.gamma(4, 11, rows)
    table: dict[str, object] = {
        PERSON: [f"p{number}" for number in draw.geometric(5 / rows, rows)],
        "age": age.round(),
        "height": draw.normal(168, 12, rows).round(1),
        "weight": draw.normal(72, 14, rows).round(1),
        "income": draw.lognormal(10.3, 0.7, rows).round(),
        "pressure": draw.normal(110 + age / 3, 14, rows).round(),
        "children": draw.poisson(1.4, rows),
        "distance": draw.exponential(30, rows).round(1),
        "cost": draw.lognormal(6, 1.5, rows).round(2),
        "seen": np.datetime64("2024-01-01") + draw.integers(0, 366, rows).astype("timedelta64[D]"),
        "registered": np.datetime64("2015-01") + draw.integers(0, 120, rows).astype("timedelta64[M]"),
        "born": (2024 - age).astype(int),
    }
    for name, labels in LABELS.items():
        table[name] = draw.choice(labels, rows, p=draw.dirichlet(np.full(len(labels), 3.0)))
    for name in ANSWERS:
        table[name] = np.where(draw.random(rows) < 0.3, "yes", "no")
    frame = pd.DataFrame(table).astype({name: "object" for name in MISSING})
    for name in MISSING:
        frame.loc[draw.random(rows) < 0.05, name] = None
    for name, (step, _, _) in DATES.items():
        if step == "month":
            frame[name] = frame[name].astype(str).str[:7]
    return frame


def declared_visits(*, by_person: bool = True) -> DeclaredTable:
    """Every column that may be read, with bounds and labels that somebody knows from elsewhere."""
    columns = [
        *(DeclaredColumn(name=name, on=Number(low=low, high=high, bins=bins, missing=True))
          for name, (low, high, bins) in NUMBERS.items()),
        *(DeclaredColumn(name=name, on=Dates(step=step, first=first, last=last, missing=True))
          for name, (step, first, last) in DATES.items()),
        *(DeclaredColumn(name=name, on=Labels(labels=labels)) for name, labels in LABELS.items()),
        *(DeclaredColumn(name=name, on=Labels(yes_no=True)) for name in ANSWERS),
    ]  # fmt: skip
    return DeclaredTable(columns=tuple(columns), person=PERSON if by_person else "", person_rows=PERSON_ROWS)
