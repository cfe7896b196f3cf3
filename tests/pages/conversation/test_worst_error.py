"""Whole conversations on the map: worst errors of answers, refusals apart, and a wall for whoever must answer."""

from __future__ import annotations

import itertools
from typing import TypeVar

import numpy as np
import pytest

from dpcore import Cells, Labels, Number, Preview, Problem, Thresholds
from dpcore.core import Dataset, Queries
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms import entry
from dpcore.mechanisms.online.conversation import Transcript
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.mechanisms.online.previews import (
    Conversations,
    open_conversation,
    preview_conversation,
    preview_conversations,
    summarise_transcript,
)
from pages.charts.picture import Band, Curve, Dots, Region, Rule, numbers
from pages.conversation.charts import conversation_map, refusal_sentence, refusals
from tests.kit import in_blocks
from tests.kit.problems import dataset_of

N = 2_000
Result = TypeVar("Result")


def asked(queries: Queries, key: str = "weights", **values: object) -> tuple[Interactive, Dataset, Problem]:
    """A mechanism with lopsided data."""
    problem = Problem(domain=queries.domain, queries=queries, n=N)
    made = entry(key).make(**{"questions": 35, "alpha": 0.2, "epsilon": 5.0, **values})
    assert isinstance(made, Interactive)
    return made, dataset_of(problem, np.minimum(np.arange(N) % 7, queries.domain.size - 1)), problem


@pytest.mark.parametrize("updates", [1, 20])
@pytest.mark.parametrize("key", ["weights", "median"])
@pytest.mark.parametrize("queries", [Thresholds(domain=Number(bits=4)), Cells(domain=Labels(labels=("a", "b", "c")))])
def test_they_are_the_mechanisms_own_conversations(queries: Queries, key: str, updates: int, seed: int) -> None:
    mechanism, dataset, problem = asked(queries, key, updates=updates)
    found, signs = in_blocks(preview_conversations(mechanism, dataset, problem, seed=seed, trials=6))
    run = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 6)
    assert isinstance(run, Transcript)
    errors = np.where(run.declined, 0.0, np.abs(run.errors(dataset.histogram)))
    np.testing.assert_allclose(found.worst, errors.max(axis=1))
    assert found.refused.tolist() == run.declined.sum(axis=0).tolist()
    assert found.broken == sum(bool(row.any()) for row in run.declined)
    assert signs == [0, 10 / 35, 20 / 35, 30 / 35]


def test_a_conversation_is_played_or_begun_with_the_same_coins(seed: int) -> None:
    mechanism, dataset, problem = asked(Thresholds(domain=Number(bits=4)))
    transcript = preview_conversation(mechanism, dataset, problem, seed=seed)
    assert isinstance(transcript, Transcript)
    conversation = open_conversation(mechanism, dataset, problem, seed=seed)
    for index in transcript.query_indices[0]:
        conversation.ask(int(index))
    np.testing.assert_array_equal(conversation.transcript().outcomes(), transcript.outcomes())
    truth = problem.queries.answer(dataset.histogram[None], transcript.query_indices[0])[0] / N
    np.testing.assert_allclose(transcript.truth(dataset.histogram), truth[None])
    np.testing.assert_allclose(transcript.errors(dataset.histogram), transcript.rows / N - truth, atol=1e-12)


def test_a_refusal_is_no_error_and_stands_apart(seed: int) -> None:
    mechanism, dataset, problem = asked(Thresholds(domain=Number(bits=4)), updates=1, alpha=0.05)
    run = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 50)
    assert isinstance(run, Transcript)
    found = summarise_transcript(run, dataset)
    assert found.broken == 50, "one update is too few for these data"
    assert np.isfinite(found.worst).all()
    figure = refusals(found)
    told_of = dict(zip(*figure.table.values(), strict=True))
    assert told_of[1] == 0 and told_of[35] == 50
    # Between two changes of the share nothing is lost.
    again = np.zeros(35, dtype=np.int64)
    for start, count in told_of.items():
        again[start - 1 :] = count
    assert again.tolist() == found.refused.tolist()
    line, area = figure.one(Curve, role="quiet"), figure.one(Band, role="quiet")
    assert line.step and area.step, "a share holds until the next question that changes it"
    np.testing.assert_array_equal(numbers(line.y), [count / 50 for count in told_of.values()])
    np.testing.assert_array_equal(numbers(line.x), list(told_of))
    np.testing.assert_array_equal(area.high, line.y)
    assert (figure.y.low, figure.y.high, figure.y.form) == (0, 1, ".3~p")
    assert figure.sentence.startswith("⊥ 50 of 50 conversations used all their")
    assert "92.8% to 100%" in figure.sentence


def test_none_refused_is_not_never() -> None:
    found = Conversations(worst=np.full(50, 0.1), refused=np.zeros(9, dtype=np.int64), broken=0)
    assert refusal_sentence(found).startswith("⊥ None of 50 conversations refused a query. With 95% confidence")
    assert "below 7.12%" in refusal_sentence(found)


def test_the_map_says_for_whom_the_wall_stands(seed: int) -> None:
    mechanism, dataset, problem = asked(Thresholds(domain=Number(bits=4)), epsilon=0.05)
    found, _ = in_blocks(preview_conversations(mechanism, dataset, problem, seed=seed, trials=50))
    guarantee, promised = mechanism.guarantee(problem), mechanism.accuracy(problem, 0.05)
    lower = lower_bound(problem, guarantee, beta=0.05, questions=mechanism.questions)
    assert lower is not None
    figure = conversation_map(found, n=N, guarantee=guarantee, promised=promised, lower=lower)
    assert (
        f"No mechanism that must answer every query can guarantee less than {100 * lower.value:.3g}%" in figure.sentence
    )
    assert "o mechanism can" not in figure.sentence
    assert "conversations" in figure.sentence and "on their worst answer" in figure.sentence
    hatched = figure.one(Region, role="impossible")
    assert hatched.x is not None and hatched.x[1] == lower.value
    assert figure.one(Rule, role="theory").x == promised.value
    seen = numbers(figure.one(Dots, role="released").x)
    assert found.worst.min() <= seen.min() and seen.max() <= found.worst.max() and figure.x.rows == N
    assert len(figure.table["worst error"]) == 50


def test_whether_refusals_are_ruled_out_is_what_the_promise_says() -> None:
    seen = set()
    for key, alpha, updates, epsilon in itertools.product(
        ("median", "weights"), (0.1, 0.5, 1.0), (5, 100, 1000), (0.1, 5.0, 20.0)
    ):
        mechanism, _, problem = asked(
            Thresholds(domain=Number(bits=10)), key, alpha=alpha, updates=updates, epsilon=epsilon
        )
        ruled_out = mechanism.never_refuses(problem, 0.05)
        assert ruled_out == ("so no query is refused" in mechanism.accuracy(problem, 0.05).note)
        seen.add(ruled_out)
    assert seen == {False, True}


def test_no_promise_without_refusals_is_behind_the_wall() -> None:
    compared = 0
    for key, bits, n, updates, epsilon, questions in itertools.product(
        ("median", "weights"), (2, 10), (3000, 60_000), (20, 100, 500), (0.1, 1.0, 5.0), (1, 500)
    ):
        queries = Thresholds(domain=Number(bits=bits))
        problem = Problem(domain=queries.domain, queries=queries, n=n)
        made = entry(key).make(alpha=0.5, updates=updates, epsilon=epsilon, questions=questions)
        assert isinstance(made, Interactive)
        lower = lower_bound(problem, made.guarantee(problem), beta=0.05, questions=questions)
        if lower is not None and made.never_refuses(problem, 0.05):
            assert made.accuracy(problem, 0.05).value >= lower.value
            compared += 1
    assert compared > 10, compared
