"""Sources of data sets: an origin of rows, and a reading of them.

Key, provenance, domain and code follow from both. Engines that hold a table become origins like the others.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Dataset, Domain, ParameterError, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.data.declarations import Capped
from dpcore.data.generators import GENERATORS, generate, two_clouds
from dpcore.data.lists import college_domain, college_students, columns_of, is_lists
from dpcore.data.predicates import Predicate, correlated_domain, correlated_rows
from dpcore.data.product import Product, is_map, is_yes_no
from dpcore.data.reading.format import USUAL, Format
from dpcore.data.readings import Columns, Measure, Reading, Vectors, YesNo
from dpcore.data.samples import Sample, load_sample, sample
from dpcore.data.sphere import Sphere, is_sphere

if TYPE_CHECKING:
    from dpcore.data.reading.tables import Table

DomainT = TypeVar("DomainT", bound=Domain)
NOMINAL_ROWS = 10_000
"""Default of n where the number of rows is not public."""
SIDE_BITS = 5
"""Default bits of each side of a grid: 32 by 32 cells."""
ATTRIBUTES, CLOUDS, STUDENTS = "attributes", "two-clouds", "students"
"""Generated rows of yes/no attributes, vectors, and decision lists."""
TITLES = {ATTRIBUTES: "correlated attributes", CLOUDS: "two clouds with a margin", STUDENTS: "students' rules"}
MODULES = {
    "FOLDER": "dpcore.data.samples",
    **dict.fromkeys(("Columns", "Labels", "Number", "Product"), "dpcore"),
    **dict.fromkeys(("Ages", "Dates"), "dpcore.data.dates"),
    "Predicate": "dpcore.data.predicates",
    "Capped": "dpcore.data.declarations",
    **dict.fromkeys(("Coded", "Columns", "Measure", "Several", "Vectors", "YesNo"), "dpcore.data.readings"),
    "ListColumns": "dpcore.data.lists",
    **dict.fromkeys((f"generated_{of}" for of in ("rows", "attributes", "vectors", "lists")), "dpcore.data.sources"),
    **dict.fromkeys(("survey_of", "vectors_of", "whole_of", "yes_no_of"), "dpcore.data.bundled"),
}
"""Where the names in a snippet come from."""


class Origin(ABC):
    """Origin of rows: a generator, a sample, a file or an engine."""

    framed: ClassVar[bool] = True
    """Whether ``code`` gives columns of a table, which are still to be read."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Identity inside one session; it holds no value of the data."""

    @property
    @abstractmethod
    def provenance(self) -> Provenance:
        """Provenance of the rows, with their title."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows: as private as the rows, where rows are added or removed."""

    @abstractmethod
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Return the rows, read so; raises DataError where a column is missing."""

    @abstractmethod
    def code(self, columns: Sequence[str]) -> list[str]:
        """Lines of Python after which ``df`` holds these columns; ``source`` is then the source if it has a name."""


@dataclass(frozen=True, kw_only=True)
class Generated(Origin):
    """Seeded rows: of a shape in generators, attributes that go together, two clouds of vectors, or decision lists.

    Attributes:
        shape: which.
        n: how many.
        seed: same seed, same rows.
        margin: of the clouds.
        replaced: whether the first row of a shape on a line is replaced by another one.
    """

    shape: str
    n: int
    seed: int = 1
    margin: float = 0.0
    replaced: bool = False

    def __post_init__(self) -> None:
        if self.shape not in {**GENERATORS, **TITLES}:
            raise ParameterError("No generator has this name.")

    @override
    @property
    def key(self) -> str:
        return f"generated:{self.shape}:{self.n}:{self.seed}:{self.margin}{':replaced' * self.replaced}"

    @override
    @property
    def provenance(self) -> Provenance:
        title = GENERATORS[self.shape].title if self.shape in GENERATORS else TITLES[self.shape]
        return Provenance(kind=ProvenanceKind.GENERATED, title=f"{title}, {self.n:,} rows")

    @override
    @property
    def rows(self) -> int:
        return self.n

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Draw the rows on the reading's domain."""
        domain = reading.domain
        records: NDArray[Any]
        if is_yes_no(domain):
            records = correlated_rows(n=self.n, attributes=domain.attributes, seed=self.seed)
        elif is_lists(domain):
            records = college_students(n=self.n, rules=domain.rules, seed=self.seed)
        elif is_sphere(domain):
            records = two_clouds(n=self.n, dimensions=domain.dimensions, margin=self.margin, seed=self.seed)
        else:
            size = domain.shape if is_map(domain) else domain.size
            records = generate(self.shape, n=self.n, size=size, seed=self.seed)
            if self.replaced and isinstance(size, int):
                records[0] = (records[0] + size // 4) % size
        return Dataset(domain, records, provenance)

    @override
    def code(self, columns: Sequence[str]) -> list[str]:
        return ["df = source.dataset().frame()"]


@dataclass(frozen=True, kw_only=True)
class Bundled(Origin):
    """A real sample that comes with the project."""

    sample_key: str

    @property
    def sample(self) -> Sample:
        """The sample's notes."""
        return sample(self.sample_key)

    @override
    @property
    def key(self) -> str:
        return f"sample:{self.sample_key}"

    @override
    @property
    def provenance(self) -> Provenance:
        return Provenance(kind=ProvenanceKind.BUNDLED, title=self.sample.title, source=self.sample.attribution)

    @override
    @property
    def rows(self) -> int:
        return load_sample(self.sample_key).row_count

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Read the sample's table, which all sessions share: its arrays count towards no session's memory."""
        return Dataset(reading.domain, reading.records(load_sample(self.sample_key)), provenance, reading.person_rows)

    @override
    def code(self, columns: Sequence[str]) -> list[str]:
        return load_sample(self.sample_key).code(columns, folder="FOLDER")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Uploaded(Origin):
    """A file that the user uploads. It lives in one session.

    Attributes:
        table: what was read of it.
        private: whether nothing of it may be shown.
        digest: of the file's bytes; tells files apart inside the session.
    """

    table: Table
    private: bool
    digest: str

    @override
    def __repr__(self) -> str:
        return f"<Uploaded: {self.provenance.kind}>"

    @override
    @property
    def key(self) -> str:
        return f"upload:{self.digest}:{self.private}"

    @override
    @property
    def provenance(self) -> Provenance:
        kind = ProvenanceKind.PRIVATE if self.private else ProvenanceKind.STAND_IN
        return Provenance(kind=kind, title=self.table.name)

    @property
    def from_server(self) -> bool:
        """Return whether these are private rows of an engine: the server brings them, not the user."""
        return self.private and bool(self.table.counts_name)

    @override
    @property
    def rows(self) -> int:
        return self.table.row_count

    @override
    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Read the table, within what the session may hold of it."""
        return reading.dataset(self.table, provenance)

    @override
    def code(self, columns: Sequence[str]) -> list[str]:
        """Reading the reader's own copy of the file."""
        return self.table.code(columns)


def format_of(origin: Origin) -> Format:
    """Return the settings with which an uploaded file was read; the usual ones for rows that come from elsewhere."""
    return origin.table.format if isinstance(origin, Uploaded) else USUAL


@dataclass(frozen=True, kw_only=True)
class Source:
    """An origin's rows, read in one way.

    Attributes:
        origin: where the rows come from.
        reading: what is read of them.
        name: Python that makes this source again, where that is shorter than its parts.
        bounds_from_data: whether the domain was read off the rows, which no guarantee covers.
    """

    origin: Origin
    reading: Reading
    name: str = field(default="", repr=False, compare=False)
    bounds_from_data: bool = False

    @property
    def key(self) -> str:
        """Identity for what a session remembers; it holds no value of the data."""
        return f"{self.origin.key}:{self.reading!r}"

    @property
    def provenance(self) -> Provenance:
        """Provenance of the data, with their title."""
        provenance = self.origin.provenance
        read = "" if isinstance(self.origin, Generated) else f": {self.reading.title}"
        return Provenance(kind=provenance.kind, title=f"{provenance.title}{read}", source=provenance.source)

    @property
    def domain(self) -> Domain:
        """Domain of the records that are read."""
        return self.reading.domain

    def on(self, kind: type[DomainT]) -> DomainT:
        """Return the domain, where it is known to be of this kind."""
        assert isinstance(self.domain, kind)
        return self.domain

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a table of such rows."""
        return self.reading.columns

    @property
    def value_columns(self) -> tuple[str, ...]:
        """Columns of the record's values: all but the column of persons."""
        return self.reading.reading.columns if isinstance(self.reading, Capped) else self.columns

    @property
    def column(self) -> str:
        """Names of the value columns in one text, for axes."""
        return " × ".join(self.value_columns)

    @property
    def person_rows(self) -> int:
        """Maximal rows of a person that are read, where persons are protected; 0 where a row is protected."""
        return self.reading.person_rows

    @property
    def public_rows(self) -> int:
        """A public figure for n: its own where the data are public, a round one where they or who has rows are not."""
        return NOMINAL_ROWS if self.provenance.is_private or self.person_rows else self.origin.rows

    def dataset(self) -> Dataset:
        """Return the encoded rows; raises DataError where a column is missing or they take too much memory."""
        return self.origin.dataset(self.reading, self.provenance)

    def code(self) -> list[str]:
        """Return the lines of Python after which ``df`` holds the rows and ``dataset`` is this data set."""
        lines = [f"source = {self.name}"] * bool(self.name) + self.origin.code(self.reading.columns)
        private = self.provenance.is_private
        if not self.origin.framed:
            lines += ["domain = dataset.domain"]
        elif isinstance(self.reading, Columns):
            names = self.reading.names
            lines += [f"domain = {self.reading.on!r}"]
            called = repr(names[0] if len(names) == 1 else list(names))
            lines += [f"dataset = dpcore.from_frame(df, {called}, domain, private={private})"]
        else:
            lines += [f"reading = {'source.reading' if self.name else repr(self.reading)}"]
            lines += [f"dataset = reading.from_frame(df, private={private})"]
        text = "\n".join(lines)
        used = [name for name in MODULES if re.search(rf"\b{name}\b", text)]
        imports = [
            f"from {module} import {', '.join(name for name in used if MODULES[name] == module)}"
            for module in sorted({MODULES[name] for name in used})
        ]
        return [*(["import pandas as pd", ""] if "pd." in text else []), *imports, "", *lines]


def generated_rows(shape: str, *, n: int, bits: int, seed: int = 1, replaced: bool = False) -> Source:
    """Return the rows on an interval or in the unit square, each side cut into 2**bits cells.

    With ``replaced``, on an interval, the first row is another one: the data sets are neighbouring.

    >>> generated_rows("bimodal", n=100, bits=4).dataset().n
    100

    Raises:
        ParameterError: no shape of generators has this name.
    """
    if shape not in GENERATORS:
        raise ParameterError("No generator has this name.")
    generator = GENERATORS[shape]
    line = Number(bits=bits, high=generator.high, unit=generator.unit)
    if generator.in_the_plane:
        reading = Columns(names=("first", "second"), on=Product.map(line, line))
    else:
        reading = Columns(names=(generator.column,), on=line)
    call = f"generated_rows({shape!r}, n={n}, bits={bits}, seed={seed}{', replaced=True' * replaced})"
    return Source(origin=Generated(shape=shape, n=n, seed=seed, replaced=replaced), reading=reading, name=call)


def generated_attributes(*, n: int, attributes: int, seed: int = 1) -> Source:
    """Return the rows of attributes a1, a2, … that go together."""
    names = correlated_domain(attributes).names
    reading = YesNo(predicates=tuple(Predicate(column=name, value="true", name=name) for name in names))
    call = f"generated_attributes(n={n}, attributes={attributes}, seed={seed})"
    return Source(origin=Generated(shape=ATTRIBUTES, n=n, seed=seed), reading=reading, name=call)


def generated_lists(*, n: int, rules: int, seed: int = 1) -> Source:
    """Return students' decision lists for choosing a college."""
    call = f"generated_lists(n={n}, rules={rules}, seed={seed})"
    origin = Generated(shape=STUDENTS, n=n, seed=seed)
    return Source(origin=origin, reading=columns_of(college_domain(rules)), name=call)


def generated_vectors(*, n: int = 10_000, dimensions: int = 10, margin: float = 0.5, seed: int = 1) -> Source:
    """Return the unit vectors on either side of the plane of the first axis, none nearer to it than the margin.

    Raises:
        ParameterError: there are no rows or fewer than two dimensions, or the margin is not below 1.
    """
    if not (n >= 1 and dimensions >= 2 and 0 <= margin < 1):
        raise ParameterError("Generated vectors need rows, two dimensions or more, and a margin below 1.")
    reading = Vectors(measures=tuple(Measure(column=name) for name in Sphere(dimensions=dimensions).names))
    call = f"generated_vectors(n={n}, dimensions={dimensions}, margin={margin}, seed={seed})"
    return Source(origin=Generated(shape=CLOUDS, n=n, seed=seed, margin=margin), reading=reading, name=call)
