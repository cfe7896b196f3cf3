"""The median's pictures: the wall, who is below it, and the walk's steps within the promise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpcore.limits.bounds import median, walk
from dpcore.limits.bounds.walk import MeasuredWalk
from dplab.limits import medians
from dplab.limits.medians import MEASURED_BITS
from pages.charts.picture import Curve, Dots, Picture, Rule, Wall, numbers
from pages.learn.median import figure
from pages.learn.median.figure import NAMES, chance, log_chance
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.learn.test_lessons import lesson
from tests.pages.lessons import checked, interval
from tests.pages.opening import opened, texts

SEEN = MeasuredWalk(
    chance=np.linspace(1, 0, len(MEASURED_BITS)),
    low=np.linspace(0.9, 0, len(MEASURED_BITS)),
    high=np.linspace(1, 0.1, len(MEASURED_BITS)),
)


def success(*, n: int = 101, epsilon: float = 0.5, bits: float = 100.0, guess: float = 50.0) -> Picture:
    grid = np.unique(np.append(np.geomspace(1, 10_000, 160), bits))
    chances = medians.chances(grid, n=n, epsilon=epsilon, delta=1e-6)
    return figure.success(
        chances=chances,
        n=n,
        epsilon=epsilon,
        delta=1e-6,
        bits=bits,
        guess=guess,
        measured={key: SEEN for key in medians.SEARCHED_ENTRIES},
    )


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 10.0])
@pytest.mark.parametrize("bits", [1.0, 10_000.0])
def test_no_curve_of_a_private_median_is_above_the_wall(epsilon: float, bits: float) -> None:
    picture = success(epsilon=epsilon, bits=bits)
    checked(picture)
    wall = picture.one(Wall, role="impossible")
    assert (numbers(wall.y) <= wall.end).all()  # what is above it is impossible
    private = [curve for curve in picture.find(Curve) if "stable" not in curve.name]
    assert len(private) == len(NAMES) - 1
    for curve in private:
        np.testing.assert_array_equal(numbers(curve.x), numbers(wall.x))
        assert (numbers(curve.y) <= numbers(wall.y) + 1e-9).all(), curve.name
    assert f"{median.wall(n=101, epsilon=epsilon):,.1f} bits" in picture.sentence


def test_the_stable_median_goes_through_the_wall_s_door_and_measured_dots_are_releases() -> None:
    picture = success()
    stable = next(curve for curve in picture.find(Curve) if "δ = 1e-6" in curve.name)
    assert (numbers(stable.y) > numbers(picture.one(Wall).y)).any()
    for role in ("released", "mechanism:intervals-anchored"):
        dots = picture.one(Dots, role=role)
        assert numbers(dots.x).tolist() == list(MEASURED_BITS)
        np.testing.assert_array_equal(numbers(dots.y), SEEN.chance)
        np.testing.assert_array_equal(interval(dots), np.array([SEEN.low, SEEN.high]))
    assert picture.one(Rule, role="guess").x == 50 and picture.one(Rule, role="ink").x == 100
    assert "(you guessed 50)" in picture.sentence and "2^100 grid points" in picture.sentence


def test_the_median_says_the_chance_that_its_curve_has() -> None:
    """Not "under 0.1%" where the curve is at a power of ten that can be told."""
    bits, n = 144.0, 11
    picture = success(n=n, epsilon=0.1, bits=bits, guess=10)
    log = float(median.exponential(bits=np.array([bits]), n=n, epsilon=0.1)[0])
    match = searched(r"exponential mechanism (?:([\d.]+)·)?10\^−(\d+)", picture.sentence)
    assert log < math.log(1e-19)
    assert math.log(float(match[1] or 1)) - int(match[2]) * math.log(10) == pytest.approx(log, abs=0.06)
    assert "under" not in picture.sentence


@pytest.mark.parametrize("key", ["exponential", "permute-and-flip", "refusing"])
def test_every_step_of_a_private_walk_is_within_the_promise(key: str) -> None:
    taken = medians.exact_walk(key, bits=9000.0, n=2001, epsilon=0.3, delta=1e-6)
    climb = figure.walk_chances(key=key, walk=taken, bits=9000.0)
    steps = figure.walk_factors(key=key, walk=taken)
    checked(climb), checked(steps)
    promise = sorted(rule.y or 0 for rule in steps.find(Rule, role="theory"))
    assert promise == [-0.3, 0.3]
    assert np.abs(numbers(steps.one(Curve).y)).max() <= 0.3 + 1e-9
    # A thinned picture keeps the largest step and both ends.
    assert np.abs(numbers(steps.one(Curve).y)).max() == np.abs(taken.ratios).max()
    tens = numbers(climb.one(Curve).y)
    np.testing.assert_allclose(tens[[0, -1]], taken.log_chance[[0, -1]] / math.log(10))
    # One mechanism, one colour.
    name = NAMES[key]
    drawn = {curve.name: curve.role for curve in success().find(Curve)}
    assert climb.one(Curve).role == steps.one(Curve).role == drawn[name]


def test_a_walk_that_jumps_from_nothing_is_not_drawn_there() -> None:
    jump = walk.stable_walk(n=201, epsilon=0.3, delta=1e-6)
    climb = figure.walk_chances(key="stable", walk=jump, bits=10.0)
    checked(climb)
    assert "exactly 0" in climb.sentence
    line = climb.one(Curve)
    impossible = np.isneginf(jump.log_chance[numbers(line.x).astype(int)])
    np.testing.assert_array_equal(np.isnan(numbers(line.y)), impossible)
    assert impossible.any() and not impossible.all()
    steps = figure.walk_factors(key="stable", walk=jump)
    checked(steps)
    assert "δ = 1e-6 covers this." in steps.sentence and np.isfinite(numbers(steps.one(Curve).y)).all()


def test_the_measured_climb_says_its_ends_and_its_middle() -> None:
    moved = medians.stops(1001)
    seen = MeasuredWalk(chance=moved / 1001, low=moved / 1100, high=np.minimum(moved / 900, 1))
    picture = figure.measured_walk(n=1001, walk=seen, key="identity")
    checked(picture)
    assert "0% at the start, 50% halfway, 100% at the end" in picture.sentence
    np.testing.assert_array_equal(numbers(picture.one(Dots, role="released").x), moved)
    assert "its probability of v also grows: 0%" in picture.sentence
    # The interval at the end, 91% to 100%, is not above one of 0% to 95% at the start.
    wide = replace(seen, high=np.maximum(seen.high, 0.95))
    assert "grows" not in figure.measured_walk(n=1001, walk=wide, key="identity").sentence


def test_act_two_draws_the_rows_of_delta_0_and_an_order_without_a_constant() -> None:
    picture = figure.under_delta(n=1001, epsilon=0.1, delta=1e-6, bits=200.0)
    checked(picture)
    wall = picture.one(Wall, role="impossible")
    rows = [math.ceil(math.log(2**bits - 1) / 0.1) for bits in (8, 100)]
    found = [float(numbers(wall.y)[np.argmin(np.abs(numbers(wall.x) - bits))]) for bits in (8, 100)]
    assert found == pytest.approx(rows, rel=0.06)  # the grid has about these bits
    stars = picture.one(Curve, role="theory")
    assert "order only" in stars.name and stars.dash == "dot" and numbers(stars.y).max() == 5
    stable = picture.one(Curve, role=figure.ROLES["stable"])
    needed = median.stable_threshold(epsilon=0.1, delta=1e-6)
    assert set(numbers(stable.y).tolist()) == {2.0 * needed - 1} and "equal rows only" in stable.name
    assert (median.check_rows(n=2 * needed - 1, odd=True), median.check_rows(n=2 * needed - 3, odd=True)) == (
        needed,
        needed - 1,
    )
    assert f"at least {math.ceil(math.log(2**200 - 1) / 0.1):,} rows" in picture.sentence
    assert "= 5 rows" in picture.sentence


@pytest.mark.parametrize("name", ["If δ > 0", "Act two"])  # the second in old links
def test_above_delta_0_the_stable_median_is_said_to_be_for_stable_data(name: str) -> None:
    link = {"median-picture": name, "median-shown": "true", "median-walk": "search"}  # no mechanism walks here
    app = opened("learn/page.py", lesson="median", **link)
    assert set(drawn(app)) == {"median_delta_chart"} and not app.error and not app.warning
    page = texts(app)
    assert "δ = 0 needs at least **1,387** rows" in page and "= **5**" in page
    assert "on data that are not stable it mostly refuses" in page
    assert "For thresholds on $2^{200}$ values it is 200, and their VC dimension is 1." in page


@pytest.mark.parametrize(("n", "says"), [(1001, "answers"), (201, "refuses")])
def test_the_stable_median_answers_only_where_enough_rows_must_change(n: int, says: str) -> None:
    app = opened("learn/page.py", lesson="median", **{"median-n": str(n), "median-shown": "true"})
    markdown_text = " ".join(each.value for each in app.markdown)
    assert (
        f"the stable median mostly {says}, for every grid: {(n + 1) // 2} rows must change before the median does."
        in markdown_text
    )
    assert (float(median.stable(bits=[9.0], n=n, epsilon=0.1, delta=1e-6)[0]) > math.log(0.5)) is (says == "answers")


def test_chances_in_words() -> None:
    assert [chance(value) for value in (0.0, 1e-9, 3.2e-19, 9.99e-5, 0.5, 0.99999, 1.0)] == [
        "0%",
        "10^−9",
        "3.2·10^−19",
        "10^−4",
        "50%",
        "over 99.9%",
        "100%",
    ]
    assert log_chance(-3000 * math.log(10)) == "10^−3000" == log_chance(-3000 * math.log(10), is_bound=True)
    # What nobody is above is rounded up.
    assert log_chance(math.log(1.849e-17)) == "1.8·10^−17" and log_chance(math.log(9.99e-5)) == "10^−4"
    ups = [log_chance(math.log(value), is_bound=True) for value in (1.81e-17, 9.91e-5, 0.5, 0.48443, 0.0010001)]
    assert ups == ["1.9·10^−17", "10^−4", "50%", "48.5%", "0.101%"]
    assert log_chance(0.0) == "over 99.9%"  # an exact chance of 1 − 1e-17


def test_a_search_in_an_interval_release_climbs_like_any_other() -> None:
    """Corollary 5.2: on a line of 64 points an interval release gives the median; with too few rows it cannot."""
    seen = medians.measured_walk(n=2001, epsilon=1.0, seed=1, key="intervals-anchored")
    assert seen.chance[0] == 0 and seen.chance[-1] > 0.9
    picture = figure.measured_walk(n=2001, walk=seen, key="intervals-anchored")
    checked(picture)
    assert "released intervals of 64 cells" in picture.sentence
    few = medians.measured_chances(n=11, epsilon=0.1, seed=1, key="intervals-anchored")
    most = np.exp(median.any_private_stepwise(bits=np.array(MEASURED_BITS), n=11, epsilon=0.1))
    assert (few.low <= most).all() and few.chance[-1] < 0.5


@pytest.mark.parametrize(("n", "epsilon"), [(1001, 0.1), (1001, 1.0), (201, 1.0)])
def test_far_short_of_its_length_the_exponential_mechanism_is_nearly_always_right(n: int, epsilon: float) -> None:
    assert "On a coarse grid the exponential mechanism is nearly always right." in texts(lesson("median"))
    limit = epsilon * n / (4 * np.log(2))
    found = medians.chances([limit / 2, 2 * limit], n=n, epsilon=epsilon, delta=1e-6)
    short, beyond = np.exp(found.mechanisms["exponential"])
    assert short > 0.99 and beyond < 0.01
