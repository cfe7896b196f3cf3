"""The mean without bounds: its explicit gamma by enumerating samples, and that it can never be released."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core import Dataset, Floats, Integers, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean, exception_chance, max_exceptions, scale_change, slack
from dpcore.privacy.composition import compose
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Preview

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def problem(*, n: int, bits: int = 8, missing: bool = False) -> Problem:
    domain = Number(low=0, high=2**bits, bits=bits, missing=missing)
    return Problem(domain=domain, queries=Thresholds(domain=domain), n=n)


def spread(samples: Integers, *, exceptions: int) -> Integers:
    """d of each sample (S, n): all but so many of the pairs are no further apart."""
    half = samples.shape[1] // 2
    differences = np.sort(np.abs(samples[:, :half] - samples[:, half : 2 * half]), axis=1)
    return differences[:, half - 1 - exceptions]


def exact_far_apart(population: Floats, values: Integers, *, n: int, exceptions: int) -> float:
    """Chance, over all ordered samples of n + 1 rows, that the last two differ by more than d of either data set."""
    cells = np.array(list(itertools.product(range(len(values)), repeat=n + 1)))
    chances, rows = population[cells].prod(axis=1), values[cells]
    one, other = rows[:, :n], np.concatenate([rows[:, : n - 1], rows[:, n:]], axis=1)
    allowed = np.minimum(spread(one, exceptions=exceptions), spread(other, exceptions=exceptions))
    return float(chances[np.abs(rows[:, n - 1] - rows[:, n]) > allowed].sum())


@pytest.mark.slow
@pytest.mark.parametrize(("n", "size", "exceptions"), [(6, 4, 0), (7, 3, 0), (9, 3, 0), (9, 3, 1), (14, 2, 1)])
def test_the_explicit_gamma_holds_on_every_sample(n: int, size: int, exceptions: int) -> None:
    """Every ordered sample, on populations with rare and far-away values; the claim is a bound, not a loose one."""
    values = 10 ** np.arange(size)
    claim = exception_chance(n=n, exceptions=exceptions)
    rare = [np.array([1 - (size - 1) * p] + [p] * (size - 1)) for p in (0.01, 0.05, 0.1, 0.15, 0.2, 0.3)]
    populations = [p for p in rare if p[0] > 0] + [np.full(size, 1 / size)]
    chances = [exact_far_apart(population, values, n=n, exceptions=exceptions) for population in populations]
    assert max(chances) <= claim
    assert max(chances) > claim / 4
    # Control: with one more exception than claimed some population breaks it (where there is room for one).
    if exceptions == 0:
        loose = [exact_far_apart(population, values, n=n, exceptions=2) for population in populations]
        assert max(loose) > claim


def test_it_is_sharper_than_the_inequality_of_the_paper() -> None:
    """Dvoretzky-Kiefer-Wolfowitz for both data sets separately, at the best split of delta and delta'."""
    for n, exceptions in ((200, 0), (1000, 5), (10_000, 50)):
        share = 2 * exceptions / n
        s = np.linspace(share * n / (n - 2), 1, 2000)
        paper = float((2 * (s + np.exp(-(n - 2) * (s - share * n / (n - 2)) ** 2))).min())
        assert exception_chance(n=n, exceptions=exceptions) < paper / 5


def test_exceptions_are_as_many_as_gamma_allows() -> None:
    for n, gamma in ((60, 0.1), (200, 0.1), (1001, 0.05), (5000, 0.01)):
        limit = max_exceptions(n=n, gamma=gamma)
        assert exception_chance(n=n, exceptions=limit) <= gamma * (1 + 1e-12)
        assert gamma < exception_chance(n=n, exceptions=limit + 1)
    with pytest.raises(ParameterError, match="too few"):
        UnboundedMean(gamma=0.01).guarantee(problem(n=20))


def test_it_can_never_be_released() -> None:
    setting = problem(n=1000)
    promised = UnboundedMean().guarantee(setting)
    assert not promised.releasable
    assert "previews only" in promised.why_not
    assert not compose([promised, promised]).releasable
    moving = Problem(domain=setting.domain, queries=setting.queries, n=1000, neighbours=Neighbours.ADD_REMOVE_ONE)
    with pytest.raises(ParameterError, match="replacing one"):
        UnboundedMean().guarantee(moving)


def test_the_mean_comes_out_without_cutting_off(seed: int) -> None:
    """A heavy tail that a bound would cut: the noise is a small share of the range, the mean is right."""
    rng = np.random.default_rng(seed)
    cells = np.minimum(np.floor(rng.exponential(12, 20_000)), 65_535).astype(np.int64)
    setting = problem(n=20_000, bits=16)
    mechanism = UnboundedMean(epsilon=1.0, gamma=0.05)
    release = mechanism.run(mechanism.prepare(Dataset(setting.domain, cells, MADE), setting), Preview(seed), 500)
    assert np.abs(release.values - cells.mean()).max() <= 1
    assert not release.refused.any()


def test_the_change_of_the_scale_is_that_of_every_replaced_row(seed: int) -> None:
    """Every row by every value, on small data; half of the change is too little for some of them."""
    rows = np.random.default_rng(seed).integers(1, 30, 20)
    for exceptions in (1, 2, 4):
        differences = np.sort(np.abs(rows[:10] - rows[10:]))
        change = scale_change(differences, exceptions=exceptions)
        d, ratios = max(1, int(differences[-1 - exceptions])), []
        for place, value in itertools.product(range(20), range(60)):
            replaced = rows.copy()
            replaced[place] = value
            other = max(1, int(spread(replaced[None], exceptions=exceptions)[0]))
            ratios.append(abs(math.log(other / d)))
        assert max(ratios) <= change * (1 + 1e-12)
        assert max(ratios) >= change / 2
    assert scale_change(np.arange(1, 9), exceptions=0) == math.inf
    assert slack(epsilon=1.0, change=math.inf) == 1 and slack(epsilon=1.0, change=0.0) == 0
    # α = ε/2 = 0.5 and β = 0.05: e^(−0.5/0.1).
    assert slack(epsilon=1.0, change=0.05) == pytest.approx(math.exp(-5))
