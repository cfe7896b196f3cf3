"""Pictures of the lessons on directions, random privacy and polynomials: sound, in the right roles, right numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import finish
from dpcore.data.bundled import vectors_of
from dplab.limits.directions import EveryDirection, claimed_distortion, distortions, every_direction
from dplab.limits.few_counts import best_polynomial, degrees, predicted_errors
from dplab.sparse import grid_example, line_example, simulate
from pages.charts.picture import Bars, Curve, Dots, Region, Rule, numbers
from pages.learn.directions import charts as directions
from pages.learn.polynomials import figure as polynomials
from pages.learn.random_privacy import charts as sparse
from pages.learn.random_privacy.charts import PRIVATE, RANDOM
from pages.learn.random_privacy.lesson import WIDE, widened
from tests.pages.lessons import checked, sound


def around(promised: list[bool], error: list[float]) -> EveryDirection:
    """Four directions, made by hand."""
    return EveryDirection(
        degrees=np.arange(0.0, 360.0, 90.0),
        error=np.array(error),
        promised=np.array(promised),
        margin=0.25,
        bound=0.01,
        worst=0.005,
        beyond=0.2,
        counts=4,
    )


def test_the_promise_is_drawn_where_the_margin_is_and_nowhere_else() -> None:
    seen = around([True, False, True, True], [0.005, 0.2, 0.004, 0.003])
    picture = sound(directions.errors(releases=seen, n=1000, epsilon=1.0, guess=0.05))
    boxes = picture.find(Region, role="theory")
    assert [box.x for box in boxes] == [(-45.0, 45.0), (135.0, 315.0)]
    assert all(box.y and box.y[1] == 0.01 and 0 < box.y[0] < 0.003 for box in boxes)
    promised = numbers(picture.one(Curve, role="theory").y)
    assert np.isnan(promised[1]) and (promised[[0, 2, 3]] == 0.01).all()
    assert picture.one(Rule, role="guess").y == 0.05
    assert "has an error of at most 0.5% in 3 of 4 directions" in picture.sentence
    assert "and up to 20% in the others" in picture.sentence
    unkept = directions.errors(releases=around([False] * 4, [0.1] * 4), n=1000, epsilon=1.0, guess=0.05)
    assert "counts guarantees no error: no direction has margin 0.25. Its errors are up to 20%." in unkept.sentence
    nowhere = checked(unkept)
    assert nowhere.layout["xaxis"]["range"] == [0, 360]


def test_releases_of_two_clouds_keep_the_promise_where_it_is_made() -> None:
    seen = every_direction(n=1000, gap=0.7, directions=4, epsilon=1.0, seed=1)
    assert seen.promised.any() and not seen.promised.all()
    assert seen.worst <= seen.bound < seen.beyond
    assert (
        "Orange: guaranteed error, for directions with the margin."
        in sound(directions.errors(releases=seen, n=1000, epsilon=1.0, guess=0.0001)).caption
    )
    crowded = every_direction(n=1000, gap=0.0, directions=4, epsilon=1.0, seed=1)
    empty = directions.errors(releases=crowded, n=1000, epsilon=1.0, guess=0.05)
    assert not crowded.promised.any() and np.isnan(crowded.worst)
    assert "guarantees no error: no direction has margin 0.383. " in empty.sentence
    assert "No direction has the margin: no error is guaranteed." in empty.caption


@pytest.mark.slow
def test_distortions_stand_below_the_promise_and_the_promise_to_the_right_of_the_rows_dimensions() -> None:
    seen = finish(distortions(vectors_of("digits").dataset().records, chance=0.05, seed=1))
    picture = sound(directions.moved(distortion=seen))
    claim, dots = picture.one(Curve, role="theory"), picture.one(Dots, role="released")
    claimed, worst = numbers(claim.y), numbers(dots.y)
    told = np.isfinite(claimed)
    assert numbers(claim.x)[told].min() > seen.before and (worst[told] < claimed[told]).all()
    assert picture.one(Rule, role="ink").x == seen.before == 64
    assert not np.isfinite(claimed_distortion(seen.starts - 1, chance=0.05)) and seen.starts == 240
    assert np.isfinite(claimed_distortion(seen.starts, chance=0.05))
    assert "Below T = 240 the theorem guarantees nothing." in picture.sentence


@pytest.mark.parametrize("guess", [1, 3, 50])
@pytest.mark.parametrize("histogram", [line_example(), grid_example(8000)], ids=["line", "grid"])
def test_losses_have_the_guess_where_the_private_loss_divided_by_it_is(histogram: np.ndarray, guess: float) -> None:
    found = simulate(histogram, epsilon=0.1, gamma=0.1, condition="paper", seed=1, times=20)
    picture = sparse.losses_guessed(simulations=found, guess=guess)
    checked(picture)
    assert picture.one(Rule, role="guess").x == pytest.approx(found.private_loss.mean() / guess)


def test_the_histograms_stand_in_one_picture_around_the_full_cells() -> None:
    found = simulate(grid_example(8000), epsilon=1.0, gamma=0.1, condition="paper", seed=1, times=2)
    picture = sparse.histograms(simulations=found)
    checked(picture)
    bars = picture.one(Bars, role="true")
    assert numbers(bars.value).sum() == 8000 / 16 * 4 * round(len(numbers(bars.start)) / 20)
    random = numbers(picture.one(Dots, name=RANDOM).y)
    assert (random[numbers(bars.value) == 0] == 0).all()
    assert (numbers(picture.one(Dots, name=PRIVATE).y)[numbers(bars.value) == 0] > 0).any()


def test_the_degree_that_is_told_is_the_first_dot_below_what_is_allowed() -> None:
    found = degrees(attributes=64, width=12)
    picture = polynomials.biases(degrees=found, bias=0.1, guess=12)
    checked(picture)
    dots = picture.one(Dots, role=polynomials.MECHANISM)
    below = numbers(dots.x)[numbers(dots.y) <= 0.1]
    assert below.min() == found.needed(0.1) == 5 and "degree 5 is enough" in picture.sentence
    assert picture.one(Rule, role="guess").x == 12
    step = sound(polynomials.step(polynomial=best_polynomial(width=12, degree=5)))
    wanted, counted = (numbers(step.one(Dots, role=role).y) for role in ("true", polynomials.MECHANISM))
    assert np.abs(wanted - counted).max() == pytest.approx(found.least[4])


def test_the_exact_degree_is_near_with_rows_enough_and_where_the_papers_never_is_it_is_said() -> None:
    found = degrees(attributes=64, width=6)
    assert found.needed(0.01) == 6 and found.least[5] == 0 < 0.01 < found.printed.min()
    assert found.needed(0.01, printed=True) == 0
    sentence = polynomials.biases(degrees=found, bias=0.01, guess=6).sentence
    assert "degree 6 is enough, and the paper's polynomial never is; you guessed 6" in sentence
    rows = np.array([10**7, 10**8, 10**10])
    errors = predicted_errors(attributes=64, width=6, epsilon=1.0, delta=1e-6, rows=rows).polynomial
    # All marginals add up to the answers: what is left is noise, which falls as 1/n.
    assert errors[0] > 0.01 > errors[1] == pytest.approx(100 * errors[2])


def test_noise_in_every_answer_is_the_dashed_line_that_wins_with_many_rows() -> None:
    found = predicted_errors(
        attributes=64, width=12, epsilon=1.0, delta=1e-6, rows=np.array([1000, 10**6, 10**8, 10**10])
    )
    picture = polynomials.against_rows(errors=found, width=12, attributes=64)
    checked(picture)
    by, direct = (numbers(picture.one(Curve, role=role).y) for role in (polynomials.MECHANISM, polynomials.DIRECT))
    assert by[1] < direct[1] == 0.5 and direct[-1] < by[-1] and "1,000,000 to 100,000,000" in picture.sentence
    assert picture.sentence.endswith("; beyond, noise in every answer has.")


@pytest.mark.parametrize(
    ("last", "says"), [(10**6, "from 1,000,000 to 1,000,000"), (1000, "at no tried number of rows do")]
)
def test_nothing_is_said_of_more_rows_than_were_tried(last: int, says: str) -> None:
    rows = np.array([1000, last])
    found = predicted_errors(attributes=64, width=12, epsilon=1.0, delta=1e-6, rows=rows)
    sentence = polynomials.against_rows(errors=found, width=12, attributes=64).sentence
    assert says in sentence and "beyond" not in sentence


def test_after_the_projection_the_loss_on_few_full_cells_grows_like_a_logarithm() -> None:
    few, many = widened(epsilon=1.0, n=10_000)
    assert WIDE[1] // WIDE[0] == 256 and 2 < many / few < 8
