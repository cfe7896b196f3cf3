"""The field's terms and the exponential mechanism's weights stand on Play where they are used."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import Neighbours, Number, Problem, entry
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Enumerate
from tests.kit.problems import dataset_of
from tests.pages.opening import opened, run_with, texts

LINE = Number(bits=2)
ROWS = [0, 0, 1, 3]


def why(**link: str) -> tuple[str, list[str]]:
    """The page with *Why?* open, and its formulas."""
    app = opened("play/page.py", **link)
    run_with(app, {"why_open": True})
    return texts(app), [each.value.strip("$\n") for each in app.latex]


def test_terms_stand_where_the_things_are() -> None:
    words, formulas = why()
    assert "A **counting query** counts the rows in a set" in words and "Its **sensitivity** is 1/n" in words
    assert "(α, β)-**useful**" in words and "α-net" not in words
    assert not any(r"\propto" in each for each in formulas), "no weights where nothing is chosen by them"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("link", "term"),
    [
        ({"mechanism": "net"}, "are an α-net with α = 0.05"),
        ({"mechanism": "net-alpha"}, "In an α-net one database"),
        ({"mechanism": "net-flip"}, "are an α-net"),
        ({"mechanism": "intervals-recursive"}, "**counting query**"),
        ({"mechanism": "mwem"}, "**counting query**"),
        ({"queries": "linear", "mechanism": "linear-net", "bits": "3"}, "**linear query** adds up weights"),
    ],
    ids=lambda each: each.get("mechanism", "") if isinstance(each, dict) else "",
)
def test_weights_are_typeset_where_a_mechanism_chooses_by_them(link: dict[str, str], term: str) -> None:
    words, formulas = why(**link)
    assert term in words
    assert entry(link["mechanism"]).weights in formulas and r"\exp" in entry(link["mechanism"]).weights


def test_the_net_has_the_law_of_its_formula() -> None:
    """Pr[D'] in proportion to e^(-εn/2 · worst error): every database of two points, by brute force."""
    problem = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=4, neighbours=Neighbours.REPLACE_ONE)
    mechanism = entry("net").make(epsilon=1.5, points=2)
    outcomes, chances = Enumerate(window=(-1, 5)).law(mechanism, mechanism.prepare(dataset_of(problem, ROWS), problem))
    shares = np.cumsum(np.bincount(ROWS, minlength=4)) / 4
    weights = {}
    for points in itertools.combinations_with_replacement(range(4), 2):
        worst = np.abs(np.cumsum(np.bincount(points, minlength=4)) / 2 - shares).max()
        weights[points] = math.exp(-1.5 * 4 / 2 * worst)
    total = sum(weights.values())
    found = {
        tuple(int(each) for each in outcome[:2]): chance for outcome, chance in zip(outcomes, chances, strict=True)
    }
    assert found == pytest.approx({points: weight / total for points, weight in weights.items()})


@pytest.mark.parametrize(("neighbours", "moved"), [(Neighbours.REPLACE_ONE, 1.0), (Neighbours.ADD_REMOVE_ONE, 0.75)])
def test_the_exponential_median_has_the_law_of_its_formula(neighbours: Neighbours, moved: float) -> None:
    problem = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=4, neighbours=neighbours)
    mechanism = ExponentialMedian(epsilon=0.7, quantile=0.25)
    outcomes, chances = Enumerate(window=(-1, 5)).law(mechanism, mechanism.prepare(dataset_of(problem, ROWS), problem))
    upto = np.cumsum(np.bincount(ROWS, minlength=4))
    below = np.concatenate([[0], upto[:-1]])
    weights = np.exp(-0.7 / (2 * moved) * np.maximum.reduce([below - 1.0, 1.0 - upto, np.zeros(4)]))
    found = {int(outcome[0]): chance for outcome, chance in zip(outcomes, chances, strict=True)}
    assert found == pytest.approx(dict(enumerate((weights / weights.sum()).tolist())))
