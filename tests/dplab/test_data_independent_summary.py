"""Summaries from public numbers agree with theorems and with releases of any data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcore import catalogue, entry
from dpcore.core import Dataset, Mechanism, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Number, is_number
from dpcore.data.product import Product
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms import serving
from dpcore.queries.at_least import AtLeast
from dpcore.queries.ranges import Intervals, Rectangles
from dpcore.randomness import Preview
from dplab.limits.data_independent_summary import data_independent_summary, predicted_error, promised_error, rows_needed
from dplab.measure import finish, measure

GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")
LINE = Number(low=0, high=64, bits=6, missing=True)
PROBLEM = Problem(domain=LINE, queries=Intervals(domain=LINE), n=5_000)
BETA = 0.05
KNOWN = [each for each in catalogue() if each.mechanism.data_independent]


def worst_rows(mechanism: Mechanism, problem: Problem, records: np.ndarray[Any, Any], *, seed: int = 1) -> Any:
    """Worst errors in rows of 400 releases of these records."""
    problem = dataclasses.replace(problem, n=len(records))
    dataset = Dataset(problem.domain, records, GENERATED)
    work = measure(mechanism, dataset, mechanism.prepare(dataset, problem), Preview(seed), trials=400, queries_shown=1)
    return finish(work).worst * problem.n


def errs_alike(mechanism: Mechanism, problem: Problem) -> bool:
    """Return whether releases from the same random numbers have the same errors on two data sets of different sizes."""
    even = np.arange(1000) % problem.domain.ordered
    return bool(
        np.allclose(worst_rows(mechanism, problem, even), worst_rows(mechanism, problem, np.zeros(70, dtype=np.int64)))
    )


@pytest.mark.parametrize("mechanism_entry", KNOWN, ids=lambda each: each.key)
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_mechanism_that_says_so_errs_alike_on_all_data(mechanism_entry: Any, neighbours: Neighbours) -> None:
    domain = LINE if mechanism_entry.fits(LINE) else Product.map(Number(bits=5), Number(bits=5))
    queries = Intervals(domain=domain) if is_number(domain) else Rectangles(domain=domain)
    problem = Problem(domain=domain, queries=queries, n=1, neighbours=neighbours)
    assert errs_alike(mechanism_entry.make(epsilon=0.5), problem)


def test_one_that_cuts_at_data_does_not() -> None:
    anchored = entry("intervals-anchored")
    assert not anchored.mechanism.data_independent and not errs_alike(anchored.make(epsilon=0.5), PROBLEM)


@pytest.mark.parametrize("key", ["identity", "gaussian", "windows"])
def test_half_of_all_releases_keep_to_the_prediction(key: str) -> None:
    mechanism = entry(key).make(epsilon=0.3)
    predicted = predicted_error(mechanism, PROBLEM)
    worst = worst_rows(mechanism, PROBLEM, np.arange(5_000) % 40, seed=77) / 5_000
    assert 0.35 < float((worst <= predicted).mean()) < 0.65
    assert predicted < promised_error(mechanism, PROBLEM, beta=BETA)


def test_a_prediction_falls_as_rows_come_and_depends_on_nothing_else() -> None:
    mechanism = entry("identity").make(epsilon=0.3)
    few, many = (predicted_error(mechanism, dataclasses.replace(PROBLEM, n=n)) for n in (1_000, 10_000))
    assert few == pytest.approx(10 * many)
    assert np.isnan(predicted_error(entry("net").make(epsilon=0.3), PROBLEM))


def test_marginals_are_predicted_by_their_own_bound() -> None:
    cube = Product.yes_no([*"abcdef"])
    problem = Problem(domain=cube, queries=AtLeast(domain=cube, width=3, least=1, signed=False), n=9_000)
    mechanism = entry("marginals-direct").make(epsilon=1.0)
    assert predicted_error(mechanism, problem) == mechanism.accuracy(problem, 0.5).value
    assert predicted_error(mechanism, problem) < promised_error(mechanism, problem, beta=BETA)


def test_promises_are_the_theorems_and_none_is_below_the_wall() -> None:
    makers = {each.key: (lambda epsilon, each=each: each.make(epsilon=epsilon)) for each in serving(PROBLEM.queries)}
    summary = finish(data_independent_summary(makers, PROBLEM, chosen="identity", beta=BETA, epsilons=(0.1, 1.0)))
    assert summary.lower_bound is not None and summary.lower_bound[0].tolist() == [0.1, 1.0]
    for row, key in enumerate(summary.keys):
        for column, epsilon in enumerate((0.1, 1.0)):
            mechanism = makers[key](epsilon)
            bound, guarantee = mechanism.accuracy(PROBLEM, BETA), mechanism.guarantee(PROBLEM)
            assert summary.promised[row, column] == (bound.value if bound.applies else np.inf)
            if not guarantee.delta and not guarantee.gamma:
                assert summary.promised[row, column] >= summary.lower_bound[1][column]
    lower = lower_bound(PROBLEM, makers["identity"](1.0).guarantee(PROBLEM), beta=BETA)
    assert lower is not None and summary.lower_bound[1][1] == lower.value


def test_it_is_under_way_before_the_first_promise_of_each_mechanism() -> None:
    keys = list[str]()

    def maker(key: str) -> Callable[[float], Mechanism]:
        def make(epsilon: float) -> Mechanism:
            keys.append(key)
            return entry(key).make(epsilon=epsilon)

        return make

    work = data_independent_summary(
        {key: maker(key) for key in ("identity", "gaussian")}, PROBLEM, chosen="identity", beta=BETA
    )
    progress = [(share, "identity" in keys, "gaussian" in keys) for share in work]
    assert (0.0, False, False) in progress and (0.25, True, False) in progress
    shares = [share for share, *_ in progress]
    assert shares == sorted(shares) and shares[-1] == 1.0


def test_promises_whose_steps_are_long_come_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[str]()

    def noted(name: str) -> Callable[..., float]:
        def note(*_: object, **__: object) -> float:
            calls.append(name)
            return 1.0

        return note

    for name in ("promised_error", "predicted_error"):
        monkeypatch.setattr(f"dplab.limits.data_independent_summary.{name}", noted(name))
    makers = {key: (lambda epsilon, key=key: entry(key).make(epsilon=epsilon)) for key in ("identity", "gaussian")}
    finish(data_independent_summary(makers, PROBLEM, chosen="identity", beta=BETA, epsilons=(0.1, 1.0)))
    assert calls == ["promised_error"] * 4 + ["predicted_error"] * 4


def test_a_named_n_is_taken_for_granted_and_nothing_else() -> None:
    named = dataclasses.replace(PROBLEM, neighbours=Neighbours.ADD_REMOVE_ONE)
    cube = Product.yes_no([*"abc"])
    queries = AtLeast(domain=cube, width=2, least=1, signed=False)
    marginals = Problem(domain=cube, queries=queries, n=900, neighbours=Neighbours.ADD_REMOVE_ONE)
    direct = entry("marginals-direct").make()
    assert not direct.accuracy(marginals, BETA).applies and promised_error(direct, marginals, beta=BETA) < np.inf
    printed = entry("intervals-printed").make()
    assert promised_error(printed, named, beta=BETA) == np.inf


@pytest.mark.parametrize("key", ["identity", "windows", "sparse_histogram"])
def test_rows_needed_are_the_fewest(key: str) -> None:
    mechanism = entry(key).make(epsilon=1.0)
    needed = rows_needed(mechanism, PROBLEM, target=0.01, beta=BETA)
    assert needed is not None
    at, below = (promised_error(mechanism, dataclasses.replace(PROBLEM, n=n), beta=BETA) for n in (needed, needed - 1))
    assert at <= 0.01 < below


def test_no_n_is_enough_for_some_targets() -> None:
    assert rows_needed(entry("net-flip").make(epsilon=1.0), PROBLEM, target=0.001, beta=BETA) is None
    with pytest.raises(ParameterError, match="between 0 and 1"):
        rows_needed(entry("identity").make(), PROBLEM, target=1.5, beta=BETA)
