"""DuckDB counting cells, against the same counts written by hand: ten million rows, and a folder of a hundred million.

A hundred million rows take 1.6 GB of disk and some minutes; `python -m benchmarks engines` makes them in the temporary
folder, and leaves them out where there is no room.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb

from benchmarks.timing import interleaved, ratio
from dpcore import Line
from dpcore.data.engines.embedded import Embedded
from dpcore.data.engines.tables import from_engine, open_table

MILLION = 1_000_000
SIZES = {10 * MILLION: (5, 1.1), 100 * MILLION: (2, 1.2)}
"""Rows; rounds, and how much longer than by hand they may take."""
FILES = 10
ROOM = 4 << 30
INCOME = Line(low=0, high=500_000, bits=10, missing=True)
BY_HAND = (
    "SELECT CASE WHEN income IS NULL OR NOT isfinite(income) THEN 1024"
    " ELSE least(floor((least(greatest(income, 0), 500000) - 0) / 500000 * 1024), 1023)::INTEGER END AS cell, count(*)"
    " FROM read_parquet('{}/*.parquet') GROUP BY cell"
)
CHILD = """
import sys
from pathlib import Path
from dpcore import Line
from dpcore.data.engines.embedded import Embedded
from dpcore.data.engines.tables import from_engine, open_table
def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
before = peak()
table = open_table(Embedded(path=Path(sys.argv[1])), name="people")
n = from_engine(table, "income", Line(low=0, high=500_000, bits=10, missing=True)).n
print(f"{n:,} rows: {peak() - before:.0f} MB above the imports (goal 300 MB)")
"""


def main() -> None:
    """Print how much longer a count of cells takes than by hand, and its memory."""
    for rows, (repeats, goal) in SIZES.items():
        with tempfile.TemporaryDirectory() as name:
            if shutil.disk_usage(name).free < ROOM:
                print(f"{rows:,} rows: left out, there is no room")
                continue
            measure(Path(name), rows=rows, repeats=repeats, goal=goal)


def measure(folder: Path, *, rows: int, repeats: int, goal: float) -> None:
    """Write the rows, count them in turns, and once in a process of its own."""
    write(folder, rows)
    table = open_table(Embedded(path=folder), name="people")
    query = BY_HAND.format(folder)
    with duckdb.connect(config={"threads": 2, "memory_limit": "256MB"}) as raw:
        runs: dict[str, Callable[[], object]] = {
            "engine": lambda: from_engine(table, "income", INCOME),
            "by hand": lambda: raw.execute(query).fetchnumpy(),
        }
        timings = interleaved(runs, repeats=repeats)
    print(
        f"{rows:,} rows: {timings['engine'].text('s')}, by hand {timings['by hand'].text('s')}: "
        f"{ratio(timings['engine'], timings['by hand']):.2f} times as long (goal {goal})",
        flush=True,
    )
    table.forget()
    subprocess.run([sys.executable, "-c", CHILD, str(folder)], check=True)


def write(folder: Path, rows: int) -> None:
    """Incomes with a long tail, one in a hundred missing."""
    each = rows // FILES
    with duckdb.connect(config={"threads": 2}) as connection:
        for place in range(FILES):
            connection.execute(
                "COPY (SELECT CASE WHEN hash(range) % 100 = 0 THEN NULL"
                " ELSE round(exp(10.5 + 2.4 * (hash(range) % 1000003 / 1000003 - 0.5)), 2) END AS income,"
                f" (hash(range + 1) % 90)::TINYINT AS age FROM range({place * each}, {(place + 1) * each}))"
                f" TO '{folder / f'{place}.parquet'}' (FORMAT parquet)"
            )


if __name__ == "__main__":
    main()
