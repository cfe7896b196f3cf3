"""Releases, which are charged, drawn and stored once or not at all. The command line and the pages call this module."""

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
    scaled,
)
from dpcore.core import Release as Drawn
from dpcore.data.declarations import Capped
from dpcore.data.reading.format import USUAL
from dpcore.data.reading.intake import BYTES_TO_READ, LIMITS, TooLarge
from dpcore.data.reading.tables import Table
from dpcore.data.readings import Reading
from dpcore.data.twin import max_mock_rows, twin
from dpcore.data.unlisted.texts import is_texts
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
from dprelease.ledger.units import ROUNDING, Price
from dprelease.ledger.writing import book, today
from dprelease.requests.coverage import coverage
from dprelease.requests.parts import Request, RequestPart, other_unit
from dprelease.requests.tables import BETA, csv_files, write_files

MAX_MOCK_NUMBERS = 100_000
"""Numbers of a part up to which a rehearsal keeps its files: larger ones take long to write, and no page shows them."""
SAW_TRUE_VALUES = "the data owner saw true values"
MAX_REHEARSAL_ROWS = 1_000_000
FEW = 100_000
"""Rows that a file for analysts may always have, however few are registered."""
TOO_WIDE = "This many columns at once may need more memory than there is. Request fewer columns. Nothing was charged."
OTHER_FORMAT = (
    "The request and the file have different {setting}. Read the file with the request's setting. Nothing was charged."
)
CLOCK = "This computer's clock shows a day before the registration of the data. Correct the clock. Nothing was charged."
"""A certificate with such a day is refused by ``verify``."""
FILES_ONLY = "An engine counts declared labels only. To find labels, release from a file. Nothing was charged."
UNREGISTERED_ROWS = "These rows are not registered. If they are about the same people, register them as a new version."


def cost(request: Request, registration: Registration) -> Price:
    """Return the price of a release; reads no rows. Raises ParameterError where there is no guarantee."""
    return price_of(request, rows_a_person=registration.rows_a_person, measure=registration.measure)


def refusal(request: Request, registration: Registration, account: Spent) -> str:
    """Return the reason why a request would be refused; empty if it would not be. Reads no rows."""
    if sentence := unreleasable(request) or unsuitable(request):
        return sentence
    if today() < registration.at:
        return CLOCK
    if request.neighbours is not registration.neighbours:
        return f"These data are registered with the neighbouring relation “{registration.neighbours.words}”."
    if request.n != registration.public_n:
        return f"These data are registered with n = {registration.public_n:,}."
    if sentence := other_unit(request, person=registration.person_column, rows=registration.rows_a_person):
        return sentence
    try:
        return account.refusal(cost(request, registration))
    except ParameterError as error:
        return str(error)


def unsuitable(request: Request) -> str:
    """Return why a statistic would be a wrong number, however private; empty if none would. Reads no rows.

    Certificates are not judged by this: an earlier release remains as private as it was.
    """
    return next(filter(None, (part.mechanism.unsuitable(part.problem) for part in request.parts)), "")


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """Result of the same release on mock data: its time and size.

    Attributes:
        seconds: time of the release.
        numbers: number of released numbers.
        errors: guaranteed error of each part in one sentence, or that there is none.
        coverage: bounds, missing values and rows of each part that releases one value; else empty.
        files: files of each part by name, of mock data; none of a part with more than MAX_MOCK_NUMBERS numbers.
    """

    seconds: float
    numbers: int
    errors: tuple[str, ...]
    coverage: tuple[str, ...] = ()
    files: tuple[dict[str, bytes], ...] = ()

    @property
    def sentence(self) -> str:
        """Summary in words, with the guaranteed error of a single part; it depends on no private row."""
        many = f"{self.numbers:,} number{'s' * (self.numbers != 1)}"
        error = f" {self.errors[0]}" if len(self.errors) == 1 else ""
        return f"On mock data: {rounded_up(self.seconds)} s, {many}. Nothing was charged.{error}"


def rehearse(request: Request) -> Rehearsal:
    """Run the secure sampler on mock data of the same public problem, without cost; see ``rehearse_in_steps``."""
    return finish(rehearse_in_steps(request))


def rehearse_in_steps(request: Request) -> Generator[float, None, Rehearsal]:
    """Rehearse part by part; yields the fraction done.

    Raises:
        ParameterError: the request cannot be released, or mock data would have too many rows.
    """
    if sentence := unreleasable(request) or unsuitable(request):
        raise ParameterError(sentence)
    seconds, numbers, files = 0.0, 0, list[dict[str, bytes]]()
    for place, part in enumerate(request.parts):
        yield place / len(request.parts)
        problem = replace(part.problem, n=min(part.problem.n, MAX_REHEARSAL_ROWS, max_mock_rows(part.problem.domain)))
        dataset = twin(part.reading, n=problem.n).dataset()
        start = time.perf_counter()
        drawn = draw(part, problem, dataset)
        seconds += time.perf_counter() - start
        count = drawn.numbers
        numbers += count
        drawn = replace(drawn, problem=replace(problem, person_rows=part.person_rows))  # as intervals need it
        files.append({})
        if count <= MAX_MOCK_NUMBERS:
            written = write_files(drawn, part.mechanism, digest=request.digest, level=request.level)
            files[-1] = yield from scaled(written, place, len(request.parts))
    errors = tuple(part.guaranteed_error(BETA) for part in request.parts)
    sentences = tuple(coverage(part.mechanism, part.problem) for part in request.parts)
    return Rehearsal(seconds=seconds, numbers=numbers, errors=errors, coverage=sentences, files=tuple(files))


def existing_outcome(ledger: Ledger, dataset_id: str, request: Request, by: Actor) -> Stored | Failed | Refused | None:
    """Return the outcome of a request that was drawn before, or why the ledger refuses; None if it is new.

    It reads no rows. Raises LedgerError for a user without a role.
    """
    by.must_have_a_role(RELEASE)
    if wrong := check(ledger, dataset_id):  # a result that was replaced is not returned either
        return Refused(sentence=wrong[0])
    return ledger.find(dataset_id, request.digest)


def release(
    ledger: Ledger, dataset_id: str, request: Request, table: Table, by: Actor, *, patience: float = PATIENCE
) -> Stored | Failed | Refused | Busy:
    """Charge, draw and store in one transaction. The result of an earlier equal request is returned without a charge.

    Args:
        ledger: the ledger of the data set.
        dataset_id: id under which the table is registered.
        request: the request, with one part or several.
        table: the private rows.
        by: the user; the data owner and analysts may release, a user without a role is refused.
        patience: seconds to wait while another process draws from the same data.

    Any error after the charge becomes an outcome; an error before it is raised, and nothing is charged.
    """
    lost = ""  # message if the ledger is lost from here on, once something is charged
    try:
        if known := existing_outcome(ledger, dataset_id, request, by):
            return known
        registration = ledger.registration(dataset_id)
        if sentence := table_refusal(registration, request, table, steward=by.role is Role.STEWARD):
            return Refused(sentence=sentence)
        rows_fingerprint = fingerprint(table, key=key_of(ledger.folder))
        version = ledger.version_of(dataset_id, rows_fingerprint)
        if not version:
            return Refused(sentence=UNREGISTERED_ROWS)
        if sentence := _wrong_number(registration, table):
            return Refused(sentence=sentence)
        with ledger.turn(dataset_id, patience=patience):
            if wrong := check(ledger, dataset_id):
                return Refused(sentence=wrong[0])
            ledger.book_dead_attempts(dataset_id)
            if known := ledger.find(dataset_id, request.digest):
                return known
            registration = ledger.registration(dataset_id)
            if sentence := refusal(request, registration, ledger.account(dataset_id)):
                return Refused(sentence=sentence)
            price = cost(request, registration)
            if ledger.version_of(dataset_id, rows_fingerprint) != version:  # a copy was restored since
                return Refused(sentence=UNREGISTERED_ROWS)
            accessed_prints = {*ledger.fingerprints(dataset_id), *_engine_table_prints(ledger, table)}
            lost = UNSURE  # until it is known whether the attempt was committed
            try:
                attempt = ledger.begin(dataset_id, request.document, price, by, accessed_prints=accessed_prints)
            except LedgerError:  # its message states the charge
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
                except Exception:  # any error may depend on the rows, and so may its message
                    if table.closed:  # closed by another thread: no outcome, as when the process ends
                        raise LedgerError(DIED) from None
                    files, outcome = {}, FAILED
                    body = {"request": request.document, "by": attempt.by, "at": attempt.at, "reason": RAISED}
                else:
                    outcome = STORED
                book(connection, attempt, outcome, body, files)
            lost = UNSURE  # the outcome is committed, but not read yet
            return ledger.find(dataset_id, request.digest) or Failed(sentence=DIED)
    except LedgerBusy:
        return Failed(sentence=lost) if lost else Busy()
    except LedgerUnsure as error:  # an equal request later returns what was stored
        return Failed(sentence=str(error)) if lost else Refused(sentence=str(error))
    except LedgerError as error:
        return Failed(sentence=lost) if lost else Refused(sentence=str(error))
    except DataError as error:  # the file's name is not public, the registered name is
        if lost:
            return Failed(sentence=lost)
        sentence = str(error).removeprefix(f"{table.name}: ")
        return Refused(sentence=f"{ledger.registration(dataset_id).name}: {sentence}")
    except Exception:
        if lost:  # the message states the charge and cannot quote a row
            return Failed(sentence=lost)
        raise


def _account_with_attempt(account: Spent, attempt: Attempt) -> Spent:
    """Return the account with this attempt's price but not those of other open attempts, which are not charged yet."""
    others = sum((each.price for each in account.begun if each.number != attempt.number), Price(epsilon_or_rho=0))
    return replace(account, spent=account.spent - others)


def _engine_table_prints(ledger: Ledger, table: Table) -> list[str]:
    """Return the fingerprint under which access to other counts of the same engine table is recorded."""
    is_counted = isinstance(table, CountedTable)
    return [name_fingerprint(table.name, key=key_of(ledger.folder))] if is_counted else []


def table_refusal(registration: Registration, request: Request, table: Table, *, steward: bool) -> str:
    """Return why a table cannot answer a request; empty if it can. Reads no rows.

    Args:
        registration: of the data.
        request: what is asked of them.
        table: the rows.
        steward: whether the data owner asks, who may know the number of rows.
    """
    return (
        _missing_column(registration, request, table)
        or _other_format(request, table)
        or ("" if steward else too_wide(registration, request, table))
        or _other_cells(registration, request, table)
    )


def _missing_column(registration: Registration, request: Request, table: Table) -> str:
    """Return a sentence on a column that the file lacks; empty if there is none. Reads no rows."""
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
"""Settings that control how the text of a cell is parsed, in words."""


def _other_format(request: Request, table: Table) -> str:
    """Return a sentence on a setting by which the table was read otherwise than requested; else empty. Reads no rows.

    A request without settings accepts the file as it was read, and an engine's columns have their own types.
    """
    if request.file_format == USUAL or isinstance(table, CountedTable):
        return ""
    for name, words in CELL_SETTINGS.items():
        requested, actual = getattr(request.file_format, name), getattr(table.format, name)
        if requested != actual and requested != "":
            return OTHER_FORMAT.format(setting=words)
    return ""


def max_rows(registration: Registration) -> int:
    """Return the largest number of rows of a data set from which analysts may draw: a public number."""
    replaced = registration.neighbours is registration.neighbours.REPLACE_ONE
    return min(registration.public_n if replaced else max(2 * registration.public_n, FEW), LIMITS.rows)


def too_wide(registration: Registration, request: Request, table: Table) -> str:
    """Return why analysts may not request so many columns at once; empty if they may. Reads no rows.

    A failure for lack of memory would reveal the number of rows, so the largest allowed number must fit.
    """
    try:
        for part in () if isinstance(table, CountedTable) else request.parts:
            each = BYTES_TO_READ + _reading(part, registration).room
            LIMITS.afford(rows=max_rows(registration), each=each)
    except TooLarge:
        return TOO_WIDE
    return ""


def _other_cells(registration: Registration, request: Request, table: Table) -> str:
    """Return why counts in these cells cannot answer the request; it depends on no row, so it costs nothing."""
    if isinstance(table, CountedTable) and any(is_texts(part.reading.domain) for part in request.parts):
        return FILES_ONLY
    if isinstance(table, Snapshot):
        try:
            for part in request.parts:
                _dataset(part, registration, table.without_rows())
        except (DataError, ParameterError) as error:
            return str(error)
    return ""


def _wrong_number(registration: Registration, table: Table) -> str:
    """Return a sentence if the number of rows differs from the registered one where it is public; else empty."""
    replaced = registration.neighbours is registration.neighbours.REPLACE_ONE
    if replaced and table.row_count != registration.public_n:
        return (
            "If rows are replaced, n is public, and the file must have the registered number of rows. It has another."
        )
    return ""


def _draw_files(request: Request, registration: Registration, table: Table) -> dict[str, bytes]:
    """Draw the files of all parts; each draw is checked against its own guarantee."""
    files: dict[str, bytes] = {}
    for place, part in enumerate(request.parts, 1):
        drawn = draw(part, part.problem, _dataset(part, registration, table))
        written = csv_files(drawn, part.mechanism, digest=request.digest, level=request.level)
        files |= {file_prefix(request, place) + name: contents for name, contents in written.items()}
    return files


def _dataset(question: RequestPart, registration: Registration, table: Table) -> Dataset:
    """Return the rows; for each person only the registered number, the first in the file."""
    provenance = Provenance(kind=ProvenanceKind.PRIVATE, title=registration.name)
    return _reading(question, registration).dataset(table, provenance)


def _reading(question: RequestPart, registration: Registration) -> Reading:
    reading = question.reading
    if registration.person_column:
        return Capped(reading=reading, person=registration.person_column, rows=registration.rows_a_person)
    return reading


def draw(question: RequestPart, problem: Problem, dataset: Dataset) -> Drawn:
    """Draw once with the secure sampler; raises ParameterError if it spends more than its guarantee."""
    sampler = Account(Secure())
    drawn = question.mechanism.run(question.mechanism.prepare(dataset, problem), sampler, 1)
    guarantee = question.mechanism.guarantee(problem)  # for rows, as the sampler's account is per row
    promised = question.mechanism.guarantee(replace(problem, person_rows=dataset.person_rows))
    # The delta is 1 if more than epsilon is spent.
    over = sampler.delta(guarantee.epsilon) > guarantee.delta * ROUNDING
    spent = [(charge.sigma, charge.numbers, charge.squared_shift) for charge in sampler.charges]
    over |= bool(gaussians := question.mechanism.gaussians(problem)) and list(gaussians) != spent
    if over or not sampler.charges or drawn.guarantee != promised:
        raise ParameterError("The privacy budget used differs from the guarantee.")
    return drawn
