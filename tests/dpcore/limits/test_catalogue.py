"""No mechanism of the catalogue beats a lower bound that applies to it; one that only claims to be private does.

Bounds of failure chances and recovered shares hold for random secrets, so each run draws its own. Averages are compared
with what is allowed by Hoeffding's bound at significance 1e-6 a test; promises and risks are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpcore
from dpcore.core import (
    Booleans,
    Bound,
    BoundKind,
    DataRelease,
    Dataset,
    DomainType,
    Entry,
    Floats,
    Guarantee,
    HistogramRelease,
    HistogramState,
    Integers,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    epsilon_param,
)
from dpcore.limits.attacks import halves, vc
from dpcore.limits.attacks.group_counts import SUBSET_SUMS
from dpcore.limits.bounds import median, minimax, walk
from dpcore.limits.chance import after_steps, binomial_interval, replacement_steps
from dpcore.queries.ranges import classes_for
from dpcore.randomness import PublicCoins, Sampler
from tests.cases import full_but, one_relation
from tests.kit.statistics import surprise

SIGNIFICANCE = 1e-6
RUNS = 300
GENERATED = dpcore.Provenance(kind=dpcore.ProvenanceKind.GENERATED, title="limits")


@dataclass(frozen=True, kw_only=True)
class Exact(Mechanism):
    """The control: publishes the data as they are, and claims a privacy loss all the same."""

    epsilon: float = epsilon_param()

    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=self.epsilon, neighbours=problem.neighbours)

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        return Bound(value=0.0, kind=BoundKind.GUARANTEE, statement="exact", reference="none", beta=beta)

    def prepare(self, dataset: Dataset, problem: Problem) -> HistogramState:
        return HistogramState(problem=problem, histogram=dataset.histogram)

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        return HistogramRelease(
            problem=state.problem,
            guarantee=self.guarantee(state.problem),
            sampler=sampler.name,
            refused=np.zeros(trials, dtype=np.bool_),
            counts=np.repeat(state.histogram[None], trials, axis=0),
        )


CONTROL = Entry(
    key="exact",
    mechanism=Exact,
    title="",
    story="",
    domains=(DomainType.NUMBER, DomainType.LABELS),
    queries=(dpcore.Thresholds, dpcore.Intervals, dpcore.Cells),
    references=(),
)

RELEASING = [entry for entry in (*dpcore.catalogue(), SUBSET_SUMS) if entry.mechanism.releases == "data"]
ENTRIES = pytest.mark.parametrize("entry", RELEASING, ids=lambda entry: entry.key)
BOTH = pytest.mark.parametrize("neighbours", list(Neighbours))


def made(entry: Entry, *, epsilon: float) -> Mechanism:
    """The entry's mechanism, with the parameters it declares for tiny universes."""
    controls = entry.controls()
    return entry.make(**{key: value for key, value in entry.tiny.items() if key in controls} | {"epsilon": epsilon})


def problems(entry: Entry, *, bits: int, rows: int, neighbours: Neighbours) -> Iterator[Problem]:
    """A problem on a line of shattered points, for the first query class the entry serves; none if it serves none."""
    domain = dpcore.Number(bits=bits)
    for kind in classes_for(domain):
        if entry.serves(queries := kind(domain=domain)):
            yield Problem(domain=domain, queries=queries, n=rows, neighbours=neighbours)
            return


def released(mechanism: Mechanism, records: Integers, problem: Problem, sampler: Sampler, trials: int) -> DataRelease:
    release = mechanism.run(mechanism.prepare(Dataset(problem.domain, records, GENERATED), problem), sampler, trials)
    assert isinstance(release, DataRelease)
    return release


def bounded(mechanism: Mechanism, problem: Problem) -> Guarantee | None:
    """The guarantee that bounds are about; None if the mechanism gives none here, or allows more on unlikely data."""
    try:
        guarantee = mechanism.guarantee(problem)
    except ParameterError:
        return None
    return guarantee if guarantee.gamma == 0 else None


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """Shares recovered and worst errors over halves, (RUNS,) each, every run with its own secret half."""

    shares: Floats
    errors: Floats


def attacked(mechanism: Mechanism, problem: Problem, *, repeats: int, seed: int) -> Attacked:
    sampler, points = dpcore.Preview(seed), problem.domain.ordered
    truths: Booleans = halves.random_half(sampler, points=points, trials=RUNS)
    shares, errors = np.empty(RUNS), np.empty(RUNS)
    for run, truth in enumerate(truths):
        release = released(mechanism, np.repeat(np.flatnonzero(truth), repeats), problem, sampler, 1)
        shares[run] = halves.recovered(vc.reconstruct(release), truth)[0]
        errors[run] = np.nan_to_num(vc.worst_half_error(release, truth)[0], nan=np.inf)
    return Attacked(shares=shares, errors=errors)


def verdicts(mechanism: Mechanism, problem: Problem, *, repeats: int, beta: float, seed: int) -> tuple[float, float]:
    """How surprising the recovery and the accuracy would be if the guarantee were true."""
    guarantee = mechanism.guarantee(problem)
    attack = attacked(mechanism, problem, repeats=repeats, seed=seed)
    claim: dict[str, Any] = {
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "repeats": repeats,
        "neighbours": problem.neighbours,
    }
    ceiling = vc.recovery_ceiling(**claim)
    bound = vc.error_bound(**claim, beta=beta, points=problem.domain.ordered)
    accurate = float((attack.errors < bound.value - 1e-9).mean())
    return (
        surprise(float(attack.shares.mean()), limit=ceiling, trials=RUNS),
        surprise(accurate, limit=1 - beta, trials=RUNS),
    )


@pytest.mark.slow
@ENTRIES
@one_relation
@pytest.mark.parametrize(("bits", "repeats"), full_but([(1, 1), (2, 2), (3, 1)], (3, 1)))
@pytest.mark.parametrize("epsilon", full_but([1.0, 0.1, 3.0], 1.0))
def test_no_entry_beats_vc_reconstruction(
    entry: Entry, epsilon: float, bits: int, repeats: int, neighbours: Neighbours, seed: int
) -> None:
    for problem in problems(entry, bits=bits, rows=repeats * 2**bits // 2, neighbours=neighbours):
        mechanism = made(entry, epsilon=epsilon)
        if bounded(mechanism, problem):
            broken, accurate = verdicts(mechanism, problem, repeats=repeats, beta=0.02, seed=seed)
            assert broken > SIGNIFICANCE
            assert accurate > SIGNIFICANCE


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(("bits", "repeats"), [(1, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_control_beats_vc_reconstruction(
    epsilon: float, bits: int, repeats: int, neighbours: Neighbours, seed: int
) -> None:
    for problem in problems(CONTROL, bits=bits, rows=repeats * 2**bits // 2, neighbours=neighbours):
        broken, accurate = verdicts(made(CONTROL, epsilon=epsilon), problem, repeats=repeats, beta=0.1, seed=seed)
        assert broken < SIGNIFICANCE
        assert (
            accurate < SIGNIFICANCE
            or vc.error_bound(epsilon=epsilon, repeats=repeats, neighbours=neighbours, beta=0.1, points=2**bits).value
            == 0
        )


@pytest.mark.slow
@ENTRIES
@pytest.mark.parametrize("epsilon", full_but([0.05, 0.3, 1.0], 0.3))
@pytest.mark.parametrize(("n", "bits"), full_but([(3, 6), (5, 7)], (3, 6)))
def test_no_entry_finds_medians_beyond_the_wall(entry: Entry, epsilon: float, n: int, bits: int, seed: int) -> None:
    # Corollary 5.2: binary search in a release of n equal rows, at a random place.
    # At every place, as often: a mechanism may favour some, and the claim is about the average over all of them.
    sampler, trials = dpcore.Preview(seed), 4096 >> bits
    for problem in problems(entry, bits=bits, rows=n, neighbours=Neighbours.REPLACE_ONE):
        mechanism = made(entry, epsilon=epsilon)
        guarantee = bounded(mechanism, problem)
        if guarantee is None:
            continue
        hits = 0
        for place in range(2**bits):
            release = released(mechanism, np.full(n, place), problem, sampler, trials)
            hits += int((walk.median_of_release(release) == place).sum())
        low, _ = binomial_interval(hits, 4096, confidence=1 - 2 * SIGNIFICANCE)
        # Right with chance p on average over the places, an answer has chance (1 - p)/(N - 1) on average elsewhere.
        allowed = after_steps((1 - low) / (2**bits - 1), epsilon=epsilon, steps=n, delta=guarantee.delta)
        assert low <= allowed


def test_the_control_finds_every_median(seed: int) -> None:
    for problem in problems(CONTROL, bits=8, rows=5, neighbours=Neighbours.REPLACE_ONE):
        release = released(Exact(epsilon=0.3), np.full(5, 77), problem, dpcore.Preview(seed), 100)
        assert (walk.median_of_release(release) == 77).all()
        low, _ = binomial_interval(100, 100, confidence=1 - 2 * SIGNIFICANCE)
        assert low > np.exp(median.any_private(bits=8, n=5, epsilon=0.3))


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
@pytest.mark.parametrize(("n", "bits"), [(3, 6), (5, 7)])
def test_hits_that_would_show_a_false_claim(n: int, bits: int, epsilon: float) -> None:
    """Of 4,096 answers, three quarters right are already more than a mechanism of this privacy loss may have."""
    low, _ = binomial_interval(3072, 4096, confidence=1 - 2 * SIGNIFICANCE)
    assert low > after_steps((1 - low) / (2**bits - 1), epsilon=epsilon, steps=n)


def walked_too_far(promise: Bound, guarantee: Guarantee, problem: Problem) -> bool:
    """Return whether a promise for thresholds or intervals would answer medians more often than any mechanism can."""
    if promise.kind is not BoundKind.GUARANTEE or not promise.applies or promise.value >= 0.5:
        return False
    steps = replacement_steps(problem.neighbours, rows=problem.n)
    start = promise.beta / (problem.domain.ordered - 1)
    reach = after_steps(start, epsilon=guarantee.epsilon, steps=steps, delta=guarantee.delta)
    return bool(1 - promise.beta > reach + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("entry", [*RELEASING, CONTROL], ids=lambda entry: entry.key)
@pytest.mark.parametrize("sizes", [(4, 9), pytest.param((8, 12), marks=pytest.mark.full)], ids=str)
def test_no_promise_is_beyond_the_wall(entry: Entry, sizes: tuple[int, ...]) -> None:
    # Exactly: if every threshold is within α < 1/2 with chance 1 - β, binary search finds medians with that chance.
    impossible = checked = 0
    for bits in sizes:
        for kind in (dpcore.Thresholds, dpcore.Intervals):
            queries = kind(domain=dpcore.Number(bits=bits))
            if not entry.serves(queries):
                continue
            for n, epsilon, beta, neighbours in (
                (n, epsilon, beta, neighbours)
                for n in (1, 5, 20, 100, 1000)
                for epsilon in (0.01, 0.1, 1.0)
                for beta in (0.001, 0.05, 0.4)
                for neighbours in Neighbours
            ):
                problem = Problem(domain=queries.domain, queries=queries, n=n, neighbours=neighbours)
                try:
                    mechanism = made(entry, epsilon=epsilon)
                    promise, guarantee = mechanism.accuracy(problem, beta), bounded(mechanism, problem)
                except ParameterError:
                    continue  # the mechanism says that it does not serve this size
                if guarantee:
                    checked += 1
                    impossible += walked_too_far(promise, guarantee, problem)
    if entry is CONTROL:
        assert impossible > 100
    else:
        assert impossible == 0
        assert checked or not {dpcore.Thresholds, dpcore.Intervals} & set(entry.queries)


def surprising_risk(mechanism: Mechanism, problem: Problem, *, delta: float, epsilon: float, seed: int) -> float:
    """How surprising the losses on random corners of the minimax witness would be for a private mechanism.

    What the proof uses is each pair's loss, cut to the most it needs to count: a number in [0, 2τ/n].
    """
    sampler, rows = dpcore.Preview(seed), problem.n
    pairs = minimax.best_pairs(cells=8, rows=rows, epsilon=epsilon, delta=delta)
    assert pairs.pairs == 4
    signs = sampler.draw(PublicCoins(2, columns=4), RUNS) == 1
    losses = np.empty((RUNS, 4))
    for run, corner in enumerate(pairs.corner(signs)):
        release = released(mechanism, np.repeat(np.arange(8), corner), problem, sampler, 1)
        distances = np.abs(np.nan_to_num(release.histogram()[0], nan=np.inf) - corner).reshape(4, 2).sum(axis=1)
        losses[run] = np.minimum(distances, 2 * pairs.shift) / (2 * pairs.shift)
    least = pairs.risk / (4 * 2 * pairs.shift / rows)
    return surprise(1 - float(losses.mean()), limit=1 - least, trials=RUNS)


@pytest.mark.slow
@ENTRIES
@pytest.mark.parametrize("epsilon", full_but([0.2, 1.0], 1.0))
def test_no_entry_has_a_smaller_risk_than_the_minimax(entry: Entry, epsilon: float, seed: int) -> None:
    for problem in problems(entry, bits=3, rows=40, neighbours=Neighbours.REPLACE_ONE):
        mechanism = made(entry, epsilon=epsilon)
        if guarantee := bounded(mechanism, problem):
            risk = surprising_risk(mechanism, problem, delta=guarantee.delta, epsilon=epsilon, seed=seed)
            assert risk > SIGNIFICANCE


def test_the_control_has_a_smaller_risk(seed: int) -> None:
    for problem in problems(CONTROL, bits=3, rows=40, neighbours=Neighbours.REPLACE_ONE):
        assert surprising_risk(Exact(epsilon=0.2), problem, delta=0.0, epsilon=0.2, seed=seed) < SIGNIFICANCE
