"""Rows from a sample to its population, without privacy and with it: recomputed apart, and met by what is drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import Neighbours, Number, ParameterError, Preview, Problem, Thresholds, entry
from dpcore.core import DataRelease
from dpcore.limits.attacks.named_classes import NAMED
from dpcore.limits.attacks.shattering import vc_dimension
from dplab.printed.lines import PrintedTable
from dplab.printed.population import CLASSES, open_table, population_errors, population_table, sample_rows
from pages.charts.picture import Curve, Rule, numbers
from pages.learn.paper_tables import simulated
from tests.kit.problems import dataset_of
from tests.pages.lessons import checked

SIZES = {"alpha": 0.1, "epsilon": 1.0, "beta": 0.05}


def held(table: PrintedTable, what: str) -> float:
    """The right number of the line that starts so."""
    (line,) = (each for each in table.lines if each.what.startswith(what))
    assert line.holds is not None
    return line.holds


def net_rows(cells: int, queries: int, *, alpha: float, epsilon: float, beta: float, points: range) -> int:
    """The fewest rows for any class, by whole numbers, over these sizes of the net."""
    best = math.inf
    for m in points:
        room = alpha - math.sqrt(math.log(2 * queries) / (2 * m))
        if room > 0:
            best = min(best, 2 / (epsilon * room) * (math.log(math.comb(cells + m - 1, m)) + math.log(1 / beta)))
    return math.ceil(best)


def test_843_rows_by_sampling_and_86945_with_privacy() -> None:
    table = population_table("intervals", bits=10, **SIZES)
    assert held(table, "rows of a sample") == 843 and held(table, "rows with privacy, order") == 86_945
    assert held(table, "times as many") == pytest.approx(86_945 / 843)
    (order,) = (each.printed for each in table.lines if each.what.startswith("times as many"))
    assert order == pytest.approx(math.log(1024) / 0.1)
    assert held(table, "rows with privacy, about the population") > 86_945


@pytest.mark.parametrize(("name", "bits", "alpha", "epsilon"), [("thresholds", 3, 0.3, 2.0), ("parities", 4, 0.2, 0.5)])
def test_rows_are_those_of_both_theorems_worked_out_in_whole_numbers(
    name: str, bits: int, alpha: float, epsilon: float
) -> None:
    table = population_table(name, bits=bits, alpha=alpha, epsilon=epsilon, beta=0.1)
    size = CLASSES[name](bits)
    few = math.log(2 * size.queries) / (2 * alpha**2)
    wide = range(1, int(60 * few) + 50)
    assert held(table, "rows with privacy, order") == net_rows(
        size.cells, size.queries, alpha=alpha, epsilon=epsilon, beta=0.1, points=wide
    )
    n = next(n for n in itertools.count(1) if 2 * size.queries * math.exp(-2 * n * alpha**2) <= 0.1)
    assert held(table, "rows of a sample") == n == sample_rows(size.queries, alpha=alpha, beta=0.1)
    both = int(held(table, "rows with privacy, about the population"))

    def error(rows: int) -> float:
        sampled = math.sqrt(math.log(4 * size.queries / 0.1) / (2 * rows))
        return sampled + min(
            math.sqrt(math.log(2 * size.queries) / (2 * m))
            + 2 / (epsilon * rows) * math.log(math.comb(size.cells + m - 1, m) * 2 / 0.1)
            for m in range(int(few), int(60 * few))
        )

    assert error(both) <= alpha < error(both - 1)


def test_classes_have_the_dimension_and_the_queries_that_a_search_finds() -> None:
    named = {each.key: each for each in NAMED}
    for name, build in CLASSES.items():
        bits = 3
        matrix = named[name].matrix(2**bits if name in {"intervals", "thresholds"} else bits)
        size = build(bits)
        assert matrix.shape == (size.queries, size.cells), name
        assert vc_dimension(matrix).lower_bound == size.dimension, name


def test_samples_and_releases_at_those_rows_are_within_alpha() -> None:
    """A sample of the printed n on the population that strays most, and the net mechanism on that sample."""
    table = population_table("thresholds", bits=3, alpha=0.2, epsilon=1.0, beta=0.05)
    n = int(held(table, "rows of a sample"))
    random = np.random.default_rng(5)
    far = [np.abs(np.cumsum(random.multinomial(n, [1 / 8] * 8)) / n - np.arange(1, 9) / 8).max() for _ in range(2000)]
    assert np.mean(np.array(far) > 0.2) <= 0.05 and np.quantile(far, 0.95) > 0.02
    rows, line = int(held(table, "rows with privacy, by the order")), Number(bits=3)
    queries = Thresholds(domain=line)
    problem = Problem(domain=line, queries=queries, n=rows, neighbours=Neighbours.REPLACE_ONE)
    sample = dataset_of(problem, random.integers(0, 8, rows))
    mechanism = entry("net").make(epsilon=1.0, points=5)
    release = mechanism.run(mechanism.prepare(sample, problem), Preview(1), 500)
    assert isinstance(release, DataRelease)
    error = queries.max_error(release.histogram() - sample.histogram) / rows
    assert np.mean(error > 0.2) <= 0.05


def test_the_picture_crosses_alpha_at_the_rows_of_the_table() -> None:
    errors = population_errors("intervals", bits=10, **SIZES)
    picture = simulated.population(errors, alpha=0.1)
    checked(picture)
    curves = {curve.name: (numbers(curve.x), numbers(curve.y)) for curve in picture.find(Curve)}
    assert len(curves) == 4
    for name, rows in (("a sample, no privacy", 843), ("private net, about the sample", 86_945)):
        x, y = curves[name]
        assert (y[x >= rows] <= 0.1 + 1e-9).all() and (y[x < 0.98 * rows] > 0.1).all(), name
    assert {rule.label for rule in picture.find(Rule, role="ink")} == {"843 rows", "86,945 rows"}
    parities = simulated.population(population_errors("parities", bits=6, **SIZES), alpha=0.1)
    checked(parities)
    assert len(parities.find(Curve)) == 3  # no order of a line
    with pytest.raises(ParameterError, match="must be one of"):
        population_errors("halfspaces", bits=4, **SIZES)


def test_section_8_asks_for_what_the_net_does_not_have() -> None:
    table = open_table(attributes=6, width=6, **SIZES)
    rows, power = held(table, "rows that the net"), held(table, "time")
    assert rows == net_rows(64, 64, points=range(1, 20_000), **SIZES)
    assert 10**power > rows**20, "no polynomial that one would call one"
    assert held(table, "VC dimension") == 6
    # A parity of six ones: no polynomial of degree 5 in their number is within less than ½ of it.
    signs = np.array([math.comb(6, s) * (-1) ** s for s in range(7)])
    parity = np.arange(7) % 2
    assert abs(signs @ parity) / np.abs(signs).sum() == 0.5 and all(signs @ np.arange(7) ** p == 0 for p in range(6))
    assert held(table, "degree of a polynomial for a parity") == 6
    assert held(table, "degree of a polynomial for a conjunction") < 6
