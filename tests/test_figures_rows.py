"""The picture of a data set alone: every row is in a bar or said to be missing."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import Dataset, Domain, Provenance, ProvenanceKind
from dpcore.domains import Categories, Line
from dpcore.figures.rows import rows_histogram

PROVENANCE = Provenance(kind=ProvenanceKind.BUNDLED, title="test")
DOMAINS = (
    Line(bits=1),
    Line(low=-3, high=1e6, bits=7, missing=True, unit="USD"),
    Line(bits=14, missing=True, clamp=False),
    Categories(labels=("<b>no</b>", "datum.rows", "yes")),
    Categories(labels=tuple(map(str, range(99)))),
)


def dataset(domain: Domain, seed: int) -> Dataset:
    """500 rows, some of them in the reserved cell."""
    return Dataset(domain, np.random.default_rng(seed).integers(domain.size, size=500), PROVENANCE)


@pytest.mark.parametrize("domain", DOMAINS, ids=range(len(DOMAINS)))
def test_all_rows_are_in_the_table_and_in_the_picture(domain: Domain, seed: int) -> None:
    data = dataset(domain, seed)
    figure = rows_histogram(dataset=data, badge="true: test", dark=False)
    assert sum(figure.table["rows"]) == 500
    assert figure.table["rows"][-1] == (data.histogram[-1] if domain.missing else 0)
    drawn = sum(value["rows"] for value in figure.spec["datasets"]["rows"])
    assert drawn == (500 if isinstance(domain, Categories) else sum(figure.table["rows"][:-1]))
    assert "true: test" in str(figure.spec["title"])


def test_the_sentence_names_the_fullest_bar() -> None:
    data = Dataset(Line(low=0, high=8, bits=3, missing=True), np.array([2, 2, 2, 5, 8]), PROVENANCE)
    assert rows_histogram(dataset=data, badge="", dark=True).sentence == (
        "5 rows in 8 bars: the fullest, 2 to 3, has 3; 6 are empty; 1 row is missing or fits nowhere."
    )
