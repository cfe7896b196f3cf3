"""The ε that an error needs: rounded up, enough, hardly more than enough, and confirmed on coins of its own."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtrc

from dpcore import Cells, Dataset, Intervals, Number, Problem, Provenance, ProvenanceKind, entry
from dpcore.core import Mechanism, Neighbours, ParameterError
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms import serving
from dpcore.randomness import Preview
from dplab import solve
from dplab.measure import ErrorReport, finish, measure
from dplab.solve import (
    HIGHEST,
    KAPPA,
    LOWEST,
    entries_by_promised_epsilon,
    impossible_below,
    least_epsilon,
    likely_epsilon,
    make_mechanism,
    needed_epsilons,
    promised_epsilon,
    round_down,
    round_up,
    simulated_epsilon,
)

BETA = 0.05
LINE = Number(bits=3)
DATASET = Dataset(LINE, np.repeat(np.arange(8), 125), Provenance(kind=ProvenanceKind.GENERATED, title="even"))
CELLS = Problem(domain=LINE, queries=Cells(domain=LINE), n=DATASET.n)
INTERVALS = Problem(domain=LINE, queries=Intervals(domain=LINE), n=DATASET.n)


def digits(epsilon: float) -> bool:
    """Return whether a number has at most three digits."""
    return float(f"{epsilon:.3g}") == epsilon


@pytest.mark.parametrize("least", [0.0012345, 0.29999, 0.3, 1.0, 7.7777, 19.999])
def test_the_least_epsilon_is_enough_and_rounded_up(least: float) -> None:
    smallest = least_epsilon(lambda epsilon: epsilon >= least)
    assert smallest is not None and digits(smallest) and least <= smallest <= least * 1.011


def test_the_ends_of_what_is_tried() -> None:
    assert least_epsilon(lambda _: True) == LOWEST
    assert least_epsilon(lambda _: False) is None
    # Enough at the end alone: no three digits between it and what is not enough.
    assert least_epsilon(lambda epsilon: epsilon >= HIGHEST) == HIGHEST


@pytest.mark.parametrize("epsilon", [0.28701, 0.5, 0.001, 19.95, 1.0])
def test_rounding_keeps_to_its_side(epsilon: float) -> None:
    assert (
        round_down(epsilon) <= epsilon <= round_up(epsilon)
        and digits(round_down(epsilon))
        and digits(round_up(epsilon))
    )
    assert round_up(epsilon) <= epsilon * 1.011 and round_down(epsilon) >= epsilon / 1.011


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "targets"),
    [
        ("identity", (0.02, 0.05, 0.2)),
        ("gaussian", (0.02, 0.05, 0.2)),
        ("projected_histogram", (0.02, 0.05, 0.2)),
        ("intervals-anchored", (0.2, 0.4)),
    ],
)
def test_a_promise_is_kept_at_its_epsilon_and_not_much_below(key: str, targets: tuple[float, ...]) -> None:
    problem, last = Problem(domain=LINE, queries=Intervals(domain=LINE), n=10_000), math.inf
    for target in targets:
        promised = promised_epsilon(entry(key), problem, target=target, beta=BETA, values={})
        assert promised is not None and digits(promised) and promised <= last, "a larger error needs no more"
        last = promised

        def promise(epsilon: float, target: float = target) -> float:
            return make_mechanism(entry(key), target=target, values={}, epsilon=epsilon).accuracy(problem, BETA).value

        assert promise(promised) <= target < promise(promised / 1.02)


def test_what_no_epsilon_promises_has_none() -> None:
    assert promised_epsilon(entry("net"), INTERVALS, target=0.01, beta=BETA, values={}) is None
    assert promised_epsilon(entry("intervals-anchored"), INTERVALS, target=0.01, beta=BETA, values={}) is None


def test_who_promises_whatever_the_data_are_is_ranked() -> None:
    problem = Problem(domain=LINE, queries=Intervals(domain=LINE), n=10_000)
    keys = ("net", "intervals-anchored", "identity", "gaussian")
    epsilons = entries_by_promised_epsilon([entry(key) for key in keys], problem, target=0.2, beta=BETA, values={})
    assert [epsilon for _, epsilon in epsilons] == sorted(epsilon for _, epsilon in epsilons)
    assert dict(epsilons) == {
        key: epsilon
        for key in keys
        if (epsilon := promised_epsilon(entry(key), problem, target=0.2, beta=BETA, values={})) is not None
    }
    assert {"identity", "gaussian", "intervals-anchored"} <= set(dict(epsilons))
    named = dataclasses.replace(problem, neighbours=Neighbours.ADD_REMOVE_ONE)
    assert entries_by_promised_epsilon([entry("identity")], named, target=0.02, beta=BETA, values={}), (
        "n is taken to be as it is named"
    )
    assert not entries_by_promised_epsilon([entry("net")], INTERVALS, target=0.01, beta=BETA, values={})


def test_nobody_promises_it_below_the_wall() -> None:
    last = math.inf
    for target in (0.002, 0.005, 0.02):
        wall = impossible_below(CELLS, target=target, beta=BETA, delta=0.0)
        assert digits(wall) and 0 < wall < last
        assert impossible_below(CELLS, target=target, beta=BETA, delta=1e-3) <= wall, "a slack helps"
        last = wall
        bound = lower_bound(
            CELLS, make_mechanism(entry("identity"), target=target, values={}, epsilon=wall).guarantee(CELLS), beta=BETA
        )
        assert bound is not None and bound.value > target
        promised = promised_epsilon(entry("identity"), CELLS, target=target, beta=BETA, values={})
        assert promised is None or promised > wall
    assert impossible_below(CELLS, target=0.9, beta=BETA, delta=0.0) == 0


def failure(epsilon: float, *, target: float) -> float:
    """The exact chance that the identity histogram errs by more than the target in one of the eight cells."""
    p = math.exp(-epsilon / 2)
    rows = math.floor(target * DATASET.n + 1e-9)
    return float(1 - (1 - 2 * p ** (rows + 1) / (1 + p)) ** LINE.size)


def identity(epsilon: float) -> Mechanism:
    return entry("identity").make(epsilon=epsilon)


def too_small(find: Callable[[int], float | None], *, target: float, seeds: int) -> list[float]:
    """Return the true failure rate of each returned ε, seed by seed."""
    epsilons = [find(seed) for seed in range(seeds)]
    assert None not in epsilons
    return [failure(epsilon, target=target) for epsilon in epsilons if epsilon is not None]


@pytest.mark.slow
def test_a_confirmed_epsilon_fails_as_seldom_as_it_says_and_an_unconfirmed_one_does_not() -> None:
    target, seeds, loose = 0.02, 150, 0.2

    def confirmed(seed: int) -> float | None:
        work = simulated_epsilon(identity, DATASET, CELLS, target=target, beta=loose, seed=seed, kappa=KAPPA)
        confirmed_epsilon = finish(work)
        return confirmed_epsilon.epsilon if confirmed_epsilon and digits(confirmed_epsilon.epsilon) else None

    def unconfirmed(seed: int) -> float | None:
        return finish(likely_epsilon(identity, DATASET, CELLS, target=target, beta=loose, seed=seed))

    def refuted(rates: list[float]) -> bool:
        """Return whether so many failing values of ε have a probability below 0.1% if κ holds."""
        wrong = sum(rate > loose for rate in rates)
        return wrong > 0 and bool(bdtrc(wrong - 1, len(rates), KAPPA) < 1e-3)

    failing = too_small(confirmed, target=target, seeds=seeds)
    assert not refuted(failing)
    assert refuted(too_small(unconfirmed, target=target, seeds=seeds)), "the control must be caught"
    least = least_epsilon(lambda epsilon: failure(epsilon, target=target) <= loose)
    assert least is not None
    epsilons = sorted(confirmed(seed) or math.inf for seed in range(9))
    assert epsilons[4] <= 1.25 * least, "not much more than needed"


def test_confirming_uses_other_coins_than_the_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def preview(seed: int) -> Preview:
        seeds.append(seed)
        return Preview(seed)

    monkeypatch.setattr("dplab.solve.Preview", preview)
    confirmed_epsilon = finish(simulated_epsilon(identity, DATASET, CELLS, target=0.02, beta=BETA, seed=3))
    assert confirmed_epsilon is not None and confirmed_epsilon.releases == 1200 and confirmed_epsilon.failures < 60
    pilot = [seed for seed in seeds if seed == 3]
    fresh = seeds[len(pilot) :]
    assert len(pilot) > 9 and fresh and len(set(fresh)) == len(fresh) and 3 not in fresh


def test_no_more_is_drawn_once_too_many_releases_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many cells are drawn in blocks of a few releases, and what is found is what whole runs find."""
    line = Number(bits=15)
    data = Dataset(line, np.arange(1000), DATASET.provenance)
    problem, drawn = Problem(domain=line, queries=Cells(domain=line), n=data.n), []
    settings: dict[str, Any] = {"target": 0.05, "beta": 0.2, "seed": 3}

    def counted(*given: Any, whole: bool, **named: Any) -> Generator[float, None, ErrorReport]:
        report = yield from measure(*given, **{**named, "enough": None} if whole else named)
        drawn.append((report.trials, named["trials"], int((~(report.worst <= 0.05)).sum())))
        return report

    counts = []
    for whole in (True, False):
        monkeypatch.setattr(solve, "measure", partial(counted, whole=whole))
        counts.append(finish(simulated_epsilon(identity, data, problem, **settings)))
    assert counts[0] == counts[1] is not None
    runs = len(drawn) // 2
    assert [each[1] for each in drawn[:runs]] == [each[1] for each in drawn[runs:]]
    assert all(most == trials for trials, most, _ in drawn[:runs])
    for (_, most, failed), (trials, _, seen) in zip(drawn[:runs], drawn[runs:], strict=True):
        assert trials == most or seen <= failed, "only what fails too often is cut short"
    assert any(trials < most for trials, most, _ in drawn[runs:])


def test_what_cannot_reach_the_target_is_given_up() -> None:
    # One that never gets better, whatever it is given.
    work = simulated_epsilon(lambda _: identity(LOWEST), DATASET, CELLS, target=0.5, beta=BETA, seed=1)
    assert finish(work) is None


@pytest.mark.slow
def test_all_mechanisms_are_ranked_and_the_slow_are_told() -> None:
    entries = serving(INTERVALS.queries)
    needs = finish(needed_epsilons(entries, DATASET, INTERVALS, target=0.1, beta=BETA, values={}, seed=1))
    assert {need.key for need in needs} == {each.key for each in entries}
    ranked = [need.least for need in needs]
    assert ranked == sorted(ranked) and ranked[0] < 1
    for need in needs:
        if need.simulated and need.promised:
            assert need.simulated.epsilon <= need.promised * 1.05, "a promise holds on all data"
    with pytest.raises(ParameterError, match="between 0 and 1"):
        finish(needed_epsilons(entries, DATASET, INTERVALS, target=1.0, beta=BETA, values={}, seed=1))
    large = Number(bits=14)
    data = Dataset(large, np.zeros(1000, dtype=np.int64), DATASET.provenance)
    problem = Problem(domain=large, queries=Intervals(domain=large), n=1000)
    (net,) = finish(needed_epsilons([entry("net")], data, problem, target=0.1, beta=BETA, values={}, seed=1))
    assert net.slow and net.simulated is None
