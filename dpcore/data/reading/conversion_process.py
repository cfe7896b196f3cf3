"""A program of its own that turns workbooks, files of SPSS, Stata and Arrow into CSV under limits of memory and time.

``dpcore.data.reading.conversion`` starts it. It imports nothing of the project, so that it starts quickly, and prints
nothing, as the readers' messages may quote a record: its exit status says what went wrong.
"""

from __future__ import annotations

import csv
import datetime
import errno
import json
import math
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

DAMAGED, MEMORY, CELLS, COLUMNS, LENGTH, FULL, EMPTY, SHEET = range(10, 18)
"""Exit statuses; Python and the system use smaller ones and negative ones."""
CELLS_PER_CHUNK = 200_000
MAX_LABELS = 1_000
"""More labels than this are put into cells, but suggest no declaration."""
SCALE = "scale"
"""What SPSS calls a column whose numbers are measurements: its codes stay numbers."""
Row = Sequence[object]


class NotConverted(Exception):
    """The file is not read; ``status`` says why."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


class Wanted(NamedTuple):
    """What is read of a file: at most so many cells, columns and bytes of text, and which sheet, from 1."""

    cells: int
    columns: int
    length: int
    sheet: int


def set_limits(memory: int, seconds: int, length: int) -> None:
    """Limit what this process may take from now on, as far as the system can: Windows cannot.

    Args:
        memory: bytes on top of what is taken already.
        seconds: of the processor.
        length: bytes of a file that is written.
    """
    try:
        import resource
    except ImportError:
        return
    taken = 0
    with suppress(OSError):
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    wanted = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: length,
        resource.RLIMIT_CORE: 0,  # a core dump would hold records
        # Without /proc what is taken already is not known: 1 GB is enough for it.
        resource.RLIMIT_AS: (taken or 1 << 30) + memory,
    }
    for what, limit in wanted.items():
        with suppress(OSError, ValueError):  # macOS refuses a limit on memory
            resource.setrlimit(what, (limit, limit))


def cell_text(value: object) -> str:
    """Return a cell as CSV has it: whole numbers without a point, dates as ISO 8601.

    >>> cell_text(2.0), cell_text(0.1), cell_text(True), cell_text(None), cell_text(datetime.datetime(2024, 2, 29))
    ('2', '0.1', 'true', '', '2024-02-29')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return str(value.date()) if value.time() == datetime.time() else value.isoformat(" ")
    return str(value).replace("\r\n", "\n").replace("\r", "\n")


def read_workbook(path: Path, wanted: Wanted) -> tuple[dict[str, Any], Iterator[Row]]:
    """Return what is said about a workbook, and the rows of one of its sheets."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    with zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > wanted.length:
            raise NotConverted(LENGTH)
    book = CalamineWorkbook.from_path(str(path))
    sheets = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    if not sheets:
        raise NotConverted(EMPTY)
    if wanted.sheet > len(sheets):
        raise NotConverted(SHEET)
    sheet = book.get_sheet_by_name(sheets[wanted.sheet - 1])
    if sheet.height * sheet.width == 0:
        raise NotConverted(EMPTY)
    if sheet.width > wanted.columns:
        raise NotConverted(COLUMNS)
    if sheet.height * sheet.width > wanted.cells:
        raise NotConverted(CELLS)
    # iter_rows would pad the rows to the sheet's corner.
    return {"sheets": len(sheets)}, iter(sheet.to_python())


def read_statistics(path: Path, wanted: Wanted) -> tuple[dict[str, Any], Iterator[Row]]:
    """Return the labels of each column of a file of SPSS or Stata, and its rows, of which the first has the names.

    A code with a label becomes the label, whatever other rows hold. What SPSS declares to be missing is missing.
    """
    import pyreadstat

    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    _, about = read(str(path), metadataonly=True, output_format="dict")
    names = list(about.column_names)
    if not names:
        raise NotConverted(EMPTY)
    if len(names) > wanted.columns:
        raise NotConverted(COLUMNS)
    if (about.number_rows or 0) * len(names) > wanted.cells:
        raise NotConverted(CELLS)
    labels = {
        name: {code: text for code, label in codes.items() if (text := " ".join(str(label).split()))}
        for name, codes in about.variable_value_labels.items()
        if about.variable_measure.get(name) != SCALE
    }
    missing: Mapping[str, Sequence[Any]] = {}
    if path.suffix != ".dta":  # which codes are missing is said only if they are asked for
        _, whole = read(str(path), row_limit=1, user_missing=True, output_format="dict")
        missing = whole.missing_ranges
    suggested = [
        list(
            dict.fromkeys(
                label for code, label in labels.get(name, {}).items() if not is_missing(code, missing.get(name, ()))
            )
        )
        for name in names
    ]

    def rows() -> Iterator[Row]:
        yield names
        step, offset = max(CELLS_PER_CHUNK // len(names), 1), 0
        while True:
            chunk, _ = read(str(path), row_offset=offset, row_limit=step, output_format="dict")
            listed = [labelled(chunk[name], labels.get(name, {})) for name in names]
            yield from zip(*listed, strict=True)
            if len(listed[0]) < step:
                return
            offset += step
            if offset * len(names) > wanted.cells:
                raise NotConverted(CELLS)

    return {"labels": [each if len(each) <= MAX_LABELS else [] for each in suggested]}, rows()


def is_missing(code: object, ranges: Iterable[Any]) -> bool:
    """Return whether SPSS declares a code to be missing: by itself, or within two ends."""
    for each in ranges:
        with suppress(TypeError):  # a text is in no range of numbers
            if each["lo"] <= code <= each["hi"] if isinstance(each, Mapping) else each == code:
                return True
    return False


def labelled(values: Iterable[object], labels: Mapping[Any, str]) -> list[object]:
    """Return the values of a column, of which those that are codes become their labels."""
    return [labels.get(value, value) for value in values] if labels else list(values)


def read_arrow(path: Path, wanted: Wanted) -> tuple[dict[str, Any], Iterator[Row]]:
    """Return the rows of a file of Arrow or Feather, of which the first has the names; a code becomes its label."""
    import pyarrow

    pyarrow.set_cpu_count(1)
    file = pyarrow.ipc.open_file(pyarrow.memory_map(str(path)))
    names = file.schema.names
    if not names:
        raise NotConverted(EMPTY)
    if len(names) > wanted.columns:
        raise NotConverted(COLUMNS)

    def rows() -> Iterator[Row]:
        yield names
        read = 0
        for place in range(file.num_record_batches):
            batch = file.get_batch(place)
            batch.validate(full=True)  # else a place outside a column is read as if it were a value of it
            read += batch.num_rows
            if read * len(names) > wanted.cells:
                raise NotConverted(CELLS)
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    return {}, rows()


Reader = Callable[[Path, Wanted], tuple[dict[str, Any], Iterator[Row]]]
READERS: Mapping[str, tuple[str, Reader]] = {
    **dict.fromkeys((".xlsx", ".ods"), ("python_calamine", read_workbook)),
    **dict.fromkeys((".sav", ".zsav", ".dta"), ("pyreadstat", read_statistics)),
    **dict.fromkeys((".arrow", ".feather"), ("pyarrow", read_arrow)),
}
"""By the end of a file's name: the library, and the function that reads it."""


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write the rows as CSV."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow(map(cell_text, row))


def main(arguments: Sequence[str]) -> int:
    """Convert a file and return the exit status.

    Args:
        arguments: the file, the CSV and the JSON to write; the limits, bytes of memory and seconds; what is wanted.
    """
    source, target, about = map(Path, arguments[:3])
    memory, seconds, *numbers = map(int, arguments[3:])
    wanted = Wanted(*numbers)
    status = 0
    try:
        library, read = READERS[source.suffix]
        # The library comes first: the limit of memory is for what the file takes.
        import_module(library)
        set_limits(memory, seconds, wanted.length)
        said, rows = read(source, wanted)
        write_rows(rows, target)
        about.write_text(json.dumps(said), encoding="utf-8")
    except NotConverted as refused:
        status = refused.status
    except MemoryError:
        status = MEMORY
    except OSError as error:
        status = {errno.EFBIG: LENGTH, errno.ENOSPC: FULL, errno.EDQUOT: FULL}.get(error.errno or 0, DAMAGED)
    except BaseException:  # a panic of the reader is none of Python's usual errors
        status = DAMAGED
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
