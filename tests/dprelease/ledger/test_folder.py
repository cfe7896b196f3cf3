"""The folder of a ledger: who may read it, its key, copies, and what is no ledger."""

from __future__ import annotations

import hmac
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dpcore.data.reading.tables import packed_row, read_table
from dprelease.ledger.checks import check
from dprelease.ledger.connection import OPEN_FOLDER, turn
from dprelease.ledger.copies import backup
from dprelease.ledger.fingerprint import KEY_FILE, OPEN_KEY, fingerprint, key_of
from dprelease.ledger.records import LedgerBusy, LedgerError, LedgerNotPrivate, Refused, Stored
from dprelease.ledger.schema import CHECKS, NAMES, VERSION
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores.postgres_schema import script
from dprelease.ledger.stores.selection import ADDRESS
from dprelease.ledger.units import Price
from dprelease.release import release
from tests import ROOT
from tests.kit.ledgers import ANALYST, STEWARD, few_rows, registered, request_of

KEY = bytes(32)


def test_only_its_user_may_read_it(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    files = list(ledger.folder.iterdir())
    assert len(files) == 4
    for path in (ledger.folder, *files):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_copy_adds_up_and_leaves_the_key_behind(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    path = backup(ledger, dataset_id, tmp_path / "copy")
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert Ledger(path.parent).stored(dataset_id) == ledger.stored(dataset_id)
    with pytest.raises(LedgerError, match=r"a copy already\. Choose another folder"):
        backup(ledger, dataset_id, tmp_path / "copy")


@pytest.mark.slow
def test_rows_are_told_apart_and_their_order_is_not() -> None:
    def of(text: str, key: bytes = KEY) -> str:
        return fingerprint(read_table(text.encode(), name="rows.csv", header=True), key=key)

    whole = of("age,job\n1,a\n2,b\n2,b\n")
    assert whole == of("age,job\n2,b\n1,a\n2,b\n") == of("job,age\na,1\nb,2\nb,2\n")
    others = ["age,job\n1,a\n2,b\n", "age,job\n1,a\n2,b\n2,c\n", "age,work\n1,a\n2,b\n2,b\n", "age,job\n1,a\n2,b\n2,\n"]
    others += ["age,job\n1,b\n2,a\n2,b\n", "age,job\n11,\n2,b\n2,b\n"]
    assert of("age,job\n1,?\n") == of("age,job\n1,\n") != of("age,job\n1,a\n"), "one budget for both"
    assert len({whole, of("age,job\n1,a\n2,b\n2,b\n", bytes([1]) * 32), *map(of, others)}) == 2 + len(others)


def test_a_fingerprint_is_the_one_that_ledgers_hold_already() -> None:
    """Compare the fingerprint with its definition, row by row, on long, unusual and missing texts."""
    rows = [("1", "Ünï"), ("", "x,y;z"), ("-1", "?"), ("7" * 300, "日本")]
    text = "a,b\n" + "\n".join(f'{a},"{b}"' for a, b in rows) + "\n"
    told = [tuple(each or "?" for each in row) for row in rows]
    total = sum(int.from_bytes(hmac.digest(KEY, b"row" + packed_row(row), "sha256")) for row in told) % 2**256
    whole = hmac.digest(KEY, b"rows" + total.to_bytes(32) + packed_row(("a", "b")), "sha256").hex()
    assert fingerprint(read_table(text.encode(), name="rows.csv", header=True), key=KEY) == whole
    assert packed_row(("ab", "é")) == b"2,2;ab\xc3\xa9"


def test_a_key_is_made_once_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    assert key_of(tmp_path) == key_of(tmp_path) and len(list(tmp_path.iterdir())) == 1
    (tmp_path / KEY_FILE).write_bytes(b"short")
    with pytest.raises(LedgerError, match="key of the ledger is damaged"):
        Ledger.open(tmp_path)


def test_without_its_key_rows_are_not_taken_for_others(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    (tmp_path / KEY_FILE).unlink()
    for asks in (lambda: registered(tmp_path), lambda: ledger.holds(dataset_id, few_rows())):
        with pytest.raises(LedgerError, match="key of the ledger is missing"):
            asks()
    assert check(Ledger.open(tmp_path), dataset_id) == [] and not (tmp_path / KEY_FILE).exists()


TAKES = """
import sys
from pathlib import Path
from dprelease.ledger.connection import OPEN_FOLDER, turn
from dprelease.ledger.records import LedgerBusy
try:
    with turn(Path(sys.argv[1]), patience=0.05):
        print("taken")
except LedgerBusy:
    print("busy")
"""


@pytest.mark.slow
def test_a_turn_is_kept_from_other_processes_whoever_asks_in_this_one(tmp_path: Path) -> None:
    path = tmp_path / "one.turn"

    def another_process() -> str:
        done = subprocess.run([sys.executable, "-c", TAKES, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    with turn(path, patience=1):
        with pytest.raises(LedgerError, match="Another release is running"), turn(path, patience=0.05):
            pass
        assert another_process() == "busy"
    assert another_process() == "taken"
    assert [each.name for each in tmp_path.iterdir()] == ["one.turn"]


def test_a_stranger_s_file_in_the_folder_is_no_data_set(tmp_path: Path) -> None:
    (tmp_path / "notes.sqlite").write_bytes(b"")
    Ledger.open(tmp_path)
    ledger, dataset_id = registered(tmp_path)
    assert ledger.dataset_ids() == [dataset_id]


@pytest.mark.parametrize("name", ["", "..", "a/../b", "0" * 31, "G" * 32, "0" * 32])
def test_what_names_no_data_set_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError, match="no such data set"):
        Ledger.open(tmp_path).account(name)


def test_a_newer_schema_or_another_program_s_file_is_left_alone(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    for pragma, words in ((f"user_version = {VERSION + 1}", "knows schema"), ("application_id = 7", "cannot be read")):
        with closing(sqlite3.connect(ledger.path(dataset_id), isolation_level=None)) as connection:
            connection.execute(f"PRAGMA {pragma}")
        [sentence] = check(ledger, dataset_id)
        assert words in sentence
        with pytest.raises(LedgerError, match=words):
            ledger.record_access(dataset_id, "something", STEWARD)


def test_what_the_ledger_s_own_rules_refuse_is_a_sentence(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path, epsilon=0.5)
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    with pytest.raises(LedgerError, match=r"would become inconsistent\. Nothing was charged or shown\."):
        ledger.begin(dataset_id, request_of(draw=2).document, ledger.account(dataset_id).spent, ANALYST)
    account = ledger.account(dataset_id)
    assert account.spent.epsilon_or_rho == 5 * 10**8 and not account.begun and len(ledger.outcomes(dataset_id)) == 1


def test_what_was_begun_is_begun_again_only_after_the_machine_failed(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    price = Price.allowed(epsilon=0.5, delta=0.0)
    first = ledger.begin(dataset_id, request_of().document, price, STEWARD)
    with pytest.raises(LedgerBusy):
        ledger.begin(dataset_id, request_of().document, price, STEWARD)
    ledger.machine_failed(dataset_id, first.number, STEWARD)
    ledger.begin(dataset_id, request_of().document, price, STEWARD)
    ledger.book_dead_attempts(dataset_id)
    with pytest.raises(LedgerBusy):
        ledger.begin(dataset_id, request_of().document, price, STEWARD)
    assert ledger.account(dataset_id).spent.epsilon_or_rho == price.epsilon_or_rho and check(ledger, dataset_id) == []


def test_a_folder_whose_ledger_is_in_a_database_is_not_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path / "files")
    (tmp_path / "noted").mkdir()
    (tmp_path / "noted" / "postgres-dpscope").touch()
    for ask in (Ledger.open, registered):
        with pytest.raises(LedgerError, match="This ledger is in a database"):
            ask(tmp_path / "noted")
    assert "This ledger is in a database" in check(Ledger(tmp_path / "noted"), dataset_id)[0]
    assert check(Ledger(ledger.folder), dataset_id) == []
    monkeypatch.setenv(ADDRESS, "host=127.0.0.1 port=1")
    with pytest.raises(LedgerError, match="contains a ledger in files"):
        Ledger.open(ledger.folder)


def test_the_ledger_s_password_is_offered_to_no_other_database() -> None:
    """Libpq takes the variable for every address that has none."""
    told = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    assert not [line for line in told.splitlines() if line.strip().startswith("PGPASSWORD")]


def test_what_the_containers_mount_is_there_and_the_ledger_s_folder_is_the_app_s() -> None:
    compose = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    mounted = re.findall(r"- \./([^:]+):", compose)
    assert mounted and all((ROOT / "deploy" / name).is_file() for name in mounted)
    image = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
    folder, (user,) = "/var/lib/dpscope", re.findall(r"^USER (\w+)$", image, re.MULTILINE)
    assert f"- ledger:{folder}\n" in compose and f"DPSCOPE_LEDGER={folder}/" in image
    assert re.search(rf"^RUN install -d -m 700 -o {user} -g {user} {folder}$", image, re.MULTILINE)


def test_every_rule_of_a_file_is_one_of_a_database() -> None:
    told = script("x")
    assert CHECKS.count("CREATE TRIGGER") == told.count("ENABLE ALWAYS") - 2 * len(NAMES) == 3
    assert "raise(" not in told and " IS NOT (" not in told and "STRICT" not in told


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o720, 0o750, 0o755, 0o770, 0o777, 0o1777])
def test_a_folder_that_other_accounts_may_enter_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    ledger.folder.chmod(mode)
    fresh = Ledger(ledger.folder)
    for ask in (fresh.dataset_ids, lambda: Ledger.open(ledger.folder), lambda: key_of(ledger.folder)):
        with pytest.raises(LedgerError) as refused:
            ask()
        assert str(refused.value) == OPEN_FOLDER
    assert release(fresh, dataset_id, request_of(), few_rows(), STEWARD) == Refused(sentence=OPEN_FOLDER)
    assert check(fresh, dataset_id) == [OPEN_FOLDER]
    ledger.folder.chmod(0o700)
    assert isinstance(release(Ledger(ledger.folder), dataset_id, request_of(), few_rows(), STEWARD), Stored)


def test_no_sentence_of_the_ledger_names_the_folder(tmp_path: Path) -> None:
    """An analyst may read it; the command line and the data owner's page add the path."""
    ledger, _ = registered(tmp_path / "ledger")
    ledger.folder.chmod(0o755)
    with pytest.raises(LedgerNotPrivate) as refused:
        Ledger(ledger.folder).dataset_ids()
    assert str(ledger.folder) not in str(refused.value)


def test_an_empty_folder_that_others_may_enter_begins_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o777)
    with pytest.raises(LedgerError, match="chmod 700"):
        Ledger.open(tmp_path / "shared")
    assert not list((tmp_path / "shared").iterdir())


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o602, 0o620, 0o666])
def test_a_key_that_other_accounts_may_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    ledger, dataset_id = registered(tmp_path / "ledger")
    (ledger.folder / KEY_FILE).chmod(mode)
    for ask in (lambda: key_of(ledger.folder), lambda: ledger.holds(dataset_id, few_rows())):
        with pytest.raises(LedgerError) as refused:
            ask()
        assert str(refused.value) == OPEN_KEY
    assert release(ledger, dataset_id, request_of(), few_rows(), STEWARD) == Refused(sentence=OPEN_KEY)
    assert not ledger.outcomes(dataset_id)


def test_another_account_s_folder_is_refused_to_whoever_may_enter_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, _ = registered(tmp_path / "ledger")
    monkeypatch.setattr("os.geteuid", lambda: ledger.folder.stat().st_uid + 1)
    with pytest.raises(LedgerError, match="belong to the account that runs this program"):
        Ledger(ledger.folder).dataset_ids()


def test_the_folder_beside_a_database_holds_the_key_and_is_closed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS, "host=127.0.0.1 port=1")
    tmp_path.chmod(0o755)
    with pytest.raises(LedgerError) as refused:
        Ledger.open(tmp_path)
    assert str(refused.value) == OPEN_FOLDER
