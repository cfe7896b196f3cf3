"""Reading of an untrusted file into a Table: the outcome is a table or one clear sentence.

``dpcore.data.reading.intake`` checks and copies the bytes; here DuckDB turns the copy into a Parquet file of our own
making in a private folder, and a Table answers from that file alone. Both DuckDB connections may touch nothing but
these files.
"""

from __future__ import annotations

import dataclasses
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpcore.core import Booleans, DataError, Dataset, Floats, Integers, ParameterError, Provenance
from dpcore.data.reading.cell_parsing import period, truth
from dpcore.data.reading.duck import Connection, connect, cursor_of, quoted, run
from dpcore.data.reading.first_row import is_value
from dpcore.data.reading.format import Format
from dpcore.data.reading.guesses import guess_format
from dpcore.data.reading.intake import (
    BYTES_TO_READ,
    LIMITS,
    Arrival,
    FirstRowUnclear,
    Limits,
    TooLarge,
    clean_name,
    clean_names,
    receive,
)
from dpcore.data.reading.numbers import number
from dpcore.data.reading.scratch import private_folder

if TYPE_CHECKING:
    from dpcore.data.readings import Reading

__all__ = ["BLANKS", "LIMITS", "FirstRowUnclear", "Limits", "Table", "TooLarge", "read_table"]

BLANKS = " \t\n"
"""What does not count at either end of a cell or a label; other white space does."""
FRACTIONS = ("FLOAT", "DOUBLE")
WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
WORDS = (
    "VARCHAR",
    "BOOLEAN",
    "DATE",
    "TIME",
    "TIME_NS",
    "UUID",
    "TIMESTAMP",
    "TIMESTAMP_NS",
    "TIMESTAMP WITH TIME ZONE",
)
NUMERIC_SHARE = 0.9
NO_NUMBERS = (
    *("nan", "na", "n/a", "#n/a", "null", "none", "inf", "-inf", "infinity", "-infinity", "#div/0!", "#value!", "\\n"),
    *(".", "..", "?", "-", "--", "–", "—"),
)
"""What other programs write where a column of numbers has none."""
NARROW = 20
CELLS_PER_GROUP = 2_000_000
ROWS_PER_PART = 1_000_000
CELLS_PER_PART = 1_000_000
TITLE_OR_HEADER = "Only its first column has a name. If that is a title above the header, set Format: Lines to skip."
Strings = tuple[str, ...]
POINT = Format(decimal=".")
"""Settings of tables of which nothing is guessed."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Table:
    """Columns of private values; nothing printed about a Table shows one. Safe to use from several threads.

    Blanks around a cell do not count, and an empty cell is a missing one. Made by ``read_table``.

    Attributes:
        name: the file's name, safe to show.
        columns: unique names, safe to show.
        row_count: n. Private where rows come and go.
        notes: public sentences about what reading found or changed.
        header: whether the first row was read as names; None for Parquet, which carries its own.
        format: settings with which the same file is read again, and nothing is guessed but dates' order where it is
            empty; its decimal sign is never empty.
        guesses: public sentences about settings that the user left open.
        value_labels: of each column, the labels that the file's own dictionary gives its codes, and that its cells hold
            instead; empty where there are none.
    """

    name: str
    columns: tuple[str, ...]
    row_count: int
    notes: tuple[str, ...]
    header: bool | None
    _texts: tuple[str, ...]
    _places: tuple[int, ...]
    _reading: tuple[str, ...]
    _connection: Connection
    _limits: Limits
    _resources: ExitStack
    _arrays: list[weakref.ref[NDArray[Any]]] = field(default_factory=list)
    _folder: Path | None = None
    _first: Table | None = None
    _worded: tuple[bool, ...] = ()
    format: Format = POINT
    guesses: tuple[str, ...] = ()
    value_labels: tuple[Strings, ...] = ()
    _converted: bool = False

    @override
    def __repr__(self) -> str:
        return f"Table({self.name!r}, row_count={self.row_count}, columns={len(self.columns)})"

    @property
    def counts_name(self) -> str:
        """Empty: no engine keeps it."""
        return ""

    def with_format(self, settings: Format) -> Table:
        """The same records, whose cells are read with other settings; what these leave open is as it was first read.

        Separator, encoding and lines to skip stay: they concern the whole file.
        """
        origin = self._first or self
        changed = dataclasses.replace(
            origin.format, missing=settings.missing, days=settings.days,
            decimal=origin.format.decimal if self._converted else settings.decimal or origin.format.decimal,
            date_order=settings.date_order or origin.format.date_order,
        )  # fmt: skip
        chosen = ("Numbers",) * bool(settings.decimal) + ("Dates",) * bool(settings.date_order)
        guesses = tuple(sentence for sentence in origin.guesses if not sentence.startswith(chosen))
        # The records go when the first of these tables does.
        return dataclasses.replace(origin, format=changed, guesses=guesses, _first=origin)

    def forget(self) -> None:
        """Delete the records now, even if other code holds the table; else they go with the last reference."""
        self._resources.close()

    @property
    def closed(self) -> bool:
        """Return whether the records are gone: the table was forgotten, or the process is about to end."""
        return self._folder is not None and not self._folder.exists()

    def code(self, columns: Sequence[str], *, folder: str = "") -> list[str]:
        """Lines of Python after which ``df`` holds these columns of the reader's own copy, for ``read_frame``.

        Args:
            columns: their names here; pandas is told to use them, too.
            folder: an expression for where the file is, if not in the working directory.
        """
        chosen = sorted({self._position(column) for column in columns})
        names = [self.columns[i] for i in chosen]
        path = f"{folder} / {self.name!r}" if folder else repr(self.name)
        if self.header is None and not self._places:
            return [f"df = pd.read_parquet({path}, columns={names})", *self._format_code()]
        places = [self._places[i] for i in chosen]
        if self.header is None:
            read = f"df = pd.read_parquet({path}).iloc[:, {places}].set_axis({names}, axis='columns')"
            return [read, *self._format_code()]
        sheet = f", sheet={self.format.sheet}" * (self.format.sheet > 1)
        path = f"csv_of({path}{sheet})" if self._converted else path
        # Texts as they stand: dpcore reads numbers to the last digit, and decides what is missing.
        return [
            *["from dpcore.data.frames import csv_of"] * self._converted,
            f"df = pd.read_csv({path}, usecols={places}, names={names},",
            f"                 {', '.join((*self._reading, 'dtype=str', 'keep_default_na=False'))})",
            *self._format_code(),
        ]

    def _format_code(self) -> list[str]:
        """Return a line that has ``read_frame`` read cells as here, where that is not the usual way."""
        cells = Format(
            decimal=self.format.decimal, date_order=self.format.date_order, missing=self.format.missing,
            days=self.format.days,
        )  # fmt: skip
        return [] if cells == Format(decimal=".") else [f'df.attrs["format"] = {cells.text}']

    def reserve(self, more: int) -> None:
        """Raise TooLarge if a session may not hold what reading a column takes, and so many more bytes for each row.

        Code that makes arrays of the table calls it before, and ``hold`` after.
        """
        try:
            self._limits.afford(rows=self.row_count, each=BYTES_TO_READ + more, used=self._array_bytes())
        except TooLarge as error:
            sentence = str(error)
        else:
            return
        raise TooLarge(f"{self.name}: {sentence}")

    def _array_bytes(self) -> int:
        """Return the size of all arrays still referenced; in a method, so that no error's traceback refers to one."""
        return sum(array.nbytes for reference in self._arrays if (array := reference()) is not None)

    def hold(self, array: NDArray[Any]) -> None:
        """Count an array made of the table's rows for as long as it is referenced."""
        self._arrays.append(weakref.ref(array, self._arrays.remove))

    def dataset(self, reading: Reading, provenance: Provenance) -> Dataset:
        """Return the rows of a reading; their arrays count towards the memory limit."""
        self.reserve(reading.room)
        dataset = Dataset(reading.domain, reading.records(self), provenance, reading.person_rows)
        self.hold(dataset.records)
        return dataset

    def numbers(self, column: str) -> Floats:
        """Return the column as numbers, shape (n,): NaN where a cell is missing, not a number, or not finite."""
        self.reserve(0)
        table = self._ask(f"SELECT coalesce({self._number(column)}, 'nan'::DOUBLE) AS number FROM records")
        numbers = np.asarray(table["number"], dtype=np.float64)
        numbers[~np.isfinite(numbers)] = np.nan
        return numbers

    def labels(self, column: str, labels: Sequence[str]) -> Integers:
        """Position of each cell among the k labels, shape (n,): 0..k-1, or k for anything else (missing included)."""
        wanted = [label.strip(BLANKS) for label in labels]
        if len(set(wanted)) != len(wanted):
            raise ParameterError("Labels must differ in more than surrounding spaces.")
        self.reserve(0)
        table = self._ask(
            f"WITH cells AS (SELECT row, {self._text(column)} AS text FROM records),"
            " known AS (SELECT unnest($labels) AS label, unnest(range(len($labels))) AS code)"
            " SELECT row, coalesce(code, len($labels)) AS code FROM cells LEFT JOIN known ON text = label",
            {"labels": wanted},
        )
        # A join does not keep the order of rows.
        codes = np.empty(self.row_count, dtype=np.int64)
        codes[table["row"]] = table["code"]
        return codes

    def truths(self, column: str) -> Integers:
        """0 for no, 1 for yes, 2 for anything else (missing included), shape (n,); see ``cell_parsing.truth``."""
        self.reserve(0)
        return np.asarray(self._ask(f"SELECT {truth(self._text(column))} AS t FROM records")["t"], dtype=np.int64)

    def periods(self, column: str, step: str) -> Floats:
        """Return the day, week, month or year of each cell, (n,), NaN for none; see ``cell_parsing.period``."""
        self.reserve(0)
        number = f"coalesce(CAST({period(self._text(column), step, self.format)} AS DOUBLE), 'nan'::DOUBLE)"
        return np.asarray(self._ask(f"SELECT {number} AS number FROM records")["number"], dtype=np.float64)

    def present(self, column: str) -> Booleans:
        """Return whether each cell holds something, shape (n,)."""
        return np.asarray(self._ask(f"SELECT {self._text(column)} IS NOT NULL AS t FROM records")["t"], dtype=np.bool_)

    def codes(self, column: str) -> Integers:
        """Return a number for each distinct text of the column, dense and in order of first appearance, shape (n,).

        All missing cells share one number, so a cap on rows per person holds for them together.
        """
        self.reserve(0)
        # One part of the texts at a time, so that a column with millions of them fits the memory limit.
        parts = 1 + self.row_count // ROWS_PER_PART
        first = np.empty(self.row_count, dtype=np.int64)
        for part in range(parts):
            table = self._ask(
                f"WITH cells AS (SELECT row, {self._text(column)} AS text FROM records"
                f" WHERE hash(text) % {parts} = {part}),"
                " firsts AS (SELECT text, min(row) AS code FROM cells GROUP BY text)"
                " SELECT row, code FROM cells JOIN firsts ON cells.text IS NOT DISTINCT FROM firsts.text"
            )
            first[table["row"]] = table["code"]
        is_first = first == np.arange(len(first))
        return (np.cumsum(is_first) - 1)[first]

    def packed(self, columns: Sequence[str]) -> Iterator[bytes]:
        """Each row's texts in these columns as ``packed_row`` has them, "?" where a cell is missing; in any order."""
        cells = [f"coalesce({self._text(column)}, '?')" for column in columns]
        # One call: of a chain of || for some hundred columns DuckDB says that it is nested too deeply.
        lengths = ", ',', ".join(f"strlen({cell})" for cell in cells)
        packed = ", ".join([lengths, "';'", *cells])
        for start in range(0, self.row_count, step := max(1, CELLS_PER_PART // len(columns))):
            part = f"row >= {start} AND row < {start + step}"
            table = self._ask(f"SELECT concat({packed}) AS packed FROM records WHERE {part}")
            yield from map(str.encode, table["packed"].tolist())

    def is_mostly_numeric(self, column: str) -> bool:
        """Return whether at least 90% of the cells that are not missing, in any of the usual words for it, are numbers.

        This reads private values: only for public data or the data owner.
        """
        counts = self._ask(
            f"SELECT count(*) FILTER (lower({self._text(column)}) NOT IN {NO_NUMBERS}) AS present,"
            f" count(*) FILTER (isfinite({self._number(column)})) AS fit FROM records"
        )
        return bool(counts["fit"][0] >= NUMERIC_SHARE * counts["present"][0] > 0)

    def distinct(self, column: str, limit: int) -> list[str]:
        """Return the column's values, most frequent first, at most ``limit`` of them, missing left out.

        This reads private values: only for public data or the data owner.
        """
        texts = self._ask(
            f"SELECT {self._text(column)} AS text FROM records GROUP BY text HAVING text IS NOT NULL"
            " ORDER BY count(*) DESC, text LIMIT $limit",
            {"limit": limit},
        )
        return [str(text) for text in texts["text"]]

    def texts(self, column: str, longest: int) -> NDArray[Any]:
        """Return the text of each cell, (n,), None where it is missing or has more characters; equal ones share memory.

        This reads private values: only for a mechanism that releases labels.
        """
        self.reserve(0)
        texts, shared = np.full(self.row_count, None, dtype=object), dict[str, str]()
        for start in range(0, self.row_count, ROWS_PER_PART):
            part = f"row >= {start} AND row < {start + ROWS_PER_PART}"
            cells = f"SELECT row, {self._text(column)} AS text FROM records WHERE {part}"
            table = self._ask(f"SELECT * FROM ({cells}) WHERE length(text) <= {int(longest)}")
            texts[table["row"]] = [shared.setdefault(text, text) for text in map(str, table["text"])]
        return texts

    def _position(self, column: str) -> int:
        if column not in self.columns:
            raise DataError(f"{self.name}: there is no column named “{clean_name(column)}”.")
        return self.columns.index(column)

    def _text(self, column: str) -> str:
        """SQL for a cell's text; NULL where it is empty or a code for missing; numeric codes match by value."""
        text = self._texts[self._position(column)]
        if not self.format.missing:
            return text
        codes = [code.strip(BLANKS) for code in self.format.missing]
        numbers = ", ".join(repr(value) for code in codes if (value := _finite(code)) is not None)
        is_code = f"{text} IN ({', '.join(map(quoted, codes))})"
        if numbers:
            is_code += f" OR coalesce(try_cast({text} AS DOUBLE) IN ({numbers}), false)"
        return f"CASE WHEN {is_code} THEN NULL ELSE {text} END"

    def _number(self, column: str) -> str:
        """SQL for a cell as a number: NULL or not finite where it is none."""
        place = self._position(column)
        if self._worded[place]:
            return number(self._text(column), decimal=self.format.decimal)
        cell = f"try_cast(c{place} AS DOUBLE)"
        return f"CASE WHEN {self._text(column)} IS NOT NULL THEN {cell} END" if self.format.missing else cell

    def _ask(self, query: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            with cursor_of(self._connection) as cursor:  # so threads do not meet
                return run(cursor, query, parameters, limits=self._limits)
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None


def _finite(code: str) -> float | None:
    """Return the number that a code for missing is; None where it is none."""
    try:
        value = float(code)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def packed_row(texts: Sequence[str]) -> bytes:
    """Return the texts so that no two lists of them look alike: their lengths in bytes, then all of them."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    return ",".join(str(len(part)) for part in parts).encode() + b";" + b"".join(parts)


def read_table(
    source: Path | bytes,
    *,
    name: str,
    header: bool | None = None,
    ask: bool = False,
    limits: Limits = LIMITS,
    settings: Format | None = None,
    guess_values: bool | None = None,
) -> Table:
    """Read a CSV, TSV, TXT, Parquet, Excel, ODS, SPSS or Stata file (also with .gz behind) into a Table.

    Args:
        source: the file, or its bytes.
        name: the file's name; its ending says what the file should hold.
        header: whether the first row of a text file holds the columns' names or is a record like the rest. None reads
            it as names where it surely holds some (``is_header``), unless the settings say. Parquet, SPSS and Stata
            carry their own names.
        ask: whether a first row of text that looks like names is not enough, as of rows about people.
        limits: what the file may cost.
        settings: how the file is to be read; what they leave open is guessed.
        guess_values: whether it may be guessed from values; by default unless ``ask``.

    Raises:
        DataError: one sentence naming the file, what is wrong and where; never a record's value.
        FirstRowUnclear: ``header`` is None and the first row could be either.
    """
    shown, settings = clean_name(name) or "the file", settings or Format()
    header = settings.header if header is None else header
    try:
        guessing = not ask if guess_values is None else guess_values
        return _read(source, name, shown, limits, settings, header, ask, guessing)
    except FirstRowUnclear as error:
        raise FirstRowUnclear(f"{shown}: {error}", columns=error.columns) from None
    except DataError as error:
        raise DataError(f"{shown}: {error}") from None


def _read(
    source: Path | bytes,
    name: str,
    shown: str,
    limits: Limits,
    settings: Format,
    header: bool | None,
    ask: bool,
    guessing: bool,
) -> Table:
    with ExitStack() as undo:
        folder = private_folder(undo)
        arrival = receive(source, name=name, folder=folder, limits=limits, settings=settings, header=header, ask=ask)
        stored = folder / "records.parquet"
        store = _store_text if arrival.header else _store_parquet
        # Each thread holds a row group of every column; with many columns two do not fit the memory limit.
        threads = 2 if 0 < len(arrival.header) <= NARROW else 1
        with connect([arrival.path, stored], limits=limits, threads=threads) as reader:
            names, places, notes = store(reader, arrival, stored, limits)
        if ask and not arrival.header and any(is_value(name.strip()) for name in names):
            names = ("",) * len(names)  # whoever wrote it took a record for names: "column 1" and on instead
        arrival.path.unlink()
        connection = undo.enter_context(connect([stored], limits=limits, threads=2))
        view = f"SELECT *, file_row_number AS row FROM read_parquet({quoted(stored)}, file_row_number = true)"
        run(connection, f"CREATE VIEW records AS {view}", limits=limits)
        count = int(run(connection, "SELECT count(*) AS rows FROM records", limits=limits)["rows"][0])
        if count == 0:
            raise DataError("it has column names but no rows.")
        types = run(connection, "SELECT column_type AS kind FROM (DESCRIBE records)", limits=limits)["kind"]
        columns, renamed = clean_names(names)
        if arrival.named and len(names) > 1 and names[0].strip() and not any(name.strip() for name in names[1:]):
            renamed = (*renamed, TITLE_OR_HEADER)
        worded = tuple(kind == "VARCHAR" for kind in types[: len(columns)])
        if arrival.converted:  # its numbers were written by us
            settings = dataclasses.replace(settings, decimal=".", encoding="")
        chosen, guesses = guess_format(
            connection, settings, limits=limits, separator=arrival.separator, private=not guessing,
            cells=[f"c{i}" for i, is_text in enumerate(worded) if is_text],
        )  # fmt: skip
        table = Table(
            name=shown,
            columns=columns,
            row_count=count,
            notes=(*notes, *renamed),
            header=arrival.named if arrival.header else None,
            format=dataclasses.replace(
                chosen,
                separator=arrival.separator,
                skip=arrival.lines_skipped or None,
                header=False if arrival.header and not arrival.named else None,
                sheet=settings.sheet if arrival.converted else 1,
            ),
            guesses=guesses,
            _worded=worded,
            # Whole numbers with gaps are often stored as fractions, so there 2.0 reads 2.
            _texts=tuple(
                f"regexp_replace(c{i}::VARCHAR, '\\.0$', '')" if kind in FRACTIONS else f"c{i}::VARCHAR"
                for i, kind in enumerate(types[: len(columns)])
            ),
            # Nothing where a Parquet file calls its columns as we do.
            _places=places if arrival.header or renamed else (),
            _reading=_reading(arrival) if arrival.header else (),
            value_labels=arrival.labels,
            _converted=arrival.converted,
            _connection=connection,
            _limits=limits,
            _resources=undo.pop_all(),
            _folder=folder,
        )
        weakref.finalize(table, table._resources.close)
    return table


def _reading(arrival: Arrival) -> Strings:
    """Return the arguments with which pandas reads the same rows from the original."""
    words = ["header=0" if arrival.named else "header=None", "skipinitialspace=True"]
    if arrival.separator != ",":
        words.append(f"sep={arrival.separator!r}")
    if arrival.encoding:
        words.append(f"encoding={arrival.encoding!r}")
    if len(arrival.header) == 1:
        # An empty line is a missing cell here, and no row at all where there are more columns.
        words.append(f"skip_blank_lines=False, skiprows={arrival.rows_before - arrival.named}")
    elif arrival.lines_skipped:
        words.append(f"skiprows={arrival.lines_skipped}")
    return tuple(words)


def _store_text(
    reader: Connection, arrival: Arrival, stored: Path, limits: Limits
) -> tuple[Strings, tuple[int, ...], Strings]:
    """Parse the records as text under the names c0, c1, …: a stranger's column name never gets into SQL."""
    width = len(arrival.header)
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    cells = ", ".join(f"{_bare(f'c{i}')} AS c{i}" for i in range(width))
    source = (
        f"read_csv({quoted(arrival.path)}, auto_detect = false, header = false, strict_mode = true, quote = '\"',"
        f" escape = '\"', new_line = '\\n', delim = {quoted(arrival.separator)}, columns = {{{types}}})"
    )
    records = (width, arrival.rows_before)
    run(reader, _copy(f"SELECT {cells} FROM {source}", width, stored), limits=limits, records=records)
    return arrival.header, tuple(range(width)), arrival.notes


def _store_parquet(
    reader: Connection, arrival: Arrival, stored: Path, limits: Limits
) -> tuple[Strings, tuple[int, ...], Strings]:
    """Check what the footer promises before reading, and what was read against the promise."""
    path = quoted(arrival.path)
    source = f"read_parquet({path}, hive_partitioning = false)"
    footer = run(reader, f"SELECT num_rows, num_row_groups FROM parquet_file_metadata({path})", limits=limits)
    rows, groups = int(footer["num_rows"][0]), int(footer["num_row_groups"][0])
    described = run(reader, f"SELECT column_name, column_type FROM (DESCRIBE FROM {source})", limits=limits)
    names, types = described["column_name"].tolist(), described["column_type"].tolist()
    width = len(names)
    if width > limits.columns:
        raise DataError(f"it has {width:,} columns, and at most {limits.columns:,} are read.")
    if max(rows, groups) * width > limits.cells:
        raise DataError(f"its rows times its {width:,} columns are more than the {limits.cells:,} cells that are read.")
    if rows > limits.rows:
        raise DataError(f"it has more than the {limits.rows:,} rows that a session has memory for.")
    if _rows_in_groups(reader, path, source, limits) != rows:
        raise DataError("its footer states another number of rows than the file has.")
    cells = {i: cell for i, kind in enumerate(types) if (cell := plain(f"c{i}", kind))}
    if not cells:
        raise DataError("none of its columns holds numbers or text.")
    named = f"{source} AS records({', '.join(f'c{i}' for i in range(width))})"
    worded = [i for i, kind in enumerate(types) if kind == "VARCHAR"]
    notes, left = list[str](), width
    try:
        _copy_cells(reader, named, cells, worded, stored, limits)
    except DataError:
        damaged = [i for i in worded if not _is_readable(reader, named, cells[i], limits)]
        cells = {i: cell for i, cell in cells.items() if i not in damaged}
        if not damaged or not cells:
            raise
        _copy_cells(reader, named, cells, [i for i in worded if i in cells], stored, limits)
        left -= len(damaged)
        places = f"{', '.join(str(i + 1) for i in damaged[:5])}{', …' if len(damaged) > 5 else ''}"
        notes.append(
            f"Columns whose text is not UTF-8 were left out: {len(damaged):,} of {width:,}, at place {places}."
        )
    if len(cells) < left:
        notes.append(f"Columns that hold neither numbers nor text were left out: {left - len(cells):,} of {width:,}.")
    return tuple(names[i] for i in cells), tuple(cells), tuple(notes)


def _rows_in_groups(reader: Connection, path: str, source: str, limits: Limits) -> int:
    """Return the rows of all row groups together."""
    sizes = f"SELECT max(row_group_num_rows) AS size FROM parquet_metadata({path}) GROUP BY row_group_id"
    try:
        return int(run(reader, f"SELECT coalesce(sum(size), 0) AS rows FROM ({sizes})", limits=limits)["rows"][0])
    except DataError as error:
        damaged = error  # DuckDB reads the groups' smallest and largest texts as well, which may not be UTF-8
    described = run(reader, f"SELECT column_type FROM (DESCRIBE FROM {source})", limits=limits)["column_type"]
    for place in range(len(described)):
        counted = f"SELECT sum(CASE WHEN c IS NULL THEN 1 ELSE 1 END)::DOUBLE AS rows FROM {source} AS records"
        names = ", ".join(f"c{i}" if i != place else "c" for i in range(len(described)))
        try:
            return int(run(reader, f"{counted}({names})", limits=limits)["rows"].sum())
        except DataError:
            continue
    raise damaged


def _copy_cells(
    reader: Connection, named: str, cells: dict[int, str], worded: Sequence[int], stored: Path, limits: Limits
) -> None:
    """Write the columns to our own file."""
    # A short dictionary can stand for terabytes of text, so what it stands for is added up before it is written out.
    lengths = " + ".join(f"coalesce(sum(strlen(c{i})), 0)" for i in worded)
    length = run(reader, f"SELECT ({lengths or '0'})::DOUBLE AS length FROM {named}", limits=limits)["length"]
    if length.sum() > limits.unpacked_bytes:
        raise DataError(f"its text unpacks to more than {limits.unpacked_bytes:,} bytes, and no more are read.")
    select = ", ".join(f"{cell} AS c{new}" for new, cell in enumerate(cells.values()))
    run(reader, _copy(f"SELECT {select} FROM {named}", len(cells), stored), limits=limits)


def _is_readable(reader: Connection, named: str, cell: str, limits: Limits) -> bool:
    """Return whether the text of a column can be read by itself."""
    try:
        run(reader, f"SELECT count({cell}) AS present FROM {named}", limits=limits)
    except DataError:
        return False
    return True


def _copy(select: str, width: int, stored: Path) -> str:
    """SQL that writes the columns to our own Parquet file, in row groups that fit the memory limit."""
    group = min(max(CELLS_PER_GROUP // width, 2_048), 122_880)
    return f"COPY ({select}) TO {quoted(stored)} (FORMAT parquet, USE_TMP_FILE false, ROW_GROUP_SIZE {group})"


def plain(cell: str, kind: str) -> str:
    """SQL for a Parquet column as finite numbers or text; empty for what is neither."""
    if kind in WHOLE_NUMBERS:
        return cell
    if kind in FRACTIONS:
        return f"CASE WHEN isfinite({cell}) THEN {cell} END"
    if re.fullmatch(r"DECIMAL\(\d+,\d+\)|U?HUGEINT", kind):
        return f"{cell}::DOUBLE"
    return _bare(f"{cell}::VARCHAR") if kind in WORDS else ""


def _bare(cell: str) -> str:
    return f"nullif(trim({cell}, E' \\t\\n'), '')"
