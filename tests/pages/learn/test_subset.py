"""The lesson on subset sums: who is wrong is crossed, shares at their noise, and the attacks behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import ParameterError
from dpcore.limits.attacks import subset_sum
from dpcore.randomness import Preview, PublicCoins
from dplab.limits import subset_sums
from pages.charts.axes import axis_range
from pages.charts.picture import Curve, Dots, Rule, numbers
from pages.charts.plotly import render
from pages.learn.subset import figure
from pages.learn.subset.lesson import secret_bits
from pages.learn.subset.own_data import sampled_bits
from tests.kit import in_blocks
from tests.pages.drawn_charts import drawn
from tests.pages.label_overlap import on_dots
from tests.pages.learn.test_lessons import lesson
from tests.pages.lessons import interval, sound
from tests.pages.opening import SUBSET_SUMS, texts, visitor
from tests.pages.opening import sound as sound_page
from tests.pages.uploads import uploaded

SEEN = subset_sums.RecoveredShares(
    errors=np.array([0.0, 5.0, 30.0]),
    by_noise=np.array([[1.0, 1.0], [0.8, 0.9], [0.2, 0.6]]),
    levels=np.array([0.0, 10.0, 30.0]),
    proved=np.array([1.0, 0.2, 0.0]),
    questions=np.array([5.0, 50.0, 500.0]),
    by_questions=np.array([[0.5, 0.5], [0.7, 0.7], [1.0, 0.9]]),
)


def test_who_is_wrong_after_rounding_is_crossed() -> None:
    truth, estimates = np.array([True, False, True, False]), np.array([0.9, 0.8, 7.0, -0.2])
    shown = sound(figure.bits(truth=truth, estimates=estimates, words=("no", "yes")))
    yes, no = shown.one(Dots, name="yes"), shown.one(Dots, name="no")
    assert (numbers(yes.x).tolist(), numbers(yes.y).tolist()) == ([0, 2], [0.9, 7.0])
    assert (numbers(no.x).tolist(), numbers(no.y).tolist()) == ([1, 3], [0.8, -0.2])
    assert yes.role != no.role
    wrong = shown.one(Dots, role="ink")
    assert (numbers(wrong.x).tolist(), numbers(wrong.y).tolist()) == ([1], [0.8]) and wrong.shape.startswith("x")
    assert wrong.hover is not None and wrong.hover[0] == "person 1 is no; estimated 0.8, wrong"
    assert shown.one(Rule).y == 0.5 and "75% of 4" in shown.sentence
    assert shown.table["is"] == ["yes", "no", "yes", "no"] and shown.table["estimate"] == [0.9, 0.8, 7.0, -0.2]


def test_a_bit_between_two_others_has_its_own_number_on_the_axis() -> None:
    near = figure.bits(truth=np.array([True, False]), estimates=np.array([0.9, 0.1]), words=("no", "yes"))
    assert near.y.ticks == (0, 0.5, 1) and near.y.form == "~g"


def test_people_who_are_not_drawn_are_counted() -> None:
    truth = np.arange(100) % 2 == 0
    shown = sound(figure.bits(truth=truth, estimates=truth * 1.0, words=("no", "yes")))
    assert sum(len(numbers(dots.x)) for dots in shown.find(Dots)) == figure.SHOWN
    assert shown.sentence.endswith("; the first 60 of 100 are shown.") and len(shown.table["person"]) == 100


def test_shares_stand_at_their_noise_and_questions() -> None:
    shown = sound(figure.by_noise(shares=SEEN, people=100, error=5, forced=2.0, blind=0.55, guess=0.1))
    dots, proved = shown.one(Dots, role="released"), shown.one(Curve, role="theory")
    np.testing.assert_allclose(numbers(dots.x), [0, 0.5, 3])  # in units of √n
    np.testing.assert_allclose(numbers(dots.y), [1, 0.85, 0.4])
    np.testing.assert_allclose(numbers(proved.x), [0, 1, 3])
    np.testing.assert_allclose(numbers(proved.y), [1, 0.2, 0])
    assert shown.one(Rule, role="guess").y == 0.1
    blind = shown.one(Curve, role="quiet")
    assert numbers(blind.y).tolist() == [0.55, 0.55] and blind.name == "common bit: 55%"
    here = shown.one(Rule, role="ink")
    assert here.x == 0.5 and here.label == "±5, 0.5 √n"
    # Laid along the edge, "at least 0%" would read as more: the whole scale of shares is drawn.
    low, high = axis_range(shown.y, shown.marks, across=False)
    assert low <= 0 and high >= 1
    np.testing.assert_array_equal(interval(dots), np.array([[1.0, 0.8, 0.2], [1.0, 0.9, 0.6]]))
    assert shown.sentence.endswith("Bars show the range of all 2 runs.")
    assert "finds 85% of the bits (you guessed 10%)" in shown.sentence and "errors below 2 people" in shown.sentence
    few = sound(figure.by_questions(shares=SEEN, people=100, error=5, question_count=500))
    asked = few.one(Dots, role="released")
    assert (numbers(asked.x).tolist(), few.x.log) == ([5, 50, 500], True)
    assert few.one(Rule, role="quiet").x == 100 and few.one(Rule, role="ink").x == 500
    assert "5 queries reveal 50% of the bits and 500 reveal 95%." in few.sentence


@pytest.mark.parametrize("blind", [0.4, 0.5, 0.55, 0.67, 0.75, 0.8, 0.85, 0.95])
def test_no_words_hide_a_dot_wherever_the_more_common_bit_lies(blind: float) -> None:
    """Its name stood on its line, and covered a dot on one side or the other of it."""
    by_noise = figure.by_noise(shares=SEEN, people=100, error=30, blind=blind)
    by_questions = figure.by_questions(shares=SEEN, people=100, error=5, question_count=500, blind=blind)
    for shown in (by_noise, by_questions):
        hidden = [each for each in on_dots(shown, render(shown, badge="", dark=False)) if "common" in each]
        assert not hidden, hidden
        low, high = axis_range(shown.x, shown.marks, across=True)
        assert numbers(shown.one(Curve, role="quiet").x).tolist() == [low, high]


@pytest.mark.parametrize("people", [3, 1000])
def test_as_many_questions_as_people_is_a_place_in_the_picture(people: int) -> None:
    shown = sound(figure.by_questions(shares=SEEN, people=people, error=5, question_count=500))
    low, high = axis_range(shown.x, shown.marks, across=True)
    assert low < people < high


@pytest.mark.parametrize(
    ("people", "error", "said"), [(100, 5, True), (500, 5, True), (501, 5, False), (100, 0, False)]
)
def test_least_squares_fits_noise_only_where_there_is_noise_and_questions_for_all(
    people: int, error: int, said: bool
) -> None:
    assert (
        "fits the noise" in figure.by_questions(shares=SEEN, people=people, error=error, question_count=500).caption
    ) is said


def test_no_measured_share_is_below_what_is_proved(seed: int) -> None:
    sampler = Preview(seed)
    truth = sampler.draw(PublicCoins(2, columns=60), 1)[0] == 1
    masks = subset_sum.random_groups(sampler, people=60, groups=1500)
    seen, _ = in_blocks(subset_sums.sweep(masks, truth, error=1, seed=seed))
    assert seen.errors[:2].tolist() == [0, 1] and (seen.by_noise[0] == 1).all()
    assert seen.by_noise.shape == (len(seen.errors), subset_sums.RUNS)
    assert seen.by_questions.shape == (len(seen.questions), subset_sums.RUNS) and seen.questions[-1] == 1500
    assert seen.proved[0] == 1 and (np.diff(seen.proved) <= 0).all() and seen.levels[-1] == seen.errors[-1]
    proved = 1 - subset_sum.max_wrong_bits(masks, error=seen.errors) / 60
    assert 0 < proved[1] < 1 and (seen.by_noise.min(axis=1) >= proved).all()
    assert seen.by_noise[-1].max() < 1  # at three times √n bits are lost, with all questions as with few
    loud, _ = in_blocks(subset_sums.sweep(masks, truth, error=int(seen.errors[-1]), seed=seed))
    assert loud.by_questions.max() < 1 and seen.by_questions[-1].min() == 1
    # Between whole noises, too: what is drawn is the bound at that noise.
    level = int(np.flatnonzero((seen.proved > 0) & (seen.proved < 1))[0])
    assert seen.proved[level] == 1 - subset_sum.max_wrong_bits(masks, error=seen.levels[level]) / 60


@pytest.mark.parametrize("method", ["squares", "largest", "sum"])
def test_without_noise_every_attack_finds_every_bit(method: str, seed: int) -> None:
    sampler = Preview(seed)
    truth = sampler.draw(PublicCoins(2, columns=20), 1)[0] == 1
    masks = subset_sum.random_groups(sampler, people=20, groups=100)
    guess, _ = in_blocks(subset_sums.attack(masks, truth, error=0, method=method, seed=seed))
    assert guess.groups == 100 and guess.done == 1 and (guess.bits[0] == truth).all()
    loud = subset_sums.private_share(masks, truth, epsilon=0.1, seed=seed)
    assert loud < subset_sums.private_share(masks, truth, epsilon=1e4, seed=seed) == 1


@pytest.mark.parametrize("words", [("no", "yes"), ("Male", "Female")])
def test_the_caption_names_what_a_bit_of_1_means(words: tuple[str, str]) -> None:
    shown = figure.bits(truth=np.array([True, False]), estimates=np.array([0.9, 0.1]), words=words)
    assert shown.caption == f"A bit of 1 means “{words[1]}”." and shown.table["is"] == [words[1], words[0]]


def test_with_as_many_questions_as_people_least_squares_fits_the_noise_and_magnifies_it_most() -> None:
    told = "Least squares amplifies noise most if there are as many queries as people."
    assert told in texts(lesson("subset"))
    caption = figure.by_questions(shares=SEEN, people=100, error=5, question_count=500).caption
    assert caption == "With as many queries as people, least squares fits the noise."
    people, worst = 60, dict[int, float]()
    truth = np.arange(people) % 2 == 0
    for questions in (15, 30, 60, 120, 600):
        errors = []
        for seed in range(20):
            masks = subset_sum.random_groups(Preview(seed), people=people, groups=questions)
            noise = np.random.default_rng(seed).integers(-5, 6, size=questions)
            answers = (masks @ truth.astype(np.float64) + noise)[None, :]
            estimates = subset_sum.least_squares(masks, answers).estimates[0]
            errors.append(float(np.sqrt(np.mean((estimates - truth) ** 2))))
            left = np.abs(masks @ estimates - answers[0]).max()
            assert left < 1e-6 if questions <= people else left > 1
        worst[questions] = float(np.median(errors))
    assert max(worst, key=lambda questions: worst[questions]) == people


@pytest.mark.parametrize(("error", "said"), [(10, True), (20, False), (40, False)])
def test_attacks_work_where_nothing_is_promised_only_if_all_of_them_beat_the_commoner_bit(
    error: int, said: bool
) -> None:
    """At ±20 their mean is above it, and one of the six below."""
    words = texts(lesson("subset", **{"subset-noise": str(error)}))
    told = (
        "At this noise the theorem guarantees nothing. Still, all 6 least-squares "
        "attacks find more than always guessing the more common bit."
    )
    assert (told in words) is said
    truth, _ = secret_bits("adult.sex", people=200, seed=1)
    masks = subset_sum.random_groups(Preview(2), people=200, groups=1000)
    seen, _ = in_blocks(subset_sums.sweep(masks, truth, error=error, seed=4))
    found = seen.by_noise[seen.errors.tolist().index(error)]
    assert subset_sum.max_wrong_bits(masks, error=np.array([float(error)]))[0] >= 200
    assert len(found) == 6 and bool(found.min() > max(truth.mean(), 1 - truth.mean())) is said


def test_noise_well_beyond_the_root_of_n_hides_many_bits_and_more_questions_take_more() -> None:
    """As the lesson says of 200 people; a bit that is guessed is right half of the time."""
    sampler, people = Preview(5), 200
    truth = np.random.default_rng(5).integers(0, 2, people).astype(bool)

    def share(questions: int, error: int) -> float:
        masks = subset_sum.random_groups(sampler, people=people, groups=questions)
        return float(np.mean([found_by(masks, truth, error, seed) for seed in range(4)]))

    few, many, quiet = share(1000, 40), share(2000, 40), share(1000, 7)
    assert few < 0.7 and quiet > 0.9 and many > few + 0.03


def found_by(masks: Any, truth: Any, error: int, seed: int) -> float:
    found, _ = in_blocks(subset_sums.attack(masks, truth, error=error, method="squares", seed=seed))
    return float(((found.estimates[0] > 0.5) == truth).mean())


def own_column(**link: str) -> AppTest:
    """The attack on the data in use, opened by a link; underscores are hyphens."""
    app = visitor(SUBSET_SUMS)
    for name, value in link.items():
        app.query_params[name.replace("_", "-")] = value
    return sound_page(app.run())


def with_private_bits() -> AppTest:
    """The attack about a private column."""
    app = visitor(SUBSET_SUMS)
    app.session_state["upload"] = uploaded(private=True)
    app.session_state["data"] = "my-file"
    return sound_page(app.run())


def test_values_of_private_rows_are_reconstructed_for_their_owner_alone() -> None:
    app = with_private_bits()
    assert not drawn(app) and "would reveal values of single rows" in app.info[0].value
    assert not [header for header in app.header if "attack finds" in header.value]
    sound_page(app.toggle(key="steward_choice").set_value(True).run())
    assert drawn(app).keys() == {"subset_own_noise_chart", "subset_own_questions_chart"}
    assert not any(chart["download"] for chart in drawn(app).values()) and "not protected: made" in texts(app)


def shares_said(app: AppTest) -> tuple[float, float]:
    """The share that the attack finds and that of a constant guess, in percent, as the header says."""
    (said,) = (header.value for header in app.header if header.value.startswith("The attack finds"))
    found, blind = (part for part in said.split() if part.endswith("%"))
    return float(found[:-1]), float(blind[:-1])


def test_bits_of_the_column_in_use_are_found_at_low_noise_and_at_high_noise_no_better_than_by_a_constant_guess() -> (
    None
):
    """The share is that of the module on the same rows; the more common bit is counted by hand."""
    quiet = own_column(data="adult.sex", subset_own_noise="2")
    found, blind = shares_said(quiet)
    (dataset,) = (value for key, value in quiet.session_state["memory"].items() if key.startswith("dataset|"))
    bits = sampled_bits(dataset.records, first=1, last=1, people=200, seed=1)
    assert found >= 99 and blind == pytest.approx(100 * max(bits.mean(), 1 - bits.mean()), abs=0.06)
    loud, constant = shares_said(own_column(data="adult.sex", subset_own_noise="60", subset_own_questions="200"))
    assert loud <= constant == blind
    assert f"1 for “{dataset.domain.describe(1)}”" in texts(quiet)


def test_private_answers_about_the_column_in_use_do_not_reveal_its_bits() -> None:
    private = texts(own_column(data="adult.sex", subset_own_epsilon="1"))
    assert "need noise of scale 1,000" in private
    share = float(private.partition("The same attack then finds **")[2].partition("%")[0])
    blind = shares_said(own_column(data="adult.sex"))[1]
    assert share <= blind
    loose = texts(own_column(data="adult.sex", subset_own_epsilon="1000"))
    assert float(loose.partition("The same attack then finds **")[2].partition("%")[0]) > max(blind, 95)


def test_a_secret_is_a_category_or_the_upper_part_of_the_range_and_a_row_without_a_value_has_a_0() -> None:
    records = np.array([0, 1, 2, 3, 4])  # of four cells and one of missing values
    generator_order = np.random.Generator(np.random.SFC64(3)).choice(5, 5, replace=False)
    np.testing.assert_array_equal(
        sampled_bits(records, first=2, last=3, people=500, seed=3), np.isin(records[generator_order], (2, 3))
    )
    assert len(sampled_bits(np.arange(10_000), first=0, last=1, people=20, seed=1)) == 20
    with pytest.raises(ParameterError, match="no row to attack"):
        sampled_bits(np.array([], dtype=np.int64), first=0, last=0, people=20, seed=1)
    assert "1 in the range " in texts(own_column(data="bimodal", subset_own_from="25"))
