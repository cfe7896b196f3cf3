"""Previews of all tables: distances, noise observed as predicted, fits, and how close rows come."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpcore import Neighbours, Preview
from dpcore.core import Floats, Integers, finish
from dpcore.mechanisms.tables.counting import count_tables
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.tree import synthetic_rows, widest_tree
from dpcore.queries.marginals import Set
from dplab.tables import (
    PREVIEWS,
    TRIALS,
    closeness,
    distances,
    fit_for,
    observed_sigma,
    pair_distances,
    previewed,
    table_previews,
    true_tables,
)
from tests.kit.attribute_tables import correlated, dataset_on, problem_of, release_of

SIZES = (2, 3, 4, 2)


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
    truth = finish(count_tables(records, SIZES, ways=2))
    release = release_of(mechanism, problem, records, Preview(7), 2_000)
    if isinstance(mechanism, DirectTables):
        predicted = mechanism.sigma(problem)
    else:
        predicted = mechanism.plan(problem).cell_sigma((1, 2))
    assert observed_sigma(release, truth[1, 2], (1, 2)) == pytest.approx(predicted, rel=0.05)


def test_previews_are_fitted_as_far_as_the_method_can() -> None:
    records = correlated(SIZES, n=500, seed=3)
    problem = problem_of(SIZES, ways=2, n=500, neighbours=Neighbours.REPLACE_ONE)
    truth = finish(count_tables(records, SIZES, ways=2))
    direct = release_of(DirectTables(), problem, records, Preview(1), 2)
    planner = release_of(ResidualPlanner(), problem, records, Preview(1), 2)
    assert fit_for(direct, "consistent") == "simplex" and fit_for(direct, "unbiased") == "unbiased"
    assert fit_for(planner, "consistent") == "consistent"
    tables, away = finish(previewed(planner, truth, fit="consistent", previews=2))
    assert away.shape == (2, len(truth)) and len(tables) == 2
    for place, table in enumerate(truth):
        difference = tables[1][table] / 500 - truth[table] / 500
        assert away[1, place] == pytest.approx(np.abs(difference).sum() / 2)


def test_previews_are_whole_releases_of_each_method() -> None:
    records = correlated(SIZES, n=500, seed=3)
    problem = problem_of(SIZES, ways=2, n=500, neighbours=Neighbours.REPLACE_ONE)
    truth = finish(count_tables(records, SIZES, ways=2))
    direct, planner = DirectTables(), ResidualPlanner()
    counts = direct.prepare(dataset_on(problem, records), problem)
    contrasts = planner.prepare(dataset_on(problem, records), problem)
    methods = {"residual-planner": planner, "direct-tables": direct}
    simulations = finish(table_previews(methods, counts, contrasts, problem=problem, fit="simplex", seed=5))
    for table, counted in true_tables(counts).items():
        assert counted.tolist() == truth[table].tolist()
    for key, mechanism in methods.items():
        trials = TRIALS if key == "residual-planner" else PREVIEWS
        whole = release_of(mechanism, problem, records, Preview(5), trials)
        previews = simulations[key]
        assert previews.release.values.tolist() == whole.values.tolist()
        assert previews.distances.shape == (PREVIEWS, len(truth))
        worst = np.zeros(trials)
        for table in truth:
            errors = np.abs(whole.unbiased(table) - truth[table]).reshape(trials, -1)
            worst = np.maximum(worst, errors.max(axis=1))
        np.testing.assert_allclose(finish(previews.worst_cells(truth)), worst / 500)


def test_rows_are_close_to_the_tables_they_follow_and_pairs_are_parted() -> None:
    records = correlated(SIZES, n=2_000, seed=3)
    tables = {s: counts.astype(float) for s, counts in finish(count_tables(records, SIZES, ways=2)).items()}
    tree = widest_tree(tables, attributes=4, ways=2)
    rows = synthetic_rows(tables, tree, rows=500, seed=1)
    away = {}
    for pair in combinations(range(4), 2):
        counts = np.zeros([SIZES[a] for a in pair])
        np.add.at(counts, tuple(rows[:, a] for a in pair), 4)
        away[pair] = float(np.abs(counts - tables[pair]).sum()) / (2 * 2_000)
    pairs = [tuple(sorted(table)) for table in tree.tables() if len(table) == 2]
    assert 0 < len(pairs) < len(away)
    distances = closeness(rows, tables, tree, sizes=SIZES, ways=2, n=2_000)
    assert distances.mean == pytest.approx(np.mean(list(away.values())))
    assert distances.max_distance == pytest.approx(max(away.values()))
    assert away[distances.furthest[0], distances.furthest[1]] == max(away.values())
    assert distances.inside == pytest.approx(np.mean([away[pair] for pair in away if pair in pairs]))
    assert distances.outside == pytest.approx(np.mean([away[pair] for pair in away if pair not in pairs]))
    assert distances.others == len(away) - len(pairs)
    inside, outside = pair_distances(
        rows, {s: t.astype(np.int64) for s, t in tables.items()}, tree, sizes=SIZES, n=2_000
    )
    assert inside == pytest.approx({pair: far for pair, far in away.items() if pair in pairs})
    assert outside == pytest.approx({pair: far for pair, far in away.items() if pair not in pairs})
