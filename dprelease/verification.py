"""Verification of a certificate against the one that this program would write, field by field.

``UNVERIFIABLE_FIELDS`` lists the fields that files cannot verify, with their form. All other fields are recomputed.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dpcore.core import Neighbours, exactly
from dpcore.privacy.composition import zcdp_delta
from dprelease.ledger.canonical import digest, digest_of_bytes
from dprelease.ledger.chain import MAX_COUNT, fold_chain
from dprelease.ledger.records import is_words
from dprelease.ledger.units import ATTO_DIGITS, NANO_DIGITS, Price

FORMAT = "dpscope-certificate/7"
"""The only format that is verified."""
FIELDS = {
    *("format", "release_id", "request", "data", "version", "guarantee", "parts", "tuning", "software", "files", "by"),
    *("at", "ledger", "digest"),
}
"""Fields of every certificate."""
EARLIEST = datetime.date(2000, 1, 1)
"""No certificate is older."""
HEX_DIGITS = {32: "32 hexadecimal digits", 64: "64 hexadecimal digits"}
NUMBERS = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
VERSION = re.compile(
    r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?(\+[0-9a-z.]*)?", re.ASCII
)
"""PEP 440 version of a package or of Python, which adds a bare plus sign where it was built from source."""
ROUNDING = 1e-5
"""Tolerance for the arithmetic of another computer."""
SHOWN = 60
Check = Callable[[Any], bool]


def is_hex(value: Any, digits: int) -> bool:
    """Return whether a value is a text of this many lower-case hexadecimal digits."""
    return isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value) is not None


def _is_words(value: Any) -> bool:
    return isinstance(value, str) and is_words(value) and value == value.strip()


def _is_column(value: Any) -> bool:
    return value == "" or (isinstance(value, str) and is_words(value))


def _is_date(value: Any) -> bool:
    """Return whether a value is a date as a ledger writes it, and not one in the future."""
    try:
        day = datetime.date.fromisoformat(value) if isinstance(value, str) else datetime.date.min
    except ValueError:
        return False
    # A day more, as the clocks of two computers differ.
    latest = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=1)
    return day.isoformat() == value and EARLIEST <= day <= latest


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 40 and VERSION.fullmatch(value) is not None


def is_count(value: Any, *, least: int = 0) -> bool:
    """Return whether a value is a whole number, not a truth value, within a ledger's limits."""
    return type(value) is int and least <= value <= MAX_COUNT


UNVERIFIABLE_FIELDS: dict[str, tuple[Check, str, str]] = {
    "release_id": (lambda x: is_hex(x, 32), HEX_DIGITS[32], "random"),
    "data.dataset_id": (lambda x: is_hex(x, 32), HEX_DIGITS[32], "random"),
    "data.salt": (lambda x: is_hex(x, 32), HEX_DIGITS[32], "random"),
    "data.name": (_is_words, "a name", "chosen by the data owner"),
    "data.unit.stated_by": (_is_words, "a name", "name of the person who registered the data"),
    "data.registered": (_is_date, "a date since 2000 and not in the future", "when the data were registered"),
    "version": (lambda x: is_count(x, least=1), "a whole number above 0", "which version of the rows was read"),
    **{
        f"software.{name}": (_is_version, "a version", "version of the program that made the release")
        for name in ("dpscope", "numpy", "opendp", "python")
    },
    "by": (_is_words, "a name", "name of the person who requested the release"),
    "at": (_is_date, "a date since 2000 and not in the future", "day of the release"),
    "ledger.salt": (lambda x: is_hex(x, 32), HEX_DIGITS[32], "random"),
}  # fmt: skip
"""Fields that files cannot verify: a check of their form, the form in words, and their meaning."""
FORMS: dict[str, tuple[Check, str]] = {
    **{
        name: (lambda x: isinstance(x, Mapping), "a mapping")
        for name in ("request", "ledger", "guarantee.whole_data_set.budget")
    },
    **{name: (lambda x: isinstance(x, str), "a decimal") for name in ("guarantee.epsilon", "guarantee.delta")},
    "data.relation": (lambda x: isinstance(x, str) and x in set(Neighbours), f"one of {', '.join(Neighbours)}"),
    "data.public_n": (lambda x: type(x) is int and x > 0, "a whole number above 0"),
    "data.person_column": (_is_column, "a column's name, or empty"),
    "request.person": (_is_column, "a column's name, or empty"),
    "data.unit.rows_a_person": (lambda x: is_count(x, least=1), "a whole number above 0"),
}
"""Fields that are recomputed, with the form that the computation needs."""
CONSISTENT = "The certificate and its files are consistent."
OF_THE_CHAIN = (
    "the contents of earlier entries, whether kinds and amounts were forged together, and whether entries "
    "follow the last"
)
OF_THE_REQUEST = (
    "whose rows were counted together, how many of a person, which columns were read, whether cells may be missing, "
    "what becomes of numbers out of bounds, their unit, the order of labels, the settings that the file was read with, "
    "declared bounds and fineness of which the released cells show only a part, the conditions behind the names of "
    "attributes, which values of a column are a label, how fine the line of a mean or of a question without an answer "
    "was, the number of the draw, the level of intervals of a file that has none and, where another request has files "
    "of the same form, the class of queries, n, relation, mechanism and parameters"
)
OF_THE_DIGEST = (
    "Intervals from simulated releases depend on the digest of the whole request, and often differ for another one."
)
OF_THE_NUMBERS = (
    "whether estimates of windows, trees, strategies and quantiles by group, projected answers and the rounds of MWEM "
    "follow from measured integers; which pairs a whole table chose to measure, and which synthetic rows were made of "
    "the measured tables, beyond their worst cells; the cuts of rectangles that share a column; a difference of one in "
    "the last digit of an interval, or of half a percent of its width with windows; and a difference of one row "
    "between two equally near guesses"
)
OF_THE_WHOLE = "whether these rows and this noise gave the released numbers, and whether the whole chain was forged"


def unverifiable() -> list[str]:
    """Return sentences on the facts that only the ledger (``ledger check --against``) or a signature can verify."""
    fields = "; ".join(f"{name} ({what})" for name, (_, _, what) in UNVERIFIABLE_FIELDS.items())
    return [
        f"These fields cannot be checked from files alone: {fields}.",
        f"Not checked in the request: {OF_THE_REQUEST}. {OF_THE_DIGEST}",
        f"Not checked in the released numbers: {OF_THE_NUMBERS}.",
        f"Not checked in the chain: {OF_THE_CHAIN}; {OF_THE_WHOLE}. Ask for: run.py ledger check --against "
        "certificate.json.",
    ]


def field_of(document: Any, name: str) -> Any:
    """Return the value of a field by its dotted name; raises LookupError if it is missing."""
    for step in name.split("."):
        if not isinstance(document, Mapping):
            raise LookupError(name)
        document = document[step]
    return document


def form_faults(document: Mapping[str, Any]) -> Iterator[str]:
    """Check the presence and form of fields that are not compared; yields a sentence for each fault."""
    forms = FORMS | {name: (check, form) for name, (check, form, _) in UNVERIFIABLE_FIELDS.items()}
    for name, (check, form) in forms.items():
        try:
            value = field_of(document, name)
        except LookupError:
            yield f"The certificate needs the field “{name}”."
            continue
        if not check(value):
            yield f"The certificate's {name} must be {form}."
    parts = document["parts"]
    if not isinstance(parts, list | tuple) or not all(_has_a_claim(part) for part in parts):
        yield "The certificate's parts must be a list of mappings, each with a guarantee of two decimals."


def differences(
    actual: Any,
    expected: Any,
    *,
    name: str = "",
    skip: Callable[[str], bool],
    rounded: Callable[[str], Sequence[str]] = lambda _: (),
) -> Iterator[str]:
    """Compare a certificate with the recomputed one; yields a sentence for each difference.

    Args:
        actual: the certificate, or a part of it.
        expected: the recomputed counterpart.
        name: dotted name of the part.
        skip: whether a field is compared elsewhere.
        rounded: texts of a field for a slightly smaller or larger sigma; mostly none.
    """
    if skip(name):
        return
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key in sorted({*actual, *expected}, key=str):
            inner = f"{name}.{key}" if name else str(key)
            if skip(inner):
                continue
            if key not in expected:
                yield f"The field “{inner[:SHOWN]}” does not belong to a certificate of this request."
            elif key not in actual:
                yield f"The certificate needs the field “{inner[:SHOWN]}”."
            else:
                yield from differences(actual[key], expected[key], name=inner, skip=skip, rounded=rounded)
    elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple) and len(expected) == len(actual):
        for place, (each, other) in enumerate(zip(actual, expected, strict=True), 1):
            yield from differences(each, other, name=f"{name}.{place}", skip=skip, rounded=rounded)
    elif not _same(actual, expected, rounded=partial(rounded, name)):
        yield f"The certificate's {name[:SHOWN]} is {_shown(actual)}, but the recomputed value is {_shown(expected)}."


def _same(actual: Any, expected: Any, *, rounded: Callable[[], Sequence[str]]) -> bool:
    """Return whether two values are equal, or differ only in numbers within the range of another computer's sigma.

    Args:
        actual: the certificate's value.
        expected: the recomputed value.
        rounded: returns the texts for a slightly smaller or larger sigma; called only where the values differ.
    """
    if type(actual) is not type(expected) or actual == expected or not isinstance(actual, str):
        return type(actual) is type(expected) and bool(actual == expected)
    if actual in (ends := rounded()):
        return True
    alike = [NUMBERS.findall(each) for each in ends if NUMBERS.sub("#", each) == NUMBERS.sub("#", expected)]
    if not alike or NUMBERS.sub("#", actual) != NUMBERS.sub("#", expected):
        return False
    return all(map(_is_between, NUMBERS.findall(actual), zip(NUMBERS.findall(expected), *alike, strict=True)))


def _is_between(text: str, others: Sequence[str]) -> bool:
    """Return whether a number is one of the others or, with all digits, between them and in the same notation.

    A number that is rounded to few digits has no other value between them.
    """
    if text in others:
        return True
    low, *_, high = sorted(float(each.replace(",", "")) for each in others)
    number = float(text.replace(",", ""))
    return low <= number <= high and text in (f"{number:,.0f}", exactly(number))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    text = str(value)
    return f"“{text[:SHOWN]}…”" if len(text) > SHOWN else f"“{text}”"


def is_sealed(document: Mapping[str, Any]) -> bool:
    """Return whether a certificate's digest is that of its other fields."""
    return bool(digest({name: value for name, value in document.items() if name != "digest"}) == document["digest"])


def body_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of the ledger's entry that is in a certificate."""
    return {name: value for name, value in document.items() if name not in {"ledger", "digest"}}


def frame_faults(document: dict[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    """Check the form of the fields, the digest and the chain; yields a sentence for each fault."""
    if document.get("format") != FORMAT:
        named_format = _shown(document.get("format"))
        yield f"The certificate is of the format {named_format}; only {FORMAT} is verified."
        return
    if set(document) != FIELDS:
        yield f"The fields of the certificate are not those of the format {FORMAT}."
        return
    if not is_sealed(document):
        yield "The certificate's digest is wrong: it was changed."
    if wrong := list(form_faults(document)):
        yield from wrong
        return
    if sentence := name_fault(document["files"]):
        yield sentence
    ledger = document["ledger"]
    if set(ledger) != {"salt", "chain"} or not _is_chain(ledger["chain"]):
        yield "The ledger of a certificate must be a salt and a chain of entries."
        return
    for place, why in fold_chain(ledger["chain"]).faults:
        yield f"The chain breaks at line {place}: {why}."


def _has_a_claim(part: Any) -> bool:
    claim = part.get("guarantee") if isinstance(part, Mapping) else None
    return isinstance(claim, Mapping) and all(isinstance(claim.get(name), str) for name in ("epsilon", "delta"))


def _is_chain(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(line, Mapping) for line in value)


def compared_elsewhere(body: Mapping[str, Any], *, parts: int) -> Callable[[str], bool]:
    """Return a function that tells which fields are not compared: unverifiable fields and rounded amounts."""
    skipped = {*UNVERIFIABLE_FIELDS, "files", "guarantee.epsilon", "guarantee.delta"}
    prefixes = [f"parts.{place}." for place in range(1, parts + 1)]
    skipped |= {f"{prefix}guarantee.{name}" for prefix in prefixes for name in ("epsilon", "delta")}
    whole = body["guarantee"]["whole_data_set"]
    if "rho" in whole["budget"]:
        skipped.add("guarantee.whole_data_set.private.epsilon")
    return skipped.__contains__


def claim_faults(body: Mapping[str, Any], proved: Price, parts: Sequence[Price], *, exact: bool) -> Iterator[str]:
    """Check the claims for all parts together and for each; yields a sentence for each fault.

    Args:
        body: body of the certificate.
        proved: price of all parts together.
        parts: price of each part.
        exact: whether the price of a part is that of its guarantee, which does not depend on arithmetic.
    """
    claimed = claim_of(body["guarantee"])
    if not proved.within(claimed):
        yield f"The mechanism's guarantee is {proved}, not {claimed}."
    added = sum(parts, Price(epsilon_or_rho=0))
    if not claimed.within(proved if exact and proved == added else with_rounding(proved)):
        yield f"The mechanism's guarantee is {proved}, and the certificate claims {claimed}."
    for place, (part_document, price) in enumerate(zip(body["parts"], parts, strict=False), 1):
        part, upper = claim_of(part_document["guarantee"]), price if exact else with_rounding(price)
        if not price.within(part) or not part.within(upper):
            yield f"The guarantee of statistic {place} is {price}, not {part}."


def with_rounding(price: Price) -> Price:
    """Return an amount plus the tolerance for another computer's arithmetic."""
    first, delta = (math.ceil((1 + ROUNDING) * each) for each in (price.epsilon_or_rho, price.delta))
    return replace(price, epsilon_or_rho=first, delta=delta)


def budget_implies_claim(budget: Price, claimed: Mapping[str, str]) -> bool:
    """Return whether a budget in rho implies the claimed epsilon and delta, and the claim is not weaker than that."""
    whole, private = Price.read(dict(claimed)), budget.private
    left = (whole.delta - budget.delta) / 10**ATTO_DIGITS
    implied = zcdp_delta(whole.epsilon_or_rho / 10**NANO_DIGITS, rho=budget.epsilon_or_rho / 10**NANO_DIGITS) <= left
    return bool(implied) and whole.within(replace(with_rounding(private), delta=private.delta))


def claim_of(guarantee: Mapping[str, Any]) -> Price:
    """Return the claimed epsilon and delta."""
    return Price.read({name: guarantee[name] for name in ("epsilon", "delta")})


def file_faults(named: Mapping[str, str], files: Mapping[str, bytes]) -> Iterator[str]:
    """Check for files that are missing, not named or changed; yields a sentence for each fault."""
    for name in sorted(set(named) - set(files)):
        yield f"The file {name} is missing."
    if set(files) - set(named):
        yield "One of the files is not named in the certificate."
    for name in sorted(set(files) & set(named)):
        if digest_of_bytes(files[name]) != named[name]:
            yield f"The file {name} is not the one that was released."


def name_fault(named: Any) -> str:
    """Return the fault in the names and digests of files as a sentence; empty if there is none."""
    if not isinstance(named, Mapping) or not named:
        return "The certificate names no file."
    for name, digest_text in named.items():
        if not isinstance(name, str) or not re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_-]{0,59}\.csv", name):
            return "A certificate names files by their base name, which ends in .csv."
        if not is_hex(digest_text, 64):
            return f"The digest of {name} must be {HEX_DIGITS[64]}."
    return ""
