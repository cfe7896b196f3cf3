"""A mechanism that protects every person, and reveals the population.

Differential privacy hides any one row. It does not promise that two samples of the *same* population look alike: that
is distributional privacy. This module shows a question whose private answer differs grossly between two such samples.
Count the rows with a 1, and fold the count like a ruler of length m: 0, 1, .., m-1, m-1, .., 1, 0, 0, 1, .. One row
moves the answer by 1 at most, so Laplace noise of scale 1/ε makes it ε-private. But the count of a large random
sample wanders by about √n, far more than m, so the folded answers of two samples are as good as independent. With m =
2/ε they are 1/ε or more apart, which the noise does not hide, in about (1 + ε)/4 of all pairs.

Everything here is exact: no sampling. Laws of counts are binomial, or hypergeometric when samples are drawn without
replacement from a finite population.

Notation (paper): modulus = m; fold = F_m; epsilon = ε; beta = β.

References:
    Blum, Ligett and Roth (2013), Definitions 7.1 to 7.4, Theorems 7.3 and 7.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Floats, Integers, ParameterError
from dpcore.limits.chance import check_loss

MAX_ROWS = 1_000_000


def fold(counts: ArrayLike, *, modulus: int) -> Integers:
    """The mirrored remainder F_m: x mod m if x mod 2m < m, else (-x - 1) mod m; neighbours in, neighbours out."""
    if modulus < 1:
        raise ParameterError(f"The modulus must be at least 1, got {modulus}.")
    x = np.asarray(counts, dtype=np.int64)
    return np.where(x % (2 * modulus) < modulus, x % modulus, (-x - 1) % modulus)


def default_modulus(epsilon: float) -> int:
    """⌈2/ε⌉, the paper's 2/ε made whole."""
    check_loss(epsilon=epsilon)
    return math.ceil(2 / epsilon - 1e-12)


def count_law(*, n: int, population: int | None = None) -> Floats:
    """Chance of each count of ones, 0..n, in n rows drawn from a population half of which are ones: (n + 1,).

    Args:
        n: rows of a sample.
        population: size of the population, even and at least n; None for one without end.
    """
    if not 1 <= n <= MAX_ROWS:
        raise ParameterError(f"n must lie between 1 and {MAX_ROWS:,}, got {n}.")
    from scipy.special import gammaln

    ones = np.arange(n + 1, dtype=np.float64)

    def choose(total: float, some: Floats) -> Floats:
        inside = (some >= 0) & (some <= total)
        counts = np.where(inside, some, 0.0)
        logs: Floats = np.where(inside, gammaln(total + 1) - gammaln(counts + 1) - gammaln(total - counts + 1), -np.inf)
        return logs

    if population is None:
        logs = choose(n, ones)
    elif population < n or population % 2:
        raise ParameterError(f"The population must be even and at least n, got {population}.")
    else:
        logs = choose(population / 2, ones) + choose(population / 2, n - ones)
    law: Floats = np.exp(logs - logs.max())
    law /= law.sum()
    return law


@dataclass(frozen=True, kw_only=True, eq=False)
class Separation:
    """Distance between two samples of one population under the folded count.

    Attributes:
        epsilon: loss between neighbours, which one row never exceeds: the guarantee of differential privacy.
        modulus: m.
        answer: chance of each folded count 0..m-1, shape (m,).
        gap: chance of each difference 0..m-1 between the answers of two independent samples, shape (m,).
    """

    epsilon: float
    modulus: int
    answer: Floats
    gap: Floats

    def loss_reaches(self, loss: float) -> float:
        """Return the chance that two samples of the same population are told apart with a loss of at least so much.

        With Laplace noise of scale 1/ε the loss between answers g apart is exactly εg, and some outcomes attain it.
        """
        losses = self.epsilon * np.arange(self.modulus)
        return float(self.gap[losses >= loss - 1e-9].sum())

    def chances(self, *, limit: int = 200) -> tuple[Floats, Floats]:
        """Losses that occur, at most so many of them and the largest among them; chance to reach each, (K,) each."""
        steps = np.unique(np.linspace(0, self.modulus - 1, min(self.modulus, limit)).round())
        losses = self.epsilon * steps
        return losses, np.array([self.loss_reaches(float(loss)) for loss in losses])

    def beta(self, loss: float) -> float:
        """Smallest β for which the mechanism is (loss, β)-distributionally private for this population and n."""
        losses = self.epsilon * np.arange(self.modulus)
        return float(self.gap[losses > loss + 1e-9].sum())

    @property
    def far(self) -> float:
        """Chance that the answers are at least 1/ε apart: Theorem 7.5's event."""
        return self.loss_reaches(1.0)


def separation(*, n: int, epsilon: float, modulus: int | None = None, population: int | None = None) -> Separation:
    """Return the exact law of the gap between two samples of n rows each.

    Args:
        n: rows of each sample.
        epsilon: privacy loss of the released answer.
        modulus: m; by default ⌈2/ε⌉.
        population: see count_law.
    """
    length = default_modulus(epsilon) if modulus is None else modulus
    answer: Floats = np.zeros(length)
    np.add.at(answer, fold(np.arange(n + 1), modulus=length), count_law(n=n, population=population))
    # The law of a difference is a correlation of the law with itself: sums of what is not negative, so that a gap that
    # cannot be is exactly 0. A Fourier transform would leave 1e-17 there.
    gap: Floats = np.correlate(answer, answer, "full")[length - 1 :].copy()
    gap[1:] *= 2
    return Separation(epsilon=epsilon, modulus=length, answer=answer, gap=np.clip(gap, 0, 1))


def limit_far(epsilon: float) -> float:
    """Return the limit of Separation.far for large n, when 2/ε is an even whole number: (1 + ε)/4."""
    check_loss(epsilon=epsilon)
    modulus = round(2 / epsilon)
    if modulus < 1 or modulus % 2 or abs(modulus * epsilon - 2) > 1e-9:
        raise ParameterError("The limit is (1 + ε)/4 only where 2/ε is an even whole number.")
    return (1 + epsilon) / 4


def differential_from(*, n: int) -> float:
    """The β below which distributional privacy implies differential privacy, rows distinct: 1/(n + 1)² (Theorem 7.3).

    Of n + 1 rows, two samples of n leave out one row each; a given ordered pair comes up with this chance.
    """
    if n < 1:
        raise ParameterError(f"n must be at least 1, got {n}.")
    return 1 / (n + 1) ** 2


def giveaway(*, n: int, replacement: bool) -> float:
    """Chance that exactly one of two samples is D*, which a mechanism publishes whenever it is drawn: its least β.

    The paper's example for the words "without replacement". Drawn with replacement, as n fair coins, the rarest
    database has chance 2^-n: such a mechanism keeps distributional privacy for a β of about 2^(1-n), and is not
    differentially private at any ε. Drawn without replacement from D* and one row more, D* has chance 1/(n + 1).

    Args:
        n: rows of a sample.
        replacement: whether rows are drawn with it.
    """
    if n < 1:
        raise ParameterError(f"n must be at least 1, got {n}.")
    chance = 0.5**n if replacement else 1 / (n + 1)
    return 2 * chance * (1 - chance)
