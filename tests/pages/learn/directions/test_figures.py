"""The pictures of the halfspace page: their numbers are the core's, each mark is what it says, sentences are true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.core import Floats, Problem, finish
from dpcore.data.bundled import vectors_of
from dpcore.data.sources import generated_vectors
from dpcore.data.sphere import Halfspaces
from dpcore.mechanisms import entry
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dplab.halfspace_parts import Circle, Sides, directions_at, preview_releases
from dplab.limits.directions import DEGREES, PROJECTED_ROWS, TRIALS, EveryDirection, distortions, every_direction
from pages.charts.picture import Area, Band, Cloud, Curve, Dots, Picture, Rule, numbers
from pages.charts.words import significant
from pages.learn.directions import charts
from pages.learn.directions.charts import EXPECTED, PARTS, error_parts, errors_around, great_circle
from pages.learn.directions.rows_charts import (
    ARROW,
    BAND,
    BETWEEN,
    HALF,
    MAX_IN_SPACE,
    MAX_ROWS,
    MAX_TICKS,
    SIDES,
    TIP,
    degrees_of,
    rows_in_the_plane,
    rows_on_the_sphere,
)
from tests.kit import searched
from tests.pages.learn.test_lessons import lesson
from tests.pages.opening import texts
from tests.pages.picture_checks import whole

N = 2_000


def corners(mark: Area | Curve | Dots) -> Floats:
    """Places of a mark, (K, 2)."""
    return np.stack([numbers(mark.x), numbers(mark.y)], axis=1)


def beside(places: Floats, angle: int, **asked: Any) -> Picture:
    """The rows beside a direction."""
    height = places @ np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    sides = Sides(inside=height > 0, share=0.5, near=0.4, nearest=0.0)
    usual: dict[str, Any] = {"margin": 0.25, "measured": np.empty(0), "axes": ("east", "north"), "flat": False}
    return whole(rows_in_the_plane(places=places, angle=angle, **({"sides": sides} | usual | asked)))


@pytest.mark.parametrize("angle", [0, 30, 200])
@pytest.mark.parametrize("count", [5, 3000])
def test_heights_over_the_line_are_products_with_the_direction(angle: int, count: int, seed: int) -> None:
    places = np.random.default_rng(seed).uniform(-0.7, 0.7, size=(count, 2))
    towards = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    picture = beside(places, angle, measured=np.array([10.0, 70.0]))
    here, there = (corners(picture.one(Dots, role="true", name=name)) for name in SIDES)
    assert (here @ towards > 0).all() and (there @ towards <= 0).all()
    assert len(here) + len(there) == (count if count <= MAX_ROWS else len(places[:: -(-count // MAX_ROWS)]))
    assert (
        picture.table["on the side"]
        == (np.array([picture.table["east"], picture.table["north"]]).T @ towards > 0).tolist()
    )
    assert (corners(picture.one(Area, role="released", name=HALF)) @ towards > -1e-9).all()
    heights = corners(picture.one(Area, role="theory", name=BAND)) @ towards
    assert heights.max() == pytest.approx(0.25) and heights.min() == pytest.approx(-0.25)
    assert np.abs(corners(picture.one(Curve, name=BETWEEN)) @ towards).max() < 1e-9
    np.testing.assert_allclose(corners(picture.one(Curve, name=ARROW)), np.outer([0, 0.9], towards), atol=1e-9)
    np.testing.assert_allclose(corners(picture.one(Area, name=TIP))[1], towards, atol=1e-9)
    strokes = corners(picture.one(Curve, role="released", name="directions measured"))
    known = strokes[~np.isnan(strokes[:, 0])]
    assert {round(each) for each in np.degrees(np.arctan2(known[:, 1], known[:, 0])) % 180} == {10, 70}
    assert ("rows are shown" in picture.sentence) is (count > MAX_ROWS)
    assert "40% lie nearer" in picture.sentence and "0.25" in picture.sentence


@pytest.mark.parametrize("angle", [0, 30, 200])
def test_the_arrow_is_held_beyond_its_tip_and_everything_turns_with_it(angle: int) -> None:
    picture = beside(np.eye(2), angle)
    handle = picture.handle
    assert handle is not None and handle.turned and picture.equal and picture.clicks
    assert degrees_of(handle.x, handle.y) == angle
    assert 1 < np.hypot(handle.x, handle.y) < 1.25
    assert np.degrees(handle.step / np.hypot(handle.x, handle.y)) == pytest.approx(1), "a key turns it by a degree"
    assert set(handle.turns) == {HALF, BAND, BETWEEN, ARROW, TIP} and handle.sides == SIDES
    assert f"{angle} degrees" in handle.label


def test_angles_are_whole_degrees_of_one_turn() -> None:
    assert [degrees_of(*place) for place in ((1, 0), (0, 2), (-1, 0), (0, -0.1), (1, -0.001))] == [0, 90, 180, 270, 0]


def test_what_nobody_is_near_to_is_said_to_have_the_margin() -> None:
    sides = Sides(inside=np.array([True, False]), share=0.5, near=0.0, nearest=0.3)
    sentence = beside(np.eye(2), 20, sides=sides, flat=True).sentence
    assert "No row lies nearer to the line than γ = 0.25 (the band), so this direction has that margin" in sentence


def test_many_measured_directions_are_counted_not_drawn() -> None:
    for count, shown in ((MAX_TICKS, True), (MAX_TICKS + 1, False)):
        picture = beside(np.eye(2), 5, measured=np.arange(count) * 180 / count, flat=True)
        assert bool(picture.find(Curve, name="directions measured")) is shown
        assert ("strokes" in picture.sentence) is shown
        assert (f"{2 * count:,} directions are measured, too close" in picture.sentence) is not shown


def test_on_the_sphere_rows_lie_where_they_are_on_both_sides_of_a_circle(seed: int) -> None:
    drawn = np.random.default_rng(seed).standard_normal((900, 3))
    records = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    direction, plane = np.array([0.6, 0.0, 0.8]), np.array([[1.0, 0, 0], [0, 0, 1.0]])
    inside = records @ direction > 0
    picture = whole(
        rows_on_the_sphere(
            records=records, inside=inside, direction=direction, plane=plane, space=("0° N", "90° E", "pole")
        )
    )
    clouds = {mark.name: np.stack([mark.x, mark.y, mark.z], axis=1) for mark in picture.find(Cloud) if mark.name}
    assert (clouds[SIDES[0]] @ direction > 0).all() and (clouds[SIDES[1]] @ direction <= 0).all()
    assert {mark.role for mark in picture.find(Cloud) if mark.name in SIDES} == {"true"}
    assert 0 < len(clouds[SIDES[0]]) + len(clouds[SIDES[1]]) <= MAX_IN_SPACE
    np.testing.assert_allclose(clouds[BETWEEN] @ direction, 0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(clouds[BETWEEN], axis=1), 1)
    np.testing.assert_allclose(clouds["where y turns"][:, 1], 0, atol=1e-9)
    np.testing.assert_allclose(np.cross(clouds[ARROW][1], direction), 0, atol=1e-9)
    assert f"{100 * inside.mean():.3g}% of the rows" in picture.sentence and "of 900" in picture.sentence
    assert list(picture.table) == ["0° N", "90° E", "pole", "on the side"]


def test_the_circle_closes_and_tells_the_worst(seed: int) -> None:
    degrees = np.arange(0.0, 360.0, 30.0)
    truth = 0.5 + 0.3 * np.cos(np.radians(degrees))
    answers = truth + np.random.default_rng(seed).normal(scale=0.05, size=(50, 12))
    expected = 0.5 + 0.1 * np.cos(np.radians(degrees))
    for shown in (None, expected):
        picture = whole(
            great_circle(
                degrees=degrees, truth=truth, answers=answers, expected=shown, angle=45.0, here=(0.7, 0.72), n=N
            )
        )
        lines = {"true": truth, "released": answers[0]} | ({} if shown is None else {"theory": shown})
        assert {line.role for line in picture.find(Curve)} == set(lines)
        for role, values in lines.items():
            line = picture.one(Curve, role=role)
            assert numbers(line.x).tolist() == [*degrees, 360]
            assert numbers(line.y).tolist() == [*values, values[0]]
        assert bool(picture.find(Curve, name=EXPECTED)) is ("dense" in picture.sentence) is (shown is not None)
        for role, share in (("true", 0.7), ("released", 0.72)):
            here = picture.one(Dots, role=role)
            assert (here.x, here.y) == ([45.0], [share])
        assert picture.one(Rule, role="ink").x == 45 and picture.clicks
        assert picture.y.rows == N and picture.y.form == ".3~p"
        assert (
            f"the largest error of the first release is {100 * np.abs(answers[0] - truth).max():.3g}%"
            in picture.sentence
        )
        band = picture.one(Band, role="released")
        low, high = numbers(band.low)[:-1], numbers(band.high)[:-1]
        assert (((answers >= low) & (answers <= high)).mean(axis=0) > 0.85).all()
        assert ((answers < low).any(axis=0) & (answers > high).any(axis=0)).all(), "it does not hold all of pairs"


def test_the_parts_name_the_largest(seed: int) -> None:
    generator = np.random.default_rng(seed)
    errors = {"projection": np.full(100, 0.1), "net": np.zeros(100), "noise": generator.normal(scale=0.01, size=100)}
    errors["total"] = errors["projection"] + errors["noise"]
    told = {"noise": (-0.02, 0.03), "projection": (0.1, 0.1)}
    picture = whole(error_parts(errors=errors, predicted=told, n=N))
    assert "The largest part of this direction's error comes from the projection." in picture.sentence
    assert "projection 10%, net 0%" in picture.sentence
    assert picture.y.labels == tuple(PARTS.values()) and picture.x.rows == N
    seen, theory = picture.one(Dots, role="released"), picture.one(Dots, role="theory")
    assert np.rint(numbers(seen.y)).tolist() == [0, 1, 2, 3] and np.rint(numbers(theory.y)).tolist() == [0, 2]
    assert (numbers(seen.y) < [0, 1, 2, 3]).all() and (numbers(theory.y) > [0, 2]).all(), "predictions stand below"
    assert seen.shape != theory.shape
    assert theory.low is not None and numbers(theory.low).tolist() == [0.1, -0.02]
    assert theory.high is not None and numbers(theory.high).tolist() == [0.1, 0.03]
    np.testing.assert_allclose(numbers(seen.x), [0.1, 0, errors["noise"].mean(), errors["total"].mean()], atol=1e-9)
    assert seen.low is not None and numbers(seen.low)[2] == pytest.approx(np.quantile(errors["noise"], 0.05))
    assert theory.hover is not None and theory.hover[0].startswith("projection, predicted: 10% (200 of 2,000 rows)")
    assert picture.table["predicted from"] == [0.1, None, -0.02, None]
    assert picture.table["mean error"][0] == 0.1
    noisy = error_parts(errors={**errors, "noise": 50 * errors["noise"]}, predicted={}, n=N)
    assert "error comes from the noise." in noisy.sentence


def test_the_best_around_the_circle_is_named_and_mechanisms_keep_their_colours() -> None:
    degrees = np.arange(0.0, 360.0, 90.0)
    other = np.tile([0.1, 0.0, 0.3, 0.0], (10, 1))
    errors = {"halfspaces": np.full((10, 4), 0.2), "intervals-anchored": other}
    picture = whole(errors_around(Circle(degrees=degrees, errors=errors), n=N))
    net, intervals = (entry(key).title for key in errors)
    assert f"{net} 20%, {intervals} 30%. The smallest is that of {net}." in picture.sentence
    assert picture.table[intervals] == [0.1, 0.0, 0.3, 0.0, 0.1]
    line = picture.one(Curve, role="mechanism:intervals-anchored", name=intervals)
    assert numbers(line.y).tolist() == [0.1, 0.0, 0.3, 0.0, 0.1] and numbers(line.x)[-1] == 360
    assert picture.one(Curve, role="mechanism:halfspaces").name == net
    assert picture.y.rows == N


def test_lines_around_the_circle_are_what_90_in_100_releases_err_by_at_most() -> None:
    releases = np.arange(101) / 1000
    errors = np.stack([releases, releases[::-1], 2 * releases, np.zeros(101)], axis=1)
    shown = whole(errors_around(Circle(degrees=np.arange(0.0, 360.0, 90.0), errors={"halfspaces": errors}), n=N))
    line = numbers(shown.one(Curve, role="mechanism:halfspaces").y)
    np.testing.assert_allclose(line, [0.09, 0.09, 0.18, 0, 0.09])
    assert shown.y.title == "error of 90% of releases is at most"
    assert shown.sentence.endswith("The lines show the error of 90% of releases in each direction.")


@pytest.fixture(scope="module")
def seen() -> EveryDirection:
    """Releases of two clouds, as the lesson opens."""
    return every_direction(n=1000, gap=0.7, directions=4, epsilon=1.0, seed=1)


def released_errors(*, n: int = 1000) -> Floats:
    """The errors of the same releases, drawn again, (T, Q)."""
    source = generated_vectors(n=n, dimensions=2, margin=0.7)
    dataset, mechanism = source.dataset(), entry("halfspaces").make(epsilon=1.0, directions=4)
    assert isinstance(mechanism, HalfspaceCounts)
    queries = Halfspaces(domain=source.domain, margin=0.0)
    state = mechanism.prepare(dataset, Problem(domain=source.domain, queries=queries, n=n))
    towards = directions_at(DEGREES, np.eye(2))
    return np.abs(
        preview_releases(mechanism, state, seed=1, trials=TRIALS).answer(towards)
        - queries.truth(dataset.records, towards)
    )


def test_95_of_100_releases_err_by_at_most_the_line_of_a_direction_and_the_worst_is_of_the_others(
    seen: EveryDirection,
) -> None:
    errors = released_errors()
    within = (errors <= seen.error + 1e-12).mean(axis=0)
    assert (within >= 0.95).all() and (errors[:, seen.error > 0] < seen.error[seen.error > 0]).mean() < 0.96
    shown = charts.errors(releases=seen, n=1000, epsilon=1.0, guess=0.05)
    assert shown.y.title == "error of 95% of releases is at most"
    drawn = numbers(shown.one(Curve, role="released").y)
    np.testing.assert_array_equal(drawn, np.maximum(seen.error, float(shown.y.low or 0)))
    # Elsewhere: the largest error over all directions without the margin, at the same level.
    worst = errors[:, ~seen.promised].max(axis=1)
    assert (worst <= seen.beyond + 1e-12).mean() >= 0.95 > (worst < 0.99 * seen.beyond).mean()


def test_no_epsilon_cures_rows_between_two_measured_directions() -> None:
    usual, loud = (every_direction(n=30_000, gap=0.7, directions=4, epsilon=epsilon, seed=1) for epsilon in (1.0, 20.0))
    assert loud.worst < usual.worst / 10  # this is noise
    assert loud.beyond > 0.04 and loud.beyond > 0.9 * usual.beyond


def test_the_inner_product_is_a_quarter_of_a_difference_and_one_matrix_in_ten_moves_the_worst_pair_so_far() -> None:
    """At T = 16, as the lesson says it: of other matrices a tenth moves some one pair by at least that."""
    seen = finish(distortions(vectors_of("digits").dataset().records, chance=0.05, seed=1))
    told = float(seen.products[seen.dimensions.index(16)].max())
    words = texts(lesson("directions", **{"directions-picture": "Fewer dimensions"}))
    assert "An inner product is a quarter of the difference of two squared lengths, of x + y and x − y." in words
    assert (
        "Project from 64 to 16 dimensions. In one matrix of ten, the worst pair moves its inner product by "
        f"**{significant(told)}** or more." in words
    )
    records = vectors_of("digits").dataset().records
    random = np.random.Generator(np.random.SFC64(1))
    chosen = records[random.choice(len(records), size=2 * PROJECTED_ROWS, replace=False)]
    x, y = chosen[:PROJECTED_ROWS], chosen[PROJECTED_ROWS:]
    signs = np.random.default_rng(2).choice([-1.0, 1.0], size=(4000, 16, x.shape[1])) / 4
    moved = np.empty((4000, PROJECTED_ROWS))
    for trial, matrix in enumerate(signs):
        here, there = matrix @ x.T, matrix @ y.T
        moved[trial] = np.abs((here * there).sum(axis=0) - (x * y).sum(axis=1))
        if trial < 5:  # 4<Ax, Ay> = |A(x + y)|² - |A(x - y)|²
            plus, minus = matrix @ (x + y).T, matrix @ (x - y).T
            np.testing.assert_allclose(4 * (here * there).sum(axis=0), (plus**2 - minus**2).sum(axis=0), atol=1e-12)
    shares = (moved >= told).mean(axis=0)
    assert 0.05 < shares.max() < 0.15


def test_95_of_100_releases_stay_within_what_is_told_of_directions_with_the_margin() -> None:
    """Their worst error, drawn again with the lesson's seed and rounded up; and no smaller number would do."""
    words = texts(lesson("directions"))
    said = searched(
        r"For directions with the margin, 95% of releases have an error of at most \*\*([\d.]+)%\*\*", words
    )
    seen = every_direction(n=10_000, gap=0.7, directions=4, epsilon=1.0, seed=1)
    worst = released_errors(n=10_000)[:, seen.promised].max(axis=1)
    told = float(said[1]) / 100
    assert (worst <= told).mean() >= 0.95 > (worst <= told - 1e-4).mean()
