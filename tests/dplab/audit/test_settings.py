"""Every mechanism of the catalogue on its small data: none is refuted, but for the one whose promise is weaker."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, ParameterError, catalogue, entry
from dpcore.core import Entry
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.randomness import Preview
from dplab.audit.sampled import Audit, audit
from dplab.audit.settings import REFUSED, ROWS, AuditSetting, audit_setting, exactly_on_two_rows
from dplab.measure import finish

ADD = Neighbours.ADD_REMOVE_ONE
NOT_FOR_ALL_DATA = {"sparse_histogram", "unbounded_mean"}
"""Their promise is about data drawn at random, or far out."""


def settings() -> list[Any]:
    settings: list[Any] = []
    for each in catalogue():
        for neighbours in Neighbours:
            try:
                audit_setting(each, each.make(**each.tiny), neighbours)
            except ParameterError:
                continue
            settings.append(pytest.param(each, neighbours, id=f"{each.key}-{neighbours}"))
    return settings


def audited(tried: AuditSetting, *, seed: int, rounds: tuple[int, ...] = (1_000, 3_000)) -> Audit:
    guarantee = tried.guarantee
    return finish(audit(tried.draw, epsilon=guarantee.epsilon, delta=guarantee.delta, seed=seed, rounds=rounds))


@pytest.mark.slow
@pytest.mark.parametrize(("each", "neighbours"), settings())
def test_a_mechanism_of_the_catalogue_is_not_refuted(each: Entry, neighbours: Neighbours, seed: int) -> None:
    tried = audit_setting(each, each.make(**each.tiny), neighbours)
    if each.key in NOT_FOR_ALL_DATA:
        assert tried.guarantee.gamma > 0
        return
    assert not tried.guarantee.gamma
    assert not audited(tried, seed=seed).refuted


def test_every_mechanism_has_a_setting_and_data_that_differ_in_one_row() -> None:
    cases = settings()
    assert {case.values[0].key for case in cases} == {each.key for each in catalogue()}
    for neighbours, rows in ((Neighbours.REPLACE_ONE, ROWS), (ADD, ROWS - 1)):
        one, other = audit_setting(entry("identity"), entry("identity").make(), neighbours).states
        moved = one.histogram - other.histogram
        assert tuple(sorted(np.abs(moved)[moved != 0])) == neighbours.histogram_shift
        assert (one.histogram.sum(), other.histogram.sum()) == (ROWS, rows)


@pytest.mark.slow
def test_random_privacy_is_refuted_as_differential_privacy(seed: int) -> None:
    """Which is why its gamma stays out of a ledger."""
    tried = audit_setting(entry("sparse_histogram"), entry("sparse_histogram").make(), Neighbours.REPLACE_ONE)
    result = audited(tried, seed=seed, rounds=(1_000, 10_000, 300_000))
    # A cell that holds the lone row on one data set alone is 0 there half the time, and always on the other.
    assert result.refuted and result.least > 3 * tried.guarantee.epsilon
    long = finish(audit(tried.draw, epsilon=1.0, seed=seed, rounds=(300_000,)))
    share = (0.001 / 2) / 150_000
    assert 7 < long.least < math.log(1 / share)


class Louder(IdentityHistogram):
    """Says less than it spends."""

    def run(self, state: Any, sampler: Any, trials: int = 1) -> Any:
        return dataclasses.replace(
            IdentityHistogram(epsilon=2 * self.epsilon).run(state, sampler, trials),
            guarantee=self.guarantee(state.problem),
        )


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_mechanism_that_spends_twice_what_it_says_is_refuted(neighbours: Neighbours, seed: int) -> None:
    result = audited(audit_setting(entry("identity"), Louder(epsilon=1.0), neighbours), seed=seed, rounds=(10_000,))
    assert result.refuted and result.least <= 2


def test_a_refusal_is_one_outcome(seed: int) -> None:
    each = entry("stable_median")
    outcomes = audit_setting(each, each.make(epsilon=0.1), Neighbours.REPLACE_ONE).draw(0, Preview(seed), 200)
    assert (outcomes == REFUSED).all(axis=1).mean() > 0.5


def test_no_proof_no_setting() -> None:
    with pytest.raises(ParameterError, match="replacing one of n rows"):
        audit_setting(entry("sparse_histogram"), entry("sparse_histogram").make(), ADD)


def test_the_exact_loss_of_two_rows_or_nothing_where_it_takes_too_long() -> None:
    for neighbours in Neighbours:
        assert exactly_on_two_rows(entry("identity"), entry("identity").make(epsilon=0.7), neighbours) == (
            pytest.approx(0.7)
        )
        assert exactly_on_two_rows(entry("intervals-anchored"), entry("intervals-anchored").make(), neighbours) is None
        assert exactly_on_two_rows(entry("residual-planner"), entry("residual-planner").make(), neighbours) is None
    # Two rows are too few for what is promised of data drawn at random.
    sparse = entry("sparse_histogram")
    assert exactly_on_two_rows(sparse, sparse.make(), Neighbours.REPLACE_ONE) is None
    with pytest.raises(ParameterError):
        exactly_on_two_rows(entry("subsample_commonest"), entry("subsample_commonest").make(), ADD)
