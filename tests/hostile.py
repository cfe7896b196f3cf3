"""Files a stranger might bring, built on the spot: tests of the reader and of the upload page share them."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Literal

import duckdb

SECRET = "S3CR3T-salary-of-a-person"
"""Stands in records of the refused files below; no message may ever hold it."""

Hostile = tuple[str, bytes, Literal["refused", "read"]]


def parquet(select: str) -> bytes:
    """A Parquet file of what the SQL selects."""
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "made.parquet"
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def lying(honest: bytes, *, truth: int, lie: int, times: int) -> bytes:
    """The Parquet file with the first so many mentions of a 64-bit number in its footer replaced."""
    length = int.from_bytes(honest[-8:-4], "little")
    footer = honest[-8 - length : -8]
    # Thrift's compact protocol: 0x16 begins the next field, if it is a 64-bit number, which follows as a varint.
    told = footer.replace(b"\x16" + _varint(truth), b"\x16" + _varint(lie), times)
    if told == footer:
        raise ValueError("The footer does not mention this number.")
    return honest[: -8 - length] + told + len(told).to_bytes(4, "little") + b"PAR1"


def _varint(number: int) -> bytes:
    number, out = 2 * number, bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("people.csv", f"name,pay\n{SECRET},1\n")
    return buffer.getvalue()


def _gzip_bomb() -> bytes:
    """1.2 GB of good rows in 1.2 MB: gzip files may be strung together."""
    return gzip.compress(b"a,b\n") + 120 * gzip.compress(b"1,2\n" * 2_500_000, compresslevel=9)


@cache
def hostile_files() -> dict[str, Hostile]:
    """By what is wrong with it: file name, contents, and whether it must be refused or read."""
    row = f"{SECRET},1\n"
    people = parquet(f"SELECT '{SECRET}' || i AS name, i AS pay FROM range(5000) AS t(i)")
    wide = ", ".join(f"{i} AS c{i}" for i in range(1_001))
    refused = {
        "a file of commas": ("commas.csv", b"," * 2_000_000),
        "lines of commas": ("commas.csv", (b"," * 1_999 + b"\n") * 1_000),
        "10,000 columns": (
            "wide.csv",
            (",".join(f"c{i}" for i in range(10_000)) + "\n").encode() + b"1," * 9_999 + b"1",
        ),
        "an empty file": ("empty.csv", b""),
        "an empty gzip": ("empty.csv.gz", gzip.compress(b"")),
        "nothing but blank lines": ("blank.csv", b"\n" * 1_000),
        "nothing but a byte order mark": ("mark.csv", b"\xef\xbb\xbf"),
        "column names without rows": ("header.csv", b"name,pay\n"),
        "numbers instead of column names": ("headless.csv", b"1,2\n3,4\n"),
        "one endless name": ("endless.csv", b"x" * 3_000_000),
        "a renamed zip": ("zip.csv", _zip()),
        "a zip": ("zip.zip", _zip()),
        "Latin-1": ("latin.csv", f"name,pay\n{SECRET} Müller,1\n".encode("latin-1")),
        "UTF-16 without its mark": ("utf16.csv", f"name,pay\n{row}".encode("utf-16-le")),
        "UTF-16 cut in half": ("utf16.csv", f"name,pay\n{row}".encode("utf-16")[:-1]),
        "a zero byte": ("zero.csv", f"name,pay\n{row}\0".encode()),
        "a row too long": ("ragged.csv", f"name,pay\n{row}{SECRET},2,{SECRET}\n".encode()),
        "a row too short": ("ragged.csv", f"name,pay\n{row}{SECRET}\n".encode()),
        "a quotation mark left open": ("quote.csv", f'name,pay\n{row}"{SECRET},1\n'.encode()),
        "an endless line": ("line.csv", f"name,pay\n{SECRET}".encode() + b"x" * 3_000_000),
        "a gzip bomb": ("bomb.csv.gz", _gzip_bomb()),
        "a gzip cut short": ("cut.csv.gz", gzip.compress(row.encode() * 1_000)[:-9]),
        "gzip in name only": ("plain.csv.gz", row.encode()),
        "gzip under another name": ("gzip.csv", gzip.compress(row.encode())),
        "Parquet named CSV": ("people.csv", people),
        "CSV named Parquet": ("people.parquet", f"name,pay\n{row}".encode()),
        "Parquet cut short": ("cut.parquet", people[:-100]),
        "Parquet with a ruined middle": ("ruined.parquet", people[:500] + bytes(len(people) - 1_500) + people[-1_000:]),
        "Parquet with a lying footer": ("lie.parquet", lying(people, truth=5_000, lie=4_999, times=1)),
        "Parquet with lying row groups": ("lie.parquet", lying(people, truth=5_000, lie=6_000, times=-1)),
        "Parquet promising the moon": ("moon.parquet", lying(people, truth=5_000, lie=10**12, times=-1)),
        "Parquet with too many columns": ("wide.parquet", parquet(f"SELECT {wide}")),
        "Parquet without rows": ("none.parquet", parquet("SELECT 1 AS pay LIMIT 0")),
        "Parquet of lists": ("lists.parquet", parquet("SELECT [1, 2] AS pay")),
    }
    read = {
        "a one-row file": ("one.csv", b"name,pay\nAda,1\n"),
        "NaN and infinite values": ("nan.csv", b"name,pay\na,NaN\nb,inf\nc,-Infinity\nd,1e999\ne,\nf,5\n"),
        "NaN and infinite values in Parquet": (
            "nan.parquet",
            parquet("SELECT unnest(['nan'::DOUBLE, 'inf'::DOUBLE, '-inf'::DOUBLE, NULL, 5]) AS pay"),
        ),
        "UTF-8 with its mark": ("mark.csv", "name,pay\nMüller,1\n".encode("utf-8-sig")),
        "UTF-16 with its mark": ("utf16.csv", "name;pay\nMüller;1\n".encode("utf-16")),
        "Windows line ends": ("windows.csv", b"name,pay\r\nAda,1\r\nBob,2\r\n"),
        "line breaks in cells": ("breaks.csv", b'name,pay\n"Ada\nLovelace",1\n"Bob\r\n",2\n'),
        "hostile column names": (
            "names.csv",
            '__proto__,<img src=x onerror=alert(1)>,"a""; DROP TABLE records; --",,pay,pay,![x](http://evil.example/x),'
            "\u202etxt.exe,=1+1,:material/home:".encode()
            + b","
            + b"n" * 10_000
            + b"\n1,2,3,4,5,6,7,8,9,10,11\n",
        ),
        "an honest zipped file": ("honest.csv.gz", gzip.compress(b"name,pay\nAda,1\n")),
        "an honest Parquet file": ("honest.parquet", people),
    }
    return {
        **{what: (name, contents, "refused") for what, (name, contents) in refused.items()},
        **{what: (name, contents, "read") for what, (name, contents) in read.items()},
    }
