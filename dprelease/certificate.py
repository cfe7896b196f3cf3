"""Certificates: what a stored release claims, as canonical JSON, and whether such a claim holds together.

A certificate is the body of its ledger entry, the salt of that entry, the chain of entries up to it, and a digest of
all this. ``verify`` needs nothing but the files. Whoever makes up a whole ledger can make up a certificate of it: only
the ledger itself (``against``) or a signature tells that.
"""

from __future__ import annotations

import importlib.metadata
import platform
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpcore.core import Guarantee, Neighbours, ParameterError, exactly, printable
from dpcore.data.declared import Capped
from dpcore.mechanisms.online.interactive import Interactive
from dprelease.ledger.canonical import canonical, digest, digest_of_bytes, parse_document
from dprelease.ledger.chain import ACCESS, RESTORED, STORED, VERSION, details_of, fold_chain
from dprelease.ledger.records import Registration, Spent, Stored
from dprelease.ledger.units import ROOM, BudgetMeasure, Price
from dprelease.requests.coverage import coverage
from dprelease.requests.file_checks import table_faults
from dprelease.requests.parts import Request, RequestPart, other_unit
from dprelease.requests.tables import BETA
from dprelease.requests.vector import total
from dprelease.requests.work import too_much_work
from dprelease.verification import (
    FORMAT,
    ROUNDING,
    budget_implies_claim,
    claim_faults,
    claim_of,
    compared_elsewhere,
    differences,
    file_faults,
    frame_faults,
    with_rounding,
)

RULES = {
    BudgetMeasure.SUMS: "sums of epsilon and of delta over all entries (sequential composition)",
    BudgetMeasure.RHO: "sums of rho and of delta over all entries, within a budget fixed in advance (approximate "
    "zero-concentrated privacy; Whitehouse, Ramdas, Rogers and Wu 2023)",
}
SCOPE = "within this ledger only"
PROVED = "tests/dpcore/mechanisms/test_contract.py"
DPSCOPE = "0.1.0"
"""The version of this program, as pyproject.toml has it."""
PACKAGES = ("numpy", "opendp")
WITHHELD = {"net-walk": "A walk over databases is approximate: nothing is proved of what it draws."}
"""Entries that are never released, with the reason."""
UNPUBLISHED = "unpublished when drawn"
"""Which stored releases count as charged previews of another: a certificate does not change when they are published."""


def unreleasable(request: Request) -> str:
    """Why a request cannot be released, whatever the budget; empty if it can."""
    if sentence := too_much_work(request):
        return sentence
    for place, part in enumerate(request.parts, 1):
        if sentence := _part_refusal(part):
            return f"Question {place}: {sentence}" if len(request.parts) > 1 else sentence
    return ""


def prices(
    request: Request, *, rows_a_person: int, measure: BudgetMeasure = BudgetMeasure.SUMS, room: Fraction = ROOM
) -> list[Price]:
    """What each question costs alone. Raises ParameterError where there is no guarantee."""
    each = [(part.mechanism.guarantee(part.problem), part) for part in request.parts]
    if measure is BudgetMeasure.SUMS:
        return [_price(part, guarantee, rows_a_person=rows_a_person) for guarantee, part in each]
    return [
        Price.concentrated(
            guarantee, gaussians=part.mechanism.gaussians(part.problem), rows_a_person=rows_a_person, room=room
        )
        for guarantee, part in each
    ]


def _price(part: RequestPart, guarantee: Guarantee, *, rows_a_person: int) -> Price:
    """The price by group privacy, or what Gaussian noise proves of so many rows added at once where that is less."""
    price = Price.of(guarantee, rows_a_person=rows_a_person)
    added = rows_a_person > 1 and part.neighbours is Neighbours.ADD_REMOVE_ONE
    if not (added and part.mechanism.gaussians(part.problem)):
        return price
    by_shift = Price.of(part.mechanism.person_guarantee(part.problem, rows_a_person))
    return by_shift if by_shift.within(price) else price


def price_of(
    request: Request, *, rows_a_person: int, measure: BudgetMeasure = BudgetMeasure.SUMS, room: Fraction = ROOM
) -> Price:
    """What all questions cost together: the sum; in epsilon less where all noise is Gaussian, which is one vector."""
    sums = sum(prices(request, rows_a_person=rows_a_person, measure=measure, room=room), Price(epsilon_or_rho=0))
    if measure is BudgetMeasure.RHO:  # adds up as one vector does
        return sums
    added = request.neighbours is Neighbours.ADD_REMOVE_ONE
    if len(request.parts) < 2 or not (added or rows_a_person == 1):
        return sums
    parts = [(part.mechanism, part.problem) for part in request.parts]
    together = Price.of(total(parts, person_rows=rows_a_person if added else 0))
    return together if together.within(sums) else sums


def file_prefix(request: Request, place: int) -> str:
    """What the names of the files of a question, counted from 1, begin with."""
    return f"{place:02d}-" if len(request.parts) > 1 else ""


def _part_refusal(question: RequestPart) -> str:
    if question.entry_key in WITHHELD:
        return WITHHELD[question.entry_key]
    if isinstance(question.mechanism, Interactive) and question.mechanism.adaptive:
        return "A conversation is not released: have the sweeping analyst ask, whose list is fixed in advance."
    if isinstance(question.reading, Capped):  # a row more may then push another out, which no row's guarantee covers
        return "A person's rows are capped by the registration of the data: ask for the columns alone."
    if question.bounds_from_data:
        return "Bounds or labels were read off the data, which no guarantee covers: declare them."
    try:
        guarantee = question.mechanism.guarantee(question.problem)
        question.mechanism.check_size(question.problem)
        question.mechanism.accuracy(question.problem, BETA)
    except ParameterError as error:
        return str(error)
    if not guarantee.releasable:
        return guarantee.why_not
    if guarantee.gamma:
        return "Random differential privacy composes only for releases fixed in advance, so it is not released."
    return ""


def body_of(
    request: Request,
    registration: Registration,
    *,
    version: int,
    before: Spent,
    files: Mapping[str, bytes],
    unpublished: int,
    steward_saw: bool,
    by: str,
    at: str,
) -> dict[str, Any]:
    """What the entry of a draw says; public, and without a float.

    Args:
        request: what was asked.
        registration: of the data.
        version: of the rows that were drawn from, counted from 1.
        before: the account; what is spent of it is the charges of all entries before, and this one's.
        files: what was drawn.
        unpublished: stored releases of these data that nobody has published yet; they may be later.
        steward_saw: whether the steward saw true values.
        by: who asked.
        at: the day.
    """
    claim = price_of(request, rows_a_person=registration.rows_a_person)
    return {
        "format": FORMAT,
        "release_id": secrets.token_hex(16),
        "request": request.document,
        "data": registration.document,
        "version": version,
        "guarantee": {
            **claim.document,
            "variant": _variant(claim),
            "relation": registration.neighbours.value,
            "unit": registration.unit,
            "unprotected": _unprotected(registration),
            "steward_saw_true_values": steward_saw,
            "whole_data_set": {
                "budget": before.budget.document,
                "spent": before.spent.document,
                "private": before.budget.private.document,
                "rule": RULES[before.budget.measure],
                "scope": SCOPE,
                "machine_failures_declared": before.machine_failures,
                "copies_put_back": before.copies_put_back,
            },
        },
        "parts": _each(request, registration.rows_a_person, files),
        "tuning": {"charged_previews": unpublished, "counted": UNPUBLISHED},
        "software": {name: importlib.metadata.version(name) for name in PACKAGES}
        | {"dpscope": DPSCOPE, "python": platform.python_version()},
        "files": {name: digest_of_bytes(contents) for name, contents in files.items()},
        "by": by,
        "at": at,
    }


def _variant(price: Price) -> str:
    return "approximate differential privacy" if price.delta else "pure differential privacy"


def _unprotected(registration: Registration) -> list[str]:
    """What is public by declaration."""
    replaced = registration.neighbours is Neighbours.REPLACE_ONE
    return [f"number of rows: {registration.public_n}"] if replaced else []


def _each(request: Request, rows_a_person: int, files: Iterable[str]) -> list[dict[str, Any]]:
    """What is said of each question."""
    charges, names = prices(request, rows_a_person=rows_a_person), sorted(files)
    return [
        {
            "guarantee": price.document,
            "mechanism": _mechanism(part),
            "accuracy": _accuracy(part),
            "files": [name for name in names if name.startswith(file_prefix(request, place))],
        }
        for place, (part, price) in enumerate(zip(request.parts, charges, strict=True), 1)
    ]


def _mechanism(question: RequestPart) -> dict[str, Any]:
    return {
        "key": question.entry_key,
        "title": question.entry.title,
        "parameters": question.parameters,
        "sampler": "secure",
        "theorems": list(question.entry.references),
        "test": f"{PROVED}::test_exact_privacy[{question.entry_key}-{question.neighbours.value}]",
    }


def _accuracy(question: RequestPart) -> dict[str, Any]:
    """The guaranteed worst error over the question's class, as a number in its unit and as a sentence."""
    bound = question.mechanism.accuracy(question.problem, BETA)
    # The theorem's words state its number as a fact: they stand only where that number is guaranteed.
    words = bound.statement if bound.guaranteed else ""
    return {
        "guaranteed_error": question.guaranteed_error(BETA),
        "unit": bound.unit.value,
        "statement": " ".join(filter(None, (words, coverage(question.mechanism, question.problem)))),
        "worst_error": exactly(bound.value) if bound.guaranteed else "no guarantee",
        "beta": exactly(BETA),
        "reference": bound.reference,
        "assumptions": [each.text for each in bound.assumptions],
    }


def certificate(stored: Stored) -> dict[str, Any]:
    """The certificate of a stored release; the same each time."""
    document = dict(stored.body) | {"ledger": {"salt": stored.salt, "chain": [dict(line) for line in stored.chain]}}
    return document | {"digest": digest(document)}


def stored_of(document: Mapping[str, Any], files: Mapping[str, bytes]) -> Stored:
    """The release that a certificate, which must hold, and its files are of; nothing tells whether it was published."""
    body = {name: value for name, value in document.items() if name not in {"ledger", "digest"}}
    ledger = document["ledger"]
    chain = tuple(ledger["chain"])
    return Stored(entry=len(fold_chain(chain).outcomes), body=body, salt=ledger["salt"], chain=chain, files=dict(files))


def verify(certified: bytes | Mapping[str, Any], files: Mapping[str, bytes]) -> list[str]:
    """Everything that is wrong with a certificate and the files it names, one sentence each; nothing if it holds.

    The certificate that this program would write of the same request is built and compared field by field. What files
    cannot tell is named by ``verification.unverifiable``.

    Args:
        certified: the certificate's file, which must be in canonical form, or its contents.
        files: name to contents of what was released.
    """
    try:
        document = parse_document(certified, what="certificate") if isinstance(certified, bytes) else dict(certified)
        if isinstance(certified, bytes) and canonical(document) != certified:
            return ["The certificate is not in canonical form: it was written or changed by another program."]
        for check in (frame_faults, _content_faults, _table_faults):
            if wrong := list(check(document, files)):  # the next ones build on it
                return [printable(each) for each in wrong]
    except ParameterError as error:
        return [printable(str(error))]
    except Exception:  # of whatever a made-up request makes fail: such a certificate was never written
        return ["The certificate lacks what its format asks for."]
    return []


def _content_faults(document: dict[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    """Sentences about everything that can be computed again, and about the files' digests."""
    body = {name: value for name, value in document.items() if name not in {"ledger", "digest"}}
    lines, data = document["ledger"]["chain"], document["data"]
    last, account = lines[-1], fold_chain(lines)
    budget = account.budget or Price(epsilon_or_rho=0)
    if last["details"] != details_of(body, salt=document["ledger"]["salt"]) or last["kind"] != STORED:
        yield "The ledger's entry is about another release."
    if lines[0]["details"] != details_of(data, salt=data["salt"]):
        yield "The ledger is about other data."
    request, registration = Request.of(body["request"]), Registration.of(data)
    if request.document != body["request"]:
        yield "The request is not in canonical form."
    sentence = registration.refusal or unreleasable(request)
    sentence = sentence or other_unit(request, person=registration.person_column, rows=registration.rows_a_person)
    if sentence:
        yield sentence
        return
    if (request.neighbours, request.n) != (registration.neighbours, registration.public_n):
        yield "The request is about another relation or n than the registration."
    if body["version"] > sum(line["kind"] == VERSION for line in lines[: last["about"]]):
        yield "The rows' version was registered after the draw, or never."
    if body["at"] < data["registered"]:
        yield "The release was drawn before the data were registered."
    before = Spent(
        budget=budget,
        spent=account.charged,
        machine_failures=account.machine_failures,
        copies_put_back=account.count(RESTORED),
    )
    expected = body_of(
        request,
        registration,
        version=body["version"],
        before=before,
        files=dict.fromkeys(body["files"], b""),
        unpublished=len(account.stored) - 1 - len(account.published),
        steward_saw=account.count(ACCESS) > 0,
        by=body["by"],
        at=body["at"],
    )
    skip = compared_elsewhere(body, parts=len(request.parts))
    yield from differences(body, expected, skip=skip, rounded=_rounded(request))
    rows, charged = registration.rows_a_person, Price.read(last["amount"])
    proved, each = price_of(request, rows_a_person=rows), prices(request, rows_a_person=rows)
    yield from claim_faults(body, proved, each, exact=rows == 1)
    claimed = claim_of(body["guarantee"])
    due, upper = claimed, claimed
    if budget.measure is BudgetMeasure.RHO:
        rooms = (Fraction(1), ROOM)
        due, upper = (price_of(request, rows_a_person=rows, measure=BudgetMeasure.RHO, room=room) for room in rooms)
        if not budget_implies_claim(budget, body["guarantee"]["whole_data_set"]["private"]):
            yield "The budget is not as private as is said."
    if not due.within(charged):
        yield "Less was charged than is claimed."
    elif not charged.within(with_rounding(upper) if budget.measure is BudgetMeasure.RHO else upper):
        yield "More was charged than is claimed."
    yield from file_faults(body["files"], files)


def _rounded(request: Request) -> Callable[[str], list[str]]:
    """Of a field, what is said of the error of Gaussian noise with a sigma that is a little smaller and larger.

    Sigma is found by iteration, and another computer may find the next one; all that is no number of it stays.
    """
    by_part = dict[int, list[dict[str, Any]]]()

    def texts(name: str) -> list[str]:
        match = re.fullmatch(r"parts\.([0-9]+)\.accuracy\.(guaranteed_error|statement|worst_error)", name)
        if not match:
            return []
        place = int(match[1])
        if place not in by_part:
            part = request.parts[place - 1]
            gaussian = part.mechanism.gaussians(part.problem)
            by_part[place] = [_accuracy(each) for each in _at_nearby_epsilon(part)] if gaussian else []
        return [accuracy[match[2]] for accuracy in by_part[place]]

    return texts


def _at_nearby_epsilon(part: RequestPart) -> Iterator[RequestPart]:
    """The question at an epsilon slightly above and below: sigma falls with its root at least."""
    for factor in (1 - 2 * ROUNDING, 1 + 2 * ROUNDING):
        values = {**part.values, "epsilon": factor * float(part.parameters["epsilon"])}
        with suppress(ParameterError):  # beyond the least or the largest epsilon
            yield replace(part, values=values)


def _table_faults(document: dict[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    """Sentences about files that cannot be of the request, whatever was drawn."""
    request = Request.of(document["request"])
    for place, (part, part_document) in enumerate(zip(request.parts, document["parts"], strict=True), 1):
        own = {name: files[name] for name in part_document["files"]}
        yield from table_faults(part, own, prefix=file_prefix(request, place))


def faults_against_ledger(certified: bytes | Mapping[str, Any], lines: list[dict[str, Any]]) -> list[str]:
    """What is wrong with a ledger, by its chain of lines, that a certificate of the same data set tells."""
    try:
        document = parse_document(certified, what="certificate") if isinstance(certified, bytes) else dict(certified)
        chain = document["ledger"]["chain"]
        entries, body = (
            len(chain),
            {name: value for name, value in document.items() if name not in {"ledger", "digest"}},
        )
        sealed = digest({name: value for name, value in document.items() if name != "digest"}) == document["digest"]
        its_own = chain[-1]["details"] == details_of(body, salt=document["ledger"]["salt"])
    except Exception:  # whatever a made-up document makes fail
        return ["The certificate lacks what its format asks for."]
    if not (sealed and its_own):
        return ["The certificate's digests are not those of what it says: it was changed."]
    for place, (theirs, ours) in enumerate(zip(chain, lines, strict=False), 1):
        if theirs != ours:
            return [f"The ledger and the certificate differ from line {place} on: one of them is not genuine."]
    if len(lines) < entries:
        return [f"The ledger ends at line {len(lines)}, and line {entries} was certified: it is an old copy."]
    return []
