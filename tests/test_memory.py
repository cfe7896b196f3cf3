"""What is asked of a file is weighed before it is done: rows times bytes, on top of what a session holds."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.core import DataError, Provenance, ProvenanceKind
from dpcore.data.bundled import bundled
from dpcore.data.columns import Column, Labels, Number
from dpcore.data.predicates import Predicate
from dpcore.data.product import Product
from dpcore.data.reading.intake import BYTES_TO_READ, LIMITS, TooLarge
from dpcore.data.reading.tables import Limits, Table, read_table
from dpcore.data.readings import Measure, Vectors, YesNo
from dpcore.data.samples import load_sample
from pages.data.upload import MIN_MEGABYTES, session_limits
from pages.shell.tasks.memory import remember
from tests import ROOT
from tests.kit.hostile import parquet
from tests.kit.sources import own

ROWS = 1_000
PRIVATE = Provenance(kind=ProvenanceKind.PRIVATE, title="own")


def table_within(bytes_per_row: int) -> Table:
    """A table of ROWS rows in a session that may hold so many bytes for each."""
    limits = Limits(session_bytes=LIMITS.memory_bytes + ROWS * bytes_per_row)
    rows = "".join(f"{i},{i % 7},p{i % 3}\n" for i in range(ROWS))
    return read_table(f"a,b,name\n{rows}".encode(), name="own.csv", limits=limits)


def one(table: Table, domain: Column, column: str) -> object:
    return own(table, column, on=domain, private=True).dataset()


def pair(table: Table) -> object:
    grid = Product.map(Number(high=8.0, bits=3), Number(high=8.0, bits=3))
    return own(table, "a", "b", on=grid, private=True, digest="").dataset()


def cube(table: Table, predicates: int = 64) -> object:
    asked = tuple(Predicate(column="a", kind="at least", value=float(i)) for i in range(predicates))
    return YesNo(predicates=asked).dataset(table, PRIVATE)


def vectors(table: Table) -> object:
    measures = (Measure(column="a", high=1e3), Measure(column="b", high=8.0))
    return Vectors(measures=measures).dataset(table, PRIVATE)


ASKED: dict[str, tuple[Callable[[Table], object], int]] = {
    "a number": (lambda table: one(table, Number(high=8.0), "a"), 0),
    "a label": (lambda table: one(table, Labels(labels=("p0", "p1")), "name"), 0),
    "codes": (lambda table: table.codes("name"), 0),
    "two numbers": (pair, 32),
    "64 predicates": (cube, 64),
    "vectors": (vectors, 128),
}
"""What is asked, and the bytes a row that it takes beyond reading one column."""


@pytest.mark.slow
@pytest.mark.parametrize("what", ASKED)
def test_what_is_asked_is_weighed_before_any_work(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, more = ASKED[what]
    ask(table_within(BYTES_TO_READ + more))
    table = table_within(max(BYTES_TO_READ + more - 1, BYTES_TO_READ))
    if more == 0:
        object.__setattr__(table, "_limits", Limits(session_bytes=LIMITS.memory_bytes + ROWS * BYTES_TO_READ - 1))
    monkeypatch.setattr(Table, "_ask", lambda *_: pytest.fail("the records were read"))
    with pytest.raises(TooLarge) as refused:
        ask(table)
    assert re.fullmatch(
        r"own\.csv: this takes more memory than the 0 MB that a session may use for it\.", str(refused.value)
    )


@pytest.mark.slow
def test_what_a_session_holds_counts_until_it_is_let_go() -> None:
    table = table_within(BYTES_TO_READ + 64)
    first = cube(table)
    with pytest.raises(TooLarge, match="including the files it already holds"):
        cube(table)
    del first
    gc.collect()
    assert cube(table) is not None


def test_what_is_made_of_a_sample_that_all_sessions_share_counts_towards_none() -> None:
    before = load_sample("penguins")._array_bytes()
    kept = bundled("penguins", "bill_length_mm", "flipper_length_mm").dataset()
    assert load_sample("penguins")._array_bytes() == before < kept.records.nbytes


def test_what_was_computed_before_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    state = dict[str, object]()
    monkeypatch.setattr("streamlit.session_state", state)
    table = table_within(BYTES_TO_READ + 64)
    remember("first", lambda: cube(table))
    assert remember("second", lambda: cube(table, 63)) is not None
    assert list(state["memory"] if isinstance(state["memory"], dict) else ()) == ["second"]
    with pytest.raises(TooLarge):
        remember("third", lambda: cube(table, 65))


@pytest.mark.parametrize("contents", [b"a,b\n" + b"1,2\n" * ROWS, b"a\n" + b"1\n" * ROWS])
def test_more_rows_than_one_column_can_be_read_of_are_refused_as_they_arrive(contents: bytes) -> None:
    limits = Limits(session_bytes=LIMITS.memory_bytes + (ROWS - 1) * BYTES_TO_READ)
    with pytest.raises(DataError, match=r"^x\.csv: it has more than 999 rows, and a session has memory for no more\.$"):
        read_table(contents, name="x.csv", limits=limits)


def test_the_ceiling_is_a_setting() -> None:
    limits = session_limits("300")
    assert (limits.session_bytes, limits.memory_bytes) == (300 << 20, 100 << 20)
    assert limits.rows * BYTES_TO_READ <= 200 << 20 < (limits.rows + 1) * BYTES_TO_READ
    for wrong in ("", "much", "-5", "1e3", str(MIN_MEGABYTES - 1)):
        with pytest.raises(ValueError, match="DPSCOPE_SESSION_MB must be a whole number"):
            session_limits(wrong)


MEASURE = """
import gc, sys
from pathlib import Path
from dpcore.data.columns import Number
from dpcore.data.reading.tables import read_table
def status(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))
table, line = read_table(Path(sys.argv[1]), name="own.parquet"), Number(high=8.0, missing=True)
asked = {
    "number": lambda: line.encode(table.numbers("a")),
    "label": lambda: table.labels("b", ["x0", "x1"]),
    "codes": lambda: table.codes("b"),
}
for what, ask in asked.items():
    ask()  # what DuckDB keeps for the next time is its own
    gc.collect()
    open("/proc/self/clear_refs", "w").write("5")
    before = status("VmRSS")
    ask()
    print((status("VmHWM") - before) * 1024 / table.row_count)
"""


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told by Linux alone")
def test_reading_takes_no_more_than_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "own.parquet"
    path.write_bytes(parquet("SELECT i % 9 AS a, 'x' || (i % 3) AS b FROM range(3000000) AS t(i)"))
    told = subprocess.run([sys.executable, "-c", MEASURE, path], cwd=ROOT, capture_output=True, text=True, check=True)
    peaks = [float(line) for line in told.stdout.split()]
    assert len(peaks) == 3 and 16 < max(peaks) <= BYTES_TO_READ, peaks
