"""Choices by whole-number scores: of one candidate, of a cut of an ordered line, of a small database."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from typing_extensions import override

from dpcore.core import Booleans, Integers, ParameterError
from dpcore.randomness.candidates import Candidates, Net
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.laws import exponential_law
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import DrawnT, PureDraw, check_whole
from dpcore.randomness.secure import Secure

RULES = ("exponential", "permute_and_flip")
MAX_RACED = 1 << 12
"""Candidates of a net that OpenDP's noisy max races; above, layers counted in whole numbers are faster."""


@dataclass(frozen=True, eq=False, repr=False)
class _ScoredDraw(PureDraw[DrawnT]):
    """A choice by a rule, "exponential" or "permute_and_flip", with weights e^(epsilon * score / (2 sensitivity))."""

    rule: str = field(default="exponential", kw_only=True)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule not in RULES:
            raise ParameterError(f"The rule must be one of {', '.join(RULES)}.")


@dataclass(frozen=True, eq=False, repr=False)
class Choice(_ScoredDraw[Integers]):
    """A candidate by its whole-number score, weights e^(epsilon * score / (2 sensitivity)); (1 or T, K) to (T,).

    ``sensitivity`` is how far a neighbour moves any one score. ``allowed`` (same shape) rules candidates out by public
    knowledge.
    """

    scores: Integers
    allowed: Booleans | None = field(default=None, kw_only=True)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.scores)
        if self.allowed is not None and not self.allowed.any(axis=1).all():
            raise ParameterError("A choice needs at least one allowed candidate in every trial.")

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        """Shared scores are inverted from one cumulative sum; others race with Gumbel noise.

        Permute-and-flip is the race with exponential noise (Ding et al. 2021).
        """
        utility = self.scores * self.rate
        if self.allowed is not None:
            utility = np.where(self.allowed, utility, -np.inf)
        if self.rule == "exponential" and len(utility) == 1:
            weights = np.cumsum(np.exp(utility[0] - utility[0].max()))
            uniform = preview.generator.random(trials) * weights[-1]
            inverted: Integers = np.searchsorted(weights, uniform, side="right").astype(np.int64)
            return inverted
        chosen = np.empty(trials, dtype=np.int64)
        step = max(1, (1 << 20) // self.scores.shape[1])
        for start in range(0, trials, step):
            stop = min(trials, start + step)
            noise = preview.generator.standard_exponential((stop - start, self.scores.shape[1]))
            if self.rule == "exponential":
                noise = -np.log(noise)
            chosen[start:stop] = np.argmax(noise + (utility if len(utility) == 1 else utility[start:stop]), axis=1)
        return chosen

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        """OpenDP's noisy max: Gumbel noise for the exponential mechanism, else exponential noise."""
        race = secure.noisy_max(gumbel=self.rule == "exponential", scale=2 * self.scale)
        rows = np.broadcast_to(self.scores, (trials, self.scores.shape[1]))
        open_to = np.broadcast_to(np.True_ if self.allowed is None else self.allowed, rows.shape)
        chosen = np.empty(trials, dtype=np.int64)
        for trial in range(trials):
            candidates = np.flatnonzero(open_to[trial])
            chosen[trial] = candidates[race(rows[trial, candidates])]
        return chosen

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        open_to = np.ones(self.scores.shape, dtype=np.bool_) if self.allowed is None else self.allowed
        laws = exponential_law(self.scores, open_to, rate=self.rate, rule=self.rule)
        return paths.independent(laws[:, None, :], np.arange(self.scores.shape[1]))[:, 0]


@dataclass(frozen=True, eq=False, repr=False)
class DatabaseChoice(_ScoredDraw[Integers]):
    """One of a net's small databases by its whole-number score, weights as in Choice: points in order, (T, m).

    Exponential mechanism on nets of any size; permute-and-flip on those that can be listed.
    """

    net: Net

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.net.candidates is not None:
            check_whole(self.net.candidates.scores)

    def _listed(self) -> Candidates:
        """Return the net's candidates; raises ParameterError if they are too many to list."""
        if self.net.candidates is None:
            raise ParameterError("This choice needs a list of all candidates, and there are too many.")
        return self.net.candidates

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        """Scores of listed candidates are drawn first, then one that has it."""
        if self.net.candidates is None and self.rule == "exponential":
            return self.net.draw(preview.generator, rate=self.rate, trials=trials)
        listed = self._listed()
        chosen = listed.draw(preview.generator, rate=self.rate, rule=self.rule, trials=trials)
        return listed.at(chosen)

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        """OpenDP's noisy max on a short list, else whole numbers of any length: nothing is rounded."""
        candidates = self.net.candidates
        if self.rule == "exponential" and (candidates is None or len(candidates.scores) > MAX_RACED):
            rate = Fraction(self.epsilon) / (2 * Fraction(self.sensitivity))
            return np.stack([self.net.draw_exactly(secrets.randbelow, rate=rate) for _ in range(trials)])
        listed = self._listed()
        scores = listed.scores[None, :]
        choice = Choice(scores, epsilon=self.epsilon, sensitivity=self.sensitivity, rule=self.rule)
        return listed.at(secure.draw(choice, trials))

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        listed = self._listed()
        open_to = np.ones(len(listed.scores), dtype=np.bool_)
        law = exponential_law(listed.scores, open_to, rate=self.rate, rule=self.rule)
        return paths.one_of(listed.at(np.arange(len(law))), law)
