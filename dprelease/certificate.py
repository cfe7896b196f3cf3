"""Certificates: the claims of a stored release as canonical JSON, and their verification.

A certificate consists of the body of its ledger entry, the salt of that entry, the chain of entries up to it, and a
digest of all this. ``verify`` needs only the files. An attacker who forges a whole ledger can also forge its
certificate: only the ledger itself (``faults_against_ledger``) or a signature can reveal that.
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

from dpcore.core import Guarantee, Mechanism, Neighbours, ParameterError, exactly, printable
from dpcore.core.documents import parse_document
from dpcore.data.declarations import Capped
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.mechanisms.ranges.windows import StrategyMechanism
from dprelease.ledger.canonical import canonical, digest, digest_of_bytes
from dprelease.ledger.chain import ACCESS, RESTORED, STORED, VERSION, details_of, fold_chain
from dprelease.ledger.records import Registration, Spent, Stored
from dprelease.ledger.units import ROOM, BudgetMeasure, Price
from dprelease.requests.coverage import coverage
from dprelease.requests.file_checks import table_faults
from dprelease.requests.intervals import interval_sentence
from dprelease.requests.parts import Request, RequestPart, other_unit
from dprelease.requests.tables import BETA
from dprelease.requests.vector import total
from dprelease.requests.work import too_much_work
from dprelease.verification import (
    FORMAT,
    ROUNDING,
    body_in,
    budget_implies_claim,
    claim_faults,
    claim_of,
    compared_elsewhere,
    differences,
    file_faults,
    frame_faults,
    is_sealed,
    with_rounding,
)

RULES = {
    BudgetMeasure.SUMS: "sums of epsilon and of delta over all entries (sequential composition)",
    BudgetMeasure.RHO: "sums of rho and of delta over all entries, within a budget that was fixed in advance "
    "(approximate zero-concentrated differential privacy; Whitehouse, Ramdas, Rogers and Wu 2023)",
}
SCOPE = "within this ledger only"
PROVED = "tests/dpcore/mechanisms/test_contract.py"
CONTRACT = ("data", "value")
"""Kinds of releases whose laws that test enumerates."""
DPSCOPE = "0.1.0"
"""Version of this program, as in pyproject.toml."""
PACKAGES = ("numpy", "opendp")
WITHHELD = {"net-walk": "A random walk over databases samples only approximately, and no privacy guarantee is proved."}
"""Entries of the catalogue that are never released, with the reason."""
UNPUBLISHED = "unpublished when sampled"
"""Rule by which stored releases count as charged previews: a later publication does not change a certificate."""


def unreleasable(request: Request) -> str:
    """Return the reason why a request cannot be released with any budget; empty if it can."""
    if sentence := too_much_work(request):
        return sentence
    for place, part in enumerate(request.parts, 1):
        if sentence := _part_refusal(part):
            return f"Statistic {place}: {sentence}" if len(request.parts) > 1 else sentence
    return ""


def prices(
    request: Request, *, rows_a_person: int, measure: BudgetMeasure = BudgetMeasure.SUMS, room: Fraction = ROOM
) -> list[Price]:
    """Return the price of each part alone. Raises ParameterError where there is no guarantee."""
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
    """Return the price by group privacy, or the smaller one that the mechanism proves for several added rows."""
    price = Price.of(guarantee, rows_a_person=rows_a_person)
    added = rows_a_person > 1 and part.neighbours is Neighbours.ADD_REMOVE_ONE
    if not (added and type(part.mechanism).person_guarantee is not Mechanism.person_guarantee):
        return price
    by_shift = Price.of(part.mechanism.person_guarantee(part.problem, rows_a_person))
    return by_shift if by_shift.within(price) else price


def price_of(
    request: Request, *, rows_a_person: int, measure: BudgetMeasure = BudgetMeasure.SUMS, room: Fraction = ROOM
) -> Price:
    """Return the price of all parts together: the sum, or less in epsilon where all noise is one Gaussian vector."""
    sums = sum(prices(request, rows_a_person=rows_a_person, measure=measure, room=room), Price(epsilon_or_rho=0))
    if measure is BudgetMeasure.RHO:  # a sum of rho is the price of one vector
        return sums
    added = request.neighbours is Neighbours.ADD_REMOVE_ONE
    if len(request.parts) < 2 or not (added or rows_a_person == 1):
        return sums
    parts = [(part.mechanism, part.problem) for part in request.parts]
    together = Price.of(total(parts, person_rows=rows_a_person if added else 0))
    return together if together.within(sums) else sums


def file_prefix(request: Request, place: int) -> str:
    """Return the prefix of the file names of a part, counted from 1."""
    return f"{place:02d}-" if len(request.parts) > 1 else ""


def _part_refusal(question: RequestPart) -> str:
    if question.entry_key in WITHHELD:
        return WITHHELD[question.entry_key]
    if isinstance(question.mechanism, Interactive) and question.mechanism.adaptive:
        return (
            "A conversation with adaptive queries cannot be released. Choose the sweeping analyst, whose "
            "queries are fixed in advance."
        )
    if isinstance(question.reading, Capped):  # with a cap one more row may replace another, beyond a row's guarantee
        return "The registration of the data sets the maximum rows per person. Request the columns without a cap."
    if question.bounds_from_data:
        return "Bounds or labels were read off the data, and no guarantee covers that. Declare them."
    try:
        guarantee = question.mechanism.guarantee(question.problem)
        question.mechanism.check_size(question.problem)
        question.mechanism.accuracy(question.problem, BETA)
    except ParameterError as error:
        return str(error)
    if not guarantee.releasable:
        return guarantee.why_not
    if guarantee.gamma:
        return (
            "Random differential privacy composes only for releases that are fixed in advance. It cannot be released."
        )
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
    """Return the body of a release's ledger entry; public, and without floats.

    Args:
        request: the request.
        registration: registration of the data.
        version: version of the rows, counted from 1.
        before: the account with the charges of all earlier entries and of this one.
        files: released files.
        unpublished: number of stored releases of these data that are not published yet.
        steward_saw: whether the data owner had access to true values.
        by: name of the user who asked for the release.
        at: date of the release.
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
    """Return the facts that are public by declaration."""
    replaced = registration.neighbours is Neighbours.REPLACE_ONE
    return [f"number of rows: {registration.public_n}"] if replaced else []


def _each(request: Request, rows_a_person: int, files: Iterable[str]) -> list[dict[str, Any]]:
    """Return the certificate's mapping for each part."""
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
        "test": _proof(question),
    }


def _proof(question: RequestPart) -> str:
    """Return the test that enumerates the mechanism's law, or the folder of its family's tests that do."""
    if question.entry.mechanism.releases in CONTRACT:
        return f"{PROVED}::test_exact_privacy[{question.entry_key}-{question.neighbours.value}]"
    return "/".join(["tests", *type(question.mechanism).__module__.split(".")[:-1]])


def _accuracy(question: RequestPart) -> dict[str, Any]:
    """Return the guaranteed worst error over the part's query class, as a number and a sentence, and its intervals."""
    bound = question.mechanism.accuracy(question.problem, BETA)
    # The theorem's statement asserts its number, so it is included only where the number is guaranteed.
    words = bound.statement if bound.guaranteed else ""
    return {
        "guaranteed_error": question.guaranteed_error(BETA),
        "unit": bound.unit.value,
        "statement": " ".join(filter(None, (words, coverage(question.mechanism, question.problem)))),
        "intervals": interval_sentence(question.mechanism, question.problem_of_persons, level=question.level),
        "worst_error": exactly(bound.value) if bound.guaranteed else "no guarantee",
        "beta": exactly(BETA),
        "reference": bound.reference,
        "assumptions": [each.text for each in bound.assumptions],
    }


def certificate(stored: Stored) -> dict[str, Any]:
    """Return the certificate of a stored release; the same each time."""
    document = dict(stored.body) | {"ledger": {"salt": stored.salt, "chain": [dict(line) for line in stored.chain]}}
    return document | {"digest": digest(document)}


def stored_of(document: Mapping[str, Any], files: Mapping[str, bytes]) -> Stored:
    """Return the stored release of a verified certificate and its files; whether it was published is unknown."""
    chain, salt = tuple(document["ledger"]["chain"]), document["ledger"]["salt"]
    entry = len(fold_chain(chain).outcomes)
    return Stored(entry=entry, body=body_in(document), salt=salt, chain=chain, files=dict(files))


def verify(certified: bytes | Mapping[str, Any], files: Mapping[str, bytes]) -> list[str]:
    """Return the faults of a certificate and its files, one sentence each; empty if it is valid.

    The certificate that this program would write for the same request is built and compared field by field. The
    fields that files cannot verify are listed by ``verification.unverifiable``.

    Args:
        certified: the certificate's file, which must be in canonical form, or its contents.
        files: contents of the released files by name.
    """
    try:
        document = parse_document(certified, what="certificate") if isinstance(certified, bytes) else dict(certified)
        if isinstance(certified, bytes) and canonical(document) != certified:
            return ["The certificate is not in canonical form: another program wrote or changed it."]
        for check in (frame_faults, _content_faults, _table_faults):
            if wrong := list(check(document, files)):  # the next ones build on it
                return [printable(each) for each in wrong]
    except ParameterError as error:
        return [printable(str(error))]
    except MemoryError:  # says nothing about the certificate
        raise
    except Exception:  # a forged request may fail anywhere: no program wrote such a certificate
        return ["The certificate lacks fields that its format requires."]
    return []


def _content_faults(document: dict[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    """Check everything that can be recomputed, and the files' digests; yields a sentence for each fault."""
    body, lines, data = body_in(document), document["ledger"]["chain"], document["data"]
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
        yield "The request and the registration have different neighbouring relations or n."
    if body["version"] > sum(line["kind"] == VERSION for line in lines[: last["about"]]):
        yield "The version of the rows was registered after the release, or never."
    if body["at"] < data["registered"]:
        yield "The release was made before the data were registered."
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
            yield "The budget does not guarantee the claimed ε and δ."
    if not due.within(charged):
        yield "Less was charged than is claimed."
    elif not charged.within(with_rounding(upper) if budget.measure is BudgetMeasure.RHO else upper):
        yield "More was charged than is claimed."
    yield from file_faults(body["files"], files)


WITH_STRATEGY = (StrategyMechanism, GroupQuantileCounts)
"""Mechanisms whose error depends on weights found by iteration."""


def _rounded(request: Request) -> Callable[[str], list[str]]:
    """Return a function from a field's name to its texts for a slightly smaller and larger epsilon.

    A Gaussian sigma and the weights of windows are found by iteration, and matrices are added up in an order that
    depends on the processor: another computer may find adjacent values. Only numbers may differ.
    """
    by_part = dict[int, list[dict[str, Any]]]()

    def texts(name: str) -> list[str]:
        match = re.fullmatch(r"parts\.([0-9]+)\.accuracy\.(guaranteed_error|statement|intervals|worst_error)", name)
        if not match:
            return []
        place = int(match[1])
        if place not in by_part:
            part = request.parts[place - 1]
            nearby = part.mechanism.gaussians(part.problem) or isinstance(part.mechanism, WITH_STRATEGY)
            by_part[place] = [_accuracy(each) for each in _at_nearby_epsilon(part)] if nearby else []
        return [accuracy[match[2]] for accuracy in by_part[place]]

    return texts


def _at_nearby_epsilon(part: RequestPart) -> Iterator[RequestPart]:
    """Return the part at an epsilon slightly below and above, which brackets the sigma."""
    for factor in (1 - 2 * ROUNDING, 1 + 2 * ROUNDING):
        values = {**part.values, "epsilon": factor * float(part.parameters["epsilon"])}
        with suppress(ParameterError):  # outside the range of epsilon
            yield replace(part, values=values)


def _table_faults(document: dict[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    """Check that the files can come from the request for some noise; yields a sentence for each fault."""
    request = Request.of(document["request"])
    for place, (part, part_document) in enumerate(zip(request.parts, document["parts"], strict=True), 1):
        own = {name: files[name] for name in part_document["files"]}
        yield from table_faults(part, own, prefix=file_prefix(request, place), digest=request.digest)


def faults_against_ledger(certified: bytes | Mapping[str, Any], lines: list[dict[str, Any]]) -> list[str]:
    """Return the faults of a ledger's chain that a certificate of the same data set reveals."""
    try:
        document = parse_document(certified, what="certificate") if isinstance(certified, bytes) else dict(certified)
        chain = document["ledger"]["chain"]
        entries = len(chain)
        its_own = chain[-1]["details"] == details_of(body_in(document), salt=document["ledger"]["salt"])
        intact = its_own and is_sealed(document)
    except Exception:  # a forged document may fail anywhere
        return ["The certificate lacks fields that its format requires."]
    if not intact:
        return ["The certificate's digests do not match its contents: it was changed."]
    for place, (theirs, ours) in enumerate(zip(chain, lines, strict=False), 1):
        if theirs != ours:
            return [f"The ledger and the certificate differ from line {place} on. One of them is not genuine."]
    if len(lines) < entries:
        return [f"The ledger ends at line {len(lines)}, but line {entries} was certified. The ledger is an old copy."]
    return []
