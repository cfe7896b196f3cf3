"""The possible/impossible map: what was seen, promised and proved impossible, each in its role and at its place."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from dpcore.core import Bound, BoundKind, Floats
from dplab.measure import ErrorReport
from pages.charts.picture import Dots, Picture, Region, Rule, Words, numbers
from pages.charts.words import percent, percent_down, percent_up
from pages.charts.worst import DOTS, TrialNouns, typical_failure, worst_error, worst_map
from tests.pages.reports import SETTINGS, check, reported

LOWER = Bound(value=0.01, kind=BoundKind.LOWER, statement="", reference="")


@pytest.fixture(scope="module")
def report() -> ErrorReport:
    return reported(*SETTINGS[0])[1]


def with_worst(report: ErrorReport, **changes: Any) -> Picture:
    picture = worst_error(report=dataclasses.replace(report, **changes), lower=LOWER)
    check(picture)
    return picture


def test_the_sentence_says_the_report_s_numbers(report: ErrorReport) -> None:
    sentence = with_worst(report).sentence
    level, beyond = typical_failure(report.answered)
    assert 100 * (report.answered > level).mean() == beyond and 15 <= beyond <= 16
    assert f"about {beyond:.0f} in 100 releases have an error above {100 * level:.3g}%" in sentence
    assert sentence.startswith(report.guarantee.sentence())
    low, high = report.failure_interval
    assert (
        f"{report.failures:,} of {len(report.answered):,}. "
        f"With 95% confidence that is {percent(low)} to {percent(high)}; " in sentence
    )
    assert percent_up(report.bound.value) in sentence and percent(LOWER.value) in sentence


def test_fifty_dots_are_what_was_seen_and_say_how_many_are_beyond(report: ErrorReport) -> None:
    picture = with_worst(report)
    dots = picture.one(Dots)
    assert dots.role == "released" and len(numbers(dots.x)) == DOTS and sum(dots.hollow) == 8
    quantiles = np.quantile(report.answered, (np.arange(DOTS) + 0.5) / DOTS)
    assert numbers(dots.x) == pytest.approx(quantiles, abs=np.ptp(quantiles) / 10)
    assert np.diff(numbers(dots.x)).min() >= 0
    assert picture.y.high is not None and numbers(dots.y).max() < picture.y.high
    assert picture.x.rows == report.problem.n


def test_the_promise_is_theory_and_the_wall_is_hatched(report: ErrorReport) -> None:
    picture = with_worst(report)
    promise, edge = picture.one(Rule, role="theory"), picture.one(Rule, role="impossible")
    assert (promise.x, promise.dash, promise.name) == (report.bound.value, "solid", "guaranteed")
    hatched = picture.one(Region, role="impossible")
    assert edge.x == LOWER.value and hatched.x == (picture.x.low, LOWER.value)


def test_a_promise_is_on_the_axis_however_far_and_says_when_it_is_vacuous(report: ErrorReport) -> None:
    picture = with_worst(report, bound=dataclasses.replace(report.bound, value=40.0, rows_needed=123_456))
    promise = picture.one(Rule, role="theory")
    assert promise.x == 40 < (picture.x.high or 0)
    assert (promise.name, promise.label, promise.dash) == ("no guarantee", "no guarantee", "dash")
    assert "guaranteed" not in str(check(picture).layout["annotations"]), "nor a number that reads as one"
    assert not picture.find(Words, role="vacuous"), "the line is called so, and its area not again"
    assert picture.one(Region, role="vacuous").x == (1.0, picture.x.high)
    assert "no guarantee: the bound is 100% of n or more" in picture.sentence and "123,456" in picture.sentence
    order = dataclasses.replace(report.bound, value=math.inf, kind=BoundKind.ORDER_ONLY)
    picture = with_worst(report, bound=order)
    assert not picture.find(Rule, role="theory") and "no bound on the error is proved" in picture.sentence
    assert with_worst(report, bound=dataclasses.replace(order, value=0.2)).one(Rule, role="theory").dash == "dash"


def test_errors_that_are_all_equal_all_zero_or_one_are_pictures_too(report: ErrorReport) -> None:
    for worst in (np.full(200, 0.3), np.zeros(200), np.repeat([0.0, 0.1], 100), np.repeat([0.0, 0.1], [199, 1])):
        assert len(numbers(with_worst(report, worst=worst).one(Dots).x)) == DOTS
    assert "every release has an error of 30%" in with_worst(report, worst=np.full(200, 0.3)).sentence
    tied = with_worst(report, worst=np.repeat([0.1, 0.2], [20, 180]))
    assert (
        "about 90 in 100 releases have an error of 20% (600 of 3,000 rows) on their worst query, none by more"
        in tied.sentence
    )
    assert "○ ≈ 90 in 100: error 20%" in [words.text for words in tied.find(Words)]
    assert "about 50 in 100" in with_worst(report, worst=np.repeat([0.0, 0.1], 100)).sentence
    assert "about 0.5 in 100" in with_worst(report, worst=np.repeat([0.0, 0.1], [199, 1])).sentence
    assert typical_failure(np.array([0.25])) == (0.25, 0.0)


def test_refusals_are_counted_apart() -> None:
    _, report = reported(*SETTINGS[0], trials=10)
    refused = np.arange(10) < 4
    picture = with_worst(report, refused=refused, worst=np.where(refused, np.nan, report.worst))
    assert "4 of 10 gave no answer" in picture.sentence
    assert "⊥ 4 of 10 gave no answer" in [words.text for words in picture.find(Words)]


def test_every_page_calls_its_runs_by_their_name(report: ErrorReport) -> None:
    def drawn(worst: Floats) -> Picture:
        called = TrialNouns(run="conversation", query="query", over="all that was asked")
        picture = worst_map(
            worst=worst,
            n=report.problem.n,
            guarantee=report.guarantee,
            promised=report.bound,
            lower=LOWER,
            nouns=called,
        )
        check(picture)
        return picture

    picture = drawn(report.worst)
    assert "in 100 conversations have an error above" in picture.sentence and "on their worst query" in picture.sentence
    assert next(iter(picture.table)) == "conversations out of 100"
    assert "all that was asked" in picture.x.title
    assert "releases" not in str(check(picture).data) + picture.sentence
    assert drawn(np.full(3, np.nan)).sentence == "Every previewed conversation gave no answer (⊥)."


def test_the_wall_is_named_where_there_is_room_and_never_by_a_sliver(report: ErrorReport) -> None:
    for value, inside in ((1e-6, False), (0.02, False), (0.15, True)):
        picture = worst_error(report=report, lower=dataclasses.replace(LOWER, value=value))
        check(picture)
        edge = picture.one(Rule, role="impossible")
        assert (edge.side == "left") is inside and edge.label.endswith(f"impossible below {percent_down(value)}")
        assert edge.label.startswith("←") is not inside
        assert ("one data set the error may be smaller, as here" in picture.sentence) is bool(
            np.quantile(report.answered, 1 - report.bound.beta) < value
        )


@pytest.mark.parametrize(("wall", "better"), [(1e-6, False), (0.999, True)])
def test_only_where_most_errors_are_below_the_wall_does_one_data_set_do_better(
    report: ErrorReport, wall: float, better: bool
) -> None:
    below = bool(np.quantile(report.answered, 1 - report.bound.beta) < wall)
    assert below == better
    picture = worst_error(report=report, lower=dataclasses.replace(LOWER, value=wall))
    assert ("on all data; on one data set the error may be smaller, as here" in picture.sentence) == below
