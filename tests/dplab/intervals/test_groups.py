"""Intervals of group statistics: coverage over small releases, ratios, what has none, and quantiles by group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore import Labels, Number, ParameterError, Preview
from dpcore.core import Booleans, Floats, Integers, Mechanism
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.counters import GaussianGroupCounters, GroupCounters
from dpcore.mechanisms.grouped.planned import PlannedGroupCounters
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, GroupQuantilesRelease
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.grouped.statistics import statistics
from dpcore.mechanisms.grouped.weights import row_weight
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dplab.intervals.groups import group_interval, group_intervals, interval_names, recipes
from dplab.intervals.interval import Interval, Kind
from dplab.intervals.noise import CounterNoise, LaplaceNoise
from dplab.intervals.planned_margins import people_needed
from dplab.intervals.released import group_quantile, interval, noise_law, noise_of
from dplab.intervals.spread import correlation, powers_of, skewness, slope
from tests.dpcore.mechanisms.grouped.tables import dataset_of, problem_of, queries_of, released
from tests.dplab.intervals.coverage import refuted

TRIALS, ROWS = 2000, 240
GROUP = Labels(labels=("a", "b", "c"))
LINE, OTHER, ANSWER = (
    Number(low=-2.0, high=6.0, bins=16),
    Number(low=1.0, high=3.0, bins=8),
    Labels(labels=("no", "yes")),
)
DIGEST = "0123456789abcdef" * 4

CASES: dict[str, tuple[Mechanism, GroupStatistics]] = {
    "mean": (GroupCounters(epsilon=1.0), queries_of(GROUP, LINE)),
    "proportion": (GroupCounters(epsilon=0.7), queries_of(GROUP, ANSWER)),
    "variance": (GroupCounters(epsilon=2.0), queries_of(GROUP, LINE, degree=2)),
    "degree three": (GroupCounters(epsilon=3.0), queries_of(GROUP, LINE, degree=3)),
    "two numbers": (GroupCounters(epsilon=1.0), queries_of(GROUP, LINE, OTHER, numbers=(1, 2))),
    "divisor of yes": (GroupCounters(epsilon=2.0), queries_of(GROUP, OTHER, ANSWER, numbers=(1, 2))),
    "squares of two": (GroupCounters(epsilon=3.0), queries_of(GROUP, OTHER, OTHER, numbers=(1, 2), degree=2)),
    "Gaussian": (GaussianGroupCounters(epsilon=1.0, delta=1e-5), queries_of(GROUP, LINE, degree=2)),
    "planned": (PlannedGroupCounters(epsilon=1.0, delta=1e-5), queries_of(GROUP, LINE, degree=2)),
    "planned proportion": (PlannedGroupCounters(epsilon=2.0, delta=1e-5), queries_of(GROUP, ANSWER)),
    "Gaussian squares of two": (
        GaussianGroupCounters(epsilon=3.0, delta=1e-5),
        queries_of(GROUP, OTHER, OTHER, numbers=(1, 2), degree=2),
    ),
}


def records(queries: GroupStatistics, seed: int) -> Integers:
    """Rows in groups of very different sizes; the last group has none."""
    generator = np.random.default_rng(seed)
    group = generator.choice(queries.domain.sizes[0] - 1, size=ROWS, p=[0.75, 0.2, 0.05])
    others = [generator.binomial(size - 2, 0.4, ROWS) for size in queries.domain.sizes[1:]]
    return np.stack([group, *others], axis=1).astype(np.int64)


def made(case: str, seed: int) -> tuple[Mechanism, GroupRelease, dict[str, Floats]]:
    """Releases of a case, and the statistics without noise."""
    mechanism, queries = CASES[case]
    rows = records(queries, seed)
    problem = problem_of(queries, ROWS)
    release = released(mechanism, problem, rows, sampler=Preview(seed), trials=TRIALS)
    state = mechanism.prepare(dataset_of(queries, rows), problem)
    counters: Integers = state.counters
    return mechanism, release, statistics(counters, queries)


@pytest.mark.parametrize("case", CASES)
def test_the_intervals_of_every_statistic_cover_what_is_true_of_the_rows(case: str, seed: int) -> None:
    mechanism, release, truth = made(case, seed)
    names = interval_names(release.queries, noise_of(mechanism, release))
    assert names == list(truth), "every statistic of a release has an interval"
    trials = 100 if case == "squares of two" else TRIALS  # nine counters take long; see the next test
    release = release.part(0, trials)
    for name in names:
        if name.startswith("standard deviation"):  # the same event as the variance's
            few = release.part(0, 20)
            roots, squares = (
                interval(mechanism, few, each) for each in (name, name.replace("standard deviation", "variance"))
            )
            np.testing.assert_array_equal(roots.high, np.sqrt(squares.high))
            continue
        found = interval(mechanism, release, name)
        assert found.kind is Kind.PROVED and found.low.shape == (trials, release.queries.count)
        defined = ~np.isnan(truth[name])  # a group without rows has no mean
        assert defined[:3].any()
        covered = found.contains(truth[name])[:, defined]
        for place in range(covered.shape[1]):
            assert not refuted(covered[:, place], level=0.95), (name, place, covered[:, place].mean())
        if not name.startswith(("rows", "variance", "ratio of sums")):  # those are cut off, or not central
            value = release.statistics()[name]
            assert found.contains(np.where(np.isnan(value), found.low, value)).mean() > 0.99, name


@pytest.mark.parametrize("rows", [150, 800])
@pytest.mark.parametrize("name", ["slope", "correlation", "skewness"])
def test_what_is_not_linear_in_the_noise_is_covered_and_hardly_more(name: str, rows: int, seed: int) -> None:
    """The equation of each at the true value; with less noise than there is, it is refuted too often: the control."""
    generator, trials = np.random.default_rng(seed), 2000
    first = generator.binomial(7, 0.3, rows)
    second = np.clip(first + generator.integers(-2, 3, rows), 0, 7)
    queries = queries_of(OTHER, OTHER, numbers=(0, 1), degree=2)
    cells = np.stack([first, second], axis=1)
    if name == "skewness":
        queries, cells = queries_of(LINE, degree=3), generator.geometric(0.2, (rows, 1)).clip(1, 16) - 1
    mechanism = GroupCounters(epsilon=3.0)
    release = released(mechanism, problem_of(queries, rows), cells, sampler=Preview(seed), trials=trials)
    truth = statistics(mechanism.prepare(dataset_of(queries, cells), release.problem).counters, queries)[name]
    counters, noise, side = release.counters[:, 0].astype(np.float64), noise_of(mechanism, release), np.ones(3)
    each = [np.stack([np.outer(*pair).reshape(-1) for pair in pairs]) for pairs in (
        [(power, side) for power in powers_of(2)], [(side, power) for power in powers_of(2)],
    )]  # fmt: skip
    product = np.outer(powers_of(2)[1], powers_of(2)[1]).reshape(-1)

    def kept(noise: CounterNoise, trials: int) -> Booleans:
        found = {
            "slope": lambda: slope(counters[:trials], each[0], each[1], product, noise, level=0.95),
            "correlation": lambda: correlation(counters[:trials], each[0], each[1], product, noise, level=0.95),
            "skewness": lambda: skewness(counters[:trials], powers_of(3), noise, level=0.95),
        }[name]()
        return found.silent | (found.tail(np.full(trials, truth[0])) >= found.alpha)

    covered = kept(noise, trials)
    assert not refuted(covered, level=0.95) and (rows == 150 or covered.mean() < 0.98)
    assert refuted(kept(LaplaceNoise(noise.scale / 4), trials // 3), level=0.95)


@pytest.mark.parametrize("number", [LINE, ANSWER], ids=["a number", "two labels"])
def test_intervals_of_coarser_groups_hold_with_the_noise_that_was_planned_for_them(
    number: Number | Labels, seed: int
) -> None:
    """And hardly more often; with the noise of a single group they are refuted: the control."""
    many = Labels(labels=tuple("abcdefghijkl"), missing=False)
    mechanism, queries = PlannedGroupCounters(epsilon=1.0, lean=4.0), queries_of(many, GROUP, number)
    generator, n = np.random.default_rng(seed), 60_000
    sizes = (12, 3, number.ordered)
    rows = np.stack([generator.binomial(size - 1, 0.4, n) for size in sizes], axis=1).astype(np.int64)
    problem = problem_of(queries, n)
    release = released(mechanism, problem, rows, sampler=Preview(seed), trials=TRIALS)
    state = mechanism.prepare(dataset_of(queries, rows), problem)
    true = replace(release.part(0, 1), counters=state.counters[None])
    name = "mean" if number is LINE else "proportion"
    for kept in ((), (0,), (1,)):
        for each in ("rows", name, "sum") if number is LINE else ("rows", name):
            found, truth = interval(mechanism, release, each, kept=kept), true.statistics(kept)[each][0]
            held = found.contains(truth)[:, truth == truth]
            assert not any(refuted(place, level=0.95) for place in held.T), (kept, each)
            assert held[:, 0].mean() < (0.975 if number is LINE else 0.99), "no wider than they need to be"
    single = noise_law(mechanism, problem)
    held = group_interval(release, single, "rows", level=0.95, kept=()).contains(true.statistics(())["rows"][0])
    assert refuted(held[:, 0], level=0.95)


def test_two_standard_deviations_are_refuted_by_the_same_test(seed: int) -> None:
    many = Labels(labels=tuple("abcdefghijklmnop"), missing=False)
    mechanism, queries = GroupCounters(epsilon=1.0), queries_of(many, ANSWER)
    rows = np.stack([np.arange(ROWS) % 16, np.arange(ROWS) % 2], axis=1)
    release = released(mechanism, problem_of(queries, ROWS), rows, sampler=Preview(seed), trials=TRIALS)
    truth = np.bincount(rows[:, 0], weights=rows[:, 1], minlength=queries.count)
    found = interval(mechanism, release, "sum").contains(truth)
    deviation = noise_of(mechanism, release).deviation
    naive = np.abs(release.statistics()["sum"] - truth) <= 1.96 * deviation * 0.999
    assert not refuted(found, level=0.95) and refuted(naive, level=0.95)


def test_where_noise_may_hide_the_number_of_rows_the_interval_is_the_whole_range(seed: int) -> None:
    mechanism, release, _ = made("mean", seed)
    found = interval(mechanism, release, "mean")
    nothing, empty = found.says_nothing, 3
    assert nothing[:, empty].mean() > 0.9 and not nothing[:, 0].any()
    assert (found.low[nothing] == LINE.low).all() and (found.high[nothing] == LINE.high).all()
    rows = release.statistics()["rows"]
    assert rows[nothing].max() <= rows[~nothing].min(), "by the noisy number of rows alone"


@pytest.mark.slow
def test_means_printed_by_noisy_rows_are_covered_and_those_printed_by_width_are_not(seed: int) -> None:
    sizes, line = np.arange(100, 500, 10), Number(high=1.0, bins=512, missing=False)
    queries = queries_of(Labels(labels=tuple(map(str, sizes)), missing=False), line)
    mechanism, generator = GroupCounters(epsilon=0.1), np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.stack([group, generator.geometric(0.1, len(group)) - 1], axis=1)  # a mean near the lower bound
    release = released(mechanism, problem_of(queries, len(rows)), rows, sampler=Preview(seed), trials=300)
    truth = statistics(mechanism.prepare(dataset_of(queries, rows), release.problem).counters, queries)["mean"]
    found, values = interval(mechanism, release, "mean"), release.statistics()
    needed = people_needed(0.25, noise_of(mechanism, release), weight=row_weight(queries), level=0.95)
    covered, enough = found.contains(truth), values["rows"] >= needed
    assert 0.8 < enough.mean() < 0.99
    assert not refuted(covered[enough], level=0.945)
    narrow = found.half_width <= values["mean"] / 2
    assert narrow.mean() > 0.01 and refuted(covered[narrow], level=0.945)


def test_a_ratio_without_limits_has_infinite_ends_where_nothing_bounds_it(seed: int) -> None:
    mechanism, release, _ = made("divisor of yes", seed)
    found = interval(mechanism, release, "ratio of sums")
    assert np.isinf(found.high[:, 3]).mean() > 0.9 and np.isfinite(found.high[:, 0]).all()
    mechanism, release, _ = made("two numbers", seed)
    found = interval(mechanism, release, "ratio of sums")
    assert np.isfinite(found.low).all() and found.low.min() >= -2.0 and found.high.max() <= 6.0


def test_a_divisor_below_zero_turns_with_its_numerator(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counters = generator.integers(200, 400, (5, 4)).astype(np.float64)
    above, below = Number(low=1.0, high=3.0, bins=4), Number(low=-3.0, high=-1.0, bins=4)
    noise = LaplaceNoise.of(epsilon=1.0, sensitivity=64)
    up, down = (
        recipes(queries_of(GROUP, OTHER, column, numbers=(1, 2)), noise)["ratio of sums"] for column in (above, below)
    )
    mirrored = counters[:, [1, 0, 3, 2]]
    found, turned = up(counters * 8, noise, 0.95), down(mirrored * 8, noise, 0.95)
    np.testing.assert_allclose(found.low, -turned.high, rtol=1e-9)
    np.testing.assert_allclose(found.high, -turned.low, rtol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_all_intervals_together_are_those_of_each(case: str, seed: int) -> None:
    mechanism, release, _ = made(case, seed)
    few = release.part(0, 3)
    together = group_intervals(few, noise_of(mechanism, few), level=0.9)
    assert list(together) == interval_names(few.queries, noise_of(mechanism, few))
    for name, found in together.items():
        alone = interval(mechanism, few, name, level=0.9)
        np.testing.assert_array_equal([found.low, found.high], [alone.low, alone.high])


def test_a_third_of_epsilon_for_each_of_three_rows_is_three_times_as_wide(seed: int) -> None:
    queries = queries_of(GROUP, LINE)
    rows = np.stack([np.arange(900) % 3, np.arange(900) % 16], axis=1)
    half: list[Interval] = []
    for epsilon in (1.5, 0.5):
        release = released(GroupCounters(epsilon=epsilon), problem_of(queries, 900), rows, sampler=Preview(seed))
        half += [interval(GroupCounters(epsilon=epsilon), release, name) for name in ("mean", "sum")]
    np.testing.assert_allclose(half[2].half_width[0, :3] / half[0].half_width[0, :3], 3, rtol=0.15)
    np.testing.assert_allclose(half[3].half_width / half[1].half_width, 3, rtol=0.01)


@pytest.mark.parametrize("bins", [16, 128])
def test_quantiles_of_groups_are_covered(bins: int, seed: int) -> None:
    line = Number(high=1.0, bins=bins, missing=False)
    queries = GroupQuantiles(domain=Product(names=("g", "x"), columns=(GROUP, line)))
    mechanism, rng = GroupQuantileCounts(epsilon=1.0), np.random.default_rng(seed)
    rows = np.stack([rng.choice(3, size=400, p=[0.8, 0.15, 0.05]), rng.integers(0, bins, 400)], axis=1)
    problem = problem_of(queries, 400)
    state = mechanism.prepare(dataset_of(queries, rows), problem)
    release = mechanism.run(state, Preview(seed), 1000)
    assert isinstance(release, GroupQuantilesRelease)
    found = group_quantile(mechanism, release, 0.5, level=0.95, digest=DIGEST)
    for group in range(3):
        up_to = np.cumsum(np.bincount(rows[rows[:, 0] == group, 1], minlength=bins))
        true_cell = int(np.argmax(up_to >= 0.5 * up_to[-1]))
        # The half-widths' own level differs by about 0.0035 from one digest to the next.
        assert not refuted(found.contains(true_cell)[:, group], level=0.935), group
    assert np.median(found.high[:, 0] - found.low[:, 0]) < bins / 2
    assert found.says_nothing[:, 3].mean() > 0.2, "a group without rows"


REGION = Labels(labels=("n", "e", "s", "w"), missing=False)


@pytest.mark.parametrize("kept", [(), (0,), (1,)])
def test_coarser_groups_are_covered_with_the_noise_of_all_groups_in_them(kept: tuple[int, ...], seed: int) -> None:
    queries = queries_of(REGION, GROUP, LINE, degree=2)
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, 4, 2000), rng.integers(0, 3, 2000), rng.integers(0, 16, 2000)], axis=1)
    problem, mechanism = problem_of(queries, 2000), GroupCounters(epsilon=1.0)
    state = mechanism.prepare(dataset_of(queries, rows), problem)
    release = mechanism.run(state, Preview(seed), 300)
    exact = replace(release.part(0, 1), counters=state.counters[None])
    truth = exact.statistics(kept)
    for name in ("rows", "mean", "sum", "variance"):
        found = interval(mechanism, release, name, kept=kept)
        people = truth["rows"][0] > 0
        assert not refuted(found.contains(truth[name])[:, people], level=0.95), name
        if name in ("rows", "sum"):
            assert found.contains(truth[name]).mean() < 0.985, "so it is not by being wide"
            narrow = interval(mechanism, release, name).half_width.mean()
            middle, half = (found.low + found.high) / 2, narrow / 2
            assert refuted(np.abs(middle - truth[name]) <= half, level=0.95), "the control: half of one group's width"


def test_all_columns_kept_are_the_groups_themselves_and_others_are_refused(seed: int) -> None:
    queries = queries_of(REGION, GROUP, LINE)
    release = released(GroupCounters(epsilon=1.0), problem_of(queries, 90), np.zeros((90, 3), dtype=np.int64))
    mechanism = GroupCounters(epsilon=1.0)
    alone, kept = (interval(mechanism, release, "mean", kept=each) for each in (None, (0, 1)))
    np.testing.assert_array_equal([alone.low, alone.high], [kept.low, kept.high])
    for wrong in ((2,), (1, 0), (0, 0)):
        with pytest.raises(ParameterError, match="ascending"):
            interval(mechanism, release, "mean", kept=wrong)
    with pytest.raises(ParameterError, match="There is no such statistic"):
        interval(mechanism, release, "no such statistic")
