"""A secret attribute from marginals: products by hand, the proof against the worst noise, the theorem's order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core import Booleans, ParameterError
from dpcore.limits.attacks import subset_sum
from dpcore.limits.attacks.row_products import MAX_SIZE, distinct_rows, posterior_bits, row_products


def coins(seed: int, *, people: int, attributes: int) -> Booleans:
    flips: Booleans = np.random.default_rng(seed).random((people, attributes)) < 0.5
    return flips


def test_every_set_of_attributes_has_the_rows_that_have_them_all(seed: int) -> None:
    known = coins(seed, people=7, attributes=5)
    masks = row_products(known, size=3, seed=1)
    by_hand = [
        [all(row[place] for place in chosen) for row in known.tolist()]
        for size in range(4)
        for chosen in sorted(itertools.combinations(range(5), size), key=lambda chosen: chosen[::-1])
    ]
    assert masks.tolist() == by_hand and masks[0].all()
    assert len(row_products(known[:, :2], size=4, seed=1)) == 4, "no set is larger than all attributes"


def test_of_too_many_sets_the_smallest_stay_and_a_random_part_of_the_next_size() -> None:
    known = coins(1, people=30, attributes=64)
    masks = row_products(known, size=3, seed=1)
    assert len(masks) == subset_sum.MAX_GROUPS == 2_000
    np.testing.assert_array_equal(masks[:65], row_products(known, size=1, seed=9))
    other = row_products(known, size=3, seed=2)
    assert (masks[:65] == other[:65]).all() and (masks != other).any()


@pytest.mark.parametrize(
    ("people", "attributes", "size"), [(501, 3, 1), (0, 3, 1), (5, 0, 1), (5, 3, 0), (5, 3, MAX_SIZE + 1)]
)
def test_sizes_are_refused_in_one_sentence(people: int, attributes: int, size: int) -> None:
    with pytest.raises(ParameterError, match=r"^The attack takes 1 to 500 rows, .*\.$"):
        row_products(np.ones((people, attributes), dtype=np.bool_), size=size, seed=1)


def test_the_proof_holds_for_the_worst_noise_of_each_root_mean_square(seed: int) -> None:
    """Noise along the weakest direction, where a largest error of the same size would be far smaller."""
    people = 60
    masks = row_products(coins(seed, people=people, attributes=24), size=2, seed=seed)
    secret = coins(seed + 1, people=people, attributes=1)[:, 0]
    left, values, _ = np.linalg.svd(masks.astype(float), full_matrices=False)
    assert values[-1] == pytest.approx(subset_sum.strength(masks))
    counts, tight = masks @ secret.astype(float), 0
    for error in (0.05, 0.2, 0.5, 1.0):
        noise = np.stack([sign * left[:, -place] for place in (1, 2, 3) for sign in (-1, 1)])
        noise *= error * math.sqrt(len(masks)) / np.linalg.norm(noise, axis=1, keepdims=True)
        wrong = people * (1 - subset_sum.recovered(subset_sum.least_squares(masks, counts + noise), secret))
        allowed = int(subset_sum.max_wrong_bits(masks, error=error))
        assert (np.rint(wrong) <= allowed).all()
        tight += int(wrong.max() > 0 and allowed < people)
    assert tight, "the noise is strong enough to make bits wrong where a bound is left"


def test_rows_with_the_same_known_attributes_leave_nothing_proved_even_without_noise() -> None:
    known = coins(3, people=40, attributes=20)
    assert subset_sum.strength(row_products(known, size=2, seed=1)) > 0 and distinct_rows(known) == 40
    known[1] = known[0]
    masks = row_products(known, size=2, seed=1)
    assert subset_sum.strength(masks) == 0 and distinct_rows(known) == 39
    assert int(subset_sum.max_wrong_bits(masks, error=0.0)) == 40
    secret = np.arange(40) == 0  # one of both rows: no attack can tell which
    found = subset_sum.recovered(subset_sum.least_squares(masks, (masks @ secret.astype(float))[None]), secret)
    assert found[0] < 1


def test_the_smallest_singular_value_of_random_attributes_grows_like_d_to_the_k_minus_1_over_2() -> None:
    """The theorem's order for k = 2 and 3; for columns that are all the same, the control, it does not grow."""
    for size, sizes in ((1, (60, 240, 960)), (2, (14, 28, 56))):
        ratios = []
        for attributes in sizes:
            if attributes > 64:
                known = coins(5, people=12, attributes=attributes)
                masks = np.concatenate([np.ones((1, 12), dtype=np.bool_), known.T])
            else:
                masks = row_products(coins(5, people=12, attributes=attributes), size=size, seed=1)
            ratios.append(subset_sum.strength(masks) / attributes ** (size / 2))
        assert min(ratios) > 0.05 and max(ratios) < 4 * min(ratios), (size, ratios)
    same = np.repeat(coins(6, people=12, attributes=1), 60, axis=1)
    assert subset_sum.strength(row_products(same, size=2, seed=1)) == 0


def test_posterior_means_are_those_of_the_normal_equations(seed: int) -> None:
    known, people = coins(seed, people=9, attributes=6), 9
    masks, secret = row_products(known, size=2, seed=1), coins(seed + 1, people=people, attributes=1)[:, 0]
    matrix = masks.astype(float)
    answers = matrix @ secret + np.random.default_rng(seed).normal(0, 2, (5, len(masks)))
    variances = np.array([0.5, 1.0, 4.0, 9.0, 100.0])
    found = posterior_bits(masks, answers, variances)
    for trial in range(5):
        mean = min(max(answers[trial, 0] / people, 0), 1)
        spread = max(mean * (1 - mean), 1e-3)
        precision = matrix.T @ matrix / variances[trial] + np.eye(people) / spread
        best = (
            mean
            + np.linalg.solve(precision, matrix.T @ (answers[trial] - mean * matrix.sum(axis=1))) / (variances[trial])
        )
        clear = np.abs(best - 0.5) > 1e-6
        np.testing.assert_array_equal(found[trial][clear], (best > 0.5)[clear])
    exact = posterior_bits(masks, (matrix @ secret)[None], np.zeros(1))
    if subset_sum.strength(masks) > 0.1:
        np.testing.assert_array_equal(exact[0], secret)
    loud = posterior_bits(masks, np.full((2, len(masks)), [[1.0], [8.0]]), np.full(2, 1e12))
    assert not loud[0].any() and loud[1].all(), "at large noise every bit is guessed alike"
