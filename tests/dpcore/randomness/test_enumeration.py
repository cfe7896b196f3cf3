"""Enumerate's laws against laws worked out by hand, and against previews; the closed forms of single draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import Enumerate, Number, ParameterError, Preview, Problem, Provenance, ProvenanceKind, Thresholds
from dpcore.core import (
    Booleans,
    Bound,
    BoundKind,
    Dataset,
    Guarantee,
    HistogramRelease,
    HistogramState,
    Integers,
    Mechanism,
)
from dpcore.randomness import (
    Choice,
    FairSplit,
    GaussianCounts,
    MedianCuts,
    NoisyComparisons,
    NoisyCounts,
    PublicCoins,
    Sampler,
)
from dpcore.randomness.cuts import cut_scores
from dpcore.randomness.laws import clamped_law, gaussian_masses, laplace_mass, laplace_quantile, laplace_tail
from tests.kit.problems import Clamped, counts_release, outcomes_of
from tests.kit.statistics import CONTROL, assert_law, assert_other_law, tally_rows

LINE = Number(bits=1)
PROBLEM = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=3)
DATASET = Dataset(LINE, np.array([0, 0, 1]), Provenance(kind=ProvenanceKind.GENERATED, title="three rows"))
STATE = HistogramState(problem=PROBLEM, histogram=DATASET.histogram)
Draw = Callable[[Sampler, int], Integers]


@dataclass(frozen=True, kw_only=True)
class Toy(Mechanism):
    """Publishes what a function draws; refuses where its first column is -1."""

    draw: Draw

    def guarantee(self, problem: Problem) -> Guarantee:
        return Guarantee(epsilon=1.0, neighbours=problem.neighbours)

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        return Bound(value=np.inf, kind=BoundKind.ORDER_ONLY, statement="none", reference="none")

    def prepare(self, dataset: Dataset, problem: Problem) -> HistogramState:
        return STATE

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        counts = self.draw(sampler, trials)
        assert len(counts) == trials
        return counts_release(state.problem, counts, refused=counts[:, 0] == -1)


def law_of(draw: Draw, *, window: tuple[int, int] = (0, 2)) -> dict[tuple[float, ...], float]:
    """The enumerated law as outcome -> chance; chances add up to 1."""
    outcomes, chances = Enumerate(window=window).law(Toy(draw=draw), STATE)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert (chances > 0).all()
    return {tuple(row): float(chance) for row, chance in zip(outcomes.tolist(), chances, strict=True)}


def same(found: dict[tuple[float, ...], float], wanted: dict[tuple[float, ...], float]) -> None:
    """Fail unless both laws have the same outcomes with the same chances."""
    assert found.keys() == wanted.keys()
    for outcome, chance in wanted.items():
        assert found[outcome] == pytest.approx(chance, rel=1e-12)


def two_draws(epsilon: float = 1.0) -> Draw:
    """A noisy count of 1, then a choice between three candidates that depends on it."""

    def draw(sampler: Sampler, trials: int) -> Integers:
        count = sampler.draw(NoisyCounts(np.array([[1]]), epsilon=1.0, sensitivity=2.0), trials)
        scores = np.concatenate([count, np.zeros_like(count), -count], axis=1)
        chosen = sampler.draw(Choice(scores, epsilon=epsilon, sensitivity=1.0), trials)
        return np.stack([count[:, 0], chosen], axis=1)

    return draw


def test_two_adaptive_draws_by_hand() -> None:
    p = np.exp(-1 / 2)
    noisy = {0: p / (1 + p), 1: (1 - p) / (1 + p), 2: p / (1 + p)}  # clamped to 0..2
    wanted: dict[tuple[float, ...], float] = {}
    for count, chance in noisy.items():
        weights = np.exp(np.array([count, 0, -count]) / 2)
        for chosen in range(3):
            wanted[float(count), float(chosen)] = chance * weights[chosen] / weights.sum()
    same(law_of(two_draws()), wanted)


def test_previews_follow_the_enumerated_law(seed: int) -> None:
    """200,000 previews; a control whose choice is made at 1.3 times the epsilon is rejected."""
    known, chances = Enumerate(window=(-30, 30)).law(Toy(draw=two_draws()), STATE)
    for epsilon, check in ((1.0, assert_law), (CONTROL, assert_other_law)):
        sampler = Clamped(Preview(seed), (-30, 30))
        check(tally_rows(outcomes_of(Toy(draw=two_draws(epsilon)), DATASET, PROBLEM, sampler, 200_000), known), chances)


def test_refusals_are_one_outcome_whatever_led_to_them() -> None:
    def draw(sampler: Sampler, trials: int) -> Integers:
        coins = sampler.draw(PublicCoins(4, columns=2), trials)
        coins[:, 0] = np.where(coins[:, 0] < 3, -1, 0)
        return coins

    wanted: dict[tuple[float, ...], float] = {(0.0, float(coin)): 1 / 16 for coin in range(4)}
    same(law_of(draw), wanted | {(np.inf, np.inf): 0.75})


def test_every_kind_of_draw_in_one_run() -> None:
    def draw(sampler: Sampler, trials: int) -> Integers:
        gauss = sampler.draw(GaussianCounts(np.array([[1]]), sigma=1.0, squared_shift=1), trials)
        heads = sampler.draw(FairSplit(gauss), trials)
        above = sampler.draw(NoisyComparisons(heads, gauss, epsilon=1.0, sensitivity=1.0), trials)
        return np.concatenate([gauss, heads, above], axis=1).astype(np.int64)

    z = np.arange(-60, 61)
    masses = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    gauss = [masses[z <= -1].sum(), masses[60], masses[z >= 1].sum()]
    binomial = [[1.0], [0.5, 0.5], [0.25, 0.5, 0.25]]
    p = np.exp(-1)
    reach = {0: 1 - p / (1 + p), 1: p / (1 + p), 2: p**2 / (1 + p)}
    wanted: dict[tuple[float, ...], float] = {}
    for count in range(3):
        for heads, chance in enumerate(binomial[count]):
            yes = reach[count - heads]
            wanted[float(count), float(heads), 1.0] = gauss[count] * chance * yes
            wanted[float(count), float(heads), 0.0] = gauss[count] * chance * (1 - yes)
    same(law_of(draw), wanted)


def test_the_same_sampler_can_be_asked_again() -> None:
    sampler = Enumerate(window=(0, 3))
    wide = Toy(draw=lambda sampler, trials: sampler.draw(PublicCoins(3, columns=2), trials))
    for toy in (Toy(draw=two_draws()), wide, Toy(draw=two_draws())):
        for ours, theirs in zip(sampler.law(toy, STATE), Enumerate(window=(0, 3)).law(toy, STATE), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_what_cannot_be_enumerated_is_an_error() -> None:
    with pytest.raises(ParameterError, match="Too many paths"):
        law_of(lambda sampler, trials: sampler.draw(PublicCoins(100, columns=4), trials))
    for window in ((1, 1), (2, 0)):
        with pytest.raises(ParameterError, match="window"):
            Enumerate(window=window)


cumulatives = st.lists(st.integers(0, 3), min_size=1, max_size=5).map(lambda cells: np.cumsum([0, *cells]))


@pytest.mark.slow
@given(cumulatives, st.data())
def test_cuts_are_the_exponential_mechanism(cumulative: Integers, data: st.DataObject) -> None:
    last = len(cumulative) - 1
    middle = data.draw(st.integers(0, last))
    low = np.array([[0, middle]])
    high = np.array([[max(0, middle - 1), last]])

    def draw(sampler: Sampler, trials: int) -> Integers:
        return sampler.draw(MedianCuts(cumulative, low, high, epsilon=1.0, sensitivity=2.0), trials)

    wanted: dict[tuple[float, ...], float] = {}
    laws = []
    for a, b in zip(low[0], high[0], strict=True):
        rows = [cumulative[c] - cumulative[a] for c in range(a, b + 1)]
        weights = np.exp([-0.25 * abs(2 * r - rows[-1]) for r in rows])
        laws.append({a + k: w / weights.sum() for k, w in enumerate(weights)})
    for one, chance in laws[0].items():
        for other, second in laws[1].items():
            wanted[float(one), float(other)] = float(chance * second)
    same(law_of(draw), wanted)


@pytest.mark.slow
@given(cumulatives)
def test_a_row_moves_the_scores_of_a_cut_by_at_most_one(cumulative: Integers) -> None:
    """The sensitivity mechanisms tell MedianCuts: 1 when a row is added, so 2 when it is replaced."""
    ends = np.array([0]), np.array([len(cumulative) - 1])
    before = cut_scores(cumulative, *ends)[0]
    for cell in range(len(cumulative) - 1):
        added = cumulative + (np.arange(len(cumulative)) > cell)
        assert np.abs(cut_scores(added, *ends)[0] - before).max() == 1


@pytest.mark.parametrize("scale", [0.05, 0.5, 2.0, 100.0])
def test_laplace_tails_and_masses(scale: float) -> None:
    z = np.arange(-20, 21)
    wide = np.exp(-np.abs(np.arange(-5000, 5001)) / scale)
    wide /= wide.sum()
    np.testing.assert_allclose(laplace_mass(z, scale=scale), wide[4980:5021], rtol=1e-9)
    np.testing.assert_allclose(laplace_tail(z, scale=scale), [wide[5000 + j :].sum() for j in z], rtol=1e-9)
    for tail in (0.9, 0.3, 1e-3, 1e-9):
        j = laplace_quantile(tail, scale=scale)
        assert 2 * laplace_tail(j, scale=scale) <= tail * (1 + 1e-12)
        assert j == 1 or 2 * laplace_tail(j - 1, scale=scale) > tail


@pytest.mark.parametrize("sigma", [1e-3, 0.3, 1.0, 7.0])
def test_gaussian_masses(sigma: float) -> None:
    reach, masses = gaussian_masses(sigma)
    assert len(masses) == 2 * reach + 1
    assert masses.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_array_equal(masses, masses[::-1])
    np.testing.assert_allclose(masses[reach + 1] / masses[reach], np.exp(-1 / (2 * sigma**2)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0])
def test_clamped_laws(kind: str, scale: float) -> None:
    values, (low, high) = np.array([-2, 0, 3, 200]), (-1, 4)
    z = np.arange(-1000, 1001)
    weights = np.exp(-np.abs(z) / scale) if kind == "laplace" else np.exp(-z * z / (2 * scale**2))
    weights /= weights.sum()
    found = clamped_law(values, window=(low, high), kind=kind, scale=scale)
    for value, law in zip(values, found, strict=True):
        wanted = np.bincount(np.clip(value + z, low, high) - low, weights=weights, minlength=6)
        np.testing.assert_allclose(law, wanted, rtol=1e-9, atol=1e-300)


def test_permute_and_flip_is_never_worse() -> None:
    """McKenna and Sheldon (2020): the best candidate's chance is at least the exponential mechanism's."""

    def draw(rule: str) -> Draw:
        scores: Integers = np.array([[0, -1, -1, -3]])
        allowed: Booleans = np.array([[True, True, False, True]])
        return lambda sampler, trials: sampler.draw(
            Choice(scores, epsilon=1.0, sensitivity=1.0, rule=rule, allowed=allowed), trials
        )[:, None]

    exponential, flipped = law_of(draw("exponential")), law_of(draw("permute_and_flip"))
    assert exponential.keys() == flipped.keys() == {(0.0,), (1.0,), (3.0,)}
    assert flipped[0.0,] > exponential[0.0,]
