"""Regression from released tables: right without noise; its intervals hold, and those that forget the noise do not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpcore.core import Dataset, Floats, Integers, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.queries.marginals import Marginals
from dpcore.randomness import Preview
from dplab.utility.models import fit
from dplab.utility.noise_aware import LinearModel, fit_tables

DOMAIN = Product(
    names=("age", "pay", "town"),
    columns=(Number(low=0, high=80, bits=3), Number(low=0, high=160, bits=4), Labels(labels=("n", "s", "w"))),
)
MODEL = LinearModel(domain=DOMAIN, outcome=1, regressors=(0, 2))
N, TRIES = 3000, 400
POPULATION = Provenance(kind=ProvenanceKind.GENERATED, title="people")


def people(n: int, *, seed: int) -> Integers:
    draw = np.random.default_rng(seed)
    age, town = draw.integers(0, 8, n), draw.integers(0, 3, n)
    pay = np.clip(np.rint(4 + age / 2 + 2 * (town == 1) + draw.normal(0, 2, n)), 0, 15).astype(np.int64)
    return np.stack([age, pay, town], axis=1)


def problem(n: int) -> Problem:
    return Problem(
        domain=DOMAIN, queries=Marginals(domain=DOMAIN, ways=2), n=n, neighbours=Neighbours.ADD_REMOVE_ONE
    )  # fmt: skip


def dataset(rows: Integers) -> Dataset:
    return Dataset(domain=DOMAIN, records=rows.astype(np.uint16), provenance=POPULATION)


def test_without_noise_it_is_the_model_of_the_rows() -> None:
    rows, mechanism = people(N, seed=1), ResidualPlanner(epsilon=1.0, delta=1e-6)
    state = mechanism.prepare(dataset(rows), problem(N))
    release = mechanism.run(state, Preview(1), 1)
    noise = mechanism.run(mechanism.prepare(dataset(rows[:0]), problem(N)), Preview(1), 1).values
    release = dataclasses.replace(release, values=release.values - noise)  # the same seed, the same noise
    found = fit_tables(MODEL, release.unbiased, np.zeros((1, 5, 5)))
    expected = fit(DOMAIN, rows, outcome=1, regressors=(0, 2))
    assert found.names == expected.names
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-6)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=2e-3)  # n in place of n - p


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_noise_of_the_sums_has_the_covariance_of_releases(neighbours: Neighbours) -> None:
    """Of every two sums, from 20,000 releases; one that forgets a part of the tables has another."""
    mechanism = ResidualPlanner(epsilon=0.5, delta=1e-6)
    asked = dataclasses.replace(problem(4), neighbours=neighbours)
    state = mechanism.prepare(dataset(people(4, seed=1)), asked)
    drawn = MODEL.sums(mechanism.run(state, Preview(1), 20_000).unbiased).reshape(20_000, -1)
    observed = np.cov(drawn.T)
    noise = MODEL.noise(mechanism.plan(asked)).reshape(-1, 25)
    spread = np.sqrt(np.outer(np.diag(observed), np.diag(observed)))
    assert len(noise) < 40
    np.testing.assert_allclose(noise.T @ noise, observed, atol=0.05 * spread.max(), rtol=0)
    assert (np.abs(noise.T @ noise - observed) <= 0.05 * spread + 1e-9).all()
    assert (np.abs(noise[:-1].T @ noise[:-1] - observed) > 0.1 * spread).any()


def covered(epsilon: float) -> tuple[Floats, Floats]:
    """Shares of samples and releases whose intervals hold the population's coefficients: with the noise, without."""
    truth = fit(DOMAIN, people(1_000_000, seed=0), outcome=1, regressors=(0, 2)).values
    mechanism = ResidualPlanner(epsilon=epsilon, delta=1e-6)
    noise = MODEL.noise(mechanism.plan(problem(N)))
    held = np.zeros((2, TRIES, len(truth)))
    for place in range(TRIES):
        rows = people(N, seed=1000 + place)
        release = mechanism.run(mechanism.prepare(dataset(rows), problem(N)), Preview(5000 + place), 1)
        for kind, known in enumerate((noise, np.zeros_like(noise))):
            low, high = fit_tables(MODEL, release.unbiased, known).interval().T
            held[kind, place] = (low <= truth) & (truth <= high)
    right, wrong = held.mean(axis=1)
    return right, wrong


@pytest.mark.slow
def test_intervals_hold_and_those_that_forget_the_noise_do_not() -> None:
    right, wrong = covered(0.3)
    assert right.min() >= 0.92, right
    assert wrong.max() < 0.8, wrong


def test_where_the_noise_hides_the_regressors_nothing_is_said() -> None:
    mechanism = ResidualPlanner(epsilon=0.01, delta=1e-6)
    release = mechanism.run(mechanism.prepare(dataset(people(N, seed=1)), problem(N)), Preview(1), 1)
    with pytest.raises(ParameterError, match="With this noise nothing can be said"):
        fit_tables(MODEL, release.unbiased, MODEL.noise(mechanism.plan(problem(N))))


def test_single_columns_say_nothing_about_a_model() -> None:
    mechanism = ResidualPlanner(epsilon=1.0, delta=1e-6)
    alone = dataclasses.replace(problem(N), queries=Marginals(domain=DOMAIN, ways=1))
    with pytest.raises(ParameterError, match="A table of so many columns was not released"):
        MODEL.noise(mechanism.plan(alone))


@pytest.mark.parametrize(("outcome", "regressors"), [(2, (0,)), (1, ()), (1, (1,))])
def test_a_model_names_a_number_and_other_columns(outcome: int, regressors: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="outcome"):
        LinearModel(domain=DOMAIN, outcome=outcome, regressors=regressors)


def test_where_rows_are_replaced_their_number_has_no_noise_and_intervals_of_the_noise_hold() -> None:
    rows, mechanism = people(N, seed=1), ResidualPlanner(epsilon=1.0, delta=1e-6)
    replaced = dataclasses.replace(problem(N), neighbours=Neighbours.REPLACE_ONE)
    noise = MODEL.noise(mechanism.plan(replaced))
    assert np.abs(noise[:, 0, 0]).max() == 0 < np.abs(noise[:, 1, 1]).max()
    exact = fit(DOMAIN, rows, outcome=1, regressors=(0, 2)).values
    releases = mechanism.run(mechanism.prepare(dataset(rows), replaced), Preview(2), TRIES)
    held = np.zeros((TRIES, len(exact)), dtype=bool)
    for place in range(TRIES):
        low, high = fit_tables(MODEL, releases.part(place, place + 1).unbiased, noise, sampling=False).interval().T
        held[place] = (low <= exact) & (exact <= high)
    assert held.mean(axis=0).min() >= 0.9
