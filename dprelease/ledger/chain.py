"""Hash chain of ledger entries: each line holds the digest of the previous one.

A line holds the kind of an entry, the entry it refers to, and the amount that it holds, charges or allows. The rest,
its body, is included as a salted digest: it can be verified with body and salt, and cannot be guessed without them. A
certificate holds the lines up to its own entry. ``fold_chain`` computes from the lines alone the amounts that are
allowed, held and charged, and the faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpcore.core import ParameterError
from dprelease.ledger.canonical import digest
from dprelease.ledger.units import ATTO_DIGITS, NANO_DIGITS, BudgetMeasure, Price
from dprelease.sizes import MAX_EPSILON

REGISTERED, VERSION, BUDGET, ATTEMPT = "registered", "version", "budget", "attempt"
STORED, FAILED, MACHINE_FAILED = "stored", "failed", "machine failed"
PUBLISHED, ACCESS, RESTORED = "published", "access", "restored"
OUTCOMES = (STORED, FAILED, MACHINE_FAILED)
ENTRY_KINDS = (REGISTERED, VERSION, BUDGET, ATTEMPT, *OUTCOMES, PUBLISHED, ACCESS, RESTORED)
OPENING = (REGISTERED, VERSION, BUDGET)
"""Kinds of the first three lines, which are written together."""
AMOUNTS = (BUDGET, ATTEMPT, *OUTCOMES)
"""Kinds whose lines have an amount."""
FIELDS = {"seq", "kind", "about", "details", "previous"}
MAX_COUNT = 10**6
"""Upper limit of versions, copies, entries and forgotten failures of a ledger."""
FIRST = "0" * 64
"""Previous digest of the first line."""
Line = Mapping[str, Any]
DIGEST = re.compile("[0-9a-f]{64}")


def line_of(
    *, seq: int, kind: str, about: int, amount: Price | None, body: Any, salt: str, previous: str
) -> dict[str, Any]:
    """Return the line of an entry."""
    line = {"seq": seq, "kind": kind, "about": about, "details": details_of(body, salt=salt), "previous": previous}
    return line | ({"amount": amount.document} if amount is not None and kind in AMOUNTS else {})


def details_of(body: Any, *, salt: str) -> str:
    """Return the salted digest of a body."""
    return digest({"salt": salt, "body": body})


@dataclass
class Balance:
    """State of an account after the lines of a chain.

    Attributes:
        budget: current budget; None before one is set.
        measure: measure of all amounts.
        charged: sum of the charges of all outcomes.
        spent: charges, plus the prices of attempts without an outcome.
        begun: price of each attempt without an outcome, by its number.
        outcomes: numbers of the entries that are outcomes, in order: the first is entry 1 of a certificate.
        counts: number of lines of each kind.
        forgotten: machine failures that are missing in restored copies.
        published: stored entries that were published.
        stored: stored entries.
        faults: line number (from 1) and reason of each fault.
    """

    budget: Price | None = None
    measure: BudgetMeasure | None = None
    charged: Price = field(default_factory=lambda: Price(epsilon_or_rho=0))
    spent: Price = field(default_factory=lambda: Price(epsilon_or_rho=0))
    begun: dict[int, Price] = field(default_factory=dict)
    outcomes: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)
    forgotten: int = 0
    published: set[int] = field(default_factory=set)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def count(self, kind: str) -> int:
        """Return the number of lines of a kind."""
        return self.counts.get(kind, 0)

    @property
    def machine_failures(self) -> int:
        """Number of declared machine failures, including those that are missing in restored copies."""
        return self.count(MACHINE_FAILED) + self.forgotten


def fold_chain(lines: Iterable[Line]) -> Balance:
    """Compute the account of a chain that begins with the registration; ``faults`` lists its faults."""
    account, previous, details = Balance(), FIRST, set[str]()
    for place, line in enumerate(lines, 1):
        if wrong := _form_fault(line):
            account.faults.append((place, wrong))
            return account
        try:
            faults = [
                *_order_faults(line, place=place, previous=previous, known_details=details),
                *_book_line(account, line),
            ]
            previous = digest(line)
        except (ParameterError, AttributeError, TypeError, ValueError, LookupError):
            account.faults.append((place, "an amount is not in the ledger's format"))
            return account
        account.faults += [(place, why) for why in faults]
        details.add(line["details"])
    return account


def _form_fault(line: Line) -> str:
    """Return the fault in a line's fields; empty if there is none. Later lines are not read after a fault."""
    if not isinstance(line, Mapping) or line.get("kind") not in ENTRY_KINDS:
        return "it is not in the ledger's format"
    expected = FIELDS | ({"amount"} if line["kind"] in AMOUNTS else set())
    if set(line) != expected or any(type(line[name]) is not int for name in ("seq", "about")):
        return "it is not in the ledger's format"
    if not isinstance(line.get("amount", {}), Mapping):
        return "it is not in the ledger's format"
    if not all(isinstance(line[name], str) and DIGEST.fullmatch(line[name]) for name in ("details", "previous")):
        return "a digest is not in the ledger's format"
    return ""


def _order_faults(line: Line, *, place: int, previous: str, known_details: set[str]) -> list[str]:
    """Return the faults in a line's position."""
    faults = []
    opens = line["kind"] == OPENING[place - 1] if place <= len(OPENING) else line["kind"] != REGISTERED
    if line["seq"] != place or line["previous"] != previous or not opens:
        faults.append("it does not follow the previous entry")
    if line["details"] in known_details:
        faults.append("it repeats the details of an earlier entry")
    return faults


def _book_line(account: Balance, line: Line) -> list[str]:
    """Add a line to the account; returns the faults in its contents."""
    kind, about, faults = line["kind"], line["about"], list[str]()
    account.counts[kind] = account.count(kind) + 1
    amount = Price.read(dict(line["amount"])) if kind in AMOUNTS else Price(epsilon_or_rho=0)
    if kind == BUDGET:
        if account.measure not in (None, amount.measure) or (account.budget and amount.measure is BudgetMeasure.RHO):
            faults.append("a budget in rho cannot be changed after registration")
        if not 0 < amount.epsilon_or_rho <= MAX_EPSILON * 10**NANO_DIGITS or amount.delta >= 10**ATTO_DIGITS:
            faults.append("the budget is too large")
        account.budget, account.measure = amount, account.measure or amount.measure
    elif kind == ATTEMPT:
        if not amount.epsilon_or_rho:
            faults.append("a release must have a charge")
        account.begun[line["seq"]] = amount
        account.spent = account.spent + amount
    elif kind in OUTCOMES:
        attempt_price = account.begun.pop(about, None)
        if attempt_price is None or amount != (
            Price(epsilon_or_rho=0, measure=attempt_price.measure) if kind == MACHINE_FAILED else attempt_price
        ):
            faults.append("it does not match its attempt")
        else:
            account.spent = account.spent - attempt_price + amount
        account.charged = account.charged + amount
        account.outcomes.append(line["seq"])
        if kind == STORED:
            account.stored.add(line["seq"])
    elif kind == PUBLISHED:
        if about not in account.stored or about in account.published:
            faults.append("a stored release can be published only once")
        account.published.add(about)
    elif kind == RESTORED:
        account.forgotten += about
        if account.forgotten > MAX_COUNT:
            faults.append("no copies have forgotten so many failures")
    if (kind != RESTORED and (kind in (*OUTCOMES, PUBLISHED)) != bool(about)) or about < 0:
        faults.append("it refers to the wrong entry")
    if account.spent and (account.budget is None or not account.spent.within(account.budget)):
        faults.append("the charges exceed the budget")
    return faults
