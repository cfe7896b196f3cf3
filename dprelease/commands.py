"""Command line of the ledger, with the same operations as the pages. ``run.py`` starts it.

plan DESCRIPTION LINES   plan statistics, one per line, for one epsilon, and show the error of each
release PLAN DATA        charge, draw and store one release, of a plan or a request; writes its files and certificate
verify CERTIFICATE FILE…  verify a certificate and its files
ledger register DATA …   begin a ledger for a table
ledger show              show the budget spent and left
ledger check             check the ledger, also against a certificate
ledger backup FOLDER     write a checked copy
ledger restore COPY      put a copy in the place of a file that is damaged or lost
"""

from __future__ import annotations

import argparse
import getpass
import io
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TextIO

from dpcore.core import DataError, Neighbours, ParameterError, exactly, finish, read_number, read_whole_number
from dpcore.core.documents import parse_document
from dpcore.core.sizes import MAX_DOCUMENT_CHARACTERS
from dpcore.data.dictionaries.opening import open_dictionary
from dpcore.data.reading.format import USUAL, Format, read_format
from dpcore.data.reading.format_text import format_sentence
from dpcore.data.reading.scratch import remove_all_when_ended
from dpcore.data.reading.tables import FirstRowUnclear, Table, read_table
from dprelease.certificate import faults_against_ledger
from dprelease.downloads import downloads_of, faults_of_files, zip_files
from dprelease.ledger.checks import check
from dprelease.ledger.copies import backup, restore
from dprelease.ledger.records import (
    Actor,
    Busy,
    Failed,
    LedgerError,
    LedgerNotPrivate,
    Refused,
    Registration,
    Role,
    Stored,
    restored_sentence,
)
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import BudgetMeasure, Price
from dprelease.plan.errors import Prediction, predict
from dprelease.plan.groups import QUANTILES, SHARE
from dprelease.plan.planned_question import PlannedQuestion, questions_of_lines, sharing_draws
from dprelease.plan.predicates import read_lines
from dprelease.plan.questions import FORMAT as PLAN
from dprelease.plan.questions import Plan
from dprelease.plan.shares import for_total
from dprelease.plan.titles import question_title
from dprelease.release import existing_outcome, rehearse, release
from dprelease.requests.coverage import coverage
from dprelease.requests.file_checks import check_file_sizes
from dprelease.requests.parts import Request
from dprelease.verification import CONSISTENT, unverifiable

NOT_YET = "No file is written. Repeat the request after the data owner has published it."
FILE_HELP = "CSV, Parquet, Excel, ODS, SPSS or Stata"
FORMAT_HELP = (
    "format of the file, for example “decimal=, date_order=day missing=-99 separator=; encoding=cp1252 skip=2 sheet=1”"
)


def default_folder() -> Path:
    """Return the folder of the user's ledger: DPSCOPE_LEDGER, else in the XDG data directory."""
    if named := os.environ.get("DPSCOPE_LEDGER"):
        return Path(named)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "dpscope" / "ledger"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        return "unknown"


def _number(text: str) -> float:
    """Return an option's number; argparse shows the sentence of the error."""
    try:
        return read_number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid float value: {text!r}") from None


def _whole_number(text: str) -> int:
    """Return an option's whole number; argparse shows the sentence of the error."""
    try:
        return read_whole_number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid int value: {text!r}") from None


def _parser(program: str = "run.py") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--ledger", type=Path, default=default_folder(), help="its folder (default: %(default)s)")
    shared.add_argument("--dataset", default="", help="data set, if the ledger holds several")
    shared.add_argument("--by", default=_user(), help="name of the user (default: %(default)s)")
    shared.add_argument("--role", type=Role, choices=list(Role), default=Role.STEWARD)
    reading = argparse.ArgumentParser(add_help=False)
    reading.add_argument("--header", choices=["yes", "no"], help="whether the first row holds names")
    reading.add_argument("--format", default="", help=FORMAT_HELP)
    rows = argparse.ArgumentParser(add_help=False, parents=[reading])
    rows.add_argument("data", type=Path, help=FILE_HELP)
    relation = argparse.ArgumentParser(add_help=False)
    relation.add_argument("--relation", type=Neighbours, choices=list(Neighbours), default=Neighbours.ADD_REMOVE_ONE)
    amounts = argparse.ArgumentParser(add_help=False)
    amounts.add_argument("--epsilon", type=_number, required=True, help="maximum total cost of all releases")
    amounts.add_argument("--delta", type=_number, default=0.0)

    each = commands.add_parser("plan", parents=[relation], help="plan statistics and show the error of each")
    each.add_argument("description", type=Path, help="a data dictionary, for example a codebook or a Table Schema")
    each.add_argument("lines", type=Path, help="one statistic per line: “mean income by region, sex”, “age 20-34”")
    each.add_argument("--n", type=_whole_number, required=True, help="public number of rows")
    each.add_argument("--epsilon", type=_number, required=True, help="for all statistics together")
    each.add_argument("--out", type=Path, default=Path("plan.json"), help="file of the plan (default: %(default)s)")
    each = commands.add_parser("release", parents=[shared, reading], help="charge, sample and store one release")
    each.add_argument(
        "request", type=Path, help="a plan or a request (JSON; see dprelease/plan and dprelease/requests for examples)"
    )
    each.add_argument("data", type=Path, nargs="?", help=f"{FILE_HELP}; without it, only a test run")
    each.add_argument(
        "--draw", type=_whole_number, default=1, help="for a plan: another number is another release and charge"
    )
    each.add_argument("--out", type=Path, default=Path(), help="folder for the files (default: here)")
    each.add_argument("--zip", action="store_true", help="all files in one")
    each = commands.add_parser("verify", help="check that a certificate and its files are consistent")
    each.add_argument("certificate", type=Path)
    each.add_argument("files", type=Path, nargs="*")

    parts = commands.add_parser("ledger", help="register, show, check, copy").add_subparsers(dest="part", required=True)
    each = parts.add_parser("register", parents=[shared, rows, amounts, relation])
    each.add_argument("--name", required=True, help="name of the data in certificates")
    each.add_argument(
        "--n", type=_whole_number, help="public number of rows; if rows are replaced, the default is the file's number"
    )
    each.add_argument("--person", default="", help="column that identifies the person")
    each.add_argument("--rows", type=_whole_number, default=1, help="maximum rows per person")
    each.add_argument(
        "--measure", type=BudgetMeasure, choices=list(BudgetMeasure), default=BudgetMeasure.SUMS,
        help="rho: for many Gaussian releases; the budget then stays within epsilon and delta and cannot be changed",
    )  # fmt: skip
    parts.add_parser("version", parents=[shared, rows], help="another file of the same people")
    each = parts.add_parser("budget", parents=[shared, amounts])
    each.add_argument("--reason", required=True)
    parts.add_parser("show", parents=[shared])
    each = parts.add_parser("check", parents=[shared])
    each.add_argument("--against", type=Path, help="a certificate of these data")
    each = parts.add_parser("backup", parents=[shared])
    each.add_argument("folder", type=Path)
    each = parts.add_parser("restore", parents=[shared], help="replace a damaged or lost file by a copy")
    each.add_argument("copy", type=Path)
    each = parts.add_parser("publish", parents=[shared])
    each.add_argument("entry", type=_whole_number)
    each = parts.add_parser("machine-failed", parents=[shared], help="an attempt that ended with a machine failure")
    each.add_argument("attempt", type=_whole_number)
    return parser


def _table(options: argparse.Namespace, requested: Format = USUAL) -> Table:
    """Read the file's table by the settings of a request, else by those of the command."""
    header = None if options.header is None else options.header == "yes"
    if None not in (header, requested.header) and header != requested.header:
        raise ParameterError("The request and --header disagree on whether row 1 holds names. Leave --header out.")
    settings, usual = read_format(options.format), USUAL
    if requested != usual:
        named = [each.name for each in fields(usual) if getattr(settings, each.name) != getattr(usual, each.name)]
        if other := [name for name in named if getattr(settings, name) != getattr(requested, name)]:
            raise ParameterError(f"The request and --format disagree on “{other[0]}”. Leave --format out.")
        settings = requested
    # The rows are private: neither their format nor the place of the header is guessed from them.
    if settings.skip is None:
        settings = replace(settings, skip=0)
    try:
        return read_table(options.data, name=options.data.name, header=header, settings=settings, guess_values=False)
    except FirstRowUnclear as error:
        sentence = str(error)
    raise DataError(f"{sentence} Use --header yes or no. Skip a title above the header with --format skip=1.")


def _open_ledger(options: argparse.Namespace, *, make: bool = False) -> Ledger:
    if not make and not options.ledger.is_dir():
        raise LedgerError("There is no ledger in this folder. Create one with `ledger register`.")
    return Ledger.open(options.ledger)


def _dataset_id(ledger: Ledger, name: str) -> str:
    dataset_ids = ledger.dataset_ids()
    if name or len(dataset_ids) != 1:
        if name not in dataset_ids:
            raise LedgerError("The ledger has no such data set. Use --dataset with a name that `ledger show` lists.")
        return name
    return dataset_ids[0]


def _read_document(path: Path, *, what: str) -> bytes:
    """Return the contents of an untrusted JSON file, of at most the size that ``parse_document`` accepts."""
    if path.exists() and not path.is_file():
        raise ParameterError(f"A {what} is a file, not a folder or a device.")
    if path.stat().st_size > 4 * MAX_DOCUMENT_CHARACTERS:  # of four bytes at most
        raise ParameterError(f"The {what} is too long.")
    return path.read_bytes()


def _read_request(options: argparse.Namespace) -> Request:
    """Read a request from a file, or make the request for all questions of a plan."""
    text = _read_document(options.request, what="request")
    if str(parse_document(text, what="request").get("format")).startswith(PLAN.partition("/")[0] + "/"):
        return Plan.read(text).request(draw=options.draw)
    if options.draw != 1:
        raise ParameterError("The request file contains the number of the repetition. Use --draw only with plans.")
    return Request.read(text)


def _plan(options: argparse.Namespace) -> Iterator[str]:
    """Plan the statistics of a text; those that can share a draw do, and the others share epsilon."""
    if options.out.exists():
        raise ParameterError(f"The file {options.out} exists already. Name another with --out.")
    content = _read_document(options.description, what="description")
    dictionary = open_dictionary(content, name=options.description.name)
    table = dictionary.declared()
    lines = _read_document(options.lines, what="list of statistics").decode("utf-8", "replace")
    parsed = read_lines(lines, table)
    if parsed.problems:
        raise ParameterError("\n".join(parsed.problems))
    questions = sharing_draws(questions_of_lines(parsed, epsilon=options.epsilon), table)
    plan = Plan(
        table=table, n=options.n, questions=tuple(questions), neighbours=options.relation,
        file_format=Format(missing=dictionary.missing_codes),
    )  # fmt: skip
    plan = finish(for_total(plan, options.epsilon))
    for place, (question, predicted) in enumerate(zip(plan.questions, finish(predict(plan)), strict=True), 1):
        title, error = question_title(table, question), _error(plan, question, predicted)
        yield f"{place}. {title}: {error}, with ε = {exactly(question.epsilon)}."
    yield from dictionary.gaps()
    options.out.write_bytes(plan.text)
    yield f"{plan.cost.sentence()}. Written: {options.out}."


def _error(plan: Plan, question: PlannedQuestion, predicted: Prediction) -> str:
    """Return the error that a number stays below with the plan's confidence, in its unit or as a share."""
    if not predicted.single < 1:
        return "hidden by noise"
    margin = predicted.margin
    if margin is None:
        return f"± {100 * predicted.single:.3g}% of {plan.n:,} rows"
    group = f" in a group of {margin.people:,}" if margin.falls else ""
    if question.statistic in (QUANTILES, SHARE):
        return f"± {100 * predicted.single:.3g}%{group}"
    wide = predicted.single * margin.scale
    return f"± {wide:,.{'0f' if wide >= 100 else '3g'}} {margin.unit}".rstrip() + group


def _release(options: argparse.Namespace, by: Actor) -> Iterator[str]:
    request = _read_request(options)
    if options.data is None:
        rehearsal = rehearse(request)
        yield rehearsal.sentence
        if len(request.parts) > 1:
            yield from _coverage_lines(request, rehearsal.errors)
        yield from _coverage_lines(request, rehearsal.coverage)
        return
    ledger = _open_ledger(options)
    dataset_id = _dataset_id(ledger, options.dataset)
    known = existing_outcome(ledger, dataset_id, request, by)
    outcome: Stored | Failed | Refused | Busy
    if known:
        table, outcome = None, known
    else:
        table = _table(options, request.file_format)
        outcome = release(ledger, dataset_id, request, table, by)
    if not isinstance(outcome, Stored):
        raise LedgerError(outcome.sentence)
    if known:
        yield f"Entry {outcome.entry} was released before, and this file was not read. Nothing is charged again."
    # As on the page: an analyst gets an unpublished release when the data owner publishes it.
    files = downloads_of(outcome) if outcome.published or by.role is Role.STEWARD else {}
    if options.zip and files:
        files = {f"release-{outcome.entry}.zip": zip_files(files)}
    if existing := [
        name for name in files if (options.out / name).exists() and (options.out / name).read_bytes() != files[name]
    ]:
        raise LedgerError(f"The release is stored, but the file {existing[0]} exists already. Choose another folder.")
    if files:
        options.out.mkdir(parents=True, exist_ok=True)
    for name, contents in files.items():
        (options.out / name).write_bytes(contents)
    charged = Price.read(dict(outcome.chain[-1]["amount"]))
    published = "Published" if outcome.published else "Not published"
    if table is not None:
        yield format_sentence(table.format, header=table.header)
    yield f"Entry {outcome.entry}, charged {charged}. {published}. Left: {ledger.account(dataset_id).left.left_words}."
    yield from _coverage_lines(request, [coverage(part.mechanism, part.problem) for part in request.parts])
    if files:
        yield f"Written: {', '.join(str(options.out / name) for name in files)}."
    else:
        yield NOT_YET


def _coverage_lines(request: Request, coverages: Sequence[str]) -> Iterator[str]:
    """Format a line for each released value with its bounds, missing values and rows."""
    for place, (part, sentence) in enumerate(zip(request.parts, coverages, strict=True), 1):
        if sentence:
            yield f"{place}. {part.entry.title} of {part.reading.title}: {sentence}"


def _verify(options: argparse.Namespace) -> Iterator[str]:
    certified = _read_document(options.certificate, what="certificate")
    if len({path.name for path in options.files}) < len(options.files):
        raise ParameterError("Two files have the same name. Give each file of the certificate once.")
    if any(not path.is_file() for path in options.files if path.exists()):
        raise ParameterError("A certificate's files are files, not folders or devices.")
    check_file_sizes(path.stat().st_size for path in options.files)
    files = {path.name: path.read_bytes() for path in options.files}
    if wrong := faults_of_files(certified, files):
        raise LedgerError("\n".join(wrong))
    yield CONSISTENT
    yield from unverifiable()


def _ledger(options: argparse.Namespace, by: Actor) -> Iterator[str]:
    ledger = _open_ledger(options, make=options.part == "register")
    if options.part == "register":
        yield from _register(options, ledger, by)
        return
    if options.part == "show":
        yield f"The ledger is in {ledger.folder}."
        for dataset_id in ledger.dataset_ids():
            yield from _show(ledger, dataset_id)
        return
    if options.part == "restore":
        yield _restored_sentence(restore(ledger, options.copy, by))
        return
    if options.part == "check" and not options.dataset and not vars(options).get("against"):
        chosen = ledger.dataset_ids()
    else:
        chosen = [_dataset_id(ledger, options.dataset)]
    for dataset_id in chosen:
        yield from _run_ledger_command(options, ledger, dataset_id, by)


def _register(options: argparse.Namespace, ledger: Ledger, by: Actor) -> Iterator[str]:
    table = _table(options)
    n = options.n
    if n is None:
        if options.relation is Neighbours.ADD_REMOVE_ONE:
            raise LedgerError(
                "If rows are added or removed, give a public n with --n. It need not be the file's number of rows."
            )
        n = table.row_count
    if options.person and options.person not in table.columns:
        raise LedgerError("The file has no such person column.")
    allowed = Price.allowed if options.measure is BudgetMeasure.SUMS else Price.allowed_in_rho
    registration = ledger.register(
        Registration(
            name=options.name,
            neighbours=options.relation,
            public_n=n,
            person_column=options.person,
            rows_a_person=options.rows,
        ),
        table,
        allowed(epsilon=options.epsilon, delta=options.delta),
        by,
    )
    yield (
        f"{format_sentence(table.format, header=table.header)} Cells that do not fit their declaration count "
        "as missing."
    )
    yield f"Registered as {registration.dataset_id}. Unit and relation cannot be changed later."


def _show(ledger: Ledger, dataset_id: str) -> Iterator[str]:
    registration, account = ledger.registration(dataset_id), ledger.account(dataset_id)
    yield f"{dataset_id}: {registration.name}, {registration.neighbours.words}."
    yield f"  Spent {account.spent} of {account.budget}, left {account.left.left_words}."
    if registration.measure is BudgetMeasure.RHO:
        yield f"  In total, all releases stay within {account.budget.private}."
    if account.copies_put_back:
        yield f"  {restored_sentence(account.copies_put_back)}"
    for attempt in account.begun:
        yield f"  Attempt {attempt.number} of {attempt.at} has no outcome; {attempt.price} stays charged."


def _restored_sentence(old_file: Path | None) -> str:
    sentence = f" The old file is {old_file}." if old_file else ""
    return f"The copy was restored.{sentence} Charges made after the copy are not in it; certificates state this."


def _run_ledger_command(options: argparse.Namespace, ledger: Ledger, dataset_id: str, by: Actor) -> Iterator[str]:
    if options.part == "check":
        wrong = check(ledger, dataset_id)
        if not wrong and options.against:
            wrong = faults_against_ledger(_read_document(options.against, what="certificate"), ledger.lines(dataset_id))
        if wrong:
            raise LedgerError("\n".join(wrong))
        yield f"{dataset_id}: the ledger is consistent."
    elif options.part == "backup":
        yield f"Copied to {backup(ledger, dataset_id, options.folder)}; keep a copy of the key beside the ledger too."
    elif options.part == "version":
        ledger.add_version(dataset_id, _table(options), by)
        yield "Registered as another version of the same people's data, with the same budget."
    elif options.part == "budget":
        budget = Price.allowed(epsilon=options.epsilon, delta=options.delta)
        ledger.set_budget(dataset_id, budget, options.reason, by)
        yield f"The budget is {budget}."
    elif options.part == "publish":
        ledger.publish(dataset_id, options.entry, by)
        yield f"Entry {options.entry} is published."
    else:
        ledger.machine_failed(dataset_id, options.attempt, by)
        yield f"Attempt {options.attempt} is not charged. Certificates state how many such attempts there are."


def main(arguments: Sequence[str], *, program: str = "run.py") -> int:
    """Run the command; returns 0, or 1 after one sentence on the error output."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show ε shows a replacement
            stream.reconfigure(errors="replace")
    options = _parser(program).parse_args(arguments)
    try:
        if options.command in ("plan", "verify"):
            lines = _plan(options) if options.command == "plan" else _verify(options)
        else:
            by = Actor(name=options.by, role=options.role)
            lines = _release(options, by) if options.command == "release" else _ledger(options, by)
        for line in lines:
            _print(line, sys.stdout)
    except (LedgerError, ParameterError, DataError) as error:
        place = f" The ledger is in {options.ledger}." if isinstance(error, LedgerNotPrivate) else ""
        _print(f"{error}{place}", sys.stderr)
        return 1
    except OSError as error:
        _print(f"{error.filename or 'A file'}: {error.strerror}.", sys.stderr)
        return 1
    return 0


def _print(text: str, stream: TextIO) -> None:
    """Print a line at once; where its reader has gone, as ``| head`` does, the command goes on without one."""
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    remove_all_when_ended()
    sys.exit(main(sys.argv[1:]))
