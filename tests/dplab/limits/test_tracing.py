"""Tracing attacks measured: nobody beyond what privacy allows, everybody from exact means of many attributes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import ParameterError
from dpcore.core import Booleans, finish
from dpcore.limits.attacks.tracing import ceiling
from dplab.limits.tracing import (
    ACCUSED,
    LOSSES,
    OUTSIDE,
    RUNS,
    People,
    TracedShares,
    attack,
    ceilings,
    generated_people,
    people_of,
    sweep,
)

DELTA = 1e-6


def swept(seed: int, *, attributes: list[int], members: int) -> TracedShares:
    def drawn(run: int) -> People:
        return generated_people(attributes=attributes[-1], members=members, seed=seed + run)

    return finish(sweep(drawn, attributes=attributes, epsilon=1.0, delta=DELTA, seed=seed))


def test_exact_means_of_many_attributes_name_the_members_and_private_ones_do_not() -> None:
    people = generated_people(attributes=4096, members=100, seed=1)
    exact, private = (attack(people, epsilon=epsilon, delta=DELTA, seed=2) for epsilon in (None, 1.0))
    assert exact.found > 0.98 and exact.accused < 0.15
    assert private.found < 0.25
    few = attack(people.first(8), epsilon=None, delta=DELTA, seed=2)
    assert few.found < 0.4, "few attributes hide members even where means are exact"


def test_no_private_means_give_more_than_the_definition_allows_and_a_loud_release_does() -> None:
    shares = swept(3, attributes=[256, 1024], members=100)
    found, most = shares.losses.mean(axis=1), ceilings(np.array(LOSSES), delta=DELTA)
    # A run's members share one release: its share may be off by as much as it can be.
    off = 4 * shares.losses.std(axis=1) / math.sqrt(RUNS) + 0.01
    assert (found <= most + off).all() and (np.diff(found) > -off[1:]).all()
    assert shares.strangers.mean() == pytest.approx(ACCUSED, abs=0.015)
    # The control: exact means, told to be private at ε = 1.
    assert shares.exact[-1].mean() > ceiling(accused=ACCUSED, epsilon=1.0, delta=DELTA) + 0.3
    assert shares.exact.mean(axis=1)[0] < shares.exact.mean(axis=1)[-1]
    assert shares.private.mean(axis=1) == pytest.approx(ACCUSED, abs=0.05)


def test_the_scores_are_those_of_means_worked_out_again() -> None:
    people = generated_people(attributes=64, members=50, seed=5)
    found = attack(people, epsilon=None, delta=DELTA, seed=6)
    means = [sum(bool(row[j]) for row in people.members) / 50 for j in range(64)]

    def score(row: Booleans) -> float:
        return sum((means[j] - float(people.usual[j])) * (float(row[j]) - float(people.usual[j])) for j in range(64))

    reference = sorted(map(score, people.reference))
    level = reference[-math.floor(ACCUSED * (len(reference) + 1))]
    assert found.found == np.mean([score(row) >= level - 1e-12 for row in people.members])
    assert found.accused == np.mean([score(row) >= level - 1e-12 for row in people.outside])
    assert len(found.outside) == OUTSIDE


def test_groups_of_a_file_are_disjoint_and_nobody_judged_was_asked_what_is_usual(seed: int) -> None:
    rows = np.arange(128)[:, None] >> np.arange(7) & 1 == 1  # every row once
    people = people_of(rows, members=20, seed=seed)
    parts = [people.members, people.reference, people.outside]
    numbers = [set((part @ (1 << np.arange(7))).tolist()) for part in parts]
    assert [len(each) for each in numbers] == [20, 36, 36] and not numbers[0] & numbers[1] | numbers[1] & numbers[2]
    others = set(range(128)) - set.union(*numbers)
    np.testing.assert_allclose(people.usual, rows[sorted(others)].mean(axis=0))
    with pytest.raises(ParameterError, match="at least 128 rows are needed; there are 127"):
        people_of(rows[:127], members=71, seed=seed)
