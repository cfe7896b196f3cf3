"""Effect of one row on a vote among subsamples of the data, and the plans that follow.

A subsample is ``rows`` rows drawn from the n rows with replacement; ``subsamples`` of them are drawn independently. One
row gets into a subsample with chance 1 - (1 - 1/n)^rows, so the number of subsamples it gets into is binomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.core.bisection import least_whole
from dpcore.mechanisms.subsamples.votes import binomial_law
from dpcore.randomness.laws import laplace_tail

USUAL_BETA = 0.05
"""The chance of a refusal for which plans are made."""
GRID = 12
"""Steps of a search."""
MAX_SUBSAMPLES = 1 << 30
"""Subsamples a plan may have."""
MAX_TRIED = 1 << 20
"""Subsamples among which the fewest are looked for."""
VOTE_RESOLUTION = 512
"""Numbers of votes within one standard deviation that are told apart."""


def row_chance(*, n: int, rows: int) -> float:
    """Return the chance that a given row is in a subsample."""
    return -math.expm1(rows * math.log1p(-1 / n)) if n > 1 else 1.0


@lru_cache(maxsize=64)
def subsamples_with_a_row(*, n: int, rows: int, subsamples: int) -> tuple[int, Floats]:
    """Return the law of the number of subsamples that a given row is in, as binomial_law; public, so it may be kept."""
    return binomial_law(draws=subsamples, chance=row_chance(n=n, rows=rows))


def subsample_delta(*, epsilon: float, cap: float, threshold: int, subsamples: int, n: int, rows: int) -> float:
    """Return the δ of releasing the commonest answer when its votes plus discrete Laplace noise reach a threshold.

    Noise has scale cap/epsilon. Couple the subsamples of two neighbours by drawing the same row numbers; let j be the
    number of subsamples the differing row is in. Then at most j votes change. Given j,

    - same commonest answer: its votes differ by at most j, and a noisy comparison moved by j exceeds e^epsilon by at
      most 1 - 2 e^(epsilon/2) p^((j+1)/2)/(1+p), p = e^(-epsilon/cap), and by nothing when j <= cap;
    - another commonest answer: on both sides the winner has at most floor(subsamples/2) + j votes (it leads by at most
      2j), so either is released with at most the chance that noise makes up the rest to the threshold, and that chance
      is the slack (a refusal adds nothing to it).

    The slack of a mixture is at most the average slack, here over the binomial j. j = 0 costs nothing.
    """
    return _slack(epsilon, cap, subsamples=subsamples, n=n, rows=rows)(threshold)


def _slack(epsilon: float, cap: float, *, subsamples: int, n: int, rows: int) -> Callable[[int], float]:
    """The same for any threshold: what does not depend on it is worked out once."""
    first, chances = subsamples_with_a_row(n=n, rows=rows, subsamples=subsamples)
    j = np.arange(first, first + len(chances))
    scale = cap / epsilon
    p, positive = math.exp(-1 / scale), chances * (j > 0)
    moved = np.where(j > cap, 1 - 2 * np.exp((epsilon - (j + 1) / scale) / 2) / (1 + p), 0.0)
    max_votes = np.minimum(subsamples, subsamples // 2 + j)

    def slack(threshold: int) -> float:
        flipped = laplace_tail(threshold - max_votes, scale=scale)
        return float((positive * np.maximum(flipped, moved)).sum())

    return slack


@dataclass(frozen=True, kw_only=True)
class SubsamplingPlan:
    """Number of subsamples, noise of scale cap/epsilon, votes needed (noise included), and the δ that follows."""

    subsamples: int
    cap: float
    threshold: int
    delta: float


@lru_cache(maxsize=256)
def calibrated_plan(*, epsilon: float, delta: float, n: int, rows: int, subsamples: int) -> SubsamplingPlan:
    """The cap and threshold that need fewest votes in all, noise included, among those whose slack is at most delta.

    Each cap has a least threshold. Caps are tried on a grid, then on finer ones around the best, down to neighbours.
    """
    first, chances = subsamples_with_a_row(n=n, rows=rows, subsamples=subsamples)
    largest = first + len(chances) - 1
    low, high = max(1, int((first + chances @ np.arange(len(chances))) / 2)), max(1, largest)
    margin = -math.log(2 * USUAL_BETA) / epsilon
    plans: dict[int, SubsamplingPlan] = {}
    best_caps: set[int] = set()
    while True:
        caps = sorted({round(low * (high / low) ** (step / GRID)) for step in range(GRID + 1)} | best_caps)
        for cap in caps:
            if cap not in plans:
                plans[cap] = _least_threshold(epsilon, delta, n=n, rows=rows, subsamples=subsamples, cap=cap)
        best = min(plans, key=lambda cap: plans[cap].threshold + cap * margin)
        if len(caps) == high - low + 1:
            return plans[best]
        best_caps, place = {best}, caps.index(best)
        low, high = caps[max(0, place - 1)], caps[min(len(caps) - 1, place + 1)]


def _least_threshold(
    epsilon: float, delta: float, *, n: int, rows: int, subsamples: int, cap: float
) -> SubsamplingPlan:
    """Return the least threshold above half the votes at which the slack is at most delta."""
    slack = _slack(epsilon, cap, subsamples=subsamples, n=n, rows=rows)
    # All votes plus noise so wide that e^-60 of it is left: if this is not enough, no threshold is.
    low, high = subsamples // 2, subsamples + math.ceil(60 * cap / epsilon)
    below, above = slack(low), slack(high)
    if above > delta:
        return SubsamplingPlan(subsamples=subsamples, cap=cap, threshold=1 << 62, delta=above)
    halve = False
    while high - low > 1:
        # The slack falls about exponentially, so a chord through its logarithms nearly hits; halving where it does not.
        share = 0.5 if halve or not below > delta else math.log(below / delta) / math.log(below / max(above, 1e-300))
        guess = min(max(low + math.ceil(share * (high - low)), low + 1), high - 1)
        delta_of_guess, width = slack(guess), high - low
        if delta_of_guess <= delta:
            high, above = guess, delta_of_guess
        else:
            low, below = guess, delta_of_guess
        halve = not halve and high - low > width // 2
    return SubsamplingPlan(subsamples=subsamples, cap=cap, threshold=high, delta=above)


def paper_plan(*, epsilon: float, n: int, rows: int) -> SubsamplingPlan:
    """Return the notes' parameters: k = epsilon (n/m)^3, noise of scale 2km/(epsilon n), threshold above 5k/8.

    Their slack by our account, which is smaller than the explicit one of the notes' proof (see paper_delta).
    """
    subsamples = math.ceil(epsilon * (n / rows) ** 3)
    if subsamples > MAX_SUBSAMPLES:
        raise ParameterError(f"The paper's parameters need {subsamples:,} subsamples: choose larger subsamples.")
    cap, threshold = 2 * subsamples * rows / n, 5 * subsamples // 8 + 1
    delta = subsample_delta(epsilon=epsilon, cap=cap, threshold=threshold, subsamples=subsamples, n=n, rows=rows)
    if not delta < 1:
        raise ParameterError("The paper's parameters guarantee nothing for so few rows: choose smaller subsamples.")
    return SubsamplingPlan(subsamples=subsamples, cap=cap, threshold=threshold, delta=delta)


def paper_delta(*, epsilon: float, n: int, rows: int) -> float:
    """Return the slack that the notes' proof of Theorem 4 gives with its constants worked out, for rows <= n/64.

    e^(-2 k m^2/n^2) for a row in too many subsamples, and half e^(-epsilon n/(64 m)) for split votes.
    """
    if 64 * rows > n:
        raise ParameterError("The paper's proof needs subsamples of at most n/64 rows.")
    subsamples = math.ceil(epsilon * (n / rows) ** 3)
    return math.exp(-2 * subsamples * (rows / n) ** 2) + 0.5 * math.exp(-epsilon * n / (64 * rows))


def answer_chance(plan: SubsamplingPlan, *, epsilon: float, agreement: float) -> float:
    """Chance that an answer that each subsample gives with chance ``agreement`` has most votes and is released.

    Exact up to a million subsamples. For more, the law of the votes is read off at every s-th number, 512 of them to a
    standard deviation, which is right to better than 0.001.
    """
    votes, chances = _law_of_votes(plan.subsamples, agreement)
    released = laplace_tail(plan.threshold - votes, scale=plan.cap / epsilon)
    return float((chances * np.where(2 * votes > plan.subsamples, released, 0.0)).sum())


def _law_of_votes(subsamples: int, agreement: float) -> tuple[Integers, Floats]:
    """Return the numbers of votes and their chances."""
    deviation = math.sqrt(subsamples * agreement * (1 - agreement))
    step = int(deviation / VOTE_RESOLUTION)
    if step < 2:
        first, chances = binomial_law(draws=subsamples, chance=agreement)
        return np.arange(first, first + len(chances)), chances
    from scipy.special import gammaln

    middle = round(subsamples * agreement)
    votes = middle + step * np.arange(-9 * VOTE_RESOLUTION, 9 * VOTE_RESOLUTION + 1)
    votes = votes[(votes >= 0) & (votes <= subsamples)]
    logs = votes * math.log(agreement) + (subsamples - votes) * math.log1p(-agreement)
    chances = np.exp(gammaln(subsamples + 1) - gammaln(votes + 1) - gammaln(subsamples - votes + 1) + logs)
    return votes, chances / chances.sum()


def agreement_needed(plan: SubsamplingPlan, *, epsilon: float, beta: float) -> float:
    """The least agreement (to 0.0001, rounded up) at which the answer is given with chance 1 - beta; inf if none is."""

    def is_enough(agreement: int) -> bool:
        return answer_chance(plan, epsilon=epsilon, agreement=agreement / 10_000) >= 1 - beta

    return least_whole(is_enough, 5000, 10_000) / 10_000 if is_enough(10_000) else math.inf


def _roughly_enough(*, epsilon: float, delta: float, share: float, agreement: float, beta: float) -> int:
    """Estimate the smallest number of subsamples, mostly within a factor of 3; MAX_TRIED if none may be enough.

    A row is in about share * k subsamples, up to some deviations more; noise of that scale over epsilon is lifted over
    the threshold with chance delta, and falls short of it with chance beta.
    """
    noise = 1 - math.log(4 * delta * beta) / epsilon
    left = agreement - 0.5 - share * noise
    if left <= 0:
        return MAX_TRIED
    deviations = math.sqrt(-2 * math.log(delta) * share) * noise + math.sqrt(-math.log(beta) / 8)
    return max(1, min(MAX_TRIED, round((deviations / left) ** 2 + noise / left)))


@lru_cache(maxsize=64)
def min_subsamples(
    *, epsilon: float, delta: float, n: int, rows: int, agreement: float = 0.75, beta: float = USUAL_BETA
) -> int | None:
    """Return about the fewest subsamples (to 2%) with which data of such agreement get an answer, up to chance beta.

    None if even 2^20 are too few: then a row is in too large a share of them, and only smaller subsamples help.
    """

    def enough(subsamples: int) -> bool:
        plan = calibrated_plan(epsilon=epsilon, delta=delta, n=n, rows=rows, subsamples=subsamples)
        return answer_chance(plan, epsilon=epsilon, agreement=agreement) >= 1 - beta

    high = _roughly_enough(
        epsilon=epsilon, delta=delta, share=row_chance(n=n, rows=rows), agreement=agreement, beta=beta
    )
    low = high // 2
    while not enough(high):
        if high >= MAX_TRIED:
            return None
        low, high = high, min(2 * high, MAX_TRIED)
    while low and enough(low):
        low, high = low // 2, low
    while high > 1.02 * low + 1:
        middle = round(math.sqrt(low * high))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
