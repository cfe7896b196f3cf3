"""Certificates: what a stored release claims, as canonical JSON, and whether such a claim holds together.

A certificate is the body of its ledger entry, the salt of that entry, the chain of entries up to it, and a digest of
all this. ``verify`` needs nothing but the files. Whoever makes up a whole ledger can make up a certificate of it: only
the ledger itself (``against``) or a signature tells that.
"""

from __future__ import annotations

import importlib.metadata
import platform
import secrets
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from dpcore.core import BoundKind, Neighbours, ParameterError, exactly
from dpcore.data.declared import MOST_PERSON_ROWS, Capped
from dprelease.ledger.canonical import canonical, digest, digest_of_bytes, parsed
from dprelease.ledger.chain import MACHINE_FAILED, RECORD, details_of, faults, first_digest, spent_along
from dprelease.ledger.records import Registration, Spent, Stored
from dprelease.ledger.units import ATTO_DIGITS, NANO_DIGITS, ROOM, Price, Tally
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.privacy.composition import zcdp_delta
from dprelease.requests.joint import Asked, JointRequest, asked_of, other_unit
from dprelease.requests.single import Request
from dprelease.requests.vector import total

FORMAT, FORMER = "dpscope-certificate/2", "dpscope-certificate/1"
"""Since 2 several Gaussian questions may claim less than the sum of their prices, which programs of 1 take for forged.
One of 1 claims the sum, which is no less than what is proved, and holds as it did."""
BETA = 0.05
RULES = {
    Tally.SUMS: "sums of epsilon and of delta over all entries (sequential composition)",
    Tally.RHO: "sums of rho and of delta over all entries, within a budget fixed in advance (approximate "
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
SHARED = {
    *("format", "release_id", "request", "data", "version", "guarantee", "tuning", "software", "files", "by", "at"),
}
"""What every certificate says; beside it, of one question its mechanism and accuracy, of several their parts."""


def unreleasable(asked: Asked) -> str:
    """Why a request cannot be released, whatever the budget; empty if it can."""
    for place, part in enumerate(asked.parts, 1):
        if sentence := _unreleasable(part):
            return f"Question {place}: {sentence}" if isinstance(asked, JointRequest) else sentence
    return ""


def prices(asked: Asked, *, rows_a_person: int, measure: Tally = Tally.SUMS, room: Fraction = ROOM) -> list[Price]:
    """What each question costs alone. Raises ParameterError where there is no guarantee."""
    each = [(part.mechanism.guarantee(part.problem), part) for part in asked.parts]
    if measure is Tally.SUMS:
        return [Price.of(guarantee, rows_a_person=rows_a_person) for guarantee, _ in each]
    return [
        Price.concentrated(
            guarantee, gaussians=part.mechanism.gaussians(part.problem), rows_a_person=rows_a_person, room=room
        )
        for guarantee, part in each
    ]


def price_of(asked: Asked, *, rows_a_person: int, measure: Tally = Tally.SUMS, room: Fraction = ROOM) -> Price:
    """What all questions cost together: the sum; in epsilon less where all noise is Gaussian, which is one vector."""
    sums = sum(prices(asked, rows_a_person=rows_a_person, measure=measure, room=room), Price(first=0))
    if measure is Tally.RHO:  # adds up as one vector does
        return sums
    added = asked.neighbours is Neighbours.ADD_REMOVE_ONE
    if len(asked.parts) < 2 or not (added or rows_a_person == 1):
        return sums
    parts = [(part.mechanism, part.problem) for part in asked.parts]
    together = Price.of(total(parts, person_rows=rows_a_person if added else 0))
    return together if together.within(sums) else sums


def file_prefix(asked: Asked, place: int) -> str:
    """What the names of the files of a question, counted from 1, begin with."""
    return f"{place:02d}-" if isinstance(asked, JointRequest) else ""


def _unreleasable(request: Request) -> str:
    if request.entry_key in WITHHELD:
        return WITHHELD[request.entry_key]
    if isinstance(request.mechanism, Interactive) and request.mechanism.adaptive:
        return "A conversation is not released: have the sweeping analyst ask, whose list is fixed in advance."
    if isinstance(request.reading, Capped):  # a row more may then push another out, which no row's guarantee covers
        return "A person's rows are capped by the registration of the data: ask for the columns alone."
    if request.bounds_from_data:
        return "Bounds or labels were read off the data, which no guarantee covers: declare them."
    try:
        guarantee = request.mechanism.guarantee(request.problem)
        request.mechanism.accuracy(request.problem, BETA)
    except ParameterError as error:
        return str(error)
    if not guarantee.releasable:
        return guarantee.why_not
    if guarantee.gamma:
        return "Random differential privacy composes only for releases fixed in advance, so it is not released."
    return ""


def body_of(
    request: Asked,
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
        **_each(request, registration.rows_a_person, files),
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


def _each(asked: Asked, rows_a_person: int, files: Iterable[str]) -> dict[str, Any]:
    """What is said of the one question, or of each of several."""
    if isinstance(asked, Request):
        return {"mechanism": _mechanism(asked), "accuracy": _accuracy(asked)}
    charges, names = prices(asked, rows_a_person=rows_a_person), sorted(files)
    told = [
        {
            "guarantee": price.document,
            "mechanism": _mechanism(part),
            "accuracy": _accuracy(part),
            "files": [name for name in names if name.startswith(file_prefix(asked, place))],
        }
        for place, (part, price) in enumerate(zip(asked.parts, charges, strict=True), 1)
    ]
    return {"parts": told}


def parts_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of each question of a certificate: guarantee, mechanism, accuracy, names of files, and the request."""
    if "parts" in body:
        return [{**told, "request": asked} for told, asked in zip(body["parts"], body["request"]["parts"], strict=True)]
    charge = {name: body["guarantee"][name] for name in ("epsilon", "delta")}
    one = {name: body[name] for name in ("mechanism", "accuracy", "request")}
    return [{**one, "guarantee": charge, "files": sorted(body["files"])}]


def _mechanism(request: Request) -> dict[str, Any]:
    return {
        "key": request.entry_key,
        "title": request.entry.title,
        "parameters": request.parameters,
        "sampler": "secure",
        "theorems": list(request.entry.references),
        "test": f"{PROVED}::test_exact_privacy[{request.entry_key}-{request.neighbours.value}]",
    }


def _accuracy(request: Request) -> dict[str, Any]:
    """The promised worst error over the question's class; a share of n."""
    bound = request.mechanism.accuracy(request.problem, BETA)
    promised = bound.kind is BoundKind.GUARANTEE and bound.applies and not bound.vacuous
    return {
        "statement": bound.statement,
        "worst_error": exactly(bound.value) if promised else "nothing is promised",
        "beta": exactly(BETA),
        "reference": bound.reference,
        "assumptions": [each.text for each in bound.assumptions],
    }


def certificate(stored: Stored) -> dict[str, Any]:
    """The certificate of a stored release; the same each time."""
    told = dict(stored.body) | {"ledger": {"salt": stored.salt, "chain": [dict(line) for line in stored.chain]}}
    return told | {"digest": digest(told)}


def stored_of(document: Mapping[str, Any], files: Mapping[str, bytes]) -> Stored:
    """The release that a certificate, which must hold, and its files are of; nothing tells whether it was published."""
    body = {name: told for name, told in document.items() if name not in {"ledger", "digest"}}
    ledger = document["ledger"]
    chain = tuple(ledger["chain"])
    return Stored(entry=chain[-1]["entry"], body=body, salt=ledger["salt"], chain=chain, files=dict(files))


def verify(certified: bytes | Mapping[str, Any], files: Mapping[str, bytes]) -> list[str]:
    """Everything that is wrong with a certificate and the files it names, one sentence each; nothing if it holds.

    Args:
        certified: the certificate's file, which must be in canonical form, or its contents.
        files: name to contents of what was released.
    """
    try:
        document = parsed(certified, what="certificate") if isinstance(certified, bytes) else dict(certified)
        if isinstance(certified, bytes) and canonical(document) != certified:
            return ["The certificate is not in canonical form: it was written or changed by another program."]
        return list(_wrong(document, files))
    except ParameterError as error:
        return [str(error)]
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError):
        return ["The certificate lacks what its format asks for."]


def _wrong(document: dict[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    each = {"parts"} if "parts" in document else {"mechanism", "accuracy"}
    if document.get("format") not in (FORMAT, FORMER) or set(document) != SHARED | each | {"ledger", "digest"}:
        yield f"The certificate is not of the format {FORMAT}, or of the one before it."
        return
    told = {name: value for name, value in document.items() if name != "digest"}
    if digest(told) != document["digest"]:
        yield "The certificate's digest is another: it was changed."
    body = {name: value for name, value in told.items() if name != "ledger"}
    yield from _wrong_in_the_chain(body, document["ledger"])
    yield from _wrong_in_the_guarantee(body)
    yield from _wrong_files(body["files"], files)


def _wrong_in_the_chain(body: Mapping[str, Any], ledger: Mapping[str, Any]) -> Iterator[str]:
    lines, last = ledger["chain"], ledger["chain"][-1]
    for place, why in faults(lines, start=first_digest(body["data"])):
        yield f"The chain breaks at entry {place}: {why}."
    details = details_of(body, salt=ledger["salt"], record=last.get(RECORD, ""))
    if last["details"] != details or last["outcome"] != "stored":
        yield "The ledger's entry is about another release."
    whole, charged, budget = body["guarantee"]["whole_data_set"], Price.read(last["charge"]), Price.read(last["budget"])
    due = _claimed(body)
    if budget.measure is Tally.RHO:
        rows, asked = body["data"]["unit"]["rows_a_person"], asked_of(body["request"])
        due = price_of(asked, rows_a_person=rows, measure=Tally.RHO, room=Fraction(1))
    if not due.within(charged):
        yield "Less was charged than is claimed."
    if whole["spent"] != spent_along(lines).document or whole["budget"] != last["budget"]:
        yield "What the whole data set has spent, or its budget, is not what the chain says."
    if whole["machine_failures_declared"] != sum(line["outcome"] == MACHINE_FAILED for line in lines):
        yield "The failures of a machine are not those of the chain."
    if not _keeps(budget, whole.get("private", budget.document)):
        yield "The budget is not as private as is said."
    if (whole["rule"], whole["scope"]) != (RULES[budget.measure], SCOPE):
        yield "The rule by which charges add up is another."


def _keeps(budget: Price, told: Mapping[str, str]) -> bool:
    """Whether all that a budget allows is together as private as is told; certificates of old left it to sums."""
    whole = Price.read(dict(told))
    if budget.measure is Tally.SUMS:
        return whole == budget
    left = (whole.delta - budget.delta) / 10**ATTO_DIGITS
    return bool(zcdp_delta(whole.first / 10**NANO_DIGITS, rho=budget.first / 10**NANO_DIGITS) <= left)


def _claimed(body: Mapping[str, Any]) -> Price:
    return Price.read({name: body["guarantee"][name] for name in ("epsilon", "delta")})


def _wrong_in_the_guarantee(body: Mapping[str, Any]) -> Iterator[str]:
    request, claim, data = asked_of(body["request"]), body["guarantee"], body["data"]
    relation = request.neighbours.value
    if request.document != body["request"]:
        yield "The request is not in canonical form."
    if not relation == claim["relation"] == data["relation"] or claim["unit"] != data["unit"]:
        yield "The guarantee is about another relation or unit than the registration."
    if request.n != data["public_n"]:
        yield "The request is about another n than the registration."
    rows = data["unit"]["rows_a_person"]
    if type(rows) is not int or not 1 <= rows <= MOST_PERSON_ROWS or (rows > 1) > (data["unit"]["kind"] == "person"):
        yield "The unit of privacy is none."
        return
    if sentence := other_unit(request, person=data["person_column"], rows=rows):
        yield sentence
    if type(body["version"]) is not int or body["version"] < 1:
        yield "The version of the rows is none."
    proved, claimed = price_of(request, rows_a_person=rows), _claimed(body)
    if not proved.within(claimed):
        yield f"The mechanism's guarantee is {proved}, not {claimed}."
    if sentence := unreleasable(request):
        yield sentence
    if claim["variant"] != _variant(claimed):
        yield "The variant of differential privacy is another."
    replaced = request.neighbours is Neighbours.REPLACE_ONE
    if claim["unprotected"] != ([f"number of rows: {data['public_n']}"] if replaced else []):
        yield "What is not protected is something else."
    yield from _wrong_parts(request, rows, body)


def _wrong_parts(asked: Asked, rows_a_person: int, body: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with what is said of each question."""
    expected = _each(asked, rows_a_person, body["files"])
    told, right = body.get("parts", [body]), expected.get("parts", [expected])
    if ("parts" in body) != ("parts" in expected) or len(told) != len(right):
        yield "There are other questions than those of the request."
        return
    for each, wanted in zip(told, right, strict=True):
        if any(each["mechanism"][name] != wanted["mechanism"][name] for name in ("key", "parameters", "sampler")):
            yield "The mechanism, its parameters or its sampler are not those of the request."
        if "parts" in body and each["guarantee"] != wanted["guarantee"]:
            yield "The guarantee of a question is another."
        if "parts" in body and (each["files"] != wanted["files"] or not each["files"]):
            yield "The files of a question are others."


def _wrong_files(named: Mapping[str, str], files: Mapping[str, bytes]) -> Iterator[str]:
    for name in sorted(set(named) - set(files)):
        yield f"The file {name} is missing."
    if set(files) - set(named):
        yield "A file is given that the certificate does not name."
    for name in sorted(set(files) & set(named)):
        if digest_of_bytes(files[name]) != named[name]:
            yield f"The file {name} is not the one that was released."


def against(certified: bytes | Mapping[str, Any], lines: list[dict[str, Any]]) -> list[str]:
    """What is wrong with a ledger, by its chain of lines, that a certificate of the same data set tells."""
    try:
        document = parsed(certified, what="certificate") if isinstance(certified, bytes) else certified
        chain = document["ledger"]["chain"]
        entries = len(chain)
    except (ParameterError, KeyError, TypeError):
        return ["The certificate lacks what its format asks for."]
    for place, (theirs, ours) in enumerate(zip(chain, lines, strict=False), 1):
        if theirs != ours:
            return [f"The ledger and the certificate differ from entry {place} on: one of them is not genuine."]
    if len(lines) < entries:
        return [f"The ledger ends at entry {len(lines)}, and entry {entries} was certified: it is an old copy."]
    return []
