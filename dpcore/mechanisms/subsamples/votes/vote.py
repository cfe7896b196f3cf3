"""Statistics with few answers on subsamples: the answer of each, and the exact law of an answer.

A subsample is ``rows`` rows drawn from the data with replacement. Its answer is one of ``answers``; the law says how
likely each is, without drawing any subsample, so that any number of votes is one multinomial draw. Data are counts of
rows in cells; a last cell holds the rows to be ignored.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from typing_extensions import override

from dpcore.core import Floats, Integers, finish

REACH = 12.0
"""Deviations on either side of a binomial's middle that are kept."""
TABLE_CELLS = 1 << 19
"""Numbers held at once while a law is worked out."""


def binomial_law(*, draws: int, chance: float) -> tuple[int, Floats]:
    """First value and chances of a binomial, over the values whose chance is not negligible (below about 1e-30).

    Ratios of neighbouring chances are multiplied up from the likeliest value and the whole is scaled to 1: no large
    logarithms are subtracted, so each chance is right to about twelve digits.
    """
    if not 0 < chance < 1:
        return (draws if chance >= 1 else 0), np.ones(1)
    middle = min(draws, int((draws + 1) * chance))
    reach = REACH * math.sqrt(draws * chance * (1 - chance)) + 60
    low, high = max(0, math.floor(middle - reach)), min(draws, math.ceil(middle + reach))
    j = np.arange(low, high + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        steps = np.log((draws - j[:-1]) / (j[:-1] + 1)) + math.log(chance) - math.log1p(-chance)
    logs = np.concatenate([-np.cumsum(steps[: middle - low][::-1])[::-1], [0.0], np.cumsum(steps[middle - low :])])
    chances: Floats = np.exp(logs)
    chances /= chances.sum()
    return low, chances


def kept_values(draws: int) -> float:
    """Return how many values a binomial law has at most, roughly."""
    return min(draws, REACH * math.sqrt(draws)) + 1


Steps = Generator[float, None, Floats]
"""Work in steps that yields the share done, and returns the chance of each answer."""


class Vote(ABC):
    """A question with few answers."""

    answers: int

    @abstractmethod
    def answer(self, counts: Integers) -> Integers:
        """Return the answer on each subsample, counts (S, cells + 1) to (S,)."""

    @abstractmethod
    def steps(self, counts: Integers, *, rows: int) -> Steps:
        """Return the chance of each answer on one subsample of counts (cells + 1,), worked out in steps."""

    @abstractmethod
    def seconds(self, *, rows: int) -> float:
        """Roughly how long the law of one subsample takes; measured on two cores."""

    def law(self, counts: Integers, *, rows: int) -> Floats:
        """The same at once: (answers,)."""
        return finish(self.steps(counts, rows=rows))

    def against(self, counts: Integers, *, answer: int, law: Floats) -> list[Integers]:
        """Return data with one row changed so that fewer subsamples give an answer: the likeliest ways, if any.

        Here the answers are cells: a row moves from the answer's to the next likeliest one's.
        """
        rival = int(np.where(np.arange(self.answers) == answer, -1, law).argmax())
        return [moved(counts, answer, rival)] if counts[answer] and rival != answer else []


def moved(counts: Integers, start: int, stop: int) -> Integers:
    """Return the counts with one row moved from one cell to another."""
    changed = counts.copy()
    changed[[start, stop]] += (-1, 1)
    return changed


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CachedVote(Vote):
    """A question that keeps the laws it worked out: private, so it belongs to one session's state."""

    vote: Vote
    answers: int = field(init=False)
    _laws: dict[tuple[bytes, int], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", self.vote.answers)

    @override
    def answer(self, counts: Integers) -> Integers:
        return self.vote.answer(counts)

    @override
    def seconds(self, *, rows: int) -> float:
        return self.vote.seconds(rows=rows)

    @override
    def steps(self, counts: Integers, *, rows: int) -> Steps:
        key = counts.tobytes(), rows
        if key not in self._laws:
            self._laws[key] = yield from self.vote.steps(counts, rows=rows)
        return self._laws[key]

    @override
    def against(self, counts: Integers, *, answer: int, law: Floats) -> list[Integers]:
        return self.vote.against(counts, answer=answer, law=law)
