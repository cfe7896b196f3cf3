"""A hostile file is checked while it is streamed into a private folder; nothing here parses a record.

What is checked, in this order: size, ending against first bytes, decompressed size, encoding, the first row, the
number of cells, the memory its rows would take. Only then does ``dpcore.data.reading.tables`` let DuckDB near the copy.
"""

from __future__ import annotations

import codecs
import csv
import dataclasses
import gzip
import io
import itertools
import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dpcore.core import DataError, is_visible
from dpcore.data.reading.conversion import CONVERTED, WORKBOOKS, convert
from dpcore.data.reading.first_row import is_header
from dpcore.data.reading.format import Format
from dpcore.data.reading.layout import SEPARATORS, find_layout, separator_of
from dpcore.data.reading.scratch import FULL, NO_ROOM

CHUNK_BYTES = 1 << 20
HEADER_CHARACTERS = 1 << 20
NAME_CHARACTERS = 60
HEAD_CHARACTERS, TAIL_CHARACTERS = 34, 22
PARQUET_MAGIC = b"PAR1"
GZIP_MAGIC = b"\x1f\x8b"
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP, SPSS, STATA, ARROW = "a zip archive or a workbook", "SPSS data", "Stata data", "Arrow data"
# First bytes of what people rename or upload by mistake, and what to call it.
FOREIGN_MAGICS = {
    b"PK\x03\x04": ZIP,
    b"PK\x05\x06": "an empty zip archive",
    OLD_WORKBOOK: "an old workbook",
    b"%PDF-": "a PDF",
    b"SQLite format 3\x00": "an SQLite database",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\xfd7zXZ\x00": "xz-compressed data",
    b"\x28\xb5\x2f\xfd": "zstd-compressed data",
    GZIP_MAGIC: "gzip-compressed data",
    PARQUET_MAGIC: "Parquet data",
    b"PARE": "encrypted Parquet data",
    **dict.fromkeys((b"$FL2@(#)", b"$FL3@(#)"), SPSS),
    b"ARROW1": ARROW,
    b"FEA1": "the first version of Feather",
    b"\xff\xff\xff\xff": "an Arrow stream",
    b"<stata_dta>": STATA,
    # Before Stata 13: the version, the order of bytes, and 1.
    **{bytes((version, order, 1)): STATA for version in range(0x69, 0x74) for order in (1, 2)},
}
CONTENT = {
    ".parquet": "Parquet data", **dict.fromkeys(WORKBOOKS, ZIP), ".dta": STATA,
    **dict.fromkeys((".sav", ".zsav"), SPSS), **dict.fromkeys((".arrow", ".feather"), ARROW),
}  # fmt: skip
"""What a file holds whose name ends so; others hold text."""
OTHER_WORKBOOKS = (".xlsm", ".xlsb", ".xls", ".numbers")
BYTES_TO_READ = 64
"""Memory for each row while one column is read and encoded: measured, and some to spare."""


class FirstRowUnclear(DataError):
    """The first row could be names or data; ``columns`` says how many cells it has."""

    def __init__(self, message: str, *, columns: int) -> None:
        super().__init__(message)
        self.columns = columns


class TooLarge(DataError):
    """More memory would be held than a session may."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the cost of a file, checked before the cost arises.

    Attributes:
        file_bytes: size as it arrives.
        unpacked_bytes: size after decompression; for Parquet also the length of all its text together.
        columns: number of columns.
        cells: rows times columns.
        memory_bytes: what DuckDB may hold.
        session_bytes: what DuckDB and all arrays made of the table may hold together.
        seconds: longest single query.
    """

    file_bytes: int = 1 << 30
    unpacked_bytes: int = 1 << 30
    columns: int = 1_000
    cells: int = 100_000_000
    memory_bytes: int = 512 << 20
    session_bytes: int = 1536 << 20
    seconds: float = 60.0

    @property
    def rows(self) -> int:
        """The most rows of which a single column can be read."""
        return (self.session_bytes - self.memory_bytes) // BYTES_TO_READ

    def afford(self, *, rows: int, each: int, used: int = 0) -> None:
        """Raise TooLarge if this many bytes for each row, on top of the used memory, exceed the limit for arrays."""
        needed, limit = rows * each, self.session_bytes - self.memory_bytes
        if needed + used > limit:
            # Neither the number of rows nor anything to divide it out of: it may be private.
            note = ", including the files it already holds" if used else ""
            raise TooLarge(
                f"this takes more memory than the {limit / 2**20:,.0f} MB that a session may use for it{note}."
            )


LIMITS = Limits()


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A checked copy in a private folder: a Parquet file as it came, or a CSV's records as UTF-8 lines.

    Attributes:
        path: the copy.
        header: column names as written, or numbered ones (empty for Parquet, which carries its own).
        separator: what stands between fields (empty for Parquet).
        encoding: of the original, where it is not UTF-8.
        named: whether the first row holds names.
        labels: of each column, those that its codes were turned into; empty where there are none.
        converted: whether the original is no text: ``dpcore.data.frames.csv_of`` turns it into text.
        rows_before: rows of the original above the copy's first record.
        lines_skipped: lines of the original above its header or, without one, its first record.
        notes: public sentences about what was done.
    """

    path: Path
    header: tuple[str, ...] = ()
    separator: str = ""
    encoding: str = ""
    named: bool = False
    labels: tuple[tuple[str, ...], ...] = ()
    converted: bool = False
    rows_before: int = 0
    lines_skipped: int = 0
    notes: tuple[str, ...] = ()


def clean_name(name: str) -> str:
    """Return the name without anything a page, a chart or a terminal might obey; may come out empty.

    Letters, digits and a few signs stay; control and direction characters vanish. Brackets, quotes, colons, dollar
    signs and the like could start HTML, Markdown, icons or formulas and become ``_``. Leading and trailing ``_`` go
    too, for the sake of JavaScript's ``__proto__``.

    >>> clean_name("<b>pay</b>"), clean_name("__proto__"), clean_name("hours per week")
    ('b_pay_/b', 'proto', 'hours per week')
    """
    spaced = " ".join(unicodedata.normalize("NFC", name[: 10 * NAME_CHARACTERS]).split())
    categories = [(character, unicodedata.category(character)[0]) for character in spaced]
    safe = [one if kind in "LMN" or one in " _-.,%/()+°" else "_" for one, kind in categories if kind != "C"]
    # An address that Markdown would make a link of is broken.
    cleaned = re.sub(r"(?i)\bwww\.", "www_", "".join(safe))[:NAME_CHARACTERS].strip(" _-.,+")
    return cleaned if is_visible(cleaned) else ""


def _shortened(name: str) -> Iterator[str]:
    """Yield a name too long to show whole as its beginning and its end, which may be all that tells it from another."""
    whole = " ".join(name[: 10 * NAME_CHARACTERS].split())
    if len(whole) > NAME_CHARACTERS:
        yield clean_name(f"{clean_name(whole)[:HEAD_CHARACTERS]} .. {clean_name(whole[-TAIL_CHARACTERS:])}")


def clean_names(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return safe, unique column names, and a public note where any was changed.

    >>> clean_names(["age", "", "age"])
    (('age', 'column 2', 'age (2)'), ('Column names that were empty, repeated, long or unsafe were changed (2 of 3).',))
    """
    unique: dict[str, None] = {}
    for position, name in enumerate(names, start=1):
        base = clean_name(name) or f"column {position}"
        tries = itertools.chain([base], _shortened(name), (f"{base} ({count})" for count in itertools.count(2)))
        unique[next(one for one in tries if one not in unique)] = None
    changed = sum(one != name.strip() for one, name in zip(unique, names, strict=True))
    note = f"Column names that were empty, repeated, long or unsafe were changed ({changed:,} of {len(names):,})."
    return tuple(unique), (note,) if changed else ()


def receive(
    source: Path | bytes, *, name: str, folder: Path, limits: Limits, settings: Format, header: bool | None, ask: bool
) -> Arrival:
    """Check the file and copy it into the folder.

    Args:
        source: the file, or its bytes.
        name: its name.
        folder: where the copy goes.
        limits: what it may cost.
        settings: how its text is to be read.
        header: whether the first row of a text file holds names; None looks at it.
        ask: whether looking is not enough.

    Raises:
        DataError: one sentence that says what and where.
        FirstRowUnclear: the user must say what the first row holds.
    """
    zipped = name.lower().endswith(".gz")
    ending = Path(name.lower().removesuffix(".gz")).suffix
    if ending in OTHER_WORKBOOKS:
        raise DataError(f"{ending} is not read: save the workbook as .xlsx, or the sheet as CSV UTF-8.")
    if ending not in (".csv", ".tsv", ".txt", ".parquet", *CONVERTED):
        raise DataError(
            "the name must end in .csv, .tsv, .txt, .parquet, .xlsx, .ods, .sav, .zsav, .dta, .arrow or .feather, or "
            "one of these with .gz."
        )
    try:
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        if size > limits.file_bytes:
            raise DataError(f"it has {size:,} bytes, and at most {limits.file_bytes:,} are read.")
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as raw:
            first, chunks = _checked_start(raw, ending=ending, zipped=zipped, limits=limits)
            if ending == ".parquet":
                return _copy_parquet(itertools.chain([first], chunks), folder)
            if ending in CONVERTED:
                whole = itertools.chain([first], chunks)
                return _convert(whole, ending, folder, limits=limits, settings=settings, named=header, ask=ask)
            return _copy_text(first, chunks, ending, folder, limits=limits, settings=settings, named=header, ask=ask)
    except OSError as error:
        reason = (error.strerror or "input or output error").lower()
        problem = FULL if error.errno in NO_ROOM else f"it could not be read or copied: {reason}."
    raise DataError(problem)


def _checked_start(raw: IO[bytes], *, ending: str, zipped: bool, limits: Limits) -> tuple[bytes, Iterator[bytes]]:
    """Return the first unpacked bytes, compared with the ending, and an iterator of all chunks."""
    start = raw.read(16)
    raw.seek(0)
    if zipped and start and not start.startswith(GZIP_MAGIC):
        raise DataError("the name ends in .gz, but the content is not gzip-compressed.")
    chunks = _chunks(gzip.GzipFile(fileobj=raw) if zipped else raw, limits)
    first = next(chunks, b"")
    if not first:
        raise DataError("it is empty.")
    content = next((what for magic, what in FOREIGN_MAGICS.items() if first.startswith(magic)), "text")
    if ending in WORKBOOKS and first.startswith(OLD_WORKBOOK):
        raise DataError(f"it is an old workbook, or has a password: save it as {ending} without a password.")
    if content != CONTENT.get(ending, "text"):
        raise DataError(f"the name says {ending}, but the content is {content}.")
    return first, chunks


def _chunks(stream: IO[bytes] | gzip.GzipFile, limits: Limits) -> Iterator[bytes]:
    """Yield the unpacked bytes, a chunk at a time, never more than the limit: a gzip bomb is cut off as it opens."""
    total = 0
    while True:
        try:
            chunk = stream.read(CHUNK_BYTES)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            broken = True
        else:
            broken = False
        if broken:
            raise DataError("its gzip compression is broken or cut short.")
        if not chunk:
            return
        total += len(chunk)
        if total > limits.unpacked_bytes:
            raise DataError(f"it unpacks to more than {limits.unpacked_bytes:,} bytes, and no more are read.")
        yield chunk


def _copy_parquet(chunks: Iterator[bytes], folder: Path) -> Arrival:
    """Copy, and check that the file ends in a footer that fits inside it."""
    path = folder / "arrived.parquet"
    with path.open("wb") as copy:
        copy.writelines(chunks)
    size = path.stat().st_size
    with path.open("rb") as copy:
        copy.seek(max(size - 8, 0))
        tail = copy.read()
    if size < 12 or tail[4:] != PARQUET_MAGIC or int.from_bytes(tail[:4], "little") > size - 12:
        raise DataError("its Parquet footer is missing or cut short.")
    return Arrival(path=path)


def _convert(
    chunks: Iterator[bytes],
    ending: str,
    folder: Path,
    *,
    limits: Limits,
    settings: Format,
    named: bool | None,
    ask: bool,
) -> Arrival:
    """Copy a workbook or a file of SPSS, Stata or Arrow, have it turned into CSV, and check that as a text."""
    # Of the name nothing but the end is used.
    path = folder / f"original{ending}"
    with path.open("wb") as copy:
        copy.writelines(chunks)
    conversion = convert(path, limits=limits, sheet=settings.sheet)
    path.unlink()
    text = dataclasses.replace(settings, separator=",", encoding="", decimal=".")
    if ending not in WORKBOOKS:
        text, named = dataclasses.replace(text, skip=0), True
    with conversion.path.open("rb") as raw:
        parts = _chunks(raw, limits)
        arrival = _copy_text(
            next(parts, b""), parts, ".csv", folder, limits=limits, settings=text, named=named, ask=ask
        )
    conversion.path.unlink()
    if len(conversion.labels) not in (0, len(arrival.header)):
        raise DataError("its contents are damaged or cut short.")
    notes = (*conversion.notes, *arrival.notes)
    return dataclasses.replace(arrival, labels=conversion.labels, converted=True, notes=notes)


def _copy_text(
    first: bytes,
    chunks: Iterator[bytes],
    ending: str,
    folder: Path,
    *,
    limits: Limits,
    settings: Format,
    named: bool | None,
    ask: bool,
) -> Arrival:
    """Split off the first row and copy the records, counting lines; a first row of data is the first record."""
    wide = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = settings.encoding or ("utf-16" if wide else "utf-8")
    texts = _texts(itertools.chain([first], chunks), "utf-8-sig" if encoding == "utf-8" else encoding)
    top = ""
    while len(top) < HEADER_CHARACTERS and (text := next(texts, "")):
        top += text
    layout = find_layout(top, ending=ending, settings=settings, header=named, private=ask)
    separator, row, blank_lines, length = _first_row(top[layout.start :], layout.separator, limits)
    skipped, length = top.count("\n", 0, layout.start), layout.start + length
    if layout.row_names and named is not False:
        row = ("", *row)
    if named is None and (ask or not is_header(row[layout.row_names :], _rows(top[length:], separator))):
        raise FirstRowUnclear("row 1 could be column names or data: choose one.", columns=len(row))
    data_first = named is False
    header = tuple(f"column {place}" for place in range(1, len(row) + 1)) if data_first else row
    lines = 1 + data_first
    path = folder / "arrived.csv"
    with path.open("wb") as copy:
        copy.write(_written(row, separator).encode() if data_first else b"")
        for text in itertools.chain([top[length:]], texts):
            lines += text.count("\n")
            if lines * len(header) > limits.cells:
                raise DataError(f"it has more than {limits.cells:,} cells (rows times columns), and no more are read.")
            if lines - 1 > limits.rows:
                raise DataError(f"it has more than {limits.rows:,} rows, and a session has memory for no more.")
            copy.write(text.encode())
    notes = [] if encoding == "utf-8" else [f"It was converted from {_encoding_name(encoding)} to UTF-8."]
    notes += layout.notes
    if layout.row_names:
        notes.append("Its header has one name too few, so the first column is read as row names.")
    if separator != ",":
        notes.append(f"Its fields are separated by {SEPARATORS.get(separator, f'“{separator}”')}.")
    rows_before = skipped + blank_lines + (not data_first)
    return Arrival(
        path=path,
        header=header,
        separator=separator,
        encoding="" if encoding == "utf-8" else encoding,
        named=not data_first,
        rows_before=rows_before,
        lines_skipped=skipped,
        notes=tuple(notes),
    )


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the rows at the beginning of a text, as far as they can be parsed; the last may be cut short."""
    try:
        yield from csv.reader(io.StringIO(text), delimiter=separator, strict=True, skipinitialspace=True)
    except csv.Error:
        return


def _written(row: Sequence[str], separator: str) -> str:
    """Return the row as DuckDB is told to read it."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(row)
    return stream.getvalue()


def _texts(chunks: Iterator[bytes], encoding: str) -> Iterator[str]:
    r"""Yield the decoded text, a chunk at a time, every line ending turned into \n."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), translate=True)
    lines = 1
    for chunk in itertools.chain(chunks, [b""]):
        text, wrong = "", -1
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            wrong = lines + error.object[: error.start].count(b"\n")
        if wrong >= 0:
            advice = "save it as CSV UTF-8" if encoding == "utf-8-sig" else "it is cut short or damaged"
            raise DataError(f"line {wrong:,} contains bytes that are not {_encoding_name(encoding)} text: {advice}.")
        if "\0" in text:
            lines += text[: text.index("\0")].count("\n")
            raise DataError(f"line {lines:,} contains a zero byte, so this is not a text file.")
        lines += text.count("\n")
        if text:
            yield text


def _encoding_name(encoding: str) -> str:
    """Return the encoding as people call it."""
    return encoding[:6].upper() if encoding.startswith("utf-16") else encoding.removesuffix("-sig").upper()


def _first_row(top: str, separator: str, limits: Limits) -> tuple[str, tuple[str, ...], int, int]:
    """Return separator, cells of the first row, empty lines above it, and characters up to its end."""
    blank_lines = len(top) - len(top.lstrip("\n"))
    if blank_lines == len(top):
        raise DataError("it is empty.")
    separator = separator or separator_of(top[blank_lines:].split("\n", 1)[0])
    stream = io.StringIO(top[blank_lines:])
    row: list[str] = []
    try:
        row = next(csv.reader(stream, delimiter=separator, strict=True, skipinitialspace=True))
    except csv.Error:
        stream.seek(0)
    if not row:
        raise DataError("row 1 has a quotation mark that is not closed or is far too long.")
    cut = len(top) >= HEADER_CHARACTERS and not top[: blank_lines + stream.tell()].endswith("\n")
    if len(row) > limits.columns:
        columns = f"{'more than ' * cut}{len(row):,}"
        raise DataError(f"row 1 has {columns} columns, and at most {limits.columns:,} are read.")
    if cut:
        raise DataError(f"row 1 is longer than {HEADER_CHARACTERS:,} characters.")
    return separator, tuple(row), blank_lines, blank_lines + stream.tell()
