"""Secure: exact discrete noise on whole numbers, from the operating system's entropy.

Laplace, Gaussian and noisy-max draws are OpenDP's, whose samplers are exact and proved; fair coins and public whole
numbers come from ``os.urandom``. OpenDP is imported at the first draw: it is slow to load and previews do not need it.
"""

from __future__ import annotations

import os
import secrets
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Integers, ParameterError
from dpcore.randomness.candidates import Net
from dpcore.randomness.gates import DrawnGate, Gate, gate_budget
from dpcore.randomness.sampler import Sampler, Statistic, check_choice, check_draw, check_listed, cut_scores

WHOLE = "i64"
"""OpenDP's type for our whole numbers: its default, 32 bits, is too narrow for scores, and the error quotes them."""

MOST_RACED = 1 << 12
"""Candidates of a net that OpenDP's noisy max races; above, layers counted in whole numbers are faster."""

MOST_ROWS_DRAWN = 1 << 30
"""Rows a release may draw into its subsamples: about two minutes."""


def rounded_up(scale: float) -> float:
    """A scale a few roundings wider, so that epsilons split and divided in floating point never add up to more."""
    return scale * (1 + 2**-48)


def _opendp() -> Any:
    """OpenDP with the constructors we rely on switched on."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


class Secure(Sampler):
    """OpenDP's exact samplers; about a hundred thousand draws a second, so for one release, not for previews."""

    name: ClassVar[str] = "secure"
    secure: ClassVar[bool] = True

    @staticmethod
    def _add(counts: Integers, *, kind: str, scale: float, trials: int) -> Integers:
        dp = _opendp()
        domain = dp.vector_domain(dp.atom_domain(T=WHOLE))
        if kind == "laplace":
            measurement = dp.m.make_laplace(domain, dp.l1_distance(T=WHOLE), scale=scale)
        else:
            measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)
        rows = np.broadcast_to(counts, (trials, counts.shape[1]))
        # OpenDP draws from its own entropy; a vector call amortises the cost of crossing into it.
        flat = measurement([int(value) for value in rows.reshape(-1)])
        return np.array(flat, dtype=np.int64).reshape(rows.shape)

    def noisy_counts(self, counts: Integers, *, epsilon: float, sensitivity: float, trials: int) -> Integers:
        """See Sampler."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        return self._add(counts, kind="laplace", scale=rounded_up(sensitivity / epsilon), trials=trials)

    def gaussian_counts(self, counts: Integers, *, sigma: float, shift: tuple[int, ...], trials: int) -> Integers:
        """See Sampler."""
        return self._add(counts, kind="gaussian", scale=sigma, trials=trials)

    def at_least(
        self, values: Integers, threshold: NDArray[Any] | int, *, epsilon: float, sensitivity: float, trials: int
    ) -> Booleans:
        """See Sampler."""
        noisy = self.noisy_counts(values, epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        reached: Booleans = noisy >= threshold
        return reached

    def choose(
        self,
        scores: Integers,
        *,
        epsilon: float,
        sensitivity: float,
        trials: int,
        rule: str = "exponential",
        allowed: Booleans | None = None,
    ) -> Integers:
        """See Sampler. OpenDP's noisy max: Gumbel noise for the exponential mechanism, else exponential noise."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        check_choice(rule=rule, allowed=allowed)
        dp = _opendp()
        measure = dp.zero_concentrated_divergence() if rule == "exponential" else dp.max_divergence()
        noisy_max = dp.m.make_noisy_max(
            dp.vector_domain(dp.atom_domain(T=WHOLE)),
            dp.linf_distance(T=WHOLE),
            measure,
            scale=rounded_up(2 * sensitivity / epsilon),
        )
        rows = np.broadcast_to(scores, (trials, scores.shape[1]))
        open_to = np.broadcast_to(np.True_ if allowed is None else allowed, rows.shape)
        chosen = np.empty(trials, dtype=np.int64)
        for trial in range(trials):
            candidates = np.flatnonzero(open_to[trial])
            chosen[trial] = candidates[noisy_max([int(score) for score in rows[trial, candidates]])]
        return chosen

    def choose_cut(
        self,
        cumulative: Integers,
        low: Integers,
        high: Integers,
        *,
        epsilon: float,
        sensitivity: float,
        trials: int,
    ) -> Integers:
        """See Sampler."""
        low, high = np.broadcast_to(low, (trials, low.shape[1])), np.broadcast_to(high, (trials, high.shape[1]))
        cuts = np.empty(low.shape, dtype=np.int64)
        for segment in range(low.shape[1]):
            scores, allowed = cut_scores(cumulative, low[:, segment], high[:, segment])
            cuts[:, segment] = self.choose(
                scores, epsilon=epsilon, sensitivity=sensitivity, trials=trials, allowed=allowed
            )
        return cuts

    def choose_multiset(
        self, net: Net, *, epsilon: float, sensitivity: float, trials: int, rule: str = "exponential"
    ) -> Integers:
        """See Sampler. OpenDP's noisy max on a short list, else whole numbers of any length: nothing is rounded."""
        check_draw(epsilon=epsilon, sensitivity=sensitivity, trials=trials)
        check_choice(rule=rule, allowed=None)
        if rule == "exponential" and (net.candidates is None or len(net.candidates.scores) > MOST_RACED):
            rate = Fraction(epsilon) / (2 * Fraction(sensitivity))
            return np.stack([net.draw_exactly(secrets.randbelow, rate=rate) for _ in range(trials)])
        listed = check_listed(net)
        told: dict[str, Any] = {"epsilon": epsilon, "sensitivity": sensitivity, "trials": trials, "rule": rule}
        return listed.points[self.choose(listed.scores[None, :], **told)].astype(np.int64)

    def sparse_gate(self, *, epsilon: float, sensitivity: int, updates: int, trials: int, answers: float = 0.0) -> Gate:
        """See Sampler."""
        budget = gate_budget(epsilon=epsilon, updates=updates, answers=answers)
        return DrawnGate(self, budget, sensitivity=sensitivity, trials=trials)

    def split(self, counts: Integers) -> Integers:
        """See Sampler. Heads among fresh random bits."""
        heads = [int.from_bytes(os.urandom((c + 7) // 8)) & ((1 << c) - 1) for c in counts.reshape(-1).tolist()]
        return np.array([bits.bit_count() for bits in heads], dtype=np.int64).reshape(counts.shape)

    def integers(self, high: int, *, columns: int, trials: int) -> Integers:
        """See Sampler."""
        draws = [secrets.randbelow(high) for _ in range(trials * columns)]
        return np.array(draws, dtype=np.int64).reshape(trials, columns)

    def votes(self, counts: Integers, statistic: Statistic, *, rows: int, times: int, trials: int) -> Integers:
        """See Sampler. Row by row, as written, in blocks: about ten million rows a second."""
        if times * rows * trials > MOST_ROWS_DRAWN:
            raise ParameterError(f"At most {MOST_ROWS_DRAWN:,} rows can be drawn: take fewer or smaller subsamples.")
        cell_of_row = np.repeat(np.arange(len(counts)), counts)
        block = max(1, (1 << 22) // max(rows, len(counts)))
        answers = []
        for start in range(0, times * trials, block):
            height = min(block, times * trials - start)
            cells = cell_of_row[_uniform(len(cell_of_row), height * rows)].reshape(height, rows)
            places = (cells + len(counts) * np.arange(height)[:, None]).reshape(-1)
            answers.append(statistic.answer(np.bincount(places, minlength=height * len(counts)).reshape(height, -1)))
        trial = np.repeat(np.arange(trials), times)
        tally = np.bincount(trial * statistic.answers + np.concatenate(answers), minlength=trials * statistic.answers)
        return tally.reshape(trials, -1)


def _uniform(high: int, size: int) -> Integers:
    """Uniform whole numbers in [0, high) from the operating system's entropy, shape (size,); high below 2^32."""
    most = (1 << 32) // high * high
    kept = np.empty(0, dtype=np.uint32)
    while len(kept) < size:
        words = np.frombuffer(os.urandom(4 * (size - len(kept))), dtype=np.uint32)
        # Words in the last, incomplete round of remainders are thrown away, so that none is more likely.
        kept = np.concatenate([kept, words[words < most]])
    return (kept % np.uint32(high)).astype(np.int64)
