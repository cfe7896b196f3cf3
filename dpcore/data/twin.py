"""The twin of a private table: made-up rows with its declared columns, bounds, labels and number of rows.

A twin is made of a declaration, a public n and a public seed, of nothing else: it is the same for every table that is
declared so, and shows nothing of any. Columns are independent. Numbers have one hump near the low end, of categories
the first is the commonest, and nothing is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Dataset, Domain, Integers, ParameterError, Provenance, ProvenanceKind
from dpcore.data.attributes import Attributes
from dpcore.data.cube import Cube
from dpcore.data.domains import Categories, Grid, Grouped, Line
from dpcore.data.generators import generate
from dpcore.data.lists import DecisionLists, made_up_lists
from dpcore.data.readings import Reading
from dpcore.data.sources import Origin, Source
from dpcore.data.sphere import Sphere

MOST_ROWS = 5_000_000
SHARES = (0.1, 0.5)
"""Shares of rows that have a yes/no attribute lie between these."""


@dataclass(frozen=True, kw_only=True)
class MadeUp(Origin):
    """Rows of nobody on any declared domain.

    Attributes:
        n: how many.
        seed: same seed, same rows.
    """

    framed: ClassVar[bool] = False
    n: int
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MOST_ROWS:
            raise ParameterError(f"A twin has between 1 and {MOST_ROWS:,} rows, got {self.n:,}.")

    @property
    def key(self) -> str:
        """Both numbers."""
        return f"twin:{self.n}:{self.seed}"

    @property
    def provenance(self) -> Provenance:
        """Nobody's data."""
        return Provenance(kind=ProvenanceKind.TWIN, title="Made-up rows")

    @property
    def rows(self) -> int:
        """As named."""
        return self.n

    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Draw the rows on the reading's domain."""
        rows = made_up(reading.domain, n=self.n, seed=self.seed)
        return Dataset(reading.domain, rows, provenance, reading.person_rows)

    def code(self, columns: Sequence[str]) -> list[str]:
        """The rows of the named source."""
        return ["dataset = source.dataset()", "df = dataset.frame()"]


def twin(declared: Reading | Source, *, n: int, seed: int = 1) -> Source:
    """Made-up rows that are read as a declaration says; a source's own rows are not looked at.

    Args:
        declared: what is read of a table, or a source with its declaration.
        n: how many rows: a number that is public.
        seed: public as well; same seed, same rows.

    Raises:
        ParameterError: n is out of range, or the declaration was read off private rows.

    >>> import dpcore
    >>> ages = dpcore.Columns(names=("age",), on=dpcore.Line(high=128, bits=6, missing=True))
    >>> dpcore.twin(ages, n=1000).dataset()
    <Dataset: simulated, Line>
    """
    if isinstance(declared, Source):
        if declared.bounds_from_data:
            raise ParameterError("This domain was read off private rows: a twin made of it would show them.")
        declared = declared.reading
    return Source(
        origin=MadeUp(n=n, seed=seed), reading=declared, name=f"dpcore.twin({declared!r}, n={n}, seed={seed})"
    )


def made_up(domain: Domain, *, n: int, seed: int) -> NDArray[Any]:
    """Records on a domain, as it keeps them: (n,), or (n, d) where a record is a row of numbers.

    Raises:
        ParameterError: no shape is known on such a domain.
    """
    match domain:
        case Cube():
            random = np.random.Generator(np.random.SFC64(seed))
            return random.random((n, domain.attributes)) < random.uniform(*SHARES, domain.attributes)
        case DecisionLists():
            return made_up_lists(domain, n=n, seed=seed)
        case Sphere():
            return np.random.Generator(np.random.SFC64(seed)).standard_normal((n, domain.dimensions))
        case Attributes():
            return np.stack([_column(kind, n=n, seed=_of(seed, place)) for place, kind in enumerate(domain.columns)], 1)
        case Grid():
            first, second = (_column(line, n=n, seed=_of(seed, place)) for place, line in enumerate(_sides(domain)))
            return first * domain.second.ordered + second
        case Grouped():
            groups = _column(Categories(labels=domain.labels), n=n, seed=_of(seed, 0))
            return groups * domain.line.ordered + _column(domain.line, n=n, seed=_of(seed, 1))
        case _ if domain.listed:
            return _column(domain, n=n, seed=_of(seed, 0))
    raise ParameterError(f"No twin is made of {domain.title}.")


def _sides(grid: Grid) -> tuple[Line, Line]:
    return grid.first, grid.second


def _column(domain: Domain, *, n: int, seed: int) -> Integers:
    """Cells of one column, (n,), none of them reserved."""
    shape = "heavy_tailed" if isinstance(domain, Categories) else "skewed"
    return generate(shape, n=n, size=domain.ordered, seed=seed)


def _of(seed: int, column: int) -> int:
    """The seed of a column."""
    return int(np.random.SeedSequence([seed, column]).generate_state(1, np.uint64)[0]) >> 1
