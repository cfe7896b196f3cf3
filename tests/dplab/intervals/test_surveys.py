"""Surveys of one population: each interval holds what it is about; the interval of the noise does not hold more."""

from __future__ import annotations

import numpy as np
import pytest

from dplab.intervals.noise import LaplaceNoise
from dplab.intervals.surveys import LEVEL, draw_surveys
from tests.dplab.intervals.coverage import refuted

TRIALS = 4000


@pytest.mark.parametrize(("n", "epsilon"), [(200, 1.0), (1000, 0.3)])
def test_the_interval_of_the_noise_is_about_the_people_asked_and_the_wider_one_about_all(
    n: int, epsilon: float, seed: int
) -> None:
    seen = draw_surveys(n=n, population=0.3, epsilon=epsilon, surveys=TRIALS, seed=seed)
    of_all, of_asked, wider = seen.hits
    assert not refuted(of_asked, level=LEVEL) and not refuted(wider, level=LEVEL)
    assert max(of_asked.mean(), wider.mean()) < LEVEL + 0.025, "neither is wide for no reason"
    assert refuted(of_all, level=LEVEL) and of_all.mean() < 0.7, "the control: sampling error is larger than the noise"


def test_intervals_are_alike_where_noise_is_larger_than_the_sampling_error(seed: int) -> None:
    alike, apart = (
        draw_surveys(n=100, population=0.3, epsilon=epsilon, surveys=TRIALS, seed=seed) for epsilon in (0.1, 1.0)
    )
    ratios = [np.median(each.of_population.half_width) / np.median(each.of_rows.half_width) for each in (alike, apart)]
    assert ratios[0] < 1.2 and ratios[1] > 3


def test_people_are_sampled_and_noise_is_that_of_epsilon_for_one_person(seed: int) -> None:
    n, epsilon, share = 1000, 0.5, 0.3
    seen = draw_surveys(n=n, population=share, epsilon=epsilon, surveys=TRIALS, seed=seed)
    deviation = np.sqrt(share * (1 - share) / n)
    assert seen.asked.mean() == pytest.approx(share, abs=6 * deviation / np.sqrt(TRIALS))
    assert seen.asked.std() == pytest.approx(deviation, rel=0.1)
    # Two counters with noise of scale 1/ε: to first order the share moves by ((1 − p) b − p a)/n.
    noise = LaplaceNoise(1 / epsilon).deviation * np.hypot(share, 1 - share) / n
    assert (seen.released - seen.asked).std() == pytest.approx(noise, rel=0.1)
    again = draw_surveys(n=n, population=share, epsilon=epsilon, surveys=TRIALS, seed=seed)
    np.testing.assert_array_equal(seen.released, again.released)
