"""The pictures of all tables: their numbers are the core's, their sentences true, specs whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, Preview
from dpcore.attributes import Set
from dpcore.core import Floats, Integers
from dpcore.figures.figure import Figure
from dpcore.figures.tables import sorted_dots
from dpcore.figures.tables_cells import MOST_CELLS, cell_counts, cell_errors
from dpcore.mechanisms.marginals_fourier import DirectTables
from dpcore.mechanisms.marginals_residual import ResidualPlanner
from dpcore.residual.counting import count_tables, finished
from dpcore.residual.preview import distances, fit_for, observed_sigma, previewed
from tests.attribute_tables import correlated, problem_of, release_of
from tests.test_figures_robust_sparse import SHOWN, sound

SIZES = (2, 3, 4, 2)


def scalars(figure: Figure) -> Figure:
    """Vega's data sets hold scalars only: a list in a field arrives empty."""
    for records in figure.spec["datasets"].values():
        assert records and all(not isinstance(value, list | dict) for row in records for value in row.values())
    return sound(figure)


def test_distances_are_the_total_variation() -> None:
    truth: dict[Set, Integers] = {(0, 1): np.array([[6, 0], [0, 4]]), (0, 2): np.array([[5, 1, 1], [1, 1, 1]])}
    released: dict[Set, Floats] = {(0, 2): truth[0, 2].astype(float), (0, 1): np.array([[4.0, 1], [1, 4]])}
    assert distances(released, truth, sets=list(truth), n=10).tolist() == [0.2, 0.0]


@pytest.mark.parametrize(
    "mechanism", [ResidualPlanner(delta=1e-6), DirectTables(delta=1e-6)], ids=["planner", "direct"]
)
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_observed_noise_is_as_predicted(mechanism: ResidualPlanner | DirectTables, neighbours: Neighbours) -> None:
    """2,000 releases of a table with 12 cells: within 5%, which half the noise would miss."""
    records = correlated(SIZES, n=500, seed=3)
    problem = problem_of(SIZES, ways=2, n=500, neighbours=neighbours)
    truth = finished(count_tables(records, SIZES, ways=2))
    release = release_of(mechanism, problem, records, Preview(7), 2_000)
    if isinstance(mechanism, DirectTables):
        predicted = mechanism.sigma(problem)
    else:
        predicted = mechanism.plan(problem).cell_sigma((1, 2))
    assert observed_sigma(release, truth[1, 2], (1, 2)) == pytest.approx(predicted, rel=0.05)


def test_previews_are_fitted_as_far_as_the_method_can() -> None:
    records = correlated(SIZES, n=500, seed=3)
    problem = problem_of(SIZES, ways=2, n=500, neighbours=Neighbours.REPLACE_ONE)
    truth = finished(count_tables(records, SIZES, ways=2))
    direct = release_of(DirectTables(), problem, records, Preview(1), 2)
    planner = release_of(ResidualPlanner(), problem, records, Preview(1), 2)
    assert fit_for(direct, "consistent") == "simplex" and fit_for(direct, "unbiased") == "unbiased"
    assert fit_for(planner, "consistent") == "consistent"
    tables, found = finished(previewed(planner, truth, fit="consistent", previews=2))
    assert found.shape == (2, len(truth)) and len(tables) == 2
    for place, table in enumerate(truth):
        difference = tables[1][table] / 500 - truth[table] / 500
        assert found[1, place] == pytest.approx(np.abs(difference).sum() / 2)


def test_dots_are_sorted_and_medians_ringed() -> None:
    first, second = np.array([[0.03, 0.01, 0.05], [0.05, 0.01, 0.03]]), np.array([[0.2, 0.4], [0.2, 0.2]])
    names = {"mine": ["a", "b", "c"], "other": ["d", "e"]}
    shown = scalars(sorted_dots({"mine": first, "other": second}, names=names, noun="tables", **SHOWN))
    assert shown.table["mean"] == pytest.approx([0.01, 0.04, 0.04, 0.2, 0.3])
    assert shown.table["tables"] == ["b", "a", "c", "d", "e"]
    assert shown.table["lowest"][1:3] == [0.03, 0.03] and shown.table["highest"][-1] == 0.4
    assert [row["mean"] for row in shown.spec["datasets"]["medians"]] == pytest.approx([0.04, 0.25])
    assert shown.sentence == (
        "mine: half of the 3 tables have at most 4% of all rows in a wrong cell, 3% on average (3% to 3% from preview "
        "to preview of 2); other: 25% on average."
    )
    assert "in one preview." in sorted_dots({"mine": first[:1]}, names=names, noun="pairs", **SHOWN).sentence


def test_cells_are_the_fullest_and_the_rest_is_in_the_numbers() -> None:
    truth = np.arange(40)
    cells = [f"cell {place}" for place in range(40)]
    released = np.stack([truth + 0.5, truth - 3.0])
    released[0, 7] += 9
    shown = scalars(cell_counts(cells=cells, truth=truth, released=released[0], **SHOWN))
    drawn = shown.spec["datasets"]["cells"]
    assert [row["true"] for row in drawn] == list(range(39, 39 - MOST_CELLS, -1))
    assert len(shown.table["cell"]) == 40 and "cell 7: 7 rows, released 16.5" in shown.sentence
    assert shown.sentence.startswith("The 16 fullest of 40 cells.")
    errors = scalars(
        cell_errors(cells=cells, truth=truth, released=released, predicted=4.0, observed=4.25, trials=60, **SHOWN)
    )
    assert len(errors.spec["datasets"]["cells"]) == 2 * MOST_CELLS
    assert errors.spec["datasets"]["band"] == [{"low": -8.0, "high": 8.0}, {"low": -4.0, "high": 4.0}]
    assert "fitted: 4 rows" in errors.sentence and "over 60 previews: 4.25" in errors.sentence
    assert errors.table["error in preview 2"] == [-3.0] * 40


def test_long_names_are_broken_at_their_commas() -> None:
    shown: dict[str, Any] = {"truth": np.array([3, 2]), "released": np.array([3.0, 2.5]), **SHOWN}
    short = cell_counts(cells=["a, b", "c, d"], **shown)
    long = cell_counts(cells=["3,500 to 4,500, 190 to 210", "c, d"], **shown)
    assert "labelExpr" not in short.spec["encoding"]["y"]["axis"] and "labelExpr" in long.spec["encoding"]["y"]["axis"]
    assert long.spec["height"] > short.spec["height"]
