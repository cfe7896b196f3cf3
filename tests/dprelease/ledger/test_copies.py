"""Copies put back, and ledgers of an older schema, as the program of that schema wrote them."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dprelease.certificate import against, certificate, verify
from dprelease.commands import main
from dprelease.downloads import CERTIFICATE, downloads_of
from dprelease.ledger.checks import check
from dprelease.ledger.connection import RESTORES, connected
from dprelease.ledger.copies import backup, migrate, restore
from dprelease.ledger.records import UNWRITABLE, LedgerError, Refused, Stored
from dprelease.ledger.schema import KEYED, VERSION
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.plan.versions import OLDER, changes
from dprelease.release import SAW_TRUE_VALUES, release
from tests.kit.ledgers import ANALYST, SCHEMA_1, STEWARD, few_rows, of_schema_1, plan_of, registered, request_of


@pytest.fixture
def old(tmp_path: Path) -> tuple[Ledger, str]:
    """A ledger that schema 1 wrote: seven attempts, each ended in another way, the last not at all."""
    return of_schema_1(tmp_path / "ledger")


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row that schema 1 knows; of charges all but what schema 2 added."""
    with closing(sqlite3.connect(path)) as connection:
        names = {table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")] for table in KEYED}
        told = {t: ", ".join(n for n in columns if n != "record") for t, columns in names.items()}
        return {
            table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
            for table, columns in (told | {"datasets": "*", "draws": "*"}).items()
        }


def test_an_older_schema_is_refused_with_the_way_on(old: tuple[Ledger, str]) -> None:
    ledger, dataset_id = old
    sentence = "The ledger has schema 1: `run.py ledger migrate` makes it schema 2 and keeps the old file."
    assert check(ledger, dataset_id) == [sentence]
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Refused(sentence=sentence)


def test_a_migrated_ledger_has_all_that_the_old_one_had_and_keeps_it(old: tuple[Ledger, str]) -> None:
    ledger, dataset_id = old
    before, contents = rows_of(ledger.path(dataset_id)), ledger.path(dataset_id).read_bytes()
    with pytest.raises(LedgerError, match="Only the data's steward"):
        migrate(ledger, dataset_id, ANALYST)
    kept = migrate(ledger, dataset_id, STEWARD)
    assert kept is not None and kept.read_bytes() == contents
    assert check(ledger, dataset_id) == [] and migrate(ledger, dataset_id, STEWARD) is None
    after = rows_of(ledger.path(dataset_id))
    [told] = after["events"][len(before["events"]) :]
    assert told[1] == f"migrated from schema 1 to {VERSION}"
    assert after | {"events": before["events"]} == before
    left = sorted(path.name for path in ledger.folder.iterdir())
    assert left == sorted(["fingerprint.key", f"{dataset_id}.sqlite", f"{dataset_id}.turn", kept.name])
    assert all(stat.S_IMODE((ledger.folder / name).stat().st_mode) & 0o077 == 0 for name in left)


def test_what_was_drawn_and_begun_before_is_booked(old: tuple[Ledger, str]) -> None:
    ledger, dataset_id = old
    migrate(ledger, dataset_id, STEWARD)
    account = ledger.account(dataset_id)
    assert account.spent.first == 3 * 10**9 and account.machine_failures == 1 and len(account.begun) == 1
    first = ledger.stored(dataset_id)[0]
    assert first.published
    assert set(downloads_of(first)) == {*first.files, CERTIFICATE}, "its request has words of then"
    assert changes(first, plan_of().joint_request()) == (OLDER,)
    came = release(ledger, dataset_id, request_of(draw=8), few_rows(), ANALYST)
    assert isinstance(came, Stored) and verify(certificate(came), came.files) == [] == check(ledger, dataset_id)
    assert ledger.account(dataset_id).spent.first == 35 * 10**8


def test_a_certificate_of_the_old_program_is_not_verified_but_the_ledger_is_held_against_it(
    old: tuple[Ledger, str],
) -> None:
    ledger, dataset_id = old
    migrate(ledger, dataset_id, STEWARD)
    certified = (SCHEMA_1 / "certificate.json").read_bytes()
    assert verify(certified, {"counts.csv": (SCHEMA_1 / "counts.csv").read_bytes()}) == [
        "The certificate is of the format “dpscope-certificate/1”; only dpscope-certificate/3 is verified."
    ]
    assert against(certified, ledger.lines(dataset_id)) == []


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TRIGGER charges_never_change; UPDATE charges SET first_nano = 1 WHERE entry = 1",
        "DROP TRIGGER draws_never_go; DELETE FROM draws",
        "DROP TABLE events",
    ],
)
def test_a_ledger_that_does_not_add_up_is_not_migrated(old: tuple[Ledger, str], sql: str) -> None:
    ledger, dataset_id = old
    with closing(sqlite3.connect(ledger.path(dataset_id))) as connection:
        connection.executescript(sql)
    contents = ledger.path(dataset_id).read_bytes()
    with pytest.raises(LedgerError, match="Restore a backup"):
        migrate(ledger, dataset_id, STEWARD)
    assert ledger.path(dataset_id).read_bytes() == contents


def test_whoever_waits_for_a_file_that_is_replaced_writes_in_neither(old: tuple[Ledger, str]) -> None:
    ledger, dataset_id = old
    with connected(ledger.path(dataset_id), older=True) as waiting:
        kept = migrate(ledger, dataset_id, STEWARD)
        assert kept is not None
        contents = kept.read_bytes()
        waiting.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            waiting.execute("INSERT INTO events VALUES (2, 'lost', 'Eve', 'day')")
        waiting.execute("ROLLBACK")
    assert kept.read_bytes() == contents and check(ledger, dataset_id) == []


def test_the_command_migrates_every_data_set(old: tuple[Ledger, str], capsys: pytest.CaptureFixture[str]) -> None:
    ledger, _ = old
    where = ["--ledger", str(ledger.folder)]
    assert main(["ledger", "check", *where]) == 1 and "ledger migrate" in capsys.readouterr().err
    assert main(["ledger", "migrate", *where]) == 0 and "the old file is" in capsys.readouterr().out
    assert main(["ledger", "migrate", *where]) == 0 and "nothing to do" in capsys.readouterr().out
    assert main(["ledger", "check", *where, "--against", str(SCHEMA_1 / "certificate.json")]) == 0


@pytest.mark.slow
def test_a_copy_takes_the_place_of_a_damaged_or_lost_file_and_certificates_say_so(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    first = release(ledger, dataset_id, request_of(), few_rows(), ANALYST)
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    second = release(ledger, dataset_id, request_of(epsilon=0.25, draw=2), few_rows(), ANALYST)
    assert isinstance(first, Stored) and isinstance(second, Stored)
    with pytest.raises(LedgerError, match="adds up as it is"):
        restore(ledger, copy, STEWARD)
    with pytest.raises(LedgerError, match="Only the data's steward"):
        restore(ledger, copy, ANALYST)
    path = ledger.path(dataset_id)
    path.write_bytes(damaged := b"\xa5" * 8192)
    (path.parent / f"{path.name}-journal").write_bytes(path.read_bytes())  # must not meet the copy
    kept = restore(ledger, copy, STEWARD)
    assert kept is not None and kept.read_bytes() == damaged and check(ledger, dataset_id) == []
    assert ledger.stored(dataset_id) == [first]
    assert "it is an old copy" in against(certificate(second), ledger.lines(dataset_id))[0]
    third = release(ledger, dataset_id, request_of(draw=3), few_rows(), ANALYST)
    assert isinstance(third, Stored) and verify(certificate(third), third.files) == []
    assert certificate(third)["guarantee"]["whole_data_set"]["copies_put_back"] == 1
    assert "not genuine" in against(certificate(second), ledger.lines(dataset_id))[0]
    path.unlink()
    assert restore(ledger, copy, STEWARD) is None and ledger.account(dataset_id).spent == Price.allowed(epsilon=0.5)


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


def copies_put_back(ledger: Ledger, dataset_id: str, draw: int) -> int:
    """As the next certificate says it."""
    came = release(ledger, dataset_id, request_of(epsilon=0.25, draw=draw), few_rows(), ANALYST)
    assert isinstance(came, Stored) and check(ledger, dataset_id) == []
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
    ledger.tell(dataset_id, SAW_TRUE_VALUES, STEWARD)
    shutil.rmtree(ledger.folder / RESTORES)  # as a ledger that an older program put back
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TRIGGER draws_never_go")
    restore(ledger, copy, STEWARD)
    assert copies_put_back(ledger, dataset_id, 1) == 2
    [came] = ledger.stored(dataset_id)
    assert certificate(came)["guarantee"]["steward_saw_true_values"] is True


def of_a_newer_schema(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")


def of_an_older_schema(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION - 1}")


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
        pytest.param(of_an_older_schema, "ledger migrate", id="older schema"),
        pytest.param(a_link, "is a link to another", id="link"),
        pytest.param(a_link_to_a_disk_that_is_not_there, "is a link to another", id="dangling link"),
        pytest.param(a_folder, "no such data set", id="folder"),
        pytest.param(not_readable_now(sqlite3.SQLITE_IOERR_READ), UNWRITABLE, id="I/O error"),
        pytest.param(not_readable_now(sqlite3.SQLITE_CANTOPEN), UNWRITABLE, id="no right"),
        pytest.param(analyzed, "adds up as it is", id="analyzed"),
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
        "DROP TRIGGER charges_never_change; UPDATE charges SET first_nano = 1 WHERE entry = 1",
        "DROP TRIGGER datasets_never_go; DELETE FROM datasets",
        "INSERT INTO events VALUES (1, CAST(x'ff' AS TEXT), 'Eve', 'day')",
        "DROP TABLE events",
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
