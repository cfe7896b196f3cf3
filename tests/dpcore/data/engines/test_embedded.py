"""DuckDB over a folder of Parquet: the same counts as of a file, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.data.engines.embedded import Embedded
from dpcore.data.engines.tables import EngineTable, open_table
from dpcore.data.reading.tables import Table, read_table
from tests.kit.engines import differences, write_parquet


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows as two files of a folder, and as one file beside it."""
    return write_parquet(tmp_path_factory.mktemp("engine") / "folder")[0].parent


@pytest.fixture(scope="module")
def file(folder: Path) -> Table:
    return read_table(folder.parent / "all.parquet", name="all.parquet")


@pytest.fixture(scope="module")
def table(folder: Path) -> EngineTable:
    return open_table(Embedded(path=folder), name="folder")


def test_a_folder_and_a_file_of_the_same_rows_give_the_same_counts(table: EngineTable, file: Table) -> None:
    assert table.columns == file.columns
    assert table.row_count == file.row_count
    assert differences(table, file) == {}
