"""What a lesson says at every setting of its controls, and after its button to break it."""

from __future__ import annotations

import math
import re
from typing import NoReturn

import numpy as np
import pytest

from dpcore.data.sources import Source
from dpcore.limits.attacks import subset_sum
from dpcore.limits.attacks.curator import BoundedNoise, PrivateNoise
from dpcore.limits.bounds import distributional, minimax, net_samples
from dpcore.mechanisms.halfspaces.printed import printed
from dpcore.randomness import Preview
from dplab.limits import subset_sums
from dplab.limits.directions import every_direction
from dplab.limits.few_counts import best_polynomial
from pages.charts.words import percent, significant
from pages.learn.polynomials.lesson import VIEWS
from pages.learn.subset.lesson import secret_bits
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.learn.test_lessons import lesson
from tests.pages.opening import sound, texts


def test_a_lone_row_is_proof_only_where_empty_cells_stay_empty() -> None:
    """With noise in every cell no release may show a taken cell by luck alone, as with this seed."""
    lucky = lesson("sparse-data", **{"sparse-data-epsilon": "10", "sparse-data-gamma": "0.001", "limits-seed": "4"})
    assert "a count there proves it" not in texts(lucky)
    assert "a count there proves it" in texts(lesson("sparse-data"))


@pytest.mark.parametrize("n", ["1000", "3000", "10000"])
def test_without_a_gap_nothing_is_promised_of_any_direction(n: str) -> None:
    app = lesson("directions", **{"directions-rows": n, "directions-measured": "64"})
    assert "Without a gap, no error is guaranteed." in texts(app)
    (button,) = (each for each in app.button if each.label == "No gap, 4 directions")
    assert "so no error is guaranteed: answers have an error of up to **" in texts(sound(button.click().run()))


def test_many_measured_directions_have_a_margin_even_without_a_gap() -> None:
    """So the button sets their number, too."""
    assert every_direction(n=1000, gap=0.0, directions=64, epsilon=1.0, seed=1).promised.any()


def test_bounds_of_a_lone_row_are_rounded_up() -> None:
    words = texts(lesson("random", **{"random-rows": "1000"}))
    assert "The sharper bound, for the worst population, is 0.0177. " in words, "the bound is 0.017649"


def test_the_lesson_on_polynomials_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither noise nor rows: its badges say so, and each of its pictures opens where no draw is possible."""

    def drawn_after_all(*_: object, **__: object) -> NoReturn:
        raise AssertionError("Something is drawn.")

    for owner, name in ((Preview, "draw"), (Source, "dataset"), (np.random, "default_rng"), (np.random, "SFC64")):
        monkeypatch.setattr(owner, name, drawn_after_all)
    for view in VIEWS:
        (chart,) = drawn(lesson("polynomials", **{"polynomials-picture": view})).values()
        assert "theory: public numbers only, nothing sampled" in chart["layout"]["title"]["text"].replace("<br>", " ")


def numbers_after(words: str, text: str) -> list[float]:
    """Each number that stands after these words (a regular expression), as a share where a percent sign follows."""
    matches = re.findall(rf"{words}(?:\*\*)?([\d,]*\.?\d+(?:e-\d+)?)(%?)", text)
    return [float(number.replace(",", "")) / (100 if sign else 1) for number, sign in matches]


def all_just_above(printed: list[float], exact: float) -> bool:
    """Whether each is no less than the exact number, by no more than three digits can say."""
    return bool(printed) and all(exact <= each <= 1.01 * exact for each in printed)


def all_just_below(printed: list[float], exact: float) -> bool:
    """The same from below."""
    return bool(printed) and all(0.99 * exact <= each <= exact for each in printed)


@pytest.mark.parametrize(("epsilon", "measured"), [("1", 4), ("7", 8), ("0.36", 64)])
def test_bounds_of_directions_are_rounded_to_the_side_where_they_hold(epsilon: str, measured: int) -> None:
    words = texts(lesson("directions", **{"directions-epsilon": epsilon, "directions-measured": str(measured)}))
    seen = every_direction(n=10_000, gap=0.7, directions=measured, epsilon=float(epsilon), seed=1)
    assert all_just_above(numbers_after("α = ", words), seen.bound)
    assert all_just_above(numbers_after("margin γ = ", words), seen.margin)
    assert all_just_above(numbers_after("Only rows within ", words), seen.margin)
    assert all_just_above(
        numbers_after(r"up to \*\*", words.partition("; other directions have an error of ")[2]), seen.beyond
    )
    sentence = words[words.index("that have margin") - 80 :]
    assert all_just_above(numbers_after("has an error of at most ", sentence)[:1], seen.worst)
    assert all_just_below(numbers_after("that have margin ", sentence), seen.margin)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.0])
def test_what_nobody_can_do_is_rounded_to_the_side_where_it_holds(epsilon: float) -> None:
    words = texts(lesson("histogram", **{"histogram-epsilon": str(epsilon)}))
    error = minimax.geometric_risk(cells=64, rows=1000, epsilon=epsilon)
    best = minimax.best_pairs(cells=64, rows=1000, epsilon=epsilon).risk
    assert all_just_below(numbers_after("every private method has at least ", words), best)
    assert all_just_above(
        numbers_after("a factor of at most ", words) + numbers_after("so the factor is at most ", words), error / best
    )
    words = texts(lesson("subset", **{"subset-epsilon": str(epsilon)}))
    masks = subset_sum.random_groups(Preview(2), people=200, groups=1000)
    forced = 200 * subset_sum.error_bound(masks, epsilon=epsilon, beta=0.05).value
    assert all_just_below(numbers_after("no private mechanism can guarantee errors below ", words), forced)


@pytest.mark.parametrize("epsilon", ["0.02", "0.05", "0.2"])
def test_losses_of_samples_are_rounded_to_the_side_where_they_hold(epsilon: str) -> None:
    words = texts(lesson("population", **{"population-epsilon": epsilon}))
    pairs = net_samples.draw_pairs(rows=10_000, points=8, pairs=60, seed=1)
    middle, most = float(np.median(pairs.losses(float(epsilon)))), pairs.max_epsilon(loss=1.0, beta=0.05)
    least = distributional.separation(n=10_000, epsilon=float(epsilon)).beta(1.0)
    assert all_just_below(numbers_after("needs a β of at least ", words), least)
    assert all_just_below(numbers_after(r"its loss is \*\*at least ", words), middle)
    assert all_just_below(numbers_after("has a loss of ", words), middle)
    assert all_just_below(numbers_after("Measured: at most ", words), most)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_what_no_attack_finds_of_private_counts_is_the_chance_of_randomised_response(epsilon: str) -> None:
    words = texts(lesson("attack-me", **{"attack-me-epsilon": epsilon}))
    said = rf"From private counts at ε = {epsilon}, no attacker finds more than ([\d.]+)% of answers that are fair coin"
    (most,) = {float(each) / 100 for each in re.findall(said, words)}
    exact = 1 / (1 + math.exp(-float(epsilon)))
    assert exact <= most <= 1.01 * exact


@pytest.mark.parametrize(("epsilon", "questions"), [("1", 1000), ("10", 200)])
def test_private_answers_have_the_scale_and_lose_the_bits_that_are_told(epsilon: str, questions: int) -> None:
    words = texts(lesson("subset", **{"subset-epsilon": epsilon, "subset-questions": str(questions)}))
    truth, _ = secret_bits("adult.sex", people=200, seed=1)
    masks = subset_sum.random_groups(Preview(2), people=200, groups=questions)
    curator = PrivateNoise(bits=truth, epsilon=float(epsilon), sampler=Preview(5), trials=subset_sums.RUNS)
    share = float(((subset_sum.least_squares(masks, curator(masks)).estimates > 0.5) == truth).mean())
    assert (
        f"To keep all {questions:,} answers private together at ε = {epsilon}, noise needs a scale of "
        f"{round(questions / float(epsilon)):,}. The same attack then finds {percent(share)} of the bits." in words
    )
    # One person is in all groups at most: so many answers change by 1 each.
    answers = BoundedNoise(bits=truth, error=0, sampler=Preview(1))
    changed = BoundedNoise(bits=np.r_[~truth[:1], truth[1:]], error=0, sampler=Preview(1))
    moved = np.abs(answers(masks) - changed(masks))
    assert moved.max() == 1 and moved.sum() == masks[:, 0].sum() <= questions


@pytest.mark.parametrize(("width", "bias"), [(12, "0.1"), (6, "0.01")])
def test_counts_and_questions_of_polynomials_are_binomial_coefficients(width: int, bias: str) -> None:
    words = texts(lesson("polynomials", **{"polynomials-width": str(width), "polynomials-bias": bias}))
    match = searched(rf"Degree \*\*(\d+)\*\* of {width} is enough\. ", words)
    degree = int(match[1])
    counts, asked = sum(math.comb(64, level) for level in range(1, degree + 1)), math.comb(64, width)
    assert (
        f"{significant(counts)} noisy counts of at most {degree} attributes answer {significant(asked)} queries, "
        f"**{significant(asked / counts)}** times as many" in words
    )
    assert f"C(d, 1) + … + C(d, t) = {significant(counts)} counts" in words
    # That degree is enough and one less is not, by the linear program over all polynomials.
    near = [best_polynomial(width=width, degree=each).gamma for each in (degree - 1, degree)]
    assert near[1] <= float(bias) + 1e-9 < near[0]


def test_the_paper_s_parameters_for_halfspaces_are_told_as_they_are() -> None:
    words = texts(lesson("directions", **{"directions-picture": "Fewer dimensions"}))
    told = printed(margin=0.5, alpha=0.1, dimensions=64, beta=0.05, epsilon=1.0)
    assert "The halfspace release needs ς = γ/4." in words and told.dimensions == math.ceil(20 * 64 * math.log(80))
    assert f"At γ = 0.5, α = 0.1 and d = 64 that is T = {told.dimensions:,}. A net in so many" in words
    assert f"has $10^{{{told.log10_directions:,.0f}}}$ directions." in words
    starts = math.ceil(80 * math.log(20))  # ς = 1/2 and τ = 0.05
    assert f"The theorem guarantees nothing below T = **{starts}**, which is more than the rows had." in words
    assert starts > 64
