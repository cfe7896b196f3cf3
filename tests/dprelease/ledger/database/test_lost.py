"""A database that goes away: between the draw and its commit, before a commit, and after it without a word."""

from __future__ import annotations

import importlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dprelease.release as releases
from dprelease.ledger.checks import check
from dprelease.ledger.reading import registration_in
from dprelease.ledger.records import DIED, UNSURE, UNWRITABLE, Busy, Failed, LedgerError, LedgerUnsure, Refused, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores import database
from dprelease.ledger.stores.postgres import PostgresConnection
from dprelease.ledger.stores.selection import ADDRESS
from dprelease.release import release
from tests.kit.ledgers import STEWARD, few_rows, registered, request_of, stored_release

pytestmark = pytest.mark.engines
SECRET = "correct-horse"
PRICE = 500_000_000


class Wire:
    """Stands before the database, and cuts the line at a commit: before it is passed on, or before its answer is."""

    def __init__(self, port: int) -> None:
        self.port, self.cut, self.at, self.commits, self.gone, self.pools = port, "", 0, 0, False, False
        self.door = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self.door.accept()
                if self.gone:
                    line.close()
                else:
                    threading.Thread(target=self._carry, args=(line,), daemon=True).start()

    def _carry(self, line: socket.socket) -> None:
        with line, socket.create_connection(("127.0.0.1", self.port)) as behind:
            back = threading.Thread(target=self._answers, args=(behind, line), daemon=True)
            back.start()
            with suppress(OSError):
                while said := line.recv(1 << 16):
                    if b"COMMIT\0" in said:
                        self.commits += 1
                        if self.commits == self.at:
                            self.gone = self.cut.endswith("and stays away")
                            line.shutdown(socket.SHUT_RDWR)
                            if self.cut.startswith("before"):
                                break
                    behind.sendall(said)
            with suppress(OSError):
                behind.shutdown(socket.SHUT_WR)
            back.join()

    def _answers(self, behind: socket.socket, line: socket.socket) -> None:
        """All of them are read, whether somebody still listens or not."""
        with suppress(OSError):
            while told := behind.recv(1 << 16):
                if self.pools:  # the number of the process that serves is one that the pooler made up
                    told = re.sub(rb"K\0\0\0\x0c....", b"K\0\0\0\x0c\0\0\0\1", told, count=1, flags=re.DOTALL)
                with suppress(OSError):
                    line.sendall(told)


@pytest.fixture
def wire(address: str, in_the_database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """The ledger's way to its database."""
    [port] = re.findall(r"port=(\d+)", address)
    wire = Wire(int(port))
    there = address.replace(f"port={port}", f"port={wire.door.getsockname()[1]}")
    monkeypatch.setenv(ADDRESS, f"{there} sslmode=disable gssencmode=disable")
    yield wire
    wire.door.close()


def press(ledger: Ledger, dataset_id: str, draw: int = 1) -> Any:
    return release(ledger, dataset_id, request_of(draw=draw), few_rows(), STEWARD)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_commit_that_nobody_acknowledged_is_looked_up(wire: Wire, tmp_path: Path, at: int) -> None:
    """It settles, it begins, it draws; whichever was done, is known to be done."""
    ledger, dataset_id = registered(tmp_path)
    wire.cut, wire.at = "after", wire.commits + at
    came = press(ledger, dataset_id)
    assert wire.commits > wire.at - 1, "the line was cut"
    assert isinstance(came, Stored) and ledger.stored(dataset_id) == [came] == [press(ledger, dataset_id)]
    assert ledger.account(dataset_id).spent.epsilon_or_rho == PRICE and check(ledger, dataset_id) == []


@pytest.mark.parametrize(("at", "held"), [(2, 0), (3, PRICE)])
def test_a_commit_that_did_not_arrive_is_known_not_to_be_done(wire: Wire, tmp_path: Path, at: int, held: int) -> None:
    ledger, dataset_id = registered(tmp_path)
    wire.cut, wire.at = "before", wire.commits + at
    came = press(ledger, dataset_id)
    assert came == (Failed(sentence=DIED) if held else Refused(sentence=UNWRITABLE))
    assert ledger.account(dataset_id).spent.epsilon_or_rho == held and ledger.outcomes(dataset_id) == []
    again = press(ledger, dataset_id)
    assert again == Failed(sentence=DIED) if held else isinstance(again, Stored)
    assert ledger.account(dataset_id).spent.epsilon_or_rho == PRICE and check(ledger, dataset_id) == []


@pytest.mark.parametrize(("at", "cut"), [(2, "after"), (2, "before"), (3, "after"), (3, "before")])
def test_where_the_database_stays_away_nothing_is_claimed(
    wire: Wire, tmp_path: Path, at: int, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path)
    monkeypatch.setattr(database, "SETTLING", 0.5)
    wire.cut, wire.at = f"{cut} and stays away", wire.commits + at
    came = press(ledger, dataset_id)
    assert came == (Refused(sentence=UNSURE) if at == 2 else Failed(sentence=UNSURE))
    with pytest.raises(LedgerError, match="cannot be read or written"):
        ledger.account(dataset_id)
    wire.gone = False
    again = press(ledger, dataset_id)
    if (at, cut) in ((3, "after"), (2, "before")):
        assert isinstance(again, Stored)
    else:
        assert again == Failed(sentence=DIED)
    assert ledger.account(dataset_id).spent.epsilon_or_rho == PRICE and check(ledger, dataset_id) == []


def test_a_registration_that_nobody_acknowledged_is_looked_up(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.cut, wire.at = "before", 1
    with pytest.raises(LedgerError, match="cannot be read or written"):
        registered(tmp_path)
    assert Ledger(tmp_path).dataset_ids() == []
    wire.cut, wire.at = "after", wire.commits + 1
    ledger, dataset_id = registered(tmp_path)
    assert ledger.dataset_ids() == [dataset_id] and check(ledger, dataset_id) == []
    monkeypatch.setattr(database, "SETTLING", 0.5)
    wire.cut, wire.at = "after and stays away", wire.commits + 1
    with pytest.raises(LedgerUnsure):
        registered(tmp_path, rows=few_rows((1.0,)))
    wire.gone = False
    assert len(ledger.dataset_ids()) == 2


def test_a_machine_that_is_gone_is_noticed_though_something_was_sent(address: str) -> None:
    connection = PostgresConnection(address)
    try:
        told = connection.execute("SHOW tcp_user_timeout").fetchone()
        ours = connection._connection.info.get_parameters()["tcp_user_timeout"]
    finally:
        connection.close()
    assert (told, ours) == (("60000",), "60000")


def test_a_pooler_is_refused(wire: Wire, tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    wire.pools = True
    with pytest.raises(LedgerError, match="connection pooler"):
        ledger.account(dataset_id)
    assert "connection pooler" in check(ledger, dataset_id)[0]


def test_a_transaction_is_of_its_data_set_whatever_its_session_was_told(tmp_path: Path) -> None:
    ledger, one = registered(tmp_path)
    _, other = registered(tmp_path, rows=few_rows((1.0,)))
    store = ledger.store
    assert isinstance(store, database.Database)
    with store.open_connection(one) as connection:
        connection.execute(f"SET search_path = {store.schema(other)}")
        with database.transaction(connection):
            assert registration_in(connection).dataset_id == one
        with pytest.raises(LedgerError, match="cannot be read"), database.transaction(connection):
            connection.execute(f"SET LOCAL search_path = {store.schema(other)}")


def ended(address: str, which: str) -> int:
    """End the ledger's sessions that a condition of pg_stat_activity names, as an administrator may."""
    with importlib.import_module("psycopg").connect(address, autocommit=True) as connection:
        query = (
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            f" WHERE application_name = 'dpscope ledger' AND datname = current_database() AND {which}"
        )
        return len(connection.execute(query).fetchall())


TURN = "state = 'idle' AND query LIKE '%pg_advisory_lock(%'"
DRAWS = "state = 'idle in transaction'"


def while_drawing(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something happen once, when the draw is done and before it is booked."""
    usual, left = releases.draw, [work]

    def draw(*arguments: Any) -> Any:
        drawn = usual(*arguments)
        if left:
            left.pop()()
        return drawn

    monkeypatch.setattr(releases, "draw", draw)


@pytest.mark.parametrize("which", [DRAWS, f"({TURN} OR {DRAWS})"])
def test_a_session_ended_between_draw_and_commit_is_a_draw_that_died(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    ledger, dataset_id = registered(tmp_path)
    count: list[int] = []
    while_drawing(lambda: count.append(ended(address, which)), monkeypatch)
    assert press(ledger, dataset_id) == Failed(sentence=DIED)
    assert count == [1 if which == DRAWS else 2]
    assert ledger.outcomes(dataset_id) == [] and ledger.account(dataset_id).spent.epsilon_or_rho == PRICE
    assert press(ledger, dataset_id) == Failed(sentence=DIED) and isinstance(press(ledger, dataset_id, 2), Stored)
    assert ledger.account(dataset_id).spent.epsilon_or_rho == 2 * PRICE and check(ledger, dataset_id) == []


@pytest.mark.parametrize("which", [TURN, f"({TURN} OR {DRAWS})"])
def test_a_turn_that_is_lost_while_its_holder_draws_gives_no_second_outcome(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    """Somebody else takes the turn: the first draw is stored before, or booked as dead and then refused."""
    ledger, dataset_id = registered(tmp_path)
    others: list[Any] = []
    second = threading.Thread(target=lambda: others.append(press(Ledger(tmp_path), dataset_id, 2)))

    def lose() -> None:
        assert ended(address, which)
        second.start()
        second.join(2 if which == TURN else 60)  # it waits for the writer's lock, or is done
        assert bool(others) == (which != TURN)

    while_drawing(lose, monkeypatch)
    came = press(ledger, dataset_id)
    second.join(60)
    assert isinstance(others[0], Stored)
    if which == TURN:
        assert isinstance(came, Stored) and came.entry == 1
    else:
        assert came == Failed(sentence=DIED)
        assert [line["kind"] for line in ledger.outcomes(dataset_id)] == ["failed", "stored"]
    assert ledger.account(dataset_id).spent.epsilon_or_rho == 2 * PRICE and check(ledger, dataset_id) == []


@pytest.mark.parametrize("version", [False, True])
def test_a_lost_registration_s_lock_gives_the_same_rows_no_second_budget(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: bool
) -> None:
    """The session that keeps others from registering ends when all rows were compared, and somebody else registers."""
    ledger, first = registered(tmp_path, rows=few_rows((1.0,)))
    usual, left = Ledger._registering, [few_rows()]

    @contextmanager
    def registering(self: Ledger, *arguments: Any, **named: Any) -> Iterator[None]:
        with usual(self, *arguments, **named):
            if left:
                rows = left.pop()
                assert ended(address, "state = 'idle'") == 1
                registered(tmp_path, rows=rows)
            yield

    monkeypatch.setattr(Ledger, "_registering", registering)
    with pytest.raises(LedgerError, match="registered already"):
        if version:
            ledger.add_version(first, few_rows(), STEWARD)
        else:
            registered(tmp_path)
    assert len(ledger.dataset_ids()) == 2 and {*ledger.fingerprints(first)}.isdisjoint(
        *(ledger.fingerprints(each) for each in ledger.dataset_ids() if each != first)
    )


def test_a_turn_that_is_lost_before_its_holder_begins_charges_nothing_twice(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else asks for the same and has it stored; whoever lost the turn draws no second time."""
    ledger, dataset_id = registered(tmp_path)
    usual, left = Ledger.begin, [Ledger(tmp_path)]

    def begin(self: Ledger, *arguments: Any, **named: Any) -> Any:
        if left:
            assert ended(address, TURN) == 1
            assert isinstance(press(left.pop(), dataset_id), Stored)
        return usual(self, *arguments, **named)

    monkeypatch.setattr(Ledger, "begin", begin)
    assert press(ledger, dataset_id) == Busy()
    assert ledger.account(dataset_id).spent.epsilon_or_rho == PRICE and ledger.account(dataset_id).begun == ()
    assert [press(ledger, dataset_id)] == ledger.stored(dataset_id)
    assert isinstance(press(ledger, dataset_id, 2), Stored) and check(ledger, dataset_id) == []


def test_a_long_draw_keeps_nobody_else_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    _, other = registered(tmp_path, rows=few_rows((1.0, 2.0)))

    def meanwhile() -> None:
        stored_release(ledger, other, rows=few_rows((1.0, 2.0)), by=STEWARD)
        registered(tmp_path, rows=few_rows((3.0,)))
        assert ledger.account(dataset_id).begun and check(ledger, dataset_id) == []

    while_drawing(meanwhile, monkeypatch)
    assert isinstance(press(ledger, dataset_id), Stored) and len(ledger.dataset_ids()) == 3


def test_no_message_of_the_database_is_passed_on(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ledger, dataset_id = registered(tmp_path)
    told: list[str] = [repr(ledger.store)]
    for wrong in (
        f"host=127.0.0.1 port=1 password={SECRET}",
        f"{address} password={SECRET} options=-c{SECRET}=1",
        f"{address.replace('dbname=', f'dbname={SECRET}')}",
        f"{address.replace('user=tester', f'user={SECRET}')}",
        f"{SECRET} is no address",
        f"host={SECRET}.invalid",
    ):
        monkeypatch.setenv(ADDRESS, wrong)
        away = Ledger(tmp_path)
        asks: list[Callable[[], Any]] = [away.dataset_ids, partial(away.account, dataset_id)]
        for ask in asks:
            with pytest.raises(LedgerError) as problem:
                ask()
            told += [str(problem.value), repr(problem.value)]
        told += [*check(away, dataset_id), str(press(away, dataset_id))]
    assert not [each for each in told if SECRET in each] and SECRET not in "".join(capfd.readouterr())
