"""A secret attribute reconstructed from noisy marginals: the share of bits found by noise and by ε."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, ParameterError
from dpcore.limits.attacks import row_products, subset_sum
from dpcore.randomness import Preview
from dplab.limits.tracing import noise_of

MULTIPLES = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0)
"""Root mean square errors, in units of √n."""
LOSSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Values of ε of all marginals together."""
RUNS, LEVELS = 10, 200
ATTACKS = ("least squares", "least squares with known noise")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SecretRows:
    """Rows under attack: which sets of known attributes each has, and its secret bit; as private as the rows.

    Attributes:
        masks: rows that have all attributes of a set, (m, n).
        secret: secret bits, (n,).
        distinct: different rows of known attributes.
    """

    masks: Booleans
    secret: Booleans
    distinct: int

    @property
    def constant_share(self) -> float:
        """Share of bits that is found by always guessing the more common one."""
        share = float(self.secret.mean())
        return max(share, 1 - share)


def sample_rows(rows: Booleans, *, secret: int, size: int, people: int, seed: int) -> SecretRows:
    """Return a random sample of rows (n, d + 1), with one attribute as the secret and the others known.

    Args:
        rows: rows of yes/no attributes.
        secret: number of the secret attribute.
        size: largest number of known attributes in a set.
        people: rows of the sample, at most.
        seed: of the sample.

    Raises:
        ParameterError: there is no row, or no other attribute.
    """
    if not len(rows) or rows.shape[1] < 2:
        raise ParameterError("The attack needs a row, and an attribute besides the secret one.")
    chosen = np.random.Generator(np.random.SFC64(seed)).choice(len(rows), min(people, len(rows)), replace=False)
    known = np.delete(rows[chosen], secret, axis=1)
    return SecretRows(
        masks=row_products.row_products(known, size=size, seed=seed),
        secret=rows[chosen, secret],
        distinct=row_products.distinct_rows(known),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SecretShares:
    """Shares of the secret bits that each of ATTACKS finds.

    Attributes:
        errors: root mean square errors of the marginals in rows, (K,).
        by_noise: shares found at each, (2, K, RUNS).
        levels: a finer grid of errors over the same range, (G,).
        proved: lower bound on the share of least squares on that grid, (G,); 0 where nothing is proved.
        sigmas: standard deviation of private noise at each of LOSSES, in rows, (L,).
        by_epsilon: shares found at each, (2, L, RUNS).
    """

    errors: Floats
    by_noise: Floats
    levels: Floats
    proved: Floats
    sigmas: Floats
    by_epsilon: Floats


def sweep(attacked: SecretRows, *, delta: float, seed: int) -> Generator[float, None, SecretShares]:
    """Attack RUNS times at every error and at every ε; yields the share done.

    Errors of the first kind are Gaussian directions scaled to the root mean square error; private noise is discrete
    Gaussian and makes all marginals (ε, δ)-private together, as a row moves each of the m by 1 at most.

    Args:
        attacked: the rows.
        delta: δ of all marginals together.
        seed: of the noise.
    """
    yield 0.0
    masks, secret = attacked.masks, attacked.secret
    groups, people = masks.shape
    counts = (masks.astype(np.int64) @ secret.astype(np.int64)).astype(np.float64)
    errors = math.sqrt(people) * np.array(MULTIPLES)
    directions = np.random.Generator(np.random.SFC64(seed)).standard_normal((len(errors), RUNS, groups))
    directions *= (errors[:, None] * math.sqrt(groups) / np.linalg.norm(directions, axis=2))[:, :, None]
    laws = [noise_of(attributes=groups, epsilon=epsilon, delta=delta) for epsilon in LOSSES]
    yield 0.2
    sampler, zeros = Preview(seed), np.zeros((1, groups), dtype=np.int64)
    private = np.stack([sampler.draw(law.draw(zeros), RUNS) for law in laws])
    yield 0.5
    answers = counts + np.concatenate([directions, private]).reshape(-1, groups)
    variances = np.repeat([*errors**2, *(law.variance for law in laws)], RUNS)
    guesses = [subset_sum.least_squares(masks, answers).bits]
    yield 0.7
    guesses.append(row_products.posterior_bits(masks, answers, variances))
    yield 0.9
    shares = (np.array(guesses) == secret).mean(axis=2).reshape(len(ATTACKS), -1, RUNS)
    levels = np.linspace(0, errors[-1], LEVELS)
    return SecretShares(
        errors=errors,
        by_noise=shares[:, : len(errors)],
        levels=levels,
        proved=1 - subset_sum.max_wrong_bits(masks, error=levels) / people,
        sigmas=np.sqrt([law.variance for law in laws]),
        by_epsilon=shares[:, len(errors) :],
    )
