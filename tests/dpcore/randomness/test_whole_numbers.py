"""A draw takes whole numbers that leave room for its noise: everything else is an error, in every sampler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcore.core import Neighbours, ParameterError
from dpcore.core.sizes import MAX_COUNT, MAX_SENSITIVITY
from dpcore.mechanisms.ranges.halving import Halving
from dpcore.mechanisms.robust.smooth_median import SmoothNoise, ladder
from dpcore.randomness import (
    Account,
    Answers,
    Choice,
    Draw,
    Enumerate,
    FairSplit,
    GaussianCounts,
    MedianCuts,
    NoisyComparisons,
    NoisyCounts,
    Preview,
    PublicCoins,
    Sampler,
    Secure,
    SparseVector,
    SubsampleVotes,
    WeightedCounts,
)
from dpcore.randomness.candidates import Candidates
from dpcore.randomness.choices import DatabaseChoice
from dpcore.randomness.gates import EnumeratedGate, Gate
from tests import PACKAGES
from tests.dpcore.randomness.test_samplers import draw_classes_of

SAMPLERS: dict[str, Callable[[], Sampler]] = {
    "preview": lambda: Preview(5),
    "secure": Secure,
    "account": lambda: Account(Preview(5)),
    "enumerate": lambda: Enumerate(window=(0, 2)),
}
Values = NDArray[Any]
EDGES = np.array([[0]]), np.array([[1]])
STEPS: dict[str, Any] = {"ladder": ladder(epsilon=1.0, delta=0.1, cells=3), "epsilon": 1.0, "cells": 3}


class First:
    """A statistic with one answer."""

    answers = 1

    def answer(self, counts: Values) -> Values:
        return np.zeros(len(counts), dtype=np.int64)

    def law(self, counts: Values, *, rows: int) -> Values:
        return np.ones(1)


def listed(scores: Values) -> Any:
    """A net of as many databases of one point as there are scores."""

    class Listed:
        candidates = Candidates(np.zeros((len(scores), 1), dtype=np.int64), scores)

    return Listed()


DRAWS: dict[str, Callable[[Values], Draw[Any]]] = {
    "NoisyCounts": lambda values: NoisyCounts(values[None], epsilon=1.0, sensitivity=1),
    "WeightedCounts": lambda values: WeightedCounts(
        values[None], weights=np.array([1, 2, 1]), first=-1, epsilon=1.0, delta=0.1
    ),
    "WeightedCounts, its weights": lambda values: WeightedCounts(
        np.array([[5]]), weights=values[values != 0], first=-1, epsilon=1.0, delta=0.1
    ),
    "GaussianCounts": lambda values: GaussianCounts(values[None], sigma=1.0, squared_shift=1),
    "NoisyComparisons": lambda values: NoisyComparisons(values[None], 1, epsilon=1.0, sensitivity=1),
    "NoisyComparisons, its threshold": lambda values: NoisyComparisons(
        np.zeros((1, len(values)), dtype=np.int64), values, epsilon=1.0, sensitivity=1
    ),
    "Choice": lambda values: Choice(values[None], epsilon=1.0, sensitivity=1),
    "DatabaseChoice": lambda values: DatabaseChoice(net=listed(values), epsilon=1.0, sensitivity=1),
    "MedianCuts": lambda values: MedianCuts(values, *EDGES, epsilon=1.0, sensitivity=1),
    "SmoothNoise": lambda values: SmoothNoise(values, np.array([0]), **STEPS),
    "SmoothNoise, its step": lambda values: SmoothNoise(np.array([0]), values, **STEPS),
    "Answers": lambda values: Answers(values, epsilon=1.0, delta=0.1),
    "FairSplit": lambda values: FairSplit(values[None]),
    "SubsampleVotes": lambda values: SubsampleVotes(values, First(), rows=1, times=1),
    "Halving": lambda values: Halving(values, epsilon=1.0, neighbours=Neighbours.ADD_REMOVE_ONE),
}
WRONG: dict[str, Values] = {
    "fractional": np.array([0.0, 1.5, 2.0]),
    "whole floats": np.array([0.0, 1.0, 2.0]),
    "NaN": np.array([0.0, np.nan, 2.0]),
    "infinite": np.array([0.0, 1.0, np.inf]),
    "boolean": np.array([False, True, True]),
    "objects": np.array([0, 1, 2], dtype=object),
    "too large": np.array([0, 1, 2**62 + 1]),
    "unsigned beyond int64": np.array([0, 1, 2**63], dtype=np.uint64),
    "far below 0": np.array([-(2**63), 1, 2]),
}


DRAWN_GATE = SparseVector(epsilon=1.0, sensitivity=1, updates=1, answers=0.5)
BUDGET = DRAWN_GATE.budget


def test_every_kind_of_draw_is_tried() -> None:
    kinds = {kind.__name__ for kind in draw_classes_of(Draw) if kind.__module__.partition(".")[0] in PACKAGES}
    abstract = {"Draw", "PureDraw", "_ScoredDraw"}
    assert kinds - abstract == {name.partition(",")[0] for name in DRAWS} | {"SparseVector", "PublicCoins"}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("draw", DRAWS)
def test_a_draw_takes_whole_numbers_alone(draw: str, wrong: str) -> None:
    DRAWS[draw](np.array([0, 1, 2]))
    with pytest.raises(ParameterError, match="integers"):
        DRAWS[draw](WRONG[wrong])


@pytest.mark.parametrize("sampler", ["preview", "secure", "account"])
def test_every_sampler_makes_draws_of_whole_numbers_of_any_width(sampler: str) -> None:
    for kind in (np.int64, np.int32, np.uint8):
        counts = np.array([0, 1], dtype=kind)
        for make in (DRAWS["NoisyCounts"], DRAWS["WeightedCounts"], DRAWS["GaussianCounts"], DRAWS["Choice"]):
            assert np.issubdtype(np.asarray(SAMPLERS[sampler]().draw(make(counts), 1)).dtype, np.signedinteger)


def _gate(sampler: str) -> Gate:
    """A gate on three trials; an enumeration would replay it, so that it is made by itself."""
    if sampler == "enumerate":
        return EnumeratedGate(lambda laws, symbols: symbols, (0, 2), BUDGET, sensitivity=1, trials=3)
    return SAMPLERS[sampler]().draw(DRAWN_GATE, 3)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_gate_takes_whole_numbers_alone(sampler: str, wrong: str) -> None:
    values, gate = WRONG[wrong], _gate(sampler)
    for ask in (lambda: gate.above(values, 1), lambda: gate.answer(values)):
        with pytest.raises(ParameterError, match="integers"):
            ask()


@pytest.mark.parametrize("wrong", WRONG)
def test_what_adds_noise_takes_whole_numbers_alone_whoever_calls_it(wrong: str) -> None:
    values = WRONG[wrong][None]
    for add in (Preview(1).laplace, Secure().laplace):
        with pytest.raises(ParameterError, match="integers"):
            add(values, scale=1.0, trials=1)
    with pytest.raises(ParameterError, match="integers"):
        Secure().gaussian(values, sigma=1.0, trials=1)
    with pytest.raises(ParameterError, match="integers"):
        Secure().noisy_max(gumbel=True, scale=1.0)(values[0])


ZERO = np.zeros((1, 1), dtype=np.int64)
LOUD: list[Callable[..., Draw[Any]]] = [
    lambda **noise: NoisyCounts(ZERO, **noise),
    lambda **noise: NoisyComparisons(ZERO, 1, **noise),
    lambda **noise: Choice(ZERO, **noise),
    lambda **noise: MedianCuts(np.array([0, 1]), ZERO, ZERO, **noise),
    lambda **noise: SparseVector(updates=1, **noise),
]


@pytest.mark.parametrize("noise", [{"sensitivity": 2**60}, {"epsilon": 2.0**-60}, {"epsilon": 1e-300}], ids=str)
def test_noise_that_would_not_fit_64_bits_is_an_error(noise: dict[str, float]) -> None:
    for kind in LOUD:
        with pytest.raises(ParameterError, match="2\\^5"):
            kind(**{"epsilon": 1.0, "sensitivity": 1} | noise)
    # However large epsilon is: counts that a neighbour moves so far do not fit either.
    with pytest.raises(ParameterError, match="sensitivity"):
        NoisyCounts(ZERO, epsilon=1e6, sensitivity=2**60)


@pytest.mark.parametrize("sampler", ["preview", "secure", "account"])
def test_the_widest_noise_there_is_keeps_its_sign_and_size(sampler: str) -> None:
    """A hundred draws at the largest scale, from the largest count: half fall below it, none has gone round.

    Fewer than 15 or more than 85 are below with chance 5e-13, and entropy follows no seed.
    """
    top = np.full((1, 100), MAX_COUNT)
    noise = SAMPLERS[sampler]().draw(NoisyCounts(top, epsilon=1.0, sensitivity=MAX_SENSITIVITY), 1) - MAX_COUNT
    assert 15 < (noise < 0).sum() < 85
    assert 0.4 * MAX_SENSITIVITY < np.abs(noise).mean() < 2.5 * MAX_SENSITIVITY


@pytest.mark.parametrize("wrong", [-1, 1.0, 2.5, True, np.nan, np.inf, MAX_SENSITIVITY**2 + 1], ids=str)
def test_a_squared_shift_is_a_whole_number(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="squared shift"):
        GaussianCounts(ZERO, sigma=1.0, squared_shift=wrong)
    assert GaussianCounts(ZERO, sigma=1.0, squared_shift=2 * 3284214703056).charge.squared_shift == 6568429406112


@pytest.mark.parametrize("wrong", [0, -1, 1.0, 2.5, True, np.nan, np.inf, "3"], ids=str)
def test_how_many_there_are_is_a_whole_number(wrong: Any) -> None:
    votes: dict[str, Any] = {"rows": 1, "times": 1}
    tries: list[Callable[[], Any]] = [
        *(lambda each=each: SAMPLERS[each]().draw(FairSplit(ZERO), wrong) for each in SAMPLERS),
        lambda: PublicCoins(wrong, columns=1),
        lambda: PublicCoins(2, columns=wrong),
        lambda: SparseVector(epsilon=1.0, sensitivity=1, updates=wrong),
        lambda: SubsampleVotes(np.array([1]), First(), **votes | {"rows": wrong}),
        lambda: SubsampleVotes(np.array([1]), First(), **votes | {"times": wrong}),
    ]
    for attempt in tries:
        with pytest.raises(ParameterError, match="an integer from"):
            attempt()


def test_a_refusal_shows_no_value() -> None:
    for wrong in (np.array([[123456789.5]]), np.array([[2**62 + 123456789]])):
        with pytest.raises(ParameterError) as refused:
            NoisyCounts(wrong, epsilon=1.0, sensitivity=1)
        assert "123456789" not in str(refused.value) and str(2**62 + 123456789) not in str(refused.value)
