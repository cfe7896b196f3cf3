"""Table 1, run: every method's errors are those that rows counted one by one give."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import Dataset, Neighbours, Preview, Problem, Provenance, ProvenanceKind, entry
from dpcore.core import Booleans, DataRelease, Floats, HistogramState, finish
from dpcore.data.product import Product
from dpcore.data.sources import generated_attributes
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.queries.at_least import AtLeast
from dpcore.queries.cube import on_cells
from dplab.printed.table_one import (
    BETA,
    METHODS,
    RELEASES,
    SETTINGS,
    MethodErrors,
    best_setting,
    narrowed,
    run_methods,
    usable_attributes,
)
from pages.charts.picture import Dots, numbers
from pages.charts.worst import method_errors

D, N, EPSILON, DELTA = 5, 2_000, 1.0, 1e-6


def counted(rows: Booleans, queries: AtLeast, weights: Floats) -> Floats:
    """Weighted shares of rows that each query counts, one query after the other."""
    sets, negated = queries.sets(np.arange(queries.count))
    return np.array(
        [weights[(rows[:, s] ^ f).sum(axis=1) >= queries.least].sum() for s, f in zip(sets, negated, strict=True)]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("least", "signed"), [(1, False), (2, True)])
def test_errors_are_those_of_rows_counted_one_by_one(least: int, signed: bool) -> None:
    rows = generated_attributes(n=N, attributes=D).dataset().records
    queries = AtLeast(domain=Product.yes_no("abcde"), width=3, least=least, signed=signed)
    runs = finish(
        run_methods(rows, queries, n=N, neighbours=Neighbours.REPLACE_ONE, epsilon=EPSILON, delta=DELTA, seed=4)
    )
    assert len(runs) == METHODS and [each.key for each in runs[2:]] == list(SETTINGS)
    truth = counted(rows, queries, np.full(N, 1 / N))
    every = np.arange(1 << D)[:, None] >> np.arange(D) & 1 == 1
    histogram = np.array([(rows == row).all(axis=1).sum() for row in every])
    problem = Problem(domain=queries.domain, queries=queries, n=N)
    dataset = Dataset(queries.domain, rows, Provenance(kind=ProvenanceKind.GENERATED, title="again"))
    for run, method in zip(runs, ("direct", "noise-aware"), strict=False):
        mechanism = PolynomialMarginals(epsilon=EPSILON, delta=DELTA, noise="gaussian", method=method)
        release = mechanism.run(mechanism.prepare(dataset, problem), Preview(4), RELEASES)
        answers = np.clip(release.answers(*queries.sets(np.arange(queries.count))), 0, 1)
        np.testing.assert_allclose(run.worst, np.abs(answers - truth).max(axis=1), atol=1e-12)
        assert not run.synthetic and run.guaranteed == mechanism.accuracy(problem, BETA).value
    line = on_cells(queries)
    for run in runs[2:]:
        on_line = Problem(domain=line.domain, queries=line, n=N)
        best = best_setting(run.key, on_line, epsilon=EPSILON, delta=DELTA)
        released = best.run(HistogramState(problem=on_line, histogram=histogram), Preview(4), RELEASES)
        assert isinstance(released, DataRelease)
        away = np.array([np.abs(counted(every, queries, mass / N) - truth) for mass in released.histogram()])
        np.testing.assert_allclose(run.worst, away.max(axis=1), atol=1e-9)
        np.testing.assert_allclose(run.mean, away.mean(axis=1), atol=1e-9)
        assert run.synthetic and run.guaranteed == best.accuracy(on_line, BETA).value
        assert (run.worst <= run.guaranteed).mean() >= 0.8
    worst = {run.key: run.worst.mean() for run in runs}
    assert worst["answer-projection"] <= worst["marginals-direct"] + 1e-9 or not signed


@pytest.mark.parametrize("key", SETTINGS)
def test_settings_follow_from_the_smallest_guarantee(key: str) -> None:
    queries = on_cells(AtLeast(domain=Product.yes_no("abcd"), width=2))
    problem = Problem(domain=queries.domain, queries=queries, n=50_000)
    told = {"delta": DELTA} if key == "answer-projection" else {}
    every = [entry(key).make(epsilon=EPSILON, **told, **each).accuracy(problem, BETA).value for each in SETTINGS[key]]
    assert best_setting(key, problem, epsilon=EPSILON, delta=DELTA).accuracy(problem, BETA).value == min(every)


def test_queries_about_fewer_attributes_are_of_the_same_kind() -> None:
    domain = Product.yes_no([f"a{j}" for j in range(32)])
    for least, told in ((1, 1), (7, 4), (3, 3)):
        queries = narrowed(AtLeast(domain=domain, width=7, least=least), 4)
        assert (queries.width, queries.least, queries.domain.attributes) == (4, told, 4)
    signed = AtLeast(domain=domain, width=5, least=1, signed=True)
    assert usable_attributes(signed) < usable_attributes(AtLeast(domain=domain, width=5)) == 10
    on_cells(narrowed(signed, usable_attributes(signed)))


def test_the_picture_has_the_errors_and_the_guarantees_below_1() -> None:
    """A guarantee of 1 or more says nothing, so it is not drawn."""
    few, many = (
        MethodErrors(
            key="mwem", title=title, setting="", worst=np.full(3, worst), mean=np.full(3, worst / 2), guaranteed=told,
            synthetic=True,
        )
        for title, worst, told in (("few", 0.1, 0.4), ("many", 0.2, 1.7))
    )  # fmt: skip
    shown = method_errors([few, many], about="6 queries", n=100)
    dots, proved = shown.one(Dots, role="released"), shown.one(Dots, role="theory")
    np.testing.assert_allclose(numbers(dots.x), [0.1, 0.2])
    assert numbers(proved.x).tolist() == [0.4] and numbers(proved.y).tolist() == numbers(dots.y)[:1].tolist()
    assert (
        shown.y.labels == ("many", "few")
        and "few has the smallest worst error over 6 queries: 10% of n" in shown.sentence
    )
    assert shown.table["guaranteed worst error"] == ["40%", "none"]
