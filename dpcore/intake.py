"""A hostile file is checked while it is streamed into a private folder; nothing here parses a record.

What is checked, in this order: size, ending against first bytes, decompressed size, encoding, the row of column
names, the number of cells. Only then does ``dpcore.tables`` let DuckDB near the copy.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import math
import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dpcore.core import DataError

CHUNK_BYTES = 1 << 20
HEADER_CHARACTERS = 1 << 20
NAME_CHARACTERS = 60
PARQUET_MAGIC = b"PAR1"
GZIP_MAGIC = b"\x1f\x8b"
# First bytes of what people rename or upload by mistake, and what to say about it.
FOREIGN_MAGICS = {
    b"PK\x03\x04": "a zip archive or a workbook",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old workbook",
    b"%PDF-": "a PDF",
    b"SQLite format 3\x00": "an SQLite database",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\xfd7zXZ\x00": "xz-compressed data",
    b"\x28\xb5\x2f\xfd": "zstd-compressed data",
    GZIP_MAGIC: "gzip-compressed data",
    PARQUET_MAGIC: "Parquet data",
}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a file may cost, checked before the cost is paid.

    Attributes:
        file_bytes: size as it arrives.
        unpacked_bytes: size after decompression; for Parquet also the length of all its text together.
        columns: number of columns.
        cells: rows times columns.
        memory_bytes: what DuckDB may hold; reading a CSV of 5 million rows stays below 512 MB for the whole process.
        threads: DuckDB's threads.
        seconds: longest single query.
    """

    file_bytes: int = 1 << 30
    unpacked_bytes: int = 1 << 30
    columns: int = 1_000
    cells: int = 100_000_000
    memory_bytes: int = 512 << 20
    threads: int = 2
    seconds: float = 60.0


LIMITS = Limits()


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A checked copy in a private folder: a Parquet file as it came, or a CSV's records as UTF-8 lines.

    Attributes:
        path: the copy.
        header: column names as written (empty for Parquet, which carries its own).
        separator: between fields (empty for Parquet).
        rows_before: rows of the original above the copy's first record.
        notes: public sentences about what was done.
    """

    path: Path
    header: tuple[str, ...] = ()
    separator: str = ""
    rows_before: int = 0
    notes: tuple[str, ...] = ()


def clean_name(name: str) -> str:
    """The name with everything removed that a page, a chart or a terminal might obey; may be empty.

    Letters, digits and a few signs stay. Brackets, quotes, colons, dollar signs and the like start HTML, SQL, Markdown
    or icons and become ``_``; control and direction characters vanish; a leading ``__`` does too, for the sake of
    JavaScript's ``__proto__``.

    >>> clean_name("<b>pay</b> in $"), clean_name("__proto__"), clean_name("age")
    ('b_pay_/b_ in', 'proto__', 'age')
    """
    kept = []
    for character in unicodedata.normalize("NFC", name[: 20 * NAME_CHARACTERS]):
        kind = unicodedata.category(character)[0]
        if character in " _-.,%/()+°" or kind in "LMN":
            kept.append(character)
        elif character.isspace() or kind not in "CZ":
            kept.append(" " if character.isspace() else "_")
    text = re.sub(r"_(?=_)|^[ _+.-]*_(?=_)", "", " ".join("".join(kept).split())) if False else "".join(kept)
    return text
