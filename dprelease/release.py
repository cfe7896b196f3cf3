"""Releases: charged once, drawn once, stored, or not at all. Knows no page; the command line and pages both call it."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, replace

from dpcore.core import (
    DataError,
    Dataset,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
    rounded_up,
)
from dpcore.core import Release as Drawn
from dpcore.data.declared import Capped
from dpcore.data.reading.format import USUAL
from dpcore.data.reading.intake import BYTES_TO_READ, LIMITS, TooLarge
from dpcore.data.reading.tables import Table
from dpcore.data.readings import Reading
from dpcore.data.twin import rows_that_fit, twin
from dpcore.randomness import Account, Secure
from dplab.measure import finish
from dprelease.certificate import body_of, file_prefix, price_of, unreleasable
from dprelease.engines.tables import CountedTable, Snapshot
from dprelease.ledger.chain import FAILED, STORED
from dprelease.ledger.checks import check
from dprelease.ledger.connection import PATIENCE
from dprelease.ledger.fingerprint import fingerprint, key_of
from dprelease.ledger.reading import account_in, has_access_entry, unpublished_in
from dprelease.ledger.records import (
    DIED,
    RAISED,
    RELEASE,
    UNSURE,
    Actor,
    Attempt,
    Busy,
    Failed,
    LedgerBusy,
    LedgerError,
    LedgerUnsure,
    Refused,
    Registration,
    Role,
    Spent,
    Stored,
)
from dprelease.ledger.store import Ledger
from dprelease.ledger.true_value_access import name_fingerprint
from dprelease.ledger.units import Price
from dprelease.ledger.writing import book, today
from dprelease.requests.coverage import coverage
from dprelease.requests.parts import Request, RequestPart, other_unit
from dprelease.requests.tables import BETA, csv_files

SAW_TRUE_VALUES = "the steward saw true values"
ROUNDING = 1 + 1e-9
MAX_REHEARSAL_ROWS = 1_000_000
FEW = 100_000
"""Rows that a file opened to analysts may have, however few are registered."""
TOO_WIDE = "So many columns at once may take more memory than there is: ask for fewer. Nothing was charged."
OTHER_FORMAT = (
    "The request names another {setting} than this file was read with: read the file with the request's. Nothing was "
    "charged."
)
CLOCK = "This computer's clock shows a day before the data were registered: set it right. Nothing was charged."
"""A certificate with such a day is refused by ``verify``."""
UNREGISTERED_ROWS = "These rows are not registered. If they are the same people, register them as a new version."


def cost(request: Request, registration: Registration) -> Price:
    """What a release is charged; it touches no rows. Raises ParameterError where there is no guarantee."""
    return price_of(request, rows_a_person=registration.rows_a_person, measure=registration.measure)


def refusal(request: Request, registration: Registration, account: Spent) -> str:
    """Why nothing would be drawn, in a sentence; empty if it would. It touches no rows."""
    if sentence := unreleasable(request) or unsuitable(request):
        return sentence
    if today() < registration.at:
        return CLOCK
    if request.neighbours is not registration.neighbours:
        return f"These data are registered with the relation “{registration.neighbours.words}”."
    if request.n != registration.public_n:
        return f"These data are registered with n = {registration.public_n:,}."
    if sentence := other_unit(request, person=registration.person_column, rows=registration.rows_a_person):
        return sentence
    try:
        return account.refusal(cost(request, registration))
    except ParameterError as error:
        return str(error)


def unsuitable(request: Request) -> str:
    """Return why a statistic would be a wrong number, however private; empty if none would. It touches no rows.

    No certificate is judged by it: what was released before it was asked stays as private as it was.
    """
    return next(filter(None, (part.mechanism.unsuitable(part.problem) for part in request.parts)), "")


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """The same draw on made-up rows: how long it takes, and how much comes out.

    Attributes:
        seconds: of the draw.
        numbers: released.
        errors: the guaranteed error of each question in one sentence, or that there is none.
        coverage: bounds, missing values and rows of each question that asks for one value; else empty.
    """

    seconds: float
    numbers: int
    errors: tuple[str, ...]
    coverage: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What was drawn, and the guaranteed error where there is one question; nothing of it is about private rows."""
        many = f"{self.numbers:,} number{'s' * (self.numbers != 1)}"
        error = f" {self.errors[0]}" if len(self.errors) == 1 else ""
        return f"On made-up rows: {rounded_up(self.seconds)} s, {many}. Nothing was charged.{error}"


def rehearse(request: Request) -> Rehearsal:
    """The secure sampler on made-up rows of the same public problem; free. Raises as ``rehearsing`` does."""
    return finish(rehearse_in_steps(request))


def rehearse_in_steps(request: Request) -> Generator[float, None, Rehearsal]:
    """The same in blocks, one for each question: yields the share that is done.

    Raises:
        ParameterError: it cannot be released, or made-up rows would be too many.
    """
    if sentence := unreleasable(request) or unsuitable(request):
        raise ParameterError(sentence)
    seconds, numbers = 0.0, 0
    for place, part in enumerate(request.parts):
        yield place / len(request.parts)
        problem = replace(part.problem, n=min(part.problem.n, MAX_REHEARSAL_ROWS, rows_that_fit(part.problem.domain)))
        dataset = twin(part.reading, n=problem.n).dataset()
        start = time.perf_counter()
        drawn = draw(part, problem, dataset)
        seconds += time.perf_counter() - start
        numbers += drawn.outcomes().shape[1]
    errors = tuple(part.guaranteed_error(BETA) for part in request.parts)
    sentences = tuple(coverage(part.mechanism, part.problem) for part in request.parts)
    return Rehearsal(seconds=seconds, numbers=numbers, errors=errors, coverage=sentences)


def existing_outcome(ledger: Ledger, dataset_id: str, request: Request, by: Actor) -> Stored | Failed | Refused | None:
    """Return what came of a request that was drawn before, or why the ledger gives nothing out; None if it is new.

    It reads no rows. Raises LedgerError for a caller without a role.
    """
    by.must_have_a_role(RELEASE)
    if wrong := check(ledger, dataset_id):  # a result that was exchanged is not handed out either
        return Refused(sentence=wrong[0])
    return ledger.find(dataset_id, request.digest)


def release(
    ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor, *, patience: float = PATIENCE
) -> Stored | Failed | Refused | Busy:
    """Charge, draw and store, in one transaction. A request that was drawn before is given back, free.

    Args:
        ledger: that holds the data set.
        dataset_id: under which the table is registered.
        request: what is to be released: one question, or several in one press.
        table: the private rows.
        by: who asks; stewards and analysts may, and whoever has no role is refused.
        patience: seconds to wait while somebody else draws from the same data.

    Whatever goes wrong once something is charged is an outcome; what is raised before has charged nothing.
    """
    lost = ""  # what is said where the ledger is lost from here on, once something is charged
    try:
        if known := existing_outcome(ledger, dataset_id, request, by):
            return known
        if sentence := missing_column(ledger.registration(dataset_id), request, table):
            return Refused(sentence=sentence)
        if sentence := other_format(request, table):
            return Refused(sentence=sentence)
        if by.role is not Role.STEWARD and (sentence := too_wide(ledger.registration(dataset_id), request, table)):
            return Refused(sentence=sentence)
        if sentence := _other_cells(ledger.registration(dataset_id), request, table):
            return Refused(sentence=sentence)
        rows_fingerprint = fingerprint(table, key=key_of(ledger.folder))
        version = ledger.version_of(dataset_id, rows_fingerprint)
        if not version:
            return Refused(sentence=UNREGISTERED_ROWS)
        if sentence := _wrong_number(ledger.registration(dataset_id), table):
            return Refused(sentence=sentence)
        with ledger.turn(dataset_id, patience=patience):
            if wrong := check(ledger, dataset_id):
                return Refused(sentence=wrong[0])
            ledger.book_dead_attempts(dataset_id)
            if known := ledger.find(dataset_id, request.digest):
                return known
            registration, account = ledger.registration(dataset_id), ledger.account(dataset_id)
            if sentence := refusal(request, registration, account):
                return Refused(sentence=sentence)
            price = cost(request, registration)
            if ledger.version_of(dataset_id, rows_fingerprint) != version:  # a copy was put back since
                return Refused(sentence=UNREGISTERED_ROWS)
            accessed_prints = {*ledger.fingerprints(dataset_id), *_engine_table_prints(ledger, table)}
            lost = UNSURE  # until it is known whether it is begun
            try:
                attempt = ledger.begin(dataset_id, request.document, price, by, accessed_prints=accessed_prints)
            except LedgerError:  # its words say what is charged
                lost = ""
                raise
            lost = DIED
            with ledger.drawing(dataset_id, attempt) as connection:
                try:
                    files = _draw_files(request, registration, table)
                    body = body_of(
                        request,
                        registration,
                        version=version,
                        before=_account_with_attempt(account_in(connection), attempt),
                        files=files,
                        unpublished=unpublished_in(connection),
                        steward_saw=has_access_entry(connection),
                        by=attempt.by,
                        at=attempt.at,
                    )
                except Exception:  # whatever it is, it may depend on the rows, and so may its words
                    if table.closed:  # by somebody else: an attempt without an outcome, as when the process ends
                        raise LedgerError(DIED) from None
                    files, outcome = {}, FAILED
                    body = {"request": request.document, "by": attempt.by, "at": attempt.at, "reason": RAISED}
                else:
                    outcome = STORED
                book(connection, attempt, outcome, body, files)
            lost = UNSURE  # the outcome is booked, and not yet read
            return ledger.find(dataset_id, request.digest) or Failed(sentence=DIED)
    except LedgerBusy:
        return Failed(sentence=lost) if lost else Busy()
    except LedgerUnsure as error:  # asked again, what was stored is given back
        return Failed(sentence=str(error)) if lost else Refused(sentence=str(error))
    except LedgerError as error:
        return Failed(sentence=lost) if lost else Refused(sentence=str(error))
    except DataError as error:  # what the file is called, no registration publishes
        if lost:
            return Failed(sentence=lost)
        sentence = str(error).removeprefix(f"{table.name}: ")
        return Refused(sentence=f"{ledger.registration(dataset_id).name}: {sentence}")
    except Exception:
        if lost:  # whoever asked is told what is charged, and not in words that may quote a row
            return Failed(sentence=lost)
        raise


def _account_with_attempt(account: Spent, attempt: Attempt) -> Spent:
    """The account with what this attempt holds; what others begun, whose turn was lost, is charged to none yet."""
    others = sum((each.price for each in account.begun if each.number != attempt.number), Price(epsilon_or_rho=0))
    return replace(account, spent=account.spent - others)


def _engine_table_prints(ledger: Ledger, table: Table) -> list[str]:
    """What a look at other counts of the same table was noted under."""
    is_counted = isinstance(table, CountedTable)
    return [name_fingerprint(table.name, key=key_of(ledger.folder))] if is_counted else []


def missing_column(registration: Registration, request: Request, table: Table) -> str:
    """Which column the file lacks, in a sentence; empty if none. It touches no rows."""
    columns = {column for part in request.parts for column in part.reading.columns}
    named = {*columns, *filter(None, [registration.person_column])}
    missing = sorted(named - set(table.columns))
    return f"The file has no column named “{missing[0]}”." if missing else ""


CELL_SETTINGS = {
    "decimal": "decimal sign",
    "date_order": "date order",
    "missing": "list of codes for missing values",
    "days": "day of times with an offset",
}
"""Settings that say how the text of a cell is read."""


def other_format(request: Request, table: Table) -> str:
    """Return which setting of the request the table was not read with, in a sentence; empty if none. Reads no rows.

    A request without settings is released from a file as it was read, and an engine's columns have types of their own.
    """
    if request.file_format == USUAL or isinstance(table, CountedTable):
        return ""
    for name, words in CELL_SETTINGS.items():
        requested, actual = getattr(request.file_format, name), getattr(table.format, name)
        if requested != actual and requested != "":
            return OTHER_FORMAT.format(setting=words)
    return ""


def max_rows(registration: Registration) -> int:
    """Rows that a data set has at most where analysts may draw from it: a public number."""
    replaced = registration.neighbours is registration.neighbours.REPLACE_ONE
    return min(registration.public_n if replaced else max(2 * registration.public_n, FEW), LIMITS.rows)


def too_wide(registration: Registration, request: Request, table: Table) -> str:
    """Why analysts may not ask for so much of a row at once; empty if they may. It touches no rows.

    A draw that fails for want of memory tells how many rows there are: of as many as there may be, none fails.
    """
    try:
        for part in () if isinstance(table, CountedTable) else request.parts:
            each = BYTES_TO_READ + _reading(part, registration).room
            LIMITS.afford(rows=max_rows(registration), each=each)
    except TooLarge:
        return TOO_WIDE
    return ""


def _other_cells(registration: Registration, request: Request, table: Table) -> str:
    """Why counts in these cells answer no such question; no row has a say in it, so that it is free."""
    if isinstance(table, Snapshot):
        try:
            for part in request.parts:
                _dataset(part, registration, table.without_rows())
        except (DataError, ParameterError) as error:
            return str(error)
    return ""


def _wrong_number(registration: Registration, table: Table) -> str:
    """Whether the file has as many rows as is registered, where that number is public."""
    replaced = registration.neighbours is registration.neighbours.REPLACE_ONE
    if replaced and table.row_count != registration.public_n:
        return "Where rows are replaced, n is public, and the file has another number of rows than is registered."
    return ""


def _draw_files(request: Request, registration: Registration, table: Table) -> dict[str, bytes]:
    """The files of all questions; each question's draw is held to its own guarantee."""
    files: dict[str, bytes] = {}
    for place, part in enumerate(request.parts, 1):
        drawn = draw(part, part.problem, _dataset(part, registration, table))
        files |= {file_prefix(request, place) + name: contents for name, contents in csv_files(drawn).items()}
    return files


def _dataset(question: RequestPart, registration: Registration, table: Table) -> Dataset:
    """The rows; of each person only so many, the first in the file."""
    provenance = Provenance(kind=ProvenanceKind.PRIVATE, title=registration.name)
    return _reading(question, registration).dataset(table, provenance)


def _reading(question: RequestPart, registration: Registration) -> Reading:
    reading = question.reading
    if registration.person_column:
        return Capped(reading=reading, person=registration.person_column, rows=registration.rows_a_person)
    return reading


def draw(question: RequestPart, problem: Problem, dataset: Dataset) -> Drawn:
    """One draw by the secure sampler; raises ParameterError if it spends more than its guarantee says."""
    sampler = Account(Secure())
    drawn = question.mechanism.run(question.mechanism.prepare(dataset, problem), sampler, 1)
    guarantee = question.mechanism.guarantee(problem)  # for rows: what is spent is measured in them
    promised = question.mechanism.guarantee(replace(problem, person_rows=dataset.person_rows))
    # Where more than epsilon is spent, that delta is 1.
    over = sampler.delta(guarantee.epsilon) > guarantee.delta * ROUNDING
    spent = [(charge.sigma, charge.numbers, charge.squared_shift) for charge in sampler.charges]
    over |= bool(gaussians := question.mechanism.gaussians(problem)) and list(gaussians) != spent
    if over or not sampler.charges or drawn.guarantee != promised:
        raise ParameterError("The draw spent something else than its guarantee says.")
    return drawn
