"""The picture of weighted sums: lines for a few queries, a map for many, and never a label in an expression."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import Categories, Line
from dpcore.core import Domain
from dpcore.figures.weights import MOST_COLUMNS, MOST_LINES, MOST_ROWS, weights_asked
from dpcore.linear_queries import LinearQueries, generated
from tests.test_figures import HOSTILE, check


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("domain", "queries", "mark"),
    [
        (Line(bits=3), MOST_LINES, "line"),
        (Line(low=-5, high=5, bits=3, missing=True, unit="°"), MOST_LINES + 1, "rect"),
        (Line(bits=10), 200, "rect"),
        (Categories(labels=HOSTILE), 3, "rect"),
        (Categories(labels=tuple(map(str, range(500)))), 60, "rect"),
        (Line(bits=1), 1, "line"),
    ],
    ids=str,
)
def test_pictures_are_valid_and_as_large_as_they_should_be(
    domain: Domain, queries: int, mark: str, dark: bool, seed: int
) -> None:
    asked = generated("bumps", queries=queries, domain=domain, seed=seed)
    figure = weights_asked(queries=asked, badge="weights: by chance", dark=dark)
    check(figure)
    assert figure.spec["mark"]["type"] == mark
    rows, columns = min(queries, MOST_ROWS), len(figure.table["cells"])
    assert columns <= MOST_COLUMNS
    assert columns == domain.ordered or domain.ordered > MOST_COLUMNS
    assert len(figure.table) == 1 + rows
    assert len(figure.spec["datasets"]["weights"]) == rows * (columns + (mark == "line"))
    assert f"{queries:,} weighted sum" in figure.sentence
    assert ("are drawn" in figure.sentence) is (rows < queries)
    assert ("mean of" in figure.sentence) is (columns < domain.ordered)


def test_what_is_drawn_are_the_weights_and_their_means_over_cells() -> None:
    matrix = np.array([[0.0, 0.25, 1.0, 0.5], [1.0, 1.0, 0.0, 0.0]])
    few = weights_asked(queries=LinearQueries.of(matrix, domain=Line(bits=2)), badge="", dark=False)
    assert [few.table["query 1"], few.table["query 2"]] == matrix.tolist()
    assert few.table["cells"] == ["0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1"]
    assert "from 0.438 to 0.5" in few.sentence
    assert "62.5% of all weights" in few.sentence
    # The step of the last cell reaches the end of the axis.
    last = [each for each in few.spec["datasets"]["weights"] if each["query"] == "query 1"][-1]
    assert (last["from"], last["weight"]) == (1.0, 0.5)
    # 250 cells in blocks of 4, of which the last has only 2.
    wide = np.zeros((9, 250))
    wide[3, 4:8], wide[3, 248] = (1.0, 0.0, 0.0, 1.0), 1.0
    labels = Categories(labels=tuple(map(str, range(250))))
    drawn = weights_asked(queries=LinearQueries.of(wide, domain=labels), badge="", dark=False).table["query 4"]
    assert len(drawn) == 63
    assert {place: weight for place, weight in enumerate(drawn) if weight} == {1: 0.5, 62: 0.5}


def test_labels_are_data_and_no_part_of_the_specification() -> None:
    domain = Categories(labels=HOSTILE)
    figure = weights_asked(queries=generated("ramps", queries=3, domain=domain, seed=1), badge="", dark=False)
    body = {name: part for name, part in figure.spec.items() if name != "datasets"}
    assert not any(label in str(body) for label in HOSTILE if len(label) > 4)
    assert not any(label in figure.sentence for label in HOSTILE if len(label) > 4)
