"""What plain SQL cannot do to a ledger in a database, and that what its owner can do is noticed."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dprelease.ledger.checks import check
from dprelease.ledger.records import LedgerError, Refused, Stored
from dprelease.ledger.schema import NAMES
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores.note import note_in
from dprelease.ledger.stores.selection import ADDRESS
from dprelease.release import release
from tests.dprelease.ledger.database.conftest import new_database
from tests.dprelease.ledger.test_triggers import FORGERIES, JOURNAL, UNSEEN, following
from tests.kit.ledgers import STEWARD, few_rows, registered, request_of

pytestmark = pytest.mark.engines
Held = tuple[Ledger, str]


@pytest.fixture(scope="module")
def template(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Held]]:
    """A database whose ledger has two releases, one published; ε 1 and δ 10⁻⁶ are left."""
    with pytest.MonkeyPatch.context() as patch, new_database(postgres) as address:
        patch.setenv(ADDRESS, address)
        ledger, dataset_id = registered(tmp_path_factory.mktemp("ledger"), epsilon=2.0, delta=1e-6)
        for draw in (1, 2):
            assert isinstance(release(ledger, dataset_id, request_of(draw=draw), few_rows(), STEWARD), Stored)
        ledger.publish(dataset_id, 1, STEWARD)
        ledger.record_access(dataset_id, "something", STEWARD)
        assert check(ledger, dataset_id) == []
        yield address.rpartition("dbname=")[2], (ledger, dataset_id)


@pytest.fixture
def address(postgres: str, template: tuple[str, Held]) -> Iterator[str]:
    """Return the address of a copy of the template database."""
    with new_database(postgres, template=template[0]) as address:
        yield address


@pytest.fixture
def held(template: tuple[str, Held]) -> Held:
    """The ledger in it."""
    folder, dataset_id = template[1][0].folder, template[1][1]
    return Ledger(folder), dataset_id


@pytest.mark.parametrize("table", NAMES)
@pytest.mark.parametrize("sql", ["DELETE FROM {parent}", "UPDATE {parent} SET digest = digest"])
def test_a_table_made_the_parent_of_a_ledger_s_changes_nothing_in_it(plain: Any, table: str, sql: str) -> None:
    """Triggers of statements do not run where a statement names the parent; those of rows do."""
    before = plain.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
    plain.execute(f"CREATE TABLE public.parent (LIKE {table}); ALTER TABLE {table} INHERIT public.parent")
    with pytest.raises(importlib.import_module("psycopg").errors.IntegrityConstraintViolation):
        plain.execute(sql.format(parent="public.parent"))
    plain.execute(f"ALTER TABLE {table} NO INHERIT public.parent")
    assert before and plain.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() == before


def test_a_function_that_looks_in_another_schema_is_noticed(plain: Any, held: Held) -> None:
    for other in ("a_ledger", "public"):
        plain.execute(f"ALTER FUNCTION within_budget() SET search_path = {other}, pg_temp")
        assert check(*held) == ["The ledger's tables or triggers were changed. Restore a backup."]


@pytest.fixture
def plain(address: str, held: Held) -> Iterator[Any]:
    """What any program that speaks SQL opens."""
    with session(address, held) as connection:
        yield connection


def session(address: str, held: Held) -> Any:
    """A session of the data set's schema."""
    ledger, dataset_id = held
    note, _ = note_in(ledger.folder) or ("", "")
    connection = importlib.import_module("psycopg").connect(address, autocommit=True)
    connection.execute(f"SET search_path = {note}_{dataset_id}")
    return connection


def refused() -> Any:
    return pytest.raises(importlib.import_module("psycopg").IntegrityError)


@pytest.mark.parametrize("table", NAMES)
def test_nothing_is_changed_removed_or_replaced(plain: Any, table: str) -> None:
    before = plain.execute(f"SELECT * FROM {table}").fetchall()
    assert before, "an empty table proves nothing"
    first = plain.execute(f"SELECT * FROM {table}").description[0].name
    row = f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1"
    for sql in (
        f"UPDATE {table} SET {first} = {first}",
        f"DELETE FROM {table}",
        f"TRUNCATE {table} CASCADE",
        row,
        f"{row} ON CONFLICT DO NOTHING",
        f"MERGE INTO {table} t USING {table} s ON t.{first} = s.{first} WHEN MATCHED THEN DELETE",
        f"SET session_replication_role = replica; DELETE FROM {table}",
    ):
        with refused():
            plain.execute(sql)
    assert plain.execute(f"SELECT * FROM {table}").fetchall() == before


def test_overspending_is_refused_to_the_last_unit(plain: Any) -> None:
    for first, delta in ((10**9 + 1, 0), (0, 10**12 + 1), (2**63 - 1, 0), (-1, 0), (0, -1)):
        with refused():
            plain.execute(following("attempt", first=first, delta=delta))
    plain.execute(following("attempt", first=10**9, delta=10**12))  # all that is left
    with refused():
        plain.execute(following("attempt", first=1, delta=0))


def test_a_table_of_the_session_is_not_asked(plain: Any, held: Held, address: str) -> None:
    schema = plain.execute("SELECT current_schema()").fetchone()[0]
    plain.execute("CREATE TEMP TABLE allowed AS SELECT 9e17::bigint AS first_nano, 0 AS delta_atto")
    for path in (schema, f"pg_temp, {schema}"):
        plain.execute(f"SET search_path = {path}")
        with refused():
            plain.execute(following("attempt", first=10**9 + 1, delta=0))
    plain.execute(following("attempt", first=10**9, delta=0))


@pytest.mark.parametrize("first", [0, 1, 4 * 10**8, 6 * 10**8])
def test_a_charge_is_that_of_its_attempt(plain: Any, first: int) -> None:
    plain.execute(following("attempt", first=5 * 10**8))
    for about, charge in ((10, first), (6, 5 * 10**8), (0, 5 * 10**8)):
        with refused():
            plain.execute(following("stored", about=about, first=charge, digest="e"))
    plain.execute(following("stored", about=10, first=5 * 10**8, digest="e"))


def test_a_budget_below_what_is_spent_is_refused(plain: Any) -> None:
    with refused():
        plain.execute(following("budget", first=10**9 - 1))
    plain.execute(following("budget", first=10**9))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (following("attempt", first=10**9, delta=0), following("attempt", first=10**9, delta=0)),
        (following("attempt", first=10**9, delta=0), following("budget", first=10**9)),
        (following("budget", first=10**9), following("attempt", first=10**9, delta=0)),
    ],
)
def test_two_writers_at_once_do_not_see_the_same_budget(address: str, held: Held, one: str, other: str) -> None:
    first, second = session(address, held), session(address, held)
    came: list[bool] = []

    def late() -> None:
        with refused():
            second.execute(other)
        came.append(True)

    with first, second:
        first.execute("BEGIN")
        first.execute(one)
        waits = threading.Thread(target=late)
        waits.start()
        time.sleep(0.5)
        assert not came, "it waits"
        first.execute("COMMIT")
        waits.join(30)
    assert came == [True]


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_old_picture_is_no_ground_to_spend(plain: Any, level: str) -> None:
    plain.execute(f"BEGIN ISOLATION LEVEL {level}")
    with refused():
        plain.execute(following("attempt", first=1, delta=0))
    plain.execute("ROLLBACK")


def forge(address: str, held: Held, script: str) -> None:
    """Whatever its owner can do with the triggers off; they are put back, so that nothing but the rows tells."""
    with session(address, held) as connection:
        for table in NAMES:
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        connection.execute(script.replace("x'00'", "'\\x00'"))
        for table in NAMES:
            connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")
        ours = "SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE NOT tgisinternal"
        for table, trigger in connection.execute(ours).fetchall():
            connection.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger}")


def test_forging_nothing_is_not_found(address: str, held: Held) -> None:
    forge(address, held, "SELECT 1")
    assert check(*held) == []


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_forged_without_the_triggers_is_found(address: str, held: Held, name: str) -> None:
    forge(address, held, FORGERIES[name])
    assert bool(check(*held)) == (name not in UNSEEN)


@pytest.mark.parametrize("script", JOURNAL)
def test_whatever_was_written_is_kept_from_change_and_the_place_is_named(address: str, held: Held, script: str) -> None:
    forge(address, held, script)
    wrong = check(*held)
    assert any(JOURNAL[script] in sentence for sentence in wrong), wrong
    came = release(*held, request_of(draw=3), few_rows(), STEWARD)
    assert isinstance(came, Refused) and came.sentence == wrong[0]
    with pytest.raises(LedgerError, match="Restore a backup"):
        held[0].record_access(held[1], "something", STEWARD)


SHAPES = (
    "DROP TRIGGER within_budget ON entries",
    "ALTER TABLE entries DISABLE TRIGGER within_budget",
    "ALTER TABLE entries ENABLE TRIGGER within_budget",  # not where a session calls itself a replica
    "ALTER TABLE payloads DISABLE TRIGGER ALL",
    "CREATE OR REPLACE FUNCTION within_budget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "ALTER FUNCTION within_budget() RESET search_path",
    "CREATE OR REPLACE VIEW spent AS SELECT 0::bigint AS first_nano, 0::bigint AS delta_atto",
    "CREATE TABLE child () INHERITS (payloads)",
    "CREATE TABLE public.child () INHERITS (entries)",
    "CREATE TABLE public.parent (); ALTER TABLE payloads INHERIT public.parent",
    "CREATE TYPE more AS ENUM ('one')",
    "CREATE RULE quiet AS ON INSERT TO entries DO INSTEAD NOTHING",
    "ALTER TABLE entries ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY few ON entries USING (seq > 1)",
    "ALTER TABLE entries DROP CONSTRAINT entries_pkey CASCADE",
    "ALTER TABLE entries DROP CONSTRAINT entries_first_nano_check",
    "ALTER TABLE payloads SET UNLOGGED",
    "ALTER TABLE payloads ADD COLUMN more text",
    "ALTER TABLE entries ALTER COLUMN body DROP NOT NULL",
    "ALTER TABLE entries ALTER COLUMN salt SET DEFAULT 'salt'",
    "CREATE FUNCTION lower(text) RETURNS text LANGUAGE sql AS 'SELECT 1'",
    "CREATE TRIGGER more BEFORE INSERT ON payloads FOR EACH ROW EXECUTE FUNCTION never()",
)


@pytest.mark.parametrize("change", SHAPES)
def test_whatever_is_changed_about_tables_or_triggers_is_found(plain: Any, held: Held, change: str) -> None:
    plain.execute(change)
    assert any("tables or triggers were changed" in sentence for sentence in check(*held))
    assert isinstance(release(*held, request_of(draw=3), few_rows(), STEWARD), Refused)


def test_an_entry_that_plain_sql_wrote_closes_the_page(plain: Any, held: Held) -> None:
    plain.execute(following("access"))
    assert check(*held) == ["The ledger is inconsistent at line 10: its contents were changed. Restore a backup."]


def test_tables_that_are_gone_are_a_sentence(plain: Any, held: Held, tmp_path: Path) -> None:
    plain.execute("DROP TABLE entries CASCADE")
    wrong = check(*held)
    assert wrong and all("Restore a backup." in sentence for sentence in wrong)
    plain.execute("COMMENT ON SCHEMA " + plain.execute("SELECT current_schema()").fetchone()[0] + " IS 'mine'")
    assert check(*held) == ["The ledger has an unknown schema. Use the program that wrote it."]
