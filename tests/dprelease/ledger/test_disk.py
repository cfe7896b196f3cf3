"""Disks that are full, files that cannot be written, are links, or are exchanged meanwhile; a clock that goes back."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import dprelease.release as releases
from dprelease.certificate import certificate, verify
from dprelease.ledger import connection as opened
from dprelease.ledger.checks import check
from dprelease.ledger.connection import LINKED
from dprelease.ledger.copies import backup, restore
from dprelease.ledger.fingerprint import KEY_FILE, SUFFIX
from dprelease.ledger.records import DIED, UNSURE, UNWRITABLE, Failed, LedgerBusy, LedgerError, Refused, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.ledger.writing import today
from dprelease.release import release
from tests.kit.ledgers import ANALYST, STEWARD, few_rows, registered, request_of, stored_release


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Writing beyond that fails, in the ledger's file and in the journal beside it, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
def test_a_disk_that_is_full_at_any_write_shows_nothing_that_is_not_charged(tmp_path: Path) -> None:
    original, dataset_id = registered(tmp_path / "original")
    for _ in range(5):  # until a page is full between an attempt and its outcome too
        original.record_access(dataset_id, "saw true values", STEWARD)
    assert isinstance(release(original, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    before = original.path(dataset_id).stat().st_size
    seen: Counter[str] = Counter()
    for place, size in enumerate((*range(0, 20_000, 1024), *range(before - 4096, before + 24_576, 1024))):
        shutil.copytree(original.folder, folder := tmp_path / str(place))
        ledger = Ledger(folder)
        with no_file_above(size):
            came = release(ledger, dataset_id, request_of(draw=2), few_rows(), ANALYST)
        found, account = ledger.find(dataset_id, request_of(draw=2).digest), ledger.account(dataset_id)
        assert check(ledger, dataset_id) == []
        match came:
            case Stored():
                assert found == came and not account.begun
            case Refused(sentence=sentence):
                assert sentence == UNWRITABLE and found is None and not account.begun
            case _:
                assert came == Failed(sentence=DIED) and found is None and len(account.begun) == 1
        assert account.spent.epsilon_or_rho == (5 if isinstance(came, Refused) else 10) * 10**8
        again = release(ledger, dataset_id, request_of(draw=2), few_rows(), ANALYST)
        assert isinstance(again, Failed) if isinstance(came, Failed) else isinstance(again, Stored)
        assert check(ledger, dataset_id) == [] and ledger.account(dataset_id).spent.epsilon_or_rho == 10**9
        seen[type(came).__name__] += 1
    assert len(seen) == 3, "full before, while and after"


def test_a_copy_that_found_no_room_is_none(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    with no_file_above(8192), pytest.raises(LedgerError, match="cannot be read or written"):
        backup(ledger, dataset_id, tmp_path / "copy")
    assert not Ledger(tmp_path / "copy").path(dataset_id).exists()
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    assert [each.name for each in copy.parent.iterdir()] == [copy.name]


class Disk:
    """Fails at one commit: before it is done, or after it, as SQLite says where the folder is not on the disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commits, self.at, self.after = 0, 0, False
        disk = self

        class Failing(opened.FileConnection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                disk.commits += sql == "COMMIT"
                if sql != "COMMIT" or disk.commits != disk.at:
                    return super().execute(sql, *values)
                super().execute("COMMIT" if disk.after else "ROLLBACK")
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR_DIR_FSYNC
                raise error

        monkeypatch.setattr(opened, "FileConnection", Failing)


@pytest.mark.parametrize(("at", "after"), [(1, True), (2, True), (3, True), (2, False), (3, False)])
def test_a_commit_that_the_disk_failed_at_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, after: bool
) -> None:
    """It settles, it begins, it draws. That nothing was charged is not said of what was."""
    ledger, dataset_id = registered(tmp_path / "ledger")
    disk = Disk(monkeypatch)
    disk.at, disk.after = at, after
    came = release(ledger, dataset_id, request_of(), few_rows(), ANALYST)
    assert disk.commits >= at and check(ledger, dataset_id) == []
    account, held = ledger.account(dataset_id), at == 3
    if after:
        assert isinstance(came, Stored) and ledger.stored(dataset_id) == [came] and not account.begun
    else:
        assert came == (Failed(sentence=DIED) if held else Refused(sentence=UNWRITABLE))
        assert ledger.stored(dataset_id) == [] and len(account.begun) == held
    assert account.spent.epsilon_or_rho == (5 * 10**8 if held or after else 0)


def test_what_was_charged_and_may_not_be_on_the_disk_is_neither_shown_nor_said_to_be_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    disk = Disk(monkeypatch)
    disk.at, disk.after = 3, True

    def fails(_: Path) -> None:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(opened, "sync_folder", fails)
        assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=UNSURE)
    [stored] = ledger.stored(dataset_id)
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == stored


def exchanged(monkeypatch: pytest.MonkeyPatch, path: Path, copy: Path, *, when: str) -> None:
    """Put a copy in a file's place once a draw has come so far."""
    usual = getattr(releases, when)

    def put(*arguments: Any) -> Any:
        came = usual(*arguments)
        copy.replace(path)
        return came

    monkeypatch.setattr(releases, when, put)


@pytest.mark.parametrize("when", ["draw", "book"])
def test_a_file_exchanged_while_something_is_drawn_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    exchanged(monkeypatch, ledger.path(dataset_id), copy, when=when)
    came = release(ledger, dataset_id, request_of(), few_rows(), ANALYST)
    assert came == Failed(sentence=DIED) and check(ledger, dataset_id) == []
    assert ledger.find(dataset_id, request_of().digest) is None, "what is not in the ledger is not shown"


def test_a_file_written_over_while_something_is_drawn_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    older = ledger.path(dataset_id).read_bytes()
    usual = releases.draw

    def over(*arguments: Any) -> Any:
        came = usual(*arguments)
        number = os.open(ledger.path(dataset_id), os.O_WRONLY)
        os.pwrite(number, older, 0)  # and never closed: that would drop SQLite's locks
        return came

    with monkeypatch.context() as patch:
        patch.setattr(releases, "draw", over)
        assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=DIED)
    assert ledger.stored(dataset_id) == [] == check(ledger, dataset_id)


def test_a_link_to_a_ledger_s_file_is_refused(tmp_path: Path) -> None:
    """Beside each name there would be another turn: two could draw at once."""
    ledger, dataset_id = registered(tmp_path / "ledger")
    other = Ledger(tmp_path / "other")
    other.folder.mkdir(mode=0o700)
    shutil.copy(ledger.folder / KEY_FILE, other.folder)
    other.path(dataset_id).symlink_to(ledger.path(dataset_id))
    came = release(other, dataset_id, request_of(), few_rows(), ANALYST)
    assert isinstance(came, Refused) and "is a symbolic link" in came.sentence
    assert check(other, dataset_id) == [came.sentence] and ledger.account(dataset_id).spent.epsilon_or_rho == 0
    (tmp_path / "again").symlink_to(ledger.folder)  # one folder by two names has one turn
    with ledger.turn(dataset_id), pytest.raises(LedgerBusy), Ledger(tmp_path / "again").turn(dataset_id, patience=0.05):
        pass


def test_a_second_name_of_a_ledger_s_file_is_refused_and_one_that_a_killed_exchange_left_is_not(tmp_path: Path) -> None:
    """The same with a hard link, whose other name may be anywhere."""
    ledger, dataset_id = registered(tmp_path / "ledger")
    path = ledger.path(dataset_id)
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    for second in (tmp_path / f"elsewhere{SUFFIX}", ledger.folder / f"{'0' * 32}{SUFFIX}"):
        os.link(path, second)
        came = release(ledger, dataset_id, request_of(), few_rows(), ANALYST)
        assert came == Refused(sentence=LINKED) and "another release could run at the same time" in LINKED
        with pytest.raises(LedgerError, match="second name"):
            ledger.publish(dataset_id, 1, STEWARD)
        with pytest.raises(LedgerError, match="second name"):
            restore(ledger, copy, STEWARD)
        second.unlink()
    os.link(path, path.with_suffix(".replaced"))
    os.link(copy, tmp_path / "a copy that a backup program keeps by links")
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    path.write_bytes(b"damaged")
    assert restore(ledger, copy, STEWARD) and check(ledger, dataset_id) == [] and path.stat().st_nlink == 1


def test_nothing_depends_on_the_clock_going_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    for draw, day in enumerate(("2130-01-01", today()), 1):  # from the day of registration on
        monkeypatch.setattr("dprelease.ledger.store.today", lambda day=day: day)
        stored = stored_release(ledger, dataset_id, request_of(draw=draw))
        assert verify(certificate(stored), stored.files) == []
        assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    assert check(ledger, dataset_id) == [] and ledger.account(dataset_id).spent == Price.allowed(epsilon=1.0)
