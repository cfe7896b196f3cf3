"""Subset-sum answers keep their promise exactly, and a point's rows are the least-squares ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dpcore
from dpcore.core import Neighbours, ParameterError, Problem
from dpcore.limits.attacks import subset_sum, vc
from dpcore.limits.attacks.group_counts import SUBSET_SUMS, GroupCounts, SubsetSums, groups, transform
from dpcore.queries.ranges import Cells
from dplab.audit import exact_delta
from tests.cases import one_relation
from tests.kit import contract, problems

BOTH = pytest.mark.parametrize("neighbours", list(Neighbours))


def asked(*, bits: int, n: int) -> Problem:
    domain = dpcore.Number(bits=bits)
    return Problem(domain=domain, queries=Cells(domain=domain), n=n)


@pytest.mark.slow
@one_relation
def test_it_keeps_the_contract(neighbours: Neighbours, seed: int) -> None:
    for problem in problems.tiny_problems(SUBSET_SUMS, neighbours):
        contract.check_privacy(SubsetSums(epsilon=1.0), problem)
    for problem in problems.ordinary_problems(SUBSET_SUMS, neighbours):
        contract.check_spending(SubsetSums(epsilon=0.7), problem, seed=seed)
    contract.check_law(SUBSET_SUMS, problems.law_problem(SUBSET_SUMS, neighbours), dpcore.Preview(seed), seed=seed)


@BOTH
def test_the_promise_is_tight(neighbours: Neighbours) -> None:
    # Some neighbours move half of the groups in full, so a hair less than the promised loss is not kept.
    problem = dataclasses.replace(asked(bits=2, n=2), neighbours=neighbours)

    class Braggart(SubsetSums):
        def guarantee(self, problem: Problem) -> dpcore.core.Guarantee:
            return dataclasses.replace(super().guarantee(problem), epsilon=0.99 * self.epsilon)

    window = problems.window_for(problem)
    assert exact_delta(Braggart(epsilon=1.0), problem, window=window).delta > 1e-4


def test_every_group_holds_half_and_any_two_points_differ_in_half() -> None:
    for bits in (1, 2, 3, 6):
        size = 1 << bits
        signs = transform(np.eye(size))
        masks = signs[1:] < 0
        assert (masks.sum(axis=1) == size // 2).all()
        differences = (masks[:, :, None] != masks[:, None, :]).sum(axis=0)
        assert (differences[~np.eye(size, dtype=bool)] == size // 2).all()
        slow = [[(-1) ** (x & g).bit_count() for x in range(size)] for g in range(size)]
        assert np.array_equal(signs, slow)


def test_the_rows_are_what_least_squares_finds(seed: int) -> None:
    # With n known, the counts have one solution: least squares finds it too.
    problem = asked(bits=4, n=40)
    dataset = problems.dataset_of(problem, np.arange(40) % 11)
    mechanism = SubsetSums(epsilon=1.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), dpcore.Preview(seed), 5)
    masks = transform(np.eye(16))[1:] < 0
    counts = np.concatenate([release.counts, np.full((5, 1), 40)], axis=1).astype(np.float64)
    everyone = np.concatenate([masks, np.ones((1, 16), dtype=bool)])
    assert np.allclose(release.histogram(), subset_sum.least_squares(everyone, counts).estimates)
    assert np.allclose(release.histogram() @ masks.T, release.counts)
    assert np.allclose(release.part(1, 3).histogram(), release.histogram()[1:3])


def test_the_noise_at_a_point_is_as_large_as_told(seed: int) -> None:
    problem = asked(bits=6, n=64)
    mechanism = SubsetSums(epsilon=0.5)
    dataset = problems.dataset_of(problem, np.arange(64))
    release = mechanism.run(mechanism.prepare(dataset, problem), dpcore.Preview(seed), 2_000)
    spread = float((release.histogram() - 1).std())
    assert spread == pytest.approx(np.sqrt(2 * 64) / 0.5, rel=0.02)
    assert f"{np.sqrt(2 * 64) / 0.5:.3g} rows" in mechanism.accuracy(problem, 0.05).statement


@pytest.mark.parametrize("points", [2, 3, 16, 17, 10_000])
def test_points_that_are_no_power_of_two(points: int, seed: int) -> None:
    labels = dpcore.Labels(labels=tuple(map(str, range(points))), missing=False)
    problem = Problem(domain=labels, queries=Cells(domain=labels), n=points)
    assert points <= groups(problem) < 2 * points + 1
    rows = np.random.Generator(np.random.SFC64(seed)).integers(0, points, points)
    dataset = problems.dataset_of(problem, rows)
    mechanism = SubsetSums(epsilon=10.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), dpcore.Preview(seed), 3)
    noise = release.histogram() - dataset.histogram
    assert np.abs(noise.mean()) < 6 * np.sqrt(2 * groups(problem)) / 10 / np.sqrt(3 * points)


def test_attacks_read_them(seed: int) -> None:
    problem = asked(bits=3, n=4)
    secret = np.array([1, 2, 5, 7])
    mechanism = SubsetSums(epsilon=10.0)
    release = mechanism.run(mechanism.prepare(problems.dataset_of(problem, secret), problem), dpcore.Preview(seed), 400)
    assert isinstance(release, GroupCounts)
    guess = vc.reconstruct(release)
    assert guess.chosen[:, secret].mean() > 0.9
    with pytest.raises(ParameterError):
        SubsetSums(epsilon=0.0)
