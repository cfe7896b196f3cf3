from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpcore
import dprelease.ledger.writing
import dprelease.release as releases
from dpcore.core import Blocks, Neighbours, ParameterError
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import Capped
from dpcore.data.frames import read_frame
from dpcore.data.product import Product
from dpcore.data.reading.format import Format
from dpcore.data.reading.intake import BYTES_TO_READ, LIMITS
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns, Measure, Vectors
from dpcore.data.sources import generated_attributes
from dpcore.data.sphere import Halfspaces
from dpcore.mechanisms.marginals.polynomial_release import CONSTANT
from dpcore.queries.at_least import AtLeast
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Rectangles
from dprelease.certificate import certificate, verify
from dprelease.ledger.checks import check
from dprelease.ledger.connection import open_connection
from dprelease.ledger.copies import backup
from dprelease.ledger.records import (
    DIED,
    RAISED,
    UNSURE,
    UNWRITABLE,
    Actor,
    Attempt,
    Busy,
    Failed,
    LedgerError,
    Refused,
    Stored,
)
from dprelease.ledger.store import Ledger
from dprelease.ledger.true_value_access import note_access
from dprelease.ledger.units import Price
from dprelease.release import (
    CLOCK,
    FEW,
    TOO_WIDE,
    UNREGISTERED_ROWS,
    refusal,
    rehearse,
    rehearse_in_steps,
    release,
    too_wide,
    unsuitable,
)
from dprelease.requests.parts import Request
from tests.kit.ledgers import ANALYST, NOMINAL, STEWARD, few_rows, question_of, registered, request_of, stored_release

SECRET = "s3cr3t"


def spent(ledger: Ledger, dataset_id: str) -> int:
    """Return the spent epsilon in units of 10⁻⁹."""
    return ledger.account(dataset_id).spent.epsilon_or_rho


def test_a_release_is_charged_once_and_given_back_free(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    first = stored_release(ledger, dataset_id)
    assert spent(ledger, dataset_id) == 500_000_000
    again = release(Ledger.open(tmp_path), dataset_id, request_of(), few_rows(), STEWARD)
    assert again == first and spent(ledger, dataset_id) == 500_000_000
    stored_release(ledger, dataset_id, request_of(draw=2))
    assert spent(ledger, dataset_id) == 1_000_000_000
    assert check(ledger, dataset_id) == []


def test_whoever_has_no_role_is_refused_and_nothing_is_held(tmp_path: Path) -> None:
    """Whatever a page lets them press: neither a draw, nor what nobody published, nor a word in the ledger."""
    ledger, dataset_id = registered(tmp_path)
    viewer = Actor(name="Eve", role=None)
    refused = Refused(sentence="Only data owners and analysts may release.")
    assert release(ledger, dataset_id, request_of(), few_rows(), viewer) == refused
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    assert release(ledger, dataset_id, request_of(), few_rows(), viewer) == refused
    with open_connection(ledger.path(dataset_id)) as connection:
        assert connection.execute("SELECT count(*) FROM entries WHERE kind = 'attempt'").fetchone() == (1,)
    with pytest.raises(LedgerError, match="Only data owners and analysts may write"):
        ledger.record_access(dataset_id, "something", viewer)
    with pytest.raises(LedgerError, match="Only data owners and analysts may release"):
        ledger.begin(dataset_id, {"format": "of a viewer"}, Price(epsilon_or_rho=1), viewer)


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        (Format(decimal=",", missing=("-99",)), ""),
        (Format(decimal=".", missing=("-99",)), "decimal sign"),
        (Format(decimal=",", missing=("-9",)), "list of codes"),
        (Format(decimal=",", date_order="day first", missing=("-99",)), "date order"),
        (Format(decimal=",", missing=("-99",), days="local"), "day of times"),
        (Format(), ""),
    ],
)
def test_a_file_that_was_not_read_as_the_request_says_is_refused(
    tmp_path: Path, settings: Format, setting: str
) -> None:
    table = read_table(b"age;x\n7,5;1\n-99;2\n", name="x.csv", settings=Format(missing=("-99",)), ask=True, header=True)
    assert table.format.decimal == ","
    ledger, dataset_id = registered(tmp_path, rows=table)
    came = release(ledger, dataset_id, request_of(file_format=settings), table, ANALYST)
    assert isinstance(came, Refused if setting else Stored)
    assert not setting or (setting in str(came) and not spent(ledger, dataset_id))


@pytest.mark.parametrize("relation", Neighbours)
def test_marginals_that_are_one_constant_are_refused_before_the_charge(tmp_path: Path, relation: Neighbours) -> None:
    """Of 50 rows noise costs more than three-way marginals tell: the plan has no count, and nothing would be drawn."""
    source = generated_attributes(n=50, attributes=8)
    settings: dict[str, Any] = {
        "reading": source.reading,
        "queries": AtLeast(domain=source.on(Product), width=3),
        "key": "marginals-polynomial",
        "neighbours": relation,
    }
    request, table = request_of(**settings, n=50, epsilon=1.0), read_frame(source.dataset().frame())
    ledger, dataset_id = registered(tmp_path, rows=table, neighbours=relation, public_n=50)
    with pytest.raises(ParameterError, match="every answer would be the same constant"):
        rehearse(request)
    came = release(ledger, dataset_id, request, table, ANALYST)
    assert came == Refused(sentence=CONSTANT) and not spent(ledger, dataset_id)
    assert refusal(request, ledger.registration(dataset_id), ledger.account(dataset_id)) == CONSTANT
    assert unsuitable(request_of(**settings, n=50_000, epsilon=1.0)) == ""


@pytest.mark.slow
def test_ten_tenths_fit_a_budget_of_one_and_a_unit_more_does_not(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path, epsilon=1.0)
    for draw in range(1, 11):
        assert isinstance(release(ledger, dataset_id, request_of(epsilon=0.1, draw=draw), few_rows(), ANALYST), Stored)
    came = release(ledger, dataset_id, request_of(epsilon=0.001, draw=11), few_rows(), ANALYST)
    assert came == Refused(sentence="The release needs ε 0.001, but only ε 0 is left. Nothing was released.")


def test_delta_is_charged_too(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path, delta=1.5e-6)
    settings: dict[str, Any] = {"key": "gaussian", "values": {"epsilon": 0.5, "delta": 1e-6}}
    assert isinstance(release(ledger, dataset_id, request_of(**settings), few_rows(), ANALYST), Stored)
    came = release(ledger, dataset_id, request_of(**settings, draw=2), few_rows(), ANALYST)
    assert came == Refused(
        sentence="The release needs ε 0.5 and δ 10⁻⁶, but only ε 1.5 and δ 5·10⁻⁷ is left. Nothing was released."
    )


def raising(*_: Any) -> Any:
    raise ValueError(SECRET)


def test_a_draw_that_raises_keeps_its_charge_and_says_nothing_of_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path)
    monkeypatch.setattr(releases, "draw", raising)
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=RAISED)
    assert spent(ledger, dataset_id) == 500_000_000 and check(ledger, dataset_id) == []
    assert SECRET.encode() not in ledger.path(dataset_id).read_bytes()
    monkeypatch.undo()
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=RAISED)
    assert isinstance(release(ledger, dataset_id, request_of(draw=2), few_rows(), ANALYST), Stored)


def test_a_draw_that_spends_more_than_its_charge_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    kind = type(question_of().mechanism)
    usual = kind.run

    def twice(self: Any, state: Any, sampler: Any, trials: int = 1) -> Any:
        usual(self, state, sampler, trials)
        return usual(self, state, sampler, trials)

    monkeypatch.setattr(kind, "run", twice)
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=RAISED)
    monkeypatch.setattr(
        kind, "run", lambda self, state, sampler, trials=1: usual(self, state, dpcore.Preview(1), trials)
    )
    came = release(ledger, dataset_id, request_of(draw=2), few_rows(), ANALYST)
    assert came == Failed(sentence=RAISED), "nothing was drawn by the secure sampler"
    assert not ledger.stored(dataset_id)


def interrupted(*_: Any) -> Any:
    raise KeyboardInterrupt


def died(ledger: Ledger, dataset_id: str, request: Request, monkeypatch: pytest.MonkeyPatch) -> int:
    """An attempt without an outcome; its number."""
    with monkeypatch.context() as patch:
        patch.setattr(releases, "draw", interrupted)
        with pytest.raises(KeyboardInterrupt):
            release(ledger, dataset_id, request, few_rows(), ANALYST)
    [attempt] = ledger.account(dataset_id).begun
    return attempt.number


def test_what_died_is_held_and_then_booked_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path, epsilon=1.0)
    died(ledger, dataset_id, request_of(), monkeypatch)
    assert spent(ledger, dataset_id) == 500_000_000 and ledger.outcomes(dataset_id) == []
    came = release(ledger, dataset_id, request_of(epsilon=0.6, draw=2), few_rows(), ANALYST)
    assert isinstance(came, Refused), "the charge of what died counts"
    assert [line["kind"] for line in ledger.outcomes(dataset_id)] == ["failed"]
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=DIED)
    assert spent(ledger, dataset_id) == 500_000_000 and check(ledger, dataset_id) == []


def test_what_is_stored_and_cannot_be_read_is_not_said_to_have_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path)
    usual = Ledger.find

    def find(self: Ledger, *arguments: Any) -> Any:
        if self.outcomes(dataset_id):
            raise LedgerError(UNWRITABLE)
        return usual(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "find", find)
        assert release(ledger, dataset_id, request_of(), few_rows(), STEWARD) == Failed(sentence=UNSURE)
    assert [release(ledger, dataset_id, request_of(), few_rows(), STEWARD)] == ledger.stored(dataset_id)


def test_what_goes_wrong_as_an_attempt_is_written_is_not_said_to_be_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path)
    usual = Ledger.begin

    def begin(self: Ledger, *arguments: Any, **more: Any) -> Any:
        usual(self, *arguments, **more)
        raise MemoryError(SECRET)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "begin", begin)
        assert release(ledger, dataset_id, request_of(), few_rows(), STEWARD) == Failed(sentence=UNSURE)
    assert spent(ledger, dataset_id) == 500_000_000


@pytest.mark.parametrize(("name", "told"), [("book", DIED), ("find", UNSURE)])
def test_nothing_is_raised_once_something_is_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    """As where there is no memory to write a result, or to read it: no word of it is passed on."""
    ledger, dataset_id = registered(tmp_path)
    usual = Ledger.find

    def without_memory(*arguments: Any) -> Any:
        raise MemoryError(SECRET)

    def find(self: Ledger, *arguments: Any) -> Any:
        return without_memory() if self.outcomes(dataset_id) else usual(self, *arguments)

    with monkeypatch.context() as patch:
        if name == "book":
            patch.setattr(releases, "book", without_memory)
        else:
            patch.setattr(Ledger, "find", find)
        assert release(ledger, dataset_id, request_of(), few_rows(), STEWARD) == Failed(sentence=told)
    assert spent(ledger, dataset_id) == 500_000_000 and check(ledger, dataset_id) == []


def test_a_steward_may_say_once_that_the_machine_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    attempt = died(ledger, dataset_id, request_of(), monkeypatch)
    with pytest.raises(ValueError, match="Only the data owner"):
        ledger.machine_failed(dataset_id, attempt, ANALYST)
    ledger.machine_failed(dataset_id, attempt, STEWARD)
    assert spent(ledger, dataset_id) == 0 and check(ledger, dataset_id) == []
    with pytest.raises(ValueError, match="no such attempt"):
        ledger.machine_failed(dataset_id, attempt, STEWARD)
    again = died(ledger, dataset_id, request_of(), monkeypatch)
    with pytest.raises(ValueError, match="so its charge stays"):
        ledger.machine_failed(dataset_id, again, STEWARD)
    came = stored_release(ledger, dataset_id, request_of(draw=2))
    document = certificate(came)
    assert document["guarantee"]["whole_data_set"]["machine_failures_declared"] == 1
    assert document["guarantee"]["whole_data_set"]["spent"]["epsilon"] == "1"
    assert verify(document, came.files) == []


def test_while_one_draws_others_read_register_and_wait_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path)
    known = release(ledger, dataset_id, request_of(draw=7), few_rows(), ANALYST)
    begun, go_on = threading.Event(), threading.Event()
    usual = releases.draw

    def slow(*arguments: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return usual(*arguments)

    monkeypatch.setattr(releases, "draw", slow)
    came: list[Any] = []
    draws = threading.Thread(target=lambda: came.append(release(ledger, dataset_id, request_of(), few_rows(), ANALYST)))
    draws.start()
    try:
        assert begun.wait(60)
        assert len(ledger.account(dataset_id).begun) == 1
        assert release(ledger, dataset_id, request_of(draw=7), few_rows(), ANALYST) == known
        assert isinstance(release(ledger, dataset_id, request_of(draw=2), few_rows(), ANALYST, patience=0.05), Busy)
        with pytest.raises(ValueError, match="Another release is running"):
            ledger.machine_failed(dataset_id, 2, STEWARD, patience=0.05)
        _, other = registered(tmp_path, rows=few_rows((1.0, 2.0)))
        assert ledger.account(other).left == Price.allowed(epsilon=2.0)
    finally:
        go_on.set()
        draws.join()
    assert isinstance(came[0], Stored) and check(ledger, dataset_id) == []


def test_rows_that_are_not_registered_are_refused(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    other = few_rows((1.0, 2.0, 3.0))
    came = release(ledger, dataset_id, request_of(), other, ANALYST)
    assert isinstance(came, Refused) and "not registered" in came.sentence
    ledger.add_version(dataset_id, other, STEWARD)
    came = stored_release(ledger, dataset_id, rows=other)
    assert came.body["version"] == 2
    with pytest.raises(ValueError, match="registered already"):
        registered(
            tmp_path, rows=few_rows(tuple(range(19, -1, -1)), tuple(range(19, -1, -1)))
        )  # the same, in another order


def test_rows_of_one_data_set_are_no_version_of_another(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    other = few_rows((1.0, 2.0, 3.0))
    _, second = registered(tmp_path, rows=other)
    for held, rows in ((second, few_rows()), (dataset_id, other)):
        with pytest.raises(ValueError, match=r"registered already\. Use that data set and its budget"):
            ledger.add_version(held, rows, STEWARD)
    ledger.add_version(dataset_id, few_rows(), STEWARD)  # its own
    assert isinstance(release(ledger, second, request_of(), few_rows(), ANALYST), Refused)
    assert len(ledger.fingerprints(dataset_id)) == len(ledger.fingerprints(second)) == 1


def test_nothing_is_drawn_where_the_ledger_does_not_add_up(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), ANALYST), Stored)
    with open_connection(ledger.path(dataset_id)) as connection:
        [(name, trigger)] = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name = 'payloads_never_change'"
        ).fetchall()
        connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE payloads SET contents = x'00'")
        connection.execute(trigger)
    for draw in (1, 2):  # what is stored already, and what is not
        came = release(ledger, dataset_id, request_of(draw=draw), few_rows(), ANALYST)
        assert isinstance(came, Refused) and "is inconsistent at line 5" in came.sentence
    assert spent(ledger, dataset_id) == 500_000_000


def test_what_somebody_else_began_is_no_entry_of_a_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Postgres by a connection that lost its turn: a certificate tells its chain's charges, or it would not hold."""
    ledger, dataset_id = registered(tmp_path)
    usual = Ledger.drawing

    def drawing(self: Ledger, dataset_id: str, attempt: Attempt | None = None) -> Any:
        self.begin(dataset_id, request_of(draw=2).document, Price.allowed(epsilon=0.5), ANALYST)
        return usual(self, dataset_id, attempt)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "drawing", drawing)
        came = release(ledger, dataset_id, request_of(), few_rows(), ANALYST)
    assert isinstance(came, Stored) and verify(certificate(came), came.files) == []
    assert spent(ledger, dataset_id) == 10**9 and check(ledger, dataset_id) == []


def test_nothing_is_drawn_for_an_attempt_that_somebody_else_booked_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a turn was lost: what died by somebody's word is not read for again."""
    ledger, dataset_id = registered(tmp_path)
    usual = Ledger.drawing

    def drawing(self: Ledger, dataset_id: str, attempt: Attempt | None = None) -> Any:
        self.book_dead_attempts(dataset_id)
        return usual(self, dataset_id, attempt)

    monkeypatch.setattr(Ledger, "drawing", drawing)
    monkeypatch.setattr(dprelease.release, "draw", lambda *_: pytest.fail("rows were read"))
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=DIED)
    assert spent(ledger, dataset_id) == 5 * 10**8 and check(ledger, dataset_id) == []


def test_rows_of_a_version_that_the_ledger_no_longer_has_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is put back between the first look at the rows and the turn."""
    ledger, dataset_id = registered(tmp_path / "ledger")
    copy = backup(ledger, dataset_id, tmp_path / "copy")
    rows = few_rows((1.0, 2.0))
    ledger.add_version(dataset_id, rows, STEWARD)
    usual = Ledger.turn

    def turn(self: Ledger, dataset_id: str, **named: Any) -> Any:
        ledger.path(dataset_id).write_bytes(copy.read_bytes())
        return usual(self, dataset_id, **named)

    monkeypatch.setattr(Ledger, "turn", turn)
    assert release(ledger, dataset_id, request_of(), rows, ANALYST) == Refused(sentence=UNREGISTERED_ROWS)
    assert ledger.outcomes(dataset_id) == [] and not ledger.account(dataset_id).begun


def test_a_look_noted_at_the_last_moment_is_in_the_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    [rows_fingerprint] = ledger.fingerprints(dataset_id)
    usual = Ledger.begin

    def begin(self: Ledger, *arguments: Any, **named: Any) -> Any:
        note_access(self.folder, rows_fingerprint)
        return usual(self, *arguments, **named)

    monkeypatch.setattr(Ledger, "begin", begin)
    came = stored_release(ledger, dataset_id)
    assert came.body["guarantee"]["steward_saw_true_values"] is True
    again = release(ledger, dataset_id, request_of(draw=2), few_rows(), ANALYST)
    assert isinstance(again, Stored) and [line["kind"] for line in again.chain].count("access") == 1, "told once"


def test_a_ledger_that_cannot_be_written_charges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    monkeypatch.setattr("dprelease.ledger.connection.PRAGMAS", ("PRAGMA query_only = ON",))
    came = release(ledger, dataset_id, request_of(), few_rows(), ANALYST)
    monkeypatch.undo()
    assert came == Refused(sentence="The ledger cannot be read or written now. Nothing was charged or shown.")
    assert spent(ledger, dataset_id) == 0


def test_a_full_disk_while_storing_shows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, dataset_id = registered(tmp_path)
    usual = dprelease.ledger.writing.book

    def full(connection: Any, *arguments: Any) -> int:
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        body = arguments[2] | {"padding": "x" * 100_000}
        return usual(connection, arguments[0], arguments[1], body, arguments[3])

    monkeypatch.setattr(releases, "book", full)
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Failed(sentence=DIED)
    monkeypatch.undo()
    assert not ledger.outcomes(dataset_id) and spent(ledger, dataset_id) == 500_000_000


def test_nothing_is_released_for_another_relation_or_n_or_bounds_of_the_data(tmp_path: Path) -> None:
    ledger, dataset_id = registered(tmp_path)
    registration, account = ledger.registration(dataset_id), ledger.account(dataset_id)
    assert refusal(request_of(), registration, account) == ""
    for changed, words in (
        ({"neighbours": Neighbours.REPLACE_ONE}, "registered with the neighbouring relation"),
        ({"n": NOMINAL + 1}, "registered with n = 30"),
        ({"bounds_from_data": True}, "Declare them"),
        ({"reading": Capped(reading=question_of().reading, person="person")}, "sets the maximum rows per person"),
        ({"epsilon": 2.1}, "needs ε 2.1, but only ε 2 is left"),
    ):
        assert words in refusal(request_of(**changed), registration, account)
        assert isinstance(release(ledger, dataset_id, request_of(**changed), few_rows(), ANALYST), Refused)
    assert ledger.account(dataset_id) == account


def test_nothing_is_charged_by_a_clock_whose_day_no_certificate_could_bear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, dataset_id = registered(tmp_path)
    for module in ("dprelease.release", "dprelease.ledger.store"):
        monkeypatch.setattr(f"{module}.today", lambda: "2020-01-01", raising=False)
    assert release(ledger, dataset_id, request_of(), few_rows(), STEWARD) == Refused(sentence=CLOCK)
    assert not ledger.account(dataset_id).spent and not ledger.outcomes(dataset_id)
    monkeypatch.undo()
    stored = stored_release(ledger, dataset_id, by=STEWARD)
    assert verify(certificate(stored), stored.files) == []


def test_where_rows_are_replaced_the_file_has_the_registered_number(tmp_path: Path) -> None:
    rows = few_rows()
    ledger, dataset_id = registered(tmp_path, neighbours=Neighbours.REPLACE_ONE, public_n=NOMINAL)
    came = release(ledger, dataset_id, request_of(neighbours=Neighbours.REPLACE_ONE), rows, ANALYST)
    assert isinstance(came, Refused) and "It has another." in came.sentence


def test_a_rehearsal_touches_no_rows_and_says_what_a_draw_takes() -> None:
    drawn, usual = list[object](), releases.draw

    def noted(question: Any, problem: Any, dataset: Any) -> Any:
        drawn.append(usual(question, problem, dataset))
        return drawn[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(releases, "draw", noted)
        rehearsal = rehearse(request_of())
    assert len(drawn) == 1, "by the secure sampler, as a release is drawn"
    assert rehearsal.numbers == 4 and rehearsal.seconds > 0 and "Nothing was charged." in rehearsal.sentence
    with pytest.raises(ParameterError, match="approximate"):
        pairs = Columns(names=("age", "pay"), on=(grid := Product.map(Number(bits=5), Number(bits=5))))
        rehearse(request_of(key="net-walk", reading=pairs, queries=Rectangles(domain=grid)))


def test_a_rehearsal_of_synthetic_rows_shows_its_progress_within_a_part() -> None:
    """Rows take long to make and to write: each table of a pass, and each block of lines, is a step."""
    columns = Product(names=("a", "b", "c"), columns=tuple(Labels(labels=tuple("wxyz")) for _ in range(3)))
    part = question_of(
        key="whole-table", reading=Columns(names=columns.names, on=columns), n=40_000,
        queries=Marginals(domain=columns, ways=2), values={"epsilon": 1.0, "delta": 1e-9},
    )  # fmt: skip
    work = Blocks(rehearse_in_steps(Request(parts=(part,))))
    shares = list(work)
    assert shares == sorted(shares) and len(shares) > 20 and sum(share >= 0.5 for share in shares) > 3
    [files] = work.result.files
    assert files["rows_of_nobody.csv"].count(b"\n") > 39_000


def test_of_each_person_only_the_first_rows_count(tmp_path: Path) -> None:
    ages, persons = (1.0,) * 90 + (19.0,) * 2, (7,) * 90 + (8, 9)
    rows = few_rows(ages, persons)
    ledger, dataset_id = registered(tmp_path, epsilon=60.0, rows=rows, person_column="person", rows_a_person=3)
    domain = Number(high=20.0, bits=1)
    counts: dict[str, Any] = {"reading": Columns(names=("age",), on=domain), "queries": Cells(domain=domain)}
    request = request_of(epsilon=20.0, person="person", rows_a_person=3, **counts)
    came = stored_release(ledger, dataset_id, request, rows)
    assert spent(ledger, dataset_id) == 60 * 10**9
    first, second = (float(line.split(",")[-3]) for line in came.files["counts.csv"].decode().splitlines()[1:])
    assert (first, second) == (3, 2)  # at ε = 20 noise of a row has chance 10⁻⁸
    assert came.body["guarantee"]["unit"] == {"kind": "person", "rows_a_person": 3, "stated_by": STEWARD.name}
    assert came.body["guarantee"]["epsilon"] == "60" and verify(certificate(came), came.files) == []


def test_rows_that_do_not_say_whose_they_are_are_left_out(tmp_path: Path) -> None:
    rows = few_rows((1.0, 1.0, 19.0, 19.0), (-1, 8, -1, 9))
    ledger, dataset_id = registered(tmp_path, epsilon=60.0, rows=rows, person_column="person", rows_a_person=3)
    domain = Number(high=20.0, bits=1)
    counts: dict[str, Any] = {"reading": Columns(names=("age",), on=domain), "queries": Cells(domain=domain)}
    request = request_of(epsilon=20.0, person="person", rows_a_person=3, **counts)
    came = stored_release(ledger, dataset_id, request, rows)
    first, second = (float(line.split(",")[-3]) for line in came.files["counts.csv"].decode().splitlines()[1:])
    assert (first, second) == (1, 1)  # as one person's, a row more of nobody's could push another out


@pytest.mark.slow
def test_nothing_of_the_rows_stands_in_ledger_or_certificate(tmp_path: Path) -> None:
    # Of rows: a digest or a salt has four given digits by chance in one release of 75, in all six with chance 10⁻¹¹.
    for count in (7919, 6857, 9473, 8641, 7253, 9887):
        text = "age,name\n" + "\n".join(f"{place % 20},{SECRET}{place}" for place in range(count))
        rows = read_table(text.encode(), name=f"{SECRET}.csv", header=True)
        ledger, dataset_id = registered(tmp_path / str(count), rows=rows)
        came = stored_release(ledger, dataset_id, rows=rows)
        public = repr(certificate(came)).encode()
        kept = b"".join(path.read_bytes() for path in (tmp_path / str(count)).iterdir())
        assert SECRET.encode() not in public and SECRET.encode() not in kept
        if str(count).encode() not in public + kept:
            break
    else:
        pytest.fail("the number of rows stands in each")
    assert b"ages" in public and b"ages" in kept, "the search finds what is there"
    [rows_fingerprint] = ledger.fingerprints(dataset_id)
    assert rows_fingerprint.encode() not in public


def test_rows_that_are_gone_are_refused_free_and_not_by_their_files_name(tmp_path: Path) -> None:
    """What a file is called stands in no registration: a refusal says what the data are called."""
    table = read_table(b"age\n1\n2\n3\n", name="payroll.csv")
    ledger, dataset_id = registered(tmp_path, rows=table)
    table.forget()
    came = release(ledger, dataset_id, request_of(), table, ANALYST)
    assert came == Refused(sentence="ages: the file was closed, and its rows are deleted.")
    assert not spent(ledger, dataset_id) and not ledger.account(dataset_id).begun


def test_what_an_analyst_may_ask_hangs_on_public_numbers_and_not_on_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draw that fails for want of memory would tell about how many rows there are."""
    ledger, dataset_id = registered(tmp_path)
    fixed = ledger.registration(dataset_id)
    measures = tuple(Measure(column=f"c{place}", high=20.0) for place in range(168))
    room, each = LIMITS.session_bytes - LIMITS.memory_bytes, BYTES_TO_READ + 16 * 64  # of a row of 16 columns
    most = room // each // 2  # twice as many rows may come
    wide = (room // FEW - BYTES_TO_READ) // 64
    for many, n, sentence in (
        (wide, NOMINAL, ""),
        (wide + 1, NOMINAL, TOO_WIDE),
        (16, most, ""),
        (16, most + 1, TOO_WIDE),
    ):
        reading = Vectors(measures=measures[:many])
        queries = Halfspaces(domain=reading.domain)
        request = request_of(reading=reading, queries=queries, n=n, key="halfspaces", values={})
        assert too_wide(replace(fixed, public_n=n), request, few_rows()) == sentence
    with pytest.raises(ParameterError, match="another"):
        Vectors(measures=measures[:1] * 2)
    monkeypatch.setattr(releases, "BYTES_TO_READ", 20_000)
    assert release(ledger, dataset_id, request_of(), few_rows(), ANALYST) == Refused(sentence=TOO_WIDE)
    assert not spent(ledger, dataset_id) and not ledger.account(dataset_id).begun
    assert isinstance(release(ledger, dataset_id, request_of(), few_rows(), STEWARD), Stored)
