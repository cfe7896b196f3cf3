"""Entries as a chain: each line names the digest of the one before it, the first that of the registration.

A line shows what an entry cost and what became of it. The rest, its body, is in it as a salted digest: whoever holds
the body and the salt can check it, and nobody else can guess it.

A second chain, the journal, has a link for every row that a ledger ever wrote: versions, budgets, attempts, charges,
publications, events. Links stay in the ledger; each line names the one before it, so that a certificate knows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dpcore.core import ParameterError
from dprelease.ledger.canonical import digest
from dprelease.ledger.units import ATTO_DIGITS, MOST_EPSILON, NANO_DIGITS, Price, Tally

MACHINE_FAILED = "machine failed"
OUTCOMES = ("stored", "failed", MACHINE_FAILED)
FIELDS = {"entry", "outcome", "charge", "budget", "details", "previous"}
RECORD = "record"
"""A further field of every line, but of those that ledgers of schema 1 wrote, which come first."""
Line = Mapping[str, Any]
DIGEST = re.compile("[0-9a-f]{64}")


def line_of(
    *,
    entry: int,
    outcome: str,
    charge: Price,
    budget: Price,
    body: Any,
    salt: str,
    previous: str,
    record: str = "",
) -> dict[str, Any]:
    """One entry's line; ``budget`` is the one that held when it was booked, ``record`` the journal's last link."""
    line = {
        "entry": entry,
        "outcome": outcome,
        "charge": charge.document,
        "budget": budget.document,
        "details": details_of(body, salt=salt, record=record),
        "previous": previous,
    }
    return line | _recorded(record)


def details_of(body: Any, *, salt: str, record: str) -> str:
    """What a line shows of everything that it does not say itself."""
    return digest({"salt": salt, "body": body} | _recorded(record))


def _recorded(record: str) -> dict[str, str]:
    return {RECORD: record} if record else {}


def link_of(kind: str, row: Sequence[Any], *, salt: str, previous: str) -> dict[str, Any]:
    """What the journal's link of a row is the digest of."""
    return {"kind": kind, "row": list(row), "salt": salt, "previous": previous}


def first_digest(registration: Mapping[str, Any]) -> str:
    """What the first line names: the registration, with its salt."""
    return digest(registration)


def spent_along(lines: Iterable[Line]) -> Price:
    """The charges, added up; raises ParameterError where one is not written as a ledger writes it."""
    return sum((Price.read(line["charge"]) for line in lines), Price(first=0))


def faults(lines: Iterable[Line], *, start: str) -> Iterator[tuple[int, str]]:
    """Place (from 1) and reason of everything wrong with a chain that starts at a digest."""
    previous, spent, seen, opened, recorded = start, Price(first=0), set[str](), None, False
    for place, line in enumerate(lines, 1):
        if not isinstance(line, Mapping) or set(line) - {RECORD} != FIELDS or line["outcome"] not in OUTCOMES:
            yield place, "its line is not one of a ledger"
            return
        if recorded and RECORD not in line:
            yield place, "it names no record, though an entry before it does"
        recorded = recorded or RECORD in line
        try:
            charge, budget = Price.read(line["charge"]), Price.read(line["budget"])
            spent, followed = spent + charge, digest(line)
            over = not spent.within(budget)
        except (ParameterError, AttributeError, TypeError):
            yield place, "an amount is not written as a ledger writes it"
            return
        named = [line[name] for name in ("details", RECORD) if name in line]
        if not all(isinstance(each, str) and DIGEST.fullmatch(each) for each in (*named, line["previous"])):
            yield place, "a digest is not written as a ledger writes it"
            return
        if type(line["entry"]) is not int or line["entry"] != place or line["previous"] != previous:
            yield place, "it does not follow the entry before it"
        if seen & {*named}:
            yield place, "it names what an entry before it names"
        if (line["outcome"] == MACHINE_FAILED) == bool(charge.first):
            yield place, "a machine's failure is charged nothing, and everything else something"
        if over:
            yield place, "more is spent than its budget"
        opened = opened or budget
        if budget.measure is not opened.measure or (budget.measure is Tally.RHO and budget != opened):
            yield place, "a budget in rho is fixed when it is opened"
        if budget.first > MOST_EPSILON * 10**NANO_DIGITS or budget.delta >= 10**ATTO_DIGITS:
            yield place, "no budget is so large"
        previous, seen = followed, seen | {*named}
