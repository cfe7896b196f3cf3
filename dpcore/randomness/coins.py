"""Coins that cost nothing: fair coins of rows, public whole numbers, and the votes of subsamples."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from math import comb
from typing import Protocol

import numpy as np
from typing_extensions import override

from dpcore.core import Floats, Integers, ParameterError
from dpcore.core.sizes import MAX_PATHS, MAX_ROWS_DRAWN
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.laws import compositions
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import Draw, check_number, check_whole
from dpcore.randomness.secure import Secure, uniform

BITS_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class FairSplit(Draw[Integers]):
    """Number of heads among each count's rows on fair coins, shape as counts (T, k); costs nothing."""

    counts: Integers

    def __post_init__(self) -> None:
        check_whole(self.counts, low=0)

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        """A row's coin is a bit of one word; where 64 are too few, a binomial draw."""
        heads = np.zeros(self.counts.shape, dtype=np.int64)
        (tossed,) = self.counts.reshape(-1).nonzero()
        if tossed.size:
            rows = self.counts.reshape(-1)[tossed]
            spare = (64 - np.minimum(rows, 64)).astype(np.uint64)
            counts = np.bitwise_count(preview.bits.random_raw(rows.size) >> spare).astype(np.int64)
            many = rows > 64
            if many.any():
                counts[many] = preview.generator.binomial(rows[many], 0.5)
            heads.reshape(-1)[tossed] = counts
        return heads

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        heads = [_heads(rows) for rows in self.counts.reshape(-1).tolist()]
        return np.array(heads, dtype=np.int64).reshape(self.counts.shape)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        from scipy.special import gammaln

        heads = np.arange(int(self.counts.max(initial=0)) + 1)
        c = self.counts[..., None].astype(np.float64)
        with np.errstate(invalid="ignore"):
            logs = gammaln(c + 1) - gammaln(heads + 1.0) - gammaln(np.maximum(c - heads, 0) + 1) - c * np.log(2)
        return paths.independent(np.where(heads <= c, np.exp(logs), 0.0), heads)


def _heads(coins: int) -> int:
    """Return the number of ones among so many fresh random bits, of which BITS_AT_ONCE are held at a time."""
    ones = 0
    for start in range(0, coins, BITS_AT_ONCE):
        bits = min(BITS_AT_ONCE, coins - start)
        ones += (int.from_bytes(os.urandom((bits + 7) // 8)) & ((1 << bits) - 1)).bit_count()
    return ones


@dataclass(frozen=True, eq=False, repr=False)
class PublicCoins(Draw[Integers]):
    """Uniform whole numbers in [0, high), shape (T, columns); record them in the Release."""

    high: int
    columns: int = field(kw_only=True)

    def __post_init__(self) -> None:
        check_number("number of values", self.high)
        check_number("number of columns", self.columns)

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        return preview.generator.integers(0, self.high, (trials, self.columns))

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        draws = [secrets.randbelow(self.high) for _ in range(trials * self.columns)]
        return np.array(draws, dtype=np.int64).reshape(trials, self.columns)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        return paths.independent(np.full((1, self.columns, self.high), 1 / self.high), np.arange(self.high))


class Statistic(Protocol):
    """A question with few possible answers, asked of subsamples of the data."""

    @property
    def answers(self) -> int:
        """Number of possible answers."""

    def answer(self, counts: Integers) -> Integers:
        """Return the answer on each subsample's histogram: (S, cells) to (S,)."""

    def law(self, counts: Integers, *, rows: int) -> Floats:
        """Return the chance of each answer on so many rows drawn with replacement from counts (cells,): (answers,)."""


@dataclass(frozen=True, eq=False, repr=False)
class SubsampleVotes(Draw[Integers]):
    """Votes for each answer in ``times`` subsamples of ``rows`` rows, with replacement: (T, answers).

    ``counts`` (cells,) is the data. The coins are private and cost nothing themselves: the votes must meet noise
    before anyone sees them.
    """

    counts: Integers
    statistic: Statistic
    rows: int = field(kw_only=True)
    times: int = field(kw_only=True)

    def __post_init__(self) -> None:
        check_whole(self.counts, low=0)
        check_number("number of rows in a subsample", self.rows)
        check_number("number of subsamples", self.times)

    @override
    def previewed(self, preview: Preview, trials: int) -> Integers:
        """Subsamples are independent, so the votes are one multinomial draw of the exact law."""
        law = self.statistic.law(self.counts, rows=self.rows)
        return preview.generator.multinomial(self.times, law / law.sum(), size=trials)

    @override
    def released(self, secure: Secure, trials: int) -> Integers:
        """Row by row, as written, in blocks: about ten million rows a second."""
        rows, times, cells = self.rows, self.times, len(self.counts)
        if times * rows * trials > MAX_ROWS_DRAWN:
            raise ParameterError(f"At most {MAX_ROWS_DRAWN:,} rows can be sampled: choose fewer or smaller subsamples.")
        rows_up_to = np.cumsum(self.counts)
        block = max(1, (1 << 22) // max(rows, cells))
        answers = []
        for start in range(0, times * trials, block):
            height = min(block, times * trials - start)
            places = uniform(int(rows_up_to[-1]), height * rows)
            drawn = np.searchsorted(rows_up_to, places, side="right").reshape(height, rows)
            places = (drawn + cells * np.arange(height)[:, None]).reshape(-1)
            answers.append(self.statistic.answer(np.bincount(places, minlength=height * cells).reshape(height, -1)))
        voted = np.repeat(np.arange(trials), times) * self.statistic.answers + np.concatenate(answers)
        return np.bincount(voted, minlength=trials * self.statistic.answers).reshape(trials, -1)

    @override
    def enumerated(self, paths: Enumerate, trials: int) -> Integers:
        """Exact multinomial chances of every way to share the votes out."""
        from scipy.special import gammaln, xlogy

        law = self.statistic.law(self.counts, rows=self.rows)
        if comb(self.times + len(law) - 1, len(law) - 1) > MAX_PATHS:
            raise ParameterError(f"Too many paths to enumerate: more than {MAX_PATHS}.")
        ways = compositions(self.times, len(law))
        chances = np.exp(gammaln(self.times + 1.0) + (xlogy(ways, law) - gammaln(ways + 1.0)).sum(axis=1))
        return paths.one_of(ways, chances)
