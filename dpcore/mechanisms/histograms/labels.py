"""Find labels: labels that were not declared, with noisy counts, where these are above a threshold.

The threshold histogram of ``threshold.py`` on all texts: a text that no row has is empty, and is neither sampled nor
released. So the texts need no list. Why it is private: the proof there holds as it stands, for rows under both
relations and for persons. Which texts have rows shows in nothing but the release: labels are sorted by their text,
and the noise of one count is drawn even where there is no label. How long a draw takes depends on how many labels
there are; that is neither published nor recorded.

Notation: epsilon = ε; Laplace scale b = sensitivity/ε in rows; threshold T.

References:
    Korolova, Kenthapadi, Mishra and Ntoulas (2009); Bun, Nissim and Stemmer (2016).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Booleans,
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Floats,
    Integers,
    Problem,
    Release,
    State,
    rows_up,
)
from dpcore.data.unlisted.texts import LabelCounts, is_texts
from dpcore.mechanisms.histograms.threshold import ThresholdMechanism
from dpcore.randomness import NoisyCounts, Sampler
from dpcore.randomness.laws import laplace_quantile, laplace_tail

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelState(State):
    """Labels that rows have, sorted, and their counts (K,)."""

    labels: tuple[str, ...]
    counts: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelsRelease(Release):
    """Released labels, sorted, with their counts (T, K); 0 where a trial does not release the label."""

    published: ClassVar[tuple[str, ...]] = ("counts",)
    labels: tuple[str, ...]
    counts: Integers

    def counts_of(self, labels: tuple[str, ...]) -> Integers:
        """Return the released counts of some labels, (T, L); 0 where a label is not released."""
        places = {label: place for place, label in enumerate(self.labels)}
        counts = np.column_stack([self.counts, np.zeros(self.trials, dtype=np.int64)])
        chosen: Integers = counts[:, [places.get(label, -1) for label in labels]]
        return chosen

    @override
    @property
    def numbers(self) -> int:
        return len(self.labels)

    @override
    def outcomes(self) -> Floats:
        """Return a number for all that each trial released, (T, 1), which is the same whatever other labels there are.

        It is 48 bits of a digest, so that releases of different columns can be compared.
        """
        rows, which = np.unique(self.counts, axis=0, return_inverse=True)
        shown = [[(self.labels[place], int(row[place])) for place in np.flatnonzero(row)] for row in rows]
        digests = [float(int.from_bytes(sha256(repr(each).encode()).digest()[:6])) for each in shown]
        return np.array(digests)[which.reshape(-1)].reshape(self.trials, 1)

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial and released label: trial, value, rows."""
        import pandas as pd

        trials, places = np.nonzero(self.counts)
        values = np.array([*self.labels, None], dtype=object)[places]
        return pd.DataFrame({"trial": trials, "value": values, "rows": self.counts[trials, places]})


class FindLabels(ThresholdMechanism):
    """The labels of a column whose noisy counts are above a threshold, with these counts."""

    releases: ClassVar[str] = "labels"

    def half_width(self, problem: Problem, beta: float) -> int:
        """Return the noise that is exceeded with a probability of at most beta, in rows."""
        return laplace_quantile(beta, scale=self.scale(problem)) - 1

    def noise_tails(self, at_least: Integers, problem: Problem) -> Floats:
        """Return the probability that the noise of a count is at least so many rows, elementwise, exactly."""
        return laplace_tail(at_least, scale=self.scale(problem))

    def noisy(self, counts: Integers, problem: Problem, sampler: Sampler, trials: int) -> Integers:
        """Return the counts (1, K) with noise, (T, K)."""
        sensitivity = sum(problem.neighbours.histogram_shift)
        return sampler.draw(NoisyCounts(counts, epsilon=self.epsilon, sensitivity=sensitivity), trials)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Of one label: a released count is off by its noise, one that is not was at most the threshold plus noise."""
        noise = self.half_width(problem, beta)
        threshold = self.threshold(problem)
        rows = threshold + noise
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Labels whose noisy counts are at most {threshold:,} are not released. A label with more than "
            f"{rows_up(rows)} rows is released, and its count has an error of at most {noise:,} rows, each with "
            f"confidence 1 − {beta:g}.",
            formula=r"\alpha\le\frac{T+m}{n},\quad\Pr[|Z|>m]\le\beta,\quad\Pr[1+Z>T]\le\delta,\quad "
            r"Z\sim\mathrm{DLap}(\Delta/\varepsilon)",
            reference="tail of the noise; see Bun, Nissim and Stemmer (2016)",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
            note="It holds for each label alone: how many there are is private.",
        )

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> LabelState:
        counts = Counter(dataset.records.tolist())
        counts.pop(None, None)
        labels = tuple(sorted(counts))
        rows = np.array([counts[label] for label in labels], dtype=np.int64)
        return LabelState(problem=problem, labels=labels, counts=rows)

    @override
    def run(self, state: LabelState, sampler: Sampler, trials: int = 1) -> LabelsRelease:
        """Without labels one count of no rows is drawn, as a column of none must spend what any other does."""
        counts = state.counts if state.labels else np.zeros(1, dtype=np.int64)
        drawn = self.noisy(counts[None, :], state.problem, sampler, trials)[:, : len(state.labels)]
        above: Booleans = drawn > self.threshold(state.problem)
        shown = np.flatnonzero(above.any(axis=0))
        labels = tuple(state.labels[place] for place in shown)
        return self.release(
            LabelsRelease, state, sampler, trials, labels=labels, counts=np.where(above, drawn, 0)[:, shown]
        )

    @override
    def possible(self, release: Release) -> bool:
        """Each count is 0 or above the threshold; the labels fit, and are sorted, so that none occurs twice."""
        assert isinstance(release, LabelsRelease) and is_texts(release.problem.domain)
        counts, labels, domain = release.counts, release.labels, release.problem.domain
        hidden = (counts == 0) | (counts > self.threshold(release.problem))
        return bool(hidden.all()) and list(labels) == sorted(set(labels)) and all(map(domain.fits, labels))


ENTRIES = (
    Entry(
        key="find_labels",
        mechanism=FindLabels,
        title="Find labels",
        story="Adds noise to the count of each label in a column and releases labels above a threshold. No "
        "list of labels is needed. Rare labels stay hidden.",
        domains=(DomainType.TEXTS,),
        queries=(LabelCounts,),
        references=("Korolova, Kenthapadi, Mishra and Ntoulas (2009)", "Bun, Nissim and Stemmer (2016)"),
        tiny={"epsilon": 3.0, "delta": 0.1},
    ),
)
