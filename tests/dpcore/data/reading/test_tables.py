"""Whatever bytes arrive, the answer is a correct table or one sentence that holds nothing of the records."""

from __future__ import annotations

import csv
import functools
import gc
import io
import os
import re
import signal
import subprocess
import sys
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Literal

import duckdb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpcore.core import DataError, ParameterError
from dpcore.data.reading.duck import _Alarm
from dpcore.data.reading.intake import NAME_CHARACTERS, clean_name, clean_names
from dpcore.data.reading.tables import LIMITS, Limits, Table, read_table
from tests import ROOT
from tests.kit.hostile import SECRET, hostile, parquet

SECONDS = 60.0
"""Longest that any file built here may take; each takes well under one on an idle machine."""

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
tricky = st.text(st.sampled_from(list(" \t\r\n\"',;|\\#aé0.-\ufeff\u2028")), max_size=8)


def written(rows: list[tuple[str, ...]], *, quoting: Literal[0, 1] = csv.QUOTE_MINIMAL) -> bytes:
    """The rows as Python's own CSV writer puts them."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=quoting).writerows(rows)
    return buffer.getvalue().encode()


def normal(cell: str) -> str:
    """Return the cell as a Table reads it: line ends as one sign, no blanks around."""
    return re.sub("\r\n?", "\n", cell).strip(" \t\n")


def refusal(contents: bytes, name: str, limits: Limits = LIMITS) -> str:
    """The sentence with which the file is refused; checks its form and that it came soon and without a cause."""
    start = time.process_time()
    with pytest.raises(DataError) as caught:
        read_table(contents, name=name, limits=limits)
    assert time.process_time() - start < SECONDS
    sentence = str(caught.value)
    assert_safe(caught.value)
    assert re.fullmatch(r"[^\n]{1,80}: [^\n]{10,150}\.", sentence), sentence
    return sentence


def assert_safe(error: BaseException | None) -> None:
    """Neither the error nor anything a traceback could print behind it quotes a record."""
    while error is not None:
        assert isinstance(error, DataError), repr(error)
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("the file of commas", "row 1 has more than 1,048,577 columns, and at most 1,000 are read."),
        ("10,000 columns", "row 1 has 10,000 columns, and at most 1,000 are read."),
        ("an empty file", "it is empty."),
        ("a renamed zip", "the name says .csv, but the content is a zip archive or a workbook."),
        ("Latin-1", "line 2 contains bytes that are not UTF-8 text: save it as CSV UTF-8."),
        ("a row too long", "row 3 has 3 fields or more where 2 were expected."),
        ("a row too short", "row 3 has 1 field where 2 were expected."),
        ("a gzip bomb", f"it has more than {LIMITS.rows:,} rows, and a session has memory for no more."),
        (
            "100,000,000 rows run-length encoded",
            f"it has more than the {LIMITS.rows:,} rows that a session has memory for.",
        ),
        ("encrypted Parquet", "the name says .parquet, but the content is encrypted Parquet data."),
        ("Parquet with a ruined middle", "its contents are damaged or do not match its Parquet footer."),
        ("Parquet with a lying footer", "its footer states another number of rows than the file has."),
        (
            "Parquet promising the moon",
            "its rows times its 2 columns are more than the 100,000,000 cells that are read.",
        ),
        ("Parquet with too many columns", "it has 1,001 columns, and at most 1,000 are read."),
    ],
)
def test_says_what_and_where(what: str, sentence: str) -> None:
    name, contents, _ = hostile(what)
    assert refusal(contents, name) == f"{name}: {sentence}"


@pytest.mark.slow
def test_row_numbers_count_quoted_line_breaks_as_one_row() -> None:
    rows = "".join(f'{i},"two\nlines"\n' for i in range(300_000))
    assert "row 300,002 has 3 fields" in refusal(f"a,b\n{rows}1,2,3\n".encode(), "x.csv")
    assert "row 5 has 3 fields" in refusal(b'\n\n"a\nb",b\n1,2\n1,2,3\n', "x.csv")


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.lists(st.tuples(text | tricky, text | tricky), min_size=1, max_size=80),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_text_round_trip(cells: list[tuple[str, str]], quoting: Literal[0, 1]) -> None:
    rows = [(f"row {i}", *pair) for i, pair in enumerate(cells)]
    table = read_table(written([("id", "first", "second"), *rows], quoting=quoting), name="x.csv", header=True)
    assert table.columns == ("id", "first", "second")
    assert table.row_count == len(cells)
    for position, column in enumerate(("first", "second")):
        expected = [normal(pair[position]) for pair in cells]
        labels = sorted(set(expected) - {""})
        codes = table.labels(column, labels)
        assert [[*labels, ""][code] for code in codes] == expected
        order = list(dict.fromkeys(expected))
        assert table.codes(column).tolist() == [order.index(cell) for cell in expected]
        assert sorted(table.distinct(column, 100)) == labels
        assert len(table.distinct(column, 2)) == min(2, len(labels))


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.floats() | st.integers().map(float), min_size=1, max_size=80))
@example([float("nan"), float("inf"), -float("inf"), 1.7976931348623157e308, 5e-324, -0.0])
def test_number_round_trip(numbers: list[float]) -> None:
    expected = np.where(np.isfinite(numbers), numbers, np.nan)
    rows = written([("id", "x"), *(("r", repr(number)) for number in numbers)])
    np.testing.assert_array_equal(read_table(rows, name="x.csv", header=True).numbers("x"), expected)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(separator: str) -> None:
    contents = f'a{separator}"b,c;d"\n1{separator}2\n3{separator}"4"\n'.encode()
    table = read_table(contents, name="x.csv")
    assert table.numbers(table.columns[1]).tolist() == [2, 4]


def test_parquet_types_and_text_of_whole_fractions() -> None:
    table = read_table(
        parquet(
            "SELECT 2.0::DOUBLE AS whole, 0.1::FLOAT AS tenth, 9007199254740993 AS big, 1.50::DECIMAL(9, 2) AS money,"
            " true AS yes, DATE '2020-02-01' AS day, [1] AS list, ' x ' AS padded, '' AS empty, '7.0' AS text"
        ),
        name="x.parquet",
    )
    commonest = {column: table.distinct(column, 1) for column in table.columns}
    assert commonest == {
        "whole": ["2"], "tenth": ["0.1"], "big": ["9007199254740993"], "money": ["1.5"], "yes": ["true"],
        "day": ["2020-02-01"], "padded": ["x"], "empty": [], "text": ["7.0"],
    }  # fmt: skip
    assert "Columns that hold neither numbers nor text were left out: 1 of 10." in table.notes
    assert [table.is_mostly_numeric(column) for column in ("whole", "yes", "empty", "text")] == [
        True,
        False,
        False,
        True,
    ]


def test_columns_of_parquet_that_are_not_utf_8_are_left_out_and_it_is_said() -> None:
    rows = parquet("SELECT 'Zq' || chr(233) || i AS name, i AS pay, 'é' AS other FROM range(3) AS t(i)")
    table = read_table(rows.replace(b"Zq\xc3\xa9", b"Zq\xe9\xe9"), name="x.parquet")
    assert table.notes == ("Columns whose text is not UTF-8 were left out: 1 of 3, at place 1.",)
    assert table.columns == ("pay", "other") and table.distinct("pay", 9) == ["0", "1", "2"]


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.binary(max_size=300),
    st.sampled_from(["x.csv", "x.tsv", "x.csv.gz", "x.parquet", "x.parquet.gz", "x"]),
    st.sampled_from([None, True, False]),
)
@example(b"a\n\xf4\x90\x80\x80", "x.csv", None)
@example(b"\xff\xfe", "x.csv", None)
@example(b"\x1f\x8b\x08", "x.csv.gz", None)
def test_arbitrary_bytes(contents: bytes, name: str, header: bool | None) -> None:
    read_or_refuse(contents, name, header)


@pytest.mark.slow
@settings(max_examples=75)
@given(
    st.lists(
        st.sampled_from(
            [
                *(SECRET, ",", '"', "\n", "\r", ";", " ", "\\", "x", "é", "\0", "CSV Error on Line: 7777777\n"),
                "Invalid Input Error: CSV Error on Line: 7777777\nOriginal Line: ",
                "\nExpected Number of Columns: 2 Found: 7777777\n",
            ]
        ),
        max_size=60,
    ),
    st.sampled_from(["utf-8", "utf-16", "latin-1"]),
)
def test_no_message_quotes_a_record(pieces: list[str], encoding: str) -> None:
    read_or_refuse(("a,b\n" + "".join(pieces)).encode(encoding), "x.csv", header=True)


@functools.cache
def small_parquet() -> bytes:
    return parquet(f"SELECT '{SECRET}' || i AS name, i AS pay, i / 3 AS share FROM range(200) AS t(i)")


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_parquet(damages: list[tuple[float, int]]) -> None:
    contents = bytearray(small_parquet())
    for place, byte in damages:
        contents[int(place * len(contents))] = byte
    read_or_refuse(bytes(contents), "x.parquet")


def read_or_refuse(contents: bytes, name: str, header: bool | None = None) -> None:
    """Read every column, or be refused in the proper form, and soon."""
    start = time.process_time()
    try:
        table = read_table(contents, name=name, header=header)
        for column in table.columns:
            assert len(table.numbers(column)) == len(table.codes(column)) == table.row_count
    except DataError as error:
        assert_safe(error)
        assert "7777777" not in str(error)
        assert "7,777,777" not in str(error)
    assert time.process_time() - start < SECONDS


@pytest.mark.slow
@given(
    st.lists(
        text | st.sampled_from(["__proto__", "a", " a", "a (2)", "<b>", "[x](y)", "\u202ea"]), min_size=1, max_size=30
    )
)
def test_column_names_are_safe_and_unique(names: list[str]) -> None:
    clean, notes = clean_names(names)
    assert len(set(clean)) == len(clean) == len(names)
    for name in clean:
        assert 1 <= len(name) <= NAME_CHARACTERS + 6
        assert not set(name) & set("<>[]{}\"'`$:;*!\\|~#&=@\n\r\t")
        assert not any(unicodedata.category(character)[0] == "C" for character in name)
        assert not name.startswith("_")
    assert bool(notes) == (list(clean) != [name.strip() for name in names])
    assert clean_name(clean[0]) == clean[0]


def test_a_table_prints_no_values() -> None:
    table = read_table(f"name,pay\n{SECRET},1\n".encode(), name="<people>.csv")
    assert repr(table) == str(table) == "Table('people_.csv', row_count=1, columns=2)"
    assert table.notes == ()  # not even that there is a single row: their number may be private
    with pytest.raises(DataError, match=r"^people_.csv: there is no column named “Pay”\.$"):
        table.numbers("Pay")
    with pytest.raises(ParameterError):
        table.labels("name", ["a", " a"])


def test_missing_and_unknown_share_the_last_code() -> None:
    table = read_table(b"x,y\nno,1\nyes,1\nmaybe,1\n,1\n yes ,1\n", name="x.csv")
    assert table.labels("x", ["yes", "no"]).tolist() == [1, 0, 2, 2, 0]
    assert table.labels("x", []).tolist() == [0] * 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (Limits(file_bytes=10), "it has 200,004 bytes, and at most 10 are read."),
        (Limits(unpacked_bytes=1_000), "it unpacks to more than 1,000 bytes, and no more are read."),
        (Limits(cells=1_000), "it has more than 1,000 cells (rows times columns), and no more are read."),
        (Limits(columns=1), "row 1 has 2 columns, and at most 1 are read."),
        (Limits(memory_bytes=4 << 20), "it needs more than the 4 MB of memory that reading may take."),
        (Limits(seconds=0.0001), "it took longer than 0.0001 seconds."),
    ],
)
def test_limits(limits: Limits, sentence: str) -> None:
    assert refusal(b"a,b\n" + b"1,2\n" * 50_000, "x.csv", limits) == f"x.csv: {sentence}"


def test_an_alarm_that_came_too_early_comes_again() -> None:
    """DuckDB forgets what interrupts it before its query: on a busy machine the limit above was missed now and then."""
    calls, again = list[int](), Event()

    def call() -> None:
        calls.append(1)
        if len(calls) == 3:
            again.set()

    alarm = _Alarm(0.001, call)
    alarm.start()
    assert again.wait(SECONDS)
    alarm.cancel()
    alarm.join()
    assert not alarm.is_alive()


@pytest.mark.slow
def test_a_dictionary_bomb_is_weighed_before_it_is_unpacked() -> None:
    contents = parquet("SELECT repeat('x', 100000) AS name FROM range(20000)")
    assert len(contents) < 1_000_000
    assert "its text unpacks to more than" in refusal(contents, "x.parquet")


def test_duckdb_is_locked_to_one_file(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n")
    table = read_table(b"a,b\n1,2\n", name="x.csv")
    for forbidden in (
        f"FROM read_csv('{other}')",
        f"FROM read_text('{other}')",
        f"COPY records TO '{tmp_path}/stolen.csv'",
        f"ATTACH '{tmp_path}/stolen.duckdb'",
        "SET memory_limit = '100GB'",
        "SET enable_external_access = true",
    ):
        with pytest.raises(duckdb.Error):
            table._connection.execute(forbidden)
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]


@pytest.mark.slow
def test_private_copies_do_not_outlive_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    table: Table | None = read_table(b"a,b\n1,2\n", name="x.csv")
    folders = list(tmp_path.iterdir())
    assert len(folders) == 1
    assert folders[0].stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in folders[0].iterdir()) == ["lock", "records.parquet"]
    refusal(b"a,b\n1,2,3\n", "x.csv")
    assert list(tmp_path.iterdir()) == folders
    del table
    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_copies_of_a_killed_process_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = read_table(b"a,b\n1,2\n", name="x.csv")
    script = (
        "import os, signal; from dpcore.data.reading.tables import read_table;"
        " table = read_table(b'a,b\\n1,2\\n', name='x.csv'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    killed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    other = read_table(b"a,b\n3,4\n", name="x.csv")
    assert len(list(tmp_path.iterdir())) == 2
    assert (mine.numbers("a").tolist(), other.numbers("a").tolist()) == ([1], [3])


def test_a_path_is_read_like_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n1,2\n")
    assert read_table(path, name="x.csv").numbers("b").tolist() == [2]
    with pytest.raises(DataError, match=r"^y\.csv: it could not be read or copied: no such file or directory\.$"):
        read_table(tmp_path / "y.csv", name="y.csv")


@pytest.mark.slow
def test_threads_do_not_meet() -> None:
    rows = "".join(f"{i},{i % 7}\n" for i in range(50_000))
    table = read_table(f"id,day\n{rows}".encode(), name="x.csv")

    def ask(turn: int) -> bool:
        if turn % 2:
            return bool((table.numbers("id") == np.arange(50_000)).all())
        return bool((table.labels("day", list("0123456")) == np.arange(50_000) % 7).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(40)))


# The peak is read from the process's own status where there is one: what getrusage tells starts at the size of the
# process that started it, and that one has run all other tests.
LARGE = """
import pathlib, resource, sys, time
from dpcore.data.reading.tables import read_table
contents = open(sys.argv[1], "rb").read()
start = time.process_time()
table = read_table(contents, name="large.csv")
numbers = table.numbers("pay")
taken = time.process_time() - start
status = pathlib.Path("/proc/self/status")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if status.exists():
    peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
print(taken, peak / 1024, len(numbers), numbers.sum())
"""


@pytest.mark.full
def test_five_million_rows(tmp_path: Path, seed: int) -> None:
    pay = np.random.Generator(np.random.SFC64(seed)).integers(100_000, size=5_000_000)
    path = tmp_path / "large.csv"
    with path.open("w") as file:
        file.write("name,pay,region\n")
        for start in range(0, len(pay), 100_000):
            part = pay[start : start + 100_000].tolist()
            file.writelines(
                f"person-{start + i},{one},{'north' if one % 2 else 'south'}\n" for i, one in enumerate(part)
            )
    child = subprocess.run([sys.executable, "-c", LARGE, path], cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, megabytes, count, total = map(float, child.stdout.split())
    assert (count, total) == (len(pay), pay.sum())
    # About 2.5 s and 480 MB on an idle machine with two cores.
    assert seconds < 120
    assert megabytes < 1000
