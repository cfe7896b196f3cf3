"""Workbooks, files of SPSS, Stata and Arrow, which a process of its own turns into CSV under limits of memory and time.

The libraries that read them are native code that was not written for hostile files, so they run in a child process:
what it takes too much of ends the child alone, its messages are thrown away, and the CSV that it leaves is checked as
any file is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dpcore.core import DataError
from dpcore.data.reading import conversion_process as child
from dpcore.data.reading.child_process import OUT_OF_TIME, read_answer, run_limited
from dpcore.data.reading.scratch import FULL

WORKBOOKS = (".xlsx", ".ods")
CONVERTED = tuple(child.READERS)
"""Ends of the names of files that are turned into CSV first; all but workbooks have names of their own."""


class ReadingLimits(Protocol):
    """The limits of ``intake.Limits`` that hold for a conversion."""

    @property
    def memory_bytes(self) -> int:
        """Memory on top of what the readers take without a file."""

    @property
    def unpacked_bytes(self) -> int:
        """Size of a workbook's parts, and of the CSV."""

    @property
    def columns(self) -> int:
        """Number of columns."""

    @property
    def cells(self) -> int:
        """Rows times columns."""

    @property
    def seconds(self) -> float:
        """Time of the processor, and on the clock."""


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """A file turned into CSV.

    Attributes:
        path: the CSV, in UTF-8, with commas.
        named: whether the first row surely holds names.
        labels: of each column, those that its codes were turned into; empty for a workbook.
        notes: public sentences about what was read.
    """

    path: Path
    named: bool
    labels: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def convert(source: Path, *, limits: ReadingLimits, sheet: int = 1) -> Conversion:
    """Turn a file into CSV beside it.

    Args:
        source: a file whose name ends in one of ``CONVERTED``; it is in a private folder.
        limits: what the child may take.
        sheet: which one of a workbook's sheets is read, from 1.

    Raises:
        DataError: one sentence without the file's name.
    """
    target, about = source.with_name("converted.csv"), source.with_name("about.json")
    wanted = child.Wanted(limits.cells, limits.columns, limits.unpacked_bytes, sheet)
    arguments = (source, target, about, limits.memory_bytes, math.ceil(limits.seconds), *wanted)
    status = run_limited(child.__file__, *map(str, arguments), folder=source.parent, seconds=limits.seconds)
    if status:
        raise DataError(_sentence(status, limits, sheet))
    said = read_answer(about)
    sheets, listed = said.get("sheets"), said.get("labels")
    labels = (
        tuple(tuple(filter(_is_text, each)) if isinstance(each, list) else () for each in listed)
        if isinstance(listed, list)
        else ()
    )
    notes = []
    if isinstance(sheets, int) and sheets > 1:
        notes.append(f"It has {sheets:,} sheets. Sheet {sheet:,} was read. For another one, set Format: Sheet.")
    if count := sum(map(bool, labels)):
        notes.append(f"Codes were replaced with their value labels in {count:,} column{'s' * (count > 1)}.")
    return Conversion(path=target, named=source.suffix not in WORKBOOKS, labels=labels, notes=tuple(notes))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _sentence(status: int, limits: ReadingLimits, sheet: int) -> str:
    """Return why the child gave no table."""
    sentences = {
        child.MEMORY: f"it needs more than the {limits.memory_bytes >> 20:,} MB of memory that reading may take.",
        child.CELLS: f"it has more than {limits.cells:,} cells (rows times columns), and no more are read.",
        child.COLUMNS: f"it has more than {limits.columns:,} columns, and no more are read.",
        child.LENGTH: f"it unpacks to more than {limits.unpacked_bytes:,} bytes, and no more are read.",
        child.FULL: FULL,
        child.EMPTY: f"it is empty, or its sheet {sheet} is.",
        child.SHEET: f"it has no sheet {sheet:,}. Set Format: Sheet.",
        OUT_OF_TIME: f"it took longer than {limits.seconds:g} seconds.",
    }
    return sentences.get(status, "its contents are damaged or cut short.")
