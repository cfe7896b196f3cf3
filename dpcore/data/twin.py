"""The twin of a private table: mock data with its declared columns, bounds, labels and number of rows.

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
from typing_extensions import override

from dpcore.core import MAX_BYTES, Dataset, Domain, Integers, ParameterError, Provenance, ProvenanceKind, check_memory
from dpcore.core.sizes import MAX_MOCK_ROWS
from dpcore.data.columns import is_labels
from dpcore.data.generators import generate
from dpcore.data.lists import draw_mock_lists, is_lists
from dpcore.data.product import Product, is_table, is_yes_no
from dpcore.data.readings import Reading
from dpcore.data.sources import Origin, Source
from dpcore.data.sphere import is_sphere
from dpcore.data.unlisted.texts import is_texts

BLOCK = 1 << 13
SHARES = (0.1, 0.5)
"""Shares of rows that have a yes/no attribute lie between these."""


MOCK_LABELS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Labels of a column whose labels are not declared."""


@dataclass(frozen=True, kw_only=True)
class MockData(Origin):
    """Mock data: synthetic rows on any declared domain.

    Attributes:
        n: how many.
        seed: same seed, same rows.
    """

    framed: ClassVar[bool] = False
    n: int
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MAX_MOCK_ROWS:
            raise ParameterError(f"Mock data have between 1 and {MAX_MOCK_ROWS:,} rows, got {self.n:,}.")

    @override
    @property
    def key(self) -> str:
        return f"twin:{self.n}:{self.seed}"

    @override
    @property
    def provenance(self) -> Provenance:
        return Provenance(kind=ProvenanceKind.TWIN, title="Mock data")

    @override
    @property
    def rows(self) -> int:
        return self.n

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Draw the rows on the reading's domain."""
        check_memory(
            self.n, what=f"Mock data of {self.n:,} rows", smaller="take fewer rows or columns",
            each=bytes_per_row(reading.domain),
        )  # fmt: skip
        rows = draw_mock_records(reading.domain, n=self.n, seed=self.seed)
        return Dataset(reading.domain, rows, provenance, reading.person_rows)

    @override
    def code(self, columns: Sequence[str]) -> list[str]:
        return ["dataset = source.dataset()", "df = dataset.frame()"]


def twin(declared: Reading | Source, *, n: int, seed: int = 1) -> Source:
    """Return mock data with a declared reading; a source's own rows are not read.

    Args:
        declared: what is read of a table, or a source with its declaration.
        n: how many rows: a number that is public.
        seed: public as well; same seed, same rows.

    Raises:
        ParameterError: n is out of range, or the declaration was read off private rows.

    >>> import dpcore
    >>> ages = dpcore.Columns(names=("age",), on=dpcore.Number(high=128, bits=6, missing=True))
    >>> dpcore.twin(ages, n=1000).dataset()
    <Dataset: simulated, Number>
    """
    if isinstance(declared, Source):
        if declared.bounds_from_data:
            raise ParameterError("This domain was read off private rows, so mock data made from it would reveal them.")
        declared = declared.reading
    return Source(
        origin=MockData(n=n, seed=seed), reading=declared, name=f"dpcore.twin({declared!r}, n={n}, seed={seed})"
    )


def bytes_per_row(domain: Domain) -> int:
    """Return the memory that a made-up record takes while records are made, with its copies."""
    if is_lists(domain):
        return 64 * (2 * domain.rules + 1)
    if is_sphere(domain):
        return 32 * domain.dimensions
    return domain.attributes if is_yes_no(domain) else 24 * domain.attributes if is_table(domain) else 64


def max_mock_rows(domain: Domain) -> int:
    """Return the number of made-up rows whose memory is within MAX_BYTES, and at most MAX_MOCK_ROWS."""
    return min(MAX_MOCK_ROWS, MAX_BYTES // bytes_per_row(domain))


def draw_mock_records(domain: Domain, *, n: int, seed: int) -> NDArray[Any]:
    """Return the records on a domain, as it keeps them: (n,), or (n, d) where a record is a row of numbers.

    Raises:
        ParameterError: no shape is known on such a domain.
    """
    if is_lists(domain):
        return draw_mock_lists(domain, n=n, seed=seed)
    if is_sphere(domain):
        return np.random.Generator(np.random.SFC64(seed)).standard_normal((n, domain.dimensions))
    if is_yes_no(domain):
        return _yes_no(n, domain.attributes, seed=seed)
    if is_texts(domain):
        texts: NDArray[Any] = np.array(MOCK_LABELS, dtype=object)
        return texts[generate("heavy_tailed", n=n, size=len(MOCK_LABELS), seed=seed)]
    if isinstance(domain, Product):
        cells = [_column(kind, n=n, seed=_of(seed, place)) for place, kind in enumerate(domain.columns)]
        return np.ravel_multi_index(cells, domain.shape) if domain.listed else np.stack(cells, 1)
    if domain.listed:
        return _column(domain, n=n, seed=_of(seed, 0))
    raise ParameterError(f"No mock data can be made for {domain.title}.")


def _yes_no(n: int, attributes: int, *, seed: int) -> NDArray[Any]:
    """Return the truth values (n, d); block by block, so that no array of n numbers for each attribute is held."""
    coins, shares = (np.random.Generator(np.random.SFC64(seed)) for _ in range(2))
    shares.bit_generator.random_raw(n * attributes, output=False)  # the shares follow the rows' coins
    limits = shares.uniform(*SHARES, attributes)
    rows = np.empty((n, attributes), dtype=np.bool_)
    for start in range(0, n, BLOCK):
        here = rows[start : start + BLOCK]
        np.less(coins.random(here.shape), limits, out=here)
    return rows


def _column(domain: Domain, *, n: int, seed: int) -> Integers:
    """Return the cells of one column, (n,), none of them reserved."""
    shape = "heavy_tailed" if is_labels(domain) else "skewed"
    return generate(shape, n=n, size=domain.ordered, seed=seed)


def _of(seed: int, column: int) -> int:
    """Return the seed of a column."""
    return int(np.random.SeedSequence([seed, column]).generate_state(1, np.uint64)[0]) >> 1
