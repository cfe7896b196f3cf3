"""The pictures of all tables: each mark in its role, at its place, in its unit; sentences that are true."""

from __future__ import annotations

import numpy as np
import pytest

from pages.charts.picture import Band, Dots, Region, numbers
from pages.tables.marginals.charts import MAX_CELLS, OTHERS, THIS, Distances, cell_counts, cell_errors, sorted_dots
from tests.pages.picture_checks import whole

PLANNER, DIRECT = "mechanism:residual-planner", "mechanism:direct-tables"


def test_dots_are_sorted_and_medians_ringed() -> None:
    first, second = np.array([[0.03, 0.01, 0.05], [0.05, 0.01, 0.03]]), np.array([[0.2, 0.4], [0.2, 0.2]])
    mine = Distances(name="mine", role=PLANNER, of=["a", "b", "c"], far=first)
    other = Distances(name="other", role=DIRECT, of=["d", "e"], far=second)
    shown = whole(sorted_dots([mine, other], noun="tables", n=1_000))
    assert shown.table["mean"] == [0.01, 0.04, 0.04, 0.2, 0.3]
    assert shown.table["tables"] == ["b", "a", "c", "d", "e"]
    assert shown.table["lowest"][1:3] == [0.03, 0.03] and shown.table["highest"][-1] == 0.4
    dots, others = (
        shown.one(Dots, role=PLANNER, name="mine: median 4%"),
        shown.one(Dots, role=DIRECT, name="other: median 25%"),
    )
    np.testing.assert_allclose(numbers(dots.x), [1 / 6, 1 / 2, 5 / 6])
    np.testing.assert_allclose(numbers(dots.y), [0.01, 0.04, 0.04])
    assert dots.low is not None and dots.high is not None and not dots.across
    np.testing.assert_allclose(numbers(dots.low), [0.01, 0.03, 0.03])
    np.testing.assert_allclose(numbers(dots.high), [0.01, 0.05, 0.05])
    np.testing.assert_allclose(numbers(others.y), [0.2, 0.3])
    assert dots.hover is not None and dots.hover[0].startswith("b\nmine: 1% (10 of 1,000 rows)")
    np.testing.assert_allclose(numbers(shown.one(Dots, role="ink").y), [0.04, 0.25])
    assert (shown.y.rows, shown.x.rows, shown.y.low) == (1_000, 0, 0), "distances are shares of rows, places are none"
    assert shown.sentence == (
        "mine: half of the 3 tables have at most 4% of all rows in a wrong cell, 3% on average (3% to 3% from preview "
        "to preview of 2); other: 25% on average."
    )
    alone = Distances(name="mine", role="released", of=["a", "b", "c"], far=first[:1])
    assert "in one preview." in sorted_dots([alone], noun="pairs", n=1_000).sentence


def test_cells_are_the_fullest_and_the_rest_is_in_the_numbers() -> None:
    truth = np.arange(40)
    cells = [f"cell {place}" for place in range(40)]
    released = np.stack([truth + 0.5, truth - 3.0])
    released[0, 7] += 9
    shown = whole(cell_counts(cells=cells, truth=truth, released=released[0]))
    fullest = np.arange(39, 39 - MAX_CELLS, -1)
    true, found = shown.one(Dots, role="true"), shown.one(Dots, role="released")
    assert numbers(true.x).tolist() == fullest.tolist() and numbers(found.x).tolist() == (fullest + 0.5).tolist()
    assert shown.y.labels == tuple(f"cell {place}" for place in fullest)
    assert numbers(true.y).tolist() == numbers(found.y).tolist() == list(range(MAX_CELLS))
    assert true.hover is not None and true.hover[0] == "cell 39\ntrue: 39 rows (5%)"
    assert found.hover is not None and found.hover[0] == "cell 39\nreleased: 39.5 rows (5.06%)"
    assert len(shown.table["cell"]) == 40 and "cell 7: true 7, released 16.5" in shown.sentence
    assert shown.sentence.startswith("The 16 largest of 40 cells.")


def test_errors_of_cells_stand_over_once_and_twice_the_predicted_noise() -> None:
    truth = np.arange(40)
    cells = [f"cell {place}" for place in range(40)]
    released = np.stack([truth + 0.5, truth - 3.0, truth + 1.0])
    errors = whole(cell_errors(cells=cells, truth=truth, released=released, predicted=4.0, observed=4.25, trials=60))
    mine, others = errors.one(Dots, role="released", name=THIS), errors.one(Dots, role="quiet", name=OTHERS)
    assert numbers(mine.x).tolist() == [0.5] * MAX_CELLS and numbers(mine.y).tolist() == list(range(MAX_CELLS))
    assert numbers(others.x).tolist() == [-3.0] * MAX_CELLS + [1.0] * MAX_CELLS
    assert numbers(others.y).tolist() == 2 * list(range(MAX_CELLS))
    assert [band.x for band in errors.find(Region, role="theory")] == [(-8.0, 8.0), (-4.0, 4.0)]
    assert errors.x.rows == 0 and "rows" in errors.x.title, "errors of cells are rows already"
    assert "fitting: 4 rows" in errors.sentence and "over 60 previews: 4.25" in errors.sentence
    assert errors.table["error in preview 2"] == [-3.0] * 40


def test_long_names_are_broken_at_their_commas() -> None:
    truth, released = np.array([3, 2]), np.array([3.0, 2.5])
    short = cell_counts(cells=["a, b", "c, d"], truth=truth, released=released)
    long = cell_counts(cells=["3,500 to 4,500, 190 to 210", "c, d"], truth=truth, released=released)
    assert short.y.labels == ("a, b", "c, d")
    assert long.y.labels == ("3,500 to 4,500\n190 to 210", "c\nd") and long.height > short.height


@pytest.mark.parametrize(
    ("most", "ticks"), [(11_900, (0, 4_000, 8_000)), (3, (0, 1, 2, 3)), (1, (0, 1)), (990_000, (0, 400_000, 800_000))]
)
def test_few_numbers_stand_below_cells_so_that_they_do_not_meet_on_a_phone(most: int, ticks: tuple[int, ...]) -> None:
    truth = np.array([most, 0])
    assert cell_counts(cells=["a", "b"], truth=truth, released=truth + 0.0).x.ticks == ticks


def test_empty_cells_are_drawn_whole() -> None:
    picture = cell_counts(cells=["a", "b"], truth=np.array([100, 0]), released=np.array([90.0, 0.0]))
    assert picture.x.low is not None and picture.x.low < 0


def test_of_many_tables_the_previews_are_an_area() -> None:
    far = np.stack([np.linspace(0.1, 0.2, 150), np.linspace(0.2, 0.4, 150)])
    series = Distances(name="mine", role=PLANNER, of=[str(place) for place in range(150)], far=far)
    picture = whole(sorted_dots([series], noun="tables", n=1_000))
    band, dots = picture.one(Band, role=PLANNER), picture.one(Dots, role=PLANNER)
    assert dots.low is None and not band.legend and band.name == dots.name
    np.testing.assert_allclose(numbers(band.low), far[0])
    np.testing.assert_allclose(numbers(band.high), far[1])
    assert numbers(band.x).tolist() == numbers(dots.x).tolist()
