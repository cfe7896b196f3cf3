"""The stable mode: rows that must change, by definition, and far fewer refusals than by subsamples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpcore.core import Neighbours, Problem
from dpcore.data.columns import Labels
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.stable_mode import StableMode
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.queries.ranges import Cells

Counts = tuple[int, ...]


def mode(counts: Counts) -> int:
    """The first most common label; the reserved cell where no row has one."""
    labels = counts[:-1]
    return int(np.argmax(labels)) if any(labels) else len(labels)


def changed(counts: Counts, neighbours: Neighbours) -> set[Counts]:
    """Data sets one row away."""
    cells, found = range(len(counts)), set()
    for first, second in itertools.product(cells, cells):
        moved = list(counts)
        if neighbours is Neighbours.REPLACE_ONE:
            moved[first] -= 1
        moved[second] += 1
        found.add(tuple(moved))
    if neighbours is Neighbours.ADD_REMOVE_ONE:
        found |= {tuple(np.array(counts) - np.eye(len(counts), dtype=int)[first]) for first in cells}
    return {each for each in found if min(each) >= 0}


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_stability_is_the_distance_to_another_answer(neighbours: Neighbours) -> None:
    domain = Labels(labels=("a", "b", "c"), missing=True)
    for counts in itertools.product(range(5), repeat=4):
        n = sum(counts)
        if not n:
            continue
        problem = Problem(domain=domain, queries=Cells(domain=domain), n=n, neighbours=neighbours)
        cell, stable = StableMode().stability(np.array(counts), problem)
        level, steps = {counts}, 0
        while all(mode(each) == mode(counts) for each in level):
            level, steps = {one for each in level for one in changed(each, neighbours)} | level, steps + 1
            if steps > stable + 1:
                break
        assert (cell, stable) == (mode(counts), steps), counts


def test_rows_needed_are_those_of_one_label_and_subsamples_refuse_more() -> None:
    domain = Labels(labels=("a", "b", "c"), missing=False)
    for neighbours, stable in itertools.product(Neighbours, range(1, 9)):
        rows = StableMode().rows_needed(stable, neighbours)
        problem = Problem(domain=domain, queries=Cells(domain=domain), n=rows, neighbours=neighbours)
        assert StableMode().stability(np.array([rows, 0, 0]), problem)[1] >= stable
        assert StableMode().stability(np.array([max(rows - 1, 0), 0, 0]), problem)[1] < max(stable, 2)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=1_000)
    mechanism = entry("subsample_commonest").make()
    assert isinstance(mechanism, SubsampleAggregate)
    plan = mechanism.plan(problem)
    # 60 rows ahead: the stable mode always answers, while few subsamples of 25 rows agree.
    _, stable = StableMode().stability(np.array([530, 470, 0]), problem)
    assert StableMode().chance(stable) == 1 and plan.threshold > 0.55 * plan.subsamples
