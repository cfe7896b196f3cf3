"""The private state of a mechanism, and its releases."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core.basics import Booleans, Floats, Integers, ParameterError
from dpcore.core.guarantees import Guarantee
from dpcore.core.notebook import html_facts, html_lines
from dpcore.core.plots import bars
from dpcore.core.problem import Problem, cell_columns
from dpcore.core.sizes import MAX_NOTEBOOK_NUMBERS

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.core.plots import Figure


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class State:
    """Result of prepare() from private data, the same for every epsilon; owned by one session."""

    problem: Problem

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__}: private>"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HistogramState(State):
    """The state of mechanisms that need only counts: rows per cell, shape (size,)."""

    histogram: Integers


NOTHING = -1
"""The value of a release that refused: no cell."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(ABC):
    """Output of a mechanism: T independent releases on a leading axis.

    Attributes:
        problem: the public problem.
        guarantee: the guarantee of *each* of the T releases.
        sampler: name of the sampler that drew it.
        refused: shape (T,), True where the mechanism answered nothing.
    """

    published: ClassVar[tuple[str, ...]]
    """Fields that were drawn, arrays (T, ...) or tuples of them: all that outcomes() shows."""

    problem: Problem
    guarantee: Guarantee
    sampler: str
    refused: Booleans

    @property
    def trials(self) -> int:
        """Number of independent releases, T."""
        return len(self.refused)

    @property
    def numbers(self) -> int:
        """Number of published numbers of a trial."""
        return int(self.outcomes().shape[1])

    def outcomes(self) -> Floats:
        """Return all published numbers, one row per trial, shape (T, anything)."""
        arrays = [each for name in self.published for each in _arrays(getattr(self, name))]
        flat = [each.reshape(len(each), math.prod(each.shape[1:])).astype(np.float64) for each in arrays]
        return np.concatenate(flat, axis=1) if flat else np.zeros((self.trials, 1))

    def part(self, start: int, stop: int) -> Self:
        """Return the trials from start to stop."""
        parts: dict[str, Any] = {"refused": self.refused[start:stop]}
        for name in self.published:
            value = getattr(self, name)
            cut = tuple(each[start:stop] for each in _arrays(value))
            parts[name] = cut if isinstance(value, tuple) else cut[0]
        return dataclasses.replace(self, **parts)

    def may_show(self, numbers: Floats) -> bool:
        """Return whether a release of the same problem may show these numbers, in the order of ``frame``'s last column.

        It is for releases whose table follows from fewer numbers; this default rules nothing out.
        """
        return True

    def _repr_html_(self) -> str:
        """Return the release as a notebook shows it: its guarantee and the first lines of what was released."""
        facts = {
            "release": type(self).__name__,
            "guarantee": f"{self.guarantee.sentence()}{' of each release' * (self.trials > 1)}",
            "sampler": self.sampler,
            "releases": f"{self.trials:,}, {int(self.refused.sum()):,} of them without an answer",
        }
        first = self.part(0, 1)
        if first.outcomes().size > MAX_NOTEBOOK_NUMBERS:
            return html_facts(facts)
        lines = first.frame()
        return html_facts(facts) + html_lines(
            list(lines.columns), [[str(each) for each in line] for line in lines.to_numpy()]
        )

    def plot(self, trial: int = 0) -> Figure:
        """Return a Plotly figure of the numbers of one trial, one bar each.

        Raises:
            ParameterError: there is no such trial, or it has too many numbers for a picture.
        """
        if not 0 <= trial < self.trials:
            raise ParameterError(f"The trial must lie between 0 and {self.trials - 1:,}, got {trial!r}.")
        shown = self.part(trial, trial + 1)
        if shown.outcomes().size > MAX_NOTEBOOK_NUMBERS:
            raise ParameterError(f"A release of more than {MAX_NOTEBOOK_NUMBERS:,} numbers is not drawn.")
        lines = shown.frame()
        return bars(
            list(map(str, lines.iloc[:, -2])), lines.iloc[:, -1], across=lines.columns[-2], up=lines.columns[-1]
        )

    def frame(self) -> pd.DataFrame:
        """Return one row per trial and published number: trial, refused, place among the outcomes, value."""
        import pandas as pd

        outcomes = self.outcomes()
        trials, places = np.indices(outcomes.shape).reshape(2, -1)
        return pd.DataFrame(
            {"trial": trials, "refused": self.refused[trials], "place": places, "outcome": outcomes.ravel()}
        )


def _arrays(value: NDArray[Any] | tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    return value if isinstance(value, tuple) else (value,)


@dataclass(frozen=True, kw_only=True, eq=False)
class DataRelease(Release):
    """Synthetic data, which answer every query that the data answer."""

    @abstractmethod
    def histogram(self) -> Floats:
        """Return the released data as rows per cell, shape (T, size); NaN where refused."""

    def answer(self, indices: Integers) -> Floats:
        """Return the answers as fractions of n to the queries ``indices`` (Q,), shape (T, Q); NaN where refused."""
        return self.problem.queries.answer(self.histogram(), indices) / self.problem.n

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial and cell: trial, refused, cell, what the cell stands for, released rows (NaN if refused).

        >>> import dpcore, numpy as np
        >>> release = HistogramRelease(
        ...     problem=dpcore.Problem(domain=(jobs := dpcore.Labels(labels=("nurse", "cook"))), n=4,
        ...                            queries=dpcore.Cells(domain=jobs)),
        ...     guarantee=dpcore.Guarantee(epsilon=1.0, neighbours=dpcore.Neighbours.REPLACE_ONE),
        ...     sampler="preview", refused=np.array([False]), counts=np.array([[3, 2, -1]]),
        ... )
        >>> release.frame()
           trial  refused  cell  value  rows
        0      0    False     0  nurse   3.0
        1      0    False     1   cook   2.0
        2      0    False     2    NaN  -1.0
        """
        import pandas as pd

        rows = self.histogram()
        trials, cells = np.indices(rows.shape).reshape(2, -1)
        named = cell_columns(self.problem.domain, cells)
        return pd.DataFrame(
            {"trial": trials, "refused": self.refused[trials], "cell": cells, **named, "rows": rows.ravel()}
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ValueRelease(Release):
    """One released cell per trial, shape (T,); NOTHING where refused."""

    published: ClassVar[tuple[str, ...]] = ("values",)
    values: Integers

    def __post_init__(self) -> None:
        # A refusal publishes nothing: whatever was computed on the way to it must not travel with the release.
        object.__setattr__(self, "values", np.where(self.refused, NOTHING, self.values))

    @property
    def in_order(self) -> bool:
        """Whether each released cell is one of those in order, and none of another kind."""
        return bool(((self.values >= 0) & (self.values < self.problem.domain.ordered)).all())

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial: trial, refused, the released cell (-1 if refused), what it stands for."""
        import pandas as pd

        named = cell_columns(self.problem.domain, self.values)
        return pd.DataFrame({"trial": np.arange(self.trials), "refused": self.refused, "cell": self.values, **named})


@dataclass(frozen=True, kw_only=True, eq=False)
class HistogramRelease(DataRelease):
    """A released count per cell, shape (T, size); negative noisy counts are shown as they are."""

    published = ("counts",)
    counts: Integers

    def __post_init__(self) -> None:
        if self.refused.any():
            object.__setattr__(self, "counts", np.where(self.refused[:, None], 0, self.counts))

    @override
    def histogram(self) -> Floats:
        """The released counts as numbers of rows."""
        if self.refused.any():
            return np.where(self.refused[:, None], np.nan, self.counts)
        return self.counts.astype(np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class PointsRelease(DataRelease):
    """A small synthetic database: cells (T, m) and the fraction of the mass at each (T, m), rows summing to at most 1.

    A weight of 0 marks an unused place, so that trials with fewer points share one array.
    """

    published = ("points", "weights")
    points: Integers
    weights: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", np.where(self.refused[:, None], 0, self.points))
        object.__setattr__(self, "weights", np.where(self.refused[:, None], 0.0, self.weights))

    def is_database(self, *, points: int, share: float) -> bool:
        """Return whether each is so many points, in order, all with this share of n."""
        order, alike = (np.diff(self.points, axis=1) >= 0).all(), (self.weights == share).all()
        return self.points.shape[1] == points and bool(order and alike)

    @override
    def histogram(self) -> Floats:
        """Mass per cell times n, shape (T, size)."""
        trials, size = self.trials, self.problem.domain.size
        flat = (np.arange(trials)[:, None] * size + self.points).ravel()
        mass = np.bincount(flat, weights=self.weights.ravel() * self.problem.n, minlength=trials * size)
        return np.where(self.refused[:, None], np.nan, mass.reshape(trials, size))

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial and synthetic point: trial, refused, cell, what it stands for, its share of n.

        Unused places are left out; a refused trial is one row without a point (cell -1, NaN).
        """
        import pandas as pd

        used = self.weights > 0
        used[self.refused, :1] = True
        trials, places = np.nonzero(used)
        refused = self.refused[trials]
        cells = np.where(refused, NOTHING, self.points[trials, places])
        share = np.where(refused, np.nan, self.weights[trials, places])
        named = cell_columns(self.problem.domain, cells)
        return pd.DataFrame({"trial": trials, "refused": refused, "cell": cells, **named, "share": share})
