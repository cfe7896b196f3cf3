"""Pictures of conversations: every question is in them, refusals too; sentences carry the numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dpcore import Categories, Cells, Line, Preview, Problem, Thresholds
from dpcore.figures.ask import said, wrong
from dpcore.figures.ask_belief import belief
from dpcore.figures.figure import Figure
from dpcore.mechanisms import entry
from dpcore.online.conversation import Transcript
from tests.problems import dataset_of

N = 2_000


def conversation(queries: Any, **values: Any) -> tuple[Transcript, np.ndarray]:
    """Thirty questions about lopsided data, and the true answers."""
    problem = Problem(domain=queries.domain, queries=queries, n=N)
    dataset = dataset_of(problem, np.minimum(np.arange(N) % 7, queries.domain.size - 1))
    mechanism = entry("weights").make(**{"questions": 30, "alpha": 0.2, "epsilon": 5.0, **values})
    transcript = mechanism.run(mechanism.prepare(dataset, problem), Preview(3))
    assert isinstance(transcript, Transcript)
    return transcript, queries.answer(dataset.histogram[None], transcript.asked[0])[0] / N


def pictures(transcript: Transcript, truth: np.ndarray, *, dark: bool) -> list[Figure]:
    told: dict[str, Any] = {"transcript": transcript, "truth": truth, "badge": "true: test", "dark": dark}
    return [said(**told), wrong(promise=0.07, **told)]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("updates", [1, 20])
@pytest.mark.parametrize("queries", [Thresholds(domain=Line(bits=4)), Cells(domain=Categories(labels=("<b>", "b")))])
def test_every_question_is_drawn_and_counted(queries: Any, updates: int, dark: bool) -> None:
    transcript, truth = conversation(queries, updates=updates)
    for figure in pictures(transcript, truth, dark=dark):
        json.dumps(figure.spec)
        assert "true: test" in str(figure.spec["title"])
        turns = figure.spec["datasets"]["turns"]
        assert [turn["turn"] for turn in turns] == list(range(1, 31))
        kinds = [turn["kind"] for turn in turns]
        assert kinds.count("paid") == transcript.paid.sum()
        assert kinds.count("refused") == transcript.declined.sum()
        assert [turn["answer"] is None for turn in turns] == transcript.declined[0].tolist()
        assert len(figure.table["asked"]) == 30
        assert all(len(column) == 30 for column in figure.table.values())
    told = said(transcript=transcript, truth=truth, badge="", dark=dark).sentence
    assert told.startswith(f"30 questions: {transcript.free.sum()} free, {transcript.paid.sum()} paid")
    assert (f"{transcript.declined.sum()} refused" in told) == bool(transcript.declined.any())


def test_the_worst_error_is_told_and_the_band_is_the_promise() -> None:
    transcript, truth = conversation(Thresholds(domain=Line(bits=4)), updates=20)
    figure = pictures(transcript, truth, dark=False)[1]
    worst = np.abs(transcript.rows[0] / N - truth).max()
    assert figure.sentence == (
        f"The worst answer so far is off by {100 * worst:.3g}% (≈ {worst * N:,.0f} of 2,000 rows); promised is at most "
        "7%."
    )
    assert figure.spec["datasets"]["promise"][0]["low"] == -0.07
    assert figure.spec["datasets"]["promise"][0]["high"] == 0.07


def test_a_vacuous_promise_does_not_press_the_errors_flat() -> None:
    transcript, truth = conversation(Thresholds(domain=Line(bits=4)))
    figure = wrong(transcript=transcript, truth=truth, promise=690.0, badge="", dark=False)
    assert figure.spec["datasets"]["promise"][0] == {"low": -1.0, "high": 1.0, "name": "vacuous promise"}
    assert figure.sentence.endswith("promised is at most 690 times n, which says nothing.")


def test_in_place_repaint_needs_one_body() -> None:
    queries = Thresholds(domain=Line(bits=4))
    one, other = (pictures(*conversation(queries, updates=updates), dark=False) for updates in (1, 20))
    for first, second in zip(one, other, strict=True):
        assert {k: v for k, v in first.spec.items() if k != "datasets"} == {
            k: v for k, v in second.spec.items() if k != "datasets"
        }
        assert first.title == second.title


@pytest.mark.parametrize("dark", [False, True])
def test_beliefs_beside_the_truth(dark: bool) -> None:
    believed, truth = np.array([0.1, 0.5, 0.9]), np.array([0.1, 0.3, 0.95])
    places: list[Any] = [np.array([1.0, 2.0, 3.0]), ["a", "b", "c"]]
    for place in places:
        figure = belief(
            places=place, believed=believed, truth=truth, far=0.1, title="age", unit="years", badge="b", dark=dark
        )
        json.dumps(figure.spec)
        assert figure.table == {"age": list(place), "believed": [0.1, 0.5, 0.9], "true": [0.1, 0.3, 0.95]}
        assert len(figure.spec["datasets"]["lines"]) == 6
        assert '"title": "age (years)"' in json.dumps(figure.spec)
        assert "these 3 questions were asked now, 2 guesses would be off by less than 10%" in figure.sentence
        assert figure.sentence.endswith("off by 20%.")
