"""The rule that picks a mechanism by public numbers: what it picks serves, and errs less on its side of a cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore import Cells, Intervals, Neighbours, Number, Preview, Problem, Thresholds, entry
from dpcore.core import DataRelease, Queries
from dpcore.queries.ranges import classes_for
from dplab.advice import recommended_entry, recommended_for_target
from dplab.solve import ConfirmedEpsilon, Need
from tests.kit.problems import dataset_of, tiny_domains


@pytest.mark.parametrize("neighbours", Neighbours)
def test_whatever_is_asked_it_picks_one_that_serves_with_a_guarantee_of_epsilon_alone(neighbours: Neighbours) -> None:
    checked = 0
    for domain in tiny_domains(entry("identity")):
        for kind in classes_for(domain):
            problem = Problem(domain=domain, queries=kind(domain=domain), n=50, neighbours=neighbours)
            for epsilon in (0.1, 20.0):
                recommended = entry(recommended_entry(problem, epsilon=epsilon))
                guarantee = recommended.make(epsilon=epsilon).guarantee(problem)
                assert recommended.serves(problem.queries) and (guarantee.delta, guarantee.gamma) == (0, 0)
                checked += 1
    assert checked > 20


@pytest.mark.parametrize("kind", [Thresholds, Intervals])
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(
    ("n", "epsilon", "width", "best"),
    [(2_000, 0.3, 10, "tree-windows"), (60_000, 0.9, 128, "windows"), (2_000, 15.0, 128, "windows")],
)
def test_what_it_picks_errs_less_than_the_others(
    n: int, epsilon: float, width: int, best: str, neighbours: Neighbours, kind: type[Queries], seed: int
) -> None:
    """Few rows in few of 128 cells; many in all of them; and noise narrower than a row, for cells alone."""
    domain = Number(bits=7)
    problem = Problem(domain=domain, queries=kind(domain=domain), n=n, neighbours=neighbours)
    data = dataset_of(problem, np.random.default_rng(seed).integers(0, width, n))
    batch = problem.queries.batch(200)
    truth = problem.queries.answer(data.histogram[None, :], batch) / n

    def error(key: str) -> float:
        mechanism = entry(key).make(epsilon=epsilon)
        release = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 200)
        assert isinstance(release, DataRelease)
        return float(np.mean((release.answer(batch) - truth) ** 2))

    assert recommended_entry(problem, epsilon=epsilon) == best
    errors = {key: error(key) for key in ("tree-windows", "windows", "hierarchy")}
    assert min(errors, key=errors.__getitem__) == best, errors


def test_for_a_target_it_is_asked_at_the_loss_that_one_of_its_choices_needs() -> None:
    """Of a tree, whose error depends on the rows, and of a slack nothing is taken."""
    domain = Number(bits=9)
    problem = Problem(domain=domain, queries=Intervals(domain=domain), n=50_000)
    needs = [
        Need(key="root", promised=0.01, simulated=None),
        Need(key="tree-windows", promised=0.02, simulated=None),
        Need(key="windows", promised=9.0, simulated=ConfirmedEpsilon(epsilon=1.1, failures=0, releases=1)),
        Need(key="identity", promised=12.0, simulated=None),
    ]
    assert recommended_for_target(problem, needs, epsilon=0.1) == "windows" == recommended_entry(problem, epsilon=1.1)
    assert recommended_for_target(problem, [*needs[:2], replace(needs[2], simulated=None)], epsilon=0.1) == "hierarchy"
    assert (
        recommended_for_target(problem, needs[:2], epsilon=0.1)
        == "tree-windows"
        == recommended_entry(problem, epsilon=0.1)
    )


def test_counts_of_cells_are_the_identitys() -> None:
    domain = Number(bits=7)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=100, neighbours=Neighbours.REPLACE_ONE)
    assert recommended_entry(problem, epsilon=1.0) == "identity"
