"""The exact audit against pairs, divergences and chances worked out by hand or by brute force."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from dpcore import Neighbours, Number, ParameterError, Problem, Thresholds
from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    Guarantee,
    HistogramState,
    Mechanism,
    ValueRelease,
    epsilon_param,
    param,
)
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.randomness import NoisyComparisons, Sampler
from dplab.audit import (
    Law,
    aligned,
    datasets,
    divergences,
    exact_delta,
    exact_epsilon,
    exact_gamma,
    hockey_stick,
    neighbouring_pairs,
    smallest_epsilon,
)

REPLACE, ADD_REMOVE = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE
Rows = tuple[int, ...]


def brute_pairs(*, size: int, rows: int, neighbours: Neighbours) -> set[frozenset[Rows]]:
    """Neighbouring data sets found by comparing everything with everything, row order ignored."""
    pairs_by_brute_force = set()
    for one in product(range(size), repeat=rows):
        if neighbours is ADD_REMOVE:
            pairs_by_brute_force |= {
                frozenset({tuple(sorted(one)), tuple(sorted((*one, cell)))}) for cell in range(size)
            }
            continue
        for place, cell in product(range(rows), range(size)):
            other = (*one[:place], cell, *one[place + 1 :])
            if sorted(one) != sorted(other):
                pairs_by_brute_force.add(frozenset({tuple(sorted(one)), tuple(sorted(other))}))
    return pairs_by_brute_force


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("size", "rows"), [(1, 2), (2, 1), (2, 3), (3, 3), (5, 2)])
def test_pairs_by_brute_force(size: int, rows: int, neighbours: Neighbours) -> None:
    pairs = list(neighbouring_pairs(size=size, rows=rows, neighbours=neighbours))
    listed = {frozenset({pair.one, pair.other}) for pair in pairs}
    assert len(listed) == len(pairs), "a pair came twice"
    assert listed == brute_pairs(size=size, rows=rows, neighbours=neighbours)
    if neighbours is ADD_REMOVE:
        assert all(len(pair.other) == len(pair.one) + 1 == rows + 1 for pair in pairs)


def test_data_sets() -> None:
    assert list(datasets(size=2, rows=2)) == [(0, 0), (0, 1), (1, 1)]
    assert len(list(datasets(size=5, rows=3))) == math.comb(7, 3)
    assert list(datasets(size=3, rows=0)) == [()]


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_chances_of_pairs_by_brute_force(neighbours: Neighbours) -> None:
    """Over all n + 1 rows drawn one by one; the last one joins, or replaces the one before it."""
    masses, n = np.array([0.5, 0.3, 0.2]), 3
    wanted: defaultdict[frozenset[Rows], float] = defaultdict(float)
    for rows in product(range(3), repeat=n + 1):
        one, other = rows[:n], rows if neighbours is ADD_REMOVE else (*rows[: n - 1], rows[n])
        wanted[frozenset({tuple(sorted(one)), tuple(sorted(other))})] += float(np.prod(masses[list(rows)]))
    pairs = list(neighbouring_pairs(size=3, rows=n, neighbours=neighbours))
    for pair in pairs:
        assert pair.chance(masses) == pytest.approx(wanted[frozenset({pair.one, pair.other})], rel=1e-12)
    unchanged = (masses**2).sum() if neighbours is REPLACE else 0.0
    assert sum(pair.chance(masses) for pair in pairs) == pytest.approx(1 - unchanged, rel=1e-12)


def law(outcomes: dict[float, float]) -> Law:
    """Single-column outcomes and their chances."""
    return np.array([[value] for value in outcomes]), np.array(list(outcomes.values()))


def test_hockey_stick_by_hand() -> None:
    one, other = law({0: 0.5, 1: 0.3, 2: 0.2}), law({1: 0.1, 3: 0.4, 0: 0.5})
    assert hockey_stick(one, other, epsilon=0.0) == pytest.approx(0.4)  # 0 + 0.2 + 0.2: total variation
    assert hockey_stick(one, other, epsilon=math.log(2)) == pytest.approx(0.3)  # 0 + 0.1 + 0.2
    assert hockey_stick(other, one, epsilon=math.log(2)) == pytest.approx(0.4)  # only the 3
    assert hockey_stick(one, one, epsilon=0.0) == 0
    p, q = aligned(one, other)
    assert p.sum() == pytest.approx(1)
    assert q.sum() == pytest.approx(1)
    with pytest.raises(ParameterError, match="widths"):
        hockey_stick(one, (np.zeros((1, 2)), np.ones(1)), epsilon=0.0)


@dataclass(frozen=True, kw_only=True)
class RandomisedResponse(Mechanism):
    """One person's bit, kept with chance e^epsilon/(1 + e^epsilon); claims a share of that epsilon."""

    epsilon: float = epsilon_param()
    claim: float = param(1.0, 0.0, 1.0, label="Share of epsilon that is claimed")
    zeros: bool = param(False, label="Ask about cell 0 instead of cell 1")
    gamma: float = param(0.0, 0.0, 0.9, label="Claimed failure over the draw of the data")

    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=self.claim * self.epsilon, gamma=self.gamma, neighbours=problem.neighbours)

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        return Bound(value=math.inf, kind=BoundKind.ORDER_ONLY, statement="none", reference="Warner (1965)")

    def prepare(self, dataset: Dataset, problem: Problem) -> HistogramState:
        return HistogramState(problem=problem, histogram=dataset.histogram)

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> ValueRelease:
        # Noise reaches 1 from 0 with chance p/(1 + p), and from 1 with chance 1/(1 + p), p = e^-epsilon.
        released = state.histogram[None, :1] if self.zeros else state.histogram[None, 1:]
        yes = sampler.draw(NoisyComparisons(released, 1, epsilon=self.epsilon, sensitivity=1), trials)
        return ValueRelease(
            problem=state.problem,
            guarantee=self.guarantee(state.problem),
            sampler=sampler.name,
            refused=np.zeros(trials, dtype=np.bool_),
            values=yes[:, 0].astype(np.int64),
        )


LINE = Number(bits=1)
ONE_PERSON = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomised_response_has_its_textbook_delta(epsilon: float) -> None:
    for claim in (0.0, 0.5, 1.0):
        finding = exact_delta(RandomisedResponse(epsilon=epsilon, claim=claim), ONE_PERSON)
        wanted = (math.exp(epsilon) - math.exp(claim * epsilon)) / (1 + math.exp(epsilon))
        assert finding.delta == pytest.approx(wanted, rel=1e-12, abs=1e-15)
        assert (finding.pairs, finding.pair.one, finding.pair.other) == (1, (0,), (1,))
    assert exact_delta(RandomisedResponse(epsilon=epsilon, claim=0.0), ONE_PERSON).delta == pytest.approx(
        math.tanh(epsilon / 2)
    )


@pytest.mark.parametrize("zeros", [False, True])
def test_both_directions_are_looked_at(zeros: bool) -> None:
    """Check that the larger of the two directions counts where they differ, with several people."""
    problem = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=3)
    mechanism = RandomisedResponse(epsilon=1.0, claim=0.5, zeros=zeros)
    p = math.exp(-1)
    yes = [p / (1 + p), 1 / (1 + p), 1 - p**2 / (1 + p), 1 - p**3 / (1 + p)]  # by the number of rows asked about
    by_pair = dict(divergences(mechanism, problem))
    for pair, delta in by_pair.items():
        a, b = (yes[rows.count(int(not zeros))] for rows in (pair.one, pair.other))
        sides = [(a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a)]
        by_direction = [
            sum(max(x - math.exp(0.5) * y, 0) for x, y in (sides[0], sides[2])),
            sum(max(x - math.exp(0.5) * y, 0) for x, y in (sides[1], sides[3])),
        ]
        assert delta == pytest.approx(max(by_direction), abs=1e-14)
    assert exact_delta(mechanism, problem).delta == max(by_pair.values())


def test_gamma_of_a_claim_that_fails_for_some_pairs() -> None:
    """At a third of epsilon every pair is bad, but it takes two rows that differ to make one."""
    masses = [np.array([0.5, 0.5]), np.array([0.8, 0.2]), np.array([1.0, 0.0])]
    mechanism = RandomisedResponse(epsilon=1.0, claim=1 / 3, gamma=0.5)
    np.testing.assert_allclose(exact_gamma(mechanism, ONE_PERSON, masses=masses), [0.5, 0.32, 0.0], atol=1e-12)
    correct = RandomisedResponse(epsilon=1.0, gamma=0.5)
    assert not exact_gamma(correct, ONE_PERSON, masses=masses).any()


def chances_of(*chances: float) -> Law:
    return np.arange(len(chances), dtype=np.float64)[:, None], np.array(chances)


@pytest.mark.parametrize("seed", range(30))
def test_the_least_epsilon_is_where_the_divergence_meets_delta(seed: int) -> None:
    random = np.random.default_rng(seed)
    p, q = random.dirichlet(np.full(6, 0.5), size=2)
    for delta in (0.0, 0.01, 0.2):
        epsilon = smallest_epsilon(chances_of(*p), chances_of(*q), delta=delta)
        assert hockey_stick(chances_of(*p), chances_of(*q), epsilon=epsilon) <= delta + 1e-12
        if epsilon > 0:
            assert hockey_stick(chances_of(*p), chances_of(*q), epsilon=epsilon - 1e-6) > delta


def test_the_least_epsilon_by_hand() -> None:
    assert smallest_epsilon(chances_of(0.75, 0.25), chances_of(0.25, 0.75)) == pytest.approx(math.log(3))
    assert smallest_epsilon(chances_of(0.5, 0.5), chances_of(0.5, 0.5)) == 0
    assert smallest_epsilon(chances_of(0.5, 0.5, 0.0), chances_of(0.4, 0.4, 0.2)) == pytest.approx(math.log(1.25))
    assert smallest_epsilon(chances_of(0.4, 0.4, 0.2), chances_of(0.5, 0.5, 0.0)) == math.inf
    assert smallest_epsilon(chances_of(0.4, 0.4, 0.2), chances_of(0.5, 0.5, 0.0), delta=0.2) == 0
    # Half of the mass at ratio 3 is let through by delta.
    assert smallest_epsilon(chances_of(0.75, 0.25), chances_of(0.25, 0.75), delta=0.25) == pytest.approx(math.log(2))


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_histogram_needs_the_epsilon_that_it_names(neighbours: Neighbours) -> None:
    line = Number(bits=1)
    problem = Problem(domain=line, queries=Thresholds(domain=line), n=2, neighbours=neighbours)
    for epsilon in (0.3, 2.0):
        exact = exact_epsilon(IdentityHistogram(epsilon=epsilon), problem)
        assert exact.epsilon == pytest.approx(epsilon) and exact.pairs > 1
    assert exact_epsilon(IdentityHistogram(epsilon=2.0), problem, delta=0.1).epsilon < 1.9
    gaussian = exact_epsilon(GaussianHistogram(epsilon=1.0, delta=0.05), problem, window=(-40, 40))
    assert 0.99 < gaussian.epsilon <= 1 + 1e-9
