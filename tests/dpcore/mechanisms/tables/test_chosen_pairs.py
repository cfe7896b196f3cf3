"""Chosen pairs: exact privacy of the whole composition, what neighbours move, and which pairs are chosen."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import override

from dpcore import Account, Neighbours, Preview, Secure
from dpcore.core import Integers, Problem
from dpcore.mechanisms.tables import chosen_pairs as chosen_module
from dpcore.mechanisms.tables.chosen_pairs import ChosenPairs, chosen_pairs, squared_shift
from dpcore.mechanisms.tables.contrasts import record_contrasts
from dpcore.mechanisms.tables.rows_release import ChosenPairsRelease, count_cells
from dpcore.mechanisms.tables.tree import synthetic_rows, widest_tree
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dpcore.randomness import GaussianCounts, Sampler
from dpcore.randomness.sampler import Draw, DrawnT
from dplab.audit import exact_delta
from dplab.audit.exact import neighbouring_pairs
from tests.kit.attribute_tables import correlated, dataset_on, every_record, problem_of, tiny
from tests.kit.contract import check_tiny_law

ROWS_TRIED = 10
ADD_REMOVE, REPLACE = Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Always(WholeTable):
    """Pairs are chosen whatever the noise; draws of two steps may get less noise than they are told."""

    scores: float = 1.0
    tables: float = 1.0

    @override
    def choice(self, problem: Problem) -> ChosenPairs:
        assert isinstance(problem.queries, Marginals)
        found = chosen_pairs(
            sizes=problem.queries.domain.sizes,
            columns_share=0.4,
            neighbours=problem.neighbours,
            epsilon=self.epsilon,
            delta=self.delta,
        )
        return dataclasses.replace(
            found, score_sigma=self.scores * found.score_sigma, table_sigma=self.tables * found.table_sigma
        )


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Units of scores and weights so small that single whole numbers matter; scores are worth as much as tables."""
    for name, value in {"WEIGHT": 2, "STEPS": 1, "SCORES_SHARE": 0.3, "PENALTY": 0.01}.items():
        monkeypatch.setattr(chosen_module, name, value)
    chosen_pairs.cache_clear()
    yield
    chosen_pairs.cache_clear()


def exact(mechanism: Always, neighbours: Neighbours, *, columns: int) -> float:
    """The exact delta over all neighbours: of one row or two in two columns, of at most one row in three."""
    if columns == 2:
        options: dict[str, Any] = {"window": (-4, 4) if neighbours is ADD_REMOVE else (-5, 6)}
        return exact_delta(mechanism, tiny(neighbours), universe=every_record((2, 2)), **options).delta
    problem = problem_of((2, 2, 2), ways=2, n=1, neighbours=neighbours)
    rows = 0 if neighbours is ADD_REMOVE else 1
    return exact_delta(mechanism, problem, universe=every_record((2, 2, 2)), rows=rows, window=(-1, 1)).delta


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("columns", [2, 3])
def test_exact_privacy_of_columns_scores_and_tables_over_all_neighbours(
    neighbours: Neighbours, columns: int, coarse: None
) -> None:
    """A pair is measured or not, as the noisy scores say. A step with a quarter of the noise is above delta."""
    mechanism = Always(epsilon=2.5, delta=0.05)
    found = exact(mechanism, neighbours, columns=columns)
    assert found <= mechanism.delta
    assert columns == 3 or found > 0.1 * mechanism.delta  # what is seen of three columns is coarser
    for fault in (dataclasses.replace(mechanism, scores=0.25), dataclasses.replace(mechanism, tables=0.25)):
        assert exact(fault, neighbours, columns=columns) > 2 * mechanism.delta


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("sampler", ["preview", "secure"])
def test_releases_have_the_exact_law(neighbours: Neighbours, sampler: str, seed: int, coarse: None) -> None:
    problem, mechanism = tiny(neighbours), Always(epsilon=8.0, delta=0.05)
    dataset = dataset_on(problem, np.array([[0, 1], [1, 1]]))
    check_tiny_law(mechanism, dataset, problem, sampler, window=(-2, 2), seed=seed)


class Scripted(Sampler):
    """Returns noisy numbers that are written down, whatever the data, and keeps what it was asked to draw."""

    name = "scripted"

    def __init__(self, scripts: list[Integers]) -> None:
        self._scripts = scripts
        self.asked: list[GaussianCounts] = []

    @override
    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        assert isinstance(draw, GaussianCounts)
        self.asked.append(draw)
        return cast(DrawnT, self._scripts[len(self.asked) - 1])


@every_relation
def test_no_neighbour_moves_a_step_further_than_was_paid_whatever_was_released_before(
    neighbours: Neighbours, seed: int
) -> None:
    """All neighbours of two rows on twelve cells, each after 200 made-up releases: the furthest is nearly paid for.

    What a neighbour moves all steps by at once, in standard deviations, stays within what the guarantee proves.
    """
    sizes, rows, trials = (2, 3, 2), 2, 200
    problem, universe = problem_of(sizes, ways=2, n=rows, neighbours=neighbours), every_record(sizes)
    mechanism = Always(epsilon=1.0, delta=1e-6)
    coins, draws = np.random.default_rng(seed), mechanism.gaussians(problem)
    # Columns of up to some rows; scores and tables as far apart as noise takes them.
    scripts = [coins.integers(-3, 9, (trials, count)) for _, count, _ in draws[:-2]]
    scripts += [np.rint(coins.normal(0, 2 * sigma, (trials, count))).astype(np.int64) for sigma, count, _ in draws[-2:]]

    def asked(places: tuple[int, ...]) -> tuple[list[GaussianCounts], NDArray[Any]]:
        sampler = Scripted(scripts)
        state = mechanism.prepare(dataset_on(problem, universe[list(places)]), problem)
        return sampler.asked, mechanism.run(state, sampler, trials).outcomes()

    every = {
        places
        for pair in neighbouring_pairs(size=len(universe), rows=rows, neighbours=neighbours)
        for places in (pair.one, pair.other)
    }
    known, furthest = {places: asked(places) for places in every}, np.zeros(len(draws))
    for pair in neighbouring_pairs(size=len(universe), rows=rows, neighbours=neighbours):
        (ours, one), (theirs, other) = known[pair.one], known[pair.other]
        np.testing.assert_array_equal(one, other)  # the same noisy numbers are the same release: nothing else is told
        moved = np.array([((a.counts - b.counts) ** 2).sum(axis=1).max() for a, b in zip(ours, theirs, strict=True)])
        furthest = np.maximum(furthest, moved)
    paid = np.array([square for _, _, square in draws])
    assert (furthest <= paid).all()
    assert (furthest[:-1] == paid[:-1]).all() and furthest[-1] > 0.99 * paid[-1]
    account = Account(Preview(seed))
    data = dataset_on(problem, universe[[0, 5]])
    release = mechanism.run(mechanism.prepare(data, problem), account, 3)
    assert isinstance(release, ChosenPairsRelease)
    assert [(each.sigma, each.numbers, each.squared_shift) for each in account.charges] == list(draws)
    assert 0.99e-6 < account.delta(1.0) <= 1e-6


@every_relation
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (4, 2), (3, 5)])
def test_contrasts_of_a_pair_move_as_far_as_is_told(shape: tuple[int, int], neighbours: Neighbours) -> None:
    columns = np.array([record_contrasts(tuple(record), shape) for record in every_record(shape).tolist()])
    apart = columns[:, None, :] - (columns[None] if neighbours is REPLACE else 0)
    assert squared_shift(shape, neighbours) == (apart**2).sum(axis=2).max()


@every_relation
def test_the_pairs_that_depend_are_chosen_and_all_pairs_where_all_do(neighbours: Neighbours, seed: int) -> None:
    """Eight columns of four: two pairs are copies, which the rows then have; or one hidden number moves all columns."""
    sizes, n = (4,) * 8, 4_000
    problem = problem_of(sizes, ways=2, n=n, neighbours=neighbours)
    few = np.random.default_rng(seed).integers(0, 4, (n, 8))
    few[:, 5], few[:, 6] = few[:, 0], 3 - few[:, 2]
    mechanism = WholeTable(epsilon=0.4)
    choice = mechanism.choice(problem)
    assert choice is not None and mechanism.plan(problem) is choice.columns
    chosen, rows = {}, {}
    for name, records in (("few", few), ("all", correlated(sizes, n=n, seed=seed))):
        release = mechanism.run(mechanism.prepare(dataset_on(problem, records), problem), Secure())
        assert isinstance(release, ChosenPairsRelease)
        chosen[name], rows[name] = set(release.chosen()), release.rows()
        tables = release.tables()
        for pair in choice.pairs:
            assert (tables[pair] >= 0).all()
            for axis in (0, 1):
                np.testing.assert_allclose(tables[pair].sum(axis=1 - axis), tables[(pair[axis],)], atol=0.03 * n)
    assert {(0, 5), (2, 6)} <= chosen["few"]
    assert len(chosen["few"]) < 0.9 * len(choice.pairs) < len(chosen["all"])
    assert (rows["few"][:, 0] == rows["few"][:, 5]).mean() > 0.6  # a quarter by chance


def test_columns_that_no_chosen_pairs_link_are_hardly_dependent_in_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows drawn by chance have tables as far from the product as chance puts them; they are moved towards it."""
    sizes, n = (8,) * 6, 20_000
    problem = problem_of(sizes, ways=2, n=n, neighbours=ADD_REMOVE)
    mechanism, apart = WholeTable(epsilon=0.15), list[tuple[float, float]]()
    for seed in range(4):
        records = np.random.default_rng(seed).integers(0, 8, (n, 6))
        records[:, 5] = records[:, 0]
        release = mechanism.run(mechanism.prepare(dataset_on(problem, records), problem), Preview(seed), 1)
        assert isinstance(release, ChosenPairsRelease) and (0, 5) in release.chosen()
        tables, rows = release.tables(), release.rows()
        drawn = synthetic_rows(tables, widest_tree(tables, attributes=6, ways=2), rows=len(rows), seed=seed)
        for pair in set(release.fitted_sets(0)) - set(release.chosen()):
            moved, control = (float(np.abs(count_cells(e, pair, (8, 8)) - tables[pair]).sum()) for e in (rows, drawn))
            apart.append((moved, control))
    moved, control = np.mean(apart, axis=0)
    assert len(apart) > 5 and moved < 0.6 * control, "the control: rows that are drawn alone"
    assert isinstance(release, ChosenPairsRelease)
    monkeypatch.setattr(ChosenPairsRelease, "chosen", lambda self, trial: [(0, 1), (1, 2), (3, 4)])
    linked = {(0, 1), (0, 2), (1, 2), (3, 4)}
    assert set(release.fitted_sets(0)) == ({*release.choice.pairs} - linked) | {(0, 1), (1, 2), (3, 4)}


@pytest.mark.slow
@every_relation
def test_the_bound_of_chosen_pairs_holds_for_all_of_them_although_noise_chose_them(
    neighbours: Neighbours, seed: int
) -> None:
    """200 releases of noise that is large beside the rows: of all tables at once, but for chance beta.

    A quarter of the bound is often exceeded, and so is the part that the noise of single columns has of it.
    """
    sizes, n, trials, beta = (3, 4, 2, 5), 150, 200, 0.2
    problem = problem_of(sizes, ways=2, n=n, neighbours=neighbours)
    records = correlated(sizes, n=n, seed=seed)
    mechanism = Always(epsilon=1.0, delta=1e-6)
    release = mechanism.run(mechanism.prepare(dataset_on(problem, records), problem), Preview(seed), trials)
    assert isinstance(release, ChosenPairsRelease)
    every = [release.rows(trial=trial) for trial in range(ROWS_TRIED)]
    shares, of_columns, counts = np.zeros((3, trials))
    for trial in range(trials):
        measured = release.measured(trial=trial)
        counts[trial] = len(measured) - len(sizes)
        for chosen, table in measured.items():
            away = np.abs(table - count_cells(records, chosen, table.shape)).max()
            shares[trial] = max(shares[trial], away / release.noise_within(chosen, beta=beta, measured=measured))
            if len(chosen) == 2:
                alone = release.plan.cell_sigma(chosen) * np.sqrt(2 * np.log(4 / beta))
                of_columns[trial] = max(of_columns[trial], away / alone)
                for axis, attribute in enumerate(chosen):
                    np.testing.assert_allclose(table.sum(axis=1 - axis), measured[(attribute,)], atol=1e-6)
    assert (shares > 1).mean() <= beta < (shares > 1 / 4).mean()
    assert (of_columns > 1).mean() > beta, "without the noise that is drawn after the choice no bound holds"
    assert counts.min() < counts.max(), "noise decides how many"
    few = release.part(0, ROWS_TRIED)
    for pair in release.choice.pairs:
        bounds = few.off_by(pair, every, beta=beta)
        truth = count_cells(records, pair, tuple(sizes[attribute] for attribute in pair))
        away = np.array([np.abs(count_cells(rows, pair, truth.shape) - truth).max() for rows in every])
        assert (np.isinf(bounds) == [pair not in few.measured(trial=trial) for trial in range(ROWS_TRIED)]).all()
        assert (away[np.isfinite(bounds)] <= bounds[np.isfinite(bounds)]).mean() > 0.8


def test_distances_name_the_pairs_of_which_nothing_is_known(seed: int) -> None:
    sizes, n = (4,) * 8, 4_000
    problem = problem_of(sizes, ways=2, n=n, neighbours=ADD_REMOVE)
    records = np.random.default_rng(seed).integers(0, 4, (n, 8))
    records[:, 5] = records[:, 0]
    mechanism = WholeTable(epsilon=0.4)
    release = mechanism.run(mechanism.prepare(dataset_on(problem, records), problem), Preview(seed), 1)
    assert isinstance(release, ChosenPairsRelease)
    measured, rows = release.measured(), release.rows()
    lines = release.distances(rows, beta=0.05).set_index("table")
    assert len(lines) == 8 + 28 > len(measured) > 8 and lines.index[0] == "a"
    known = lines.iloc[: len(measured)]
    assert known.notna().all().all() and lines.iloc[len(measured) :].isna().all().all()
    within = release.off_by((0, 5), [rows], beta=0.05)
    assert known.loc["a × f", "within"] == np.ceil(within[0])
    printed = release.measured_frame()
    assert list(printed) == ["table", "value 1", "value 2", "rows"]
    assert len(printed) == sum(table.size for table in measured.values())
    np.testing.assert_array_equal(printed[printed["table"] == "a × f"]["rows"], measured[(0, 5)].reshape(-1))
