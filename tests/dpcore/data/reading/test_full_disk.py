"""A folder for temporary files that is full, or cannot be written, is named as that, wherever it is noticed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpcore.core import DataError
from dpcore.data.reading.duck import run
from dpcore.data.reading.intake import Limits
from dpcore.data.reading.scratch import FULL, PREFIX, UNWRITABLE
from dpcore.data.reading.tables import read_table
from tests import ROOT

COLUMNS = 300
WIDE = "\n".join([",".join(f"c{place}" for place in range(COLUMNS)), ",".join("1" * COLUMNS)]) + "\n"
"""Larger as Parquet than as text."""
LIMITED = """
import resource, signal, sys
import dpcore.data.reading.tables as tables
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
try:
    print(tables.read_table(sys.stdin.buffer.read(), name="x.csv", header=True).row_count)
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("room", "said"),
    [
        (1 << 20, "1"),
        (2 * len(WIDE), f"DataError: x.csv: {FULL}"),  # the copy fits, what DuckDB writes does not
        (len(WIDE) // 2, f"DataError: x.csv: {FULL}"),
    ],
)
def test_no_room_for_a_file_is_said(room: int, said: str, tmp_path: Path) -> None:
    """A limit of the size of files stands for a full disk: the same call fails, with another number."""
    variables = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", LIMITED, str(room)]
    ended = subprocess.run(command, input=WIDE.encode(), cwd=ROOT, env=variables, capture_output=True, check=True)
    assert ended.stdout.decode().strip() == said
    assert not list(tmp_path.glob(f"{PREFIX}*"))


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "is full"),
        (errno.EROFS, "is not writable"),
        (errno.EACCES, "is not writable"),
    ],
)
def test_no_room_for_a_folder_is_said(number: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: str) -> str:
        raise OSError(number, os.strerror(number), "/tmp/dpscope-table-x")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(DataError) as caught:
        read_table(b"a,b\n1,2\n", name="x.csv")
    assert str(caught.value) == f"x.csv: it was not read: the temporary folder {said}."


def test_without_a_folder_for_temporary_files_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/none/at/all")
    with pytest.raises(DataError, match=UNWRITABLE):
        read_table(b"a,b\n1,2\n", name="x.csv")


class Connection:
    """Raises what DuckDB raised on a full disk."""

    def __init__(self, error: duckdb.Error) -> None:
        self.error = error

    def execute(self, *_: object) -> None:
        raise self.error

    def interrupt(self) -> None:
        """Nothing runs."""


@pytest.mark.parametrize("records", [(2, 1), None])
@pytest.mark.parametrize(("number", "said"), [(errno.ENOSPC, FULL), (errno.EIO, UNWRITABLE)])
def test_what_duckdb_says_of_a_disk_is_not_taken_for_a_row(
    number: int, said: str, records: tuple[int, int] | None
) -> None:
    text = f'IO Error: Async write failed: {{"exception_message":"Could not write file","errno":"{number}"}}'
    connection: Any = Connection(duckdb.IOException(text))
    with pytest.raises(DataError, match=said):
        run(connection, "COPY", limits=Limits(), records=records)


def test_a_record_that_quotes_such_an_error_is_a_row_that_is_wrong() -> None:
    with pytest.raises(DataError, match="row 2 has 3 fields or more where 2 were expected"):
        read_table(b'a,b\n1,2,"""errno"":""28"""\n', name="x.csv", header=True)
