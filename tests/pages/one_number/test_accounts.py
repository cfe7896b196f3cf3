"""The paper's subsamples beside calibrated ones, and other words of the page that stand only in rare settings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore import Problem, Thresholds, entry
from dpcore.core import rounded_down, rounded_up
from dpcore.data.columns import Number
from dpcore.mechanisms.subsamples.subsampling import (
    MAX_TRIED,
    SubsamplingPlan,
    answer_chance,
    calibrated_plan,
    min_subsamples,
    paper_plan,
)
from dpcore.mechanisms.subsamples.subsampling import answer_chance as vote_chance
from dpcore.queries.ranges import rank
from pages.charts.words import percent
from pages.one_number.accounts import _needed, _saved
from pages.shell.private.twin import NAMED
from tests.kit import searched
from tests.pages.opening import opened, sound, texts, visitor
from tests.pages.uploads import uploaded


@pytest.mark.parametrize(("epsilon", "shares", "word"), [(4.0, 20, "more"), (4.0, 40, "fewer")])
def test_what_calibration_saves_is_the_ratio_of_both_plans_and_says_which_way(
    epsilon: float, shares: int, word: str
) -> None:
    n, delta = 2_000, 1e-6
    rows = n // shares
    paper = paper_plan(epsilon=epsilon, n=n, rows=rows)
    fewest = min_subsamples(epsilon=epsilon, delta=delta, n=n, rows=rows)
    assert fewest is not None and (fewest > paper.subsamples) == (word == "more")
    told = _saved(paper, fewest, delta=delta)
    ratio = max(fewest, paper.subsamples) / min(fewest, paper.subsamples)
    assert (
        "Goal: an answer in 95 of 100 runs if 3 in 4 subsamples agree. Calibrated parameters need about "
        f"**{rounded_down(ratio)} times {word}** subsamples than the paper's" in told
    )
    chances = [
        vote_chance(
            calibrated_plan(epsilon=epsilon, delta=delta, n=n, rows=rows, subsamples=subsamples),
            epsilon=epsilon,
            agreement=0.75,
        )
        for subsamples in (int(0.97 * fewest), fewest)
    ]
    assert chances[1] >= 0.95 > chances[0]
    assert f"at δ = {rounded_up(delta)}. The paper's have δ = {rounded_up(paper.delta)}." in told
    found = searched(r"\*\*([\d.e+]+) times", told.replace(",", ""))
    assert 1 < float(found[1]) <= ratio


def test_where_no_subsamples_tried_are_enough_it_is_said_and_so() -> None:
    app = sound(opened("one_number/page.py", robust="subsample_median", data="bimodal"))
    said = f"No k up to {MAX_TRIED:,} gives an answer in 95 of 100 runs if 3 in 4 subsamples agree."
    assert said not in texts(app)
    epsilon, n, rows = 1.0, 2_000, 200
    assert min_subsamples(epsilon=epsilon, delta=1e-6, n=n, rows=rows) is None
    for subsamples in (100, 10_000, MAX_TRIED):
        plan = calibrated_plan(epsilon=epsilon, delta=1e-6, n=n, rows=rows, subsamples=subsamples)
        assert vote_chance(plan, epsilon=epsilon, agreement=0.75) < 0.95
    shown = AppTest.from_function(_of_too_few_rows)
    assert said in texts(sound(shown.run()))


def _of_too_few_rows() -> None:
    from dpcore.mechanisms.subsamples.aggregate import MedianBucket
    from dpcore.mechanisms.subsamples.subsampling import calibrated_plan
    from pages.one_number.accounts import _compared

    mechanism = MedianBucket(epsilon=1.0, delta=1e-6, rows=200, subsamples=100)
    _compared(mechanism, calibrated_plan(epsilon=1.0, delta=1e-6, n=2_000, rows=200, subsamples=100), n=2_000)


def test_what_is_impossible_for_private_rows_is_of_their_quantile() -> None:
    app = visitor("one_number/page.py")
    app.session_state["upload"], app.session_state["data"] = uploaded(private=True), "my-file"
    app.session_state["epsilon"], app.session_state["stable_median-quantile"] = 0.01, 0.05
    app.session_state[NAMED] = 500
    shown = {each.label: each.value for each in sound(app.run()).metric}
    assert shown["Impossible (lower bound), below"] == percent(rank(500, quantile=0.05) / 500)


@pytest.mark.parametrize(("epsilon", "nothing"), [(0.002, True), (1.0, False)])
def test_where_the_promise_of_a_mean_is_its_range_nothing_is_promised(epsilon: float, nothing: bool) -> None:
    app = visitor("one_number/page.py")
    app.session_state["upload"], app.session_state["data"] = uploaded(private=True), "my-file"
    app.session_state["robust"], app.session_state["epsilon"] = "unbounded_mean", epsilon
    app.session_state[NAMED] = 500
    told = [str(each.value) for each in sound(app.run()).header]
    domain = Number(low=0, high=100, bits=5, clamp=True)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=500)
    promised = entry("counted-mean").make(epsilon=epsilon).accuracy(problem, 0.05).value
    assert (promised >= 1) == nothing
    start = (
        (f"No error of a mean is guaranteed at ε = {epsilon:g}")
        if nothing
        else "In 95 of 100 releases, the error of the clipped mean is at most"
    )
    assert [each for each in told if each.startswith(start)]


def test_a_threshold_that_no_noise_reaches_is_more_than_there_can_be() -> None:
    plan = SubsamplingPlan(subsamples=64, cap=64, threshold=1 << 62, delta=1.0)
    assert _needed(plan) == "more than k: never reached"
    assert answer_chance(plan, epsilon=1.0, agreement=1.0) == 0
    assert _needed(replace(plan, threshold=32)) == "32 (0.5 of k)"
