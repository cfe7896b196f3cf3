"""What the help of a setting says of more and less is so in numbers.

A promise is a part that stays whatever n is, and noise in rows over n: two n tell them apart.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpcore import Cells, Intervals, Labels, Neighbours, Number, Problem, Thresholds, entry
from dpcore.core import Queries
from dpcore.data.lists import DecisionLists
from dpcore.data.product import Product
from dpcore.mechanisms.ranges.root import Triangle
from dpcore.mechanisms.ranges.strategy import strategy
from dpcore.mechanisms.robust.stable_median import stability
from dpcore.mechanisms.subsamples.subsampling import agreement_needed
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.inputs import Inputs
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Rectangles
from dpcore.randomness import Preview
from tests.kit.halfspaces import dataset_of, problem_of

BETA = 0.05
LINE = Number(bits=6)
MAP = Product.map(Number(bits=5), Number(bits=5))
CODED = Product.coded({"a": 8, "b": 8})
TABLES = Product.coded({"a": 3, "b": 4, "c": 5})


def problem(queries: Queries, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    return Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)


def build(key: str, **values: Any) -> Any:
    """Return a mechanism with these values; each test knows its class."""
    return entry(key).make(**values)


def parts(key: str, queries: Queries, **values: Any) -> tuple[float, float]:
    """Return the part of a bound that is the same for every n, and its noise in rows."""
    few, many = 10**4, 10**7
    mechanism = build(key, **values)
    at_few, at_many = (mechanism.accuracy(problem(queries, n), BETA).value for n in (few, many))
    noise = (at_few - at_many) / (1 / few - 1 / many)
    return at_many - noise / many, noise


def falls(values: list[float]) -> bool:
    return all(after < before for before, after in itertools.pairwise(values))


def rises(values: list[float]) -> bool:
    return falls([-value for value in values])


FINER_AND_NOISIER: list[tuple[str, Queries, str, tuple[int, ...]]] = [
    ("rectangles", Rectangles(domain=MAP), "levels", (1, 2, 3, 4)),
    ("boxes", RangeBoxes(domain=CODED, marks=8), "levels", (1, 2, 3, 4)),
    ("net", Intervals(domain=LINE), "points", (2, 5, 10, 20, 50, 100)),
    ("net", Thresholds(domain=LINE), "points", (2, 5, 10, 20, 50, 100)),
    ("net", Cells(domain=LINE), "points", (2, 5, 10, 20, 50, 100)),
]


@pytest.mark.parametrize(("key", "queries", "name", "values"), FINER_AND_NOISIER, ids=lambda value: str(value)[:20])
def test_more_cells_or_points_resolve_finer_with_more_noise(
    key: str, queries: Queries, name: str, values: tuple[int, ...]
) -> None:
    numbers = [parts(key, queries, epsilon=1.0, **{name: value}) for value in values]
    assert falls([resolution for resolution, _ in numbers]) and rises([noise for _, noise in numbers])


@pytest.mark.parametrize("key", ["mwem"])
def test_more_rounds_learn_more_with_more_noise(key: str) -> None:
    queries = Intervals(domain=LINE)
    built = [build(key, epsilon=1.0, rounds=rounds) for rounds in (1, 2, 5, 10, 20, 50)]
    assert falls([each.accuracy(problem(queries, 10**12), BETA).value for each in built])
    assert rises([each.accuracy(problem(queries, 100), BETA).value for each in built])


def test_higher_degrees_of_decision_lists_have_less_bias_and_more_noise() -> None:
    domain = DecisionLists(names=tuple("abcdef"), rules=4)
    built = [
        build("marginals-decision-lists", epsilon=1.0, degree=degree, noise_aware=False) for degree in (1, 2, 3, 4)
    ]
    plans = [each.plan(problem(Inputs(domain=domain), 10_000)) for each in built]
    assert falls([plan.gamma for plan in plans]) and rises([plan.deviation for plan in plans])


def test_gaussian_noise_on_many_counts_is_far_less_than_laplace_noise() -> None:
    queries = AtLeast(domain=Product.yes_no([f"a{place}" for place in range(24)]), width=2, least=1, signed=False)
    values = {"epsilon": 1.0, "method": "direct"}
    laplace = build("marginals-polynomial", **values)
    gaussian = build("marginals-polynomial-gaussian", **values)
    setting = problem(queries, 10_000)
    assert not laplace.guarantee(setting).delta and gaussian.guarantee(setting).delta > 0
    assert gaussian.plan(setting).deviation < laplace.plan(setting).deviation / 3


def test_leaning_gives_tables_of_few_attributes_less_noise() -> None:
    setting = problem(Marginals(domain=TABLES, ways=2), 1000)
    plans = [build("residual-planner", epsilon=1.0, delta=1e-6, lean=lean).plan(setting) for lean in (1, 2, 4, 8)]
    assert falls([plan.cell_sigma((0,)) for plan in plans])


def test_a_whole_table_leans_the_more_the_more_noise_there_is() -> None:
    setting = problem(Marginals(domain=TABLES, ways=2), 400)
    plans = [build("whole-table", epsilon=epsilon, delta=1e-6).plan(setting) for epsilon in (8.0, 6.0, 5.0)]
    assert {plan.cliques.ways for plan in plans} == {2}
    assert falls([plan.cell_sigma((0,)) / plan.cell_sigma((0, 1)) for plan in plans])


SUBSAMPLES: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}


def needed(n: int, **values: Any) -> float:
    mechanism = build("subsample_commonest", **SUBSAMPLES | values)
    queries = Cells(domain=Labels(labels=("a", "b")))
    return agreement_needed(mechanism.plan(problem(queries, n)), epsilon=mechanism.epsilon, beta=BETA)


def test_more_subsamples_need_less_agreement_with_less_and_less_gain() -> None:
    agreements = [needed(20_000, rows=25, subsamples=4**power) for power in range(4, 10)]
    gains = [before - after for before, after in itertools.pairwise(agreements)]
    assert all(math.isfinite(each) for each in agreements) and falls(agreements) and falls(gains)


def test_fewer_rows_let_more_subsamples_escape_a_person_and_more_rows_are_surer() -> None:
    queries = Cells(domain=Labels(labels=("a", "b")))
    caps = [
        build("subsample_commonest", **SUBSAMPLES, rows=rows).plan(problem(queries, 20_000)).cap
        for rows in (5, 25, 100, 250)
    ]
    assert rises(caps), "subsamples with one person's row"
    generator = np.random.default_rng(1)
    right = [float((generator.binomial(rows, 0.6, 200_000) > rows / 2).mean()) for rows in (5, 25, 101, 251)]
    assert rises(right)


def test_what_is_advised_where_no_data_get_an_answer_helps() -> None:
    assert needed(20_000, rows=100, subsamples=64) == math.inf == needed(20_000, rows=5, subsamples=64, epsilon=0.1)
    more, smaller = needed(20_000, rows=100, subsamples=4**8), needed(20_000, rows=5, subsamples=64)
    assert math.isfinite(more) and math.isfinite(smaller), "the latter by a larger epsilon too"


@pytest.mark.parametrize("key", ["weights", "median"])
def test_more_updates_share_one_epsilon_so_answers_have_more_noise(key: str) -> None:
    queries = Thresholds(domain=LINE)
    built = [build(key, epsilon=1.0, updates=updates) for updates in (1, 5, 20, 100)]
    assert rises([each.accuracy(problem(queries, 10**6), BETA).value for each in built])


def test_fewer_queries_need_less_noise() -> None:
    classes = [AtLeast(domain=Product.yes_no([f"a{each}" for each in range(d)]), width=2, least=2) for d in (3, 6, 12)]
    assert [queries.count for queries in classes] == [3, 15, 66]
    assert rises([build("marginals-direct", epsilon=1.0).plan(problem(each, 10_000)).deviation for each in classes])


@pytest.mark.parametrize("key", ["windows", "tree-windows"])
@pytest.mark.parametrize("prefixes", [True, False])
def test_more_steps_follow_the_weights_of_windows_more_closely(key: str, prefixes: bool) -> None:
    assert "steps" in entry(key).controls()
    plans = [strategy(64, prefixes=prefixes, known=True, steps=steps) for steps in (64, 1024, 16_384)]
    exact = strategy(64, prefixes=prefixes, known=True, steps=1 << 20)
    wanted = exact.windows / exact.steps
    assert falls([float(np.abs(plan.windows / plan.steps - wanted).max()) for plan in plans])


def test_more_steps_follow_the_weights_of_a_root_more_closely() -> None:
    built = [Triangle(64, spare=0, prefixes=False, known=True, steps=steps) for steps in (16, 256, 4096)]
    exact = Triangle(64, spare=0, prefixes=False, known=True, steps=1 << 14)
    wanted = exact.whole / exact.steps
    assert falls([float(np.abs(each.whole / each.steps - wanted).max()) for each in built])


def test_the_more_rows_a_median_takes_to_change_the_likelier_it_is_given() -> None:
    mechanism = build("stable_median", epsilon=1.0, delta=1e-6)
    chances = [float(mechanism.chance(rows)) for rows in (1, 5, 10, 14, 20)]
    assert rises(chances) and chances[-1] > 0.9


def test_what_brings_an_answer_of_the_stable_median_nearer_does() -> None:
    assert falls(
        [build("stable_median", epsilon=epsilon, delta=1e-6).stability_needed(BETA) for epsilon in (0.1, 0.5, 1.0, 2.0)]
    )
    assert falls(
        [build("stable_median", epsilon=1.0, delta=delta).stability_needed(BETA) for delta in (1e-12, 1e-9, 1e-6, 1e-3)]
    )
    rows = np.random.default_rng(1).normal(0.53, 0.1, 4000).clip(0, 0.999)
    stable = [stability_of(rows[:n], bits=6) for n in (100, 1000, 4000)]
    assert rises(stable), "of more rows"
    assert rises([stability_of(rows, bits=bits) for bits in (10, 7, 4)]), "on a coarser grid"


def stability_of(rows: Any, *, bits: int) -> float:
    line = Number(low=0, high=1, bits=bits)
    return float(stability(np.bincount((rows * (1 << bits)).astype(int), minlength=1 << bits), domain=line)[1])


def test_more_projections_add_noise_and_even_out_what_they_say() -> None:
    """The bias of a mean over random matrices varies less the more of them there are; each takes a share of epsilon."""
    setting = problem_of(12, 400)
    rows = np.random.default_rng(2).normal(size=(400, 12))
    dataset, towards = dataset_of(setting, rows), np.eye(12)[:1]
    spread, noise = list[float](), list[float]()
    for projections in (1, 4, 32):
        mechanism = build("halfspaces", epsilon=20.0, projected=2, projections=projections, directions=4)
        state = mechanism.prepare(dataset, setting)
        answers = [mechanism.run(state, Preview(seed), 1).answer(towards)[0, 0] for seed in range(60)]
        noise.append(mechanism.noise_deviation(setting))
        spread.append(math.sqrt(max(0.0, float(np.var(answers)) - noise[-1] ** 2)))
    assert falls(spread) and rises(noise)


def test_rows_of_more_dimensions_are_projected_to_so_many() -> None:
    mechanism = build("halfspaces", projected=3)
    shapes = [mechanism.net(problem_of(dimensions, 100)).shape[1] for dimensions in (2, 3, 4, 12)]
    assert shapes == [2, 3, 3, 3]


def test_a_larger_margin_or_a_finer_net_brings_the_promise() -> None:
    def met(margin: float, directions: int) -> bool:
        mechanism = build("halfspaces", projected=3, directions=directions)
        return bool(mechanism.accuracy(problem_of(3, 1000, margin=margin), BETA).assumptions[0].met)

    assert [met(0.1, 46), met(0.5, 46), met(0.1, 20), met(0.3, 10), met(0.3, 200)] == [False, True, False, False, True]


def test_a_further_column_puts_more_rows_at_the_boundary_and_adds_errors() -> None:
    two, three = Product.coded({"a": 8, "b": 8}), Product.coded({"a": 8, "b": 8, "c": 8})
    (few, noise), (many, more) = (
        parts("boxes", RangeBoxes(domain=each, marks=8), epsilon=1.0) for each in (two, three)
    )
    assert few < many and noise < more
