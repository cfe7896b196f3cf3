"""One table with everything that engines read differently, as columns by kind, and what is read of it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dpcore.core import Dataset, Provenance, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.dates import Ages, Dates
from dpcore.data.predicates import Predicate
from dpcore.data.product import Product
from dpcore.data.reading.intake import clean_names
from dpcore.data.reading.tables import Table
from dpcore.data.readings import Coded, Columns, Reading, Several, YesNo
from dprelease.engines.counts import Encoding, dataset_of, parts_of
from dprelease.engines.tables import EngineTable

NASTY = 'O\'Brien "the" <script>alert(1)</script>'
LABELS = (NASTY, "%s", "%(p0)s", "$p0", ":p0", "{x}", "ß", "\\", "a;b", "--", "Ａ", "naïve\u00a0", "`b`", "")
SECRET = "A-SECRET-OF-SOMEBODY"
ODD_NAME = 'odd "name"\'; DROP TABLE people -- `%s $p1 :p1 \\'
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "fraction": ("DOUBLE", [
        None, float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 5e-324, 1e308, -1e308, 29.0, 28.999999999999996,
        100.0,
        100.00000000000001, -1e-300, 57.99999999999999, 58.0, 1e16, 0.1, 1.5,
    ]),
    "single": ("FLOAT", [None, float("nan"), 0.1, 29.0, 1e38, -1e-40, 57.99, 1e10, float("inf")]),
    "whole": ("BIGINT", [None, 0, 29, 58, -5, 100, 101, 2**62, -(2**62)]),
    "exact": ("DECIMAL(18,4)", [None, "29.0000", "57.9999", "-0.0001", "100.0000", "99999999999999.9999", "1.5000"]),
    "label": ("VARCHAR", [*LABELS, None, f" {NASTY}\t", f"{NASTY}\r", "\x0bß", "ss", "a", "naïve", SECRET, "p0"]),
    "day": ("DATE", [
        None, "2024-02-29", "1969-12-31", "1970-01-01", "1970-01-05", "0044-03-15", "9999-12-31", "0001-01-01",
        "0044-03-15 (BC)", "infinity", "-infinity", "10000-01-01", "2020-12-31", "2024-12-30", "2023-01-01",
    ]),
    "moment": ("TIMESTAMP", [
        None, "2024-02-29 23:59:59.999999", "1969-12-31 00:00:00", "2024-12-30 12:00:00.5", "infinity",
        "1969-12-31 23:59",
    ]),
    "instant": ("TIMESTAMPTZ", [
        None, "2024-02-29 23:30:00-01", "1970-01-01 00:00:00+00", "2024-12-31 23:59:59.25+00", "2024-03-01 00:30+01:00",
    ]),
    "smoker": ("BOOLEAN", [None, True, False]),
    "answer": ("INTEGER", [None, 0, 1, 2, -1]),
    "written": ("VARCHAR", [None, "29", "2024-02-29", "yes"]),
    ODD_NAME: ("INTEGER", [None, 1, 2, 3]),
}  # fmt: skip
ROWS = 240


def rows() -> list[tuple[Any, ...]]:
    """Every value of every column some times, beside other ones each time."""
    return [
        tuple(held[(place + turn * step) % len(held)] for step, (_, held) in enumerate(COLUMNS.values(), 1))
        for turn in range(ROWS // 40)
        for place in range(40)
    ]


def write_parquet(folder: Path) -> list[Path]:
    """The rows as two Parquet files of a folder; and their paths."""
    names = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}" {kind}' for name, (kind, _) in COLUMNS.items())
    places = ", ".join("?" * len(COLUMNS))
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "first.parquet", folder / "deeper" / "second.parquet"]
    paths[1].parent.mkdir(exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE t ({names})")
        connection.executemany(f"INSERT INTO t VALUES ({places})", rows())
        for path, half in zip(paths, ("<", ">="), strict=True):
            connection.execute(f"COPY (SELECT * FROM t WHERE rowid {half} {ROWS // 3}) TO '{path}' (FORMAT parquet)")
        connection.execute(f"COPY (SELECT * FROM t) TO '{folder.parent / 'all.parquet'}' (FORMAT parquet)")
    return paths


ODD = clean_names([ODD_NAME])[0][0]
"""What the last column is called once its name is safe."""
NUMBERS = ("fraction", "single", "whole", "exact", "answer")
LINES = (
    Number(low=0, high=100, bins=100, missing=True),
    Number(low=0, high=100, bits=3, missing=True, clamp=False),
    Number(low=-1, high=58, bits=4),
    Number(low=0.1, high=0.7, bins=7, missing=True, clamp=False),
    Number(low=-1e300, high=1e300, bins=3, missing=True),
)
CALENDARS = tuple(
    Dates(step=step, first=first, last=last, missing=True, clamp=clamp)
    for step, first, last in (
        ("day", "2024-02-27", "2024-03-02"), ("week", "2020-W50", "2024-W09"), ("month", "1969-12", "2024-12"),
        ("year", "1969", "2024"),
    )
    for clamp in (True, False)
)  # fmt: skip
AGES = (Ages(day="2024-02-28", missing=True), Ages(day="2024-12-30", missing=True, clamp=False))
TEXTS = ("label", "written", "whole", "answer")
NAMED = Labels(labels=(*LABELS, "29", "-5", "0", "4611686018427387904", "2024-02-29"))


def readings(*, few: bool = False) -> dict[str, Reading]:
    """By what they are about; a few say all about how values are read, and less about how cells are cut."""
    found: dict[str, Reading] = {}
    lines, calendars = (LINES[:2], CALENDARS[1::2]) if few else (LINES, CALENDARS)
    for name in NUMBERS:
        found |= {f"{name} on {line}": Columns(names=(name,), on=line) for line in lines}
    for name in ("day", "moment", "instant"):
        found |= {f"{name} on {each}": Columns(names=(name,), on=each) for each in (*calendars, *AGES)}
    found |= {f"labels of {name}": Columns(names=(name,), on=NAMED) for name in TEXTS}
    found |= {
        f"truths of {name}": Columns(names=(name,), on=Labels(yes_no=True))
        for name in ("answer", "smoker", "whole", "fraction", "exact")
    }
    one, odd = LINES[0], Columns(names=(ODD,), on=Number(low=0, high=3, bins=3, missing=True))
    pair = Product.map(Number(low=0, high=100, bits=3, missing=True), Number(low=0, high=60, bins=6))
    labelled = Product.map(pair.columns[0], Labels(labels=LABELS[:3]))
    kinds = (
        one,
        Labels(labels=LABELS[:3]),
        Labels(yes_no=True),
        Labels(labels=("29", "58"), missing=False),
    )
    cut = Coded(column="single", name="cut", labels=("few", "some", "many"), cuts=(1.0, 29.0))
    asked = (
        Predicate(column="fraction", kind="at least", value=29), Predicate(column="exact", kind="below", value=29),
        Predicate(column="label", value=NASTY),
    )  # fmt: skip
    return found | {
        "an odd name": odd,
        "a number and labels": Columns(names=("fraction", "label"), on=labelled),
        "labels along a line": Columns(names=("label",), on=labelled.columns[1]),
        "labels in a group": Columns(
            names=("answer", "label"),
            on=Product.map(Labels(labels=("1", "0")), labelled.columns[1], names=("group", "number")),
        ),
        "two numbers": Columns(names=("fraction", "single"), on=pair),
        "a group": Columns(
            names=("label", "exact"), on=Product.map(Labels(labels=LABELS[:5]), one, names=("group", "number"))
        ),
        "attributes": Columns(
            names=("single", "label", "answer", "whole"),
            on=Product(names=("single", "label", "answer", "whole"), columns=kinds),
        ),
        "predicates": YesNo(predicates=asked),
        "several": Several(attributes=(cut, *asked)),
    }


def told(dataset: Dataset) -> str:
    """All that a data set says, whatever the order of its rows."""
    if dataset.domain.listed:
        return json.dumps(dataset.histogram.tolist())
    return json.dumps(sorted(np.asarray(dataset.records).astype(int).tolist()))


AT_ONCE = 20
"""Readings that share a question: an engine takes a while to plan each."""


def differences(table: EngineTable, file: Table, *, few: bool = False) -> dict[str, tuple[str, str]]:
    """Readings of which an engine and a file say different things, with what each says."""
    provenance = Provenance(kind=ProvenanceKind.STAND_IN, title="test")
    asked, found = list(readings(few=few).items()), {}
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        parts = [parts_of(reading) for _, reading in some]
        cells, counts = table.counted([part for each in parts for part in each])
        place = 0
        for (name, reading), each in zip(some, parts, strict=True):
            mine = cells[:, place : place + len(each)]
            place += len(each)
            found[name] = told(dataset_of(reading, mine, counts, provenance)), told(reading.dataset(file, provenance))
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


CUT = (
    *LINES,
    Number(high=12.8, bits=7, missing=True),
    Number(high=12.7, bins=127, missing=True),
    Number(low=-0.1, high=12.7, bits=7, missing=True, clamp=False),
    Number(low=0.3, high=9.9, bits=5),
    Number(low=1e-3, high=1.1e-3, bins=10, missing=True),
    Number(low=-(2.0**53), high=2.0**53, bins=11, missing=True, clamp=False),
    Number(low=1e15, high=1e15 + 1, bits=10, missing=True),  # edges closer than doubles: numpy's quotient alone
    Number(high=5e-300, bits=4, missing=True),
    Number(low=1_000_000.1, high=1_000_000.7, bins=7, missing=True),  # edges as they are, not rounded to decimals
    Number(low=-50, high=0, bins=1000, missing=True),
)
PLACES = (-0.5, 0.1, 0.3, 100.00000000000001, 1e16)
"""Where numbers are cut, as ``np.searchsorted`` does it."""


def edges() -> list[float | None]:
    """Every edge of every line (of many, some hundred), the doubles beside it, and what is far or no number."""
    some = [line.edges[:: 1 + line.ordered // 150] for line in CUT]
    at = np.concatenate([*some, [line.high for line in CUT], PLACES])
    far = [0.0, -0.0, 5e-324, -5e-324, 2e-308, 1.7976931348623157e308, -1.7976931348623157e308, np.inf, -np.inf, np.nan]
    beside = [at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), far]
    return [None, *np.unique(np.concatenate(beside)).tolist(), -0.0]


def write_edges(folder: Path) -> Path:
    """The edges as a Parquet file of a folder."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (x DOUBLE)")
        connection.executemany("INSERT INTO t VALUES (?)", [[each] for each in edges()])
        connection.execute(f"COPY t TO '{folder / 'edges.parquet'}' (FORMAT parquet)")
    return folder


def edge_differences(table: EngineTable) -> list[str]:
    """Lines on which an engine counts the edges in other cells than ``Number.encode``; and "cuts"."""
    numbers = np.array(edges(), dtype=np.float64)
    cut = Encoding(column="x", on=Labels(), cuts=PLACES)
    cells, counts = table.counted([*(Encoding(column="x", on=line) for line in CUT), cut])
    wanted = [line.encode(numbers) for line in CUT]
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    wanted.append(np.where(np.isnan(finite), len(PLACES) + 1, np.searchsorted(PLACES, finite, side="right")))
    assert counts.sum() == len(numbers) > 1000
    return [
        name
        for name, mine, all_wanted in zip([*map(repr, CUT), "cuts"], cells.T, wanted, strict=True)
        if np.bincount(mine, counts, minlength=200_000).tolist() != np.bincount(all_wanted, minlength=200_000).tolist()
    ]


def load_postgres(connection: Any) -> None:
    """The rows as a table of Postgres that is called people, and the edges."""
    kinds = {"DOUBLE": "float8", "FLOAT": "float4", "DECIMAL(18,4)": "numeric", "VARCHAR": "text"}
    names = ", ".join(
        f'"{name.replace(chr(34), chr(34) * 2)}" {kinds.get(kind, kind)}' for name, (kind, _) in COLUMNS.items()
    )
    connection.execute(f"CREATE TABLE people ({names})")
    connection.execute("CREATE TABLE edges (x float8)")
    told = [tuple(each.replace("(BC)", "BC") if isinstance(each, str) else each for each in row) for row in rows()]
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO people VALUES ({', '.join(['%s'] * len(COLUMNS))})", told)
        cursor.executemany("INSERT INTO edges VALUES (%s)", [[each] for each in edges()])


def postgres_user() -> list[str]:
    """Return the first words of a command of the server, which refuses to run as root."""
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


@contextmanager
def running_postgres() -> Iterator[tuple[str, Path]]:
    """A server of our own on this machine; gives its address, and its log."""
    programs = Path(os.environ["POSTGRES_PROGRAMS"])
    folder = Path(tempfile.mkdtemp(prefix="dpscope-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data, log = folder / "data", folder / "log"
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder} -c fsync=off"

    def command(*words: str | Path) -> None:
        subprocess.run([*postgres_user(), *words], check=True, cwd="/", stdout=subprocess.DEVNULL)

    try:
        command(programs / "initdb", "-D", data, "-A", "trust", "-U", "tester", "--no-sync", "-E", "UTF8", "--locale=C")
        command(programs / "pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        try:
            yield f"host=127.0.0.1 port={port} user=tester dbname=postgres", log
        finally:
            command(programs / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
