"""Numbers printed in statements of bounds add up to no less than the bound, and to hardly more."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

import dpcore
from dpcore.core import Neighbours
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dpcore.mechanisms.intervals.printed import PrintedIntervals
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.mechanisms.subsamples.subsampling import agreement_needed
from dprelease.requests.parts import RequestPart
from dprelease.requests.tables import BETA
from tests.dprelease.test_catalogue_releases import requested
from tests.kit import searched

N = r"(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)"
NET = rf"to (?P<share>{N}) of n\. Choosing among .* at most (?P<rows>{N}) rows, with confidence 1 − 0\.05\."
NOISY = rf"With confidence 0\.95, no.* error above (?P<share>{N}) \(bias\) plus (?P<more>{N}) \(noise\)"
CELLS = rf"Before fitting, .* error above (?P<rows>{N}) rows, with confidence 1 − 0\.05\."
PRINTED = {
    "intervals-anchored": rf"within (?P<share>{N}) of n\. .* of at most (?P<rows>{N}) rows, counted once, with "
    r"confidence 1 − 0\.05",
    "net": NET,
    "net-alpha": NET,
    "net-flip": NET,
    "linear-net": NET,
    "answers-net": rf"to (?P<share>{N}) of n\. Twice the largest noise is at most (?P<rows>{N}) rows, with confidence",
    "mwem": rf"an error of (?P<share>{N}) of n\. .* adds at most (?P<rows>{N}) rows, with confidence 1 − 0\.05",
    "dual-query": rf"an error of (?P<share>{N})\. Drawing .* adds at most (?P<more>{N}), with confidence 0\.95",
    "answer-projection": rf"With confidence 0\.95, no answer has an error above (?P<share>{N}) of n\.",
    "tree-windows": rf"At most (?P<rows>{N}) rows .* adds at most (?P<others>{N}), with confidence 1 − 0\.05",
    "marginals-decision-lists": NOISY,
    "marginals-polynomial": NOISY,
    "marginals-polynomial-gaussian": NOISY,
    "marginals-direct": NOISY,
    "direct-tables": CELLS,
    "clipped_mean": rf"With confidence 0\.95, .* at most (?P<cells>{N}) of 32 cells",
    "counted-mean": rf"at most (?P<share>{N}) of the range, with confidence 0\.95",
}
"""Numbers of a statement: shares, rows, and cells of a line of 32."""
EPSILONS = (0.37, 0.71, 1.3, 2.9, 5.3)


def question_at(key: str, epsilon: float) -> RequestPart:
    """The catalogue's small question, of more rows."""
    [part] = requested(dpcore.entry(key), Neighbours.REPLACE_ONE).parts
    return replace(part, n=20_000, values={**part.values, "epsilon": epsilon})


def number(text: str) -> float:
    """A number as it is printed."""
    return float(text.replace(",", ""))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("key", PRINTED)
def test_printed_numbers_add_up_to_the_bound_and_hardly_more(key: str, epsilon: float) -> None:
    part = question_at(key, epsilon)
    bound = part.mechanism.accuracy(part.problem, BETA)
    found = searched(PRINTED[key], bound.statement)
    unit = {"share": 1.0, "more": 1.0, "rows": 1 / part.n, "others": 1 / part.n, "cells": 1 / 31}
    total = sum(number(text) * unit[name] for name, text in found.groupdict().items())
    whole = sum(1 / part.n for name in found.groupdict() if name in ("rows", "others"))
    assert bound.value * (1 - 1e-12) <= total <= 1.011 * bound.value + whole


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("key", ["subsample_median", "subsample_commonest"])
def test_the_printed_agreement_of_subsamples_is_enough(key: str, epsilon: float) -> None:
    part = question_at(key, epsilon)
    mechanism = part.mechanism
    assert isinstance(mechanism, SubsampleAggregate)
    statement = mechanism.accuracy(part.problem, BETA).statement
    needed = agreement_needed(mechanism.plan(part.problem), epsilon=epsilon, beta=BETA)
    if not math.isfinite(needed):
        assert statement.startswith("No data give an answer")
        return
    found = searched(
        rf"probability at least 0\.95 under one condition\. A subsample must give it with probability at least {N} ",
        statement,
    )
    assert needed <= number(found[1]) <= 1.011 * needed


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_unbounded_mean_prints_no_less_than_its_tail(epsilon: float) -> None:
    part = question_at("unbounded_mean", epsilon)
    statement = part.mechanism.accuracy(part.problem, BETA).statement
    found = re.match(rf"With confidence 0\.95, the mean changes by at most {N} of the difference d ", statement)
    exact = (1 + 2 / epsilon * math.log(1 / BETA)) / part.n
    assert found and exact * (1 - 1e-12) <= number(found[1]) <= 1.011 * exact


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_printed_net_of_directions_reaches_as_far_as_is_said(epsilon: float) -> None:
    part = question_at("halfspaces", epsilon)
    mechanism = HalfspaceCounts(epsilon=epsilon)
    bound = mechanism.accuracy(part.problem, BETA)
    found = searched(
        rf"within {N}° of one of {N} directions of the net\. So no row of margin {N} .* at most {N} rows, with "
        r"confidence 1 − 0\.05",
        bound.statement,
    )
    degrees, net, margin, rows = map(number, found.groups())
    reach = mechanism.reach(part.problem)
    assert math.degrees(reach) * (1 - 1e-12) <= degrees <= 1.011 * math.degrees(reach)
    assert net == 2 * len(mechanism.net(part.problem))
    assert math.sin(min(reach, math.pi / 2)) <= margin <= 1.011 * math.sin(min(reach, math.pi / 2)) + 0.01
    assert bound.value * part.n - 1e-6 <= rows < bound.value * part.n + 1


@pytest.mark.parametrize("alpha", [0.1, 0.3])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_note_of_printed_intervals_gives_the_scale_of_one_answer(epsilon: float, alpha: float) -> None:
    part = question_at("intervals-printed", epsilon)
    mechanism = PrintedIntervals(epsilon=epsilon, alpha=alpha)
    note = mechanism.accuracy(part.problem, BETA).note
    found = searched(
        rf"With 20,000 rows the noise of one answer has a scale of {N} of n, which is {N} times the mass of", note
    )
    blocks = math.ceil(4 / (3 * (alpha / 6)))
    exact = mechanism.depth(part.problem) * blocks / (epsilon * part.n)
    assert number(found[1]) == pytest.approx(exact, rel=0.006)
    assert number(found[2]) == pytest.approx(exact / (alpha / 6), rel=0.006)
