"""Copies put back, and ledgers of an older schema, as the program of that schema wrote them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dprelease.certificate import certificate, faults_against_ledger, verify
from dprelease.commands import main
from dprelease.downloads.report import report
from dprelease.ledger import copies
from dprelease.ledger.checks import check
from dprelease.ledger.connection import OLDER, RESTORES
from dprelease.ledger.copies import backup, restore
from dprelease.ledger.records import UNWRITABLE, LedgerError, Refused, Stored
from dprelease.ledger.schema import VERSION
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import SAW_TRUE_VALUES, release
from tests.kit.ledgers import (
    ANALYST,
    STEWARD,
    few_rows,
    forge,
    of_an_older_schema,
    registered,
    request_of,
    stored_release,
)


def test_an_older_schema_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """Nothing of it was ever released; whoever has such a file reads it with the program that wrote it."""
    ledger, dataset_id = registered(tmp_path / "ledger")
    of_an_older_schema(ledger.path(dataset_id))
    assert check(ledger, dataset_id) == [OLDER.format(schema=VERSION - 1, known=VERSION)]
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Refused)


@pytest.mark.slow
def test_a_copy_takes_the_place_of_a_damaged_or_lost_file_and_certificates_say_so(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    first = release(ledger, dataset_id, request_of(), few_rows(), ANALYST)
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    second = release(ledger, dataset_id, request_of(epsilon=0.25, draw=2), few_rows(), ANALYST)
    assert isinstance(first, Stored) and isinstance(second, Stored)
    with pytest.raises(LedgerError, match="is consistent"):
        restore(ledger, copy, STEWARD)
    with pytest.raises(LedgerError, match="Only the data owner"):
        restore(ledger, copy, ANALYST)
    path = ledger.path(dataset_id)
    path.write_bytes(damaged := b"\xa5" * 8192)
    (path.parent / f"{path.name}-journal").write_bytes(path.read_bytes())  # must not meet the copy
    kept = restore(ledger, copy, STEWARD)
    assert kept is not None and kept.read_bytes() == damaged and check(ledger, dataset_id) == []
    assert ledger.stored(dataset_id) == [first]
    assert "not genuine" in faults_against_ledger(certificate(second), ledger.lines(dataset_id))[0]
    third = stored_release(ledger, dataset_id, request_of(draw=3))
    assert verify(certificate(third), third.files) == []
    assert certificate(third)["guarantee"]["whole_data_set"]["copies_put_back"] == 1
    assert "not genuine" in faults_against_ledger(certificate(second), ledger.lines(dataset_id))[0]
    path.unlink()
    assert restore(ledger, copy, STEWARD) is None and ledger.account(dataset_id).spent == Price.allowed(epsilon=0.5)


def test_wherever_the_total_stands_it_is_said_that_a_copy_was_put_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was charged after the copy was made is in no total: 1.5 went out, and the ledger holds 1."""
    ledger, dataset_id = registered(tmp_path / "ledger")
    first = stored_release(ledger, dataset_id)
    assert "put back" not in report(first).decode()
    show = ["ledger", "show", "--ledger", str(tmp_path / "ledger")]
    assert main(show) == 0 and "put back" not in capsys.readouterr().out
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    release(ledger, dataset_id, request_of(draw=2), few_rows(), ANALYST)
    for times, said in ((1, "once"), (2, "2 times")):
        ledger.path(dataset_id).unlink()
        restore(ledger, copy, STEWARD)
        last = stored_release(ledger, dataset_id, request_of(draw=2 + times))
        sentence = f"A copy of the ledger was restored {said}. Charges made after the copy are not in the total,"
        assert sentence in report(last).decode() and "The charges in this ledger for" in report(last).decode()
        assert main(show) == 0
        shown = capsys.readouterr().out
        assert "Spent ε 1 of ε 2" in shown and sentence in shown


def test_a_copy_that_does_not_add_up_or_is_none_is_not_put_back(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    ledger.path(dataset_id).write_bytes(damaged := b"")
    copy.write_bytes(copy.read_bytes()[:4096])
    with pytest.raises(LedgerError):
        restore(ledger, copy, STEWARD)
    assert ledger.path(dataset_id).read_bytes() == damaged
    for name in ("notes.sqlite", f"{dataset_id}.db", "../x.sqlite"):
        with pytest.raises(LedgerError, match="no such data set"):
            restore(ledger, tmp_path / name, STEWARD)


def test_a_machine_s_failure_is_remembered_when_a_copy_without_it_is_put_back(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy = backup(ledger, dataset_id, tmp_path / "copy")

    def died() -> int:
        return ledger.begin(dataset_id, request_of().document, Price.allowed(epsilon=0.5), ANALYST).number

    ledger.machine_failed(dataset_id, died(), STEWARD)
    path = ledger.path(dataset_id)
    for times in (1, 2):
        forge(path, "UPDATE entries SET body = replace(body, 'Ada', 'Eve') WHERE seq = 2")
        restore(ledger, copy, STEWARD)
        assert check(ledger, dataset_id) == []
        account = ledger.account(dataset_id)
        assert (account.machine_failures, account.copies_put_back) == (1, times)
    attempt = died()
    with pytest.raises(LedgerError, match="This request failed before"):
        ledger.machine_failed(dataset_id, attempt, STEWARD)
    came = stored_release(ledger, dataset_id, request_of(draw=2))
    assert verify(certificate(came), came.files) == []
    whole = came.body["guarantee"]["whole_data_set"]
    assert (whole["machine_failures_declared"], whole["copies_put_back"]) == (1, 2)


def copies_put_back(ledger: Ledger, dataset_id: str, draw: int) -> int:
    """Return the number of restored copies in the next certificate."""
    came = stored_release(ledger, dataset_id, request_of(epsilon=0.25, draw=draw))
    assert check(ledger, dataset_id) == []
    said = certificate(came)["guarantee"]["whole_data_set"]["copies_put_back"]
    assert ledger.account(dataset_id).copies_put_back == said
    return int(said)


@pytest.mark.slow
def test_a_certificate_counts_every_copy_that_was_put_back_though_the_copy_knows_of_none(tmp_path: Path) -> None:
    """Else the same question could be drawn, forgotten, and drawn again until its answer pleases."""
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy, path = backup(ledger, dataset_id, tmp_path / "copy"), ledger.path(dataset_id)
    for times in (1, 2, 3):
        assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
        path.unlink()
        restore(ledger, copy, STEWARD)
        assert ledger.account(dataset_id).copies_put_back == times
    assert copies_put_back(ledger, dataset_id, 2) == 3
    shutil.copy(copy, path)  # by hand: the notes beside the file stay
    assert copies_put_back(ledger, dataset_id, 3) == 3
    path.unlink()
    restore(ledger, copy, STEWARD)
    again = backup(ledger, dataset_id, tmp_path / "again")
    elsewhere = Ledger(tmp_path / "again")
    assert again == elsewhere.path(dataset_id) and elsewhere.account(dataset_id).copies_put_back == 4


def test_what_a_replaced_file_tells_is_told_by_the_copy_in_its_place(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy, path = backup(ledger, dataset_id, tmp_path / "copy"), ledger.path(dataset_id)
    path.unlink()
    restore(ledger, copy, STEWARD)
    ledger.record_access(dataset_id, SAW_TRUE_VALUES, STEWARD)
    shutil.rmtree(ledger.folder / RESTORES)  # as a ledger that an older program put back
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TRIGGER payloads_never_go")
    restore(ledger, copy, STEWARD)
    assert copies_put_back(ledger, dataset_id, 1) == 2
    [came] = ledger.stored(dataset_id)
    assert certificate(came)["guarantee"]["steward_saw_true_values"] is True


def of_a_newer_schema(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")


def by_an_older_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_an_older_schema(path)


def a_link(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.rename(elsewhere := path.parent.parent / "elsewhere")
    path.symlink_to(elsewhere)


def a_link_to_a_disk_that_is_not_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "nowhere")


def a_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink()
    path.mkdir()


def analyzed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ANALYZE")


def not_readable_now(code: int) -> Callable[[Path, pytest.MonkeyPatch], None]:
    """A disk or a right that fails as SQLite tells it, for the ledger's own file alone."""

    def changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        usual: Callable[..., sqlite3.Connection] = sqlite3.connect

        def connect(place: Path, **options: Any) -> sqlite3.Connection:
            if place == path:
                error = sqlite3.OperationalError("disk I/O error or unable to open database file")
                error.sqlite_errorcode = code
                raise error
            return usual(place, **options)

        monkeypatch.setattr(sqlite3, "connect", connect)

    return changed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        pytest.param(of_a_newer_schema, "Use a newer program", id="newer schema"),
        pytest.param(by_an_older_program, "Only an older program reads", id="older schema"),
        pytest.param(a_link, "is a symbolic link. Replace it by", id="link"),
        pytest.param(a_link_to_a_disk_that_is_not_there, "is a symbolic link. Replace it by", id="dangling link"),
        pytest.param(a_folder, "no such data set", id="folder"),
        pytest.param(not_readable_now(sqlite3.SQLITE_IOERR_READ), UNWRITABLE, id="I/O error"),
        pytest.param(not_readable_now(sqlite3.SQLITE_CANTOPEN), UNWRITABLE, id="no right"),
        pytest.param(analyzed, "is consistent", id="analyzed"),
    ],
)
def test_a_file_of_which_nobody_knows_that_it_is_damaged_keeps_its_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: Callable[[Path, pytest.MonkeyPatch], None],
    sentence: str,
) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy, path = backup(ledger, dataset_id, tmp_path / "copy"), ledger.path(dataset_id)
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    changed(path, monkeypatch)
    before = path.lstat()
    with pytest.raises(LedgerError, match=sentence):
        restore(ledger, copy, STEWARD)
    after = path.lstat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not list(ledger.folder.glob("*.replaced*")) and not (ledger.folder / RESTORES).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "DROP TRIGGER entries_never_change; UPDATE entries SET first_nano = 1 WHERE kind = 'stored'",
        "DROP TRIGGER entries_never_go; DELETE FROM entries WHERE seq = 1",
        "INSERT INTO entries SELECT seq + 1, 'access', 0, 0, 0, CAST(x'ff' AS TEXT), 's', digest, 'd' FROM entries"
        " ORDER BY seq DESC LIMIT 1",
        "DROP TABLE payloads",
    ],
)
def test_a_file_whose_chain_fails_is_replaced(tmp_path: Path, sql: str) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    copy, path = backup(ledger, dataset_id, tmp_path / "copy"), ledger.path(dataset_id)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)
    contents = path.read_bytes()
    kept = restore(ledger, copy, STEWARD)
    assert kept is not None and kept.read_bytes() == contents
    assert copies_put_back(ledger, dataset_id, 2) == 1


def forged_copies(number: int) -> str:
    """SQL that writes so many entries about copies put back, which no program has written."""
    body = '{"at":"2026-01-01","by":"Ada","machine_failed":[],"outcomes":0}'
    return "".join(
        "INSERT INTO entries VALUES ((SELECT max(seq) + 1 FROM entries), 'restored', 0, 0, 0, "
        f"'{body}', '{place:032x}', '{place:064x}', '{place:064x}');"
        for place in range(number)
    )


def test_copies_that_a_forged_file_tells_of_take_work_in_proportion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each entry waited for the disk and read all outcomes again: 1,500 of them took nine seconds."""
    waits, calls = dict[int, int](), dict[int, int]()
    usual, count = os.fsync, {"waits": 0, "calls": 0}

    def noted(descriptor: int) -> None:
        count["waits"] += 1
        usual(descriptor)

    def called(*_: Any) -> None:
        count["calls"] += 1

    monkeypatch.setattr(os, "fsync", noted)
    for number in (20, 40, 80):
        ledger, dataset_id = registered(tmp_path / f"ledger {number}")
        copy = backup(ledger, dataset_id, tmp_path / f"copy {number}")
        forge(ledger.path(dataset_id), forged_copies(number))
        count |= {"waits": 0, "calls": 0}
        sys.setprofile(called)
        try:
            restore(ledger, copy, STEWARD)
        finally:
            sys.setprofile(None)
        waits[number], calls[number] = count["waits"], count["calls"]
        assert ledger.account(dataset_id).copies_put_back == number + 1
    assert waits[20] == waits[40] == waits[80]
    assert calls[80] - calls[40] < 2.1 * (calls[40] - calls[20])


def test_no_more_copies_are_taken_over_than_anybody_puts_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "MAX_TOLD", 7)
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    access = forged_copies(9) + forged_copies(9).replace("'restored'", "'access'").replace(
        '"machine_failed":[],"outcomes":0', '"what":"rows"'
    )
    forge(ledger.path(dataset_id), access)
    restore(ledger, copy, STEWARD)
    kinds = [line["kind"] for line in ledger.lines(dataset_id)]
    assert (kinds.count("restored"), kinds.count("access")) == (7 + 1, 7)
    assert check(ledger, dataset_id) == []
