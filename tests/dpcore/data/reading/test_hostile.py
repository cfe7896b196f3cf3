"""Every file a stranger might bring ends in a table or in one sentence, and its records stay where they belong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpcore.core import DataError
from dpcore.data.reading.intake import FirstRowUnclear
from dpcore.data.reading.scratch import PREFIX
from dpcore.data.reading.tables import Table, read_table
from tests.kit.hostile import SECRET, Outcome, hostile, hostile_files, outcomes

ONE_SENTENCE = re.compile(r"[^\n]{1,80}: [^\n]{10,150}\.")


def of(outcome: Outcome) -> list[str]:
    return [what for what, expected in outcomes().items() if expected == outcome]


def met(what: str, folder: Path, *, header: bool | None) -> Table | DataError:
    """What comes of a file; neither the error, nor what it came from, nor a place outside its folder tells a record."""
    name, contents, _ = hostile(what)
    outcome: Table | DataError
    try:
        outcome = read_table(contents, name=name, header=header)
    except DataError as error:
        outcome = error
    refusal: BaseException | None = outcome if isinstance(outcome, DataError) else None
    assert refusal is None or ONE_SENTENCE.fullmatch(str(refusal)), str(refusal)
    while refusal is not None:
        assert isinstance(refusal, DataError) and SECRET not in str(refusal)
        refusal = refusal.__cause__ or refusal.__context__
    files = list(folder.iterdir())
    assert len(files) == isinstance(outcome, Table)
    assert all(each.name.startswith(PREFIX) and each.stat().st_mode & 0o077 == 0 for each in files)
    return outcome


def answers(table: Table) -> None:
    """Every column can be read, and the names it goes by can be shown."""
    for column in table.columns:
        assert table.numbers(column).shape == table.codes(column).shape == (table.row_count,)
        assert not set(column) & set("<>[]{}\"'`$:*!\\|~#&=@\n\r\t")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where all private folders are made during the test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def quiet(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that is printed or logged during a test tells a record."""
    yield
    printed = capfd.readouterr()
    assert SECRET not in printed.out + printed.err + caplog.text


@pytest.mark.slow
def test_there_are_a_hundred_different_files() -> None:
    files = hostile_files().values()
    assert len({(name, contents) for name, contents, _ in files}) == len(files) >= 100
    assert sum(SECRET.encode() in contents for _, contents, _ in files) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("what", of("refused"))
def test_refused_with_one_sentence(what: str, folder: Path) -> None:
    outcome = met(what, folder, header=None)
    assert isinstance(outcome, DataError) and not isinstance(outcome, FirstRowUnclear)


@pytest.mark.slow
@pytest.mark.parametrize("what", of("read"))
def test_odd_but_readable(what: str, folder: Path) -> None:
    table = met(what, folder, header=None)
    assert isinstance(table, Table) and SECRET not in "".join((table.name, *table.columns, *table.notes))
    answers(table)


@pytest.mark.slow
@pytest.mark.parametrize("what", of("asked"))
def test_a_first_row_that_could_be_data_is_asked_about(what: str, folder: Path) -> None:
    assert isinstance(met(what, folder, header=None), FirstRowUnclear)
    rows = dict[bool, int]()
    for header in (True, False):
        outcome = met(what, folder, header=header)
        if isinstance(outcome, Table):
            answers(outcome)
            rows[header] = outcome.row_count
            if not header:
                assert outcome.columns == tuple(f"column {place}" for place in range(1, len(outcome.columns) + 1))
            outcome.forget()
    assert len(rows) < 2 or rows[False] == rows[True] + 1
