"""Direct and Fourier tables: sensitivities by brute force, exact laws, planted faults, promises."""

from __future__ import annotations

import dataclasses
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dpcore import Account, Dataset, Neighbours, Number, ParameterError, Preview, Thresholds, entry
from dpcore.core import Guarantee, Problem
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables, FourierTables, fourier_laplace
from dpcore.mechanisms.tables.plan import ResidualPlan
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dplab.audit import exact_delta
from tests.kit.attribute_tables import (
    GENERATED,
    correlated,
    dataset_on,
    every_record,
    problem_of,
    release_of,
    table_of,
    tiny,
)

REPLACE, ADD_REMOVE = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
every_noise = pytest.mark.parametrize("noise", ["laplace", "gaussian"])
Either = DirectTables | FourierTables
both = pytest.mark.parametrize("kind", [DirectTables, FourierTables])


def values_of(mechanism: Either, problem: Problem, rows: Any) -> np.ndarray[Any, Any]:
    """The numbers that get noise, on some rows."""
    free = dataclasses.replace(problem, n=len(rows))
    if isinstance(mechanism, DirectTables):
        return mechanism.prepare(dataset_on(free, rows), free).counts
    state = mechanism.prepare(dataset_on(free, rows), free)
    return np.concatenate([state.contrasts[part.key] for part in mechanism.plan(problem).parts])


@both
@every_relation
@every_noise
@pytest.mark.parametrize("ways", [1, 2, 3])
def test_draws_are_told_what_the_worst_neighbour_moves(
    kind: type[Either], neighbours: Neighbours, noise: str, ways: int, seed: int
) -> None:
    problem = problem_of((2, 2, 2), ways=ways, n=3, neighbours=neighbours)
    mechanism = kind(epsilon=1.0, delta=1e-6, noise=noise)
    records = every_record((2, 2, 2))
    base = records[[0, 3, 5]]
    start = values_of(mechanism, problem, base)
    account = Account(Preview(seed))
    release_of(mechanism, problem, base, account, 2)
    nearby = [np.concatenate([base if neighbours is ADD_REMOVE else base[1:], records[[cell]]]) for cell in range(8)]
    moved = np.array([values_of(mechanism, problem, rows) - start for rows in nearby])
    if noise == "gaussian":
        shift = sum(charge.squared_shift for charge in account.charges)
        assert (moved**2).sum(axis=1).max() == shift
        assert account.epsilon == 0
        # Below, where one table is released: the account knows the exact law of one or two cells.
        assert 0.5e-6 < account.delta(1.0) <= 1e-6
        return
    assert account.epsilon == pytest.approx(1.0)
    assert len(account.charges) == 1
    if isinstance(mechanism, DirectTables):
        shift = mechanism.moves(problem)
    else:
        shift = fourier_laplace(sizes=(2, 2, 2), ways=ways, neighbours=neighbours, epsilon=1.0)[1]
    assert np.abs(moved).sum(axis=1).max() == shift


@pytest.mark.slow
@both
@every_relation
@every_noise
def test_exact_privacy_over_all_neighbours(kind: type[Either], neighbours: Neighbours, noise: str) -> None:
    mechanism = kind(epsilon=2.0, delta=0.05, noise=noise)
    delta = exact_delta(mechanism, tiny(neighbours), window=(-6, 8), universe=every_record((2, 2)))
    assert delta.delta <= mechanism.guarantee(tiny(neighbours)).delta + 1e-9
    if noise == "gaussian":
        assert delta.delta > 0.3 * mechanism.delta
    quiet = dataclasses.replace(mechanism, epsilon=1.3 * mechanism.epsilon)
    assert exact_delta(_claiming(quiet, 2.0), tiny(neighbours), window=(-6, 8), universe=every_record((2, 2))).delta > (
        delta.delta + 1e-3
    )


def _claiming(mechanism: Either, epsilon: float) -> Either:
    """The mechanism, promising another epsilon than it keeps."""
    base = type(mechanism)

    def guarantee(self: Either, problem: Problem) -> Guarantee:
        return dataclasses.replace(base.guarantee(self, problem), epsilon=epsilon)

    settings = {field.name: getattr(mechanism, field.name) for field in dataclasses.fields(mechanism)}
    liar: Either = type("Liar", (base,), {"guarantee": guarantee})(**settings)
    return liar


class Halved(FourierTables):
    """Takes replacing a row for adding one: Laplace noise of half the width."""

    def _plan(self, problem: Problem) -> tuple[ResidualPlan, int]:
        plan, sensitivity = super()._plan(problem)
        return plan, sensitivity // 2


def test_a_halved_sensitivity_is_caught() -> None:
    faulty = Halved(epsilon=2.0, noise="laplace")
    assert exact_delta(faulty, tiny(REPLACE), window=(-6, 8), universe=every_record((2, 2))).delta > 0.01


def test_fourier_is_for_yes_no_attributes() -> None:
    problem = problem_of((2, 3), ways=2, n=5, neighbours=REPLACE)
    for noise in ("laplace", "gaussian"):
        with pytest.raises(ParameterError, match="two values"):
            FourierTables(noise=noise).prepare(dataset_on(problem, every_record((2, 3))[:5]), problem)


@both
@every_relation
@every_noise
def test_tables_of_a_release(kind: type[Either], neighbours: Neighbours, noise: str, seed: int) -> None:
    """Unbiased within 5 deviations over 4,000 trials; fitted tables have no negative counts; promises hold."""
    sizes, n, trials = (2, 2, 2), 400, 4_000
    problem = problem_of(sizes, ways=2, n=n, neighbours=neighbours)
    records = correlated(sizes, n=n, seed=seed)
    mechanism = kind(epsilon=1.0, delta=1e-6, noise=noise)
    release = release_of(mechanism, problem, records, Preview(seed), trials)
    errors = np.zeros(trials)
    for table in combinations(range(3), 2):
        cells, truth = release.unbiased(table), table_of(records, sizes, table)
        assert np.abs(cells.mean(axis=0) - truth).max() < 5 * cells.std() / np.sqrt(trials)
        np.testing.assert_allclose(release.tables(trial=7, fit="unbiased")[table], cells[7])
        errors = np.maximum(errors, np.abs(cells - truth).reshape(trials, -1).max(axis=1))
        if isinstance(mechanism, FourierTables):
            np.testing.assert_allclose(cells.std(axis=0), mechanism.plan(problem).cell_sigma(table), rtol=0.05)
    bound = mechanism.accuracy(problem, 0.1).value * n
    assert (errors > bound).mean() <= 0.1
    assert (errors > bound / 5).mean() > 0.1
    for found in release.tables(fit="simplex").values():
        assert (found >= 0).all()
    if isinstance(mechanism, DirectTables):
        with pytest.raises(ParameterError, match="agree"):
            release.tables(fit="consistent")
    else:
        assert all((table >= 0).all() for table in release.tables(fit="consistent").values())
    np.testing.assert_array_equal(release.part(2, 4).outcomes(), release.outcomes()[2:4])


def test_the_planner_beats_both_where_tables_are_many() -> None:
    sizes = (2,) * 10
    problem = problem_of(sizes, ways=3, n=1_000, neighbours=REPLACE)
    table = (0, 1, 2)
    planner, fourier = (m.plan(problem).cell_sigma(table) for m in (ResidualPlanner(lean=1.0), FourierTables()))
    assert planner < fourier < DirectTables().sigma(problem)


def test_other_questions_are_refused() -> None:
    domain = Number(bits=2)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=3)
    dataset = Dataset(domain, np.array([0, 1, 2]), GENERATED)
    for key in ("residual-planner", "direct-tables", "fourier-tables"):
        with pytest.raises(ParameterError, match="several attributes"):
            entry(key).make().prepare(dataset, problem)


@both
def test_laplace_noise_needs_no_delta_and_is_wider_where_one_row_is_in_many_numbers(kind: type[Either]) -> None:
    """Of 10 attributes one row is in 120 tables of three; of one attribute, in one table."""
    sentence = "Laplace noise needs no δ, and is larger if one row is in many numbers."
    assert kind.parameters()["noise"].help == sentence
    many, few = (problem_of((2,) * size, ways=ways, n=1_000, neighbours=REPLACE) for size, ways in ((10, 3), (1, 1)))
    laplace, gaussian = (kind(epsilon=1.0, delta=1e-9, noise=noise) for noise in ("laplace", "gaussian"))
    assert laplace.guarantee(many).delta == 0 < gaussian.guarantee(many).delta
    assert laplace.accuracy(many, 0.05).value > 2 * gaussian.accuracy(many, 0.05).value
    assert laplace.accuracy(few, 0.05).value < gaussian.accuracy(few, 0.05).value
