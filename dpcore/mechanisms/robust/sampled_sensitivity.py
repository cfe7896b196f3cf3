"""Noise by sampled sensitivity: any statistic, under random differential privacy, from a public distribution.

Few statistics have a useful global sensitivity. Here it is sampled instead: m times, two data sets that differ in one
row are drawn from a *public* distribution, and the k-th smallest of the m differences of the statistic sets the noise.
The private rows are never used for it; sensitivity sampled from them would itself reveal them.

Why it is (epsilon, gamma)-random DP, if the rows are independent draws from that distribution: let G be the difference
for the rows and a replaced one. G and the m sampled differences are exchangeable, and of m + 1 numbers at most m + 1 -
k have k others below them. So G exceeds the k-th smallest of the others with probability at most gamma = (m + 1 - k)/(m
+ 1), over rows and samples. Otherwise Laplace noise of scale Δ/epsilon, Δ the k-th smallest, hides the replaced row.
Rubinstein and Aldà prove the same by the DKW inequality, which takes more samples: m ≥ ln(1/ρ)/(2(gamma - ρ)²) for some
ρ below gamma, and k = ⌈m(1 - gamma + ρ + √(ln(1/ρ)/(2m)))⌉.

Why there are previews only: gamma has no place in a ledger of ε and δ, and no test shows what rows were drawn from.

A statistic is rounded to whole millionths of its unit before anything else, so noise is drawn on whole numbers, and
differences are those of the rounded statistic.

Notation (paper): epsilon = ε; samples = m; order = k; gamma = γ; Δ = Δ̂.

References:
    Rubinstein and Aldà (2017), Algorithm 1 and Theorem 15; Hall, Rinaldo and Wasserman (2013), Definition 1, section 6;
    Chaudhuri and Monteleoni (2008) for regularised logistic regression.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Guarantee, Integers, Neighbours, ParameterError
from dpcore.randomness import NoisyCounts, Sampler

UNITS = 1_000_000
"""Steps of a statistic's unit."""
STEPS = 40
"""Halvings in which a root is found: finer than a millionth."""
TUNING = 0.1
"""Distance, as a share of the range, beyond which a row pulls Huber's estimator no harder."""
PENALTY = 0.01
"""λ of the regularised logistic regression."""
BLOCK = 1 << 21
"""Counts drawn at once."""
MAX_SAMPLES = 100_000
WINDOW = 1000
"""Data sets tried in a row for the least sensitivity that holds for all data."""
WHY_NOT = (
    "γ has no place in a ledger of ε and δ. It is a share of the data sets that could have been sampled, and nothing "
    "tests what your rows were sampled from. So noise by sampled sensitivity has previews only."
)


def _root(falling: Callable[[Floats], Floats], shape: int, *, low: float, high: float) -> Floats:
    """Return the roots of decreasing functions, (S,) to (S,), by bisection."""
    ends = np.full(shape, low), np.full(shape, high)
    for _ in range(STEPS):
        middle = (ends[0] + ends[1]) / 2
        above = falling(middle) > 0
        ends = np.where(above, middle, ends[0]), np.where(above, ends[1], middle)
    root: Floats = (ends[0] + ends[1]) / 2
    return root


def huber(counts: Floats) -> Floats:
    """Return Huber's M-estimator of location, a share of the range: where the capped pulls of all rows cancel."""
    cells = counts.shape[1]
    places = np.arange(cells) / max(1, cells - 1)

    def pull(at: Floats) -> Floats:
        total: Floats = (counts * np.clip(places - at[:, None], -TUNING, TUNING)).sum(axis=1)
        return total

    return _root(pull, len(counts), low=0.0, high=1.0)


def log_odds(counts: Floats) -> Floats:
    """Return the logistic regression of being in the upper half of the cells on a constant, with penalty λθ²/2."""
    share = counts[:, counts.shape[1] // 2 :].sum(axis=1) / counts.sum(axis=1)
    return _root(
        lambda at: share - 1 / (1 + np.exp(-at)) - PENALTY * at, len(counts), low=-1 / PENALTY, high=1 / PENALTY
    )


def mean_difference(counts: Floats) -> Floats:
    """Return the mean distance of two rows, a share of the range (Gini's): the U-statistic of |x - x'|."""
    n, cells = counts.sum(axis=1), counts.shape[1]
    below = np.cumsum(counts, axis=1)[:, :-1]
    total: Floats = 2 * (below * (n[:, None] - below)).sum(axis=1) / (n * np.maximum(n - 1, 1) * max(1, cells - 1))
    return total


STATISTICS: dict[str, Callable[[Floats], Floats]] = {
    "huber": huber,
    "logistic": log_odds,
    "gini": mean_difference,
}
"""Statistics of rows in cells: (S, cells) counts to (S,) values."""


def values(statistic: str, counts: Integers) -> Integers:
    """Return a statistic in whole millionths, (S, cells) to (S,)."""
    rounded: Integers = np.rint(STATISTICS[statistic](counts.astype(np.float64)) * UNITS).astype(np.int64)
    return rounded


def least_sensitivity(statistic: str, *, rows: int) -> int:
    """Return a lower bound on the global sensitivity in millionths: the worst replaced row, rows at both ends alone."""
    if rows <= 2 * WINDOW:
        ahead = np.arange(rows + 1)
    else:  # at an end, and where half of the rows are at each
        ahead = np.concatenate([np.arange(WINDOW), np.arange(WINDOW) + (rows - WINDOW) // 2])
    pairs = values(statistic, np.stack([rows - ahead, ahead], axis=1))
    return int(np.abs(np.diff(pairs))[np.diff(ahead) == 1].max())


def public_distribution(kind: str, cells: int) -> Floats:
    """Return a distribution on the cells that does not depend on any row, (cells,).

    Raises:
        ParameterError: an unknown kind.
    """
    place = (np.arange(cells) + 0.5) / cells
    shapes = {"even": np.ones(cells), "bell": np.exp(-(((place - 0.5) / 0.15) ** 2) / 2), "skewed": np.exp(-5 * place)}
    if kind not in shapes:
        raise ParameterError(f"The public distribution must be one of {', '.join(shapes)}.")
    shares: Floats = shapes[kind] / shapes[kind].sum()
    return shares


def min_samples(gamma: float) -> int:
    """Return the fewest samples that are enough for gamma: then the largest difference sets the noise."""
    return max(1, math.ceil(round(1 / gamma, 9)) - 1)


def order_needed(*, samples: int, gamma: float) -> int:
    """Return the smallest k for which the k-th of m differences is exceeded with probability at most gamma.

    Raises:
        ParameterError: there are too few samples for any k.
    """
    order = math.ceil(round((samples + 1) * (1 - gamma), 9))
    if not 0 < gamma < 1 or order > samples:
        needed = min_samples(gamma) if 0 < gamma < 1 else 1
        raise ParameterError(f"{samples:,} samples are too few for γ = {gamma:g}: at least {needed:,} are needed.")
    return max(1, order)


def paper_samples(gamma: float) -> tuple[int, int]:
    """Return the fewest samples m of Theorem 15 for a gamma, and its k."""
    rho = np.geomspace(gamma * 1e-6, gamma * (1 - 1e-6), 4000)
    needed = np.log(1 / rho) / (2 * (gamma - rho) ** 2)
    best = float(rho[needed[rho < 0.5].argmin()])
    samples = math.ceil(needed[rho < 0.5].min())
    return samples, min(
        samples, math.ceil(samples * (1 - gamma + best + math.sqrt(math.log(1 / best) / (2 * samples))))
    )


@dataclass(frozen=True, kw_only=True)
class SampledNoise:
    """A statistic with noise by a sampled sensitivity.

    Attributes:
        statistic: one of STATISTICS.
        distribution: public shares of the cells, (cells,).
        rows: n, public.
        epsilon: ε.
        gamma: γ.
        samples: m.
        seed: of the public samples.
    """

    statistic: str
    distribution: Floats
    rows: int
    epsilon: float
    gamma: float = 0.1
    samples: int = 500
    seed: int = 1

    def __post_init__(self) -> None:
        if self.statistic not in STATISTICS:
            raise ParameterError(f"The statistic must be one of {', '.join(STATISTICS)}.")
        if self.rows < 2 or not self.epsilon > 0 or not 1 <= self.samples <= MAX_SAMPLES:
            raise ParameterError(
                f"Sampled sensitivity needs two rows, an ε above 0 and at most {MAX_SAMPLES:,} samples."
            )
        order_needed(samples=self.samples, gamma=self.gamma)

    def guarantee(self) -> Guarantee:
        """Return (epsilon, gamma)-random DP, for rows drawn from the distribution: never releasable."""
        return Guarantee(
            epsilon=self.epsilon, gamma=self.gamma, neighbours=Neighbours.REPLACE_ONE, releasable=False, why_not=WHY_NOT
        )

    def differences(self) -> Integers:
        """Return the sampled differences of the statistic in millionths, in order, (m,): from public numbers alone."""
        generator = np.random.Generator(np.random.SFC64(self.seed))
        cells, drawn = len(self.distribution), list[Integers]()
        step = max(1, BLOCK // cells)
        for start in range(0, self.samples, step):
            pairs = min(step, self.samples - start)
            shared = generator.multinomial(self.rows - 1, self.distribution, pairs)
            both = []
            for _ in range(2):
                counts = shared.copy()
                counts[np.arange(pairs), generator.choice(cells, pairs, p=self.distribution)] += 1
                both.append(values(self.statistic, counts))
            drawn.append(np.abs(both[0] - both[1]))
        return np.sort(np.concatenate(drawn))

    def sensitivity(self, differences: Integers) -> int:
        """Return Δ in millionths, the k-th smallest of the sampled differences; at least 1, as noise needs a scale."""
        order = order_needed(samples=len(differences), gamma=self.gamma)
        return max(1, int(differences[order - 1]))

    def previews(self, histogram: Integers, sampler: Sampler, *, differences: Integers, trials: int) -> Floats:
        """Return noisy values of the statistic in its unit, (T,).

        Raises:
            ParameterError: the rows are not as many as said, or the sampler is one for releases.
        """
        if sampler.secure:
            raise ParameterError(WHY_NOT)
        if int(histogram.sum()) != self.rows:
            raise ParameterError("The number of rows is public here, and these are not as many.")
        value = values(self.statistic, histogram[None])
        scale = self.sensitivity(differences)
        noise = NoisyCounts(value[None], epsilon=self.epsilon, sensitivity=scale)
        noisy: Floats = sampler.draw(noise, trials)[:, 0] / UNITS
        return noisy
