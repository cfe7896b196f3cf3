"""Two columns of a bundled sample at once: a number and the group it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.core import Dataset, ParameterError, Provenance, ProvenanceKind
from dpcore.data.domains import Grouped, Line
from dpcore.data.samples import ColumnSuggestion, load_sample, sample
from dpcore.data.sources import Source, suggested_domain


def group_columns(sample_key: str) -> tuple[ColumnSuggestion, ...]:
    """The columns of a sample that name groups: those with labels."""
    return tuple(each for each in sample(sample_key).columns if each.kind == "category" and len(each.labels) > 1)


@dataclass(frozen=True, kw_only=True)
class BundledGroups(Source):
    """A number column of a real sample that comes with the project, and a column with each row's group."""

    sample_key: str
    column_name: str
    group_name: str
    bits: int = 10

    @property
    def key(self) -> str:
        """Sample, columns and grid."""
        return f"sample:{self.sample_key}:{self.column_name}:{self.group_name}:{self.bits}"

    @property
    def provenance(self) -> Provenance:
        """A public sample."""
        found = sample(self.sample_key)
        title = f"{found.title}: {self.column_name} by {self.group_name}"
        return Provenance(kind=ProvenanceKind.BUNDLED, title=title, source=found.attribution)

    @property
    def domain(self) -> Grouped:
        """The declared labels, each with the declared line."""
        numbers, groups = self._suggestion(self.column_name, "number"), self._suggestion(self.group_name, "category")
        line = suggested_domain(numbers, bits=self.bits)
        assert isinstance(line, Line)
        return Grouped(labels=groups.labels, line=line)

    @property
    def column(self) -> str:
        """The number's own name."""
        return self.column_name

    def dataset(self) -> Dataset:
        """Read and encode both columns."""
        table, domain = load_sample(self.sample_key), self.domain
        codes = table.labels(self.group_name, list(domain.labels))
        return Dataset(domain, domain.encode(codes, table.numbers(self.column_name)), self.provenance)

    def code(self) -> list[str]:
        """One call."""
        return [
            "from dpcore.data.two_columns import BundledGroups",
            "",
            f"dataset = BundledGroups(sample_key={self.sample_key!r}, column_name={self.column_name!r}, "
            f"group_name={self.group_name!r}, bits={self.bits}).dataset()",
        ]

    def _suggestion(self, column: str, kind: str) -> ColumnSuggestion:
        for suggestion in sample(self.sample_key).columns:
            if (suggestion.column, suggestion.kind) == (column, kind):
                return suggestion
        raise ParameterError(f"The sample has no such {kind} column.")
