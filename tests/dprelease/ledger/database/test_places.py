"""Which of both a folder's ledger is in: never begun anew by a variable that is lost, or beside another key."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.core import Neighbours
from dprelease.commands import main
from dprelease.ledger.checks import check
from dprelease.ledger.copies import backup, restore
from dprelease.ledger.fingerprint import KEY_FILE, key_of
from dprelease.ledger.records import LedgerBusy, LedgerError, Registration, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores.selection import ADDRESS
from dprelease.ledger.units import Price
from dprelease.release import release
from tests.dprelease.ledger.database.conftest import new_database
from tests.kit.ledgers import STEWARD, few_rows, registered, request_of, stored_release

pytestmark = pytest.mark.engines
PROGRAMS = Path(os.environ.get("POSTGRES_PROGRAMS", ""))


def test_a_folder_holds_the_key_and_no_file_of_a_data_set(tmp_path: Path, address: str) -> None:
    ledger = Ledger.open(tmp_path / "ledger")
    assert ledger.dataset_ids() == []
    assert sorted(path.name for path in ledger.folder.iterdir()) == [KEY_FILE, "postgres-dpscope"]
    _, dataset_id = registered(tmp_path / "ledger")
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), STEWARD), Stored)
    assert sorted(path.name for path in ledger.folder.iterdir()) == [KEY_FILE, "postgres-dpscope"]
    before = ledger.store.changed()
    assert ledger.store.changed() == before
    ledger.publish(dataset_id, 1, STEWARD)
    assert ledger.store.changed() != before


def test_without_the_variable_it_is_not_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    monkeypatch.delenv(ADDRESS)
    for ask in (lambda: Ledger.open(tmp_path), lambda: registered(tmp_path), Ledger(tmp_path).dataset_ids):
        with pytest.raises(LedgerError, match="This ledger is in a database"):
            ask()
    assert "This ledger is in a database" in check(Ledger(tmp_path), dataset_id)[0]
    assert check(ledger, dataset_id) == []


def test_a_folder_that_was_there_before_is_noted_before_anything_is_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_of(tmp_path)  # as where the folder was mounted, or a process died between key and note
    asked = Registration(name="ages", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=20)
    Ledger(tmp_path).register(asked, few_rows(), Price.allowed(epsilon=1.0, delta=0.0), STEWARD)
    monkeypatch.delenv(ADDRESS)
    with pytest.raises(LedgerError, match="This ledger is in a database"):
        Ledger(tmp_path).dataset_ids()


def test_in_another_or_an_emptied_database_nothing_is_begun_anew(
    tmp_path: Path, postgres: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path / "one")
    with new_database(postgres) as other:
        monkeypatch.setenv(ADDRESS, other)
        for _ in range(2):
            with pytest.raises(LedgerError, match="not the one that its folder names"):
                registered(tmp_path / "one")
        registered(tmp_path / "two")
        with pytest.raises(LedgerError, match="not the one that its folder names"):
            registered(tmp_path / "one")
    monkeypatch.setenv(ADDRESS, address)
    note = tmp_path / "one" / "postgres-dpscope"
    name, _, told = note.read_text().partition(" ")
    note.write_text(name)  # as where a process died before the note had its id
    registered(tmp_path / "one", rows=few_rows((1.0,)))
    assert note.read_text() == f"{name} {told}" and len(told) == 32
    assert len(ledger.dataset_ids()) == 2 and check(ledger, dataset_id) == []


@pytest.mark.parametrize("name", ["postgres-backup", "postgres-dpscope.old"])
def test_a_second_note_is_refused_and_renames_no_ledger(tmp_path: Path, name: str) -> None:
    ledger, _ = registered(tmp_path)
    (tmp_path / name).mkdir()
    for ask in (lambda: Ledger.open(tmp_path), Ledger(tmp_path).dataset_ids):
        with pytest.raises(LedgerError, match="only its note postgres-dpscope may have"):
            ask()
    assert len(ledger.dataset_ids()) == 1


def test_a_folder_of_files_is_not_taken_for_one_beside_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.delenv(ADDRESS)
    registered(tmp_path)
    monkeypatch.setenv(ADDRESS, address)
    with pytest.raises(LedgerError, match="contains a ledger in files"):
        Ledger.open(tmp_path)


def test_another_key_registers_nothing(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        Ledger.open(tmp_path / folder)
    ledger, dataset_id = registered(tmp_path / "one")
    assert ledger.store.dataset_ids() == Ledger(tmp_path / "two").dataset_ids() == [dataset_id]
    with pytest.raises(LedgerError, match="The key of the ledger does not match"):
        registered(tmp_path / "two")
    (tmp_path / "one" / KEY_FILE).unlink()
    with pytest.raises(LedgerError, match="The key of the ledger is missing"):
        registered(tmp_path / "one", rows=few_rows((1.0,)))
    (tmp_path / "one" / KEY_FILE).write_bytes(bytes(32))
    (tmp_path / "one" / KEY_FILE).chmod(0o600)
    with pytest.raises(LedgerError, match="The key of the ledger does not match"):
        registered(tmp_path / "one", rows=few_rows((1.0,)))
    assert ledger.dataset_ids() == [dataset_id]


@pytest.mark.parametrize("name", ["", "..", "0" * 31, "G" * 32, "0" * 32, '"; DROP SCHEMA public; --'])
def test_what_names_no_data_set_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError, match="no such data set"):
        Ledger.open(tmp_path).account(name)


def test_a_turn_is_one_at_a_time_and_given_back(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    with ledger.turn(dataset_id), pytest.raises(LedgerBusy), ledger.turn(dataset_id, patience=0):
        pass
    with ledger.turn(dataset_id, patience=0):
        pass


def test_copies_are_made_by_the_database_s_own_means_and_it_is_said(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    asks: list[Callable[[], object]] = [
        lambda: backup(ledger, dataset_id, tmp_path / "copy"),
        lambda: restore(ledger, tmp_path / f"{dataset_id}.sqlite", STEWARD),
    ]
    for ask in asks:
        with pytest.raises(LedgerError, match=r"with pg_dump --schema="):
            ask()


def test_a_dump_put_into_another_database_adds_up_and_goes_on(
    tmp_path: Path, address: str, postgres: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the README has it."""
    Ledger.open(tmp_path)
    ledger, dataset_id = registered(tmp_path)
    came = stored_release(ledger, dataset_id, by=STEWARD)
    dumped = subprocess.run(
        [PROGRAMS / "pg_dump", "--schema=dpscope*", f"--dbname={address}"], stdout=subprocess.PIPE, check=True
    ).stdout
    with new_database(postgres) as other:
        subprocess.run(
            [PROGRAMS / "psql", "-q", "-v", "ON_ERROR_STOP=1", f"--dbname={other}"],
            input=dumped, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        monkeypatch.setenv(ADDRESS, other)
        assert main(["ledger", "check", "--ledger", str(tmp_path)]) == 0
        assert f"{dataset_id}: the ledger is consistent." in capsys.readouterr().out
        again = Ledger(tmp_path)
        assert release(again, dataset_id, request_of(), few_rows(), STEWARD) == came
        assert isinstance(release(again, dataset_id, request_of(draw=2), few_rows(), STEWARD), Stored)
        assert check(again, dataset_id) == [] and len(again.outcomes(dataset_id)) == 2


def test_a_user_who_may_make_schemas_and_nothing_else_is_enough(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with importlib.import_module("psycopg").connect(address, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS modest")
        connection.execute("CREATE ROLE modest LOGIN")
        connection.execute(f"GRANT CREATE ON DATABASE {address.rpartition('dbname=')[2]} TO modest")
    monkeypatch.setenv(ADDRESS, address.replace("user=tester", "user=modest"))
    ledger, dataset_id = registered(tmp_path)
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), STEWARD), Stored)
    assert check(ledger, dataset_id) == []


def test_without_the_driver_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, _ = registered(tmp_path)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match="install the extra “engines”"):
        ledger.dataset_ids()
