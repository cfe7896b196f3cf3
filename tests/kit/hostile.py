"""Files a stranger might bring, built on the spot: tests of the reader and of the upload page share them."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Literal

import duckdb

SECRET = "S3CR3T-salary-of-a-person"
"""Stands in records of the files below, in their first rows too; no message may ever hold it."""

Outcome = Literal["refused", "asked", "read"]
Hostile = tuple[str, bytes, Outcome]
Files = dict[str, tuple[str, bytes | Callable[[], bytes]]]
"""Name and contents, or what makes them once they are needed: a list of all files should take no time."""
LONGEST_SENT = 255
"""Characters of a file's name that a file system takes: nobody can choose a longer one in a browser."""


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


def _gzip_in_gzip() -> bytes:
    return gzip.compress(gzip.compress(f"name,pay\n{SECRET},1\n".encode()))


@cache
def hostile_files() -> dict[str, Hostile]:
    """Every file, made, by what is wrong with it."""
    return {what: hostile(what) for what in outcomes()}


@cache
def hostile(what: str) -> Hostile:
    """File name, contents, and what must come of it where nobody says what row 1 holds."""
    (name, contents), outcome = _listed()[what]
    return name, contents if isinstance(contents, bytes) else contents(), outcome


def outcomes() -> dict[str, Outcome]:
    """What must come of each: it is refused, or somebody is asked first whether row 1 holds names, or it is read."""
    return {what: outcome for what, (_, outcome) in _listed().items()}


@cache
def _listed() -> dict[str, tuple[tuple[str, bytes | Callable[[], bytes]], Outcome]]:
    groups: tuple[tuple[Files, Outcome], ...] = (
        (_refused_containers(), "refused"),
        (_refused_texts(), "refused"),
        (_refused_parquet(), "refused"),
        (_refused_names(), "refused"),
        (_asked(), "asked"),
        (_read_texts(), "read"),
        (_read_parquet(), "read"),
        (_read_names(), "read"),
    )
    return {what: (file, outcome) for files, outcome in groups for what, file in files.items()}


def _refused_containers() -> Files:
    row = f"{SECRET},1\n".encode()
    people = b"name,pay\n" + row
    return {
        "an empty file": ("empty.csv", b""),
        "an empty tab-separated file": ("empty.tsv", b""),
        "an empty Parquet file": ("empty.parquet", b""),
        "an empty gzip": ("empty.csv.gz", gzip.compress(b"")),
        "no bytes where a gzip should be": ("nothing.csv.gz", b""),
        "a renamed zip": ("zip.csv", _zip()),
        "a zip": ("zip.zip", _zip()),
        "a zip named gzip": ("zip.csv.gz", _zip()),
        "an empty zip": ("zip.csv", b"PK\x05\x06" + bytes(18)),
        "an old workbook": ("book.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + people),
        "a PDF": ("paper.csv", b"%PDF-1.7\n" + people),
        "an SQLite database": ("base.csv", b"SQLite format 3\0" + people),
        "a 7z archive": ("seven.csv", b"7z\xbc\xaf\x27\x1c" + people),
        "xz under another name": ("xz.csv", b"\xfd7zXZ\0" + people),
        "zstd under another name": ("zstd.csv", b"\x28\xb5\x2f\xfd" + people),
        "a picture": ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + people),
        "a program": ("program.csv", b"\x7fELF\x02\x01\x01\0" + people),
        "a pickle that runs a program": ("pickle.csv", b"\x80\x04cos\nsystem\n(S'id'\ntR." + people),
        "a gzip bomb": ("bomb.csv.gz", _gzip_bomb),
        "a gzip cut short": ("cut.csv.gz", gzip.compress(people * 1_000)[:-9]),
        "a gzip with rubbish behind": ("rubbish.csv.gz", gzip.compress(people) + b"rubbish"),
        "a gzip with a wrong checksum": ("sum.csv.gz", gzip.compress(people)[:-8] + bytes(8)),
        "a gzip of a gzip": ("twice.csv.gz", _gzip_in_gzip()),
        "gzip in name only": ("plain.csv.gz", people),
        "gzip under another name": ("gzip.csv", gzip.compress(people)),
        "Parquet named CSV": ("people.csv", partial(parquet, f"SELECT '{SECRET}' AS name")),
        "CSV named Parquet": ("people.parquet", people),
    }


def _refused_texts() -> Files:
    row = f"{SECRET},1\n"
    people = f"name,pay\n{row}"
    return {
        "the file of commas": ("commas.csv", b"," * 2_000_000),
        "lines of commas": ("commas.csv", (b"," * 1_999 + b"\n") * 1_000),
        "10,000 columns": (
            "wide.csv",
            (",".join(f"c{i}" for i in range(10_000)) + "\n").encode() + b"1," * 9_999 + b"1",
        ),
        "1,001 columns of one record": ("wide.csv", ",".join([SECRET] * 1_001).encode()),
        "nothing but blank lines": ("blank.csv", b"\n" * 1_000),
        "nothing but Windows line ends": ("blank.csv", b"\r\n" * 1_000),
        "nothing but a byte order mark": ("mark.csv", b"\xef\xbb\xbf"),
        "nothing but a UTF-16 mark": ("mark.csv", b"\xff\xfe"),
        "one endless name": ("endless.csv", b"x" * 3_000_000),
        "one endless first record": ("endless.csv", SECRET.encode() + b",1" * 2_000_000),
        "Latin-1": ("latin.csv", f"name,pay\n{SECRET} Müller,1\n".encode("latin-1")),
        "Windows-1252 quotation marks": ("windows.csv", f"name,pay\n“{SECRET}”,1\n".encode("cp1252")),
        "two encodings in one file": ("mixed.csv", people.encode() + f"{SECRET} Müller,2\n".encode("latin-1")),
        "a Shift JIS file": ("japan.csv", f"name,pay\n{SECRET} 日本,1\n".encode("shift_jis")),
        "an EBCDIC file": ("host.csv", people.encode("cp037") + b"\xff"),
        "UTF-16 without its mark": ("utf16.csv", people.encode("utf-16-le")),
        "UTF-16 the other way round without its mark": ("utf16.csv", people.encode("utf-16-be")),
        "UTF-16 cut in half": ("utf16.csv", people.encode("utf-16")[:-1]),
        "UTF-16 with half a pair": ("utf16.csv", people.encode("utf-16") + b"\x00\xd8"),
        "UTF-32": ("utf32.csv", people.encode("utf-32")),
        "UTF-8 of surrogates": ("surrogate.csv", people.encode() + b"\xed\xa0\x80,1\n"),
        "UTF-8 in too many bytes": ("overlong.csv", people.encode() + b"\xc0\xaf,1\n"),
        "UTF-8 cut in a letter": ("cut.csv", people.encode() + "é".encode()[:1]),
        "a zero byte": ("zero.csv", f"{people}\0".encode()),
        "a zero byte among the names": ("zero.csv", f"na\0me,pay\n{row}".encode()),
        "nothing but zero bytes": ("zero.csv", bytes(100_000)),
        "a row too long": ("ragged.csv", f"{people}{SECRET},2,{SECRET}\n".encode()),
        "a row too short": ("ragged.csv", f"{people}{SECRET}\n".encode()),
        "a row of separators": ("ragged.csv", f"{people}{',' * 500}{SECRET}\n".encode()),
        "other separators further down": ("mixed.csv", f"{people}{SECRET};2\n".encode()),
        "a quotation mark left open": ("quote.csv", f'{people}"{SECRET},1\n'.encode()),
        "a quotation mark left open among the names": ("quote.csv", f'"name,pay\n{row}'.encode()),
        "a quotation mark within a quoted cell": ("quote.csv", f'{people}"{SECRET}" x",1\n'.encode()),
        "what DuckDB's own message says, as a record": (
            "message.csv",
            f"{people}{SECRET}\nPossible fixes:\nCSV Error on Line: 7\nExpected Number of Columns: 2 Found: 9".encode(),
        ),
    }


def _refused_parquet() -> Files:
    people = parquet(f"SELECT '{SECRET}' || i AS name, i AS pay FROM range(5000) AS t(i)")
    wide = ", ".join(f"{i} AS c{i}" for i in range(1_001))
    return {
        "Parquet cut short": ("cut.parquet", people[:-100]),
        "Parquet without its beginning": ("cut.parquet", people[100:]),
        "nothing but Parquet's first and last bytes": ("hollow.parquet", b"PAR1" + bytes(4) + b"PAR1"),
        "nothing but Parquet's first bytes": ("hollow.parquet", b"PAR1"),
        "a Parquet footer longer than the file": ("long.parquet", people[:-8] + b"\xff\xff\xff\x7fPAR1"),
        "a Parquet footer of no length": ("short.parquet", people[:-8] + bytes(4) + b"PAR1"),
        "encrypted Parquet": ("locked.parquet", b"PARE" + people[4:-4] + b"PARE"),
        "Parquet with a ruined middle": ("ruined.parquet", people[:500] + bytes(len(people) - 1_500) + people[-1_000:]),
        "Parquet with a lying footer": ("lie.parquet", lying(people, truth=5_000, lie=4_999, times=1)),
        "Parquet with lying row groups": ("lie.parquet", lying(people, truth=5_000, lie=6_000, times=-1)),
        "Parquet promising the moon": ("moon.parquet", lying(people, truth=5_000, lie=10**12, times=-1)),
        "100,000,000 rows run-length encoded": (
            "long.parquet",
            partial(parquet, "SELECT 7::TINYINT AS pay FROM range(100000000)"),
        ),
        "a dictionary that unpacks to terabytes": (
            "text.parquet",
            partial(parquet, f"SELECT repeat('{SECRET}', 4000) AS name FROM range(20000)"),
        ),
        "Parquet with too many columns": ("wide.parquet", partial(parquet, f"SELECT {wide}")),
        "Parquet without rows": ("none.parquet", partial(parquet, "SELECT 1 AS pay LIMIT 0")),
        "Parquet of lists": ("lists.parquet", partial(parquet, f"SELECT ['{SECRET}'] AS pay")),
        "Parquet nested deep": (
            "deep.parquet",
            partial(parquet, f"SELECT {'{a: [' * 20}'{SECRET}'{']}' * 20} AS deep, MAP {{'{SECRET}': 1}} AS map"),
        ),
        "Parquet of raw bytes": ("raw.parquet", partial(parquet, f"SELECT '{SECRET}'::BLOB AS raw")),
    }


def _refused_names() -> Files:
    people = f"name,pay\n{SECRET},1\n".encode()
    return {
        "a name without an ending": ("people", people),
        "a name that is an ending": (".csv", people),
        "another ending": ("people.xlsx", people),
        "a program's ending": ("people.csv.exe", people),
        "an ending turned round by a direction mark": ("people\u202evsc.exe", people),
        "zipped twice by its name": ("people.csv.gz.gz", gzip.compress(people)),
    }


def _asked() -> Files:
    """Row 1 could be data, and nobody has said."""
    return {
        "column names without rows": ("header.csv", b"name,pay\n"),
        "one record without a line end": ("single.csv", f"{SECRET},41".encode()),
        "one word": ("word.csv", SECRET.encode()),
        "numbers instead of column names": ("headless.csv", b"1,2\n3,4\n"),
        "a person and a number instead of names": ("headless.csv", f"{SECRET},41\nBob,17\n".encode()),
        "two people instead of names": ("headless.csv", f"{SECRET},London\nBob,Paris\n".encode()),
        "a person without a number": ("headless.csv", f"{SECRET},unknown\nBob,17\n".encode()),
        "a person and nothing": ("headless.csv", f"{SECRET},\nBob,17\n".encode()),
        "a person and a date": ("headless.csv", f"{SECRET},1981-02-03\nBob,1990-01-01\n".encode()),
        "a person and money": ("headless.csv", f'{SECRET},"$41,000.00"\nBob,"$17"\n'.encode()),
        "a value that recurs further down": ("headless.csv", f"{SECRET},a\nBob,1\n{SECRET},2\n".encode()),
        "the same value twice": ("headless.csv", f"{SECRET},{SECRET}\nBob,1\n".encode()),
        "an address of mail": ("headless.csv", f"{SECRET}@x.org,a\nbob@x.org,1\n".encode()),
        "numbers like 1e999 in row 1": ("huge.csv", f"{SECRET},1e999\nBob,1\n".encode()),
        "not a number in row 1": ("nan.csv", f"{SECRET},NaN\nBob,1\n".encode()),
        "an account's number": ("account.csv", b"AB12,a\nCD34,1\n"),
        "a first row of 5,000 characters": ("long.csv", f"{SECRET}{'x' * 5_000},a\nBob,1\n".encode()),
        "scripts for column names": ("script.csv", f"<script>alert(1)</script>,<b>,\n{SECRET},1,2\n".encode()),
        "hostile column names": (
            "names.csv",
            '__proto__,<img src=x onerror=alert(1)>,"a""; DROP TABLE records; --",,pay,pay,![x](http://evil.example/x),'
            "\u202etxt.exe,=1+1,:material/home:".encode()
            + b","
            + b"n" * 10_000
            + b"\n1,2,3,4,5,6,7,8,9,10,11\n",
        ),
        "column names that differ in blanks": ("blanks.csv", f" a,a ,a\n1,2,{SECRET}\n".encode()),
        "UTF-16 with its mark": ("utf16.csv", f"{SECRET};41\nMüller;1\n".encode("utf-16")),
        "an endless line": ("line.csv", f"name,pay\n{SECRET}".encode() + b"x" * 3_000_000),
        "an endless quoted cell": ("cell.csv", f'name,pay\n"{SECRET}'.encode() + b"x\n" * 2_000_000),
        "negative zero and the smallest numbers": ("zero.csv", b"pay\n-0\n-0.0\n5e-324\n1e-999\n0x10\n"),
        "one cell of a megabyte": ("cell.csv", b"name,pay\n" + b"x" * 1_000_000 + b",1\n"),
        "blank lines on top": ("blank.csv", f"\n\n\n{SECRET},41\nBob,17\n".encode()),
    }


def _read_texts() -> Files:
    return {
        "a one-row file": ("one.csv", b"name,pay\nAda,1\n"),
        "NaN and infinite values": ("nan.csv", b"name,pay\na,NaN\nb,inf\nc,-Infinity\nd,1e999\ne,\nf,5\n"),
        "numbers of 5,000 digits": ("digits.csv", b"pay\n" + b"9" * 5_000 + b"\n1\n"),
        "digits of other scripts": ("arabic.csv", "pay,word\n1,٣٤\n2,५\n".encode()),
        "dates": ("dates.csv", b"day,pay\n2020-02-30,1\n0000-00-00,2\n99999-01-01,3\n"),
        "UTF-8 with its mark": ("mark.csv", "name,pay\nMüller,1\n".encode("utf-8-sig")),
        "a byte order mark in the middle": ("mark.csv", "name,pay\n\ufeffMüller,1\n".encode()),
        "UTF-16 with names": ("utf16.csv", "name;pay\nMüller;1\n".encode("utf-16")),
        "Windows line ends": ("windows.csv", b"name,pay\r\nAda,1\r\nBob,2\r\n"),
        "an old Macintosh's line ends": ("mac.csv", b"name,pay\rAda,1\rBob,2\r"),
        "every kind of line end": ("ends.csv", b"name,pay\r\nAda,1\rBob,2\nCleo,3"),
        "line breaks in cells": ("breaks.csv", b'name,pay\n"Ada\nLovelace",1\n"Bob\r\n",2\n'),
        "what other programs break lines at": ("breaks.csv", "name,pay\na\u2028b\u2029c,1\nd\ve\x85f\fg,2\n".encode()),
        "direction marks in cells": ("marks.csv", "name,pay\n\u202egnp.exe,1\n\u2066x\u2069,2\n".encode()),
        "scripts in cells": ("script.csv", b"name,pay\n<script>alert(1)</script>,1\n<img src=x onerror=alert(1)>,2\n"),
        "formulas in cells": ("formula.csv", b"name,pay\n=cmd|' /C calc'!A0,1\n@SUM(1),2\n+1+1,3\n"),
        "SQL in cells": ("sql.csv", b"name,pay\n'; DROP TABLE records; --,1\n$$,2\n"),
        "quotation marks in cells": ("quotes.csv", b'name,pay\n"a ""b"" c",1\n"",2\n"""",3\n'),
        "separators in cells": ("separators.csv", b'name,pay\n"a,b;c|d\te",1\n'),
        "cells of nothing but blanks": ("blanks.csv", b"name,pay\n   ,1\n\t, 2 \n"),
        "letters piled up": ("zalgo.csv", ("name,pay\n" + "a" + "\u0301" * 5_000 + ",1\n").encode()),
        "a separator at each row's end": ("end.tsv", b"name\tpay\tmore\nAda\t1\t\n"),
        "an honest zipped file": ("honest.csv.gz", gzip.compress(b"name,pay\nAda,1\n")),
        "gzip files strung together": ("strung.csv.gz", gzip.compress(b"name,pay\n") + gzip.compress(b"Ada,1\n")),
    }


def _read_parquet() -> Files:
    return {
        "NaN and infinite values in Parquet": (
            "nan.parquet",
            partial(parquet, "SELECT unnest(['nan'::DOUBLE, 'inf'::DOUBLE, '-inf'::DOUBLE, NULL, 5]) AS pay"),
        ),
        "an honest Parquet file": (
            "honest.parquet",
            partial(parquet, "SELECT 'p' || i AS name, i AS pay FROM range(500) t(i)"),
        ),
        "a zipped Parquet file": ("zipped.parquet.gz", lambda: gzip.compress(parquet("SELECT 1 AS pay"))),
        "Parquet with hostile column names": (
            "names.parquet",
            partial(parquet, 'SELECT 1 AS "<script>", 2 AS "a\'; DROP TABLE records; --", 3 AS "__proto__", 4 AS " "'),
        ),
        "Parquet with a column name of 5,000 characters": (
            "name.parquet",
            partial(parquet, f'SELECT 1 AS "{"n" * 5_000}"'),
        ),
        "nested Parquet beside a number": ("deep.parquet", partial(parquet, "SELECT {a: {b: [1]}} AS deep, 1 AS pay")),
        "Parquet of huge numbers": (
            "huge.parquet",
            partial(parquet, "SELECT 10::HUGEINT ** 30 AS pay, 1e308::DOUBLE AS more"),
        ),
        "Parquet of dates far away": ("dates.parquet", partial(parquet, "SELECT DATE '290000-01-01' AS day, 1 AS pay")),
        "Parquet with zero bytes in text": (
            "zero.parquet",
            partial(parquet, "SELECT 'a' || chr(0) || 'b' AS name, 1 AS pay"),
        ),
        "Parquet of nothing but missing values": (
            "null.parquet",
            partial(parquet, "SELECT NULL::INTEGER AS pay FROM range(9)"),
        ),
    }


def _read_names() -> Files:
    people = b"name,pay\nAda,1\nBob,2\n"
    names = {
        "a name that climbs": "../../../etc/passwd.csv",
        "a name that climbs, in Windows": "..\\..\\windows\\win.csv",
        "an absolute name": "/etc/passwd.csv",
        "a name with a script": "<script>alert(1)</script>.csv",
        "a name with an image": "<img src=x onerror=alert(1)>.csv",
        "a name with Markdown": "![x](http:evil.example) **b** $x$ :material.csv",
        "a name that turns round": "people\u202egnp.csv",
        "a name of nothing but marks": "\u200f\u202e\u2066.csv",
        "a name with quotes": 'it\'s "quoted"; DROP TABLE.csv',
        "a name with a placeholder": "{0.__class__} %s %n ${HOME} `id`.csv",
        "a name of pictures": "💥👩‍👩‍👧.csv",
        "a device's name": "CON.csv",
        "a name with a star": "*.csv",
        "capitals in its ending": "PEOPLE.CSV",
        "a name of 250 characters": "n" * 246 + ".csv",
        "a name of 5,000 characters": "n" * 5_000 + ".csv",
    }
    return {what: (name, people) for what, name in names.items()}
