"""Pictures of conversations: every question is in them, refusals too; sentences carry the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore import Cells, Labels, Number, Preview, Problem, Thresholds
from dpcore.mechanisms import entry
from dpcore.mechanisms.online.conversation import Transcript
from pages.charts.picture import Curve, Dots, Region, Rule, numbers
from pages.conversation.charts import STYLES, answers_over_time, belief, errors_over_time
from tests.kit.problems import dataset_of
from tests.pages.picture_checks import whole

N = 2_000


def conversation(queries: Any, **values: Any) -> tuple[Transcript, np.ndarray]:
    """Thirty questions about lopsided data, and the true answers."""
    problem = Problem(domain=queries.domain, queries=queries, n=N)
    dataset = dataset_of(problem, np.minimum(np.arange(N) % 7, queries.domain.size - 1))
    mechanism = entry("weights").make(**{"questions": 30, "alpha": 0.2, "epsilon": 5.0, **values})
    transcript = mechanism.run(mechanism.prepare(dataset, problem), Preview(3))
    assert isinstance(transcript, Transcript)
    return transcript, transcript.truth(dataset.histogram)[0]


@pytest.mark.parametrize("updates", [1, 20])
@pytest.mark.parametrize("queries", [Thresholds(domain=Number(bits=4)), Cells(domain=Labels(labels=("<b>", "b")))])
def test_every_question_is_drawn_and_counted(queries: Any, updates: int) -> None:
    transcript, truth = conversation(queries, updates=updates)
    kinds = {"free": transcript.free[0], "paid": transcript.paid[0], "refused": transcript.declined[0]}
    answers, errors = transcript.rows[0] / N, transcript.rows[0] / N - truth
    pictures = {
        "said": whole(answers_over_time(transcript, truth=truth)),
        "wrong": whole(errors_over_time(transcript, truth=truth, promise=9)),
    }
    for name, picture in pictures.items():
        assert picture.y.rows == N and picture.y.form == ".3~p"
        assert (picture.x.low, picture.x.high) == (0, 31), "whether answered or not"
        assert picture.table["question"] == list(range(1, 31)) and len(picture.table["asked"]) == 30
        assert all(len(column) == 30 for column in picture.table.values())
        assert [answer is None for answer in picture.table["answer"]] == kinds["refused"].tolist()
        for kind, chosen in kinds.items():
            assert picture.table["kind"].count(kind) == chosen.sum()
            if not chosen.any() or (name, kind) == ("wrong", "refused"):
                assert not picture.find(Dots, name=kind)
                continue
            role, shape = STYLES[kind]
            dots = picture.one(Dots, role=role, name=kind)
            assert dots.shape == shape and numbers(dots.x).tolist() == (np.flatnonzero(chosen) + 1).tolist()
            heights = 0 * truth if kind == "refused" else answers if name == "said" else errors
            np.testing.assert_allclose(numbers(dots.y), heights[chosen])
            assert dots.hover is not None and len(dots.hover) == chosen.sum()
            assert all(f": {kind}; guess" in text and "of 2,000 rows" in text for text in dots.hover)
    true = pictures["said"].one(Dots, role="true")
    np.testing.assert_array_equal(true.y, truth)
    links = numbers(pictures["said"].one(Curve, role="quiet").y).reshape(-1, 3)
    np.testing.assert_array_equal(links[:, 0], truth)
    np.testing.assert_array_equal(links[:, 1], np.where(kinds["refused"], np.nan, answers))
    told = pictures["said"].sentence
    assert told.startswith(f"30 queries: {transcript.free.sum()} free, {transcript.paid.sum()} paid")
    assert (f"{transcript.declined.sum()} refused" in told) == bool(transcript.declined.any())


def test_the_worst_error_is_told_and_the_band_is_the_promise() -> None:
    transcript, truth = conversation(Thresholds(domain=Number(bits=4)), updates=20)
    picture = errors_over_time(transcript, truth=truth, promise=0.07)
    worst = np.abs(transcript.rows[0] / N - truth).max()
    assert picture.sentence == (
        f"The largest error so far is {100 * worst:.3g}% (≈ {worst * N:,.0f} of 2,000 rows). "
        "The guaranteed error is 7%."
    )
    assert picture.one(Region, role="theory").y == (-0.07, 0.07)
    assert [rule.y for rule in picture.find(Rule, role="theory")] == [0.07, -0.07]
    assert picture.find(Rule)[0].label == "guaranteed: at most 7%"


def test_a_vacuous_promise_does_not_press_the_errors_flat() -> None:
    transcript, truth = conversation(Thresholds(domain=Number(bits=4)))
    for promise in (690.0, float("inf")):
        picture = whole(errors_over_time(transcript, truth=truth, promise=promise))
        assert picture.one(Region, role="vacuous").y == (-1.0, 1.0)
        assert picture.find(Rule)[0].label == "no guarantee" and not picture.find(Rule, role="theory")
        assert picture.sentence.endswith(". No error is guaranteed.")


def test_beliefs_beside_the_truth() -> None:
    believed, truth = np.array([0.1, 0.5, 0.9]), np.array([0.1, 0.3, 0.95])
    places: list[Any] = [np.array([1.0, 2.0, 3.0]), ["<b>", "b", "c"]]
    kind: type[Curve] | type[Dots]
    for place, kind in zip(places, (Curve, Dots), strict=True):
        labels = isinstance(place, list)
        picture = whole(belief(places=place, believed=believed, truth=truth, far=0.1, title="age", unit="years", n=N))
        shares, along = (picture.x, picture.y) if labels else (picture.y, picture.x)
        assert picture.table == {"age": list(place), "believed": [0.1, 0.5, 0.9], "true": [0.1, 0.3, 0.95]}
        for role, values in (("true", truth), ("released", believed)):
            mark = picture.one(kind, role=role)
            np.testing.assert_array_equal(mark.x if labels else mark.y, values)
            np.testing.assert_array_equal(mark.y if labels else mark.x, [0, 1, 2] if labels else place)
        assert along.title == "age (years)" and shares.rows == N
        assert along.labels == (("<b>", "b", "c") if labels else ())
        assert "these 3 queries were asked now, 2 guesses would have an error below 10%" in picture.sentence
        assert picture.sentence.endswith("The largest error would be 20%.")
