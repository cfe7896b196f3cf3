"""The meaning of ε: posterior odds of an attacker who already suspects a person.

Someone knows everyone else in the data, and has a suspicion about you: some odds that you are the one thing rather than
the other. They look at the release. Privacy loss ε says that the odds are multiplied by e^ε at most, or divided by it:
from 1 in 10, an ε of 1 takes the chance to at most 23 in 100, an ε of 0.1 to 11 in 100. It says so for every prior
about you, every release and every attacker who knows all other rows, or to whom rows are independent. It is about ε for
replacing one row; if ε is for adding or removing one, a changed row costs 2ε. It does not say that nothing is learned
about people like you, nor that the release is harmless when the odds were bad to begin with.

With a slack δ the promise has a hole: an event of chance δ in which everything may come out. Then the odds have no
limit, but the chance of guessing right still has.

Releases add up: the odds after several are bounded by the sum of their ε. A person with several rows, or a family, gets
the ε of each.

References:
    Dwork, McSherry, Nissim and Smith (2006), appendix on semantic security; Kasiviswanathan and Smith (2014); Wasserman
    and Zhou (2010), Theorem 2.4; Kairouz, Oh and Viswanath (2017) for the best test under (ε, δ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.core import Floats, ParameterError, rounded_down, rounded_up
from dpcore.limits.chance import check_loss


def _check_prior(prior: ArrayLike) -> Floats:
    chances: Floats = np.asarray(prior, dtype=np.float64)
    if not ((chances > 0) & (chances < 1)).all():
        raise ParameterError("A prior must lie strictly between 0 and 1.")
    return chances


def posterior_range(prior: ArrayLike, *, epsilon: float) -> tuple[Floats, Floats]:
    """Return the smallest and largest chance after any release of privacy loss ε (δ = 0), elementwise on the prior."""
    check_loss(epsilon=epsilon)
    chances = _check_prior(prior)
    log_odds = np.log(chances) - np.log1p(-chances)
    low, high = (1 / (1 + np.exp(np.clip(-(log_odds + shift), -700, 700))) for shift in (-epsilon, epsilon))
    return low, high


def best_guess(prior: ArrayLike, *, epsilon: float, delta: float = 0.0) -> Floats:
    """Largest chance of guessing right after a release, over all (ε, δ)-private mechanisms and all ways to guess.

    The errors of a test, (false alarm, miss), lie above the lines through (0, 1 - δ), (e, e) and (1 - δ, 0) with
    e = (1 - δ)/(1 + e^ε); the best guess for any prior is at one of these corners.
    """
    check_loss(epsilon=epsilon, delta=delta)
    chances = _check_prior(prior)
    middle = 1 - (1 - delta) * np.exp(-epsilon) / (1 + np.exp(-epsilon))
    never, always = chances * delta + 1 - chances, chances + (1 - chances) * delta
    best: Floats = np.maximum(middle, np.maximum(never, always))
    return best


def best_guesses(prior: float, *, epsilons: Floats, delta: float = 0.0) -> Floats:
    """The same against ε, (E,)."""
    return np.array([float(best_guess(prior, epsilon=float(epsilon), delta=delta)) for epsilon in epsilons])


def witness(*, epsilon: float, delta: float = 0.0) -> Floats:
    """Return a mechanism that attains both bounds: chances of four outcomes, one row for each truth, shape (2, 4).

    With chance δ it tells the truth outright (outcomes 0 and 3); else it answers 1 or 2, randomised response.
    """
    check_loss(epsilon=epsilon, delta=delta)
    lie = (1 - delta) * np.exp(-epsilon) / (1 + np.exp(-epsilon))
    true = 1 - delta - lie
    return np.array([[delta, true, lie, 0.0], [0.0, lie, true, delta]])


@dataclass(frozen=True, kw_only=True)
class Odds:
    """An ε told as odds about one person.

    Attributes:
        prior: chance before the release.
        low: smallest chance after it; 0 with a slack.
        high: largest chance after it; 1 with a slack.
        guess_before: chance of guessing right without the release.
        guess_after: the most it can be with it.
        sentence: all this in words.
    """

    prior: float
    low: float
    high: float
    guess_before: float
    guess_after: float
    sentence: str


def posterior_odds(*, prior: float, epsilon: float, delta: float = 0.0) -> Odds:
    """Return the meaning of (ε, δ) for a person who is suspected with chance ``prior``."""
    low, high = (float(end) for end in posterior_range(prior, epsilon=epsilon))
    before, after = max(prior, 1 - prior), float(best_guess(prior, epsilon=epsilon, delta=delta))
    sentence = (
        f"An attacker thinks it {100 * prior:.3g}% likely before the release. Afterwards the attacker can "
        f"think it at most {rounded_up(100 * high)}% and at least {rounded_down(100 * low)}% likely. The "
        f"attacker guesses right at most {rounded_up(100 * after)}% of the time, "
        f"{'as before' if math.isclose(after, before) else f'instead of {100 * before:.3g}%'}."
    )
    if delta:
        sentence = f"Except with probability about {delta:g}, in which anything may be released: {sentence}"
        low, high = 0.0, 1.0
    return Odds(prior=prior, low=low, high=high, guess_before=before, guess_after=after, sentence=sentence)
