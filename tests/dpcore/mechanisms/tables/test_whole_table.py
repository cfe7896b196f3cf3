"""Whole tables: the exact law over all neighbours, the public rule, and rows that fit the released tables."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore import Account, DataError, Neighbours, ParameterError, Preview, entry
from dpcore.core import Blocks, BoundKind, Floats, Integers, Problem, cancellable, finish
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Dates
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import is_table
from dpcore.mechanisms.tables import tree as tree_module
from dpcore.mechanisms.tables.counting import count_tables
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.mechanisms.tables.rows_release import RowsRelease
from dpcore.mechanisms.tables.tree import fit_rows, synthetic_rows, widest_tree
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dplab.audit import exact_delta
from dprelease.engines.counts import parts_of
from tests.kit.attribute_tables import correlated, dataset_on, every_record, problem_of, table_of, tiny
from tests.kit.contract import check_tiny_law

ADD_REMOVE, REPLACE = Neighbours.ADD_REMOVE_ONE, Neighbours.REPLACE_ONE
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
SIZES = (2, 3, 5, 4, 2)
WINDOW = (-7, 9)
TINY = WholeTable(epsilon=2.5, delta=0.05)


class Quiet(WholeTable):
    """Half the noise on single columns."""

    def plan(self, problem: Problem) -> ResidualPlan:
        plan = super().plan(problem)
        parts = tuple(dataclasses.replace(p, sigma=p.sigma / 2) if sum(p.key) == 1 else p for p in plan.parts)
        return dataclasses.replace(plan, parts=parts)


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("rule", [True, False])
def test_exact_privacy_over_all_neighbours(neighbours: Neighbours, rule: bool) -> None:
    """With pairs, and with single columns alone, which the rule takes for two rows."""
    mechanism = dataclasses.replace(TINY, rule=rule)
    assert mechanism.plan(tiny(neighbours)).cliques.ways == (1 if rule else 2)
    settings: dict[str, Any] = {"window": WINDOW, "universe": every_record((2, 2))}
    finding = exact_delta(mechanism, tiny(neighbours), **settings)
    assert finding.pairs == (16 if neighbours is ADD_REMOVE else 24)
    assert 0.3 * TINY.delta < finding.delta <= TINY.delta
    faulty = Quiet(epsilon=TINY.epsilon, delta=TINY.delta, rule=rule)
    assert exact_delta(faulty, tiny(neighbours), **settings).delta > 1.2 * TINY.delta


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["preview", "secure"])
def test_releases_have_the_exact_law(sampler: str, seed: int) -> None:
    problem, mechanism = tiny(REPLACE), WholeTable(epsilon=8.0, delta=0.05)
    dataset = dataset_on(problem, np.array([[0, 1], [1, 1]]))
    check_tiny_law(mechanism, dataset, problem, sampler, window=(-3, 3), seed=seed)


def prepared(n: int, neighbours: Neighbours, *, seed: int, ways: int = 2) -> tuple[Problem, Integers, Any]:
    """A problem, correlated rows, and their state."""
    problem = problem_of(SIZES, ways=ways, n=n, neighbours=neighbours)
    records = correlated(SIZES, n=n, seed=seed)
    return problem, records, WholeTable().prepare(dataset_on(problem, records), problem)


def released(n: int, neighbours: Neighbours, *, epsilon: float, seed: int, **told: Any) -> RowsRelease:
    """A release of correlated rows."""
    _, _, state = prepared(n, neighbours, seed=seed)
    return WholeTable(epsilon=epsilon, **told).run(state, Preview(seed))


def pairs_of(rows: Integers) -> dict[tuple[int, ...], Floats]:
    """Shares of the rows in each cell of each pair."""
    counted = finish(count_tables(rows.astype(np.uint16), SIZES, ways=2))
    return {chosen: table / len(rows) for chosen, table in counted.items()}


def apart(one: Integers, other: Integers) -> float:
    """Mean total variation of all pairs."""
    first, second = pairs_of(one), pairs_of(other)
    return float(np.mean([np.abs(first[pair] - second[pair]).sum() / 2 for pair in second]))


@pytest.mark.slow
@every_relation
def test_the_rule_takes_what_noise_leaves_room_for(neighbours: Neighbours, seed: int) -> None:
    """Fewer columns at small epsilon or n; pairs are then not promised. Spending is the guarantee's either way."""
    problem, _, state = prepared(2_000, neighbours, seed=seed, ways=3)
    mechanisms = [WholeTable(epsilon=epsilon, delta=1e-6) for epsilon in (0.02, 0.3, 1.0, 20.0)]
    ways = [mechanism.plan(problem).cliques.ways for mechanism in mechanisms]
    assert ways == [1, 1, 2, 3]
    assert [mechanism.choice(problem) is not None for mechanism in mechanisms] == [False, True, False, False]
    for epsilon in (0.02, 0.3):
        forced = WholeTable(epsilon=epsilon, rule=False)
        assert forced.plan(problem).cliques.ways == 3 and forced.choice(problem) is None
    assert [m.plan(dataclasses.replace(problem, n=10**7)).cliques.ways for m in mechanisms] == [3, 3, 3, 3]
    for mechanism in mechanisms:
        account = Account(Preview(seed))
        mechanism.run(state, account, 2)
        assert 0.5e-6 < account.delta(mechanism.epsilon) <= 1e-6
    cliques = [mechanism.accuracy(problem, 0.05).kind for mechanism in mechanisms]
    assert cliques == [*[BoundKind.ORDER_ONLY] * 3, BoundKind.GUARANTEE]


def test_too_many_cells_of_pairs_leave_single_columns() -> None:
    problem = problem_of((5_000, 5_000), ways=2, n=10**9, neighbours=REPLACE)
    assert WholeTable(epsilon=5.0).plan(problem).cliques.ways == 1
    with pytest.raises(ParameterError, match="numbers"):
        WholeTable(epsilon=5.0, rule=False).plan(problem)


@pytest.mark.slow
@every_relation
def test_rows_are_as_many_as_the_released_total_and_follow_from_the_release(neighbours: Neighbours, seed: int) -> None:
    release = released(3_000, neighbours, epsilon=1.0, seed=seed)
    rows, total = release.rows(), float(release.residuals(0)[()][0])
    assert rows.shape == (min(round(total), 3_000), len(SIZES)) and (total == 3_000) == (neighbours is REPLACE)
    assert (rows >= 0).all() and (rows < np.array(SIZES)).all()
    np.testing.assert_array_equal(rows, release.rows())
    other = released(3_000, neighbours, epsilon=1.0, seed=seed + 1)
    assert not np.array_equal(rows, other.rows())
    dropped = release.frame().drop(columns="trial")
    pd.testing.assert_frame_equal(dropped, release.table())


def test_a_nominal_number_of_rows_is_no_number_of_synthetic_rows(seed: int) -> None:
    """Rows of 2,900 people had been 10,000."""
    problem = problem_of(SIZES, ways=2, n=10_000, neighbours=ADD_REMOVE)
    records = correlated(SIZES, n=2_900, seed=seed)
    mechanism = WholeTable(epsilon=2.0)
    release = mechanism.run(mechanism.prepare(dataset_on(problem, records), problem), Preview(seed))
    assert abs(len(release.rows()) - 2_900) < 290 and len(release.table()) == len(release.rows())


class Stopped(Exception):
    """Raised by a check that ends work."""


def test_rows_are_made_in_small_steps_and_can_be_stopped() -> None:
    problem = problem_of(SIZES, ways=2, n=3_000, neighbours=ADD_REMOVE)
    mechanism = WholeTable(epsilon=4.0)
    state = mechanism.prepare(dataset_on(problem, correlated(SIZES, n=3_000, seed=1)), problem)
    release = mechanism.run(state, Preview(1))
    work = Blocks(release.make_rows())
    shares = np.array(list(work))
    assert shares[0] == 0 and np.diff(shares[1:]).min() > 0 and np.diff(shares).max() < 0.02 and shares[-1] > 0.98
    np.testing.assert_array_equal(work.result, release.rows())
    tables, tree = release.tables(), widest_tree(release.tables(), attributes=5, ways=2)

    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped), cancellable(stop, every=0.0):
        synthetic_rows(tables, tree, rows=3_000, seed=1)


def test_rows_of_a_wide_column_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A law for each row at once would take rows times cells: in blocks the rows are the same."""
    records = correlated(SIZES, n=5_000, seed=3)
    tables = pairs_of(records)
    tree = widest_tree(tables, attributes=5, ways=2)
    at_once = synthetic_rows(tables, tree, rows=5_000, seed=3)
    blocks = list[int]()

    def counted() -> None:
        blocks.append(1)

    monkeypatch.setattr(tree_module, "BLOCK", 1_000)
    monkeypatch.setattr(tree_module, "checkpoint", counted)
    np.testing.assert_array_equal(synthetic_rows(tables, tree, rows=5_000, seed=3), at_once)
    assert len(blocks) == sum(-(-5_000 // (1_000 // size)) for size in SIZES)


def test_fitted_rows_come_closer_than_those_of_a_tree(seed: int) -> None:
    """Tables without noise: rows of a tree miss pairs that are not in it; fitted ones have them within a tenth."""
    records = correlated(SIZES, n=20_000, seed=seed)
    tables = {chosen: table * 3.0 for chosen, table in pairs_of(records).items()}
    start = synthetic_rows(tables, widest_tree(tables, attributes=5, ways=2), rows=20_000, seed=seed)
    before = start.copy()
    rows = finish(fit_rows(start, tables, seed=seed))
    np.testing.assert_array_equal(start, before)
    assert apart(rows, records) < 0.1 * apart(start, records)
    # Columns of their own are the hardest start.
    shuffled = np.stack([np.random.default_rng(seed + a).permutation(records[:, a]) for a in range(5)], axis=1)
    assert apart(finish(fit_rows(shuffled, tables, seed=seed)), records) < 0.1 * apart(shuffled, records)


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("epsilon", [0.03, 0.1, 0.3, 1.0])
def test_never_worse_than_single_columns(neighbours: Neighbours, epsilon: float, seed: int) -> None:
    """Mean over releases, beside rows of the same mechanism's single columns at the same privacy."""
    _, records, state = prepared(4_000, neighbours, seed=seed)
    single_problem = problem_of(SIZES, ways=1, n=4_000, neighbours=neighbours)
    single = WholeTable(epsilon=epsilon).prepare(dataset_on(single_problem, records), single_problem)
    mechanism = WholeTable(epsilon=epsilon)
    ours, theirs = (mechanism.run(found, Preview(seed), 5) for found in (state, single))
    found = [np.mean([apart(release.rows(trial=t), records) for t in range(5)]) for release in (ours, theirs)]
    assert found[0] <= 1.05 * found[1]


@pytest.mark.slow
@every_relation
def test_the_rows_errors_stay_within_what_the_release_says(neighbours: Neighbours, seed: int) -> None:
    """120 releases: no cell of any pair is off by more, but for chance beta; a sixth of it is often exceeded."""
    trials, beta, n = 120, 0.1, 200
    problem = problem_of((2, 3, 4), ways=2, n=n, neighbours=neighbours)
    records = correlated((2, 3, 4), n=n, seed=seed)
    mechanism = WholeTable(epsilon=2.0, delta=1e-6, rule=False)
    release = mechanism.run(mechanism.prepare(dataset_on(problem, records), problem), Preview(seed), trials)
    rows = [release.rows(trial=trial) for trial in range(trials)]
    share = np.zeros(trials)
    assert isinstance(problem.queries, Marginals)
    for pair in problem.queries.sets():
        sizes = tuple((2, 3, 4)[a] for a in pair)
        counts = np.array([table_of(each[:, list(pair)], sizes, tuple(range(2))) for each in rows])
        off = np.abs(counts - table_of(records[:, list(pair)], sizes, tuple(range(2)))).reshape(trials, -1).max(axis=1)
        share = np.maximum(share, off / release.off_by(pair, rows, beta=beta))
    assert (share > 1).mean() <= beta
    assert (share > 1 / 6).mean() > beta
    single = WholeTable(epsilon=0.02, delta=1e-6).run(
        mechanism.prepare(dataset_on(problem, records), problem), Preview(seed), 1
    )
    assert np.isinf(single.off_by((0, 1), rows[:1], beta=beta)).all()


def test_what_the_rows_errors_stay_within_is_for_all_tables_that_were_measured(seed: int) -> None:
    """Tables of three columns of two labels were asked, 8 cells; pairs were measured, 12 cells."""
    beta, problem = 0.1, problem_of((2, 2, 2), ways=3, n=200, neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = WholeTable(epsilon=3.0, delta=1e-6)
    data = dataset_on(problem, correlated((2, 2, 2), n=200, seed=seed))
    release = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 1)
    rows = release.rows()
    assert release.plan.cliques.ways == 2
    counts = np.bincount(2 * rows[:, 0] + rows[:, 1], minlength=4)
    distances = np.abs(counts - release.unbiased((0, 1)).reshape(-1)).max()
    noise = release.plan.cell_sigma((0, 1)) * math.sqrt(2 * math.log(2 * 12 / beta))
    np.testing.assert_allclose(release.off_by((0, 1), rows[None], beta=beta), distances + noise)


# A table of every kind of column.

MIXED = DeclaredTable(
    columns=(
        DeclaredColumn(name="trial", on=Number(low=0, high=120, bins=120, missing=True)),
        DeclaredColumn(name="income", on=Number(high=150_000, bits=10, missing=True)),
        DeclaredColumn(name="share", on=Number(high=1, bits=6, missing=True, clamp=False)),
        DeclaredColumn(name="since", on=Dates(step="day", first="2020-01-01", last="2023-12-31", missing=True)),
        DeclaredColumn(name="month", on=Dates(step="month", first="2020-01", last="2020-12", missing=True)),
        DeclaredColumn(name="job", on=Labels(labels=("nurse", "cook", "1 to 2"))),
        DeclaredColumn(name="smoker", on=Labels(yes_no=True)),
    )
)


def mixed(n: int, *, seed: int) -> pd.DataFrame:
    """Rows of every kind, a tenth of each column missing."""
    random = np.random.default_rng(seed)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 1_400, n), unit="D")
    frame = pd.DataFrame(
        {
            "trial": random.integers(0, 120, n).astype(float),
            "income": np.where(random.random(n) < 0.4, 0.0, random.lognormal(9, 2, n)),
            "share": random.random(n) * 1.1,
            "since": day,
            "month": [f"2020-{m:02d}" for m in random.integers(1, 13, n)],
            "job": random.choice(["nurse", "cook", "1 to 2", "pilot"], n),
            "smoker": random.choice(["no", "yes"], n),
        }
    )
    return frame.mask(random.random(frame.shape) < 0.1)


@pytest.mark.slow
@every_relation
def test_a_mixed_table_comes_back_with_its_names_kinds_and_labels(neighbours: Neighbours, seed: int) -> None:
    frame = mixed(3_000, seed=seed)
    reading = MIXED.whole()
    dataset = reading.from_frame(frame)
    assert is_table(reading.domain)
    queries = Marginals(domain=reading.domain, ways=2)
    problem = Problem(domain=reading.domain, queries=queries, n=3_000, neighbours=neighbours)
    mechanism = entry("whole-table").make(epsilon=1.0, delta=1e-6)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 2)
    assert isinstance(release, RowsRelease)
    table = release.table(trial=1)
    assert list(table) == list(frame)
    assert [str(kind) for kind in table.dtypes[["trial", "income", "share"]]] == ["Int64", "Int64", "float64"]
    assert table["since"].dtype.kind == "M"
    assert list(table["job"].cat.categories) == ["nurse", "cook", "1 to 2"]
    missing = table.isna().mean().to_numpy()
    assert missing.min() > 0.04 and missing.max() < 0.5
    # Read again as it was declared, it has the very cells that were released.
    np.testing.assert_array_equal(reading.from_frame(table).records, release.rows(trial=1))
    together = release.frame()
    first = len(release.rows())
    assert together.columns[0] == "trial" and together.shape == (first + len(table), 8)
    pd.testing.assert_frame_equal(together.iloc[first:, 1:].reset_index(drop=True), table)


def test_every_pair_is_asked_of_a_mixed_table() -> None:
    """The rule picks cuts by bounds alone; a public few of the columns may be read."""
    domain: Any = MIXED.whole().domain
    assert all(size <= 25 for size in domain.sizes)
    assert domain.columns[1].edges[:4].tolist() == [0, 1, 100, 150]
    assert MIXED.whole("job", "trial").columns == ("job", "trial")
    assert len(list(Marginals(domain=domain, ways=2).sets())) == len(list(combinations(range(7), 2)))


def test_an_engine_refuses_ranges_that_are_not_its_cells() -> None:
    with pytest.raises(DataError, match="use a file"):
        parts_of(MIXED.whole())
