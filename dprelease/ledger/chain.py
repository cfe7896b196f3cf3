"""Entries as a chain: each line names the digest of the one before it, the first that of nothing.

A line shows what kind an entry is, what it is about and what it holds, charges or allows. The rest, its body, is in it
as a salted digest: whoever holds body and salt can check it, and nobody else can guess it. A certificate holds the
lines up to its own entry. ``folded`` works out from lines alone what is allowed, held and charged, and what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpcore.core import ParameterError
from dprelease.ledger.canonical import digest
from dprelease.ledger.units import ATTO_DIGITS, MAX_EPSILON, NANO_DIGITS, BudgetMeasure, Price

REGISTERED, VERSION, BUDGET, ATTEMPT = "registered", "version", "budget", "attempt"
STORED, FAILED, MACHINE_FAILED = "stored", "failed", "machine failed"
PUBLISHED, ACCESS, RESTORED = "published", "access", "restored"
OUTCOMES = (STORED, FAILED, MACHINE_FAILED)
KINDS = (REGISTERED, VERSION, BUDGET, ATTEMPT, *OUTCOMES, PUBLISHED, ACCESS, RESTORED)
OPENING = (REGISTERED, VERSION, BUDGET)
"""Kinds of the first three lines, which are written together."""
AMOUNTS = (BUDGET, ATTEMPT, *OUTCOMES)
"""Kinds whose lines have an amount."""
FIELDS = {"seq", "kind", "about", "details", "previous"}
FIRST = "0" * 64
"""What the first line names."""
Line = Mapping[str, Any]
DIGEST = re.compile("[0-9a-f]{64}")


def line_of(
    *, seq: int, kind: str, about: int, amount: Price | None, body: Any, salt: str, previous: str
) -> dict[str, Any]:
    """One entry's line."""
    line = {"seq": seq, "kind": kind, "about": about, "details": details_of(body, salt=salt), "previous": previous}
    return line | ({"amount": amount.document} if amount is not None and kind in AMOUNTS else {})


def details_of(body: Any, *, salt: str) -> str:
    """What a line shows of everything that it does not say itself."""
    return digest({"salt": salt, "body": body})


@dataclass
class Balance:
    """What lines say, up to the last one read.

    Attributes:
        budget: allowed now; None before one is set.
        measure: of all amounts.
        charged: of all outcomes.
        held: what was charged, and what attempts without an outcome hold.
        begun: attempts without an outcome, by their number, with what each holds.
        outcomes: numbers of the entries that are outcomes, in order: the first of them is entry 1 of a certificate.
        kinds: how many lines there are of each kind.
        forgotten: failures of a machine that copies put back had forgotten.
        published: stored entries that were published.
        stored: stored entries.
        faults: place (from 1) and reason of everything that is wrong.
    """

    budget: Price | None = None
    measure: BudgetMeasure | None = None
    charged: Price = field(default_factory=lambda: Price(epsilon_or_rho=0))
    held: Price = field(default_factory=lambda: Price(epsilon_or_rho=0))
    begun: dict[int, Price] = field(default_factory=dict)
    outcomes: list[int] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)
    forgotten: int = 0
    published: set[int] = field(default_factory=set)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def count(self, kind: str) -> int:
        """Lines of a kind."""
        return self.kinds.get(kind, 0)

    @property
    def machine_failures(self) -> int:
        """How often a steward said that a machine failed, also before a copy was put back that has forgotten it."""
        return self.count(MACHINE_FAILED) + self.forgotten


def fold_chain(lines: Iterable[Line]) -> Balance:
    """Work out an account of lines that begin with the registration; ``faults`` says what is wrong with them."""
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
            account.faults.append((place, "an amount is not written as a ledger writes it"))
            return account
        account.faults += [(place, why) for why in faults]
        details.add(line["details"])
    return account


def _form_fault(line: Line) -> str:
    """What is wrong with a line's fields; empty if nothing. No line after such a one is read."""
    if not isinstance(line, Mapping) or line.get("kind") not in KINDS:
        return "its line is not one of a ledger"
    expected = FIELDS | ({"amount"} if line["kind"] in AMOUNTS else set())
    if set(line) != expected or any(type(line[name]) is not int for name in ("seq", "about")):
        return "its line is not one of a ledger"
    if not isinstance(line.get("amount", {}), Mapping):
        return "its line is not one of a ledger"
    if not all(isinstance(line[name], str) and DIGEST.fullmatch(line[name]) for name in ("details", "previous")):
        return "a digest is not written as a ledger writes it"
    return ""


def _order_faults(line: Line, *, place: int, previous: str, known_details: set[str]) -> list[str]:
    """What is wrong with a line's place."""
    faults = []
    opens = line["kind"] == OPENING[place - 1] if place <= len(OPENING) else line["kind"] != REGISTERED
    if line["seq"] != place or line["previous"] != previous or not opens:
        faults.append("it does not follow the entry before it")
    if line["details"] in known_details:
        faults.append("it names what an entry before it names")
    return faults


def _book_line(account: Balance, line: Line) -> list[str]:
    """Book a line; returns what is wrong with what it says."""
    kind, about, faults = line["kind"], line["about"], list[str]()
    account.kinds[kind] = account.count(kind) + 1
    amount = Price.read(dict(line["amount"])) if kind in AMOUNTS else Price(epsilon_or_rho=0)
    if kind == BUDGET:
        if account.measure not in (None, amount.measure) or (account.budget and amount.measure is BudgetMeasure.RHO):
            faults.append("a budget in rho is fixed when it is opened")
        if not 0 < amount.epsilon_or_rho <= MAX_EPSILON * 10**NANO_DIGITS or amount.delta >= 10**ATTO_DIGITS:
            faults.append("no budget is so large")
        account.budget, account.measure = amount, account.measure or amount.measure
    elif kind == ATTEMPT:
        if not amount.epsilon_or_rho:
            faults.append("nothing is drawn for nothing")
        account.begun[line["seq"]] = amount
        account.held = account.held + amount
    elif kind in OUTCOMES:
        attempt_price = account.begun.pop(about, None)
        if attempt_price is None or amount != (
            Price(epsilon_or_rho=0, measure=attempt_price.measure) if kind == MACHINE_FAILED else attempt_price
        ):
            faults.append("it is not the outcome of its attempt")
        else:
            account.held = account.held - attempt_price + amount
        account.charged = account.charged + amount
        account.outcomes.append(line["seq"])
        if kind == STORED:
            account.stored.add(line["seq"])
    elif kind == PUBLISHED:
        if about not in account.stored or about in account.published:
            faults.append("what is stored is published once")
        account.published.add(about)
    elif kind == RESTORED:
        account.forgotten += about
    if (kind != RESTORED and (kind in (*OUTCOMES, PUBLISHED)) != bool(about)) or about < 0:
        faults.append("it is about another entry than it may be")
    if account.held and (account.budget is None or not account.held.within(account.budget)):
        faults.append("more is spent than its budget")
    return faults
