"""Files and engines: counts against the same counts written by hand, and a large CSV in a process and in the app.

DuckDB counting cells, against the same counts written by hand: ten million rows, and a folder of a hundred million.

A hundred million rows take 1.6 GB of disk and some minutes; `python -m benchmarks engines` makes them in the temporary
folder, and leaves them out where there is no room.

A CSV of five million rows: seconds and peak memory, in a process of its own and in the app.

In the app: from the moment the file is chosen in the browser until its histogram is drawn, with the seconds a person
takes to declare bounds left out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.timing import chromium, interleaved, ratio, running_app
from dpcore import Number
from dprelease.engines.embedded import Embedded
from dprelease.engines.tables import from_engine, open_table

MILLION = 1_000_000
SIZES = {10 * MILLION: (5, 1.1), 100 * MILLION: (2, 1.2)}
"""Rows; rounds, and how much longer than by hand they may take."""
FILES = 10
ROOM = 4 << 30
INCOME = Number(low=0, high=500_000, bits=10, missing=True)
BY_HAND = (
    "SELECT CASE WHEN income IS NULL OR NOT isfinite(income) THEN 1024"
    " ELSE least(floor((least(greatest(income, 0), 500000) - 0) / 500000 * 1024), 1023)::INTEGER END AS cell, count(*)"
    " FROM read_parquet('{}/*.parquet') GROUP BY cell"
)
COUNTING = """
import sys
from pathlib import Path
from dpcore import Number
from dprelease.engines.embedded import Embedded
from dprelease.engines.tables import from_engine, open_table
def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
before = peak()
table = open_table(Embedded(path=Path(sys.argv[1])), name="people")
n = from_engine(table, "income", Number(low=0, high=500_000, bits=10, missing=True)).n
print(f"{n:,} rows: {peak() - before:.0f} MB above the imports (goal 300 MB)")
"""


def engines() -> None:
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
    subprocess.run([sys.executable, "-c", COUNTING, str(folder)], check=True)


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


ROWS = 5_000_000
READING = """
import resource, sys, time
from pathlib import Path
from dpcore import Dataset, Number, Provenance, ProvenanceKind
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
payload = Path(sys.argv[1]).read_bytes()
start = time.perf_counter()
table = read_table(payload, name="big.csv")
private = Provenance(kind=ProvenanceKind.PRIVATE, title="benchmark")
income = Columns(names=("income",), on=Number(low=0, high=500_000, bits=10, missing=True))
dataset = income.dataset(table, private)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{dataset.n:,} rows, {len(payload) / 1e6:.0f} MB of CSV: {seconds:.1f} s (goal 10 s), peak {peak:.0f} MB "
      "with the bytes in memory (goal 1,000 MB)")
"""


def upload() -> None:
    """Write the file, count it in a fresh process, print."""
    generator = np.random.Generator(np.random.SFC64(1))
    incomes = generator.lognormal(10.5, 0.8, ROWS).round(2)
    ages = generator.integers(18, 95, ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.csv"
        with path.open("w") as file:
            file.write("income,age\n")
            for start in range(0, ROWS, 500_000):
                rows = zip(
                    incomes[start : start + 500_000].tolist(), ages[start : start + 500_000].tolist(), strict=True
                )
                file.writelines(f"{income},{age}\n" for income, age in rows)
        subprocess.run([sys.executable, "-c", READING, str(path)], check=True)
        in_the_app(path)


def in_the_app(path: Path) -> None:
    """Upload as a public stand-in, declare, and wait for the picture."""
    with running_app() as (address, process), chromium() as browser:
        page = browser.new_page()
        page.goto(f"{address}/data?way=My+own+file")
        page.get_by_text("A public stand-in", exact=True).click()
        page.get_by_text("Your public file").wait_for()
        start = time.perf_counter()
        page.locator('input[type="file"]').set_input_files(path)
        page.get_by_role("button", name="Names of the columns").click()
        lower = page.get_by_role("spinbutton", name="Lower bound")
        lower.wait_for(timeout=120_000)
        read = time.perf_counter() - start
        lower.fill("0")
        lower.press("Enter")
        upper = page.get_by_role("spinbutton", name="Upper bound")
        upper.fill("500000")
        upper.press("Enter")
        use = page.get_by_role("button", name="Use this column")
        use.wait_for()
        start = time.perf_counter()
        use.click()
        page.locator(".dpscope-plot[data-drawn]").first.wait_for(timeout=120_000)
        drawn = time.perf_counter() - start
        peak = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if "VmHWM" in line)
        print(
            f"in the app: upload and read {read:.1f} s, count {drawn:.1f} s, together {read + drawn:.1f} s (goal 10);"
            f" the server's peak memory {int(peak.split()[1]) / 1024:.0f} MB (goal 1,000 MB)"
        )
