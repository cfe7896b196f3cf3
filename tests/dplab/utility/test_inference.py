"""Intervals of a slope: from real rows right, from synthetic ones as if real too short, from released tables right."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from dpcore.data.samples import load_sample
from dplab.utility.inference import LEVEL, RELEASES, SLOPE, SlopeIntervals, draw_slopes, population, population_fit


def ended(work: Generator[float, None, SlopeIntervals]) -> SlopeIntervals:
    shares = []
    while True:
        try:
            shares.append(next(work))
        except StopIteration as done:
            assert shares == sorted(shares) and len(shares) == RELEASES
            found = done.value
            assert isinstance(found, SlopeIntervals)
            return found


def drawn(n: int, epsilon: float, *, seeds: tuple[int, ...] = (1, 2)) -> list[SlopeIntervals]:
    return [ended(draw_slopes(n=n, epsilon=epsilon, seed=seed)) for seed in seeds]


def test_the_population_s_slope_is_that_of_the_file_itself_within_a_hundredth() -> None:
    names = ("age", "education_num", "hours_per_week")
    ages, years, hours = (np.asarray(load_sample("adult").numbers(name), dtype=np.float64) for name in names)
    x = np.stack([np.ones(len(ages)), ages, years], axis=1)
    exact = np.linalg.lstsq(x, hours, rcond=None)[0]
    assert population_fit().values[SLOPE] == pytest.approx(exact[2], rel=0.01)
    # A control: the slope of age is another.
    assert population_fit().values[SLOPE] != pytest.approx(exact[1], rel=0.5)


def test_synthetic_rows_as_if_real_miss_what_real_rows_and_released_tables_hold() -> None:
    both = drawn(10_000, 1.0)
    total = RELEASES * len(both)
    hits = {kind: sum(int(each.holds(getattr(each, kind)).sum()) for each in both) for kind in ("real", "released")}
    for kind, count in hits.items():
        assert binom.cdf(count, total, LEVEL) > 1e-4, kind
    missed = sum(int(each.holds(each.synthetic).sum()) for each in both)
    assert binom.cdf(missed, total, LEVEL) < 1e-12
    assert not any(each.refused.any() for each in both)
    # The rows look as real as another sample does, and their columns go together.
    for each in both:
        assert each.distances.mean() < 1.2 * each.other_rows.mean() < each.shuffled_rows.mean()


def test_where_noise_hides_the_regressors_nothing_is_said_and_such_an_interval_holds_nothing() -> None:
    (few,) = drawn(2_000, 0.3, seeds=(1,))
    assert few.refused.all() and not few.holds(few.released).any()
    (much,) = drawn(2_000, 10.0, seeds=(1,))
    assert not much.refused.any() and much.holds(much.released).mean() > 0.7


def test_another_sample_is_as_far_as_tables_counted_by_hand_say() -> None:
    domain, rows = population()
    generator = np.random.Generator(np.random.SFC64(7))
    sample, other = (rows[generator.integers(0, len(rows), 2_000)] for _ in range(2))
    frames = [pd.DataFrame(each, columns=list(domain.names)) for each in (sample, other)]
    apart = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        shares = [frame.groupby([domain.names[first], domain.names[second]]).size() / len(frame) for frame in frames]
        apart.append(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)
    (seen,) = (ended(draw_slopes(n=2_000, epsilon=10.0, seed=7)),)
    assert seen.other_rows[0] == pytest.approx(np.mean(apart))
