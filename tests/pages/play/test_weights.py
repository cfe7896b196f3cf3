"""The picture of weighted sums: lines for a few queries, a map for many, and never a label as markup."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import Labels, Number
from dpcore.core import Domain
from dpcore.queries.linear import LinearQueries, generated
from pages.charts.picture import Curve, Heat, numbers
from pages.play.figures.weights import MAX_COLUMNS, MAX_LINES, MAX_ROWS, weights_picture
from tests.pages.reports import HOSTILE, check


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("domain", "queries", "lines"),
    [
        (Number(bits=3), MAX_LINES, True),
        (Number(low=-5, high=5, bits=3, missing=True, unit="°"), MAX_LINES + 1, False),
        (Number(bits=10), 200, False),
        (Labels(labels=HOSTILE), 3, False),
        (Labels(labels=tuple(map(str, range(500)))), 60, False),
        (Number(bits=1), 1, True),
    ],
    ids=str,
)
def test_pictures_are_valid_and_as_large_as_they_should_be(
    domain: Domain, queries: int, lines: bool, dark: bool, seed: int
) -> None:
    picture = weights_picture(generated("bumps", queries=queries, domain=domain, seed=seed))
    check(picture, dark=dark)
    rows, columns = min(queries, MAX_ROWS), len(picture.table["cells"])
    assert columns <= MAX_COLUMNS
    assert columns == domain.ordered or domain.ordered > MAX_COLUMNS
    assert len(picture.table) == 1 + rows
    assert len(picture.find(Curve)) == (queries if lines else 0)
    if not lines:
        heat = picture.one(Heat)
        assert numbers(heat.value).shape == (rows, columns) and (heat.low, heat.high) == (0, 1)
        assert len(numbers(heat.x)) == columns + 1 and len(numbers(heat.y)) == rows + 1
    assert f"{queries:,} weighted sum" in picture.sentence
    assert ("of the queries are shown" in picture.sentence) is (rows < queries)
    assert ("mean of" in picture.sentence) is (columns < domain.ordered)


def test_what_is_drawn_are_the_weights_and_their_means_over_cells() -> None:
    matrix = np.array([[0.0, 0.25, 1.0, 0.5], [1.0, 1.0, 0.0, 0.0]])
    few = weights_picture(LinearQueries.of(matrix, domain=Number(bits=2)))
    assert [few.table["query 1"], few.table["query 2"]] == matrix.tolist()
    assert few.table["cells"] == ["0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1"]
    assert "from 0.438 to 0.5" in few.sentence
    assert "62.5% of all weights" in few.sentence
    # The step of the last cell reaches the end of the axis.
    curve = few.one(Curve, name="query 1")
    assert curve.step and numbers(curve.x).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert numbers(curve.y).tolist() == [*matrix[0], 0.5]
    # 250 cells in blocks of 4, of which the last has only 2.
    wide = np.zeros((9, 250))
    wide[3, 4:8], wide[3, 248] = (1.0, 0.0, 0.0, 1.0), 1.0
    labels = Labels(labels=tuple(map(str, range(250))))
    picture = weights_picture(LinearQueries.of(wide, domain=labels))
    drawn = picture.table["query 4"]
    assert len(drawn) == 63
    assert {place: weight for place, weight in enumerate(drawn) if weight} == {1: 0.5, 62: 0.5}
    heat = picture.one(Heat)
    # The fourth query is the fourth row from below, its second block the second from the left.
    assert np.argwhere(numbers(heat.value) > 0).tolist() == [[3, 1], [3, 62]]
    assert numbers(heat.y)[[3, 4]].tolist() == [3.5, 4.5] and numbers(heat.x)[[1, 2]].tolist() == [0.5, 1.5]


def test_labels_are_words_and_in_no_sentence() -> None:
    picture = weights_picture(generated("ramps", queries=3, domain=Labels(labels=HOSTILE), seed=1))
    check(picture)
    assert not any(label in picture.sentence for label in HOSTILE if len(label) > 4)
